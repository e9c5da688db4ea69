//! Correlations, errors, means and a significance test: how sentence embeddings are judged.
//!
//! People have said how related the sentences of each pair are; a system gives each pair a cosine. Do the two agree?
//! [`pearson_r`] asks whether they lie on a line, [`spearman_rho`] whether they put the pairs in the same order, and
//! [`mse`] how far predicted scores are off. Benchmarks of several parts are summed up by [`mean`] or
//! [`weighted_mean`]. Whether two systems score the same pairs differently, beyond chance, is for [`wilcoxon`].
//!
//! ```
//! use senv_metrics::{mean, mse, pearson_r, spearman_rho, wilcoxon};
//! let relatedness = [0.0, 1.5, 2.0, 3.5, 5.0];
//! let cosines = [0.10, 0.35, 0.30, 0.80, 0.90];
//! let other = [0.20, 0.37, 0.50, 0.50, 0.95];
//!
//! let r = pearson_r(&relatedness, &cosines)?.expect("neither list is constant");
//! let rho = spearman_rho(&relatedness, &cosines)?.expect("neither list is constant");
//! assert!(r > 0.95 && (rho - 0.9).abs() < 1e-12); // one pair of neighbours exchanged: 1 − 6 · 2 / (5³ − 5)
//! assert_eq!(mse(&[1.0, 2.0], &[1.0, 4.0])?, Some(2.0));
//! assert!(mean(&[r, rho]).is_some());
//!
//! let test = wilcoxon(&cosines, &other)?;
//! assert!(test.p_value.expect("they differ") > 1e-4, "five pairs prove nothing");
//! # Ok::<(), senv_metrics::Error>(())
//! ```
//!
//! A metric that has no value for its input (a constant list, a single pair) is `None`; lists that cannot be
//! compared (other lengths, NaN) are an [`Error`] that says where. Everything is computed in f64.

#![forbid(unsafe_code)]

mod error;
mod mean;
mod mse;
mod normal;
mod pearson;
mod ranks;
mod spearman;
mod sum;
mod wilcoxon;

pub use error::{Error, Result};
pub use mean::{mean, weighted_mean};
pub use mse::mse;
pub use normal::normal_two_sided_p;
pub use pearson::pearson_r;
pub use ranks::ranks;
pub use spearman::spearman_rho;
pub use wilcoxon::{MAX_EXACT, Wilcoxon, wilcoxon, wilcoxon_of_differences};
