//! The objective of one target, plain and in any float type: the reference for the fast step.
//!
//! Equation: `negative-sampling-objective`

use ndarray::{Array1, Array2, NdFloat, s};
use senv_core::hyperparameters::named_values;
use serde::{Deserialize, Serialize};

/// One target with its context and negatives.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a> {
    /// The source rows of the context, each repeated as often as it occurs.
    pub context: &'a [usize],
    /// The target row to predict.
    pub target: usize,
    /// The target rows drawn as negatives.
    pub negatives: &'a [usize],
}

/// How to combine the rows of a context into its vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Composition {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// Concatenated in fixed places: target rows are as wide as all places.
    #[serde(rename = "concat")]
    Concatenation,
}

named_values!(Composition {
    Mean = "mean": "Their mean",
    Sum = "sum": "Their sum",
    Concatenation = "concat": "Concatenated in fixed places: slower, and rows of predicted words are as wide as all \
        of them together",
});

/// Loss and gradients of one example.
#[derive(Debug, Clone)]
pub struct Gradient<F> {
    /// L of (F2), in nats.
    pub loss: F,
    /// h of (F1).
    pub hidden: Array1<F>,
    /// ∂L/∂v, shape of the source table.
    pub d_source: Array2<F>,
    /// ∂L/∂u, shape of the target table.
    pub d_target: Array2<F>,
}

/// `log(1 + e^{−x})` without overflow.
fn logistic_loss<F: NdFloat>(x: F) -> F {
    (-x).max(F::zero()) + (-x.abs()).exp().ln_1p()
}

fn sigmoid<F: NdFloat>(x: F) -> F {
    let e = (-x.abs()).exp();
    if x >= F::zero() { F::one() / (F::one() + e) } else { e / (F::one() + e) }
}

/// (F1).
fn hidden<F: NdFloat>(source: &Array2<F>, context: &[usize], composition: Composition) -> Array1<F> {
    if composition == Composition::Concatenation {
        return context.iter().flat_map(|&r| source.row(r).to_vec()).collect();
    }
    let mut h = Array1::zeros(source.ncols());
    for &r in context {
        h += &source.row(r);
    }
    h * share::<F>(context, composition)
}

/// The weight of a context row in the vector, and of the gradient it receives.
fn share<F: NdFloat>(context: &[usize], composition: Composition) -> F {
    match composition {
        Composition::Mean => F::one() / F::from(context.len()).unwrap_or_else(F::one),
        Composition::Sum | Composition::Concatenation => F::one(),
    }
}

/// Loss and exact gradient of one example at the current tables.
///
/// ```text
/// (F1)  h = (1/|R|) Σ_{r in R} v_r                             v: source rows, shape (d,)
///       h = Σ_{r in R} v_r                                     a sum (PV-DM, C-PHRASE)
///       h = [v_{r_1}; ..; v_{r_P}]                             concatenated, P rows in fixed places (PV-DM); u: shape (P d,)
/// (F2)  L = l(u_t·h) + Σ_{n in N} l(−u_n·h)                    u: target rows; l(x) = log(1 + e^{−x})
/// (B2)  a_t = σ(u_t·h) − 1     a_n = σ(u_n·h)                  ∂L/∂(score)
///       ∂L/∂u_t = a_t h        ∂L/∂u_n += a_n h                a repeated negative counts each time
///       ∂L/∂h  = a_t u_t + Σ_n a_n u_n
/// (B1)  ∂L/∂v_r += (1/|R|) ∂L/∂h                               a repeated row counts each time
///       ∂L/∂v_r += ∂L/∂h                                       of a sum
///       ∂L/∂v_{r_p} += (∂L/∂h)_{p d .. (p+1) d}                concatenated
/// ```
///
/// R is the context of the target. It is the sentence's words and n-grams without the target (Sent2Vec, equation 4 of
/// appendix B with τ = 0), the window (CBOW) or the focus word (skip-gram). It is the document (PV-DBOW), the document
/// and the window (PV-DM), or a constituent (C-PHRASE). [`sequential_step`] is the Sent2Vec release's update from it,
/// one row at a time.
///
/// ```
/// use ndarray::array;
/// use senv_negative_sampling::objective::{Example, gradient};
/// // One context row, one target, no negative: L = log(1 + e^{-1·1}).
/// let g = gradient(&array![[1.0_f64]], &array![[1.0]], Example { context: &[0], target: 0, negatives: &[] });
/// assert!((g.loss - (1.0 + (-1.0_f64).exp()).ln()).abs() < 1e-15);
/// ```
#[must_use]
pub fn gradient<F: NdFloat>(source: &Array2<F>, target: &Array2<F>, example: Example<'_>) -> Gradient<F> {
    gradient_composed(source, target, example, Composition::Mean)
}

