//! Warnings about models that should not be trusted, and what helps. Every threshold is here, with its reason.
//!
//! The thresholds were set on models of a news collection of 43,490 sentences and of its first 1,200, 5,000 and 20,000.
//! Each model was judged by its correlation with human scores (STS benchmark, development set, Pearson x 100):
//!
//! | model | score | mean cosine, deviation | directions | neighbors | TF-IDF |
//! | --- | --- | --- | --- | --- | --- |
//! | Sent2Vec, defaults | 8.6 | .47 ± .21 | 3.8 | .62 | .30 |
//! | the same with SIF | 25.3 | .01 ± .46 | 4.7 | .77 | .38 |
//! | word2vec, defaults | 20.5 | 1.00 ± .00 | 1.0 | .61 | .17 |
//! | PV-DBOW, defaults | .9 | .12 ± .30 | 9.6 | .54 | .23 |
//! | Sent2Vec, defaults, 5,000 sentences | -1.4 | 1.00 ± .00 | 1.0 | .56 | .28 |
//! | averages of random vectors | 42.9 | .20 ± .13 | 17 | .62 | .47 |
//! | the same with SIF | 68.3 | .00 ± .10 | 97 | .63 | .54 |
//! | Siamese CBOW, defaults | 47.8 | .01 ± .38 | 6.9 | .92 | .41 |
//! | Sent2Vec, settings of the quickstart, 1,200 sentences | 14.6 | .33 ± .10 | 8.4 | .81 | .72 |
//! | 5,000 sentences | 25.0 | .30 ± .08 | 10.6 | .82 | .67 |
//! | 20,000 sentences | 47.5 | .27 ± .08 | 12.5 | .83 | .62 |
//! | all sentences | 55.2 | .27 ± .08 | 12.7 | .82 | .57 |
//! | the same with SIF | 62.9 | .00 ± .10 | 97 | .81 | .54 |
//! | PP on neighbors, softmax over cosines | 67.8 | .00 ± .08 | 156 | 1.00 | .60 |

use std::fmt;

use senv_core::{Remedy, counts::grouped};
use serde::Serialize;

use super::{Check, LossAgainstChance, LossOf};

/// The mean cosine of random sentences above which nearly everything is similar.
pub const MAX_MEAN_COSINE: f64 = 0.5;
/// The effective directions (see [`super::CosineSpread::directions`]) below which the vectors differ in too few ways,
/// even if none of these is common to all. Useless models have 1 to 5, the others 7 or more.
pub const MIN_DIRECTIONS: f64 = 5.0;
/// The running words of training text below which vectors learned only from it compare sentences of other kinds worse
/// than averages of random vectors do. That is the case for 112,000 words (5,000 sentences), but not for 400,000.
pub const MIN_TRAINING_WORDS: u64 = 150_000;
/// The same if unknown words also have vectors ([`crate::average::UnknownWords::Hash`]). With 20,000 words (1,000
/// sentences), settings that fit the text give better vectors than random ones with SIF weights; with 1,100 words,
/// worse ones.
pub const MIN_TRAINING_WORDS_HASHED: u64 = 20_000;
/// The AUC of neighbors by TF-IDF at or above which a text of several documents is in order: its sentences share words.
/// News has 0.76, a text of simple sentences 0.65, lines in no order 0.5.
pub const MIN_ORDER: f64 = 0.6;
/// The AUC of neighbors below which a model does not see an existing order, which even averages of random vectors do.
pub const MIN_NEIGHBOUR_AUC: f64 = 0.55;
/// The rank correlation with TF-IDF on sentences that share words, below which cosines do not follow the words.
/// Averages of random vectors have 0.47, useless models 0.17 to 0.34.
pub const MIN_TF_IDF_AGREEMENT: f64 = 0.35;
/// The standard errors at or above which a difference is significant.
pub(crate) const SIGNIFICANT: f64 = 2.0;
/// The share of unknown words above which the vector of a sentence is mostly a guess.
pub const MAX_UNKNOWN_WORDS: f64 = 0.25;
/// The share of sentences without a known word, whose vectors are zero, above which searches miss too many.
pub const MAX_EMPTY_SENTENCES: f64 = 0.05;

