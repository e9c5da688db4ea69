//! Classification of sentences on frozen vectors. MR, CR, SUBJ and MPQA use nested cross-validation, and TREC has its
//! own test set.
//!
//! The vector of a sentence is the input of an L2-regularized `logistic-regression`. Nothing else is learned.

use std::path::PathBuf;

use senv_data::LabeledSet;
use senv_metrics::{Confusion, standard_deviation};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    probe::{
        cross_validation::{Chosen, ChosenC, Classified as _, ProbeOptions, choose, nested},
        features::Featured,
        logistic,
    },
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Result on one outer fold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoldResult {
    /// Number of tested sentences.
    pub n_sentences: usize,
    /// Share of correct classes, in `[0, 1]`.
    pub accuracy: Option<f64>,
    /// The C that cross-validation on the other folds chose.
    pub c: f64,
    /// Whether it is the smallest or the largest that was tried and better than its neighbor. A C beyond the range may
    /// give a better result.
    pub is_c_at_edge: bool,
}

/// Result of an encoder on sentences with classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassificationResult {
    /// The test file.
    pub path: PathBuf,
    /// The training file; `None` for cross-validation on one file.
    pub train_path: Option<PathBuf>,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// Number of tested sentences.
    pub n_sentences: usize,
    /// Number of sentences without a known token, including training sentences. Their vector is zero.
    pub n_sentences_without_known_token: usize,
    /// Share of correct classes over all tested sentences, in `[0, 1]`.
    pub accuracy: Option<f64>,
    /// Standard deviation of the accuracy over the folds; `None` for a test set.
    pub fold_deviation: Option<f64>,
    /// The accuracy of always predicting the most frequent class.
    pub majority_accuracy: Option<f64>,
    /// Results of the outer folds; a single one for a test set.
    pub folds: Vec<FoldResult>,
    /// Number of folds whose C is at the edge of the range ([`FoldResult::is_c_at_edge`]).
    pub n_folds_with_c_at_edge: usize,
    /// Options of training.
    pub options: ProbeOptions,
    /// The predicted class of each tested sentence, an index into `classes` (not part of the JSON).
    #[serde(skip)]
    pub predicted: Vec<usize>,
    /// The outer fold of each tested sentence; 0 on a test set (not part of the JSON).
    #[serde(skip)]
    pub fold_of: Vec<usize>,
}

/// Evaluates by nested cross-validation: a regression classifies each fold after it was trained, and its C chosen, on
/// the others.
///
/// ```
/// use senv_eval::{SentenceVectors, LabeledSentence, LabeledSet, ProbeOptions, evaluate_classification};
/// // Forty sentences whose only value is their class.
/// let sentence = |i: usize| LabeledSentence { class: i % 2, text: format!("number {i}") };
/// let sentences: Vec<LabeledSentence> = (0..40).map(sentence).collect();
/// let values = ndarray::Array2::from_shape_fn((40, 1), |(i, _)| (i % 2) as f32);
/// let embeddings = SentenceVectors::from_vectors(sentences.iter().map(|s| &s.text[..]), values)?;
/// let classes = vec!["even".to_owned(), "odd".to_owned()];
/// let set = LabeledSet { path: "numbers".into(), classes, sentences, n_empty: 0 };
/// let result = evaluate_classification(&embeddings, &set, &ProbeOptions::default())?;
/// assert_eq!((result.accuracy, result.majority_accuracy), (Some(1.0), Some(0.5)));
/// # Ok::<(), senv_eval::Error>(())
/// ```
///
/// # Errors
/// [`Error::NothingToDo`] without a sentence; [`Error::OneClass`] if a training part has one class;
/// [`Error::TooFewExamples`] if there are fewer sentences than folds; [`Error::NotFinite`] if an embedding is not
/// finite, with its sentence; [`Error::NotEncoded`] if one is missing; [`Error::Core`] for options out of range.
///
/// # References
/// Kiros et al., NIPS 2015, section 3.4; Conneau and Kiela, LREC 2018.
pub fn evaluate_classification(
    embeddings: &SentenceVectors,
    set: &LabeledSet,
    options: &ProbeOptions,
) -> Result<ClassificationResult> {
    let classes: Vec<usize> = set.sentences.iter().map(|sentence| sentence.class).collect();
    let examples = Featured::sentences(embeddings, texts(set), classes, set.classes.len())?;
    let found = nested(&examples, options)?;
    let gold = examples.classes();
    let folds = found.chosen.iter().enumerate().map(|(fold, &c)| {
        let of_fold = (0..gold.len()).filter(|&i| found.fold_of[i] == fold);
        let (gold, predicted): (Vec<usize>, Vec<usize>) = of_fold.map(|i| (gold[i], found.predicted[i])).unzip();
        let accuracy = senv_metrics::accuracy(&gold, &predicted)?;
        Ok(FoldResult { n_sentences: gold.len(), accuracy, c: c.c, is_c_at_edge: c.is_at_edge })
    });
    let folds = folds.collect::<Result<Vec<_>>>()?;
    let confusion = Confusion::new(gold, &found.predicted, set.classes.len())?;
    Ok(ClassificationResult {
        path: set.path.clone(),
        train_path: None,
        classes: set.classes.clone(),
        n_sentences: gold.len(),
        n_sentences_without_known_token: examples.n_without_known_token(),
        accuracy: confusion.accuracy(),
        fold_deviation: standard_deviation(&folds.iter().filter_map(|fold| fold.accuracy).collect::<Vec<_>>()),
        majority_accuracy: confusion.majority_share(),
        n_folds_with_c_at_edge: n_at_edge(&folds),
        folds,
        options: options.clone(),
        predicted: found.predicted,
        fold_of: found.fold_of,
    })
}

