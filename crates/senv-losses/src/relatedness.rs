//! The relatedness head: a small network from two sentence vectors to a relatedness score.
//!
//! Equation: `relatedness-head`

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use senv_core::{
    arrays::{Float, Parameters, compiled_here},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{add_bias_gradient, add_product, add_weight_gradient, bias, check_shapes, init, input_gradient},
    error::{Result, check_size},
    pair_features::{check_pairs, difference, difference_backward, product, product_backward},
    relatedness_loss::Predictions,
    relatedness_target::ScoreGrid,
    rows::flat_mut,
};

/// The hidden size in Tai et al. and in the PP paper.
pub const DEFAULT_HIDDEN: usize = 50;

const W_MUL: usize = 0;
const W_ABS: usize = 1;
const B_H: usize = 2;
const W_P: usize = 3;
const B_P: usize = 4;

/// The input of the first weight matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Combine {
    /// The elementwise product, as in Tai et al.; the default.
    #[default]
    Product,
    /// Both vectors, concatenated, as the CSE paper prints it.
    Concat,
}

named_values!(Combine {
    Product = "product": "Their elementwise product",
    Concat = "concat": "Both, concatenated, as printed in the CSE paper",
});

/// The head of Tai et al. on top of two sentence vectors; its weights are in [`Parameters`].
///
/// ```text
/// (F1)  m = u ∘ v, or [u ; v]          d = |u − v|                     u, v: shape (n, dim)
/// (F2)  s = σ(W_mul m + W_abs d + b_h)                                 shape (n, hidden)
/// (F3)  x = W_p s + b_p                                                shape (n, K)
/// (F4)  p̂ = softmax(x)                                                 with `relatedness-loss`
/// (B3)  ∂s = W_pᵀ ∂x,   ∂W_p = ∂xᵀ s,   ∂b_p = Σ ∂x                    ∂x from `relatedness-loss`
/// (B2)  ∂h = ∂s ∘ s ∘ (1 − s),   ∂W_mul = ∂hᵀ m,   ∂W_abs = ∂hᵀ d,   ∂b_h = Σ ∂h
/// (B1)  ∂m = W_mulᵀ ∂h,   ∂d = W_absᵀ ∂h,   then `pair-features`
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::{RelatednessLoss, RelatednessHead};
/// let head = RelatednessHead::new(2);
/// let parameters = head.init::<f64>(&mut stream(1, "head", &[]))?;
/// let (u, v) = (array![[1.0, 0.5], [0.0, 2.0]], array![[1.0, 0.0], [-1.0, 0.5]]);
/// let (predictions, saved) = head.forward(&parameters, u.view(), v.view())?;
/// let targets = head.grid.targets(&[4.5, 1.2])?;
/// let loss = RelatednessLoss::default();
/// assert!(loss.forward(&predictions, targets.view())? > 0.0);
/// let d_logits = loss.backward(&predictions, targets.view(), 1.0);
/// let mut d_parameters = parameters.zeros_like();
/// let (d_u, d_v) = head.backward(&parameters, &saved, u.view(), v.view(), d_logits.view(), &mut d_parameters)?;
/// assert_eq!((d_u.dim(), d_v.dim(), predictions.scores(head.grid).len()), ((2, 2), (2, 2), 2));
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// K. S. Tai, R. Socher, C. D. Manning, ACL 2015, section 4.2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatednessHead {
    /// The sentence dimension.
    pub dim: usize,
    /// The hidden size; 50 by default.
    pub hidden: usize,
    /// The score classes; 1 .. 5 by default.
    pub grid: ScoreGrid,
    /// The input of the first weight matrix; the product by default.
    pub combine: Combine,
}

/// The saved state for [`RelatednessHead::backward`]: the features and the hidden layer.
#[derive(Debug, Clone)]
pub struct RelatednessSaved<F> {
    m: Array2<F>,
    d: Array2<F>,
    s: Array2<F>,
}

