//! Models that are an encoder over word vectors, with or without a head: one way to keep, save, open and encode for all
//! of them.

use std::{
    fmt::Debug,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use ndarray::Array2;
use senv_core::{
    Coverage, Result as CoreResult, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    encode_batch_with,
    files::Destination,
    hyperparameters::{Hyperparameter, Hyperparameters},
    rng::stream,
};
use senv_encoders::FoldedCnn;
use senv_store::ModelFile;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    saved::{Abilities, EncodingCost, ExpandVocabulary, OpenModel, SavedModel, model_file_methods},
    score_pairs::ScorePairs,
    tunable::TunableEncoder,
};
use crate::{
    base::{
        configuration::{self, Configuration},
        file,
        fingerprint::Fingerprint,
        sealed::Sealed,
    },
    data::reading::{Reading, encode_batch_by_length, gather},
    error::{Error, Result},
    gradient::{Weights, encoder_form::EncoderForm, trainable_encoder::TrainableEncoder},
    start::encoder_weights::TrainedEncoder,
};

/// The settings of a system whose model is an encoder over word vectors, as its files keep them. It is sealed: this
/// crate implements it, and others call it.
pub trait EncoderSystem:
    Sealed + Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync + 'static
{
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Whether words and filters are folded into one table for many sentences. Vectors change by rounding.
    const FOLDS: bool = false;

    /// What it is trained with.
    type Params: Hyperparameters;

    /// The same.
    fn params(&self) -> &Self::Params;

    /// Dimension of the word vectors.
    fn word_dim(&self) -> usize;

    /// The encoder.
    fn form(&self) -> EncoderForm;

    /// How text is read.
    fn reading(&self) -> Reading;

    /// Whether a recurrent encoder takes many sentences in batches. Vectors change by rounding.
    fn in_batches(&self) -> bool {
        true
    }

    /// Refuses settings of a file that are out of range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first setting that is out of range.
    fn check_opened(&self) -> Result<()> {
        Ok(())
    }

    /// The length of the vectors that its head reads; `None` without a head, or with one whose size follows from the
    /// vocabulary.
    fn head_dim(&self) -> Option<usize> {
        None
    }

    /// How many values the head has, if it reads vectors of the length that the encoder gives: others may be too long
    /// to count.
    fn n_head_values(&self) -> f64 {
        0.0
    }

    /// Tensors of the names and shapes of those of its head, in a model of `n_words`; none without a head.
    ///
    /// # Errors
    /// If memory is lacking.
    fn head_form(&self, _n_words: usize) -> Result<Parameters<f32>> {
        Ok(Parameters::new())
    }

    /// The head of a model, if it scores pairs.
    fn score_pairs(_model: &EncoderModel<Self>) -> Option<&dyn ScorePairs> {
        None
    }

    /// A model as one that takes more words, if it is one.
    fn expandable(_model: &EncoderModel<Self>) -> Option<&dyn ExpandVocabulary> {
        None
    }
}

/// A trained encoder over word vectors, with its head if it has one.
#[derive(Debug, Clone)]
pub struct EncoderModel<S> {
    config: S,
    reading: Reading,
    vocabulary: Vocabulary,
    words: Table,
    encoder: Arc<dyn TrainableEncoder>,
    /// Those of the encoder, those of the head.
    parameters: [Parameters<f32>; 2],
    folded: Folded,
}

/// Words and filters in one table, made when many sentences are to be encoded.
#[derive(Debug, Default)]
struct Folded {
    table: OnceLock<Option<FoldedCnn>>,
    /// Whether single sentences are to use it.
    prepared: AtomicBool,
}

/// A copy makes its own table when it needs one.
impl Clone for Folded {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<S> Sealed for EncoderModel<S> {}

impl<S: EncoderSystem> EncoderModel<S> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = S::KIND;

