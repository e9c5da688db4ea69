//! The tables and figures of the P-thought paper.

use senv_eval::{published_p_coherence, published_stsb};

use super::{CAPTIONS, NEWS, NLI_PAIRS, ON_CAPTIONS, OTHERS, P_THOUGHTS, TEXT, data, sent2vec, sent2vec_bigrams};
use crate::{
    paper::{Column, Drawing, Evaluation, Model, Row, Table},
    papers::common::{EVAL_STSB, EVAL_STSB_SCRIPT, seeded},
};

pub(super) fn tables() -> Vec<Table> {
    vec![data::captions(), data::benchmark(), main_table(), trained_on_captions(), map(), scatter()]
}

fn seeds(model: fn(u32) -> Model) -> Vec<String> {
    [1, 2, 3].map(|seed| model(seed).file).to_vec()
}

/// Returns the files of a model with three seeds. SIF weights have no seed.
fn seeds_of(file: &str) -> Vec<String> {
    if file == "cbow-sif.senv" { vec![file.to_owned()] } else { seeded(file).to_vec() }
}

fn row(name: &str, data: &'static str, files: Vec<String>, coherence: &str, stsb: &str) -> Row {
    let row = Row::new(name, data, files);
    let coherence_rows = published_p_coherence();
    let p = coherence_rows.iter().find(|row| row.system == coherence).map(|row| row.p_coherence);
    let stsb_rows = published_stsb();
    let r = stsb_rows.iter().find(|row| row.system == stsb).and_then(|row| row.correlations.pearson_r_x100);
    let theirs = if coherence.is_empty() { stsb } else { coherence };
    if p.is_none() && r.is_none() { row } else { row.beside(theirs, [p, None, r, None, None]) }
}

fn main_table() -> Table {
    let mut rows: Vec<Row> = OTHERS
        .iter()
        .map(|(name, data, file, coherence, stsb)| row(name, data, seeds_of(file), coherence, stsb))
        .collect();
    rows.push(row("Sent2Vec, words", TEXT, seeds(sent2vec), "Sent2Vec wiki uni", "Sent2Vec"));
    rows.push(row("Sent2Vec, words and bigrams", TEXT, seeds(sent2vec_bigrams), "Sent2Vec wiki bi", ""));
    rows.push(row(
        "InferSent, 256 units a direction, 8 epochs",
        NLI_PAIRS,
        seeds_of("infersent.senv"),
        "InferSent",
        "InferSent",
    ));
    rows.extend(P_THOUGHTS.map(|(file, name, _, theirs)| row(name, CAPTIONS, seeds_of(file), theirs, theirs)));
    Table {
        id: "table-3",
        title: "Tables 3 and 6: P-coherence and STS benchmark",
        about: "P-coherence of COCO captions (4,137 images here, 5,000 in the paper), next to the mean cosine of \
            captions of different images: both are high if all vectors point in nearly the same direction. STS \
            benchmark: Pearson's r x 100 of a regression on frozen vectors, trained with the script of SentEval \
            (squared error, Adam, early stopping on the dev part). The published figures use the same method, except \
            that their code has a lower learning rate, does not shuffle and uses the last epoch. The last columns are \
            for our own regression (cross-entropy with an L2 penalty of C = 1) and for the cosine. If the test part is \
            missing, figures are for the dev part, so the script's are slightly too good. Table 6 does not say which \
            Skip-thoughts and Sent2Vec models it uses. Means of three seeds.",
        evaluations: vec![
            Evaluation { command: "eval p-coherence --model $MODEL --json @coco", seconds: 2.0 },
            EVAL_STSB_SCRIPT,
            EVAL_STSB,
        ],
        columns: vec![
            Column::new("P-coherence", 0, "p_coherence").digits(3),
            Column::new("different images", 0, "random_pairs.mean_cosine").digits(3),
            Column::new("STS benchmark", 1, "results[scored_by=supervised].tasks[0].pearson_r_x100"),
            Column::new("our regression", 2, "results[scored_by=supervised].tasks[0].pearson_r_x100"),
            Column::new("by cosine", 2, "results[scored_by=cosine].tasks[0].pearson_r_x100"),
        ],
        rows,
        ..Table::default()
    }
}

