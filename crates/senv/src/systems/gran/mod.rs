//! GRAN and the LSTM encoders of its paper: sentence vectors that are close for paraphrases, by encoders that see the order of words.
//!
//! J. Wieting and K. Gimpel, "Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings", ACL 2017. Trained as PP is, with the
//! margin loss and the hardest negatives of a batch; words that are shuffled and values that are dropped keep the encoder from learning
//! the order by heart.

mod pairs;
mod variant;

use senv_store::{Embeddings, ModelFile};
use std::path::Path;

use ndarray::Array2;
use senv_core::{
    Coverage, Result as CoreResult, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters},
    rng::stream,
};
use senv_encoders::{Encoder, StatePooling};
use serde::{Deserialize, Serialize};

pub use variant::GranVariant;

use crate::{
    base::{configuration::Configuration, file, fingerprint::Fingerprint, train_options::TrainOptions},
    data::{
        PairData, PairFiles,
        reading::{MOST_TOKENS, Reading, encode_batch_by_length, encode_into_with, gather},
    },
    error::Result,
    gradient::{
        FitParams, Weights, fit,
        pair_training::{PairObjective, PairParams},
        scored_pairs::ScoredPairs,
        trainable_encoder::{EncoderForm, TrainableEncoder},
    },
    model::{
        saved::{EncodingCost, ReadModel, SavedModel},
        trained::Trained,
    },
    start::{
        encoder_weights::{TrainedEncoder, encoder_weights},
        initial::{self, Initial},
    },
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        staged_pairs::{StagedPairs, fit_stages, read_pairs},
        start::Start,
    },
};

/// Share of the pairs whose words are shuffled: the release for GRAN and for LSTM average on sentences of Simple Wikipedia.
const SCRAMBLE: f64 = 0.5;

/// Share of the values of word vectors that are dropped: likewise.
const DROPOUT: f64 = 0.4;

hyperparameters! {
    /// Hyperparameters of GRAN and its sister models; the defaults are those of the release for GRAN on sentences.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct GranParams {
        /// Dimension of the word vectors, and of the sentence vectors of gran and bilstm.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// The encoder.
        pub variant: GranVariant = GranVariant::default() => group;
        /// Hidden size of each LSTM; that of the word vectors where none is given.
        pub hidden: Option<usize> = None => Training[from 1 to 65536];
        /// What the states of a sentence become; the mean where none is given, with the gates 3 and 4 the last.
        pub pooling: Option<StatePooling> = None => Training;
        /// L2 penalty λ of all weights of the encoder.
        pub l2_encoder: f64 = 0.0 => Training[at_least 0];
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::automatic().lowercase(true) => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// Loss, dropout and scrambling.
        pub pairs: PairParams = PairParams {
            scramble: SCRAMBLE,
            vector_dropout: DROPOUT,
            ..PairParams::default()
        } => group;
        /// The training loop.
        pub fit: FitParams = FitParams::default() => group;
    }
}

impl System for GranParams {
    type Model = Gran;
    type Input = PairFiles;
    type Data<'a> = StagedPairs<'a>;
    type Dev<'d> = &'d [ScoredPairs];
    const ABOUT: About = About {
        name: Gran::KIND,
        summary: "GRAN: word vectors through gates that see the sentence, and LSTMs, close for paraphrases",
        examples: &[
            "senv train gran --pairs pairs.tsv --output gran.senv --init-vectors words.senv",
            "senv train gran --pairs pairs.tsv --output lstm.senv --init-vectors words.senv --encoder lstm --pooling last",
            "senv train gran --pairs pairs.tsv --output gran.senv --init-vectors words.senv --hidden 100 --epochs 3",
        ],
        note: "Most time goes into the LSTM: with --hidden 100 each word takes about a sixth of the multiplications of 300 units.\n",
        preset: "Where the other defaults come from: the settings of the authors' program for each model on sentences",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings { name: "paper", help: "GRAN", settings: Self::paper },
        NamedSettings { name: "paper-lstm-last", help: "LSTM, last state", settings: Self::paper_lstm_last },
        NamedSettings { name: "paper-lstm-average", help: "LSTM, mean of states", settings: Self::paper_lstm_average },
    ];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.form().encoder(self.dim)?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        files: &'a PairFiles,
        start: Start<'a>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<StagedPairs<'a>> {
        read_pairs(self, files, start, options)
    }

    fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Gran>> {
        fit_stages(self, data, options)
    }
}

impl GranParams {
    /// GRAN on sentences: scrambling .5, dropout .4, margin .4, batches of 100, ten epochs of Adam at 1e-3. It starts from
    /// PARAGRAM-SL999 there.
    #[must_use]
    pub fn paper() -> Self {
        Self::default()
    }

    /// LSTM, last state: scrambling .75, word dropout .2, a penalty of 1e-5 on changes of the words.
    ///
    /// Dropped words are left out here; the release puts zeros in their places and scales the others up.
    #[must_use]
    pub fn paper_lstm_last() -> Self {
        let pairs = PairParams { scramble: 0.75, word_dropout: 0.2, vector_dropout: 0.0, ..PairParams::default() };
        Self { pooling: Some(StatePooling::Last), pairs, ..Self::paper_lstm_average() }
    }

