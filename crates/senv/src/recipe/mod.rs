//! The main job: training a model on a text without naming a system.
//!
//! The recipe is the one that measured best for each kind of data (`docs/results.md`). If sentences are in order, each
//! is trained to be closer to the next one than to others, [`PpParams::for_neighbours`]. Otherwise words are predicted
//! from the rest of their sentence, [`Sent2VecParams`] with its defaults. Paraphrase pairs are trained together with
//! neighbors.

pub(crate) mod start;
#[cfg(all(test, feature = "english"))]
mod tests;
mod trial;

pub use start::{StartChoice, StartKind, StartTrial};

use std::path::Path;

use senv_core::{Error as CoreError, Observer, TextOptions, TextReader, Tokenizer};

use crate::{
    Pp, PpParams, Sent2Vec, Sent2VecParams,
    base::{
        memory_text::MemoryText, text_files::TextFiles, text_sample::TextSample, text_size::TextSize,
        train_options::TrainOptions,
    },
    check::{self, CheckParams, CheckText, MIN_ORDER},
    data::{PairFiles, PairInput, PairKind, PairOptions, check_pairs},
    error::{Error, Result},
    model::{handle::Model, trained::Trained},
    system::{
        contract::System, pair_system::PairSystem, staged_pairs::StagedPairs, start::Start, text_system::TextSystem,
    },
};

/// The system and settings that fit some data.
///
/// Exhaustive on purpose: programs that show a recipe must describe every variant.
#[derive(Debug, Clone)]
pub enum Recipe {
    /// Averages of word vectors, trained so each sentence is closest to the next one or to its paraphrase.
    Neighbours(Box<NeighbourRecipe>),
    /// Averages of word vectors, trained to predict a word from the rest of its sentence.
    Words(Box<WordsRecipe>),
    /// A model that is already the best for the data.
    Unchanged(Model),
}

/// Sent2Vec on sentences in no order.
#[derive(Debug, Clone)]
pub struct WordsRecipe {
    /// Settings of the system.
    pub params: Sent2VecParams,
    /// The files, and the recipe to fine-tune a model on the halves of their sentences ([`Recipe::fine_tune_from`]).
    halves: NeighbourRecipe,
}

/// PP on neighboring sentences and on pairs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NeighbourRecipe {
    /// Settings of the system.
    pub params: PpParams,
    /// The files.
    pub files: PairFiles,
    /// The model to fine-tune; without one, words start at random.
    pub start: Option<Model>,
}

impl Recipe {
    /// Chooses by the size of the text and by whether its sentences are in order, as judged from its beginning. `text`
    /// has one sentence per line, `pairs` has two paraphrases per line separated by a tab. Either can be empty. The
    /// observer gets a note with the choice and the reason.
    ///
    /// # Errors
    /// If both are empty, a file cannot be read, or no file of text has a sentence.
    pub fn choose(text: &[impl AsRef<Path>], pairs: &[impl AsRef<Path>], options: &TrainOptions<'_>) -> Result<Self> {
        let all: Vec<&Path> = text.iter().map(AsRef::as_ref).chain(pairs.iter().map(AsRef::as_ref)).collect();
        Self::choose_by(&TextSample::read_of(&all, &options.text), text, pairs, options)
    }

