//! Logistic regression on the cosine of a pair: is the second sentence a paraphrase of the first?
//!
//! Equation: `cosine-logistic`

use senv_core::{
    arrays::{Float, Parameters, compiled_here},
    math::sigmoid,
};

use crate::error::{Error, Result, check_size};

/// The name of the tensor that contains s and b.
const NAME: &str = "cosine_logistic";

/// The loss of labeled pairs by their cosines, with a learned slope and threshold.
///
/// ```text
/// (F1)  x_i = e^s (c_i − b)                        s, b: learned
/// (F2)  L   = (1/m) Σ_i ln(1 + e^{x_i}) − y_i x_i     y_i: 1 for a paraphrase, else 0
/// (B2)  ∂L/∂x_i = (σ(x_i) − y_i) / m
/// (B1)  ∂L/∂c_i = e^s ∂L/∂x_i     ∂L/∂s = Σ_i x_i ∂L/∂x_i     ∂L/∂b = −e^s Σ_i ∂L/∂x_i
/// ```
///
/// ```
/// use senv_losses::CosineLogistic;
/// let head = CosineLogistic { slope: 10.0, threshold: 0.5 };
/// let parameters = head.init::<f64>()?;
/// let mut d = parameters.zeros_like();
/// let (loss, d_cosines) = head.loss_and_gradients(&parameters, &[0.9, 0.1], &[true, false], &mut d)?;
/// assert!((loss - (1.0 + (-4f64).exp()).ln()).abs() < 1e-12);
/// assert!(d_cosines[0] < 0.0 && d_cosines[1] > 0.0);
/// # Ok::<(), senv_losses::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CosineLogistic {
    /// e^s before training; above 0.
    pub slope: f64,
    /// b before training.
    pub threshold: f64,
}

impl CosineLogistic {
    /// The initial s and b.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] unless the slope is above 0 and both are finite.
    pub fn init<F: Float>(&self) -> Result<Parameters<F>> {
        let good = self.slope.is_finite() && self.slope > 0.0;
        crate::error::check_range("slope", "finite and above 0", self.slope, good)?;
        crate::error::check_range("threshold", "finite", self.threshold, self.threshold.is_finite())?;
        let mut parameters = Parameters::new();
        parameters.push(NAME, [1, 2], vec![F::of(self.slope.ln()), F::of(self.threshold)])?;
        Ok(parameters)
    }

    /// The mean loss, and its gradient with respect to the cosines; the gradients of s and b are added to `d`.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without pairs; [`senv_core::Error::ShapeMismatch`] if labels or parameters do not match.
    pub fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        cosines: &[f64],
        labels: &[bool],
        d: &mut Parameters<F>,
    ) -> Result<(f64, Vec<f64>)> {
        compiled_here!(self, |this: &'a CosineLogistic,
                              parameters: &'a Parameters<F>,
                              cosines: &'a [f64],
                              labels: &'a [bool],
                              d: &'a mut Parameters<F>|
         -> Result<(f64, Vec<f64>)> {
            check_size("labels of pairs", cosines.len(), labels.len())?;
            for group in [parameters, &*d] {
                check_size("tensors of a slope and a threshold", 1, group.len())?;
                check_size("slope and threshold", 2, group[0].values().len())?;
            }
            if cosines.is_empty() {
                return Err(Error::EmptyBatch);
            }
            let [slope, threshold] = [0, 1].map(|i| parameters[0].values()[i].wide());
            let (slope, share) = (slope.exp(), 1.0 / cosines.len() as f64);
            let (mut loss, mut d_slope, mut d_threshold) = (0.0, 0.0, 0.0);
            let mut d_cosines = Vec::with_capacity(cosines.len());
            for (&cosine, &label) in cosines.iter().zip(labels) {
                let (x, y) = (slope * (cosine - threshold), f64::from(u8::from(label))); // (F1)
                loss += share * (x.max(0.0) + (-x.abs()).exp().ln_1p() - y * x); // (F2)
                let d_x = share * (sigmoid(x) - y); // (B2)
                d_cosines.push(slope * d_x); // (B1)
                d_slope += x * d_x;
                d_threshold -= slope * d_x;
            }
            let d = d[0].values_mut();
            d[0] += F::of(d_slope);
            d[1] += F::of(d_threshold);
            Ok((loss, d_cosines))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::gradcheck;

    const HEAD: CosineLogistic = CosineLogistic { slope: 7.0, threshold: 0.6 };
    const LABELS: [bool; 4] = [true, false, true, false];

    fn loss(parameters: &Parameters<f64>, cosines: &[f64]) -> f64 {
        HEAD.loss_and_gradients(parameters, cosines, &LABELS, &mut parameters.zeros_like()).unwrap().0
    }

    #[test]
    fn gradients_match_central_differences() {
        let (parameters, cosines) = (HEAD.init::<f64>().unwrap(), [0.9, 0.8, -0.1, 0.3]);
        let mut d = parameters.zeros_like();
        let (_, d_cosines) = HEAD.loss_and_gradients(&parameters, &cosines, &LABELS, &mut d).unwrap();
        let of_cosines = |x: &[f64]| loss(&parameters, x);
        assert!(gradcheck::max_relative_error(of_cosines, &cosines, &d_cosines) < 1e-8);
        let of_head = |x: &[f64]| {
            let mut moved = parameters.clone();
            moved[0].values_mut().copy_from_slice(x);
            loss(&moved, &cosines)
        };
        assert!(gradcheck::max_relative_error(of_head, parameters[0].values(), d[0].values()) < 1e-8);
    }

    #[test]
    fn large_slopes_do_not_overflow_and_bad_input_is_refused() {
        let steep = CosineLogistic { slope: 1e5, threshold: 0.0 }.init::<f64>().unwrap();
        let value = loss(&steep, &[1.0, 1.0, -1.0, -1.0]);
        assert!((value - 5e4).abs() < 1e-6, "{value}");
        for (slope, threshold) in [(0.0, 0.5), (-1.0, 0.5), (f64::NAN, 0.5), (f64::INFINITY, 0.5), (1.0, f64::NAN)] {
            assert!(CosineLogistic { slope, threshold }.init::<f32>().is_err());
        }
        let (parameters, none) = (HEAD.init::<f64>().unwrap(), Parameters::new());
        let run = |parameters: &Parameters<f64>, cosines: &[f64], labels: &[bool]| {
            HEAD.loss_and_gradients(parameters, cosines, labels, &mut parameters.zeros_like()).map(|_| ())
        };
        assert!(matches!(run(&parameters, &[], &[]), Err(Error::EmptyBatch)));
        assert!(run(&parameters, &[0.5], &[]).is_err());
        assert!(run(&none, &[0.5], &[true]).is_err());
    }
}
