//! The most similar pairs within a text or between two texts.
//!
//! Equation: `ratio-margin`
//!
//! ```text
//! margin(x, y) = cos(x, y) / ( Σ_{z ∈ NN_k(x)} cos(x, z) / 2k  +  Σ_{z ∈ NN_k(y)} cos(y, z) / 2k )
//! ```
//!
//! (Artetxe and Schwenk 2019, ratio.) NN_k are the k nearest other sentences; between two texts, those of the other
//! text.

use std::collections::HashSet;

use senv_core::{SentenceEncoder, Table};
use senv_index::{IndexParams, PairSearch, VectorIndex, for_neighbours, for_neighbours_in, nearest_pairs_where};

use super::{
    distinct::{Distinct, encode_lists},
    guard::{Guard, GuardedTexts},
};
use crate::error::Result;

/// Which pairs to find.
///
/// ```
/// let params = senv::jobs::MineParams { n: 10, max_cosine: 0.95, ..senv::jobs::MineParams::default() };
/// assert!(params.margin.is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MineParams<'a> {
    /// Maximum number of pairs.
    pub n: usize,
    /// Pairs with a lower cosine are left out, in `[-1, 1]`.
    pub min_cosine: f32,
    /// Pairs with a higher cosine are left out.
    pub max_cosine: f32,
    /// The number of neighbours, at least 1, to rank pairs by margin ([`MinedPair::score`]) instead of cosine.
    pub margin: Option<usize>,
    /// Whether a sentence can be in only one pair, its best.
    pub once: bool,
    /// Leaves out pairs that name different things ([`Guard`]). `None` compares only vectors.
    pub guard: Option<&'a Guard<'a>>,
}

impl Default for MineParams<'_> {
    /// The hundred nearest pairs with a cosine of at least 0.7.
    fn default() -> Self {
        Self { n: 100, min_cosine: 0.7, max_cosine: f32::INFINITY, margin: None, once: false, guard: None }
    }
}

/// A pair of similar sentences.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MinedPair {
    /// Position of the first sentence, from 0.
    pub first: usize,
    /// Position of the second sentence: in the second text if there are two, otherwise after `first`.
    pub second: usize,
    /// Their cosine, in `[-1, 1]`.
    pub cosine: f32,
    /// The value that ranks pairs: the cosine, or the margin. The margin is the cosine divided by the mean cosine of
    /// both with their neighbours; it is above 1 if they are nearer to each other than to others.
    pub score: f32,
}

/// Finds the most similar pairs of sentences within a text, or between two texts; best first, equal ones in text order.
///
/// Equal sentences count as one, so they are not a pair within a text. By cosine, the search is exact: all pairs are
/// compared ([`senv_index::nearest_pairs_where`]), and a lower minimum cosine takes longer. By margin, candidates are
/// the nearest neighbours of each sentence, of which 99 in 100 are found ([`VectorIndex`]). Memory is `4 dim` bytes
/// plus about 250 for each distinct sentence; by margin, 12 more for each neighbour. `progress` is called with the
/// number of distinct sentences compared, and their total.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::jobs::MineParams;
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls.", "Trains are late again."];
/// let pairs = senv::jobs::mine(&english, &sentences, None::<&[&str]>, &MineParams { min_cosine: 0.3, ..MineParams::default() }, |_, _| {})?;
/// assert_eq!((pairs[0].first, pairs[0].second), (0, 2));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`](crate::jobs::duplicates); [`senv_core::Error::InvalidParameter`] for a margin of 0
/// neighbours.
pub fn mine<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    others: Option<&[impl AsRef<str>]>,
    params: &MineParams<'_>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<MinedPair>> {
    let distinct = Distinct::of(sentences);
    let of_others = others.map(Distinct::of);
    let n_first = distinct.firsts.len();
    let mut lists = vec![distinct.texts(sentences)];
    lists.extend(of_others.as_ref().zip(others).map(|(distinct, others)| distinct.texts(others)));
    let between = of_others.is_some();
    let guarded = GuardedTexts::new(params.guard, lists.concat());
    let mut pairs = match params.margin {
        None => {
            let vectors = encode_lists(encoder, &lists)?;
            let n_compared = if between { n_first } else { vectors.n_rows() };
            by_cosine(&vectors, between.then_some(n_first), params, &guarded, |done| progress(done, n_compared))?
        }
        Some(k) => {
            let tables: Vec<Table> =
                lists.into_iter().map(|list| encode_lists(encoder, &[list])).collect::<Result<_>>()?;
            by_margin(tables, k, params, &guarded, &mut progress)?
        }
    };
    let position = |row: usize| match (&of_others, row.checked_sub(n_first)) {
        (Some(others), Some(row)) => others.firsts[row],
        _ => distinct.firsts[row],
    };
    for pair in &mut pairs {
        (pair.first, pair.second) = (position(pair.first), position(pair.second));
    }
    Ok(pairs)
}

