//! Texts, models and columns shared by several papers.

use senv_eval::{Correlations, PublishedSystem, published_sts};

use crate::paper::{Column, Evaluation, Model};

/// Sizes of the texts that systems are trained on.
pub(super) const SMALL: &str = "2.6 M words";
pub(super) const NEWS: &str = "6.4 M words";
pub(super) const TEXT: &str = "15.9 M words";
pub(super) const ALL: &str = "54 M words";
pub(super) const TREES: &str = "3,914 trees";

/// The tasks of STS 2014, in the order of the Sent2Vec paper.
pub(super) const STS_2014: [&str; 6] = ["deft-news", "deft-forum", "OnWN", "tweet-news", "images", "headlines"];

/// The tasks of STS 2012 to 2016. Tasks whose data set is in `may_be_missing` are not public, or often unavailable.
pub(super) const STS: [(u16, &str); 25] = [
    (2012, "MSRpar"),
    (2012, "MSRvid"),
    (2012, "OnWN"),
    (2012, "SMTeuroparl"),
    (2012, "SMTnews"),
    (2013, "FNWN"),
    (2013, "OnWN"),
    (2013, "headlines"),
    (2013, "SMT"),
    (2014, "OnWN"),
    (2014, "deft-forum"),
    (2014, "deft-news"),
    (2014, "headlines"),
    (2014, "images"),
    (2014, "tweet-news"),
    (2015, "answers-forums"),
    (2015, "answers-students"),
    (2015, "belief"),
    (2015, "headlines"),
    (2015, "images"),
    (2016, "answer-answer"),
    (2016, "headlines"),
    (2016, "plagiarism"),
    (2016, "postediting"),
    (2016, "question-question"),
];

/// Returns the data set that a task needs and that may be missing; empty for public tasks.
fn may_be_missing(year: u16, task: &str) -> &'static str {
    match (year, task) {
        (2013, "SMT") => "sts13-smt",
        (2015, _) => "sts15",
        (2016, _) => "sts16",
        _ => "",
    }
}

/// STS 2012 to 2014, and 2015 and 2016 if available.
pub(super) const EVAL_STS: Evaluation = Evaluation {
    command: "eval sts --model $MODEL --no-floor --json @sts12 @sts13 @sts14 @sts15| @sts16|",
    seconds: 0.3,
};

/// SICK by cosine, and with a regression on frozen vectors.
pub(super) const EVAL_SICK: Evaluation = Evaluation {
    command: "eval sick --model $MODEL --train @sick-train --dev @sick-trial --json @sick-test",
    seconds: 2.0,
};

/// SICK with the settings of the published figures: the script of Skip-thoughts, with early stopping on the trial part.
pub(super) const EVAL_SICK_SCRIPT: Evaluation = Evaluation {
    command: "eval sick --model $MODEL --train @sick-train --dev @sick-trial --form skip-thoughts --json @sick-test",
    seconds: 15.0,
};

/// The STS benchmark, by cosine and with a regression on frozen vectors.
pub(super) const EVAL_STSB: Evaluation =
    Evaluation { command: "eval stsb --model $MODEL --train @stsb-train --json @stsb-test", seconds: 1.0 };

/// The STS benchmark with the script of SentEval, with early stopping on the development part.
pub(super) const EVAL_STSB_SCRIPT: Evaluation = Evaluation {
    command: "eval stsb --model $MODEL --train @stsb-train --dev @stsb-dev --form sent-eval --json @stsb-test",
    seconds: 10.0,
};

/// MSRP with a classifier on frozen vectors. If the test part is missing, the last quarter of the training part is held
/// out.
pub(super) const EVAL_MSRP: Evaluation = Evaluation {
    command: "eval all --data $DATA --models $MODEL --only msrp --no-baselines --json $RESULT",
    seconds: 15.0,
};

/// Classification by nested cross-validation; TREC has a test set.
pub(super) const EVAL_MR: Evaluation = Evaluation { command: "eval classify --model $MODEL --json @mr", seconds: 4.0 };
pub(super) const EVAL_CR: Evaluation = Evaluation { command: "eval classify --model $MODEL --json @cr", seconds: 2.0 };
pub(super) const EVAL_SUBJ: Evaluation =
    Evaluation { command: "eval classify --model $MODEL --json @subj", seconds: 4.0 };
pub(super) const EVAL_MPQA: Evaluation =
    Evaluation { command: "eval classify --model $MODEL --json @mpqa", seconds: 4.0 };
pub(super) const EVAL_TREC: Evaluation =
    Evaluation { command: "eval classify --model $MODEL --json @trec-train --test @trec-test", seconds: 2.0 };

