//! The SNLI models: an encoder trained by classifying whether one sentence entails another.
//!
//! Both sentences are encoded by the same encoder, and `nli-head` classifies their concatenated vectors. BOW sums word
//! vectors; RNN encodes them with a recurrent network. A Skip-thought model can initialize both words and network.

mod both_parts;
mod encoder;
mod expansion;
mod pairs;
mod training;
mod tuned;

use ndarray::Axis;
use senv_core::{
    SentenceEncoder, Table, Tokenizer, Vocabulary,
    arrays::{Parameters, TokenBatch},
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::UpdateRule,
    rng::stream,
    words::VocabularyBuilder,
};
use senv_losses::{DEFAULT_NLI_HIDDEN, NLI_LABELS, NliHead, NliHeadForm};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

pub use encoder::SnliEncoder;
pub use pairs::NliPairs;
use training::{A_BATCH, Labelled, Pairs};

use crate::{
    SkipThought,
    base::{file, fingerprint::Fingerprint, range::require, train_options::TrainOptions},
    data::reading::Reading,
    error::{Error, Result},
    gradient::{Decay, FitParams, Weights, WordUpdates, copy_table, encoder_form::EncoderForm, fit, scale},
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        saved::ExpandVocabulary,
        trained::Trained,
    },
    sequence::LongSentences,
    start::initial::{self, Initial, InitialVectorReport},
    system::{
        about::{About, NamedSettings},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::Unread,
    },
};

hyperparameters! {
    /// Hyperparameters of an SNLI model. The paper states the dimension of the word vectors, the units of the RNN, the
    /// initialization and Adam. It states no hidden size of the classifier, learning rate, batch size or number of
    /// epochs.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SnliParams {
        /// The encoder.
        pub encoder: SnliEncoder = SnliEncoder::Bow => group;
        /// Dimension of the word vectors.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Minimum count; rarer words are unknown and left out.
        pub min_count: u64 = 1 => Text;
        /// Vocabulary size: the most frequent words; no limit by default.
        @[serde(default)]
        pub max_vocabulary: Option<usize> = None => Text[at_least 1];
        /// Maximum tokens per training sentence. Encoding reads all tokens.
        pub max_tokens: usize = 100 => Text[at_least 1];
        /// Treatment of longer sentences. If they are left out, so are held-out pairs with them.
        @[serde(default)]
        pub long: LongSentences = LongSentences::Cut => Text;
        /// Hidden units of the classifier.
        pub hidden: usize = DEFAULT_NLI_HIDDEN => Training[at_least 1];
        /// What the classifier computes from the two vectors.
        @[serde(default, skip_serializing_if = "NliHeadForm::is_tanh")]
        pub classifier: NliHeadForm = NliHeadForm::Tanh => Training;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::default() => group;
        /// The training loop.
        pub fit: FitParams =
            FitParams { epochs: Some(20), batch: 64, patience: Some(3), ..FitParams::default() } => group;
    }
}

/// The configuration of an SNLI model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnliConfig {
    /// The encoder: that of the parameters, or of the initial model.
    pub encoder: SnliEncoder,
    /// Dimension of the word vectors.
    pub dim: usize,
    /// How text is read.
    pub reading: Reading,
    /// The classifier.
    pub head: NliHead,
    /// The training parameters.
    pub params: SnliParams,
}

/// The initial encoder, words and weights.
struct SnliStart {
    encoder: SnliEncoder,
    reading: Reading,
    vocabulary: Vocabulary,
    words: Table,
    parameters: Parameters<f32>,
    /// Whether words and encoder were trained together.
    is_trained: bool,
    found: InitialVectorReport,
    /// A string that identifies it.
    identity: String,
}

/// Pairs whose words determine the tokenizer.
const BEGINNING: usize = 5000;

impl System for SnliParams {
    type Model = Snli;
    type Input = NliPairs;
    type Data<'a> = Unread<'a, NliPairs>;
    type Dev<'d> = &'d NliPairs;
    const ABOUT: About = About {
        name: Snli::KIND,
        summary: "SNLI models and InferSent: sums of words, a GRU or an LSTM, trained to classify whether one \
            sentence entails another",
        examples: &[
            "senv train snli --train snli-train.tsv --dev snli-dev.tsv --output bow.senv",
            "senv train snli --train snli-train.tsv --dev snli-dev.tsv --encoder rnn --sentence-dim 600 --output rnn.senv",
            "senv train snli --train snli-train.tsv --dev snli-dev.tsv --encoder skip-thought.senv --output tuned.senv",
            "senv train snli --preset infersent --train snli-train.tsv --dev snli-dev.tsv --init-vectors words.senv --output infer.senv",
        ],
        note: "",
        preset: "Start from a named preset; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "SNLI BOW: as stated in the paper; also the defaults, except for --normalize",
            settings: Self::paper,
        },
        NamedSettings { name: "paper-rnn", help: "SNLI RNN, 2400 units", settings: Self::paper_rnn },
        NamedSettings {
            name: "infersent",
            help: "InferSent: an LSTM in both directions, 2048 units each",
            settings: Self::infersent,
        },
    ];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.encoder.form().encoder(self.dim)?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a NliPairs,
        start: Start<'a>,
        _: &TrainOptions<'_, &NliPairs>,
    ) -> Result<Unread<'a, NliPairs>> {
        Ok(Unread { input, start })
    }

    fn fit_on(&self, data: &Unread<'_, NliPairs>, options: &TrainOptions<'_, &NliPairs>) -> Result<Trained<Snli>> {
        let &Unread { input: pairs, start } = data;
        let (vectors, observer) = (start.vectors()?, options.observer);
        let beginning = || pairs.pairs.iter().take(BEGINNING).flat_map(|(_, first, second)| [&first[..], second]);
        let tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_text(beginning(), observer));
        Self { tokenizer, ..self.clone() }.fit(pairs, &Start::options(vectors.as_deref(), options))
    }
}

