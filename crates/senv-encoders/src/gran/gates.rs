//! The gates of GRAN for one word of one sentence, without the matrix products.
//!
//! Equation: `gran-gates`

use senv_core::{arrays::Float, hyperparameters::named_values};
use serde::{Deserialize, Serialize};

use crate::recurrent::StatePooling;

/// The gate of a GRAN: the variants of its authors' program, by their numbers there.
///
/// ```text
///       y = W_x x + W_h h + b; of gate 7: (W_x x) ∘ (W_h h) + b; of gate 4 plus W_a a⁻
/// (F1)  1, 7   a = x ∘ σ(y)                  2   a = h ∘ σ(y)                6   a = tanh(y)
///       3, 4   a = a⁻ ∘ σ(y) + x ∘ σ(y₂)     5   a = x ∘ σ(y) + h ∘ σ(y₂)
/// (B1)  with s = σ(y), s₂ = σ(y₂) and ∂ for ∂a:
///       1, 7   ∂x += ∂ ∘ s         ∂y = ∂ ∘ x ∘ s (1 − s)
///       2      ∂h += ∂ ∘ s         ∂y = ∂ ∘ h ∘ s (1 − s)
///       3, 4   ∂a⁻ = ∂ ∘ s         ∂y = ∂ ∘ a⁻ ∘ s (1 − s)    ∂x += ∂ ∘ s₂    ∂y₂ = ∂ ∘ x ∘ s₂ (1 − s₂)
///       5      ∂x += ∂ ∘ s         ∂y = ∂ ∘ x ∘ s (1 − s)     ∂h += ∂ ∘ s₂    ∂y₂ = ∂ ∘ h ∘ s₂ (1 − s₂)
///       6      ∂y = ∂ (1 − a²)
/// ```
///
/// Here x is the word vector, h the state of the LSTM, and a⁻ the gated vector of the previous word, zeros before the
/// first. The projections y and y₂ have separate weights and are adjacent in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GranGate {
    /// 1, the paper's model: the word vector times the gate.
    #[default]
    Word,
    /// 2: the state of the LSTM times the gate.
    State,
    /// 3: parts of the previous gated vector and of the word vector, with a gate each.
    Memory,
    /// 4: like 3, but both gates also see the previous gated vector.
    WatchedMemory,
    /// 5: the word vector and the state, with a gate each.
    WordAndState,
    /// 6: the projection of both, squashed.
    Projection,
    /// 7: like 1, but the gate sees the product of the two projections instead of their sum.
    Product,
}

named_values!(GranGate {
    Word = "1": "Word vector (the paper's model)",
    State = "2": "State of the LSTM",
    Memory = "3": "Previous gated vector and word vector, one gate each",
    WatchedMemory = "4": "As 3, with gates that read the previous gated vector",
    WordAndState = "5": "Word vector and state, one gate each",
    Projection = "6": "No gate: a tanh layer over word vector and state",
    Product = "7": "As 1, with the product of the projections of word vector and state",
});

impl GranGate {
    /// The matching pooling: the mean, or the last vector if each contains those before it.
    #[must_use]
    pub fn pooling(self) -> StatePooling {
        if self.remembers() { StatePooling::Last } else { StatePooling::Mean }
    }

    /// Whether a⁻ is part of a.
    pub(super) fn remembers(self) -> bool {
        matches!(self, Self::Memory | Self::WatchedMemory)
    }

    /// Whether h is part of a.
    pub(super) fn has_state(self) -> bool {
        matches!(self, Self::State | Self::WordAndState)
    }

    /// Whether x is part of a.
    pub(super) fn has_word(self) -> bool {
        !matches!(self, Self::State | Self::Projection)
    }

    /// The number of gates per word: 1, or 2 for y and y₂.
    pub(super) fn n_gates(self) -> usize {
        if self.remembers() || self == Self::WordAndState { 2 } else { 1 }
    }
}

/// The operands of a gate at a word: x, h and a⁻. Operands that a variant does not need are not read.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, F> {
    pub(super) x: &'a [F],
    pub(super) h: &'a [F],
    pub(super) before: &'a [F],
}

impl<'a, F> Operands<'a, F> {
    /// The factors of a variant's gates, in order; none for a tanh layer.
    fn gated(self, gate: GranGate) -> [Option<&'a [F]>; 2] {
        match gate {
            GranGate::Word | GranGate::Product => [Some(self.x), None],
            GranGate::State => [Some(self.h), None],
            GranGate::Memory | GranGate::WatchedMemory => [Some(self.before), Some(self.x)],
            GranGate::WordAndState => [Some(self.x), Some(self.h)],
            GranGate::Projection => [None, None],
        }
    }
}

/// (F1) in place: `gates` contains y, then y₂, and becomes their σ, or tanh(y); a is written to `out`.
pub(super) fn step<F: Float>(gate: GranGate, operands: Operands<'_, F>, gates: &mut [F], out: &mut [F]) {
    let k = out.len();
    let [Some(first), second] = operands.gated(gate) else {
        F::tanh_in_place(gates);
        return out.copy_from_slice(gates);
    };
    F::sigmoid_in_place(gates);
    for j in 0..k {
        out[j] = first[j] * gates[j];
    }
    if let Some(second) = second {
        for j in 0..k {
            out[j] += second[j] * gates[k + j];
        }
    }
}

