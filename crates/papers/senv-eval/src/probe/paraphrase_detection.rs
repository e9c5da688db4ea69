//! Paraphrase detection on frozen vectors: a classifier on `[|u − v| ; u ∘ v]` (MSRP).

use std::path::PathBuf;

use senv_data::ParaphraseSet;
use senv_metrics::Confusion;
use serde::Serialize;

use crate::{
    error::Result,
    probe::{
        cross_validation::{Chosen, Classified as _, ProbeOptions, SelectionMetric, choose},
        features::{Featured, PairFeatures},
        logistic,
    },
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Result of an encoder on a test set of pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ParaphraseDetectionResult {
    /// The training set.
    pub train_path: PathBuf,
    /// The test set.
    pub path: PathBuf,
    /// Number of training pairs.
    pub n_training_pairs: usize,
    /// Number of test pairs.
    pub n_pairs: usize,
    /// Number of paraphrases among them.
    pub n_paraphrases: usize,
    /// Number of pairs in which a sentence has no known token, including training pairs.
    pub n_pairs_without_known_token: usize,
    /// Share of correct labels, in `[0, 1]`.
    pub accuracy: Option<f64>,
    /// F1 of paraphrases, in `[0, 1]`.
    pub f1: Option<f64>,
    /// Precision of paraphrases.
    pub precision: Option<f64>,
    /// Recall of paraphrases.
    pub recall: Option<f64>,
    /// The accuracy of always predicting the more frequent label.
    pub majority_accuracy: Option<f64>,
    /// F1 of predicting that every pair is a paraphrase.
    pub all_paraphrases_f1: Option<f64>,
    /// The chosen C.
    pub c: f64,
    /// Mean score over the folds for each C, by which it was chosen.
    pub cross_validation: Vec<(f64, f64)>,
    /// How C was chosen.
    pub options: ProbeOptions,
    /// Whether each test pair was classified as a paraphrase (not part of the JSON).
    #[serde(skip)]
    pub predicted: Vec<bool>,
}

/// Trains on one set, where cross-validation (`inner_folds`) chooses C, and tests on another.
/// [`ProbeOptions::skip_thoughts`] and [`ProbeOptions::sent_eval`] are the two published settings.
///
/// # Errors
/// [`crate::Error::NothingToDo`] without a pair; [`crate::Error::OneClass`] or [`crate::Error::TooFewExamples`] for a
/// training set that cannot be cross-validated; [`crate::Error::NotFinite`] if an embedding is not finite, with its
/// sentence; [`crate::Error::NotEncoded`] if one is missing.
///
/// # References
/// Kiros et al., NIPS 2015, section 3.2; Conneau and Kiela, LREC 2018.
pub fn evaluate_paraphrase_detection(
    embeddings: &SentenceVectors,
    train: &ParaphraseSet,
    test: &ParaphraseSet,
    options: &ProbeOptions,
) -> Result<ParaphraseDetectionResult> {
    let (learned, tested) = (pair_examples(embeddings, train)?, pair_examples(embeddings, test)?);
    let Chosen { model, c, results: cross_validation } = choose(&learned, options)?;
    let (confusion, predicted) = judge(&model, &tested)?;
    let everything = Confusion::new(tested.classes(), &vec![1; test.pairs.len()], 2)?;
    let of_paraphrases = confusion.class(1);
    Ok(ParaphraseDetectionResult {
        train_path: train.path.clone(),
        path: test.path.clone(),
        n_training_pairs: train.pairs.len(),
        n_pairs: test.pairs.len(),
        n_paraphrases: test.n_paraphrases(),
        n_pairs_without_known_token: learned.n_without_known_token() + tested.n_without_known_token(),
        accuracy: confusion.accuracy(),
        f1: of_paraphrases.f1(),
        precision: of_paraphrases.precision(),
        recall: of_paraphrases.recall(),
        majority_accuracy: confusion.majority_share(),
        all_paraphrases_f1: everything.class(1).f1(),
        c,
        cross_validation,
        options: options.clone(),
        predicted: predicted.into_iter().map(|class| class == 1).collect(),
    })
}

/// Converts pairs to examples, with class 1 for paraphrases.
pub(crate) fn pair_examples<'e>(embeddings: &'e SentenceVectors, set: &ParaphraseSet) -> Result<Featured<'e>> {
    let pairs = set.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..]));
    let classes = set.pairs.iter().map(|pair| usize::from(pair.is_paraphrase)).collect();
    Featured::pairs(embeddings, pairs, PairFeatures::Symmetric, classes, 2)
}

/// Compares predictions with gold labels, and returns both the comparison and the predictions.
pub(crate) fn judge(model: &logistic::Model, tested: &Featured<'_>) -> Result<(Confusion, Vec<usize>)> {
    let predicted = logistic::predict::<f32, _>(tested, std::slice::from_ref(model))?;
    let predicted: Vec<usize> = predicted.into_iter().flatten().collect();
    Ok((Confusion::new(tested.classes(), &predicted, 2)?, predicted))
}

impl ParaphraseDetectionResult {
    /// Formats the result, the baselines that need no training, and how C was chosen.
    #[must_use]
    pub fn to_text(&self) -> String {
        let columns = ["accuracy", "F1", "precision", "recall"].map(|name| (name, Align::Right));
        let name = format!("{} pairs of {}", self.n_pairs, self.path.display());
        let mut table = TextTable::new(std::iter::once((&name[..], Align::Left)).chain(columns));
        let shares = [self.accuracy, self.f1, self.precision, self.recall].map(|share| number(share, 4));
        table.row(std::iter::once("classifier on frozen vectors".to_owned()).chain(shares));
        table.rule();
        table.row(["the more frequent label".to_owned(), number(self.majority_accuracy, 4)]);
        table.row(["all are paraphrases".to_owned(), String::new(), number(self.all_paraphrases_f1, 4)]);
        let by = match self.options.selection {
            SelectionMetric::Accuracy => "accuracy",
            SelectionMetric::F1 => "F1",
        };
        let mut text = format!(
            "{table}trained on {} pairs of {}; C = {} by the {by} of {} folds, seed {}\n",
            self.n_training_pairs,
            self.train_path.display(),
            self.c,
            self.options.inner_folds,
            self.options.seed
        );
        if self.n_pairs_without_known_token > 0 {
            text += &format!("{} pairs with a sentence without a known token\n", self.n_pairs_without_known_token);
        }
        text
    }
}
