//! One place of a context in a step: its rows, and the columns of the target rows that are multiplied with them.
//!
//! If the rows of a context are summed, there is one place. If they are concatenated, place `p` has row `p` of each
//! context, and target `t` has the row `t P + p` of the target table, where `P` is the number of places.

use std::ops::Range;

use senv_core::kernels;

use crate::{
    coefficients::{Coefficients, Rate, n_products},
    overlay::Overlay,
    plan::{Group, Plan, PlannedStep},
};

/// No single target excludes this row.
const NOBODY: u32 = u32::MAX;

/// The computations of a step in one place; reused between steps.
#[derive(Debug, Default)]
pub(super) struct ContextPlace {
    stride: usize,
    /// h_t.
    hidden: Vec<f32>,
    /// u_t, later overwritten by g_t; then the sums of groups and the vectors of excluded rows.
    vectors: Vec<f32>,
    /// The rows of the targets before the step.
    targets: Vec<f32>,
    /// The rows of the negatives, one set of shared negatives after another.
    negatives: Vec<f32>,
    exclusions: Vec<u32>,
}

/// Grows a buffer without touching its contents.
fn reserve(buffer: &mut Vec<f32>, n: usize) {
    if buffer.len() < n {
        buffer.resize(n, 0.0);
    }
}

impl ContextPlace {
    /// (F1), and the rows of targets and negatives in this place.
    pub(super) fn gather(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        place: usize,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
    ) {
        self.stride = source.stride();
        let (stride, n_targets) = (self.stride, step.targets.len());
        reserve(&mut self.hidden, n_targets * stride);
        reserve(&mut self.targets, n_targets * stride);
        let shared = &plan.shared[step.shared.clone()];
        reserve(&mut self.negatives, shared.iter().map(|c| c.negatives.len()).sum::<usize>() * stride);
        for group in &plan.groups[step.groups.clone()] {
            self.hidden_vectors(plan, step, group, place, source); // (F1)
        }
        let copy_row = |row: u32, copy: &mut [f32]| {
            let row = plan.target_row(row, place);
            target.of(row).copy_row(row as usize, copy);
        };
        for (t, copy) in plan.targets[step.targets.clone()].iter().zip(self.targets.chunks_exact_mut(stride)) {
            copy_row(t.row, copy);
        }
        let negatives = shared.iter().flat_map(|shared| &plan.negatives[shared.negatives.clone()]);
        for (&row, copy) in negatives.zip(self.negatives.chunks_exact_mut(stride)) {
            copy_row(row, copy);
        }
    }

    /// The products of (F2) over each of `parts` of this place's columns, part by part.
    pub(super) fn multiply(&self, plan: &Plan, step: &PlannedStep, parts: &[Range<usize>], products: &mut [f32]) {
        let stride = self.stride;
        let n_all = products.len() / parts.len().max(1);
        let (mut first_negative, mut first_product) = (0, 0);
        for shared_negatives in &plan.shared[step.shared.clone()] {
            let (m, n) = (shared_negatives.targets.len(), shared_negatives.negatives.len());
            let negatives = &self.negatives[first_negative * stride..][..n * stride];
            let first = shared_negatives.targets.start - step.targets.start;
            let hidden = &self.hidden[first * stride..][..m * stride];
            let targets = &self.targets[first * stride..][..m * stride];
            for (part, products) in parts.iter().zip(products.chunks_exact_mut(n_all)) {
                let (scores, rest) = products[first_product..].split_at_mut(m * n);
                let (own, rest) = rest.split_at_mut(m);
                kernels::scores_of_columns(hidden, m, negatives, n, stride, part.clone(), scores);
                for ((own, h), u) in own.iter_mut().zip(hidden.chunks_exact(stride)).zip(targets.chunks_exact(stride)) {
                    *own = kernels::dot(&h[part.clone()], &u[part.clone()]);
                }
                if m > 1 {
                    kernels::gram_of_columns(hidden, m, stride, part.clone(), &mut rest[..m * m]);
                }
            }
            first_negative += n;
            first_product += n_products(m, n);
        }
    }

    /// (F1) for the targets of a group.
    fn hidden_vectors(&mut self, plan: &Plan, step: &PlannedStep, group: &Group, place: usize, source: &Overlay<'_>) {
        let stride = self.stride;
        let first = group.targets.start;
        // The sum is built in the slot of the last target's hidden vector, which is computed last.
        let last = group.targets.end - 1;
        let (before, rest) = self.hidden.split_at_mut((last - step.targets.start) * stride);
        let sum = &mut rest[..stride];
        sum.fill(0.0);
        for &row in &plan.rows[plan.rows_in_place(group, place)] {
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
            let hidden = &mut before[(t - step.targets.start) * stride..][..stride];
            hidden.copy_from_slice(sum);
            finish(t, hidden);
        }
        finish(last, sum);
    }

