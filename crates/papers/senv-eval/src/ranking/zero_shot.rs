//! Zero-shot paraphrase detection, by cosine without training.
//!
//! A pair counts as a paraphrase if its cosine is at least a threshold. The results are precision and recall over all
//! thresholds, and average precision. Paper of the SNLI-finetuned Skip-thoughts, section 6.3, which prints only the
//! plot. The baseline is word overlap, by [`WordOverlap::jaccard`]: paraphrases share words, and an encoder should do
//! better than that.

use std::{fmt::Write as _, path::PathBuf};

use senv_core::{SentenceEncoder, Tokenizer};
use senv_data::ParaphraseSet;
use senv_metrics::{PrecisionRecall, WordOverlap, average_precision, average_precision_of, mean, precision_recall};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    plot::curve::Curve,
    report::{Align, TextTable, number},
    score::{pairs::PairSource, sentence_vectors::SentenceVectors},
};

/// Result of the cosine on a set of pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ZeroShotSet {
    /// Path of the file; `None` for all pairs together.
    pub path: Option<PathBuf>,
    /// Number of pairs.
    pub n_pairs: usize,
    /// Number of paraphrases among them.
    pub n_paraphrases: usize,
    /// Number of pairs in which a sentence has no known token. Their cosine is 0.
    pub n_pairs_without_known_token: usize,
    /// Average precision, where tied cosines share a threshold, in `[0, 1]`; `None` without a paraphrase. Chance is the
    /// share of paraphrases.
    pub average_precision: Option<f64>,
    /// Average precision of word overlap instead of the cosine, in `[0, 1]`.
    pub average_precision_of_word_overlap: Option<f64>,
    /// The best F1 of any threshold, in `[0, 1]`. The threshold is chosen on these pairs, so this is an upper bound.
    pub best_f1: Option<f64>,
    /// The threshold with the best F1.
    pub best_f1_threshold: Option<f64>,
    /// Mean cosine of the paraphrases.
    pub mean_cosine_of_paraphrases: Option<f64>,
    /// Mean cosine of the other pairs.
    pub mean_cosine_of_others: Option<f64>,
    /// Precision and recall at each distinct cosine, by descending threshold (not part of the JSON).
    #[serde(skip)]
    pub points: Vec<PrecisionRecall>,
    /// The cosines, one per pair in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub cosines: Vec<f64>,
}

/// Result of an encoder on zero-shot paraphrase detection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ZeroShotResult {
    /// Results per file, in the order given.
    pub sets: Vec<ZeroShotSet>,
    /// Result on the pairs of all files as one list; `None` for a single file.
    pub together: Option<ZeroShotSet>,
}

/// Scores the pairs of each set by the cosine of their embeddings.
///
/// # Errors
/// [`Error::NothingToDo`] without a set or a pair; [`Error::NotFinite`] if an embedding is not finite, with its
/// sentence; [`Error::Core`] if the embeddings do not fit into memory.
pub fn evaluate_zero_shot(encoder: &dyn SentenceEncoder, sets: &[ParaphraseSet]) -> Result<ZeroShotResult> {
    if sets.iter().all(|set| set.pairs.is_empty()) {
        return Err(Error::NothingToDo { what: "pairs of sentences" });
    }
    let sentences = sets.iter().flat_map(|set| &set.pairs).flat_map(|pair| [&pair.first[..], &pair.second[..]]);
    let vectors = SentenceVectors::encode(encoder, sentences)?;
    vectors.check_finite()?;
    evaluate(PairSource::Cosines(&vectors), sets)
}

