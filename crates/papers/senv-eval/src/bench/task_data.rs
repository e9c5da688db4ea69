//! The data of a task: its sentences, the gold values of its items, and the score of guessing.

use senv_data::{Entailment, LabeledSet, NliSet, ParaphraseSet, RetrievalSet, SentenceGroups, StsTask};

use crate::{
    order::{entailment, pairs, templates::OrderTemplates},
    ranking::retrieval::{RetrievalTexts, random_ndcg},
};

/// The data of a task, by kind of protocol.
#[derive(Debug, Clone)]
pub(super) enum TaskData {
    /// Pairs with gold scores.
    Scored(StsTask),
    /// Pairs with gold scores, and training pairs.
    Trained { train: StsTask, dev: Option<StsTask>, test: StsTask },
    /// Pairs that are paraphrases or not.
    Paraphrases(ParaphraseSet),
    /// Paraphrase sets whose sentences form one pool.
    Pool(Vec<ParaphraseSet>),
    /// Groups of sentences to separate, all compared with each other.
    Groups(SentenceGroups),
    /// Captions of images, one group per image.
    Captions(SentenceGroups),
    /// Pairs that are paraphrases or not, and training pairs.
    TrainedParaphrases { train: ParaphraseSet, test: ParaphraseSet },
    /// Sentences with classes, tested by cross-validation, or with a training set.
    Labeled { train: Option<LabeledSet>, test: LabeledSet },
    /// Labeled premises and hypotheses, and training pairs.
    Entailment { train: NliSet, dev: Option<NliSet>, test: NliSet },
    /// Labeled premises and hypotheses for a classifier that reads them itself.
    Labels(NliSet),
    /// Pairs with nearly the same words, labeled as paraphrases or not.
    OrderPairs(ParaphraseSet),
    /// Labeled premises and hypotheses; entailments should have higher cosines than contradictions.
    OrderEntailment(NliSet),
    /// Sentences, each with one of the same and one of a different meaning.
    OrderTemplates(OrderTemplates),
    /// Documents, queries and judgments.
    Retrieval(Box<RetrievalTask>),
}

/// A retrieval set with the texts that are encoded, each on one line.
#[derive(Debug, Clone)]
pub(super) struct RetrievalTask {
    pub(super) set: RetrievalSet,
    pub(super) texts: RetrievalTexts,
}

impl RetrievalTask {
    pub(super) fn new(set: RetrievalSet) -> Self {
        let texts = RetrievalTexts::of(&set).on_lines();
        Self { set, texts }
    }
}

/// Iterates over the sentences of pairs.
fn of_scored(task: &StsTask) -> impl Iterator<Item = &str> {
    task.pairs.iter().flat_map(|pair| [&pair.first[..], &pair.second[..]])
}

fn of_paraphrases(set: &ParaphraseSet) -> impl Iterator<Item = &str> {
    set.pairs.iter().flat_map(|pair| [&pair.first[..], &pair.second[..]])
}

fn of_labeled(set: &LabeledSet) -> impl Iterator<Item = &str> {
    set.sentences.iter().map(|sentence| &sentence.text[..])
}

fn of_nli(set: &NliSet) -> impl Iterator<Item = &str> {
    set.pairs.iter().flat_map(|pair| [&pair.premise[..], &pair.hypothesis[..]])
}

impl TaskData {
    /// Returns all sentences to encode, with repetitions.
    pub(super) fn sentences(&self) -> Vec<&str> {
        match self {
            Self::Scored(task) => of_scored(task).collect(),
            Self::Trained { train, dev, test } => {
                of_scored(train).chain(dev.iter().flat_map(of_scored)).chain(of_scored(test)).collect()
            }
            Self::Paraphrases(set) | Self::OrderPairs(set) => of_paraphrases(set).collect(),
            Self::Pool(sets) => sets.iter().flat_map(of_paraphrases).collect(),
            Self::Groups(groups) | Self::Captions(groups) => groups.sentences().collect(),
            Self::TrainedParaphrases { train, test } => of_paraphrases(train).chain(of_paraphrases(test)).collect(),
            Self::Labeled { train, test } => train.iter().flat_map(of_labeled).chain(of_labeled(test)).collect(),
            Self::Entailment { train, dev, test } => {
                of_nli(train).chain(dev.iter().flat_map(of_nli)).chain(of_nli(test)).collect()
            }
            Self::OrderEntailment(set) => of_nli(set).collect(),
            Self::OrderTemplates(templates) => templates.sentences().collect(),
            Self::Retrieval(task) => task.texts.iter().collect(),
            Self::Labels(_) => Vec::new(),
        }
    }

