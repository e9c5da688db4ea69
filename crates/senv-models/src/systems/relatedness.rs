//! Fine-tuning on pairs with scores: an encoder and the head that reads a score off two of its vectors.
//!
//! The head is `relatedness-head` (K. S. Tai, R. Socher and C. D. Manning, ACL 2015), as PP, CSE and their kin are
//! fine-tuned on SICK. Encoder and head are trained together, with an L2 penalty of the encoder towards its initial parameters
//! ("universal"), or filters that start at random with a penalty towards 0 ("random"). Before that, the vectors of an
//! average or of a linear CSE are brought to a common scale, which cosines leave free and the head does not.

use crate::SavedModel;
use crate::saved::ReadModel;
use senv_store::ModelFile;
use std::path::Path;

use ndarray::{Array2, Axis, concatenate};
use senv_core::{
    Coverage, Observer, Parameters, Scratch, SentenceEncoder, Sentences, Table, TokenBatch, Tokenizer, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    kernels, stream,
};
use senv_encoders::{Activation, Encoder};
use senv_losses::{Combine, Grid, Predictions, RelatednessHead, RelatednessLoss, check_score};
use serde::{Deserialize, Serialize};

use crate::{
    Cse, Error, Model, Result,
    average::known_tokens,
    file,
    fingerprint::Fingerprint,
    fit::{FitParams, Gradients, Objective, Source, Step, StepReport, Weights, copy_table, fit},
    initial::InitialVectorReport,
    training::Trained,
    tunable::{EncoderForm, Tunable},
    validation::{ScoredPairs, correlation},
};

/// The initial filters of the encoder, and the value that their penalty is towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterStart {
    /// Those of the model, with the penalty towards them.
    Universal,
    /// Random ones, with the penalty towards 0; word vectors start at those of the model all the same.
    Random,
}

named_values!(FilterStart {
    Universal = "universal": "At those of the model, with the penalty towards them",
    Random = "random": "At random, with the penalty towards 0",
});

hyperparameters! {
    /// Hyperparameters of fine-tuning; the defaults are those of CSE on SICK.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct RelatednessParams {
        /// Hidden units of the relatedness head; 50 in the papers.
        pub hidden: usize = senv_losses::DEFAULT_HIDDEN => Training[from 1 to 65536];
        /// Scale of the scores: 1-5 for SICK, 0-5 for STS, senteval for 0 to 5 on the classes 1 to 5.
        pub grid: Grid = Grid::default() => Training;
        /// Input of the head beside the difference of the two vectors.
        pub combine: Combine = Combine::default() => Training;
        /// Loss.
        pub loss: RelatednessLoss = RelatednessLoss::Kl { mean_over_classes: false } => Training;
        /// Initial filters of the encoder.
        pub filters as filters_start: FilterStart = FilterStart::Universal => Training;
        /// L2 penalty λ of filters and biases of the encoder.
        pub l2_filters: f64 = 1e-6 => Training[at_least 0];
        /// L2 penalty λ of the head.
        pub l2_head: f64 = 1e-6 => Training[at_least 0];
        /// Share of the values of each word vector that are set to 0 in each step.
        pub vector_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: 10, batch: 32, l2_words: 1e-6, ..FitParams::default() } => group;
    }
}

/// The settings of a tuned model, as its file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatednessConfig {
    /// The kind of the model it was tuned from.
    pub base: String,
    /// The encoder.
    pub encoder: EncoderForm,
    /// Dimension of the word vectors.
    pub dim: usize,
    /// How text is tokenized.
    pub tokenizer: Tokenizer,
    /// The head.
    pub head: RelatednessHead,
    /// What it was tuned with.
    pub params: RelatednessParams,
}

