//! Reverse dictionary: at which rank among all words does a definition find its word?
//!
//! Equation: `reverse-dictionary`
//!
//! ```text
//! rank_q = 1 + #{w : cos(d_q, e_w) > cos(d_q, e_q)} + ½ #{w ≠ q : cos(d_q, e_w) = cos(d_q, e_q)}
//! median rank, accuracy@k = #{q : rank_q ≤ k} / Q, variance = Σ_q (rank_q − mean)² / Q
//! ```
//!
//! d are the encoded definitions, and e the vectors of the words. A tie counts as the middle of the ranks that it
//! covers. A definition without a known word has a zero vector, so its rank is the middle of all ranks. Cosines are
//! products of unit vectors in f32.
//!
//! F. Hill, K. Cho, A. Korhonen and Y. Bengio, "Learning to Understand Phrases by Embedding the Dictionary", TACL 2016,
//! section 3.

use ndarray::{Array2, ArrayView1};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use senv_core::{Rows, SentenceEncoder, arrays::matmul, kernels, rng::stream};
use senv_metrics::{Bootstrap, Sample, Statistic, query_rank};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, half_width, number},
    score::{sentence_vectors::start_of, with_interval::WithInterval},
};

/// Number of scores computed at a time: 64 MiB of f32.
const BLOCK_SCORES: usize = 1 << 24;

/// A set of definitions to look up together, such as definitions of words in the training set, or of held-out words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DictionarySet {
    /// Name of the set, for the report.
    pub name: String,
    /// Each definition with the row of its word.
    pub definitions: Vec<(usize, String)>,
}

impl DictionarySet {
    /// Draws `n` of the definitions and keeps their order. Keeps all if there are no more than `n`, or if `n` is 0.
    #[must_use]
    pub fn drawn(mut self, n: usize, seed: u64) -> Self {
        if n == 0 || self.definitions.len() <= n {
            return self;
        }
        let mut order: Vec<usize> = (0..self.definitions.len()).collect();
        order.shuffle(&mut stream(seed, &self.name, &[]));
        order.truncate(n);
        order.sort_unstable();
        self.definitions = order.into_iter().map(|i| std::mem::take(&mut self.definitions[i])).collect();
        self
    }
}

/// Result on one set of definitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DictionarySetResult {
    /// Name of the set.
    pub name: String,
    /// Number of definitions.
    pub n_definitions: usize,
    /// Number of definitions without a known word.
    pub n_without_known_word: usize,
    /// Median rank; 1 is best.
    pub median_rank: WithInterval,
    /// Share of definitions whose word is among the first 10, times 100.
    pub accuracy_at_10_x100: WithInterval,
    /// Share of definitions whose word is among the first 100, times 100.
    pub accuracy_at_100_x100: WithInterval,
    /// Variance of the rank.
    pub rank_variance: f64,
    /// The rank of each definition (not part of the JSON).
    #[serde(skip)]
    pub ranks: Vec<f64>,
}

/// Result of an encoder on a reverse dictionary.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DictionaryResult {
    /// Number of words that each definition is compared with.
    pub n_words: usize,
    /// Results per set. Sets without a definition are left out.
    pub sets: Vec<DictionarySetResult>,
}