/// A sign that the vectors of a model are of little use. Its message says what helps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CheckWarning {
    /// Any two sentences have nearly the same vector.
    OneDirection {
        /// Mean cosine of random sentences, in `[-1, 1]`.
        mean_cosine: f64,
        /// Whether word weights could help.
        weights_may_help: bool,
    },
    /// Vectors differ only in a few directions.
    FewDirections {
        /// How many, at least 1.
        directions: f64,
    },
    /// Training has not brought the loss below that of guessing.
    LossAtChance {
        /// The mean training loss, in the unit of `chance`.
        loss: f64,
        /// The loss of an untrained model.
        chance: f64,
        /// The source of the loss.
        of: LossOf,
    },
    /// The training text is too short.
    FewWords {
        /// Its running words.
        words: u64,
        /// The number it should have.
        least: u64,
        /// Whether starting from a model of a larger text could help.
        start_may_help: bool,
    },
    /// Sentences of one document are no nearer than others, although they share more words.
    NeighboursNotNearer {
        /// The probability that neighbors are nearer than random sentences, by the model.
        auc: f64,
        /// The same by TF-IDF.
        tf_idf_auc: f64,
        /// Whether word weights could help.
        weights_may_help: bool,
    },
    /// TF-IDF ranks held-out pairs better than the model does.
    PairsBelowTfIdf {
        /// Mean reciprocal rank of the pairs by the model.
        mrr: f64,
        /// The same by TF-IDF.
        tf_idf_mrr: f64,
    },
    /// Cosines do not follow the words that sentences share.
    LowTfIdfAgreement {
        /// Spearman's correlation with TF-IDF.
        correlation: f64,
        /// Whether word weights could help.
        weights_may_help: bool,
    },
    /// Much of the text is unknown to the model.
    ManyUnknownWords {
        /// Share of its words, in `[0, 1]`.
        share: f64,
    },
    /// Many sentences have no known word.
    ManyEmptySentences {
        /// Share of all sentences, in `[0, 1]`.
        share: f64,
    },
    /// Vectors contain values that are NaN or infinite.
    NotFinite {
        /// Sentences with such a vector.
        sentences: usize,
    },
}

impl CheckWarning {
    /// Returns the warning about a training loss, if any.
    #[must_use]
    pub fn of_loss(loss: LossAgainstChance) -> Option<Self> {
        let LossAgainstChance { mean, chance, of } = loss;
        (!loss.has_learned()).then_some(Self::LossAtChance { loss: mean, chance, of })
    }

    /// Returns all warnings for these findings.
    pub(super) fn of(check: &Check) -> Vec<Self> {
        let mut warnings: Vec<Self> = check.loss.and_then(Self::of_loss).into_iter().collect();
        let weights_may_help = check.weights_may_help;
        let mut warn = |condition: bool, warning: Self| {
            if condition {
                warnings.push(warning);
            }
        };
        if let Some(random) = check.random {
            let directions = random.directions();
            let one_way = random.mean > MAX_MEAN_COSINE;
            warn(one_way, Self::OneDirection { mean_cosine: random.mean, weights_may_help });
            // A vector of few dimensions cannot have more directions.
            let few = MIN_DIRECTIONS.min(check.dim as f64 / 2.0);
            warn(!one_way && directions < few, Self::FewDirections { directions });
        }
        if let Some(neighbours) = check.neighbours {
            let (auc, tf_idf_auc) = (neighbours.auc, neighbours.tf_idf_auc);
            let misses = neighbours.has_order() && auc < MIN_NEIGHBOUR_AUC;
            warn(misses, Self::NeighboursNotNearer { auc, tf_idf_auc, weights_may_help });
        }
        if let Some(pairs) = check.pairs {
            let (mrr, tf_idf_mrr) = (pairs.mrr, pairs.tf_idf_mrr);
            warn(pairs.tf_idf_ahead > SIGNIFICANT, Self::PairsBelowTfIdf { mrr, tf_idf_mrr });
        }
        if let Some(agreement) = check.tf_idf {
            let correlation = agreement.correlation;
            warn(correlation < MIN_TF_IDF_AGREEMENT, Self::LowTfIdfAgreement { correlation, weights_may_help });
        }
        if let Some(words) = check.training_words {
            let least = if check.hashes_unknown_words { MIN_TRAINING_WORDS_HASHED } else { MIN_TRAINING_WORDS };
            warn(words < least, Self::FewWords { words, least, start_may_help: check.start_may_help });
        }
        let share = check.unknown_words;
        warn(share > MAX_UNKNOWN_WORDS, Self::ManyUnknownWords { share });
        let share = check.empty_sentences;
        warn(share > MAX_EMPTY_SENTENCES, Self::ManyEmptySentences { share });
        warn(check.not_finite > 0, Self::NotFinite { sentences: check.not_finite });
        warnings
    }

