//! Gradients that are no longer of use: recurrent networks may multiply them up step after step.

use rayon::prelude::*;

use crate::{Error, Result, fit::Gradients};

/// The longest gradient that is taken, before clipping. Its square is still far from the largest f32, which the moments
/// of Adam and AdaGrad must hold.
const LONGEST: f64 = 1e10;

/// Numbers that one thread sums at a time.
const CHUNK: usize = 1 << 16;

/// The norm of all gradients together.
fn norm(gradients: &Gradients) -> f64 {
    let square = |values: &[f32]| -> f64 {
        let of_chunk = |chunk: &[f32]| chunk.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        values.par_chunks(CHUNK).map(of_chunk).sum()
    };
    let dense = gradients.d_parameters.iter().flat_map(|group| group.iter()).map(|tensor| square(tensor.values()));
    (dense.sum::<f64>() + gradients.d_words.as_slice().map_or(0.0, square)).sqrt()
}

/// Refuses a gradient that is infinite, not a number, or too long to be meant.
pub(crate) fn check_gradients(gradients: &Gradients, step: u64) -> Result<()> {
    let norm = norm(gradients);
    if norm <= LONGEST { Ok(()) } else { Err(Error::ExplodingGradient { step, norm }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use senv_core::Parameters;

    #[test]
    fn long_and_infinite_gradients_stop_the_run_with_step_and_norm() {
        let mut group = Parameters::new();
        group.push("w", [1, 2], vec![3.0f32, 0.0]).unwrap();
        let mut gradients = Gradients { d_words: array![[0.0, 4.0]], d_parameters: vec![group], ..Default::default() };
        assert_eq!(norm(&gradients), 5.0);
        check_gradients(&gradients, 7).unwrap();
        for (value, expected) in [(2e10, "2.0"), (f32::INFINITY, "inf"), (f32::NAN, "NaN")] {
            gradients.d_parameters[0][0].values_mut()[1] = value;
            let error = check_gradients(&gradients, 7).unwrap_err().to_string();
            assert!(error.contains("step 7") && error.contains(expected), "{error}");
        }
    }
}
