//! Accuracy of an entailment classifier on SNLI or SICK.
//!
//! The classifier, trained in any way, predicts one of three labels for each pair. The predictions are compared with
//! the gold labels class by class.

use std::path::PathBuf;

use senv_data::{Entailment, NliSet};
use senv_metrics::Confusion;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    published::similarity::PublishedEntailment,
    report::{Align, TextTable, number},
};

/// A trained classifier of sentence pairs.
///
/// A closure that takes a batch of pairs implements it.
pub trait PairClassifier {
    /// Returns one label per pair (premise, hypothesis), in the order of the pairs.
    ///
    /// # Errors
    /// Any error of the classifier.
    fn classify_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<Entailment>>;
}

impl<C: Fn(&[(&str, &str)]) -> senv_core::Result<Vec<Entailment>>> PairClassifier for C {
    fn classify_batch(&self, pairs: &[(&str, &str)]) -> senv_core::Result<Vec<Entailment>> {
        self(pairs)
    }
}

/// Results on the pairs of one label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelResult {
    /// The label.
    pub label: Entailment,
    /// Number of pairs with this label.
    pub n_pairs: usize,
    /// Number of pairs predicted to have this label.
    pub n_predicted: usize,
    /// Number of pairs with this label that were predicted to have it.
    pub n_correct: usize,
    /// Share of the pairs predicted to have this label that have it, in `[0, 1]`.
    pub precision: Option<f64>,
    /// Share of the pairs with this label that were predicted to have it, in `[0, 1]`.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
}

/// Result of a classifier on one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntailmentSetResult {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of labeled pairs.
    pub n_pairs: usize,
    /// Number of pairs without a label. They are left out.
    #[serde(rename = "n_unlabelled")]
    pub n_unlabeled: usize,
    /// Accuracy: the share of pairs with the correct label, in `[0, 1]`.
    pub accuracy: Option<f64>,
    /// The accuracy of always predicting the most frequent label of this file.
    pub majority_accuracy: Option<f64>,
    /// Results per label, in the order of [`Entailment::ALL`].
    pub labels: [LabelResult; 3],
    /// Confusion matrix: numbers of pairs by gold label (row) and predicted label (column), both in the order of
    /// [`Entailment::ALL`].
    pub confusion: [[usize; 3]; 3],
    /// The predicted labels, one per labeled pair in the order of the file (not part of the JSON).
    #[serde(skip)]
    pub predicted: Vec<Entailment>,
}

/// Result of a classifier on files of labeled pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntailmentResult {
    /// Results per file, in the order given.
    pub sets: Vec<EntailmentSetResult>,
}

/// Predicts the label of every pair, with one call per set, and compares it with the gold label.
///
/// # Errors
/// [`Error::NothingToDo`] without a set or a pair; [`Error::Core`] from the classifier, or if it returns more or fewer
/// labels than there are pairs.
///
/// # Examples
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("dev.tsv");
/// # std::fs::write(&path, "contradiction\ta dog\tno dog\nneutral\ta dog\ta cat\nentailment\ta\ta\n")?;
/// use senv_eval::{Entailment, NliSet, evaluate_entailment};
/// let classifier = |pairs: &[(&str, &str)]| {
///     let label = |(_, hypothesis): &(&str, &str)| match hypothesis.contains("no ") {
///         true => Entailment::Contradiction,
///         false => Entailment::Entailment,
///     };
///     Ok(pairs.iter().map(label).collect())
/// };
/// let result = evaluate_entailment(&classifier, &[NliSet::read(&path)?])?;
/// assert_eq!(result.sets[0].accuracy, Some(2.0 / 3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_entailment(classifier: &dyn PairClassifier, sets: &[NliSet]) -> Result<EntailmentResult> {
    if sets.is_empty() || sets.iter().any(|set| set.pairs.is_empty()) {
        return Err(Error::NothingToDo { what: "labeled pairs" });
    }
    let results = sets.iter().map(|set| {
        let pairs: Vec<(&str, &str)> = set.pairs.iter().map(|pair| (&pair.premise[..], &pair.hypothesis[..])).collect();
        let given = classifier.classify_batch(&pairs)?;
        if given.len() != pairs.len() {
            let (what, expected) = ("the labels of a batch of pairs", pairs.len());
            return Err(senv_core::Error::ShapeMismatch { what, expected, got: given.len() }.into());
        }
        let gold: Vec<usize> = set.pairs.iter().map(|pair| pair.label.class()).collect();
        let classes: Vec<usize> = given.iter().map(|label| label.class()).collect();
        let confusion = Confusion::new(&gold, &classes, Entailment::ALL.len())?;
        Ok(EntailmentSetResult::of(set, &confusion, given))
    });
    Ok(EntailmentResult { sets: results.collect::<Result<_>>()? })
}

