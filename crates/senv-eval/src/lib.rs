//! Evaluation of sentence encoders: data sets, protocols and reports.
//!
//! Any [`senv_core::SentenceEncoder`] can be evaluated; this crate knows no model.
//!
//! | question | start at |
//! | --- | --- |
//! | Do its cosines correlate with gold scores (STS)? | [`StsTask::read`], [`evaluate_sts`], [`StsResult`], with 95 % intervals by [`StsResult::with_intervals`]; of scores without vectors, [`evaluate_sts_scorer`] |
//! | Do its scores agree with SICK or the STS benchmark? | [`SickSet::read`], [`StsTask::read_stsb`], [`evaluate_relatedness`]; of a trained head, [`evaluate_scorer`] |
//! | How similar are the captions of an image, compared with unrelated ones? | [`SentenceGroups::read`], [`evaluate_p_coherence`] |
//! | At which rank does a sentence find its paraphrase? | [`ParaphraseSet::read`], [`evaluate_ranking`]; without a pool, [`evaluate_zero_shot`] |
//! | Are sentences with the same words and different meanings separated? | [`SentenceGroups::soup`], [`evaluate_group_ranking`] |
//! | How often is an entailment classifier right? | [`NliSet::read`], [`evaluate_entailment`] |
//! | How well are sentences classified on frozen vectors (MR, CR, SUBJ, MPQA, TREC)? | [`LabeledSet::read`], [`evaluate_classification`], [`evaluate_classification_on_test`] |
//! | How well are paraphrases told on frozen vectors (MSRP), and with how many training pairs? | [`evaluate_paraphrase_detection`], [`evaluate_learning_curve`] |
//! | How do cosines and shared words of pairs spread? | [`PairGroups`], [`evaluate_pair_histograms`] |
//! | How do groups of sentences lie to each other? | [`evaluate_map`] |
//! | How are the sentences of many data sets encoded once, or the vectors of another program judged? | [`Embeddings`] |
//! | What are the published results? | [`published_sts`], [`published_sick`], [`published_skip_thoughts`], [`published_stsb`], [`published_cse_ablations`], [`published_p_coherence`], [`published_ranking`], [`published_soup`], [`published_sick_entailment`], [`published_classification`] |
//! | Do two encoders score differently? | [`compare_sts`]; on which pairs, [`error_analysis`] |
//! | What does every protocol say of several systems? | [`DataFolder`], [`BenchData`], [`protocols`], [`summarize`], [`compare_systems`] |
//! | How does a score change with a parameter? | [`Curve`] |
//! | How do the norms of its words follow their frequency? | [`norm_profile`] |
//! | How long does scoring a pair take? | [`measure_latency`] |
//!
//! Every result is a plain struct: its numbers are public fields, `to_text` prints aligned columns, and
//! [`to_json`] writes all of it.
//!
//! ```
//! use senv_core::{Coverage, Scratch, SentenceEncoder};
//! use senv_eval::{StsTask, evaluate_sts};
//!
//! /// Counts letters: a stand-in for a trained encoder.
//! struct Letters;
//! impl SentenceEncoder for Letters {
//!     fn dim(&self) -> usize {
//!         26
//!     }
//!     fn encode_into(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
//!         out.fill(0.0);
//!         for letter in sentence.bytes().filter(u8::is_ascii_lowercase) {
//!             out[usize::from(letter - b'a')] += 1.0;
//!         }
//!         Coverage::new(sentence.len(), out.iter().sum::<f32>() as usize)
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("small.tsv");
//! // Cosines 1, 0.5 and 0 for gold scores 5, 2.5 and 0: a perfect line.
//! std::fs::write(&path, "5\ta\ta\n2.5\tab\tbc\n0\ta\tb\n")?;
//! let result = evaluate_sts(&Letters, &[StsTask::read(&path)?])?;
//! let r = result.tasks[0].correlations.pearson_r_x100.ok_or("undefined")?;
//! assert!((r - 100.0).abs() < 1e-4);
//! println!("{}", result.to_text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

use senv_data::task_label;

mod bench;
mod classification;
mod coherence;
mod correlations;
mod cross_validation;
mod curve;
mod embeddings;
mod entailment;
mod error;
mod error_analysis;
mod features;
mod folds;
mod frozen;
mod frozen_scorer;
mod group_ranking;
mod histogram;
mod latency;
mod learning_curve;
mod linear_probe;
mod logistic;
mod map;
mod norm_plot;
mod norms;
mod pair_histograms;
mod pair_scorer;
mod paraphrase_detection;
mod plot;
mod protocol;
mod published;
mod published_classification;
mod published_cse;
mod published_relatedness;
mod published_similarity;
mod published_skip_thoughts;
mod ranking;
mod relatedness;
mod relatedness_report;
mod report;
mod significance;
mod sts_intervals;
mod sts_report;
mod tsne;
mod zero_shot;

