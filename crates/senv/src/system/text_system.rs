//! What the systems share that train word vectors on running text by negative sampling: text to a model.

use std::path::Path;

use senv_core::{Corpus, NoObserver, SentenceEncoder, Tokenizer, Vocabulary};
use senv_negative_sampling::{Error as TrainingError, NegativeSamplingParams};

use crate::{
    base::{memory_text::MemoryText, text_size::TextSize, train_options::TrainOptions},
    check::LossAgainstChance,
    error::{Error, Result},
    gradient::Stopped,
    model::{
        averaged::{Averaged, AveragedSystem},
        trained::Trained,
    },
};

/// Learning rate below which [`TextSystem::fit_with_lr_backoff`] does not go.
const LEAST_LR: f32 = 0.05;

/// A system that trains on text, one sentence a line, by negative sampling: Sent2Vec, word2vec, PV-DBOW.
///
/// ```
/// use senv::{TextSize, TextSystem, Word2VecParams};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let params = Word2VecParams { dim: 8, ..Word2VecParams::for_text(TextSize::of_files(&[&text])) };
/// let trained = params.fit_files(&[&text], &Default::default())?;
/// assert!(trained.loss.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TextSystem: Clone + Sized {
    /// What is trained.
    type Model: SentenceEncoder;

    /// Whether the vector of a sentence is inferred by training, which takes a hundred times as long as an average.
    const INFERS_VECTORS: bool = false;

    /// Settings that fit a text of this size; `Default` has those of the paper or of the authors' program, which are for
    /// billions of words (of Sent2Vec, [`Sent2VecParams::preset`](crate::Sent2VecParams::preset)).
    #[must_use]
    fn for_text(size: TextSize) -> Self;

    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    fn check(&self) -> Result<()>;

    /// The hyperparameters that all such systems have.
    fn shared(&mut self) -> SharedParams<'_>;

    /// Trains on a corpus whose tokens are ids of `vocabulary`, from the vectors of the options if there are any.
    ///
    /// What a model does not keep (target rows of Sent2Vec and word2vec, the rows of n-grams) starts as without vectors.
    /// With [`CorpusOptions::keep`](senv_core::CorpusOptions::keep) the vocabulary holds all words of the vectors, though the text may lack them.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`]; [`crate::Error::InitialVectorsDim`] if the vectors have another dimension,
    /// [`senv_core::Error::InvalidParameter`] if one of them is not finite.
    fn fit(&self, vocabulary: Vocabulary, corpus: &Corpus, options: &TrainOptions<'_>) -> Result<Trained<Self::Model>>;

    /// Trains on text files (one sentence a line; plain, `.gz`, `.zst`, or `-`).
    ///
    /// # Errors
    /// Whatever is wrong with the text, the parameters, the memory, or the training itself.
    fn fit_files(&self, paths: &[impl AsRef<Path>], options: &TrainOptions<'_>) -> Result<Trained<Self::Model>> {
        let (vocabulary, corpus) = read(self, paths, options)?;
        self.fit(vocabulary, &corpus, options)
    }

    /// As [`TextSystem::fit`]; where training diverges, or its loss stays above that of a guess, again at half the learning
    /// rate, and a note says so. For learning rates that nobody asked for.
    ///
    /// # Errors
    /// As [`TextSystem::fit`]; the divergence where halving down to a rate of .05 does not help.
    fn fit_with_lr_backoff(
        &self,
        vocabulary: &Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<Self::Model>> {
        let (mut params, mut options) = (self.clone(), options.clone());
        let mut mismatch = None;
        loop {
            let trained = params.fit(vocabulary.clone(), corpus, &options);
            let training = params.shared().training;
            let before = training.lr;
            let why = match &trained {
                Err(Error::Training(TrainingError::Diverged { .. })) => "training diverged".to_owned(),
                // It may be of a run that had come to a lower rate when it was stopped. Nothing is trained meanwhile.
                Err(Error::Training(TrainingError::CheckpointMismatch { what: "set of parameters", .. })) => {
                    let first = mismatch.take().unwrap_or(trained);
                    if before < 2.0 * LEAST_LR {
                        return first;
                    }
                    mismatch = Some(first);
                    training.lr /= 2.0;
                    continue;
                }
                Ok(Trained { loss, stopped: Stopped::Finished, .. }) => {
                    let loss = LossAgainstChance::negative_sampling(*loss, training.negatives);
                    if loss.mean < loss.chance {
                        return trained;
                    }
                    format!("nothing was learned (loss {:.1}, by guessing {:.1})", loss.mean, loss.chance)
                }
                _ => return trained,
            };
            if before < 2.0 * LEAST_LR {
                return trained;
            }
            training.lr /= 2.0;
            // What was written belongs to the rate before.
            options.checkpoint.iter_mut().for_each(|plan| plan.resume = false);
            options.observer.note(&format!("{why} at a learning rate of {before}; once more at {}", training.lr));
        }
    }

    /// As [`TextSystem::fit_files`], with [`TextSystem::fit_with_lr_backoff`].
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`].
    fn fit_files_with_lr_backoff(
        &self,
        paths: &[impl AsRef<Path>],
        options: &TrainOptions<'_>,
    ) -> Result<Trained<Self::Model>> {
        let (vocabulary, corpus) = read(self, paths, options)?;
        self.fit_with_lr_backoff(&vocabulary, &corpus, options)
    }

    /// Trains on a text file with these parameters, and reports to nobody; [`TextSystem::fit_files`] has the
    /// options, and more to say about the result.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`].
    fn train(&self, text: impl AsRef<Path>) -> Result<Self::Model> {
        Ok(self.fit_files(&[text], &TrainOptions::default())?.model)
    }

    /// As [`TextSystem::fit_files`] on sentences in memory, an empty one between documents.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`]; if the temporary file of [`MemoryText`] cannot be written.
    fn fit_sentences<S: AsRef<str>>(
        &self,
        sentences: impl IntoIterator<Item = S>,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<Self::Model>> {
        self.fit_files(&[MemoryText::new(sentences)?], options)
    }

    /// As [`TextSystem::train`] on sentences in memory.
    ///
    /// # Errors
    /// As [`TextSystem::fit_sentences`].
    fn train_sentences<S: AsRef<str>>(&self, sentences: impl IntoIterator<Item = S>) -> Result<Self::Model> {
        Ok(self.fit_sentences(sentences, &TrainOptions::default())?.model)
    }
}

/// The hyperparameters that all systems that train on text have.
#[derive(Debug)]
pub struct SharedParams<'p> {
    /// Embedding dimension.
    pub dim: &'p mut usize,
    /// How text is tokenized.
    pub tokenizer: &'p mut Tokenizer,
    /// Words that occur less often are unknown.
    pub min_count: &'p mut u64,
    /// Parameters of the trainer.
    pub training: &'p mut NegativeSamplingParams,
}

