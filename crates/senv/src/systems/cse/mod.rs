//! CSE, the convolutional sentence encoder: filters over windows of words, summed over the sentence.
//!
//! The encoder is `cnn-sum-pooling` and the loss `margin-loss`; training is that of [`PpParams`](crate::PpParams) with
//! filters. The published recipe trains on phrases, then on sentences from the parameters of the first stage
//! ([`PairSystem::fit_from`](crate::PairSystem::fit_from)), then fine-tunes with supervision
//! ([`crate::RelatednessParams`]).

mod filters;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::UpdateRule,
};
use senv_encoders::{Activation, Padding, Window};
use senv_losses::{MarginLoss, NegativeCandidates};
use serde::{Deserialize, Serialize};

use crate::{
    base::train_options::TrainOptions,
    data::{PairFiles, reading::Reading},
    error::Result,
    gradient::{
        FitParams, L2Scaling, PairLoss, PairParams, WordUpdates, encoder_form::EncoderForm, scored_pairs::ScoredPairs,
    },
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        trained::Trained,
    },
    start::initial::Initial,
    system::{
        about::{About, NamedSettings},
        contract::{Common, System},
        pair_stages::{fit_stages, read_pairs},
        pair_system::{PairSystem, PairSystemParams},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

hyperparameters! {
    /// Hyperparameters of CSE. The defaults are the paper's, taken from its grids for values that it searched.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct CseParams {
        /// Dimension of the word vectors.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// Windows of words with the number of filters of each, in the order of their blocks in the sentence vector.
        pub windows: Vec<Window> = [1, 2, 3].map(|width| Window { width, n_filters: 100 }).into() => group[filters];
        /// Function applied to the output of a filter before the sum.
        pub activation: Activation = Activation::Linear => Training;
        /// Padding of sentences shorter than a window.
        pub padding: Padding = Padding::PerFilter => Training;
        /// L2 penalty λ of filters and biases.
        @[serde(default = "default_l2_filters")]
        pub l2_filters: f64 = default_l2_filters() => Training[at_least 0];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// Loss and dropout.
        pub pairs: PairParams = PairParams::default() => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(10), batch: 128, l2_words: 1e-6, ..FitParams::default() } => group;
    }
}

impl CseParams {
    /// The settings that the paper states (sections 3.2 and 4.1): 300 dimensions, 100 linear filters for each window of
    /// 1, 2 and 3 words, ten epochs of Adam at 1e-3. The penalties of equation 5 have no factor and are over all words.
    /// The negative is the hardest first member of another pair, even if it has the same text as a member of the pair.
    ///
    /// Margin, both penalties and the batch size come from a grid (`examples/grids/cse-paper.txt`). The paper does not
    /// state which values it chose: these are the defaults, which are in the grid.
    #[must_use]
    pub fn paper() -> Self {
        let margin = MarginLoss {
            candidates: NegativeCandidates::FirstElements,
            exclude_equal_text: false,
            ..MarginLoss::default()
        };
        Self {
            dim: 300,
            windows: [1, 2, 3].map(|width| Window { width, n_filters: 100 }).into(),
            activation: Activation::Linear,
            padding: Padding::PerFilter,
            l2_filters: 1e-6,
            tokenizer: Tokenizer::automatic().lowercase(true),
            initial: Initial::default(),
            pairs: PairParams { loss: PairLoss::Margin(margin), ..PairParams::default() },
            fit: FitParams {
                epochs: Some(10),
                batch: 128,
                rule: UpdateRule::default(),
                lr: Some(1e-3),
                words: WordUpdates::Dense,
                l2_words: 1e-6,
                l2_norm: L2Scaling::Full,
                ..FitParams::default()
            },
        }
    }

    /// The comparison of windows (section 5.2, table 5), whose settings the paper states: margin 0.6, λ of words 1e-6,
    /// none of filters, batches of 100. The paper gives one window 300 filters, and three windows 100 each, as here.
    #[must_use]
    pub fn paper_windows() -> Self {
        let mut params = Self { l2_filters: 0.0, ..Self::paper() };
        params.fit.batch = 100;
        if let PairLoss::Margin(loss) = &mut params.pairs.loss {
            loss.margin = 0.6;
        }
        params
    }
}

/// A value of the paper's grid.
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
        preset: "Start from a named preset instead of the defaults, which follow the code of the paper's baseline \
            where paper and code differ; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "As printed (section 4.1), which omits the values chosen by grid search (margin, penalties, batch)",
            settings: Self::paper,
        },
        NamedSettings {
            name: "paper-windows",
            help: "The comparison of windows (section 5.2): margin 0.6, no penalty on filters, batches of 100",
            settings: Self::paper_windows,
        },
    ];

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
