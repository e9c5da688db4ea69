//! Supervised results on frozen vectors: Tables 1 to 4, Figure 4.

use senv_eval::{ScoringMethod, published_classification, published_sick, published_sick_entailment};

use super::{SYSTEMS, rows};
use crate::{
    paper::{Column, Drawing, Evaluation, Row, Table},
    papers::common::{EVAL_MR, EVAL_MSRP, EVAL_SICK, EVAL_SICK_SCRIPT, EVAL_SUBJ, EVAL_TREC, accuracy, msrp, seeded},
};

pub(super) fn tables() -> Vec<Table> {
    vec![sick(), entailment(), own_entailment(), classification(), learning_curve()]
}

pub(super) fn published_relatedness(by: ScoringMethod) -> impl Fn(&str) -> Option<Vec<Option<f64>>> {
    move |name| {
        let rows = published_sick();
        let row = rows.iter().find(|row| row.scored_by == by && row.system == name)?;
        Some(vec![row.correlations.pearson_r_x100, row.correlations.spearman_rho_x100, row.mse])
    }
}

pub(super) fn relatedness_columns(evaluation: usize, by: &str, what: &str) -> Vec<Column> {
    let column = |title: &str, metric: &str| {
        Column::new(&format!("{title}{what}"), evaluation, &format!("results[scored_by={by}].tasks[0].{metric}"))
    };
    vec![column("r", "pearson_r_x100"), column("rho", "spearman_rho_x100"), column("squared error", "mse").digits(2)]
}

fn sick() -> Table {
    let published = published_relatedness(ScoringMethod::Supervised);
    let mut columns = relatedness_columns(0, "supervised", "");
    columns.extend(relatedness_columns(1, "supervised", ", our regression"));
    Table {
        id: "table-3",
        title: "Table 3: SICK relatedness, supervised",
        about: "Pearson's r and Spearman's rho x 100, and squared error of a regression on frozen vectors. The first \
            three columns use the script of Skip-thoughts (cross-entropy, Adam, early stopping on the trial part), \
            which is the method of the published figures. The others use our own regression (cross-entropy with an L2 \
            penalty chosen on the trial part). If the test part is missing, figures are for the trial part, so they \
            are slightly too good.",
        evaluations: vec![EVAL_SICK_SCRIPT, EVAL_SICK],
        columns,
        rows: rows(6, |name| Some([published(name)?, vec![None; 3]].concat())),
        ..Table::default()
    }
}

fn entailment() -> Table {
    let published = |name: &str| {
        let row = published_sick_entailment().into_iter().find(|row| row.system == name)?;
        Some(vec![Some(100.0 * row.accuracy), None])
    };
    Table {
        id: "table-2",
        title: "Table 2: entailment, probes on SICK and SNLI",
        about: "Accuracy in percent of probes, which are logistic regressions on frozen vectors, the same for all \
            models. SICK: trained on the training part, with C chosen on the trial part, which is also reported if the \
            test part is missing. SNLI: trained on the dev part and tested on the test part. If the models are trained \
            on SNLI's dev part because its training part is missing, the probe is trained on the dev part of the \
            counterfactual pairs (1,000 pairs), which no model is trained on but which chose the weights of the SNLI \
            models.",
        evaluations: vec![
            Evaluation {
                command: "eval nli --model $MODEL --train @sick-train --dev @sick-trial --json @sick-test",
                seconds: 6.0,
            },
            Evaluation { command: "eval nli --model $MODEL --train @snli-dev --json @snli-test", seconds: 6.0 },
        ],
        columns: vec![
            Column::percent("SICK, probe", 0, "sets[0].accuracy"),
            Column::percent("SNLI, probe", 1, "sets[0].accuracy"),
        ],
        rows: rows(2, published),
        ..Table::default()
    }
}

fn own_entailment() -> Table {
    let column = |title: &str, set: usize, share: &str| Column::percent(title, 0, &format!("sets[{set}].{share}"));
    Table {
        id: "own-entailment",
        title: "Entailment: the models' own classifiers",
        about: "Accuracy in percent of the classifier that a model was trained with, on SNLI's test part and on SICK \
            (the trial part if the test part is missing), next to the accuracy of always choosing the most frequent \
            label. Nothing further is trained, not even on SICK. The paper has no such figures.",
        evaluations: vec![Evaluation { command: "eval nli --model $MODEL --json @snli-test @sick-test", seconds: 4.0 }],
        columns: vec![
            column("SNLI", 0, "accuracy"),
            column("SNLI, most frequent label", 0, "majority_accuracy"),
            column("SICK", 1, "accuracy"),
            column("SICK, most frequent label", 1, "majority_accuracy"),
        ],
        rows: SYSTEMS
            .iter()
            .filter(|system| ["SNLI BOW", "SNLI RNN"].contains(&system.0))
            .map(|(name, data, file, _)| Row::new(name, data, seeded(file)))
            .collect(),
        ..Table::default()
    }
}

fn classification() -> Table {
    let published = |name: &str| {
        let rows = published_classification();
        let row = rows.iter().find(|row| row.system == name)?;
        let [msrp, mr, subj, trec] = ["msrp", "mr", "subj", "trec"].map(|set| row.accuracy(set));
        Some(vec![msrp, mr, subj, trec, Some(row.msrp_f1)])
    };
    let [detection, f1] = msrp(0);
    Table {
        id: "table-1",
        title: "Tables 1 and 4: classifiers on frozen vectors",
        about: "Accuracy in percent, for one seed to save time, with nested cross-validation for MR and SUBJ. If the \
            test part is missing, MSRP is tested on the last quarter of its training part.",
        evaluations: vec![EVAL_MSRP, EVAL_MR, EVAL_SUBJ, EVAL_TREC],
        columns: vec![detection, accuracy("MR", 1), accuracy("SUBJ", 2), accuracy("TREC", 3), f1],
        rows: rows(5, published).into_iter().map(Row::first_seed).collect(),
        ..Table::default()
    }
}

/// Shares of the training part, in percent.
const SHARES: [&str; 9] = ["1", "2", "5", "10", "20", "40", "60", "80", "100"];

fn learning_curve() -> Table {
    let column = |share: &str, n: usize| {
        Column::percent(&format!("{share} %"), 0, &format!("learning_curve.points[{n}].mean_accuracy"))
    };
    Table {
        id: "figure-4",
        title: "Figure 4: accuracy against the amount of training data",
        about: "Accuracy in percent on MSRP after training on a share of the training part, mean of five draws, for \
            one seed. The paper shows a plot. If the test part is missing, the last quarter of the training part is \
            held out for testing, and 100 % means the other three quarters (3,057 pairs).",
        evaluations: vec![Evaluation {
            command: "eval msrp --model $MODEL --train @msrp-train --learning-curve --svg $OUT/figures/curve-$STEM.svg --force --json @msrp-test|--hold-out",
            seconds: 600.0,
        }],
        columns: SHARES.iter().enumerate().map(|(n, share)| column(share, n)).collect(),
        rows: ["combined.senv", "tuned.senv", "bow-ae.senv"]
            .iter()
            .filter_map(|file| SYSTEMS.iter().find(|system| system.2 == *file))
            .map(|(name, data, file, _)| Row::new(name, data, [*file]))
            .collect(),
        drawings: vec![Drawing::OfRows("figures/curve-$STEM.svg")],
        ..Table::default()
    }
}
