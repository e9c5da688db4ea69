//! Published results of the three models of the Skip-thought paper, as data to compare with our own.
//!
//! The numbers are taken from papers that cite them, and were not checked against the original.

use std::sync::LazyLock;

use serde::Serialize;

use super::{
    rows::PublishedRelatedness,
    table::{Row, Table},
};
use crate::score::scoring_method::ScoringMethod;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/skip-thoughts.tsv")));

/// Published results of one model of the Skip-thought paper: a classifier or regression on frozen vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedSkipThoughts {
    /// The model's name.
    pub system: &'static str,
    /// The paper.
    pub source: &'static str,
    /// Result on SICK, supervised.
    pub sick: PublishedRelatedness,
    /// Paraphrase detection on MSRP: accuracy and F1, in percent.
    pub msrp_accuracy_f1: [f64; 2],
    /// Accuracy of sentence classification by data set, in percent.
    pub classification: [(&'static str, f64); 5],
}

/// Returns the three models of the Skip-thought paper: uni, bi, and both concatenated.
///
/// ```
/// let rows = senv_eval::published_skip_thoughts();
/// let both = rows.iter().find(|row| row.system == "Skip-thoughts combine").ok_or("missing")?;
/// assert_eq!((both.sick.correlations.pearson_r_x100, both.sick.mse), (Some(85.84), Some(0.2687)));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_skip_thoughts() -> Vec<PublishedSkipThoughts> {
    let model = |row: Row<'_>| {
        let mut classification = TASKS.map(|task| (task, 0.0));
        for (task, share) in &mut classification {
            *share = row.number(task)?;
        }
        Some(PublishedSkipThoughts {
            system: row.system()?,
            source: row.source(),
            sick: PublishedRelatedness::of(row, ScoringMethod::Supervised)?,
            msrp_accuracy_f1: [row.number("MSRP")?, row.number("F1")?],
            classification,
        })
    };
    TABLE.rows().filter_map(model).collect()
}

const TASKS: [&str; 5] = ["MR", "CR", "SUBJ", "MPQA", "TREC"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::relatedness::published_sick;

    #[test]
    fn both_side_by_side_are_at_least_as_good_as_each() {
        let rows = published_skip_thoughts();
        let both = &rows[2];
        for row in &rows[..2] {
            assert!(row.sick.correlations.pearson_r_x100 < both.sick.correlations.pearson_r_x100, "{row:?}");
            assert!(row.sick.correlations.spearman_rho_x100 < both.sick.correlations.spearman_rho_x100, "{row:?}");
            assert!(row.sick.mse > both.sick.mse, "{row:?}");
            let shares = row.msrp_accuracy_f1.into_iter().chain(row.classification.map(|(_, share)| share));
            let best = both.msrp_accuracy_f1.into_iter().chain(both.classification.map(|(_, share)| share));
            assert!(shares.zip(best).all(|(share, best)| 50.0 < share && share <= best && best < 100.0), "{row:?}");
        }
    }

    #[test]
    fn they_are_among_the_rows_of_sick() {
        let sick = published_sick();
        for row in published_skip_thoughts() {
            assert!(sick.contains(&row.sick), "{row:?}");
        }
    }
}