/// Trains on one set, where cross-validation (`inner_folds`) chooses C, and tests on another, as for TREC.
///
/// # Errors
/// Returns the errors of [`evaluate_classification`].
pub fn evaluate_classification_on_test(
    embeddings: &SentenceVectors,
    train: &LabeledSet,
    test: &LabeledSet,
    options: &ProbeOptions,
) -> Result<ClassificationResult> {
    // A class that occurs only in the test set also counts. No prediction of it is correct.
    let mut names: Vec<&String> = train.classes.iter().chain(&test.classes).collect();
    names.sort_unstable();
    names.dedup();
    let class = |set: &LabeledSet, class: usize| names.binary_search(&&set.classes[class]).unwrap_or_default();
    let classes_of =
        |set: &LabeledSet| -> Vec<usize> { set.sentences.iter().map(|sentence| class(set, sentence.class)).collect() };
    if test.sentences.is_empty() {
        return Err(Error::NothingToDo { what: "sentences to test" });
    }
    let learned = Featured::sentences(embeddings, texts(train), classes_of(train), names.len())?;
    let tested = Featured::sentences(embeddings, texts(test), classes_of(test), names.len())?;
    let Chosen { model, c, results } = choose(&learned, options)?;
    let is_c_at_edge = ChosenC::of(&results).is_some_and(|chosen| chosen.is_at_edge);
    let predicted: Vec<usize> = logistic::predict::<f32, _>(&tested, &[model])?.into_iter().flatten().collect();
    let confusion = Confusion::new(tested.classes(), &predicted, names.len())?;
    let fold = FoldResult { n_sentences: predicted.len(), accuracy: confusion.accuracy(), c, is_c_at_edge };
    Ok(ClassificationResult {
        path: test.path.clone(),
        train_path: Some(train.path.clone()),
        classes: names.into_iter().cloned().collect(),
        n_sentences: predicted.len(),
        n_sentences_without_known_token: learned.n_without_known_token() + tested.n_without_known_token(),
        accuracy: confusion.accuracy(),
        fold_deviation: None,
        majority_accuracy: confusion.majority_share(),
        n_folds_with_c_at_edge: n_at_edge(&[fold]),
        folds: vec![fold],
        options: options.clone(),
        fold_of: vec![0; predicted.len()],
        predicted,
    })
}

fn n_at_edge(folds: &[FoldResult]) -> usize {
    folds.iter().filter(|fold| fold.is_c_at_edge).count()
}

fn texts(set: &LabeledSet) -> impl Iterator<Item = &str> {
    set.sentences.iter().map(|sentence| &sentence.text[..])
}

impl ClassificationResult {
    /// Says that C was best at the edge of its range, if so: a wider range may give a better result.
    #[must_use]
    pub fn edge_note(&self) -> Option<String> {
        let (n, folds) = (self.n_folds_with_c_at_edge, self.folds.len());
        let [low, high] = [self.options.path.first()?, self.options.path.last()?];
        let of_folds = if folds > 1 { format!(" in {n} of {folds} folds") } else { String::new() };
        (n > 0).then(|| {
            format!("the best C is at the edge of {low} to {high}{of_folds}; a wider range may give a higher accuracy")
        })
    }

    /// Formats the result as a table, followed by how it was computed.
    #[must_use]
    pub fn to_text(&self) -> String {
        Self::table([self])
    }

    /// Formats several results in one table.
    #[must_use]
    pub fn table<'r>(results: impl IntoIterator<Item = &'r Self>) -> String {
        let columns = ["sentences", "classes", "accuracy", "sd of folds", "majority", "C"];
        let mut table =
            TextTable::new(std::iter::once(("file", Align::Left)).chain(columns.map(|name| (name, Align::Right))));
        let mut notes: Vec<String> = Vec::new();
        for result in results {
            let chosen = result.folds.iter().map(|fold| fold.c);
            let (low, high) = chosen.fold((f64::INFINITY, 0.0_f64), |(low, high), c| (low.min(c), high.max(c)));
            let c = if low < high { format!("{low}-{high}") } else { low.to_string() };
            let [accuracy, sd, majority] =
                [result.accuracy, result.fold_deviation, result.majority_accuracy].map(|share| number(share, 4));
            let name = result.path.display().to_string();
            let (n, classes) = (result.n_sentences.to_string(), result.classes.len().to_string());
            table.row([name.clone(), n, classes, accuracy, sd, majority, c]);
            let options = &result.options;
            let how = match &result.train_path {
                None => format!(
                    "{} x {} folds, C from {} to {}, seed {}",
                    options.outer_folds,
                    options.inner_folds,
                    options.path[0],
                    options.path[options.path.len() - 1],
                    options.seed
                ),
                Some(train) => format!("trained on {}, C by {} folds", train.display(), options.inner_folds),
            };
            let mut note = format!("logistic regression on frozen vectors, {how}");
            if result.n_sentences_without_known_token > 0 {
                note +=
                    &format!("; {name}: {} sentences without a known token", result.n_sentences_without_known_token);
            }
            if notes.last() != Some(&note) {
                notes.push(note);
            }
            notes.extend(result.edge_note().map(|note| format!("{name}: {note}")));
        }
        format!("{table}{}\n", notes.join("\n"))
    }
}
