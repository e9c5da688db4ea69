//! Training of an encoder with decoders on files or pairs, shared by Skip-thoughts, RNN AE and P-thought.

use std::path::{Path, PathBuf};

use senv_core::{
    CorpusOptions, Observer, TokenId, Tokenizer, Vocabulary, corpus::StoredList, hyperparameters::Hyperparameters,
};
use senv_store::Embeddings;

use super::{
    form::SequenceForm,
    model::{EncoderPart, SequenceConfig, SequenceModel, SequenceSystem},
    objective::{Example, ExampleSet, Seq2SeqObjective},
    words::{LongSentences, Text, assemble, known},
};
use crate::{
    base::{file, range::require, train_options::TrainOptions},
    data::reading::{END, Reading, SPECIAL, UNKNOWN},
    error::{Error, Result},
    gradient::{FitParams, Weights, WordUpdates, corruption::Corruption, fit},
    model::trained::Trained,
    start::initial::{Initial, vectors_fingerprint},
};

/// The words in GloVe files for the end of a sentence and for unknown words.
const ALIASES: [(TokenId, &str); 2] = [(END, "</s>"), (UNKNOWN, "unk")];

/// The settings that all systems with decoders have.
pub(crate) struct Settings<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) min_count: u64,
    pub(crate) max_vocabulary: Option<usize>,
    pub(crate) max_tokens: usize,
    pub(crate) long: LongSentences,
    /// The token that the encoder reads after the last word.
    pub(crate) end: Option<TokenId>,
    /// Whether sentence vectors are normalized.
    pub(crate) normalize: bool,
    /// α of each decoder.
    pub(crate) weights: Vec<f64>,
    pub(crate) initial: &'a Initial,
    pub(crate) fit: &'a FitParams,
}

/// Training set and held-out set as token ids.
pub(crate) struct Data {
    vocabulary: Vocabulary,
    train: ExampleSet,
    /// Held-out examples for validation.
    dev: Option<ExampleSet>,
    identity: String,
}

impl Data {
    /// Builds data from training and held-out text with the examples in each; `dev` comes with its name.
    pub(crate) fn new(
        system: &impl Trainable,
        vocabulary: Vocabulary,
        (text, examples): (Text, StoredList<Example>),
        dev: Option<(Text, StoredList<Example>, String)>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Settings { long, max_tokens, .. } = system.settings();
        let mut identity = text.identity.clone();
        let train = text.admit(examples, long, max_tokens, "", observer)?;
        if train.examples.is_empty() {
            return Err(Error::NoExamples { kind: system.kind() });
        }
        let mut held_out = None;
        if let Some((text, examples, name)) = dev {
            identity = format!("{identity} {}", text.identity);
            let dev = text.admit(examples, long, max_tokens, "held-out ", observer)?;
            if dev.examples.is_empty() {
                return Err(Error::NoHeldOutExamples { kind: system.kind(), name });
            }
            held_out = Some(dev);
        }
        Ok(Self { vocabulary, train, dev: held_out, identity })
    }
}

/// Settings that can be trained with.
pub(crate) trait Trainable: SequenceSystem {
    /// Returns the shared settings.
    fn settings(&self) -> Settings<'_>;

    /// Returns the corruption of the sentences that the encoder reads in training; none by default.
    fn corruption(&self) -> Corruption {
        Corruption::default()
    }

    /// Returns the form of the model for a vocabulary of `n_words` words.
    fn form(&self, n_words: usize) -> SequenceForm;