impl SnliParams {
    /// SNLI BOW: the defaults, without normalization of text.
    #[must_use]
    pub fn paper() -> Self {
        Self { tokenizer: Tokenizer::automatic().lowercase(true), ..Self::default() }
    }

    /// SNLI RNN: one direction, 2400 units.
    #[must_use]
    pub fn paper_rnn() -> Self {
        Self { encoder: SnliEncoder::rnn(), ..Self::paper() }
    }

    /// InferSent (A. Conneau and others, EMNLP 2017), trained as in its release. The encoder is a bidirectional LSTM of
    /// 2048 units per direction on frozen word vectors, with the maximum over the words. A linear classifier gets both
    /// vectors, their difference and product. Training is SGD at 0.1 in batches of 64 for at most 20 epochs, with the
    /// learning rate of [`Decay::Plateau`] and gradients clipped to length 5.
    ///
    /// The release adds begin and end markers around each sentence, which have a vector in GloVe; senv does not. It
    /// leaves out words without a vector; in senv they have random initial vectors.
    ///
    /// ```
    /// use senv::{SnliEncoder, SnliParams};
    /// let small = SnliEncoder::Lstm { hidden: 256, pooling: senv::forms::StatePooling::Max };
    /// let params = SnliParams { encoder: small, ..SnliParams::infersent() };
    /// assert_eq!(params.fit.lr, Some(0.1));
    /// ```
    #[must_use]
    pub fn infersent() -> Self {
        let fit = FitParams {
            rule: UpdateRule::Sgd,
            lr: Some(0.1),
            decay: Decay::Plateau,
            words: WordUpdates::Frozen,
            clip: Some(5.0),
            patience: None,
            ..Self::default().fit
        };
        Self { encoder: SnliEncoder::lstm(), dim: 300, classifier: NliHeadForm::Infersent, fit, ..Self::paper() }
    }

    /// Trains on labelled pairs, validated on others: the parameters with the best accuracy there are kept.
    ///
    /// # Errors
    /// Errors of the parameters, the memory, or the training itself.
    pub fn fit(&self, train: &NliPairs, options: &TrainOptions<'_, &NliPairs>) -> Result<Trained<Snli>> {
        let vectors = options.vectors;
        self.check()?;
        let mut builder = VocabularyBuilder::default();
        let mut scratch = String::new();
        for text in train.texts() {
            self.tokenizer.for_each(text, &mut scratch, |token| {
                builder.add(token);
            });
        }
        let vocabulary = builder.finish_at_most(self.min_count, self.max_vocabulary)?;
        let vocabulary = vocabulary.with_terms_of(vectors.map(Embeddings::vocabulary));
        let (words, found) = self.initial.rows(&vocabulary, self.dim, vectors, self.fit.seed)?;
        let start = SnliStart {
            encoder: self.encoder.clone(),
            reading: Reading::known_words(self.tokenizer.clone(), self.max_tokens),
            vocabulary,
            words,
            parameters: self.encoder.form().encoder(self.dim)?.init(&mut stream(self.fit.seed, "encoder", &[]))?,
            is_trained: false,
            found,
            identity: initial::vectors_fingerprint(vectors),
        };
        self.fit_from(start, train, options)
    }

