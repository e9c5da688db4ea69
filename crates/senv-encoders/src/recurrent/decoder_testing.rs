//! Tests that every decoder passes, with any cell.

use ndarray::{Array2, ArrayView2, concatenate};
use senv_core::{
    arrays::{Parameters, TokenBatch},
    gradcheck, init,
    rng::stream,
};

use crate::{
    Decoder, Error, FirstInput,
    testing::{assigned, batch, matrix_of, random_sentences},
};

/// Compares numbers to ten digits.
pub(crate) fn close<'a>(got: impl IntoIterator<Item = &'a f64>, expected: &[f64], what: &str) {
    let got: Vec<f64> = got.into_iter().copied().collect();
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

/// Parameters that are all well away from 0.
pub(crate) fn lively(decoder: &impl Decoder) -> Parameters<f64> {
    let mut rng = stream(3, "lively", &[]);
    let mut parameters = decoder.init(&mut rng).unwrap();
    parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.7).unwrap());
    parameters
}

/// Targets that end in token 0, of several lengths, one of them empty.
pub(crate) fn targets() -> TokenBatch {
    batch(&[&[3, 1, 3, 0], &[], &[0], &[7, 3, 1, 7, 0], &[7, 0]])
}

/// Compares the gradients of words, vectors and parameters with central differences, for words of three values.
pub(crate) fn gradients_match(decoder: &impl Decoder) {
    let (batch, h, what) = (targets(), decoder.hidden(), format!("{decoder:?}"));
    let parameters = lively(decoder);
    let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, decoder.vector_dim(), 2));
    let d_hidden = matrix_of::<f64>(batch.n_tokens(), h, 3);
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
    // Gradients accumulate, and frozen words change nothing else.
    let (mut twice, mut twice_parameters) = (d_vectors.clone(), d.clone());
    backward(None, &mut twice, &mut twice_parameters);
    close(&twice, (&d_vectors * 2.0).as_slice().unwrap(), "twice");
    for (a, b) in twice_parameters.iter().zip(d.iter()) {
        let double: Vec<f64> = b.values().iter().map(|x| 2.0 * x).collect();
        close(a.values(), &double, "twice");
    }
}

/// Checks that a session gives the states of teacher forcing; the decoder starts with the vector of token 0.
pub(crate) fn word_by_word(decoder: &impl Decoder) {
    let (batch, h, n_state) = (targets(), decoder.hidden(), decoder.state_dim());
    let parameters = lively(decoder);
    let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, decoder.vector_dim(), 2));
    let (hidden, _) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
    for i in 0..batch.len() {
        let session = decoder.session(&parameters, vectors.row(i)).unwrap();
        let mut state = Array2::from_shape_vec((1, n_state), session.first_state().to_vec()).unwrap();
        let mut before = 0;
        for (t, &place) in batch.sentence(i).iter().enumerate() {
            // Three hypotheses; the other two have another word and state.
            let (other_word, other_state) = (Array2::from_elem((1, 3), 9.0), Array2::from_elem((1, n_state), 0.3));
            let word = words.row(before as usize).insert_axis(ndarray::Axis(0)).to_owned();
            let all = |a: &Array2<f64>, b: &Array2<f64>| concatenate![ndarray::Axis(0), *a, *b, *b];
            let next = session.step(all(&word, &other_word).view(), all(&state, &other_state).view()).unwrap();
            let got = next.row(0).slice(ndarray::s![..h]).to_vec();
            close(&got, hidden.row(batch.start(i) + t).as_slice().unwrap(), "state");
            state = next.slice(ndarray::s![..1, ..]).to_owned();
            before = place;
        }
        let narrow = Array2::zeros((1, n_state + 1));
        assert!(matches!(
            session.step(words.slice(ndarray::s![..1, ..]), narrow.view()),
            Err(Error::ShapeMismatch { .. })
        ));
    }
    assert!(decoder.session(&parameters, vectors.row(0).slice(ndarray::s![..1])).is_err());
}

/// Runs a large batch on pools of several sizes, for words of 40 values; `make` returns the decoder that starts with a
/// token.
pub(crate) fn same_bits_at_any_number_of_threads<D: Decoder + Sync>(make: impl FnOnce(FirstInput) -> D) {
    let batch = assigned(&random_sentences(150, 24, 900, 3));
    let decoder = make(FirstInput::Token(batch.distinct()[0]));
    let parameters = decoder.init::<f32>(&mut stream(1, "decoder", &[])).unwrap();
    let words = matrix_of::<f32>(batch.distinct().len(), 40, 1);
    let vectors = matrix_of::<f32>(150, decoder.vector_dim(), 2);
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

/// Checks that mismatched shapes and saved states are rejected, for a decoder of words of three values that starts with
/// zeros.
pub(crate) fn shapes_that_do_not_fit_are_refused(decoder: &impl Decoder) {
    let (batch, parameters) = (targets(), lively(decoder));
    let (words, vectors) = (matrix_of::<f64>(4, 3, 1), matrix_of::<f64>(5, decoder.vector_dim(), 2));
    let mismatch = |result: Result<_, _>| matches!(result, Err(Error::ShapeMismatch { .. }));
    let few = matrix_of::<f64>(4, decoder.vector_dim(), 2);
    assert!(mismatch(decoder.forward(&parameters, &batch, words.view(), few.view()).map(|_| ())));
    let narrow = matrix_of::<f64>(4, 2, 1);
    assert!(mismatch(decoder.forward(&parameters, &batch, narrow.view(), vectors.view()).map(|_| ())));
    assert!(mismatch(decoder.forward(&Parameters::new(), &batch, words.view(), vectors.view()).map(|_| ())));
    let (hidden, saved) = decoder.forward(&parameters, &batch, words.view(), vectors.view()).unwrap();
    let other = self::batch(&[&[3, 1, 3, 0], &[], &[0], &[7, 3, 7, 7, 0], &[7, 0]]);
    let (mut d, mut d_vectors) = (parameters.zeros_like(), vectors.clone());
    let (w, v, view) = (words.view(), vectors.view(), d_vectors.view_mut());
    let refused = decoder.backward(&parameters, &other, w, v, &saved, hidden.view(), None, view, &mut d);
    assert!(matches!(refused, Err(Error::InvalidParameter { name: "saved state", .. })));
    let nothing = self::batch(&[&[]]);
    let (none, one) = (Array2::zeros((0, 3)), Array2::ones((1, decoder.vector_dim())));
    let (hidden, _) = decoder.forward(&parameters, &nothing, none.view(), one.view()).unwrap();
    assert_eq!(hidden.dim(), (0, decoder.hidden()));
}

/// The error of a decoder for words of three values if targets lack its start token; targets without words do not need
/// it.
pub(crate) fn without_the_start_token(decoder: &impl Decoder) -> Error {
    let (parameters, vectors) = (lively(decoder), matrix_of::<f64>(5, decoder.vector_dim(), 2));
    let nothing = decoder.forward(&parameters, &batch(&[&[][..]; 5]), matrix_of::<f64>(0, 3, 1).view(), vectors.view());
    assert_eq!(nothing.unwrap().0.dim(), (0, decoder.hidden()));
    decoder.forward(&parameters, &targets(), matrix_of::<f64>(4, 3, 1).view(), vectors.view()).unwrap_err()
}
