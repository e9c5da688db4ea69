//! The claims of the papers, and the tests that decide from our figures whether they hold here.
//!
//! A claim names figures in the tables of its paper. Its verdict is computed from them, never written by hand.

/// A claim that a paper makes in words or by the order of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// Identifier, such as `cse-3`.
    pub(crate) id: &'static str,
    /// Where the paper makes the claim.
    pub(crate) place: &'static str,
    /// The claim in our words.
    pub(crate) says: &'static str,
    /// The conditions of the claim, all of which must hold.
    pub(crate) tests: Vec<Test>,
    /// The text to print if the claim does not hold: why, and which experiment distinguishes a fault from a lack of
    /// data.
    pub(crate) otherwise: &'static str,
}

/// The identifier of a table and the heading of one of its columns.
pub(crate) type At = (&'static str, &'static str);

/// A condition of a claim.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// The figures of these rows decrease from each row to the next.
    Falls(At, Vec<&'static str>),
    /// The figures increase from each row to the next. Used for errors and ranks, where small is good.
    Rises(At, Vec<&'static str>),
    /// The first row has a higher figure than each of the others.
    Greatest(At, &'static str, Vec<&'static str>),
    /// The first row has a lower figure than each of the others.
    Least(At, &'static str, Vec<&'static str>),
    /// The first row is above all others in at least this many columns of the table, excluding means.
    Wins { table: &'static str, first: &'static str, others: Vec<&'static str>, at_least: usize },
    /// The first column is above the second in this row.
    Columns { table: &'static str, row: &'static str, columns: [&'static str; 2] },
    /// Two rows differ by at most this much.
    Near(At, [&'static str; 2], f64),
    /// The figure of the row is at least this.
    AtLeast(At, &'static str, f64),
    /// The figure of the row is at most this.
    AtMost(At, &'static str, f64),
    /// The cell of this row names at least this many of these words.
    Words { at: At, row: &'static str, words: &'static [&'static str], at_least: usize },
    /// The claim cannot be tested here; the text says what is missing.
    Missing(&'static str),
}

impl Claim {
    /// Creates a claim with its conditions.
    pub(crate) fn new(
        id: &'static str,
        place: &'static str,
        says: &'static str,
        tests: impl IntoIterator<Item = Test>,
        otherwise: &'static str,
    ) -> Self {
        Self { id, place, says, tests: tests.into_iter().collect(), otherwise }
    }

    /// Creates a claim that cannot be tested.
    pub(crate) fn untested(id: &'static str, place: &'static str, says: &'static str, missing: &'static str) -> Self {
        Self::new(id, place, says, [Test::Missing(missing)], "")
    }
}

impl Test {
    /// Returns the table that the condition reads; `None` if it cannot be tested.
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

    /// Returns the columns that the condition reads; empty if it reads all of them.
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

    /// Returns the rows that the condition reads.
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
