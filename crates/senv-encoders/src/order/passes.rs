//! Two passes over a sentence, combined into one.
//!
//! Equation: `order-passes`
//!
//! ```text
//! (F1)  h_t = f_t ∘ h_{t−1} + a_t         g_t = f_t ∘ g_{t−1} + b_t         t = 1 .. n;  h_0 learned, g_0 = 0
//! (F2)  →q = Σ_t b_t ∘ h_{t−1}            ←q = Σ_t a_t ∘ g_{t−1} + h_0 ∘ g_n
//! (F3)  columns before d/2, antisymmetric:   q = →q − ←q
//!       columns from d/2 on, nearness:       q = →q + ←q − w̄(f̄, n) (Σa ∘ Σb − Σ_t a_t ∘ b_t)       f̄ = Σ_t f_t / n;  w̄: `order-nearness`
//! (B3)  ∂→q = ∂q    ∂←q = ∓∂q    ∂w̄ = −∂q ∘ (Σa ∘ Σb − Σ_t a_t ∘ b_t)    ∂f_t += ∂w̄ ∘ w̄′ / n
//!       ∂a_t −= ∂q ∘ w̄ ∘ (Σb − b_t)    ∂b_t −= ∂q ∘ w̄ ∘ (Σa − a_t)
//! (B2)  ∂g_n = ∂←q ∘ h_0                  ∂h_n = 0                             ∂h_0 += ∂←q ∘ g_n
//! (B1)  for t = n .. 1:  ∂b_t += ∂→q ∘ h_{t−1} + ∂g_t      ∂a_t += ∂←q ∘ g_{t−1} + ∂h_t      ∂f_t += ∂h_t ∘ h_{t−1} + ∂g_t ∘ g_{t−1}
//!       ∂h_{t−1} = ∂→q ∘ b_t + f_t ∘ ∂h_t        ∂g_{t−1} = ∂←q ∘ a_t + f_t ∘ ∂g_t        at the end ∂h_0 += ∂h_{t=0}
//! ```
//!
//! →q sums a_s ∘ (Π f between) ∘ b_t over all s before t: a skip-bigram, gated by the words between. The sum ←q is the
//! same for the sentence read from its end. It needs no second pass: the state g carries the b of the words so far, as
//! h carries their a, and both are read once from the left. In the antisymmetric columns everything independent of
//! order cancels. The nearness columns subtract their mean over all orders of the words, exactly if f is constant.

use senv_core::arrays::Float;

use super::nearness::share_and_slope;

/// A pass over one sentence, in a buffer reused for the next.
#[derive(Debug, Clone)]
pub(super) struct Pass<F> {
    dim: usize,
    n: usize,
    buffer: Vec<F>,
}

/// The parts of the buffer.
struct Parts<'a, F> {
    h: &'a mut [F],
    g: &'a mut [F],
    /// Σa, Σb, Σ a b and Σf of the nearness columns.
    sum_a: &'a mut [F],
    sum_b: &'a mut [F],
    sum_ab: &'a mut [F],
    sum_f: &'a mut [F],
    share: &'a mut [F],
}

impl<F: Float> Pass<F> {
    pub(super) fn new(dim: usize) -> Self {
        let near = dim - dim / 2;
        Self { dim, n: 0, buffer: vec![F::zero(); 2 * dim + 5 * near] }
    }

    fn parts(&mut self) -> Parts<'_, F> {
        let (dim, near) = (self.dim, self.dim - self.dim / 2);
        let (h, rest) = self.buffer.split_at_mut(dim);
        let (g, rest) = rest.split_at_mut(dim);
        let (sum_a, rest) = rest.split_at_mut(near);
        let (sum_b, rest) = rest.split_at_mut(near);
        let (sum_ab, rest) = rest.split_at_mut(near);
        let (sum_f, share) = rest.split_at_mut(near);
        Parts { h, g, sum_a, sum_b, sum_ab, sum_f, share }
    }

    /// Begins a sentence; `q` becomes the running sum.
    pub(super) fn begin(&mut self, h0: &[F], q: &mut [F]) {
        let Parts { h, g, sum_a, sum_b, sum_ab, sum_f, .. } = self.parts();
        h.copy_from_slice(h0);
        for x in [g, sum_a, sum_b, sum_ab, sum_f, q] {
            x.fill(F::zero());
        }
        self.n = 0;
    }

    /// (F1) and (F2) for the next word: `row` contains its a, b and f.
    #[inline]
    pub(super) fn word(&mut self, row: &[F], q: &mut [F]) {
        self.n += 1;
        let dim = self.dim;
        step(dim, &mut self.parts(), row, q);
    }

    /// (F3): completes `q` for the sentence.
    pub(super) fn end(&mut self, h0: &[F], q: &mut [F]) {
        let (half, n) = (self.dim / 2, self.n);
        if n == 0 {
            return q.fill(F::zero());
        }
        let Parts { g, sum_a, sum_b, sum_ab, sum_f, share, .. } = self.parts();
        F::scale(F::of(1.0 / n as f64), sum_f);
        F::mean_shares(sum_f, n, share);
        for j in 0..half {
            q[j] -= h0[j] * g[j];
        }
        for (j, q) in q[half..].iter_mut().enumerate() {
            *q += h0[half + j] * g[half + j] - share[j] * (sum_a[j] * sum_b[j] - sum_ab[j]);
        }
    }
}

