//! The ranking of rows or documents for one query.
//!
//! Cosines of all rows are estimated by their codes, or computed if they are few. The estimates give the mean and the
//! deviation of the cosines, and the candidates, whose cosines are then computed with the stored vectors. So few rows
//! are read.

use rayon::prelude::*;

use super::{Collection, CollectionRanker};
use crate::{
    Result,
    best::{Best, Scored},
    documents::{JoinMethod, RankBy, Spread},
    rows::unit,
};

/// The fewest candidates, and how many there are for each wanted result.
const CANDIDATES: (usize, usize) = (512, 8);
/// The most rows of a document whose cosines are computed: those with the highest estimates.
const MOST_ROWS: usize = 64;
/// Up to so many rows, all cosines are computed.
const FEW_ROWS: usize = 2048;
/// Below this, a sum is 0 apart from rounding.
const LEAST_SUM: f64 = 1e-9;
/// Scores that one thread takes at a time.
const SCORES: usize = 1 << 14;

/// A row or document that a ranking found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedRow {
    /// The score; higher is better. Scores of [`RankBy::Hybrid`] are comparable only within a query.
    pub score: f64,
    /// The position of the row; of the one nearest to the query in a document.
    pub position: usize,
    /// The cosine of that row with the query; 0 if one of them has no vector.
    pub cosine: f32,
}

/// All that is ranked for one query ([`CollectionRanker::rank`]).
#[derive(Debug)]
pub struct Ranking<'a> {
    ranker: &'a CollectionRanker,
    collection: &'a Collection,
    by: RankBy,
    unit: Option<Vec<f32>>,
    /// Scores by words.
    words: Vec<f32>,
    /// Estimated cosines of rows by position; empty if not needed.
    estimates: Vec<f32>,
    /// Estimated cosines with the whole of each document, or with each row, and with the nearest row of each document.
    wholes: Vec<f32>,
    nearest: Vec<f32>,
    /// What is known of the scores by words and of both cosines.
    spreads: [Spread; 3],
    /// Those with a lower cosine are left out.
    least: f32,
}

/// The scores of one row or document.
#[derive(Debug, Clone, Copy)]
struct Parts {
    words: f32,
    whole: f32,
    nearest: f32,
}

impl Parts {
    fn scores(self) -> [f64; 3] {
        [self.words, self.whole, self.nearest].map(f64::from)
    }
}

/// A candidate with computed cosines.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    number: u32,
    parts: Parts,
    position: usize,
    cosine: f32,
}

impl CollectionRanker {
    /// Ranks by a query and its vector. `collection` is the one that was prepared. Rows that are ranked individually
    /// have one cosine, which [`RankBy::Document`] and [`RankBy::BestSentence`] both mean.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the vector has a different dimension;
    /// [`senv_core::Error::InvalidParameter`] if it contains NaN or infinity, or the collection is not in the state
    /// that was prepared; [`Damaged`](crate::Error::Damaged).
    pub fn rank<'a>(
        &'a self,
        collection: &'a Collection,
        query: &str,
        vector: &[f32],
        by: RankBy,
    ) -> Result<Ranking<'a>> {
        self.check(collection)?;
        let unit = unit(vector, collection.dim())?;
        let by = match by {
            RankBy::BestSentence if self.documents.is_none() => RankBy::Document,
            by => by,
        };
        let has_words = matches!(by, RankBy::Words | RankBy::Hybrid);
        let words = if has_words { self.word_scores(collection, query)? } else { vec![0.0; self.len()] };
        let (estimates, wholes, nearest, spreads) = Default::default();
        let (ranker, least) = (self, f32::NEG_INFINITY);
        let mut ranking = Ranking { ranker, collection, by, unit, words, estimates, wholes, nearest, spreads, least };
        if by != RankBy::Words {
            ranking.estimate()?;
            (ranking.wholes, ranking.nearest) = ranking.cosines();
            ranking.spreads = [&ranking.words, &ranking.wholes, &ranking.nearest].map(|scores| Spread::of(scores));
        }
        Ok(ranking)
    }
}

