use ndarray::{Array2, ArrayView2};
use senv_core::{TokenId, rng::stream};
use serde_json::Value;

use super::{Conditioning, FirstInput, GruDecoder};
use crate::{
    Decoder, Error, GruInit, GruStyle,
    recurrent::decoder_testing::{
        close, gradients_match, same_bits_at_any_number_of_threads, shapes_that_do_not_fit_are_refused,
        without_the_start_token, word_by_word,
    },
    testing::assigned,
};

/// All numbers in a nested list, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn matrix(value: &Value) -> Array2<f64> {
    let (numbers, rows) = (numbers(value), value.as_array().unwrap().len());
    Array2::from_shape_vec((rows, numbers.len() / rows), numbers).unwrap()
}

/// Summed NLL of the targets and its gradients with respect to states, matrix and bias.
fn nll(
    hidden: &Array2<f64>,
    targets: &[u32],
    o: &Array2<f64>,
    bias: &[f64],
) -> (f64, Array2<f64>, Array2<f64>, Vec<f64>) {
    let mut logits = hidden.dot(&o.t()) + ArrayView2::from_shape((1, bias.len()), bias).unwrap();
    let mut loss = 0.0;
    for (mut row, &target) in logits.rows_mut().into_iter().zip(targets) {
        let total = row.iter().map(|x| x.exp()).sum::<f64>().ln();
        loss += total - row[target as usize];
        row.mapv_inplace(|x| (x - total).exp());
        row[target as usize] -= 1.0;
    }
    (loss, logits.dot(o), logits.t().dot(hidden), logits.sum_axis(ndarray::Axis(0)).to_vec())
}

#[test]
fn decoders_give_the_reference_numbers() {
    let file: Value = serde_json::from_str(include_str!("../../tests/data/gru_decoder.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let name = case["style"].as_str().unwrap();
        let style = match name {
            "paper" => GruStyle::Paper,
            "release" => GruStyle::Release,
            _ => GruStyle::Tf1,
        };
        let matrices = case["conditioning"].as_str().unwrap() == "context_matrices";
        let conditioning = if matrices { Conditioning::ContextMatrices } else { Conditioning::InitialState };
        let (table, vectors) = (matrix(&case["E"]), matrix(&case["context"]));
        let (h, first) = (4, FirstInput::Zero);
        let decoder = GruDecoder::new(3, h, vectors.ncols(), conditioning, first, style, GruInit::Orthogonal).unwrap();
        let joined = |values: &Value, name: &str| -> Vec<f64> {
            ["r", "z", "n"].iter().flat_map(|gate| numbers(&values[format!("{name}_{gate}")])).collect()
        };
        let tensors = if matrices { &["W", "U", "b", "C"][..] } else { &["W", "U", "b"] };
        let mut parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[])).unwrap();
        for (tensor, name) in parameters.iter_mut().zip(tensors) {
            tensor.values_mut().copy_from_slice(&joined(&case["params"], name));
        }
        let lengths = numbers(&case["lengths"]);
        let ids = matrix(&case["targets"]);
        let sentences: Vec<Vec<TokenId>> = ids
            .rows()
            .into_iter()
            .zip(&lengths)
            .map(|(row, &n)| row.iter().take(n as usize).map(|&id| TokenId(id as u32)).collect())
            .collect();
        let batch = assigned(&sentences);
        let rows: Vec<usize> = batch.distinct().iter().map(|token| token.index()).collect();
        let words = table.select(ndarray::Axis(0), &rows);
        let (hidden, saved) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
        let expected = numbers(&case["hidden"]);
        for (i, sentence) in sentences.iter().enumerate() {
            for t in 0..sentence.len() {
                close(hidden.row(batch.start(i) + t), &expected[(i * 3 + t) * h..][..h], name);
            }
        }
        let (o, bias) = (matrix(&case["O"]), numbers(&case["o_bias"]));
        let (loss, d_hidden, d_o, d_bias) = nll(&hidden, &GruDecoder::targets(&batch), &o, &bias);
        close(&[loss], &numbers(&case["loss"]), name);
        let expected = &case["grads"];
        close(&d_o, &numbers(&expected["O"]), name);
        close(&d_bias, &numbers(&expected["ob"]), name);

        let (mut d_words, mut d_vectors) = (Array2::zeros(words.raw_dim()), Array2::zeros(vectors.raw_dim()));
        let mut d = parameters.zeros_like();
        let (view, w) = (Some(d_words.view_mut()), words.view());
        let vectors = vectors.view();
        decoder
            .backward(&parameters, &batch, w, vectors, &saved, d_hidden.view(), view, d_vectors.view_mut(), &mut d)
            .unwrap();
        let mut d_table = Array2::zeros(table.raw_dim());
        rows.iter().zip(d_words.rows()).for_each(|(&row, d)| d_table.row_mut(row).assign(&d));
        close(&d_table, &numbers(&expected["E"]), name);
        close(&d_vectors, &numbers(&expected["ctx"]), name);
        for (tensor, name) in d.iter().zip(tensors) {
            close(tensor.values(), &joined(expected, name), name);
        }
    }
}

