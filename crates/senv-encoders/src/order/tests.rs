use ndarray::{Array2, ArrayView2, Axis, s};
use senv_core::{
    Error, Scratch, StaticEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::{Float, Parameters},
    init,
    rng::stream,
    static_model::{
        CompressedRows, RowEncoding,
        order::{OrderConfig, OrderJoin, OrderValues, OrderWords},
    },
};

use super::OrderEncoder;
use crate::{
    Encoder,
    testing::{
        assigned, batch, check_gradients_of, gradients, matrix_of, random_sentences, same_bits_at_any_number_of_threads,
    },
};

/// Parameters without zeros.
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
    // Ragged: a repeated word, no word, one word, two words.
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
fn gradients_of_a_batch_of_many_words_are_the_sums_of_those_of_its_sentences() {
    let (encoder, n_words) = (OrderEncoder { features: 3, dim: 5 }, 900);
    let parameters = parameters::<f64>(encoder, 8);
    let sentences = random_sentences(150, 24, n_words, 9);
    let all = matrix_of::<f64>(n_words, 3, 1);
    let d_out = matrix_of::<f64>(sentences.len(), 6, 2);
    let run = |sentences: &[Vec<TokenId>], d_out: ArrayView2<'_, f64>| {
        let batch = assigned(sentences);
        let rows: Vec<usize> = batch.distinct().iter().map(|token| token.index()).collect();
        let (d_own, d_parameters) = gradients(&encoder, &parameters, &batch, all.select(Axis(0), &rows).view(), d_out);
        let mut d_words = Array2::<f64>::zeros(all.raw_dim());
        rows.iter().zip(d_own.rows()).for_each(|(&word, d)| d_words.row_mut(word).assign(&d));
        (d_words, d_parameters)
    };
    let (d_words, d_parameters) = run(&sentences, d_out.view());
    let (mut sum_words, mut sums) = (Array2::<f64>::zeros(all.raw_dim()), parameters.zeros_like());
    for (i, sentence) in sentences.iter().enumerate() {
        let (d_words, d_parameters) = run(std::slice::from_ref(sentence), d_out.slice(s![i..=i, ..]));
        sum_words += &d_words;
        for (sum, d) in sums.iter_mut().zip(d_parameters.iter()) {
            sum.values_mut().iter_mut().zip(d.values()).for_each(|(sum, d)| *sum += d);
        }
    }
    let close = |a: &f64, b: &f64| (a - b).abs() <= 1e-10 * (1.0 + b.abs());
    assert!(d_words.iter().zip(&sum_words).all(|(a, b)| close(a, b)));
    for (a, b) in d_parameters.iter().zip(sums.iter()) {
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| close(a, b)), "{}", a.name());
    }
}

