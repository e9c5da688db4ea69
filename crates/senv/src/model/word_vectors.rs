//! Word vectors as a model. Vectors from other programs are averaged, and any model can export its own.

use senv_core::{Error as CoreError, Table, Tokenizer, Vocabulary, files::Destination};
use senv_store::{Embeddings, NonFinite};

use super::saved::{Abilities, SavedModel};
use crate::{average::encoder::AverageEncoder, error::Result};

/// Returns the words of a model and their rows.
pub(crate) fn embeddings_of(model: &dyn SavedModel) -> Result<Embeddings> {
    let vocabulary = model.vocabulary().clone();
    let rows = model.rows()?;
    let mut table = Table::zeros(vocabulary.len(), rows.dim())?;
    for (id, _, _) in vocabulary.iter() {
        let row = match model.abilities().average {
            Some(encoder) => encoder.features().token_row(id).index(),
            None => id.index(),
        };
        table.row_mut(id.index()).copy_from_slice(senv_core::Rows::row(rows, row));
    }
    Ok(Embeddings::new(vocabulary, table)?.with_tokenizer(Some(model.tokenizer().clone())))
}

impl SavedModel for AverageEncoder {
    fn kind(&self) -> &'static str {
        "embeddings"
    }

    fn vocabulary(&self) -> &Vocabulary {
        AverageEncoder::vocabulary(self)
    }

    fn tokenizer(&self) -> &Tokenizer {
        AverageEncoder::tokenizer(self)
    }

    fn rows(&self) -> Result<&Table> {
        Ok(AverageEncoder::rows(self))
    }

    /// Writes word vectors only, so it refuses models with weights or vectors for unknown words, which would be lost.
    fn write(&self, to: Destination<'_>) -> Result<()> {
        if self.weighting().is_some() || self.hashed().is_some() || self.unknown_row().is_some() {
            let reason = "an average with word weights or vectors for unknown words cannot be saved; save the model \
                it comes from, or a model made with WeightedParams";
            return Err(CoreError::BadFile { path: to.path().to_owned(), reason: reason.into() }.into());
        }
        Ok(embeddings_of(self)?.write_model(to, NonFinite::Error)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { average: Some(self), ..Abilities::default() }
    }
}
