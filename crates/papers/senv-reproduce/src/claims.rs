//! What the papers claim, and what tells from our figures whether it shows here.
//!
//! A claim names figures of the tables of its paper, and its verdict follows from them: nobody writes it down.

/// A claim that a paper makes in words, or by the order of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// Its name: `cse-3`.
    pub(crate) id: &'static str,
    /// Where the paper makes it.
    pub(crate) place: &'static str,
    /// What it says, in our words.
    pub(crate) says: &'static str,
    /// What must hold for it to show; all of it.
    pub(crate) tests: Vec<Test>,
    /// What is said where it does not show: why, and which experiment tells a fault from a lack of data.
    pub(crate) otherwise: &'static str,
}

/// A table by its name, and a column of it by its heading.
pub(crate) type At = (&'static str, &'static str);

/// What must hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// The figures of these rows fall from each to the next.
    Falls(At, Vec<&'static str>),
    /// They rise from each to the next: of errors and ranks, which are good where they are small.
    Rises(At, Vec<&'static str>),
    /// The row has the greatest figure of all these.
    Greatest(At, &'static str, Vec<&'static str>),
    /// The row has the least.
    Least(At, &'static str, Vec<&'static str>),
    /// The first row is above all others in at least so many columns of the table, means left out.
    Wins { table: &'static str, first: &'static str, others: Vec<&'static str>, at_least: usize },
    /// The first column is above the second in the row.
    Columns { table: &'static str, row: &'static str, columns: [&'static str; 2] },
    /// Two rows differ by no more than this.
    Near(At, [&'static str; 2], f64),
    /// The figure of the row is at least this.
    AtLeast(At, &'static str, f64),
    /// The figure of the row is at most this.
    AtMost(At, &'static str, f64),
    /// The cell of the row names at least so many of these words.
    Words { at: At, row: &'static str, words: &'static [&'static str], at_least: usize },
    /// It cannot be tested here; what is missing.
    Missing(&'static str),
}

impl Claim {
    /// A claim with what must hold.
    pub(crate) fn new(
        id: &'static str,
        place: &'static str,
        says: &'static str,
        tests: impl IntoIterator<Item = Test>,
        otherwise: &'static str,
    ) -> Self {
        Self { id, place, says, tests: tests.into_iter().collect(), otherwise }
    }

    /// A claim that cannot be tested.
    pub(crate) fn untested(id: &'static str, place: &'static str, says: &'static str, missing: &'static str) -> Self {
        Self::new(id, place, says, [Test::Missing(missing)], "")
    }
}

impl Test {
    /// The table that it reads; none where it cannot be tested.
    pub(crate) fn table(&self) -> Option<&'static str> {
        match self {
            Self::Falls((table, _), ..)
            | Self::Rises((table, _), ..)
            | Self::Greatest((table, _), ..)
            | Self::Least((table, _), ..)
            | Self::Near((table, _), ..)
            | Self::AtLeast((table, _), ..)
            | Self::AtMost((table, _), ..)
            | Self::Words { at: (table, _), .. }
            | Self::Wins { table, .. }
            | Self::Columns { table, .. } => Some(table),
            Self::Missing(_) => None,
        }
    }

    /// The columns that it reads; none where it reads all.
    #[cfg(test)]
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        match self {
            Self::Falls((_, column), ..)
            | Self::Rises((_, column), ..)
            | Self::Greatest((_, column), ..)
            | Self::Least((_, column), ..)
            | Self::Near((_, column), ..)
            | Self::AtLeast((_, column), ..)
            | Self::AtMost((_, column), ..)
            | Self::Words { at: (_, column), .. } => vec![column],
            Self::Columns { columns, .. } => columns.to_vec(),
            Self::Wins { .. } | Self::Missing(_) => Vec::new(),
        }
    }

    /// The rows that it reads.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<&'static str> {
        match self {
            Self::Falls(_, rows) | Self::Rises(_, rows) => rows.clone(),
            Self::Greatest(_, first, others) | Self::Least(_, first, others) | Self::Wins { first, others, .. } => {
                std::iter::once(first).chain(others).copied().collect()
            }
            Self::Near(_, rows, _) => rows.to_vec(),
            Self::AtLeast(_, row, _)
            | Self::AtMost(_, row, _)
            | Self::Words { row, .. }
            | Self::Columns { row, .. } => {
                vec![row]
            }
            Self::Missing(_) => Vec::new(),
        }
    }
}
