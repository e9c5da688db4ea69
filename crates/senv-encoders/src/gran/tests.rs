use ndarray::Array2;
use senv_core::{
    arrays::{Parameters, TokenBatch},
    init,
    rng::stream,
};

use super::{GranEncoder, GranForm, GranGate, gates::GATES};
use crate::{
    Encoder, Error, StatePooling,
    testing::{
        assigned, batch, check_gradients_of, gradients, is_size_of_tensors, matrix_of, parameters_of, random_sentences,
        same_bits_at_any_number_of_threads,
    },
};

const POOLINGS: [Option<StatePooling>; 4] =
    [None, Some(StatePooling::Last), Some(StatePooling::Mean), Some(StatePooling::Max)];

/// The hidden size to test a gate with; it differs from the word dimension if possible.
fn hidden(gate: GranGate, dim: usize) -> usize {
    if gate == GranGate::WordAndState { dim } else { dim + 2 }
}

/// Every kind of encoder.
fn all(dim: usize) -> Vec<GranEncoder> {
    let forms = GATES.iter().flat_map(|&gate| POOLINGS.map(|pooling| GranForm { gate, pooling }));
    forms.map(|form| GranEncoder::new(dim, hidden(form.gate, dim), form).unwrap()).collect()
}

/// Parameters that are all well away from 0.
fn lively(encoder: &GranEncoder, seed: u64) -> Parameters<f64> {
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
    for encoder in all(3) {
        check_gradients_of(&encoder, &lively(&encoder, 1), &awkward(), 3);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for gate in GATES {
        let form = GranForm { gate, pooling: None };
        same_bits_at_any_number_of_threads(&GranEncoder::new(60, hidden(gate, 60), form).unwrap(), 60);
    }
}

#[test]
fn encoding_gives_the_bits_of_the_forward_pass_and_nothing_is_a_vector_of_zeros() {
    let large = assigned(&random_sentences(40, 20, 300, 5));
    for encoder in all(5) {
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
fn a_sentence_of_one_word_is_the_same_in_every_pooling() {
    let batch = batch(&[&[4]]);
    let words = matrix_of::<f64>(1, 5, 1);
    for encoders in all(5).chunks_exact(POOLINGS.len()) {
        let vector =
            |encoder: &GranEncoder| encoder.encode(&parameters_of::<f64>(encoder, 1), &batch, words.view()).unwrap();
        let first = vector(&encoders[0]);
        assert!(first.iter().all(|&x| x != 0.0));
        assert!(encoders.iter().all(|encoder| vector(encoder) == first), "{encoders:?}");
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let batch = assigned(&random_sentences(64, 20, 500, 1));
    for gate in GATES {
        let encoder = GranEncoder::new(100, 100, GranForm { gate, pooling: None }).unwrap();
        let parameters = parameters_of::<f64>(&encoder, 2);
        let words = matrix_of::<f64>(batch.distinct().len(), 100, 3);
        let (out, _) = encoder.forward(&parameters, &batch, words.view()).unwrap();
        let words = words.mapv(|x| x as f32);
        let (single, _) = encoder.forward(&parameters.cast::<f32>(), &batch, words.view()).unwrap();
        assert!(out.iter().zip(&single).all(|(x, &y)| (x - f64::from(y)).abs() < 5e-5), "{gate:?}");
    }
}

#[test]
fn the_size_in_a_file_is_that_of_the_tensors() {
    for encoder in all(5) {
        assert!(is_size_of_tensors(encoder.n_values(), &encoder), "{encoder:?}");
    }
    let encoder = GranEncoder::new(5, 7, GranForm::default()).unwrap();
    assert_eq!((encoder.word_dim(), encoder.hidden()), (5, 7));
}

#[test]
fn weights_begin_normal_and_biases_at_0() {
    let encoder = GranEncoder::new(60, 40, GranForm { gate: GranGate::Memory, pooling: None }).unwrap();
    let parameters: Parameters<f64> = encoder.init(&mut stream(1, "gran", &[])).unwrap();
    let deviation = |values: &[f64]| (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt();
    for tensor in parameters.iter().filter(|tensor| tensor.name().starts_with("gate")) {
        // With 4,800 values or more, the deviation is within 1/√9,600 of itself, times four.
        let expected = if tensor.name() == "gate.bias" { 0.0 } else { 0.1 };
        assert!((deviation(tensor.values()) - expected).abs() < 0.004, "{}", tensor.name());
    }
}

#[test]
fn gates_that_remember_take_the_last_vector_and_others_the_mean() {
    for gate in GATES {
        let is_memory = matches!(gate, GranGate::Memory | GranGate::WatchedMemory);
        let expected = if is_memory { StatePooling::Last } else { StatePooling::Mean };
        let of = |pooling| GranEncoder::new(5, hidden(gate, 5), GranForm { gate, pooling }).unwrap();
        assert_eq!(of(None), of(Some(expected)), "{gate:?}");
    }
}

#[test]
fn a_state_saved_by_an_encoder_of_another_form_is_refused() {
    let of = |gate, hidden| GranEncoder::new(3, hidden, GranForm { gate, pooling: Some(StatePooling::Mean) }).unwrap();
    let (batch, words) = (awkward(), matrix_of::<f32>(4, 3, 1));
    // They differ only in the factors, only in the states, only in the gates; then in the gated vectors and states.
    for (one, other) in [
        (of(GranGate::Word, 5), of(GranGate::Product, 5)),
        (of(GranGate::Word, 5), of(GranGate::Word, 4)),
        (of(GranGate::Word, 5), of(GranGate::Memory, 5)),
        (of(GranGate::State, 5), of(GranGate::State, 4)),
    ] {
        for (encoder, other) in [(&one, &other), (&other, &one)] {
            let (_, saved) = other.forward(&parameters_of(other, 1), &batch, words.view()).unwrap();
            let parameters = parameters_of::<f32>(encoder, 1);
            let d_out = Array2::ones((batch.len(), Encoder::<f32>::dim(encoder)));
            let mut d = parameters.zeros_like();
            let result = encoder.backward(&parameters, &batch, words.view(), &saved, d_out.view(), None, &mut d);
            assert!(matches!(result, Err(Error::InvalidParameter { .. })), "{encoder:?}");
        }
    }
}

#[test]
fn forms_and_saved_states_that_do_not_fit_are_refused() {
    for (word_dim, hidden) in [(0, 1), (1, 0)] {
        let made = GranEncoder::new(word_dim, hidden, GranForm::default());
        assert!(matches!(made, Err(Error::InvalidParameter { .. })));
    }
    let both = GranForm { gate: GranGate::WordAndState, pooling: None };
    assert!(matches!(GranEncoder::new(3, 4, both), Err(Error::InvalidParameter { name: "hidden size", .. })));
    assert!(matches!(GranEncoder::new(2, usize::MAX / 4, GranForm::default()), Err(Error::TooLarge { .. })));
    let encoder = GranEncoder::new(3, 2, GranForm::default()).unwrap();
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
