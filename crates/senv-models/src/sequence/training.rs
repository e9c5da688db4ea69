//! From sentences and examples to a trained encoder with decoders.

use senv_core::{Observer, Sentences, TokenId, Vocabulary};
use senv_store::Embeddings;

use super::{
    form::SequenceForm,
    model::{Part, SequenceConfig, SequenceModel, SequenceSystem},
    reading::{END, Reading, UNKNOWN},
    telling::{Example, Telling},
};
use crate::{
    Result, file,
    fit::{FitParams, Weights, WordUpdates, fit},
    initial::{Initial, vectors_fingerprint},
    learnt::Learnt,
};

/// The words of GloVe files that stand for the end of a sentence and for unknown words.
const ALIASES: [(TokenId, &str); 2] = [(END, "</s>"), (UNKNOWN, "unk")];

/// What a system with decoders is trained from.
pub(crate) struct Training<'a, S> {
    pub(crate) params: &'a S,
    pub(crate) fit: &'a FitParams,
    pub(crate) form: SequenceForm,
    pub(crate) reading: Reading,
    pub(crate) normalise: bool,
    pub(crate) initial: &'a Initial,
    pub(crate) vectors: Option<&'a Embeddings>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) sentences: Sentences,
    pub(crate) examples: Vec<Example>,
    /// Of each decoder, how much its loss counts.
    pub(crate) weights: Vec<f64>,
    /// What identifies the text.
    pub(crate) identity: String,
}

impl<S: SequenceSystem> Training<'_, S> {
    pub(crate) fn run(self, observer: &dyn Observer) -> Result<Learnt<SequenceModel<S>>> {
        let (seed, form) = (self.fit.seed, &self.form);
        let (mut words, found) = self.initial.rows(&self.vocabulary, form.dim, self.vectors, seed)?;
        for (token, alias) in ALIASES {
            if let Some(row) = self.vectors.and_then(|vectors| vectors.get(alias)) {
                words.row_mut(token.index()).copy_from_slice(row);
            }
        }
        let machine = form.build()?;
        let identity =
            format!("{} {} {}", file::to_json(self.params)?, self.identity, vectors_fingerprint(self.vectors));
        let mut objective = Telling {
            kind: S::KIND,
            machine: machine.clone(),
            sentences: self.sentences,
            examples: self.examples,
            weights: self.weights,
            end: self.reading.end,
            frozen: self.fit.words == WordUpdates::Frozen,
            identity,
        };
        let start = || Ok(Weights { words, parameters: machine.init(seed)? });
        let fitted = fit(&mut objective, start, self.fit, observer)?;
        let config = SequenceConfig {
            parts: vec![self.form],
            reading: self.reading,
            normalise: self.normalise,
            params: Some(self.params.clone()),
        };
        let (vocabulary, machine) = (self.vocabulary, objective.machine);
        Learnt::new(fitted, found, |Weights { words, parameters }| {
            Ok(SequenceModel::new(config, vocabulary, vec![Part::new(words, machine, parameters)]))
        })
    }
}
