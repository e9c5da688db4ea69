//! The ids of the sentences in memory: numbers or texts, each with its position.

use std::{collections::HashMap, sync::Arc};

use senv_index::{Error, Id, IdKind, Result};

/// The ids of all positions, deleted or not, and the positions of those that are not deleted.
#[derive(Debug)]
enum Kept {
    Numbers { ids: Vec<u64>, positions: HashMap<u64, usize> },
    Texts { ids: Vec<Arc<str>>, positions: HashMap<Arc<str>, usize> },
}

/// Ids of one kind, which the first ones decide. A text is stored once.
#[derive(Debug)]
pub(super) struct MemoryIds {
    kept: Kept,
    /// Whether the kind is decided.
    is_decided: bool,
    /// Whether each position is not deleted: a search asks it for every row.
    is_live: Vec<bool>,
    n_live: usize,
    /// The number after the highest.
    next: u64,
}

impl MemoryIds {
    pub(super) fn new(kind: Option<IdKind>) -> Self {
        let kept = match kind {
            Some(IdKind::Texts) => Kept::Texts { ids: Vec::new(), positions: HashMap::new() },
            _ => Kept::Numbers { ids: Vec::new(), positions: HashMap::new() },
        };
        Self { kept, is_decided: kind.is_some(), is_live: Vec::new(), n_live: 0, next: 0 }
    }

    /// What the ids are; `None` if there never was one.
    pub(super) fn kind(&self) -> Option<IdKind> {
        let kind = match &self.kept {
            Kept::Numbers { .. } => IdKind::Numbers,
            Kept::Texts { .. } => IdKind::Texts,
        };
        self.is_decided.then_some(kind)
    }

    /// The number of ids that are not deleted.
    pub(super) fn len(&self) -> usize {
        self.n_live
    }

    /// Whether a position exists and is not deleted.
    #[inline]
    pub(super) fn is_live(&self, position: usize) -> bool {
        self.is_live.get(position) == Some(&true)
    }

    /// Whether an id of these has been deleted, or replaced.
    pub(super) fn has_deleted(&self) -> bool {
        self.n_live < self.is_live.len()
    }

    /// The id of an existing position, deleted or not.
    pub(super) fn of(&self, position: usize) -> Id {
        match &self.kept {
            Kept::Numbers { ids, .. } => Id::Number(ids[position]),
            Kept::Texts { ids, .. } => Id::Text(ids[position].to_string()),
        }
    }

    /// The position of an id that is not deleted.
    pub(super) fn position(&self, id: Id) -> Option<usize> {
        match (&self.kept, id.of_kind(self.kind()?)?) {
            (Kept::Numbers { positions, .. }, Id::Number(id)) => positions.get(&id).copied(),
            (Kept::Texts { positions, .. }, Id::Text(id)) => positions.get(&*id).copied(),
            _ => None,
        }
    }

    /// The next free numbers; `None` if ids are texts.
    pub(super) fn free(&self, n: usize) -> Result<Option<Vec<u64>>> {
        if self.kind() == Some(IdKind::Texts) {
            return Ok(None);
        }
        let next_id = self.next;
        if u64::MAX - next_id < n as u64 {
            return Err(Error::NoIdLeft { next_id });
        }
        Ok(Some((next_id..).take(n).collect()))
    }

    /// Ids of new sentences, as those of the index.
    ///
    /// # Errors
    /// [`Error::GivenTwice`], [`Error::BadId`], [`Error::NotANumber`].
    pub(super) fn given(&self, ids: Vec<Id>) -> Result<Vec<Id>> {
        let kind = self.kind().unwrap_or_else(|| IdKind::of(&ids));
        let ids = kind.convert(ids)?;
        let mut rows: HashMap<&Id, usize> = HashMap::with_capacity(ids.len());
        for (second, id) in ids.iter().enumerate() {
            if let Some(first) = rows.insert(id, second) {
                return Err(Error::GivenTwice { id: id.clone(), first, second });
            }
        }
        Ok(ids)
    }

