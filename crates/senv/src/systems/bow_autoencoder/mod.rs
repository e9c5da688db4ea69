//! BOW AE: an autoencoder that sums the word vectors of a sentence, applies tanh, and predicts the set of words from
//! the result.
//!
//! S. Chandar A. P., S. Lauly et al., "An Autoencoder Approach to Learning Bilingual Word Representations", NIPS 2014,
//! section 2, in one language. The reconstruction is `presence-loss`, or `presence-tree` for large vocabularies. The
//! sentence vector is the output of tanh; the paper that compares BOW AE does not say whether it uses the input or the
//! output.

mod objective;
#[cfg(test)]
mod tests;

use senv_store::Embeddings;
use std::path::PathBuf;

use senv_core::{
    Corpus, CorpusOptions, Error as CoreError, Observer, SentenceEncoder, Sentences, Tokenizer, Vocabulary,
    arrays::Parameters,
    corpus::SentencesWriter,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    optim::UpdateRule,
    rng::stream,
};
use senv_encoders::Encoder;
use serde::{Deserialize, Serialize};

use objective::{Autoencoding, Output};

use crate::{
    base::{file, memory_text::MemoryText, text_files::TextFiles, train_options::TrainOptions},
    data::{read_sentences, reading::Reading},
    error::{Error, Result},
    gradient::{FitParams, Weights, encoder_form::EncoderForm, fit, present_words::PresentWords},
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        trained::Trained,
    },
    sequence::LongSentences,
    start::initial::{self, Initial},
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
};

/// How the set of words is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reconstruction {
    /// Binary cross-entropy of every word of the vocabulary.
    Full,
    /// The path to each word of the sentence in a binary tree: for large vocabularies.
    Tree,
}

named_values!(Reconstruction {
    Full = "full": "Binary cross-entropy over every word of the vocabulary",
    Tree = "tree": "Paths to the words of the sentence in a binary tree, for large vocabularies",
});

hyperparameters! {
    /// Hyperparameters of BOW AE. The paper states the dimension and Adam.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct BowAutoencoderParams {
        /// Dimension of the word vectors.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Minimum count; rarer words are unknown.
        pub min_count: u64 = 5 => Text;
        /// Vocabulary size: the most frequent words.
        pub max_vocabulary: Option<usize> = Some(20_000) => Text[at_least 1];
        /// Maximum tokens per training sentence. Encoding reads all tokens.
        pub max_tokens: usize = 200 => Text[at_least 1];
        /// Treatment of longer sentences in training.
        @[serde(default)]
        pub long: LongSentences = LongSentences::Cut => Text;
        /// How the set of words is predicted.
        pub reconstruction: Reconstruction = Reconstruction::Full => Training;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: Some(5), batch: 128, ..FitParams::default() } => group;
    }
}

impl System for BowAutoencoderParams {
    type Model = BowAutoencoder;
    type Input = [PathBuf];
    type Data<'a> = Unread<'a, [PathBuf]>;
    type Dev<'d> = &'d [PathBuf];
    const ABOUT: About = About {
        name: BowAutoencoder::KIND,
        summary: "BOW AE: a sum of words that predicts the set of words",
        examples: &["senv train bow-ae --input text.txt --dim 300 --output ae.senv"],
        note: "",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "As stated in the paper (620 dimensions, Adam); also the defaults, except for --normalize",
        settings: Self::paper,
    }];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a [PathBuf],
        start: Start<'a>,
        _: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Unread<'a, [PathBuf]>> {
        Ok(Unread { input, start })
    }

    fn fit_on(
        &self,
        data: &Unread<'_, [PathBuf]>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<BowAutoencoder>> {
        let &Unread { input: paths, start } = data;
        self.check()?;
        let (vectors, observer) = (start.vectors()?, options.observer);
        let tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(paths, observer));
        let (options, params) = (Start::options(vectors.as_deref(), options), Self { tokenizer, ..self.clone() });
        let reading = options.resumable_reading(&params.tokenizer, self.min_count);
        let reading = CorpusOptions { max_vocabulary: self.max_vocabulary, ..reading };
        let (vocabulary, corpus) = Corpus::read(paths, &reading, observer)?;
        let reading = CorpusOptions { kept: None, ..reading };
        let dev = options.dev.unwrap_or_default();
        let held_out = || Corpus::with_vocabulary(dev, &vocabulary, &reading, observer);
        let held_out = (!dev.is_empty()).then(held_out).transpose()?;
        let fitted = params.fit(vocabulary, &corpus, &options.with_dev(held_out.as_ref()));
        let names = || dev.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        fitted.map_err(|error| match error {
            Error::NoHeldOutExamples { kind, .. } => Error::NoHeldOutExamples { kind, name: names() },
            error => error,
        })
    }
}

impl BowAutoencoderParams {
    /// The settings that the paper states: vectors of 620 dimensions, initialized from those of Skip-thoughts (pass
    /// them as initial vectors), and Adam. It does not state vocabulary, learning rate, batch size and epochs: they are
    /// the defaults.
    #[must_use]
    pub fn paper() -> Self {
        let fit = FitParams { rule: UpdateRule::default(), ..Self::default().fit };
        Self { dim: 620, tokenizer: Tokenizer::automatic().lowercase(true), fit, ..Self::default() }
    }

