//! P-coherence of captions, with the cosine of unrelated captions as a control.
//!
//! An encoder that gives every sentence nearly the same direction has a P-coherence near 1, which is meaningless. The
//! useful measure is how much more similar captions of one image are than captions of different images. Both are
//! therefore measured: on pairs drawn at random, as is usual, and exactly on all pairs.

use std::path::PathBuf;

use rand::RngExt;
use senv_core::{SentenceEncoder, kernels};
use senv_data::SentenceGroups;
use senv_metrics::{UnitSum, mean};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    published::similarity::PublishedPCoherence,
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Default number of random pairs of [`evaluate_p_coherence`]. The standard error of their mean is about 0.002.
pub const DEFAULT_RANDOM_PAIRS: usize = 10_000;

/// The control: pairs of captions of different images.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RandomPairs {
    /// Number of pairs, drawn uniformly among all pairs of sentences of different groups.
    pub n_pairs: usize,
    /// The random seed of the draws.
    pub seed: u64,
    /// Mean of their cosines, in `[-1, 1]`; `None` with a single group, or without pairs.
    pub mean_cosine: Option<f64>,
}

/// Result of an encoder on groups of sentences that mean the same thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PCoherenceResult {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of groups of two or more sentences, which the mean is over.
    pub n_groups: usize,
    /// Number of groups of one sentence. They have no coherence, so their sentences are only used in the control.
    pub n_single_groups: usize,
    /// Number of sentences in all groups.
    pub n_sentences: usize,
    /// Number of sentences without a known token. Their cosine with all others is 0.
    pub n_sentences_without_known_token: usize,
    /// Mean over the groups of the mean cosine of their pairs, in `[-1, 1]`.
    pub p_coherence: Option<f64>,
    /// Cosines of random pairs of sentences of different groups.
    pub random_pairs: RandomPairs,
    /// Mean cosine of all pairs of sentences of different groups, which the random pairs estimate.
    pub mean_cosine_across_groups: Option<f64>,
    /// The mean cosine of each group. Their mean is the P-coherence (not part of the JSON).
    #[serde(skip)]
    pub coherences: Vec<f64>,
}

/// Measures the P-coherence of groups, and the mean cosine of `n_random` pairs across groups, drawn with `seed`.
///
/// Memory: distinct sentences times the dimension, in f32. The time for a group grows with its sentences, not its
/// pairs.
///
/// # Errors
/// [`Error::NothingToDo`] without a group of two or more; [`Error::NotFinite`] if an embedding is not finite, with its
/// sentence; [`Error::Core`] if the embeddings do not fit into memory.
///
/// # Examples
/// ```
/// # use senv_core::{Coverage, Scratch, SentenceEncoder};
/// # struct First;
/// # impl SentenceEncoder for First {
/// #     fn dim(&self) -> usize { 26 }
/// #     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
/// #         out.fill(0.0);
/// #         sentence.bytes().take(1).for_each(|b| out[usize::from(b - b'a')] = 1.0);
/// #         Coverage::new(1, 1)
/// #     }
/// # }
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("captions.tsv");
/// // `First` encodes only the first letter: cosine 1 in the first group, 0 in the second and across groups.
/// std::fs::write(&path, "1\tone\n1\tother\n2\ttwo\n2\tapart\n")?;
/// let result = senv_eval::evaluate_p_coherence(&First, &senv_eval::SentenceGroups::read(&path)?, 100, 1)?;
/// assert_eq!((result.p_coherence, result.random_pairs.mean_cosine), (Some(0.5), Some(0.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # References
/// P-thought paper, equations 3 to 5.
pub fn evaluate_p_coherence(
    encoder: &dyn SentenceEncoder,
    groups: &SentenceGroups,
    n_random: usize,
    seed: u64,
) -> Result<PCoherenceResult> {
    let n_groups = groups.groups.iter().filter(|group| group.sentences.len() > 1).count();
    if n_groups == 0 {
        return Err(Error::NothingToDo { what: "groups of two sentences or more" });
    }
    let embeddings = SentenceVectors::encode(encoder, groups.sentences())?;
    embeddings.check_finite()?;
    // The index of each sentence's embedding, group by group.
    let rows = groups.sentences().map(|sentence| embeddings.number(sentence)).collect::<Result<Vec<_>>>()?;
    let mut ends = Vec::with_capacity(groups.groups.len());
    let (mut all, mut within, mut pairs_within) = (UnitSum::new(), 0.0, 0);
    let mut coherences = Vec::with_capacity(n_groups);
    let mut start = 0;
    for group in &groups.groups {
        let end = start + group.sentences.len();
        let mut sum = UnitSum::new();
        rows[start..end].iter().try_for_each(|&row| sum.add(embeddings.vector(row)))?;
        coherences.extend(sum.mean_cosine());
        within += sum.pair_sum();
        pairs_within += sum.n_pairs();
        all.add_all(&sum)?;
        ends.push(end);
        start = end;
    }
    let across = all.n_pairs() - pairs_within;
    let cosine =
        |i: usize, j: usize| f64::from(kernels::cosine(embeddings.vector(rows[i]), embeddings.vector(rows[j])));
    let drawn: Vec<f64> = random_pairs(&ends, n_random, seed).map(|(i, j)| cosine(i, j)).collect();
    let without = |row: &&usize| embeddings.coverage(**row).is_empty();
    Ok(PCoherenceResult {
        path: groups.path.clone(),
        n_groups,
        n_single_groups: groups.groups.len() - n_groups,
        n_sentences: rows.len(),
        n_sentences_without_known_token: rows.iter().filter(without).count(),
        p_coherence: mean(&coherences),
        random_pairs: RandomPairs { n_pairs: drawn.len(), seed, mean_cosine: mean(&drawn) },
        mean_cosine_across_groups: (across > 0).then(|| (all.pair_sum() - within) / across as f64),
        coherences,
    })
}

