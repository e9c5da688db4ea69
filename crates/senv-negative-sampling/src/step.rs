//! One block's worth of stochastic gradient descent: what a [`Plan`] does to the two tables.
//!
//! Equation: `block-step`, which is `negative-sampling-objective` for all targets of a block:
//!
//! ```text
//! (F1)  S = Σ_{r in group} v_r           h_t = m_t (S − Σ_{excluded by t} v_r + Σ_{added by t} v_r)
//! (F2)  x_t = u_t·h_t                    x_tn = u_n·h_t + Σ_{s before t} c_sn h_s·h_t
//! (B2)  c_t = lr (1 − σ(x_t))            c_tn = −lr σ(x_tn), 0 where n is t itself
//!       u_t += c_t h_t                   u_n += Σ_t c_tn h_t
//! (B1)  g_t = s_t (c_t u_t + Σ_n c_tn u_n)                                  already times the learning rate
//!       v_r += Σ_{t in group} g_t − Σ_{t excludes r} g_t                    v_r += g_t for the rows t added
//! ```
//!
//! The targets of a contest share their negatives and have nearly the same hidden vector: moved by all of them at once
//! a negative's row would overshoot, and does so until it is infinite at the learning rates of the papers. The sum in
//! x_tn is what that row has already moved when its turn with t comes, as if the targets came one after another; it
//! takes the products h_s·h_t and no second pass over the rows.
//!
//! `m_t = 1/|R_t|`; `s_t` is the same, or 1 for word2vec's CBOW. A sentence's rows are summed once and written once,
//! whatever the number of its targets: the releases do both once a target. [`Step::compute`] only reads the tables,
//! [`Step::apply`] only writes; between the two stands a list of updates, so that the deterministic schedule can
//! compute many blocks at the same tables and apply them in order.

use senv_core::kernels;

use crate::{
    overlay::Overlay,
    plan::{Contest, Group, Plan},
    sigmoid::sigmoid_in_place,
};

/// No single target excludes this row.
const NOBODY: u32 = u32::MAX;

/// Adds a vector to a source row.
#[derive(Debug, Clone, Copy)]
struct SourceUpdate {
    row: u32,
    /// Which vector of [`Step::vectors`].
    vector: u32,
    /// L1 threshold.
    tau: f32,
}

/// Adds a combination of hidden vectors to a target row.
#[derive(Debug, Clone, Copy)]
struct TargetUpdate {
    row: u32,
    /// First hidden vector, and how many.
    hidden: u32,
    n: u32,
    /// First coefficient in [`Step::coefficients`], and the step to the next.
    coefficient: u32,
    step: u32,
    tau: f32,
}

/// How far to move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) lr: f32,
    /// L1 penalty, 0 for none.
    pub(crate) l1: f32,
}

/// The work of one block: hidden vectors, gradients, updates. Reused from block to block.
#[derive(Debug, Default)]
pub(crate) struct Step {
    stride: usize,
    hidden: Vec<f32>,
    /// g_t for each target, then for each group the sum, then the vectors of excluded rows.
    vectors: Vec<f32>,
    negatives: Vec<f32>,
    targets: Vec<f32>,
    scores: Vec<f32>,
    /// c_tn times s_t.
    shares: Vec<f32>,
    coefficients: Vec<f32>,
    exclusions: Vec<u32>,
    source_updates: Vec<SourceUpdate>,
    target_updates: Vec<TargetUpdate>,
    partitions: Partitions,
}

/// The updates in groups of rows, so that threads can apply disjoint rows.
#[derive(Debug, Default)]
struct Partitions {
    source: Vec<u32>,
    target: Vec<u32>,
    source_bounds: Vec<u32>,
    target_bounds: Vec<u32>,
}

/// Grows a buffer without touching what is there.
fn reserve(buffer: &mut Vec<f32>, n: usize) {
    if buffer.len() < n {
        buffer.resize(n, 0.0);
    }
}

impl Step {
    /// Asks for the rows of a plan ahead of [`Step::compute`].
    pub(crate) fn prefetch(plan: &Plan, source: &Overlay<'_>, target: &Overlay<'_>) {
        for &row in plan.rows.iter().chain(&plan.added) {
            source.of(row).prefetch_row(row as usize);
        }
        for row in plan.targets.iter().map(|t| t.row).chain(plan.negatives.iter().copied()) {
            target.of(row).prefetch_row(row as usize);
        }
    }

