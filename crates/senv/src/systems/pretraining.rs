//! Initial word vectors that are trained first, on the text of the run itself.

use senv_core::{Corpus, Error as CoreError, Tokenizer, Vocabulary};
use senv_store::Embeddings;

use crate::{
    Sent2VecParams, Word2VecParams,
    base::train_options::TrainOptions,
    error::Result,
    gradient::Stopped,
    model::{handle::Model, trained::Trained},
    system::text_system::TextSystem,
};

/// The system that trains initial word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pretraining {
    /// word2vec (CBOW) with the settings of the Siamese CBOW paper.
    Word2Vec,
    /// Sent2Vec with the settings of its release, but every word is a target: the run itself knows all of them.
    Sent2Vec,
}

impl Pretraining {
    /// Epochs over the text.
    #[must_use]
    pub fn epochs(self) -> u32 {
        match self {
            Self::Word2Vec => Word2VecParams::default().training.epochs,
            Self::Sent2Vec => Sent2VecParams::default().training.epochs,
        }
    }

    /// The vectors of the words of `vocabulary`, of dimension `dim`.
    ///
    /// # Errors
    /// [`CoreError::Interrupted`] if the observer stops it; as [`TextSystem::fit`].
    pub fn vectors(
        self,
        vocabulary: &Vocabulary,
        corpus: &Corpus,
        tokenizer: &Tokenizer,
        dim: usize,
        seed: u64,
        options: &TrainOptions<'_>,
    ) -> Result<Embeddings> {
        // It takes seconds, and starts at random.
        let options = TrainOptions { checkpoint: None, vectors: None, ..options.clone() };
        let (vocabulary, tokenizer) = (vocabulary.clone(), tokenizer.clone());
        let model = match self {
            Self::Word2Vec => {
                let mut params = Word2VecParams { dim, tokenizer, ..Word2VecParams::default() };
                params.training.seed = seed;
                Model::from(whole(params.fit(vocabulary, corpus, &options)?)?)
            }
            Self::Sent2Vec => {
                let mut params = Sent2VecParams { dim, tokenizer, min_target_count: 1, ..Sent2VecParams::default() };
                params.training.seed = seed;
                Model::from(whole(params.fit(vocabulary, corpus, &options)?)?)
            }
        };
        model.to_embeddings()
    }
}

/// The model of a run that was not stopped.
fn whole<M>(trained: Trained<M>) -> Result<M> {
    match trained.stopped == Stopped::Interrupted {
        true => Err(CoreError::Interrupted { action: "training the initial vectors" }.into()),
        false => Ok(trained.model),
    }
}