/// Looks up the definitions of all sets among `words`, whose rows have the dimension of the encoder.
///
/// ```
/// use senv_core::{Coverage, Scratch, SentenceEncoder, Table};
/// use senv_eval::{DictionarySet, evaluate_dictionary};
/// use senv_metrics::Bootstrap;
///
/// /// Counts whether a text mentions water, and whether it mentions goats.
/// struct Topics;
/// impl SentenceEncoder for Topics {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn encode_sentence(&self, text: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
///         out.iter_mut().zip(["water", "goat"]).for_each(|(x, word)| *x = text.matches(word).count() as f32);
///         Coverage::new(1, 1)
///     }
/// }
/// let words = Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0])?; // tap, ibex
/// let definitions = vec![(0, "it lets water out".into()), (1, "a goat".into())];
/// let set = DictionarySet { name: "unseen".into(), definitions };
/// let result = evaluate_dictionary(&Topics, &words, &[set], Bootstrap::default())?;
/// assert_eq!(result.sets[0].median_rank.value, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::NothingToDo`] without a definition; [`senv_core::Error::ShapeMismatch`] if words have a different
/// dimension, or if a definition belongs to a row that does not exist; [`Error::NotFinite`] if a vector is not finite,
/// with its definition.
pub fn evaluate_dictionary<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    words: &dyn Rows,
    sets: &[DictionarySet],
    bootstrap: Bootstrap,
) -> Result<DictionaryResult> {
    let (n, dim) = (words.n_rows(), words.dim());
    if dim != encoder.dim() {
        let what = "vectors of words";
        return Err(senv_core::Error::ShapeMismatch { what, expected: encoder.dim(), got: dim }.into());
    }
    let units = unit_rows(words)?;
    let sets: Vec<&DictionarySet> = sets.iter().filter(|set| !set.definitions.is_empty()).collect();
    if sets.is_empty() {
        return Err(Error::NothingToDo { what: "definitions of these words" });
    }
    let results = sets.into_iter().map(|set| {
        if let Some(&(got, _)) = set.definitions.iter().find(|&&(word, _)| word >= n) {
            return Err(senv_core::Error::ShapeMismatch { what: "row of a word", expected: n, got }.into());
        }
        let mut ranks = Vec::with_capacity(set.definitions.len());
        let mut unknown = 0;
        for block in set.definitions.chunks((BLOCK_SCORES / n.max(1)).clamp(1, 512)) {
            let texts: Vec<&str> = block.iter().map(|(_, text)| &text[..]).collect();
            let (mut vectors, coverage) = encoder.encode_batch(&texts)?;
            unknown += coverage.iter().filter(|coverage| coverage.is_empty()).count();
            for (mut row, text) in vectors.rows_mut().into_iter().zip(&texts) {
                if row.iter().any(|x| !x.is_finite()) {
                    return Err(Error::NotFinite {
                        what: format!("the embedding of {}", senv_core::quoted(start_of(text.trim()))),
                    });
                }
                row.as_slice_mut().map(kernels::l2_normalize);
            }
            let scores = matmul(vectors.view(), units.t())?;
            let scores = scores.as_slice().unwrap_or_default();
            let found: Vec<f64> = block
                .par_iter()
                .zip(scores.par_chunks(n))
                .map(|((word, _), scores)| Ok(query_rank(scores, &[*word], &[])?.map_or(1.0, middle)))
                .collect::<Result<_>>()?;
            ranks.extend(found);
        }
        set_result(&set.name, unknown, ranks, bootstrap)
    });
    Ok(DictionaryResult { n_words: n, sets: results.collect::<Result<_>>()? })
}

/// Returns the middle of the ranks that a tie covers.
fn middle(rank: senv_metrics::QueryRank) -> f64 {
    rank.rank as f64 + rank.n_tied as f64 / 2.0
}

fn unit_rows(words: &dyn Rows) -> Result<Array2<f32>> {
    let (n, dim) = (words.n_rows(), words.dim());
    let mut units = Array2::zeros((n, dim));
    for (i, mut unit) in units.rows_mut().into_iter().enumerate() {
        let row = words.row(i);
        if row.iter().any(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: format!("the vector of word {}", i + 1) });
        }
        unit.assign(&ArrayView1::from(row));
        unit.as_slice_mut().map(kernels::l2_normalize);
    }
    Ok(units)
}

fn set_result(name: &str, unknown: usize, ranks: Vec<f64>, bootstrap: Bootstrap) -> Result<DictionarySetResult> {
    let of = |statistic, values: &[f64]| -> Result<WithInterval> {
        let sample = Sample::new(statistic, &[], values)?;
        let undefined = WithInterval { value: f64::NAN, interval: None };
        Ok(WithInterval::of(&sample, name, bootstrap).unwrap_or(undefined))
    };
    let within = |k: f64| ranks.iter().map(|&rank| if rank <= k { 100.0 } else { 0.0 }).collect::<Vec<f64>>();
    let n = ranks.len() as f64;
    let mean = ranks.iter().sum::<f64>() / n;
    Ok(DictionarySetResult {
        name: name.to_owned(),
        n_definitions: ranks.len(),
        n_without_known_word: unknown,
        median_rank: of(Statistic::Median, &ranks)?,
        accuracy_at_10_x100: of(Statistic::Mean, &within(10.0))?,
        accuracy_at_100_x100: of(Statistic::Mean, &within(100.0))?,
        rank_variance: ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>() / n,
        ranks,
    })
}