    /// Fine-tunes the encoder of a Skip-thought model: part 0 or, in a combined model, part 1. Words, encoder and text
    /// reading are those of the model. `encoder`, `dim`, `min_count`, `max_vocabulary`, `max_tokens`, `tokenizer`,
    /// `initial` and the vectors of the options are ignored. [`SkipThought::with_tuned`] puts the result back. The
    /// paper tunes both parts, each with its own classifier; a learning rate of 1e-4 works well. Words are scaled to
    /// suit the steps of the optimizer, and the encoder compensates: training starts with the vectors of the model.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if there is no such part; the errors of [`SnliParams::fit`].
    pub fn fit_skip_thought(
        &self,
        base: &SkipThought,
        part: usize,
        train: &NliPairs,
        options: &TrainOptions<'_, &NliPairs>,
    ) -> Result<Trained<Snli>> {
        self.check()?;
        require(part < base.parts.len(), "part", "one of the model's parts", part as f64)?;
        let part = &base.parts[part];
        let form = &part.seq2seq.form;
        let (style, start) = form.cell.gru().ok_or(Error::CannotTune { kind: SkipThought::KIND })?;
        let fingerprint = Fingerprint::new().vocabulary(&base.vocabulary).table(&part.words);
        let start = SnliStart {
            encoder: SnliEncoder::Rnn {
                hidden: form.hidden,
                layers: form.layers,
                topology: form.topology,
                style,
                start,
            },
            reading: base.config.reading.clone(),
            vocabulary: base.vocabulary.clone(),
            words: copy_table(&part.words)?,
            parameters: part.parameters[0].clone(),
            is_trained: true,
            found: InitialVectorReport { words: base.vocabulary.len(), found: base.vocabulary.len() },
            identity: fingerprint.parameters(&part.parameters[0]).hex(),
        };
        self.fit_from(start, train, options)
    }

    fn fit_from(
        &self,
        start: SnliStart,
        train: &NliPairs,
        options: &TrainOptions<'_, &NliPairs>,
    ) -> Result<Trained<Snli>> {
        let SnliStart { encoder: form, reading, vocabulary, mut words, mut parameters, is_trained, found, identity } =
            start;
        let dim = words.dim();
        let encoder = form.form().encoder(dim)?;
        let head = NliHead { hidden: self.hidden, form: self.classifier, ..NliHead::new(encoder.dim()) };
        let head_parameters = head.init(&mut stream(self.fit.seed, "head", &[]))?;
        let config = SnliConfig { encoder: form, dim, reading, head: head.clone(), params: self.clone() };
        let number =
            |pairs, name| Labelled::new(pairs, &config.reading, &vocabulary, self.long, name, options.observer);
        let train = number(train, "")?;
        let dev = options.dev.map(|dev| number(dev, "held-out ")).transpose()?;
        if is_trained {
            let mut batch = TokenBatch::new();
            batch.assign(train.sentences().iter().take(scale::MEASURED))?;
            scale::bring_words_to_scale(&*encoder, &mut words, &mut parameters, &batch)?;
        }
        let held_out = dev.as_ref().map(Labelled::identity).unwrap_or_default();
        let identity = format!("{} {identity} {} {held_out}", file::to_json(&config)?, train.identity());
        let mut objective = Pairs { encoder, head, train, dev, identity };
        let weights = Weights { words, parameters: vec![parameters, head_parameters] };
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| Snli::new(config, vocabulary, weights))
    }
}

/// An encoder with the classifier it was trained with.
pub type Snli = EncoderModel<SnliConfig>;

impl EncoderSystem for SnliConfig {
    const KIND: &'static str = "snli";
    type Params = SnliParams;

    fn params(&self) -> &SnliParams {
        &self.params
    }

    fn word_dim(&self) -> usize {
        self.dim
    }

    fn form(&self) -> EncoderForm {
        self.encoder.form()
    }

    fn reading(&self) -> Reading {
        self.reading.clone()
    }

    fn head_dim(&self) -> Option<usize> {
        Some(self.head.dim)
    }

    fn n_head_values(&self) -> f64 {
        self.head.n_values()
    }

    fn head_form(&self, _: usize) -> Result<Parameters<f32>> {
        Ok(self.head.init(&mut stream(0, "form", &[]))?)
    }

    fn expandable(model: &Snli) -> Option<&dyn ExpandVocabulary> {
        Some(model)
    }
}

impl Snli {
    /// The probabilities of entailment, neutral and contradiction ([`NLI_LABELS`]) for pairs of premise and hypothesis.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn classify(&self, pairs: &[(&str, &str)]) -> Result<Vec<[f64; NLI_LABELS.len()]>> {
        let mut out = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(A_BATCH) {
            let texts: Vec<&str> = pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect();
            let (vectors, _) = self.encode_batch(&texts)?;
            let (u, v) = vectors.view().split_at(Axis(0), pairs.len());
            let probabilities = self.config().head.forward(self.head_parameters(), u, v)?.probabilities();
            out.extend(probabilities.rows().into_iter().map(|row| std::array::from_fn(|j| f64::from(row[j]))));
        }
        Ok(out)
    }

    /// The most likely label of each pair of premise and hypothesis, by its name in [`NLI_LABELS`].
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn labels(&self, pairs: &[(&str, &str)]) -> Result<Vec<&'static str>> {
        let likeliest =
            |p: [f64; NLI_LABELS.len()]| (1..p.len()).fold(0, |best, j| if p[j] > p[best] { j } else { best });
        Ok(self.classify(pairs)?.into_iter().map(|p| NLI_LABELS[likeliest(p)]).collect())
    }
}
