//! The systems that train on running text.

use std::path::{Path, PathBuf};

use senv_core::{Corpus, Observer, TextOptions, Vocabulary};
use senv_negative_sampling::{Constituents, Error as TrainingError};
use senv_store::Embeddings;

use super::{
    averaged::{Averaged, AveragedSystem},
    contract::{System, Trainer},
    start::Start,
    text_data::TextData,
};
use crate::{
    base::{
        memory_text::MemoryText, text_files::TextFiles, text_sample::TextSample, text_size::TextSize,
        train_options::TrainOptions,
    },
    check::LossAgainstChance,
    error::{Error, Result},
    gradient::{Stopped, scored_pairs::ScoredPairs},
    model::trained::Trained,
};

/// The learning rate at which halving stops.
const LEAST_LR: f32 = 0.05;
/// The same if training starts from vectors, which can be long. The squares of those of the English model are a hundred
/// times those of random ones. They keep what they know at rates of 0.01 to 0.0003 and diverge above.
const LEAST_LR_FROM_VECTORS: f32 = 0.0005;

/// A system that trains word vectors on text with one sentence per line: Sent2Vec, word2vec, PV-DBOW, PV-DM, FastSent,
/// C-PHRASE (on parsed sentences), Siamese CBOW. Like [`System`], it is sealed.
///
/// Settings that depend on the text are automatic until they are set: `None`, and
/// [`Tokenizer::automatic`](senv_core::Tokenizer::automatic). They are chosen when the text is read. The observer gets
/// a note, and the model records the choice.
///
/// ```
/// use senv::{TextSystem, Word2VecParams};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let params = Word2VecParams { dim: 8, ..Word2VecParams::default() };
/// assert_eq!(params.training.epochs, None);
/// let trained = params.fit_files(&text, &Default::default())?;
/// assert_eq!(trained.model.params().training.epochs, Some(60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TextSystem: System<Input = [PathBuf]> + PartialEq {
    /// Whether it trains vectors for the lines of its text ([`TextSystem::write_document_vectors`]).
    const TRAINS_DOCUMENTS: bool = false;

    /// Whether several ranks can train it, each on its part of the text ([`TrainOptions::ranks`]).
    const TRAINS_ON_RANKS: bool = false;

    /// Whether its text is sentences parsed with brackets instead of plain lines.
    const READS_TREES: bool = false;

    /// Whether scored pairs can choose the best weights ([`TextSystem::dev`]).
    const VALIDATES: bool = false;

    /// Sets what is automatic so it fits a text of this size, except the tokenizer, which depends on the script.
    fn resolve(&mut self, size: TextSize);

    /// Sets settings that follow from one the user changed in named settings, unless the user set them, too.
    fn follow(&mut self, is_changed: &dyn Fn(&str) -> bool) {
        let _ = is_changed;
    }

    /// Returns scored pairs as data to choose the best weights by; `None` if the system does not use them.
    fn dev(pairs: &[ScoredPairs]) -> Option<Self::Dev<'_>> {
        let _ = pairs;
        None
    }

    /// Writes the vectors that were trained for the lines of the text, one row each, and returns their number. Systems
    /// without such vectors write nothing.
    ///
    /// # Errors
    /// If a text is not the one that was trained on, or the file cannot be written.
    fn write_document_vectors(
        model: &Self::Model,
        texts: &[PathBuf],
        options: &TextOptions,
        path: &Path,
    ) -> Result<Option<u64>> {
        let _ = (model, texts, options, path);
        Ok(None)
    }

    /// Returns the minimum count of a known word; `None` until the text decides.
    fn min_count(&mut self) -> &mut Option<u64>;

    /// Trains on a corpus whose tokens are ids of `vocabulary`, with settings of which none is automatic.
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit`].
    #[doc(hidden)]
    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>>;

    /// Trains like [`TextSystem::fit_resolved`], with the constituents of the sentences if the text was read as trees
    /// ([`TextData::constituents`]). Systems on running text ignore them.
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit`].
    #[doc(hidden)]
    fn fit_parsed(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        constituents: Option<&Constituents>,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>> {
        let _ = constituents;
        self.fit_resolved(vocabulary, corpus, options)
    }

    /// Trains like [`System::fit_on`] on a corpus whose tokens are ids of `vocabulary`, from the vectors of the options
    /// if there are any.
    ///
    /// # Errors
    /// The errors of [`System::fit_on`].
    fn fit(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>> {
        fit_sized(self, vocabulary, (corpus, None), TextSize::of_corpus(corpus)?, options)
    }

    /// Trains on text files, from the vectors of the options if there are any. Files have one sentence per line and are
    /// plain, `.gz`, `.zst`, or `-`.
    ///
    /// # Errors
    /// If the text cannot be used, a parameter is out of range, memory runs out, or training fails. Training that
    /// diverges at an automatic rate is first repeated at lower rates, down to 0.05, or 0.0005 from vectors.
    fn fit_files(
        &self,
        text: impl TextFiles,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>> {
        self.fit_input(&text.paths(), Start::Random, options)
    }

    /// Trains on text files with these parameters, without progress reports. [`TextSystem::fit_files`] takes options
    /// and reports more about the result.
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_files`].
    fn train(&self, text: impl TextFiles) -> Result<Self::Model> {
        Ok(self.fit_files(text, &TrainOptions::default())?.model)
    }

    /// Trains like [`TextSystem::fit_files`] on sentences in memory, with an empty one between documents.
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_files`]; an error if the temporary file of [`MemoryText`] cannot be written.
    fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_, Self::Dev<'_>>,
    ) -> Result<Trained<Self::Model>> {
        MemoryText::lend(sentences, |text| self.fit_files(text, options))
    }

    /// Trains like [`TextSystem::train`] on sentences in memory.
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_sentences`].
    fn train_sentences<S: AsRef<str>>(&self, sentences: impl IntoIterator<Item = S>) -> Result<Self::Model> {
        Ok(self.fit_sentences(sentences, &TrainOptions::default())?.model)
    }
}

/// Reads text for `system`, and notes the settings chosen by it.
pub(crate) fn read_text<'a, S: TextSystem, D>(
    system: &S,
    paths: &[impl AsRef<Path>],
    start: Start<'a>,
    options: &TrainOptions<'_, D>,
) -> Result<TextData<'a>> {
    system.check()?;
    if options.ranks.is_some() && !S::TRAINS_ON_RANKS {
        return Err(Error::NotOnRanks);
    }
    let sample = TextSample::read_of(paths, &options.text);
    let (mut params, observer) = (system.clone(), options.observer);
    let size = sample.size();
    start.note_losses(observer);
    let tokenizer = start.tokenizer(params.common().tokenizer, |given| sample.tokenizer(given, observer));
    params.resolve(size);
    let min_count = params.min_count().unwrap_or(1);
    let vectors = start.vectors()?;
    let mut reading = options.resumable_reading(&tokenizer, min_count);
    if let (Some(_), Some(vectors)) = (start.model(), &vectors) {
        reading.keep = vectors.vocabulary().iter().map(|(_, word, _)| word.to_owned()).collect();
    }
    let paths: Vec<_> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
    let (vocabulary, corpus) = Corpus::read_part(&paths, &reading, options.ranks, observer)?;
    let sentence = match sample.lines().next() {
        Some(_) => size.sentence,
        None => TextSize::of_corpus(&corpus)?.sentence,
    };
    let size = TextSize { words: vocabulary.corpus_tokens(), sentence };
    Ok(TextData { vocabulary, corpus, constituents: None, vectors, tokenizer, min_count, size, paths })
}

/// Trains on text that was read.
///
/// What a model does not store (target rows of Sent2Vec and word2vec, rows of n-grams) starts as without vectors. If
/// the learning rate of negative sampling is automatic and training diverges, or its loss stays above that of guessing,
/// training is repeated. It then uses half the rate, or a quarter if it starts from vectors, and a note says so.
pub(crate) fn fit_text<S: TextSystem>(
    system: &S,
    data: &TextData<'_>,
    options: &TrainOptions<'_, S::Dev<'_>>,
) -> Result<Trained<S::Model>> {
    note_chosen(system, data.min_count, data.size, options.observer);
    let mut given = system.clone();
    given.common().tokenizer.clone_from(&data.tokenizer);
    *given.min_count() = Some(data.min_count);
    let vectors = data.vectors.as_deref().or(options.vectors);
    let options = TrainOptions { vectors, ..options.clone() };
    let parsed = (&data.corpus, data.constituents.as_ref());
    let vocabulary = data.vocabulary.clone().with_terms_of(vectors.map(Embeddings::vocabulary));
    match fit_sized(&given, vocabulary, parsed, data.size, &options) {
        Err(Error::NoExamples { .. }) => Err(Error::NoExamplesIn { paths: data.paths.clone() }),
        trained => trained,
    }
}

/// Notes what is chosen for a text of this size and minimum count, if anything is.
fn note_chosen<S: TextSystem>(given: &S, min_count: u64, size: TextSize, observer: &dyn Observer) {
    let mut params = given.clone();
    params.min_count().get_or_insert(min_count);
    params.resolve(size);
    if params == *given {
        return;
    }
    let times = counted(params.min_count().unwrap_or(1), "time");
    let trainer = params.common().trainer;
    let epochs = trainer.epochs().map_or(String::new(), |n| format!("{} ", counted(u64::from(n), "epoch")));
    let lr = trainer.shown_lr();
    observer.note(&format!("about {size}: {epochs}at a learning rate of {lr}, words that occur at least {times}"));
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Trains with automatic settings that fit a text of this size. Training that diverges at an automatic rate of negative
/// sampling, or whose loss stays above that of guessing, is repeated. It then uses half the rate, or a quarter from
/// vectors.
fn fit_sized<S: TextSystem>(
    given: &S,
    vocabulary: Vocabulary,
    parsed: (&Corpus, Option<&Constituents>),
    size: TextSize,
    options: &TrainOptions<'_, S::Dev<'_>>,
) -> Result<Trained<S::Model>> {
    given.check()?;
    if options.ranks.is_some() && !S::TRAINS_ON_RANKS {
        return Err(Error::NotOnRanks);
    }
    let mut params = given.clone();
    let backs_off = matches!(params.common().trainer, Trainer::NegativeSampling(training) if training.lr.is_none());
    params.resolve(size);
    if backs_off {
        fit_with_lr_backoff(params, &vocabulary, parsed, options)
    } else {
        params.fit_parsed(vocabulary, parsed.0, parsed.1, options)
    }
}

fn fit_with_lr_backoff<S: TextSystem>(
    mut params: S,
    vocabulary: &Vocabulary,
    (corpus, constituents): (&Corpus, Option<&Constituents>),
    options: &TrainOptions<'_, S::Dev<'_>>,
) -> Result<Trained<S::Model>> {
    let mut options = options.clone();
    let (least, part) = if options.vectors.is_some() { (LEAST_LR_FROM_VECTORS, 4.0) } else { (LEAST_LR, 2.0) };
    let mut mismatch = None;
    loop {
        let trained = params.fit_parsed(vocabulary.clone(), corpus, constituents, &options);
        let Trainer::NegativeSampling(training) = params.common().trainer else { return trained };
        let before = training.first_lr();
        let why = match &trained {
            Err(Error::Training(TrainingError::Diverged { .. })) => "training diverged".to_owned(),
            // The checkpoint can be of a run that had reached a lower rate when it was stopped. Nothing is trained
            // meanwhile.
            Err(Error::Training(TrainingError::CheckpointMismatch { what: "set of parameters", .. })) => {
                let first = mismatch.take().unwrap_or(trained);
                if before < part * least {
                    return first;
                }
                mismatch = Some(first);
                training.lr = Some(before / part);
                continue;
            }
            Ok(Trained { loss, stopped: Stopped::Finished, .. }) => {
                let loss = LossAgainstChance::of_run(*loss, training);
                // L1 regularization sets rows to zero at any rate.
                if loss.mean < loss.chance || (training.l1 > 0.0 && loss.is_near_chance()) {
                    return trained;
                }
                format!("the model learned nothing (loss {:.1}, guessing gives {:.1})", loss.mean, loss.chance)
            }
            _ => return trained,
        };
        if before < part * least {
            return trained;
        }
        training.lr = Some(before / part);
        // The checkpoint belongs to the previous rate.
        options.checkpoint.iter_mut().for_each(|plan| plan.resume = false);
        options.observer.note(&format!("{why} at a learning rate of {before}; trying again at {}", before / part));
    }
}

impl<P: AveragedSystem + TextSystem<Model = Self>> Averaged<P> {
    /// Trains on text files with the default settings, on all cores, like [`TextSystem::train`] with default
    /// parameters. Files have one sentence per line and are plain, `.gz` or `.zst`. For progress and options use
    /// [`TextSystem::fit_files`].
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_files`].
    pub fn train(text: impl TextFiles) -> Result<Self> {
        P::default().train(text)
    }

    /// Trains like [`Averaged::train`] on sentences in memory, with an empty one between documents. The result has the
    /// same bits as from a file with these lines.
    ///
    /// ```
    /// let sentences = ["the cat sat on the mat", "the dog lay on the rug"].repeat(20);
    /// let model = senv::Sent2Vec::train_sentences(&sentences)?;
    /// assert_eq!(model.encode_one("the cat").len(), 100);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`TextSystem::fit_sentences`].
    pub fn train_sentences<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Result<Self> {
        P::default().train_sentences(sentences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sent2Vec, Sent2VecParams};

    /// A thousand short sentences of few words, in no order.
    fn short_sentences() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut text = String::new();
        for i in 0..1000_u32 {
            let word = |k: u32| format!("w{}", i.wrapping_mul(2_654_435_761).rotate_left(k) % (7 + 5 * k));
            text += &format!("{} {} {}\n", word(1), word(5), word(9));
        }
        std::fs::write(file.path(), text).unwrap();
        file
    }

    /// The default settings for a text, except for the learning rate.
    fn with_lr(text: &[&Path], lr: f32) -> Sent2VecParams {
        let mut params = Sent2VecParams::default();
        params.resolve(TextSize::of_files(text));
        assert!(params.training.first_lr() < 0.15, "three words: {:?}", params.training.lr);
        params.training.lr = Some(lr);
        params
    }

    /// The result of training from these settings if their rate was automatic.
    fn with_backoff(text: &[&Path], params: &Sent2VecParams) -> Trained<Sent2Vec> {
        let options = TrainOptions::default();
        let paths: Vec<PathBuf> = text.iter().map(|path| path.to_path_buf()).collect();
        let data = params.clone().read_input(&paths, Start::Random, &options).unwrap();
        fit_with_lr_backoff(params.clone(), &data.vocabulary, (&data.corpus, None), &options).unwrap()
    }

    #[test]
    fn training_that_diverges_is_done_again_at_half_the_rate() {
        let file = short_sentences();
        let text = [file.path()];
        let options = TrainOptions::default();
        assert!(
            Sent2VecParams::default().fit_files(text, &options).is_ok(),
            "the settings that fit the text are stable"
        );
        let mut params = with_lr(&text, 6.4);
        let diverged = params.fit_files(text, &options).unwrap_err();
        assert!(matches!(diverged, Error::Training(TrainingError::Diverged { .. })), "{diverged}");
        let trained = with_backoff(&text, &params);
        let lr = trained.model.params().training.lr;
        assert!(lr < Some(6.4), "{lr:?}");
        params.training.lr = lr;
        let alone = params.fit_files(text, &options).unwrap().model;
        assert_eq!(alone.encoder().rows().values(), trained.model.encoder().rows().values());
    }

    #[test]
    fn training_that_ends_above_a_guess_is_done_again_at_half_the_rate() {
        let file = short_sentences();
        let text = [file.path()];
        let mut params = with_lr(&text, 0.4);
        // In so small a text, few words remain at this threshold.
        params.subsample = Some(1e-4);
        params.training.negatives = 4;
        let guess = LossAgainstChance::negative_sampling(0.0, params.training.negatives).chance;
        let alone = params.fit_files(text, &TrainOptions::default()).unwrap();
        assert!(alone.loss > guess, "{} of {guess}", alone.loss);
        let trained = with_backoff(&text, &params);
        assert!(trained.loss < guess && trained.model.params().training.lr < Some(0.4), "{}", trained.loss);
    }

    #[test]
    fn what_was_chosen_is_noted_and_in_the_model_and_what_was_set_stays() {
        #[derive(Default)]
        struct Notes(std::sync::Mutex<Vec<String>>);
        impl senv_core::Observer for Notes {
            fn progress(&self, _: &senv_core::Progress) -> senv_core::Control {
                senv_core::Control::Continue
            }

            fn note(&self, message: &str) {
                self.0.lock().unwrap().push(message.to_owned());
            }
        }
        let file = short_sentences();
        let notes = Notes::default();
        let options = TrainOptions { observer: &notes, ..TrainOptions::default() };
        let set = Sent2VecParams { dim: 7, min_count: Some(3), ..Sent2VecParams::default() };
        let model = set.fit_files([file.path()], &options).unwrap().model;
        let params = model.params();
        assert_eq!((params.dim, params.min_count, params.min_target_count), (7, Some(3), Some(2)));
        assert_eq!((params.training.epochs, params.tokenizer.is_automatic()), (Some(60), false));
        let said = notes.0.lock().unwrap().join("\n");
        assert!(
            said.contains("60 epochs at a learning rate of 0.13") && said.contains("occur at least 3 times"),
            "{said}"
        );
        // The settings of a model train the same model, without notes about choices.
        let before = notes.0.lock().unwrap().len();
        let again = params.fit_files([file.path()], &options).unwrap().model;
        assert_eq!(again.encoder().rows().values(), model.encoder().rows().values());
        assert_eq!(notes.0.lock().unwrap().len(), before);
    }
}