    /// Computes the updates of a plan at the tables as they are; with `want_loss` also the loss, in nats, summed
    /// over targets.
    pub(crate) fn compute(
        &mut self,
        plan: &Plan,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
        rate: Rate,
        want_loss: bool,
    ) -> f64 {
        self.stride = source.stride();
        self.source_updates.clear();
        self.target_updates.clear();
        self.coefficients.clear();
        reserve(&mut self.hidden, plan.targets.len() * self.stride);
        reserve(&mut self.vectors, (plan.targets.len() + plan.groups.len()) * self.stride);
        for group in &plan.groups {
            self.hidden_vectors(plan, group, source); // (F1)
        }
        let mut loss = 0.0;
        for contest in &plan.contests {
            loss += self.contest(plan, contest, target, rate, want_loss); // (F2), (B2)
        }
        let mut next_vector = plan.targets.len() + plan.groups.len();
        for (g, group) in plan.groups.iter().enumerate() {
            self.source_gradients(plan, g, group, &mut next_vector, rate); // (B1)
        }
        loss
    }

    /// (F1) for the targets of a group.
    fn hidden_vectors(&mut self, plan: &Plan, group: &Group, source: &Overlay<'_>) {
        let stride = self.stride;
        let first = group.targets.start;
        // The sum is built where the last target's hidden vector will lie: that one is made last.
        let last = group.targets.end - 1;
        let (before, rest) = self.hidden.split_at_mut(last * stride);
        let sum = &mut rest[..stride];
        sum.fill(0.0);
        for &row in &plan.rows[group.rows.clone()] {
            source.of(row).add_row(row as usize, 1.0, sum);
        }
        let finish = |t: usize, hidden: &mut [f32]| {
            let target = &plan.targets[t];
            for &position in &plan.excluded[target.excluded.clone()] {
                let row = plan.rows[position as usize];
                source.of(row).add_row(row as usize, -1.0, hidden);
            }
            for &row in &plan.added[target.added.clone()] {
                source.of(row).add_row(row as usize, 1.0, hidden);
            }
            kernels::scale(target.mean, hidden);
        };
        for t in first..last {
            let hidden = &mut before[t * stride..][..stride];
            hidden.copy_from_slice(sum);
            finish(t, hidden);
        }
        finish(last, sum);
    }

    /// (F2) and (B2) for targets that share negatives, and their gradients g_t.
    fn contest(&mut self, plan: &Plan, contest: &Contest, target: &Overlay<'_>, rate: Rate, want_loss: bool) -> f64 {
        let stride = self.stride;
        let (first, m, n) = (contest.targets.start, contest.targets.len(), contest.negatives.len());
        let negatives = &plan.negatives[contest.negatives.clone()];
        let targets = &plan.targets[contest.targets.clone()];
        reserve(&mut self.negatives, n * stride);
        reserve(&mut self.targets, m * stride);
        for (&row, copy) in negatives.iter().zip(self.negatives.chunks_exact_mut(stride)) {
            target.of(row).copy_row(row as usize, copy);
        }
        for (t, copy) in targets.iter().zip(self.targets.chunks_exact_mut(stride)) {
            target.of(t.row).copy_row(t.row as usize, copy);
        }

        // Scores: the m x n of the negatives, then the m of the targets, then the m x m of hidden vectors.
        let hidden = &self.hidden[first * stride..][..m * stride];
        self.scores.clear();
        self.scores.resize(m * (n + 1 + m), 0.0);
        let (scores, rest) = self.scores.split_at_mut(m * n);
        let (own, gram) = rest.split_at_mut(m);
        kernels::scores(hidden, m, &self.negatives, n, stride, scores);
        for (i, own) in own.iter_mut().enumerate() {
            *own = kernels::dot(&hidden[i * stride..][..stride], &self.targets[i * stride..][..stride]);
        }
        if m > 1 {
            kernels::scores(hidden, m, hidden, m, stride, gram);
        }

        // Coefficients of the negatives, each target after those before it, and the same times the context's share.
        let softplus = |x: f32| f64::from(x).max(0.0) + (-f64::from(x).abs()).exp().ln_1p();
        let mut loss = 0.0;
        let base = self.coefficients.len();
        self.coefficients.resize(base + m * n, 0.0);
        self.shares.clear();
        for (i, t) in targets.iter().enumerate() {
            let row = &mut scores[i * n..][..n];
            let (before, coefficients) = self.coefficients[base..].split_at_mut(i * n);
            for (j, before) in before.chunks_exact(n).enumerate() {
                let h = gram[i * m + j];
                for (score, c) in row.iter_mut().zip(before) {
                    *score += h * c;
                }
            }
            if want_loss {
                loss += softplus(-own[i]);
                loss += row.iter().zip(negatives).filter(|&(_, &n)| n != t.row).map(|(&s, _)| softplus(s)).sum::<f64>();
            }
            sigmoid_in_place(row);
            for (j, ((c, &score), &negative)) in coefficients.iter_mut().zip(row.iter()).zip(negatives).enumerate() {
                let moved = if negative == t.row { 0.0 } else { -rate.lr * score };
                *c = moved * plan.negative_weight(contest.negatives.start + j);
                self.shares.push(moved * t.share);
            }
        }
        sigmoid_in_place(own);
        for (i, t) in targets.iter().enumerate() {
            let c = rate.lr * (1.0 - self.scores[m * n + i]);
            self.coefficients.push(c * plan.target_weight(first + i));
            let gradient = &mut self.vectors[(first + i) * stride..][..stride];
            gradient.copy_from_slice(&self.targets[i * stride..][..stride]);
            kernels::scale(c * t.share, gradient);
            self.target_updates.push(TargetUpdate {
                row: t.row,
                hidden: (first + i) as u32,
                n: 1,
                coefficient: (base + m * n + i) as u32,
                step: 1,
                tau: rate.l1 * rate.lr,
            });
        }
        let gradients = &mut self.vectors[first * stride..][..m * stride];
        kernels::add_product(&self.shares, n, 1, m, n, &self.negatives, stride, gradients);
        for (j, &row) in negatives.iter().enumerate() {
            self.target_updates.push(TargetUpdate {
                row,
                hidden: first as u32,
                n: m as u32,
                coefficient: (base + j) as u32,
                step: n as u32,
                tau: rate.l1 * rate.lr * m as f32,
            });
        }
        loss
    }

