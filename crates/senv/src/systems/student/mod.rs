//! A student: averages of words that follow the vectors of a larger model, the teacher.
//!
//! The teacher is any program; senv reads the vectors that it made for a text. A batch is of one of three kinds. In a
//! batch of texts, similarities follow those of the teacher (`taught-similarities`). In a batch of passages, a query
//! finds its passage and what the teacher finds similar (`taught-softmax`). Pairs without a teacher are trained on as
//! by PP (`info-nce`).

mod objective;
mod taught;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, path::Path};

use ndarray::Array2;
use senv_core::{
    Corpus, Sentences, TextOptions, Tokenizer, Vocabulary,
    arrays::Parameters,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    optim::{AdaGradParams, UpdateRule},
};
use senv_encoders::{Average, Pooling};
use senv_losses::{InfoNce, TaughtSoftmax};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

pub use taught::{StudentInput, TaughtPassages, TaughtTexts, TeacherVectors};

use crate::{
    average::{
        unknown_words::UnknownWords,
        weight_scheme::{WeightScheme, weights},
        weighting,
    },
    base::{file, fingerprint::Fingerprint, sealed::Sealed, train_options::TrainOptions},
    check::{CheckParams, CheckText},
    data::{PairData, PairOptions, SourceReport, check_weight},
    error::Result,
    gradient::{
        Decay, FitParams, Objective, PairLoss, PairObjective, PairParams, Weights, fit,
        scored_pairs::{ScoredPairs, Validation},
    },
    model::trained::Trained,
    start::initial::{self, Initial},
    system::{
        about::About,
        averaged::{Averaged, AveragedSystem},
        contract::{Common, System, Trainer},
        start::Start,
        training_data::TrainingData,
    },
};
use objective::StudentObjective;
use taught::{Taught, strongest_axes};

/// The loss of texts with vectors of a teacher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TextLoss {
    /// `taught-similarities`.
    Similarities,
    /// `target-cosine-loss`, toward the teacher's vectors on their strongest axes.
    Cosine,
}

named_values!(TextLoss {
    Similarities = "similarities": "Similarities within a batch follow those of the teacher",
    Cosine = "cosine": "One minus the cosine with the teacher's vector, on its strongest axes",
});

hyperparameters! {
    /// Hyperparameters of a student.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct StudentParams {
        /// Embedding dimension.
        pub dim: usize = 256 => Training[from 1 to 65536];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial { sd: 0.1, frequency_weight: Some(1e-5) } => group;
        /// Weights of the trained words; `None` (default) for a plain mean.
        @[serde(default, skip_serializing_if = "Option::is_none")]
        pub weighting: Option<WeightScheme> = None => group[weights];
        /// How a sentence vector treats unknown words.
        pub unknown_words: UnknownWords = UnknownWords::Hash => Weights;
        /// The loss of passages and of pairs.
        pub softmax: TaughtSoftmax = TaughtSoftmax::default() => group;
        /// The loss of texts.
        pub text_loss: TextLoss = TextLoss::Similarities => Training;
        /// Factor of the loss of texts.
        pub text_weight: f64 = 10.0 => Training[above 0];
        /// Share of the words dropped from a sentence in each step; at least one word is kept.
        pub word_dropout: f64 = 0.2 => Training[from 0 below 1];
        /// The training loop.
        pub fit: FitParams = FitParams {
            batch: 1024,
            lr: None,
            rule: UpdateRule::AdaGrad(AdaGradParams::default()),
            decay: Decay::Linear { warmup: 0.1, floor: 0.0 },
            ..FitParams::default()
        } => group;
    }
}

impl StudentParams {
    /// The default learning rate of vectors that start at random. That of others follows their length.
    pub const DEFAULT_LR: f64 = 0.3;
}

/// A trained student.
pub type Student = Averaged<StudentParams>;

impl AveragedSystem for StudentParams {
    const KIND: &'static str = "student";
    const TRAINED_ON_PAIRS: bool = true;

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

/// What was read for a student.
#[derive(Debug)]
pub struct StudentData<'a> {
    pairs: PairData,
    passages: Vec<Taught<'a>>,
    texts: Vec<Taught<'a>>,
    vectors: Option<Cow<'a, Embeddings>>,
    /// Whether training starts from vectors that were trained on pairs.
    starts_trained: bool,
}

impl Sealed for StudentData<'_> {}

impl StudentData<'_> {
    fn taught(&self) -> impl Iterator<Item = &Taught<'_>> {
        self.passages.iter().chain(&self.texts)
    }

    fn fingerprint(&self) -> String {
        let sum = self.taught().fold(Fingerprint::new(), |sum, taught| taught.add_to(sum));
        format!("{} {}", self.pairs.fingerprint(), sum.hex())
    }

    /// The sentences of all files.
    fn sentences(&self) -> Sentences {
        let mut all = Sentences::new();
        let sides = self.taught().flat_map(|taught| &taught.sides);
        let sources = self.pairs.sources.iter().map(|source| source.sentences());
        sides.chain(sources).flat_map(Sentences::iter).for_each(|sentence| all.push(sentence.iter().copied()));
        all
    }
}

