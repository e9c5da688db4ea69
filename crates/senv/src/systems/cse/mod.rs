//! CSE, the convolutional sentence encoder: filters over windows of words, summed over the sentence.
//!
//! The encoder is `cnn-sum-pooling`, the loss `margin-loss`; training is that of [`PpParams`](crate::PpParams) with
//! filters. The published path: phrases, then sentences from the weights of the first stage (`fit` with a `start`), then
//! supervised fine-tuning ([`crate::RelatednessParams`]).

mod filters;
mod pairs;

use senv_store::ModelFile;
use std::{
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use ndarray::Array2;
use senv_core::{
    Coverage, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters},
    rng::stream,
};
use senv_encoders::{Activation, Encoder, FoldedCnn, Padding, SumPooledCnn, Window};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    average::encoder::known_tokens,
    base::{
        configuration::{self, Configuration},
        file,
        fingerprint::Fingerprint,
        train_options::TrainOptions,
    },
    data::{PairData, PairFiles},
    error::Result,
    gradient::{
        FitParams, Weights, fit,
        pair_training::{PairObjective, PairParams},
        scored_pairs::ScoredPairs,
    },
    model::{
        saved::{ReadModel, SavedModel},
        trained::Trained,
    },
    start::{
        encoder_weights::{TrainedEncoder, encoder_weights},
        initial::{self, Initial, InitialVectorReport},
    },
    system::{
        about::About,
        contract::{Common, System, Trainer},
        staged_pairs::{StagedPairs, fit_stages, read_pairs},
        start::Start,
    },
};

hyperparameters! {
    /// Hyperparameters of CSE; the defaults are the paper's, and of its grids where it searches.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct CseParams {
        /// Dimension of the word vectors.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// Windows of words and the filters of each, in the order of their blocks in the sentence vector.
        pub windows: Vec<Window> = [1, 2, 3].map(|width| Window { width, n_filters: 100 }).into() => group[filters];
        /// Function of the result of a filter before it is summed.
        pub activation: Activation = Activation::Linear => Training;
        /// Padding of sentences shorter than a window.
        pub padding: Padding = Padding::PerFilter => Training;
        /// L2 penalty λ of filters and biases.
        @[serde(default = "default_l2_filters")]
        pub l2_filters: f64 = default_l2_filters() => Training[at_least 0];
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::automatic().lowercase(true) => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// Loss and dropout.
        pub pairs: PairParams = PairParams::default() => group;
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: Some(10), batch: 128, l2_words: 1e-6, ..FitParams::default() } => group;
    }
}

/// Of the grid of the paper.
fn default_l2_filters() -> f64 {
    1e-6
}

impl System for CseParams {
    type Model = Cse;
    type Input = PairFiles;
    type Data<'a> = StagedPairs<'a>;
    type Dev<'d> = &'d [ScoredPairs];
    const ABOUT: About = About {
        name: Cse::KIND,
        summary: "CSE: filters over windows of words, summed, close for paraphrases",
        examples: &[
            "senv train cse --pairs phrases.tsv --output cse.senv --init-vectors words.senv",
            "senv train cse --pairs phrases.tsv --stage2 sentences.tsv --output cse.senv --windows 1,2,3 --filters 100",
        ],
        note: "",
        preset: "",
    };

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.cnn()?;
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

    fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Cse>> {
        fit_stages(self, data, options)
    }
}

impl CseParams {
    /// The encoder without its weights.
    ///
    /// # Errors
    /// If a window is empty, or there is none.
    pub fn cnn(&self) -> Result<SumPooledCnn> {
        Ok(SumPooledCnn::new(self.dim, self.windows.clone(), self.activation, self.padding)?)
    }

    /// Trains on pairs, validated on scored ones; [`PairSystem::fit_from`](crate::PairSystem::fit_from) goes on from a
    /// trained CSE.
    ///
    /// # Errors
    /// Whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(&self, data: &PairData, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Cse>> {
        self.fit_with(data, None, options)
    }

    pub(crate) fn fit_with(
        &self,
        data: &PairData,
        start: Option<&Cse>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Cse>> {
        let vectors = options.vectors.filter(|_| start.is_none());
        let dev = options.dev.unwrap_or_default();
        self.check()?;
        let cnn = self.cnn()?;
        let settings = format!(
            "{} {} {}",
            file::to_json(self)?,
            initial::vectors_fingerprint(vectors),
            start.map_or(String::new(), Cse::fingerprint)
        );
        let penalty = self.fit.penalty(self.l2_filters);
        let mut objective =
            PairObjective::new(Cse::KIND, &cnn, data, &self.pairs, &self.tokenizer, dev, &settings, penalty);
        let (weights, found) = self.first_weights(&cnn, &data.vocabulary, vectors, start)?;
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            let [filters] = file::exactly(parameters);
            let terms = start.map(|start| &start.vocabulary).or(vectors.map(Embeddings::vocabulary));
            Cse::new(self.clone(), data.vocabulary.clone().with_terms_of(terms), words, filters)
        })
    }

    fn first_weights(
        &self,
        cnn: &SumPooledCnn,
        vocabulary: &Vocabulary,
        vectors: Option<&Embeddings>,
        start: Option<&Cse>,
    ) -> Result<(Weights, InitialVectorReport)> {
        let mut rng = stream(self.fit.seed, "filters", &[]);
        let start = start.map(|cse| TrainedEncoder {
            vocabulary: &cse.vocabulary,
            words: &cse.words,
            parameters: &cse.parameters,
        });
        let of_words = (&self.initial, self.dim, self.fit.seed);
        encoder_weights(cnn, &mut rng, of_words, vocabulary, vectors, start)
    }
}

