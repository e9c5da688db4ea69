//! Groups of sentences: the topics of a text.

mod file;
mod words;

use senv_core::{Rows, SentenceEncoder, Table, kernels};
use senv_index::{
    GroupCount, Groups, KMeansParams, assign_groups, counted_communities, counted_group_count, counted_k_means,
    counted_silhouette,
};
use serde::{Deserialize, Serialize};

use self::words::telling_words;
use super::distinct::Distinct;
use crate::error::Result;

/// A central sentence is left out if it has this cosine or more with one already shown.
const SAME: f32 = 0.9;
/// Sentences considered for each one shown.
const LOOKED_AT: usize = 20;
/// A rest has at least this many times the sentences of an average group.
const REST: usize = 4;

/// The method of grouping.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum GroupBy {
    /// K-means with the number of groups of the highest silhouette ([`senv_index::counted_group_count`]).
    Suggested,
    /// K-means with this number of groups ([`senv_index::counted_k_means`]); fewer if there are fewer distinct
    /// sentences.
    Count(usize),
    /// One group around each sentence with enough near neighbours ([`senv_index::counted_communities`]). Equal
    /// sentences count by their number. Sentences in no group are left out.
    Threshold {
        /// The minimum cosine with the central sentence, in `[-1, 1]`.
        cosine: f32,
        /// The minimum number of sentences per group, counting repetitions.
        min_size: usize,
    },
}

/// How sentences are grouped and groups described.
///
/// ```
/// let params = senv::jobs::GroupParams { by: senv::jobs::GroupBy::Count(20), ..senv::jobs::GroupParams::default() };
/// assert_eq!(params.n_words, 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupParams {
    /// The method of grouping.
    pub by: GroupBy,
    /// Words listed per group.
    pub n_words: usize,
    /// Sentences listed per group.
    pub n_central: usize,
    /// Seed of the initial centroids and of samples.
    pub seed: u64,
    /// Number of runs with different initial centroids ([`senv_index::KMeansParams::starts`]).
    pub starts: Option<usize>,
}

impl Default for GroupParams {
    /// The suggested number of groups, eight words and three sentences per group, seed 1, automatic starts.
    fn default() -> Self {
        Self { by: GroupBy::Suggested, n_words: 8, n_central: 3, seed: 1, starts: None }
    }
}

impl GroupParams {
    fn of_k_means(&self, n_groups: usize) -> KMeansParams {
        KMeansParams { seed: self.seed, starts: self.starts, ..KMeansParams::new(n_groups) }
    }
}

/// A group of sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Group {
    /// The number of its sentences, counting repetitions.
    pub size: usize,
    /// The words that distinguish it from the others, most distinctive first.
    pub words: Vec<String>,
    /// Its most central distinct sentences.
    pub central: Vec<String>,
}

/// Groups to which sentences can be assigned, from [`group_sentences`] or from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TextGroups {
    /// The groups, largest first.
    pub groups: Vec<Group>,
    /// A unit vector for each group.
    pub centroids: Table,
    /// Sentences with a lower cosine to every centroid are in no group, in `[-1, 1]`.
    pub min_cosine: f32,
}

/// The group of each sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grouping {
    /// The group of each sentence, from 0; `None` if it is in no group.
    pub group_of: Vec<Option<u32>>,
    /// The cosine of each sentence with the centroid of its group, in `[-1, 1]`; 0 if it is in no group.
    pub cosines: Vec<f32>,
    /// The mean silhouette of the groups, in `[-1, 1]` ([`senv_index::counted_silhouette`]). It is near or below 0
    /// if groups are not separate; `None` with fewer than two.
    pub silhouette: Option<f64>,
    /// The numbers of groups that were tried, for [`GroupBy::Suggested`].
    pub count: Option<GroupCount>,
}

