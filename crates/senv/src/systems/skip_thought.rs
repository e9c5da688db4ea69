//! Skip-thoughts: a recurrent encoder and two decoders that predict the previous and the next sentence from its vector.
//!
//! R. Kiros et al., "Skip-Thought Vectors", NIPS 2015. The objective is `sequence-objective`: one decoder for the
//! previous sentence and one for the next, with a shared output matrix. "uni" is unidirectional and "bi" bidirectional;
//! "combine" concatenates both, each scaled to length 1.

use std::path::PathBuf;

use senv_core::{
    Error as CoreError, Tokenizer,
    corpus::StoredList,
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::{AdamParams, AdamVariant, UpdateRule},
};
use senv_encoders::{Conditioning, GruInit, GruStyle, RecurrentTopology};
use senv_losses::Reduction;
use serde::{Deserialize, Serialize};

use crate::{
    base::{memory_text::MemoryText, range::require, text_files::TextFiles, train_options::TrainOptions},
    data::reading::END,
    error::Result,
    gradient::{FitParams, WordUpdates},
    model::trained::Trained,
    sequence::{
        Example, LongSentences, OutputForm, SequenceCell, SequenceForm, SequenceModel, SequenceSystem, Settings, Text,
        Trainable,
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
    /// Hyperparameters of Skip-thoughts; the defaults are those of uni in the paper.
    ///
    /// Losses are averaged over tokens, so the gradient bound of 10 means the same for any batch. Sums, as in the
    /// release, give gradients a thousand times as long. Adam is not affected by that, but every step is then clipped.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SkipThoughtParams {
        /// Dimension of the word vectors.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Dimension of the sentence vectors; even for a bidirectional encoder.
        pub sentence_dim: usize = 2400 => Training[at_least 1];
        /// Whether the encoder is bidirectional, with half of the sentence vector for each direction.
        pub bi: bool = false => Training;
        /// Equations of the GRU cells.
        pub style: GruStyle = GruStyle::Paper => Training;
        /// How the sentence vector acts on the decoders.
        pub conditioning: Conditioning = Conditioning::ContextMatrices => Training;
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
        /// How the losses of the tokens of a batch are combined.
        @[serde(default)]
        pub reduction: Reduction = Reduction::Mean => Training;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(1), batch: 128, clip: Some(10.0), ..FitParams::default() } => group;
    }
}

/// Trained Skip-thoughts: uni, bi, or both.
pub type SkipThought = SequenceModel<SkipThoughtParams>;

impl SequenceSystem for SkipThoughtParams {
    const KIND: &'static str = "skip-thought";

    /// Names of the decoders: of the first part, then of the second.
    fn decoder_names(parts: &[usize]) -> Vec<&'static str> {
        let names = [["previous", "next"], ["previous-2", "next-2"]];
        parts.iter().zip(names).flat_map(|(&decoders, names)| names.into_iter().take(decoders)).collect()
    }

    fn word_updates(&self) -> WordUpdates {
        self.fit.words
    }
}

impl System for SkipThoughtParams {
    type Model = SkipThought;
    type Input = [PathBuf];
    type Data<'a> = Unread<'a, [PathBuf]>;
    type Dev<'d> = &'d [PathBuf];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "Skip-thoughts: a recurrent encoder, and two decoders that predict the previous and the next sentence from its vector",
        examples: &[
            "senv train skip-thought --input books.txt --output uni.senv",
            "senv train skip-thought --input books.txt --bi --sentence-dim 600 --softmax sampled --output bi.senv",
        ],
        note: "The paper's sizes (2400 units, 20,000 words, full softmax) take days on a CPU; --sentence-dim 600 with \
            --softmax\nsampled takes minutes for a hundred thousand sentences.",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings { name: "paper", help: "The paper", settings: Self::paper },
        NamedSettings { name: "release", help: "The authors' code", settings: || Self::paper().release() },
    ];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        let even = !self.bi || self.sentence_dim.is_multiple_of(2);
        require(even, "sentence_dim", "even, for two directions", self.sentence_dim as f64)?;
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
    ) -> Result<Trained<SkipThought>> {
        let &Unread { input: paths, start } = data;
        self.check()?;
        let (vectors, observer) = (start.vectors()?, options.observer);
        let tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(paths, observer));
        let options = Start::options(vectors.as_deref(), options);
        Self { tokenizer, ..self.clone() }.fit_text(paths, triples, &options)
    }
}

