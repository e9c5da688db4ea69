use ndarray::Array2;
use senv_core::{
    Error,
    arrays::{Float, Parameters},
    init,
    rng::stream,
    static_model::RowEncoding,
};

use super::{OrderEncoder, OrderTables};
use crate::{
    Encoder,
    testing::{
        assigned, batch, check_gradients_of, gradients, matrix_of, random_sentences, same_bits_at_any_number_of_threads,
    },
};

/// Parameters of which none is 0.
fn parameters<F: Float>(encoder: OrderEncoder, seed: u64) -> Parameters<F> {
    let mut rng = stream(seed, "order tests", &[]);
    let mut parameters = encoder.zeros().unwrap();
    for tensor in parameters.iter_mut() {
        init::normal(&mut rng, tensor.values_mut(), 0.5).unwrap();
    }
    parameters
}

#[test]
fn gradients_match_central_differences() {
    // Ragged: a repeated word, no word, one word, two.
    let batch = batch(&[&[3, 1, 3, 7, 1, 1, 2], &[], &[1], &[7, 3], &[2, 7, 1]]);
    for dim in [1, 2, 5, 8] {
        let encoder = OrderEncoder { features: 4, dim };
        check_gradients_of(&encoder, &parameters(encoder, dim as u64), &batch, 4);
    }
}

#[test]
fn a_limited_length_has_no_gradient() {
    let encoder = OrderEncoder { features: 2, dim: 4 };
    let batch = batch(&[&[0, 1, 2], &[2, 1]]);
    for (u0, l) in [(-9.0, (-4.0f64).exp()), (6.0, 1.5f64.exp())] {
        let mut parameters = parameters::<f64>(encoder, 3);
        parameters[2].values_mut()[2] = u0;
        let words = matrix_of::<f64>(3, 2, 1);
        let out = encoder.forward(&parameters, &batch, words.view()).unwrap().0;
        assert!((out[[0, 4]] - l).abs() < 1e-12 && (out[[1, 4]] - l).abs() < 1e-12);
        let norm = out.row(0).iter().take(4).map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm - l).abs() < 1e-12);
        let (_, d) = gradients(&encoder, &parameters, &batch, words.view(), matrix_of::<f64>(2, 5, 2).view());
        assert_eq!((d[2].values()[2], d[4].values()[0]), (0.0, 0.0));
        check_gradients_of(&encoder, &parameters, &batch, 2);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    same_bits_at_any_number_of_threads(&OrderEncoder { features: 21, dim: 18 }, 21);
}

#[test]
fn a_sentence_read_backwards_turns_the_antisymmetric_columns_and_keeps_the_others() {
    let encoder = OrderEncoder { features: 3, dim: 6 };
    let parameters = parameters::<f64>(encoder, 5);
    let batch = batch(&[&[0, 4, 2, 2, 1], &[1, 2, 2, 4, 0], &[3], &[2, 2]]);
    let words = matrix_of::<f64>(5, 3, 1);
    let out = encoder.forward(&parameters, &batch, words.view()).unwrap().0;
    for j in 0..7 {
        let turned = if j < 3 { -1.0 } else { 1.0 };
        assert!((out[[0, j]] - turned * out[[1, j]]).abs() < 1e-12, "{j}");
    }
    for sentence in [2, 3] {
        // One word alone and one repeated word have no order.
        assert!((0..3).all(|j| out[[sentence, j]].abs() < 1e-12));
    }
}