impl TrainingData for StudentData<'_> {
    fn start_dim(&self) -> Option<usize> {
        self.vectors.as_ref().map(|vectors| vectors.dim())
    }

    fn reports(&self) -> Vec<&SourceReport> {
        self.pairs.reports.iter().chain(self.taught().map(|taught| &taught.report)).collect()
    }

    fn check_text(&mut self, params: &CheckParams, _: &TextOptions, _: bool) -> Result<Option<CheckText>> {
        Ok(CheckText::of_tokens(&self.sentences(), &self.pairs.vocabulary, params))
    }

    fn pretrain(&mut self, train: &mut dyn FnMut(&Vocabulary, &Corpus) -> Result<Embeddings>) -> Result<bool> {
        let corpus = Corpus::from_sentences(self.sentences());
        self.vectors = Some(Cow::Owned(train(&self.pairs.vocabulary, &corpus)?));
        Ok(true)
    }
}

impl System for StudentParams {
    type Model = Student;
    type Input = StudentInput;
    type Data<'a> = StudentData<'a>;
    type Dev<'d> = &'d [ScoredPairs];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "Student: averages of words that follow the vectors of a larger model",
        examples: &[
            "senv train student --texts sentences.txt --text-vectors sentences.npy --output student.senv",
            "senv train student --passages pairs.tsv --query-vectors queries.npy --passage-vectors passages.npy \\\n      --texts sentences.txt --text-vectors sentences.npy --pairs paraphrases.tsv --output student.senv",
        ],
        note: "Row i of a matrix belongs to line i of its file. Any program can make it; the guide has one for MiniLM.",
        preset: "",
    };

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        input: &'a StudentInput,
        start: Start<'a>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<StudentData<'a>> {
        let inputs = &input.pairs.inputs;
        let taught = input.passages.iter().map(|of| &*of.path).chain(input.texts.iter().map(|of| &*of.path));
        let paths: Vec<&Path> = taught.chain(inputs.iter().map(|of| &*of.path)).collect();
        let weights = input.passages.iter().map(|of| of.weight).chain(input.texts.iter().map(|of| of.weight));
        weights.into_iter().try_for_each(check_weight)?;
        start.note_losses(options.observer);
        self.tokenizer = start.tokenizer(&self.tokenizer, |given| given.fitted_to_files(&paths, options.observer));
        let starts_trained = start.model().is_some_and(|model| model.abilities().holds_frequency_weights);
        if starts_trained {
            self.initial.frequency_weight = None;
        }
        let vectors = start.vectors()?;
        let mut reading = PairOptions {
            tokenizer: self.tokenizer.clone(),
            threads: options.threads,
            kept: options.kept_reading(),
            ..input.pairs.options.clone()
        };
        if let Some(vectors) = vectors.as_ref().filter(|_| start.model().is_some() || reading.keep_vector_words) {
            reading.keep.extend(vectors.vocabulary().iter().map(|(_, word, _)| word.to_owned()));
        }
        let (pairs, ids, (passages, texts)) =
            PairData::read_with(inputs, &paths, &reading, options.observer, |builder| {
                let passages =
                    input.passages.iter().map(|of| Taught::passages(of, &reading, builder, options.observer));
                let passages = passages.collect::<Result<Vec<_>>>()?;
                let texts = input.texts.iter().map(|of| Taught::texts(of, &reading, builder, options.observer));
                Ok((passages, texts.collect::<Result<Vec<_>>>()?))
            })?;
        let finish =
            |taught: Vec<Taught<'a>>| taught.into_iter().map(|one| one.finish(&ids)).collect::<Result<Vec<_>>>();
        Ok(StudentData { pairs, passages: finish(passages)?, texts: finish(texts)?, vectors, starts_trained })
    }

    fn fit_on(&self, data: &StudentData<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Student>> {
        let mut system = self.clone();
        let vectors = data.vectors.as_deref().or(options.vectors);
        system.fit.lr = system.fit.lr.or_else(|| {
            let suited =
                |vectors| system.initial.suited_lr(Self::DEFAULT_LR, vectors, data.starts_trained, options.observer);
            Some(vectors.map_or(Self::DEFAULT_LR, suited))
        });
        let vocabulary = &data.pairs.vocabulary;
        weighting::check(system.weighting, system.dim, vocabulary)?;
        let (rows, found) = system.initial.rows(vocabulary, system.dim, vectors, system.fit.seed)?;
        let encoder = Average { dim: system.dim, pooling: Pooling::Mean };
        let settings =
            format!("{} {} {}", file::to_json(&system)?, initial::vectors_fingerprint(vectors), data.fingerprint());
        let validation = Validation::new(options.dev.unwrap_or_default(), &system.tokenizer, vocabulary)?;
        let loss = PairLoss::InfoNce(InfoNce { temperature: system.softmax.temperature, ..InfoNce::default() });
        let pair_params = PairParams { loss, word_dropout: system.word_dropout, ..PairParams::default() };
        let penalty = system.fit.penalty(0.0);
        let pairs =
            PairObjective::of_system(Self::KIND, &encoder, &data.pairs, &pair_params, validation, &settings, penalty);
        let identity = pairs.identity();
        let axes = match system.text_loss {
            TextLoss::Cosine => strongest_axes(&data.texts, system.dim)?,
            TextLoss::Similarities => Array2::zeros((0, 0)),
        };
        let mut objective = StudentObjective {
            encoder: &encoder,
            pairs,
            passages: &data.passages,
            texts: &data.texts,
            softmax: system.softmax.clone(),
            text_loss: system.text_loss,
            text_weight: system.text_weight,
            word_dropout: system.word_dropout,
            axes,
            identity,
        };
        let initial = || Ok(Weights { words: rows, parameters: vec![Parameters::new()] });
        let fitted = fit(&mut objective, initial, &system.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| {
            let vocabulary = vocabulary.clone().with_terms_of(vectors.map(Embeddings::vocabulary));
            Student::new(system.clone(), vocabulary, weights.words, &data.sentences())
        })
    }
}
