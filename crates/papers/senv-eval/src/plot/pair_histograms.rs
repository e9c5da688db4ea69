//! Cosines and shared words of pairs, split by whether they are paraphrases, by label, or by score.
//!
//! Paper of the SNLI-finetuned Skip-thoughts, Figures 5 and 6. It does not state its measure of shared words, its bins
//! or its splits. This module uses [`WordOverlap::jaccard`] on lower-cased words and 50 bins over the whole range, and
//! splits at half the scale.

use senv_core::{Tokenizer, kernels};
use senv_data::{Entailment, NliSet, ParaphraseSet, StsTask};
use senv_metrics::WordOverlap;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    plot::histogram::Histogram,
    score::sentence_vectors::SentenceVectors,
};

/// Default number of bins of [`evaluate_pair_histograms`].
pub const DEFAULT_HISTOGRAM_BINS: usize = 50;

/// Pairs of sentences in named groups.
#[derive(Debug, Clone, PartialEq)]
pub struct PairGroups<'a> {
    groups: Vec<(String, Vec<(&'a str, &'a str)>)>,
}

impl<'a> PairGroups<'a> {
    /// Groups pairs into paraphrases and others.
    #[must_use]
    pub fn of_paraphrases(sets: &'a [ParaphraseSet]) -> Self {
        let of = |wanted: bool| {
            let pairs = sets.iter().flat_map(|set| &set.pairs).filter(move |pair| pair.is_paraphrase == wanted);
            pairs.map(|pair| (&pair.first[..], &pair.second[..])).collect()
        };
        Self { groups: vec![("paraphrases".to_owned(), of(true)), ("other pairs".to_owned(), of(false))] }
    }

    /// Groups pairs by label: contradiction, neutral, entailment.
    #[must_use]
    pub fn of_labels(sets: &'a [NliSet]) -> Self {
        let of = |label: Entailment| {
            let pairs = sets.iter().flat_map(|set| &set.pairs).filter(move |pair| pair.label == label);
            (label.name().to_owned(), pairs.map(|pair| (&pair.premise[..], &pair.hypothesis[..])).collect())
        };
        Self { groups: Entailment::ALL.map(of).to_vec() }
    }

    /// Groups pairs by gold score: below `at`, and `at` or above. For SICK, 3 is the middle of the scale.
    #[must_use]
    pub fn of_scores(tasks: &'a [StsTask], at: f64) -> Self {
        let of = |above: bool| {
            let pairs = tasks.iter().flat_map(|task| &task.pairs).filter(move |pair| (pair.relatedness >= at) == above);
            pairs.map(|pair| (&pair.first[..], &pair.second[..])).collect()
        };
        Self { groups: vec![(format!("score below {at}"), of(false)), (format!("score from {at} on"), of(true))] }
    }

    /// Iterates over all sentences, for [`SentenceVectors::encode`].
    pub fn sentences(&self) -> impl Iterator<Item = &'a str> {
        self.groups.iter().flat_map(|(_, pairs)| pairs).flat_map(|&(first, second)| [first, second])
    }
}

/// Histograms of pairs by group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairHistograms {
    /// Cosines of the embeddings, from -1 to 1.
    pub cosines: Histogram,
    /// Shares of words in common, from 0 to 1; 0 if both sentences are empty.
    pub word_overlaps: Histogram,
    /// Number of pairs in which a sentence has no known token. Their cosine is 0.
    pub n_pairs_without_known_token: usize,
}

/// Counts the pairs of each group by cosine and by shared words.
///
/// # Errors
/// [`Error::NothingToDo`] without a pair; [`Error::NotEncoded`] if a sentence is missing; [`Error::NotFinite`] if an
/// embedding is not finite, with its sentence; [`senv_core::Error::InvalidParameter`] for a number of bins out of
/// range.
pub fn evaluate_pair_histograms(
    embeddings: &SentenceVectors,
    pairs: &PairGroups<'_>,
    n_bins: usize,
) -> Result<PairHistograms> {
    if pairs.groups.iter().all(|(_, pairs)| pairs.is_empty()) {
        return Err(Error::NothingToDo { what: "pairs of sentences" });
    }
    embeddings.check_finite()?;
    let words = Tokenizer::words().lowercase(true);
    let (mut cosines, mut overlaps, mut n_pairs_without_known_token) = (Vec::new(), Vec::new(), 0);
    for (name, pairs) in &pairs.groups {
        let numbers = embeddings.pair_numbers(pairs.iter().copied())?;
        let unknown = |pair: &&[usize; 2]| pair.iter().any(|&number| embeddings.coverage(number).is_empty());
        n_pairs_without_known_token += numbers.iter().filter(unknown).count();
        let cosine = |[a, b]: [usize; 2]| f64::from(kernels::cosine(embeddings.vector(a), embeddings.vector(b)));
        cosines.push((name.clone(), numbers.into_iter().map(cosine).collect()));
        let overlap = |&(a, b): &(&str, &str)| WordOverlap::of(words.tokens(a), words.tokens(b)).jaccard();
        overlaps.push((name.clone(), pairs.iter().map(overlap).collect()));
    }
    Ok(PairHistograms {
        cosines: Histogram::new("cosine", -1.0, 1.0, n_bins, cosines)?,
        word_overlaps: Histogram::new("share of words in common", 0.0, 1.0, n_bins, overlaps)?,
        n_pairs_without_known_token,
    })
}

impl PairHistograms {
    /// Formats means, deviations and overlaps of both histograms.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}", self.cosines.to_text(), self.word_overlaps.to_text());
        if self.n_pairs_without_known_token > 0 {
            text += &format!(
                "{} pairs with a sentence without a known token (cosine 0)\n",
                self.n_pairs_without_known_token
            );
        }
        text
    }
}
