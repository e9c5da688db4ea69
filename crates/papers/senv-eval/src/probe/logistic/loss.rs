//! Loss and gradient of many logistic regressions at a time, all on the same examples.
//!
//! Equation: `logistic-regression`
//!
//! ```text
//! (F1)  a_i = W x_i + b                                  x: shape (f,), W: shape (k, f), b: shape (k,)
//! (F2)  L   = ½ |W|² + C Σ_i l(a_i, t_i)                 b is not pulled to 0
//!       softmax:   l = ln Σ_j e^a_j − tᵀa                t: shares of the classes, adding up to 1
//!       sigmoid:   l = Σ_j ln(1 + e^a_j) − t_j a_j       t: 0 or 1 for each output
//! (B2)  ∂a_i = C (p_i − t_i)                             p: softmax(a) or σ(a)
//! (B1)  ∂W = W + Σ_i ∂a_i x_iᵀ,   ∂b = Σ_i ∂a_i
//! ```
//!
//! Two classes use one sigmoid output, as in LIBLINEAR and scikit-learn; one-vs-rest uses one sigmoid output per class.
//! A block of examples is multiplied with the weights of all regressions at once. Sums over examples are computed in
//! parts that do not depend on the number of threads, so the result does not depend on it either.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use senv_core::arrays::{Float, matmul_into};

use super::{Examples, Link, Role, Roles};
use crate::error::Result;

/// Maximum number of parts that examples are divided into.
const PARTS: usize = 32;
/// Minimum number of examples in a part, since each part has its own gradient.
const PART: usize = 32;
/// Number of examples multiplied at a time.
const BLOCK: usize = 128;

/// The result of one pass over the examples.
pub(super) struct Pass {
    /// Σ l of each regression, without C and the penalty.
    pub(super) losses: Vec<f64>,
    /// The gradient of this sum: W row by row, with b at the end of each row.
    pub(super) gradients: Vec<Vec<f64>>,
    /// For each example, the mean of p (1 − p) over the outputs and the regressions. Regressions that do not train on
    /// the example count as 0.
    pub(super) curvatures: Vec<f64>,
}

/// Stacks one row of W, followed by b, for each output of each regression: shape `(regressions · outputs, f + 1)`.
pub(super) fn stack<F: Float>(points: &[&[f64]], n_columns: usize) -> Array2<F> {
    let values = points.iter().flat_map(|point| point.iter().map(|&x| F::of(x))).collect::<Vec<_>>();
    let n_rows = values.len() / n_columns;
    Array2::from_shape_vec((n_rows, n_columns), values).unwrap_or_else(|_| Array2::zeros((n_rows, n_columns)))
}

/// Calls `each` for every block of `range`, with its first index, its features followed by a 1 in each row, and the
/// scores of all outputs (F1).
pub(super) fn for_blocks<F: Float, E: Examples>(
    examples: &E,
    range: std::ops::Range<usize>,
    weights: ArrayView2<'_, F>,
    mut each: impl FnMut(usize, ArrayView2<'_, F>, ArrayViewMut2<'_, F>) -> Result<()>,
) -> Result<()> {
    let f = examples.n_features();
    let rows = BLOCK.min(range.len());
    let mut x = Array2::<F>::ones((rows, f + 1));
    let mut scores = Array2::<F>::zeros((rows, weights.nrows()));
    let mut start = range.start;
    while start < range.end {
        let n = rows.min(range.end - start);
        for (i, mut row) in x.rows_mut().into_iter().take(n).enumerate() {
            if let Some(row) = row.as_slice_mut() {
                examples.write(start + i, &mut row[..f]);
            }
        }
        let x = x.slice_axis(Axis(0), (..n).into());
        let mut scores = scores.slice_axis_mut(Axis(0), (..n).into());
        matmul_into(F::one(), x, weights.t(), F::zero(), scores.view_mut())?;
        each(start, x, scores)?;
        start += n;
    }
    Ok(())
}

/// Divides n examples into parts.
pub(super) fn parts(n: usize) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
    let parts = n.div_ceil(PART).min(PARTS);
    (0..parts).into_par_iter().map(move |part| part * n / parts..(part + 1) * n / parts)
}

