//! A vector for a new sentence from frozen target rows: how PV-DBOW sees text it was not trained on.
//!
//! ```text
//! d ← d − lr ∂L/∂d     L of `negative-sampling-objective` with the context {d}, over every token, `epochs` times
//!                      lr by `linear-decay` to 0
//! ```
//!
//! The start, the negatives and so the result depend on the seed and the tokens alone: the same sentence has the same
//! vector every time.

use rand::RngExt;
use senv_core::{Rows, TokenId, hyperparameters::hyperparameters, kernels, optim::linear_decay, stream};

use crate::noise::Noise;

hyperparameters! {
    /// How a new vector is fitted.
    #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
    pub struct Inference {
        /// Passes over a new sentence when its vector is inferred.
        pub epochs as inference_epochs: u32 = 20 => Training[from 1 to 10000];
        /// Learning rate at the start of inference, which falls linearly to 0.
        pub lr as inference_lr: f32 = 0.1 => Training[above 0];
        /// Negatives for each word in inference.
        pub negatives as inference_negatives: usize = 5 => Training[from 1 to 1000];
        /// Start and negatives derive from it.
        pub seed: u64 = 1 => skip;
    }
}

/// Fits the vector of a sentence into `out` (as many numbers as a target row); zero for a sentence without tokens.
pub fn infer(tokens: &[TokenId], targets: &dyn Rows, noise: &Noise, how: &Inference, out: &mut [f32]) {
    out.fill(0.0);
    if tokens.is_empty() {
        return;
    }
    let place: Vec<u64> = tokens.iter().map(|token| u64::from(token.0)).collect();
    let mut rng = stream(how.seed, "inference", &place);
    let limit = 0.5 / out.len().max(1) as f32;
    out.fill_with(|| rng.random_range(-limit..=limit));
    let n_steps = (how.epochs as usize * tokens.len()).max(1);
    let mut gradient = vec![0.0; out.len()];
    for step in 0..how.epochs as usize * tokens.len() {
        let lr = how.lr * linear_decay(step as f32 / n_steps as f32, 0.0);
        let target = tokens[step % tokens.len()].0;
        gradient.fill(0.0);
        for k in 0..=how.negatives {
            let (row, label) = if k == 0 { (target, 1.0) } else { (noise.draw(&mut rng), 0.0) };
            if k > 0 && row == target {
                continue;
            }
            let u = targets.row(row as usize);
            let mut score = [kernels::dot(u, out)];
            kernels::sigmoid_in_place(&mut score);
            kernels::axpy(lr * (label - score[0]), u, &mut gradient);
        }
        kernels::add(&gradient, out);
    }
}
