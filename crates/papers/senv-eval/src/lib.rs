//! Evaluation of sentence encoders: data sets, protocols and reports.
//!
//! Any [`senv_core::SentenceEncoder`] can be evaluated; this crate knows no model.
//!
//! | question | start at |
//! | --- | --- |
//! | Do its cosines correlate with gold scores (STS)? | [`StsTask::read`], [`evaluate_sts`], [`StsResult`]; with 95 % intervals, [`StsResult::with_intervals`]; for scores without vectors, [`evaluate_sts_scorer`] |
//! | Where does it stand in MTEB's tables of STS, and on NanoBEIR? | [`MtebStsSet::read`], [`evaluate_mteb_sts`]; [`retrieval_folders`], [`NanoBeirResult::of`] |
//! | Do its scores agree with SICK or the STS benchmark? | [`SickSet::read`], [`StsTask::read_stsb`], [`evaluate_relatedness`]; for a trained head, [`evaluate_scorer`] |
//! | How similar are the captions of an image, compared with unrelated ones? | [`SentenceGroups::read`], [`evaluate_p_coherence`] |
//! | At which rank does a sentence find its paraphrase? | [`ParaphraseSet::read`], [`evaluate_ranking`]; without a pool, [`evaluate_zero_shot`] |
//! | Are sentences with the same words and different meanings separated? | [`SentenceGroups::soup`], [`evaluate_group_ranking`] |
//! | Do its vectors encode word order (PAWS, entailment against contradiction, sentences by phenomenon)? | [`OrderData`], [`OrderTemplates`], [`evaluate_order`] |
//! | At which rank does a definition find its word among all words? | [`Definitions::read`], [`evaluate_dictionary`] |
//! | How often is an entailment classifier right? | [`NliSet::read`], [`evaluate_entailment`] |
//! | How well are sentences classified on frozen vectors (MR, CR, SUBJ, MPQA, TREC)? | [`LabeledSet::read`], [`evaluate_classification`], [`evaluate_classification_on_test`] |
//! | How well are paraphrases detected on frozen vectors (MSRP), and with how many training pairs? | [`evaluate_paraphrase_detection`], [`evaluate_learning_curve`] |
//! | How are the cosines and the shared words of pairs distributed? | [`PairGroups`], [`evaluate_pair_histograms`] |
//! | How do groups of sentences lie relative to each other? | [`evaluate_map`] |
//! | How can many data sets be encoded once, or vectors from another program be evaluated? | [`SentenceVectors`] |
//! | What are the published results? | [`published_sts`], [`published_sick`], [`published_skip_thoughts`], [`published_stsb`], [`published_cse_ablations`], [`published_p_coherence`], [`published_ranking`], [`published_soup`], [`published_sick_entailment`], [`published_classification`] |
//! | Does one encoder correlate better? | [`compare_sts`]; on which pairs, [`error_analysis`] |
//! | What are the results of several systems in every protocol? | [`DataFolder`], [`BenchData`], [`protocols`], [`summarize`], [`compare_systems`] |
//! | How does a score change with a parameter? | [`Curve`] |
//! | How do the norms of its word vectors depend on word frequency? | [`norm_profile`] |
//! | How long does scoring a pair take? | [`measure_latency`] |
//!
//! Every result is a plain struct with public fields. `to_text` prints it in aligned columns, and [`to_json`] writes
//! all fields.
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
//!     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
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
//! // Cosines 1, 0.5 and 0 for gold scores 5, 2.5 and 0: a perfect correlation.
//! std::fs::write(&path, "5\ta\ta\n2.5\tab\tbc\n0\ta\tb\n")?;
//! let result = evaluate_sts(&Letters, &[StsTask::read(&path)?])?;
//! let r = result.tasks[0].correlations.pearson_r_x100.ok_or("undefined")?;
//! assert!((r - 100.0).abs() < 1e-4);
//! println!("{}", result.to_text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod bench;
mod error;
mod latency;
mod mteb;
mod order;
mod plot;
mod probe;
mod published;
mod ranking;
mod report;
mod score;
mod sizes;
mod sts;

