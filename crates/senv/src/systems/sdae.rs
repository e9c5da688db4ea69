//! SDAE: a recurrent encoder that reads a sentence with words deleted and swapped, and a decoder that reconstructs the
//! original sentence.
//!
//! F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data", NAACL
//! 2016. The objective is `sequence-objective` with one decoder, on sentences that `sentence-corruption` has changed.
//!       Without corruption the system is SAE. Frozen initial word vectors (`--init-vectors`, `--updates frozen`) are
//!       what the paper calls "+ embs".

use std::path::PathBuf;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
};
use senv_encoders::{Conditioning, GruInit, GruStyle, LstmInit, RecurrentTopology};
use senv_losses::Reduction;
use serde::{Deserialize, Serialize};

use crate::{
    base::{memory_text::MemoryText, text_files::TextFiles, train_options::TrainOptions},
    error::Result,
    gradient::{FitParams, WordUpdates, corruption::Corruption},
    model::trained::Trained,
    sequence::{
        LongSentences, OutputForm, SequenceCell, SequenceForm, SequenceModel, SequenceSystem, Settings, Trainable,
        each_sentence,
    },
    start::initial::Initial,
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
};

/// The cells of encoder and decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SdaeCell {
    /// Long short-term memory.
    #[default]
    Lstm,
    /// Gated recurrent units.
    Gru,
}

named_values!(SdaeCell {
    Lstm = "lstm": "LSTM, as in the paper",
    Gru = "gru": "GRU, as in the authors' code",
});

hyperparameters! {
    /// Hyperparameters of SDAE.
    ///
    /// Sizes, batches, the gradient bound and the noise probabilities are those of the authors' released code; the cell
    /// is that of the paper.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SdaeParams {
        /// Dimension of the word vectors.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Hidden size of the encoder, which is the dimension of the sentence vectors, and of the decoder.
        pub hidden: usize = 2400 => Training[at_least 1];
        /// Cells of encoder and decoder.
        pub cell: SdaeCell = SdaeCell::Lstm => Training;
        /// Probability of deleting a word from the input of the encoder; at least one word is kept. 0 for this and
        /// `swap` is SAE.
        pub delete: f64 = 0.1 => Training[from 0 below 1];
        /// Probability of swapping two neighbouring words, for pairs that do not overlap.
        pub swap: f64 = 0.1 => Training[from 0 to 1];
        /// How the sentence vector acts on the decoder.
        pub conditioning: Conditioning = Conditioning::ContextAndState => Training;
        /// Vocabulary size: the most frequent words, including the end token and the unknown word.
        pub max_vocabulary: Option<usize> = Some(30_000) => Text;
        /// Minimum count; rarer words are unknown. With frozen initial word vectors, words without one are unknown too.
        pub min_count: u64 = 1 => Text;
        /// Maximum tokens per training sentence; `long` says what happens to longer ones. Encoding reads all tokens.
        pub max_tokens: usize = 100 => Text[at_least 1];
        /// Treatment of longer sentences in training.
        pub long: LongSentences = LongSentences::Cut => Text;
        /// Output layer over the vocabulary.
        pub output: OutputForm = OutputForm::Full => group;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: Some(5), batch: 16, clip: Some(2.0), ..FitParams::default() } => group;
    }
}

/// A trained SDAE or SAE.
pub type Sdae = SequenceModel<SdaeParams>;

impl SequenceSystem for SdaeParams {
    const KIND: &'static str = "sdae";

    fn word_updates(&self) -> WordUpdates {
        self.fit.words
    }
}

