//! Vocabulary expansion for SNLI models, as for Skip-thoughts.

use senv_store::Embeddings;

use super::Snli;
use crate::{
    error::Result,
    gradient::WordUpdates,
    model::{
        expansion::{ExpansionReport, VocabularyExpansion},
        saved::{ExpandVocabulary, SavedModel},
    },
    sequence::vocabulary_expansion::grown,
};

impl Snli {
    /// Returns the model with the words of `vectors` added, mapped to its trained word vectors.
    ///
    /// # Errors
    /// The errors of [`SequenceModel::expand`](crate::sequence::SequenceModel::expand).
    pub fn expand(&self, vectors: &Embeddings, expansion: VocabularyExpansion) -> Result<(Self, ExpansionReport)> {
        let (vocabulary, mut tables, report) = grown(self.vocabulary(), &[self.words()], vectors, expansion)?;
        Ok((self.with_words(vocabulary, tables.swap_remove(0))?, report)) // one table for one
    }
}

impl ExpandVocabulary for Snli {
    fn usual_expansion(&self) -> VocabularyExpansion {
        // A model with a vector for unknown words was fine-tuned from the words of another model.
        let frozen = self.reading().unknown.is_none() && self.params().fit.words == WordUpdates::Frozen;
        if frozen { VocabularyExpansion::Same } else { VocabularyExpansion::Affine }
    }

    fn expanded(
        &self,
        vectors: &Embeddings,
        expansion: VocabularyExpansion,
    ) -> Result<(Box<dyn SavedModel>, ExpansionReport)> {
        let (model, report) = self.expand(vectors, expansion)?;
        Ok((Box::new(model), report))
    }
}
