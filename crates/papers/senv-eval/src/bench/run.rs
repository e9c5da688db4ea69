//! Runs one task with one system. It calls the function of the crate for the task's protocol, and takes from its result
//! the score of each item and further measurements.

use senv_core::Observer;
use senv_data::{LabeledSet, NliLayout, NliSet, ParaphraseSet, SentenceGroups, StsTask};
use senv_index::documents::Join;
use senv_metrics::Bootstrap;

use super::{
    outcome::{Detail, TaskOutcome},
    task_data::{RetrievalTask, TaskData},
};
use crate::{
    error::{Error, Result},
    order::{entailment as order_entailment, pairs as order_pairs, templates::OrderTemplates, triplets},
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
        entailment::{PairClassifier, evaluate_entailment},
        groups::evaluate_group_ranking,
        pool::evaluate_ranking,
        retrieval::{RetrievalMethod, measure},
        scoring::Scoring,
        zero_shot,
    },
    score::{pairs::PairSource, sentence_vectors::SentenceVectors},
    sts::relatedness::{self, RelatednessResult, RelatednessTaskResult, evaluate_scorer},
};

/// Options of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchOptions {
    /// The random seed of draws and folds.
    pub seed: u64,
}

/// Groups are laid out on a plane if they have at most this many sentences.
const MAP_SENTENCES: usize = 200;
const UNKNOWN: &str = "pairs with a sentence without a known word";

/// Runs the protocol of a task.
pub(super) fn run(
    data: &TaskData,
    scoring: &Scoring<'_>,
    options: &BenchOptions,
    observer: &dyn Observer,
) -> Result<TaskOutcome> {
    let seed = options.seed;
    match data {
        TaskData::Scored(task) => scored(task, scoring.pairs()),
        TaskData::Trained { train, dev, test } => trained(train, dev.as_ref(), test, scoring.vectors()?),
        TaskData::Paraphrases(set) => detection(set, scoring.pairs()),
        TaskData::Pool(sets) => pool(sets, scoring.vectors()?, observer),
        TaskData::Groups(groups) => soup(groups, scoring.vectors()?),
        TaskData::Captions(groups) => captions(groups, scoring.vectors()?, seed),
        TaskData::TrainedParaphrases { train, test } => msrp(train, test, scoring.vectors()?, seed),
        TaskData::Labeled { train, test } => labeled(train.as_ref(), test, scoring.vectors()?, seed),
        TaskData::Entailment { train, dev, test } => entailment(train, dev.as_ref(), test, scoring.vectors()?),
        TaskData::Labels(test) => {
            let classifier = scoring.classifier().ok_or(Error::NothingToDo { what: "classifier of the system" })?;
            labels(test, classifier, &[])
        }
        TaskData::OrderPairs(set) => of_order_pairs(set, scoring.pairs()),
        TaskData::OrderEntailment(set) => of_order_entailment(set, scoring.pairs()),
        TaskData::OrderTemplates(templates) => of_templates(templates, scoring.pairs()),
        TaskData::Retrieval(task) => retrieval(task, scoring.vectors()?),
    }
}

fn x100(share: Option<f64>) -> Option<f64> {
    share.map(|share| 100.0 * share)
}

/// Returns 1 for a correct item and 0 for a wrong one.
fn item(is_right: bool) -> f64 {
    f64::from(u8::from(is_right))
}

/// Compares cosines, or scores treated as cosines, with gold scores.
fn scored(task: &StsTask, source: PairSource<'_>) -> Result<TaskOutcome> {
    let result = relatedness::evaluate(source, std::slice::from_ref(task))?;
    let has_words = matches!(source, PairSource::Cosines(_));
    Ok(agreement(result, |of| (UNKNOWN, has_words.then_some(of.result.n_pairs_without_known_token as f64))))
}

/// Compares the scores of a regression on frozen vectors with gold scores.
fn trained(train: &StsTask, dev: Option<&StsTask>, test: &StsTask, vectors: &SentenceVectors) -> Result<TaskOutcome> {
    let dev = dev.map_or(&[][..], std::slice::from_ref);
    let scorer = FrozenScorer::train(vectors, std::slice::from_ref(train), dev)?;
    let result = evaluate_scorer(&scorer, std::slice::from_ref(test))?;
    Ok(agreement(result, |_| ("C", scorer.training().c)))
}

