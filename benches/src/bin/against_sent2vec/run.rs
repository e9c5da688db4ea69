//! Workloads, and measurements of their runs.

use std::{fmt, path::PathBuf};

use senv_negative_sampling::{NegativeSharing, Schedule};
use serde::{Deserialize, Serialize};

/// Settings shared by all runs.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Initial learning rate.
    #[arg(long, default_value_t = 0.2)]
    pub(crate) lr: f32,
    /// Negatives per target.
    #[arg(long, default_value_t = 10)]
    pub(crate) negatives: usize,
    /// Subsampling threshold of targets.
    #[arg(long, default_value_t = 1e-5)]
    pub(crate) subsample: f64,
    /// Number of epochs.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: u32,
    /// Words with a lower count are unknown.
    #[arg(long, default_value_t = 5)]
    pub(crate) min_count: u64,
    /// Words with a lower count are not targets.
    #[arg(long, default_value_t = 8)]
    pub(crate) min_target_count: u64,
    /// Number of hash buckets, if there are n-grams.
    #[arg(long, default_value_t = 2_000_000)]
    pub(crate) buckets: u32,
    /// Tokens per sentence dropped from its n-grams.
    #[arg(long, default_value_t = 2)]
    pub(crate) dropout: usize,
}

/// Settings that vary between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) dim: usize,
    pub(crate) word_ngrams: usize,
    pub(crate) threads: usize,
}

impl Case {
    /// The length of the n-grams, in words.
    pub(crate) fn features(self) -> String {
        match self.word_ngrams {
            1 => "uni".into(),
            2 => "uni+bi".into(),
            n => format!("1 to {n}-grams"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dim, threads, .. } = self;
        write!(f, "dim {dim}, {}, {threads} thread{}", self.features(), if *threads == 1 { "" } else { "s" })
    }
}

/// The input of a run: text, settings and case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Workload {
    pub(crate) text: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) case: Case,
}

/// A program and its variant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Program {
    Ours { schedule: Schedule, sharing: NegativeSharing },
    Peer(PathBuf),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours { schedule, sharing } => {
                write!(f, "senv ({}, negatives: {})", lower(schedule), lower(sharing))
            }
            Self::Peer(path) => f.write_str(&path.file_name().unwrap_or_default().to_string_lossy()),
        }
    }
}

fn lower(value: &impl fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// The measurements of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// Number of known words trained on.
    pub(crate) words: u64,
    /// Wall seconds of training only.
    pub(crate) training_seconds: f64,
    /// Wall seconds of counting the vocabulary and, in senv, mapping tokens to ids.
    pub(crate) vocabulary_seconds: f64,
    /// Wall seconds from then to the start of training, for tables and samplers.
    pub(crate) start_seconds: f64,
    /// Peak resident memory up to the end of training, if the system reports it.
    pub(crate) peak_bytes: Option<u64>,
    /// Size of both tables in bytes, four per value.
    pub(crate) table_bytes: u64,
    /// Mean training loss, as each program defines it.
    pub(crate) loss: Option<f64>,
    /// Throughput reported by the release itself: words per CPU second, including the setup of its samplers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) stated_words_per_cpu_second: Option<f64>,
}

impl Measurement {
    pub(crate) fn words_per_second(&self) -> f64 {
        self.words as f64 / self.training_seconds.max(1e-9)
    }
}
