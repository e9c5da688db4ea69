//! Whether the vectors of a model are any good, from a text alone: no human scores are needed.
//!
//! Four questions, on a sample of sentences. Do the vectors of random sentences point one way (then everything looks
//! similar)? Are neighbouring sentences nearer than random ones (`auc`), as their words say they should be? Do
//! cosines follow shared words, weighted by TF-IDF? And how much of the text does the model know? A model that fails
//! one of them is of no use for similarity; one that passes all may still be poor, which only human scores tell
//! ([`senv_metrics`] and the evaluation crate).

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

/// Pairs below which no mean, correlation or probability of them is given.
const MIN_PAIRS: usize = 30;

/// How a model is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckParams {
    /// Sentences of the sample, at least; 4,000 by default, which takes a tenth of a second for averages of words.
    pub n_sentences: usize,
    /// Random seed of sample and pairs.
    pub seed: u64,
    /// How TF-IDF tokenizes; [`Tokenizer::words`] with lower-casing by default. The model uses its own tokenizer.
    pub tokenizer: Tokenizer,
    /// Training loss and what guessing would have, where they are known.
    pub loss: Option<LossAgainstChance>,
    /// Running words of the training text, where they are known and the text checked is another one.
    pub training_words: Option<u64>,
    /// Whether training went on from vectors of another text: then nothing follows from the size of this one.
    pub starts_from_vectors: bool,
    /// Whether the model was trained on the text, but for what was held out.
    pub on_training_text: bool,
    /// Whether weights of the words may help: the model averages word vectors, and has none.
    pub weights_may_help: bool,
    /// Whether vectors of a larger text to start from may help: the model averages word vectors.
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
    /// The defaults, of fewer sentences where each takes long.
    #[must_use]
    pub fn for_encoder(is_slow: bool) -> Self {
        let params = Self::default();
        if is_slow { Self { n_sentences: params.n_sentences / 4, ..params } } else { params }
    }
}

/// Mean and standard deviation of cosines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CosineSpread {
    /// Pairs.
    pub pairs: usize,
    /// Their mean cosine, in `[-1, 1]`: near 1 where all vectors point one way.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
}

impl CosineSpread {
    /// In about how many directions vectors differ: 1 / (mean² + sd²), the inverse of the mean squared cosine, which is
    /// the dimension where vectors point everywhere equally often, and 1 where all lie on a line.
    #[must_use]
    pub fn directions(&self) -> f64 {
        1.0 / (self.mean * self.mean + self.sd * self.sd).max(f64::MIN_POSITIVE)
    }
}

/// How much nearer neighbouring sentences are than random ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NeighbourCheck {
    /// Neighbouring pairs.
    pub pairs: usize,
    /// Probability that neighbours have a higher cosine than random sentences, `[0, 1]`; .5: no nearer.
    pub auc: f64,
    /// Difference of the mean cosines in standard deviations of random pairs; 0 where those do not vary.
    pub distance: f64,
    /// The probability by TF-IDF: near .5 where the lines of the text have no order.
    pub tf_idf_auc: f64,
    /// Whether the text marks several documents, by blank lines or as files.
    pub documents: bool,
    /// Sentences that were held out of training, which all pairs are of; 0: none were.
    pub held_out_sentences: usize,
}

impl NeighbourCheck {
    /// Whether neighbours belong together: documents are marked, and their sentences share words. Where they do not,
    /// nothing follows from the probabilities.
    #[must_use]
    pub fn has_order(&self) -> bool {
        self.documents && self.tf_idf_auc >= MIN_ORDER
    }
}

/// How well the model finds the second sentence of held-out pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairCheck {
    /// Pairs that were held out.
    pub pairs: usize,
    /// Probability that the two sentences of a pair are nearer than sentences of two pairs, `[0, 1]`; .5 by chance.
    pub auc: f64,
    /// Mean reciprocal rank of the second sentence of a pair among those of all pairs, in `(0, 1]`.
    pub mrr: f64,
    /// The probability by TF-IDF.
    pub tf_idf_auc: f64,
    /// The mean by TF-IDF.
    pub tf_idf_mrr: f64,
    /// By how many standard errors of the difference TF-IDF is ahead.
    pub tf_idf_ahead: f64,
}

/// How far cosines follow the words that sentences share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TfIdfAgreement {
    /// Pairs that share words.
    pub pairs: usize,
    /// Spearman's rank correlation of the model's cosines with those of TF-IDF, `[-1, 1]`; 0 where the model's do not
    /// vary.
    pub correlation: f64,
}

