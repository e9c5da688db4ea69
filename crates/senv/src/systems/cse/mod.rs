//! CSE, the convolutional sentence encoder: filters over windows of words, summed over the sentence.
//!
//! The encoder is `cnn-sum-pooling`, the loss `margin-loss`; training is that of [`PpParams`](crate::PpParams) with
//! filters. The published path: phrases, then sentences from the weights of the first stage
//! ([`PairSystem::fit_from`](crate::PairSystem::fit_from)), then supervised fine-tuning
//! ([`crate::RelatednessParams`]).

mod filters;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters},
};
use senv_encoders::{Activation, Padding, Window};
use serde::{Deserialize, Serialize};

use crate::{
    base::train_options::TrainOptions,
    data::{PairFiles, reading::Reading},
    error::Result,
    gradient::{FitParams, encoder_form::EncoderForm, pair_training::PairParams, scored_pairs::ScoredPairs},
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        trained::Trained,
    },
    start::initial::Initial,
    system::{
        about::About,
        contract::{Common, System},
        pair_stages::{fit_stages, read_pairs},
        pair_system::{PairSystem, PairSystemParams},
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
        self.form().encoder(self.dim)?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        self.shared().common()
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

impl PairSystem for CseParams {
    const ENCODER_STREAM: &'static str = "filters";

    fn shared(&mut self) -> PairSystemParams<'_> {
        let Self { dim, tokenizer, initial, pairs, fit, .. } = self;
        PairSystemParams { dim, tokenizer, initial, pairs, fit }
    }

    fn l2_encoder(&self) -> f64 {
        self.l2_filters
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
