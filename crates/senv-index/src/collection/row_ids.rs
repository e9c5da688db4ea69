//! The ids of some rows, all of one kind, and ids to look up.

use crate::{Id, IdKind, Result};

/// An id to look up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum IdRef<'a> {
    Number(u64),
    Text { text: &'a str, hash: u64 },
}

impl<'a> IdRef<'a> {
    pub(super) fn of_text(text: &'a str) -> Self {
        Self::Text { text, hash: id_hash(text.as_bytes()) }
    }
}

impl<'a> From<&'a Id> for IdRef<'a> {
    fn from(id: &'a Id) -> Self {
        match id {
            Id::Number(number) => Self::Number(*number),
            Id::Text(text) => Self::of_text(text),
        }
    }
}

impl From<IdRef<'_>> for Id {
    fn from(id: IdRef<'_>) -> Self {
        match id {
            IdRef::Number(number) => Self::Number(number),
            IdRef::Text { text, .. } => Self::Text(text.to_owned()),
        }
    }
}

/// The 64-bit FNV-1a hash of a text, by which a segment sorts its ids.
pub(super) fn id_hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The ids of some rows, all of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowIds {
    Numbers(Vec<u64>),
    Texts(Vec<String>),
}

impl RowIds {
    pub(super) fn new(kind: IdKind) -> Self {
        match kind {
            IdKind::Numbers => Self::Numbers(Vec::new()),
            IdKind::Texts => Self::Texts(Vec::new()),
        }
    }

    /// Given ids as those of this kind, or, without one, of the kind that they are themselves.
    ///
    /// # Errors
    /// [`Error::NotANumber`](crate::Error::NotANumber); [`Error::BadId`](crate::Error::BadId), with the row.
    pub(super) fn of_given(given: Vec<Id>, kind: Option<IdKind>) -> Result<Self> {
        let kind = kind.unwrap_or_else(|| IdKind::of(&given));
        let mut ids = Self::new(kind);
        kind.convert(given)?.into_iter().for_each(|id| ids.push(id));
        Ok(ids)
    }

    pub(super) fn kind(&self) -> IdKind {
        match self {
            Self::Numbers(_) => IdKind::Numbers,
            Self::Texts(_) => IdKind::Texts,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(ids) => ids.len(),
            Self::Texts(ids) => ids.len(),
        }
    }

    /// Appends the id of a row of the same collection.
    pub(super) fn push(&mut self, id: Id) {
        match (self, id) {
            (Self::Numbers(ids), Id::Number(number)) => ids.push(number),
            (Self::Texts(ids), Id::Text(text)) => ids.push(text),
            (Self::Texts(ids), Id::Number(number)) => ids.push(number.to_string()),
            // Segments of one collection have ids of one kind.
            (Self::Numbers(_), Id::Text(_)) => {}
        }
    }

    /// The id of an existing row.
    pub(super) fn get(&self, row: usize) -> IdRef<'_> {
        match self {
            Self::Numbers(ids) => IdRef::Number(ids[row]),
            Self::Texts(ids) => IdRef::of_text(&ids[row]),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = IdRef<'_>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The number after the highest; 0 without numbers.
    pub(super) fn behind(&self) -> u64 {
        match self {
            Self::Numbers(ids) => ids.iter().max().map_or(0, |id| id.saturating_add(1)),
            Self::Texts(_) => 0,
        }
    }

    pub(super) fn into_ids(self) -> Vec<Id> {
        match self {
            Self::Numbers(ids) => ids.into_iter().map(Id::Number).collect(),
            Self::Texts(ids) => ids.into_iter().map(Id::Text).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn a_text_has_1_to_1024_bytes_and_the_first_ids_decide_the_kind() {
        let given = |texts: &[&str]| texts.iter().map(|&text| Id::from(text)).collect::<Vec<_>>();
        let (most, more) = ("é".repeat(512), "é".repeat(512) + "x");
        assert!(RowIds::of_given(given(&["a", &most]), None).is_ok());
        let refused = RowIds::of_given(given(&["a", &more]), None).unwrap_err();
        assert!(matches!(refused, Error::BadId { row: 1, n_bytes: 1025 }), "{refused}");
        for kind in [None, Some(IdKind::Numbers), Some(IdKind::Texts)] {
            let refused = RowIds::of_given(given(&[""]), kind).unwrap_err();
            assert!(matches!(refused, Error::BadId { row: 0, n_bytes: 0 }), "{refused}");
        }
        let numbers = RowIds::Numbers(vec![3, 4]);
        assert_eq!(RowIds::of_given(vec![Id::from(3), Id::from(4)], None).unwrap(), numbers);
        assert_eq!(RowIds::of_given(given(&["3", "4"]), Some(IdKind::Numbers)).unwrap(), numbers);
        let texts = RowIds::Texts(vec!["3".into(), "x".into()]);
        for kind in [None, Some(IdKind::Texts)] {
            assert_eq!(RowIds::of_given(vec![Id::from(3), Id::from("x")], kind).unwrap(), texts);
        }
        let refused = RowIds::of_given(given(&["3", "x\n"]), Some(IdKind::Numbers)).unwrap_err();
        assert!(matches!(&refused, Error::NotANumber { id } if *id == "x\n"), "{refused}");
        assert!(refused.to_string().contains(r#""x\n" is not one"#), "{refused}");
    }

    #[test]
    fn the_hash_is_that_of_fnv_1a() {
        // From the page of its authors.
        assert_eq!([id_hash(b""), id_hash(b"a")], [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]);
        assert_eq!(id_hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
