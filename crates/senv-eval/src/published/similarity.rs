//! Published results of P-coherence, paraphrase ranking, the soup test and entailment, as data, for comparison with our
//! own.
//!
//! * Paper of the SNLI-finetuned Skip-thoughts: paraphrase ranking on MSRP (Tables 5 and 6; accuracies of the random bag of
//!   words are printed in percent there), the soup test with its last sentence as reference (Table 8), entailment accuracy
//!   on SICK (Table 2).
//! * P-thought paper, Table 3: P-coherence of 5,000 images of COCO (25,014 captions).

use senv_metrics::average_precision;
use serde::Serialize;

const SNLI_SKIP_THOUGHTS: &str = "paper of the SNLI-finetuned Skip-thoughts, Tables 1 to 4";

/// A row of the published table of P-coherence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedPCoherence {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its data.
    pub source: &'static str,
    /// As printed, in `[-1, 1]`.
    pub p_coherence: f64,
}

/// A row of the published table of paraphrase ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// A row of the published soup test: the last sentence as reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedSoup {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its reference sentence.
    pub source: &'static str,
    /// Cosines in rank order, and whether the sentence is of the reference's group.
    pub cosines: [(f64, bool); 5],
}

/// A published accuracy of entailment, three classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedEntailment {
    /// The system's name.
    pub system: &'static str,
    /// The paper and its data.
    pub source: &'static str,
    /// Share of pairs with the right label, in `[0, 1]`.
    pub accuracy: f64,
}

impl PublishedSoup {
    /// Average precision of the printed ranking.
    ///
    /// Cosines that are equal in print were not equal before they were rounded: the table lists sentences by rank, and the
    /// order of its lines settles what two decimals leave open. So the bag-of-words autoencoder has 1, as its paper says,
    /// though its second sentence and the third have .35 both.
    #[must_use]
    pub fn average_precision(&self) -> Option<f64> {
        let ranks: Vec<f64> = (0..self.cosines.len()).map(|place| -(place as f64)).collect();
        average_precision(&self.cosines.map(|(_, same)| same), &ranks).ok().flatten()
    }

    /// Smallest cosine inside the group less the largest outside; 0 where they are equal in print, a tie.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let of = |wanted: bool| self.cosines.iter().filter(move |cell| cell.1 == wanted).map(|cell| cell.0);
        Some(of(true).reduce(f64::min)? - of(false).reduce(f64::max)?)
    }
}

/// Every published P-coherence.
///
/// ```
/// let rows = senv_eval::published_p_coherence();
/// assert!(rows.iter().any(|row| row.system == "P-thought two-layer bi" && row.p_coherence == 0.9725));
/// ```
#[must_use]
pub fn published_p_coherence() -> Vec<PublishedPCoherence> {
    let source = "P-thought paper, Table 3, on 5,000 images of COCO (2017, validation part)";
    P_COHERENCE.iter().map(|&(system, p_coherence)| PublishedPCoherence { system, source, p_coherence }).collect()
}

/// Every published result of paraphrase ranking.
///
/// ```
/// assert!(senv_eval::published_ranking().iter().any(|row| row.system == "SNLI BOW" && row.mean_rank == 6.0));
/// ```
#[must_use]
pub fn published_ranking() -> Vec<PublishedRanking> {
    let source = "paper of the SNLI-finetuned Skip-thoughts, Tables 5 and 6, on MSRP (training and test part)";
    let row = |&(system, accuracy_at_1_10_100, mean_rank)| PublishedRanking {
        system,
        source,
        accuracy_at_1_10_100,
        mean_rank,
    };
    RANKING.iter().map(row).collect()
}

/// Every published result of the soup test.
///
/// ```
/// let best = senv_eval::published_soup().into_iter().find(|row| row.system == "SNLI RNN").ok_or("missing")?;
/// assert!(best.gap().is_some_and(|gap| (gap - 0.13).abs() < 1e-12));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn published_soup() -> Vec<PublishedSoup> {
    let source = "paper of the SNLI-finetuned Skip-thoughts, Table 8, reference \"My soup is not hot anymore\"";
    let row = |&(system, values, places): &(&'static str, [f64; 5], [usize; 2])| {
        let mut cosines = values.map(|cosine| (cosine, false));
        places.iter().for_each(|&place| cosines[place - 1].1 = true);
        PublishedSoup { system, source, cosines }
    };
    SOUP.iter().map(row).collect()
}