impl RelatednessParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    /// Tunes a copy of `base` on `train`; the best weights by Pearson's r on `dev` are kept, the last without one.
    ///
    /// # Errors
    /// [`Error::CannotTune`] for a model that is neither an average of words nor a CSE; [`Error::BadLine`] for a score
    /// outside the grid; whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(
        &self,
        base: &Model,
        train: &ScoredPairs,
        dev: Option<&ScoredPairs>,
        observer: &dyn Observer,
    ) -> Result<Trained<Relatedness>> {
        self.check()?;
        let (encoder_form, tokenizer, parameters) = form_of(base)?;
        let dim = senv_core::Rows::dim(base.rows());
        let encoder = encoder_form.encoder(dim)?;
        let head = RelatednessHead {
            hidden: self.hidden,
            grid: self.grid,
            combine: self.combine,
            ..RelatednessHead::new(encoder.dim())
        };
        let seed = self.fit.seed;
        let mut start = match self.filters {
            FilterStart::Universal => parameters,
            FilterStart::Random => encoder.init(&mut stream(seed, "filters", &[]))?,
        };
        let config = RelatednessConfig {
            base: base.kind().to_owned(),
            encoder: encoder_form,
            dim,
            tokenizer: tokenizer.clone(),
            head: head.clone(),
            params: self.clone(),
        };
        let vocabulary = base.vocabulary().clone();
        let train = Scored::new(train, self.grid, &tokenizer, &vocabulary)?;
        let dev = dev.map(|dev| Scored::new(dev, self.grid, &tokenizer, &vocabulary)).transpose()?;
        let mut words = initial_words(base)?;
        bring_to_scale(&encoder, &mut words, &mut start, &train)?;
        let weights = Weights { words, parameters: vec![start.clone(), head.init(&mut stream(seed, "head", &[]))?] };
        let data = [Some(&train), dev.as_ref()].into_iter().flatten();
        let data = data.fold(Fingerprint::new(), |sum, set| sum.sentences(&set.sentences).scores(&set.gold));
        let base = data.vocabulary(&vocabulary).table(&weights.words).parameters(&start);
        let identity = format!("{} {}", file::to_json(&config)?, base.hex());
        let mut objective = Tuning { params: self, encoder, head, train, dev, start, identity };
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, observer)?;
        let found = InitialVectorReport { words: vocabulary.len(), found: vocabulary.len() };
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            Relatedness::new(config, vocabulary, words, file::exactly(parameters))
        })
    }
}

/// A row for each word of the model to start from. Those of a weighted average carry their weights, so that the mean of
/// rows is the weighted mean; common components are not removed.
fn initial_words(base: &Model) -> Result<Table> {
    let Some(average) = base.average() else { return Ok(copy_table(base.rows())?) };
    let mut words = Table::zeros(average.vocabulary().len(), average.rows().dim())?;
    for (i, (_, _, row)) in average.words().enumerate() {
        words.row_mut(i).copy_from_slice(row);
        if let Some(weighting) = average.weighting() {
            kernels::scale(weighting.words()[i], words.row_mut(i));
        }
    }
    Ok(words)
}

/// The root mean square of the values of sentence vectors that a head starts from.
const SPREAD: f64 = 0.3;

/// Sentences that the scale of an encoder is measured on.
const MEASURED: usize = 1000;

/// Scales sentence vectors to values that suit a head. An encoder trained by cosines may give vectors of any
/// length, and the products of long ones saturate the head before it has learned; cosines do not change. Vectors of a
/// nonlinear encoder, which have no free length, stay as they are.
fn bring_to_scale(encoder: &Tunable, words: &mut Table, filters: &mut Parameters<f32>, scored: &Scored) -> Result<()> {
    let mut batch = TokenBatch::new();
    batch.assign(scored.sentences.iter().take(MEASURED))?;
    let rows = batch.gather(words)?;
    let (vectors, _) = encoder.forward(filters, &batch, rows.view())?;
    let squares: f64 = vectors.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let spread = (squares / vectors.len().max(1) as f64).sqrt();
    if !spread.is_finite() || spread == 0.0 {
        return Ok(());
    }
    let factor = (SPREAD / spread) as f32;
    match encoder {
        Tunable::Average(_) => (0..words.n_rows()).for_each(|i| kernels::scale(factor, words.row_mut(i))),
        Tunable::Cnn(cnn) if cnn.activation() == Activation::Linear => {
            filters.iter_mut().for_each(|tensor| kernels::scale(factor, tensor.values_mut()));
        }
        Tunable::Cnn(_) => {}
    }
    Ok(())
}

