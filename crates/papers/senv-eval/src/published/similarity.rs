//! Published results of P-coherence, paraphrase ranking, the soup test and entailment, as data to compare with our own.
//!
//! * Paper of the SNLI-finetuned Skip-thoughts. It has paraphrase ranking on MSRP (Tables 5 and 6), the soup test with
//!   its last sentence as reference (Table 8), and entailment accuracy on SICK (Table 2). Tables 5 and 6 print the
//!   accuracies of the random bag of words in percent.
//! * P-thought paper, Table 3: P-coherence of 5,000 images of COCO (25,014 captions).

use std::sync::LazyLock;

use senv_metrics::average_precision;
use serde::Serialize;

use super::table::{Row, Table};

static P_COHERENCE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/p-thought-table-3.tsv")));
static SNLI: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/snli-skip-thoughts-tables-1-4.tsv")));
static RANKING: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("tables/snli-skip-thoughts-tables-5-6.tsv")));
static SOUP: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("tables/snli-skip-thoughts-table-8.tsv")));

/// A row of the published table of P-coherence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedPCoherence {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its data.
    pub source: &'static str,
    /// P-coherence as printed, in `[-1, 1]`.
    pub p_coherence: f64,
}

/// A row of the published table of paraphrase ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedRanking {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its data.
    pub source: &'static str,
    /// Share of queries with a paraphrase among the nearest 1, 10 and 100, in `[0, 1]`.
    pub accuracy_at_1_10_100: [f64; 3],
    /// Mean rank (MRC).
    pub mean_rank: f64,
}

/// A row of the published soup test, whose reference is the last sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedSoup {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its reference sentence.
    pub source: &'static str,
    /// Cosines in rank order, each with whether the sentence is in the reference's group.
    pub cosines: [(f64, bool); 5],
}

/// A published accuracy of entailment with three classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedEntailment {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its data.
    pub source: &'static str,
    /// Share of pairs with the correct label, in `[0, 1]`.
    pub accuracy: f64,
}

impl PublishedSoup {
    /// Computes the average precision of the printed ranking.
    ///
    /// Cosines that are equal in print differed before rounding. The table lists sentences by rank, so the order of its
    /// lines decides between them. Therefore the bag-of-words autoencoder has 1, as its paper says, although both its
    /// second and third sentence have .35.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let ranks: Vec<f64> = (0..self.cosines.len()).map(|place| -(place as f64)).collect();
        average_precision(&self.cosines.map(|(_, same)| same), &ranks).ok().flatten()
    }

    /// Returns the smallest cosine inside the group minus the largest outside. 0 means a tie in print.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let of = |wanted: bool| self.cosines.iter().filter(move |cell| cell.1 == wanted).map(|cell| cell.0);
        Some(of(true).reduce(f64::min)? - of(false).reduce(f64::max)?)
    }
}

/// Returns every published P-coherence.
///
/// ```
/// let rows = senv_eval::published_p_coherence();
/// assert!(rows.iter().any(|row| row.system == "P-thought two-layer bi" && row.p_coherence == 0.9725));
/// ```
#[must_use]
pub fn published_p_coherence() -> Vec<PublishedPCoherence> {
    let row = |row: Row<'_>| {
        let (system, p_coherence) = (row.system()?, row.number("P-coherence")?);
        Some(PublishedPCoherence { system, source: row.source(), p_coherence })
    };
    P_COHERENCE.rows().filter_map(row).collect()
}

/// Returns every published result of paraphrase ranking.
///
/// ```
/// assert!(senv_eval::published_ranking().iter().any(|row| row.system == "SNLI BOW" && row.mean_rank == 6.0));
/// ```
#[must_use]
pub fn published_ranking() -> Vec<PublishedRanking> {
    let row = |row: Row<'_>| {
        let accuracy_at_1_10_100 = [row.number("acc@1")?, row.number("acc@10")?, row.number("acc@100")?];
        let (system, source, mean_rank) = (row.system()?, row.source(), row.number("mean rank")?);
        Some(PublishedRanking { system, source, accuracy_at_1_10_100, mean_rank })
    };
    RANKING.rows().filter_map(row).collect()
}

/// Returns every published result of the soup test.
///
/// ```
/// let best = senv_eval::published_soup().into_iter().find(|row| row.system == "SNLI RNN").ok_or("missing")?;
/// assert!(best.gap().is_some_and(|gap| (gap - 0.13).abs() < 1e-12));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_soup() -> Vec<PublishedSoup> {
    let row = |row: Row<'_>| {
        let mut cosines = [(0.0, false); 5];
        for (place, cosine) in cosines.iter_mut().enumerate() {
            let cell = row.text(&(place + 1).to_string())?;
            // A star marks the sentences of the reference's group.
            *cosine = (cell.trim_end_matches('*').parse().ok()?, cell.ends_with('*'));
        }
        Some(PublishedSoup { system: row.system()?, source: row.source(), cosines })
    };
    SOUP.rows().filter_map(row).collect()
}

/// Returns the published accuracies on the test set of SICK.
///
/// ```
/// assert_eq!(senv_eval::published_sick_entailment().len(), 6);
/// ```
#[must_use]
pub fn published_sick_entailment() -> Vec<PublishedEntailment> {
    let row = |row: Row<'_>| {
        let (system, accuracy) = (row.system()?, row.number("entailment")?);
        Some(PublishedEntailment { system, source: row.source(), accuracy })
    };
    SNLI.rows().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole_and_their_order_is_that_of_ranks() {
        assert_eq!((published_p_coherence().len(), published_ranking().len(), published_soup().len()), (11, 7, 5));
        for row in published_ranking() {
            let [a, b, c] = row.accuracy_at_1_10_100;
            assert!(0.0 < a && a <= b && b <= c && c <= 1.0 && row.mean_rank >= 1.0, "{row:?}");
        }
        for row in published_soup() {
            assert!(row.cosines.windows(2).all(|pair| pair[0].0 >= pair[1].0), "{row:?}");
            assert_eq!(row.cosines.iter().filter(|cell| cell.1).count(), 2);
        }
        let all = published_p_coherence().into_iter().map(|row| row.p_coherence);
        assert!(
            all.chain(published_sick_entailment().into_iter().map(|row| row.accuracy)).all(|x| (0.0..1.0).contains(&x))
        );
    }

    #[test]
    fn only_skip_thoughts_mixes_the_groups_of_soup() {
        // The paper says that "SNLI-Skipthoughts, SNLI BOW, SNLI RNN and BOW AE" have perfect average precision. The
        // second in-group sentence of Skip-thoughts has rank 4: (1/1 + 2/4) / 2.
        let row = |system| published_soup().into_iter().find(|row| row.system == system).unwrap();
        assert_eq!(row("Skip-thoughts").average_precision(), Some(0.75));
        assert!(row("Skip-thoughts").gap().unwrap() < 0.0);
        for system in ["finetuned Skip-thoughts", "SNLI BOW", "SNLI RNN", "BOW autoencoder"] {
            assert_eq!(row(system).average_precision(), Some(1.0), "{system}");
        }
        // Its second sentence equals the outsiders at ranks 3 and 4 as printed, which is a tie.
        assert_eq!(row("BOW autoencoder").gap(), Some(0.0));
    }
}
