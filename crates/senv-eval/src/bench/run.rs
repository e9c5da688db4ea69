//! One task with one system: the scores of its items, and what else is worth printing.

use senv_core::{Observer, kernels};
use senv_metrics::{Sample, mean, mse, precision_recall, spearman_rho};
use serde::{Deserialize, Serialize};

use super::task::TaskData;
use crate::{
    NliLayout, NliSet, StsTask,
    bench::{Figure, RunOptions, Task},
    error::{Error, Result},
    plot::map::{MapOptions, evaluate_map},
    probe::{
        classification::{evaluate_classification, evaluate_classification_on_test},
        cross_validation::ProbeOptions,
        features::PairFeatures,
        frozen::FrozenClassifier,
        frozen_scorer::FrozenScorer,
        learning_curve::{LearningCurveOptions, evaluate_learning_curve},
        paraphrase_detection::evaluate_paraphrase_detection,
    },
    ranking::{
        coherence::{DEFAULT_RANDOM_PAIRS, evaluate_p_coherence},
        entailment::PairClassifier,
        groups::evaluate_group_ranking,
        pool::evaluate_ranking,
    },
    score::embeddings::Embeddings,
    sts::pair_scorer::PairScorer,
};

/// Where the scores of a system come from.
#[derive(Clone, Copy)]
pub enum Scoring<'a> {
    /// Vectors of all sentences: pairs are scored by their cosine.
    Vectors(&'a Embeddings),
    /// A function of two sentences, without vectors.
    Pairs(&'a dyn PairScorer),
    /// Vectors, and a classifier of entailment that the system was trained with.
    Classifier(&'a Embeddings, &'a dyn PairClassifier),
}

impl<'a> Scoring<'a> {
    /// One score for each pair, all finite.
    fn scores(&self, pairs: &[(&str, &str)]) -> Result<Vec<f64>> {
        let scores = match self {
            Self::Vectors(embeddings) | Self::Classifier(embeddings, _) => {
                let numbers = embeddings.pair_numbers(pairs.iter().copied())?;
                let vector = |number| embeddings.vector(number);
                numbers.iter().map(|&[a, b]| f64::from(kernels::cosine(vector(a), vector(b)))).collect()
            }
            Self::Pairs(scorer) => scorer.score_batch(pairs)?,
        };
        if scores.len() != pairs.len() {
            let (what, expected) = ("the scores of a batch of pairs", pairs.len());
            return Err(senv_core::Error::ShapeMismatch { what, expected, got: scores.len() }.into());
        }
        match scores.iter().position(|score| !score.is_finite()) {
            Some(i) => Err(Error::NotFinite { what: format!("the score of pair {}", i + 1) }),
            None => Ok(scores),
        }
    }

    /// The vectors, where the system has them.
    fn vectors(&self) -> Result<&'a Embeddings> {
        match self {
            Self::Vectors(embeddings) | Self::Classifier(embeddings, _) => Ok(embeddings),
            Self::Pairs(_) => Err(Error::NothingToDo { what: "sentence vectors" }),
        }
    }

    /// The classifier, where the system has one.
    pub(super) fn classifier(&self) -> Option<&'a dyn PairClassifier> {
        match *self {
            Self::Classifier(_, classifier) => Some(classifier),
            Self::Vectors(_) | Self::Pairs(_) => None,
        }
    }
}

/// A number beside the headline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// What it is, with its unit.
    pub name: String,
    /// Its value; `None` where it is undefined.
    pub value: Option<f64>,
}

/// What a task gives for a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// One score an item, in the order of the data; with the gold values of the task they give the headline. Kept in f32,
    /// which is what cosines are computed in.
    pub scores: Vec<f32>,
    /// Other numbers.
    pub details: Vec<Detail>,
    /// Figures.
    pub figures: Vec<Figure>,
}

impl Outcome {
    pub(crate) fn new(scores: impl IntoIterator<Item = f64>, details: &[(&str, Option<f64>)]) -> Self {
        let details = details.iter().map(|&(name, value)| Detail { name: name.to_owned(), value }).collect();
        Self { scores: scores.into_iter().map(|score| score as f32).collect(), details, figures: Vec::new() }
    }

    /// The items as a sample of the task.
    ///
    /// # Errors
    /// [`Error::Metrics`] if they do not fit the gold values of the task.
    pub fn sample(&self, task: &Task) -> Result<Sample> {
        let scores: Vec<f64> = self.scores.iter().map(|&score| f64::from(score)).collect();
        Ok(Sample::new(task.protocol.statistic, &task.gold(), &scores)?)
    }
}

/// A task of another protocol than its data is for; the list of protocols has none.
fn mismatch() -> Error {
    Error::NothingToDo { what: "data of this protocol" }
}

fn pairs(task: &StsTask) -> Vec<(&str, &str)> {
    task.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..])).collect()
}

