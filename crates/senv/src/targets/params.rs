//! Hyperparameters of encoders trained toward given vectors.

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    optim::{AdaDeltaParams, UpdateRule},
};
use senv_encoders::{LstmInit, RecurrentTopology, StatePooling};
use senv_losses::TargetRanking;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    gradient::{FitParams, encoder_form::EncoderForm},
    start::initial::Initial,
};

/// The encoder between word vectors and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TargetEncoder {
    /// Every word is mapped, and the mean of the results is mapped again.
    Bow,
    /// The mean of the words is mapped once.
    Regress,
    /// An LSTM reads the words, and its state is mapped.
    Rnn,
}

named_values!(TargetEncoder {
    Bow = "bow": "The mean of the words through two linear maps",
    Regress = "regress": "The mean of the words through one linear map",
    Rnn = "rnn": "An LSTM, and a linear map",
});

/// The loss between the sentence vector and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TargetLoss {
    /// `target-cosine-loss`.
    Cosine,
    /// `target-ranking-loss`.
    Ranking,
}

named_values!(TargetLoss {
    Cosine = "cosine": "One minus the cosine with the target",
    Ranking = "ranking": "Closer to its own target than to another target of the batch, by the margin",
});

hyperparameters! {
    /// Hyperparameters of an encoder trained toward given vectors.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct TargetParams {
        /// The encoder.
        pub encoder: TargetEncoder = TargetEncoder::Bow => Training;
        /// Dimension of the word vectors.
        pub dim: usize = 256 => Training[from 1 to 65536];
        /// Width between the two maps of bow, and hidden size of rnn.
        pub hidden: usize = 512 => Training[from 1 to 65536];
        /// How the states of rnn are pooled.
        pub pooling as state_pooling: StatePooling = StatePooling::Last => Training;
        /// The loss.
        pub loss: TargetLoss = TargetLoss::Ranking => Training;
        /// Settings of the ranking loss.
        pub ranking: TargetRanking = TargetRanking::default() => group;
        /// Share of the targets that are held out with all their texts, to choose the best weights.
        pub held_out: f64 = 0.1 => Validation[from 0 below 1];
        /// Reads an end token after the last word, and maps unknown words to their own token, as in the release.
        /// Otherwise unknown words are left out.
        pub special_tokens: bool = false => Text;
        /// Vocabulary size: the most frequent words; no limit by default.
        pub max_vocabulary: Option<usize> = None => Text[at_least 1];
        /// Words that occur less often are unknown.
        pub min_count: u64 = 1 => Text;
        /// Words of a text that are read in training. Encoding reads all words.
        pub max_tokens: usize = 100 => Text[at_least 1];
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::SIAMESE_CBOW => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(10), batch: 64, patience: Some(2), ..FitParams::default() } => group;
    }
}

impl TargetParams {
    /// Returns the settings of the paper: ranking loss with a margin of 0.1, AdaDelta, batches of 16. The paper does
    /// not state the epochs.
    #[must_use]
    pub fn paper() -> Self {
        let fit = Self::default().fit;
        let (rule, lr) = (UpdateRule::AdaDelta(AdaDeltaParams::default()), Some(AdaDeltaParams::PAPER_LR));
        let tokenizer = Tokenizer::automatic().lowercase(true);
        Self { tokenizer, fit: FitParams { rule, lr, batch: 16, ..fit }, ..Self::default() }
    }

    /// Returns the settings of the authors' program: a margin of 1, and 30,000 words including an end token and one for
    /// unknown words. Its LSTM has a candidate without tanh, whose bias is added twice; ours has tanh and one bias.
    #[must_use]
    pub fn release() -> Self {
        let ranking = TargetRanking { margin: 1.0 };
        Self { ranking, special_tokens: true, max_vocabulary: Some(30_000), ..Self::paper() }
    }

    /// Checks every range.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.form().encoder(self.dim)?;
        self.fit.check()
    }

    /// Returns the form of the encoder.
    pub(crate) fn form(&self) -> EncoderForm {
        match self.encoder {
            TargetEncoder::Bow | TargetEncoder::Regress => EncoderForm::Average,
            TargetEncoder::Rnn => EncoderForm::Lstm {
                hidden: self.hidden,
                layers: 1,
                topology: RecurrentTopology::Forward,
                pooling: self.pooling,
                peepholes: false,
                start: LstmInit::Orthogonal,
            },
        }
    }
}