/// Divides sentences into groups of similar meaning, and finds the distinctive words and central sentences of each.
///
/// Equal sentences are in one group, and count by their number with every method. A sentence without a known word is in
/// none. The result depends only on the sentences and the parameters, not on the number of threads. Memory is `4 dim`
/// bytes plus about 100 for each distinct sentence, and 250 more with a threshold. `progress` is called with the
/// approximate share done.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::jobs::{GroupBy, GroupParams};
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls on hills.", "The late train arrives.", "Rain and wind came."];
/// let params = GroupParams { by: GroupBy::Count(2), ..GroupParams::default() };
/// let (found, grouping) = senv::jobs::group_sentences(&english, &sentences, &params, |_| {})?;
/// assert_eq!(grouping.group_of[0], grouping.group_of[2]);
/// assert_ne!(grouping.group_of[0], grouping.group_of[1]);
/// assert!(found.groups.iter().any(|group| group.words.contains(&"rain".into())));
/// // New sentences come into the groups that are there.
/// let new = found.assign(&english, &["A train came late."])?;
/// assert_eq!(new.group_of[0], grouping.group_of[0]);
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// * [`senv_index::Error::NonFinite`] if the encoder gives a vector that is not finite.
/// * [`senv_core::Error::InvalidParameter`] if the number of groups or of starts is 0, or a threshold is outside
///   `[-1, 1]`.
/// * [`senv_core::Error::TooLarge`] if the vectors do not fit in memory.
pub fn group_sentences<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    params: &GroupParams,
    mut progress: impl FnMut(f64),
) -> Result<(TextGroups, Grouping)> {
    let distinct = Distinct::of(sentences);
    let vectors = distinct.encode(encoder, sentences)?;
    let counts = distinct.counts();
    let mut count = None;
    let found = match params.by {
        GroupBy::Threshold { cosine, min_size } => counted_communities(&vectors, &counts, cosine, min_size, progress)?,
        GroupBy::Count(n_groups) => counted_k_means(&vectors, &counts, &params.of_k_means(n_groups), progress)?,
        GroupBy::Suggested => {
            let suggested = counted_group_count(&vectors, &counts, params.seed, |share| progress(share / 2.0))?;
            let params = params.of_k_means(suggested.n_groups);
            count = Some(suggested);
            counted_k_means(&vectors, &counts, &params, |share| progress(0.5 + share / 2.0))?
        }
    };
    let silhouette = counted_silhouette(&vectors, &counts, &found.group_of)?;
    let texts = distinct.texts(sentences);
    let words = telling_words(&texts, &counts, &found.group_of, found.centroids.n_rows(), params.n_words);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); found.centroids.n_rows()];
    found
        .group_of
        .iter()
        .enumerate()
        .for_each(|(row, group)| group.iter().for_each(|&group| members[group as usize].push(row)));
    let sizes = sizes(&found, &distinct);
    let group = |(number, words): (usize, Vec<String>)| {
        let rows = &mut members[number];
        rows.sort_by(|&a, &b| found.cosines[b].total_cmp(&found.cosines[a]));
        let central = central(rows, &vectors, params.n_central).iter().map(|&row| texts[row].to_owned()).collect();
        Group { size: sizes[number], words, central }
    };
    let groups = words.into_iter().enumerate().map(group).collect();
    let min_cosine = if let GroupBy::Threshold { cosine, .. } = params.by { cosine } else { -1.0 };
    let grouping = Grouping { silhouette, count, ..of_sentences(&found, &distinct) };
    Ok((TextGroups { groups, centroids: found.centroids, min_cosine }, grouping))
}

/// The first `n` of the ranked rows, without those that repeat an earlier one.
fn central(ranked: &[usize], vectors: &Table, n: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for &row in ranked.iter().take(n.saturating_mul(LOOKED_AT)) {
        if chosen.len() == n {
            break;
        }
        if chosen.iter().all(|&other| kernels::cosine(vectors.row(row), vectors.row(other)) < SAME) {
            chosen.push(row);
        }
    }
    chosen
}

impl TextGroups {
    /// The group that takes what fits no other, if there is one. Of at least five groups that take all sentences, it is
    /// the one with the most, with four times the average or more. Its sentences have a lower mean cosine with its
    /// center than those of most groups with theirs.
    ///
    /// ```
    /// # #[cfg(feature = "english")] {
    /// use senv::jobs::{GroupBy, GroupParams};
    /// let english = senv::english()?;
    /// let sentences = ["The train is late.", "Rain falls.", "A late train.", "Rain and wind."];
    /// let params = GroupParams { by: GroupBy::Count(2), ..GroupParams::default() };
    /// let (found, grouping) = senv::jobs::group_sentences(&english, &sentences, &params, |_| {})?;
    /// assert_eq!(found.rest(&grouping), None);
    /// # }
    /// # Ok::<(), senv::Error>(())
    /// ```
    #[must_use]
    pub fn rest(&self, grouping: &Grouping) -> Option<usize> {
        let n_groups = self.groups.len();
        if self.min_cosine > -1.0 {
            return None;
        }
        let (mut sizes, mut sums) = (vec![0_usize; n_groups], vec![0.0_f64; n_groups]);
        for (group, &cosine) in grouping.group_of.iter().zip(&grouping.cosines) {
            if let Some(group) = group.map(|group| group as usize).filter(|&group| group < n_groups) {
                sizes[group] += 1;
                sums[group] += f64::from(cosine);
            }
        }
        let mean = |group: usize| sums[group] / sizes[group] as f64;
        let largest = (0..n_groups).reduce(|a, b| if sizes[b] > sizes[a] { b } else { a })?;
        let used: Vec<usize> = (0..n_groups).filter(|&group| sizes[group] > 0).collect();
        let n_nearer = used.iter().filter(|&&group| mean(group) > mean(largest)).count();
        let is_large = sizes[largest] * used.len() >= REST * sizes.iter().sum::<usize>();
        (used.len() > REST && is_large && 2 * n_nearer > used.len()).then_some(largest)
    }

