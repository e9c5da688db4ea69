//! BOW AE: the words of a sentence, summed and squashed, from which its set of words is predicted.
//!
//! S. Chandar A. P., S. Lauly et al., "An Autoencoder Approach to Learning Bilingual Word Representations", NIPS 2014,
//! section 2, in one language. The reconstruction is `presence-loss`, or `presence-tree` for large vocabularies. The
//! sentence vector is what comes out of tanh; the paper that compares it does not say whether it is that or what goes in.

mod objective;
#[cfg(test)]
mod tests;

use senv_store::{Embeddings, ModelFile};
use std::path::{Path, PathBuf};

use ndarray::Array2;
use senv_core::{
    Corpus, CorpusOptions, Coverage, Error as CoreError, Observer, Result as CoreResult, Scratch, SentenceEncoder,
    Sentences, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    corpus::SentencesWriter,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    rng::stream,
};
use senv_encoders::Encoder;
use serde::{Deserialize, Serialize};

use objective::{Autoencoding, Output};

use crate::{
    base::{configuration::Configuration, file, memory_text::MemoryText, train_options::TrainOptions},
    data::{
        read_sentences,
        reading::{Reading, encode_batch_by_length, encode_into_with, gather},
    },
    error::{Error, Result},
    gradient::{FitParams, Weights, fit, present_words::PresentWords},
    model::{
        saved::{ReadModel, SavedModel},
        trained::Trained,
    },
    sequence::LongSentences,
    start::initial::{self, Initial},
    system::{
        about::About,
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
};

/// How the set of words is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reconstruction {
    /// Binary cross-entropy of every word of the vocabulary.
    Full,
    /// The path to each word that is present in a binary tree: for large vocabularies.
    Tree,
}

named_values!(Reconstruction {
    Full = "full": "Binary cross-entropy of every word of the vocabulary",
    Tree = "tree": "The path to each word of the sentence in a binary tree: for large vocabularies",
});

hyperparameters! {
    /// Hyperparameters of BOW AE. The paper names the dimension and Adam.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct BowAutoencoderParams {
        /// Dimension of the word vectors.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Words that occur less often are unknown.
        pub min_count: u64 = 5 => Text;
        /// Vocabulary size: the most frequent words.
        pub max_vocabulary: Option<usize> = Some(20_000) => Text[at_least 1];
        /// Words of a sentence that are read in training; encoding reads all.
        pub max_tokens: usize = 200 => Text[at_least 1];
        /// What becomes of longer sentences in training.
        @[serde(default)]
        pub long: LongSentences = LongSentences::Cut => Text;
        /// How the set of words is predicted.
        pub reconstruction: Reconstruction = Reconstruction::Full => Training;
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::automatic().lowercase(true) => group;
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
        summary: "BOW AE: a sum of words from which the set of words is predicted",
        examples: &["senv train bow-ae --input text.txt --dim 300 --output ae.senv"],
        note: "",
        preset: "",
    };

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
    fn reading(&self) -> Reading {
        Reading { tokenizer: self.tokenizer.clone(), max_tokens: self.max_tokens, unknown: None, end: None }
    }

    /// Trains on text files, a sentence a line. It is validated on held-out files, read with the words of the training
    /// text: the weights of the lowest mean loss on them are kept.
    ///
    /// # Errors
    /// [`Error::NoHeldOutExamples`] if the held-out files have no known word; whatever is wrong with the text, the
    /// parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        paths: &[impl AsRef<Path>],
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<BowAutoencoder>> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        self.fit_input(&paths, Start::Random, options)
    }

    /// As [`BowAutoencoderParams::fit_files`] on sentences in memory, an empty one between documents.
    ///
    /// # Errors
    /// As [`BowAutoencoderParams::fit_files`]; if the temporary file of [`MemoryText`] cannot be written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<BowAutoencoder>> {
        MemoryText::lend(sentences, |text| self.fit_files(&[text], options))
    }

    /// Trains on a corpus that is coded in `vocabulary`, validated on another.
    ///
    /// # Errors
    /// As [`BowAutoencoderParams::fit_files`].
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
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            BowAutoencoder::new(self.clone(), vocabulary, words, file::exactly(parameters))
        })
    }

    /// The words of every sentence that has any, each once; with a note on long sentences of this `name`.
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
#[derive(Debug, Clone)]
pub struct BowAutoencoder {
    params: BowAutoencoderParams,
    reading: Reading,
    vocabulary: Vocabulary,
    words: Table,
    encoder: PresentWords,
    output: Output,
    /// The bias, and the parameters of the output layer.
    parameters: [Parameters<f32>; 2],
}

impl BowAutoencoder {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "bow-ae";

    fn new(
        params: BowAutoencoderParams,
        vocabulary: Vocabulary,
        words: Table,
        parameters: [Parameters<f32>; 2],
    ) -> Result<Self> {
        let (encoder, reading) = (PresentWords::new(params.dim), params.reading());
        let output = Output::new(&params, vocabulary.len());
        Ok(Self { params, reading, vocabulary, words, encoder, output, parameters })
    }

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &BowAutoencoderParams {
        &self.params
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// How text is read, and the parameters of the encoder.
    pub(crate) fn encoder_parts(&self) -> (&Reading, &Parameters<f32>) {
        (&self.reading, &self.parameters[0])
    }

    /// The loss of the reconstruction of each sentence, in nats: how badly the vector says which words are there.
    ///
    /// # Errors
    /// If memory is lacking.
    pub fn losses(&self, sentences: &[&str]) -> Result<Vec<f64>> {
        let (mut targets, mut scratch, mut tokens) = (Sentences::new(), String::new(), Vec::new());
        for text in sentences {
            self.read(text, &mut scratch, &mut tokens);
            targets.push(tokens.iter().copied());
        }
        let (h, _) = self.encode_batch(sentences)?;
        self.output.losses(&self.parameters[1], h.view(), &targets)
    }

    /// Writes the model to a file by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save_with(Self::KIND, &self.params, &self.vocabulary, &self.words, &self.parameters, path.as_ref())
    }

    /// Opens a model; its word vectors are memory-mapped.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }

    fn read(&self, text: &str, scratch: &mut String, out: &mut Vec<TokenId>) -> Coverage {
        let coverage = self.reading.read(&self.vocabulary, text, scratch, out);
        out.sort_unstable();
        out.dedup();
        coverage
    }

    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let (batch, words) = gather(&self.words, sentences)?;
        Ok(self.encoder.forward(&self.parameters[0], &batch, words.view())?.0)
    }
}

impl Configuration for BowAutoencoderParams {
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        self.check()
    }
}

impl ReadModel for BowAutoencoder {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, words) = file::parts::<BowAutoencoderParams>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), params.dim)?;
        let output = Output::new(&params, vocabulary.len()).init(&mut stream(0, "form", &[]))?;
        let bias = PresentWords::new(params.dim).init(&mut stream(0, "form", &[]))?;
        Self::new(params, vocabulary, words, file::groups(file, &[bias, output])?)
    }
}

impl SavedModel for BowAutoencoder {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.params.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.words)
    }

    fn config_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.params).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.params.hyperparameters()
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }
}

senv_core::encoding_methods!([] BowAutoencoder);

impl SentenceEncoder for BowAutoencoder {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_into_with(sentence, scratch, out, read, |sentences| self.vectors(sentences))
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_batch_by_length(sentences, self.dim(), read, |sentences| self.vectors(sentences))
    }
}