/// (F1) and (F2) for one word.
#[inline]
fn step<F: Float>(dim: usize, parts: &mut Parts<'_, F>, row: &[F], q: &mut [F]) {
    let half = dim / 2;
    let (a, rest) = row.split_at(dim);
    let (b, f) = rest.split_at(dim);
    let (first, second) = (..half, half..dim);
    F::skip_bigram_step(
        [&a[first], &b[first], &f[first]],
        -F::one(),
        &mut parts.h[first],
        &mut parts.g[first],
        &mut q[first],
    );
    let near = [&a[second.clone()], &b[second.clone()], &f[second.clone()]];
    F::skip_bigram_step(near, F::one(), &mut parts.h[second.clone()], &mut parts.g[second.clone()], &mut q[second]);
    let [a, b, f] = near;
    F::add_to(a, parts.sum_a);
    F::add_to(b, parts.sum_b);
    F::add_to(f, parts.sum_f);
    for (sum, (&a, &b)) in parts.sum_ab.iter_mut().zip(a.iter().zip(b)) {
        *sum += a * b;
    }
}

/// The states of a sentence that is processed from its end.
#[derive(Debug, Clone)]
pub(super) struct BackwardPass<F> {
    forward: Pass<F>,
    /// h_{t−1} and g_{t−1} of every word.
    states: Vec<F>,
    d_h: Vec<F>,
    d_g: Vec<F>,
    q: Vec<F>,
}

impl<F: Float> BackwardPass<F> {
    pub(super) fn new(dim: usize) -> Self {
        let zeros = || vec![F::zero(); dim];
        Self { forward: Pass::new(dim), states: Vec::new(), d_h: zeros(), d_g: zeros(), q: zeros() }
    }

    /// (B3) to (B1): writes the gradients of a, b and f of each word of a sentence to `d_rows`, and adds that of h_0 to
    /// `d_h0`. `rows` has the rows of all words, `sentence` the rows of its words.
    pub(super) fn run(&mut self, rows: &[F], sentence: &[u32], h0: &[F], d_q: &[F], d_rows: &mut [F], d_h0: &mut [F]) {
        let (dim, n) = (h0.len(), sentence.len());
        let (half, width) = (dim / 2, 3 * dim);
        let row = |t: usize| &rows[sentence[t] as usize * width..][..width];
        self.states.resize(2 * n * dim, F::zero());
        self.forward.begin(h0, &mut self.q);
        for t in 0..n {
            let (h, g) = self.states[2 * t * dim..][..2 * dim].split_at_mut(dim);
            let before = self.forward.parts();
            h.copy_from_slice(before.h);
            g.copy_from_slice(before.g);
            self.forward.word(row(t), &mut self.q);
        }
        let Self { forward, states, d_h, d_g, .. } = self;
        let last = forward.parts().g;
        // ∂←q has the opposite sign in the antisymmetric columns.
        let back = |j: usize| if j < half { -d_q[j] } else { d_q[j] };
        for j in 0..dim {
            d_g[j] = back(j) * h0[j]; // (B2)
            d_h[j] = F::zero();
            d_h0[j] += back(j) * last[j];
        }
        // (B1)
        for t in (0..n).rev() {
            let (h, g) = states[2 * t * dim..][..2 * dim].split_at(dim);
            let row = row(t);
            let (a, b, f) = (&row[..dim], &row[dim..2 * dim], &row[2 * dim..]);
            let (d_a, rest) = d_rows[t * width..][..width].split_at_mut(dim);
            let (d_b, d_f) = rest.split_at_mut(dim);
            for j in 0..dim {
                let back = back(j);
                d_b[j] = d_q[j] * h[j] + d_g[j];
                d_a[j] = back * g[j] + d_h[j];
                d_f[j] = d_h[j] * h[j] + d_g[j] * g[j];
                d_h[j] = d_q[j] * b[j] + f[j] * d_h[j];
                d_g[j] = back * a[j] + f[j] * d_g[j];
            }
        }
        F::add_to(d_h, d_h0);
        self.centre(rows, sentence, d_q, d_rows);
    }

    /// (B3) for the nearness columns.
    fn centre(&mut self, rows: &[F], sentence: &[u32], d_q: &[F], d_rows: &mut [F]) {
        let (n, dim, half) = (sentence.len(), self.forward.dim, self.forward.dim / 2);
        let Parts { sum_a, sum_b, sum_ab, sum_f, .. } = self.forward.parts();
        let width = 3 * dim;
        let count = F::of(n.max(1) as f64);
        // d_h and d_g are unused here and serve as buffers for ∂q w̄ and ∂w̄ w̄′ / n.
        let (d_share, d_f) = (&mut self.d_h[half..], &mut self.d_g[half..]);
        for j in 0..dim - half {
            let (share, slope) = share_and_slope(sum_f[j] / count, n);
            let d = d_q[half + j];
            d_share[j] = d * share;
            d_f[j] = -d * (sum_a[j] * sum_b[j] - sum_ab[j]) * slope / count;
        }
        for (word, d_row) in sentence.iter().zip(d_rows.chunks_exact_mut(width)) {
            let row = &rows[*word as usize * width..][..width];
            for j in 0..dim - half {
                let (a, b) = (row[half + j], row[dim + half + j]);
                d_row[half + j] -= d_share[j] * (sum_b[j] - b);
                d_row[dim + half + j] -= d_share[j] * (sum_a[j] - a);
                d_row[2 * dim + half + j] += d_f[j];
            }
        }
    }
}
