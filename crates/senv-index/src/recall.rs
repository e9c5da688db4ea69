//! The recall of a search, measured when an index is built, and what a search must look at for a wanted one.

use serde::{Deserialize, Serialize};

/// Rows of the short list for each wanted row at which recall is measured.
pub(crate) const SHORTLISTS: [u32; 18] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
/// Candidates for each wanted row at which recall is measured.
pub(crate) const CANDIDATES: [f32; 11] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0];
/// Neighbours of a query in the measurement.
pub(crate) const K: usize = 10;
/// Rows whose top bits are compared while one row is put on the short list and its lower bits are compared.
const SHORTLIST_COST: f64 = 60.0;
/// Rows whose top bits are compared while one candidate is rescored.
const CANDIDATE_COST: f64 = 200.0;

/// The recall of the ten nearest rows of a sample of rows: the share of the true ones, found by an exact search, that
/// are found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recall {
    /// Rows of the sample that were taken as queries.
    pub queries: usize,
    /// Rows of the short list for each wanted row, and the recall where all of them are candidates: by the top bits
    /// alone.
    pub shortlists: Vec<(u32, f32)>,
    /// Candidates for each wanted row, and the recall where all rows are on the short list and in the cells looked at.
    pub candidates: Vec<(f32, f32)>,
    /// Cells looked at, and the recall where all of their rows are candidates; of eight times as many rows, against
    /// those that a search of all cells finds.
    pub cells: Vec<(u32, f32)>,
}

/// What a search looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Effort {
    /// Every row is compared exactly.
    Exact,
    /// Codes are compared first.
    Codes {
        /// Rows of the short list for each wanted row.
        shortlist: u32,
        /// Candidates for each wanted row.
        candidates: f32,
        /// Cells whose codes are compared; `None` is all.
        cells: Option<u32>,
    },
}

/// The share of true rows that is missed at an effort that was measured; none where it was not.
fn missed<T: PartialEq>(measured: &[(T, f32)], effort: T) -> f32 {
    measured.iter().find(|(other, _)| *other == effort).map_or(0.0, |&(_, recall)| 1.0 - recall)
}

impl Recall {
    /// The least to look at for a recall of `wanted` among so many rows, as the misses of all stages add up at most. An
    /// index that was not measured, or too small a sample, is searched exactly.
    pub(crate) fn effort(&self, wanted: f32, rows: usize, n_cells: usize) -> Effort {
        let allowed = 1.0 - wanted;
        if self.queries == 0 || allowed <= 0.0 {
            return Effort::Exact;
        }
        // Beyond half of the cells a scan in one go is as fast.
        let some_cells = self.cells.iter().filter(|&&(cells, _)| cells as usize * 2 <= n_cells);
        let cells = some_cells.map(|&(cells, recall)| (Some(cells), 1.0 - recall)).chain([(None, 0.0)]);
        let mut cheapest = (f64::INFINITY, Effort::Exact);
        for &(candidates, recall) in &self.candidates {
            let left = allowed - (1.0 - recall) + 1e-6;
            // The more cells, the shorter the list can be.
            let mut lists = self.shortlists.iter().rev().peekable();
            for (cells, missed) in cells.clone() {
                let reaches = |&(_, recall): &(u32, f32)| missed + (1.0 - recall) <= left;
                let mut shortest = None;
                while let Some(&list) = lists.next_if(|list| reaches(list)) {
                    shortest = Some(list.0);
                }
                let Some(shortlist) = shortest else { continue };
                let scanned = cells.map_or(1.0, |cells| f64::from(cells) / n_cells as f64) * rows as f64;
                let rows_listed = SHORTLIST_COST * f64::from(shortlist) + CANDIDATE_COST * f64::from(candidates);
                let cost = scanned + rows_listed * K as f64;
                if cost < cheapest.0 {
                    cheapest = (cost, Effort::Codes { shortlist, candidates, cells });
                }
            }
        }
        cheapest.1
    }

