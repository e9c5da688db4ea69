//! P-coherence of captions, with the cosine of unrelated captions as a control.
//!
//! An encoder that gives every sentence nearly the same direction reaches a P-coherence near 1, which means nothing.
//! What counts is how much more similar the captions of one image are than captions of different images, so both are
//! measured: on pairs drawn at random, as is usual, and exactly on all such pairs.

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

/// Default number of random pairs of [`evaluate_p_coherence`]: the standard error of their mean is about 0.002.
pub const DEFAULT_RANDOM_PAIRS: usize = 10_000;

/// The control: captions of different images.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RandomPairs {
    /// Pairs drawn, uniformly among all pairs of sentences of different groups.
    pub n_pairs: usize,
    /// The random seed of the draws.
    pub seed: u64,
    /// The mean of their cosines, in `[-1, 1]`; `None` with a single group, or no pair.
    pub mean_cosine: Option<f64>,
}

/// Result of an encoder on groups of sentences that mean the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PCoherenceResult {
    /// The file.
    pub path: PathBuf,
    /// Groups of two sentences or more: what the mean is over.
    pub n_groups: usize,
    /// Groups of one sentence, which have no coherence; their sentences are used in the control alone.
    pub n_single_groups: usize,
    /// Sentences of all groups.
    pub n_sentences: usize,
    /// Of these, sentences without a known token: their cosine with all others is 0.
    pub n_sentences_without_known_token: usize,
    /// Mean over the groups of the mean cosine of their pairs, in `[-1, 1]`.
    pub p_coherence: Option<f64>,
    /// Cosines of random pairs of sentences of different groups.
    pub random_pairs: RandomPairs,
    /// The mean cosine of all pairs of sentences of different groups, which the random pairs estimate.
    pub mean_cosine_across_groups: Option<f64>,
    /// The mean cosine of each group that the P-coherence is the mean of (not part of the JSON).
    #[serde(skip)]
    pub coherences: Vec<f64>,
}

/// Measures the P-coherence of groups, and the mean cosine of `n_random` pairs across groups drawn with `seed`.
///
/// Memory: distinct sentences times the dimension, in f32. Each group costs its sentences, not its pairs.
///
/// # Errors
/// [`Error::NothingToDo`] without a group of two; [`Error::NotFinite`] if an embedding is not, with its sentence;
/// [`Error::Core`] if the embeddings do not fit into memory.
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
/// // `First` looks at the first letter alone: cosine 1 in the first group, 0 in the second and across.
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
    // The sentences group by group, by the index of their embedding.
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

/// Pairs of positions in different groups, all equally likely; none with a single group. `ends` are the positions after
/// the last one of each group.
fn random_pairs(ends: &[usize], n: usize, seed: u64) -> impl Iterator<Item = (usize, usize)> {
    let total = ends.last().copied().unwrap_or(0);
    let start = |group: usize| if group == 0 { 0 } else { ends[group - 1] };
    // The first position is drawn by its number of partners, then one of these: ordered pairs are equally likely.
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
    /// The result as text, one number a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// The result, followed by the published values of other systems on the paper's captions (see
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