    /// Appends ids that [`MemoryIds::given`] or [`MemoryIds::free`] has returned; those that exist move to their new
    /// positions.
    pub(super) fn push(&mut self, ids: Vec<Id>) {
        if ids.is_empty() {
            return;
        }
        if !self.is_decided {
            *self = Self { next: self.next, ..Self::new(Some(IdKind::of(&ids))) };
        }
        for id in ids {
            let position = self.is_live.len();
            let old = match (&mut self.kept, id) {
                (Kept::Numbers { ids, positions }, Id::Number(id)) => {
                    self.next = self.next.max(id.saturating_add(1));
                    ids.push(id);
                    positions.insert(id, position)
                }
                (Kept::Texts { ids, positions }, id) => {
                    let id: Arc<str> = id.to_string().into();
                    ids.push(Arc::clone(&id));
                    positions.insert(id, position)
                }
                // `given` has made numbers of texts.
                (Kept::Numbers { .. }, Id::Text(_)) => continue,
            };
            match old {
                Some(old) => self.is_live[old] = false,
                None => self.n_live += 1,
            }
            self.is_live.push(true);
        }
    }

    /// Deletes these ids; none if one does not exist, or is given twice.
    ///
    /// # Errors
    /// [`Error::UnknownId`].
    pub(super) fn delete(&mut self, ids: Vec<Id>) -> Result<()> {
        let mut these = Vec::with_capacity(ids.len());
        for id in ids {
            match self.position(id.clone()).filter(|&position| self.is_live[position]) {
                Some(position) => {
                    self.is_live[position] = false;
                    these.push(position);
                }
                None => {
                    these.into_iter().for_each(|position| self.is_live[position] = true);
                    return Err(Error::UnknownId { id });
                }
            }
        }
        self.n_live -= these.len();
        for position in these {
            match &mut self.kept {
                Kept::Numbers { ids, positions } => positions.remove(&ids[position]),
                Kept::Texts { ids, positions } => positions.remove(&ids[position]),
            };
        }
        Ok(())
    }

    /// Without ids, but of the same kind and with the same next number.
    pub(super) fn emptied(&self) -> Self {
        Self { next: self.next, ..Self::new(self.kind()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<I: Into<Id>>(ids: impl IntoIterator<Item = I>) -> Vec<Id> {
        ids.into_iter().map(Into::into).collect()
    }

    #[test]
    fn the_first_ids_decide_the_kind_and_the_others_become_of_it() {
        let mut texts = MemoryIds::new(None);
        assert_eq!((texts.kind(), texts.position("T-1".into())), (None, None));
        texts.push(texts.given(vec!["T-1".into(), 7.into()]).unwrap());
        assert_eq!(
            (texts.kind(), texts.position(7.into()), texts.position("7".into())),
            (Some(IdKind::Texts), Some(1), Some(1))
        );
        assert_eq!((texts.position("007".into()), texts.free(2).unwrap()), (None, None));
        assert!(matches!(texts.given(ids(["a", ""])), Err(Error::BadId { row: 1, n_bytes: 0 })));
        assert!(matches!(texts.given(vec![8.into(), "8".into()]), Err(Error::GivenTwice { first: 0, second: 1, .. })));

        let mut numbers = MemoryIds::new(None);
        numbers.push(numbers.given(ids([7, 3])).unwrap());
        assert_eq!((numbers.position("3".into()), numbers.free(2).unwrap()), (Some(1), Some(vec![8, 9])));
        assert!(matches!(numbers.given(ids(["T-1"])), Err(Error::NotANumber { .. })));
        assert_eq!(numbers.given(ids(["12"])).unwrap(), [12]);
        numbers.push(ids([u64::MAX]));
        assert!(matches!(numbers.free(1), Err(Error::NoIdLeft { .. })));
    }

    #[test]
    fn deleting_an_unknown_id_or_one_twice_deletes_none() {
        for mut of in [ids(["a", "b", "c"]), ids([0, 1, 2])].map(|ids| {
            let mut of = MemoryIds::new(None);
            of.push(ids);
            of
        }) {
            let [first, second] = [of.of(0), of.of(1)];
            for bad in [vec![first.clone(), "x".into()], vec![first.clone(), second.clone(), first.clone()]] {
                assert!(matches!(of.delete(bad), Err(Error::UnknownId { .. })));
                assert_eq!((of.len(), of.has_deleted(), of.position(first.clone())), (3, false, Some(0)));
            }
            of.delete(vec![second.clone()]).unwrap();
            assert_eq!((of.len(), of.is_live(1), of.position(second.clone())), (2, false, None));
            assert!(of.delete(vec![second]).is_err());
            // One that is replaced has a new position.
            of.push(vec![first.clone()]);
            assert_eq!((of.len(), of.is_live(0), of.position(first)), (2, false, Some(3)));
        }
    }
}
