//! A training run of any system: read, start, train in stages, check.

use std::time::Instant;

use senv_core::{Remedy, Result as CoreResult, SentenceEncoder, observer::Stage};

use crate::{
    base::train_options::TrainOptions,
    check::{Check, CheckParams, CheckText, check},
    data::SourceReport,
    error::Result,
    model::{saved::SavedModel, trained::Trained},
    system::{contract::System, start::Start, training_data::TrainingData},
    systems::pretraining::Pretraining,
};

/// Applies the settings that the user set explicitly.
pub type SetByHand<'a, S> = &'a dyn Fn(&mut S) -> CoreResult<()>;

/// A training run of any system: what `senv train` does, except for the files it writes.
///
/// It reads the input and takes over the tokenizer of a start model or the dimension of start vectors. It trains
/// initial vectors first if requested, trains in one stage or two, and keeps sentences to check the model on.
///
/// ```
/// use senv::{Sent2VecParams, TrainJob};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("text.txt");
/// # std::fs::write(&path, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(200))?;
/// let text = [path];
/// let params = Sent2VecParams { dim: 8, ..Sent2VecParams::default() };
/// let outcome = TrainJob::new(params, &text[..]).run()?;
/// assert!(outcome.trained.loss.is_finite());
/// // Twenty words teach little, and the check says so.
/// assert!(outcome.check().is_some_and(|check| !check.unwrap().warnings.is_empty()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TrainJob<'a, 'd, S: System> {
    /// The settings.
    pub system: S,
    /// What is trained on.
    pub input: &'a S::Input,
    /// What training starts from; [`Start::Random`] by default.
    pub start: Start<'a>,
    /// The system that trains initial vectors on the sentences of the run; none by default.
    pub pretraining: Option<Pretraining>,
    /// Settings that override those of the start or the text; none by default.
    pub by_hand: Option<SetByHand<'a, S>>,
    /// Whether to use the dimension of the start vectors; true by default.
    pub takes_dim: bool,
    /// What the model is checked on; a sample of the text by default.
    pub check: CheckOn,
    /// Threads, checkpoints, validation and the observer.
    pub options: TrainOptions<'a, S::Dev<'d>>,
}

/// What a trained model is checked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CheckOn {
    /// Nothing.
    Nothing,
    /// Sentences of the text.
    #[default]
    Sample,
    /// Sentences of the text; those of a longer text are held out of training.
    HeldOut,
}

/// The result of a [`TrainJob`].
#[derive(Debug)]
#[non_exhaustive]
pub struct JobOutcome<M> {
    /// The model, and a report of its training.
    pub trained: Trained<M>,
    /// What was used of each file of pairs.
    pub sources: Vec<SourceReport>,
    /// The number of check sentences held out of training, and of their pairs.
    pub held_out: (usize, usize),
    /// The sentences to check the model on, and how to check it.
    pub sample: Option<(CheckText, CheckParams)>,
}

impl<M> From<Trained<M>> for JobOutcome<M> {
    /// A run that read no pairs and kept no sentences for a check.
    fn from(trained: Trained<M>) -> Self {
        Self { trained, sources: Vec::new(), held_out: (0, 0), sample: None }
    }
}

impl<M> JobOutcome<M> {
    /// Converts the model with `model`.
    pub fn map<N>(self, model: impl FnOnce(M) -> N) -> JobOutcome<N> {
        let Self { trained, sources, held_out, sample } = self;
        JobOutcome { trained: trained.map(model), sources, held_out, sample }
    }
}

impl<M: SentenceEncoder> JobOutcome<M> {
    /// Checks the model on sentences of the text; `None` if there are none.
    #[must_use]
    pub fn check(&self) -> Option<Result<Check>> {
        self.sample.as_ref().map(|(text, params)| check(&self.trained.model, text, params))
    }
}

