//! What PP, CSE and GRAN share: systems trained on pairs, in one stage or two.

use std::path::Path;

use senv_core::{Observer, Tokenizer, optim::Adam};
use senv_losses::InfoNce;
use senv_store::Embeddings;
use serde::Serialize;

use crate::{
    base::{sealed::Sealed, train_options::TrainOptions},
    data::{MemoryText, PairData, PairFiles, PairInput, PairKind},
    error::Result,
    gradient::{Decay, FitParams, PairLoss, PairParams, scored_pairs::ScoredPairs},
    model::{handle::Model, saved::SavedModel, trained::Trained, word_vectors::embeddings_of},
    start::initial::Initial,
    system::{
        contract::{Common, System, Trainer},
        staged_pairs::StagedPairs,
        start::Start,
    },
};

/// A system trained on pairs. Like [`System`], it is sealed.
pub trait PairSystem:
    for<'d> System<Input = PairFiles, Data<'d> = StagedPairs<'d>, Dev<'d> = &'d [ScoredPairs], Model: PairModel<Self>>
    + Serialize
{
    /// Whether its sentence vectors are averages, whose length the loss softmax-cosine does not constrain. If so, that
    /// loss starts from [`PairSystem::softmax_recipe`], and learning rates follow the length of the initial vectors.
    const AVERAGES: bool = false;

    /// The random stream for the weights of its encoder.
    const ENCODER_STREAM: &'static str = "encoder";

    /// Returns the hyperparameters that all such systems have.
    fn shared(&mut self) -> PairSystemParams<'_>;

    /// Returns the L2 penalty λ of all weights of its encoder; 0 for an average, which has none.
    fn l2_encoder(&self) -> f64 {
        0.0
    }

    /// Returns settings for the loss softmax-cosine on large batches: the initial vectors, loss, batch and schedule of
    /// PP. The optimizer, its rate and the penalty of words do not change.
    #[must_use]
    fn softmax_recipe() -> Self {
        with_softmax_recipe(Self::default())
    }

    /// Trains on pairs, from the vectors of the options if there are any, validated on scored pairs.
    ///
    /// # Errors
    /// If a parameter is out of range, memory runs out, or training fails.
    fn fit(&self, data: &PairData, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<Self::Model>> {
        self.fit_from(data, None, options)
    }

    /// Trains like [`PairSystem::fit`], from a model such as that of a first stage. `start` must be of the same system
    /// and vocabulary; its words keep their vectors and its filters their weights. With a `start`, the vectors of the
    /// options are ignored.
    ///
    /// # Errors
    /// The errors of [`PairSystem::fit`]; an error if `start` has a different shape.
    fn fit_from(
        &self,
        data: &PairData,
        start: Option<&Self::Model>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self::Model>> {
        let mut system = self.clone();
        if system.shared().fit.lr.is_none() {
            let of_start = start.map(|model| embeddings_of(model)).transpose()?;
            system.resolve_lr(of_start.as_ref().or(options.vectors), None, options.observer);
        }
        Self::Model::fit_pairs(&system, data, start, options)
    }

    /// Trains on paraphrase pairs in memory, with these parameters. For groups, options or a start, use [`MemoryText`]
    /// and [`System::fit_input`].
    ///
    /// ```
    /// use senv::{PairSystem, PpParams};
    ///
    /// let pairs = [("a cat sat", "a cat was sitting"), ("the dog ran", "the dog was running")].repeat(10);
    /// let model = PpParams { dim: 8, ..PpParams::default() }.train_pairs(pairs)?;
    /// assert!(model.similarity("a cat sat", "a cat was sitting") > 0.5);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`MemoryText::pairs`] and [`System::fit_input`].
    fn train_pairs<A: AsRef<str>, B: AsRef<str>>(
        &self,
        pairs: impl IntoIterator<Item = (A, B)>,
    ) -> Result<Self::Model> {
        let text = MemoryText::pairs(pairs)?;
        let files = PairFiles::from([PairInput::new(&text, PairKind::Pairs)]);
        Ok(self.fit_input(&files, Start::Random, &TrainOptions::default())?.model)
    }

    /// Sets parameters that follow from the start and the files: the tokenizer, if automatic, and no frequency weights
    /// for words that already encode them.
    fn prepare(&mut self, start: Start<'_>, files: &[impl AsRef<Path>], observer: &dyn Observer) {
        let parts = self.shared();
        start.note_losses(observer);
        *parts.tokenizer = start.tokenizer(parts.tokenizer, |given| given.fitted_to_files(files, observer));
        if start.model().is_some_and(|model| model.abilities().holds_frequency_weights) {
            parts.initial.frequency_weight = None;
        }
    }

    /// Returns the default learning rate, before it is adapted to initial vectors.
    fn default_lr(&self) -> f64 {
        Adam::DEFAULT_LR
    }

    /// Sets the learning rate if none is set: [`PairSystem::default_lr`], adapted to the initial vectors.
    fn resolve_lr(&mut self, vectors: Option<&Embeddings>, model: Option<&Model>, observer: &dyn Observer) {
        if self.shared().fit.lr.is_none() {
            let lr = self.default_lr();
            let suited = vectors.map_or(lr, |vectors| self.suited_lr(lr, vectors, model, observer));
            self.shared().fit.lr = Some(suited);
        }
    }

    /// Returns a learning rate that suits initial vectors. It is proportional to their length if the loss uses only
    /// cosines. For vectors of a `model` trained on pairs, it is also much smaller, because larger rates destroy most
    /// of what the model has learned (`docs/experiments/senv-english.md`). The observer gets a note with the resulting
    /// rate.
    fn suited_lr(&mut self, lr: f64, vectors: &Embeddings, model: Option<&Model>, observer: &dyn Observer) -> f64 {
        let parts = self.shared();
        if !Self::AVERAGES || !matches!(parts.pairs.loss, PairLoss::InfoNce(_)) {
            return lr;
        }
        let is_trained = model.is_some_and(|model| model.abilities().holds_frequency_weights);
        parts.initial.suited_lr(lr, vectors, is_trained, observer)
    }
}

/// The model of a system trained on pairs. The trait is sealed: this crate implements it, and others call it.
pub trait PairModel<S>: Sealed + SavedModel + Clone {
    /// Returns the parameters that it was trained with.
    fn params(&self) -> &S;

    /// Trains a model: [`PairSystem::fit_from`] after the learning rate is set.
    ///
    /// # Errors
    /// The errors of [`PairSystem::fit_from`].
    fn fit_pairs(
        system: &S,
        data: &PairData,
        start: Option<&Self>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self>>;
}

/// Returns these settings with [`PairSystem::softmax_recipe`].
pub(crate) fn with_softmax_recipe<S: PairSystem>(mut system: S) -> S {
    let PairSystemParams { initial, pairs, fit, .. } = system.shared();
    *initial = Initial { sd: 0.1, frequency_weight: Some(1e-5) };
    *pairs = PairParams {
        loss: PairLoss::InfoNce(InfoNce { temperature: 0.06, ..InfoNce::default() }),
        word_dropout: 0.2,
        ..PairParams::default()
    };
    *fit = FitParams {
        batch: 2048,
        decay: Decay::Linear { warmup: 0.1, floor: 0.0 },
        rule: fit.rule,
        lr: fit.lr,
        l2_words: fit.l2_words,
        ..FitParams::default()
    };
    system
}

/// The hyperparameters that all systems trained on pairs have.
#[derive(Debug)]
pub struct PairSystemParams<'p> {
    /// Dimension of the word vectors.
    pub dim: &'p mut usize,
    /// How text is tokenized.
    pub tokenizer: &'p mut Tokenizer,
    /// Initial word vectors.
    pub initial: &'p mut Initial,
    /// Loss and dropout.
    pub pairs: &'p mut PairParams,
    /// The training loop.
    pub fit: &'p mut FitParams,
}

impl<'p> PairSystemParams<'p> {
    /// Returns those that all systems have.
    pub(crate) fn common(self) -> Common<'p> {
        Common { dim: self.dim, tokenizer: self.tokenizer, trainer: Trainer::Gradient(self.fit) }
    }
}

impl PairParams {
    /// Whether pairs with the same first sentence form one group by default. Otherwise they would be negatives of each
    /// other in a batch of a softmax.
    #[must_use]
    pub fn groups_pairs(&self) -> bool {
        matches!(self.loss, PairLoss::InfoNce(_))
    }
}
