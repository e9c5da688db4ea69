//! L2 regularization toward the initial values or toward 0.
//!
//! Equation: `l2-to-initial`

use rayon::prelude::*;
use senv_core::arrays::{Float, Parameters, compiled_here};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_range, check_size};

/// Values that one thread sums at a time. The result depends on it, as it sets the order of summation.
const CHUNK: usize = 1 << 16;

/// The L2 term, toward initial values or toward 0.
///
/// ```text
/// (F1)  R = k λ |W − W0|²           k = 1/2, or 1
/// (B1)  ∂R/∂W = 2 k λ (W − W0)      W0 = 0 if none is given
/// ```
///
/// ```
/// use senv_losses::L2;
/// let l2 = L2 { lambda: 0.5, ..L2::default() };
/// let (w, w0) = ([3.0, 1.0], [1.0, 1.0]);
/// assert_eq!(l2.forward(&w, Some(&w0))?, 1.0); // 1/2 · 0.5 · 2²
/// let mut d_w = [0.0, 10.0];
/// l2.backward(&w, Some(&w0), 1.0, &mut d_w)?;
/// assert_eq!(d_w, [1.0, 10.0]);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// J. Wieting et al., ICLR 2016, section 3.2, where k is 1; the release has 1/2, and its grids of λ are for 1/2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct L2 {
    /// λ, at least 0; 0 by default.
    pub lambda: f64,
    /// Whether k is 1/2, as in the releases and by default, or 1, as printed in the papers.
    pub half: bool,
}

impl Default for L2 {
    fn default() -> Self {
        Self { lambda: 0.0, half: true }
    }
}

impl L2 {
    /// The factor 2 k λ of the gradient.
    fn slope(self) -> Result<f64> {
        check_range("lambda", "at least 0", self.lambda, self.lambda.is_finite() && self.lambda >= 0.0)?;
        Ok(if self.half { self.lambda } else { 2.0 * self.lambda })
    }

    /// R for the values `w` with initial values `w0`. It is summed in f64, with bit-identical results at any number of
    /// threads.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if `w0` differs in length; [`senv_core::Error::InvalidParameter`] if λ is
    /// below 0.
    pub fn forward<F: Float>(self, w: &[F], w0: Option<&[F]>) -> Result<f64> {
        compiled_here!(self, |this: L2, w: &'a [F], w0: Option<&'a [F]>| -> Result<f64> {
            let slope = this.slope()?;
            check_size("initial numbers", w.len(), w0.map_or(w.len(), <[F]>::len))?;
            let part = |(i, w): (usize, &[F])| -> f64 {
                let squared = |x: F| x.wide() * x.wide();
                match w0 {
                    Some(w0) => w.iter().zip(&w0[i * CHUNK..]).map(|(&w, &w0)| squared(w - w0)).sum(),
                    None => w.iter().map(|&w| squared(w)).sum(),
                }
            };
            let parts: Vec<f64> = w.par_chunks(CHUNK).enumerate().map(part).collect();
            Ok(0.5 * slope * parts.iter().sum::<f64>()) // (F1)
        })
    }

