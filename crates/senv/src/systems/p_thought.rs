//! P-thought: a recurrent encoder and two decoders that predict the sentence and a paraphrase of it from the sentence
//! vector.
//!
//! The objective is `sequence-objective` with two decoders, each with its own output matrix, weighted by
//! `dual-decoder-objective`. Initial word vectors are frozen.

use std::path::Path;

use senv_core::{
    Error as CoreError, TokenId, Tokenizer,
    corpus::StoredList,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    optim::UpdateRule,
};
use senv_encoders::{Conditioning, GruInit, GruStyle, RecurrentTopology};
use senv_losses::{DEFAULT_SAMPLED, DualObjective, Reduction};
use serde::{Deserialize, Serialize};

use crate::{
    base::{range::require, train_options::TrainOptions},
    data::{PairData, PairFiles, PairSource},
    error::Result,
    gradient::{FitParams, WordUpdates},
    model::trained::Trained,
    sequence::{
        Data, Example, LongSentences, OutputForm, SequenceCell, SequenceForm, SequenceModel, SequenceSystem, Settings,
        Text, TextWriter, Trainable, assemble, known,
    },
    start::initial::Initial,
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

/// The three encoders of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PThoughtStructure {
    /// One bidirectional layer.
    OneBi,
    /// Two forward layers, with the last states of both.
    TwoForward,
    /// Two layers in both directions; the directions are independent.
    TwoBi,
    /// The same, but each second layer reads both directions of the first: another reading of the paper's figure.
    TwoInterleaved,
}

named_values!(PThoughtStructure {
    OneBi = "one-bi": "One bidirectional layer",
    TwoForward = "two-forward": "Two layers in one direction, using the last states of both",
    TwoBi = "two-bi": "Two bidirectional layers, each direction separate",
    TwoInterleaved = "two-interleaved": "The same, with a second layer that reads both directions of the first",
});

hyperparameters! {
    /// Hyperparameters of P-thought.
    ///
    /// The default encoder is one bidirectional layer of 1200 units per direction on frozen word vectors of 300
    /// dimensions. Training uses α = 2, 512 sampled words, and four epochs of Adam at 0.001 in batches of 128. The
    /// paper does not state α, the learning rate or the number of samples. The release halves its rate after every
    /// epoch ([`Decay::Halve`](crate::gradient::Decay::Halve)) and keeps case, which splits the words of a small text.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PThoughtParams {
        /// Dimension of the word vectors.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// Hidden size of each direction in a layer; a sentence vector has twice as many dimensions.
        pub hidden: usize = 1200 => Training[at_least 1];
        /// The encoder.
        pub structure: PThoughtStructure = PThoughtStructure::OneBi => Training;
        /// Weight of the paraphrase loss.
        pub objective: DualObjective = DualObjective::default() => group;
        /// Vocabulary size: the most frequent words, including the end token and the unknown word.
        pub max_vocabulary: Option<usize> = None => Text;
        /// Minimum count; rarer words are unknown.
        pub min_count: u64 = 1 => Text;
        /// Maximum tokens per training sentence; `long` says what happens to longer ones. Encoding reads all tokens.
        pub max_tokens: usize = 50 => Text[at_least 1];
        /// Treatment of longer sentences in training.
        pub long: LongSentences = LongSentences::Cut => Text;
        /// Output layer over the vocabulary.
        pub output: OutputForm = OutputForm::Sampled { words: DEFAULT_SAMPLED } => group;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(4), batch: 128, words: WordUpdates::Frozen, ..FitParams::default() } => group;
    }
}

/// A trained P-thought.
pub type PThought = SequenceModel<PThoughtParams>;

impl SequenceSystem for PThoughtParams {
    const KIND: &'static str = "p-thought";

    fn word_updates(&self) -> WordUpdates {
        self.fit.words
    }
}

impl System for PThoughtParams {
    type Model = PThought;
    type Input = PairFiles;
    type Data<'a> = StagedPairs<'a>;
    type Dev<'d> = &'d PairFiles;
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "P-thought: a recurrent encoder, and two decoders that predict the sentence and a paraphrase from its vector",
        examples: &[
            "senv train p-thought --captions captions.tsv --init-vectors words.senv --output model.senv",
            "senv train p-thought --pairs paraphrases.tsv --structure two-bi --hidden 300 --output model.senv",
        ],
        note: "Word vectors stay frozen unless --updates says otherwise; give good ones with --init-vectors.",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "As stated in the paper for its one-layer model, also the defaults except for --normalize; for the other two, use \
            --structure",
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
        files: &'a PairFiles,
        start: Start<'a>,
        options: &TrainOptions<'_, &PairFiles>,
    ) -> Result<StagedPairs<'a>> {
        let one = files.second.is_none();
        require(one, "second", "none: P-thought is trained in one stage", f64::from(u8::from(!one)))?;
        let first = self.read(files, start, options)?;
        Ok(StagedPairs { first, second: None, start, vectors: start.vectors()? })
    }

    fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_, &PairFiles>) -> Result<Trained<PThought>> {
        let dev = options.dev.map(|files| files.read(&self.tokenizer, &options.with_dev::<()>(None))).transpose()?;
        self.fit(&data.first, &Start::options(data.vectors.as_deref(), &options.with_dev(dev.as_ref())))
    }
}