    /// Chooses by a sample of all these files, text before pairs.
    ///
    /// # Errors
    /// The errors of [`Recipe::choose`].
    pub fn choose_by(
        sample: &TextSample,
        text: &[impl AsRef<Path>],
        pairs: &[impl AsRef<Path>],
        options: &TrainOptions<'_>,
    ) -> Result<Self> {
        let inputs = |files: &[&Path], kind| -> Vec<PairInput> {
            files.iter().map(|path| PairInput { path: path.to_path_buf(), kind, weight: None }).collect()
        };
        let text: Vec<&Path> = text.iter().map(AsRef::as_ref).collect();
        let pairs: Vec<&Path> = pairs.iter().map(AsRef::as_ref).collect();
        let observer = options.observer;
        if text.is_empty() && pairs.is_empty() {
            return Err(Error::NoExamplesIn { paths: Vec::new() });
        }
        let reading = options.text.clone();
        check_readable(&text, &pairs, &reading)?;
        let size = sample.size();
        let tokenizer = sample.tokenizer(&Tokenizer::for_typed_text(), observer);
        let ordered = !text.is_empty() && has_order(sample, &text, &tokenizer, &reading)?;
        if !ordered && pairs.is_empty() {
            observer.note(&format!(
                "about {size}; consecutive sentences share no more words than others, so this is Sent2Vec, which does \
                not need sentences in order"
            ));
            let halves = NeighbourRecipe::new(inputs(&text, PairKind::Halves), size, tokenizer.clone(), reading);
            let params = Sent2VecParams { tokenizer, ..Sent2VecParams::default() };
            return Ok(Self::Words(Box::new(WordsRecipe { params, halves })));
        }
        let mut learned_from = inputs(&pairs, PairKind::Pairs);
        if ordered {
            learned_from.extend(inputs(&text, PairKind::Neighbours));
        }
        let learns = match (ordered, pairs.is_empty()) {
            (true, true) => "training each sentence to be closer to the next one than to others",
            (true, false) => "training paraphrases and consecutive sentences to be closer than others",
            (false, _) if text.is_empty() => "training paraphrases to be closer than other sentences",
            (false, _) => {
                "training paraphrases to be closer than other sentences; the text is not in order and is \
                not used; to use it, train on it alone first, and on the pairs from that model"
            }
        };
        let recipe = NeighbourRecipe::new(learned_from, size, tokenizer, reading);
        observer.note(&format!(
            "about {size}: {learns} (PP with a softmax over cosines, {} epochs, batches of {})",
            recipe.params.fit.n_epochs(),
            recipe.params.fit.batch
        ));
        Ok(Self::Neighbours(Box::new(recipe)))
    }

    /// Changes the recipe to fine-tune `model`. Its words stay known and start from its vectors. New words start from
    /// what the model makes of them and of the words around them
    /// ([`PairData::vectors_from`](crate::data::PairData::vectors_from)). Text is tokenized as by the model.
    ///
    /// Sentences in no order are trained by their halves ([`PairKind::Halves`]). Halves improve a model that knows the
    /// language, but from scratch they teach less than Sent2Vec does (`docs/experiments/start-from-english.md`).
    ///
    /// ```no_run
    /// use senv::{Model, Recipe, TrainOptions};
    /// let (text, options): (_, TrainOptions) = (["mine.txt"], TrainOptions::default());
    /// let mut recipe = Recipe::choose(&text, &[] as &[&str], &options)?;
    /// recipe.fine_tune_from(&Model::open("large.senv")?, options.observer)?;
    /// recipe.fit(&options)?.save("mine.senv")?;
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the vectors of the model cannot be used.
    pub fn fine_tune_from(&mut self, model: &Model, observer: &dyn Observer) -> Result<()> {
        self.train_halves(observer);
        match self {
            Self::Neighbours(recipe) => recipe.fine_tune_from(model, observer),
            Self::Words(_) | Self::Unchanged(_) => Ok(()),
        }
    }

    /// Switches sentences in no order to training by their halves.
    fn train_halves(&mut self, observer: &dyn Observer) {
        if let Self::Words(words) = self {
            observer.note(
                "the sentences are not in order, so fine-tuning trains the two halves of each sentence to \
                be closer than others",
            );
            words.halves.params.fit.seed = words.params.training.seed;
            *self = Self::Neighbours(Box::new(words.halves.clone()));
        }
    }

    /// Trains on the files that the recipe was chosen for, reading them again in the same way.
    ///
    /// # Errors
    /// If the text cannot be used, memory runs out, or training fails.
    pub fn fit(&self, options: &TrainOptions<'_>) -> Result<Model> {
        let model = match self {
            Self::Neighbours(recipe) => Model::from(recipe.fit_on(&recipe.read(options)?, options)?.model),
            Self::Words(words) => Model::from(words.fit(options)?.model),
            Self::Unchanged(model) => model.clone(),
        };
        if let Some(terms) = model.terms() {
            options.observer.note(&format!("the model inherits license terms from the model it starts from: {terms}"));
        }
        Ok(model)
    }
}

/// Fails early for files whose beginnings cannot be read. Files that can be read only once are skipped.
fn check_readable(text: &[&Path], pairs: &[&Path], reading: &TextOptions) -> Result<()> {
    for path in text.iter().filter(|path| path.is_file()) {
        let mut reader = TextReader::open(&[path], reading)?;
        // Reads to the first line with text.
        while reader.next_line()?.is_some_and(|line| line.is_blank()) {}
    }
    pairs.iter().try_for_each(|path| check_pairs(path, reading))
}

