use ndarray::Array2;
use senv_core::{
    arrays::{Parameters, TokenBatch},
    init,
    rng::stream,
};

use super::{LstmEncoder, LstmForm};
use crate::{
    Encoder, Error, RecurrentTopology, StatePooling,
    testing::{
        assigned, batch, check_gradients_of, gradients, is_size_of_tensors, matrix_of, parameters_of, random_sentences,
        same_bits_at_any_number_of_threads,
    },
};

const TOPOLOGIES: [(usize, RecurrentTopology); 5] = [
    (1, RecurrentTopology::Forward),
    (2, RecurrentTopology::Forward),
    (1, RecurrentTopology::Separate),
    (2, RecurrentTopology::Separate),
    (2, RecurrentTopology::Interleaved),
];
const POOLINGS: [StatePooling; 3] = [StatePooling::Last, StatePooling::Mean, StatePooling::Max];

/// Every kind of encoder.
fn all(dim: usize, hidden: usize) -> Vec<LstmEncoder> {
    let mut all = Vec::new();
    for (layers, topology) in TOPOLOGIES {
        for pooling in POOLINGS {
            for (peepholes, output_gate) in [(false, true), (true, true), (true, false), (false, false)] {
                let form = LstmForm { topology, pooling, peepholes, output_gate, ..LstmForm::default() };
                all.push(LstmEncoder::new(dim, hidden, layers, form).unwrap());
            }
        }
    }
    all
}

/// Parameters that are all well away from 0.
fn lively(encoder: &LstmEncoder, seed: u64) -> Parameters<f64> {
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
    for encoder in all(3, 2) {
        check_gradients_of(&encoder, &lively(&encoder, 1), &awkward(), 3);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (pooling, peepholes) in [(StatePooling::Max, true), (StatePooling::Mean, false)] {
        let form = LstmForm { topology: RecurrentTopology::Interleaved, pooling, peepholes, ..LstmForm::default() };
        same_bits_at_any_number_of_threads(&LstmEncoder::new(60, 70, 2, form).unwrap(), 60);
    }
}

#[test]
fn encoding_gives_the_bits_of_the_forward_pass_and_nothing_is_a_vector_of_zeros() {
    let large = assigned(&random_sentences(40, 20, 300, 5));
    for encoder in all(5, 7) {
        let parameters = parameters_of::<f32>(&encoder, 1);
        for batch in [&awkward(), &large, &batch(&[&[]]), &batch(&[])] {
            let words = matrix_of::<f32>(batch.distinct().len(), 5, 1);
            let (out, _) = encoder.forward(&parameters, batch, words.view()).unwrap();
            assert_eq!(out.dim(), (batch.len(), Encoder::<f32>::dim(&encoder)));
            assert!(encoder.encode(&parameters, batch, words.view()).unwrap() == out);
            let mut empty = (0..batch.len()).filter(|&i| batch.sentence(i).is_empty());
            assert!(empty.all(|i| out.row(i).iter().all(|&x| x == 0.0)));
            let d_out = Array2::ones(out.raw_dim());
            let (_, d) = gradients(&encoder, &parameters, batch, words.view(), d_out.view());
            assert!(!batch.distinct().is_empty() || d == parameters.zeros_like());
        }
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let batch = assigned(&random_sentences(64, 20, 500, 1));
    let form = LstmForm {
        topology: RecurrentTopology::Separate,
        pooling: StatePooling::Max,
        peepholes: true,
        ..LstmForm::default()
    };
    let encoder = LstmEncoder::new(100, 120, 1, form).unwrap();
    let parameters = parameters_of::<f64>(&encoder, 2);
    let words = matrix_of::<f64>(batch.distinct().len(), 100, 3);
    let (out, _) = encoder.forward(&parameters, &batch, words.view()).unwrap();
    let words = words.mapv(|x| x as f32);
    let (single, _) = encoder.forward(&parameters.cast::<f32>(), &batch, words.view()).unwrap();
    assert!(out.iter().zip(&single).all(|(x, &y)| (x - f64::from(y)).abs() < 2e-5));
}

#[test]
fn forms_and_saved_states_that_do_not_fit_are_refused() {
    for (word_dim, hidden, layers) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        let made = LstmEncoder::new(word_dim, hidden, layers, LstmForm::default());
        assert!(matches!(made, Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(LstmEncoder::new(2, usize::MAX / 4, 3, LstmForm::default()), Err(Error::TooLarge { .. })));
    let encoder = LstmEncoder::new(3, 2, 1, LstmForm::default()).unwrap();
    let parameters = parameters_of::<f32>(&encoder, 1);
    let (batch, words) = (awkward(), matrix_of::<f32>(4, 3, 1));
    let mismatch = |result: Result<_, _>| matches!(result, Err(Error::ShapeMismatch { .. }));
    assert!(mismatch(encoder.forward(&Parameters::new(), &batch, words.view()).map(|_| ())));
    assert!(mismatch(encoder.forward(&parameters, &batch, matrix_of(4, 2, 1).view()).map(|_| ())));
    let (out, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
    let other = self::batch(&[&[3, 1, 3], &[], &[1], &[7, 3, 1, 9], &[9, 3, 9]]);
    let mut d = parameters.zeros_like();
    let result = encoder.backward(&parameters, &other, words.view(), &saved, out.view(), None, &mut d);
    assert!(matches!(result, Err(Error::InvalidParameter { .. })));
}

#[test]
fn its_sizes_are_those_of_its_tensors() {
    for encoder in all(3, 2) {
        assert!(is_size_of_tensors(encoder.n_values(), &encoder), "{encoder:?}");
        assert_eq!((encoder.word_dim(), encoder.hidden()), (3, 2));
    }
}