/// Runs the protocol on scores from any source, which are treated as cosines.
pub(crate) fn evaluate(source: PairSource<'_>, sets: &[ParaphraseSet]) -> Result<ZeroShotResult> {
    let words = Tokenizer::words().lowercase(true);
    let mut all = Scored::default();
    let mut results = Vec::with_capacity(sets.len());
    for set in sets {
        let pairs: Vec<(&str, &str)> = set.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..])).collect();
        let found = source.score(&pairs, |i| format!("pair {} of {}", i + 1, set.path.display()))?;
        let overlap = |(a, b): &(&str, &str)| WordOverlap::of(words.tokens(a), words.tokens(b)).jaccard();
        let scored = Scored {
            labels: set.pairs.iter().map(|pair| pair.is_paraphrase).collect(),
            cosines: found.scores,
            overlaps: pairs.iter().map(overlap).collect(),
            n_unknown: found.n_without_known_token,
        };
        all.labels.extend_from_slice(&scored.labels);
        all.cosines.extend_from_slice(&scored.cosines);
        all.overlaps.extend_from_slice(&scored.overlaps);
        all.n_unknown += scored.n_unknown;
        results.push(ZeroShotSet::of(Some(set.path.clone()), scored)?);
    }
    let together = if sets.len() > 1 { Some(ZeroShotSet::of(None, all)?) } else { None };
    Ok(ZeroShotResult { sets: results, together })
}

/// The scores of pairs by cosine and by word overlap.
#[derive(Default)]
struct Scored {
    labels: Vec<bool>,
    cosines: Vec<f64>,
    overlaps: Vec<f64>,
    n_unknown: usize,
}

impl ZeroShotSet {
    fn of(path: Option<PathBuf>, scored: Scored) -> Result<Self> {
        let Scored { labels, cosines, overlaps, n_unknown } = scored;
        let points = precision_recall(&labels, &cosines)?;
        // Of equal points take the first, which has the highest threshold.
        let best = points.iter().flatten().copied().reduce(|best, p| if p.f1() > best.f1() { p } else { best });
        let mean_of = |wanted: bool| {
            let of_label = labels.iter().zip(&cosines).filter(|(label, _)| **label == wanted);
            mean(&of_label.map(|(_, &cosine)| cosine).collect::<Vec<_>>())
        };
        Ok(Self {
            path,
            n_pairs: labels.len(),
            n_paraphrases: labels.iter().filter(|&&label| label).count(),
            n_pairs_without_known_token: n_unknown,
            average_precision: points.as_deref().map(average_precision_of),
            average_precision_of_word_overlap: average_precision(&labels, &overlaps)?,
            best_f1: best.map(|point| point.f1()),
            best_f1_threshold: best.map(|point| point.threshold),
            mean_cosine_of_paraphrases: mean_of(true),
            mean_cosine_of_others: mean_of(false),
            points: points.unwrap_or_default(),
            cosines,
        })
    }

    fn name(&self) -> String {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.path.as_ref().map_or_else(|| "all pairs together".to_owned(), |path| name(path).unwrap_or_default())
    }
}

impl ZeroShotResult {
    /// Formats one line per file, then all pairs together.
    #[must_use]
    pub fn to_text(&self) -> String {
        let columns = [
            "pairs",
            "paraphrases",
            "average\nprecision",
            "of shared\nwords",
            "best F1",
            "mean cosine\nparaphrases",
            "others",
        ];
        let columns = columns.map(|name| (name, Align::Right));
        let mut table = TextTable::new(std::iter::once(("pairs by cosine", Align::Left)).chain(columns));
        for set in self.sets.iter().chain(&self.together) {
            let [average, overlap, best, same, other] = [
                set.average_precision,
                set.average_precision_of_word_overlap,
                set.best_f1,
                set.mean_cosine_of_paraphrases,
                set.mean_cosine_of_others,
            ]
            .map(|value| number(value, 4));
            let (n, share) = (set.n_pairs.to_string(), set.n_paraphrases.to_string());
            table.row([set.name(), n, share, average, overlap, best, same, other]);
        }
        table.to_string()
    }

    /// Writes the points of each file as tab-separated lines of set, threshold, precision and recall, after a header.
    #[must_use]
    pub fn points_to_tsv(&self) -> String {
        let mut text = String::from("set\tthreshold\tprecision\trecall\n");
        for set in &self.sets {
            for point in &set.points {
                let _ = writeln!(text, "{}\t{}\t{}\t{}", set.name(), point.threshold, point.precision, point.recall);
            }
        }
        text
    }

    /// Returns precision against recall as one curve per file; [`Curve::to_svg`] draws it.
    #[must_use]
    pub fn curve(&self) -> Curve {
        let mut curve = Curve::new("recall", "precision");
        for set in &self.sets {
            curve.push(set.name(), set.points.iter().map(|point| (point.recall, point.precision)));
        }
        curve
    }
}