impl WordsRecipe {
    /// Trains on the files.
    ///
    /// # Errors
    /// The errors of [`Recipe::fit`].
    pub fn fit(&self, options: &TrainOptions<'_>) -> Result<Trained<Sent2Vec>> {
        let PairFiles { inputs, options: reading, .. } = &self.halves.files;
        let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
        self.params.fit_files(&paths, &TrainOptions { text: reading.text.clone(), ..options.clone() })
    }
}

impl NeighbourRecipe {
    /// Returns the settings that measured best for a text of this size, from random vectors.
    fn new(inputs: Vec<PairInput>, size: TextSize, tokenizer: Tokenizer, text: TextOptions) -> Self {
        let params = PpParams { tokenizer: tokenizer.clone(), ..PpParams::for_neighbours(size) };
        let min_count = if size.is_large() { 5 } else { 1 };
        let options = PairOptions { tokenizer, min_count, group: true, text, ..PairOptions::default() };
        Self { params, files: PairFiles { inputs, options, second: None }, start: None }
    }

    /// Fine-tunes a model instead of training from scratch, as [`Recipe::fine_tune_from`] does.
    ///
    /// # Errors
    /// If the vectors of the model cannot be used.
    pub fn fine_tune_from(&mut self, model: &Model, observer: &dyn Observer) -> Result<()> {
        let Self { params, files: PairFiles { options, .. }, start } = self;
        let vectors = model.to_embeddings()?;
        // Tokenize as the model does.
        params.tokenizer = model.tokenizer().clone();
        if model.abilities().holds_frequency_weights {
            params.initial.frequency_weight = None;
        }
        let lr = params.fit.full_lr();
        params.fit.lr = Some(params.suited_lr(lr, &vectors, Some(model), observer));
        params.dim = vectors.dim();
        options.tokenizer = params.tokenizer.clone();
        *start = Some(model.clone());
        Ok(())
    }

    /// Multiplies the learning rate.
    pub(super) fn scale_lr(&mut self, factor: f64) {
        let fit = &mut self.params.fit;
        fit.lr = Some(fit.full_lr() * factor);
    }

    /// Reads the files.
    ///
    /// # Errors
    /// The errors of [`Recipe::fit`].
    pub fn read(&self, options: &TrainOptions<'_>) -> Result<StagedPairs<'_>> {
        self.params.clone().read_input(&self.files, self.start(), &options.with_dev(None))
    }

    /// Returns what training starts from.
    #[must_use]
    pub fn start(&self) -> Start<'_> {
        self.start.as_ref().map_or(Start::Random, Start::Model)
    }

    /// Trains on all or part of what was read. [`CheckText::hold_out`] keeps a part for a check.
    ///
    /// # Errors
    /// The errors of [`Recipe::fit`].
    pub fn fit_on(&self, data: &StagedPairs<'_>, options: &TrainOptions<'_>) -> Result<Trained<Pp>> {
        self.params.fit_on(data, &options.with_dev(None))
    }
}

/// Trains a model on text files, with the settings that fit them. The files have one sentence per line and a blank line
/// between documents.
///
/// With the feature `english` (a default), the English model is fine-tuned if its terms of use are permissive and
/// [`Recipe::choose_start`] finds that better. The result then has these terms ([`Model::terms`]).
/// `Recipe::choose(..)?.fit(..)` always trains from scratch, and [`fine_tune`] starts from any model.
///
/// ```no_run
/// use senv_core::SentenceEncoder;
/// let model = senv::train("text.txt")?; // or several files: ["first.txt", "second.txt.gz"]
/// model.save("my.senv")?;
/// println!("{:.2}", model.similarity("Rain is coming.", "A storm brings rain."));
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Recipe::fit`].
pub fn train(text: impl TextFiles) -> Result<Model> {
    train_with(text, &TrainOptions::default())
}

/// Trains like [`train`], with options: progress and cancellation, checkpoints, threads.
///
/// ```
/// use senv::{CancelToken, Control, Progress, TrainOptions};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
///
/// let cancel = CancelToken::new(); // for a button, a signal, a deadline
/// let observer = cancel.with(|progress: &Progress| {
///     eprintln!("{:.0} %", 100.0 * progress.done);
///     Control::Continue
/// });
/// # cancel.cancel();
/// let trained = senv::train_with(&text, &TrainOptions { observer: &observer, ..TrainOptions::default() });
/// assert!(trained.is_err_and(|error| error.is_interrupted()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`Recipe::fit`].
pub fn train_with(text: impl TextFiles, options: &TrainOptions<'_>) -> Result<Model> {
    let text = text.paths();
    let sample = TextSample::read_of(&text, &options.text);
    let recipe = Recipe::choose_by(&sample, &text, &[] as &[&Path], options)?;
    #[cfg(feature = "english")]
    let recipe = {
        let (english, share) = (crate::english()?, senv_english::MIN_KNOWN_SHARE);
        let (recipe, choice) = recipe.choose_start(&sample, &english, share, options)?;
        options.observer.note(&choice.to_string());
        recipe
    };
    recipe.fit(options)
}