    /// (B1): the updates of a group's source rows.
    fn source_gradients(&mut self, plan: &Plan, g: usize, group: &Group, next_vector: &mut usize, rate: Rate) {
        let stride = self.stride;
        let alone = group.targets.len() == 1;
        let total = if alone { group.targets.start } else { plan.targets.len() + g };
        if !alone {
            let (gradients, sums) = self.vectors.split_at_mut(plan.targets.len() * stride);
            let sum = &mut sums[g * stride..][..stride];
            sum.fill(0.0);
            for t in group.targets.clone() {
                kernels::add(&gradients[t * stride..][..stride], sum);
            }
        }
        let tau_of = |t: usize| rate.l1 * rate.lr * plan.targets[t].mean;
        let tau_total: f32 = if rate.l1 > 0.0 { group.targets.clone().map(tau_of).sum() } else { 0.0 };

        // For every row: the vector it receives, NOBODY for the sum of all targets.
        let base = group.rows.start;
        self.exclusions.clear();
        self.exclusions.resize(group.rows.len(), NOBODY);
        for t in group.targets.clone() {
            let mut own = None;
            for &position in &plan.excluded[plan.targets[t].excluded.clone()] {
                let i = position as usize - base;
                let vector = if self.exclusions[i] == NOBODY {
                    *own.get_or_insert_with(|| self.difference(total, t, next_vector))
                } else {
                    // Excluded by an earlier target too: a vector of its own.
                    self.difference(self.exclusions[i] as usize, t, next_vector)
                };
                self.exclusions[i] = vector;
            }
            for &row in &plan.added[plan.targets[t].added.clone()] {
                self.source_updates.push(SourceUpdate { row, vector: t as u32, tau: tau_of(t) });
            }
        }
        for (i, &row) in plan.rows[group.rows.clone()].iter().enumerate() {
            match self.exclusions[i] {
                NOBODY => self.source_updates.push(SourceUpdate { row, vector: total as u32, tau: tau_total }),
                _ if alone => {}
                vector => {
                    let own: f32 = if rate.l1 > 0.0 { self.excluded_tau(plan, group, base + i, &tau_of) } else { 0.0 };
                    self.source_updates.push(SourceUpdate { row, vector, tau: tau_total - own });
                }
            }
        }
    }

