//! Joins the vector of a table and its order part.
//!
//! Equation: `order-vector`
//!
//! ```text
//! (F1)  v = [ m ; |m| κ l q / |q| ; |m| κ l γ ; |m| ν z ]          m: the vector of the table;  z: 0, or min(1, 10 / n) with a word of negation
//! (F2)  cos(v, v′) = (m̂·m̂′ + κ² l l′ (q̂·q̂′ + γ²) + ν² z z′) / (N N′)         N² = 1 + κ² l² (1 + γ²) + ν² z²
//! ```
//!
//! v starts with m unchanged, so its first dimensions are the vector of the table and give its cosine. A zero part
//! stays zero, and v is zero if m is. γ is a constant column. Without it, the cosines of long sentences, whose parts
//! are long, would be lower than those of short ones. A negation in only one of two sentences lowers their cosine; in
//! both, it raises it.

use super::part_norm;
use senv_base::{Error, Result};
use senv_kernels::kernels;
use serde::{Deserialize, Serialize};

/// In sentences with more words than this, the negation mark decreases with the length.
const NEGATION_WORDS: f64 = 10.0;

/// The weights of the parts of a joined vector.
///
/// ```
/// use senv_core::static_model::order::OrderJoin;
/// let join = OrderJoin { kappa: 2.0, gamma: 1.0, negation: 0.5 };
/// // A table of two dimensions, an order part of two columns and length .1, in a sentence of 20 words with a negation.
/// let mut out = [3.0, 4.0, 0.06, 0.08, 0.1, 0.0];
/// join.apply(20, true, 2, &mut out)?;
/// let expected = [3.0, 4.0, 0.6, 0.8, 1.0, 1.25];
/// assert!(out.iter().zip(expected).all(|(x, e): (&f32, f32)| (x - e).abs() < 1e-6));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OrderJoin {
    /// κ, the weight of the order part.
    pub kappa: f64,
    /// γ, the constant column relative to a part of length 1.
    pub gamma: f64,
    /// ν, the weight of the negation column.
    pub negation: f64,
}

impl OrderJoin {
    /// The number of columns after those of the table and of the order part: the constant one and that of negation.
    pub const EXTRA: usize = 2;

    /// Multiplies the weights of the order part and of the negation column by `weight`.
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { kappa: weight * self.kappa, negation: weight * self.negation, ..self }
    }

    /// Joins in place. The first `dim` values of `out` are the vector of the table, followed by the output of the order
    /// part for the sentence of `n` words and one further value.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless `out` has room for all parts.
    pub fn apply(&self, n: usize, has_negation: bool, dim: usize, out: &mut [f32]) -> Result<()> {
        let (expected, got) = (dim.saturating_add(Self::EXTRA + 1), out.len());
        if got < expected {
            return Err(Error::ShapeMismatch { what: "values of a joined vector", expected, got });
        }
        let (m, rest) = out.split_at_mut(dim);
        let norm = part_norm(m);
        let (columns, extra) = rest.split_at_mut(got - dim - Self::EXTRA);
        kernels::scale((norm * self.kappa) as f32, columns);
        extra[0] *= (norm * self.kappa * self.gamma) as f32;
        let mark = if has_negation { (NEGATION_WORDS / n.max(1) as f64).min(1.0) } else { 0.0 };
        extra[1] = (norm * self.negation * mark) as f32;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_cosine_is_that_of_the_parts_and_the_first_values_stay() {
        let join = OrderJoin { kappa: 1.2, gamma: 0.9, negation: 0.8 };
        // m, the unit vector of q, l, n, negation.
        let sentences = [
            ([0.3f32, -2.0, 0.7], [0.6f32, 0.8], 0.5f32, 4, true),
            ([1.0, 0.2, -0.4], [1.0, 0.0], 1.5, 25, true),
            ([-0.1, 0.9, 0.3], [0.0, -1.0], 0.2, 3, false),
        ];
        let vector = |(m, q, l, n, negation): ([f32; 3], [f32; 2], f32, usize, bool)| {
            let mut out = [m[0], m[1], m[2], l * q[0], l * q[1], l, 7.0];
            join.apply(n, negation, 3, &mut out).unwrap();
            assert_eq!(out[..3], m);
            out
        };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        for a in sentences {
            for b in sentences {
                let (u, v) = (vector(a), vector(b));
                let got = dot(&u, &v) / (dot(&u, &u) * dot(&v, &v)).sqrt();
                let z = |(_, _, _, n, negation): ([f32; 3], [f32; 2], f32, usize, bool)| {
                    if negation { (10.0 / n as f64).min(1.0) } else { 0.0 }
                };
                let (l, l2) = (f64::from(a.2), f64::from(b.2));
                let k = join.kappa.powi(2);
                let table = dot(&a.0, &b.0) / (dot(&a.0, &a.0) * dot(&b.0, &b.0)).sqrt();
                let size = |l: f64, z: f64| {
                    (1.0 + k * l * l * (1.0 + join.gamma.powi(2)) + join.negation.powi(2) * z * z).sqrt()
                };
                let sum =
                    table + k * l * l2 * (dot(&a.1, &b.1) + join.gamma.powi(2)) + join.negation.powi(2) * z(a) * z(b);
                let expected = sum / (size(l, z(a)) * size(l2, z(b)));
                assert!((got - expected).abs() < 1e-5, "{got} {expected}");
            }
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_and_a_zero_vector_stays_zero() {
        let join = OrderJoin { kappa: 1.0, gamma: 1.0, negation: 1.0 };
        let mut out = [0.0, 0.0, 0.6, 0.8, 1.0, 7.0];
        join.apply(2, true, 2, &mut out).unwrap();
        assert_eq!(out, [0.0; 6]);
        for dim in [4, 5, 6, usize::MAX] {
            assert!(matches!(join.apply(2, true, dim, &mut out), Err(Error::ShapeMismatch { .. })), "{dim}");
        }
        assert!(join.apply(2, true, 3, &mut out).is_ok());
    }
}
