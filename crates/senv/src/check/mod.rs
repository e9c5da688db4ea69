//! Checks of a model on a text, without human scores.
//!
//! The checks ask four questions about a sample of sentences:
//!
//! * Do the vectors of random sentences point in one direction? Then everything looks similar.
//! * Are neighboring sentences nearer than random ones (`auc`), as their words suggest?
//! * Do cosines follow shared words, weighted by TF-IDF?
//! * How much of the text does the model know?
//!
//! A model that fails one of them is useless for similarity. A model that passes all can still be poor, which only
//! human scores show ([`senv_metrics`] and the evaluation crate).

mod held_out_pairs;
mod loss;
pub(crate) mod pair_ranks;
mod pairs;
#[cfg(test)]
mod tests;
mod text;
mod tf_idf_vectors;
mod warning;

use senv_core::{Scratch, SentenceEncoder, Tokenizer, kernels};
use senv_metrics::{auc, mean, spearman_rho};
use serde::Serialize;

pub use loss::{LossAgainstChance, LossOf, NEAR_CHANCE};
pub use text::CheckText;
pub use warning::{
    CheckWarning, MAX_EMPTY_SENTENCES, MAX_MEAN_COSINE, MAX_UNKNOWN_WORDS, MIN_DIRECTIONS, MIN_NEIGHBOUR_AUC,
    MIN_ORDER, MIN_TF_IDF_AGREEMENT, MIN_TRAINING_WORDS, MIN_TRAINING_WORDS_HASHED,
};

use self::tf_idf_vectors::{Pair, TfIdfVectors};
pub(crate) use self::warning::SIGNIFICANT;
use crate::error::Result;

/// The minimum number of pairs for which a mean, correlation or probability is reported.
const MIN_PAIRS: usize = 30;

/// How a model is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckParams {
    /// The minimum number of sentences in the sample; 4,000 by default, which takes a tenth of a second for averages of
    /// words.
    pub n_sentences: usize,
    /// Random seed of sample and pairs.
    pub seed: u64,
    /// The tokenizer of TF-IDF; [`Tokenizer::words`] with lower-casing by default. The model uses its own tokenizer.
    pub tokenizer: Tokenizer,
    /// The training loss and that of guessing, if known.
    pub loss: Option<LossAgainstChance>,
    /// Running words of the training text, if known and if another text is checked.
    pub training_words: Option<u64>,
    /// Whether training started from vectors of another text. If so, the size of this text does not matter.
    pub starts_from_vectors: bool,
    /// Whether the model was trained on the text, except for held-out sentences.
    pub on_training_text: bool,
    /// Whether word weights could help: the model averages word vectors without weights.
    pub weights_may_help: bool,
    /// Whether starting from vectors of a larger text could help: the model averages word vectors.
    pub start_may_help: bool,
}

impl Default for CheckParams {
    fn default() -> Self {
        let tokenizer = Tokenizer::words().lowercase(true);
        Self {
            n_sentences: 4_000,
            seed: 1,
            tokenizer,
            loss: None,
            training_words: None,
            starts_from_vectors: false,
            on_training_text: false,
            weights_may_help: false,
            start_may_help: true,
        }
    }
}

impl CheckParams {
    /// Returns the defaults, with fewer sentences for a slow encoder.
    #[must_use]
    pub fn for_encoder(is_slow: bool) -> Self {
        let params = Self::default();
        if is_slow { Self { n_sentences: params.n_sentences / 4, ..params } } else { params }
    }
}

/// Mean and standard deviation of cosines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CosineSpread {
    /// The number of pairs.
    pub pairs: usize,
    /// Their mean cosine, in `[-1, 1]`: near 1 if all vectors point in one direction.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
}

impl CosineSpread {
    /// Returns in about how many directions vectors differ: 1 / (mean² + sd²), the inverse of the mean squared cosine.
    /// This is the dimension for vectors spread evenly over all directions, and 1 for vectors on one line.
    #[must_use]
    pub fn directions(&self) -> f64 {
        1.0 / (self.mean * self.mean + self.sd * self.sd).max(f64::MIN_POSITIVE)
    }
}

