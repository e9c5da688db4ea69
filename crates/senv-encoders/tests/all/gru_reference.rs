//! Recurrent encoders against reference numbers of another program.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{Encoder, GruEncoder, GruInit, GruStyle, RecurrentTopology};
use serde_json::Value;

/// All numbers of a nested list, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

fn close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

/// The three blocks (r, z, n) of a matrix or bias, one below the other.
fn joined(values: &Value, prefix: &str, name: &str) -> Vec<f64> {
    ["r", "z", "n"].iter().flat_map(|gate| numbers(&values[format!("{prefix}{name}_{gate}")])).collect()
}

#[test]
fn encoders_give_the_reference_numbers() {
    let file: Value = serde_json::from_str(include_str!("../data/bigru_stacked.json")).expect("JSON");
    let cases = file["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 6);
    for case in cases {
        let name = case["structure"].as_str().expect("a structure");
        let (layers, topology, cells) = match name {
            "one_layer_bi" => (1, RecurrentTopology::Separate, &["forward", "backward"][..]),
            "two_layer_forward_concat" => (2, RecurrentTopology::Forward, &["f0", "f1"][..]),
            "two_layer_bi_separate" => (2, RecurrentTopology::Separate, &["f0", "b0", "f1", "b1"][..]),
            "two_layer_bi_interleaved" => (2, RecurrentTopology::Interleaved, &["f0", "b0", "f1", "b1"][..]),
            other => panic!("an unknown structure {other}"),
        };
        let style = match case["style"].as_str().expect("a style") {
            "paper" => GruStyle::Paper,
            "release" => GruStyle::Release,
            "torch" => GruStyle::Torch,
            _ => GruStyle::Tf1,
        };
        let (d, h, longest) = (3, 3, 4);
        let encoder = GruEncoder::new(d, h, layers, topology, style, GruInit::Orthogonal).expect("an encoder");
        let tensors = if style == GruStyle::Torch { &["W", "U", "b", "c"][..] } else { &["W", "U", "b"] };
        let mut parameters = Parameters::<f64>::new();
        for cell in cells {
            let values = if layers == 1 { &case[cell] } else { &case["layers"][cell] };
            for tensor in tensors {
                let values = joined(values, "", tensor);
                let shape = if values.len() > 9 { [9, values.len() / 9] } else { [1, 9] };
                parameters.push(format!("{cell}.{tensor}"), shape, values).expect("a tensor");
            }
        }
        // All words differ. Other sentences, one of them empty, are between those of the case.
        let lengths = numbers(&case["lengths"]);
        let sentences: Vec<Vec<TokenId>> =
            (0..).zip(&lengths).map(|(i, &n)| (0..n as u32).map(|t| TokenId(i * longest + t)).collect()).collect();
        let mut batch = TokenBatch::new();
        batch.assign([&[][..], &sentences[2], &sentences[0], &sentences[0][1..], &sentences[1]]).expect("a batch");
        let places = [2, 4, 1];
        let x = numbers(&case["x"]);
        let rows: Vec<f64> = batch.distinct().iter().flat_map(|token| &x[token.index() * d..][..d]).copied().collect();
        let words = ArrayView2::from_shape((batch.distinct().len(), d), &rows).expect("words");
        let (out, saved) = encoder.forward(&parameters, &batch, words).expect("a forward pass");
        let width = out.ncols();
        let upstream = numbers(&case["upstream"]);
        let mut d_out = Array2::zeros(out.raw_dim());
        for (i, &place) in places.iter().enumerate() {
            close(&out.row(place).to_vec(), &numbers(&case["embedding"][i]), name);
            d_out.row_mut(place).iter_mut().zip(&upstream[i * width..]).for_each(|(d, &u)| *d = u);
        }
        close(&[(&out * &d_out).sum()], &numbers(&case["loss"]), name);
        let (mut d_words, mut gradients) = (Array2::zeros(words.raw_dim()), parameters.zeros_like());
        encoder
            .backward(&parameters, &batch, words, &saved, d_out.view(), Some(d_words.view_mut()), &mut gradients)
            .expect("gradients");
        let expected = numbers(&case["grads"]["x"]);
        for (token, d_word) in batch.distinct().iter().zip(d_words.rows()) {
            close(&d_word.to_vec(), &expected[token.index() * d..][..d], name);
        }
        for (i, tensor) in gradients.iter().enumerate() {
            let cell = cells[i / tensors.len()];
            let prefix = if layers == 1 { &cell[..1] } else { cell };
            let expected = joined(&case["grads"], &format!("{prefix}_"), tensors[i % tensors.len()]);
            close(tensor.values(), &expected, &format!("{} of {name}", tensor.name()));
        }
    }
}
