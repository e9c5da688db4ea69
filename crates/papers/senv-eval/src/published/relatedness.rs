//! Published results on SICK and the STS benchmark, as data to compare with our own.
//!
//! * CSE paper, Table 3: SICK, supervised. The second and third columns lost their rows in the available text. They are
//!   assigned so that they fit the values known from the cited papers.
//! * Paper of the SNLI-finetuned Skip-thoughts: SICK supervised (its Table 3) and by cosine (its Table 7), two
//!   decimals. It does not state how a cosine became a score for the squared error.
//! * The papers of [`crate::published_sts`]: SICK by cosine. The Sent2Vec paper uses the training and test sets
//!   together.
//! * Skip-thought paper: SICK supervised, from [`crate::published_skip_thoughts`].
//! * P-thought paper, Table 6: STS benchmark, supervised, Pearson only.

use std::sync::LazyLock;

use super::{
    cse,
    rows::{PublishedRelatedness, PublishedSystem, TEST_PART},
    skip_thoughts::published_skip_thoughts,
    sts,
    table::Table,
};
use crate::score::scoring_method::ScoringMethod::{Cosine, Supervised};

static CSE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/cse-table-3.tsv")));
static SNLI: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/snli-skip-thoughts-tables-1-4.tsv")));
static SNLI_COSINE: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("tables/snli-skip-thoughts-table-7.tsv")));
static STSB: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/p-thought-table-6.tsv")));

/// Returns every published system on SICK: supervised ones, then cosines.
///
/// ```
/// let rows = senv_eval::published_sick();
/// let cse = rows.iter().find(|row| row.system == "CSE-universal").ok_or("missing")?;
/// assert_eq!((cse.correlations.pearson_r_x100, cse.mse), (Some(86.96), Some(0.2480)));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_sick() -> Vec<PublishedRelatedness> {
    let rows = |table: &'static Table, by| table.rows().filter_map(move |row| PublishedRelatedness::of(row, by));
    let cosine = |system: PublishedSystem, part| {
        let correlations = system.value(None, "SICK")?;
        let (system, source) = (system.system, system.source);
        Some(PublishedRelatedness { system, source, part, scored_by: Cosine, correlations, mse: None })
    };
    let sent2vec = sts::sent2vec().filter_map(|system| cosine(system, "training and test part"));
    let cse = cse::systems().filter_map(|system| cosine(system, TEST_PART));
    rows(&CSE, Supervised)
        .chain(rows(&SNLI, Supervised))
        .chain(published_skip_thoughts().into_iter().map(|model| model.sick))
        .chain(rows(&SNLI_COSINE, Cosine))
        .chain(sent2vec)
        .chain(cse)
        .collect()
}

/// Returns every published system on the test set of the STS benchmark.
///
/// ```
/// assert!(senv_eval::published_stsb().iter().all(|row| row.correlations.pearson_r_x100.is_some()));
/// ```
#[must_use]
pub fn published_stsb() -> Vec<PublishedRelatedness> {
    STSB.rows().filter_map(|row| PublishedRelatedness::of(row, Supervised)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::correlations::Correlations;

    #[test]
    fn the_best_supervised_system_is_best_in_every_column() {
        // CSE claims the state of the art in all three columns. A misplaced row would break this.
        let rows = published_sick();
        let of = |source: &'static str| rows.iter().filter(move |row| row.source == source);
        let best = of("CSE paper, Table 3").find(|row| row.system == "CSE-universal").unwrap();
        for row in of("CSE paper, Table 3").filter(|row| row.system != best.system) {
            assert!(row.correlations.pearson_r_x100 < best.correlations.pearson_r_x100, "{row:?}");
            assert!(row.correlations.spearman_rho_x100 < best.correlations.spearman_rho_x100, "{row:?}");
            assert!(row.mse.is_none_or(|mse| mse > 0.2480), "{row:?}");
        }
        assert_eq!(of("CSE paper, Table 3").count(), 11);
        let n = |table: &str| rows.iter().filter(|row| row.source.ends_with(table)).count();
        assert_eq!((n("Skip-thoughts, Tables 1 to 4"), n("Skip-thoughts, Table 7")), (6, 6));
    }

    #[test]
    fn fine_tuning_on_snli_is_better_or_level_in_every_column() {
        // The paper says this about each table. Swapped cells would break it.
        let rows = published_sick();
        for table in ["Tables 1 to 4", "Table 7"] {
            let of_table = || rows.iter().filter(|row| row.source.contains("SNLI") && row.source.ends_with(table));
            let row = |system: &str| of_table().find(|row| row.system == system).unwrap();
            let (before, after) = (row("Skip-thoughts"), row("finetuned Skip-thoughts"));
            assert!(after.correlations.pearson_r_x100 >= before.correlations.pearson_r_x100, "{after:?}");
            assert!(after.correlations.spearman_rho_x100 >= before.correlations.spearman_rho_x100, "{after:?}");
            assert!(after.mse <= before.mse, "{after:?}");
        }
    }

    #[test]
    fn cosines_of_the_other_tables_are_there_and_all_are_in_range() {
        let rows = published_sick();
        let find = |system: &str| rows.iter().find(|row| row.system == system).unwrap().correlations;
        assert_eq!(find("Sent2Vec uni books").pearson_r_x100, Some(70.0));
        let part = |system: &str| rows.iter().find(|row| row.system == system).unwrap().part;
        assert_eq!((part("Sent2Vec uni wiki"), part("CSE-universal")), ("training and test part", "test part"));
        assert_eq!(find("CSE (cumulative)"), Correlations { pearson_r_x100: Some(73.0), spearman_rho_x100: None });
        for row in rows.iter().chain(&published_stsb()) {
            assert!(row.correlations.pearson_r_x100.is_some_and(|r| (1.0..100.0).contains(&r)), "{row:?}");
            assert!(row.mse.is_none_or(|mse| (0.1..2.0).contains(&mse)), "{row:?}");
        }
    }
}