    /// (B2) and (B1): updates the rows of the last [`ContextPlace::gather`].
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_rows(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        place: usize,
        coefficients: &Coefficients,
        rate: Rate,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
    ) {
        let stride = self.stride;
        let n_targets = step.targets.len();
        reserve(&mut self.vectors, (n_targets + step.groups.len()) * stride);
        let (mut first_negative, mut first_coefficient) = (0, 0);
        for shared_negatives in &plan.shared[step.shared.clone()] {
            let (m, n) = (shared_negatives.targets.len(), shared_negatives.negatives.len());
            let first = shared_negatives.targets.start - step.targets.start;
            let c_tn = &coefficients.of_negatives()[first_coefficient..][..m * n];
            let c_t = &coefficients.of_targets()[first..][..m];
            let hidden = &self.hidden[first * stride..][..m * stride];
            let negatives = &self.negatives[first_negative * stride..][..n * stride];
            let gradients = &mut self.vectors[first * stride..][..m * stride];
            gradients.copy_from_slice(&self.targets[first * stride..][..m * stride]);
            for (&c, gradient) in c_t.iter().zip(gradients.chunks_exact_mut(stride)) {
                kernels::scale(c, gradient);
            }
            kernels::add_product(c_tn, n, 1, m, n, negatives, stride, gradients);
            let targets = &plan.targets[shared_negatives.targets.clone()];
            for ((t, &c), (gradient, h)) in
                targets.iter().zip(c_t).zip(gradients.chunks_exact_mut(stride).zip(hidden.chunks_exact(stride)))
            {
                kernels::scale(t.share, gradient);
                let row = plan.target_row(t.row, place);
                target.of(row).add_to_row(row as usize, c, h);
                threshold(target, row, rate.l1 * rate.lr);
            }
            for (j, &row) in plan.negatives[shared_negatives.negatives.clone()].iter().enumerate() {
                let row = plan.target_row(row, place);
                target.of(row).add_product_to_row(row as usize, &c_tn[j..], n, m, hidden);
                threshold(target, row, rate.l1 * rate.lr * m as f32);
            }
            first_negative += n;
            first_coefficient += m * n;
        }
        let mut next_vector = n_targets + step.groups.len();
        for (g, group) in plan.groups[step.groups.clone()].iter().enumerate() {
            self.move_sources(plan, step, place, n_targets + g, group, &mut next_vector, rate, source); // (B1)
        }
    }

    /// (B1) for the rows of a group; its sum of gradients is vector `total`.
    #[allow(clippy::too_many_arguments)]
    fn move_sources(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        place: usize,
        total: usize,
        group: &Group,
        next_vector: &mut usize,
        rate: Rate,
        source: &Overlay<'_>,
    ) {
        let stride = self.stride;
        let alone = group.targets.len() == 1;
        let first = group.targets.start - step.targets.start;
        let total = if alone { first } else { total };
        if !alone {
            let (gradients, sums) = self.vectors.split_at_mut(total * stride);
            let sum = &mut sums[..stride];
            sum.fill(0.0);
            for gradient in gradients[first * stride..][..group.targets.len() * stride].chunks_exact(stride) {
                kernels::add(gradient, sum);
            }
        }
        let tau_of = |t: usize| rate.l1 * rate.lr * plan.targets[t].mean;
        let tau_total: f32 = if rate.l1 > 0.0 { group.targets.clone().map(tau_of).sum() } else { 0.0 };

        // For every row, the vector it receives; NOBODY for the sum of all targets.
        let rows = plan.rows_in_place(group, place);
        let base = rows.start;
        self.exclusions.clear();
        self.exclusions.resize(rows.len(), NOBODY);
        for t in group.targets.clone() {
            let own = t - step.targets.start;
            let mut difference = None;
            for &position in &plan.excluded[plan.targets[t].excluded.clone()] {
                let i = position as usize - base;
                let vector = if self.exclusions[i] == NOBODY {
                    *difference.get_or_insert_with(|| self.difference(total, own, next_vector))
                } else {
                    // An earlier target also excludes it: it needs its own vector.
                    self.difference(self.exclusions[i] as usize, own, next_vector)
                };
                self.exclusions[i] = vector;
            }
            for &row in &plan.added[plan.targets[t].added.clone()] {
                source.of(row).add_to_row(row as usize, 1.0, &self.vectors[own * stride..][..stride]);
                threshold(source, row, tau_of(t));
            }
        }
        for (i, &row) in plan.rows[rows].iter().enumerate() {
            let (vector, tau) = match self.exclusions[i] {
                NOBODY => (total, tau_total),
                _ if alone => continue,
                vector if rate.l1 > 0.0 => (vector as usize, tau_total - excluded_tau(plan, group, base + i, &tau_of)),
                vector => (vector as usize, 0.0),
            };
            source.of(row).add_to_row(row as usize, 1.0, &self.vectors[vector * stride..][..stride]);
            threshold(source, row, tau);
        }
    }

    /// Creates a vector: vector `from` minus the gradient of target `t` of the step.
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
}

/// Applies the proximal step of the L1 penalty to a row.
#[inline]
fn threshold(table: &Overlay<'_>, row: u32, tau: f32) {
    if tau > 0.0 {
        table.of(row).soft_threshold_row(row as usize, tau);
    }
}

/// The L1 thresholds of the targets that exclude a row.
fn excluded_tau(plan: &Plan, group: &Group, position: usize, tau_of: &impl Fn(usize) -> f32) -> f32 {
    let excludes = |&t: &usize| plan.excluded[plan.targets[t].excluded.clone()].contains(&(position as u32));
    group.targets.clone().filter(excludes).map(tau_of).sum()
}
