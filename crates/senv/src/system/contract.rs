//! The trait of all systems: hyperparameters that train a model.

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

/// A system: hyperparameters that train a model.
///
/// Every system takes the same three arguments: the input to train on, a start, and data to choose the best weights by.
/// [`TextSystem`](crate::TextSystem) adds methods for systems that train word vectors on running text, and
/// [`PairSystem`](crate::PairSystem) for those trained on pairs.
///
/// The trait is sealed: the systems of this crate implement it, and programs call it. To train in your own way, write
/// an [`Objective`](crate::gradient::Objective) and store the model as your own kind ([`register`](crate::register)).
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
    /// The model that is trained.
    type Model: SavedModel;

    /// The input to train on: text files, files of pairs, labeled pairs.
    type Input: ?Sized;

    /// The data to choose the best weights by; `()` if the last weights are kept.
    type Dev<'d>: Clone;

    /// Its name and its description in help.
    const ABOUT: About;

    /// Settings of papers and programs, by name.
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[];

    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    fn check(&self) -> Result<()>;

    /// Returns the hyperparameters that all systems have.
    fn common(&mut self) -> Common<'_>;

    /// What is read of the input before training starts.
    type Data<'a>: TrainingData;

    /// Whether training infers the vector of a sentence, which takes a hundred times as long as an average.
    const INFERS_VECTORS: bool = false;

    /// Reads the input, and sets parameters that follow from it and from the start, such as the tokenizer.
    ///
    /// # Errors
    /// If the input cannot be read, a parameter is out of range, or memory runs out.
    fn read_input<'a>(
        &mut self,
        input: &'a Self::Input,
        start: Start<'a>,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Self::Data<'a>>;

    /// Trains on data that was read.
    ///
    /// # Errors
    /// [`crate::Error::InitialVectorsDim`] if the vectors of the start have a different dimension; an error if a
    /// parameter is out of range, memory runs out, or training fails.
    fn fit_on(&self, data: &Self::Data<'_>, options: &TrainOptions<'_, Self::Dev<'_>>) -> Result<Trained<Self::Model>>;

    /// Reads the input, chooses automatic settings by it, and trains a model. [`TrainJob`](crate::TrainJob) can also
    /// check the model, train initial vectors first, and take over the dimension of the start.
    ///
    /// # Errors
    /// The errors of [`System::read_input`] and [`System::fit_on`].
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
/// Exhaustive on purpose: there are two trainers, with different settings.
#[derive(Debug)]
pub enum Trainer<'p> {
    /// The negative-sampling trainer.
    NegativeSampling(&'p mut NegativeSamplingParams),
    /// The loop of [`crate::gradient`].
    Gradient(&'p mut FitParams),
}

impl Trainer<'_> {
    /// Returns the passes over the text; `None` if training counts steps.
    #[must_use]
    pub fn epochs(&self) -> Option<u32> {
        match self {
            Self::NegativeSampling(params) => Some(params.n_epochs()),
            Self::Gradient(params) => params.steps.is_none().then(|| params.n_epochs()),
        }
    }

    /// Returns the random seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        match self {
            Self::NegativeSampling(params) => params.seed,
            Self::Gradient(params) => params.seed,
        }
    }

    /// Formats the learning rate for messages.
    pub(super) fn shown_lr(&self) -> String {
        match self {
            Self::NegativeSampling(params) => params.first_lr().to_string(),
            Self::Gradient(params) => params.full_lr().to_string(),
        }
    }
}
