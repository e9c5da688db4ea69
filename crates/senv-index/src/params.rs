//! Parameters for building and searching an index.

use senv_core::Error;
use serde::{Deserialize, Serialize};

use crate::{Result, rows::Rescoring, scan::Keep};

/// The number of rows at or above which an index has cells by default.
pub const DEFAULT_CELLS_FROM: usize = 200_000;
/// The default recall of a search.
pub const DEFAULT_RECALL: f32 = 0.99;

/// The default short-list rows per wanted row, for a search that sets candidates but not the short list.
pub const DEFAULT_SHORTLIST: u32 = 256;

/// The number of cells into which an index divides its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CellCount {
    /// The square root of the number of rows at [`DEFAULT_CELLS_FROM`] rows or above, else none.
    #[default]
    Auto,
    /// This number; 0 for no cells.
    Exactly(u32),
}

impl CellCount {
    pub(crate) fn of(self, rows: usize) -> usize {
        let wanted = match self {
            Self::Auto if rows < DEFAULT_CELLS_FROM => 0,
            Self::Auto => (rows as f64).sqrt() as usize,
            Self::Exactly(n) => n as usize,
        };
        // At least sixteen rows per cell: a quarter of what is compared at the same time.
        wanted.min(rows / 16)
    }
}

/// Parameters for building an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexParams {
    /// How rows are stored for exact cosines.
    pub rescoring: Rescoring,
    /// The number of cells.
    pub cells: CellCount,
    /// The lengths of blocks of dimensions that are rotated separately; they add up to the dimension. Empty means one
    /// block.
    pub blocks: Vec<usize>,
    /// The seed of the rotation and the cells.
    pub seed: u64,
    /// The number of rows used to measure recall. 0 skips the measurement; then every search is exact unless it sets
    /// the number of candidates.
    pub recall_queries: usize,
}

impl Default for IndexParams {
    fn default() -> Self {
        let (rescoring, cells) = (Rescoring::F32, CellCount::Auto);
        Self { rescoring, cells, blocks: Vec::new(), seed: 1, recall_queries: 128 }
    }
}

impl IndexParams {
    /// The lengths of the blocks for vectors of `dim` values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if they do not add up to the dimension, or one is 0.
    pub(crate) fn blocks(&self, dim: usize) -> Result<Vec<usize>> {
        if self.blocks.is_empty() {
            return Ok(vec![dim]);
        }
        let sum = self.blocks.iter().try_fold(0_usize, |sum, &len| sum.checked_add(len));
        if sum != Some(dim) || self.blocks.contains(&0) {
            let requirement = "lengths of at least 1 that add up to the dimension";
            return Err(
                Error::InvalidParameter { name: "blocks", requirement, got: format!("{:?}", self.blocks) }.into()
            );
        }
        Ok(self.blocks.clone())
    }
}

/// Parameters of a search.
///
/// ```
/// use senv_index::Search;
/// let search = Search::new(5).recall(0.95).keep(&|_query, row| row != 3);
/// ```
#[derive(Clone, Copy)]
pub struct Search<'a> {
    pub(crate) k: usize,
    pub(crate) recall: f32,
    pub(crate) shortlist: Option<u32>,
    pub(crate) candidates: Option<f32>,
    pub(crate) cells: Option<u32>,
    pub(crate) keep: Option<&'a Keep<'a>>,
}

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { k, recall, shortlist, candidates, cells, keep } = self;
        f.debug_struct("Search")
            .field("k", k)
            .field("recall", recall)
            .field("shortlist", shortlist)
            .field("candidates", candidates)
            .field("cells", cells)
            .field("keep", &keep.is_some())
            .finish()
    }
}

impl<'a> Search<'a> {
    /// Searches for the `k` nearest rows, at [`DEFAULT_RECALL`].
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, recall: DEFAULT_RECALL, shortlist: None, candidates: None, cells: None, keep: None }
    }

    /// Sets the recall, above 0 and up to 1, as measured when the index was built; 1 compares every row.
    #[must_use]
    pub fn recall(mut self, recall: f32) -> Self {
        self.recall = recall;
        self
    }

    /// Sets the number of candidates per wanted row, at least 1; the recall setting is then ignored.
    #[must_use]
    pub fn candidates(mut self, candidates: f32) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Sets the short-list rows per wanted row, at least 1, instead of [`DEFAULT_SHORTLIST`]. The list has the rows of
    /// highest estimate by the top bits of their codes; candidates are chosen from it. Requires
    /// [`Search::candidates`].
    #[must_use]
    pub fn shortlist(mut self, shortlist: u32) -> Self {
        self.shortlist = Some(shortlist);
        self
    }

    /// Sets the number of cells to search, at least 1. Requires [`Search::candidates`] and an index with cells.
    #[must_use]
    pub fn cells(mut self, cells: u32) -> Self {
        self.cells = Some(cells);
        self
    }

    /// Searches only rows for which `keep(query, row)` is true. To preserve recall, the search then covers all cells,
    /// and doubles the candidates and the short list.
    #[must_use]
    pub fn keep(mut self, keep: &'a Keep<'a>) -> Self {
        self.keep = Some(keep);
        self
    }

    /// # Errors
    /// [`Error::InvalidParameter`] if a value is out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |name, requirement, got: String| Err(Error::InvalidParameter { name, requirement, got }.into());
        if !(self.recall > 0.0 && self.recall <= 1.0) {
            return bad("recall", "above 0 and at most 1", self.recall.to_string());
        }
        if let Some(c) = self.candidates.filter(|c| !(c.is_finite() && *c >= 1.0)) {
            return bad("candidates", "finite and at least 1", c.to_string());
        }
        for (name, n) in [("shortlist", self.shortlist), ("cells", self.cells)] {
            if n == Some(0) {
                return bad(name, "at least 1", "0".into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked_inside_on_and_outside_their_bounds() {
        for (search, fits) in [
            (Search::new(0), true),
            (Search::new(3).recall(1.0), true),
            (Search::new(3).recall(f32::MIN_POSITIVE), true),
            (Search::new(3).recall(0.0), false),
            (Search::new(3).recall(1.0001), false),
            (Search::new(3).recall(f32::NAN), false),
            (Search::new(3).candidates(1.0), true),
            (Search::new(3).candidates(0.99), false),
            (Search::new(3).candidates(f32::INFINITY), false),
            (Search::new(3).candidates(f32::NAN), false),
            (Search::new(3).shortlist(1), true),
            (Search::new(3).shortlist(0), false),
            (Search::new(3).cells(1), true),
            (Search::new(3).cells(0), false),
        ] {
            assert_eq!(search.check().is_ok(), fits, "{search:?}");
        }
        for (blocks, fits) in [
            (vec![], true),
            (vec![5], true),
            (vec![2, 3], true),
            (vec![2, 2], false),
            (vec![5, 0], false),
            (vec![usize::MAX, 6], false),
        ] {
            assert_eq!(IndexParams { blocks, ..Default::default() }.blocks(5).is_ok(), fits);
        }
    }

    #[test]
    fn cells_come_with_many_rows() {
        let counts = [0, 199_999, 200_000, 1_000_000].map(|rows| CellCount::Auto.of(rows));
        assert_eq!(counts, [0, 0, 447, 1000]);
        assert_eq!([0, 100, 160].map(|rows| CellCount::Exactly(10).of(rows)), [0, 6, 10]);
    }
}
