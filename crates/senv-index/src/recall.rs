//! The recall of a search, measured when an index is built, and the effort that a wanted recall needs.

use serde::{Deserialize, Serialize};

/// Short-list rows per wanted row at which recall is measured.
pub(crate) const SHORTLISTS: [u32; 18] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
/// Candidates per wanted row at which recall is measured.
pub(crate) const CANDIDATES: [f32; 11] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0];
/// Neighbors per query in the measurement.
pub(crate) const K: usize = 10;
/// The cost of adding a row to the short list and comparing its lower bits, in rows whose top bits are compared.
const SHORTLIST_COST: f64 = 60.0;
/// The cost of rescoring one candidate, in rows whose top bits are compared.
const CANDIDATE_COST: f64 = 200.0;

/// The recall of the ten nearest rows, measured on a sample: the share of the true ones (by an exact search) that are
/// found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recall {
    /// The sample rows used as queries.
    pub queries: usize,
    /// Short-list rows per wanted row, and the recall if all of them are candidates: by top bits only.
    pub shortlists: Vec<(u32, f32)>,
    /// Candidates per wanted row, and the recall if all rows are on the short list and in the searched cells.
    pub candidates: Vec<(f32, f32)>,
    /// Cells searched, and the recall if all their rows are candidates. It is measured on eight times as many rows,
    /// against a search of all cells.
    pub cells: Vec<(u32, f32)>,
}

/// The part of an index that a search compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Effort {
    /// Compares every row exactly.
    Exact,
    /// Compares codes first.
    Codes {
        /// Short-list rows per wanted row.
        shortlist: u32,
        /// Candidates per wanted row.
        candidates: f32,
        /// Cells whose codes are compared; `None` means all.
        cells: Option<u32>,
    },
}

/// The share of true rows missed at a measured effort; 0 if it was not measured.
fn missed<T: PartialEq>(measured: &[(T, f32)], effort: T) -> f32 {
    measured.iter().find(|(other, _)| *other == effort).map_or(0.0, |&(_, recall)| 1.0 - recall)
}

impl Recall {
    /// The cheapest effort for a recall of `wanted` among this many rows. At worst, the misses of all stages add up.
    /// Without a measurement, the search is exact.
    pub(crate) fn effort(&self, wanted: f32, rows: usize, n_cells: usize) -> Effort {
        let allowed = 1.0 - wanted;
        if self.queries == 0 || allowed <= 0.0 {
            return Effort::Exact;
        }
        // Beyond half of the cells, one continuous scan is as fast.
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

    /// The measured recall of a search for `wanted`, subtracting the misses of all stages; 1 if every row is compared
    /// exactly.
    pub(crate) fn expected(&self, wanted: f32, rows: usize, n_cells: usize) -> f32 {
        let Effort::Codes { shortlist, candidates, cells } = self.effort(wanted, rows, n_cells) else { return 1.0 };
        let in_cells = cells.map_or(0.0, |cells| missed(&self.cells, cells));
        (1.0 - missed(&self.shortlists, shortlist) - missed(&self.candidates, candidates) - in_cells).max(0.0)
    }

    /// The recall without rows for rescoring, with the longest short list and choosing by estimates.
    pub(crate) fn of_estimates(&self) -> Option<f32> {
        self.candidates.first().filter(|_| self.queries > 0).map(|&(_, recall)| recall)
    }
}

/// The numbers of cells at which recall is measured, up to all: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
pub(crate) fn cell_steps(n_cells: usize) -> Vec<u32> {
    let steps = (0..).flat_map(|power| [4, 5, 6, 7].map(|step| step << power));
    let steps = [1_u64, 2, 3].into_iter().chain(steps).take_while(|&step| step < n_cells as u64);
    steps.chain(std::iter::once(n_cells as u64)).map(|step| step as u32).collect()
}

/// The share of positions below each limit.
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
        // 1 − 0.0025 of the candidates − 0.004 − 0.0024 is above 0.99.
        assert_eq!(recall.effort(0.99, rows, 1000), codes(80, 4.0, Some(100)));
        assert_eq!(recall.effort(0.99, rows, 150), codes(80, 4.0, None), "as many cells as these are no gain");
        assert_eq!(recall.effort(0.985, rows, 1000), codes(50, 4.0, Some(100)));
        // More cells cost more than a longer list; with few rows it is the reverse.
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