/// Encoder, tokenizer and filters of a model that can be tuned.
fn form_of(base: &Model) -> Result<(EncoderForm, Tokenizer, Parameters<f32>)> {
    if let Some(cse) = base.downcast_ref::<Cse>() {
        let params = cse.params();
        let form = EncoderForm::Cnn {
            windows: params.windows.clone(),
            activation: params.activation,
            padding: params.padding,
        };
        return Ok((form, params.tokenizer.clone(), cse.parameters().clone()));
    }
    if let Some(tuned) = base.downcast_ref::<Relatedness>() {
        return Ok((tuned.config.encoder.clone(), tuned.config.tokenizer.clone(), tuned.parameters[0].clone()));
    }
    match base.average() {
        Some(average) if senv_core::Features::max_span(average.features()) == 1 => {
            Ok((EncoderForm::Average, average.tokenizer().clone(), Parameters::new()))
        }
        _ => Err(Error::CannotTune { kind: base.kind() }),
    }
}

/// Scored pairs as token ids.
struct Scored {
    /// The first sentences, then the second ones.
    sentences: Sentences,
    gold: Vec<f64>,
}

impl Scored {
    fn new(pairs: &ScoredPairs, grid: Grid, tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Result<Self> {
        let (mut sentences, mut scratch, mut tokens) = (Sentences::new(), String::new(), Vec::new());
        for (line, (score, ..)) in pairs.pairs.iter().enumerate() {
            check_score(*score, grid).map_err(|error| Error::BadLine {
                path: pairs.name.clone().into(),
                line: line as u64 + 1,
                reason: error.to_string(),
            })?;
        }
        for text in pairs.pairs.iter().map(|pair| &pair.1).chain(pairs.pairs.iter().map(|pair| &pair.2)) {
            known_tokens(tokenizer, vocabulary, text, &mut scratch, &mut tokens);
            sentences.push(tokens.iter().copied());
        }
        Ok(Self { sentences, gold: pairs.pairs.iter().map(|pair| pair.0).collect() })
    }
}

/// Encoder and head on scored pairs.
struct Tuning<'p> {
    params: &'p RelatednessParams,
    encoder: Tunable,
    head: RelatednessHead,
    train: Scored,
    dev: Option<Scored>,
    /// Where the filters started.
    start: Parameters<f32>,
    identity: String,
}

/// The pairs of a step: first members, then second ones, and their grades.
#[derive(Default)]
struct ScoredBatch {
    batch: TokenBatch,
    scores: Vec<f64>,
}

impl Objective for Tuning<'_> {
    type Batch = ScoredBatch;

    fn kind(&self) -> &'static str {
        Relatedness::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.gold.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, step: &Step<'_>, scored: &mut ScoredBatch) -> Result<()> {
        let n = self.train.gold.len();
        let first = step.examples.iter().map(|&i| self.train.sentences.get(i as usize));
        let second = step.examples.iter().map(|&i| self.train.sentences.get(n + i as usize));
        scored.batch.assign(first.chain(second))?;
        scored.scores.clear();
        scored.scores.extend(step.examples.iter().map(|&i| self.train.gold[i as usize]));
        Ok(())
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &Step<'_>,
        ScoredBatch { batch, scores }: &ScoredBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let targets = self.params.grid.targets::<f32>(scores)?;

        gradients.begin_words(batch, weights.words.dim())?;
        let Gradients { frozen, d_words, words, d_parameters, .. } = gradients;
        batch.gather_into(&weights.words, words)?;
        let mask = crate::pair_training::vector_mask(self.params.vector_dropout, step, words);
        if let Some(mask) = &mask {
            *words *= mask;
        }
        let (vectors, saved) = self.encoder.forward(&weights.parameters[0], batch, words.view())?;
        let (u, v) = vectors.view().split_at(Axis(0), scores.len());
        let (predictions, seen) = self.head.forward(&weights.parameters[1], u, v)?;
        let loss = self.params.loss.forward(&predictions, targets.view())?;

        let d_logits = self.params.loss.backward(&predictions, targets.view(), 1.0);
        let (d_encoder, d_head) = d_parameters.split_at_mut(1);
        let d_head = &mut d_head[0];
        let (d_u, d_v) = self.head.backward(&weights.parameters[1], &seen, u, v, d_logits.view(), d_head)?;
        let d_vectors = concatenate![Axis(0), d_u, d_v];
        let filters = &weights.parameters[0];
        self.encoder.backward(
            filters,
            batch,
            words.view(),
            &saved,
            d_vectors.view(),
            (!*frozen).then(|| d_words.view_mut()),
            &mut d_encoder[0],
        )?;
        if let Some(mask) = mask.filter(|_| !*frozen) {
            *d_words *= &mask;
        }
        let start = (self.params.filters == FilterStart::Universal).then_some(&self.start);
        let fit = &self.params.fit;
        fit.penalty(self.params.l2_filters).backward_all(filters, start, 1.0, &mut d_encoder[0])?;
        fit.penalty(self.params.l2_head).backward_all(&weights.parameters[1], None, 1.0, d_head)?;
        let guess = Predictions::from_logits(Array2::zeros(targets.raw_dim()));
        let chance = Some(self.params.loss.forward(&guess, targets.view())?);
        Ok(StepReport { loss, chance, ..StepReport::default() })
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let mut batch = TokenBatch::new();
        batch.assign(dev.sentences.iter())?;
        let words = batch.gather(&weights.words)?;
        let (vectors, _) = self.encoder.forward(&weights.parameters[0], &batch, words.view())?;
        let (u, v) = vectors.view().split_at(Axis(0), dev.gold.len());
        let (predictions, _) = self.head.forward(&weights.parameters[1], u, v)?;
        let scores = predictions.scores(self.params.grid);
        Ok(Some(correlation(&dev.gold, &scores)))
    }
}

