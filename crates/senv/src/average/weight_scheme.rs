//! The weights of words in a sentence vector, and their settings.

use senv_core::{
    Error as CoreError, Result as CoreResult, Vocabulary,
    hyperparameters::{Hyperparameter, Section, belongs_to, named_values, set_value},
};
use senv_store::{Sif, Usif};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// SIF and uSIF weights.
///
/// Exhaustive on purpose: a scheme determines the weight of a word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightScheme {
    /// a / (a + p), and the first common component is removed completely (Arora, Liang and Ma 2017).
    Sif {
        /// The frequency at which the weight is one half; above 0, 1e-3 by default.
        a: f64,
    },
    /// The weights follow from the counts; five components are removed in proportion to their shares (Ethayarajh 2018).
    Usif {
        /// The mean number of words per sentence, at least 1; 11 by default.
        mean_length: f64,
    },
}

impl WeightScheme {
    /// SIF with its default a.
    pub const SIF: Self = Self::Sif { a: senv_store::DEFAULT_SIF_A };
    /// uSIF with its default sentence length.
    pub const USIF: Self = Self::Usif { mean_length: senv_store::DEFAULT_USIF_LENGTH };

    /// Returns `sif` or `usif`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sif { .. } => "sif",
            Self::Usif { .. } => "usif",
        }
    }

    /// Returns the number of common components to remove: 1 (SIF) or 5 (uSIF).
    #[must_use]
    pub fn n_components(self) -> usize {
        match self {
            Self::Sif { .. } => 1,
            Self::Usif { .. } => 5,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] naming the parameter that is out of range.
    pub fn check(self) -> Result<()> {
        Ok(self.check_range()?)
    }

    fn check_range(self) -> CoreResult<()> {
        let (ok, name, requirement, got) = match self {
            Self::Sif { a } => (a.is_finite() && a > 0.0, "sif_a", "finite and above 0", a),
            Self::Usif { mean_length: n } => (n.is_finite() && n >= 1.0, "usif_length", "at least 1", n),
        };
        if ok { Ok(()) } else { Err(CoreError::InvalidParameter { name, requirement, got: got.to_string() }) }
    }

    /// Returns the weight of each word of `words` by the frequencies of `counts`, which can be the same vocabulary.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] for a parameter out of range, or if the vocabulary has no counts.
    pub fn word_weights(self, words: &Vocabulary, counts: &Vocabulary) -> Result<Vec<f32>> {
        Ok(match self {
            Self::Sif { a } => Sif { a }.weights_by(words, counts)?,
            Self::Usif { mean_length } => Usif { mean_length }.weights_by(words, counts)?,
        })
    }

    pub(crate) fn is_usif(self) -> bool {
        matches!(self, Self::Usif { .. })
    }
}

/// Weight schemes by name.
enum Weights {
    None,
    Sif,
    Usif,
}
named_values!(Weights {
    None = "none": "A plain mean",
    Sif = "sif": "a / (a + p), and one common component removed completely (Arora et al. 2017)",
    Usif = "usif": "Weights derived from the counts, and five components removed in proportion to their shares \
        (Ethayarajh 2018)",
});

/// The `weighting` of a model as hyperparameters.
pub(crate) mod weights {
    use super::*;

    const WEIGHTS: &[&str] = &[
        "Weights words (and n-grams) by how rare they are in the text, and removes the components that all sentence \
        vectors",
        "share; the model stores both.",
    ];
    const SIF_A: &[&str] = &["The a of SIF weights a / (a + relative frequency of the word), above 0."];
    const LENGTH: &[&str] = &["Mean number of words per sentence that uSIF assumes, at least 1."];

    pub(crate) fn hyperparameters(weighting: &Option<WeightScheme>) -> Vec<Hyperparameter> {
        let (name, a, length) = match *weighting {
            None => (Weights::None, None, None),
            Some(WeightScheme::Sif { a }) => (Weights::Sif, Some(a), None),
            Some(WeightScheme::Usif { mean_length }) => (Weights::Usif, None, Some(mean_length)),
        };
        let of = |name, doc, value: Option<f64>, default| Hyperparameter {
            applies: value.is_some(),
            ..Hyperparameter::of(name, doc, Section::Weights, None, &value.unwrap_or(default))
        };
        vec![
            Hyperparameter::of("weights", WEIGHTS, Section::Weights, None, &name),
            of("sif_a", SIF_A, a, senv_store::DEFAULT_SIF_A),
            of("usif_length", LENGTH, length, senv_store::DEFAULT_USIF_LENGTH),
        ]
    }

    pub(crate) fn set(weighting: &mut Option<WeightScheme>, name: &str, text: &str) -> CoreResult<bool> {
        match (name, &mut *weighting) {
            ("weights", _) => {
                let mut weights = Weights::None;
                set_value(&mut weights, name, text)?;
                *weighting = match weights {
                    Weights::None => None,
                    Weights::Sif => Some(WeightScheme::SIF),
                    Weights::Usif => Some(WeightScheme::USIF),
                };
            }
            ("sif_a", Some(WeightScheme::Sif { a })) => set_value(a, name, text)?,
            ("usif_length", Some(WeightScheme::Usif { mean_length })) => set_value(mean_length, name, text)?,
            ("sif_a", _) => return Err(belongs_to(name, text, "weights = sif")),
            ("usif_length", _) => return Err(belongs_to(name, text, "weights = usif")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn check_ranges(weighting: &Option<WeightScheme>) -> CoreResult<()> {
        match *weighting {
            None => Ok(()),
            Some(scheme) => scheme.check_range(),
        }
    }
}