impl SkipThoughtParams {
    /// The settings of the paper: the defaults, without normalization of text.
    #[must_use]
    pub fn paper() -> Self {
        Self { tokenizer: Tokenizer::automatic().lowercase(true), ..Self::default() }
    }

    /// Applies the differences of the authors' released code: its cells, its Adam at 0.0002, the vector as the initial
    /// state, and batches of 64. Losses are summed, gradients are at most 5 long, and triples with a longer sentence
    /// are left out.
    #[must_use]
    pub fn release(self) -> Self {
        let rule = UpdateRule::Adam(AdamParams::default().variant(AdamVariant::ReleasedSkipThoughts));
        let fit = FitParams { batch: 64, clip: Some(5.0), lr: Some(2e-4), rule, epochs: Some(5), ..self.fit };
        let (style, conditioning) = (GruStyle::Release, Conditioning::InitialState);
        Self { style, conditioning, long: LongSentences::Drop, reduction: Reduction::Sum, fit, ..self }
    }

    /// Trains on text files with one sentence per line in order, and blank lines between documents. Validation uses
    /// held-out files of the same layout, read with the vocabulary of the training text. The parameters with the
    /// highest mean ln p per held-out token are kept.
    ///
    /// # Errors
    /// [`Error::NoExamples`](crate::Error::NoExamples) if no document has three sentences;
    /// [`Error::NoHeldOutExamples`](crate::Error::NoHeldOutExamples) if no held-out document has; errors of the text,
    /// the parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        text: impl TextFiles,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<SkipThought>> {
        self.fit_input(&text.paths(), Start::Random, options)
    }

    /// Like [`SkipThoughtParams::fit_files`], with sentences in memory; an empty sentence separates documents.
    ///
    /// # Errors
    /// The errors of [`SkipThoughtParams::fit_files`]; an error if the temporary file of [`MemoryText`] cannot be
    /// written.
    pub fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, &[PathBuf]>,
    ) -> Result<Trained<SkipThought>> {
        MemoryText::lend(sentences, |text| self.fit_files(text, options))
    }
}

/// Every sentence between two others of its document, with these two.
fn triples(text: &Text) -> Result<StoredList<Example>> {
    let middle = text.numbers().skip(1).filter(|&i| !text.ends(i - 1) && !text.ends(i));
    text.examples(middle.map(|i| [i, i - 1, i + 1]))
}

impl Trainable for SkipThoughtParams {
    fn settings(&self) -> Settings<'_> {
        Settings {
            tokenizer: &self.tokenizer,
            min_count: self.min_count,
            max_vocabulary: self.max_vocabulary,
            max_tokens: self.max_tokens,
            long: self.long,
            end: Some(END),
            normalize: true,
            weights: vec![1.0, 1.0],
            initial: &self.initial,
            fit: &self.fit,
        }
    }

    fn form(&self, n_words: usize) -> SequenceForm {
        SequenceForm {
            dim: self.dim,
            hidden: if self.bi { self.sentence_dim / 2 } else { self.sentence_dim },
            layers: 1,
            topology: if self.bi { RecurrentTopology::Separate } else { RecurrentTopology::Forward },
            cell: SequenceCell::Gru { style: self.style, start: GruInit::Orthogonal },
            conditioning: self.conditioning,
            start_token: false,
            decoders: 2,
            shared_output: true,
            n_words,
            output: self.output.clone(),
            reduction: self.reduction,
        }
    }
}

impl SkipThought {
    /// Concatenates the vectors of both models. Text is read as `uni` reads it.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] if the vocabularies of the models differ, or one is already combined.
    pub fn combine(uni: Self, bi: Self) -> Result<Self> {
        let bad = |got: &str| {
            let (name, requirement) =
                ("models to combine", "two uncombined models with the same words in the same order");
            Err(CoreError::InvalidParameter { name, requirement, got: got.to_owned() }.into())
        };
        let words = |model: &Self| (model.vocabulary.text().to_owned(), model.vocabulary.offsets().to_vec());
        if uni.parts.len() != 1 || bi.parts.len() != 1 {
            return bad("a combined model");
        }
        if words(&uni) != words(&bi) {
            return bad("different words");
        }
        let (mut config, mut parts) = (uni.config, uni.parts);
        config.parts.extend(bi.config.parts);
        parts.extend(bi.parts);
        Ok(Self::new(config, uni.vocabulary.with_terms_of(Some(&bi.vocabulary)), parts))
    }
}
