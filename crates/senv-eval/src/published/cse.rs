//! Published STS results of the CSE paper, as data: Tables 1, 2, 4 and 5, Pearson times 100.
//!
//! CSE sums windows of words under filters; the paper trains it on phrases, then on sentences ("cumulative"), and
//! compares it with averages of words (PP), a gated average (GRAN) and ATT-CCG. Its means of a year are plain means
//! over the tasks, 2013 without SMT. 2016 chose the parameters of CSE, so its column for that year is not of a held-out
//! set. The total of Table 1 (phrases alone) is over 19 sets and SICK, that of Table 5 over 19 sets.

use serde::Serialize;

use crate::{
    published::sts::{PublishedSystem, PublishedValue},
    score::correlations::Correlations,
};

const TABLE_1: &str = "CSE paper, Table 1";
const TABLE_2: &str = "CSE paper, Table 2";
const TABLE_4: &str = "CSE paper, Table 4";
const TABLE_5: &str = "CSE paper, Table 5";

/// The columns of Table 1 (trained on phrases), then those of Table 2.
const SYSTEMS: [(&str, &str); 5] = [
    ("PP (CSE paper)", TABLE_1),
    ("CSE (phrases)", TABLE_1),
    ("GRAN (CSE paper)", TABLE_2),
    ("ATT-CCG", TABLE_2),
    ("CSE (cumulative)", TABLE_2),
];

/// Means of Pearson's r over the STS tasks of a year, as a paper prints them for a variant of its system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedMeans {
    /// The variant.
    pub system: &'static str,
    /// The paper and its table.
    pub source: &'static str,
    /// Year and plain mean over its tasks, times 100.
    pub years: Vec<(u16, f64)>,
    /// Plain mean over all tasks, times 100, where printed.
    pub all_tasks: Option<f64>,
}

/// The ablations of the CSE paper: which data it is trained on (Table 4), which windows its filters have (Table 5).
///
/// ```
/// let rows = senv_eval::published_cse_ablations();
/// let cumulative = rows.iter().find(|row| row.system == "CSE (cumulative)").ok_or("missing")?;
/// assert_eq!(cumulative.years[2], (2014, 76.3));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_cse_ablations() -> Vec<PublishedMeans> {
    let means = |system, source, years: [f64; 4], all_tasks| PublishedMeans {
        system,
        source,
        years: (2012..).zip(years).collect(),
        all_tasks,
    };
    vec![
        means("CSE (phrases)", TABLE_4, [63.3, 58.6, 72.1, 74.5], None),
        means("CSE (sentences)", TABLE_4, [62.0, 67.3, 75.0, 77.4], None),
        means("CSE (cumulative)", TABLE_4, [63.0, 68.8, 76.3, 78.6], None),
        means("CSE, window 1", TABLE_5, [61.82, 63.06, 75.32, 76.45], Some(70.13)),
        means("CSE, window 2", TABLE_5, [61.53, 62.14, 73.61, 76.14], Some(69.29)),
        means("CSE, window 3", TABLE_5, [61.44, 62.56, 73.52, 76.06], Some(69.28)),
        means("CSE, window 4", TABLE_5, [60.73, 62.37, 73.39, 76.11], Some(69.04)),
        means("CSE, windows 1 to 3", TABLE_5, [62.87, 64.26, 74.26, 76.99], Some(70.40)),
    ]
}

