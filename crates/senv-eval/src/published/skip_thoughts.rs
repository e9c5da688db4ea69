//! Published results of the three models of the Skip-thought paper, as data, for comparison with our own.
//!
//! The numbers are quoted as they are known from papers that cite them; they were not compared with the print again.

use serde::Serialize;

use crate::{
    published::relatedness::{PublishedRelatedness, SKIP_THOUGHTS, row},
    score::scoring_method::ScoringMethod,
};

/// Published results of one model of the Skip-thought paper: a classifier or regression on frozen vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedSkipThoughts {
    /// The model's name.
    pub system: &'static str,
    /// The paper.
    pub source: &'static str,
    /// SICK, supervised.
    pub sick: PublishedRelatedness,
    /// Paraphrase detection on MSRP: accuracy and F1, in percent.
    pub msrp_accuracy_f1: [f64; 2],
    /// Classification of sentences: accuracy in percent.
    pub classification: [(&'static str, f64); 5],
}

/// The three models of the Skip-thought paper: uni, bi, and both concatenated.
///
/// ```
/// let rows = senv_eval::published_skip_thoughts();
/// let both = rows.iter().find(|row| row.system == "Skip-thoughts combine").ok_or("missing")?;
/// assert_eq!((both.sick.correlations.pearson_r_x100, both.sick.mse), (Some(85.84), Some(0.2687)));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_skip_thoughts() -> Vec<PublishedSkipThoughts> {
    let model = |&(system, [r, rho, mse], msrp_accuracy_f1, shares): &Row| PublishedSkipThoughts {
        system,
        source: SKIP_THOUGHTS,
        sick: row(system, SKIP_THOUGHTS, ScoringMethod::Supervised, r, Some(rho), Some(mse)),
        msrp_accuracy_f1,
        classification: std::array::from_fn(|i| (TASKS[i], shares[i])),
    };
    ROWS.iter().map(model).collect()
}

/// Name; Pearson, Spearman, squared error on SICK; accuracy and F1 on MSRP; accuracies of [`TASKS`].
type Row = (&'static str, [f64; 3], [f64; 2], [f64; 5]);

const TASKS: [&str; 5] = ["MR", "CR", "SUBJ", "MPQA", "TREC"];

const ROWS: [Row; 3] = [
    ("Skip-thoughts uni", [0.8477, 0.7780, 0.2872], [73.0, 81.9], [75.5, 79.3, 92.1, 86.9, 91.4]),
    ("Skip-thoughts bi", [0.8405, 0.7696, 0.2995], [71.2, 81.2], [73.9, 77.9, 92.5, 83.3, 89.4]),
    ("Skip-thoughts combine", [0.8584, 0.7916, 0.2687], [73.0, 82.0], [76.5, 80.1, 93.6, 87.1, 92.2]),
];

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
