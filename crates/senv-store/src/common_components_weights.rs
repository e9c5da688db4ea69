//! Frequency weights of words (SIF, uSIF), and the weighted mean of a sentence.
//!
//! Equation: `usif-weight`
//! Equation: `weighted-sentence`
//!
//! ```text
//! SIF    w(t): `sif-weight` of the core                 p(t): relative frequency in the corpus; not counted: 1
//! uSIF   τ = 1 − (1 − 1/V)ⁿ                             V words, n tokens a sentence
//!        α = max(1, |{t: p(t) > τ}|) / V,   Z = V / 2,   a = (1 − α) / (α Z)
//!        w(t) = a / (a/2 + p(t))                        not counted: as the rarest word
//! s_j = (1/|s|) Σ_t w(t) x_tj / N_j,   N_j = √(Σ_t x_tj²) over the sentence (uSIF), or 1 (SIF)
//! ```
//!
//! In small or flat vocabularies, no word is more frequent than τ. The paper's α is then 0 and its a infinite. Here the
//! most frequent word counts as one that is, so the weights are nearly equal, as for α → 0.
//!
//! |s| counts the tokens that have a row and a weight other than 0. uSIF's paper normalizes word vectors;
//! its authors' program divides each *dimension* by its norm over the tokens of the sentence, and so does this code.
//!
//! Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017, Algorithm 1;
//! Ethayarajh, "Unsupervised Random Walk Sentence Embeddings", RepL4NLP 2018, Algorithm 1.

use senv_core::{Error as Core, Vocabulary, words::sif_weight};

use crate::{ModelFile, ModelWriter, Result};

pub use senv_core::words::DEFAULT_SIF_A;

/// The number of tokens of a sentence that uSIF assumes: 11.
pub const DEFAULT_USIF_LENGTH: f64 = 11.0;

/// The name of the weights tensor in a model file.
const WEIGHTS: &str = "word_weights";

/// Dimensions that [`weighted_sentence`] sums at a time: few enough to stay in registers and the L1 cache.
const TILE: usize = 64;

/// Smooth inverse frequency (SIF): frequent words have smaller weights.
///
/// ```
/// use senv_core::Vocabulary;
/// let vocabulary = Vocabulary::from_counts([("the", 999), ("cat", 1)], 1000)?;
/// let weights = senv_store::Sif::default().weights(&vocabulary)?;
/// assert!((weights[0] - 0.001).abs() < 1e-6 && weights[1] == 0.5); // 0.001 / (0.001 + 0.999), 0.001 / 0.002
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sif {
    /// The frequency at which the weight is one half; above 0, [`DEFAULT_SIF_A`] by default.
    pub a: f64,
}

impl Default for Sif {
    fn default() -> Self {
        Self { a: DEFAULT_SIF_A }
    }
}

impl Sif {
    /// The weight of each word, in `(0, 1]`, in vocabulary order, from the vocabulary's own counts.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if `a` is not above 0, or the vocabulary has no counts.
    pub fn weights(&self, vocabulary: &Vocabulary) -> Result<Vec<f32>> {
        self.weights_by(vocabulary, vocabulary)
    }

    /// The weight of each word of `words`, from the frequencies of another corpus, `counts`; 1 for words missing there.
    ///
    /// # Errors
    /// The errors of [`Sif::weights`].
    pub fn weights_by(&self, words: &Vocabulary, counts: &Vocabulary) -> Result<Vec<f32>> {
        positive("a", self.a)?;
        let total = total(counts)?;
        Ok(frequencies(words, counts, total).map(|p| p.map_or(1.0, |p| sif_weight(self.a, p)) as f32).collect())
    }
}

/// Unsupervised smooth inverse frequency (uSIF): `a` follows from the vocabulary, so there is nothing to tune.
///
/// ```
/// use senv_core::Vocabulary;
/// // One word in 1,000 makes up half of the text: α = 1/1000, Z = 500, a = 0.999 / 0.5 = 1.998.
/// let rest = (0..999).map(|i| (format!("w{i}"), 1));
/// let vocabulary = Vocabulary::from_counts(std::iter::once(("the".into(), 999)).chain(rest), 1998)?;
/// let usif = senv_store::Usif::default();
/// assert!((usif.a(&vocabulary)? - 1.998).abs() < 1e-12);
/// assert!((usif.weights(&vocabulary)?[0] - 1.998 / 1.499).abs() < 1e-6);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usif {
    /// Mean number of tokens per sentence, n; at least 1, [`DEFAULT_USIF_LENGTH`] by default.
    pub mean_length: f64,
}

