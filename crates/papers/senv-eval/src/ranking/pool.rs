//! Paraphrase ranking: at which rank among all sentences of a corpus does a sentence find its paraphrase?
//!
//! Every sentence of a paraphrase pair is a query. All other sentences are ranked by the cosine of their embeddings
//! with it, and the rank of its best paraphrase is recorded. Ties are optimistic, and its other paraphrases do not
//! count against it. The paper does not state what the pool contains, so two pools are measured:
//!
//! ```text
//! distinct   every different string once; the query's own string excluded                  the default
//! raw        every sentence of every pair, repeated as it occurs; only the query itself excluded
//! ```
//!
//! In the raw pool, the second occurrence of a string ranks above its paraphrase. Scores are products of blocks of unit
//! vectors in f32, at most 64 MiB at a time. Equal vectors have bit-identical scores and tie. Cosines that differ by
//! less than about 1e-7, such as those of the same words in a different order, may rank either way. On MSRP that
//! changes a few queries in ten thousand by one rank.
//!
//! Paper of the SNLI-finetuned Skip-thoughts, section 6.1.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Instant,
};

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use senv_core::{Control, Observer, Progress, SentenceEncoder, arrays::matmul_into, kernels};
use senv_data::ParaphraseSet;
use senv_metrics::{QueryRank, accuracy_at, mean_rank, query_rank};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    published::similarity::PublishedRanking,
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Number of scores computed at a time: 64 MiB of f32.
const BLOCK_SCORES: usize = 1 << 24;
/// Maximum number of queries in a block. More do not make the product faster, and progress is reported after each
/// block.
const BLOCK_QUERIES: usize = 512;

/// Result of paraphrase ranking in one pool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PoolRanking {
    /// Number of sentences in the pool, including the query.
    pub n_pool: usize,
    /// Number of queries.
    pub n_queries: usize,
    /// Mean rank of the best paraphrase (MRC); 1 is best; `None` without a query.
    pub mean_rank: Option<f64>,
    /// Share of queries whose nearest sentence is a paraphrase, in `[0, 1]`.
    pub accuracy_at_1: Option<f64>,
    /// Share of queries with a paraphrase among the nearest 10.
    pub accuracy_at_10: Option<f64>,
    /// Share of queries with a paraphrase among the nearest 100.
    pub accuracy_at_100: Option<f64>,
    /// Number of queries for which another sentence ties with the best paraphrase. The paraphrase ranks first.
    pub n_tied_queries: usize,
}

/// Result of an encoder on paraphrase ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankingResult {
    /// The files, whose sentences form one pool.
    pub paths: Vec<PathBuf>,
    /// Number of pairs.
    pub n_pairs: usize,
    /// Number of paraphrases among them.
    pub n_paraphrases: usize,
    /// Number of distinct sentences without a known token. Their cosine with all others is 0.
    pub n_sentences_without_known_token: usize,
    /// Result in the pool of distinct strings.
    pub distinct: PoolRanking,
    /// Result in the pool of all sentences as they occur.
    pub raw: PoolRanking,
    /// The rank of the best paraphrase of each query in the pool of distinct strings. Queries are in the order of their
    /// first occurrence (not part of the JSON).
    #[serde(skip)]
    pub ranks: Vec<usize>,
}

/// A query: a string that has paraphrases.
struct Query {
    number: usize,
    /// Its paraphrases, including itself if it is paired with itself.
    partners: BTreeSet<usize>,
    /// The positions of its sentences in the raw pool, for its paraphrase pairs.
    entries: Vec<usize>,
}

/// Ranks the sentences of all sets for each sentence that has a paraphrase.
///
/// `observer` receives a report after each block of queries. The result does not depend on the number of threads.
/// Memory: distinct sentences times the dimension, in f32, plus 64 MiB.
///
/// # Errors
/// [`Error::NothingToDo`] without a pair of paraphrases; [`Error::NotFinite`] if an embedding is not finite, with its
/// sentence; [`Error::Core`] if the embeddings do not fit into memory, or if the observer asked to stop.
pub fn evaluate_ranking(
    encoder: &dyn SentenceEncoder,
    sets: &[ParaphraseSet],
    observer: &dyn Observer,
) -> Result<RankingResult> {
    let n_paraphrases: usize = sets.iter().map(ParaphraseSet::n_paraphrases).sum();
    if n_paraphrases == 0 {
        return Err(Error::NothingToDo { what: "pairs of paraphrases (label 1)" });
    }
    let pairs = || sets.iter().flat_map(|set| &set.pairs);
    let embeddings = SentenceVectors::encode(encoder, pairs().flat_map(|pair| [&pair.first[..], &pair.second[..]]))?;
    embeddings.check_finite()?;
    let mut pool = Vec::new();
    let mut queries: BTreeMap<usize, Query> = BTreeMap::new();
    for pair in pairs() {
        let sides = [embeddings.number(&pair.first)?, embeddings.number(&pair.second)?];
        for (number, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            if pair.is_paraphrase {
                let new = || Query { number, partners: BTreeSet::new(), entries: Vec::new() };
                let query = queries.entry(number).or_insert_with(new);
                query.partners.insert(other);
                query.entries.push(pool.len());
            }
            pool.push(number);
        }
    }
    let without = (0..embeddings.n()).filter(|&number| embeddings.coverage(number).is_empty()).count();
    let mut units = embeddings.into_values();
    units.rows_mut().into_iter().for_each(|mut row| {
        row.as_slice_mut().map(kernels::l2_normalize);
    });
    let (distinct, raw) = rank_all(units.view(), &pool, &queries.into_values().collect::<Vec<_>>(), observer)?;
    Ok(RankingResult {
        paths: sets.iter().map(|set| set.path.clone()).collect(),
        n_pairs: pairs().count(),
        n_paraphrases,
        n_sentences_without_known_token: without,
        distinct: PoolRanking::of(units.nrows(), &distinct),
        raw: PoolRanking::of(pool.len(), &raw),
        ranks: distinct.iter().map(|query| query.rank).collect(),
    })
}