/// Paraphrase ranking.
pub(super) const EVAL_RANKING: Evaluation = Evaluation {
    command: "eval ranking --model $MODEL --svg $OUT/figures/recall-$STEM.svg --force --json @msrp",
    seconds: 1.0,
};

/// Creates a column with the accuracy of a classification.
pub(super) fn accuracy(title: &str, evaluation: usize) -> Column {
    Column::percent(title, evaluation, "results[0].accuracy")
}

/// Creates columns with accuracy and F1 on MSRP.
pub(super) fn msrp(evaluation: usize) -> [Column; 2] {
    [
        Column::new("MSRP", evaluation, "systems[0].results[0].value"),
        Column::new("MSRP F1", evaluation, "systems[0].results[0].details[name=F1 x 100].value"),
    ]
}

/// The correlation that a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Correlation {
    Pearson,
    Spearman,
}

impl Correlation {
    /// Returns its field name in JSON.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Pearson => "pearson_r_x100",
            Self::Spearman => "spearman_rho_x100",
        }
    }

    /// Returns this one of published correlations.
    pub(super) fn of(self, values: &Correlations) -> Option<f64> {
        match self {
            Self::Pearson => values.pearson_r_x100,
            Self::Spearman => values.spearman_rho_x100,
        }
    }
}

/// Creates columns with the accuracies on MSRP, MR, CR, SUBJ, MPQA and TREC, whose evaluations have consecutive
/// numbers.
pub(super) fn accuracies(first: usize) -> [Column; 6] {
    let [detection, _] = msrp(first);
    [
        detection,
        accuracy("MR", first + 1),
        accuracy("CR", first + 2),
        accuracy("SUBJ", first + 3),
        accuracy("MPQA", first + 4),
        accuracy("TREC", first + 5),
    ]
}

/// Creates a column with Pearson's r on an STS task.
pub(super) fn sts_task(evaluation: usize, year: u16, task: &str) -> Column {
    sts_task_by(Correlation::Pearson, evaluation, year, task)
}

/// Creates a column with a correlation on an STS task.
pub(super) fn sts_task_by(correlation: Correlation, evaluation: usize, year: u16, task: &str) -> Column {
    let path = format!("tasks[year={year},name={task}].{}", correlation.field());
    Column::new(&format!("{year} {task}"), evaluation, &path).of_set(may_be_missing(year, task))
}

/// Creates a column with the mean of the tasks of a year. SMT of 2013 is included if available.
pub(super) fn sts_year(evaluation: usize, year: u16) -> Column {
    let path = format!("years[year={year}].plain_mean_over_tasks.pearson_r_x100");
    let set = if year < 2015 { "" } else { may_be_missing(year, "") };
    Column::new(&format!("{year}"), evaluation, &path).of_set(set)
}

/// Creates a column with the mean of all available tasks.
pub(super) fn sts_mean(evaluation: usize) -> Column {
    Column::new("all tasks", evaluation, "overall.plain_mean_over_tasks.pearson_r_x100")
}

/// Returns a system of the published STS tables.
pub(super) fn sts_system(name: &str) -> Option<PublishedSystem> {
    published_sts().into_iter().find(|system| system.system == name)
}

/// Returns Pearson's r of a published system on these tasks.
pub(super) fn sts_values(name: &str, tasks: &[(Option<u16>, &str)]) -> Vec<Option<f64>> {
    sts_values_by(Correlation::Pearson, name, tasks)
}

/// Returns a correlation of a published system on these tasks.
pub(super) fn sts_values_by(correlation: Correlation, name: &str, tasks: &[(Option<u16>, &str)]) -> Vec<Option<f64>> {
    let system = sts_system(name);
    let value = |&(year, task): &(Option<u16>, &str)| correlation.of(&system.as_ref()?.value(year, task)?);
    tasks.iter().map(value).collect()
}

/// Repeats a training run with three seeds: `FILE.senv`, `FILE-2.senv`, `FILE-3.senv`. Word vectors and models that it
/// starts from stay the same.
pub(super) fn with_seeds(model: &Model) -> Vec<Model> {
    with_n_seeds(3, model)
}

/// Repeats a training run with `n` seeds.
pub(super) fn with_n_seeds(n: usize, model: &Model) -> Vec<Model> {
    let of_seed = |(i, file): (usize, String)| {
        let command = model.command.replace(&format!(" --output $OUT/{}", model.file), "");
        let vectors = |file: &str| format!("$OUT/{}", file.replace(".senv", ".npy"));
        let command = command.replace(&vectors(&model.file), &vectors(&file));
        let seed = if i == 0 { String::new() } else { format!(" --seed {}", i + 1) };
        Model::new(&file, model.seconds, format!("{command}{seed}"))
    };
    n_seeded(n, &model.file).into_iter().enumerate().map(of_seed).collect()
}

