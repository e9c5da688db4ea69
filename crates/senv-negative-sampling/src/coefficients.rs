//! The coefficient with which each target updates the rows it is scored with, if several targets share negatives.
//!
//! Equation: `shared-negatives`, (F2) of `block-step`:
//!
//! ```text
//! x_t  = u_t·h_t + Σ_{s before t} a_s(u_t) h_s·h_t        x_tn = u_n·h_t + Σ_{s before t} a_s(u_n) h_s·h_t
//! c_t  = lr (1 − σ(x_t))                                  c_tn = −lr σ(x_tn), 0 where n is t itself
//! a_s(u) = Σ of c_s and c_sn over the targets and negatives of the group that are row u
//! ```
//!
//! The targets of a group share negatives and have nearly the same hidden vector. If all updated a negative's row
//! together, it would overshoot, and become infinite at the learning rates of the papers. So target rows are updated as
//! if the targets came one after another: the sums are the updates of their rows before each target's turn. This takes
//! the products h_s·h_t and no second pass over the rows. Hidden vectors stay as they were at the start of the step.

use senv_core::{kernels, math::softplus};

use crate::plan::{Plan, PlannedStep, SharedNegatives};

/// The size of an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) lr: f32,
    /// L1 penalty, 0 for none.
    pub(crate) l1: f32,
}

/// The number of products of `m` targets with `n` shared negatives.
pub(crate) fn n_products(m: usize, n: usize) -> usize {
    m * (n + 1 + m)
}

/// c_t and c_tn of a step.
#[derive(Debug, Default)]
pub(crate) struct Coefficients {
    targets: Vec<f32>,
    negatives: Vec<f32>,
    /// Products of one group, summed over all columns.
    products: Vec<f32>,
    /// For each negative, then for each target of a group: the first position with the same row.
    places: Vec<usize>,
    /// a_s(u) for each target and each first position; used only if a row has several positions.
    moved: Vec<f32>,
}

impl Coefficients {
    /// c_t of the targets of the step, in order.
    pub(crate) fn of_targets(&self) -> &[f32] {
        &self.targets
    }

    /// c_tn, group by group, each targets × negatives.
    pub(crate) fn of_negatives(&self) -> &[f32] {
        &self.negatives
    }

    /// Computes the coefficients of a step from the products of all column ranges, added in order. With `want_loss`
    /// also the loss, in nats, summed over targets.
    pub(crate) fn combine<'a>(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        products: impl Iterator<Item = &'a [f32]> + Clone,
        rate: Rate,
        want_loss: bool,
    ) -> f64 {
        self.targets.clear();
        self.negatives.clear();
        let (mut loss, mut start) = (0.0, 0);
        for shared_negatives in &plan.shared[step.shared.clone()] {
            let len = n_products(shared_negatives.targets.len(), shared_negatives.negatives.len());
            self.products.clear();
            self.products.resize(len, 0.0);
            for part in products.clone() {
                for (sum, x) in self.products.iter_mut().zip(&part[start..start + len]) {
                    *sum += x;
                }
            }
            start += len;
            loss += self.shared_negatives(plan, shared_negatives, rate, want_loss);
        }
        loss
    }

    /// Computes the coefficients of one group from the sums of its products.
    fn shared_negatives(
        &mut self,
        plan: &Plan,
        shared_negatives: &SharedNegatives,
        rate: Rate,
        want_loss: bool,
    ) -> f64 {
        let (m, n) = (shared_negatives.targets.len(), shared_negatives.negatives.len());
        let negatives = &plan.negatives[shared_negatives.negatives.clone()];
        let targets = &plan.targets[shared_negatives.targets.clone()];
        let has_repeats = shared_negatives.has_repeats;
        if has_repeats {
            self.find_places(negatives, targets.iter().map(|t| t.row));
        }
        let (scores, rest) = self.products.split_at_mut(m * n);
        let (own, gram) = rest.split_at_mut(m);
        let base = self.negatives.len();
        self.negatives.resize(base + m * n, 0.0);
        self.moved.clear();
        if has_repeats {
            self.moved.resize(m * (n + m), 0.0);
        }
        let mut loss = 0.0;
        for (i, t) in targets.iter().enumerate() {
            let row = &mut scores[i * n..][..n];
            let (before, coefficients) = self.negatives[base..].split_at_mut(i * n);
            if has_repeats {
                for (j, moved) in self.moved[..i * (n + m)].chunks_exact(n + m).enumerate() {
                    let h = gram[i * m + j];
                    for (score, &place) in row.iter_mut().zip(&self.places) {
                        *score += h * moved[place];
                    }
                    own[i] += h * moved[self.places[n + i]];
                }
            } else {
                for (j, before) in before.chunks_exact(n).enumerate() {
                    let h = gram[i * m + j];
                    for (score, c) in row.iter_mut().zip(before) {
                        *score += h * c;
                    }
                }
            }
            if want_loss {
                loss += softplus(-f64::from(own[i]));
                loss += row
                    .iter()
                    .zip(negatives)
                    .filter(|&(_, &n)| n != t.row)
                    .map(|(&s, _)| softplus(f64::from(s)))
                    .sum::<f64>();
            }
            kernels::sigmoid_in_place(row);
            for ((c, &score), &negative) in coefficients.iter_mut().zip(row.iter()).zip(negatives) {
                *c = if negative == t.row { 0.0 } else { -rate.lr * score };
            }
            let mut positive = [own[i]];
            kernels::sigmoid_in_place(&mut positive);
            let c = rate.lr * (1.0 - positive[0]);
            self.targets.push(c);
            if has_repeats {
                let moved = &mut self.moved[i * (n + m)..][..n + m];
                for (&c, &place) in coefficients.iter().zip(&self.places) {
                    moved[place] += c;
                }
                moved[self.places[n + i]] += c;
            }
        }
        loss
    }

    /// Finds the positions of equal rows.
    fn find_places(&mut self, negatives: &[u32], targets: impl Iterator<Item = u32> + Clone) {
        let rows = || negatives.iter().copied().chain(targets.clone());
        self.places.clear();
        self.places.extend(rows().enumerate().map(|(i, row)| rows().position(|other| other == row).unwrap_or(i)));
    }
}