/// Pairs of which a sentence has no known token, where that is known.
fn unknown(scoring: &Scoring<'_>, pairs: &[(&str, &str)]) -> Option<f64> {
    let embeddings = scoring.vectors().ok()?;
    let numbers = embeddings.pair_numbers(pairs.iter().copied()).ok()?;
    let without = numbers.iter().filter(|pair| pair.iter().any(|&number| embeddings.coverage(number).is_empty()));
    Some(without.count() as f64)
}

/// Groups of at most so many sentences are laid out on a plane.
const MAP_SENTENCES: usize = 200;
const UNKNOWN: &str = "pairs with a sentence without a known word";

pub(super) fn scored(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Scored(data) = &task.data else { return Err(mismatch()) };
    let pairs = pairs(data);
    let scores = scoring.scores(&pairs)?;
    let gold = data.gold();
    let predicted: Vec<f64> = scores.iter().map(|&score| data.scale.of_cosine(score)).collect();
    let rho = spearman_rho(&gold, &scores)?.map(|rho| 100.0 * rho);
    let unknown = unknown(scoring, &pairs);
    let details = [("Spearman's rho x 100", rho), ("squared error", mse(&gold, &predicted)?), (UNKNOWN, unknown)];
    Ok(Outcome::new(scores, &details))
}

pub(super) fn scored_probe(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Trained { train, dev, test } = &task.data else { return Err(mismatch()) };
    let dev = dev.as_ref().map_or(&[][..], std::slice::from_ref);
    let scorer = FrozenScorer::train(scoring.vectors()?, std::slice::from_ref(train), dev)?;
    let scores = scorer.score_batch(&pairs(test))?;
    let gold = test.gold();
    let rho = spearman_rho(&gold, &scores)?.map(|rho| 100.0 * rho);
    let details = [("Spearman's rho x 100", rho), ("squared error", mse(&gold, &scores)?), ("C", scorer.training().c)];
    Ok(Outcome::new(scores, &details))
}

pub(super) fn detection(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Paraphrases(set) = &task.data else { return Err(mismatch()) };
    let pairs: Vec<(&str, &str)> = set.pairs.iter().map(|pair| (&pair.first[..], &pair.second[..])).collect();
    let scores = scoring.scores(&pairs)?;
    let labels: Vec<bool> = set.pairs.iter().map(|pair| pair.is_paraphrase).collect();
    let points = precision_recall(&labels, &scores)?.unwrap_or_default();
    let best = points.iter().map(|point| 100.0 * point.f1()).reduce(f64::max);
    let mean_of = |wanted: bool| {
        let of = labels.iter().zip(&scores).filter(|(label, _)| **label == wanted);
        mean(&of.map(|(_, &score)| score).collect::<Vec<_>>())
    };
    let details = [
        ("best F1 of any threshold x 100", best),
        ("mean score of paraphrases", mean_of(true)),
        ("mean score of other pairs", mean_of(false)),
        (UNKNOWN, unknown(scoring, &pairs)),
    ];
    Ok(Outcome::new(scores, &details))
}

pub(super) fn ranking(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, observer: &dyn Observer) -> Result<Outcome> {
    let TaskData::Pool(sets) = &task.data else { return Err(mismatch()) };
    let result = evaluate_ranking(scoring.vectors()?, sets, observer)?;
    let x100 = |share: Option<f64>| share.map(|share| 100.0 * share);
    let details = [
        ("mean rank", result.distinct.mean_rank),
        ("accuracy@10 x 100", x100(result.distinct.accuracy_at_10)),
        ("accuracy@100 x 100", x100(result.distinct.accuracy_at_100)),
        ("sentences in the pool", Some(result.distinct.n_pool as f64)),
        ("tied queries", Some(result.distinct.n_tied_queries as f64)),
        ("mean rank in the raw pool", result.raw.mean_rank),
    ];
    Ok(Outcome::new(result.ranks.iter().map(|&rank| f64::from(u8::from(rank == 1))), &details))
}

pub(super) fn soup(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Groups(groups) = &task.data else { return Err(mismatch()) };
    let result = evaluate_group_ranking(scoring.vectors()?, groups)?;
    let last = result.references.last();
    let details = [
        ("mean gap between inside and outside", result.mean_gap),
        ("references with their group first", Some(result.n_separated as f64)),
        ("average precision of the last reference x 100", last.and_then(|l| l.average_precision).map(|p| 100.0 * p)),
    ];
    Ok(Outcome::new(result.references.iter().filter_map(|reference| reference.average_precision), &details))
}

