//! The weight of a word by how frequent it is: smooth inverse frequency (SIF).
//!
//! Equation: `sif-weight`
//!
//! ```text
//! w(t) = a / (a + p(t))        p(t): relative frequency of t in a text
//! ```
//!
//! S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017, Algorithm 1.
//! It stands here because sentence vectors (`senv-store`), initial rows (`senv`) and figures (`senv-eval`) have it in
//! common.

/// The `a` of SIF: 10⁻³; the paper finds 10⁻⁴ to 10⁻³ to work.
pub const DEFAULT_SIF_A: f64 = 1e-3;

/// The SIF weight of a word of this relative frequency, in `(0, 1]`: one half where the frequency is `a`, which is
/// above 0.
///
/// ```
/// use senv_core::words::sif_weight;
/// assert_eq!([sif_weight(0.5, 0.0), sif_weight(0.5, 0.5)], [1.0, 0.5]);
/// ```
#[must_use]
pub fn sif_weight(a: f64, frequency: f64) -> f64 {
    a / (a + frequency)
}
