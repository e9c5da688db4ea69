//! CSE, the convolutional sentence encoder: filters over windows of words, summed over the sentence.
//!
//! The encoder is `cnn-sum-pooling`, the loss `margin-loss`; training is that of [`PpParams`](crate::PpParams) with
//! filters. The published path: phrases, then sentences from the weights of the first stage (`fit` with a `start`),
//! then supervised fine-tuning ([`crate::RelatednessParams`]).

mod filters;
mod pairs;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters},
    rng::stream,
};
use senv_encoders::{Activation, Padding, SumPooledCnn, Window};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    base::{file, train_options::TrainOptions},
    data::{PairData, PairFiles, reading::Reading},
    error::Result,
    gradient::{
        FitParams,
        encoder_form::EncoderForm,
        fit,
        pair_training::{PairObjective, PairParams},
        scored_pairs::ScoredPairs,
    },
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        trained::Trained,
    },
    start::{
        encoder_weights::encoder_weights,
        initial::{self, Initial},
    },
    system::{
        about::About,
        contract::{Common, System, Trainer},
        pair_stages::{fit_stages, read_pairs},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

hyperparameters! {
    /// Hyperparameters of CSE; the defaults are the paper's, and of its grids where it searches.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
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
        pub fit: FitParams =
            FitParams { epochs: Some(10), batch: 128, l2_words: 1e-6, ..FitParams::default() } => group;
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
        let mut rng = stream(self.fit.seed, "filters", &[]);
        let (of_words, trained) = ((&self.initial, self.dim, self.fit.seed), start.map(Cse::trained));
        let (weights, found) = encoder_weights(&cnn, &mut rng, of_words, &data.vocabulary, vectors, trained)?;
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| {
            let terms = start.map(Cse::vocabulary).or(vectors.map(Embeddings::vocabulary));
            Cse::new(self.clone(), data.vocabulary.clone().with_terms_of(terms), weights)
        })
    }
}

/// A trained CSE.
pub type Cse = EncoderModel<CseParams>;

impl EncoderSystem for CseParams {
    const KIND: &'static str = "cse";
    const FOLDS: bool = true;
    type Params = Self;

    fn params(&self) -> &Self {
        self
    }

    fn word_dim(&self) -> usize {
        self.dim
    }

    fn form(&self) -> EncoderForm {
        EncoderForm::Cnn { windows: self.windows.clone(), activation: self.activation, padding: self.padding }
    }

    fn reading(&self) -> Reading {
        Reading::known_words(self.tokenizer.clone(), usize::MAX)
    }

    fn check_opened(&self) -> Result<()> {
        self.check()
    }
}
