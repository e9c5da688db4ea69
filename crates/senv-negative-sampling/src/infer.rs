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
use senv_core::{Rows, TokenId, hyperparameters::hyperparameters, kernels, optim::linear_decay, rng::stream};

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

#[cfg(test)]
mod tests {
    use senv_core::Table;

    use super::*;

    const DIM: usize = 6;

    fn targets() -> Table {
        let mut table = Table::zeros(4, DIM).unwrap();
        for i in 0..4 {
            (0..DIM).for_each(|j| table.row_mut(i)[j] = ((i * DIM + j) as f32 * 1.3).sin());
        }
        table
    }

    fn fitted(tokens: &[u32], noise: &Noise, how: &Inference) -> Vec<f32> {
        let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId).collect();
        let mut out = vec![f32::NAN; DIM];
        infer(&tokens, &targets(), noise, how, &mut out);
        out
    }

    /// The start, from which no step of a rate of 0 moves.
    fn start(tokens: &[u32], noise: &Noise) -> Vec<f32> {
        fitted(tokens, noise, &Inference { lr: 0.0, ..Inference::default() })
    }

    #[test]
    fn a_target_is_not_its_own_negative() {
        // Row 2 is the only one that is drawn, and the target.
        let noise = Noise::new(&[0, 0, 5, 0], 1.0).unwrap();
        let how = Inference { negatives: 5, ..Inference::default() };
        assert_eq!(fitted(&[2], &noise, &how), fitted(&[2], &noise, &Inference { negatives: 0, ..how }));
        // Of another target it is a negative.
        assert_ne!(fitted(&[1], &noise, &how), fitted(&[1], &noise, &Inference { negatives: 0, ..how }));
    }

    #[test]
    fn a_vector_takes_the_steps_of_the_objective_at_a_rate_that_falls_to_zero() {
        use crate::objective::{Example, gradient};
        use ndarray::Array2;
        let noise = Noise::new(&[0, 0, 5, 0], 1.0).unwrap();
        let (tokens, how) = ([0, 3], Inference { epochs: 3, lr: 0.4, negatives: 2, ..Inference::default() });
        let table = targets();
        let rows = Array2::from_shape_fn((4, DIM), |(i, j)| f64::from(table.row(i)[j]));
        let start = start(&tokens, &noise);
        let mut d = Array2::from_shape_fn((1, DIM), |(_, j)| f64::from(start[j]));
        for step in 0..6 {
            let example = Example { context: &[0], target: tokens[step % 2] as usize, negatives: &[2, 2] };
            let d_source = gradient(&d, &rows, example).d_source;
            d.scaled_add(-0.4 * (1.0 - step as f64 / 6.0), &d_source);
        }
        for (got, expected) in fitted(&tokens, &noise, &how).iter().zip(&d) {
            assert!((f64::from(*got) - expected).abs() < 1e-5, "{got} {expected}"); // f32, six steps
        }
    }

    #[test]
    fn the_start_is_small_and_depends_on_the_tokens() {
        let noise = Noise::new(&[1; 4], 1.0).unwrap();
        let (a, b) = (start(&[0, 3], &noise), start(&[3, 0], &noise));
        assert!(a != b && a.iter().any(|&x| x != 0.0));
        assert!(a.iter().chain(&b).all(|x| x.abs() <= 0.5 / DIM as f32));
        assert_eq!(fitted(&[], &noise, &Inference::default()), [0.0; DIM]);
    }
}
