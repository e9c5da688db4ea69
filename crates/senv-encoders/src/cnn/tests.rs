use ndarray::Array2;
use proptest::prelude::*;
use senv_core::{
    Table, TokenId,
    arrays::{Parameters, TokenBatch},
    rng::stream,
};

use super::{Activation, FoldedCnn, Padding, SumPooledCnn, Window, reference};
use crate::{
    Encoder, Error,
    testing::{
        assigned, batch, check_gradients_of, gradients, is_size_of_tensors, matrix_of, parameters_of, random_sentences,
        same_bits_at_any_number_of_threads,
    },
};

const ALL: [(Activation, Padding); 4] = [
    (Activation::Linear, Padding::PerFilter),
    (Activation::Linear, Padding::WholeSentence),
    (Activation::Tanh, Padding::PerFilter),
    (Activation::Tanh, Padding::WholeSentence),
];

fn cnn(dim: usize, windows: &[(usize, usize)], (activation, padding): (Activation, Padding)) -> SumPooledCnn {
    let windows = windows.iter().map(|&(width, n_filters)| Window { width, n_filters }).collect();
    SumPooledCnn::new(dim, windows, activation, padding).unwrap()
}

/// Sentences of every length around the widths, with words repeated within and between them.
fn awkward() -> TokenBatch {
    batch(&[&[3, 1, 3, 7, 1, 1, 9], &[], &[1], &[7, 3], &[9, 9, 9], &[3, 2, 1, 3], &[1, 2, 3, 7, 9]])
}

#[test]
fn gradients_match_central_differences() {
    for rule in ALL {
        for windows in [&[(1, 2), (2, 3), (3, 2)][..], &[(4, 2), (2, 1)]] {
            let cnn = cnn(3, windows, rule);
            check_gradients_of(&cnn, &parameters_of(&cnn, 1), &awkward(), 3);
        }
    }
}

/// The largest difference, relative to the largest expected value.
fn difference<'a>(got: impl IntoIterator<Item = &'a f64>, expected: impl IntoIterator<Item = &'a f64>) -> f64 {
    let (got, expected): (Vec<_>, Vec<_>) = (got.into_iter().collect(), expected.into_iter().collect());
    assert_eq!(got.len(), expected.len());
    let largest = |x: f64, y: f64| if y > x || y.is_nan() { y } else { x };
    let size = expected.iter().fold(0.0, |size, x| largest(size, x.abs()));
    got.iter().zip(&expected).fold(0.0, |worst, (g, e)| largest(worst, (**g - **e).abs())) / size.max(1e-300)
}

fn equals_the_definition(cnn: &SumPooledCnn, batch: &TokenBatch, bound: f64) {
    let parameters = parameters_of::<f64>(cnn, 5);
    let words = matrix_of::<f64>(batch.distinct().len(), cnn.word_dim(), 6);
    let d_out = matrix_of::<f64>(batch.len(), Encoder::<f64>::dim(cnn), 7);
    let (out, _) = cnn.forward(&parameters, batch, words.view()).unwrap();
    let (d_words, d_parameters) = gradients(cnn, &parameters, batch, words.view(), d_out.view());
    let expected = reference::forward(cnn, &parameters, batch, words.view());
    assert!(difference(&out, &expected) < bound, "forward {cnn:?}");
    let (e_words, e_parameters) = reference::backward(cnn, &parameters, batch, words.view(), d_out.view());
    assert!(difference(&d_words, &e_words) < bound, "words {cnn:?}");
    for (d, e) in d_parameters.iter().zip(e_parameters.iter()) {
        assert!(difference(d.values(), e.values()) < bound, "{} {cnn:?}", d.name());
    }
}

#[test]
fn both_forms_equal_the_definition() {
    for rule in ALL {
        for windows in [&[(1, 3), (2, 4), (3, 5)][..], &[(5, 2), (1, 1), (3, 2)], &[(4, 3)], &[(1, 2)]] {
            equals_the_definition(&cnn(4, windows, rule), &awkward(), 1e-12);
            equals_the_definition(&cnn(7, windows, rule), &assigned(&random_sentences(90, 17, 60, 9)), 1e-12);
        }
    }
}