pub use bench::{
    BenchComparison, BenchData, BenchOptions, BenchPart, BenchRecord, Cell, Column, DEFAULT_COMPARISON_RESAMPLES,
    DataFile, DataFolder, DataNote, Detail, Drawing, Figure, FigureSeries, MIN_ITEMS, Mark, Missing, Protocol,
    ProtocolGroup, REPORT_START, Row, Summary, SystemKind, SystemRecord, Task, TaskDifference, TaskRecord, TaskResult,
    choose_protocols, compare_systems, escape_html, html_page, protocols, sha256_of_bytes, sha256_of_file, summarize,
};
pub use error::{Error, Result};
pub use latency::{DEFAULT_WARM_UP, Latency, measure_latency};
pub use mteb::{
    nano_beir::{NANO_BEIR, NanoBeirMean, NanoBeirResult, nano_beir_name, retrieval_folders},
    result::{MtebStsResult, MtebStsTaskResult, evaluate_mteb_sts},
    set::MtebStsSet,
    task::MtebSts,
};
pub use order::{
    data::OrderData,
    entailment::{LabelCosine, OrderEntailmentResult},
    evaluation::{OrderResult, evaluate_order},
    pairs::OrderPairsResult,
    templates::{OrderItem, OrderPhenomenon, OrderTemplates},
    triplets::OrderTemplatesResult,
};
pub use plot::{
    curve::{Curve, Series},
    histogram::{Histogram, HistogramGroup, Overlap},
    map::{MapOptions, MapPoint, MapResult, evaluate_map, lay_out},
    norms::{DEFAULT_BINS, NormBin, NormOptions, NormProfile, WordNorm, norm_profile},
    pair_histograms::{DEFAULT_HISTOGRAM_BINS, PairGroups, PairHistograms, evaluate_pair_histograms},
    scatter::scatter_svg,
};
pub use probe::{
    classification::{ClassificationResult, FoldResult, evaluate_classification, evaluate_classification_on_test},
    cross_validation::{LogisticForm, ProbeOptions, SelectionMetric},
    features::PairFeatures,
    folds::FoldRule,
    frozen::{FrozenClassifier, FrozenTraining},
    frozen_scorer::{FrozenScorer, RelatednessForm, ScorerTraining},
    learning_curve::{LearningCurveOptions, LearningCurveResult, LearningPoint, evaluate_learning_curve},
    paraphrase_detection::{ParaphraseDetectionResult, evaluate_paraphrase_detection},
};
pub use published::{
    classification::{PublishedClassification, published_classification},
    cse::{PublishedMeans, published_cse_ablations},
    relatedness::{published_sick, published_stsb},
    rows::{PublishedRelatedness, PublishedSystem, PublishedValue},
    similarity::{
        PublishedEntailment, PublishedPCoherence, PublishedRanking, PublishedSoup, published_p_coherence,
        published_ranking, published_sick_entailment, published_soup,
    },
    skip_thoughts::{PublishedSkipThoughts, published_skip_thoughts},
    sts::published_sts,
};
pub use ranking::{
    coherence::{DEFAULT_RANDOM_PAIRS, PCoherenceResult, RandomPairs, evaluate_p_coherence},
    dictionary::{DictionaryResult, DictionarySet, DictionarySetResult, evaluate_dictionary},
    entailment::{EntailmentResult, EntailmentSetResult, LabelResult, PairClassifier, evaluate_entailment},
    groups::{GroupRankingResult, RankedSentence, ReferenceRanking, evaluate_group_ranking},
    pool::{PoolRanking, RankingResult, evaluate_ranking},
    retrieval::{RetrievalMean, RetrievalMethod, RetrievalResult, RetrievalScores, evaluate_retrieval},
    scoring::Scoring,
    zero_shot::{ZeroShotResult, ZeroShotSet, evaluate_zero_shot},
};
pub use report::{Align, TextTable, duration, to_json};
pub use score::{
    correlations::Correlations, pairs::PairScorer, scoring_method::ScoringMethod, sentence_vectors::SentenceVectors,
    with_interval::WithInterval,
};
// Readers of data sets.
pub use senv_data::{
    Definition, Definitions, Document, Entailment, JudgedQuery, LabeledSentence, LabeledSet, NliLayout, NliPair,
    NliSet, ParaphrasePair, ParaphraseSet, RetrievalSet, Scale, SentenceGroup, SentenceGroups, SickSet, StsPair,
    StsTask,
};
// How many words two sentences share, for comparisons.
pub use senv_metrics::WordOverlap;
pub use sizes::{DataSizes, TextSizes};
pub use sts::{
    error_analysis::{ErrorAnalysis, PairDifference, error_analysis},
    protocol::{evaluate_sts, evaluate_sts_scorer},
    relatedness::{Agreement, RelatednessResult, RelatednessTaskResult, evaluate_relatedness, evaluate_scorer},
    result::{
        CorrelationIntervals, StsIntervals, StsMeanIntervals, StsOverall, StsResult, StsTaskIntervals, StsTaskResult,
        StsYearResult,
    },
    significance::{StsComparison, TaskComparison, compare_sts},
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
