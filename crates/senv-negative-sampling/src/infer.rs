//! Fits a vector to a new sentence with frozen rows: PV-DBOW and PV-DM encode text outside their training set this way.
//!
//! ```text
//! d ← d − lr ∂L/∂d     L of `negative-sampling-objective` over every token, `epochs` times, lr by `linear-decay` to 0
//!                      context {d} (PV-DBOW), or d and the words of `pv-dm-context`, whose rows stay as they are
//! ```
//!
//! The initial vector, the negatives and therefore the result depend only on the seed and the tokens. The same sentence
//! always gets the same vector.

use rand::RngExt;
use senv_core::{
    RowId, Rows, TokenId,
    hyperparameters::hyperparameters,
    kernels,
    optim::linear_decay,
    rng::{Stream, stream},
};

use crate::{examples::Surroundings, noise::Noise, objective::Composition};

hyperparameters! {
    /// How to fit a new vector.
    #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Inference {
        /// Passes over a new sentence when its vector is inferred.
        pub epochs as inference_epochs: u32 = 20 => Training[from 1 to 10000];
        /// Learning rate at the start of inference; it falls linearly to 0.
        pub lr as inference_lr: f32 = 0.1 => Training[above 0];
        /// Negatives per word in inference.
        pub negatives as inference_negatives: usize = 5 => Training[from 1 to 1000];
        /// The seed for the initial vector and the negatives.
        pub seed: u64 = 1 => skip;
    }
}

/// Fits the vector of a sentence into `out`, which has the length of a target row. Without tokens it is zero.
pub fn infer(tokens: &[TokenId], targets: &dyn Rows, noise: &Noise, how: &Inference, out: &mut [f32]) {
    fit_vector(tokens, targets, 1, noise, how, out, |_, _, vector, hidden| {
        hidden.copy_from_slice(vector);
        1.0
    });
}

/// Fits a vector that predicts words together with the words around them (PV-DM). Word and target rows are frozen.
///
/// `words` has [`Surroundings::n_rows`] rows, each as wide as `out`; `targets` has [`Surroundings::n_places`] rows per
/// word.
pub fn infer_among_words(
    tokens: &[TokenId],
    surroundings: &Surroundings,
    words: &dyn Rows,
    targets: &dyn Rows,
    noise: &Noise,
    how: &Inference,
    out: &mut [f32],
) {
    let (rows, dim) = (tokens.iter().map(|token| RowId(token.0)).collect::<Vec<_>>(), out.len());
    let mut around = Vec::new();
    fit_vector(tokens, targets, surroundings.n_places(), noise, how, out, |i, rng, vector, hidden| {
        surroundings.around(&rows, i, rng, &mut around);
        let (first, places) = hidden.split_at_mut(dim);
        first.copy_from_slice(vector);
        let row = |row: &RowId| words.row(row.0 as usize);
        if surroundings.combine == Composition::Concatenation {
            places.chunks_exact_mut(dim.max(1)).zip(&around).for_each(|(place, id)| place.copy_from_slice(row(id)));
        } else {
            around.iter().for_each(|id| kernels::add(row(id), first));
        }
        let (mean, share) = surroundings.weights(around.len());
        kernels::scale(mean, first);
        share
    });
}

