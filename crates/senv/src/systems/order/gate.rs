//! Chooses the weight of the order part: the largest that costs little correlation on pairs with human scores.
//!
//! Equation: `order-gate`
//!
//! ```text
//! κ = max { κ : mean over the sets of r(cos of v, gold) ≥ mean over the sets of r(cos of m, gold) − loss }       cos of v: `order-vector`
//! ```
//!
//! The search tries 24 values of κ from 0.05 to 12, evenly spaced on a log scale, then bisects above the largest that
//! passes. r is not always monotonic, so a larger κ beyond a gap is accepted. κ = 0 if none passes.

use senv_core::{Scratch, SentenceEncoder, static_model::order::OrderJoin};

use super::Order;
use crate::{
    error::Result,
    gradient::scored_pairs::{ScoredPairs, correlation},
};

/// The lowest and the highest κ tried.
const TRIED: [f64; 2] = [0.05, 12.0];
const TRIES: i32 = 24;
const BISECTIONS: usize = 5;

/// The parts of the cosine of a pair.
struct Parts {
    /// m̂·m̂′.
    table: f64,
    /// g·g′ + γ² l l′ at κ = 1.
    order: f64,
    /// ν² z z′.
    negation: f64,
    /// l² (1 + γ²) and ν² z² of both sentences.
    squares: [[f64; 2]; 2],
}

/// The result of the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderGate {
    /// The weight of the order part.
    pub kappa: f64,
    /// Pearson's r of the table's vectors, averaged over the sets.
    pub table: f64,
    /// The same for the whole vectors.
    pub whole: f64,
}

/// Runs the gate on these sets. Returns κ and the correlations without and with it.
pub(super) fn gate(model: &Order, sets: &[ScoredPairs], loss: f64) -> Result<OrderGate> {
    let of_set = |set: &ScoredPairs| Ok((parts_of(model, set)?, set.pairs.iter().map(|pair| pair.0).collect()));
    let parts = sets.iter().map(of_set).collect::<Result<Vec<(Vec<Parts>, Vec<f64>)>>>()?;
    // Without the order part, the negation column is absent too: the reference is the table.
    let score = |kappa: Option<f64>| {
        let of_set = |(parts, gold): &(Vec<Parts>, Vec<f64>)| {
            let cosines: Vec<f64> =
                parts.iter().map(|parts| kappa.map_or(parts.table, |kappa| parts.cosine(kappa))).collect();
            correlation(gold, &cosines)
        };
        parts.iter().map(of_set).sum::<f64>() / parts.len() as f64
    };
    let table = score(None);
    let passes = |kappa: f64| score(Some(kappa)) >= table - loss;
    let step = (TRIED[1] / TRIED[0]).powf(1.0 / f64::from(TRIES - 1));
    let tried = (0..TRIES).map(|i| TRIED[0] * step.powi(i));
    let Some(mut kappa) = tried.rev().find(|&kappa| passes(kappa)) else {
        return Ok(OrderGate { kappa: 0.0, table, whole: score(Some(0.0)) });
    };
    let mut above = kappa * step;
    for _ in 0..BISECTIONS {
        let middle = (kappa * above).sqrt();
        if passes(middle) { kappa = middle } else { above = middle }
    }
    Ok(OrderGate { kappa, table, whole: score(Some(kappa)) })
}

impl Parts {
    fn cosine(&self, kappa: f64) -> f64 {
        let square = kappa * kappa;
        let [n, m] = self.squares.map(|[l, z]| (1.0 + square * l + z).sqrt());
        (self.table + square * self.order + self.negation) / (n * m)
    }
}

fn parts_of(model: &Order, set: &ScoredPairs) -> Result<Vec<Parts>> {
    // At κ = 1 the parts are concatenated without a weight.
    let unit = model.with_join(OrderJoin { kappa: 1.0, ..model.join() })?;
    let (dim, width) = (unit.encoder().rows().dim(), SentenceEncoder::dim(&unit));
    let mut scratch = Scratch::default();
    let (mut first, mut second) = (vec![0.0; width], vec![0.0; width]);
    let mut of_pair = |(_, a, b): &(f64, String, String)| {
        unit.encode_into(a, &mut scratch, &mut first);
        unit.encode_into(b, &mut scratch, &mut second);
        let dot = |u: &[f32], v: &[f32]| u.iter().zip(v).map(|(&u, &v)| f64::from(u) * f64::from(v)).sum::<f64>();
        let parts = [0..dim, dim..width - 1, width - 1..width];
        let [m, g, z] = parts.map(|columns| {
            let (u, v) = (&first[columns.clone()], &second[columns]);
            [dot(u, v), dot(u, u), dot(v, v)]
        });
        // The vectors have the length of those of the table.
        let scale = |x: f64, y: f64| if x > 0.0 { y / x } else { 0.0 };
        let both = (m[1] * m[2]).sqrt();
        let squares = [1, 2].map(|side| [scale(m[side], g[side]), scale(m[side], z[side])]);
        Parts { table: scale(both, m[0]), order: scale(both, g[0]), negation: scale(both, z[0]), squares }
    };
    Ok(set.pairs.iter().map(&mut of_pair).collect())
}
