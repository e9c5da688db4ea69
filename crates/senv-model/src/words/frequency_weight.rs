//! The weight of a word by its frequency: smooth inverse frequency (SIF).
//!
//! Equation: `sif-weight`
//!
//! ```text
//! w(t) = a / (a + p(t))        p(t): relative frequency of t in a text
//! ```
//!
//! S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017, Algorithm 1.
//! The module is here because sentence vectors (`senv-store`), initial rows (`senv`) and evaluation (`senv-eval`) share
//! it.

/// The `a` of SIF, 10⁻³; according to the paper, 10⁻⁴ to 10⁻³ work well.
pub const DEFAULT_SIF_A: f64 = 1e-3;

/// The SIF weight of a word with this relative frequency, in `(0, 1]`; 0.5 if the frequency equals `a`, which must be
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