    /// Returns the settings that help, if any; the message says the same as text.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::OneDirection { weights_may_help: true, .. }
            | Self::NeighboursNotNearer { weights_may_help: true, .. }
            | Self::LowTfIdfAgreement { weights_may_help: true, .. } => &[Remedy::SifWeights, Remedy::MoreEpochs],
            Self::OneDirection { .. } | Self::NeighboursNotNearer { .. } | Self::LowTfIdfAgreement { .. } => {
                &[Remedy::MoreEpochs]
            }
            Self::FewDirections { .. } => &[Remedy::MoreEpochs, Remedy::HigherLearningRate],
            Self::LossAtChance { loss, chance, of } => match of {
                LossOf::Gradient => &[Remedy::HigherLearningRate, Remedy::LowerLearningRate, Remedy::MoreEpochs],
                of if is_near(*loss, *chance, *of) => match of {
                    LossOf::NegativeSamplingWithL1 => &[Remedy::WeakerL1, Remedy::HigherLearningRate],
                    _ => &[Remedy::HigherLearningRate, Remedy::MoreEpochs, Remedy::RaiseSubsampling],
                },
                _ => &[Remedy::LowerLearningRate, Remedy::MoreEpochs, Remedy::RaiseSubsampling],
            },
            Self::FewWords { start_may_help: false, .. } => &[],
            Self::FewWords { .. } | Self::PairsBelowTfIdf { .. } => &[Remedy::ModelOfLargerText],
            Self::ManyUnknownWords { .. } | Self::ManyEmptySentences { .. } => &[Remedy::LowerMinCount],
            Self::NotFinite { .. } => &[Remedy::LowerLearningRate],
        }
    }
}

impl fmt::Display for CheckWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| 100.0 * share;
        match *self {
            Self::OneDirection { mean_cosine, weights_may_help } => {
                write!(
                    f,
                    "all vectors point in nearly the same direction: random sentences have a mean cosine of \
                    {mean_cosine:.2}, so almost everything looks similar; "
                )?;
                if weights_may_help {
                    let weights = Remedy::SifWeights;
                    write!(f, "use {weights} with common-component removal, or ")?;
                }
                train_longer(f)
            }
            Self::FewDirections { directions } => write!(
                f,
                "the vectors vary in only about {directions:.1} directions, so many sentences look alike; train for \
                {} with {}, or on more text",
                Remedy::MoreEpochs,
                Remedy::HigherLearningRate
            ),
            Self::LossAtChance { loss, chance, of } => loss_at_chance(f, loss, chance, of),
            Self::FewWords { words, least, start_may_help } => {
                write!(
                    f,
                    "{} words of training text are too few: with fewer than {}, similarities of other sentences are \
                    worse than with random word vectors; give more text",
                    grouped(words),
                    grouped(least)
                )?;
                if start_may_help { write!(f, ", or {}", Remedy::ModelOfLargerText) } else { Ok(()) }
            }
            Self::NeighboursNotNearer { auc, tf_idf_auc, weights_may_help } => {
                write!(
                    f,
                    "neighboring sentences are no more similar than random ones (in {:.0} % of comparisons, {:.0} % \
                    by shared words only), so the vectors miss what the text is about; ",
                    percent(auc),
                    percent(tf_idf_auc)
                )?;
                weight(f, weights_may_help)?;
                train_longer(f)
            }
            Self::PairsBelowTfIdf { mrr, tf_idf_mrr } => write!(
                f,
                "TF-IDF, which counts shared words, ranks the held-out pairs better than the model (mean reciprocal \
                rank {tf_idf_mrr:.3} against {mrr:.3}); train on more pairs, or {}",
                Remedy::ModelOfLargerText
            ),
            Self::LowTfIdfAgreement { correlation, weights_may_help } => {
                write!(
                    f,
                    "sentences that share words are hardly more similar than others (rank correlation with TF-IDF \
                    {correlation:.2}); "
                )?;
                weight(f, weights_may_help)?;
                train_longer(f)
            }
            Self::ManyUnknownWords { share } => write!(
                f,
                "{:.0} % of the words are unknown; {}, train on more text of this kind, or use the model's tokenizer \
                and case",
                percent(share),
                Remedy::LowerMinCount
            ),
            Self::ManyEmptySentences { share } => write!(
                f,
                "{:.0} % of the sentences have no known word, so their vectors are zero; {}, or train on more text of \
                this kind",
                percent(share),
                Remedy::LowerMinCount
            ),
            Self::NotFinite { sentences } => write!(
                f,
                "{sentences} sentences have vectors with NaN or infinite numbers; train again with {}, or fix the \
                word vectors that the model was made from",
                Remedy::LowerLearningRate
            ),
        }
    }
}

