//! The paper of the Skip-thoughts fine-tuned on SNLI, beside bags of words and autoencoders.

use senv_eval::{
    ScoringMethod, published_classification, published_ranking, published_sick, published_sick_entailment,
    published_soup,
};

use super::common::{
    EVAL_MR, EVAL_MSRP, EVAL_RANKING, EVAL_SICK, EVAL_SICK_SCRIPT, EVAL_SUBJ, EVAL_TREC, NEWS, TEXT, accuracy, cbow,
    msrp, skip_thoughts,
};
use crate::{
    paper::{Column, Evaluation, Model, Paper, Row, Table},
    paper_name::PaperName,
};

const SNLI: &str = "18 K pairs of SNLI";

/// Systems: name, data, file, the name in the paper.
const SYSTEMS: [(&str, &str, &str, &str); 10] = [
    ("Skip-thoughts uni", NEWS, "uni.senv", ""),
    ("Skip-thoughts bi", NEWS, "bi.senv", ""),
    ("Skip-thoughts combined", NEWS, "combined.senv", "Skip-thoughts"),
    ("Skip-thoughts fine-tuned on SNLI", SNLI, "tuned.senv", "finetuned Skip-thoughts"),
    ("SNLI BOW", SNLI, "snli-bow.senv", "SNLI BOW"),
    ("SNLI RNN", SNLI, "snli-rnn.senv", "SNLI RNN"),
    ("BOW autoencoder", NEWS, "bow-ae.senv", "BOW autoencoder"),
    ("RNN autoencoder", NEWS, "rnn-ae.senv", "RNN autoencoder"),
    ("random BOW", "", "random-bow.senv", "random BOW"),
    ("averages of CBOW, which all start from", TEXT, "cbow.senv", ""),
];

pub(super) fn paper() -> Paper {
    let snli = "train snli --train @snli-train --dev @snli-dev --json";
    let text = "--input @news --init-vectors $OUT/cbow.senv --min-count 3 --json";
    let mut models = skip_thoughts().to_vec();
    models.extend([
        cbow(),
        Model::new("tuned.senv", 160.0, format!("{snli} --encoder $OUT/combined.senv --epochs 2")),
        Model::new("snli-bow.senv", 40.0, format!("{snli} --encoder bow --init-vectors $OUT/cbow.senv")),
        Model::new(
            "snli-rnn.senv",
            150.0,
            format!("{snli} --encoder rnn --sentence-dim 300 --epochs 4 --init-vectors $OUT/cbow.senv"),
        ),
        Model::new(
            "rnn-ae.senv",
            90.0,
            format!("train rnn-ae {text} --hidden 400 --softmax sampled --batch 64 --steps 1500"),
        ),
        Model::new("bow-ae.senv", 80.0, format!("train bow-ae {text} --epochs 1")),
        Model::new("random-bow.senv", 1.0, "train random-bow"),
    ]);
    Paper {
        name: PaperName::SkipThoughts,
        title: "Skip-thoughts fine-tuned on SNLI (Triantafillou et al., RepL4NLP 2016)",
        about: "The paper's encoders have hidden sizes of 2400 and saw 74 million sentences of novels for weeks; here they have 400 (SNLI RNN: 300) and see 64 thousand of .27 million sentences (1,000 steps of 64). SNLI is 549 thousand pairs there; without its training part 18 thousand here (the dev part and the counterfactual pairs, whose own dev part chooses the weights).",
        models,
        tables: vec![
            sick(),
            entailment(),
            own_entailment(),
            ranking(),
            cosine(),
            soup(),
            classification(),
            detection(),
            histograms(),
            learning_curve(),
        ],
    }
}

/// Rows of all systems, with published values by the name of a system.
fn rows(n_columns: usize, published: impl Fn(&str) -> Option<Vec<Option<f64>>>) -> Vec<Row> {
    let row = |(name, data, file, theirs): (&str, &'static str, &str, &str)| {
        let row = Row::new(name, data, [file]);
        match published(theirs).filter(|_| !theirs.is_empty()) {
            Some(values) => {
                assert_eq!(values.len(), n_columns);
                row.beside(theirs, values)
            }
            None => row,
        }
    };
    SYSTEMS.map(row).to_vec()
}