    fn kind(&self) -> &'static str {
        Self::KIND
    }

    /// Checks the ranges of all shared settings.
    fn check_settings(&self) -> Result<()> {
        let (settings, form) = (self.settings(), self.form(2));
        file::check_dim(form.dim)?;
        require(settings.max_tokens >= 1, "max_tokens", "at least 1", settings.max_tokens as f64)?;
        let most = settings.max_vocabulary.unwrap_or(usize::MAX);
        let requirement = "at least 3: the end token, the token for unknown words, and one word";
        require(most > SPECIAL.len(), "max_vocabulary", requirement, most as f64)?;
        form.output.check_ranges()?;
        form.build()?;
        settings.fit.check()
    }

    /// Trains on text files with the examples that `examples` finds, validated on files of the same layout. If given
    /// vectors are frozen, words without a vector are unknown.
    fn fit_text(
        &self,
        paths: &[impl AsRef<Path>],
        examples: fn(&Text) -> Result<StoredList<Example>>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<SequenceModel<Self>>> {
        let Settings { tokenizer, min_count, max_vocabulary, max_tokens, fit, .. } = self.settings();
        // If vectors are frozen, a word without one would keep a random one.
        let fixed = options.vectors.filter(|_| fit.words == WordUpdates::Frozen);
        let keep = |token: &str| fixed.is_none_or(|fixed| fixed.get(token).is_some());
        let observer = options.observer;
        let reading = CorpusOptions { max_vocabulary: None, ..options.reading(tokenizer, 1) };
        // Which words have a vector is known only when all are read.
        let most = max_vocabulary.filter(|_| fixed.is_none());
        let resumable =
            CorpusOptions { max_vocabulary: most, ..options.resumable_reading(tokenizer, min_count.max(1)) };
        let (vocabulary, text) = Text::read(paths, &resumable, max_tokens, observer, |words, corpus| {
            let left_out = words.corpus_tokens() - words.counts().iter().sum::<u64>();
            assemble(words, left_out, corpus.n_sentences(), max_vocabulary, min_count, keep)
        })?;
        let found = examples(&text)?;
        let held_out = |dev: &[PathBuf]| -> Result<_> {
            let number = |words: &Vocabulary, _: &_| Ok(((), known(&vocabulary, words)));
            let ((), text) = Text::read(dev, &reading, max_tokens, observer, number)?;
            let names: Vec<String> = dev.iter().map(|path| path.display().to_string()).collect();
            let found = examples(&text)?;
            Ok((text, found, names.join(", ")))
        };
        let held_out = options.dev.filter(|dev| !dev.is_empty()).map(held_out).transpose()?;
        let data = Data::new(self, vocabulary, (text, found), held_out, observer).map_err(|error| match error {
            Error::NoExamples { .. } => {
                Error::NoExamplesIn { paths: paths.iter().map(|path| path.as_ref().to_owned()).collect() }
            }
            error => error,
        })?;
        self.fit_data(data, options)
    }

    /// Trains on examples. `</s>` and `unk` among the vectors are used for the end token and for unknown words.
    fn fit_data<D>(&self, data: Data, options: &TrainOptions<'_, D>) -> Result<Trained<SequenceModel<Self>>> {
        let vectors = options.vectors;
        let Settings { tokenizer, max_tokens, end, normalize, weights, initial, fit: params, .. } = self.settings();
        let vocabulary = data.vocabulary.with_terms_of(vectors.map(Embeddings::vocabulary));
        let form = self.form(vocabulary.len());
        let (mut words, found) = initial.rows(&vocabulary, form.dim, vectors, params.seed)?;
        for (token, alias) in ALIASES {
            if let Some(row) = vectors.and_then(|vectors| vectors.get(alias)) {
                words.row_mut(token.index()).copy_from_slice(row);
            }
        }
        let seq2seq = form.build()?;
        let identity = format!("{} {} {}", file::to_json(self)?, data.identity, vectors_fingerprint(vectors));
        let mut objective = Seq2SeqObjective {
            kind: Self::KIND,
            seq2seq: seq2seq.clone(),
            train: data.train,
            dev: data.dev,
            weights,
            end,
            corruption: self.corruption(),
            updates: params.words,
            identity,
        };
        let start = || Ok(Weights { words, parameters: seq2seq.init(params.seed)? });
        let fitted = fit(&mut objective, start, params, &options.run())?;
        let reading = Reading { tokenizer: tokenizer.clone(), max_tokens, unknown: Some(UNKNOWN), end };
        let config = SequenceConfig { parts: vec![form], reading, normalize, params: Some(self.clone()) };
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            Ok(SequenceModel::new(config, vocabulary, vec![EncoderPart::new(words, seq2seq, parameters)]))
        })
    }
}
