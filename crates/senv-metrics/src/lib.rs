//! Metrics for sentence embeddings: correlations, rankings, accuracies, means and significance tests.
//!
//! In semantic textual similarity, people give each pair of sentences a gold score, and a system gives it a cosine.
//! [`pearson_r`] measures whether the two are linearly related, [`spearman_rho`] whether they rank the pairs alike, and
//! [`mse`] how far predicted scores are off. [`mean`] and [`weighted_mean`] summarize the results of several tasks.
//! [`correlation_difference_p`] tests whether two systems correlate differently with the gold scores, beyond chance.
//! [`wilcoxon`] tests whether their scores differ in level.
//!
//! ```
//! use senv_metrics::{mean, mse, pearson_r, spearman_rho, wilcoxon};
//! let relatedness = [0.0, 1.5, 2.0, 3.5, 5.0];
//! let cosines = [0.10, 0.35, 0.30, 0.80, 0.90];
//! let other = [0.20, 0.37, 0.50, 0.50, 0.95];
//!
//! let r = pearson_r(&relatedness, &cosines)?.expect("neither list is constant");
//! let rho = spearman_rho(&relatedness, &cosines)?.expect("neither list is constant");
//! assert!(r > 0.95 && (rho - 0.9).abs() < 1e-12); // one adjacent pair swapped: 1 − 6 · 2 / (5³ − 5)
//! assert_eq!(mse(&[1.0, 2.0], &[1.0, 4.0])?, Some(2.0));
//! assert!(mean(&[r, rho]).is_some());
//!
//! let test = wilcoxon(&cosines, &other)?;
//! assert!(test.p_value.expect("they differ") > 1e-4, "five pairs prove nothing");
//! # Ok::<(), senv_metrics::Error>(())
//! ```
//!
//! A classifier of pairs has an [`accuracy`], and per class the counts of a [`Confusion`]. For rankings of candidates
//! there are [`average_precision`], the rank at which each query finds a relevant candidate ([`query_rank`],
//! [`mean_rank`], [`accuracy_at`]), and the similarity of paraphrases ([`p_coherence`]). [`WordOverlap`] is the
//! baseline of shared words.
//!
//! ```
//! use senv_metrics::{accuracy_at, average_precision, mean_rank, query_rank};
//! let cosines = [0.9, 0.7, 0.8];
//! let ap = average_precision(&[true, true, false], &cosines)?.expect("two are relevant");
//! assert!((ap - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
//! let rank = query_rank(&cosines, &[1], &[])?.expect("one is relevant").rank;
//! assert_eq!((rank, mean_rank(&[rank, 1]), accuracy_at(&[rank, 1], 1)), (3, Some(2.0), Some(0.5)));
//! # Ok::<(), senv_metrics::Error>(())
//! ```
//!
//! The [`Bootstrap`] of a [`Sample`] tells how much a number would vary with other items. [`bootstrap_p`] does the same
//! for the difference of two systems, and [`holm`] corrects the p-values of several tests.
//!
//! A metric without a value for its input (a constant list, a single pair, nothing relevant) is `None`. Lists that
//! cannot be compared (different lengths, NaN) give an [`Error`] that names the position. All computation is in f64.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod accuracy;
mod auc;
mod bootstrap;
mod correlation_difference;
mod error;
mod holm;
mod mean;
mod mse;
mod normal;
mod p_coherence;
mod pearson;
mod precision_recall;
mod query_rank;
mod ranks;
mod retrieval;
mod sample;
mod silhouette;
mod spearman;
mod sum;
mod wilcoxon;
mod word_overlap;

pub use accuracy::{ClassCounts, Confusion, accuracy};
pub use auc::auc;
pub use bootstrap::{Bootstrap, DEFAULT_RESAMPLES, Interval, bootstrap_p, paired_differences, percentile_interval};
pub use correlation_difference::{correlation_difference_p, rank_correlation_difference_p};
pub use error::{Error, Result};
pub use holm::holm;
pub use mean::{mean, standard_deviation, weighted_mean};
pub use mse::mse;
pub use normal::normal_two_sided_p;
pub use p_coherence::{UnitSum, mean_pairwise_cosine, p_coherence};
pub use pearson::pearson_r;
pub use precision_recall::{PrecisionRecall, average_precision, average_precision_of, precision_recall};
pub use query_rank::{QueryRank, accuracy_at, mean_rank, query_rank};
pub use ranks::ranks;
pub use retrieval::Ranking;
pub use sample::{Sample, Statistic};
pub use silhouette::silhouette;
pub use spearman::spearman_rho;
pub use wilcoxon::{MAX_EXACT, PValueMethod, Wilcoxon, wilcoxon, wilcoxon_of_differences};
pub use word_overlap::WordOverlap;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