    /// Adds the gradient to `d_w`, given `d_loss` = the derivative of the objective with respect to R.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward); [`senv_core::Error::ShapeMismatch`] if `d_w` and `w` differ in length.
    pub fn backward<F: Float>(self, w: &[F], w0: Option<&[F]>, d_loss: f64, d_w: &mut [F]) -> Result<()> {
        compiled_here!(self, |this: L2, w: &'a [F], w0: Option<&'a [F]>, d_loss: f64, d_w: &'a mut [F]| -> Result<()> {
            let c = F::of(this.slope()? * d_loss);
            check_size("initial numbers", w.len(), w0.map_or(w.len(), <[F]>::len))?;
            check_size("gradient", w.len(), d_w.len())?;
            if c == F::zero() {
                return Ok(());
            }
            d_w.par_chunks_mut(CHUNK).zip(w.par_chunks(CHUNK)).enumerate().for_each(|(i, (d_w, w))| match w0 {
                Some(w0) => {
                    let w0 = &w0[i * CHUNK..];
                    d_w.iter_mut().zip(w).zip(w0).for_each(|((d, &w), &w0)| *d += c * (w - w0)); // (B1)
                }
                None => F::axpy(c, w, d_w),
            });
            Ok(())
        })
    }

    /// [`forward`](Self::forward) summed over all tensors.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward), also if names or shapes in `initial` differ.
    pub fn forward_all<F: Float>(self, parameters: &Parameters<F>, initial: Option<&Parameters<F>>) -> Result<f64> {
        compiled_here!(self, |this: L2,
                              parameters: &'a Parameters<F>,
                              initial: Option<&'a Parameters<F>>|
         -> Result<f64> {
            initial.map_or(Ok(()), |initial| initial.expect_form_of(parameters))?;
            let each = |(i, tensor): (usize, &senv_core::arrays::Tensor<F>)| {
                this.forward(tensor.values(), initial.map(|initial| initial[i].values()))
            };
            parameters.iter().enumerate().map(each).sum()
        })
    }

    /// [`backward`](Self::backward) for all tensors.
    ///
    /// # Errors
    /// The errors of [`backward`](Self::backward), also if names or shapes in `initial` or `d_parameters` differ.
    pub fn backward_all<F: Float>(
        self,
        parameters: &Parameters<F>,
        initial: Option<&Parameters<F>>,
        d_loss: f64,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        compiled_here!(self, |this: L2,
                              parameters: &'a Parameters<F>,
                              initial: Option<&'a Parameters<F>>,
                              d_loss: f64,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<()> {
            initial.map_or(Ok(()), |initial| initial.expect_form_of(parameters))?;
            d_parameters.expect_form_of(parameters)?;
            for (i, (tensor, d)) in parameters.iter().zip(d_parameters.iter_mut()).enumerate() {
                let w0 = initial.map(|initial| initial[i].values());
                this.backward(tensor.values(), w0, d_loss, d.values_mut())?;
            }
            Ok::<(), Error>(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rows::flat, testing::matrix};
    use senv_core::gradcheck;

    #[test]
    fn gradients_match_central_differences() {
        let (w, w0) = (matrix::<f64>(3, 4, 1), matrix::<f64>(3, 4, 2));
        for half in [true, false] {
            for w0 in [None, Some(flat(&w0))] {
                let l2 = L2 { lambda: 0.3, half };
                let mut d_w = vec![1.0; 12];
                l2.backward(flat(&w), w0, 2.5, &mut d_w).unwrap();
                d_w.iter_mut().for_each(|d| *d -= 1.0); // The gradient accumulates.
                let f = |w: &[f64]| 2.5 * l2.forward(w, w0).unwrap();
                assert!(gradcheck::max_relative_error(f, flat(&w), &d_w) < 1e-8);
                d_w.iter_mut().for_each(|d| *d = -*d);
                assert!(gradcheck::max_relative_error(f, flat(&w), &d_w) > 1.9, "a flipped sign");
            }
        }
    }

    #[test]
    fn parameters_are_summed_and_checked() {
        let of = |name: &str, shift: f64| {
            let mut parameters = Parameters::<f64>::new();
            parameters.push("w", [1, 2], vec![1.0 + shift, 2.0 + shift]).unwrap();
            parameters.push(name, [1, 1], vec![3.0 + shift]).unwrap();
            parameters
        };
        let l2 = L2 { lambda: 1.0, half: false };
        assert_eq!(l2.forward_all(&of("b", 0.0), None).unwrap(), 14.0);
        assert_eq!(l2.forward_all(&of("b", 2.0), Some(&of("b", 0.0))).unwrap(), 12.0);
        let mut d = of("b", 0.0).zeros_like();
        l2.backward_all(&of("b", 2.0), Some(&of("b", 0.0)), 0.5, &mut d).unwrap();
        assert!(d.iter().all(|tensor| tensor.values().iter().all(|&d| d == 2.0)));
        assert!(l2.forward_all(&of("b", 0.0), Some(&of("c", 0.0))).is_err());
        assert!(l2.backward_all(&of("b", 0.0), None, 1.0, &mut of("c", 0.0)).is_err());
    }

    #[test]
    fn k_is_one_half_or_one() {
        // k λ |w|² = 0.25 · 3² times k.
        for (half, expected) in [(true, 1.125), (false, 2.25)] {
            assert_eq!(L2 { lambda: 0.25, half }.forward(&[3.0], None).unwrap(), expected);
        }
    }

    #[test]
    fn many_numbers_and_bad_ones() {
        let n = 3 * CHUNK + 7;
        // 251 does not divide a chunk: every chunk has different initial values.
        let w0: Vec<f32> = (0..n).map(|i| (i % 251) as f32).collect();
        let w: Vec<f32> = w0.iter().map(|w0| w0 + 0.5).collect();
        let l2 = L2 { lambda: 2.0, half: true };
        assert_eq!(l2.forward(&w, Some(&w0)).unwrap(), 0.25 * n as f64);
        let mut d = vec![0.0f32; n];
        l2.backward(&w, Some(&w0), 1.0, &mut d).unwrap();
        assert!(d.iter().all(|&d| d == 1.0));
        assert!(l2.forward(&w, Some(&w0[1..])).is_err());
        assert!(l2.backward(&w, None, 1.0, &mut d[1..]).is_err());
        for (lambda, good) in [(0.0, true), (-1e-9, false), (f64::NAN, false), (f64::INFINITY, false)] {
            assert_eq!(L2 { lambda, half: true }.forward(&w, None).is_ok(), good);
        }
        assert!(l2.forward(&[f32::NAN], None).unwrap().is_nan());
    }
}
