use ndarray::Array2;
use proptest::prelude::*;
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
    init,
    rng::stream,
};

use super::{GruEncoder, RecurrentTopology};
use crate::{
    Encoder, Error, GruInit, GruStyle,
    testing::{
        assigned, batch, check_gradients_of, gradients, is_size_of_tensors, matrix_of, parameters_of, random_sentences,
        same_bits_at_any_number_of_threads,
    },
};

const STYLES: [GruStyle; 4] = [GruStyle::Paper, GruStyle::Release, GruStyle::Torch, GruStyle::Tf1];
const TOPOLOGIES: [(usize, RecurrentTopology); 7] = [
    (1, RecurrentTopology::Forward),
    (1, RecurrentTopology::Separate),
    (2, RecurrentTopology::Forward),
    (2, RecurrentTopology::Separate),
    (2, RecurrentTopology::Interleaved),
    (3, RecurrentTopology::Interleaved),
    (3, RecurrentTopology::Separate),
];

fn encoder(dim: usize, hidden: usize, (layers, topology): (usize, RecurrentTopology), style: GruStyle) -> GruEncoder {
    GruEncoder::new(dim, hidden, layers, topology, style, GruInit::Orthogonal).unwrap()
}

/// Parameters that are all well away from 0, including biases.
fn lively(encoder: &GruEncoder, seed: u64) -> Parameters<f64> {
    let mut parameters = parameters_of::<f64>(encoder, seed);
    let mut rng = stream(seed, "lively", &[]);
    parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.7).unwrap());
    parameters
}

/// Sentences of several lengths, one empty, with words repeated within and between them.
fn awkward() -> TokenBatch {
    batch(&[&[3, 1, 3], &[], &[1], &[7, 3, 1, 9], &[9, 9, 3]])
}

#[test]
fn gradients_match_central_differences() {
    for topology in TOPOLOGIES {
        let styles = if topology.0 == 1 { &STYLES[..] } else { &[GruStyle::Tf1, GruStyle::Torch] };
        for &style in styles {
            let encoder = encoder(3, 2, topology, style);
            check_gradients_of(&encoder, &lively(&encoder, 1), &awkward(), 3);
        }
    }
}

#[test]
fn single_precision_agrees_with_double_at_real_sizes() {
    let sentences: Vec<Vec<TokenId>> =
        random_sentences(200, 20, 5000, 1).into_iter().filter(|s| s.len() >= 6).take(64).collect();
    let batch = assigned(&sentences);
    let largest = |x: &[f64]| x.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    let close = |got: &[f32], expected: &[f64], what: &str| {
        let size = largest(expected);
        let worst = got.iter().zip(expected).map(|(g, e)| (f64::from(*g) - e).abs());
        let worst = worst.fold(0.0, |worst, e| if e > worst || e.is_nan() { e } else { worst });
        assert!(worst < 2e-5 * size, "{what}: {worst} of {size}");
    };
    for (topology, style) in [(TOPOLOGIES[1], GruStyle::Release), (TOPOLOGIES[4], GruStyle::Tf1)] {
        let encoder = encoder(300, 500, topology, style);
        let parameters = parameters_of::<f64>(&encoder, 2);
        let words = matrix_of::<f64>(batch.distinct().len(), 300, 3);
        let d_out = matrix_of::<f64>(batch.len(), 1000, 4);
        let (out, _) = encoder.forward(&parameters, &batch, words.view()).unwrap();
        let (d_words, d) = gradients(&encoder, &parameters, &batch, words.view(), d_out.view());
        let narrow = |x: &Array2<f64>| x.mapv(|x| x as f32);
        let (parameters, words, d_out) = (parameters.cast::<f32>(), narrow(&words), narrow(&d_out));
        let (out32, _) = encoder.forward(&parameters, &batch, words.view()).unwrap();
        let (d_words32, d32) = gradients(&encoder, &parameters, &batch, words.view(), d_out.view());
        close(out32.as_slice().unwrap(), out.as_slice().unwrap(), "sentence vectors");
        close(d_words32.as_slice().unwrap(), d_words.as_slice().unwrap(), "words");
        for (d32, d) in d32.iter().zip(d.iter()) {
            close(d32.values(), d.values(), d.name());
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (topology, style) in [(TOPOLOGIES[1], GruStyle::Torch), (TOPOLOGIES[4], GruStyle::Paper)] {
        same_bits_at_any_number_of_threads(&encoder(60, 70, topology, style), 60);
    }
}

#[test]
fn few_sentences_are_shared_out_by_units_with_the_same_bits() {
    // 3 x 300 rows of U exceed the share of one thread.
    for style in [GruStyle::Release, GruStyle::Tf1] {
        let encoder = encoder(8, 300, (1, RecurrentTopology::Separate), style);
        let parameters = parameters_of::<f64>(&encoder, 4);
        let sentences = random_sentences(40, 9, 50, 3);
        let all = assigned(&sentences);
        let words = matrix_of::<f64>(all.distinct().len(), 8, 1);
        let (expected, _) = encoder.forward(&parameters, &all, words.view()).unwrap();
        for (i, sentence) in sentences.iter().enumerate().take(6) {
            let one = assigned(std::slice::from_ref(sentence));
            let place = |token: &TokenId| all.distinct().binary_search(token).unwrap();
            let rows: Vec<usize> = one.distinct().iter().map(place).collect();
            let words = words.select(ndarray::Axis(0), &rows);
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| encoder.encode(&parameters, &one, words.view()).unwrap())
            };
            let alone = run(1);
            assert!(run(2) == alone && run(5) == alone);
            assert!(alone.iter().zip(expected.row(i)).all(|(a, e)| (a - e).abs() < 1e-12));
        }
    }
}