/// How much nearer neighboring sentences are than random ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NeighbourCheck {
    /// The number of neighboring pairs.
    pub pairs: usize,
    /// The probability that neighbors have a higher cosine than random sentences, in `[0, 1]`; 0.5 means no nearer.
    pub auc: f64,
    /// The difference of the mean cosines in standard deviations of random pairs; 0 if those do not vary.
    pub distance: f64,
    /// The probability by TF-IDF: near 0.5 if the lines of the text are in no order.
    pub tf_idf_auc: f64,
    /// Whether the text has several documents, separated by blank lines or in several files.
    pub documents: bool,
    /// The number of held-out sentences, from which all pairs come; 0 if none were held out.
    pub held_out_sentences: usize,
}

impl NeighbourCheck {
    /// Whether neighbors belong together: documents are marked, and their sentences share words. Otherwise the
    /// probabilities say nothing.
    #[must_use]
    pub fn has_order(&self) -> bool {
        self.documents && self.tf_idf_auc >= MIN_ORDER
    }
}

/// How well the model finds the second sentence of held-out pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairCheck {
    /// The number of held-out pairs.
    pub pairs: usize,
    /// The probability that the sentences of a pair are nearer than sentences of two pairs, in `[0, 1]`; 0.5 by chance.
    pub auc: f64,
    /// Mean reciprocal rank of the second sentence of a pair among those of all pairs, in `(0, 1]`.
    pub mrr: f64,
    /// The AUC of TF-IDF.
    pub tf_idf_auc: f64,
    /// The mean reciprocal rank of TF-IDF.
    pub tf_idf_mrr: f64,
    /// The lead of TF-IDF in mean reciprocal rank, in standard errors of the difference.
    pub tf_idf_ahead: f64,
}

/// How closely cosines follow the words that sentences share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TfIdfAgreement {
    /// The number of pairs that share words.
    pub pairs: usize,
    /// Spearman's rank correlation of the model's cosines with those of TF-IDF, in `[-1, 1]`; 0 if the model's do not
    /// vary.
    pub correlation: f64,
}

/// The findings about a model on a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Dimension of the vectors.
    pub dim: usize,
    /// Sentences of the sample.
    pub sentences: usize,
    /// Whether the model was trained on them, except for held-out sentences.
    pub on_training_text: bool,
    /// Cosines of random sentences; `None` for fewer than 30 pairs, here and below.
    pub random: Option<CosineSpread>,
    /// Neighboring sentences compared with random ones; `None` if no document has two.
    pub neighbours: Option<NeighbourCheck>,
    /// Held-out pairs compared with others; `None` if none were held out.
    pub pairs: Option<PairCheck>,
    /// Agreement with TF-IDF.
    pub tf_idf: Option<TfIdfAgreement>,
    /// Share of unknown words, in `[0, 1]`.
    pub unknown_words: f64,
    /// Share of sentences without a known word, in `[0, 1]`.
    pub empty_sentences: f64,
    /// Whether words that the model does not know also have vectors.
    pub hashes_unknown_words: bool,
    /// Sentences whose vector contains NaN or an infinite value. The other findings leave them out.
    pub not_finite: usize,
    /// Training loss, as given.
    pub loss: Option<LossAgainstChance>,
    /// Whether word weights could help, as given.
    pub weights_may_help: bool,
    /// Whether starting from other vectors could help, as given.
    pub start_may_help: bool,
    /// Running words of the training text, as given or counted; `None` if training started from other vectors.
    pub training_words: Option<u64>,
    /// The conclusions; empty if the model looks sound.
    pub warnings: Vec<CheckWarning>,
}

