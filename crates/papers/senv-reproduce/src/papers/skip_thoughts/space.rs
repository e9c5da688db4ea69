//! The space of the vectors, without training: Tables 5 to 8, Figures 3, 5 and 6.

use senv_eval::{ScoringMethod, published_ranking, published_soup};

use super::{
    rows,
    supervised::{published_relatedness, relatedness_columns},
};
use crate::{
    paper::{Column, Drawing, Evaluation, Row, Table},
    papers::common::{EVAL_RANKING, EVAL_SICK},
};

pub(super) fn tables() -> Vec<Table> {
    vec![ranking(), cosine(), detection(), msrp_histograms(), histograms(), overlaps(), soup()]
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
        id: "table-5",
        title: "Tables 5 and 6: ranking of paraphrases",
        about: "How often the best paraphrase is among the nearest 1, 10 and 100 sentences, in percent, and its mean \
            rank. The pool is MSRP's training part (7,816 sentences) if the test part is missing. The paper's pool has \
            more than 11,000 (both parts have 11,602), and the paper does not say whether repeated sentences are \
            counted once. Here they are; the raw pool keeps repetitions, and a query's own repetition is nearer than \
            its paraphrase.",
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
        ..Table::default()
    }
}

fn cosine() -> Table {
    Table {
        id: "table-7",
        title: "Table 7: SICK relatedness by cosine",
        about: "Same as Table 3, by cosine. Our squared error is for 1 + 4 max(0, cos); the paper does not say what \
            its error is for.",
        evaluations: vec![EVAL_SICK],
        columns: relatedness_columns(0, "cosine", ""),
        rows: rows(3, published_relatedness(ScoringMethod::Cosine)),
        ..Table::default()
    }
}

fn detection() -> Table {
    let column = |title: &str, path: &str| Column::percent(title, 0, &format!("zero_shot.sets[0].{path}"));
    Table {
        id: "figure-3",
        title: "Figure 3: paraphrases detected by the cosine alone",
        about: "Average precision x 100 on MSRP, without training; the paper plots precision against recall without \
            numbers. The second column uses the share of words in common instead.",
        evaluations: vec![EVAL_RANKING],
        columns: vec![
            column("average precision", "average_precision"),
            column("of word overlap", "average_precision_of_word_overlap"),
        ],
        rows: rows(2, |_| None),
        drawings: vec![Drawing::OfRows("figures/recall-$STEM.svg")],
        ..Table::default()
    }
}

/// Cosines of the pairs of MSRP.
const EVAL_MSRP_HISTOGRAMS: Evaluation = Evaluation {
    command: "eval histograms --model $MODEL --bins 400 --svg $OUT/figures/cosines-$STEM.svg --force --json @msrp",
    seconds: 1.0,
};

fn msrp_histograms() -> Table {
    let group = |title: &str, name: &str, field: &str| {
        Column::new(title, 0, &format!("cosines.groups[name={name}].{field}")).digits(3)
    };
    Table {
        id: "figure-5",
        title: "Figure 5: cosines of the pairs of MSRP",
        about: "Mean cosine of paraphrases and of other pairs with standard deviations, and the overlap of the two \
            histograms (1: identical). The paper plots the histograms of Skip-thoughts before and after fine-tuning, \
            without numbers. The training part is used if the test part is missing.",
        evaluations: vec![EVAL_MSRP_HISTOGRAMS],
        columns: vec![
            group("paraphrases", "paraphrases", "mean"),
            group("other pairs", "other pairs", "mean"),
            group("deviation of paraphrases", "paraphrases", "deviation"),
            group("deviation of other pairs", "other pairs", "deviation"),
            Column::new("overlap", 0, "cosines.overlaps[0].coefficient").digits(3),
        ],
        rows: rows(5, |_| None),
        drawings: vec![Drawing::OfRows("figures/cosines-$STEM.svg")],
        ..Table::default()
    }
}

fn histograms() -> Table {
    let mean = |label: &str| Column::new(label, 0, &format!("cosines.groups[name={label}].mean")).digits(2);
    let apart = "cosines.overlaps[first=contradiction,second=entailment].coefficient";
    Table {
        id: "figure-5-snli",
        title: "Not in the paper: cosines of the pairs of SNLI",
        about: "Mean cosine of the pairs of SNLI's test part by label, and the overlap of the histograms of \
            contradiction and entailment (1: identical).",
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
        ..Table::default()
    }
}

/// The share of words that both sentences of a pair have in common, which does not depend on a model.
fn overlaps() -> Table {
    let group = |title: &str, evaluation, name: &str| {
        Column::new(title, evaluation, &format!("word_overlaps.groups[name={name}].mean")).digits(2)
    };
    Table {
        id: "figure-6",
        title: "Figure 6: words in common in the pairs of MSRP and SICK",
        about: "The mean share of words that both sentences of a pair have: MSRP's paraphrases and other pairs, and \
            SICK's pairs with a score of 3 or above and below 3. The paper plots the histograms without numbers.",
        evaluations: vec![
            Evaluation {
                command: "eval histograms --model $MODEL --words-svg $OUT/figures/words-msrp.svg --force --json @msrp",
                seconds: 1.0,
            },
            Evaluation {
                command: "eval histograms --model $MODEL --by score --words-svg $OUT/figures/words-sick.svg --force --json @sick-train",
                seconds: 1.0,
            },
        ],
        columns: vec![
            group("MSRP, paraphrases", 0, "paraphrases"),
            group("MSRP, other pairs", 0, "other pairs"),
            group("SICK, from 3", 1, "score from 3 on"),
            group("SICK, below 3", 1, "score below 3"),
        ],
        rows: vec![Row::new("words in common", "", ["random-bow.senv"])],
        drawings: vec![Drawing::OfRows("figures/words-msrp.svg"), Drawing::OfRows("figures/words-sick.svg")],
        ..Table::default()
    }
}

fn soup() -> Table {
    let published = |name: &str| {
        let row = published_soup().into_iter().find(|row| row.system == name)?;
        let cosines = row.cosines.map(|(cosine, _)| Some(cosine));
        Some([row.average_precision(), row.gap(), None].into_iter().chain(cosines).collect())
    };
    let cosine = |rank: usize| {
        Column::new(&format!("cosine {}", rank + 1), 0, &format!("references[-1].ranked[{rank}].cosine")).digits(2)
    };
    Table {
        id: "table-8",
        title: "Table 8: the soup test",
        about: "Average precision, and the gap between the farthest sentence of the group and the nearest outside, \
            with the last sentence as reference, as in the paper (average precision from the printed ranks; the gap \
            from two decimals, so 0 is a tie). The other columns are the mean average precision over all six \
            references, and the five cosines with the last sentence in rank order.",
        evaluations: vec![Evaluation { command: "eval soup --model $MODEL --json", seconds: 0.3 }],
        columns: vec![
            Column::new("average precision", 0, "references[-1].average_precision").digits(2),
            Column::new("gap", 0, "references[-1].gap").digits(2),
            Column::new("mean of six", 0, "mean_average_precision").digits(2),
        ]
        .into_iter()
        .chain((0..5).map(cosine))
        .collect(),
        rows: rows(8, published),
        ..Table::default()
    }
}