#[test]
fn the_nearness_columns_have_no_mean_over_all_orders_where_decay_is_constant() {
    let encoder = OrderEncoder { features: 3, dim: 4 };
    let mut parameters = parameters::<f64>(encoder, 6);
    // F = 0 and h_0 = 0.
    parameters[0].values_mut().chunks_exact_mut(12).for_each(|row| row[8..].fill(0.0));
    parameters[5].values_mut().fill(0.0);
    let mut orders = Vec::new();
    for a in 0..4u32 {
        for b in (0..4).filter(|&b| b != a) {
            for c in (0..4).filter(|&c| c != a && c != b) {
                orders.push([a, b, c, 6 - a - b - c]);
            }
        }
    }
    let sentences: Vec<&[u32]> = orders.iter().map(|order| &order[..]).collect();
    let batch = batch(&sentences);
    let words = matrix_of::<f64>(4, 3, 1);
    let (_, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
    let q = |i: usize, j: usize| saved.out[i * 5 + j] / saved.out[i * 5 + 4] * saved.norms[i].0;
    for j in 0..4 {
        let mean = (0..orders.len()).map(|i| q(i, j)).sum::<f64>() / 24.0;
        let size = (0..orders.len()).map(|i| q(i, j).abs()).sum::<f64>() / 24.0;
        assert!(mean.abs() < 1e-12 && size > 0.01, "{j}: {mean} {size}");
    }
}

#[test]
fn initial_values_are_those_of_the_design() {
    let encoder = OrderEncoder { features: 40, dim: 30 };
    let parameters: Parameters<f64> = encoder.init(&mut stream(1, "order", &[])).unwrap();
    assert_eq!(parameters.n_values() as f64, encoder.n_values());
    let row = |i: usize| &parameters[0].values()[i * 90..][..90];
    let square = (0..40).flat_map(|i| row(i)[..60].iter().map(|x| x * x)).sum::<f64>() / 2400.0;
    assert!((square - 1.0).abs() < 0.1, "{square}");
    assert!((0..40).all(|i| row(i)[60..].iter().all(|&x| x == 0.0)));
    assert!(parameters[1].values().iter().chain(parameters[5].values()).all(|&x| x == 0.0));
    assert_eq!(parameters[2].values(), [0.0, 0.0, 0.5f64.ln()]);
    let f0 = parameters[3].values();
    assert!(f0.iter().all(|x| x.abs() <= 1.5) && f0.iter().any(|x| x.abs() > 1.0));
}

#[test]
fn tables_give_the_vectors_of_the_encoder() {
    let encoder = OrderEncoder { features: 12, dim: 32 };
    let (n_words, parameters) = (1500, parameters::<f32>(encoder, 7));
    let features = matrix_of::<f32>(n_words, 12, 1);
    let sentences = random_sentences(60, 24, n_words, 2);
    let batch = assigned(&sentences);
    let mut words = Array2::zeros((batch.distinct().len(), 12));
    for (i, token) in batch.distinct().iter().enumerate() {
        words.row_mut(i).assign(&features.row(token.index()));
    }
    let expected = encoder.forward(&parameters, &batch, words.view()).unwrap().0;
    let fill = |word: usize, out: &mut [f32]| out.copy_from_slice(features.row(word).to_slice().unwrap());
    // The scalar reference has rows of f32; fewer bits are bounded by what a row may lose.
    for (encoding, limit) in
        [(RowEncoding::F32, 2e-5), (RowEncoding::F16, 0.01), (RowEncoding::Int8, 0.08), (RowEncoding::Int4, 0.8)]
    {
        let tables = OrderTables::new(encoder, &parameters, n_words, encoding, fill).unwrap();
        assert_eq!(tables.n_words(), n_words);
        let (mut out, mut buffer, mut worst) = (vec![0.0; 33], Vec::new(), 0.0f32);
        for (sentence, expected) in sentences.iter().zip(expected.rows()) {
            tables.encode_into(sentence.iter().map(|token| token.0), &mut buffer, &mut out);
            let (apart, norm) = out
                .iter()
                .zip(expected)
                .fold((0.0, 0.0), |(apart, norm): (f32, f32), (&x, &e)| (apart + (x - e).powi(2), norm + e * e));
            if sentence.is_empty() {
                assert!(out.iter().all(|&x| x == 0.0));
            } else {
                worst = worst.max((apart / norm).sqrt());
            }
        }
        assert!(worst < limit, "{encoding:?}: {worst}");
        if encoding != RowEncoding::F32 {
            assert!(worst > limit / 200.0, "{encoding:?}: {worst}");
        }
        let of_threads = |n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            let tables = pool.install(|| OrderTables::new(encoder, &parameters, n_words, encoding, fill)).unwrap();
            tables.rows.stored().to_vec()
        };
        assert!(of_threads(1) == of_threads(3), "{encoding:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let encoder = OrderEncoder { features: 3, dim: 4 };
    let good = parameters::<f32>(encoder, 1);
    let batch = batch(&[&[0, 1]]);
    let words = matrix_of::<f32>(2, 3, 1);
    assert!(encoder.forward(&good, &batch, words.view()).is_ok());
    let other = parameters::<f32>(OrderEncoder { features: 3, dim: 5 }, 1);
    assert!(matches!(encoder.forward(&other, &batch, words.view()), Err(Error::ShapeMismatch { .. })));
    assert!(encoder.forward(&Parameters::new(), &batch, words.view()).is_err());
    let narrow = matrix_of::<f32>(2, 2, 1);
    assert!(encoder.forward(&good, &batch, narrow.view()).is_err());
    for encoder in [OrderEncoder { features: 0, dim: 4 }, OrderEncoder { features: 4, dim: 0 }] {
        assert!(matches!(encoder.zeros::<f32>(), Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(OrderEncoder { features: 9, dim: usize::MAX / 4 }.zeros::<f32>(), Err(Error::TooLarge { .. })));
    let (_, saved) = encoder.forward(&good, &batch, words.view()).unwrap();
    let three = crate::testing::batch(&[&[0, 1], &[1], &[0]]);
    let d_out = matrix_of::<f32>(3, 5, 1);
    let result = encoder.backward(&good, &three, words.view(), &saved, d_out.view(), None, &mut good.zeros_like());
    assert!(matches!(result, Err(Error::ShapeMismatch { .. })));
    let mut bad = good.clone();
    bad[5].values_mut()[0] = f32::NAN;
    assert!(OrderTables::new(encoder, &bad, 2, RowEncoding::Int8, |_, out| out.fill(1.0)).is_err());
    bad[0].values_mut()[0] = f32::NAN;
    assert!(OrderTables::new(encoder, &bad, 2, RowEncoding::Int8, |_, out| out.fill(1.0)).is_err());
}
