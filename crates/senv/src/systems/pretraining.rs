//! Initial word vectors that are trained on the text of the run itself.

use senv_core::{Corpus, Error as CoreError, Tokenizer, Vocabulary};
use senv_negative_sampling::NegativeSamplingParams;
use senv_store::Embeddings;

use crate::{
    Sent2VecParams, Word2VecParams, average::unknown_words::UnknownWords, base::train_options::TrainOptions,
    error::Result, model::handle::Model, system::text_system::TextSystem,
};

/// The system that trains initial word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pretraining {
    /// word2vec (CBOW) with the settings of the Siamese CBOW paper.
    Word2Vec,
    /// Sent2Vec with the learning rate of its published models and every word as a target, because the run has all of
    /// them in its vocabulary.
    Sent2Vec,
}

impl Pretraining {
    /// The name of the system.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Word2Vec => "word2vec",
            Self::Sent2Vec => "Sent2Vec",
        }
    }

    /// Trains vectors of dimension `dim` for the words of `vocabulary`.
    ///
    /// # Errors
    /// [`CoreError::Interrupted`] if the observer stops it; the errors of [`TextSystem::fit`].
    pub fn vectors(
        self,
        vocabulary: &Vocabulary,
        corpus: &Corpus,
        tokenizer: &Tokenizer,
        dim: usize,
        seed: u64,
        options: &TrainOptions<'_>,
    ) -> Result<Embeddings> {
        // It takes seconds and starts from random values.
        let options = TrainOptions { checkpoint: None, vectors: None, ..options.clone() };
        let (vocabulary, tokenizer) = (vocabulary.clone(), tokenizer.clone());
        let model = match self {
            Self::Word2Vec => {
                let mut params = Word2VecParams { dim, tokenizer, ..Word2VecParams::paper() };
                params.training.seed = seed;
                params.fit(vocabulary, corpus, &options).map(|trained| Model::from(trained.model))
            }
            Self::Sent2Vec => {
                let mut params = Sent2VecParams { dim, tokenizer, ..sent2vec() };
                params.training.seed = seed;
                params.fit(vocabulary, corpus, &options).map(|trained| Model::from(trained.model))
            }
        };
        match model {
            Err(error) if error.is_interrupted() => {
                Err(CoreError::Interrupted { action: "training the initial vectors" }.into())
            }
            model => model?.to_embeddings(),
        }
    }
}

/// Few epochs and unweighted vectors: the run itself weights and selects words.
fn sent2vec() -> Sent2VecParams {
    let training = NegativeSamplingParams { epochs: Some(5), lr: Some(0.2), ..NegativeSamplingParams::default() };
    Sent2VecParams {
        min_count: Some(5),
        min_target_count: Some(1),
        subsample: Some(1e-5),
        placeholder: true,
        initial_length: None,
        weighting: None,
        unknown_words: UnknownWords::Skip,
        training,
        ..Sent2VecParams::default()
    }
}
