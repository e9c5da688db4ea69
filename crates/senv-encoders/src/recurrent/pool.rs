//! Pools the states of a sentence into one vector.
//!
//! Equation: `state-pooling`

use senv_core::{Result, arrays::Float, hyperparameters::named_values};
use serde::{Deserialize, Serialize};

use super::Steps;
use crate::rows::{row, zeros};

/// How a recurrent encoder pools the states of a sentence.
///
/// ```text
/// last   h_n                 mean   (1/n) Σ_t h_t            max   max_t h_{t j} for each value j
/// (B)    ∂h_n = ∂            ∂h_t = ∂ / n                    ∂h_{t j} = ∂_j where t is the first place of the maximum
/// ```
///
/// A sentence without words gives a vector of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StatePooling {
    /// The last state.
    #[default]
    Last,
    /// The mean of the states of the top layer.
    Mean,
    /// The maximum of each value over the states of the top layer.
    Max,
}

named_values!(StatePooling {
    Last = "last": "The last state",
    Mean = "mean": "The mean of all states",
    Max = "max": "The maximum of each value",
});

/// The packed rows of the sentence at sorted position `i`, in reading order.
fn rows(steps: &Steps, i: usize) -> impl Iterator<Item = usize> + '_ {
    (0..steps.len()).take_while(move |&t| i < steps.active(t)).map(move |t| steps.start(t) + i)
}

/// Writes the vector of the sentence at sorted position `i` to `out`, which contains zeros.
pub(crate) fn forward<F: Float>(pooling: StatePooling, states: &[F], steps: &Steps, i: usize, out: &mut [F]) {
    let h = out.len();
    let mut n = 0;
    for at in rows(steps, i) {
        let state = row(states, h, at);
        match pooling {
            StatePooling::Max if n > 0 => {
                out.iter_mut().zip(state).for_each(|(out, &x)| *out = if x > *out { x } else { *out })
            }
            StatePooling::Mean if n > 0 => F::add_to(state, out),
            _ => out.copy_from_slice(state),
        }
        n += 1;
    }
    if pooling == StatePooling::Mean && n > 1 {
        let share = F::one() / F::of(f64::from(n));
        out.iter_mut().for_each(|x| *x *= share);
    }
}

/// The gradients of all packed states, from those of the vectors in sorted order.
pub(crate) fn backward<F: Float>(
    pooling: StatePooling,
    states: &[F],
    steps: &Steps,
    h: usize,
    d_out: &[F],
) -> Result<Vec<F>> {
    let mut d_states = zeros(steps.total(), h)?;
    for (i, d) in d_out.chunks_exact(h).enumerate() {
        match pooling {
            StatePooling::Last => {
                if let Some(at) = steps.last(i) {
                    d_states[at * h..(at + 1) * h].copy_from_slice(d);
                }
            }
            StatePooling::Mean => {
                let share = F::one() / F::of(rows(steps, i).count() as f64);
                for at in rows(steps, i) {
                    d_states[at * h..(at + 1) * h].iter_mut().zip(d).for_each(|(to, &d)| *to = d * share);
                }
            }
            StatePooling::Max => {
                for (j, &d) in d.iter().enumerate() {
                    let highest =
                        rows(steps, i).reduce(|a, b| if states[b * h + j] > states[a * h + j] { b } else { a });
                    if let Some(at) = highest {
                        d_states[at * h + j] = d;
                    }
                }
            }
        }
    }
    Ok(d_states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_gradients_by_hand() {
        // Sentences of three words, one word and no words; packed, the first has rows 0, 2 and 3.
        let steps = Steps::new([3, 1, 0].into_iter()).unwrap();
        let states = [1.0, 5.0, 7.0, 8.0, 1.0, 5.0, 0.0, 6.5];
        let d_out = [30.0, 60.0, 4.0, 9.0, 1.0, 1.0];
        for (pooling, first, d_states) in [
            (StatePooling::Last, [0.0, 6.5], [0.0, 0.0, 4.0, 9.0, 0.0, 0.0, 30.0, 60.0]),
            (StatePooling::Mean, [2.0 / 3.0, 5.5], [10.0, 20.0, 4.0, 9.0, 10.0, 20.0, 10.0, 20.0]),
            // If two positions have the maximum, the first gets the gradient.
            (StatePooling::Max, [1.0, 6.5], [30.0, 0.0, 4.0, 9.0, 0.0, 0.0, 0.0, 60.0]),
        ] {
            let vector = |i: usize| {
                let mut out = [0.0; 2];
                forward(pooling, &states, &steps, i, &mut out);
                out
            };
            if pooling != StatePooling::Last {
                assert_eq!((vector(0), vector(1), vector(2)), (first, [7.0, 8.0], [0.0; 2]), "{pooling:?}");
            }
            let got: Vec<f64> = backward(pooling, &states, &steps, 2, &d_out).unwrap();
            assert!(got.iter().zip(d_states).all(|(got, d)| (got - d).abs() < 1e-12), "{pooling:?}: {got:?}");
        }
    }
}