/// Trains a model further on text files, like [`train`]. Its words stay known and start from its vectors.
/// [`Recipe::fine_tune_from`] also takes pairs and options.
///
/// ```no_run
/// let model = senv::fine_tune(&senv::open("large.senv")?, "mine.txt")?;
/// model.save("mine.senv")?;
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Recipe::fine_tune_from`] and [`Recipe::fit`].
pub fn fine_tune(model: &Model, text: impl TextFiles) -> Result<Model> {
    fine_tune_with(model, text, &TrainOptions::default())
}

/// Trains like [`fine_tune`], with options.
///
/// # Errors
/// The errors of [`fine_tune`].
pub fn fine_tune_with(model: &Model, text: impl TextFiles, options: &TrainOptions<'_>) -> Result<Model> {
    let mut recipe = Recipe::choose(&text.paths(), &[] as &[&Path], options)?;
    recipe.fine_tune_from(model, options.observer)?;
    recipe.fit(options)
}

/// Trains a model on sentences in memory, in order, with an empty one between documents. The result is that of
/// [`train`] on a file with these lines.
///
/// ```
/// # let sentences: Vec<String> = (0..40).map(|i| format!("sentence {i} of a text about trains")).collect();
/// let model = senv::train_sentences(&sentences)?;
/// assert_eq!(model.encode(&["a text about trains"])?.nrows(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of [`train`]; an error if a temporary file is needed and cannot be written.
pub fn train_sentences<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Result<Model> {
    train_sentences_with(sentences, &TrainOptions::default())
}

/// Trains like [`train_sentences`], with options.
///
/// # Errors
/// The errors of [`train_sentences`].
pub fn train_sentences_with<S: AsRef<str>>(
    sentences: impl IntoIterator<Item = S>,
    options: &TrainOptions<'_>,
) -> Result<Model> {
    MemoryText::lend(sentences, |text| train_with(text, options))
}

impl Recipe {
    /// Sets the random seed.
    pub fn set_seed(&mut self, seed: u64) {
        match self {
            Self::Neighbours(recipe) => recipe.params.fit.seed = seed,
            Self::Words(words) => words.params.training.seed = seed,
            Self::Unchanged(_) => {}
        }
    }

    /// Sets the dimension.
    pub fn set_dim(&mut self, dim: usize) {
        match self {
            Self::Neighbours(recipe) => recipe.params.dim = dim,
            Self::Words(words) => words.params.dim = dim,
            Self::Unchanged(_) => {}
        }
    }
}

/// Whether neighboring sentences share more words than random ones. Nearly all text is in order, so a text too short to
/// judge, or one that cannot be read twice, counts as ordered.
fn has_order(sample: &TextSample, text: &[&Path], tokenizer: &Tokenizer, reading: &TextOptions) -> Result<bool> {
    let lines = sample.files().filter(|(path, _)| text.contains(path)).map(|(_, lines)| lines);
    let beginning = CheckText::of_lines(lines);
    if beginning.n_sentences() == 0 {
        check_there_is_text(text, reading)?;
        return Ok(true);
    }
    let params = CheckParams { tokenizer: tokenizer.clone(), ..CheckParams::default() };
    Ok(check::order(&beginning, &params)?.is_some_and(|auc| auc >= MIN_ORDER))
}

/// Refuses short files without a line of text. Other files are only known later.
fn check_there_is_text(text: &[&Path], reading: &TextOptions) -> Result<()> {
    let mut reader = TextReader::open(text, reading)?;
    let is_short = |path: &&Path| path.metadata().is_ok_and(|file| file.is_file() && file.len() < (1 << 20));
    if text.iter().all(is_short) {
        // A file that cannot be read does not have a beginning either.
        while reader.next_line()?.is_some() {}
        return Err(CoreError::EmptyInput { path: text[0].to_owned() }.into());
    }
    Ok(())
}
