//! The recall of a search, measured when an index is built, and what a search must look at for a wanted one.

use serde::{Deserialize, Serialize};

/// Candidates for each wanted row at which recall is measured.
pub(crate) const CANDIDATES: [f32; 11] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0];
/// Neighbours of a query in the measurement.
pub(crate) const K: usize = 10;

/// The recall of the ten nearest rows of a sample of rows: the share of the true ones, found by an exact search, that are found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Recall {
    /// Rows of the sample that were taken as queries.
    pub queries: usize,
    /// Candidates for each wanted row, and the recall where all cells are looked at.
    pub candidates: Vec<(f32, f32)>,
    /// Cells looked at, and the recall where all of their rows are candidates.
    pub cells: Vec<(u32, f32)>,
}

/// What a search looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Effort {
    /// Every row is compared exactly.
    Exact,
    /// Codes are compared first.
    Codes {
        /// Candidates for each wanted row.
        candidates: f32,
        /// Cells whose codes are compared; `None` is all.
        cells: Option<u32>,
    },
}

impl Recall {
    /// What to look at for a recall of `wanted`. An index that was not measured, or too small a sample, is searched exactly.
    pub(crate) fn effort(&self, wanted: f32, n_cells: usize) -> Effort {
        let reaching = |recall: f32| self.candidates.iter().find(|&&(_, measured)| measured >= recall);
        let Some(&(flat, _)) = reaching(wanted).filter(|_| self.queries > 0 && wanted < 1.0) else {
            return Effort::Exact;
        };
        // The misses of both stages add up at most: a quarter of them for the candidates, the rest for the cells.
        let by_cells = reaching(1.0 - (1.0 - wanted) / 4.0).and_then(|&(candidates, measured)| {
            let needed = (wanted / measured).min(1.0);
            let &(cells, _) = self.cells.iter().find(|&&(_, recall)| recall >= needed)?;
            // Beyond half of them a scan in one go is as fast.
            (cells as usize * 2 <= n_cells).then_some(Effort::Codes { candidates, cells: Some(cells) })
        });
        by_cells.unwrap_or(Effort::Codes { candidates: flat, cells: None })
    }
}

impl Recall {
    /// The recall that was measured for what a search for `wanted` looks at; of one stage and the other, the misses are added
    /// up. 1 where every row is compared exactly.
    pub(crate) fn expected(&self, wanted: f32, n_cells: usize) -> f32 {
        let Effort::Codes { candidates, cells } = self.effort(wanted, n_cells) else { return 1.0 };
        let missed = |measured: Option<f32>| measured.map_or(0.0, |recall| 1.0 - recall);
        let of_candidates = self.candidates.iter().find(|&&(n, _)| n == candidates).map(|&(_, recall)| recall);
        let of_cells = self.cells.iter().find(|&&(n, _)| Some(n) == cells).map(|&(_, recall)| recall);
        (1.0 - missed(of_candidates) - missed(of_cells)).max(0.0)
    }

    /// The same without rows for rescoring: the estimates choose.
    pub(crate) fn of_estimates(&self) -> Option<f32> {
        self.candidates.first().filter(|_| self.queries > 0).map(|&(_, recall)| recall)
    }
}

/// Numbers of cells at which recall is measured, up to all of them: 1, 2, 3, 4, 6, 8, 12, 16, ...
pub(crate) fn cell_steps(n_cells: usize) -> Vec<u32> {
    let steps = (0..).flat_map(|power| [2_u64 << power, 3_u64 << power]);
    let steps = std::iter::once(1).chain(steps).take_while(|&step| step < n_cells as u64);
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

    #[test]
    fn the_least_effort_that_was_measured_to_suffice_is_chosen() {
        let recall = Recall {
            queries: 100,
            candidates: vec![(1.0, 0.8), (2.0, 0.99), (4.0, 0.9975), (8.0, 0.999)],
            cells: vec![(1, 0.5), (2, 0.9), (100, 0.9926), (1000, 1.0)],
        };
        let codes = |candidates, cells| Effort::Codes { candidates, cells };
        assert_eq!(recall.effort(0.99, 1000), codes(4.0, Some(100)));
        assert_eq!(recall.effort(0.99, 150), codes(2.0, None), "as many cells as these are no gain");
        assert_eq!(recall.effort(0.85, 1000), codes(2.0, Some(2)));
        assert_eq!(recall.effort(0.998, 1000), codes(8.0, None));
        assert_eq!(recall.effort(0.9995, 1000), Effort::Exact);
        assert_eq!(recall.effort(1.0, 1000), Effort::Exact);
        assert_eq!(Recall::default().effort(0.5, 0), Effort::Exact);
    }

    #[test]
    fn the_recall_of_both_stages_is_expected() {
        let candidates = vec![(1.0, 0.8), (2.0, 0.99), (4.0, 0.9975)];
        let recall = Recall { queries: 100, candidates, cells: vec![(1, 0.5), (100, 0.9926)] };
        assert!((recall.expected(0.99, 1000) - 0.9901).abs() < 1e-6);
        assert_eq!((recall.expected(0.99, 0), recall.expected(1.0, 1000)), (0.99, 1.0));
        assert_eq!((recall.of_estimates(), Recall::default().of_estimates()), (Some(0.8), None));
        assert_eq!(Recall::default().expected(0.9, 0), 1.0);
    }

    #[test]
    fn steps_rise_to_all_cells() {
        assert_eq!(cell_steps(1), [1]);
        assert_eq!(cell_steps(13), [1, 2, 3, 4, 6, 8, 12, 13]);
        assert_eq!(shares(&[0, 5, 5, 9], [0, 1, 6, 10].into_iter()), [0.0, 0.25, 0.75, 1.0]);
    }
}