/// Returns the ranks of all queries in the distinct and in the raw pool. `pool` has the embedding index of each
/// sentence.
fn rank_all(
    units: ArrayView2<'_, f32>,
    pool: &[usize],
    queries: &[Query],
    observer: &dyn Observer,
) -> Result<(Vec<QueryRank>, Vec<QueryRank>)> {
    let n = units.nrows();
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); n];
    pool.iter().enumerate().for_each(|(place, &number)| places[number].push(place));
    let rows = (BLOCK_SCORES / n.max(1)).clamp(1, BLOCK_QUERIES).min(queries.len());
    let mut scores = Array2::zeros((rows, n));
    let (mut distinct, mut raw) = (Vec::with_capacity(queries.len()), Vec::new());
    let started = Instant::now();
    for (i, block) in queries.chunks(rows.max(1)).enumerate() {
        let numbers: Vec<usize> = block.iter().map(|query| query.number).collect();
        let vectors = units.select(Axis(0), &numbers);
        matmul_into(1.0, vectors.view(), units.t(), 0.0, scores.slice_axis_mut(Axis(0), (..block.len()).into()))?;
        let found = block
            .par_iter()
            .zip(scores.as_slice().unwrap_or_default().par_chunks(n))
            .map_init(Vec::new, |raw_scores, (query, scores)| rank(query, scores, pool, &places, raw_scores))
            .collect::<Result<Vec<_>>>()?;
        for (query, (in_distinct, in_raw)) in block.iter().zip(found) {
            distinct.extend(in_distinct);
            // Every sentence with this string has the same rank.
            raw.extend(in_raw.into_iter().flat_map(|rank| std::iter::repeat_n(rank, query.entries.len())));
        }
        let (done, seconds) = (i * rows + block.len(), started.elapsed().as_secs_f64());
        let control = observer.progress(&Progress {
            done: done as f64 / queries.len() as f64,
            units: done as u64,
            units_per_second: done as f64 / seconds.max(1e-9),
            seconds,
            ..Progress::default()
        });
        if control == Control::Stop {
            return Err(senv_core::Error::Interrupted { action: "ranking paraphrases" }.into());
        }
    }
    Ok((distinct, raw))
}

/// Returns the rank of a query among distinct strings, which have these scores, and among the sentences of the raw
/// pool.
fn rank(
    query: &Query,
    scores: &[f32],
    pool: &[usize],
    places: &[Vec<usize>],
    raw_scores: &mut Vec<f32>,
) -> Result<(Option<QueryRank>, Option<QueryRank>)> {
    let partners: Vec<usize> = query.partners.iter().copied().collect();
    let distinct = query_rank(scores, &partners, &[query.number])?;
    raw_scores.clear();
    raw_scores.extend(pool.iter().map(|&number| scores[number]));
    let relevant: Vec<usize> = partners.iter().flat_map(|&partner| &places[partner]).copied().collect();
    let raw = query_rank(raw_scores, &relevant, &query.entries[..1])?;
    Ok((distinct, raw))
}

impl PoolRanking {
    fn of(n_pool: usize, found: &[QueryRank]) -> Self {
        let ranks: Vec<usize> = found.iter().map(|found| found.rank).collect();
        let [accuracy_at_1, accuracy_at_10, accuracy_at_100] = [1, 10, 100].map(|k| accuracy_at(&ranks, k));
        Self {
            n_pool,
            n_queries: ranks.len(),
            mean_rank: mean_rank(&ranks),
            accuracy_at_1,
            accuracy_at_10,
            accuracy_at_100,
            n_tied_queries: found.iter().filter(|found| found.n_tied > 0).count(),
        }
    }
}

impl RankingResult {
    /// Formats one line per pool.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats one line per pool, followed by the published values (see [`crate::published_ranking`]).
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedRanking]) -> String {
        let columns = ["sentences", "queries", "mean rank (MRC)", "acc@1", "acc@10", "acc@100", "tied"];
        let mut table =
            TextTable::new(std::iter::once(("pool", Align::Left)).chain(columns.map(|name| (name, Align::Right))));
        for (name, pool) in [("distinct strings", &self.distinct), ("raw", &self.raw)] {
            let [at_1, at_10, at_100] =
                [pool.accuracy_at_1, pool.accuracy_at_10, pool.accuracy_at_100].map(|share| number(share, 4));
            let (n_pool, n_queries) = (pool.n_pool.to_string(), pool.n_queries.to_string());
            let (mean_rank, tied) = (number(pool.mean_rank, 1), pool.n_tied_queries.to_string());
            table.row([name.to_owned(), n_pool, n_queries, mean_rank, at_1, at_10, at_100, tied]);
        }
        if !published.is_empty() {
            table.rule();
        }
        for row in published {
            let [at_1, at_10, at_100] = row.accuracy_at_1_10_100.map(|share| format!("{share:.2}"));
            let name = format!("{} [1]", row.system);
            table.row([name, String::new(), String::new(), format!("{:.0}", row.mean_rank), at_1, at_10, at_100]);
        }
        let mut text = table.to_string();
        text += &format!("{} pairs, {} of them paraphrases", self.n_pairs, self.n_paraphrases);
        if self.n_sentences_without_known_token > 0 {
            let n = self.n_sentences_without_known_token;
            text += &format!("; {n} distinct sentences without a known token (cosine 0)");
        }
        text.push('\n');
        if let Some(row) = published.first() {
            text += &format!("[1] {}\n", row.source);
        }
        text
    }
}
