//! Changes of a collection that read no text: deleting sentences, and compacting.

use senv::collection::Condition;
use senv_index::{Collection, Id, Rescoring};

use super::Index;
use crate::{
    commands::search::bad_condition,
    failure::{Failure, Result},
    output::{self, plural},
};

impl Index {
    /// Deletes the given sentences.
    pub(super) fn delete(&self) -> Result {
        let mut collection = Collection::open(&self.output)?;
        let ids = match &self.delete_where {
            Some(condition) => self.ids_where(&collection, condition)?,
            None => self.ids_of(&collection)?,
        };
        collection.delete(&ids)?;
        let deleted = plural(ids.len() as u64, "sentence");
        output::note(&format!("{deleted} deleted, {} remain", output::grouped(collection.len() as u64)));
        Ok(())
    }

    /// Merges the parts, without deleted sentences.
    pub(super) fn join_parts(&self) -> Result {
        let mut collection = Collection::open(&self.output)?;
        if collection.params().rescoring == Rescoring::None {
            let message = format!(
                "--compact: {} was made with --precision none and has no vectors to write again; make it again from its \
                 text (--force)",
                self.output.display()
            );
            return Err(Failure::Usage(message));
        }
        let before = collection.n_bytes();
        collection.compact()?;
        let (before, after) = (output::bytes(before), output::bytes(collection.n_bytes()));
        output::note(&format!("compacted from {before} to {after}"));
        Ok(())
    }

    /// The ids of `--delete-ids`, which are numbers if those of the collection are.
    fn ids_of(&self, collection: &Collection) -> Result<Vec<Id>> {
        let kind = collection.id_kind().unwrap_or_default();
        let of_kind = |text: &String| {
            Id::from(text).of_kind(kind).ok_or_else(|| {
                let id = senv_core::quoted(text);
                let expected = format!("expected whole numbers from 0 to {}", u64::MAX);
                Failure::Usage(format!("--delete-ids: {id} is not an id of {}; {expected}", self.output.display()))
            })
        };
        self.delete_ids.iter().flat_map(|ids| &ids.0).map(of_kind).collect()
    }

    /// The ids of the sentences that meet a condition, at least one.
    fn ids_where(&self, collection: &Collection, condition: &str) -> Result<Vec<Id>> {
        let these = condition.parse().and_then(|condition: Condition| condition.positions(collection));
        let these = these.map_err(bad_condition("--delete-where"))?;
        let positions = these.iter().enumerate().filter(|(_, meets)| **meets).map(|(position, _)| position);
        let mut ids = Vec::new();
        for position in positions {
            ids.extend(collection.id(position)?);
        }
        if ids.is_empty() {
            let shown = self.output.display();
            return Err(Failure::Usage(format!(
                "--delete-where {condition}: no sentence of {shown} meets it",
                condition = senv_core::quoted(condition)
            )));
        }
        Ok(ids)
    }
}
