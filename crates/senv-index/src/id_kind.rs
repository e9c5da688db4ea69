//! Ids of rows as ids of one kind.

use crate::{Error, Id, IdKind, Result};

impl IdKind {
    /// The kind that these ids decide, if they are the first: numbers if all are numbers.
    #[must_use]
    pub fn of(ids: &[Id]) -> Self {
        if ids.iter().any(|id| id.text().is_some()) { Self::Texts } else { Self::Numbers }
    }

    /// The ids of rows as ids of this kind ([`Id::of_kind`]).
    ///
    /// ```
    /// use senv_index::{Id, IdKind};
    /// let ids = vec![Id::from(17), Id::from("T-1234")];
    /// assert_eq!(IdKind::of(&ids), IdKind::Texts);
    /// assert_eq!(IdKind::Texts.convert(ids.clone())?, ["17", "T-1234"]);
    /// assert!(IdKind::Numbers.convert(ids).is_err());
    /// # Ok::<(), senv_index::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadId`] if a text is empty or longer than [`Id::MAX_BYTES`]; [`Error::NotANumber`].
    pub fn convert(self, ids: Vec<Id>) -> Result<Vec<Id>> {
        let convert = |(row, id): (usize, Id)| {
            let n_bytes = id.text().map_or(1, str::len);
            if n_bytes == 0 || n_bytes > Id::MAX_BYTES {
                return Err(Error::BadId { row, n_bytes });
            }
            id.converted(self).map_err(|id| Error::NotANumber { id })
        };
        ids.into_iter().enumerate().map(convert).collect()
    }
}