    /// The recall that was measured for what a search for `wanted` looks at; the misses of its stages are added up. 1
    /// where every row is compared exactly.
    pub(crate) fn expected(&self, wanted: f32, rows: usize, n_cells: usize) -> f32 {
        let Effort::Codes { shortlist, candidates, cells } = self.effort(wanted, rows, n_cells) else { return 1.0 };
        let in_cells = cells.map_or(0.0, |cells| missed(&self.cells, cells));
        (1.0 - missed(&self.shortlists, shortlist) - missed(&self.candidates, candidates) - in_cells).max(0.0)
    }

    /// The same without rows for rescoring, with the longest short list: the estimates choose.
    pub(crate) fn of_estimates(&self) -> Option<f32> {
        self.candidates.first().filter(|_| self.queries > 0).map(|&(_, recall)| recall)
    }
}

/// Numbers of cells at which recall is measured, up to all of them: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
pub(crate) fn cell_steps(n_cells: usize) -> Vec<u32> {
    let steps = (0..).flat_map(|power| [4, 5, 6, 7].map(|step| step << power));
    let steps = [1_u64, 2, 3].into_iter().chain(steps).take_while(|&step| step < n_cells as u64);
    steps.chain(std::iter::once(n_cells as u64)).map(|step| step as u32).collect()
}

/// The share of the places that are below each limit.
pub(crate) fn shares(places: &[usize], limits: impl Iterator<Item = usize>) -> Vec<f32> {
    let share = |limit| places.iter().filter(|&&place| place < limit).count() as f32 / places.len().max(1) as f32;
    limits.map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Recall {
        Recall {
            queries: 100,
            shortlists: vec![(10, 0.9), (50, 0.99), (80, 0.996), (512, 1.0)],
            candidates: vec![(1.0, 0.8), (2.0, 0.99), (4.0, 0.9975), (8.0, 0.999)],
            cells: vec![(1, 0.5), (2, 0.95), (100, 0.9976), (300, 0.9999), (1000, 1.0)],
        }
    }

    #[test]
    fn the_least_effort_that_was_measured_to_suffice_is_chosen() {
        let recall = example();
        let rows = 1_000_000;
        let codes = |shortlist, candidates, cells| Effort::Codes { shortlist, candidates, cells };
        // 1 − .0025 of the candidates − .004 − .0024 is above .99.
        assert_eq!(recall.effort(0.99, rows, 1000), codes(80, 4.0, Some(100)));
        assert_eq!(recall.effort(0.99, rows, 150), codes(80, 4.0, None), "as many cells as these are no gain");
        assert_eq!(recall.effort(0.985, rows, 1000), codes(50, 4.0, Some(100)));
        // More cells cost more than a longer list, and the other way round where rows are few.
        assert_eq!(recall.effort(0.988, rows, 1000), codes(80, 4.0, Some(100)));
        assert_eq!(recall.effort(0.988, 5_000, 1000), codes(50, 8.0, Some(300)));
        assert_eq!(recall.effort(0.85, rows, 1000), codes(50, 2.0, Some(2)));
        assert_eq!(recall.effort(0.998, rows, 1000), codes(512, 8.0, Some(300)));
        assert_eq!(recall.effort(0.9995, rows, 1000), Effort::Exact);
        assert_eq!(recall.effort(1.0, rows, 1000), Effort::Exact);
        assert_eq!(Recall::default().effort(0.5, rows, 0), Effort::Exact);
    }

    #[test]
    fn the_misses_of_all_stages_are_expected() {
        let recall = example();
        assert!((recall.expected(0.99, 1_000_000, 1000) - (1.0 - 0.0025 - 0.004 - 0.0024)).abs() < 1e-6);
        assert!((recall.expected(0.99, 1_000_000, 0) - (1.0 - 0.0025 - 0.004)).abs() < 1e-6);
        assert_eq!(recall.expected(1.0, 1_000_000, 1000), 1.0);
        assert_eq!((recall.of_estimates(), Recall::default().of_estimates()), (Some(0.8), None));
        assert_eq!(Recall::default().expected(0.9, 1_000_000, 0), 1.0);
    }

    #[test]
    fn steps_rise_to_all_cells() {
        assert_eq!(cell_steps(1), [1]);
        assert_eq!(cell_steps(13), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13]);
        assert_eq!(shares(&[0, 5, 5, 9], [0, 1, 6, 10].into_iter()), [0.0, 0.25, 0.75, 1.0]);
    }
}