const CONDITIONINGS: [Conditioning; 3] =
    [Conditioning::InitialState, Conditioning::ContextMatrices, Conditioning::ContextAndState];

fn decoder(conditioning: Conditioning, first: FirstInput, style: GruStyle) -> GruDecoder {
    let vector_dim = if conditioning == Conditioning::InitialState { 2 } else { 4 };
    GruDecoder::new(3, 2, vector_dim, conditioning, first, style, GruInit::Orthogonal).unwrap()
}

#[test]
fn gradients_match_central_differences() {
    for style in [GruStyle::Paper, GruStyle::Release, GruStyle::Torch, GruStyle::Tf1] {
        for conditioning in CONDITIONINGS {
            for first in [FirstInput::Zero, FirstInput::Token(TokenId(0))] {
                gradients_match(&decoder(conditioning, first, style));
            }
        }
    }
}

#[test]
fn word_by_word_gives_the_states_of_teacher_forcing() {
    for conditioning in CONDITIONINGS {
        word_by_word(&decoder(conditioning, FirstInput::Token(TokenId(0)), GruStyle::Torch));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for conditioning in [Conditioning::ContextMatrices, Conditioning::ContextAndState] {
        same_bits_at_any_number_of_threads(|first| {
            GruDecoder::new(40, 64, 30, conditioning, first, GruStyle::Paper, GruInit::Orthogonal).unwrap()
        });
    }
}

#[test]
fn a_decoder_says_how_it_was_made() {
    for (conditioning, first) in
        [(Conditioning::InitialState, FirstInput::Zero), (Conditioning::ContextAndState, FirstInput::Token(TokenId(4)))]
    {
        let decoder = decoder(conditioning, first, GruStyle::Paper);
        assert_eq!((decoder.conditioning(), decoder.first_input()), (conditioning, first));
        let values = decoder.init::<f32>(&mut stream(1, "decoder", &[])).unwrap().n_values();
        assert_eq!((decoder.state_dim(), decoder.n_values()), (2, values as f64));
    }
}

#[test]
fn forms_and_shapes_that_do_not_fit_are_refused() {
    let new = |word_dim, hidden, vector_dim, conditioning| {
        let style = GruStyle::Paper;
        GruDecoder::new(word_dim, hidden, vector_dim, conditioning, FirstInput::Zero, style, GruInit::Glorot)
    };
    assert!(matches!(new(2, 3, 4, Conditioning::InitialState), Err(Error::ShapeMismatch { .. })));
    for (word_dim, hidden, vector_dim) in [(0, 2, 2), (2, 0, 2), (2, 2, 0)] {
        let refused = new(word_dim, hidden, vector_dim, Conditioning::ContextMatrices);
        assert!(matches!(refused, Err(Error::InvalidParameter { .. })));
    }
    for conditioning in CONDITIONINGS {
        shapes_that_do_not_fit_are_refused(&decoder(conditioning, FirstInput::Zero, GruStyle::Paper));
        let error = without_the_start_token(&decoder(conditioning, FirstInput::Token(TokenId(5)), GruStyle::Paper));
        assert!(matches!(error, Error::InvalidParameter { name: "start token", .. }), "{error}");
    }
}