impl Ranking<'_> {
    /// Leaves out rows whose [`RankedRow::cosine`] is below `least`. Means and deviations still count every row.
    ///
    /// # Errors
    /// [`Damaged`](crate::Error::Damaged).
    pub fn min_cosine(mut self, least: f32) -> Result<Self> {
        if least > -1.0 && self.wholes.is_empty() {
            self.estimate()?;
            (self.wholes, self.nearest) = self.cosines();
        }
        self.least = least;
        Ok(self)
    }

    /// The `n` best, best first; the earlier of equal ones first. Fewer if fewer have a word of the query or a vector.
    ///
    /// # Errors
    /// [`Damaged`](crate::Error::Damaged).
    pub fn best(&mut self, n: usize) -> Result<Vec<RankedRow>> {
        let n_candidates = match self.by {
            RankBy::Words => n,
            _ => n.saturating_mul(CANDIDATES.1).max(CANDIDATES.0),
        };
        let is_by_ranks = self.by == RankBy::Hybrid && self.ranker.join.method == JoinMethod::ReciprocalRanks;
        let numbers = match is_by_ranks {
            true => self.nearest_of_each(n_candidates),
            false => self.highest(n_candidates, |parts| self.score(parts)),
        };
        let is_long = |&number: &u32| self.ranker.positions.rows(number as usize).len() > MOST_ROWS;
        if self.estimates.is_empty() && (self.collection.params().rescoring.is_none() || numbers.iter().any(is_long)) {
            self.estimate()?;
        }
        let candidates: Result<Vec<Candidate>> =
            numbers.into_par_iter().with_min_len(16).map(|number| self.computed(number)).collect();
        let candidates = candidates?;
        let mut scored: Vec<(f64, Candidate)> = match is_by_ranks {
            true => self.by_ranks(candidates),
            false => candidates.into_iter().map(|one| (self.score(one.parts).unwrap_or(f64::NAN), one)).collect(),
        };
        // Nothing stands out where all sums are 0, as they are for two opposite rankings of two documents.
        if self.by == RankBy::Hybrid && scored.iter().all(|(score, _)| score.is_nan() || score.abs() < LEAST_SUM) {
            let raw = |parts: Parts| self.ranker.join.sum(parts.scores());
            scored.iter_mut().filter(|(score, _)| !score.is_nan()).for_each(|(score, one)| *score = raw(one.parts));
        }
        // A cosine that was estimated can turn out to be 0.
        scored.retain(|(score, one)| !score.is_nan() && one.cosine >= self.least);
        scored.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.number.cmp(&other.number)));
        scored.truncate(n);
        let row = |(score, Candidate { position, cosine, .. })| RankedRow { score, position, cosine };
        Ok(scored.into_iter().map(row).collect())
    }

    /// Estimates the cosines of all rows, or computes them if they are few.
    fn estimate(&mut self) -> Result<()> {
        let Self { collection, unit, estimates, .. } = self;
        *estimates = vec![0.0; collection.n_positions()];
        let Some(unit) = unit else { return Ok(()) };
        let is_computed = collection.n_positions() <= FEW_ROWS && !collection.params().rescoring.is_none();
        for (segment, &start) in collection.segments.iter().zip(&collection.starts) {
            let of_segment = &mut estimates[start..start + segment.len()];
            if !is_computed {
                segment.index().estimate(unit, of_segment)?;
                continue;
            }
            let mut space = Vec::new();
            for (row, cosine) in of_segment.iter_mut().enumerate() {
                *cosine = segment.index().cosine(row, unit, &mut space)?.unwrap_or(0.0);
            }
        }
        Ok(())
    }

    /// The estimated cosines of all that is ranked: with wholes, and with nearest rows of documents.
    fn cosines(&self) -> (Vec<f32>, Vec<f32>) {
        let cosines = |number: usize| {
            let positions = self.ranker.positions.rows(number).iter().map(|&position| position as usize);
            let (whole, nearest, _) = self.combined(number, positions.map(|at| (at, self.estimates[at])));
            (whole, nearest)
        };
        let numbers = (0..self.ranker.len()).into_par_iter().with_min_len(SCORES);
        let (wholes, nearest): (Vec<f32>, Vec<f32>) = numbers.map(cosines).unzip();
        match self.ranker.documents {
            Some(_) => (wholes, nearest),
            None => (wholes, Vec::new()),
        }
    }

    /// The cosine with a whole document or with a row, that of its nearest row, and the position of that row. `rows`
    /// has all its positions with their cosines.
    fn combined(&self, number: usize, rows: impl Iterator<Item = (usize, f32)>) -> (f32, f32, usize) {
        let (mut best, mut nearest, mut sum) = (0.0, None, 0.0);
        for (position, cosine) in rows {
            if nearest.is_none() || cosine != 0.0 && (best == 0.0 || cosine > best) {
                (best, nearest) = (cosine, Some(position));
            }
            if let Some(lengths) = &self.ranker.documents {
                sum += cosine * lengths.of_positions[position];
            }
        }
        let whole = match &self.ranker.documents {
            // A damaged file can have lengths whose product overflows.
            Some(lengths) => {
                Some((sum * lengths.inverse[number]).clamp(-1.0, 1.0)).filter(|x| !x.is_nan()).unwrap_or(0.0)
            }
            None => best,
        };
        (whole, best, nearest.unwrap_or(0))
    }

    /// The scores of a row or document, with estimated cosines.
    fn parts(&self, number: usize) -> Parts {
        let of = |scores: &[f32]| scores.get(number).copied().unwrap_or(0.0);
        Parts { words: self.words[number], whole: of(&self.wholes), nearest: of(&self.nearest) }
    }

    /// The score of these parts; `None` if nothing was found.
    fn score(&self, parts: Parts) -> Option<f64> {
        let Parts { words, whole, nearest } = parts;
        let found = |score: f32| (score != 0.0).then_some(f64::from(score));
        match self.by {
            RankBy::Words => return found(words),
            RankBy::Document => return found(whole),
            RankBy::BestSentence => return found(nearest),
            RankBy::Hybrid => {}
        }
        let scores = parts.scores();
        self.ranker.join.finds(scores).then(|| {
            // Of one document, or of equal ones, nothing stands out.
            let is_flat = self.spreads.iter().all(|spread| spread.is_flat());
            let [of_words, of_wholes, of_nearest] = self.spreads;
            let standard = [of_words.z(scores[0]), of_wholes.z(scores[1]), of_nearest.z(scores[2])];
            self.ranker.join.sum(if is_flat { scores } else { standard })
        })
    }

    /// Whether its cosine can be high enough, by its estimate.
    fn may_reach(&self, parts: Parts) -> bool {
        // Errors are a tenth as large as this (`codes.rs`).
        let error = 1.0 / (self.collection.dim() as f32).sqrt();
        let cosine = if self.ranker.documents.is_some() { parts.nearest } else { parts.whole };
        self.least <= -1.0 || cosine + error >= self.least
    }

    /// The `n` with the highest scores.
    fn highest(&self, n: usize, score: impl Fn(Parts) -> Option<f64> + Sync) -> Vec<u32> {
        let of_part = |start: usize| {
            let mut best = Best::new(n);
            for number in start..self.ranker.len().min(start + SCORES) {
                let parts = self.parts(number);
                let Some(score) = score(parts).filter(|_| self.may_reach(parts)) else { continue };
                let scored = Scored { score: score as f32, row: number as u32 };
                if best.wants(&scored) {
                    best.push(scored);
                }
            }
            best
        };
        let parts: Vec<Best<Scored>> = (0..self.ranker.len()).into_par_iter().step_by(SCORES).map(of_part).collect();
        let best = parts.into_iter().reduce(Best::merge).unwrap_or_else(|| Best::new(n));
        best.into_sorted().into_iter().map(|scored| scored.row).collect()
    }

    /// The `n` highest by each of both cosines and by words, each once.
    fn nearest_of_each(&self, n: usize) -> Vec<u32> {
        let found = |score: f32| (score != 0.0).then_some(f64::from(score));
        let mut numbers = self.highest(n, |parts| found(parts.words));
        numbers.extend(self.highest(n, |parts| found(parts.whole)));
        numbers.extend(self.highest(n, |parts| found(parts.nearest)));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// A candidate with computed cosines; with estimates if no vectors are stored.
    fn computed(&self, number: u32) -> Result<Candidate> {
        let positions = self.ranker.positions.rows(number as usize);
        let estimate = |&position: &u32| self.estimates.get(position as usize).copied().unwrap_or(0.0);
        let mut cosines: Vec<f32> = positions.iter().map(estimate).collect();
        if let Some(unit) = &self.unit {
            let mut chosen: Vec<usize> = (0..positions.len()).collect();
            if chosen.len() > MOST_ROWS {
                chosen.select_nth_unstable_by(MOST_ROWS, |&a, &b| cosines[b].total_cmp(&cosines[a]));
                chosen.truncate(MOST_ROWS);
            }
            let mut space = Vec::new();
            for at in chosen {
                let Some((segment, row)) = self.collection.place(positions[at] as usize) else { continue };
                if let Some(cosine) = segment.index().cosine(row, unit, &mut space)? {
                    cosines[at] = cosine;
                }
            }
        }
        let rows = positions.iter().map(|&position| position as usize).zip(cosines);
        let (whole, cosine, position) = self.combined(number as usize, rows);
        let nearest = if self.ranker.documents.is_some() { cosine } else { 0.0 };
        let parts = Parts { words: self.words[number as usize], whole, nearest };
        Ok(Candidate { number, parts, position, cosine })
    }

    /// The candidates with the sums of their reciprocal ranks among all that is ranked.
    fn by_ranks(&self, candidates: Vec<Candidate>) -> Vec<(f64, Candidate)> {
        let widened = |scores: &[f32]| -> Vec<f64> { scores.iter().copied().map(f64::from).collect() };
        let mut wholes = widened(&self.wholes);
        let mut nearest = widened(&self.nearest);
        nearest.resize(wholes.len(), 0.0);
        for Candidate { number, parts, .. } in &candidates {
            let number = *number as usize;
            (wholes[number], nearest[number]) = (parts.whole.into(), parts.nearest.into());
        }
        let join = self.ranker.join;
        let [words, wholes, nearest] = [widened(&self.words), wholes, nearest].map(|scores| join.parts(&scores));
        let ranked = |one: Candidate| {
            let at = one.number as usize;
            let score = join.sum([words[at], wholes[at], nearest[at]]);
            (if join.finds(one.parts.scores()) { score } else { f64::NAN }, one)
        };
        candidates.into_iter().map(ranked).collect()
    }
}