/// The text of these files as these parameters take it.
fn read<P: TextSystem>(
    params: &P,
    paths: &[impl AsRef<Path>],
    options: &TrainOptions<'_>,
) -> Result<(Vocabulary, Corpus)> {
    params.check()?;
    let mut params = params.clone();
    let SharedParams { tokenizer, min_count, .. } = params.shared();
    options.read(paths, tokenizer, *min_count)
}

/// Trains with the settings that fit a text file, its tokenizer too.
pub(crate) fn train_default<P: TextSystem>(text: &Path) -> Result<P::Model> {
    let mut params = P::for_text(TextSize::of_files(&[text]));
    *params.shared().tokenizer = Tokenizer::for_files(&[text], &NoObserver).lowercase(true);
    Ok(params.fit_files_with_lr_backoff(&[text], &TrainOptions::default())?.model)
}

impl<P: AveragedSystem + TextSystem<Model = Self>> Averaged<P> {
    /// Trains on a text file (one sentence a line; plain, `.gz` or `.zst`) with the settings that fit its size and script,
    /// on all cores. Parameters of your own: [`TextSystem::train`]; progress and options: [`TextSystem::fit_files`].
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`].
    pub fn train(text: impl AsRef<Path>) -> Result<Self> {
        train_default::<P>(text.as_ref())
    }

    /// As [`Averaged::train`] on sentences in memory, an empty one between documents: the same bits as from a file with these
    /// lines.
    ///
    /// ```
    /// let sentences = ["the cat sat on the mat", "the dog lay on the rug"].repeat(20);
    /// let model = senv::Sent2Vec::train_sentences(&sentences)?;
    /// assert_eq!(model.encode_one("the cat").len(), 100);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TextSystem::fit_sentences`].
    pub fn train_sentences<S: AsRef<str>>(sentences: impl IntoIterator<Item = S>) -> Result<Self> {
        train_default::<P>(MemoryText::new(sentences)?.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sent2VecParams;

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

    #[test]
    fn training_that_diverges_is_done_again_at_half_the_rate() {
        let file = short_sentences();
        let text = [file.path()];
        let mut params = Sent2VecParams::for_text(TextSize::of_files(&text));
        assert!(params.training.lr < 0.15, "three words: {}", params.training.lr);
        let options = TrainOptions::default();
        assert!(params.fit_files(&text, &options).is_ok(), "the settings that fit the text are stable");
        params.training.lr = 6.4;
        let diverged = params.fit_files(&text, &options).unwrap_err();
        assert!(matches!(diverged, Error::Training(TrainingError::Diverged { .. })), "{diverged}");
        let trained = params.fit_files_with_lr_backoff(&text, &options).unwrap();
        let lr = trained.model.params().training.lr;
        assert!(lr < 6.4, "{lr}");
        params.training.lr = lr;
        let alone = params.fit_files(&text, &options).unwrap().model;
        assert_eq!(alone.encoder().rows().values(), trained.model.encoder().rows().values());
    }

    #[test]
    fn training_that_ends_above_a_guess_is_done_again_at_half_the_rate() {
        let file = short_sentences();
        let text = [file.path()];
        let mut params = Sent2VecParams::for_text(TextSize::of_files(&text));
        params.training.lr = 0.6;
        let options = TrainOptions::default();
        let guess = LossAgainstChance::negative_sampling(0.0, params.training.negatives).chance;
        let alone = params.fit_files(&text, &options).unwrap();
        assert!(alone.loss > guess, "{} of {guess}", alone.loss);
        let trained = params.fit_files_with_lr_backoff(&text, &options).unwrap();
        assert!(trained.loss < guess && trained.model.params().training.lr < 0.6, "{}", trained.loss);
    }
}
