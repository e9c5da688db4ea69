//! LSTM encoders against the numbers of PyTorch.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{Encoder, LstmEncoder, LstmForm, RecurrentTopology, StatePooling};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

#[test]
fn vectors_and_gradients_are_those_of_pytorch() {
    let file: Value = serde_json::from_str(include_str!("../data/lstm.json")).expect("JSON");
    let size = |name: &str| file[name].as_u64().expect("a size") as usize;
    let (dim, hidden) = (size("dim"), size("hidden"));
    let sentences: Vec<Vec<TokenId>> = file["sentences"]
        .as_array()
        .expect("sentences")
        .iter()
        .map(|sentence| numbers(sentence).into_iter().map(|token| TokenId(token as u32)).collect())
        .collect();
    let mut batch = TokenBatch::new();
    batch.assign(sentences.iter().map(Vec::as_slice)).expect("a batch");
    let cases = file["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 9);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let pooling = match case["pooling"].as_str() {
            Some("mean") => StatePooling::Mean,
            Some("max") => StatePooling::Max,
            _ => StatePooling::Last,
        };
        let form = LstmForm {
            topology: if case["both"] == true { RecurrentTopology::Interleaved } else { RecurrentTopology::Forward },
            pooling,
            peepholes: case["peepholes"] == true,
            output_gate: case["output_gate"] == true,
            ..LstmForm::default()
        };
        let layers = case["layers"].as_u64().expect("layers") as usize;
        let encoder = LstmEncoder::new(dim, hidden, layers, form).expect("an encoder");
        let mut parameters = Parameters::<f64>::new();
        for tensor in case["parameters"].as_array().expect("tensors") {
            let shape = numbers(&tensor[1]);
            let shape = if shape.len() == 1 { [1, shape[0] as usize] } else { [shape[0] as usize, shape[1] as usize] };
            parameters.push(tensor[0].as_str().expect("a name"), shape, numbers(&tensor[2])).expect("a tensor");
        }
        let words = numbers(&case["words"]);
        let words = ArrayView2::from_shape((5, dim), &words).expect("words");
        let (out, saved) = encoder.forward(&parameters, &batch, words).expect("vectors");
        close(out.as_slice().expect("row-major"), &numbers(&case["out"]), name);
        let d_out = numbers(&case["d_out"]);
        let d_out = ArrayView2::from_shape(out.raw_dim(), &d_out).expect("gradients");
        let (mut d_words, mut d) = (Array2::zeros((5, dim)), parameters.zeros_like());
        let result = encoder.backward(&parameters, &batch, words, &saved, d_out, Some(d_words.view_mut()), &mut d);
        result.expect("gradients");
        close(d_words.as_slice().expect("row-major"), &numbers(&case["d_words"]), name);
        for (tensor, expected) in d.iter().zip(case["d_parameters"].as_array().expect("gradients")) {
            close(tensor.values(), &numbers(expected), &format!("{name}: {}", tensor.name()));
        }
    }
}