    /// Trains on text files with one sentence per line. Validation uses held-out files, read with the vocabulary of the
    /// training text. The parameters with the lowest mean loss on them are kept.
    ///
    /// # Errors
    /// [`Error::NoHeldOutExamples`] if the held-out files have no known word; errors of the text, the parameters, the
    /// memory, or the training itself.
    pub fn fit_files(
        &self,
        text: impl TextFiles,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<BowAutoencoder>> {
        self.fit_input(&text.paths(), Start::Random, options)
    }

    /// Like [`BowAutoencoderParams::fit_files`], with sentences in memory; an empty one separates documents.
    ///
    /// # Errors
    /// The errors of [`BowAutoencoderParams::fit_files`]; an error if the temporary file of [`MemoryText`] cannot be
    /// written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<BowAutoencoder>> {
        MemoryText::lend(sentences, |text| self.fit_files(text, options))
    }

    /// Trains on a corpus of token ids of `vocabulary`, validated on another.
    ///
    /// # Errors
    /// The errors of [`BowAutoencoderParams::fit_files`].
    pub fn fit(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_, &Corpus>,
    ) -> Result<Trained<BowAutoencoder>> {
        let TrainOptions { vectors, dev, observer, .. } = *options;
        self.check()?;
        let seed = self.fit.seed;
        let vocabulary = vocabulary.with_terms_of(vectors.map(Embeddings::vocabulary));
        let (words, found) = self.initial.rows(&vocabulary, self.dim, vectors, seed)?;
        let (encoder, output) = (PresentWords::new(self.dim), Output::new(self, vocabulary.len()));
        let weights = Weights {
            words,
            parameters: vec![
                encoder.init(&mut stream(seed, "encoder", &[]))?,
                output.init(&mut stream(seed, "output", &[]))?,
            ],
        };
        let sentences = self.word_sets(corpus, "", observer)?;
        let n = u32::try_from(sentences.len()).map_err(|_| CoreError::TooLarge { rows: sentences.len(), dim: 1 })?;
        let held_out = dev.map(|dev| self.word_sets(dev, "held-out ", observer)).transpose()?;
        if held_out.as_ref().is_some_and(Sentences::is_empty) {
            return Err(Error::NoHeldOutExamples { kind: BowAutoencoder::KIND, name: "held-out text".into() });
        }
        let of_dev = dev.map_or_else(String::new, |dev| format!("{} ", dev.fingerprint()));
        let vectors = initial::vectors_fingerprint(vectors);
        let identity = format!("{} {} {of_dev}{vectors}", file::to_json(self)?, corpus.fingerprint());
        let updates = self.fit.words;
        let mut objective = Autoencoding { encoder, output, sentences, n, dev: held_out, updates, identity };
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| BowAutoencoder::new(self.clone(), vocabulary, weights))
    }

    /// The distinct words of every sentence that has any, with a note on long sentences that uses `name`.
    fn word_sets(&self, corpus: &Corpus, name: &str, observer: &dyn Observer) -> Result<Sentences> {
        let (mut sentences, mut words, mut n_long) = (SentencesWriter::new(corpus.scratch_dir())?, Vec::new(), 0);
        read_sentences(corpus, |sentence, _| {
            let is_long = sentence.len() > self.max_tokens;
            n_long += usize::from(is_long);
            if sentence.is_empty() || is_long && self.long == LongSentences::Drop {
                return Ok(());
            }
            words.clear();
            words.extend_from_slice(&sentence[..sentence.len().min(self.max_tokens)]);
            words.sort_unstable();
            words.dedup();
            sentences.push(words.iter().copied())
        })?;
        let sentences = sentences.finish()?;
        self.long.report((n_long, sentences.len()), &format!("{name}sentences"), self.max_tokens, observer)?;
        Ok(sentences)
    }
}

/// A trained BOW AE.
pub type BowAutoencoder = EncoderModel<BowAutoencoderParams>;

impl EncoderSystem for BowAutoencoderParams {
    const KIND: &'static str = "bow-ae";
    type Params = Self;

    fn params(&self) -> &Self {
        self
    }

    fn word_dim(&self) -> usize {
        self.dim
    }

    fn form(&self) -> EncoderForm {
        EncoderForm::PresentWords
    }

    fn reading(&self) -> Reading {
        Reading::known_words(self.tokenizer.clone(), self.max_tokens)
    }

    fn check_opened(&self) -> Result<()> {
        self.check()
    }

    fn head_form(&self, n_words: usize) -> Result<Parameters<f32>> {
        Output::new(self, n_words).init(&mut stream(0, "form", &[]))
    }
}

impl BowAutoencoder {
    /// The reconstruction loss of each sentence, in nats.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn losses(&self, sentences: &[&str]) -> Result<Vec<f64>> {
        let (mut targets, mut scratch, mut tokens) = (Sentences::new(), String::new(), Vec::new());
        for text in sentences {
            self.read(text, &mut scratch, &mut tokens);
            targets.push(tokens.iter().copied());
        }
        let (h, _) = self.encode_batch(sentences)?;
        let output = Output::new(self.params(), self.vocabulary().len());
        output.losses(self.head_parameters(), h.view(), &targets)
    }
}
