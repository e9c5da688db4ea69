//! DictRep: an encoder that maps the definition of a word to the vector of the word.
//!
//! F. Hill, K. Cho, A. Korhonen and Y. Bengio, "Learning to Understand Phrases by Embedding the Dictionary", TACL 2016.
//! The encoder is `target-encoder`, the loss `target-ranking-loss` or `target-cosine-loss`; targets are scaled to
//! length 1 and frozen. With frozen initial word vectors it is the `+embs` of the paper's tables. The model keeps the
//! words and their vectors: it is a reverse dictionary.

use senv_core::hyperparameters::hyperparameters;
use serde::{Deserialize, Serialize};

use crate::{
    base::train_options::TrainOptions,
    error::Result,
    model::trained::Trained,
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
    targets::{TargetModel, TargetParams, TargetSystem, TextTargets, fit_targets},
};

hyperparameters! {
    /// Hyperparameters of DictRep: those of [`TargetParams`].
    ///
    /// ```
    /// use senv_core::{NoObserver, Table, Vocabulary};
    /// use senv_data::{Definition, Definitions};
    /// use senv_store::Embeddings;
    /// use senv::{DictRepParams, Start, System, TrainOptions, targets::{TargetParams, TextTargets}};
    ///
    /// let words = Vocabulary::from_counts([("tap", 2), ("ibex", 1)], 3)?;
    /// let vectors = Embeddings::new(words, Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0])?)?;
    /// let entry = |word: &str, text: &str| Definition { word: word.into(), text: text.into() };
    /// let entries = vec![entry("tap", "a device that lets water out"), entry("ibex", "a wild mountain goat")];
    /// let dictionary = Definitions { path: "dictionary.tsv".into(), entries };
    /// let pairs = TextTargets::definitions(&[dictionary], &vectors, &NoObserver)?;
    ///
    /// let mut params = DictRepParams { settings: TargetParams { dim: 8, hidden: 8, held_out: 0.0, ..Default::default() } };
    /// params.settings.fit.epochs = Some(200);
    /// let model: senv::Model = params.fit_input(&pairs, Start::Random, &TrainOptions::default())?.model.into();
    /// assert_eq!(model.define("a goat of the mountain", 1)?[0].word, "ibex");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct DictRepParams {
        /// All settings.
        pub settings: TargetParams = TargetParams::default() => group;
    }
}

/// A trained DictRep.
pub type DictRep = TargetModel<DictRepParams>;

impl TargetSystem for DictRepParams {
    const KIND: &'static str = "dict-rep";

    fn settings(&self) -> &TargetParams {
        &self.settings
    }

    fn settings_mut(&mut self) -> &mut TargetParams {
        &mut self.settings
    }
}

impl System for DictRepParams {
    type Model = DictRep;
    type Input = TextTargets;
    type Data<'a> = Unread<'a, TextTargets>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "DictRep: an encoder that maps the definition of a word to the vector of the word; a reverse \
            dictionary",
        examples: &[
            "senv train dict-rep --definitions dictionary.tsv --target-vectors words.senv --output dict.senv",
            "senv train dict-rep --definitions dictionary.tsv --target-vectors words.senv --init-vectors words.senv --updates frozen --output dict-embs.senv",
            "senv train dict-rep --definitions dictionary.tsv --target-vectors words.senv --encoder rnn --output dict-rnn.senv",
        ],
        note: "With --init-vectors and --updates frozen, this is \"+embs\" in the papers' tables. A tenth of the words \
            are held out with all their definitions to choose the best weights.",
        preset: "Start from a named preset instead of settings that fit most dictionaries; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "AdaDelta, batches of 16, margin 0.1",
            settings: || Self { settings: TargetParams::paper() },
        },
        NamedSettings {
            name: "release",
            help: "As in the paper, with margin 1, 30,000 words, an end token and an unknown-word token",
            settings: || Self { settings: TargetParams::release() },
        },
    ];

    fn check(&self) -> Result<()> {
        self.settings.check()
    }

    fn common(&mut self) -> Common<'_> {
        let TargetParams { dim, tokenizer, fit, .. } = &mut self.settings;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a TextTargets,
        start: Start<'a>,
        _: &TrainOptions<'_, ()>,
    ) -> Result<Unread<'a, TextTargets>> {
        Ok(Unread { input, start })
    }

    fn fit_on(&self, data: &Unread<'_, TextTargets>, options: &TrainOptions<'_, ()>) -> Result<Trained<DictRep>> {
        let &Unread { input: pairs, start } = data;
        fit_targets(self, pairs, start, options)
    }
}