/// [`gradient`] for a context with another composition.
///
/// ```
/// use ndarray::array;
/// use senv_negative_sampling::objective::{Composition, Example, gradient_composed};
/// // Two concatenated rows of one column, a target row of two: the score is 1·3 + 2·4 = 11.
/// let example = Example { context: &[0, 1], target: 0, negatives: &[] };
/// let g = gradient_composed(&array![[1.0_f64], [2.0]], &array![[3.0, 4.0]], example, Composition::Concatenation);
/// assert_eq!(g.hidden, array![1.0, 2.0]);
/// assert!((g.loss - (-11.0_f64).exp().ln_1p()).abs() < 1e-15);
/// ```
#[must_use]
pub fn gradient_composed<F: NdFloat>(
    source: &Array2<F>,
    target: &Array2<F>,
    example: Example<'_>,
    composition: Composition,
) -> Gradient<F> {
    let h = hidden(source, example.context, composition); // (F1)
    let mut loss = F::zero();
    let mut d_h = Array1::<F>::zeros(h.len());
    let mut d_target = Array2::zeros(target.raw_dim());
    let rows = std::iter::once((example.target, true)).chain(example.negatives.iter().map(|&n| (n, false)));
    for (row, positive) in rows {
        let u = target.row(row);
        let score = u.dot(&h);
        loss += logistic_loss(if positive { score } else { -score }); // (F2)
        let a = sigmoid(score) - if positive { F::one() } else { F::zero() }; // (B2)
        d_target.row_mut(row).scaled_add(a, &h); // (B2)
        d_h.scaled_add(a, &u); // (B2)
    }
    let mut d_source = Array2::zeros(source.raw_dim());
    let share = share::<F>(example.context, composition);
    let d = source.ncols();
    for (place, &r) in example.context.iter().enumerate() {
        let first = if composition == Composition::Concatenation { place * d } else { 0 };
        d_source.row_mut(r).scaled_add(share, &d_h.slice(s![first..first + d])); // (B1)
    }
    Gradient { loss, hidden: h, d_source, d_target }
}

/// The proximal operator of `tau |x|`: `sign(x) max(|x| − tau, 0)`, for the L1 penalty of Sent2Vec's appendix B.
#[must_use]
pub fn soft_threshold<F: NdFloat>(x: F, tau: F) -> F {
    x.signum() * (x.abs() - tau).max(F::zero())
}

/// The update of the Sent2Vec release. It takes the target, then the negatives in order. Each row is updated (and
/// thresholded by `tau * lr`) before the next is scored; its contribution to the context is taken before its update.
/// Then every context occurrence gets its share of the mean's gradient, and each context row is thresholded by `tau *
/// lr / |R|` per occurrence. Returns the loss.
pub fn sequential_step<F: NdFloat>(
    source: &mut Array2<F>,
    target: &mut Array2<F>,
    example: Example<'_>,
    lr: F,
    tau: F,
) -> F {
    let h = hidden(source, example.context, Composition::Mean);
    let mut loss = F::zero();
    let mut d_h = Array1::<F>::zeros(h.len());
    let rows = std::iter::once((example.target, true)).chain(example.negatives.iter().map(|&n| (n, false)));
    for (row, positive) in rows {
        let score = target.row(row).dot(&h);
        loss += logistic_loss(if positive { score } else { -score });
        let a = sigmoid(score) - if positive { F::one() } else { F::zero() };
        d_h.scaled_add(a, &target.row(row));
        target.row_mut(row).scaled_add(-lr * a, &h);
        target.row_mut(row).mapv_inplace(|x| soft_threshold(x, tau * lr));
    }
    let share = share::<F>(example.context, Composition::Mean);
    for &r in example.context {
        source.row_mut(r).scaled_add(-lr * share, &d_h);
        source.row_mut(r).mapv_inplace(|x| soft_threshold(x, tau * lr * share));
    }
    loss
}
