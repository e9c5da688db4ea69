//! Tables 2, 4 and 7: unsupervised similarity.

use super::{ALL, LARGER, SEEDS, TEXT, systems};
use crate::{
    paper::{Column, Evaluation, Row, Table},
    papers::common::{
        Correlation, EVAL_CR, EVAL_MPQA, EVAL_MR, EVAL_MSRP, EVAL_SUBJ, EVAL_TREC, STS_2014, accuracies, sent2vec,
        sent2vec_bigrams, sts_task_by, sts_values, sts_values_by,
    },
};

/// STS 2014, and the available parts of SICK.
pub(super) const EVAL_STS_14: Evaluation =
    Evaluation { command: "eval sts --model $MODEL --no-floor --json @sts14", seconds: 0.3 };
pub(super) const EVAL_SICK_ALL: Evaluation =
    Evaluation { command: "eval sick --model $MODEL --json @sick-train @sick-test", seconds: 0.3 };

pub(super) fn tables() -> Vec<Table> {
    vec![unsupervised(Correlation::Pearson), unsupervised(Correlation::Spearman), without_training(), sif()]
}

pub(super) fn tasks() -> Vec<(Option<u16>, &'static str)> {
    STS_2014.iter().map(|&task| (Some(2014), task)).chain([(None, "SICK")]).collect()
}

/// Creates one column per task, from the evaluations with these numbers.
pub(super) fn columns(correlation: Correlation, sts: usize, sick: usize) -> Vec<Column> {
    let task = |task: &&str| Column { title: (*task).to_owned(), ..sts_task_by(correlation, sts, 2014, task) };
    let mut columns: Vec<Column> = STS_2014.iter().map(task).collect();
    let path = format!("results[scored_by=cosine].together.{}", correlation.field());
    columns.push(Column::new("SICK", sick, &path));
    columns
}

fn unsupervised(correlation: Correlation) -> Table {
    let published = |name: &str| sts_values_by(correlation, name, &tasks()).into_iter().chain([None]);
    let mut rows: Vec<Row> = Vec::new();
    for (name, data, models, theirs) in systems() {
        let row = Row::new(name, data, models);
        rows.push(if theirs.is_empty() { row } else { row.beside(theirs, published(theirs)) });
    }
    let all = SEEDS.map(|seed| format!("sent2vec-all-{seed}.senv"));
    rows.push(Row::new("Sent2Vec, words, with novels and reviews", ALL, all));
    rows.push(Row::published("TF-IDF", published("TF-IDF")));
    rows.extend(LARGER.map(|name| Row::published(name, published(name))));
    let (id, title, about) = match correlation {
        Correlation::Pearson => (
            "table-2",
            "Tables 2 and 7: STS 2014 and SICK by cosine, Pearson",
            "Pearson's r x 100, means of three seeds. For SICK we use the available parts; the paper uses the training \
            and test parts. PV-DBOW has two rows: with settings for large collections of long documents, which leave \
            it untrained on single sentences, and with the defaults, which fit the text. The paper prints the SICK \
            figures of DictRep and CaptionRep in its Average column; read that way, the averages follow from the \
            cells.",
        ),
        Correlation::Spearman => (
            "table-2-spearman",
            "Tables 2 and 7: STS 2014 and SICK by cosine, Spearman",
            "Same as above, by Spearman's rho x 100.",
        ),
    };
    Table {
        id,
        title,
        about,
        evaluations: vec![EVAL_STS_14, EVAL_SICK_ALL],
        columns: columns(correlation, 0, 1).into_iter().chain([Column::mean()]).collect(),
        rows,
        ..Table::default()
    }
}

/// Untrained systems, which the bench runs with every model.
fn without_training() -> Table {
    let mut columns: Vec<Column> = STS_2014
        .iter()
        .map(|task| Column::new(task, 0, &format!("systems[name=$KEY].results[task=sts/2014/{task}].value")))
        .collect();
    columns.push(Column::mean());
    let theirs = sts_values("TF-IDF", &tasks()[..6]).into_iter().chain([None]);
    let row = |name: &str, key| Row::new(name, "", [sent2vec(1).file]).key(key);
    Table {
        id: "table-2-untrained",
        title: "Table 2, untrained systems",
        about: "Pearson's r x 100 on STS 2014. Document frequencies for TF-IDF are counted on the evaluated sentences; \
            the paper counts them on its corpus.",
        evaluations: vec![Evaluation {
            command: "eval all --data $DATA --models $MODEL --only sts --fast --json $RESULT",
            seconds: 15.0,
        }],
        columns,
        rows: vec![
            row("TF-IDF", "TF-IDF").beside("TF-IDF", theirs),
            row("word overlap", "word overlap"),
            row("random vectors", "random vectors"),
        ],
        ..Table::default()
    }
}

fn sif() -> Table {
    let values = |sts: f64, sick: f64, supervised: f64| {
        [Some(sts), Some(sick)].into_iter().chain([None; 6]).chain([Some(supervised)])
    };
    let row = |name: &str, files: Vec<String>| Row::new(name, TEXT, files);
    let seeds = |model: fn(u32) -> crate::paper::Model| SEEDS.map(|seed| model(seed).file).to_vec();
    let one = |file: &str| vec![file.to_owned()];
    let mut columns = vec![
        Column::new("STS 2014", 0, "overall.plain_mean_over_tasks.pearson_r_x100"),
        Column::new("SICK", 1, "results[scored_by=cosine].together.pearson_r_x100"),
    ];
    columns.extend(accuracies(2).map(Column::hidden));
    columns.push(Column::mean_of("supervised average", 2..8));
    Table {
        id: "table-4",
        title: "Table 4: comparison with SIF weights",
        about: "Pearson's r x 100, and the mean accuracy of the classifiers below over the available sets. The paper \
            uses GloVe vectors trained on 840 billion words. We use 50-dimensional GloVe vectors of the 5,050 most \
            frequent words, with frequencies counted on the text of Sent2Vec. PSL vectors, which are trained on phrase \
            pairs, are not available.",
        evaluations: vec![EVAL_STS_14, EVAL_SICK_ALL, EVAL_MSRP, EVAL_MR, EVAL_CR, EVAL_SUBJ, EVAL_MPQA, EVAL_TREC],
        columns,
        rows: vec![
            row("GloVe with SIF", one("glove-sif.senv")).beside("GloVe with SIF", values(68.5, 72.2, 81.5)),
            Row::published("PSL with SIF", values(73.5, 72.9, 80.7)),
            row("Sent2Vec, words", seeds(sent2vec)).beside("Sent2Vec uni twitter", values(71.0, 71.0, 82.2)),
            row("Sent2Vec, words and bigrams", seeds(sent2vec_bigrams))
                .beside("Sent2Vec uni+bi twitter", values(70.1, 71.5, 83.5)),
            row("Sent2Vec, words, with SIF", one("sent2vec-sif.senv")),
        ],
        ..Table::default()
    }
}