/// Returns the files of [`with_seeds`].
pub(super) fn seeded(file: &str) -> Vec<String> {
    n_seeded(3, file)
}

/// Returns the files of [`with_n_seeds`].
pub(super) fn n_seeded(n: usize, file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".senv").unwrap_or(file);
    (1..=n).map(|seed| if seed == 1 { file.to_owned() } else { format!("{stem}-{seed}.senv") }).collect()
}

/// CBOW with the settings of the Siamese CBOW paper.
pub(super) fn cbow() -> Model {
    Model::new("cbow.senv", 30.0, "train word2vec --preset paper --input @text --dim 300 --epochs 5 --no-check --json")
}

/// Skip-gram with the settings of the Siamese CBOW paper.
pub(super) fn skip_gram() -> Model {
    let command = "train word2vec --preset paper --architecture skip-gram --lr 0.025 --input @text --dim 300 --epochs 5 --no-check --json";
    Model::new("skip-gram.senv", 70.0, command)
}

/// Sent2Vec on words only, with the settings of the authors' model of books and negatives shared by a block.
pub(super) fn sent2vec(seed: u32) -> Model {
    let options = format!("--negatives-shared block --seed {seed}");
    sent2vec_by(&format!("sent2vec-{seed}.senv"), "@text", &options, 30.0)
}

/// Sent2Vec on words, with another text and other options.
pub(super) fn sent2vec_by(file: &str, text: &str, options: &str, seconds: f64) -> Model {
    let command =
        format!("train sent2vec --preset books-uni --input {text} --dim 300 --epochs 5 {options} --no-check --json");
    Model::new(file, seconds, command)
}

/// Sent2Vec on words and bigrams, with senv's alternatives to the authors' defaults: shared negatives, dropout per
/// token, and n-grams that start at zero.
pub(super) fn sent2vec_bigrams(seed: u32) -> Model {
    let command = format!(
        "train sent2vec --preset books-bi --input @text --dim 300 --epochs 5 --negatives-shared block --dropout-scheme tokens --ngram-start zero --seed {seed} --no-check --json"
    );
    Model::new(&format!("sent2vec-bi-{seed}.senv"), 60.0, command)
}

/// PV-DBOW with settings for large collections of long documents.
pub(super) fn pv_dbow() -> Model {
    let command = "train pv-dbow --preset large-text --input @text --dim 300 --epochs 5 --no-check --json";
    Model::new("pv-dbow.senv", 30.0, command)
}

/// PV-DBOW with the default settings, which fit the text.
pub(super) fn pv_dbow_fitted() -> Model {
    Model::new("pv-dbow-fit.senv", 120.0, "train pv-dbow --input @text --dim 300 --no-check --json")
}

/// FastSent.
pub(super) fn fast_sent() -> Model {
    let command = "train fast-sent --preset paper --input @text --dim 300 --epochs 3 --no-check --json";
    Model::new("fast-sent.senv", 70.0, command)
}

/// Siamese CBOW by gradient descent at 1e-2.
pub(super) fn scbow_words() -> Model {
    let command = "train siamese-cbow --preset paper --input @text --no-check --json --lr 1e-2";
    Model::new("scbow-sgd-sum.senv", 45.0, command)
}

/// PV-DM.
pub(super) fn pv_dm() -> Model {
    Model::new(
        "pv-dm.senv",
        60.0,
        "train pv-dm --preset large-text --input @text --dim 300 --epochs 5 --no-check --json",
    )
}

/// C-PHRASE on the available parsed sentences, with settings for so few.
pub(super) fn c_phrase() -> Model {
    Model::new("c-phrase.senv", 60.0, "train c-phrase --input @trees --dim 300 --no-check --json")
}

/// Skip-thoughts with three seeds: one direction, two directions, and both concatenated.
pub(super) fn skip_thoughts() -> Vec<Model> {
    let common = "--input @news --init-vectors $OUT/cbow.senv --sentence-dim 400 --softmax sampled --batch 64 --min-count 3 --steps 1000 --json";
    let uni = Model::new("uni.senv", 110.0, format!("train skip-thought {common}"));
    let bi = Model::new("bi.senv", 110.0, format!("train skip-thought --bi {common}"));
    let mut models = Vec::new();
    for ((uni, bi), file) in with_seeds(&uni).into_iter().zip(with_seeds(&bi)).zip(seeded("combined.senv")) {
        let command = format!("combine --model $OUT/{} --with $OUT/{}", uni.file, bi.file);
        models.extend([uni, bi, Model::new(&file, 1.0, command)]);
    }
    models
}