impl DictionaryResult {
    /// Formats one line per set for this encoder, called `name`, and for each of `others`.
    #[must_use]
    pub fn to_text(&self, name: &str, others: &[(&str, &Self)]) -> String {
        let columns = ["definitions", "median rank", "acc@10", "acc@100", "variance of the rank"];
        let titles = [("words", Align::Left), ("by", Align::Left)];
        let mut table = TextTable::new(titles.into_iter().chain(columns.map(|title| (title, Align::Right))));
        for (i, set) in self.sets.iter().enumerate() {
            for (name, result) in [(name, self)].into_iter().chain(others.iter().copied()) {
                let Some(of) = result.sets.get(i) else { continue };
                let cell = |of: &WithInterval| number(Some(of.value), 1) + &half_width(of.interval, 1);
                let [a, b, c] = [&of.median_rank, &of.accuracy_at_10_x100, &of.accuracy_at_100_x100].map(cell);
                let (n, variance) = (of.n_definitions.to_string(), format!("{:.3e}", of.rank_variance));
                table.row([set.name.clone(), name.to_owned(), n, a, b, c, variance]);
            }
        }
        format!("{table}ranks among {} words; accuracies x 100\n", self.n_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::{Coverage, Scratch, Table};

    /// Encodes a number of degrees as a direction in the plane. Any other text is unknown.
    struct Angle;

    impl SentenceEncoder for Angle {
        fn dim(&self) -> usize {
            2
        }

        fn encode_sentence(&self, text: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            let degrees: Option<f32> = text.parse().ok();
            out.fill(0.0);
            if let Some(degrees) = degrees {
                out.copy_from_slice(&[degrees.to_radians().cos(), degrees.to_radians().sin()]);
            }
            Coverage::new(1, usize::from(degrees.is_some()))
        }
    }

    /// Words at 0, 10, .. 170 degrees, of different lengths.
    fn words() -> Table {
        let row = |i: usize| {
            let (angle, length) = ((10.0 * i as f32).to_radians(), 1.0 + i as f32);
            [length * angle.cos(), length * angle.sin()]
        };
        Table::from_vec(18, 2, (0..18).flat_map(row).collect()).unwrap()
    }

    fn evaluate(definitions: &[(usize, &str)], resamples: usize) -> Result<DictionaryResult> {
        let definitions = definitions.iter().map(|&(word, text)| (word, text.to_owned())).collect();
        let sets = ["empty", "all"].map(|name| DictionarySet { name: name.into(), definitions: Vec::new() });
        let [empty, all] = sets;
        let sets = [empty, DictionarySet { definitions, ..all }];
        evaluate_dictionary(&Angle, &words(), &sets, Bootstrap { resamples, seed: 1 })
    }

    #[test]
    fn ranks_by_hand() {
        // The first is at its word, the second has two words nearer, the third has all nearer, and the unknown one is
        // at the middle of 18.
        let result = evaluate(&[(3, "30"), (3, "44"), (0, "123"), (5, "?")], 200).unwrap();
        let [set] = &result.sets[..] else { unreachable!() };
        assert_eq!((result.n_words, set.n_definitions, set.n_without_known_word), (18, 4, 1));
        assert_eq!(set.ranks, [1.0, 3.0, 18.0, 9.5]);
        assert_eq!(set.median_rank.value, 6.25);
        assert_eq!((set.accuracy_at_10_x100.value, set.accuracy_at_100_x100.value), (75.0, 100.0));
        let mean = 31.5 / 4.0;
        let variance = [1.0, 3.0, 18.0, 9.5].map(|rank: f64| (rank - mean).powi(2)).iter().sum::<f64>() / 4.0;
        assert!((set.rank_variance - variance).abs() < 1e-12);
        let (low, high) = set.median_rank.interval.unwrap();
        assert!((1.0..6.25).contains(&low) && (6.25..=18.0).contains(&high), "{low} {high}");
        let text = result.to_text("mine", &[("floor", &result)]);
        assert!(text.contains("mine") && text.contains("floor") && text.contains("among 18 words"), "{text}");
        assert!(!text.contains("empty"));
    }

    #[test]
    fn definitions_are_drawn_by_the_seed_in_their_order() {
        let definitions: Vec<_> = (0..50).map(|i| (i, i.to_string())).collect();
        let set = DictionarySet { name: "all".into(), definitions };
        let drawn = set.clone().drawn(10, 1);
        assert_eq!(drawn, set.clone().drawn(10, 1));
        assert_ne!(drawn, set.clone().drawn(10, 2));
        assert!(drawn.definitions.len() == 10 && drawn.definitions.windows(2).all(|two| two[0].0 < two[1].0));
        assert!(set.clone().drawn(0, 1) == set && set.clone().drawn(50, 1) == set);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches!(evaluate(&[], 0), Err(Error::NothingToDo { .. })));
        assert!(matches!(evaluate(&[(18, "30")], 0), Err(Error::Core(_))));
        assert!(evaluate(&[(17, "30")], 0).unwrap().sets[0].median_rank.interval.is_none());
        let error = evaluate(&[(1, "NaN")], 0).unwrap_err().to_string();
        assert!(error.contains("\"NaN\""), "{error}");
        let set = DictionarySet { name: "x".into(), definitions: vec![(0, "1".into())] };
        let other = Table::zeros(4, 3).unwrap();
        assert!(evaluate_dictionary(&Angle, &other, &[set], Bootstrap::default()).is_err());
    }
}
