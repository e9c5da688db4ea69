//! What the systems share that learn words from the sentences they stand in: text to a model.

use std::path::Path;

use senv_core::{Corpus, CorpusOptions, NoObserver, Observer, SentenceEncoder, Tokenizer, Vocabulary};
use senv_negative_sampling::Params;
use senv_store::Embeddings;

use crate::{Averaged, AveragedSystem, Result, TextSize, Trained, training};

/// A system that trains on text, one sentence a line, by negative sampling: Sent2Vec, word2vec, PV-DBOW.
///
/// ```
/// use senv_core::NoObserver;
/// use senv_models::{TextSize, TextSystem, Word2VecParams};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let params = Word2VecParams { dim: 8, ..Word2VecParams::for_text(TextSize::of_files(&[&text])) };
/// let trained = params.fit_files(&[&text], &Default::default(), &NoObserver)?;
/// assert!(trained.loss.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TextSystem: Clone + Sized {
    /// What is trained.
    type Model: SentenceEncoder;

    /// Whether the vector of a sentence is inferred by training, which takes a hundred times as long as an average.
    const INFERS_VECTORS: bool = false;

    /// Settings that fit a text of this size; `Default` has those of the paper or of the authors' program, which are for
    /// thousands of millions of words.
    #[must_use]
    fn for_text(size: TextSize) -> Self;

    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    fn check(&self) -> Result<()>;

    /// The hyperparameters that all such systems have.
    fn shared(&mut self) -> SharedParams<'_>;

    /// Trains on a corpus whose tokens are ids of `vocabulary`, from given word vectors if there are any: of a model
    /// ([`crate::Model::to_embeddings`]) or a file.
    ///
    /// Words that `start` lacks are drawn as long as its vectors are on average. What a model does not keep (target rows of
    /// Sent2Vec and word2vec, the rows of n-grams) starts as without `start`. With [`CorpusOptions::keep`] the vocabulary
    /// holds all words of `start`, though the text may lack them.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`]; [`senv_core::Error::ShapeMismatch`] if the vectors have another dimension,
    /// [`senv_core::Error::InvalidParameter`] if one of them is not finite.
    fn fit_from(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        start: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> Result<Trained<Self::Model>>;

    /// Trains on a corpus whose tokens are ids of `vocabulary`.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`].
    fn fit(&self, vocabulary: Vocabulary, corpus: &Corpus, observer: &dyn Observer) -> Result<Trained<Self::Model>> {
        self.fit_from(vocabulary, corpus, None, observer)
    }

    /// Trains on text files (one sentence a line; plain, `.gz`, `.zst`, or `-`). `options` says how to read them;
    /// its tokenizer and minimum count are replaced by those of the parameters.
    ///
    /// # Errors
    /// Whatever is wrong with the text, the parameters, the memory, or the training itself.
    fn fit_files(
        &self,
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<Trained<Self::Model>> {
        self.check()?;
        let mut params = self.clone();
        let SharedParams { tokenizer, min_count, .. } = params.shared();
        let (vocabulary, corpus) = training::read(paths, tokenizer, *min_count, options, observer)?;
        self.fit(vocabulary, &corpus, observer)
    }

    /// Trains on a text file with these parameters, and reports to nobody; [`TextSystem::fit_files`] has the
    /// options, and more to say about the result.
    ///
    /// # Errors
    /// As [`TextSystem::fit_files`].
    fn train(&self, text: impl AsRef<Path>) -> Result<Self::Model> {
        Ok(self.fit_files(&[text], &CorpusOptions::default(), &NoObserver)?.model)
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
    pub training: &'p mut Params,
}

/// Trains with the settings that fit a text file, its tokenizer too.
pub(crate) fn train_default<P: TextSystem>(text: &Path) -> Result<P::Model> {
    let mut params = P::for_text(TextSize::of_files(&[text]));
    *params.shared().tokenizer = Tokenizer::for_files(&[text], &NoObserver).lowercase(true);
    params.train(text)
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
}
