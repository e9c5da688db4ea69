//! The convolution against reference numbers of another program.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{Activation, Encoder, Padding, SumPooledCnn, Window};
use serde_json::Value;

/// All numbers of a nested list, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

fn close(got: &[f64], expected: &Value, what: &str) {
    let expected = numbers(expected);
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

#[test]
fn the_convolution_gives_the_reference_numbers() {
    let file: Value = serde_json::from_str(include_str!("../data/cnn_sum_pool.json")).expect("JSON");
    let cases = file["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 10);
    for (number, case) in cases.iter().enumerate() {
        let name = |value: &Value| value.as_str().expect("text").to_owned();
        let activation = if name(&case["activation"]) == "tanh" { Activation::Tanh } else { Activation::Linear };
        let whole = name(&case["pad_policy"]) == "whole_sentence";
        let padding = if whole { Padding::WholeSentence } else { Padding::PerFilter };
        let n = case["x"].as_array().expect("words").len();
        let words = numbers(&case["x"]);
        let dim = words.len() / n;
        let filters = case["filters"].as_array().expect("filters");
        let (mut windows, mut parameters) = (Vec::new(), Parameters::<f64>::new());
        for (i, filter) in filters.iter().enumerate() {
            let width = filter["h"].as_u64().expect("a width") as usize;
            let (w, b) = (numbers(&filter["W"]), numbers(&filter["b"]));
            windows.push(Window { width, n_filters: b.len() });
            parameters.push(format!("filter{}", i + 1), [b.len(), width * dim], w).expect("a filter");
            parameters.push(format!("bias{}", i + 1), [1, b.len()], b).expect("a bias");
        }
        let cnn = SumPooledCnn::new(dim, windows, activation, padding).expect("an encoder");

        // All words differ: token t is word t. Two other sentences surround the one of the case.
        let sentence: Vec<TokenId> = (0..n as u32).map(TokenId).collect();
        let mut batch = TokenBatch::new();
        batch.assign([&[][..], &sentence, &sentence[..1]]).expect("a batch");
        let words = ArrayView2::from_shape((n, dim), &words).expect("words");
        let (out, saved) = cnn.forward(&parameters, &batch, words).expect("a forward pass");
        close(&out.row(1).to_vec(), &case["embedding"], &format!("case {number}"));

        let upstream = numbers(&case["upstream"]);
        let mut d_out = Array2::zeros(out.raw_dim());
        d_out.row_mut(1).iter_mut().zip(&upstream).for_each(|(d, &u)| *d = u);
        close(&[(&out * &d_out).sum()], &case["loss"], &format!("loss of case {number}"));
        let (mut d_words, mut d) = (Array2::zeros((n, dim)), parameters.zeros_like());
        cnn.backward(&parameters, &batch, words, &saved, d_out.view(), Some(d_words.view_mut()), &mut d)
            .expect("gradients");
        let gradients = &case["grads"];
        close(d_words.as_slice().expect("rows"), &gradients["x"], &format!("words of case {number}"));
        for (i, tensors) in d.iter().collect::<Vec<_>>().chunks(2).enumerate() {
            close(tensors[0].values(), &gradients[format!("W{}", i + 1)], &format!("filters of case {number}"));
            close(tensors[1].values(), &gradients[format!("b{}", i + 1)], &format!("biases of case {number}"));
        }
    }
}