/// What was found of a model on a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Dimension of the vectors.
    pub dim: usize,
    /// Sentences of the sample.
    pub sentences: usize,
    /// Whether the model was trained on them, but for those held out.
    pub on_training_text: bool,
    /// Cosines of random sentences; `None` below 30 pairs, here and below.
    pub random: Option<CosineSpread>,
    /// Neighbouring sentences against random ones; `None` where no document has two.
    pub neighbours: Option<NeighbourCheck>,
    /// Held-out pairs against others; `None` where none were held out.
    pub pairs: Option<PairCheck>,
    /// Agreement with TF-IDF.
    pub tf_idf: Option<TfIdfAgreement>,
    /// Share of unknown words, in `[0, 1]`.
    pub unknown_words: f64,
    /// Share of sentences without a known word, in `[0, 1]`.
    pub empty_sentences: f64,
    /// Whether words that the model does not know have vectors all the same.
    pub hashes_unknown_words: bool,
    /// Sentences whose vector holds NaN or an infinite number; the other findings leave them out.
    pub not_finite: usize,
    /// Training loss, as given.
    pub loss: Option<LossAgainstChance>,
    /// Whether weights of the words may help, as given.
    pub weights_may_help: bool,
    /// Whether vectors to start from may help, as given.
    pub start_may_help: bool,
    /// Running words of the training text, as given or counted; `None` where training went on from other vectors.
    pub training_words: Option<u64>,
    /// What follows: nothing where the model looks sound.
    pub warnings: Vec<CheckWarning>,
}

/// Checks an encoder on a text.
///
/// Pairs are of three kinds: random ones; neighbours, which is every sentence of the sample with the next of its
/// document; and, for the comparison with TF-IDF, for which nearly all random pairs are equally far, each of up to 800
/// sentences with the first, third, 9th, 31st and 101st of the sentences that share a word with it, in the order of
/// their TF-IDF cosines. Equal sentences are never paired. Where sentences were held out of training
/// ([`CheckText::hold_out`]), neighbours and the random pairs that they are compared with are of these, and all else is
/// of the others. Held-out pairs are judged separately ([`PairCheck`]).
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] for a text without a sentence; [`senv_core::Error::TooLarge`] if memory is
/// lacking.
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
            auc: auc(&of_neighbours, &of_random)?.unwrap_or(0.5),
            // Differences within the rounding of f32 are none.
            distance: if random.sd > 1e-6 { difference / random.sd } else { 0.0 },
            documents: text.n_documents > 1,
            tf_idf_auc: auc(&by_words(&neighbour_pairs), &by_words(&random_pairs))?.unwrap_or(0.5),
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

/// How likely neighbouring sentences have a higher TF-IDF cosine than random ones, in `[0, 1]`: near .5 where the lines
/// of a text have no order ([`MIN_ORDER`]). `None` where there are too few.
///
/// # Errors
/// [`senv_core::Error::TooLarge`] if memory is lacking.
pub(crate) fn order(text: &CheckText, params: &CheckParams) -> Result<Option<f64>> {
    let all: Vec<usize> = (0..text.sentences.len()).collect();
    let (random, neighbours) = (pairs::random(text, &all, params.seed), pairs::neighbours(text, &all));
    let Some(words) = TfIdfVectors::new(&text.sentences, &params.tokenizer)?.filter(|_| neighbours.len() >= MIN_PAIRS)
    else {
        return Ok(None);
    };
    let by_words = |pairs: &[Pair]| pairs.iter().map(|&pair| words.cosine(pair)).collect::<Vec<f64>>();
    Ok(auc(&by_words(&neighbours), &by_words(&random))?)
}

/// Whether words that no text has get a vector.
fn hashes_unknown_words<E: SentenceEncoder + ?Sized>(encoder: &E) -> bool {
    let mut vector = vec![0.0; encoder.dim()];
    encoder.encode_into("xqzxqzvkjxqz", &mut Scratch::default(), &mut vector).hashed > 0
}

fn spread(cosines: &[f64]) -> CosineSpread {
    let mean = mean(cosines).unwrap_or_default();
    let squares: f64 = cosines.iter().map(|cosine| (cosine - mean) * (cosine - mean)).sum();
    CosineSpread { pairs: cosines.len(), mean, sd: (squares / cosines.len().max(1) as f64).sqrt() }
}
