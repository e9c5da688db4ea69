//! Models that are an encoder over word vectors, with or without a head: storing, saving, opening and encoding.

use std::{
    fmt::Debug,
    panic::{RefUnwindSafe, UnwindSafe},
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

/// The settings of a system whose model is an encoder over word vectors, as stored in model files. The trait is sealed:
/// this crate implements it, and others call it.
pub trait EncoderSystem:
    Sealed + Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync + 'static
{
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Whether words and filters are folded into one table to encode many sentences. Folding changes vectors by
    /// rounding.
    const FOLDS: bool = false;

    /// The hyperparameters of the training run.
    type Params: Hyperparameters;

    /// Returns the hyperparameters of the training run.
    fn params(&self) -> &Self::Params;

    /// Returns the dimension of the word vectors.
    fn word_dim(&self) -> usize;

    /// Returns the form of the encoder.
    fn form(&self) -> EncoderForm;

    /// Returns how text is read.
    fn reading(&self) -> Reading;

    /// Whether a recurrent encoder encodes many sentences in batches. Batches change vectors by rounding.
    fn in_batches(&self) -> bool {
        true
    }

    /// Checks the settings of an opened file.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first setting out of range.
    fn check_opened(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the length of the vectors that the head reads; `None` without a head, or if its size follows from the
    /// vocabulary.
    fn head_dim(&self) -> Option<usize> {
        None
    }

    /// Returns how many values the head has, assuming it reads vectors of the encoder's length. The result is a float
    /// because a file may state lengths whose product overflows an integer.
    fn n_head_values(&self) -> f64 {
        0.0
    }

    /// Returns tensors with the names and shapes of the head of a model with `n_words` words; empty without a head.
    ///
    /// # Errors
    /// If memory runs out.
    fn head_form(&self, _n_words: usize) -> Result<Parameters<f32>> {
        Ok(Parameters::new())
    }

    /// Returns the head of a model, if it scores pairs.
    fn score_pairs(_model: &EncoderModel<Self>) -> Option<&dyn ScorePairs> {
        None
    }

    /// Returns the model as one that accepts more words, if it does.
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
    /// The parameters of the encoder and those of the head.
    parameters: [Parameters<f32>; 2],
    folded: Folded,
}

/// It is read and never changed, so a panic leaves nothing half done.
impl<S> UnwindSafe for EncoderModel<S> {}
impl<S> RefUnwindSafe for EncoderModel<S> {}

/// Words and filters folded into one table, built when many sentences are encoded.
#[derive(Debug, Default)]
struct Folded {
    table: OnceLock<Option<FoldedCnn>>,
    /// Whether single sentences also use the table.
    prepared: AtomicBool,
}

/// A copy builds its own table when it needs one.
impl Clone for Folded {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<S> Sealed for EncoderModel<S> {}

impl<S: EncoderSystem> EncoderModel<S> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = S::KIND;

    /// Builds the model from its weights: words, parameters of the encoder, and those of the head if there is one.
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

    /// The hyperparameters that it was trained with.
    #[must_use]
    pub fn params(&self) -> &S::Params {
        self.config.params()
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors, as the encoder reads them.
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

    /// Returns the words and weights that further training starts from.
    pub(crate) fn trained(&self) -> TrainedEncoder<'_> {
        TrainedEncoder { vocabulary: &self.vocabulary, words: &self.words, parameters: self.parameters() }
    }

    /// Returns a fingerprint that identifies the model among models of the same shape.
    pub(crate) fn fingerprint(&self) -> String {
        Fingerprint::new().vocabulary(&self.vocabulary).table(&self.words).parameters(self.parameters()).hex()
    }

    /// Returns the model with more words; the first words must be its own.
    pub(crate) fn with_words(&self, vocabulary: Vocabulary, words: Table) -> Result<Self> {
        Self::new(self.config.clone(), vocabulary, Weights { words, parameters: self.parameters.to_vec() })
    }

    /// Folds the words and filters of a CSE into one table, after which encoding a sentence costs about as much as an
    /// average. This takes time, and memory for [`CseParams::windows`](crate::CseParams::windows) long rows per word,
    /// so it pays off for many sentences. Does nothing for other models.
    pub fn prepare_for_many(&self) {
        self.folded.prepared.store(self.folded(true).is_some(), Ordering::Release);
    }

    /// Returns the folded table if it is `wanted` or was prepared, and builds it on first use. `None` if it does not
    /// fit into memory.
    fn folded(&self, wanted: bool) -> Option<&FoldedCnn> {
        if !(S::FOLDS && (wanted || self.folded.prepared.load(Ordering::Acquire))) {
            return None;
        }
        self.folded.table.get_or_init(|| self.encoder.folded(self.parameters(), &self.words)).as_ref()
    }

    fn in_batches(&self) -> bool {
        self.encoder.is_recurrent() && self.config.in_batches()
    }

    /// Reads the tokens of a sentence that the encoder uses.
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
        // Shapes were checked when the model was built, and tokens come from its vocabulary.
        debug_assert!(encoded.is_ok());
        if encoded.is_err() {
            out.fill(0.0);
        }
        scratch.tokens = tokens;
        coverage
    }
}

/// Settings as stored in a file.
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

    /// Recurrent encoders work in batches, others sentence by sentence. CSE folds words and filters into one table if
    /// there are at least an eighth as many sentences as words.
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
