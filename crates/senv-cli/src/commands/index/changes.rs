//! Changes of a collection that read no text: deleting sentences, and compacting.

use std::collections::HashSet;

use senv::collection::Filter;
use senv_index::{Collection, Id, Rescoring};

use super::Index;
use crate::{
    commands::search::bad_condition,
    failure::{Failure, Result},
    output::{self, plural},
};

/// The most ids that a message names.
const N_SHOWN: usize = 5;

impl Index {
    /// Deletes the given sentences, as far as they exist, and returns their number.
    pub(super) fn delete(&self) -> Result<usize> {
        let mut collection = Collection::open(&self.output)?;
        let (ids, missing) = match &self.delete_where {
            Some(condition) => (self.ids_where(&collection, condition)?, Vec::new()),
            None => self.ids_of(&collection)?,
        };
        if !ids.is_empty() {
            collection.delete(&ids)?;
        }
        let deleted = plural(ids.len() as u64, "sentence");
        output::note(&format!("{deleted} deleted, {} remain", output::grouped(collection.len() as u64)));
        if let Some(condition) = self.delete_where.as_ref().filter(|_| ids.is_empty()) {
            let condition = senv_core::quoted(condition);
            output::warn(&format!("no sentence of {} meets --delete-where {condition}", self.output.display()));
        }
        if !missing.is_empty() {
            let shown: Vec<String> = missing.iter().take(N_SHOWN).map(|id| id.quoted().to_string()).collect();
            let more = match missing.len().saturating_sub(N_SHOWN) {
                0 => String::new(),
                more => format!(" and {} more", output::grouped(more as u64)),
            };
            let ids = if missing.len() == 1 { "id" } else { "ids" };
            let shown = shown.join(", ");
            output::warn(&format!("no sentence of {} has the {ids} {shown}{more}", self.output.display()));
        }
        Ok(ids.len())
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

    /// The ids of `--delete-ids` that exist, and those that do not. They are numbers if those of the collection are.
    fn ids_of(&self, collection: &Collection) -> Result<(Vec<Id>, Vec<Id>)> {
        let kind = collection.id_kind().unwrap_or_default();
        let of_kind = |text: &str| {
            Id::from(text).of_kind(kind).ok_or_else(|| {
                let id = senv_core::quoted(text);
                let expected = format!("expected whole numbers from 0 to {}", u64::MAX);
                Failure::Usage(format!("--delete-ids: {id} is not an id of {}; {expected}", self.output.display()))
            })
        };
        let (mut ids, mut missing, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for given in &self.delete_ids {
            let is_one = collection.position(given.0.as_str())?.is_some();
            let parts: Vec<&str> = if is_one { vec![&given.0] } else { given.parts().collect() };
            for id in parts.into_iter().map(of_kind) {
                let id = id?;
                if seen.insert(id.clone()) {
                    let exists = collection.position(&id)?.is_some();
                    if exists { ids.push(id) } else { missing.push(id) }
                }
            }
        }
        Ok((ids, missing))
    }

    /// The ids of the sentences that meet a condition.
    fn ids_where(&self, collection: &Collection, condition: &str) -> Result<Vec<Id>> {
        let these = condition.parse().and_then(|condition: Filter| condition.positions(collection));
        let these = these.map_err(bad_condition("--delete-where"))?;
        let positions = these.iter().enumerate().filter(|(_, meets)| **meets).map(|(position, _)| position);
        let mut ids = Vec::new();
        for position in positions {
            ids.extend(collection.id(position)?);
        }
        Ok(ids)
    }
}