/// The published correlations and squared error on SICK.
fn published_relatedness(by: ScoringMethod) -> impl Fn(&str) -> Option<Vec<Option<f64>>> {
    move |name| {
        let rows = published_sick();
        let row = rows.iter().find(|row| row.scored_by == by && row.system == name)?;
        Some(vec![row.correlations.pearson_r_x100, row.correlations.spearman_rho_x100, row.mse])
    }
}

/// Correlations and squared error of an evaluation; what it is stands behind their titles.
fn relatedness_columns(evaluation: usize, by: &str, what: &str) -> Vec<Column> {
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
        title: "Table 3: SICK relatedness, supervised",
        about: "Pearson's r and Spearman's rho x 100, squared error of a regression on frozen vectors. First by the script of Skip-thoughts (cross-entropy, Adam, stopped by the trial part), the form of the published figures; then by our own regression (cross-entropy with an L2 penalty, which the trial part chooses). Where the test part is not there the trial part is also what is reported, which is a little too good.",
        evaluations: vec![EVAL_SICK_SCRIPT, EVAL_SICK],
        columns,
        rows: rows(6, |name| Some([published(name)?, vec![None; 3]].concat())),
        figure: None,
    }
}

fn cosine() -> Table {
    Table {
        title: "Table 7: SICK relatedness by cosine",
        about: "The same of the cosine; the squared error is of 1 + 4 max(0, cos), the paper does not say of what.",
        evaluations: vec![EVAL_SICK],
        columns: relatedness_columns(0, "cosine", ""),
        rows: rows(3, published_relatedness(ScoringMethod::Cosine)),
        figure: None,
    }
}

fn entailment() -> Table {
    let published = |name: &str| {
        let row = published_sick_entailment().into_iter().find(|row| row.system == name)?;
        Some(vec![Some(100.0 * row.accuracy), None])
    };
    Table {
        title: "Table 2: entailment, probes on SICK and SNLI",
        about: "Accuracy in percent of probes, which are logistic regressions on frozen vectors, for all models alike. SICK: trained on the training part, C chosen by the trial part, which is also reported where the test part is not there. SNLI: trained on the dev part and tested on the test part. Where the models are trained on SNLI's dev part for want of its training part, the probe is trained on the dev part of the counterfactual pairs (1,000 pairs), which no model is trained on; it chose the weights of the SNLI models.",
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
        figure: None,
    }
}

/// The classifiers that the SNLI models were trained with.
fn own_entailment() -> Table {
    let column = |title: &str, set: usize, share: &str| Column::percent(title, 0, &format!("sets[{set}].{share}"));
    Table {
        title: "Entailment: the models' own classifiers",
        about: "Accuracy in percent of the classifier that a model was trained with, on SNLI's test part and on SICK (the trial part where the test part is not there), beside that of always calling the most frequent label. Nothing is trained for it, on SICK neither. No figures of the paper stand beside it.",
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
            .map(|(name, data, file, _)| Row::new(name, data, [*file]))
            .collect(),
        figure: None,
    }
}

fn ranking() -> Table {
    let published = |name: &str| {
        let row = published_ranking().into_iter().find(|row| row.system == name)?;
        Some(
            row.accuracy_at_1_10_100
                .map(|share| Some(100.0 * share))
                .into_iter()
                .chain([Some(row.mean_rank), None, None])
                .collect(),
        )
    };
    let column = |title: &str, k: u32| Column::percent(title, 0, &format!("ranking.distinct.accuracy_at_{k}"));
    Table {
        title: "Tables 5 and 6: ranking of paraphrases",
        about: "How often the best paraphrase is among the nearest 1, 10 and 100 sentences, in percent, and its mean rank. The pool is MSRP's training part (7,816 sentences) where the test part is not there; more than 11,000 (both parts have 11,602) in the paper, which does not say whether repeated sentences stand in it once. Here they do; in the raw pool they stand as often as they occur, and a query's own repetition is nearer than its paraphrase.",
        evaluations: vec![EVAL_RANKING],
        columns: vec![
            column("@1", 1),
            column("@10", 10),
            column("@100", 100),
            Column::new("mean rank", 0, "ranking.distinct.mean_rank"),
            Column::percent("@1, raw pool", 0, "ranking.raw.accuracy_at_1"),
            Column::new("mean rank, raw pool", 0, "ranking.raw.mean_rank"),
        ],
        rows: rows(6, published),
        figure: None,
    }
}

