//! How an index is built and how it is searched.

use senv_core::Error;
use serde::{Deserialize, Serialize};

use crate::{Result, rows::Rescoring, scan::Keep};

/// Rows from which an index has cells by itself.
pub const DEFAULT_CELLS_FROM: usize = 200_000;
/// Recall of a search where none is asked for.
pub const DEFAULT_RECALL: f32 = 0.99;

/// Rows of the short list for each wanted row in a search that says how many candidates to look at, and not how long
/// the list is.
pub const DEFAULT_SHORTLIST: u32 = 256;

/// Into how many cells an index divides its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CellCount {
    /// From [`DEFAULT_CELLS_FROM`] rows on as many as the square root of their number, none below.
    #[default]
    Auto,
    /// So many; 0 is none.
    Exactly(u32),
}

impl CellCount {
    pub(crate) fn of(self, rows: usize) -> usize {
        let wanted = match self {
            Self::Auto if rows < DEFAULT_CELLS_FROM => 0,
            Self::Auto => (rows as f64).sqrt() as usize,
            Self::Exactly(n) => n as usize,
        };
        // Sixteen rows a cell at least: a quarter of what is compared at once.
        wanted.min(rows / 16)
    }
}

/// How an index is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexParams {
    /// What is kept of the rows for exact cosines.
    pub rescoring: Rescoring,
    /// Number of cells.
    pub cells: CellCount,
    /// Lengths of the blocks of dimensions that are rotated by themselves, which add up to the dimension; none is one
    /// block.
    pub blocks: Vec<usize>,
    /// Seed of rotation and cells.
    pub seed: u64,
    /// Rows that recall is measured on; 0 leaves it out, and every search is exact unless it says how many candidates
    /// to look at.
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

/// How an index is searched.
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
    /// The `k` nearest rows, at [`DEFAULT_RECALL`].
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, recall: DEFAULT_RECALL, shortlist: None, candidates: None, cells: None, keep: None }
    }

    /// With this recall, above 0 and up to 1, as it was measured when the index was built; 1 compares every row.
    #[must_use]
    pub fn recall(mut self, recall: f32) -> Self {
        self.recall = recall;
        self
    }

    /// With this many candidates for each wanted row, at least 1, whatever the recall.
    #[must_use]
    pub fn candidates(mut self, candidates: f32) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// With a short list of this many rows for each wanted row, at least 1, in place of [`DEFAULT_SHORTLIST`]: those of
    /// highest estimate by the top bits of their codes, from which candidates are chosen. Only together with
    /// [`Search::candidates`].
    #[must_use]
    pub fn shortlist(mut self, shortlist: u32) -> Self {
        self.shortlist = Some(shortlist);
        self
    }

    /// In this many cells, at least 1; only together with [`Search::candidates`], and where there are cells.
    #[must_use]
    pub fn cells(mut self, cells: u32) -> Self {
        self.cells = Some(cells);
        self
    }

    /// Among the rows for which `keep(query, row)` holds. All cells are looked at then, twice the candidates, and a
    /// short list of twice the length, so that the recall stays.
    #[must_use]
    pub fn keep(mut self, keep: &'a Keep<'a>) -> Self {
        self.keep = Some(keep);
        self
    }

    /// # Errors
    /// [`Error::InvalidParameter`] for a value outside its range.
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