    /// A new vector: vector `from` minus the gradient of target `t`.
    fn difference(&mut self, from: usize, t: usize, next_vector: &mut usize) -> u32 {
        let stride = self.stride;
        let index = *next_vector;
        *next_vector += 1;
        reserve(&mut self.vectors, (index + 1) * stride);
        let (before, new) = self.vectors.split_at_mut(index * stride);
        let (a, b) = (&before[from * stride..][..stride], &before[t * stride..][..stride]);
        for ((new, a), b) in new[..stride].iter_mut().zip(a).zip(b) {
            *new = a - b;
        }
        index as u32
    }

    /// The L1 thresholds of the targets that exclude a row.
    fn excluded_tau(&self, plan: &Plan, group: &Group, position: usize, tau_of: &impl Fn(usize) -> f32) -> f32 {
        let excludes = |&t: &usize| plan.excluded[plan.targets[t].excluded.clone()].contains(&(position as u32));
        group.targets.clone().filter(excludes).map(tau_of).sum()
    }

    #[inline]
    fn apply_source(&self, update: &SourceUpdate, source: &Overlay<'_>) {
        let table = source.of(update.row);
        let row = update.row as usize;
        table.add_to_row(row, 1.0, &self.vectors[update.vector as usize * self.stride..][..self.stride]);
        if update.tau > 0.0 {
            table.soft_threshold_row(row, update.tau);
        }
    }

    #[inline]
    fn apply_target(&self, update: &TargetUpdate, target: &Overlay<'_>) {
        let table = target.of(update.row);
        let (row, n) = (update.row as usize, update.n as usize);
        let hidden = &self.hidden[update.hidden as usize * self.stride..][..n * self.stride];
        let coefficients = &self.coefficients[update.coefficient as usize..];
        if n == 1 {
            table.add_to_row(row, coefficients[0], hidden);
        } else {
            table.add_product_to_row(row, coefficients, update.step as usize, n, hidden);
        }
        if update.tau > 0.0 {
            table.soft_threshold_row(row, update.tau);
        }
    }

    /// Applies all updates in order.
    pub(crate) fn apply(&self, source: &Overlay<'_>, target: &Overlay<'_>) {
        for update in &self.target_updates {
            self.apply_target(update, target);
        }
        for update in &self.source_updates {
            self.apply_source(update, source);
        }
    }

    /// Sorts the updates into `n` partitions of rows, keeping their order within each.
    pub(crate) fn partition(&mut self, n: usize) {
        let Partitions { source, target, source_bounds, target_bounds } = &mut self.partitions;
        counting_sort(self.source_updates.iter().map(|u| u.row), n, source, source_bounds);
        counting_sort(self.target_updates.iter().map(|u| u.row), n, target, target_bounds);
    }

    /// Applies the updates of partition `p` in order.
    pub(crate) fn apply_partition(&self, p: usize, source: &Overlay<'_>, target: &Overlay<'_>) {
        let Partitions { source: sources, target: targets, source_bounds, target_bounds } = &self.partitions;
        for &i in &targets[target_bounds[p] as usize..target_bounds[p + 1] as usize] {
            self.apply_target(&self.target_updates[i as usize], target);
        }
        for &i in &sources[source_bounds[p] as usize..source_bounds[p + 1] as usize] {
            self.apply_source(&self.source_updates[i as usize], source);
        }
    }
}

/// Which partition a row belongs to: neighbouring rows go to different ones, so that frequent tokens spread.
#[inline]
fn partition_of(row: u32, n: usize) -> usize {
    ((u64::from(row.wrapping_mul(0x9E37_79B9)) * n as u64) >> 32) as usize
}

fn counting_sort(rows: impl Iterator<Item = u32> + Clone, n: usize, order: &mut Vec<u32>, bounds: &mut Vec<u32>) {
    bounds.clear();
    bounds.resize(n + 1, 0);
    let mut len = 0;
    for row in rows.clone() {
        bounds[partition_of(row, n) + 1] += 1;
        len += 1;
    }
    for p in 0..n {
        bounds[p + 1] += bounds[p];
    }
    order.clear();
    order.resize(len, 0);
    for (i, row) in rows.enumerate() {
        let next = &mut bounds[partition_of(row, n)];
        order[*next as usize] = i as u32;
        *next += 1;
    }
    // Every bound now stands at the end of its partition: shift them back.
    bounds.rotate_right(1);
    bounds[0] = 0;
}

#[cfg(test)]
mod tests;