impl PThoughtParams {
    /// The settings that the paper states: frozen word vectors of 300 dimensions, 1200 hidden units, Xavier
    /// initialization (always used here), four epochs of Adam in batches of 128. Of its three encoders, this is the one
    /// with one bidirectional layer; `structure` has the others. The paper does not state α, the learning rate and the
    /// number of sampled words: they are the defaults.
    #[must_use]
    pub fn paper() -> Self {
        let fit = FitParams {
            epochs: Some(4),
            batch: 128,
            rule: UpdateRule::default(),
            words: WordUpdates::Frozen,
            ..Self::default().fit
        };
        let tokenizer = Tokenizer::automatic().lowercase(true);
        Self { dim: 300, hidden: 1200, structure: PThoughtStructure::OneBi, tokenizer, fit, ..Self::default() }
    }

    /// Reads files as the system needs them, and sets the tokenizer if it is automatic.
    ///
    /// # Errors
    /// The errors of [`PairData::read`]; an error if a setting is out of range.
    pub fn read<D>(&mut self, files: &PairFiles, start: Start<'_>, options: &TrainOptions<'_, D>) -> Result<PairData> {
        self.check()?;
        let paths: Vec<_> = files.inputs.iter().map(|input| input.path.as_path()).collect();
        self.tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(&paths, options.observer));
        files.read(&self.tokenizer, options)
    }

    /// Trains on all ordered pairs of sentences with the same meaning. Rare words are unknown, and so are words without
    /// a vector if the options have vectors. There, `</s>` and `unk` are the end token and the unknown word.
    ///
    /// Validation uses held-out pairs: the parameters with the highest mean ln p per held-out token, weighted by
    /// `objective`, are kept. Read data with a [`min_count`](crate::data::PairOptions::min_count) of 1: words that the
    /// data leaves out are missing, not unknown.
    ///
    /// # Errors
    /// [`Error::NoExamples`](crate::Error::NoExamples) without a pair;
    /// [`Error::NoHeldOutExamples`](crate::Error::NoHeldOutExamples) without a held-out pair; errors of the parameters,
    /// the memory, or the training itself.
    pub fn fit(&self, data: &PairData, options: &TrainOptions<'_, &PairData>) -> Result<Trained<PThought>> {
        let TrainOptions { vectors, dev, observer, .. } = *options;
        let folder = options.scratch_dir.as_deref();
        self.check()?;
        let n_sentences: usize = data.sources.iter().map(|source| source.sentences().len()).sum();
        let keep = |token: &str| vectors.is_none_or(|vectors| vectors.get(token).is_some());
        let (vocabulary, numbers) =
            assemble(&data.vocabulary, 0, n_sentences as u64, self.max_vocabulary, self.min_count, keep)?;
        let train = self.pairs(data, &numbers, folder)?;
        let held_out = |dev: &PairData| -> Result<_> {
            let (text, examples) = self.pairs(dev, &known(&vocabulary, &dev.vocabulary), folder)?;
            let names: Vec<&str> = dev.sources.iter().map(PairSource::name).collect();
            Ok((text, examples, names.join(", ")))
        };
        let held_out = dev.map(held_out).transpose()?;
        let data = Data::new(self, vocabulary, train, held_out, observer)?;
        self.fit_data(data, options)
    }

    /// The sentences of all sources with new word ids, and the ordered pairs.
    fn pairs(
        &self,
        data: &PairData,
        numbers: &[TokenId],
        folder: Option<&Path>,
    ) -> Result<(Text, StoredList<Example>)> {
        let mut writer = TextWriter::new(folder, self.max_tokens)?;
        let mut firsts = Vec::with_capacity(data.sources.len());
        let mut n = 0_u32;
        for source in &data.sources {
            firsts.push(n);
            for sentence in source.sentences().iter() {
                writer.push(sentence.iter().map(|token: &TokenId| numbers[token.index()]), true)?;
                n = n.checked_add(1).ok_or(CoreError::TooLarge { rows: n as usize, dim: 1 })?;
            }
        }
        let text = writer.finish(data.fingerprint())?;
        let pairs = firsts.iter().zip(&data.sources);
        let pairs = pairs.flat_map(|(first, source)| source.ordered_pairs().map(move |pair| pair.map(|i| first + i)));
        let is_known = |pair: &[u32; 2]| pair.iter().all(|&i| !text.is_blank(i));
        let examples = text.examples(pairs.filter(is_known).map(|[a, b]| [a, a, b]))?;
        Ok((text, examples))
    }
}

impl Trainable for PThoughtParams {
    fn settings(&self) -> Settings<'_> {
        let (auto, paraphrase) = self.objective.weights(1.0);
        Settings {
            tokenizer: &self.tokenizer,
            min_count: self.min_count,
            max_vocabulary: self.max_vocabulary,
            max_tokens: self.max_tokens,
            long: self.long,
            end: None,
            normalize: false,
            weights: vec![auto, paraphrase],
            initial: &self.initial,
            fit: &self.fit,
        }
    }

    fn form(&self, n_words: usize) -> SequenceForm {
        let (layers, topology) = match self.structure {
            PThoughtStructure::OneBi => (1, RecurrentTopology::Separate),
            PThoughtStructure::TwoForward => (2, RecurrentTopology::Forward),
            PThoughtStructure::TwoBi => (2, RecurrentTopology::Separate),
            PThoughtStructure::TwoInterleaved => (2, RecurrentTopology::Interleaved),
        };
        SequenceForm {
            dim: self.dim,
            hidden: self.hidden,
            layers,
            topology,
            cell: SequenceCell::Gru { style: GruStyle::Tf1, start: GruInit::Glorot },
            conditioning: Conditioning::InitialState,
            start_token: true,
            decoders: 2,
            shared_output: false,
            n_words,
            output: self.output.clone(),
            reduction: Reduction::Mean,
        }
    }
}