fn soup() -> Table {
    let published = |name: &str| {
        let row = published_soup().into_iter().find(|row| row.system == name)?;
        Some(vec![row.average_precision(), row.gap(), None])
    };
    Table {
        title: "Table 8: the soup test",
        about: "Average precision, and the gap between the farthest sentence of the group and the nearest outside, for the last sentence as reference as the paper prints it (average precision by the printed ranks, the gap of two decimals, so 0 is a tie); and the mean average precision over all six.",
        evaluations: vec![Evaluation { command: "eval soup --model $MODEL --json", seconds: 0.3 }],
        columns: vec![
            Column::new("average precision", 0, "references[-1].average_precision").digits(2),
            Column::new("gap", 0, "references[-1].gap").digits(2),
            Column::new("mean of six", 0, "mean_average_precision").digits(2),
        ],
        rows: rows(3, published),
        figure: None,
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
        title: "Tables 1 and 4: classifiers on frozen vectors",
        about: "Accuracy in percent; MR and SUBJ by nested cross-validation. MSRP is tested on the last quarter of its training part where the test part is not there.",
        evaluations: vec![EVAL_MSRP, EVAL_MR, EVAL_SUBJ, EVAL_TREC],
        columns: vec![detection, accuracy("MR", 1), accuracy("SUBJ", 2), accuracy("TREC", 3), f1],
        rows: rows(5, published),
        figure: None,
    }
}

fn detection() -> Table {
    let column = |title: &str, path: &str| Column::percent(title, 0, &format!("zero_shot.sets[0].{path}"));
    Table {
        title: "Figure 3: paraphrases detected by the cosine alone",
        about: "Average precision x 100 on MSRP, without training; the paper plots precision over recall and prints no figures. The same of the share of words in common.",
        evaluations: vec![EVAL_RANKING],
        columns: vec![
            column("average precision", "average_precision"),
            column("of word overlap", "average_precision_of_word_overlap"),
        ],
        rows: rows(2, |_| None),
        figure: None,
    }
}

fn histograms() -> Table {
    let mean = |label: &str| Column::new(label, 0, &format!("cosines.groups[name={label}].mean")).digits(2);
    let apart = "cosines.overlaps[first=contradiction,second=entailment].coefficient";
    Table {
        title: "Figure 5, on SNLI: cosines by label",
        about: "Mean cosine of the pairs of SNLI's test part by label, and how far the histograms of contradiction and entailment overlap (1: alike). The paper plots histograms of MSRP's pairs and prints no figures.",
        evaluations: vec![Evaluation {
            command: "eval histograms --model $MODEL --by label --json @snli-test",
            seconds: 4.0,
        }],
        columns: vec![
            mean("contradiction"),
            mean("neutral"),
            mean("entailment"),
            Column::new("overlap", 0, apart).digits(2),
        ],
        rows: rows(4, |_| None),
        figure: None,
    }
}

fn learning_curve() -> Table {
    let column = |share: &str, n: usize| {
        Column::percent(&format!("{share} %"), 0, &format!("learning_curve.points[{n}].mean_accuracy"))
    };
    Table {
        title: "Figure 4: accuracy against the amount of training data",
        about: "MSRP, accuracy in percent after training on a share of the training part, mean of five draws. The paper plots it. Where the test part is not there, the last quarter of the training part is held out and tested on, and 100 % are the other three quarters (3,057 pairs).",
        evaluations: vec![Evaluation {
            command: "eval msrp --model $MODEL --train @msrp-train --learning-curve --json @msrp-test|--hold-out",
            seconds: 45.0,
        }],
        columns: vec![column("1", 0), column("10", 3), column("40", 5), column("100", 8)],
        rows: ["combined.senv", "tuned.senv", "bow-ae.senv"]
            .iter()
            .filter_map(|file| SYSTEMS.iter().find(|system| system.2 == *file))
            .map(|(name, data, file, _)| Row::new(name, data, [*file]))
            .collect(),
        figure: None,
    }
}
