//! RNN AE: a recurrent encoder and a decoder that reconstructs the sentence word by word from the sentence vector.
//!
//! The objective is `sequence-objective` with one decoder. The paper that compares RNN AE does not state how the vector
//! acts on the decoder; here it is the initial state.

use std::path::PathBuf;

use senv_core::{
    Tokenizer,
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::UpdateRule,
};
use senv_encoders::{Conditioning, GruInit, GruStyle, RecurrentTopology};
use senv_losses::Reduction;
use serde::{Deserialize, Serialize};

use crate::{
    base::{memory_text::MemoryText, text_files::TextFiles, train_options::TrainOptions},
    error::Result,
    gradient::{FitParams, WordUpdates},
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

hyperparameters! {
    /// Hyperparameters of RNN AE.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RnnAutoencoderParams {
        /// Dimension of the word vectors.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Hidden size of the encoder, which is the dimension of the sentence vectors, and of the decoder.
        pub hidden: usize = 2400 => Training[at_least 1];
        /// Equations of the GRU cells.
        pub style: GruStyle = GruStyle::Paper => Training;
        /// Vocabulary size: the most frequent words, including the end token and the unknown word.
        pub max_vocabulary: Option<usize> = Some(20_000) => Text;
        /// Minimum count; rarer words are unknown.
        pub min_count: u64 = 1 => Text;
        /// Maximum tokens per training sentence; `long` says what happens to longer ones. Encoding reads all tokens.
        pub max_tokens: usize = 30 => Text[at_least 1];
        /// Treatment of longer sentences in training.
        pub long: LongSentences = LongSentences::Cut => Text;
        /// Output layer over the vocabulary.
        pub output: OutputForm = OutputForm::Full => group;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(5), batch: 64, clip: Some(10.0), ..FitParams::default() } => group;
    }
}

/// A trained RNN AE.
pub type RnnAutoencoder = SequenceModel<RnnAutoencoderParams>;

impl SequenceSystem for RnnAutoencoderParams {
    const KIND: &'static str = "rnn-ae";

    fn word_updates(&self) -> WordUpdates {
        self.fit.words
    }
}

impl System for RnnAutoencoderParams {
    type Model = RnnAutoencoder;
    type Input = [PathBuf];
    type Data<'a> = Unread<'a, [PathBuf]>;
    type Dev<'d> = &'d [PathBuf];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "RNN AE: a recurrent encoder, and a decoder that reconstructs the sentence word by word from its vector",
        examples: &["senv train rnn-ae --input text.txt --hidden 600 --softmax sampled --output ae.senv"],
        note: "",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "As stated in the paper (620 dimensions, 2400 units, Adam); also the defaults, except for --normalize",
        settings: Self::paper,
    }];

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

    fn fit_on(
        &self,
        data: &Unread<'_, [PathBuf]>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<RnnAutoencoder>> {
        let &Unread { input: paths, start } = data;
        self.check()?;
        let (vectors, observer) = (start.vectors()?, options.observer);
        let tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(paths, observer));
        let options = Start::options(vectors.as_deref(), options);
        Self { tokenizer, ..self.clone() }.fit_text(paths, each_sentence, &options)
    }
}

impl RnnAutoencoderParams {
    /// The settings that the paper states: word vectors of 620 dimensions, GRUs of 2400 units with orthogonal initial
    /// recurrent matrices (always used here), and Adam. Word vectors are initialized from those of Skip-thoughts; pass
    /// them as initial vectors. The paper does not state vocabulary, learning rate, batch size and epochs: they are the
    /// defaults.
    #[must_use]
    pub fn paper() -> Self {
        let fit = FitParams { rule: UpdateRule::default(), ..Self::default().fit };
        let tokenizer = Tokenizer::automatic().lowercase(true);
        Self { dim: 620, hidden: 2400, tokenizer, fit, ..Self::default() }
    }

    /// Trains on text files with one sentence per line. Validation uses held-out files, read with the vocabulary of the
    /// training text. The parameters with the highest mean ln p per held-out token are kept.
    ///
    /// # Errors
    /// [`Error::NoHeldOutExamples`](crate::Error::NoHeldOutExamples) if the held-out files have no sentence; errors of
    /// the text, the parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        text: impl TextFiles,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<RnnAutoencoder>> {
        self.fit_input(&text.paths(), Start::Random, options)
    }

    /// Like [`RnnAutoencoderParams::fit_files`], with sentences in memory; an empty one separates documents.
    ///
    /// # Errors
    /// The errors of [`RnnAutoencoderParams::fit_files`]; an error if the temporary file of [`MemoryText`] cannot be
    /// written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<RnnAutoencoder>> {
        MemoryText::lend(sentences, |text| self.fit_files(text, options))
    }
}

impl Trainable for RnnAutoencoderParams {
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

    fn form(&self, n_words: usize) -> SequenceForm {
        SequenceForm {
            dim: self.dim,
            hidden: self.hidden,
            layers: 1,
            topology: RecurrentTopology::Forward,
            cell: SequenceCell::Gru { style: self.style, start: GruInit::Orthogonal },
            conditioning: Conditioning::InitialState,
            start_token: false,
            decoders: 1,
            shared_output: false,
            n_words,
            output: self.output.clone(),
            reduction: Reduction::Mean,
        }
    }
}