impl Default for Usif {
    fn default() -> Self {
        Self { mean_length: DEFAULT_USIF_LENGTH }
    }
}

impl Usif {
    /// The weight of each word, in `(0, 2)`, in vocabulary order, from the vocabulary's own counts.
    ///
    /// # Errors
    /// The errors of [`Usif::a`].
    pub fn weights(&self, vocabulary: &Vocabulary) -> Result<Vec<f32>> {
        self.weights_by(vocabulary, vocabulary)
    }

    /// The weight of each word of `words`, from the frequencies of another corpus, `counts`; words missing there get
    /// the weight of its rarest.
    ///
    /// # Errors
    /// The errors of [`Usif::a`].
    pub fn weights_by(&self, words: &Vocabulary, counts: &Vocabulary) -> Result<Vec<f32>> {
        let (a, total) = (self.a(counts)?, total(counts)?);
        let rarest = counts.counts().iter().copied().min().map_or(0.0, |n| n as f64 / total);
        Ok(frequencies(words, counts, total).map(|p| (a / (a / 2.0 + p.unwrap_or(rarest))) as f32).collect())
    }

    /// The `a` that follows from these counts.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if the mean length is below 1, or if the vocabulary has no counts or
    /// fewer than two words.
    pub fn a(&self, counts: &Vocabulary) -> Result<f64> {
        let n = self.mean_length;
        if !(n.is_finite() && n >= 1.0) {
            return Err(invalid("mean_length", "at least 1 and finite", n.to_string()));
        }
        let (total, size) = (total(counts)?, counts.len() as f64);
        let threshold = -(n * (-1.0 / size).ln_1p()).exp_m1(); // 1 − (1 − 1/V)ⁿ without cancellation
        let n_above = counts.counts().iter().filter(|&&count| count as f64 / total > threshold).count();
        if counts.len() < 2 {
            return Err(invalid(
                "the number of different words",
                "at least 2 for uSIF weights (give more text, or lower the minimum count)",
                counts.len().to_string(),
            ));
        }
        let alpha = n_above.max(1) as f64 / size;
        Ok((1.0 - alpha) / (alpha * (size / 2.0)))
    }
}

/// Writes the weighted mean of the rows of a sentence to `out`. Returns the number of rows with a weight other than 0,
/// over which the mean is taken; if there are none, `out` is zeros. Allocates nothing.
///
/// With `dimension_norms`, each dimension is divided by its norm over all rows (uSIF's program); a dimension with only
/// zeros stays 0. A sentence of one token then has entries ±w, as in that program.
///
/// ```
/// let rows = [([3.0f32, 0.0], 0.5), ([4.0, 2.0], 1.0)];
/// let rows = rows.iter().map(|(row, weight)| (&row[..], *weight));
/// let mut sentence = [0.0; 2];
/// senv_store::weighted_sentence(rows.clone(), false, &mut sentence)?;
/// assert_eq!(sentence, [2.75, 1.0]); // (1.5 + 4) / 2, (0 + 2) / 2
/// senv_store::weighted_sentence(rows, true, &mut sentence)?;
/// assert_eq!(sentence, [0.55, 0.5]); // 2.75 / √(3² + 4²), 1 / √2²
/// # Ok::<(), senv_store::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if a row has a different length than `out`.
pub fn weighted_sentence<'a>(
    rows: impl Iterator<Item = (&'a [f32], f32)> + Clone,
    dimension_norms: bool,
    out: &mut [f32],
) -> Result<usize> {
    weighted_sentence_with(rows, RowSum::default(), dimension_norms, out)
}

/// Rows given by their sum: for example the vectors of the unknown words of a sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowSum<'a> {
    /// The number of rows.
    pub n: usize,
    /// Their weighted sum; can be empty if `n` is 0.
    pub weighted: &'a [f32],
    /// The square of each value, without weights: the same in all rows and dimensions.
    pub square: f32,
}

