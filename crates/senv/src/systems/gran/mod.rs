//! GRAN and the LSTM encoders of its paper: encoders that depend on word order and give similar vectors to paraphrases.
//!
//! J. Wieting and K. Gimpel, "Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings", ACL 2017. Trained
//! like PP, with the margin loss and the hardest negatives of a batch. Shuffled words and dropout keep the encoder from
//! memorizing word order.

mod variant;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters},
};
use senv_encoders::StatePooling;
use serde::{Deserialize, Serialize};

pub use variant::GranVariant;

use crate::{
    base::train_options::TrainOptions,
    data::{
        PairFiles,
        reading::{MOST_TOKENS, Reading},
    },
    error::Result,
    gradient::{FitParams, PairParams, encoder_form::EncoderForm, scored_pairs::ScoredPairs},
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

/// Share of the pairs whose words are shuffled: that of the release for GRAN and for LSTM average, on sentences of
/// Simple Wikipedia.
const SCRAMBLE: f64 = 0.5;

/// Share of word vector values that are dropped, with the same source.
const DROPOUT: f64 = 0.4;

hyperparameters! {
    /// Hyperparameters of GRAN and the related models; the defaults are those of the release for GRAN on sentences.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct GranParams {
        /// Dimension of the word vectors, and of the sentence vectors of gran and bilstm.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// The encoder.
        pub variant: GranVariant = GranVariant::default() => group;
        /// Hidden size of each LSTM; by default the dimension of the word vectors.
        pub hidden: Option<usize> = None => Training[from 1 to 65536];
        /// Pooling of the hidden states; by default the mean, or the last state with gates 3 and 4.
        pub pooling: Option<StatePooling> = None => Training;
        /// L2 penalty λ of all weights of the encoder.
        pub l2_encoder: f64 = 0.0 => Training[at_least 0];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
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
        summary: "GRAN: word vectors gated by an LSTM that reads the sentence, and LSTM averages, close for \
            paraphrases",
        examples: &[
            "senv train gran --pairs pairs.tsv --output gran.senv --init-vectors words.senv",
            "senv train gran --pairs pairs.tsv --output lstm.senv --init-vectors words.senv --encoder lstm --pooling last",
            "senv train gran --pairs pairs.tsv --output gran.senv --init-vectors words.senv --hidden 100 --epochs 3",
        ],
        note: "Most time is spent in the LSTM: with --hidden 100, a word takes about a sixth of the multiplications \
            of 300 units.\n",
        preset: "Start from a named preset, the settings of the authors' code for a model on sentences; explicit options \
            override it",
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

    fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Gran>> {
        fit_stages(self, data, options)
    }
}

impl GranParams {
    /// GRAN on sentences: scrambling 0.5, dropout 0.4, margin 0.4, batches of 100, ten epochs of Adam at 1e-3. The
    /// paper initializes it from PARAGRAM-SL999.
    #[must_use]
    pub fn paper() -> Self {
        Self { tokenizer: Tokenizer::automatic().lowercase(true), ..Self::default() }
    }

    /// LSTM, last state: scrambling 0.75, word dropout 0.2, a penalty of 1e-5 on changes of the word vectors.
    ///
    /// Dropped words are left out here; the release replaces them by zeros and scales up the others.
    #[must_use]
    pub fn paper_lstm_last() -> Self {
        let pairs = PairParams { scramble: 0.75, word_dropout: 0.2, vector_dropout: 0.0, ..PairParams::default() };
        Self { pooling: Some(StatePooling::Last), pairs, ..Self::paper_lstm_average() }
    }

    /// LSTM, mean of the states: like GRAN, with a penalty of 1e-5 on changes of the word vectors.
    #[must_use]
    pub fn paper_lstm_average() -> Self {
        let paper = Self::paper();
        let fit = FitParams { l2_words: 1e-5, ..paper.fit };
        Self { variant: GranVariant::Lstm, pooling: Some(StatePooling::Mean), fit, ..paper }
    }
}

impl PairSystem for GranParams {
    fn shared(&mut self) -> PairSystemParams<'_> {
        let Self { dim, tokenizer, initial, pairs, fit, .. } = self;
        PairSystemParams { dim, tokenizer, initial, pairs, fit }
    }

    fn l2_encoder(&self) -> f64 {
        self.l2_encoder
    }
}

/// A trained GRAN, or one of the related models.
pub type Gran = EncoderModel<GranParams>;

impl EncoderSystem for GranParams {
    const KIND: &'static str = "gran";
    type Params = Self;

    fn params(&self) -> &Self {
        self
    }

    fn word_dim(&self) -> usize {
        self.dim
    }

    fn form(&self) -> EncoderForm {
        self.variant.form(self.hidden.unwrap_or(self.dim), self.pooling)
    }

    /// Unknown words are left out, as in PP and CSE.
    fn reading(&self) -> Reading {
        Reading::known_words(self.tokenizer.clone(), MOST_TOKENS)
    }

    fn check_opened(&self) -> Result<()> {
        self.check()
    }
}