/// Draws pairs of positions in different groups, all equally likely. There are none with a single group. `ends` are the
/// positions after the last one of each group.
fn random_pairs(ends: &[usize], n: usize, seed: u64) -> impl Iterator<Item = (usize, usize)> {
    let total = ends.last().copied().unwrap_or(0);
    let start = |group: usize| if group == 0 { 0 } else { ends[group - 1] };
    // Draw the first position in proportion to its number of partners, then one of them. Ordered pairs are equally
    // likely.
    let mut weights: Vec<u128> = Vec::with_capacity(ends.len());
    for (group, &end) in ends.iter().enumerate() {
        let size = (end - start(group)) as u128;
        weights.push(weights.last().copied().unwrap_or(0) + size * (total as u128 - size));
    }
    let all = weights.last().copied().unwrap_or(0);
    let mut rng = senv_core::rng::stream(seed, "random caption pairs", &[]);
    (0..if all == 0 { 0 } else { n }).map(move |_| {
        let drawn = rng.random_range(0..all);
        let group = weights.partition_point(|&weight| weight <= drawn);
        let (start, end) = (if group == 0 { 0 } else { ends[group - 1] }, ends[group]);
        let first = rng.random_range(start..end);
        let second = rng.random_range(0..total - (end - start));
        (first, if second < start { second } else { second + end - start })
    })
}

impl PCoherenceResult {
    /// Formats the result with one value per line.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats the result, followed by the published values of other systems on the paper's captions (see
    /// [`crate::published_p_coherence`]).
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedPCoherence]) -> String {
        let mut table =
            TextTable::new([("cosines of captions", Align::Left), ("", Align::Left), ("mean", Align::Right)]);
        let groups = format!("{} groups", self.n_groups);
        table.row(["of the same image (P-coherence)".to_owned(), groups, number(self.p_coherence, 4)]);
        let random = &self.random_pairs;
        let drawn = format!("{} random pairs, seed {}", random.n_pairs, random.seed);
        table.row(["of different images".to_owned(), drawn, number(random.mean_cosine, 4)]);
        let exact = number(self.mean_cosine_across_groups, 4);
        table.row(["of different images".to_owned(), "all pairs".to_owned(), exact]);
        let difference = self.p_coherence.zip(self.mean_cosine_across_groups).map(|(same, other)| same - other);
        table.row(["difference".to_owned(), String::new(), number(difference, 4)]);
        if !published.is_empty() {
            table.rule();
        }
        for row in published {
            table.row([format!("{} [1]", row.system), "P-coherence".to_owned(), format!("{:.4}", row.p_coherence)]);
        }
        let mut text = table.to_string();
        text += &format!("{}: {} sentences", self.path.display(), self.n_sentences);
        if self.n_single_groups > 0 {
            text += &format!(", {} the only one of their group (in the control only)", self.n_single_groups);
        }
        if self.n_sentences_without_known_token > 0 {
            text += &format!(", {} without a known token (cosine 0)", self.n_sentences_without_known_token);
        }
        text.push('\n');
        if let Some(row) = published.first() {
            text += &format!("[1] {}\n", row.source);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_pair_across_groups_is_drawn_equally_often_and_no_other() {
        let ends = [3, 3, 4, 9]; // the second group is empty
        let group = |place: usize| ends.partition_point(|&end| end <= place);
        let n = 230_000;
        let mut counts: HashMap<(usize, usize), f64> = HashMap::new();
        for (i, j) in random_pairs(&ends, n, 5) {
            assert!(i < 9 && j < 9 && group(i) != group(j), "{i} {j}");
            *counts.entry((i, j)).or_default() += 1.0;
        }
        // Ordered pairs: 3 · 6 + 1 · 8 + 5 · 4 = 46, each expected 5,000 times.
        assert_eq!(counts.len(), 46);
        let chi_square: f64 = counts.values().map(|count| (count - 5000.0).powi(2) / 5000.0).sum();
        assert!(chi_square < 95.0, "{chi_square}"); // 45 degrees of freedom: p < 2e-5
        assert_eq!(random_pairs(&[4], 10, 1).count(), 0);
        assert_eq!(random_pairs(&[], 10, 1).count(), 0);
        let draw = |seed| random_pairs(&ends, 20, seed).collect::<Vec<_>>();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
