//! A classifier head for natural language inference: a small network on two sentence vectors.
//!
//! Equation: `nli-head`

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use senv_core::{
    arrays::{Float, Parameters, compiled_here},
    hyperparameters::named_values,
    init, math,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{add_bias_gradient, add_product, add_weight_gradient, bias, check_shapes, input_gradient},
    error::{Error, Result, check_range, check_size},
    output_layer::check_targets,
    pair_features::{check_pairs, difference, difference_backward, product, product_backward},
    rows::{flat_mut, row, row_mut},
    softmax_row::softmax_row,
};

/// The labels: 0 entailment, 1 neutral, 2 contradiction, in the order of the SNLI files.
pub const NLI_LABELS: [&str; 3] = ["entailment", "neutral", "contradiction"];

/// The default number of hidden units; the paper does not state it.
pub const DEFAULT_NLI_HIDDEN: usize = 512;

/// Initial parameters are uniform between this and its negative.
const LIMIT: f64 = 0.1;

const W_H: usize = 0;
const B_H: usize = 1;
/// In InferSent's head only; the tensors of the last layer follow.
const W_M: usize = 2;
const B_M: usize = 3;

/// The architecture of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NliHeadForm {
    /// (F1) to (F3): both vectors, concatenated, and one layer with tanh.
    #[default]
    Tanh,
    /// (F1') and (F2'): both vectors, their difference and product, and two linear layers.
    Infersent,
}

impl NliHeadForm {
    /// Whether this is the default form, which configurations omit.
    #[must_use]
    pub fn is_tanh(&self) -> bool {
        *self == Self::Tanh
    }
}

named_values!(NliHeadForm {
    Tanh = "tanh": "Both vectors, and a layer with tanh",
    Infersent = "infersent": "Both vectors, their difference and product, and two linear layers",
});

/// The pair classifier of the SNLI models; its weights are in [`Parameters`].
///
/// ```text
/// (F1)  x = [u ; v]                                     u, v: shape (n, dim)
/// (F2)  s = tanh(W_h x + b_h)                           shape (n, hidden)
/// (F3)  a = W_o s + b_o                                 shape (n, 3)
/// (F4)  L = mean of ln Σ_j e^a_j − a_y                  y: the label
/// (B4)  ∂a = ∂L (softmax(a) − 1_y) / n
/// (B3)  ∂s = W_oᵀ ∂a,   ∂W_o = ∂aᵀ s,   ∂b_o = Σ ∂a
/// (B2)  ∂h = ∂s ∘ (1 − s²),   ∂W_h = ∂hᵀ x,   ∂b_h = Σ ∂h
/// (B1)  [∂u ; ∂v] = W_hᵀ ∂h
/// ```
///
/// InferSent's head also sees the difference of the vectors, and has two layers without a nonlinearity between them:
///
/// ```text
/// (F1')  x = [u ; v ; |u − v| ; u ∘ v]                  shape (n, 4 dim)
/// (F2')  t = W_h x + b_h,   s = W_m t + b_m             shape (n, hidden) each
/// (B2')  ∂t = W_mᵀ ∂s,   ∂W_m = ∂sᵀ t,   ∂b_m = Σ ∂s;   ∂W_h = ∂tᵀ x,   ∂b_h = Σ ∂t
/// (B1')  ∂x = W_hᵀ ∂t, and to u and v as in `pair-features`
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::NliHead;
/// let head = NliHead { hidden: 8, ..NliHead::new(2) };
/// let parameters = head.init::<f64>(&mut stream(1, "head", &[]))?;
/// let (u, v) = (array![[1.0, 0.5], [0.0, 2.0]], array![[1.0, 0.0], [-1.0, 0.5]]);
/// let saved = head.forward(&parameters, u.view(), v.view())?;
/// assert!(saved.loss(&[0, 2])? > 0.0 && saved.accuracy(&[0, 2])? <= 1.0);
/// let mut d_parameters = parameters.zeros_like();
/// let (d_u, d_v) = head.backward(&parameters, &saved, &[0, 2], 1.0, &mut d_parameters)?;
/// assert_eq!((d_u.dim(), d_v.dim()), ((2, 2), (2, 2)));
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// S. R. Bowman, G. Angeli, C. Potts, C. D. Manning, EMNLP 2015, for the task; the paper of the SNLI-finetuned
/// Skip-thoughts, section 3, for the head: both vectors, one hidden layer, a softmax. A. Conneau, D. Kiela, H. Schwenk,
/// L. Barrault, A. Bordes, EMNLP 2017, figure 1, for that of InferSent; its layers are linear in the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NliHead {
    /// The sentence dimension.
    pub dim: usize,
    /// The hidden size; 512 by default.
    pub hidden: usize,
    /// The architecture of the head.
    #[serde(default, skip_serializing_if = "NliHeadForm::is_tanh")]
    pub form: NliHeadForm,
}

