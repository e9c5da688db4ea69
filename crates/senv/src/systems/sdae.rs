//! SDAE: a recurrent encoder that reads a sentence with words deleted and swapped, and a decoder that tells the
//! sentence as it was.
//!
//! F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data", NAACL
//! 2016. The objective is `sequence-objective` with one decoder, on sentences that `sentence-corruption` has changed.
//! Without it the system is SAE. Word vectors that are given and stay as they are (`--init-vectors`,
//! `--updates frozen`) are what the paper calls "+ embs".

use std::path::{Path, PathBuf};

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
};
use senv_encoders::{Conditioning, GruInit, GruStyle, LstmInit, RecurrentTopology};
use senv_losses::Reduction;
use serde::{Deserialize, Serialize};

use crate::{
    base::{memory_text::MemoryText, train_options::TrainOptions},
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
    /// Sizes, batches, the bound on the gradient and the shares of the noise are those of the code that the paper's
    /// authors released; the cell is that of the paper.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SdaeParams {
        /// Dimension of the word vectors.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Hidden size of the encoder, which is the dimension of the sentence vectors, and of the decoder.
        pub hidden: usize = 2400 => Training[at_least 1];
        /// Cells of encoder and decoder.
        pub cell: SdaeCell = SdaeCell::Lstm => Training;
        /// Probability with which a word is deleted from what the encoder reads; one word always stays. 0 and 0 is SAE.
        pub delete: f64 = 0.1 => Training[from 0 below 1];
        /// Probability with which two neighboring words are swapped, of pairs that do not overlap.
        pub swap: f64 = 0.1 => Training[from 0 to 1];
        /// How the sentence vector acts on the decoder.
        pub conditioning: Conditioning = Conditioning::ContextAndState => Training;
        /// Vocabulary size: the most frequent words, the end token and the unknown word among them.
        pub max_vocabulary: Option<usize> = Some(30_000) => Text;
        /// Words that occur less often are unknown; where given word vectors stay as they are, words without one are,
        /// too.
        pub min_count: u64 = 1 => Text;
        /// Words of a sentence that are read in training; longer ones are treated by `long`. Encoding reads all.
        pub max_tokens: usize = 100 => Text[at_least 1];
        /// What becomes of longer sentences in training.
        pub long: LongSentences = LongSentences::Cut => Text;
        /// Output layer over the words.
        pub output: OutputForm = OutputForm::Full => group;
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::automatic().lowercase(true) => group;
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
        preset: "Source of the other defaults",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings { name: "paper", help: "The paper: LSTM", settings: Self::default },
        NamedSettings { name: "release", help: "The authors' code: GRU", settings: || Self::default().release() },
        NamedSettings {
            name: "sae",
            help: "SAE: no words are deleted or swapped",
            settings: || Self::default().without_noise(),
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
    /// What the released code has instead of the LSTM: a GRU of the equations of [`GruStyle::Release`]. Its noise,
    /// which replaces a fixed share of the words by the one for unknown words, is not taken over: words are deleted one
    /// by one as the paper says.
    #[must_use]
    pub fn release(self) -> Self {
        Self { cell: SdaeCell::Gru, ..self }
    }

    /// SAE: the encoder reads sentences as they are.
    #[must_use]
    pub fn without_noise(self) -> Self {
        Self { delete: 0.0, swap: 0.0, ..self }
    }

    /// Trains on text files, a sentence a line. It is validated on held-out files, read with the words of the training
    /// text and without noise: the weights of the highest mean ln p of a held-out token are kept.
    ///
    /// # Errors
    /// [`Error::NoHeldOutExamples`](crate::Error::NoHeldOutExamples) if the held-out files have no sentence; whatever
    /// is wrong with the text, the parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        paths: &[impl AsRef<Path>],
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<Sdae>> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        self.fit_input(&paths, Start::Random, options)
    }

    /// As [`SdaeParams::fit_files`] on sentences in memory, an empty one between documents.
    ///
    /// # Errors
    /// As [`SdaeParams::fit_files`]; if the temporary file of [`MemoryText`] cannot be written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<Sdae>> {
        MemoryText::lend(sentences, |text| self.fit_files(&[text], options))
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
