//! The source of a system's scores.

use crate::{
    error::{Error, Result},
    ranking::entailment::PairClassifier,
    score::{
        pairs::{PairScorer, PairSource},
        sentence_vectors::SentenceVectors,
    },
};

/// The source of a system's scores.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Scoring<'a> {
    /// Vectors of all sentences: pairs are scored by their cosine.
    Vectors(&'a SentenceVectors),
    /// A function of two sentences, without vectors.
    Pairs(&'a dyn PairScorer),
    /// Vectors, and an entailment classifier that the system was trained with.
    Classifier(&'a SentenceVectors, &'a dyn PairClassifier),
}

impl<'a> Scoring<'a> {
    /// Returns the source of the scores of pairs.
    pub(crate) fn pairs(&self) -> PairSource<'a> {
        match *self {
            Self::Vectors(vectors) | Self::Classifier(vectors, _) => PairSource::Cosines(vectors),
            Self::Pairs(scorer) => PairSource::Scorer(scorer),
        }
    }

    /// Returns the vectors, if the system has them.
    pub(crate) fn vectors(&self) -> Result<&'a SentenceVectors> {
        match self {
            Self::Vectors(embeddings) | Self::Classifier(embeddings, _) => Ok(embeddings),
            Self::Pairs(_) => Err(Error::NothingToDo { what: "sentence vectors" }),
        }
    }

    /// Returns the classifier, if the system has one.
    pub(crate) fn classifier(&self) -> Option<&'a dyn PairClassifier> {
        match *self {
            Self::Classifier(_, classifier) => Some(classifier),
            Self::Vectors(_) | Self::Pairs(_) => None,
        }
    }
}