/// Predictions for pairs, and the saved state for [`NliHead::backward`].
#[derive(Debug, Clone)]
pub struct NliSaved<F> {
    x: Array2<F>,
    /// The output of InferSent's first layer.
    t: Option<Array2<F>>,
    s: Array2<F>,
    logits: Array2<F>,
}

impl<F: Float> NliSaved<F> {
    /// (F4): the mean loss; NaN if a prediction is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without pairs; [`senv_core::Error::ShapeMismatch`] unless there is one label per pair;
    /// [`Error::TargetOutOfRange`] if a label is not 0, 1 or 2.
    pub fn loss(&self, labels: &[u32]) -> Result<f64> {
        self.check(labels)?;
        let loss =
            |(i, &label): (usize, &u32)| softmax_row(&mut row(&self.logits, i).to_vec(), label as usize, &[], 1.0);
        Ok(labels.iter().enumerate().map(loss).sum::<f64>() / labels.len() as f64)
    }

    /// The share of pairs, from 0 to 1, whose label has the largest probability; the first label wins ties.
    ///
    /// # Errors
    /// The errors of [`loss`](Self::loss).
    pub fn accuracy(&self, labels: &[u32]) -> Result<f64> {
        self.check(labels)?;
        let right = self.labels().zip(labels).filter(|&(predicted, &label)| predicted == label).count();
        Ok(right as f64 / labels.len() as f64)
    }

    /// The most probable label of every pair; the first label wins ties.
    pub fn labels(&self) -> impl Iterator<Item = u32> + '_ {
        self.logits.rows().into_iter().map(|row| {
            let better = |best: usize, j: usize| if row[j] > row[best] { j } else { best };
            (1..row.len()).fold(0, better) as u32
        })
    }

    /// The probabilities of the labels, shape `(n, 3)`.
    #[must_use]
    pub fn probabilities(&self) -> Array2<F> {
        let mut p = self.logits.clone();
        (0..p.nrows()).for_each(|i| math::softmax_in_place(row_mut(&mut p, i)));
        p
    }

    fn check(&self, labels: &[u32]) -> Result<()> {
        check_targets(labels, self.logits.nrows(), NLI_LABELS.len())?;
        if labels.is_empty() { Err(Error::EmptyBatch) } else { Ok(()) }
    }
}