/// Checks an encoder on a text.
///
/// There are three kinds of pairs: random ones, neighbors, and pairs for the comparison with TF-IDF. Neighbors are
/// every sentence of the sample with the next one of its document. Nearly all random pairs are equally distant by TF-
/// IDF. For that comparison, up to 800 sentences are therefore paired with other sentences that share a word with them:
/// the first, third, 9th, 31st and 101st by TF-IDF cosine. Equal sentences are never paired.
///
/// If sentences were held out of training ([`CheckText::hold_out`]), neighbors and the random pairs they are compared
/// with are among these. All other pairs are among the other sentences. Held-out pairs are judged separately
/// ([`PairCheck`]).
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] for a text without a sentence; [`senv_core::Error::TooLarge`] if memory runs
/// out.
///
/// # Examples
/// ```
/// use senv_core::{Coverage, Scratch, SentenceEncoder};
/// use senv::check::{CheckParams, CheckText, CheckWarning, check};
/// /// Gives every sentence the same vector.
/// struct Constant;
/// impl SentenceEncoder for Constant {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn encode_sentence(&self, _: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
///         out.fill(1.0);
///         Coverage::new(1, 1)
///     }
/// }
/// let text = CheckText::new((0..50).map(|i| [format!("the cat number {i} sat"), format!("it saw dog {i}")]));
/// let check = check(&Constant, &text, &CheckParams::default())?;
/// assert!(matches!(check.warnings[0], CheckWarning::OneDirection { mean_cosine, .. } if mean_cosine > 0.999));
/// # Ok::<(), senv::Error>(())
/// ```
pub fn check<E: SentenceEncoder + ?Sized>(encoder: &E, text: &CheckText, params: &CheckParams) -> Result<Check> {
    if text.sentences.is_empty() {
        let (requirement, got) = ("a text with at least one sentence", "none".into());
        return Err(senv_core::Error::InvalidParameter { name: "text to check on", requirement, got }.into());
    }
    let sentences: Vec<&str> = text.sentences.iter().map(String::as_str).collect();
    let (vectors, coverage) = encoder.encode_batch(&sentences)?;
    let n = sentences.len();
    let finite: Vec<bool> = vectors.rows().into_iter().map(|row| row.iter().all(|x| x.is_finite())).collect();
    let usable: Vec<usize> = (0..n).filter(|&i| finite[i] && !coverage[i].is_empty()).collect();
    let cosines = |pairs: &[Pair]| -> Vec<f64> {
        let row = |i: usize| vectors.row(i).to_slice().unwrap_or_default();
        pairs.iter().map(|&[i, j]| f64::from(kernels::cosine(row(i), row(j)))).collect()
    };

    let (trained_on, held_out) = usable.split_at(usable.partition_point(|&i| i < n - text.n_held_out));
    let compared = if text.n_held_out > 0 { held_out } else { trained_on };
    let random_pairs = pairs::random(text, compared, params.seed);
    let neighbour_pairs = pairs::neighbours(text, compared);
    let (of_random, of_neighbours) = (cosines(&random_pairs), cosines(&neighbour_pairs));
    let beside_neighbours = (random_pairs.len() >= MIN_PAIRS).then(|| spread(&of_random));
    let random = if text.n_held_out > 0 {
        let pairs = pairs::random(text, trained_on, params.seed);
        (pairs.len() >= MIN_PAIRS).then(|| spread(&cosines(&pairs)))
    } else {
        beside_neighbours
    };
    let words = TfIdfVectors::new(&text.sentences, &params.tokenizer)?;
    let mut neighbours = None;
    if let (Some(random), Some(words), true) = (beside_neighbours, &words, neighbour_pairs.len() >= MIN_PAIRS) {
        let by_words = |pairs: &[Pair]| pairs.iter().map(|&pair| words.cosine(pair)).collect::<Vec<f64>>();
        let difference = mean(&of_neighbours).unwrap_or_default() - random.mean;
        neighbours = Some(NeighbourCheck {
            held_out_sentences: text.n_held_out,
            pairs: neighbour_pairs.len(),
            auc: ahead(&of_neighbours, &of_random)?.unwrap_or(0.5),
            // Differences within the rounding of f32 count as none.
            distance: if random.sd > 1e-6 { difference / random.sd } else { 0.0 },
            documents: text.n_documents > 1,
            tf_idf_auc: ahead(&by_words(&neighbour_pairs), &by_words(&random_pairs))?.unwrap_or(0.5),
        });
    }
    let mut tf_idf = None;
    if let Some(words) = &words {
        let sharing = words.sharing(&text.sentences, trained_on);
        if sharing.len() >= MIN_PAIRS {
            let by_words: Vec<f64> = sharing.iter().map(|&pair| words.cosine(pair)).collect();
            let correlation = spearman_rho(&cosines(&sharing), &by_words)?.unwrap_or(0.0);
            tf_idf = Some(TfIdfAgreement { pairs: sharing.len(), correlation });
        }
    }

    let mut held_out_pairs = None;
    if text.held_out_pairs.len() >= MIN_PAIRS {
        let ranks = text.held_out_pairs.ranks_by(encoder)?;
        let by_words = text.held_out_pairs.ranks_by_tf_idf(&params.tokenizer)?;
        held_out_pairs = Some(PairCheck {
            pairs: text.held_out_pairs.len(),
            auc: ranks.auc,
            mrr: ranks.mrr(),
            tf_idf_auc: by_words.auc,
            tf_idf_mrr: by_words.mrr(),
            tf_idf_ahead: by_words.ahead_of(&ranks),
        });
    }

    let (tokens, known) = coverage.iter().fold((0, 0), |(tokens, known), c| (tokens + c.tokens, known + c.known));
    let mut check = Check {
        dim: encoder.dim(),
        sentences: n,
        on_training_text: params.on_training_text,
        random,
        neighbours,
        pairs: held_out_pairs,
        tf_idf,
        unknown_words: text.unknown.unwrap_or(1.0 - known as f64 / tokens.max(1) as f64),
        empty_sentences: coverage.iter().filter(|coverage| coverage.is_empty()).count() as f64 / n as f64,
        hashes_unknown_words: hashes_unknown_words(encoder),
        not_finite: finite.iter().filter(|&&finite| !finite).count(),
        loss: params.loss,
        weights_may_help: params.weights_may_help,
        start_may_help: params.start_may_help,
        training_words: params.training_words.or(text.training_words).filter(|_| !params.starts_from_vectors),
        warnings: Vec::new(),
    };
    check.warnings = CheckWarning::of(&check);
    Ok(check)
}