/// Returns the scores of one file and their agreement with its gold scores.
fn agreement(
    result: RelatednessResult,
    last: impl Fn(&RelatednessTaskResult) -> (&'static str, Option<f64>),
) -> TaskOutcome {
    let details = result.tasks.iter().flat_map(|of| {
        [("Spearman's rho x 100", of.result.correlations.spearman_rho_x100), ("squared error", of.mse), last(of)]
    });
    let details: Vec<_> = details.collect();
    TaskOutcome::new(result.tasks.into_iter().flat_map(|of| of.result.scores), &details)
}

/// Detects paraphrases by score, without training.
fn detection(set: &ParaphraseSet, source: PairSource<'_>) -> Result<TaskOutcome> {
    let result = zero_shot::evaluate(source, std::slice::from_ref(set))?;
    let has_words = matches!(source, PairSource::Cosines(_));
    let details = result.sets.iter().flat_map(|of| {
        [
            ("best F1 of any threshold x 100", x100(of.best_f1)),
            ("mean score of paraphrases", of.mean_cosine_of_paraphrases),
            ("mean score of other pairs", of.mean_cosine_of_others),
            (UNKNOWN, has_words.then_some(of.n_pairs_without_known_token as f64)),
        ]
    });
    let details: Vec<_> = details.collect();
    Ok(TaskOutcome::new(result.sets.into_iter().flat_map(|of| of.cosines), &details))
}

/// Ranks the paraphrase of each sentence.
fn pool(sets: &[ParaphraseSet], vectors: &SentenceVectors, observer: &dyn Observer) -> Result<TaskOutcome> {
    let result = evaluate_ranking(vectors, sets, observer)?;
    let details = [
        ("mean rank", result.distinct.mean_rank),
        ("accuracy@10 x 100", x100(result.distinct.accuracy_at_10)),
        ("accuracy@100 x 100", x100(result.distinct.accuracy_at_100)),
        ("sentences in the pool", Some(result.distinct.n_pool as f64)),
        ("tied queries", Some(result.distinct.n_tied_queries as f64)),
        ("mean rank in the raw pool", result.raw.mean_rank),
    ];
    Ok(TaskOutcome::new(result.ranks.iter().map(|&rank| item(rank == 1)), &details))
}

/// Compares all sentences of groups with each other.
fn soup(groups: &SentenceGroups, vectors: &SentenceVectors) -> Result<TaskOutcome> {
    let result = evaluate_group_ranking(vectors, groups)?;
    let last = result.references.last();
    let details = [
        ("mean gap between inside and outside", result.mean_gap),
        ("references with their group first", Some(result.n_separated as f64)),
        ("average precision of the last reference x 100", last.and_then(|last| x100(last.average_precision))),
    ];
    Ok(TaskOutcome::new(result.references.iter().filter_map(|reference| reference.average_precision), &details))
}

/// Measures P-coherence, and lays out the captions on a plane if there are few.
fn captions(groups: &SentenceGroups, vectors: &SentenceVectors, seed: u64) -> Result<TaskOutcome> {
    let result = evaluate_p_coherence(vectors, groups, DEFAULT_RANDOM_PAIRS, seed)?;
    let across = result.mean_cosine_across_groups;
    let details = [
        ("mean cosine of unrelated captions", across),
        (
            "P-coherence above unrelated captions",
            result.p_coherence.zip(across).map(|(within, across)| within - across),
        ),
        ("sentences without a known word", Some(result.n_sentences_without_known_token as f64)),
    ];
    let mut outcome = TaskOutcome::new(result.coherences, &details);
    if groups.n_sentences() <= MAP_SENTENCES && groups.groups.len() > 1 {
        let map = evaluate_map(vectors, groups, &MapOptions { seed, ..MapOptions::default() })?;
        for (name, value) in [("silhouette", map.silhouette_of_embeddings), ("silhouette on the plane", map.silhouette)]
        {
            outcome.details.push(Detail { name: name.to_owned(), value });
        }
        outcome.figures.push(map.to_figure());
    }
    Ok(outcome)
}

/// Trains paraphrase detection with the settings of Skip-thoughts, and measures its accuracy with less training data.
fn msrp(train: &ParaphraseSet, test: &ParaphraseSet, vectors: &SentenceVectors, seed: u64) -> Result<TaskOutcome> {
    let probe = ProbeOptions { seed, ..ProbeOptions::skip_thoughts() };
    let result = evaluate_paraphrase_detection(vectors, train, test, &probe)?;
    let details = [
        ("F1 x 100", x100(result.f1)),
        ("F1 of calling all paraphrases x 100", x100(result.all_paraphrases_f1)),
        ("C", Some(result.c)),
    ];
    let right = test.pairs.iter().zip(&result.predicted).map(|(pair, &predicted)| pair.is_paraphrase == predicted);
    let mut outcome = TaskOutcome::new(right.map(item), &details);
    let curve_options = LearningCurveOptions { n_draws: 3, probe, ..LearningCurveOptions::default() };
    // Small sets cannot be divided into parts.
    if let Ok(curve) = evaluate_learning_curve(vectors, train, test, &curve_options) {
        outcome.figures.push(curve.to_figure());
    }
    Ok(outcome)
}

/// Classifies sentences by cross-validation, or on a separate test set.
fn labeled(train: Option<&LabeledSet>, test: &LabeledSet, vectors: &SentenceVectors, seed: u64) -> Result<TaskOutcome> {
    let probe = ProbeOptions { seed, ..ProbeOptions::default() };
    let result = match train {
        Some(train) => evaluate_classification_on_test(vectors, train, test, &probe)?,
        None => evaluate_classification(vectors, test, &probe)?,
    };
    let details = [
        ("standard deviation over the folds x 100", x100(result.fold_deviation)),
        ("sentences without a known word", Some(result.n_sentences_without_known_token as f64)),
    ];
    // Compare classes by name, because a training set can have more classes.
    let name = |predicted: usize| result.classes.get(predicted);
    let right = test.sentences.iter().zip(&result.predicted);
    let right = right.map(|(sentence, &predicted)| test.classes.get(sentence.class) == name(predicted));
    Ok(TaskOutcome::new(right.map(item), &details))
}

/// Classifies entailment with a classifier on frozen vectors.
fn entailment(train: &NliSet, dev: Option<&NliSet>, test: &NliSet, vectors: &SentenceVectors) -> Result<TaskOutcome> {
    let dev = dev.map_or(&[][..], std::slice::from_ref);
    let features = PairFeatures::of(NliLayout::Sick);
    let classifier = FrozenClassifier::train(vectors, std::slice::from_ref(train), dev, features)?;
    labels(test, &classifier, &[("C", Some(classifier.training().c))])
}

/// Ranks documents. The headline is by the nearest sentence, and the other rankings are details.
fn retrieval(task: &RetrievalTask, vectors: &SentenceVectors) -> Result<TaskOutcome> {
    let measured = measure(vectors, &task.set, &task.texts, Join::default())?;
    let x100 = |values: &[f64]| x100(senv_metrics::mean(values));
    let (mut headline, mut details, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (method, [ndcg, mrr, recall]) in RetrievalMethod::ALL.into_iter().zip(measured) {
        if method == RetrievalMethod::Sentences {
            details.extend([("MRR x 100".to_owned(), x100(&mrr)), ("recall@100 x 100".to_owned(), x100(&recall))]);
            headline = ndcg;
        } else {
            others.push((format!("nDCG@10 by {} x 100", method.title()), x100(&ndcg)));
        }
    }
    let details: Vec<_> = details.iter().chain(&others).map(|(name, value)| (&name[..], *value)).collect();
    Ok(TaskOutcome::new(headline, &details))
}

/// Evaluates an entailment classifier, either the system's own or a trained one.
fn labels(
    test: &NliSet,
    classifier: &dyn PairClassifier,
    details: &[(&'static str, Option<f64>)],
) -> Result<TaskOutcome> {
    let result = evaluate_entailment(classifier, std::slice::from_ref(test))?;
    let given = result.sets.iter().flat_map(|set| &set.predicted);
    let right = test.pairs.iter().zip(given).map(|(pair, given)| pair.label == *given);
    Ok(TaskOutcome::new(right.map(item), details))
}

/// Only headlines have intervals, which the bench computes itself.
const NO_DRAWS: Bootstrap = Bootstrap { resamples: 0, seed: 0 };

/// Evaluates pairs with nearly the same words.
fn of_order_pairs(set: &ParaphraseSet, source: PairSource<'_>) -> Result<TaskOutcome> {
    let result = order_pairs::evaluate(source, std::slice::from_ref(set), NO_DRAWS)?;
    let details = result.iter().flat_map(|of| {
        [
            ("average precision x 100", x100(of.average_precision.map(|average| average.value))),
            ("average precision of chance x 100", Some(100.0 * of.share_of_paraphrases)),
            ("mean score of paraphrases", of.mean_cosine_of_paraphrases),
            ("mean score of other pairs", of.mean_cosine_of_others),
        ]
    });
    let details: Vec<_> = details.collect();
    Ok(TaskOutcome::new(result.into_iter().flat_map(|of| of.scores), &details))
}

/// Evaluates entailments against contradictions.
fn of_order_entailment(set: &NliSet, source: PairSource<'_>) -> Result<TaskOutcome> {
    let result = order_entailment::evaluate(source, set, NO_DRAWS)?;
    let names = ["mean score of contradictions", "mean score of neutral pairs", "mean score of entailments"];
    let details: Vec<_> = names.into_iter().zip(result.labels.iter().map(|label| label.mean_cosine)).collect();
    Ok(TaskOutcome::new(result.scores, &details))
}

/// Evaluates which of two sentences from templates scores higher.
fn of_templates(templates: &OrderTemplates, source: PairSource<'_>) -> Result<TaskOutcome> {
    let result = triplets::evaluate(source, templates, NO_DRAWS)?;
    let details = [
        ("mean score of the same meaning", result.mean_cosine_to_same),
        ("mean score of a different meaning", result.mean_cosine_to_different),
        ("ties", Some(result.n_ties as f64)),
    ];
    Ok(TaskOutcome::new(result.values, &details))
}
