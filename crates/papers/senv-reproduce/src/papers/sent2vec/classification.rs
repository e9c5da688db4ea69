//! Tables 1, 3 and 6: classifiers on frozen vectors, and overall means.

use senv_eval::published_classification;

use super::{
    LARGER,
    similarity::{EVAL_SICK_ALL, EVAL_STS_14, columns},
    systems,
};
use crate::{
    paper::{Column, Row, Table},
    papers::common::{Correlation, EVAL_CR, EVAL_MPQA, EVAL_MR, EVAL_MSRP, EVAL_SUBJ, EVAL_TREC, accuracies, msrp},
};

pub(super) fn tables() -> Vec<Table> {
    vec![supervised(), macro_average()]
}

fn supervised() -> Table {
    let [_, f1] = msrp(0);
    let rows = published_classification();
    let published = |name: &str| -> Vec<Option<f64>> {
        let row = rows.iter().find(|row| row.system == name);
        let value = |set| row.and_then(|row| row.accuracy(set));
        let accuracies = ["msrp", "mr", "cr", "subj", "mpqa", "trec"].map(value);
        accuracies.into_iter().chain([None, row.map(|row| row.msrp_f1)]).collect()
    };
    let has_published = |name: &str| rows.iter().any(|row| row.system == name);
    let mut lines: Vec<Row> = Vec::new();
    for (name, data, models, theirs) in systems() {
        // Classifiers take most of the time, so only rows that compare seeds have three.
        let n_seeds = if name.starts_with("Sent2Vec") { models.len() } else { 1 };
        let row = Row::new(name, data, models.into_iter().take(n_seeds));
        lines.push(if has_published(theirs) { row.beside(theirs, published(theirs)) } else { row });
    }
    lines.push(Row::published("TF-IDF", published("TF-IDF")));
    lines.extend(LARGER.map(|name| Row::published(name, published(name))));
    Table {
        id: "table-1",
        title: "Tables 1 and 6: classifiers on frozen vectors",
        about: "Accuracy in percent, means of three seeds for Sent2Vec. The classifiers are logistic regressions, with \
            nested cross-validation (10 x 10 folds) for MR, CR, SUBJ and MPQA. If the test part is missing, MSRP is \
            tested on the last quarter of its training part. The paper's TF-IDF has 200,000 dimensions; our \
            classifiers need dense vectors, so we have no figure for it.",
        evaluations: vec![EVAL_MSRP, EVAL_MR, EVAL_CR, EVAL_SUBJ, EVAL_MPQA, EVAL_TREC],
        columns: accuracies(0).into_iter().chain([Column::mean_of("mean", 0..6), f1]).collect(),
        rows: lines,
        ..Table::default()
    }
}

/// Published averages of Table 3: our row, the name in the paper, supervised, unsupervised, macro average, hours.
const MACRO: [(&str, &str, [f64; 3], Option<f64>); 8] = [
    ("Sent2Vec, words", "Sent2Vec uni books", [81.4, 66.7, 74.0], Some(1.0)),
    ("Sent2Vec, words and bigrams", "Sent2Vec uni+bi books", [82.0, 65.9, 74.0], Some(1.2)),
    ("DictRep BOW, given vectors", "DictRep BOW + embeddings", [80.5, 66.9, 73.7], Some(24.0)),
    ("C-PHRASE", "C-PHRASE", [80.5, 64.9, 72.7], None),
    ("CBOW", "CBOW", [79.1, 62.8, 70.2], Some(2.0)),
    ("FastSent", "FastSent", [77.9, 62.0, 70.0], Some(2.0)),
    ("Skip-thoughts", "SkipThought", [83.8, 42.5, 63.1], Some(336.0)),
    ("", "Sent2Vec uni+bi twitter", [83.5, 68.3, 75.9], Some(6.5)),
];

/// Published averages of models trained on larger texts.
const MACRO_OF_LARGER: [(&str, [f64; 3], f64); 3] = [
    ("Sent2Vec uni twitter", [82.2, 69.0, 75.6], 3.0),
    ("Sent2Vec uni+bi wiki", [83.3, 66.2, 74.8], 2.0),
    ("Sent2Vec uni wiki", [82.4, 66.3, 74.3], 3.5),
];

fn macro_average() -> Table {
    let mut columns: Vec<Column> = Vec::new();
    columns.extend(accuracies(2));
    columns.extend(self::columns(Correlation::Pearson, 0, 1));
    columns.extend(self::columns(Correlation::Spearman, 0, 1));
    let n = columns.len();
    let mut columns: Vec<Column> = columns.into_iter().map(Column::hidden).collect();
    columns.extend([
        Column::mean_of("supervised", 0..6),
        Column::mean_of("unsupervised", 6..n),
        Column::mean_of("macro average", n..n + 2),
        Column::training("training, minutes", "training_seconds").times(1.0 / 60.0),
    ]);
    let values = |[supervised, unsupervised, both]: [f64; 3], hours: Option<f64>| {
        let printed = [Some(supervised), Some(unsupervised), Some(both), hours.map(|hours| 60.0 * hours)];
        vec![None; n].into_iter().chain(printed).collect::<Vec<_>>()
    };
    let mut rows: Vec<Row> = Vec::new();
    for (name, data, models, _) in systems() {
        if let Some((_, theirs, averages, hours)) = MACRO.iter().find(|row| row.0 == name) {
            let n_seeds = if name.starts_with("Sent2Vec") { models.len() } else { 1 };
            rows.push(
                Row::new(name, data, models.into_iter().take(n_seeds)).beside(*theirs, values(*averages, *hours)),
            );
        }
    }
    for (_, theirs, averages, hours) in MACRO.iter().filter(|row| row.0.is_empty()) {
        rows.push(Row::published(theirs, values(*averages, *hours)));
    }
    rows.extend(MACRO_OF_LARGER.map(|(theirs, averages, hours)| Row::published(theirs, values(averages, Some(hours)))));
    Table {
        id: "table-3",
        title: "Table 3: averages over all, and time of training",
        about: "The mean accuracy of the classifiers (on the available sets), the mean of Pearson's and Spearman's \
            correlations x 100 on STS 2014 and SICK, and the mean of both. Our systems are trained on two cores and a \
            hundredth of the text; the paper's Sent2Vec trains on 24 cores, and its DictRep and Skip-thoughts on a \
            GPU.",
        evaluations: vec![EVAL_STS_14, EVAL_SICK_ALL, EVAL_MSRP, EVAL_MR, EVAL_CR, EVAL_SUBJ, EVAL_MPQA, EVAL_TREC],
        columns,
        rows,
        ..Table::default()
    }
}
