//! Hyperparameters of the core: the tokenizer, and the optimizer by name.

use super::{Choice, Hyperparameter, HyperparameterValue, Hyperparameters, Section, expected_one_of, set_value};
use crate::optim::{AdaDeltaParams, AdaGradParams, AdamParams, AdamVariant, UpdateRule};
use senv_base::Result;
use senv_text::{Normalization, Tokenizer};

/// The rule of a tokenizer, by name.
struct Rule(Tokenizer);

impl HyperparameterValue for Rule {
    const PLACEHOLDER: &'static str = "RULE";
    const CHOICES: &'static [Choice] = &[
        Choice { name: "whitespace", help: "At whitespace only" },
        Choice { name: "words", help: "English words, clitics and punctuation" },
        Choice {
            name: "unicode",
            help: "Words of any script; single characters for scripts without spaces between words",
        },
    ];

    fn parse(text: &str) -> std::result::Result<Self, String> {
        Tokenizer::named(text).map(Self).ok_or_else(|| expected_one_of(Self::CHOICES))
    }

    fn print(&self) -> Option<String> {
        Some(self.0.name().to_owned())
    }
}

impl HyperparameterValue for Normalization {
    const PLACEHOLDER: &'static str = "RULE";
    const CHOICES: &'static [Choice] = &[
        Choice { name: "typing", help: "Quotes, dashes, repeated marks and the like become one plain form" },
        Choice { name: "none", help: "Text as it is" },
    ];

    fn parse(text: &str) -> std::result::Result<Self, String> {
        match text {
            "typing" => Ok(Self::Typing),
            "none" => Ok(Self::None),
            _ => Err(expected_one_of(Self::CHOICES)),
        }
    }

    fn print(&self) -> Option<String> {
        Some(self.name().to_owned())
    }
}

impl Hyperparameters for Tokenizer {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let rule = Rule(self.clone());
        vec![
            Hyperparameter::of("tokenizer", &["How text is split into tokens."], Section::Text, None, &rule),
            Hyperparameter::of("lowercase", &["Whether to lowercase text."], Section::Text, None, &self.is_lowercase()),
            Hyperparameter::of(
                "strip_hashtags",
                &["Whether to read hashtags as words (tag for #tag); no effect with the unicode tokenizer."],
                Section::Text,
                None,
                &self.strips_hashtags(),
            ),
            Hyperparameter::of(
                "normalize",
                &["How differences of typing are removed before text is split into tokens."],
                Section::Text,
                None,
                &self.normalization(),
            ),
        ]
    }

    fn set(&mut self, name: &str, text: &str) -> Result<bool> {
        let (mut lowercase, mut strip_hashtags) = (self.is_lowercase(), self.strips_hashtags());
        let (mut rule, mut normalization) = (Rule(self.clone()), self.normalization());
        match name {
            "tokenizer" => set_value(&mut rule, name, text)?,
            "lowercase" => set_value(&mut lowercase, name, text)?,
            "strip_hashtags" => set_value(&mut strip_hashtags, name, text)?,
            "normalize" => set_value(&mut normalization, name, text)?,
            _ => return Ok(false),
        }
        *self = rule
            .0
            .lowercase(lowercase)
            .strip_hashtags(strip_hashtags)
            .longest_first(self.is_longest_first())
            .normalize(normalization);
        Ok(true)
    }

    fn check_ranges(&self) -> Result<()> {
        Ok(())
    }
}

/// Optimizers by name, with their default settings.
impl HyperparameterValue for UpdateRule {
    const PLACEHOLDER: &'static str = "NAME";
    const CHOICES: &'static [Choice] = &[
        Choice { name: "adam", help: "Adam as in its paper" },
        Choice {
            name: "adam-folded",
            help: "Adam with the bias correction folded into the learning rate, as in Theano programs",
        },
        Choice { name: "adam-skip-thoughts", help: "Adam as in the released Skip-thoughts code" },
        Choice { name: "adagrad", help: "AdaGrad" },
        Choice { name: "adadelta", help: "AdaDelta as in its paper, with learning rate 1" },
        Choice { name: "sgd", help: "Gradient descent" },
    ];

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let adam = |variant| Self::Adam(AdamParams::default().variant(variant));
        Ok(match text {
            "adam" => adam(AdamVariant::Standard),
            "adam-folded" => adam(AdamVariant::Folded),
            "adam-skip-thoughts" => adam(AdamVariant::ReleasedSkipThoughts),
            "adagrad" => Self::AdaGrad(AdaGradParams::default()),
            "adadelta" => Self::AdaDelta(AdaDeltaParams::default()),
            "sgd" => Self::Sgd,
            name => return Self::entered(name).ok_or_else(|| expected_one_of(Self::CHOICES)),
        })
    }

    fn print(&self) -> Option<String> {
        if let Self::Custom(rule) = self {
            return Some(rule.name().to_owned());
        }
        // Settings without a name are not shown.
        let same = |choice: &&Choice| match (Self::parse(choice.name), self) {
            (Ok(Self::Adam(named)), Self::Adam(own)) => named.has_variant_of(own),
            (Ok(Self::AdaGrad(_)), Self::AdaGrad(_))
            | (Ok(Self::AdaDelta(_)), Self::AdaDelta(_))
            | (Ok(Self::Sgd), Self::Sgd) => true,
            _ => false,
        };
        Self::CHOICES.iter().find(same).map(|choice| choice.name.to_owned())
    }
}
