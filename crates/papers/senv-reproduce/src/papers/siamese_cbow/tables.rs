//! The tables of the Siamese CBOW paper.

use super::VARIANTS;
use crate::{
    paper::{Column, Evaluation, Row, Table},
    papers::common::{Correlation, EVAL_STS, NEWS, STS, STS_2014, TEXT, seeded, sts_task, sts_task_by, sts_values_by},
};

pub(super) fn tables() -> Vec<Table> {
    vec![table_1(Correlation::Pearson), table_1(Correlation::Spearman), significance(), table_2(), latency()]
}

/// Returns the twenty tasks of the paper.
pub(super) fn tasks() -> Vec<(u16, &'static str)> {
    STS.iter().copied().filter(|&(year, _)| year < 2016).collect()
}

/// Other rows of the paper: name, data, file and the name in the paper.
const BESIDE: [(&str, &str, &str, &str); 3] = [
    ("skip-gram", TEXT, "skip-gram.senv", "skip-gram (Siamese CBOW paper)"),
    ("CBOW", TEXT, "cbow.senv", "CBOW (Siamese CBOW paper)"),
    ("Skip-thoughts", NEWS, "combined.senv", "skip-thought (Siamese CBOW paper)"),
];

fn table_1(correlation: Correlation) -> Table {
    let tasks: Vec<(Option<u16>, &str)> = tasks().into_iter().map(|(year, task)| (Some(year), task)).collect();
    let published = |name: &str| sts_values_by(correlation, name, &tasks).into_iter().chain([None]);
    let mut rows: Vec<Row> = BESIDE
        .iter()
        .map(|(name, data, file, theirs)| Row::new(name, data, seeded(file)).beside(*theirs, published(theirs)))
        .collect();
    for (place, (file, name, _)) in VARIANTS.into_iter().enumerate() {
        let row = Row::new(name, TEXT, seeded(file));
        let is_printed = file == "scbow-sgd-mean.senv";
        rows.insert(2 + place, if is_printed { row.beside("Siamese CBOW", published("Siamese CBOW")) } else { row });
    }
    let (id, title, about) = match correlation {
        Correlation::Pearson => (
            "table-1",
            "Table 1: STS 2012 to 2015 by cosine, Pearson",
            "Pearson's r x 100. The paper does not say whether the loss of a batch is a mean or a sum; its code uses \
            the mean. Judging by the number of pairs, the paper's 2015 figures are for unfiltered pairs; SMT of 2013 \
            is not public.",
        ),
        Correlation::Spearman => (
            "table-1-spearman",
            "Table 1: STS 2012 to 2015 by cosine, Spearman",
            "Same as above, by Spearman's rho x 100.",
        ),
    };
    let column =
        |&(year, task): &(Option<u16>, &'static str)| sts_task_by(correlation, 0, year.unwrap_or_default(), task);
    Table {
        id,
        title,
        about,
        evaluations: vec![EVAL_STS],
        columns: tasks.iter().map(column).chain([Column::mean()]).collect(),
        rows,
        ..Table::default()
    }
}

fn significance() -> Table {
    let column = |&(year, task): &(u16, &str)| {
        let path = format!("against.comparison.tasks[year={year},name={task}].p_wilcoxon");
        Column { path, ..sts_task(0, year, task) }.digits(4)
    };
    Table {
        id: "significance",
        title: "Table 1, significance: Wilcoxon's signed-rank test against CBOW",
        about: "Two-sided p-value for the similarities of two systems on the pairs of a task; the paper marks p < \
            1e-4. It shows whether the similarities differ in level, not which system is better.",
        evaluations: vec![Evaluation {
            command: "eval sts --model $MODEL --against $OUT/cbow.senv --no-floor --json @sts12 @sts13 @sts14 @sts15|",
            seconds: 0.5,
        }],
        columns: tasks().iter().map(column).collect(),
        rows: std::iter::once(Row::new("skip-gram", TEXT, ["skip-gram.senv"]))
            .chain(VARIANTS.map(|(file, name, _)| Row::new(name, TEXT, [file])))
            .collect(),
        ..Table::default()
    }
}

fn table_2() -> Table {
    let tasks: Vec<(Option<u16>, &str)> = STS_2014.iter().map(|&task| (Some(2014), task)).collect();
    let published = |name: &str| {
        let pearson = sts_values_by(Correlation::Pearson, name, &tasks);
        pearson.into_iter().chain(sts_values_by(Correlation::Spearman, name, &tasks)).collect::<Vec<_>>()
    };
    let column = |correlation, sign: &str, task: &str| {
        let column = sts_task_by(correlation, 0, 2014, task);
        Column { title: format!("{task}, {sign}"), ..column }
    };
    let of = |correlation, sign: &'static str| STS_2014.iter().map(move |task| column(correlation, sign, task));
    let row = |name: &str, file: &str| Row::new(name, TEXT, seeded(file));
    Table {
        id: "table-2",
        title: "Table 2: comparison with FastSent",
        about: "Pearson's r and Spearman's rho x 100 on STS 2014. FastSent's figures are from the Sent2Vec paper, \
            because the Siamese CBOW paper prints FastSent's r and rho swapped.",
        evaluations: vec![EVAL_STS],
        columns: of(Correlation::Pearson, "r").chain(of(Correlation::Spearman, "rho")).collect(),
        rows: vec![
            row("FastSent", "fast-sent.senv").beside("FastSent", published("FastSent")),
            row("Siamese CBOW, SGD 1e-2 (= 1e-4 on the sum of a batch)", "scbow-sgd-sum.senv")
                .beside("Siamese CBOW", published("Siamese CBOW")),
        ],
        ..Table::default()
    }
}

fn latency() -> Table {
    let row = |name: &str, data, file: &str, theirs: &str, seconds: f64| {
        Row::new(name, data, [file]).beside(theirs, [Some(1e6 * seconds / 17_608.0), None])
    };
    Table {
        id: "table-3",
        title: "Table 3: time per pair",
        about: "One thread, one pair at a time: tokenization, both vectors and the cosine, without loading the model. \
            The paper prints totals for 17,608 pairs, which are divided here. Its Skip-thoughts are labeled 1200d and \
            have 2,400 dimensions or more; ours have 800.",
        evaluations: vec![Evaluation {
            command: "eval latency --model $MODEL --json @sts12 @sts13 @sts14",
            seconds: 5.0,
        }],
        columns: vec![
            Column::new("mean, µs", 0, "mean_seconds").times(1e6),
            Column::new("median, µs", 0, "median_seconds").times(1e6),
        ],
        rows: vec![
            row("Siamese CBOW", TEXT, "scbow-adam.senv", "Siamese CBOW", 7.7),
            row("CBOW", TEXT, "cbow.senv", "word2vec", 7.0),
            row("Skip-thoughts", NEWS, "combined.senv", "skip-thought", 98_804.0),
        ],
        ..Table::default()
    }
}