/// The gradients of the vectors of [`Operands`], to be added to; an empty slice for an operand that the variant does
/// not need.
pub(super) struct OperandGradients<'a, F> {
    pub(super) x: &'a mut [F],
    pub(super) h: &'a mut [F],
    pub(super) before: &'a mut [F],
}

/// (B1): writes ∂y and ∂y₂ to `d_y`, and adds the gradients of the operands to `d`; `gates` is the result of [`step`].
pub(super) fn back<F: Float>(
    gate: GranGate,
    operands: Operands<'_, F>,
    gates: &[F],
    d_out: &[F],
    d_y: &mut [F],
    d: OperandGradients<'_, F>,
) {
    let (k, one) = (d_out.len(), F::one());
    let OperandGradients { x, h, before } = d;
    let d_gated: [&mut [F]; 2] = match gate {
        GranGate::Word | GranGate::Product => [x, &mut []],
        GranGate::State => [h, &mut []],
        GranGate::Memory | GranGate::WatchedMemory => [before, x],
        GranGate::WordAndState => [x, h],
        GranGate::Projection => {
            for j in 0..k {
                d_y[j] = d_out[j] * (one - gates[j] * gates[j]);
            }
            return;
        }
    };
    let parts = operands.gated(gate).into_iter().zip(d_gated).enumerate();
    for (place, (gated, d_gated)) in parts {
        let Some(gated) = gated else { continue };
        let (gates, d_y) = (&gates[place * k..][..k], &mut d_y[place * k..][..k]);
        for j in 0..k {
            let s = gates[j];
            d_gated[j] += d_out[j] * s;
            d_y[j] = d_out[j] * gated[j] * s * (one - s);
        }
    }
}

#[cfg(test)]
pub(super) const GATES: [GranGate; 7] = [
    GranGate::Word,
    GranGate::State,
    GranGate::Memory,
    GranGate::WatchedMemory,
    GranGate::WordAndState,
    GranGate::Projection,
    GranGate::Product,
];

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::gradcheck;

    const K: usize = 3;

    /// Values in (−1, 1), all different.
    fn values(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| (((i + 1) * (2 * seed + 3)) as f64 * 0.7).sin()).collect()
    }

    fn operands(values: &[f64]) -> Operands<'_, f64> {
        Operands { x: &values[..K], h: &values[K..2 * K], before: &values[2 * K..3 * K] }
    }

    #[test]
    fn every_gate_is_differentiated() {
        for gate in GATES {
            let d_out = values(K, 5);
            let at = [values(3 * K, 1), values(gate.n_gates() * K, 2)].concat();
            let run = |at: &[f64]| {
                let (mut gates, mut out) = (at[3 * K..].to_vec(), vec![0.0; K]);
                step(gate, operands(at), &mut gates, &mut out);
                (gates, out)
            };
            let f = |at: &[f64]| run(at).1.iter().zip(&d_out).map(|(x, d)| x * d).sum::<f64>();
            let (gates, _) = run(&at);
            let (mut d_x, mut d_h, mut d_before) = (vec![0.0; K], vec![0.0; K], vec![0.0; K]);
            let mut d_y = vec![0.0; gates.len()];
            let d = OperandGradients { x: &mut d_x, h: &mut d_h, before: &mut d_before };
            back(gate, operands(&at), &gates, &d_out, &mut d_y, d);
            let d = [d_x, d_h, d_before, d_y].concat();
            let error = gradcheck::max_relative_error(f, &at, &d);
            assert!(error < 1e-7, "{gate:?}: {error}");
            let flipped: Vec<f64> = d.iter().map(|d| -d).collect();
            assert!(gradcheck::max_relative_error(f, &at, &flipped) > 1.9, "{gate:?}: a flipped sign");
        }
    }

    #[test]
    fn gates_of_a_half_by_hand() {
        // y = 0, so every σ is ½.
        let at = [values(3 * K, 1), vec![0.0; 2 * K]].concat();
        let Operands { x, h, before } = operands(&at);
        for gate in GATES {
            let (mut gates, mut out) = (vec![0.0; gate.n_gates() * K], vec![0.0; K]);
            step(gate, operands(&at), &mut gates, &mut out);
            for j in 0..K {
                let expected = match gate {
                    GranGate::Word | GranGate::Product => x[j] / 2.0,
                    GranGate::State => h[j] / 2.0,
                    GranGate::Memory | GranGate::WatchedMemory => (before[j] + x[j]) / 2.0,
                    GranGate::WordAndState => (x[j] + h[j]) / 2.0,
                    GranGate::Projection => 0.0,
                };
                assert!((out[j] - expected).abs() < 1e-15, "{gate:?}");
            }
        }
    }
}