#[test]
fn reading_one_word_is_what_the_equations_say() {
    // One unit, one number, h⁻ = 0: h = (1 − z) tanh(w x + b) with z = σ(w x + b).
    let encoder = encoder(1, 1, (1, RecurrentTopology::Forward), GruStyle::Tf1);
    let mut parameters = Parameters::<f64>::new();
    parameters.push("forward1.input", [3, 1], vec![9.0, 0.5, 2.0]).unwrap();
    parameters.push("forward1.recurrent", [3, 1], vec![5.0; 3]).unwrap();
    parameters.push("forward1.bias", [1, 3], vec![7.0, -0.25, 0.5]).unwrap();
    let words = Array2::from_elem((1, 1), 0.5);
    let (out, _) = encoder.forward(&parameters, &batch(&[&[4]]), words.view()).unwrap();
    assert!((out[(0, 0)] - 0.5 * 1.5_f64.tanh()).abs() < 1e-15);
}

#[test]
fn forms_and_saved_states_that_do_not_fit_are_refused() {
    let new = |word_dim, hidden, layers| {
        GruEncoder::new(word_dim, hidden, layers, RecurrentTopology::Separate, GruStyle::Paper, GruInit::Glorot)
    };
    for (word_dim, hidden, layers) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        assert!(matches!(new(word_dim, hidden, layers), Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(new(usize::MAX / 3, 2, 1), Err(Error::TooLarge { .. })));
    assert!(matches!(new(2, usize::MAX / 4, 3), Err(Error::TooLarge { .. })));

    for topology in [TOPOLOGIES[1], TOPOLOGIES[4]] {
        let encoder = encoder(3, 2, topology, GruStyle::Paper);
        let parameters = parameters_of::<f32>(&encoder, 1);
        let (batch, words) = (awkward(), matrix_of::<f32>(4, 3, 1));
        let wide = parameters_of::<f32>(&self::encoder(4, 2, topology, GruStyle::Paper), 1);
        let mismatch = |result: Result<_, _>| matches!(result, Err(Error::ShapeMismatch { .. }));
        assert!(mismatch(encoder.forward(&wide, &batch, words.view()).map(|_| ())));
        assert!(mismatch(encoder.forward(&Parameters::new(), &batch, words.view()).map(|_| ())));
        assert!(mismatch(encoder.forward(&parameters, &batch, matrix_of(4, 2, 1).view()).map(|_| ())));
        let (out, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
        let backward = |encoder: &GruEncoder, batch: &TokenBatch, d_out: &Array2<f32>, d: &Parameters<f32>| {
            let (mut d_words, mut d) = (Array2::zeros((batch.distinct().len(), 3)), d.clone());
            encoder.backward(&parameters, batch, words.view(), &saved, d_out.view(), Some(d_words.view_mut()), &mut d)
        };
        assert!(backward(&encoder, &batch, &out, &parameters).is_ok());
        assert!(mismatch(backward(&encoder, &batch, &Array2::zeros((5, 3)), &parameters)));
        assert!(mismatch(backward(&encoder, &batch, &out, &wide)));
        let other = self::batch(&[&[3, 1, 3], &[], &[1], &[7, 3, 1, 9], &[9, 3, 9]]);
        assert!(matches!(backward(&encoder, &other, &out, &parameters), Err(Error::InvalidParameter { .. })));
    }
}

#[test]
fn encoding_gives_the_bits_of_the_forward_pass() {
    let large = assigned(&random_sentences(40, 20, 300, 5));
    for topology in TOPOLOGIES {
        for style in STYLES {
            let encoder = encoder(5, 7, topology, style);
            let parameters = parameters_of::<f32>(&encoder, 1);
            for batch in [&awkward(), &large, &batch(&[&[]])] {
                let words = matrix_of::<f32>(batch.distinct().len(), 5, 1);
                let (out, _) = encoder.forward(&parameters, batch, words.view()).unwrap();
                assert!(encoder.encode(&parameters, batch, words.view()).unwrap() == out);
            }
        }
    }
}

#[test]
fn a_batch_of_nothing() {
    for topology in TOPOLOGIES {
        for style in [GruStyle::Torch, GruStyle::Paper] {
            let encoder = encoder(3, 2, topology, style);
            let parameters = parameters_of::<f32>(&encoder, 1);
            for batch in [batch(&[]), batch(&[&[], &[]])] {
                let words = Array2::zeros((0, 3));
                let (out, _) = encoder.forward(&parameters, &batch, words.view()).unwrap();
                assert_eq!(out, Array2::<f32>::zeros((batch.len(), Encoder::<f32>::dim(&encoder))));
                let d_out = Array2::ones(out.raw_dim());
                let (_, d) = gradients(&encoder, &parameters, &batch, words.view(), d_out.view());
                assert_eq!(d, parameters.zeros_like());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn permuting_a_batch_permutes_its_vectors_and_leaves_the_gradients(seed in 0..1000u64, which in 0..7usize) {
        let sentences = random_sentences(9, 8, 20, seed);
        let reversed: Vec<_> = sentences.iter().rev().cloned().collect();
        let (forth, back) = (assigned(&sentences), assigned(&reversed));
        let words = matrix_of::<f64>(forth.distinct().len(), 3, seed);
        let encoder = encoder(3, 4, TOPOLOGIES[which], STYLES[which % 4]);
        let parameters = lively(&encoder, seed);
        let close = |x: &f64, y: &f64| (x - y).abs() < 1e-12 * (1.0 + y.abs());
        let (x, _) = encoder.forward(&parameters, &forth, words.view()).unwrap();
        let (y, _) = encoder.forward(&parameters, &back, words.view()).unwrap();
        let turned = y.outer_iter().rev().flatten();
        prop_assert!(x.iter().zip(turned).all(|(x, y)| close(x, y)));
        let d_out = matrix_of::<f64>(9, x.ncols(), seed);
        let turned = d_out.slice(ndarray::s![..;-1, ..]).to_owned();
        let (d_words, d) = gradients(&encoder, &parameters, &forth, words.view(), d_out.view());
        let (e_words, e) = gradients(&encoder, &parameters, &back, words.view(), turned.view());
        prop_assert!(d_words.iter().zip(&e_words).all(|(x, y)| close(x, y)));
        for (d, e) in d.iter().zip(e.iter()) {
            prop_assert!(d.values().iter().zip(e.values()).all(|(x, y)| close(x, y)), "{}", d.name());
        }
    }
}

#[test]
fn every_layer_of_one_direction_and_both_directions_of_the_top_have_their_place_in_the_vector() {
    let large = assigned(&random_sentences(20, 9, 50, 5));
    let words = matrix_of::<f64>(large.distinct().len(), 3, 1);
    let first_of = |parameters: &Parameters<f64>, n: usize| {
        let mut first = Parameters::new();
        for tensor in parameters.iter().take(n) {
            first.push(tensor.name(), tensor.shape(), tensor.values().to_vec()).unwrap();
        }
        first
    };
    let vectors =
        |encoder: &GruEncoder, parameters: &Parameters<f64>| encoder.encode(parameters, &large, words.view()).unwrap();
    let [one, two, three] = [1, 2, 3].map(|layers| encoder(3, 2, (layers, RecurrentTopology::Forward), GruStyle::Tf1));
    let parameters = lively(&three, 1);
    let all = vectors(&three, &parameters);
    assert_eq!(all.ncols(), 6);
    for (encoder, layers) in [(one, 1), (two, 2)] {
        let below = vectors(&encoder, &first_of(&parameters, 3 * layers));
        assert!(below == all.slice(ndarray::s![.., ..2 * layers]), "{layers} of 3 layers");
    }
    // Forward first: its layers read the words like an encoder of only this direction.
    for layers in [1, 2, 3] {
        let separate = encoder(3, 2, (layers, RecurrentTopology::Separate), GruStyle::Tf1);
        let alone = encoder(3, 2, (layers, RecurrentTopology::Forward), GruStyle::Tf1);
        let parameters = lively(&separate, 2);
        let mut forward = Parameters::new();
        for tensor in parameters.iter().filter(|tensor| tensor.name().starts_with("forward")) {
            forward.push(tensor.name(), tensor.shape(), tensor.values().to_vec()).unwrap();
        }
        let (both, top) = (vectors(&separate, &parameters), vectors(&alone, &forward));
        assert_eq!(both.ncols(), 4);
        assert!(both.slice(ndarray::s![.., ..2]) == top.slice(ndarray::s![.., 2 * (layers - 1)..]), "{layers}");
    }
}

#[test]
fn every_tensor_of_another_shape_is_refused_as_one_of_a_cell() {
    for style in STYLES {
        let encoder = encoder(3, 2, (2, RecurrentTopology::Separate), style);
        let (batch, words) = (awkward(), matrix_of::<f64>(4, 3, 1));
        let parameters = parameters_of::<f64>(&encoder, 1);
        for (wrong, [more_rows, more_columns]) in (0..parameters.len()).flat_map(|i| [(i, [1, 0]), (i, [0, 1])]) {
            let mut other = Parameters::new();
            for (i, tensor) in parameters.iter().enumerate() {
                let [rows, columns] = tensor.shape();
                let shape = if i == wrong { [rows + more_rows, columns + more_columns] } else { [rows, columns] };
                other.push_zeros(tensor.name(), shape).unwrap();
            }
            let error = encoder.forward(&other, &batch, words.view()).unwrap_err();
            let is_of_cell = |what: &str| what.ends_with("tensor of a recurrent cell");
            assert!(matches!(error, Error::ShapeMismatch { what, .. } if is_of_cell(what)), "{wrong}: {error}");
        }
    }
}

#[test]
fn its_sizes_are_those_of_its_tensors() {
    for (layers, topology) in TOPOLOGIES {
        for style in STYLES {
            let encoder = encoder(3, 2, (layers, topology), style);
            assert!(is_size_of_tensors(encoder.n_values(), &encoder), "{encoder:?}");
            assert_eq!((encoder.word_dim(), encoder.hidden(), encoder.layers()), (3, 2, layers));
            assert_eq!((encoder.topology(), encoder.style()), (topology, style));
        }
    }
}