/// A row of Tables 1 and 2: year (none for SICK), task, a cell for each system.
type Row = (Option<u16>, &'static str, [Option<f64>; 5]);

/// The systems of Tables 1 and 2; there is no Spearman.
pub(crate) fn systems() -> impl Iterator<Item = PublishedSystem> {
    SYSTEMS.iter().enumerate().map(|(i, &(system, source))| {
        let value = |&(year, task, cells): &Row| {
            let correlations = Correlations { pearson_r_x100: Some(cells[i]?), spearman_rho_x100: None };
            Some(PublishedValue { year, task, correlations })
        };
        PublishedSystem { system, source, values: ROWS.iter().filter_map(value).collect() }
    })
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (Some(2012), "MSRpar", [Some(42.6), Some(51.6), Some(47.7), Some(49.9), Some(48.6)]),
    (Some(2012), "MSRvid", [Some(74.5), Some(79.8), Some(85.2), Some(84.2), Some(86.0)]),
    (Some(2012), "SMTeuroparl", [Some(47.3), Some(50.7), Some(49.3), Some(49.3), Some(49.8)]),
    (Some(2012), "OnWN", [Some(70.6), Some(69.9), Some(71.5), Some(72.7), Some(72.6)]),
    (Some(2012), "SMTnews", [Some(58.4), Some(64.4), Some(58.7), Some(66.6), Some(57.8)]),
    (Some(2013), "headlines", [Some(72.4), Some(74.0), Some(76.1), Some(73.6), Some(76.3)]),
    (Some(2013), "OnWN", [Some(67.7), Some(72.1), Some(81.4), Some(79.3), Some(78.5)]),
    (Some(2013), "FNWN", [Some(43.9), Some(29.8), Some(55.6), Some(50.7), Some(51.5)]),
    (Some(2014), "deft-forum", [Some(48.7), Some(56.1), Some(55.7), Some(55.2), Some(58.1)]),
    (Some(2014), "deft-news", [Some(73.1), Some(70.0), Some(77.1), Some(75.5), Some(77.1)]),
    (Some(2014), "headlines", [Some(69.7), Some(70.9), Some(72.8), Some(72.2), Some(74.6)]),
    (Some(2014), "images", [Some(78.5), Some(81.6), Some(85.8), Some(83.1), Some(86.2)]),
    (Some(2014), "OnWN", [Some(78.8), Some(79.2), Some(85.1), Some(84.1), Some(84.2)]),
    (Some(2014), "tweet-news", [Some(76.4), Some(74.6), Some(78.7), Some(77.7), Some(77.7)]),
    (Some(2015), "answers-forums", [Some(68.3), Some(66.2), Some(73.1), Some(69.2), Some(73.5)]),
    (Some(2015), "answers-students", [Some(78.2), Some(78.4), Some(72.9), Some(78.3), Some(76.7)]),
    (Some(2015), "belief", [Some(76.2), Some(68.5), Some(78.0), Some(78.4), Some(76.8)]),
    (Some(2015), "headlines", [Some(74.8), Some(76.5), Some(78.6), Some(77.4), Some(79.8)]),
    (Some(2015), "images", [Some(81.4), Some(82.9), Some(85.8), Some(85.3), Some(86.0)]),
    (Some(2016), "answer-answer", [None, None, None, Some(64.5), Some(59.3)]),
    (Some(2016), "headlines", [None, None, None, Some(70.1), Some(75.5)]),
    (Some(2016), "plagiarism", [None, None, None, Some(82.5), Some(82.6)]),
    (Some(2016), "postediting", [None, None, None, Some(83.0), Some(81.4)]),
    (Some(2016), "question-question", [None, None, None, Some(58.5), Some(73.2)]),
    (None, "SICK", [Some(71.6), Some(71.9), Some(72.9), None, Some(73.0)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(system: &PublishedSystem, year: Option<u16>) -> Vec<f64> {
        let of_year = system.values.iter().filter(|v| year.is_none() || v.year == year);
        of_year.filter_map(|v| v.correlations.pearson_r_x100).collect()
    }

    fn mean(cells: &[f64]) -> f64 {
        cells.iter().sum::<f64>() / cells.len() as f64
    }

    /// Each printed mean follows from the cells to the rounding of one decimal.
    #[test]
    fn the_cells_give_the_printed_means_of_the_years() {
        let printed: [(u16, [Option<f64>; 5]); 5] = [
            (2012, [Some(58.7), Some(63.3), Some(62.5), Some(64.5), Some(63.0)]),
            (2013, [Some(61.3), Some(58.6), Some(71.0), Some(67.9), Some(68.8)]),
            (2014, [Some(70.9), Some(72.1), Some(75.9), Some(74.6), Some(76.3)]),
            (2015, [Some(75.8), Some(74.5), Some(77.7), Some(77.7), Some(78.6)]),
            (2016, [None, None, None, Some(71.8), Some(74.4)]),
        ];
        for (i, system) in systems().enumerate() {
            for (year, means) in printed {
                let cells = cells(&system, Some(year));
                match means[i] {
                    Some(printed) => assert!((mean(&cells) - printed).abs() < 0.1, "{} {year}", system.system),
                    None => assert!(cells.is_empty()),
                }
            }
        }
    }

    /// Totals over 19 sets and SICK are printed for the first two systems.
    #[test]
    fn the_cells_give_the_printed_totals() {
        for (system, total) in systems().zip([67.7, 68.5]) {
            let cells = cells(&system, None);
            assert_eq!(cells.len(), 20);
            assert!((mean(&cells) - total).abs() < 0.1, "{}: {} {total}", system.system, mean(&cells));
        }
    }

    /// The paper counts CSE ahead of PP on 14 of the 20 sets of Table 1, and ahead of GRAN and ATT-CCG on 10 of the 19
    /// that all three have in Table 2; one of these ten is a tie in print (deft-news).
    #[test]
    fn cse_wins_as_often_as_its_paper_counts() {
        let ahead = |ours: usize, theirs: &[usize]| {
            let cells = ROWS.iter().filter_map(|(_, _, cells)| {
                Some((cells[ours]?, theirs.iter().map(|&i| cells[i]).collect::<Option<Vec<f64>>>()?))
            });
            let (mut wins, mut ties, mut n) = (0, 0, 0);
            for (ours, theirs) in cells {
                let best = theirs.into_iter().fold(f64::NEG_INFINITY, f64::max);
                (wins, ties, n) = (wins + usize::from(ours > best), ties + usize::from(ours == best), n + 1);
            }
            (wins, ties, n)
        };
        assert_eq!(ahead(1, &[0]), (14, 0, 20));
        assert_eq!(ahead(4, &[2, 3]), (9, 1, 19));
    }

    /// Table 5 weighs the years by their tasks, 5 : 3 : 6 : 5.
    #[test]
    fn the_totals_of_the_windows_follow_from_their_years() {
        for row in published_cse_ablations().iter().filter(|row| row.source == TABLE_5) {
            let sum: f64 = row.years.iter().zip([5.0, 3.0, 6.0, 5.0]).map(|((_, mean), n)| n * mean).sum();
            let total = row.all_tasks.unwrap();
            assert!((sum / 19.0 - total).abs() < 0.01, "{}: {} {total}", row.system, sum / 19.0);
        }
    }

    #[test]
    fn table_4_agrees_with_tables_1_and_2_where_both_have_a_row() {
        let rows = published_cse_ablations();
        for (system, row) in [("CSE (phrases)", 0), ("CSE (cumulative)", 2)] {
            assert_eq!((rows[row].system, rows[row].source), (system, TABLE_4));
            let whole = systems().find(|s| s.system == system).unwrap();
            for &(year, printed) in &rows[row].years {
                assert!((mean(&cells(&whole, Some(year))) - printed).abs() < 0.1, "{system} {year}");
            }
        }
    }
}
