//! Predicts relatedness scores by a softmax regression on pair features, as in the evaluation scripts.
//!
//! Equation: `linear-relatedness`

use ndarray::{Array2, ArrayView2, s};
use senv_core::{
    arrays::{Float, Parameters, compiled_here},
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{add_bias_gradient, add_product, add_weight_gradient, bias, check_shapes, init, input_gradient},
    error::Result,
    pair_features::{check_pairs, difference_backward, pair_features, product_backward},
    relatedness_loss::Predictions,
    relatedness_target::ScoreGrid,
};

const W: usize = 0;
const B: usize = 1;

/// Softmax regression on `[|u − v| ; u ∘ v]`.
///
/// ```text
/// (F1)  f = [|u − v| ; u ∘ v]          x = W f + b          p̂ = softmax(x)
/// (B1)  ∂W = ∂xᵀ f,   ∂b = Σ ∂x,   ∂f = Wᵀ ∂x, then `pair-features`        ∂x from `relatedness-loss`
/// ```
///
/// The scripts of SentEval and P-thought use [`RelatednessLoss::SquaredError`](crate::RelatednessLoss::SquaredError),
/// that of Skip-thoughts [`RelatednessLoss::CrossEntropy`](crate::RelatednessLoss::CrossEntropy).
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::{ScoreGrid, LinearRelatedness};
/// let head = LinearRelatedness { dim: 2, grid: ScoreGrid::ZeroTo(5) };
/// let parameters = head.init::<f32>(&mut stream(1, "head", &[]))?;
/// let (predictions, _) = head.forward(&parameters, array![[1.0, 0.5]].view(), array![[1.0, 0.0]].view())?;
/// assert!((0.0..=5.0).contains(&predictions.scores(head.grid)[0]));
/// # Ok::<(), senv_losses::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearRelatedness {
    /// The sentence dimension.
    pub dim: usize,
    /// The score classes.
    pub grid: ScoreGrid,
}