/// Runs the steps. `context` writes the hidden vector for the word at a position, `n_places` rows wide with the vector
/// in the first place, and returns the vector's share of the gradient.
fn fit_vector(
    tokens: &[TokenId],
    targets: &dyn Rows,
    n_places: usize,
    noise: &Noise,
    how: &Inference,
    out: &mut [f32],
    mut context: impl FnMut(usize, &mut Stream, &[f32], &mut [f32]) -> f32,
) {
    out.fill(0.0);
    if tokens.is_empty() || out.is_empty() {
        return;
    }
    let place: Vec<u64> = tokens.iter().map(|token| u64::from(token.0)).collect();
    let mut rng = stream(how.seed, "inference", &place);
    let (dim, limit) = (out.len(), 0.5 / out.len() as f32);
    out.fill_with(|| rng.random_range(-limit..=limit));
    let n_steps = how.epochs as usize * tokens.len();
    let (mut hidden, mut gradient) = (vec![0.0; n_places * dim], vec![0.0; dim]);
    for step in 0..n_steps {
        let lr = how.lr * linear_decay(step as f32 / n_steps as f32, 0.0);
        let position = step % tokens.len();
        let target = tokens[position].0;
        let share = context(position, &mut rng, out, &mut hidden);
        gradient.fill(0.0);
        for k in 0..=how.negatives {
            let (row, label) = if k == 0 { (target, 1.0) } else { (noise.draw(&mut rng), 0.0) };
            if k > 0 && row == target {
                continue;
            }
            let places = (row as usize * n_places..).zip(hidden.chunks_exact(dim));
            let mut score = [places.map(|(row, h)| kernels::dot(targets.row(row), h)).sum()];
            kernels::sigmoid_in_place(&mut score);
            kernels::axpy(lr * (label - score[0]), targets.row(row as usize * n_places), &mut gradient);
        }
        kernels::axpy(share, &gradient, out);
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

    /// The initial vector, which steps at a rate of 0 do not move.
    fn start(tokens: &[u32], noise: &Noise) -> Vec<f32> {
        fitted(tokens, noise, &Inference { lr: 0.0, ..Inference::default() })
    }

    #[test]
    fn a_target_is_not_its_own_negative() {
        // Row 2 is the only row that can be drawn, and the target.
        let noise = Noise::new(&[0, 0, 5, 0], 1.0).unwrap();
        let how = Inference { negatives: 5, ..Inference::default() };
        assert_eq!(fitted(&[2], &noise, &how), fitted(&[2], &noise, &Inference { negatives: 0, ..how }));
        // For another target it is a negative.
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

    #[test]
    fn a_vector_among_words_takes_the_steps_of_the_objective_however_they_are_combined() {
        use crate::{
            examples::WindowSide,
            objective::{Example, gradient_composed},
        };
        use ndarray::{Array2, Axis, concatenate};
        // With one word on the left, the context is known without the random numbers.
        let noise = Noise::new(&[0, 0, 5, 0], 1.0).unwrap();
        let how = Inference { epochs: 3, lr: 0.4, negatives: 2, ..Inference::default() };
        let words = targets();
        let array = |table: &Table, n: usize, width: usize| {
            let values: Vec<f64> = table.iter().flatten().map(|&x| f64::from(x)).collect();
            Array2::from_shape_vec((n, width), values).unwrap()
        };
        for (combine, n_places) in [(Composition::Mean, 1), (Composition::Sum, 1), (Composition::Concatenation, 2)] {
            let around =
                Surroundings { window: 1, side: WindowSide::Before, combine, whole_gradient: false, n_words: 3 };
            let mut outputs = Table::zeros(4 * n_places, DIM).unwrap();
            for i in 0..4 * n_places {
                (0..DIM).for_each(|j| outputs.row_mut(i)[j] = ((i * DIM + j) as f32 * 0.7).cos());
            }
            let u = array(&outputs, 4, n_places * DIM);
            let tokens = [0, 1].map(TokenId);
            let fitted = |how: &Inference| {
                let mut out = vec![0.0; DIM];
                infer_among_words(&tokens, &around, &words, &outputs, &noise, how, &mut out);
                out
            };
            let start = fitted(&Inference { lr: 0.0, ..how });
            let mut source = concatenate![
                Axis(0),
                array(&words, 4, DIM),
                Array2::from_shape_fn((1, DIM), |(_, j)| f64::from(start[j]))
            ];
            for step in 0..6 {
                // Row 3 of the words is the null row; row 4 here is the vector.
                let context: &[usize] = match (step % 2, combine) {
                    (0, Composition::Concatenation) => &[4, 3],
                    (0, _) => &[4],
                    _ => &[4, 0],
                };
                let example = Example { context, target: step % 2, negatives: &[2, 2] };
                let d = gradient_composed(&source, &u, example, combine).d_source;
                source.row_mut(4).scaled_add(-0.4 * (1.0 - step as f64 / 6.0), &d.row(4));
            }
            for (got, expected) in fitted(&how).iter().zip(source.row(4)) {
                assert!((f64::from(*got) - expected).abs() < 1e-5, "{combine:?}: {got} {expected}"); // f32, six steps
            }
        }
    }
}