    /// Returns the numbers of training and tested items: of pairs, sentences or, for captions, groups.
    pub(super) fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Scored(task) => (0, task.pairs.len()),
            Self::Trained { train, test, .. } => (train.pairs.len(), test.pairs.len()),
            Self::Paraphrases(set) | Self::OrderPairs(set) => (0, set.pairs.len()),
            Self::Pool(sets) => (0, sets.iter().map(|set| set.pairs.len()).sum()),
            Self::Groups(groups) | Self::Captions(groups) => (0, groups.groups.len()),
            Self::TrainedParaphrases { train, test } => (train.pairs.len(), test.pairs.len()),
            Self::Labeled { train, test } => {
                (train.as_ref().map_or(0, |train| train.sentences.len()), test.sentences.len())
            }
            Self::Entailment { train, test, .. } => (train.pairs.len(), test.pairs.len()),
            Self::Labels(set) | Self::OrderEntailment(set) => (0, set.pairs.len()),
            Self::OrderTemplates(templates) => (0, templates.items.len()),
            Self::Retrieval(task) => (0, task.set.queries.len()),
        }
    }

    /// Returns the gold value of each item; empty if the headline is a mean over items.
    pub(super) fn gold(&self) -> Vec<f64> {
        match self {
            Self::Scored(test) | Self::Trained { test, .. } => test.gold(),
            Self::Paraphrases(set) | Self::OrderPairs(set) => pairs::gold(set),
            Self::OrderEntailment(set) => entailment::gold(set),
            _ => Vec::new(),
        }
    }

    /// Returns the value that guessing reaches, as a share.
    pub(super) fn chance(&self) -> f64 {
        match self {
            Self::Scored(_) | Self::Trained { .. } | Self::Captions(_) => 0.0,
            Self::OrderPairs(_) | Self::OrderEntailment(_) | Self::OrderTemplates(_) => 0.5,
            Self::Retrieval(task) => random_ndcg(&task.set),
            Self::Paraphrases(set) => random_average_precision(set.n_paraphrases(), set.pairs.len()),
            Self::Pool(sets) => {
                let n: usize = sets.iter().map(|set| 2 * set.pairs.len()).sum();
                1.0 / n.max(1) as f64
            }
            Self::Groups(groups) => {
                // All groups of the soup test have the same size.
                let size = groups.groups.first().map_or(1, |group| group.sentences.len());
                random_average_precision(size - 1, groups.n_sentences().saturating_sub(1))
            }
            Self::TrainedParaphrases { test, .. } => {
                let positive = test.n_paraphrases();
                positive.max(test.pairs.len() - positive) as f64 / test.pairs.len().max(1) as f64
            }
            Self::Labeled { test, .. } => {
                let count = |class| test.sentences.iter().filter(|sentence| sentence.class == class).count();
                let most = (0..test.classes.len()).map(count).max().unwrap_or(0);
                most as f64 / test.sentences.len().max(1) as f64
            }
            Self::Entailment { test, .. } | Self::Labels(test) => {
                let count = |label| test.pairs.iter().filter(|pair| pair.label == label).count();
                let most = Entailment::ALL.into_iter().map(count).max().unwrap_or(0);
                most as f64 / test.pairs.len().max(1) as f64
            }
        }
    }
}

/// Computes the mean average precision of `relevant` of `n` items in random order.
///
/// ```text
/// E[AP] = s + (1 − s) H_n / n       s = (R − 1) / (n − 1), H_n the harmonic number
/// ```
fn random_average_precision(relevant: usize, n: usize) -> f64 {
    if relevant == 0 || n < 2 {
        return if relevant == 0 { 0.0 } else { 1.0 };
    }
    let others = (relevant - 1) as f64 / (n - 1) as f64;
    let harmonic: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
    others + (1.0 - others) * harmonic / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_precision_of_chance_is_that_of_all_orders() {
        // All positions of two relevant items among five.
        let mut values = Vec::new();
        for a in 0..5 {
            for b in a + 1..5 {
                let relevant: Vec<bool> = (0..5).map(|i| i == a || i == b).collect();
                let scores = [5.0, 4.0, 3.0, 2.0, 1.0];
                values.push(senv_metrics::average_precision(&relevant, &scores).unwrap().unwrap());
            }
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((random_average_precision(2, 5) - mean).abs() < 1e-12);
        assert_eq!((random_average_precision(0, 5), random_average_precision(1, 1)), (0.0, 1.0));
    }
}