    /// Assigns each sentence to the group of the nearest centroid. The groups do not change.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the encoder's dimension differs from that of the groups; the errors of
    /// [`group_sentences`].
    pub fn assign<E: SentenceEncoder + ?Sized>(&self, encoder: &E, sentences: &[impl AsRef<str>]) -> Result<Grouping> {
        let distinct = Distinct::of(sentences);
        let vectors = distinct.encode(encoder, sentences)?;
        let found = assign_groups(&vectors, self.centroids.clone(), self.min_cosine)?;
        let silhouette = counted_silhouette(&vectors, &distinct.counts(), &found.group_of)?;
        Ok(Grouping { silhouette, ..of_sentences(&found, &distinct) })
    }
}

/// The result for each sentence, from that for the distinct ones.
fn of_sentences(found: &Groups, distinct: &Distinct) -> Grouping {
    Grouping {
        group_of: distinct.rows.iter().map(|&row| found.group_of[row as usize]).collect(),
        cosines: distinct.rows.iter().map(|&row| found.cosines[row as usize]).collect(),
        silhouette: None,
        count: None,
    }
}

/// The number of sentences in each group, counting repetitions.
fn sizes(found: &Groups, distinct: &Distinct) -> Vec<usize> {
    let mut sizes = vec![0; found.centroids.n_rows()];
    distinct.rows.iter().filter_map(|&row| found.group_of[row as usize]).for_each(|group| sizes[group as usize] += 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups with these sizes and mean cosines to their centers.
    fn of(groups: &[(usize, f32)], min_cosine: f32) -> (TextGroups, Grouping) {
        let group = |&(size, _): &(usize, f32)| Group { size, words: Vec::new(), central: Vec::new() };
        let (mut group_of, mut cosines) = (vec![None], vec![0.0]);
        for (number, &(size, cosine)) in (0..).zip(groups) {
            group_of.extend(vec![Some(number); size]);
            cosines.extend(vec![cosine; size]);
        }
        let centroids = Table::from_vec(groups.len(), 1, vec![1.0; groups.len()]).unwrap();
        let grouping = Grouping { group_of, cosines, silhouette: None, count: None };
        (TextGroups { groups: groups.iter().map(group).collect(), centroids, min_cosine }, grouping)
    }

    #[test]
    fn a_rest_is_far_larger_and_less_alike_than_other_groups() {
        let rest = |groups: &[(usize, f32)]| {
            let (found, grouping) = of(groups, -1.0);
            found.rest(&grouping)
        };
        let small = [(10, 0.6), (10, 0.7), (10, 0.5), (10, 0.8), (10, 0.6), (10, 0.7)];
        let with = |size: usize, cosine: f32| [&[(size, cosine)], &small[..]].concat();
        assert_eq!(rest(&with(100, 0.3)), Some(0));
        // 80 of 140 are four times the mean of seven groups, 79 of 139 less.
        assert_eq!((rest(&with(80, 0.3)), rest(&with(79, 0.3))), (Some(0), None));
        // As alike as most, or one of few groups.
        assert_eq!(rest(&with(100, 0.65)), None);
        assert_eq!(rest(&[(1000, 0.1), (1, 0.9), (1, 0.9), (1, 0.9)]), None);
        assert_eq!((rest(&[]), rest(&[(5, 0.5)])), (None, None));
        // With a threshold, what fits no group is in none.
        let (found, grouping) = of(&with(100, 0.3), 0.2);
        assert_eq!(found.rest(&grouping), None);
    }
}