impl System for SdaeParams {
    type Model = Sdae;
    type Input = [PathBuf];
    type Data<'a> = Unread<'a, [PathBuf]>;
    type Dev<'d> = &'d [PathBuf];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "SDAE: a recurrent autoencoder of sentences with words deleted and swapped; SAE without this noise",
        examples: &[
            "senv train sdae --input text.txt --hidden 600 --softmax sampled --output sdae.senv",
            "senv train sdae --preset sae --input text.txt --hidden 600 --softmax sampled --output sae.senv",
            "senv train sdae --input text.txt --init-vectors words.senv --updates frozen --hidden 600 --softmax sampled --output sdae-embs.senv",
        ],
        note: "The paper's sizes (2400 units, 30,000 words, full softmax, batches of 16) take days on a CPU; --hidden \
            400 --batch 64\nwith --softmax sampled takes minutes for a hundred thousand sentences.",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings { name: "paper", help: "The paper: LSTM", settings: Self::paper },
        NamedSettings { name: "release", help: "The authors' code: GRU", settings: || Self::paper().release() },
        NamedSettings {
            name: "sae",
            help: "SAE: no words are deleted or swapped",
            settings: || Self::paper().without_noise(),
        },
    ];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.check_settings()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a [PathBuf],
        start: Start<'a>,
        _: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Unread<'a, [PathBuf]>> {
        Ok(Unread { input, start })
    }

    fn fit_on(&self, data: &Unread<'_, [PathBuf]>, options: &TrainOptions<'_, &[PathBuf]>) -> Result<Trained<Sdae>> {
        let &Unread { input: paths, start } = data;
        self.check()?;
        let (vectors, observer) = (start.vectors()?, options.observer);
        let tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(paths, observer));
        let options = Start::options(vectors.as_deref(), options);
        Self { tokenizer, ..self.clone() }.fit_text(paths, each_sentence, &options)
    }
}

impl SdaeParams {
    /// The settings of the paper: the defaults, without normalization of text.
    #[must_use]
    pub fn paper() -> Self {
        Self { tokenizer: Tokenizer::automatic().lowercase(true), ..Self::default() }
    }

    /// Uses the cell of the released code: a GRU with the equations of [`GruStyle::Release`] instead of the LSTM. The
    /// noise of that code, which replaces a fixed share of the words by the unknown word, is not used: words are
    /// deleted one by one as in the paper.
    #[must_use]
    pub fn release(self) -> Self {
        Self { cell: SdaeCell::Gru, ..self }
    }

    /// SAE: the encoder reads unchanged sentences.
    #[must_use]
    pub fn without_noise(self) -> Self {
        Self { delete: 0.0, swap: 0.0, ..self }
    }

    /// Trains on text files with one sentence per line. Validation uses held-out files, read without noise and with the
    /// vocabulary of the training text. The parameters with the highest mean ln p per held-out token are kept.
    ///
    /// # Errors
    /// [`Error::NoHeldOutExamples`](crate::Error::NoHeldOutExamples) if the held-out files have no sentence; errors of
    /// the text, the parameters, the memory, or the training itself.
    pub fn fit_files(&self, text: impl TextFiles, options: &TrainOptions<'_, &[PathBuf]>) -> Result<Trained<Sdae>> {
        self.fit_input(&text.paths(), Start::Random, options)
    }

    /// Like [`SdaeParams::fit_files`], with sentences in memory; an empty one separates documents.
    ///
    /// # Errors
    /// The errors of [`SdaeParams::fit_files`]; an error if the temporary file of [`MemoryText`] cannot be written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<Sdae>> {
        MemoryText::lend(sentences, |text| self.fit_files(text, options))
    }
}

impl Trainable for SdaeParams {
    fn settings(&self) -> Settings<'_> {
        Settings {
            tokenizer: &self.tokenizer,
            min_count: self.min_count,
            max_vocabulary: self.max_vocabulary,
            max_tokens: self.max_tokens,
            long: self.long,
            end: None,
            normalize: false,
            weights: vec![1.0],
            initial: &self.initial,
            fit: &self.fit,
        }
    }

    fn corruption(&self) -> Corruption {
        Corruption { delete: self.delete, swap: self.swap }
    }

    fn form(&self, n_words: usize) -> SequenceForm {
        SequenceForm {
            dim: self.dim,
            hidden: self.hidden,
            layers: 1,
            topology: RecurrentTopology::Forward,
            cell: match self.cell {
                SdaeCell::Lstm => SequenceCell::Lstm { lstm: LstmInit::Orthogonal },
                SdaeCell::Gru => SequenceCell::Gru { style: GruStyle::Release, start: GruInit::Orthogonal },
            },
            conditioning: self.conditioning,
            start_token: false,
            decoders: 1,
            shared_output: false,
            n_words,
            output: self.output.clone(),
            reduction: Reduction::Mean,
        }
    }
}
