//! One step of stochastic gradient descent: how a [`PlannedStep`] of a [`Plan`] updates the two tables.
//!
//! Equation: `block-step`, which is `negative-sampling-objective` for all targets of a step:
//!
//! ```text
//! (F1)  S = Σ_{r in group} v_r           h_t = m_t (S − Σ_{excluded by t} v_r + Σ_{added by t} v_r)
//! (F2)  x_t, x_tn, c_t, c_tn             `shared-negatives`, from u_t·h_t, u_n·h_t and h_s·h_t
//! (B2)  u_t += c_t h_t                   u_n += Σ_t c_tn h_t
//! (B1)  g_t = s_t (c_t u_t + Σ_n c_tn u_n)                                  already times the learning rate
//!       v_r += Σ_{t in group} g_t − Σ_{t excludes r} g_t                    v_r += g_t for the rows t added
//! ```
//!
//! `m_t = 1/|R_t|`; `s_t` is the same, or 1 for word2vec's CBOW. A sentence's rows are summed once and written once for
//! any number of targets; the releases do both once per target.
//!
//! If the rows of a context have separate places (PV-DM by concatenation), hidden vectors and target rows are as wide
//! as all places together. Each line then applies to every place separately ([`context_place`]), and the products of
//! (F2) also sum over places.
//!
//! Every line except (F2) treats the columns of the tables separately, and (F2) needs only sums over columns. So a step
//! consists of [`Columns::forward`] and [`Columns::backward`] on column ranges, which threads can share, and of
//! [`Coefficients::combine`] between the two.

mod context_place;

use std::ops::Range;

use crate::{
    coefficients::{Coefficients, Rate, n_products},
    overlay::Overlay,
    plan::{Plan, PlannedStep},
};
use context_place::ContextPlace;

/// The work of a step on some columns of both tables; reused between steps.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    places: Vec<ContextPlace>,
    /// The products over each part of the columns, part by part. Each part has, per set of shared negatives: targets ×
    /// negatives, targets, targets × targets (the lower half).
    products: Vec<f32>,
    n_products: usize,
    /// The products of one place, to be added to those of earlier places.
    of_place: Vec<f32>,
}

impl Columns {
    /// Prefetches the rows of a step before [`Columns::forward`].
    pub(crate) fn prefetch(plan: &Plan, step: &PlannedStep, source: &Overlay<'_>, target: &Overlay<'_>) {
        let target_rows = |row: u32| {
            for place in 0..plan.n_places() {
                let row = plan.target_row(row, place);
                target.of(row).prefetch_row(row as usize);
            }
        };
        for group in &plan.groups[step.groups.clone()] {
            for &row in &plan.rows[group.rows.clone()] {
                source.of(row).prefetch_row(row as usize);
            }
        }
        for t in &plan.targets[step.targets.clone()] {
            target_rows(t.row);
            for &row in &plan.added[t.added.clone()] {
                source.of(row).prefetch_row(row as usize);
            }
        }
        for shared_negatives in &plan.shared[step.shared.clone()] {
            plan.negatives[shared_negatives.negatives.clone()].iter().copied().for_each(target_rows);
        }
    }

    /// The products of the last step over each part of the columns, for [`Coefficients::combine`].
    pub(crate) fn products(&self) -> impl Iterator<Item = &[f32]> + Clone {
        self.products.chunks_exact(self.n_products.max(1))
    }

    /// (F1) and the products of (F2) over each of `parts` of the columns, from the current tables, which are only read.
    pub(crate) fn forward(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
        parts: &[Range<usize>],
    ) {
        let shared = &plan.shared[step.shared.clone()];
        self.n_products = shared.iter().map(|c| n_products(c.targets.len(), c.negatives.len())).sum();
        self.products.resize(parts.len() * self.n_products, 0.0);
        self.places.resize_with(plan.n_places(), ContextPlace::default);
        for (index, place) in self.places.iter_mut().enumerate() {
            place.gather(plan, step, index, source, target); // (F1)
            if index == 0 {
                place.multiply(plan, step, parts, &mut self.products); // (F2)
            } else {
                self.of_place.resize(self.products.len(), 0.0);
                place.multiply(plan, step, parts, &mut self.of_place); // (F2)
                for (sum, x) in self.products.iter_mut().zip(&self.of_place) {
                    *sum += x;
                }
            }
        }
    }

    /// (B2) and (B1): updates the rows of the last [`Columns::forward`].
    pub(crate) fn backward(
        &mut self,
        plan: &Plan,
        step: &PlannedStep,
        coefficients: &Coefficients,
        rate: Rate,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
    ) {
        for (index, place) in self.places.iter_mut().enumerate() {
            place.move_rows(plan, step, index, coefficients, rate, source, target);
        }
    }
}

#[cfg(test)]
mod tests;