/// Published accuracies on the test part of SICK.
///
/// ```
/// assert_eq!(senv_eval::published_sick_entailment().len(), 6);
/// ```
#[must_use]
pub fn published_sick_entailment() -> Vec<PublishedEntailment> {
    let row = |&(system, accuracy)| PublishedEntailment { system, source: SNLI_SKIP_THOUGHTS, accuracy };
    SICK_ENTAILMENT.iter().map(row).collect()
}

const P_COHERENCE: &[(&str, f64)] = &[
    ("PV-DBOW", 0.0099),
    ("Skip-thoughts uni", 0.5328),
    ("Skip-thoughts bi", 0.5155),
    ("Skip-thoughts combine", 0.5209),
    ("SIF", 0.4205),
    ("Sent2Vec wiki uni", 0.4279),
    ("Sent2Vec wiki bi", 0.4553),
    ("InferSent", 0.7454),
    ("P-thought one-layer bi", 0.7432),
    ("P-thought two-layer forward", 0.7899),
    ("P-thought two-layer bi", 0.9725),
];

/// System, accuracy at 1, 10 and 100, mean rank.
const RANKING: &[(&str, [f64; 3], f64)] = &[
    ("Skip-thoughts", [0.63, 0.74, 0.86], 93.0),
    ("finetuned Skip-thoughts", [0.77, 0.86, 0.96], 15.0),
    ("SNLI BOW", [0.87, 0.93, 0.99], 6.0),
    ("SNLI RNN", [0.56, 0.67, 0.84], 97.0),
    ("BOW autoencoder", [0.90, 0.96, 1.00], 2.0),
    ("RNN autoencoder", [0.33, 0.40, 0.54], 455.0),
    ("random BOW", [0.79, 0.88, 0.96], 21.0),
];

/// System, cosines in rank order, and the ranks of the sentences of the group.
const SOUP: &[(&str, [f64; 5], [usize; 2])] = &[
    ("Skip-thoughts", [0.61, 0.43, 0.39, 0.39, 0.38], [1, 4]),
    ("finetuned Skip-thoughts", [0.48, 0.32, 0.29, 0.29, 0.28], [1, 2]),
    ("SNLI BOW", [0.59, 0.45, 0.39, 0.37, 0.32], [1, 2]),
    ("SNLI RNN", [0.51, 0.47, 0.34, 0.30, 0.28], [1, 2]),
    ("BOW autoencoder", [0.51, 0.35, 0.35, 0.35, 0.31], [1, 2]),
];

const SICK_ENTAILMENT: &[(&str, f64)] = &[
    ("Skip-thoughts", 0.80),
    ("finetuned Skip-thoughts", 0.83),
    ("SNLI BOW", 0.81),
    ("SNLI RNN", 0.82),
    ("BOW autoencoder", 0.79),
    ("RNN autoencoder", 0.75),
];

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
        // "SNLI-Skipthoughts, SNLI BOW, SNLI RNN and BOW AE" have perfect average precision, the paper says. The second
        // in-group sentence of Skip-thoughts has rank 4: (1/1 + 2/4) / 2.
        let row = |system| published_soup().into_iter().find(|row| row.system == system).unwrap();
        assert_eq!(row("Skip-thoughts").average_precision(), Some(0.75));
        assert!(row("Skip-thoughts").gap().unwrap() < 0.0);
        for system in ["finetuned Skip-thoughts", "SNLI BOW", "SNLI RNN", "BOW autoencoder"] {
            assert_eq!(row(system).average_precision(), Some(1.0), "{system}");
        }
        // Its second sentence is equal in print to the outsiders at ranks 3 and 4: a tie, not a defeat.
        assert_eq!(row("BOW autoencoder").gap(), Some(0.0));
    }
}