pub(super) fn captions(task: &Task, scoring: &Scoring<'_>, options: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Groups(groups) = &task.data else { return Err(mismatch()) };
    let result = evaluate_p_coherence(scoring.vectors()?, groups, DEFAULT_RANDOM_PAIRS, options.seed)?;
    let across = result.mean_cosine_across_groups;
    let details = [
        ("mean cosine of unrelated captions", across),
        (
            "P-coherence above unrelated captions",
            result.p_coherence.zip(across).map(|(within, across)| within - across),
        ),
        ("sentences without a known word", Some(result.n_sentences_without_known_token as f64)),
    ];
    let mut outcome = Outcome::new(result.coherences, &details);
    if groups.n_sentences() <= MAP_SENTENCES && groups.groups.len() > 1 {
        let map_options = MapOptions { seed: options.seed, ..MapOptions::default() };
        let map = evaluate_map(scoring.vectors()?, groups, &map_options)?;
        for (name, value) in [("silhouette", map.silhouette_of_embeddings), ("silhouette on the plane", map.silhouette)]
        {
            outcome.details.push(Detail { name: name.to_owned(), value });
        }
        outcome.figures.push(map.to_figure());
    }
    Ok(outcome)
}

/// Trained paraphrase detection by the script of Skip-thoughts, and its accuracy with less training data.
pub(super) fn msrp(task: &Task, scoring: &Scoring<'_>, options: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::TrainedParaphrases { train, test } = &task.data else { return Err(mismatch()) };
    let embeddings = scoring.vectors()?;
    let probe = ProbeOptions { seed: options.seed, ..ProbeOptions::skip_thoughts() };
    let result = evaluate_paraphrase_detection(embeddings, train, test, &probe)?;
    let x100 = |share: Option<f64>| share.map(|share| 100.0 * share);
    let details = [
        ("F1 x 100", x100(result.f1)),
        ("F1 of calling all paraphrases x 100", x100(result.all_paraphrases_f1)),
        ("C", Some(result.c)),
    ];
    let right = test.pairs.iter().zip(&result.predicted).map(|(pair, &predicted)| pair.is_paraphrase == predicted);
    let mut outcome = Outcome::new(right.map(|right| f64::from(u8::from(right))), &details);
    let curve_options = LearningCurveOptions { n_draws: 3, probe, ..LearningCurveOptions::default() };
    // Small sets have no parts to learn from.
    if let Ok(curve) = evaluate_learning_curve(embeddings, train, test, &curve_options) {
        outcome.figures.push(curve.to_figure());
    }
    Ok(outcome)
}

/// Classes of sentences: in folds, or on a test set of its own.
pub(super) fn labeled(task: &Task, scoring: &Scoring<'_>, options: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Labeled { train, test } = &task.data else { return Err(mismatch()) };
    let probe = ProbeOptions { seed: options.seed, ..ProbeOptions::default() };
    let result = match train {
        Some(train) => evaluate_classification_on_test(scoring.vectors()?, train, test, &probe)?,
        None => evaluate_classification(scoring.vectors()?, test, &probe)?,
    };
    let details = [
        ("standard deviation over the folds x 100", result.fold_deviation.map(|deviation| 100.0 * deviation)),
        ("sentences without a known word", Some(result.n_sentences_without_known_token as f64)),
    ];
    // Classes are compared by name: a training set can have more of them.
    let name = |predicted: usize| result.classes.get(predicted);
    let right = test.sentences.iter().zip(&result.predicted);
    let right = right.map(|(sentence, &predicted)| test.classes.get(sentence.class) == name(predicted));
    Ok(Outcome::new(right.map(|right| f64::from(u8::from(right))), &details))
}

pub(super) fn entailment(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Entailment { train, dev, test } = &task.data else { return Err(mismatch()) };
    let dev = dev.as_ref().map_or(&[][..], std::slice::from_ref);
    let features = PairFeatures::of(NliLayout::Sick);
    let classifier = FrozenClassifier::train(scoring.vectors()?, std::slice::from_ref(train), dev, features)?;
    Ok(Outcome::new(right_labels(&classifier, test)?, &[("C", Some(classifier.training().c))]))
}

/// Entailment by the classifier that the system was trained with.
pub(super) fn own_entailment(task: &Task, scoring: &Scoring<'_>, _: &RunOptions, _: &dyn Observer) -> Result<Outcome> {
    let TaskData::Labels(test) = &task.data else { return Err(mismatch()) };
    let classifier = scoring.classifier().ok_or(Error::NothingToDo { what: "classifier of the system" })?;
    Ok(Outcome::new(right_labels(classifier, test)?, &[]))
}

/// 1 for each pair that gets its label, 0 for the others.
fn right_labels(classifier: &dyn PairClassifier, test: &NliSet) -> Result<Vec<f64>> {
    let pairs: Vec<(&str, &str)> = test.pairs.iter().map(|pair| (&pair.premise[..], &pair.hypothesis[..])).collect();
    let given = classifier.classify_batch(&pairs)?;
    if given.len() != pairs.len() {
        let (what, expected) = ("the labels of a batch of pairs", pairs.len());
        return Err(senv_core::Error::ShapeMismatch { what, expected, got: given.len() }.into());
    }
    Ok(test.pairs.iter().zip(given).map(|(pair, given)| f64::from(u8::from(pair.label == given))).collect())
}