    /// The model of these weights: words, parameters of the encoder, and those of the head if there is one.
    pub(crate) fn new(config: S, vocabulary: Vocabulary, weights: Weights) -> Result<Self> {
        let (reading, encoder) = (config.reading(), config.form().encoder(config.word_dim())?);
        let Weights { words, parameters } = weights;
        let (parameters, folded) = (file::exactly(parameters), Folded::default());
        Ok(Self { config, reading, vocabulary, words, encoder, parameters, folded })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &S {
        &self.config
    }

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &S::Params {
        self.config.params()
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors, before the encoder.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// The weights of the encoder.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<f32> {
        &self.parameters[0]
    }

    /// The weights of the head; empty without one.
    pub(crate) fn head_parameters(&self) -> &Parameters<f32> {
        &self.parameters[1]
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// What training starts from, if it goes on from this model.
    pub(crate) fn trained(&self) -> TrainedEncoder<'_> {
        TrainedEncoder { vocabulary: &self.vocabulary, words: &self.words, parameters: self.parameters() }
    }

    /// Identifies it among models of its shape.
    pub(crate) fn fingerprint(&self) -> String {
        Fingerprint::new().vocabulary(&self.vocabulary).table(&self.words).parameters(self.parameters()).hex()
    }

    /// The model with more words, whose first are its own.
    pub(crate) fn with_words(&self, vocabulary: Vocabulary, words: Table) -> Result<Self> {
        Self::new(self.config.clone(), vocabulary, Weights { words, parameters: self.parameters.to_vec() })
    }

    /// Folds words and filters of a CSE into one table, so that each sentence from here on costs about an average:
    /// worth its time and memory ([`CseParams::windows`](crate::CseParams::windows) long rows for every word) where
    /// there are many sentences. Other models stay as they are.
    pub fn prepare_for_many(&self) {
        self.folded.prepared.store(self.folded(true).is_some(), Ordering::Release);
    }

    /// The folded table where it is `wanted`, or was prepared; made when first asked for. `None` if it does not fit
    /// into memory.
    fn folded(&self, wanted: bool) -> Option<&FoldedCnn> {
        if !(S::FOLDS && (wanted || self.folded.prepared.load(Ordering::Acquire))) {
            return None;
        }
        self.folded.table.get_or_init(|| self.encoder.folded(self.parameters(), &self.words)).as_ref()
    }

    fn in_batches(&self) -> bool {
        self.encoder.is_recurrent() && self.config.in_batches()
    }

    /// The tokens of a sentence that the encoder reads.
    pub(crate) fn read(&self, text: &str, scratch: &mut String, out: &mut Vec<TokenId>) -> Coverage {
        let coverage = self.reading.read(&self.vocabulary, text, scratch, out);
        self.encoder.arrange(out);
        coverage
    }

    fn encode_with(&self, folded: Option<&FoldedCnn>, text: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = self.read(text, &mut scratch.text, &mut tokens);
        let encoded = match folded {
            Some(folded) => folded.encode_into(&tokens, &mut scratch.values, out),
            None => self.encoder.encode_into(self.parameters(), &self.words, &tokens, &mut scratch.values, out),
        };
        // Shapes were checked when the model was made; tokens come from its vocabulary.
        debug_assert!(encoded.is_ok());
        if encoded.is_err() {
            out.fill(0.0);
        }
        scratch.tokens = tokens;
        coverage
    }
}

/// Settings as a file holds them.
#[derive(Deserialize)]
#[serde(transparent, bound = "S: EncoderSystem")]
struct Opened<S>(S);

impl<S: EncoderSystem> Configuration for Opened<S> {
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()> {
        let Self(config) = self;
        config.check_opened()?;
        config.reading().check(n_words)?;
        config.form().check(config.word_dim(), file)?;
        let Some(reads) = config.head_dim() else { return Ok(()) };
        let gives = config.form().encoder(config.word_dim())?.dim();
        if reads != gives {
            let reason = format!("the head expects {reads} values, but the encoder gives {gives}");
            return Err(Error::BadModel { path: file.path().to_owned(), reason });
        }
        configuration::expect_values(file, "the head", config.n_head_values())
    }
}

impl<S: EncoderSystem> OpenModel for EncoderModel<S> {
    const KIND: &'static str = S::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (Opened(config), vocabulary, words) = file::parts::<Opened<S>>(S::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), config.word_dim())?;
        let encoder = config.form().cheap().encoder(config.word_dim())?.init(&mut stream(0, "form", &[]))?;
        let parameters = file::groups(file, &[encoder, config.head_form(vocabulary.len())?])?.into();
        Self::new(config, vocabulary, Weights { words, parameters })
    }
}

impl<S: EncoderSystem> SavedModel for EncoderModel<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.reading.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.words)
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.params().hyperparameters()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        file::write_with(S::KIND, &self.config, &self.vocabulary, &self.words, &self.parameters, to)
    }

    fn abilities(&self) -> Abilities<'_> {
        let (form, reading) = (self.config.form(), &self.reading);
        Abilities {
            cost: if self.in_batches() { EncodingCost::LessInBatches } else { EncodingCost::PerSentence },
            tunable: Some(TunableEncoder { form, reading, parameters: self.parameters(), words: &self.words }),
            head: S::score_pairs(self),
            expandable: S::expandable(self),
            ..Abilities::default()
        }
    }

    fn prepare_for_many(&self) {
        self.prepare_for_many();
    }
}

senv_core::encoding_methods!([S: EncoderSystem] EncoderModel<S>);
model_file_methods!([S: EncoderSystem] EncoderModel<S>);

impl<S: EncoderSystem> SentenceEncoder for EncoderModel<S> {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encode_with(self.folded(false), sentence, scratch, out)
    }

    /// Recurrent encoders in batches, others sentence by sentence; that of CSE with words and filters folded into one
    /// table, from an eighth as many sentences as there are words on.
    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        if self.in_batches() {
            let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
            return encode_batch_by_length(sentences, self.dim(), read, |sentences| {
                let (batch, words) = gather(&self.words, sentences)?;
                self.encoder.encode(self.parameters(), &batch, words.view())
            });
        }
        let folded = self.folded(sentences.len() >= self.vocabulary.len() / 8);
        encode_batch_with(sentences, self.dim(), |sentence, scratch, out| {
            Ok(self.encode_with(folded, sentence, scratch, out))
        })
    }
}