/// Computes (F2) and its gradient at one point per regression. `active` are the indices of these regressions in
/// `roles`.
pub(super) fn pass<F: Float, E: Examples>(
    examples: &E,
    link: Link,
    roles: &Roles,
    active: &[usize],
    points: &[&[f64]],
) -> Result<Pass> {
    let (n, columns, k) = (examples.len(), examples.n_features() + 1, examples.n_outputs());
    let weights = stack::<F>(points, columns);
    let of_part = |range: std::ops::Range<usize>| -> Result<(Vec<f64>, Array2<F>, Vec<f64>)> {
        let mut losses = vec![Sum::default(); active.len()];
        let mut curvatures = Vec::with_capacity(range.len());
        let mut gradient = Array2::<F>::zeros(weights.raw_dim());
        let mut exponentials = Vec::new();
        for_blocks(examples, range, weights.view(), |start, x, mut scores| {
            for (i, mut row) in scores.rows_mut().into_iter().enumerate() {
                let (roles, target) = (roles.of(start + i), examples.target(start + i));
                let row = row.as_slice_mut().unwrap_or_default();
                link.exponentials(row, k, &mut exponentials);
                let (mut curvature, outputs) = (0.0, row.chunks_exact_mut(k).zip(exponentials.chunks_exact(k)));
                for ((&problem, loss), (scores, e)) in active.iter().zip(&mut losses).zip(outputs) {
                    if roles[problem] == Role::Train {
                        curvature += link.loss(scores, e, target, loss);
                    } else {
                        scores.fill(F::zero());
                    }
                }
                curvatures.push(curvature / (k * active.len()) as f64);
            }
            matmul_into(F::one(), scores.t(), x, F::one(), gradient.view_mut())?; // (B1)
            Ok(())
        })?;
        Ok((losses.into_iter().map(Sum::total).collect(), gradient, curvatures))
    };
    let of_parts = parts(n).map(of_part).collect::<Result<Vec<_>>>()?;
    let mut sum = Pass {
        losses: vec![0.0; active.len()],
        gradients: vec![vec![0.0; k * columns]; active.len()],
        curvatures: Vec::with_capacity(n),
    };
    for (losses, _, curvatures) in &of_parts {
        sum.losses.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
        sum.curvatures.extend(curvatures);
    }
    sum.gradients.par_iter_mut().enumerate().for_each(|(place, sum)| {
        for (_, gradient, _) in &of_parts {
            let part = gradient.as_slice().unwrap_or_default().chunks_exact(k * columns).nth(place).unwrap_or_default();
            sum.iter_mut().zip(part).for_each(|(sum, g)| *sum += g.wide());
        }
    });
    Ok(sum)
}

/// A sum of values and logarithms that takes a single logarithm of many factors.
#[derive(Clone)]
struct Sum {
    values: f64,
    product: f64,
}

impl Default for Sum {
    fn default() -> Self {
        Self { values: 0.0, product: 1.0 }
    }
}

impl Sum {
    /// Adds `value` and ln `x`, where x is at least 1.
    fn add(&mut self, value: f64, x: f64) {
        self.values += value;
        self.product *= x;
        if self.product > 1e200 {
            self.values += self.product.ln();
            self.product = 1.0;
        }
    }

    fn total(self) -> f64 {
        self.values + self.product.ln()
    }
}

impl Link {
    /// Writes e^−|a| of each score, or e^(a − max) over the `k` scores of a regression, to `out`.
    fn exponentials<F: Float>(self, scores: &[F], k: usize, out: &mut Vec<F>) {
        out.clear();
        match self {
            Self::Sigmoid => out.extend(scores.iter().map(|&a| -a.abs())),
            Self::Softmax => out.extend(scores.chunks_exact(k).flat_map(|scores| {
                let highest = highest(scores);
                scores.iter().map(move |&a| a - highest)
            })),
        }
        F::exp_in_place(out);
    }

    /// Adds l of one example and returns the sum of p (1 − p). The scores become p − t (B2, without C).
    fn loss<F: Float>(self, scores: &mut [F], e: &[F], target: &[f64], loss: &mut Sum) -> f64 {
        let mut curvature = 0.0;
        match self {
            Self::Sigmoid => {
                for ((score, e), &t) in scores.iter_mut().zip(e).zip(target) {
                    let (a, e) = (score.wide(), e.wide());
                    let q = 1.0 / (1.0 + e);
                    let p = if a >= 0.0 { q } else { e * q };
                    loss.add(a.max(0.0) - t * a, 1.0 + e);
                    curvature += e * q * q;
                    *score = F::of(p - t);
                }
            }
            Self::Softmax => {
                let total: f64 = e.iter().map(|e| e.wide()).sum();
                loss.add(highest(scores).wide(), total);
                for ((score, e), &t) in scores.iter_mut().zip(e).zip(target) {
                    let p = e.wide() / total;
                    loss.values -= t * score.wide();
                    curvature += p * (1.0 - p);
                    *score = F::of(p - t);
                }
            }
        }
        curvature
    }
}

fn highest<F: Float>(scores: &[F]) -> F {
    scores.iter().copied().fold(F::neg_infinity(), F::max)
}