    /// LSTM, mean of the states: as GRAN, with a penalty of 1e-5 on changes of the words.
    #[must_use]
    pub fn paper_lstm_average() -> Self {
        let paper = Self::paper();
        let fit = FitParams { l2_words: 1e-5, ..paper.fit };
        Self { variant: GranVariant::Lstm, pooling: Some(StatePooling::Mean), fit, ..paper }
    }

    /// The shape of the encoder.
    pub(crate) fn form(&self) -> EncoderForm {
        self.variant.form(self.hidden.unwrap_or(self.dim), self.pooling)
    }

    /// Trains on pairs, validated on scored ones; [`PairSystem::fit_from`] goes on from a trained model.
    ///
    /// # Errors
    /// Whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(&self, data: &PairData, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Gran>> {
        self.fit_with(data, None, options)
    }

    fn fit_with(
        &self,
        data: &PairData,
        start: Option<&Gran>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Gran>> {
        self.check()?;
        let vectors = options.vectors.filter(|_| start.is_none());
        let encoder = self.form().encoder(self.dim)?;
        let start = start.map(|model| {
            let Gran { vocabulary, words, parameters, .. } = model;
            (TrainedEncoder { vocabulary, words, parameters }, model.fingerprint())
        });
        let settings = format!(
            "{} {} {}",
            file::to_json(self)?,
            initial::vectors_fingerprint(vectors),
            start.as_ref().map_or("", |(_, fingerprint)| fingerprint)
        );
        let (dev, penalty) = (options.dev.unwrap_or_default(), self.fit.penalty(self.l2_encoder));
        let (kind, tokenizer) = (Gran::KIND, &self.tokenizer);
        let mut objective =
            PairObjective::new(kind, &encoder, data, &self.pairs, tokenizer, dev, &settings, penalty).recurrent();
        let mut rng = stream(self.fit.seed, "encoder", &[]);
        let of_words = (&self.initial, self.dim, self.fit.seed);
        let start = start.map(|(model, _)| model);
        let terms = start.as_ref().map(|start| start.vocabulary).or(vectors.map(Embeddings::vocabulary));
        let (weights, found) = encoder_weights(&encoder, &mut rng, of_words, &data.vocabulary, vectors, start)?;
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            let [parameters] = file::exactly(parameters);
            Gran::new(self.clone(), data.vocabulary.clone().with_terms_of(terms), words, parameters)
        })
    }
}

/// A trained GRAN, or one of its sister models.
#[derive(Debug, Clone)]
pub struct Gran {
    params: GranParams,
    vocabulary: Vocabulary,
    words: Table,
    parameters: Parameters<f32>,
    encoder: TrainableEncoder,
    reading: Reading,
}

impl Gran {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "gran";

    fn new(params: GranParams, vocabulary: Vocabulary, words: Table, parameters: Parameters<f32>) -> Result<Self> {
        let encoder = params.form().encoder(params.dim)?;
        // Unknown words are left out, as PP and CSE do.
        let reading =
            Reading { tokenizer: params.tokenizer.clone(), max_tokens: MOST_TOKENS, unknown: None, end: None };
        Ok(Self { params, vocabulary, words, parameters, encoder, reading })
    }

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &GranParams {
        &self.params
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
        &self.parameters
    }

    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Identifies it among models of its shape.
    fn fingerprint(&self) -> String {
        Fingerprint::new().vocabulary(&self.vocabulary).table(&self.words).parameters(&self.parameters).hex()
    }

    /// Writes the model to a file by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let parameters = std::slice::from_ref(&self.parameters);
        file::save_with(Self::KIND, &self.params, &self.vocabulary, &self.words, parameters, path.as_ref())
    }

    /// Opens a model; its word vectors are memory-mapped.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }

    fn read(&self, text: &str, scratch: &mut String, out: &mut Vec<TokenId>) -> Coverage {
        self.reading.read(&self.vocabulary, text, scratch, out)
    }

    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let (batch, words) = gather(&self.words, sentences)?;
        self.encoder.encode(&self.parameters, &batch, words.view())
    }
}

impl Configuration for GranParams {
    fn check_for(&self, file: &ModelFile, _: usize) -> Result<()> {
        self.check()?;
        self.form().check(self.dim, file)
    }
}

impl ReadModel for Gran {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, words) = file::parts::<GranParams>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), params.dim)?;
        let form = params.form().cheap().encoder(params.dim)?.init(&mut stream(0, "form", &[]))?;
        let [parameters] = file::groups(file, &[form])?;
        Self::new(params, vocabulary, words, parameters)
    }
}

impl SavedModel for Gran {
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

    fn cost(&self) -> EncodingCost {
        EncodingCost::LessInBatches
    }
}

senv_core::encoding_methods!([] Gran);

impl SentenceEncoder for Gran {
    fn dim(&self) -> usize {
        self.encoder.dim()
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
