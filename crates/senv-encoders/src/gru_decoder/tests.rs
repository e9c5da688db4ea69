use ndarray::{Array2, ArrayView2, array};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
    gradcheck, init,
    rng::stream,
};
use serde_json::Value;

use super::{Conditioning, FirstInput, GruDecoder};
use crate::{
    Error, GruInit, GruStyle,
    testing::{assigned, batch, matrix_of, random_sentences},
};

/// All numbers of a nested list, in order.
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

fn close<'a>(got: impl IntoIterator<Item = &'a f64>, expected: &[f64], what: &str) {
    let got: Vec<f64> = got.into_iter().copied().collect();
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
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

fn decoder(conditioning: Conditioning, first: FirstInput, style: GruStyle) -> GruDecoder {
    let vector_dim = if conditioning == Conditioning::InitialState { 2 } else { 4 };
    GruDecoder::new(3, 2, vector_dim, conditioning, first, style, GruInit::Orthogonal).unwrap()
}

fn lively(decoder: &GruDecoder) -> Parameters<f64> {
    let mut rng = stream(3, "lively", &[]);
    let mut parameters = decoder.init(&mut rng).unwrap();
    parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.7).unwrap());
    parameters
}

/// Targets that end in token 0, of several lengths, one of them empty.
fn targets() -> TokenBatch {
    batch(&[&[3, 1, 3, 0], &[], &[0], &[7, 3, 1, 7, 0], &[7, 0]])
}

#[test]
fn gradients_match_central_differences() {
    let batch = targets();
    for style in [GruStyle::Paper, GruStyle::Release, GruStyle::Torch, GruStyle::Tf1] {
        for conditioning in [Conditioning::InitialState, Conditioning::ContextMatrices] {
            for first in [FirstInput::Zero, FirstInput::Token(TokenId(0))] {
                let decoder = decoder(conditioning, first, style);
                let parameters = lively(&decoder);
                let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, decoder.vector_dim(), 2));
                let d_hidden = matrix_of::<f64>(batch.n_tokens(), 2, 3);
                let value = |p: &Parameters<f64>, words: ArrayView2<'_, f64>, vectors: ArrayView2<'_, f64>| {
                    (&decoder.forward(p, &batch, words, vectors).unwrap().0 * &d_hidden).sum()
                };
                let (_, saved) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
                let (mut d_words, mut d_vectors) = (Array2::zeros((4, 3)), Array2::zeros(vectors.raw_dim()));
                let mut d = parameters.zeros_like();
                let backward = |d_words: Option<&mut Array2<f64>>, d_vectors: &mut Array2<f64>, d: &mut _| {
                    let (w, v, g) = (words.view(), vectors.view(), d_hidden.view());
                    let d_words = d_words.map(|d| d.view_mut());
                    decoder.backward(&parameters, &batch, w, v, &saved, g, d_words, d_vectors.view_mut(), d).unwrap();
                };
                backward(Some(&mut d_words), &mut d_vectors, &mut d);
                let what = format!("{style:?} {conditioning:?} {first:?}");
                let check = |f: &mut dyn FnMut(&[f64]) -> f64, x: &[f64], g: &[f64], name: &str| {
                    let error = gradcheck::max_relative_error(&mut *f, x, g);
                    assert!(error < 1e-7, "{name} of {what}: {error}");
                    let flipped: Vec<f64> = g.iter().map(|g| -g).collect();
                    assert!(gradcheck::max_relative_error(f, x, &flipped) > 1.9, "{name}, a flipped sign");
                };
                let as_matrix = |x: &[f64], rows| Array2::from_shape_vec((rows, x.len() / rows), x.to_vec()).unwrap();
                let mut of_words = |x: &[f64]| value(&parameters, as_matrix(x, 4).view(), vectors.view());
                check(&mut of_words, words.as_slice().unwrap(), d_words.as_slice().unwrap(), "words");
                let mut of_vectors = |x: &[f64]| value(&parameters, words.view(), as_matrix(x, 5).view());
                check(&mut of_vectors, vectors.as_slice().unwrap(), d_vectors.as_slice().unwrap(), "vectors");
                for (place, tensor) in d.iter().enumerate() {
                    let mut of_tensor = |x: &[f64]| {
                        let mut moved = parameters.clone();
                        moved[place].values_mut().copy_from_slice(x);
                        value(&moved, words.view(), vectors.view())
                    };
                    check(&mut of_tensor, parameters[place].values(), tensor.values(), tensor.name());
                }
                // Gradients are added, and frozen words change nothing else.
                let (mut twice, mut twice_parameters) = (d_vectors.clone(), d.clone());
                backward(None, &mut twice, &mut twice_parameters);
                close(&twice, (&d_vectors * 2.0).as_slice().unwrap(), "twice");
                for (a, b) in twice_parameters.iter().zip(d.iter()) {
                    let double: Vec<f64> = b.values().iter().map(|x| 2.0 * x).collect();
                    close(a.values(), &double, "twice");
                }
            }
        }
    }
}