impl NliHead {
    /// The defaults for vectors of dimension `dim`.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { dim, hidden: DEFAULT_NLI_HIDDEN, form: NliHeadForm::Tanh }
    }

    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> Vec<(&'static str, [usize; 2])> {
        let mut shapes = vec![("head.w_h", [self.hidden, self.n_features()]), ("head.b_h", [1, self.hidden])];
        if self.form == NliHeadForm::Infersent {
            shapes.extend([("head.w_m", [self.hidden, self.hidden]), ("head.b_m", [1, self.hidden])]);
        }
        shapes.extend([("head.w_o", [NLI_LABELS.len(), self.hidden]), ("head.b_o", [1, NLI_LABELS.len()])]);
        shapes
    }

    /// The number of values in x.
    fn n_features(&self) -> usize {
        match self.form {
            NliHeadForm::Tanh => 2 * self.dim,
            NliHeadForm::Infersent => 4 * self.dim,
        }
    }

    /// The index of W_o; b_o is the next.
    fn last(&self) -> usize {
        match self.form {
            NliHeadForm::Tanh => B_H + 1,
            NliHeadForm::Infersent => B_M + 1,
        }
    }

    /// The number of parameter values, as a float to avoid overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        self.shapes().iter().map(|(_, [rows, columns])| *rows as f64 * *columns as f64).sum()
    }

    /// Initial parameters, uniform from −0.1 to 0.1. In InferSent's head they are uniform from −1/√k to 1/√k, where k
    /// is the number of inputs of the layer, as in PyTorch.
    ///
    /// | tensor | shape |
    /// | --- | --- |
    /// | `head.w_h`, `head.b_h` | `(hidden, 2 dim)`, or `(hidden, 4 dim)` in InferSent's head; `(1, hidden)` |
    /// | `head.w_m`, `head.b_m` | `(hidden, hidden)`; `(1, hidden)`; only in InferSent's head |
    /// | `head.w_o`, `head.b_o` | `(3, hidden)`; `(1, 3)` |
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a size is 0; [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a NliHead, rng: &'a mut Stream| -> Result<Parameters<F>> {
            check_range("hidden units", "1 or more", this.hidden as f64, this.hidden >= 1)?;
            let mut parameters = Parameters::new();
            let mut reads = 1;
            for (name, [rows, columns]) in this.shapes() {
                let place = parameters.push_zeros(name, [rows, columns])?;
                // A bias follows its layer's matrix.
                reads = if name.starts_with("head.w") { columns } else { reads };
                let limit = match this.form {
                    NliHeadForm::Tanh => LIMIT,
                    NliHeadForm::Infersent => 1.0 / (reads as f64).sqrt(),
                };
                init::uniform(rng, parameters[place].values_mut(), limit)?;
            }
            Ok(parameters)
        })
    }

    /// Predictions for pairs of vectors, shape `(n, dim)` each.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if vectors or parameters do not match the shapes of the head.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        u: ArrayView2<'_, F>,
        v: ArrayView2<'_, F>,
    ) -> Result<NliSaved<F>> {
        compiled_here!(self, |this: &'a NliHead,
                              parameters: &'a Parameters<F>,
                              u: ArrayView2<'a, F>,
                              v: ArrayView2<'a, F>|
         -> Result<NliSaved<F>> {
            check_pairs(u, v, this.dim)?;
            check_shapes(parameters, &this.shapes())?;
            let parts = match this.form {
                NliHeadForm::Tanh => Vec::new(),
                NliHeadForm::Infersent => vec![difference(u, v), product(u, v)],
            };
            let parts: Vec<_> = [u, v].into_iter().chain(parts.iter().map(|part| part.view())).collect();
            let x = concatenate(Axis(1), &parts).unwrap_or_else(|_| unreachable!("as many rows")); // (F1), (F1')
            let layer = |x: &Array2<F>, w: usize| -> Result<Array2<F>> {
                let mut out = bias(x.nrows(), &parameters[w + 1]);
                add_product(x.view(), &parameters[w], &mut out)?;
                Ok(out)
            };
            let mut s = layer(&x, W_H)?;
            let mut t = None;
            match this.form {
                NliHeadForm::Tanh => F::tanh_in_place(flat_mut(&mut s)), // (F2)
                NliHeadForm::Infersent => {
                    let first = t.insert(s);
                    s = layer(first, W_M)?; // (F2')
                }
            }
            let logits = layer(&s, this.last())?; // (F3)
            Ok(NliSaved { x, t, s, logits })
        })
    }

    /// The gradients `(d_u, d_v)`, shape `(n, dim)` each, given the gradient `d_loss` of the mean loss; the gradients
    /// of the parameters are added to `d_parameters`.
    ///
    /// # Errors
    /// The errors of [`NliSaved::loss`]; [`senv_core::Error::ShapeMismatch`] if a shape differs from the forward pass.
    pub fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        saved: &NliSaved<F>,
        labels: &[u32],
        d_loss: f64,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(Array2<F>, Array2<F>)> {
        compiled_here!(self, |this: &'a NliHead,
                              parameters: &'a Parameters<F>,
                              saved: &'a NliSaved<F>,
                              labels: &'a [u32],
                              d_loss: f64,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(Array2<F>, Array2<F>)> {
            saved.check(labels)?;
            check_size("columns of saved state", this.n_features(), saved.x.ncols())?;
            check_shapes(parameters, &this.shapes())?;
            check_shapes(d_parameters, &this.shapes())?;
            let (mut d_a, c) = (saved.logits.clone(), d_loss / labels.len() as f64);
            for (i, &label) in labels.iter().enumerate() {
                softmax_row(row_mut(&mut d_a, i), label as usize, &[], c); // (B4)
            }
            let mut through = |d_out: &Array2<F>, x: &Array2<F>, w: usize| -> Result<Array2<F>> {
                check_size("columns of saved state", parameters[w].shape()[1], x.ncols())?;
                add_weight_gradient(d_out.view(), x.view(), d_parameters, w)?;
                add_bias_gradient(d_out.view(), d_parameters, w + 1);
                input_gradient(d_out.view(), &parameters[w])
            };
            let mut d_h = through(&d_a, &saved.s, this.last())?; // (B3)
            match &saved.t {
                None => d_h.zip_mut_with(&saved.s, |d, &s| *d *= F::one() - s * s), // (B2)
                Some(t) => d_h = through(&d_h, t, W_M)?,                            // (B2')
            }
            let d_x = through(&d_h, &saved.x, W_H)?; // (B1)
            let part = |i: usize| d_x.slice(s![.., i * this.dim..(i + 1) * this.dim]);
            let (mut d_u, mut d_v) = (part(0).to_owned(), part(1).to_owned());
            if this.form == NliHeadForm::Infersent {
                let of_x = |i: usize| saved.x.slice(s![.., i * this.dim..(i + 1) * this.dim]);
                difference_backward(part(2), of_x(0), of_x(1), &mut d_u, &mut d_v); // (B1')
                product_backward(part(3), of_x(0), of_x(1), &mut d_u, &mut d_v);
            }
            Ok((d_u, d_v))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst, worst_parameter};
    use senv_core::rng::stream;

    #[test]
    fn gradients_match_central_differences() {
        for form in [NliHeadForm::Tanh, NliHeadForm::Infersent] {
            check_gradients(form);
        }
    }

    fn check_gradients(form: NliHeadForm) {
        let (u, v) = (matrix::<f64>(4, 3, 1), matrix::<f64>(4, 3, 2));
        let labels = [2, 0, 1, 0];
        let head = NliHead { dim: 3, hidden: 5, form };
        let mut p = head.init::<f64>(&mut stream(3, "head", &[])).unwrap();
        p.iter_mut().for_each(|tensor| tensor.values_mut().iter_mut().for_each(|x| *x *= 5.0));
        let f =
            |p: &Parameters<f64>, u: View<'_>, v: View<'_>| 2.5 * head.forward(p, u, v).unwrap().loss(&labels).unwrap();
        let saved = head.forward(&p, u.view(), v.view()).unwrap();
        let mut d = p.zeros_like();
        let mut run = || head.backward(&p, &saved, &labels, 2.5, &mut d).unwrap();
        let (d_u, d_v) = run();
        run(); // Parameter gradients accumulate: two calls give twice as much.
        assert!(worst(|u| f(&p, u, v.view()), &u, &d_u) < 1e-7);
        assert!(worst(|v| f(&p, u.view(), v), &v, &d_v) < 1e-7);
        assert!(worst(|v| f(&p, u.view(), v), &v, &-d_v) > 1.9, "a flipped sign");
        for place in 0..p.len() {
            let error = worst_parameter(|p| 2.0 * f(p, u.view(), v.view()), &p, &d, place);
            assert!(error < 1e-7, "{}: {error}", p[place].name());
        }
    }

    #[test]
    fn the_layers_of_infersent_are_those_computed_by_hand() {
        let head = NliHead { dim: 2, hidden: 1, form: NliHeadForm::Infersent };
        let mut p = head.init::<f64>(&mut stream(3, "head", &[])).unwrap();
        assert!(p[W_H].values().iter().all(|x| x.abs() <= 1.0 / 8f64.sqrt()));
        // x = [1 -2 ; 3 2 ; 2 4 ; 3 -4], t = 1·1 + 10·(-2) + ... + 10^7·(-4) scaled by 10^-7, and so on.
        let weights: Vec<f64> = (0..8).map(|i| 10f64.powi(i - 7)).collect();
        p[W_H].values_mut().copy_from_slice(&weights);
        p[B_H].values_mut()[0] = 0.5;
        p[W_M].values_mut()[0] = 2.0;
        p[B_M].values_mut()[0] = 1.0;
        p[B_M + 1].values_mut().copy_from_slice(&[1.0, -1.0, 0.0]);
        p[B_M + 2].values_mut().copy_from_slice(&[0.0, 0.0, 3.0]);
        let (u, v) = (ndarray::array![[1.0, -2.0]], ndarray::array![[3.0, 2.0]]);
        let saved = head.forward(&p, u.view(), v.view()).unwrap();
        let t: f64 = [1.0, -2.0, 3.0, 2.0, 2.0, 4.0, 3.0, -4.0].iter().zip(&weights).map(|(x, w)| x * w).sum();
        let s = 2.0 * (t + 0.5) + 1.0;
        let expected = [s, -s, 3.0];
        for (got, expected) in saved.logits.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{got} instead of {expected}");
        }
        assert_eq!(head.n_values(), 8.0 + 1.0 + 1.0 + 1.0 + 3.0 + 3.0);
    }

    #[test]
    fn configurations_leave_out_the_default_form_alone() {
        let text = |head: &NliHead| serde_json::to_string(head).unwrap();
        let tanh = NliHead { hidden: 7, ..NliHead::new(2) };
        assert_eq!(text(&tanh), r#"{"dim":2,"hidden":7}"#);
        let infersent = NliHead { form: NliHeadForm::Infersent, ..tanh.clone() };
        assert_eq!(text(&infersent), r#"{"dim":2,"hidden":7,"form":"infersent"}"#);
        for head in [tanh, infersent] {
            assert_eq!(serde_json::from_str::<NliHead>(&text(&head)).unwrap(), head);
        }
    }

    #[test]
    fn predictions_and_their_accuracy() {
        let head = NliHead { hidden: 2, ..NliHead::new(1) };
        let w_o = head.last();
        let mut p = head.init::<f32>(&mut stream(3, "head", &[])).unwrap();
        assert!(p.iter().all(|tensor| tensor.values().iter().all(|x| x.abs() <= 0.1 && *x != 0.0)));
        // s = (tanh u, tanh v), and a label for each of u, v and neither.
        p[W_H].values_mut().copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        p[w_o].values_mut().copy_from_slice(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        p[B_H].values_mut().fill(0.0);
        p[w_o + 1].values_mut().fill(0.0);
        let (u, v) = (ndarray::array![[2.0f32], [0.0], [-2.0], [0.0]], ndarray::array![[0.0f32], [2.0], [-2.0], [0.0]]);
        let saved = head.forward(&p, u.view(), v.view()).unwrap();
        assert_eq!(saved.labels().collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert_eq!(saved.accuracy(&[0, 1, 2, 1]).unwrap(), 0.75);
        let probabilities = saved.probabilities();
        assert!(probabilities.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-6));
        assert!((probabilities[(3, 1)] - 1.0 / 3.0).abs() < 1e-7);
        assert!(matches!(
            saved.loss(&[0, 1, 3, 0]),
            Err(Error::TargetOutOfRange { example: 2, target: 3, n_targets: 3 })
        ));
        assert!(saved.accuracy(&[0, 1, 3, 0]).is_err() && saved.loss(&[0]).is_err());
    }

    #[test]
    fn shapes_that_do_not_fit() {
        let head = NliHead { hidden: 4, ..NliHead::new(3) };
        let p = head.init::<f32>(&mut stream(3, "head", &[])).unwrap();
        let x = matrix::<f32>(2, 3, 1);
        assert!(head.forward(&p, x.view(), x.slice(s![..1, ..])).is_err());
        assert!(head.forward(&Parameters::new(), x.view(), x.view()).is_err());
        assert!(NliHead { hidden: 0, ..NliHead::new(3) }.init::<f32>(&mut stream(3, "head", &[])).is_err());
        let saved = head.forward(&p, x.view(), x.view()).unwrap();
        let mut d = p.zeros_like();
        assert!(head.backward(&p, &saved, &[0], 1.0, &mut d).is_err());
        assert!(head.backward(&p, &saved, &[0, 3], 1.0, &mut d).is_err());
        assert!(head.backward(&p, &saved, &[0, 1], 1.0, &mut Parameters::new()).is_err());
        let none = head.forward(&p, x.slice(s![..0, ..]), x.slice(s![..0, ..])).unwrap();
        assert!(matches!(none.loss(&[]), Err(Error::EmptyBatch)));
    }
}
