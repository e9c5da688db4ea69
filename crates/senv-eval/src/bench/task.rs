//! A task of the bench: its data, its sentences and the gold values of its items.

use std::path::PathBuf;

use crate::{LabeledSet, NliSet, ParaphraseSet, SentenceGroups, StsTask, bench::Protocol};

/// What a protocol is run on: the data of one number.
#[derive(Debug, Clone)]
pub struct Task {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Its name among the tasks of the protocol, such as `images`.
    pub name: String,
    /// The year, for STS.
    pub year: Option<u16>,
    /// The files it is read from, those of training data too; none for data that is built in.
    pub files: Vec<PathBuf>,
    /// The data.
    pub(crate) data: TaskData,
}

/// The data of a task, by what the protocol needs.
#[derive(Debug, Clone)]
pub(crate) enum TaskData {
    /// Pairs with gold scores.
    Scored(StsTask),
    /// Pairs with gold scores and others to train on.
    Trained { train: StsTask, dev: Option<StsTask>, test: StsTask },
    /// Pairs that are paraphrases or not.
    Paraphrases(ParaphraseSet),
    /// The same, whose sentences make one pool.
    Pool(Vec<ParaphraseSet>),
    /// Groups of sentences.
    Groups(SentenceGroups),
    /// Pairs that are paraphrases or not, and others to train on.
    TrainedParaphrases { train: ParaphraseSet, test: ParaphraseSet },
    /// Sentences with classes, tested in folds, or with others to train on.
    Labeled { train: Option<LabeledSet>, test: LabeledSet },
    /// Labeled premises and hypotheses, and others to train on.
    Entailment { train: NliSet, dev: Option<NliSet>, test: NliSet },
    /// Labeled premises and hypotheses for a classifier that reads them itself.
    Labels(NliSet),
}

/// The sentences of pairs.
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

impl Task {
    /// Protocol, year and name, which no other task has: `sts/2014/images`.
    #[must_use]
    pub fn key(&self) -> String {
        match self.year {
            Some(year) => format!("{}/{year}/{}", self.protocol.name, self.name),
            None => format!("{}/{}", self.protocol.name, self.name),
        }
    }

    /// Year and name, for people.
    #[must_use]
    pub fn label(&self) -> String {
        self.year.map_or_else(|| self.name.clone(), |year| format!("{year} {}", self.name))
    }

    /// All sentences that have to be encoded, some of them more than once.
    #[must_use]
    pub fn sentences(&self) -> Vec<&str> {
        match &self.data {
            TaskData::Scored(task) => of_scored(task).collect(),
            TaskData::Trained { train, dev, test } => {
                of_scored(train).chain(dev.iter().flat_map(of_scored)).chain(of_scored(test)).collect()
            }
            TaskData::Paraphrases(set) => of_paraphrases(set).collect(),
            TaskData::Pool(sets) => sets.iter().flat_map(of_paraphrases).collect(),
            TaskData::Groups(groups) => groups.sentences().collect(),
            TaskData::TrainedParaphrases { train, test } => of_paraphrases(train).chain(of_paraphrases(test)).collect(),
            TaskData::Labeled { train, test } => train.iter().flat_map(of_labeled).chain(of_labeled(test)).collect(),
            TaskData::Entailment { train, dev, test } => {
                of_nli(train).chain(dev.iter().flat_map(of_nli)).chain(of_nli(test)).collect()
            }
            TaskData::Labels(_) => Vec::new(),
        }
    }

    /// The gold value of each item; empty where the number is a mean over items.
    #[must_use]
    pub fn gold(&self) -> Vec<f64> {
        match &self.data {
            TaskData::Scored(test) | TaskData::Trained { test, .. } => test.gold(),
            TaskData::Paraphrases(set) => {
                set.pairs.iter().map(|pair| f64::from(u8::from(pair.is_paraphrase))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The number that guessing reaches, on the scale of the report.
    #[must_use]
    pub fn chance(&self) -> f64 {
        let share = match &self.data {
            TaskData::Scored(_) | TaskData::Trained { .. } => 0.0,
            TaskData::Paraphrases(set) => random_average_precision(set.n_paraphrases(), set.pairs.len()),
            TaskData::Pool(sets) => {
                let n: usize = sets.iter().map(|set| 2 * set.pairs.len()).sum();
                1.0 / n.max(1) as f64
            }
            TaskData::Groups(groups) if self.protocol.name == "soup" => {
                // All groups of the test have the same size.
                let size = groups.groups.first().map_or(1, |group| group.sentences.len());
                random_average_precision(size - 1, groups.n_sentences().saturating_sub(1))
            }
            TaskData::Groups(_) => 0.0,
            TaskData::TrainedParaphrases { test, .. } => {
                let positive = test.n_paraphrases();
                positive.max(test.pairs.len() - positive) as f64 / test.pairs.len().max(1) as f64
            }
            TaskData::Labeled { test, .. } => {
                let count = |class| test.sentences.iter().filter(|sentence| sentence.class == class).count();
                let most = (0..test.classes.len()).map(count).max().unwrap_or(0);
                most as f64 / test.sentences.len().max(1) as f64
            }
            TaskData::Entailment { test, .. } | TaskData::Labels(test) => {
                let count = |label| test.pairs.iter().filter(|pair| pair.label == label).count();
                let most = crate::Entailment::ALL.into_iter().map(count).max().unwrap_or(0);
                most as f64 / test.pairs.len().max(1) as f64
            }
        };
        share * self.protocol.factor
    }
}

/// The mean average precision of `relevant` of `n` items in random order.
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
        // All places of two relevant items among five.
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