impl<'a, S: System> TrainJob<'a, '_, S> {
    /// Creates a run from random vectors.
    pub fn new(system: S, input: &'a S::Input) -> Self {
        Self {
            system,
            input,
            start: Start::Random,
            pretraining: None,
            by_hand: None,
            takes_dim: true,
            check: CheckOn::default(),
            options: TrainOptions::default(),
        }
    }

    /// Trains.
    ///
    /// # Errors
    /// The errors of [`System::read_input`] and [`System::fit_on`].
    pub fn run(self) -> Result<JobOutcome<S::Model>> {
        let Self { mut system, input, start, pretraining, by_hand, takes_dim, check, options } = self;
        // Options change the tokenizer of a model one by one. Without them the settings say how text is tokenized, or
        // the model does if that is automatic.
        if let (Some(model), Some(set)) = (start.model(), by_hand) {
            system.common().tokenizer.clone_from(model.tokenizer());
            set(&mut system)?;
        }
        system.check()?;
        let mut data = system.read_input(input, start, &options)?;
        by_hand.map_or(Ok(()), |set| set(&mut system))?;
        if let Some(dim) = data.start_dim().filter(|_| takes_dim) {
            *system.common().dim = dim;
        }
        let sources: Vec<SourceReport> = data.reports().into_iter().cloned().collect();
        sources.iter().for_each(|source| options.observer.note(&source.to_string()));
        let sample = match check {
            CheckOn::Nothing => None,
            on => {
                data.check_text(&CheckParams::for_encoder(S::INFERS_VECTORS), &options.text, on == CheckOn::HeldOut)?
            }
        };
        let held_out = sample.as_ref().map_or((0, 0), |text| (text.n_held_out(), text.n_held_out_pairs()));
        note_held_out(held_out, &options);
        let starts_from_vectors = data.start_dim().is_some();
        if let Some(pretraining) = pretraining {
            pretrain(pretraining, &mut system, &mut data, &options)?;
        }
        let trained = system.fit_on(&data, &options)?;
        let model = &trained.model;
        let weights_may_help = model.abilities().average.is_some_and(|average| average.weighting().is_none());
        let params = CheckParams {
            tokenizer: model.tokenizer().clone(),
            loss: trained.against_chance,
            starts_from_vectors,
            on_training_text: true,
            weights_may_help,
            start_may_help: model.abilities().average.is_some(),
            ..Default::default()
        };
        let n_words = model.vocabulary().corpus_tokens();
        let sample = sample.map(|text| (text.with_training_words(n_words), params));
        Ok(JobOutcome { trained, sources, held_out, sample })
    }
}

fn note_held_out<D>((sentences, pairs): (usize, usize), options: &TrainOptions<'_, D>) {
    for (n, what) in [(sentences, "sentence"), (pairs, "pair")] {
        if n > 0 {
            let s = if n == 1 { "" } else { "s" };
            let remedy = Remedy::LeaveOutCheck;
            let message =
                format_args!("{n} {what}{s} held out of training for the check; to train on all text, {remedy}");
            options.observer.note_with(&message, &[remedy]);
        }
    }
}

/// Trains initial vectors on the sentences of the run.
fn pretrain<S: System>(
    pretraining: Pretraining,
    system: &mut S,
    data: &mut S::Data<'_>,
    options: &TrainOptions<'_, S::Dev<'_>>,
) -> Result<()> {
    let (began, observer) = (Instant::now(), options.observer);
    let name = pretraining.name();
    observer.stage(&Stage { name: &format!("{name} first"), unit: Some("word") });
    let tokenizer = data.tokenizer().unwrap_or(system.common().tokenizer).clone();
    let common = system.common();
    let (dim, seed) = (*common.dim, common.trainer.seed());
    let alone = TrainOptions { threads: options.threads, observer, ..TrainOptions::default() };
    data.pretrain(&mut |vocabulary, corpus| pretraining.vectors(vocabulary, corpus, &tokenizer, dim, seed, &alone))?;
    observer.stage(&Stage::default());
    observer.note(&format!("trained the initial vectors with {name} in {:.1} s", began.elapsed().as_secs_f64()));
    Ok(())
}