/// The pairs of rows with the highest cosine.
fn by_cosine(
    vectors: &Table,
    between: Option<usize>,
    params: &MineParams<'_>,
    guarded: &GuardedTexts<'_>,
    mut progress: impl FnMut(usize),
) -> Result<Vec<MinedPair>> {
    let MineParams { n, min_cosine, max_cosine, once, .. } = *params;
    // Searches for more than needed, because another search takes as long as the first.
    let mut wanted = if once { n.saturating_mul(8) } else { n };
    loop {
        let search = PairSearch { n: wanted, min_cosine, max_cosine, between };
        let pairs = nearest_pairs_where(vectors, &search, |a, b| guarded.is_same(a, b), &mut progress)?;
        let n_found = pairs.len();
        let mined = pairs.into_iter().map(|pair| MinedPair {
            first: pair.first,
            second: pair.second,
            cosine: pair.cosine,
            score: pair.cosine,
        });
        let mined = cut(mined, n, once);
        // Pairs that share a sentence with a better one took the place of others.
        if mined.len() == n || n_found < wanted {
            return Ok(mined);
        }
        wanted = wanted.saturating_mul(8);
    }
}

/// The pairs with the highest margin, of rows of one table or of two.
fn by_margin(
    mut tables: Vec<Table>,
    k: usize,
    params: &MineParams<'_>,
    guarded: &GuardedTexts<'_>,
    progress: &mut impl FnMut(usize, usize),
) -> Result<Vec<MinedPair>> {
    if k == 0 {
        let (name, requirement, got) = ("margin", "at least 1 neighbor", "0".into());
        return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
    }
    let build = |table| VectorIndex::build(table, &IndexParams::default());
    let other = (tables.len() > 1).then(|| build(tables.remove(1))).transpose()?;
    let index = build(tables.remove(0))?;
    let all = index.len() + other.as_ref().map_or(0, VectorIndex::len);
    // The mean cosine of each row with its neighbours, for each side, and the pairs by row of the first side.
    let mut means = [Vec::new(), Vec::new()];
    let mut edges: Vec<(u32, u32, f32)> = Vec::new();
    let mut done = 0;
    // As all pairs are compared elsewhere: 1 is up to rounding.
    let least = params.min_cosine.min(senv_index::EQUAL_COSINE);
    for (side, means) in means.iter_mut().enumerate() {
        let visit = |row: usize, near: &[senv_index::Neighbour]| {
            means.push(near.iter().map(|near| near.cosine).sum::<f32>() / near.len().max(1) as f32);
            for near in near.iter().filter(|near| (least..=params.max_cosine).contains(&near.cosine)) {
                let (a, b) = (row as u32, near.row as u32);
                let (a, b) = if other.is_some() && side == 1 || other.is_none() && b < a { (b, a) } else { (a, b) };
                edges.push((a, b, near.cosine));
            }
            done += 1;
            progress(done, all);
            Ok(())
        };
        match (&other, side) {
            (None, 0) => for_neighbours(&index, k, visit)?,
            (None, _) => {}
            (Some(other), 0) => for_neighbours_in(&index, other, k, visit)?,
            (Some(other), _) => for_neighbours_in(other, &index, k, visit)?,
        }
    }
    edges.sort_unstable_by_key(|&(a, b, _)| (a, b));
    edges.dedup_by_key(|&mut (a, b, _)| (a, b));
    let start = if other.is_some() { index.len() } else { 0 };
    edges.retain(|&(a, b, _)| guarded.is_same(a as usize, start + b as usize));
    let of_second = if other.is_some() { &means[1] } else { &means[0] };
    let scored = |(a, b, cosine): (u32, u32, f32)| {
        let mean = (means[0][a as usize] + of_second[b as usize]) / 2.0;
        // A mean of zero cannot be a divisor.
        let score = if mean > 1e-6 { cosine / mean } else { 0.0 };
        MinedPair { first: a as usize, second: start + b as usize, cosine, score }
    };
    let mut pairs: Vec<MinedPair> = edges.into_iter().map(scored).collect();
    pairs.sort_by(|x, y| y.score.total_cmp(&x.score));
    Ok(cut(pairs.into_iter(), params.n, params.once))
}

/// The first `n` ranked pairs; with `once`, only those whose sentences are in no better pair.
fn cut(pairs: impl Iterator<Item = MinedPair>, n: usize, once: bool) -> Vec<MinedPair> {
    if !once {
        return pairs.take(n).collect();
    }
    let mut used = HashSet::new();
    let is_new = |pair: &MinedPair| {
        let is_new = !used.contains(&pair.first) && !used.contains(&pair.second);
        if is_new {
            used.extend([pair.first, pair.second]);
        }
        is_new
    };
    pairs.filter(is_new).take(n).collect()
}