impl RelatednessHead {
    /// The defaults for vectors of dimension `dim`.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { dim, hidden: DEFAULT_HIDDEN, grid: ScoreGrid::default(), combine: Combine::default() }
    }

    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> [(&'static str, [usize; 2]); 5] {
        let width = if self.combine == Combine::Product { self.dim } else { self.dim.saturating_mul(2) };
        [
            ("head.w_mul", [self.hidden, width]),
            ("head.w_abs", [self.hidden, self.dim]),
            ("head.b_h", [1, self.hidden]),
            ("head.w_p", [self.grid.n_classes(), self.hidden]),
            ("head.b_p", [1, self.grid.n_classes()]),
        ]
    }

    /// The number of parameter values, as a float, which no configuration read from a file can overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        self.shapes().iter().map(|(_, [rows, columns])| *rows as f64 * *columns as f64).sum()
    }

    /// Initial parameters: weights uniform by Glorot and Bengio, biases 0.
    ///
    /// | tensor | shape |
    /// | --- | --- |
    /// | `head.w_mul` | `(hidden, dim)`, or `(hidden, 2 dim)` with [`Combine::Concat`] |
    /// | `head.w_abs` | `(hidden, dim)` |
    /// | `head.b_h` | `(1, hidden)` |
    /// | `head.w_p` | `(n_classes, hidden)` |
    /// | `head.b_p` | `(1, n_classes)` |
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a size is 0; [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a RelatednessHead, rng: &'a mut Stream| -> Result<Parameters<F>> {
            init(rng, &this.shapes())
        })
    }

    /// Predictions for pairs of vectors, shape `(n, dim)` each, and the saved state for [`backward`](Self::backward).
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if vectors or parameters do not match the shapes of the head.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        u: ArrayView2<'_, F>,
        v: ArrayView2<'_, F>,
    ) -> Result<(Predictions<F>, RelatednessSaved<F>)> {
        compiled_here!(self, |this: &'a RelatednessHead,
                              parameters: &'a Parameters<F>,
                              u: ArrayView2<'a, F>,
                              v: ArrayView2<'a, F>|
         -> Result<(Predictions<F>, RelatednessSaved<F>)> {
            check_pairs(u, v, this.dim)?;
            check_shapes(parameters, &this.shapes())?;
            let m = match this.combine {
                Combine::Product => product(u, v), // (F1)
                Combine::Concat => concatenate(Axis(1), &[u, v]).unwrap_or_else(|_| unreachable!("as many rows")),
            };
            let d = difference(u, v);
            let mut s = bias(u.nrows(), &parameters[B_H]);
            add_product(m.view(), &parameters[W_MUL], &mut s)?;
            add_product(d.view(), &parameters[W_ABS], &mut s)?;
            F::sigmoid_in_place(flat_mut(&mut s)); // (F2)
            let mut logits = bias(u.nrows(), &parameters[B_P]);
            add_product(s.view(), &parameters[W_P], &mut logits)?; // (F3)
            Ok((Predictions::from_logits(logits), RelatednessSaved { m, d, s })) // (F4)
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
        saved: &RelatednessSaved<F>,
        u: ArrayView2<'_, F>,
        v: ArrayView2<'_, F>,
        d_logits: ArrayView2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(Array2<F>, Array2<F>)> {
        compiled_here!(self, |this: &'a RelatednessHead,
                              parameters: &'a Parameters<F>,
                              saved: &'a RelatednessSaved<F>,
                              u: ArrayView2<'a, F>,
                              v: ArrayView2<'a, F>,
                              d_logits: ArrayView2<'a, F>,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(Array2<F>, Array2<F>)> {
            check_pairs(u, v, this.dim)?;
            check_size("pairs of the forward pass", saved.s.nrows(), u.nrows())?;
            check_shapes(parameters, &this.shapes())?;
            check_shapes(d_parameters, &this.shapes())?;
            add_weight_gradient(d_logits, saved.s.view(), d_parameters, W_P)?; // (B3)
            add_bias_gradient(d_logits, d_parameters, B_P);
            let mut d_h = input_gradient(d_logits, &parameters[W_P])?;
            d_h.zip_mut_with(&saved.s, |d, &s| *d = *d * s * (F::one() - s)); // (B2)
            add_weight_gradient(d_h.view(), saved.m.view(), d_parameters, W_MUL)?;
            add_weight_gradient(d_h.view(), saved.d.view(), d_parameters, W_ABS)?;
            add_bias_gradient(d_h.view(), d_parameters, B_H);
            let d_m = input_gradient(d_h.view(), &parameters[W_MUL])?; // (B1)
            let d_d = input_gradient(d_h.view(), &parameters[W_ABS])?;
            let (mut d_u, mut d_v) = (Array2::zeros(u.raw_dim()), Array2::zeros(v.raw_dim()));
            match this.combine {
                Combine::Product => product_backward(d_m.view(), u, v, &mut d_u, &mut d_v),
                Combine::Concat => {
                    d_u.assign(&d_m.slice(s![.., ..this.dim]));
                    d_v.assign(&d_m.slice(s![.., this.dim..]));
                }
            }
            difference_backward(d_d.view(), u, v, &mut d_u, &mut d_v);
            Ok((d_u, d_v))
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
        let (u, v) = (matrix::<f64>(4, 3, 1), matrix::<f64>(4, 3, 2));
        for combine in [Combine::Product, Combine::Concat] {
            let head = RelatednessHead { hidden: 4, combine, grid: ScoreGrid::ZeroTo(5), ..RelatednessHead::new(3) };
            let mut parameters = head.init::<f64>(&mut stream(3, "head", &[])).unwrap();
            for place in [B_H, B_P] {
                init::normal(&mut stream(4, "bias", &[place as u64]), parameters[place].values_mut(), 0.3).unwrap();
            }
            let targets = head.grid.targets(&[0.0, 2.6, 4.0, 4.35]).unwrap();
            let loss = RelatednessLoss::default();
            let f = |parameters: &Parameters<f64>, u: View<'_>, v: View<'_>| {
                2.5 * loss.forward(&head.forward(parameters, u, v).unwrap().0, targets.view()).unwrap()
            };
            let (predictions, saved) = head.forward(&parameters, u.view(), v.view()).unwrap();
            let d_logits = loss.backward(&predictions, targets.view(), 2.5);
            let mut d = parameters.zeros_like();
            let mut backward =
                || head.backward(&parameters, &saved, u.view(), v.view(), d_logits.view(), &mut d).unwrap();
            let (d_u, d_v) = backward();
            backward(); // Parameter gradients accumulate: two calls give twice as much.
            assert!(worst(|u| f(&parameters, u, v.view()), &u, &d_u) < 1e-7, "{combine:?}");
            assert!(worst(|v| f(&parameters, u.view(), v), &v, &d_v) < 1e-7, "{combine:?}");
            assert!(worst(|v| f(&parameters, u.view(), v), &v, &-d_v) > 1.9, "a flipped sign");
            for place in 0..5 {
                let error = worst_parameter(|p| 2.0 * f(p, u.view(), v.view()), &parameters, &d, place);
                assert!(error < 1e-7, "{combine:?} {}: {error}", parameters[place].name());
            }
        }
    }

    #[test]
    fn its_values_are_those_of_its_matrices_and_biases() {
        let head = RelatednessHead { hidden: 4, grid: ScoreGrid::ZeroTo(5), ..RelatednessHead::new(3) };
        assert_eq!(head.n_values(), 4.0 * 3.0 + 4.0 * 3.0 + 4.0 + 6.0 * 4.0 + 6.0);
        let both = RelatednessHead { combine: Combine::Concat, ..head.clone() };
        assert_eq!(both.n_values(), head.n_values() + 4.0 * 3.0);
        for head in [head, both] {
            let n: usize =
                head.init::<f32>(&mut stream(3, "head", &[])).unwrap().iter().map(|p| p.values().len()).sum();
            assert_eq!(head.n_values(), n as f64);
        }
    }

    #[test]
    fn on_the_kink_the_difference_has_no_gradient() {
        // For equal vectors only the product has a gradient, the same for both.
        let u = matrix::<f64>(3, 2, 1);
        let head = RelatednessHead { hidden: 3, ..RelatednessHead::new(2) };
        let mut parameters = head.init::<f64>(&mut stream(3, "head", &[])).unwrap();
        let mut run = |clear: bool| {
            if clear {
                parameters[W_MUL].values_mut().fill(0.0);
            }
            let saved = head.forward(&parameters, u.view(), u.view()).unwrap().1;
            let mut d = parameters.zeros_like();
            head.backward(&parameters, &saved, u.view(), u.view(), matrix(3, 5, 2).view(), &mut d).unwrap()
        };
        let (d_u, d_v) = run(false);
        assert_eq!(d_u, d_v);
        assert!(d_u.iter().any(|&d| d != 0.0));
        assert!(run(true).0.iter().all(|&d| d == 0.0));
    }

    #[test]
    fn shapes_that_do_not_fit() {
        let head = RelatednessHead::new(3);
        let parameters = head.init::<f32>(&mut stream(3, "head", &[])).unwrap();
        let x = matrix::<f32>(2, 3, 1);
        assert!(head.forward(&parameters, x.view(), x.slice(s![..1, ..])).is_err());
        assert!(head.forward(&parameters, x.slice(s![.., ..2]), x.slice(s![.., ..2])).is_err());
        let wide = RelatednessHead { combine: Combine::Concat, ..head.clone() };
        assert!(wide.forward(&parameters, x.view(), x.view()).is_err());
        assert!(
            RelatednessHead { hidden: 0, ..RelatednessHead::new(0) }.forward(&parameters, x.view(), x.view()).is_err()
        );
        let saved = head.forward(&parameters, x.view(), x.view()).unwrap().1;
        let mut d = Parameters::new();
        assert!(head.backward(&parameters, &saved, x.view(), x.view(), matrix(2, 5, 1).view(), &mut d).is_err());
        let mut d = parameters.zeros_like();
        assert!(head.backward(&parameters, &saved, x.view(), x.view(), matrix(2, 4, 1).view(), &mut d).is_err());
        // No pairs, no predictions.
        let none = x.slice(s![..0, ..]);
        assert_eq!(head.forward(&parameters, none, none).unwrap().0.p.dim(), (0, 5));
    }
}