#[test]
fn word_by_word_gives_the_states_of_teacher_forcing() {
    let batch = targets();
    for conditioning in [Conditioning::InitialState, Conditioning::ContextMatrices] {
        let decoder = decoder(conditioning, FirstInput::Token(TokenId(0)), GruStyle::Torch);
        let parameters = lively(&decoder);
        let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, decoder.vector_dim(), 2));
        let (hidden, _) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
        for i in 0..batch.len() {
            let session = decoder.session(&parameters, vectors.row(i)).unwrap();
            let mut state = Array2::from_shape_vec((1, 2), session.first_state().to_vec()).unwrap();
            let mut before = 0;
            for (t, &place) in batch.sentence(i).iter().enumerate() {
                // Two hypotheses, the second with another word and state.
                let (other_word, other_state) = (array![[9.0, -9.0, 3.0]], array![[0.5, 0.1]]);
                let word = words.row(before as usize).insert_axis(ndarray::Axis(0)).to_owned();
                let both = |a: &Array2<f64>, b: &Array2<f64>| ndarray::concatenate![ndarray::Axis(0), *a, *b];
                let next = session.step(both(&word, &other_word).view(), both(&state, &other_state).view()).unwrap();
                close(next.row(0), hidden.row(batch.start(i) + t).as_slice().unwrap(), "state");
                state = next.slice(ndarray::s![..1, ..]).to_owned();
                before = place;
            }
        }
        assert!(decoder.session(&parameters, vectors.row(0).slice(ndarray::s![..1])).is_err());
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let batch = assigned(&random_sentences(150, 24, 900, 3));
    let first = FirstInput::Token(batch.distinct()[0]);
    let style = GruStyle::Paper;
    let decoder =
        GruDecoder::new(40, 64, 30, Conditioning::ContextMatrices, first, style, GruInit::Orthogonal).unwrap();
    let parameters = decoder.init::<f32>(&mut stream(1, "decoder", &[])).unwrap();
    let (words, vectors) = (matrix_of::<f32>(batch.distinct().len(), 40, 1), matrix_of::<f32>(150, 30, 2));
    let run = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let (hidden, saved) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
            let (mut d_words, mut d_vectors) = (Array2::zeros(words.raw_dim()), Array2::zeros(vectors.raw_dim()));
            let mut d = parameters.zeros_like();
            let (w, v) = (words.view(), vectors.view());
            let views = (Some(d_words.view_mut()), d_vectors.view_mut());
            decoder.backward(&parameters, &batch, w, v, &saved, hidden.view(), views.0, views.1, &mut d).unwrap();
            (hidden, d_words, d_vectors, d)
        })
    };
    let one = run(1);
    for threads in [2, 5] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_decoder_says_how_it_was_made() {
    for (conditioning, first) in
        [(Conditioning::InitialState, FirstInput::Zero), (Conditioning::ContextMatrices, FirstInput::Token(TokenId(4)))]
    {
        let decoder = decoder(conditioning, first, GruStyle::Paper);
        assert_eq!((decoder.conditioning(), decoder.first_input()), (conditioning, first));
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
    let batch = targets();
    let decoder = decoder(Conditioning::InitialState, FirstInput::Token(TokenId(5)), GruStyle::Paper);
    let parameters = lively(&decoder);
    let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, 2, 2));
    // The start token is not in the batch.
    let error = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "start token", .. }), "{error}");
    let nothing = self::batch(&[&[]]);
    let none = Array2::zeros((0, 3));
    let (hidden, _) = decoder.forward(&parameters, &nothing, none.view(), Array2::ones((1, 2)).view()).unwrap();
    assert_eq!(hidden.dim(), (0, 2));
    let decoder = self::decoder(Conditioning::InitialState, FirstInput::Zero, GruStyle::Paper);
    let mismatch = |result: Result<_, _>| matches!(result, Err(Error::ShapeMismatch { .. }));
    let few = matrix_of::<f64>(4, 2, 2);
    assert!(mismatch(decoder.forward(&parameters, &batch, words.view(), few.view()).map(|_| ())));
    assert!(mismatch(decoder.forward(&Parameters::new(), &batch, words.view(), vectors.view()).map(|_| ())));
    let (hidden, saved) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
    let other = self::batch(&[&[3, 1, 3, 0], &[], &[0], &[7, 3, 7, 7, 0], &[7, 0]]);
    let (mut d, mut d_vectors) = (parameters.zeros_like(), vectors.clone());
    let (w, v, view) = (words.view(), vectors.view(), d_vectors.view_mut());
    let refused = decoder.backward(&parameters, &other, w, v, &saved, hidden.view(), None, view, &mut d);
    assert!(matches!(refused, Err(Error::InvalidParameter { name: "saved state", .. })));
}
