//! Helpers for tests.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Float, Parameters, TokenBatch},
    gradcheck, init,
    rng::stream,
};

use crate::Encoder;

pub(crate) fn batch(sentences: &[&[u32]]) -> TokenBatch {
    let ids: Vec<Vec<TokenId>> = sentences.iter().map(|s| s.iter().map(|&t| TokenId(t)).collect()).collect();
    let mut batch = TokenBatch::new();
    batch.assign(ids.iter().map(Vec::as_slice)).unwrap();
    batch
}

/// Sentences of 0 to `longest` words out of `n_words`, the first of them frequent.
pub(crate) fn random_sentences(n: usize, longest: usize, n_words: usize, seed: u64) -> Vec<Vec<TokenId>> {
    let mut numbers = vec![0.0f64; n * (longest + 1)];
    init::uniform(&mut stream(seed, "sentences", &[]), &mut numbers, 0.5).unwrap();
    let unit: Vec<f64> = numbers.iter().map(|x| (x + 0.5).min(0.999_999)).collect();
    let sentence = |x: &[f64]| {
        let length = (x[0] * (longest + 1) as f64) as usize;
        x[1..=length].iter().map(|u| TokenId((u * u * n_words as f64) as u32)).collect()
    };
    unit.chunks_exact(longest + 1).map(sentence).collect()
}

pub(crate) fn assigned(sentences: &[Vec<TokenId>]) -> TokenBatch {
    let mut batch = TokenBatch::new();
    batch.assign(sentences.iter().map(Vec::as_slice)).unwrap();
    batch
}

/// Values from N(0, 1).
pub(crate) fn matrix_of<F: Float>(n: usize, dim: usize, seed: u64) -> Array2<F> {
    let mut x = vec![F::zero(); n * dim];
    init::normal(&mut stream(seed, "encoder tests", &[]), &mut x, 1.0).unwrap();
    Array2::from_shape_vec((n, dim), x).unwrap()
}

/// Initial parameters, and biases that are not 0.
pub(crate) fn parameters_of<F: Float>(encoder: &impl Encoder<F>, seed: u64) -> Parameters<F> {
    let mut rng = stream(seed, "encoder tests", &[1]);
    let mut parameters = encoder.init(&mut rng).unwrap();
    for tensor in parameters.iter_mut().filter(|tensor| tensor.name().contains("bias")) {
        init::normal(&mut rng, tensor.values_mut(), 0.5).unwrap();
    }
    parameters
}

/// Whether `n_values` equals the number of values in all tensors.
pub(crate) fn is_size_of_tensors(n_values: f64, encoder: &impl Encoder<f32>) -> bool {
    let n: usize = parameters_of(encoder, 1).iter().map(|tensor| tensor.values().len()).sum();
    n_values == n as f64
}

/// Gradients of Σ d_out out with respect to words and parameters.
pub(crate) fn gradients<F: Float, E: Encoder<F>>(
    encoder: &E,
    parameters: &Parameters<F>,
    batch: &TokenBatch,
    words: ArrayView2<'_, F>,
    d_out: ArrayView2<'_, F>,
) -> (Array2<F>, Parameters<F>) {
    let (_, saved) = encoder.forward(parameters, batch, words).unwrap();
    let (mut d_words, mut d_parameters) = (Array2::zeros(words.raw_dim()), parameters.zeros_like());
    encoder.backward(parameters, batch, words, &saved, d_out, Some(d_words.view_mut()), &mut d_parameters).unwrap();
    (d_words, d_parameters)
}

/// Checks the gradients of all words and all parameters against central differences.
pub(crate) fn check_gradients_of<E: Encoder<f64>>(
    encoder: &E,
    parameters: &Parameters<f64>,
    batch: &TokenBatch,
    dim: usize,
) {
    let words = matrix_of::<f64>(batch.distinct().len(), dim, 11);
    let d_out = matrix_of::<f64>(batch.len(), encoder.dim(), 12);
    let value = |parameters: &Parameters<f64>, words: ArrayView2<'_, f64>| {
        (&encoder.forward(parameters, batch, words).unwrap().0 * &d_out).sum()
    };
    let (d_words, d_parameters) = gradients(encoder, parameters, batch, words.view(), d_out.view());
    let of_words = |x: &[f64]| value(parameters, ArrayView2::from_shape(words.raw_dim(), x).unwrap());
    let flipped: Vec<f64> = d_words.iter().map(|d| -d).collect();
    let worst = |d: &[f64]| gradcheck::max_relative_error(of_words, words.as_slice().unwrap(), d);
    assert!(worst(d_words.as_slice().unwrap()) < 1e-7, "words");
    assert!(worst(&flipped) > 1.9, "a flipped sign");
    for (place, tensor) in parameters.iter().enumerate() {
        let of_tensor = |x: &[f64]| {
            let mut moved = parameters.clone();
            moved[place].values_mut().copy_from_slice(x);
            value(&moved, words.view())
        };
        let error = gradcheck::max_relative_error(of_tensor, tensor.values(), d_parameters[place].values());
        assert!(error < 1e-7, "{}: {error}", tensor.name());
    }
    // Frozen words change no other gradient.
    let (_, saved) = encoder.forward(parameters, batch, words.view()).unwrap();
    let mut alone = parameters.zeros_like();
    encoder.backward(parameters, batch, words.view(), &saved, d_out.view(), None, &mut alone).unwrap();
    assert!(alone == d_parameters, "without the gradients of the words");
    // Gradients accumulate on the old values.
    let (_, saved) = encoder.forward(parameters, batch, words.view()).unwrap();
    let (mut twice, mut twice_parameters) = (d_words.clone(), d_parameters.clone());
    let (view, d) = (twice.view_mut(), &mut twice_parameters);
    encoder.backward(parameters, batch, words.view(), &saved, d_out.view(), Some(view), d).unwrap();
    let double = |a: &f64, b: &f64| (a - 2.0 * b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(twice.iter().zip(&d_words).all(|(a, b)| double(a, b)));
    for (a, b) in twice_parameters.iter().zip(d_parameters.iter()) {
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| double(a, b)), "{}", a.name());
    }
}

/// Runs a large batch on pools of several sizes.
pub(crate) fn same_bits_at_any_number_of_threads<E: Encoder<f32> + Sync>(encoder: &E, dim: usize)
where
    E::Saved: Send,
{
    let batch = assigned(&random_sentences(150, 24, 900, 3));
    let words = matrix_of::<f32>(batch.distinct().len(), dim, 1);
    let d_out = matrix_of::<f32>(batch.len(), encoder.dim(), 2);
    let parameters = parameters_of(encoder, 4);
    let run = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let out = encoder.forward(&parameters, &batch, words.view()).unwrap().0;
            (out, gradients(encoder, &parameters, &batch, words.view(), d_out.view()))
        })
    };
    let one = run(1);
    for threads in [2, 5] {
        assert!(run(threads) == one, "{threads} threads");
    }
}