pub use bench::{
    BenchComparison, BenchData, BenchRecord, Cell, Column, DEFAULT_COMPARISON_RESAMPLES, DataFile, DataFolder, Detail,
    Figure, FigureSeries, MARK_LEVEL, Mark, Missing, Outcome, Protocol, PublishedRow, RECORD_FORMAT, REPORT_START, Row,
    RunOptions, Scoring, Section, Summary, SystemKind, SystemRecord, Task, TaskDifference, TaskRecord, TaskResult,
    choose_protocols, compare_systems, escape_html, html_page, protocols, published_rows, sha256_of_bytes,
    sha256_of_file, summarize,
};
pub use classification::{ClassificationResult, FoldResult, evaluate_classification, evaluate_classification_on_test};
pub use coherence::{DEFAULT_RANDOM_PAIRS, PCoherenceResult, RandomPairs, evaluate_p_coherence};
pub use correlations::Correlations;
pub use cross_validation::{LogisticForm, ProbeOptions, Selection};
pub use curve::{Curve, Series};
pub use embeddings::Embeddings;
pub use entailment::{EntailmentResult, EntailmentSetResult, LabelResult, PairClassifier, evaluate_entailment};
pub use error::{Error, Result};
pub use error_analysis::{ErrorAnalysis, PairDifference, error_analysis};
pub use features::PairFeatures;
pub use folds::FoldRule;
pub use frozen::{FrozenClassifier, FrozenTraining};
pub use frozen_scorer::{FrozenScorer, RelatednessForm, ScorerTraining};
pub use group_ranking::{
    GroupRankingResult, MAX_GROUP_RANKING, RankedSentence, ReferenceRanking, evaluate_group_ranking,
};
pub use histogram::{Histogram, HistogramGroup, Overlap};
pub use latency::{DEFAULT_WARM_UP, Latency, measure_latency};
pub use learning_curve::{LearningCurveOptions, LearningCurveResult, LearningPoint, evaluate_learning_curve};
pub use map::{MAX_MAP, MapOptions, MapPoint, MapResult, evaluate_map};
pub use norms::{DEFAULT_A, DEFAULT_BINS, DEFAULT_EXTREMES, NormBin, NormOptions, NormProfile, WordNorm, norm_profile};
pub use pair_histograms::{DEFAULT_HISTOGRAM_BINS, PairGroups, PairHistograms, evaluate_pair_histograms};
pub use pair_scorer::{PairScorer, evaluate_sts_scorer};
pub use paraphrase_detection::{ParaphraseDetectionResult, evaluate_paraphrase_detection};
pub use protocol::{StsOverall, StsResult, StsTaskResult, StsYearResult, evaluate_sts};
pub use published::{PublishedSystem, PublishedValue, published_sts};
pub use published_classification::{PublishedClassification, published_classification};
pub use published_cse::{PublishedMeans, published_cse_ablations};
pub use published_relatedness::{PublishedRelatedness, published_sick, published_stsb};
pub use published_similarity::{
    PublishedEntailment, PublishedPCoherence, PublishedRanking, PublishedSoup, published_p_coherence,
    published_ranking, published_sick_entailment, published_soup,
};
pub use published_skip_thoughts::{PublishedSkipThoughts, published_skip_thoughts};
pub use ranking::{PoolRanking, RankingResult, evaluate_ranking};
pub use relatedness::{
    Agreement, RelatednessResult, RelatednessTaskResult, ScoringMethod, evaluate_relatedness, evaluate_scorer,
};
pub use report::{Align, TextTable, to_json};
/// Readers of data sets, re-exported from `senv-data`.
pub use senv_data::{
    Entailment, LabeledSentence, LabeledSet, NliLayout, NliPair, NliSet, ParaphrasePair, ParaphraseSet, Scale,
    SentenceGroup, SentenceGroups, SickSet, StsPair, StsTask,
};
/// How many words two sentences share, re-exported for comparisons.
pub use senv_metrics::WordOverlap;
pub use significance::{SIGNIFICANCE_LEVEL, StsComparison, TaskComparison, compare_sts};
pub use sts_intervals::{CorrelationIntervals, StsIntervals, StsMeanIntervals, StsTaskIntervals};
pub use zero_shot::{ZeroShotResult, ZeroShotSet, evaluate_zero_shot};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