/// Like [`weighted_sentence`], with further rows.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if a row, or the sum of the further rows, has a different length than `out`.
pub fn weighted_sentence_with<'a>(
    rows: impl Iterator<Item = (&'a [f32], f32)> + Clone,
    further: RowSum<'_>,
    dimension_norms: bool,
    out: &mut [f32],
) -> Result<usize> {
    let check = |what, got: usize| {
        let expected = out.len();
        if got == expected { Ok(()) } else { Err(Core::ShapeMismatch { what, expected, got }) }
    };
    let mut n = further.n;
    if n > 0 {
        check("the sum of further rows", further.weighted.len())?;
    }
    for (row, weight) in rows.clone() {
        check("a row", row.len())?;
        n += usize::from(weight != 0.0);
    }
    let share = if n > 0 { 1.0 / n as f32 } else { 0.0 };
    for (tile, out) in out.chunks_mut(TILE).enumerate() {
        let (mut sums, mut squares) = ([0.0f32; TILE], [further.n as f32 * further.square; TILE]);
        let (sums, squares) = (&mut sums[..out.len()], &mut squares[..out.len()]);
        if further.n > 0 {
            sums.copy_from_slice(&further.weighted[tile * TILE..][..out.len()]);
        }
        for (row, weight) in rows.clone() {
            let row = &row[tile * TILE..][..out.len()];
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
            if dimension_norms {
                squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
            }
        }
        for ((out, sum), square) in out.iter_mut().zip(&*sums).zip(&*squares) {
            let norm = if dimension_norms { square.sqrt() } else { 1.0 };
            *out = if norm > 0.0 { sum * share / norm } else { 0.0 };
        }
    }
    Ok(n)
}

/// Adds the weights of the words to a model file, as the F32 tensor `word_weights`.
#[must_use]
pub fn save_weights_into<'a>(weights: &'a [f32], writer: ModelWriter<'a>) -> ModelWriter<'a> {
    writer.f32s(WEIGHTS, weights)
}

/// Loads the word weights of a model file; `None` if it has none.
///
/// # Errors
/// [`senv_core::Error::BadFile`] unless there are `n_words` finite weights of at least 0;
/// [`senv_core::Error::WrongTensor`]; [`senv_core::Error::Checksum`].
pub fn load_weights_from(model: &ModelFile, n_words: usize) -> Result<Option<Vec<f32>>> {
    if !model.contains(WEIGHTS) {
        return Ok(None);
    }
    let weights = model.f32s(WEIGHTS)?;
    let bad = |reason| Err(Core::BadFile { path: model.path().to_owned(), reason }.into());
    if weights.len() != n_words {
        return bad(format!("tensor {WEIGHTS:?} has {} weights for {n_words} words", weights.len()));
    }
    match weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        Some(w) => bad(format!("tensor {WEIGHTS:?} contains the weight {w}, expected finite numbers of at least 0")),
        None => Ok(Some(weights)),
    }
}

/// Relative frequency of each word in another corpus; `None` if the corpus does not count it.
fn frequencies(words: &Vocabulary, counts: &Vocabulary, total: f64) -> impl Iterator<Item = Option<f64>> {
    words.iter().map(move |(_, word, _)| counts.id(word).map(|id| counts.count(id) as f64 / total))
}

/// All tokens of the corpus or, if the vocabulary does not record their number, those it counts.
fn total(counts: &Vocabulary) -> Result<f64> {
    let sum = counts.counts().iter().map(|&n| n as f64).sum::<f64>();
    if sum == 0.0 {
        let requirement = "above 0 (the file of word vectors has no counts; give the counts of a corpus)";
        return Err(invalid("sum of the counts of the vocabulary", requirement, "0".into()));
    }
    Ok(sum.max(counts.corpus_tokens() as f64))
}

fn positive(name: &'static str, x: f64) -> Result<()> {
    if x.is_finite() && x > 0.0 { Ok(()) } else { Err(invalid(name, "above 0 and finite", x.to_string())) }
}

fn invalid(name: &'static str, requirement: &'static str, got: String) -> crate::Error {
    Core::InvalidParameter { name, requirement, got }.into()
}

#[cfg(test)]
#[path = "common_components_weights_tests.rs"]
mod tests;