#[test]
fn a_part_without_direction_has_gradients_of_its_length_alone() {
    let encoder = OrderEncoder { features: 3, dim: 4 };
    let mut parameters = parameters::<f64>(encoder, 10);
    // h_0 = 0: a single word has no pair, and q = 0.
    parameters[5].values_mut().fill(0.0);
    let (batch, words) = (batch(&[&[0]]), matrix_of::<f64>(1, 3, 1));
    let (out, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
    assert_eq!((saved.norms[0], out.row(0).iter().take(4).copied().sum::<f64>()), ((0.0, true), 0.0));
    assert!(out[[0, 4]] > 0.0);
    let (d_words, d) = gradients(&encoder, &parameters, &batch, words.view(), matrix_of::<f64>(1, 5, 2).view());
    assert!(d_words.iter().all(|x| x.is_finite()) && d_words.iter().any(|&x| x != 0.0));
    assert!(d.iter().all(|tensor| tensor.values().iter().all(|x| x.is_finite())));
    assert!(d[0].values().iter().chain(d[5].values()).all(|&x| x == 0.0) && d[2].values()[2] != 0.0);
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
        // A single word and a repeated word have no order.
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

/// A table of words w0, w1, ... with these rows, followed by the part with these parameters.
fn static_part(
    encoder: OrderEncoder,
    parameters: &Parameters<f32>,
    rows: &Array2<f32>,
    maps: RowEncoding,
) -> StaticEncoder {
    let names: Vec<String> = (0..rows.nrows()).map(|i| format!("w{i}")).collect();
    let n = names.len() as u64;
    let vocabulary =
        Vocabulary::from_counts(names.iter().zip((1..=n).rev()).map(|(name, c)| (&name[..], c)), n * n).unwrap();
    let rows = Table::from_vec(rows.nrows(), rows.ncols(), rows.iter().copied().collect()).unwrap();
    let rows = CompressedRows::compress(&rows, RowEncoding::F32).unwrap();
    let table = StaticEncoder::new(Tokenizer::words(), vocabulary, rows, None).unwrap();
    let values = |i: usize| parameters[i].values();
    let of_maps = Table::from_vec(encoder.features, 3 * encoder.dim, values(0).to_vec()).unwrap();
    let order = OrderValues {
        maps: CompressedRows::compress(&of_maps, maps).unwrap(),
        scalars: values(1).to_vec(),
        scalar_bias: values(2).try_into().unwrap(),
        f_bias: values(3).to_vec(),
        length_slope: values(4)[0],
        first_state: values(5).to_vec(),
    };
    let config = OrderConfig {
        dim: encoder.dim,
        random_features: encoder.features - table.rows().dim(),
        encoding: maps,
        join: OrderJoin { kappa: 1.0, gamma: 1.0, negation: 0.0 },
        negation_words: Vec::new(),
    };
    table.with_order(config, order).unwrap()
}

#[test]
fn a_static_table_with_the_part_gives_the_vectors_of_the_encoder() {
    for dim in [1, 7, 32, 70] {
        let encoder = OrderEncoder { features: 12, dim };
        let (n_words, parameters) = (900, parameters::<f32>(encoder, 7));
        let rows = matrix_of::<f32>(n_words, 8, 1);
        // The kernel processes long ones in several pieces; unknown words have separate positions.
        let mut sentences = random_sentences(60, 24, n_words, 2);
        sentences.extend(random_sentences(3, 100, n_words, 3));
        sentences.push(Vec::new());
        // Rows of eight bits lose some precision, and maps with fewer bits lose more.
        for (maps, limits) in [
            (RowEncoding::F32, [1e-4, 0.06]),
            (RowEncoding::F16, [1e-4, 0.06]),
            (RowEncoding::Int8, [1e-3, 0.08]),
            (RowEncoding::Int4, [1e-2, 0.8]),
        ] {
            let model = static_part(encoder, &parameters, &rows, maps);
            let words = OrderWords { table: &model, random: 4 };
            let texts: Vec<String> = sentences
                .iter()
                .map(|sentence| {
                    let words: Vec<String> = sentence.iter().map(|token| format!("w{}", token.0)).collect();
                    if words.len() == 5 { format!("{} unheard of", words.join(" ")) } else { words.join(" ") }
                })
                .collect();
            let mut scratch = Scratch::default();
            let read: Vec<Vec<TokenId>> = texts.iter().map(|text| words.tokens(text, 1000, &mut scratch)).collect();
            let batch = assigned(&read);
            let mut features = Array2::zeros((batch.distinct().len(), 12));
            for (token, mut row) in batch.distinct().iter().zip(features.rows_mut()) {
                words.features(token.index(), row.as_slice_mut().unwrap());
            }
            let expected = encoder.forward(&parameters, &batch, features.view()).unwrap().0;
            let (mut sum, mut worst) = (0.0f32, 0.0f32);
            for (text, expected) in texts.iter().zip(expected.rows()) {
                let got = model.encode_one(text);
                assert_eq!(got.len(), 8 + dim + OrderJoin::EXTRA);
                let norm = got.iter().take(8).map(|x| x * x).sum::<f32>().sqrt();
                // After the vector of the table, with the same length.
                let (apart, size) = got
                    .iter()
                    .skip(8)
                    .zip(expected)
                    .map(|(&x, &e)| (x - norm * e, norm * e))
                    .fold((0.0f32, 0.0f32), |(apart, size), (d, e)| (apart + d * d, size + e * e));
                if text.is_empty() {
                    assert!(got.iter().all(|&x| x == 0.0));
                } else {
                    let relative = (apart / size).sqrt();
                    (sum, worst) = (sum + relative, worst.max(relative));
                }
            }
            let mean = sum / texts.len() as f32;
            assert!(mean < limits[1] && worst < 4.0 * limits[1], "{dim} {maps:?}: {mean} {worst}");
            // One column has no direction to lose.
            assert!(dim == 1 || mean > limits[0], "{dim} {maps:?}: {mean}");
            let (made, bytes) = model.order().unwrap().rows_made();
            let met = batch.distinct().len();
            assert!(made == met && bytes > 3 * dim * made, "{dim}: {made} rows of {bytes} bytes for {met} words");
        }
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
}
