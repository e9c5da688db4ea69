//! Groups of sentences: what is in a text.

mod file;
mod words;

use std::cmp::Reverse;

use senv_core::{Rows, SentenceEncoder, Table, kernels};
use senv_index::{
    GroupCount, Groups, KMeansParams, assign_groups, communities, cosine_silhouette, group_count, k_means,
};
use serde::{Deserialize, Serialize};

use self::words::telling_words;
use super::distinct::Distinct;
use crate::error::Result;

/// A central sentence is not shown beside one of this cosine with it.
const SAME: f32 = 0.9;
/// Sentences that are looked at for each that is shown.
const LOOKED_AT: usize = 20;

/// How sentences are divided into groups.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum GroupBy {
    /// Into the number of groups of the highest silhouette ([`senv_index::group_count`]).
    Suggested,
    /// Into so many groups ([`senv_index::k_means`]); fewer where fewer sentences differ.
    Count(usize),
    /// Into as many groups as there are around a sentence with others near to it ([`senv_index::communities`]).
    /// Sentences that are in none are left out.
    Threshold {
        /// The least cosine with the sentence in the middle, in `[-1, 1]`.
        cosine: f32,
        /// The least number of distinct sentences of a group.
        min_size: usize,
    },
}

/// How sentences are grouped and what is said of each group.
///
/// ```
/// let params = senv::jobs::GroupParams { by: senv::jobs::GroupBy::Count(20), ..senv::jobs::GroupParams::default() };
/// assert_eq!(params.n_words, 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupParams {
    /// How they are divided.
    pub by: GroupBy,
    /// Words that are named of each group.
    pub n_words: usize,
    /// Sentences that are named of each group.
    pub n_central: usize,
    /// Seed of the first centroids and of samples.
    pub seed: u64,
    /// Times that a number of groups is looked for from other first centroids ([`senv_index::KMeansParams::starts`]).
    pub starts: Option<usize>,
}

impl Default for GroupParams {
    /// The suggested number of groups, eight words and three sentences of each, seed 1, automatic starts.
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
    /// Sentences in it, equal ones counted each.
    pub size: usize,
    /// The words that set it apart from the others, the most telling first.
    pub words: Vec<String>,
    /// Its most central sentences that differ.
    pub central: Vec<String>,
}

/// Groups that sentences can be put into: what [`group_sentences`] finds, or a file holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TextGroups {
    /// The groups, the largest first.
    pub groups: Vec<Group>,
    /// A unit vector for each group.
    pub centroids: Table,
    /// Sentences of a lower cosine with every centroid are in no group, in `[-1, 1]`.
    pub min_cosine: f32,
}

/// Which group each sentence is in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grouping {
    /// The group of each sentence, from 0; `None` of one that is in none.
    pub group_of: Vec<Option<u32>>,
    /// The cosine of each sentence with the centroid of its group, in `[-1, 1]`; 0 of one that is in none.
    pub cosines: Vec<f32>,
    /// The mean silhouette of the groups, in `[-1, 1]` ([`senv_index::cosine_silhouette`]): near 0, or below, where
    /// groups are not apart; `None` with fewer than two.
    pub silhouette: Option<f64>,
    /// The numbers of groups that were tried, if one was to be suggested.
    pub count: Option<GroupCount>,
}

/// Divides sentences into groups of like meaning, and says of each which words set it apart and which sentences are in
/// its middle.
///
/// Equal sentences are in one group. A sentence without a known word is in none. The answer depends on the sentences
/// and the parameters alone, not on the number of threads. Takes `4 dim` bytes, and some 100 more, for each distinct
/// sentence, 250 more with a threshold. `progress` is called with the share that is done, about.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::jobs::{GroupBy, GroupParams};
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls on the hills.", "The late train arrives.", "Rain and wind came."];
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
/// [`senv_index::Error::NonFinite`] if the encoder gives a vector that is not finite;
/// [`senv_core::Error::InvalidParameter`] for a number of groups or of starts of 0, or a threshold outside of
/// `[-1, 1]`; [`senv_core::Error::TooLarge`] if the vectors do not fit into memory.
pub fn group_sentences<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    params: &GroupParams,
    mut progress: impl FnMut(f64),
) -> Result<(TextGroups, Grouping)> {
    let distinct = Distinct::of(sentences);
    let vectors = distinct.encode(encoder, sentences)?;
    let mut count = None;
    let found = match params.by {
        GroupBy::Threshold { cosine, min_size } => communities(&vectors, cosine, min_size, progress)?,
        GroupBy::Count(n_groups) => k_means(&vectors, &params.of_k_means(n_groups), progress)?,
        GroupBy::Suggested => {
            let suggested = group_count(&vectors, params.seed, |share| progress(share / 2.0))?;
            let params = params.of_k_means(suggested.n_groups);
            count = Some(suggested);
            k_means(&vectors, &params, |share| progress(0.5 + share / 2.0))?
        }
    };
    let silhouette = cosine_silhouette(&vectors, &found.group_of);
    let found = by_size(found, &distinct)?;
    let texts = distinct.texts(sentences);
    let words = telling_words(&texts, &found.group_of, found.centroids.n_rows(), params.n_words);
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

/// The first `n` of ranked rows, without those that say what an earlier one says.
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
    /// Puts each sentence into the group of the nearest centroid. The groups do not change.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the encoder has another dimension than the groups; as
    /// [`group_sentences`].
    pub fn assign<E: SentenceEncoder + ?Sized>(&self, encoder: &E, sentences: &[impl AsRef<str>]) -> Result<Grouping> {
        let distinct = Distinct::of(sentences);
        let vectors = distinct.encode(encoder, sentences)?;
        let found = assign_groups(&vectors, self.centroids.clone(), self.min_cosine)?;
        let silhouette = cosine_silhouette(&vectors, &found.group_of);
        Ok(Grouping { silhouette, ..of_sentences(&found, &distinct) })
    }
}

/// What holds of the distinct sentences, for each sentence.
fn of_sentences(found: &Groups, distinct: &Distinct) -> Grouping {
    Grouping {
        group_of: distinct.rows.iter().map(|&row| found.group_of[row as usize]).collect(),
        cosines: distinct.rows.iter().map(|&row| found.cosines[row as usize]).collect(),
        silhouette: None,
        count: None,
    }
}

/// Sentences in each group, equal ones counted each.
fn sizes(found: &Groups, distinct: &Distinct) -> Vec<usize> {
    let mut sizes = vec![0; found.centroids.n_rows()];
    distinct.rows.iter().filter_map(|&row| found.group_of[row as usize]).for_each(|group| sizes[group as usize] += 1);
    sizes
}

/// The groups in the order of their sentences, equal ones counted each; of equal sizes as they were.
fn by_size(found: Groups, distinct: &Distinct) -> Result<Groups> {
    let sizes = sizes(&found, distinct);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&group| Reverse(sizes[group]));
    let mut number = vec![0; order.len()];
    (0..).zip(&order).for_each(|(new, &old)| number[old] = new);
    let dim = found.centroids.dim();
    let values = order.iter().flat_map(|&group| found.centroids.row(group)[..dim].to_vec()).collect();
    Ok(Groups {
        centroids: Table::from_vec(order.len(), dim, values)?,
        group_of: found.group_of.iter().map(|group| group.map(|group| number[group as usize])).collect(),
        cosines: found.cosines,
    })
}