/// Formats a loss that is not below that of guessing, and its possible cause.
fn loss_at_chance(f: &mut fmt::Formatter<'_>, loss: f64, chance: f64, of: LossOf) -> fmt::Result {
    write!(f, "the model learned nothing: the loss is {loss:.4}, and guessing gives {chance:.4}; train again with ")?;
    let (higher, lower, more) = (Remedy::HigherLearningRate, Remedy::LowerLearningRate, Remedy::MoreEpochs);
    let lr = match (of, is_near(loss, chance, of)) {
        (LossOf::Gradient, _) => {
            return write!(f, "{higher}, with {lower} if all vectors are equal, or for {more}");
        }
        (LossOf::NegativeSamplingWithL1, true) => {
            let weaker = Remedy::WeakerL1;
            return write!(f, "{weaker}, which may have reset every row to zero, or, if it is already weak, {higher}");
        }
        (LossOf::NegativeSampling, true) => higher,
        (_, false) => lower,
    };
    write!(f, "{lr}, for {more}, or, if the text is small, {}", Remedy::RaiseSubsampling)
}

/// Whether a loss equals that of guessing, rather than being above it.
fn is_near(loss: f64, chance: f64, of: LossOf) -> bool {
    LossAgainstChance { mean: loss, chance, of }.is_near_chance()
}

/// Suggests weights first, if they help.
fn weight(f: &mut fmt::Formatter<'_>, helps: bool) -> fmt::Result {
    if helps { write!(f, "use {}, or ", Remedy::SifWeights) } else { Ok(()) }
}

/// Suggests longer training last.
fn train_longer(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "train for {}, or on more text", Remedy::MoreEpochs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_of_a_loss_knows_of_l1() {
        let of = |mean, l1| {
            let params = senv_negative_sampling::NegativeSamplingParams { l1, ..Default::default() };
            CheckWarning::of_loss(LossAgainstChance::of_run(mean, &params)).unwrap().to_string()
        };
        assert!(of(7.62407, 5e-4).contains("weaker L1 regularization"), "{}", of(7.62407, 5e-4));
        assert!(!of(7.62407, 0.0).contains("L1") && of(7.62407, 0.0).contains("a higher learning rate"));
        // Far above guessing the rate is too high, with or without L1 regularization.
        assert!(!of(9.0, 5e-4).contains("L1") && of(9.0, 5e-4).contains("a lower learning rate"));
    }

    #[test]
    fn messages_name_their_remedies() {
        for warning in [
            CheckWarning::OneDirection { mean_cosine: 0.9, weights_may_help: true },
            CheckWarning::OneDirection { mean_cosine: 0.9, weights_may_help: false },
            CheckWarning::FewDirections { directions: 2.0 },
            CheckWarning::LossAtChance { loss: 2.0, chance: 1.0, of: LossOf::NegativeSampling },
            CheckWarning::LossAtChance { loss: 0.9999, chance: 1.0, of: LossOf::NegativeSampling },
            CheckWarning::LossAtChance { loss: 1.0, chance: 1.0, of: LossOf::NegativeSamplingWithL1 },
            CheckWarning::LossAtChance { loss: 1.0, chance: 1.0, of: LossOf::Gradient },
            CheckWarning::NeighboursNotNearer { auc: 0.5, tf_idf_auc: 0.7, weights_may_help: true },
            CheckWarning::LowTfIdfAgreement { correlation: 0.1, weights_may_help: false },
            CheckWarning::PairsBelowTfIdf { mrr: 0.2, tf_idf_mrr: 0.3 },
            CheckWarning::FewWords { words: 3, least: 1000, start_may_help: true },
            CheckWarning::ManyUnknownWords { share: 0.5 },
            CheckWarning::ManyEmptySentences { share: 0.5 },
            CheckWarning::NotFinite { sentences: 3 },
        ] {
            let message = warning.to_string();
            assert!(!warning.remedies().is_empty(), "{message}");
            for remedy in warning.remedies() {
                assert!(message.contains(&remedy.to_string()), "{remedy}: {message}");
            }
        }
        let warning = CheckWarning::FewWords { words: 3, least: 1000, start_may_help: true };
        let words =
            "3 words of training text are too few: with fewer than 1,000, similarities of other sentences are worse";
        assert!(warning.to_string().starts_with(words), "{warning}");
        let warning = CheckWarning::FewDirections { directions: 2.0 }.to_string();
        assert!(warning.ends_with("; train for more epochs with a higher learning rate, or on more text"), "{warning}");
    }
}