/// A trained CSE.
#[derive(Debug)]
pub struct Cse {
    params: CseParams,
    vocabulary: Vocabulary,
    words: Table,
    parameters: Parameters<f32>,
    cnn: SumPooledCnn,
    /// Words and filters in one table, made when many sentences are to be encoded.
    folded: OnceLock<Option<FoldedCnn>>,
    /// Whether single sentences are to use it.
    prepared: AtomicBool,
}

impl Clone for Cse {
    fn clone(&self) -> Self {
        Self {
            params: self.params.clone(),
            vocabulary: self.vocabulary.clone(),
            words: self.words.clone(),
            parameters: self.parameters.clone(),
            cnn: self.cnn.clone(),
            folded: OnceLock::new(),
            prepared: AtomicBool::new(false),
        }
    }
}

impl Cse {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "cse";

    pub(crate) fn new(
        params: CseParams,
        vocabulary: Vocabulary,
        words: Table,
        parameters: Parameters<f32>,
    ) -> Result<Self> {
        let cnn = params.cnn()?;
        Ok(Self {
            params,
            vocabulary,
            words,
            parameters,
            cnn,
            folded: OnceLock::new(),
            prepared: AtomicBool::new(false),
        })
    }

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &CseParams {
        &self.params
    }

    /// Identifies it among models of its shape.
    fn fingerprint(&self) -> String {
        Fingerprint::new().vocabulary(&self.vocabulary).table(&self.words).parameters(&self.parameters).hex()
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors, before the filters.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// The filters and biases.
    #[must_use]
    pub fn parameters(&self) -> &Parameters<f32> {
        &self.parameters
    }

    /// The encoder without its weights.
    #[must_use]
    pub fn cnn(&self) -> &SumPooledCnn {
        &self.cnn
    }

    /// Folds words and filters into one table, so that each sentence from here on costs about an average: worth its
    /// time and memory ([`CseParams::windows`] long rows for every word) where there are many sentences.
    pub fn prepare_for_many(&self) {
        SavedModel::prepare_for_many(self);
    }

    /// The folded table, made when first asked for; `None` if it does not fit into memory.
    fn folded(&self) -> Option<&FoldedCnn> {
        self.folded.get_or_init(|| FoldedCnn::new(&self.cnn, &self.parameters, &self.words).ok()).as_ref()
    }

    fn encode_tokens(&self, folded: Option<&FoldedCnn>, tokens: &[TokenId], numbers: &mut Vec<f32>, out: &mut [f32]) {
        let done = match folded {
            Some(folded) => folded.encode_into(tokens, numbers, out),
            None => self.cnn.encode_into(&self.parameters, &self.words, tokens, numbers, out),
        };
        // Shapes were checked when the model was made; tokens come from its vocabulary.
        debug_assert!(done.is_ok());
        if done.is_err() {
            out.fill(0.0);
        }
    }

    /// Writes the model to a file by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save_with(
            Self::KIND,
            &self.params,
            &self.vocabulary,
            &self.words,
            std::slice::from_ref(&self.parameters),
            path.as_ref(),
        )
    }

    /// Opens a model; its word vectors are memory-mapped.
    ///
    /// # Errors
    /// If the file is no CSE model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }
}

impl Configuration for CseParams {
    fn check_for(&self, file: &ModelFile, _: usize) -> Result<()> {
        self.check()?;
        configuration::expect_values(file, "the filters", self.cnn()?.n_values())
    }
}

impl ReadModel for Cse {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        let (params, vocabulary, words) = file::parts::<CseParams>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), params.dim)?;
        let cnn = params.cnn()?;
        let form: Parameters<f32> = Encoder::<f32>::init(&cnn, &mut stream(0, "form", &[]))?;
        let [parameters] = file::groups(file, &[form])?;
        Self::new(params, vocabulary, words, parameters)
    }
}

impl SavedModel for Cse {
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

    fn prepare_for_many(&self) {
        self.prepared.store(self.folded().is_some(), Ordering::Release);
    }
}

senv_core::encoding_methods!([] Cse);

impl SentenceEncoder for Cse {
    fn dim(&self) -> usize {
        Encoder::<f32>::dim(&self.cnn)
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = known_tokens(&self.params.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        let folded = if self.prepared.load(Ordering::Acquire) { self.folded() } else { None };
        self.encode_tokens(folded, &tokens, &mut scratch.values, out);
        scratch.tokens = tokens;
        coverage
    }

    /// From an eighth as many sentences as there are words on, with words and filters folded into one table.
    fn encode_batch(&self, sentences: &[&str]) -> senv_core::Result<(Array2<f32>, Vec<Coverage>)> {
        let many = sentences.len() >= self.vocabulary.len() / 8 || self.prepared.load(Ordering::Acquire);
        let folded = if many { self.folded() } else { None };
        senv_core::encode_batch_with(sentences, SentenceEncoder::dim(self), |sentence, scratch, out| {
            let mut tokens = std::mem::take(&mut scratch.tokens);
            let coverage =
                known_tokens(&self.params.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
            self.encode_tokens(folded, &tokens, &mut scratch.values, out);
            scratch.tokens = tokens;
            coverage
        })
    }
}