impl EntailmentSetResult {
    fn of(set: &NliSet, confusion: &Confusion, predicted: Vec<Entailment>) -> Self {
        let labels = Entailment::ALL.map(|label| {
            let counts = confusion.class(label.class());
            LabelResult {
                label,
                n_pairs: counts.n_gold,
                n_predicted: counts.n_predicted,
                n_correct: counts.n_correct,
                precision: counts.precision(),
                recall: counts.recall(),
                f1: counts.f1(),
            }
        });
        let row = |gold: Entailment| Entailment::ALL.map(|given| confusion.count(gold.class(), given.class()));
        Self {
            path: set.path.clone(),
            n_pairs: confusion.n_items(),
            n_unlabeled: set.n_unlabeled,
            accuracy: confusion.accuracy(),
            majority_accuracy: confusion.majority_share(),
            labels,
            confusion: Entailment::ALL.map(row),
            predicted,
        }
    }
}

impl EntailmentSetResult {
    /// Formats the confusion matrix.
    fn confusion_text(&self) -> String {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let given = Entailment::ALL.map(|label| (format!("given\n{}", label.name()), Align::Right));
        let mut table = TextTable::new(std::iter::once((name, Align::Left)).chain(given));
        for (label, counts) in Entailment::ALL.into_iter().zip(self.confusion) {
            table.row(std::iter::once(label.name().to_owned()).chain(counts.map(|n| n.to_string())));
        }
        table.to_string()
    }
}

impl EntailmentResult {
    /// Formats one line per file and per label.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats one line per file and per label, followed by the published results (see
    /// [`crate::published_sick_entailment`]).
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedEntailment]) -> String {
        let columns = ["pairs", "accuracy", "majority", "precision", "recall", "F1"].map(|name| (name, Align::Right));
        let mut table = TextTable::new(std::iter::once(("file", Align::Left)).chain(columns));
        for set in &self.sets {
            let name = set.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let [accuracy, majority] = [set.accuracy, set.majority_accuracy].map(|share| number(share, 4));
            table.row([name, set.n_pairs.to_string(), accuracy, majority]);
            for label in &set.labels {
                let [p, r, f1] = [label.precision, label.recall, label.f1].map(|share| number(share, 4));
                let name = format!("  {}", label.label.name());
                table.row([name, label.n_pairs.to_string(), String::new(), String::new(), p, r, f1]);
            }
        }
        if !published.is_empty() {
            table.rule();
        }
        for row in published {
            table.row([format!("{} [1]", row.system), String::new(), format!("{:.2}", row.accuracy)]);
        }
        let mut text = table.to_string();
        for set in &self.sets {
            text += &format!("\n{}", set.confusion_text());
        }
        for set in self.sets.iter().filter(|set| set.n_unlabeled > 0) {
            text += &format!("{}: skipped {} pairs without a label\n", set.path.display(), set.n_unlabeled);
        }
        if let Some(row) = published.first() {
            text += &format!("[1] {}, on the test part of SICK\n", row.source);
        }
        text
    }
}