impl LinearRelatedness {
    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> [(&'static str, [usize; 2]); 2] {
        let classes = self.grid.n_classes();
        [("head.w", [classes, 2 * self.dim]), ("head.b", [1, classes])]
    }

    /// Initial parameters: `head.w`, shape `(n_classes, 2 dim)`, uniform by Glorot and Bengio, and `head.b`, shape
    /// `(1, n_classes)`, 0.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a size is 0; [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a LinearRelatedness, rng: &'a mut Stream| -> Result<Parameters<F>> {
            init(rng, &this.shapes())
        })
    }

    /// Predictions for pairs of vectors, shape `(n, dim)` each, and their features, which [`backward`](Self::backward)
    /// needs.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if vectors or parameters do not match the shapes of the head.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        u: ArrayView2<'_, F>,
        v: ArrayView2<'_, F>,
    ) -> Result<(Predictions<F>, Array2<F>)> {
        compiled_here!(self, |this: &'a LinearRelatedness,
                              parameters: &'a Parameters<F>,
                              u: ArrayView2<'a, F>,
                              v: ArrayView2<'a, F>|
         -> Result<(Predictions<F>, Array2<F>)> {
            check_pairs(u, v, this.dim)?;
            let features = pair_features(u, v)?;
            Ok((this.forward_features(parameters, features.view())?, features))
        })
    }

    /// Predictions for precomputed [`pair_features`], shape `(n, 2 dim)`; frozen vectors need them only once.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    pub fn forward_features<F: Float>(
        &self,
        parameters: &Parameters<F>,
        features: ArrayView2<'_, F>,
    ) -> Result<Predictions<F>> {
        compiled_here!(self, |this: &'a LinearRelatedness,
                              parameters: &'a Parameters<F>,
                              features: ArrayView2<'a, F>|
         -> Result<Predictions<F>> {
            check_shapes(parameters, &this.shapes())?;
            let mut logits = bias(features.nrows(), &parameters[B]);
            add_product(features, &parameters[W], &mut logits)?; // (F1)
            Ok(Predictions::from_logits(logits))
        })
    }

    /// The gradients `(d_u, d_v)`, shape `(n, dim)` each, for the gradient `d_logits` of a
    /// [`RelatednessLoss`](crate::RelatednessLoss); the gradients of the parameters are added to `d_parameters`.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs from that of the forward pass.
    pub fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        features: ArrayView2<'_, F>,
        u: ArrayView2<'_, F>,
        v: ArrayView2<'_, F>,
        d_logits: ArrayView2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(Array2<F>, Array2<F>)> {
        compiled_here!(self, |this: &'a LinearRelatedness,
                              parameters: &'a Parameters<F>,
                              features: ArrayView2<'a, F>,
                              u: ArrayView2<'a, F>,
                              v: ArrayView2<'a, F>,
                              d_logits: ArrayView2<'a, F>,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(Array2<F>, Array2<F>)> {
            check_pairs(u, v, this.dim)?;
            check_shapes(parameters, &this.shapes())?;
            crate::error::check_size("rows of gradients of logits", u.nrows(), d_logits.nrows())?;
            this.backward_features(features, d_logits, d_parameters)?;
            let d_features = input_gradient(d_logits, &parameters[W])?;
            let (mut d_u, mut d_v) = (Array2::zeros(u.raw_dim()), Array2::zeros(v.raw_dim()));
            difference_backward(d_features.slice(s![.., ..this.dim]), u, v, &mut d_u, &mut d_v);
            product_backward(d_features.slice(s![.., this.dim..]), u, v, &mut d_u, &mut d_v);
            Ok((d_u, d_v))
        })
    }

    /// Adds only the gradients of the parameters.
    ///
    /// # Errors
    /// The errors of [`backward`](Self::backward).
    pub fn backward_features<F: Float>(
        &self,
        features: ArrayView2<'_, F>,
        d_logits: ArrayView2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        compiled_here!(self, |this: &'a LinearRelatedness,
                              features: ArrayView2<'a, F>,
                              d_logits: ArrayView2<'a, F>,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<()> {
            check_shapes(d_parameters, &this.shapes())?;
            add_weight_gradient(d_logits, features, d_parameters, W)?; // (B1)
            add_bias_gradient(d_logits, d_parameters, B);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        RelatednessLoss,
        testing::{View, matrix, worst, worst_parameter},
    };
    use senv_core::{init, rng::stream};

    #[test]
    fn gradients_match_central_differences() {
        let (u, v) = (matrix::<f64>(3, 4, 1), matrix::<f64>(3, 4, 2));
        let head = LinearRelatedness { dim: 4, grid: ScoreGrid::OneTo(5) };
        let mut parameters = head.init::<f64>(&mut stream(3, "head", &[])).unwrap();
        init::normal(&mut stream(4, "bias", &[]), parameters[B].values_mut(), 0.3).unwrap();
        let targets = head.grid.targets(&[1.0, 2.6, 4.35]).unwrap();
        for loss in [RelatednessLoss::SquaredError, RelatednessLoss::CrossEntropy] {
            let f = |parameters: &Parameters<f64>, u: View<'_>, v: View<'_>| {
                2.5 * loss.forward(&head.forward(parameters, u, v).unwrap().0, targets.view()).unwrap()
            };
            let (predictions, features) = head.forward(&parameters, u.view(), v.view()).unwrap();
            let d_logits = loss.backward(&predictions, targets.view(), 2.5);
            let mut d = parameters.zeros_like();
            let views = (features.view(), u.view(), v.view());
            let (d_u, d_v) = head.backward(&parameters, views.0, views.1, views.2, d_logits.view(), &mut d).unwrap();
            assert!(worst(|u| f(&parameters, u, v.view()), &u, &d_u) < 1e-7, "{loss:?}");
            assert!(worst(|v| f(&parameters, u.view(), v), &v, &d_v) < 1e-7, "{loss:?}");
            assert!(worst(|v| f(&parameters, u.view(), v), &v, &-d_v) > 1.9, "a flipped sign");
            for place in [W, B] {
                assert!(worst_parameter(|p| f(p, u.view(), v.view()), &parameters, &d, place) < 1e-7, "{loss:?}");
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit() {
        let head = LinearRelatedness { dim: 3, grid: ScoreGrid::OneTo(5) };
        let parameters = head.init::<f32>(&mut stream(3, "head", &[])).unwrap();
        let x = matrix::<f32>(2, 3, 1);
        assert!(head.forward(&parameters, x.view(), x.slice(s![..1, ..])).is_err());
        assert!(head.forward(&parameters, x.slice(s![.., ..2]), x.view()).is_err());
        assert!(head.forward_features(&parameters, x.view()).is_err());
        assert!(head.forward_features(&Parameters::new(), matrix::<f32>(2, 6, 1).view()).is_err());
        let features = pair_features(x.view(), x.view()).unwrap();
        let mut d = parameters.zeros_like();
        for d_logits in [matrix(1, 5, 1), matrix(2, 4, 1)] {
            let result = head.backward(&parameters, features.view(), x.view(), x.view(), d_logits.view(), &mut d);
            assert!(result.is_err());
        }
    }
}