#[test]
fn single_precision_agrees_with_double_at_real_sizes() {
    let sentences: Vec<Vec<TokenId>> =
        random_sentences(400, 20, 5000, 1).into_iter().filter(|s| s.len() >= 8).take(128).collect();
    assert_eq!(sentences.len(), 128);
    let batch = assigned(&sentences);
    for rule in [ALL[0], ALL[2]] {
        let cnn = cnn(300, &[(1, 100), (2, 100), (3, 100)], rule);
        let parameters = parameters_of::<f64>(&cnn, 2);
        let words = matrix_of::<f64>(batch.distinct().len(), 300, 3) * 0.2;
        let d_out = matrix_of::<f64>(batch.len(), 300, 4);
        let (out, _) = cnn.forward(&parameters, &batch, words.view()).unwrap();
        let (d_words, d_parameters) = gradients(&cnn, &parameters, &batch, words.view(), d_out.view());

        let narrow = |x: &Array2<f64>| x.mapv(|x| x as f32);
        let (parameters, words, d_out) = (parameters.cast::<f32>(), narrow(&words), narrow(&d_out));
        let (out32, _) = cnn.forward(&parameters, &batch, words.view()).unwrap();
        let (d_words32, d_parameters32) = gradients(&cnn, &parameters, &batch, words.view(), d_out.view());
        let wide = |x: &Array2<f32>| x.mapv(f64::from);
        assert!(difference(&wide(&out32), &out) < 1e-5);
        assert!(difference(&wide(&d_words32), &d_words) < 1e-5);
        for (d32, d) in d_parameters32.cast::<f64>().iter().zip(d_parameters.iter()) {
            assert!(difference(d32.values(), d.values()) < 1e-5, "{}", d.name());
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for rule in [ALL[0], ALL[2]] {
        same_bits_at_any_number_of_threads(&cnn(60, &[(1, 30), (2, 30), (3, 30)], rule), 60);
    }
}

/// Compares FoldedCnn and direct encoding of every sentence with the batch.
fn one_by_one_equals_the_batch(cnn: &SumPooledCnn, sentences: &[Vec<TokenId>]) {
    let n_words = 1 + sentences.iter().flatten().map(|token| token.index()).max().unwrap();
    let parameters = parameters_of::<f32>(cnn, 8);
    let mut table = Table::zeros(n_words, cnn.word_dim()).unwrap();
    for (i, row) in matrix_of::<f32>(n_words, cnn.word_dim(), 9).outer_iter().enumerate() {
        table.row_mut(i).copy_from_slice(row.as_slice().unwrap());
    }
    let batch = assigned(sentences);
    let (expected, _) = cnn.forward(&parameters, &batch, batch.gather(&table).unwrap().view()).unwrap();
    let folded = FoldedCnn::new(cnn, &parameters, &table).unwrap();
    let mut scratch = Vec::new();
    for (tokens, expected) in sentences.iter().zip(expected.outer_iter()) {
        let size = expected.iter().fold(1e-3f32, |size, x| size.max(x.abs()));
        let close = |out: &[f32]| out.iter().zip(expected).all(|(o, e)| (o - e).abs() <= 1e-5 * size);
        let mut out = vec![f32::NAN; folded.dim()];
        folded.encode_into(tokens, &mut scratch, &mut out).unwrap();
        assert!(close(&out), "folded, {} words, {cnn:?}", tokens.len());
        out.fill(f32::NAN);
        cnn.encode_into(&parameters, &table, tokens, &mut scratch, &mut out).unwrap();
        assert!(close(&out), "direct, {} words, {cnn:?}", tokens.len());
    }
    let mut out = vec![0.0; folded.dim()];
    let unknown = [TokenId(0), TokenId(n_words as u32)];
    for error in [
        folded.encode_into(&unknown, &mut scratch, &mut out).unwrap_err(),
        cnn.encode_into(&parameters, &table, &unknown, &mut scratch, &mut out).unwrap_err(),
        folded.encode_into(&unknown[..1], &mut scratch, &mut out[1..]).unwrap_err(),
        cnn.encode_into(&parameters, &table, &unknown[..1], &mut scratch, &mut out[1..]).unwrap_err(),
    ] {
        assert!(matches!(error, Error::ShapeMismatch { .. }));
    }
    let rows = |error| match error {
        Error::ShapeMismatch { what: "rows of the word table", expected, got } => (expected, got),
        other => unreachable!("{other}"),
    };
    let error = folded.encode_into(&unknown, &mut scratch, &mut out).unwrap_err();
    assert_eq!(rows(error), (n_words + 1, n_words));
}

#[test]
fn the_tables_have_the_bytes_of_their_rows_padded_to_whole_cache_lines() {
    for (rule, n_bytes) in ALL.into_iter().zip([4544, 4544, 2432, 2432]) {
        // Linear: 300 values and four times 200, so 304 and 4 · 208 of four bytes; tanh: 600, so 608.
        let cnn = cnn(3, &[(1, 100), (2, 100), (3, 100)], rule);
        let folded = FoldedCnn::new(&cnn, &parameters_of(&cnn, 1), &Table::zeros(10, 3).unwrap()).unwrap();
        assert_eq!(folded.n_bytes(), 10 * n_bytes, "{rule:?}");
    }
}

#[test]
fn sentences_alone_equal_sentences_of_a_batch() {
    for rule in ALL {
        for windows in [&[(1, 3), (2, 4), (3, 5)][..], &[(5, 2), (1, 1), (3, 2)], &[(1, 2)]] {
            one_by_one_equals_the_batch(&cnn(4, windows, rule), &random_sentences(60, 9, 30, 9));
        }
        let sentences = random_sentences(40, 25, 700, 2);
        one_by_one_equals_the_batch(&cnn(300, &[(1, 100), (2, 100), (3, 100)], rule), &sentences);
    }
}

#[test]
fn filters_start_as_glorot_says_and_biases_at_zero() {
    let cnn = cnn(50, &[(1, 40), (3, 20)], ALL[0]);
    let parameters: Parameters<f32> = cnn.init(&mut stream(1, "filters", &[])).unwrap();
    let names: Vec<_> = parameters.iter().map(|tensor| (tensor.name(), tensor.shape())).collect();
    assert_eq!(names, [("filter1", [40, 50]), ("bias1", [1, 40]), ("filter2", [20, 150]), ("bias2", [1, 20])]);
    for (place, limit) in [(0, (6.0f32 / 90.0).sqrt()), (2, (6.0f32 / 170.0).sqrt())] {
        let largest = parameters[place].values().iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
        assert!(largest <= limit * 1.000_001 && largest > 0.98 * limit);
        assert!(parameters[place + 1].values().iter().all(|&b| b == 0.0));
    }
}

#[test]
fn forms_shapes_and_saved_states_that_do_not_fit_are_refused() {
    let new = |dim, windows: &[(usize, usize)]| {
        let windows = windows.iter().map(|&(width, n_filters)| Window { width, n_filters }).collect();
        SumPooledCnn::new(dim, windows, Activation::Linear, Padding::PerFilter)
    };
    for (dim, windows) in [(0, &[(1, 1)][..]), (1, &[]), (1, &[(0, 1)]), (1, &[(2, 2), (1, 0)])] {
        assert!(matches!(new(dim, windows), Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(new(3, &[(2, 2), (usize::MAX, 2)]), Err(Error::TooLarge { .. })));

    let (batch, other) = (awkward(), self::batch(&[&[3, 1, 3, 7, 1, 1], &[9], &[1], &[7, 3], &[2], &[], &[]]));
    let words = matrix_of::<f32>(batch.distinct().len(), 3, 1);
    let d_out = Array2::zeros((batch.len(), 5));
    let [linear, tanh] = [ALL[0], ALL[2]].map(|rule| cnn(3, &[(1, 2), (2, 3)], rule));
    let parameters = parameters_of(&linear, 1);
    let wide = parameters_of(&cnn(3, &[(1, 2), (3, 3)], ALL[0]), 1);
    for encoder in [&linear, &tanh] {
        let mismatch = |result: Result<_, _>| matches!(result, Err(Error::ShapeMismatch { .. }));
        let table = Table::zeros(4, 3).unwrap();
        assert!(mismatch(FoldedCnn::new(encoder, &wide, &table).map(|_| ())));
        assert!(mismatch(FoldedCnn::new(encoder, &parameters, &Table::zeros(4, 2).unwrap()).map(|_| ())));
        assert_eq!(FoldedCnn::new(encoder, &parameters, &table).unwrap().n_words(), 4);
        assert!(mismatch(encoder.forward(&wide, &batch, words.view()).map(|_| ())));
        assert!(mismatch(encoder.forward(&Parameters::new(), &batch, words.view()).map(|_| ())));
        let narrow = matrix_of::<f32>(batch.distinct().len(), 2, 1);
        assert!(mismatch(encoder.forward(&parameters, &batch, narrow.view()).map(|_| ())));
        let (_, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
        let backward = |encoder: &SumPooledCnn, batch: &TokenBatch, d_out: &Array2<f32>, mut d: Parameters<f32>| {
            let mut d_words = Array2::zeros(words.raw_dim());
            encoder.backward(&parameters, batch, words.view(), &saved, d_out.view(), Some(d_words.view_mut()), &mut d)
        };
        let zeros = parameters.zeros_like();
        assert!(backward(encoder, &batch, &d_out, zeros.clone()).is_ok());
        assert!(mismatch(backward(encoder, &batch, &Array2::zeros((batch.len(), 4)), zeros.clone())));
        assert!(mismatch(backward(encoder, &batch, &d_out, wide.clone())));
        let foreign = if encoder == &linear { &tanh } else { &linear };
        assert!(matches!(backward(foreign, &batch, &d_out, zeros.clone()), Err(Error::InvalidParameter { .. })));
        if encoder == &tanh {
            assert!(matches!(backward(encoder, &other, &d_out, zeros), Err(Error::InvalidParameter { .. })));
        }
    }
}

#[test]
fn a_batch_of_nothing() {
    for rule in ALL {
        let cnn = cnn(3, &[(1, 2), (2, 3)], rule);
        let parameters = parameters_of::<f32>(&cnn, 1);
        for batch in [batch(&[]), batch(&[&[], &[]])] {
            let words = Array2::zeros((0, 3));
            let (out, _) = cnn.forward(&parameters, &batch, words.view()).unwrap();
            assert_eq!(out, Array2::<f32>::zeros((batch.len(), 5)));
            let d_out = Array2::ones(out.raw_dim());
            let (_, d) = gradients(&cnn, &parameters, &batch, words.view(), d_out.view());
            assert_eq!(d, parameters.zeros_like());
        }
    }
}

proptest! {
    #[test]
    fn interior_words_may_change_places_in_the_linear_encoder_alone(
        tokens in proptest::collection::vec(0..40u32, 6..20), a in 0..100usize, b in 0..100usize, seed in 0..1000u64,
    ) {
        // With widths up to 3, two words at each end keep their positions.
        let inside = tokens.len() - 4;
        let (a, b) = (2 + a % inside, 2 + b % inside);
        let mut swapped = tokens.clone();
        swapped.swap(a, b);
        let batch = batch(&[&tokens, &swapped]);
        let words = matrix_of::<f64>(batch.distinct().len(), 4, seed);
        let distance = |activation| {
            let cnn = cnn(4, &[(1, 2), (2, 2), (3, 2)], (activation, Padding::PerFilter));
            let (out, _) = cnn.forward(&parameters_of(&cnn, seed), &batch, words.view()).unwrap();
            out.row(0).iter().zip(out.row(1)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
        };
        prop_assert!(distance(Activation::Linear) < 1e-12);
        let pairs = |tokens: &[u32]| {
            let mut pairs: Vec<_> = tokens.windows(2).map(|pair| (pair[0], pair[1])).collect();
            pairs.sort_unstable();
            pairs
        };
        if pairs(&tokens) != pairs(&swapped) {
            prop_assert!(distance(Activation::Tanh) > 1e-9);
        }
    }

    #[test]
    fn permuting_a_batch_permutes_its_vectors(seed in 0..1000u64) {
        let sentences = random_sentences(9, 8, 20, seed);
        let reversed: Vec<_> = sentences.iter().rev().cloned().collect();
        let (forth, back) = (assigned(&sentences), assigned(&reversed));
        let words = matrix_of::<f64>(forth.distinct().len(), 3, seed);
        for rule in ALL {
            let cnn = cnn(3, &[(1, 2), (3, 2)], rule);
            let parameters = parameters_of(&cnn, seed);
            let (x, _) = cnn.forward(&parameters, &forth, words.view()).unwrap();
            let (y, _) = cnn.forward(&parameters, &back, words.view()).unwrap();
            prop_assert!(x.outer_iter().zip(y.outer_iter().rev()).all(|(x, y)| difference(x, y) < 1e-13));
        }
    }
}

#[test]
fn the_words_that_every_window_covers_are_those_far_enough_from_both_ends() {
    for (windows, cases) in [
        (&[(1, 1)][..], &[(0, 0..0), (1, 0..1), (4, 0..4)][..]),
        (&[(1, 1), (3, 1)], &[(0, 0..0), (3, 3..3), (4, 4..4), (5, 2..3), (8, 2..6)]),
    ] {
        let cnn = cnn(2, windows, ALL[0]);
        for (n, expected) in cases {
            assert_eq!(&cnn.interior(*n), expected, "{n} words, {windows:?}");
        }
    }
}

#[test]
fn its_size_is_that_of_its_tensors() {
    for rule in ALL {
        let cnn = cnn(3, &[(1, 2), (2, 3), (4, 5)], rule);
        assert!(is_size_of_tensors(cnn.n_values(), &cnn));
        assert_eq!(cnn.n_values(), (2 * 3 + 2 + 3 * 6 + 3 + 5 * 12 + 5) as f64);
    }
}