/// A tuned encoder with its head.
#[derive(Debug, Clone)]
pub struct Relatedness {
    config: RelatednessConfig,
    vocabulary: Vocabulary,
    words: Table,
    encoder: Tunable,
    /// Those of the encoder, those of the head.
    parameters: [Parameters<f32>; 2],
}

impl Relatedness {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "relatedness";

    fn new(
        config: RelatednessConfig,
        vocabulary: Vocabulary,
        words: Table,
        parameters: [Parameters<f32>; 2],
    ) -> Result<Self> {
        let encoder = config.encoder.encoder(config.dim)?;
        Ok(Self { config, vocabulary, words, encoder, parameters })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &RelatednessConfig {
        &self.config
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

    /// How related two sentences are, on the scale of the scores it was trained on.
    ///
    /// # Errors
    /// If memory is lacking.
    pub fn score(&self, first: &str, second: &str) -> Result<f64> {
        let dim = self.encoder.dim();
        let (mut scratch, mut vectors) = (Scratch::default(), Array2::zeros((2, dim)));
        for (text, mut row) in [first, second].into_iter().zip(vectors.outer_iter_mut()) {
            if let Some(out) = row.as_slice_mut() {
                self.encode_into(text, &mut scratch, out);
            }
        }
        let (u, v) = vectors.view().split_at(Axis(0), 1);
        let (predictions, _) = self.config.head.forward(&self.parameters[1], u, v)?;
        Ok(predictions.scores(self.config.head.grid).first().copied().unwrap_or(f64::NAN))
    }

    /// Writes the model to a file by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save_with(Self::KIND, &self.config, &self.vocabulary, &self.words, &self.parameters, path.as_ref())
    }

    /// Opens a model; its word vectors are memory-mapped.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }
}

impl ReadModel for Relatedness {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, words) = file::parts::<RelatednessConfig>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), config.dim)?;
        let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
        let encoder = config.encoder.encoder(config.dim).map_err(|error| bad(error.to_string()))?;
        if config.head.dim != encoder.dim() {
            return Err(bad(format!(
                "the head reads {} numbers, the encoder gives {}",
                config.head.dim,
                encoder.dim()
            )));
        }
        let forms = [encoder.init(&mut stream(0, "form", &[]))?, config.head.init(&mut stream(0, "form", &[]))?];
        Self::new(config, vocabulary, words, file::groups(file, &forms)?)
    }
}

impl SavedModel for Relatedness {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.config.tokenizer
    }

    fn rows(&self) -> &Table {
        &self.words
    }

    fn config_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.config).unwrap_or_default()
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    fn relatedness(&self, first: &str, second: &str) -> Result<Option<f64>> {
        self.score(first, second).map(Some)
    }
}

impl SentenceEncoder for Relatedness {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = known_tokens(&self.config.tokenizer, &self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        let encoded = self.encoder.encode_into(&self.parameters[0], &self.words, &tokens, &mut scratch.values, out);
        // Shapes were checked when the model was made; tokens come from its vocabulary.
        debug_assert!(encoded.is_ok());
        if encoded.is_err() {
            out.fill(0.0);
        }
        scratch.tokens = tokens;
        coverage
    }
}