/// PV-DBOW by the paper's protocol, compared with the vectors that the same models infer for the captions.
fn trained_on_captions() -> Table {
    let published = published_p_coherence().into_iter().find(|row| row.system == "PV-DBOW").map(|row| row.p_coherence);
    let row = |(file, name, _, _): (&str, &str, &str, f64)| {
        Row::new(name, "172 K captions, including COCO's", [file]).beside("PV-DBOW", [published, None, None, None])
    };
    let of_coco = |path: &str| format!("systems[0].results[task=p-coherence/COCO].{path}");
    Table {
        id: "table-3-captions",
        title: "Table 3: P-coherence of PV-DBOW's own vectors",
        about: "The paper trains PV-DBOW on the training and evaluation captions together and compares the trained \
            vectors. Here these are the captions of Flickr30k, Flickr8k and COCO, each distinct caption once. The last \
            two columns are for vectors that the trained model infers for the same captions, as for any sentence. The \
            paper does not state its settings.",
        evaluations: vec![
            Evaluation {
                command: "eval all --data $DATA --only p-coherence --no-baselines --vectors $MODEL.npy --sentences $OUT/captions.txt --json $RESULT",
                seconds: 8.0,
            },
            Evaluation { command: "eval p-coherence --model $MODEL --json @coco", seconds: 2.0 },
        ],
        columns: vec![
            Column::new("P-coherence", 0, &of_coco("value")).digits(3),
            Column::new("different images", 0, &of_coco("details[name=mean cosine of unrelated captions].value"))
                .digits(3),
            Column::new("P-coherence, fitted", 1, "p_coherence").digits(3),
            Column::new("different images, fitted", 1, "random_pairs.mean_cosine").digits(3),
        ],
        rows: ON_CAPTIONS.map(row).to_vec(),
        ..Table::default()
    }
}

fn map() -> Table {
    let mut rows = vec![
        Row::new("Skip-thoughts uni", NEWS, ["uni.senv"]),
        Row::new("Skip-thoughts combined", NEWS, ["combined.senv"]),
        Row::new("CBOW with SIF", TEXT, ["cbow-sif.senv"]),
        Row::new("Sent2Vec, words", TEXT, [sent2vec(1).file]),
        Row::new("Sent2Vec, words and bigrams", TEXT, [sent2vec_bigrams(1).file]),
        Row::new("InferSent, 256 units a direction, 8 epochs", NLI_PAIRS, ["infersent.senv"]),
    ];
    rows.extend(P_THOUGHTS.iter().take(3).map(|(file, name, _, _)| Row::new(name, CAPTIONS, [*file])));
    Table {
        id: "figure-3",
        title: "Figure 3: captions of five images on a plane (t-SNE)",
        about: "Silhouette of the five groups of captions printed in the paper (its Table 4), on the plane and in the \
            vector space: near 1 for well-separated groups, near 0 for overlapping groups. The paper shows plots \
            without numbers. One seed.",
        evaluations: vec![Evaluation {
            command: "eval map --model $MODEL --svg $OUT/figures/map-$STEM.svg --force --json @caption-groups",
            seconds: 0.5,
        }],
        columns: vec![
            Column::new("on the plane", 0, "silhouette").digits(2),
            Column::new("among vectors", 0, "silhouette_of_embeddings").digits(2),
        ],
        rows,
        drawings: vec![Drawing::OfRows("figures/map-$STEM.svg")],
        ..Table::default()
    }
}

/// Predicted scores against gold scores on the STS benchmark.
fn scatter() -> Table {
    let column =
        |title: &str, field: &str| Column::new(title, 0, &format!("results[scored_by=supervised].tasks[0].{field}"));
    Table {
        id: "figure-4",
        title: "Figure 4: predicted scores over gold scores, STS benchmark",
        about: "Regression with the script of SentEval for the three structures. The paper plots the points without \
            numbers. The squared error is for scores from 0 to 5.",
        evaluations: vec![Evaluation {
            command: "eval stsb --model $MODEL --train @stsb-train --dev @stsb-dev --form sent-eval --svg $OUT/figures/scatter-$STEM.svg --force --json @stsb-test",
            seconds: 10.0,
        }],
        columns: vec![column("r", "pearson_r_x100"), column("squared error", "mse").digits(2)],
        rows: P_THOUGHTS.iter().take(3).map(|(file, name, _, _)| Row::new(name, CAPTIONS, [*file])).collect(),
        drawings: vec![Drawing::OfRows("figures/scatter-$STEM.svg")],
        ..Table::default()
    }
}
