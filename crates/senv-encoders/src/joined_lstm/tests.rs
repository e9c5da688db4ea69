use ndarray::Array2;
use senv_core::{
    arrays::{Parameters, TokenBatch},
    init,
    rng::stream,
};

use super::JoinedLstm;
use crate::{
    Encoder, Error, StatePooling,
    testing::{
        assigned, batch, check_gradients_of, gradients, is_size_of_tensors, matrix_of, parameters_of, random_sentences,
        same_bits_at_any_number_of_threads,
    },
};

const POOLINGS: [StatePooling; 3] = [StatePooling::Last, StatePooling::Mean, StatePooling::Max];

/// Sentences of several lengths, one empty, with words repeated within and between them.
fn awkward() -> TokenBatch {
    batch(&[&[3, 1, 3], &[], &[1], &[7, 3, 1, 9], &[9, 9, 3]])
}

#[test]
fn gradients_match_central_differences() {
    for pooling in POOLINGS {
        let encoder = JoinedLstm::new(3, 2, 4, pooling).unwrap();
        let mut parameters = parameters_of::<f64>(&encoder, 1);
        let mut rng = stream(1, "lively", &[]);
        parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.7).unwrap());
        check_gradients_of(&encoder, &parameters, &awkward(), 3);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for pooling in [StatePooling::Mean, StatePooling::Last] {
        same_bits_at_any_number_of_threads(&JoinedLstm::new(60, 70, 50, pooling).unwrap(), 60);
    }
}

#[test]
fn encoding_gives_the_bits_of_the_forward_pass_and_nothing_is_a_vector_of_zeros() {
    let large = assigned(&random_sentences(40, 20, 300, 5));
    for pooling in POOLINGS {
        let encoder = JoinedLstm::new(5, 7, 6, pooling).unwrap();
        let parameters = parameters_of::<f32>(&encoder, 1);
        for batch in [&awkward(), &large, &batch(&[&[]]), &batch(&[])] {
            let words = matrix_of::<f32>(batch.distinct().len(), 5, 1);
            let (out, _) = encoder.forward(&parameters, batch, words.view()).unwrap();
            assert_eq!(out.dim(), (batch.len(), 6));
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
    let vectors = POOLINGS.map(|pooling| {
        let encoder = JoinedLstm::new(5, 7, 6, pooling).unwrap();
        encoder.encode(&parameters_of::<f64>(&encoder, 1), &batch, words.view()).unwrap()
    });
    assert!(vectors[0] == vectors[1] && vectors[1] == vectors[2] && vectors[0].iter().all(|&x| x != 0.0));
}

#[test]
fn forms_and_saved_states_that_do_not_fit_are_refused() {
    for (word_dim, hidden, dim) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
        let made = JoinedLstm::new(word_dim, hidden, dim, StatePooling::Mean);
        assert!(matches!(made, Err(Error::InvalidParameter { .. })));
    }
    assert!(matches!(JoinedLstm::new(2, 3, usize::MAX / 4, StatePooling::Mean), Err(Error::TooLarge { .. })));
    let encoder = JoinedLstm::new(3, 2, 4, StatePooling::Mean).unwrap();
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
fn a_state_saved_by_an_encoder_of_another_form_is_refused() {
    let of = |hidden, dim, pooling| JoinedLstm::new(3, hidden, dim, pooling).unwrap();
    let (batch, words) = (awkward(), matrix_of::<f32>(4, 3, 1));
    let mean = StatePooling::Mean;
    for (one, other) in [
        (of(2, 4, mean), of(2, 5, mean)),
        (of(2, 4, mean), of(3, 4, mean)),
        (of(2, 4, mean), of(2, 4, StatePooling::Last)),
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
fn its_sizes_are_those_of_its_tensors() {
    for (word_dim, hidden, dim) in [(3, 2, 4), (1, 5, 1), (7, 1, 2)] {
        let encoder = JoinedLstm::new(word_dim, hidden, dim, StatePooling::Mean).unwrap();
        assert_eq!((encoder.word_dim(), encoder.hidden(), Encoder::<f32>::dim(&encoder)), (word_dim, hidden, dim));
        assert!(is_size_of_tensors(encoder.n_values(), &encoder));
    }
}