/// Returns the probability that neighboring sentences have a higher TF-IDF cosine than random ones, in `[0, 1]`: near
/// 0.5 if the lines of a text are in no order ([`MIN_ORDER`]). `None` if there are too few.
///
/// # Errors
/// [`senv_core::Error::TooLarge`] if memory runs out.
pub(crate) fn order(text: &CheckText, params: &CheckParams) -> Result<Option<f64>> {
    let all: Vec<usize> = (0..text.sentences.len()).collect();
    let (random, neighbours) = (pairs::random(text, &all, params.seed), pairs::neighbours(text, &all));
    let Some(words) = TfIdfVectors::new(&text.sentences, &params.tokenizer)?.filter(|_| neighbours.len() >= MIN_PAIRS)
    else {
        return Ok(None);
    };
    let by_words = |pairs: &[Pair]| pairs.iter().map(|&pair| words.cosine(pair)).collect::<Vec<f64>>();
    ahead(&by_words(&neighbours), &by_words(&random))
}

/// How likely a cosine of neighbours is higher than one of random pairs; `None` if there are none of either.
fn ahead(neighbours: &[f64], random: &[f64]) -> Result<Option<f64>> {
    let relevant: Vec<bool> = (0..neighbours.len() + random.len()).map(|i| i < neighbours.len()).collect();
    Ok(auc(&relevant, &[neighbours, random].concat())?)
}

/// Whether words that occur in no text get a vector.
fn hashes_unknown_words<E: SentenceEncoder + ?Sized>(encoder: &E) -> bool {
    let mut vector = vec![0.0; encoder.dim()];
    encoder.encode_into("xqzxqzvkjxqz", &mut Scratch::default(), &mut vector).hashed > 0
}

fn spread(cosines: &[f64]) -> CosineSpread {
    let mean = mean(cosines).unwrap_or_default();
    let squares: f64 = cosines.iter().map(|cosine| (cosine - mean) * (cosine - mean)).sum();
    CosineSpread { pairs: cosines.len(), mean, sd: (squares / cosines.len().max(1) as f64).sqrt() }
}
