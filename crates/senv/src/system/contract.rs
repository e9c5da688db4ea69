//! The contract of all systems: hyperparameters that become a model.

use senv_core::{Tokenizer, hyperparameters::Hyperparameters};
use senv_negative_sampling::NegativeSamplingParams;

use super::{
    about::{About, NamedSettings},
    start::Start,
    training_data::TrainingData,
};
use crate::{
    base::{sealed::Sealed, train_options::TrainOptions},
    error::Result,
    gradient::FitParams,
    model::{saved::SavedModel, trained::Trained},
};

/// A system: hyperparameters that become a model.
///
/// What it is trained on, what training may start from, and what the best weights are chosen by are the same three
/// arguments for every system. [`TextSystem`](crate::TextSystem) and [`PairSystem`](crate::PairSystem) have more for
/// those that train word vectors on running text and on pairs.
///
/// It is sealed: the systems of this crate implement it, and programs call it. What a program trains by a way of its
/// own is an [`Objective`](crate::gradient::Objective), and the model that comes of it a kind of its own
/// ([`register`](crate::register)).
///
/// ```
/// use senv::{Start, System, TrainOptions};
///
/// /// Trains any system.
/// fn train<S: System>(settings: S, input: &S::Input) -> senv::Result<S::Model> {
///     settings.check()?;
///     Ok(settings.fit_input(input, Start::Random, &TrainOptions::default())?.model)
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let model = train(senv::Word2VecParams { dim: 8, ..Default::default() }, &[text])?;
/// assert_eq!(model.params().dim, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait System: Sealed + Hyperparameters + Default + Clone + 'static {
    /// What is trained.
    type Model: SavedModel;

    /// What it is trained on: files of text, files of pairs, labelled pairs.
    type Input: ?Sized;

    /// What the best weights are chosen by; `()` where the last are kept.
    type Dev<'d>: Clone;

    /// Its name, and what help says of it.
    const ABOUT: About;

    /// Settings of papers and programs, by name.
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[];

    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    fn check(&self) -> Result<()>;

    /// The hyperparameters that all systems have.
    fn common(&mut self) -> Common<'_>;

    /// What is read of the input before training begins.
    type Data<'a>: TrainingData;

    /// Whether the vector of a sentence is inferred by training, which takes a hundred times as long as an average.
    const INFERS_VECTORS: bool = false;

    /// Reads the input, and sets what follows from it and from the start, such as how text is tokenized.
    ///
    /// # Errors
    /// Whatever is wrong with the input, the parameters or the memory.
    fn read_input<'a>(
        &mut self,
        input: &'a Self::Input,
        start: Start<'a>,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Self::Data<'a>>;

    /// Trains on what was read, from what it was read for.
    ///
    /// # Errors
    /// Whatever is wrong with the data, the parameters, the memory, or the training itself;
    /// [`crate::Error::InitialVectorsDim`] if the vectors of the start have another dimension.
    fn fit_on(&self, data: &Self::Data<'_>, options: &TrainOptions<'_, Self::Dev<'_>>) -> Result<Trained<Self::Model>>;

    /// Trains: reads the input, chooses by it what is automatic, and fits a model. [`TrainJob`](crate::TrainJob) does
    /// the same with a check of the model, vectors that are trained first, and the dimension of the start.
    ///
    /// # Errors
    /// Those of [`System::read_input`] and [`System::fit_on`].
    fn fit_input(
        &self,
        input: &Self::Input,
        start: Start<'_>,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>> {
        self.check()?;
        let mut system = self.clone();
        let data = system.read_input(input, start, options)?;
        system.fit_on(&data, options)
    }
}

/// The hyperparameters that all systems have.
#[derive(Debug)]
pub struct Common<'p> {
    /// Dimension of the word vectors.
    pub dim: &'p mut usize,
    /// How text is tokenized.
    pub tokenizer: &'p mut Tokenizer,
    /// Parameters of the trainer.
    pub trainer: Trainer<'p>,
}

/// The parameters of a trainer.
///
/// Exhaustive on purpose: there are two trainers, and settings differ by them.
#[derive(Debug)]
pub enum Trainer<'p> {
    /// Negative sampling.
    NegativeSampling(&'p mut NegativeSamplingParams),
    /// The loop of [`crate::gradient`].
    Gradient(&'p mut FitParams),
}

impl Trainer<'_> {
    /// Passes over the text; `None` where steps are counted.
    #[must_use]
    pub fn epochs(&self) -> Option<u32> {
        match self {
            Self::NegativeSampling(params) => Some(params.n_epochs()),
            Self::Gradient(params) => params.steps.is_none().then(|| params.n_epochs()),
        }
    }

    /// Random seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self {
            Self::NegativeSampling(params) => params.seed,
            Self::Gradient(params) => params.seed,
        }
    }

    /// The learning rate for people.
    pub(super) fn shown_lr(&self) -> String {
        match self {
            Self::NegativeSampling(params) => params.first_lr().to_string(),
            Self::Gradient(params) => params.full_lr().to_string(),
        }
    }
}
