//! A plain gated recurrent unit after the equations: one sentence at a time and one word after another, in f64. Nothing
//! is packed or shared between sentences, and no code of the library is used.

use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use senv_encoders::GruStyle;

/// The parameters of a cell, or their gradients; rows in the order r, z, n.
#[derive(Clone)]
pub(crate) struct Plain {
    pub(crate) style: GruStyle,
    /// Shape `(3 hidden, input)`.
    pub(crate) w: Array2<f64>,
    /// Shape `(3 hidden, hidden)`.
    pub(crate) u: Array2<f64>,
    /// `3 hidden` values.
    pub(crate) b: Array1<f64>,
    /// `3 hidden` values; zeros except in the variant of PyTorch.
    pub(crate) c: Array1<f64>,
}

/// One step: word vector, the state before, gates, candidate, U_n h⁻ + c_n, and the state after.
pub(crate) struct GruStep {
    x: Array1<f64>,
    before: Array1<f64>,
    r: Array1<f64>,
    z: Array1<f64>,
    n: Array1<f64>,
    s: Array1<f64>,
    pub(crate) after: Array1<f64>,
}

/// The gradients of a sentence.
pub(crate) struct Back {
    /// Gradients of the inputs, for each step.
    pub(crate) x: Vec<Array1<f64>>,
    /// Gradient of the initial state.
    pub(crate) first: Array1<f64>,
    /// Gradient of what was added to the gates at every step, `3 hidden` values.
    pub(crate) added: Array1<f64>,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `m += a bᵀ`.
fn add_outer(m: &mut Array2<f64>, first_row: usize, a: &Array1<f64>, b: &Array1<f64>) {
    for (i, &a) in a.iter().enumerate() {
        m.row_mut(first_row + i).scaled_add(a, b);
    }
}

impl Plain {
    pub(crate) fn zeros_like(&self) -> Self {
        let [w, u] = [&self.w, &self.u].map(|m| Array2::zeros(m.raw_dim()));
        Self { style: self.style, w, u, b: Array1::zeros(self.b.len()), c: Array1::zeros(self.c.len()) }
    }

    fn hidden(&self) -> usize {
        self.u.ncols()
    }

    /// Gate `k` of `v`, a vector of three.
    fn gate<'a>(&self, v: &'a Array1<f64>, k: usize) -> ArrayView1<'a, f64> {
        v.slice(s![k * self.hidden()..(k + 1) * self.hidden()])
    }

    /// Row block `k` of U, times `h`.
    fn recurrent(&self, k: usize, h: &Array1<f64>) -> Array1<f64> {
        self.u.slice(s![k * self.hidden()..(k + 1) * self.hidden(), ..]).dot(h)
    }

    /// Row block `k` of U transposed, times `a`.
    fn recurrent_back(&self, k: usize, a: &Array1<f64>) -> Array1<f64> {
        let mut sum = Array1::zeros(self.hidden());
        for (i, &a) in a.iter().enumerate() {
            sum.scaled_add(a, &self.u.row(k * self.hidden() + i));
        }
        sum
    }

    fn resets_before(&self) -> bool {
        matches!(self.style, GruStyle::Paper | GruStyle::Tf1)
    }

    /// The forward pass of a sentence.
    pub(crate) fn forward(&self, inputs: &[Array1<f64>], first: &Array1<f64>, added: &Array1<f64>) -> Vec<GruStep> {
        let mut steps: Vec<GruStep> = Vec::new();
        for x in inputs {
            let before = steps.last().map_or(first, |step| &step.after).clone();
            let a = self.w.dot(x) + &self.b + added;
            let [r, z] = [0, 1].map(|k| {
                let sum = &self.gate(&a, k) + &self.recurrent(k, &before) + self.gate(&self.c, k);
                sum.mapv(logistic)
            });
            let s = if self.resets_before() {
                self.recurrent(2, &(&r * &before))
            } else {
                self.recurrent(2, &before) + self.gate(&self.c, 2)
            };
            let n = if self.resets_before() { &self.gate(&a, 2) + &s } else { &self.gate(&a, 2) + &(&r * &s) };
            let n = n.mapv(f64::tanh);
            let after = match self.style {
                GruStyle::Paper => (1.0 - &z) * &before + &z * &n,
                _ => &z * &before + (1.0 - &z) * &n,
            };
            steps.push(GruStep { x: x.clone(), before, r, z, n, s, after });
        }
        steps
    }

    /// The backward pass of a sentence, given the gradient of the state after each word; adds to `sums`.
    pub(crate) fn backward(&self, steps: &[GruStep], d_after: &[Array1<f64>], sums: &mut Self) -> Back {
        let h = self.hidden();
        let mut d_state = Array1::<f64>::zeros(h);
        let (mut d_x, mut added) = (Vec::new(), Array1::zeros(3 * h));
        for (step, upstream) in steps.iter().zip(d_after).rev() {
            let GruStep { x, before, r, z, n, s, .. } = step;
            let d = &d_state + upstream;
            let (d_n, d_z, d_before) = match self.style {
                GruStyle::Paper => (&d * z, &d * &(n - before), &d * &(1.0 - z)),
                _ => (&d * &(1.0 - z), &d * &(before - n), &d * z),
            };
            let a_n = d_n * n.mapv(|n| 1.0 - n * n);
            let a_z = d_z * z.mapv(|z| z * (1.0 - z));
            let mut d_before = d_before;
            let d_r = if self.resets_before() {
                let d_q = self.recurrent_back(2, &a_n);
                add_outer(&mut sums.u, 2 * h, &a_n, &(r * before));
                d_before += &(&d_q * r);
                d_q * before
            } else {
                let e = &a_n * r;
                add_outer(&mut sums.u, 2 * h, &e, before);
                sums.c.slice_mut(s![2 * h..]).scaled_add(1.0, &e);
                d_before += &self.recurrent_back(2, &e);
                &a_n * s
            };
            let a_r = d_r * r.mapv(|r| r * (1.0 - r));
            for (k, a) in [&a_r, &a_z].into_iter().enumerate() {
                d_before += &self.recurrent_back(k, a);
                add_outer(&mut sums.u, k * h, a, before);
                sums.c.slice_mut(s![k * h..(k + 1) * h]).scaled_add(1.0, a);
            }
            let mut dx = Array1::zeros(x.len());
            for (k, a) in [&a_r, &a_z, &a_n].into_iter().enumerate() {
                add_outer(&mut sums.w, k * h, a, x);
                sums.b.slice_mut(s![k * h..(k + 1) * h]).scaled_add(1.0, a);
                added.slice_mut(s![k * h..(k + 1) * h]).scaled_add(1.0, a);
                for (i, &a) in a.iter().enumerate() {
                    dx.scaled_add(a, &self.w.index_axis(Axis(0), k * h + i));
                }
            }
            d_x.insert(0, dx);
            d_state = d_before;
        }
        Back { x: d_x, first: d_state, added }
    }
}
