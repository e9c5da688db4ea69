//! The P-thought paper: paraphrases predicted from a sentence vector.

use senv_eval::{published_p_coherence, published_stsb};

use super::common::{
    EVAL_STSB, EVAL_STSB_SCRIPT, NEWS, TEXT, cbow, pv_dbow, sent2vec, sent2vec_bigrams, skip_thoughts,
};
use crate::{
    paper::{Column, Evaluation, Model, Paper, Row, Table},
    paper_name::PaperName,
};

const CAPTIONS: &str = "149 K captions of Flickr30k";

/// P-thought models: file, name, options, the names in the two published tables.
const P_THOUGHTS: [(&str, &str, &str, &str); 4] = [
    ("p-one-bi.senv", "P-thought, one layer, bidirectional", "--structure one-bi", "P-thought one-layer bi"),
    ("p-two-forward.senv", "P-thought, two layers forward", "--structure two-forward", "P-thought two-layer forward"),
    ("p-two-bi.senv", "P-thought, two layers, bidirectional", "--structure two-bi", "P-thought two-layer bi"),
    ("p-alpha.senv", "P-thought, one layer, α = .5", "--structure one-bi --alpha 0.5", ""),
];

/// The pairs that InferSent is trained on: there is no training part of SNLI at hand.
const NLI_PAIRS: &str = "18 K pairs: counterfactual SNLI and its dev part";

/// The captions that PV-DBOW is trained on in the paper's protocol.
const CAPTIONS_TEXT: &str = "captions.txt";

/// PV-DBOW trained on the captions that it is judged by: file, name, settings, seconds.
const ON_CAPTIONS: [(&str, &str, &str, f64); 2] = [
    ("pv-captions.senv", "PV-DBOW, settings for long texts", "--preset paper --dim 300 --epochs 5", 10.0),
    ("pv-captions-fit.senv", "PV-DBOW, settings that fit the text", "--dim 300", 60.0),
];

/// Others: name, data, file, the names of P-coherence and of the STS benchmark in the paper. The published P-coherence
/// of PV-DBOW is that of vectors trained on the captions, which has a table of its own.
const OTHERS: [(&str, &str, &str, &str, &str); 5] = [
    ("PV-DBOW, vectors fitted to sentences", TEXT, "pv-dbow.senv", "", "PV-DBOW"),
    ("Skip-thoughts uni", NEWS, "uni.senv", "Skip-thoughts uni", ""),
    ("Skip-thoughts bi", NEWS, "bi.senv", "Skip-thoughts bi", ""),
    ("Skip-thoughts combined", NEWS, "combined.senv", "Skip-thoughts combine", "SkipThought"),
    ("CBOW with SIF", TEXT, "cbow-sif.senv", "SIF", "SIF"),
];

pub(super) fn paper() -> Paper {
    let mut models = vec![
        cbow(),
        pv_dbow(),
        sent2vec(1),
        sent2vec_bigrams(1),
        Model::new("cbow-sif.senv", 5.0, "train weighted --model $OUT/cbow.senv --input @text"),
    ];
    models.extend(skip_thoughts());
    models.extend(P_THOUGHTS.map(|(file, _, options, _)| {
        let command = format!(
            "train p-thought --captions @flickr --decontaminate @stsb-train @stsb-test --init-vectors $OUT/cbow.senv --hidden 150 --min-count 3 --steps 600 --json {options}"
        );
        Model::new(file, if options.contains("two") { 120.0 } else { 75.0 }, command)
    }));
    let infersent = "train snli --preset infersent --sentence-dim 256 --epochs 8 --train @snli-train --dev @snli-dev --init-vectors $OUT/cbow.senv --json";
    models.push(Model::new("infersent.senv", 90.0, infersent));
    // Lists of sentences do not say who wrote them: --force replaces what a run that was stopped has left.
    let sentences = "eval sentences --data $DATA --only p-coherence --force ?flickr ?coco";
    models.push(Model::new(CAPTIONS_TEXT, 2.0, sentences));
    models.extend(ON_CAPTIONS.map(|(file, _, settings, seconds)| {
        let vectors = file.replace(".senv", ".npy");
        let command = format!(
            "train pv-dbow --input $OUT/{CAPTIONS_TEXT} {settings} --no-check --json --document-vectors $OUT/{vectors}"
        );
        Model::new(file, seconds, command)
    }));
    Paper {
        name: PaperName::PThought,
        title: "P-thought (Jang and Kang, 2018)",
        about: "The paper trains on 2.5 million caption pairs of COCO for four epochs, hidden size 1200, over GloVe of 2 million words; here it is 77 thousand pairs of Flickr30k, hidden size 150, over CBOW vectors of 15.9 million words.",
        models,
        tables: vec![main_table(), trained_on_captions(), map()],
    }
}

fn row(name: &str, data: &'static str, file: &str, coherence: &str, stsb: &str) -> Row {
    let row = Row::new(name, data, [file]);
    let coherence_rows = published_p_coherence();
    let p = coherence_rows.iter().find(|row| row.system == coherence).map(|row| row.p_coherence);
    let stsb_rows = published_stsb();
    let r = stsb_rows.iter().find(|row| row.system == stsb).and_then(|row| row.correlations.pearson_r_x100);
    let theirs = if coherence.is_empty() { stsb } else { coherence };
    if p.is_none() && r.is_none() { row } else { row.beside(theirs, [p, None, r, None, None]) }
}

fn main_table() -> Table {
    let mut rows: Vec<Row> =
        OTHERS.iter().map(|(name, data, file, coherence, stsb)| row(name, data, file, coherence, stsb)).collect();
    rows.push(row("Sent2Vec, words", TEXT, &sent2vec(1).file, "Sent2Vec wiki uni", "Sent2Vec"));
    rows.push(row("Sent2Vec, words and bigrams", TEXT, &sent2vec_bigrams(1).file, "Sent2Vec wiki bi", ""));
    rows.push(row("InferSent, 256 units a direction, 8 epochs", NLI_PAIRS, "infersent.senv", "InferSent", "InferSent"));
    rows.extend(P_THOUGHTS.map(|(file, name, _, theirs)| row(name, CAPTIONS, file, theirs, theirs)));
    Table {
        title: "Tables 3 and 6: P-coherence and STS benchmark",
        about: "P-coherence of COCO captions (4,137 images here, 5,000 there), beside the mean cosine of captions of different images: vectors that all point one way have both high. STS benchmark: Pearson's r x 100 of a regression on frozen vectors by the script of SentEval (squared error, Adam, stopped by the dev part), which is the form of the published figures, but that their program has a lower learning rate, does not shuffle and judges by its last epoch; then of our own regression (cross-entropy with an L2 penalty of C = 1), and of the cosine. Where the test part is not there the dev part is reported, too, which is a little too good for the script. Table 6 does not say which of the Skip-thoughts and of Sent2Vec it has.",
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
        figure: None,
    }
}

/// PV-DBOW by the paper's protocol, beside the vectors that the same models fit to the captions.
fn trained_on_captions() -> Table {
    let published = published_p_coherence().into_iter().find(|row| row.system == "PV-DBOW").map(|row| row.p_coherence);
    let row = |(file, name, _, _): (&str, &str, &str, f64)| {
        Row::new(name, "172 K captions, those of COCO among them", [file])
            .beside("PV-DBOW", [published, None, None, None])
    };
    let of_coco = |path: &str| format!("systems[0].results[task=p-coherence/COCO].{path}");
    Table {
        title: "Table 3: P-coherence of PV-DBOW's own vectors",
        about: "The paper trains PV-DBOW on the captions for training and those for evaluation together and compares the vectors that this gives them, here the captions of Flickr30k, Flickr8k and COCO, each distinct one once. Beside them the vectors that the trained model fits to the same captions, as it does to any sentence. The paper does not give its settings.",
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
        figure: None,
    }
}

fn map() -> Table {
    let mut rows = vec![
        Row::new("Skip-thoughts combined", NEWS, ["combined.senv"]),
        Row::new("CBOW with SIF", TEXT, ["cbow-sif.senv"]),
        Row::new("Sent2Vec, words", TEXT, [sent2vec(1).file]),
    ];
    rows.extend(P_THOUGHTS.iter().take(3).map(|(file, name, _, _)| Row::new(name, CAPTIONS, [*file])));
    Table {
        title: "Figure 3: captions of five images on a plane (t-SNE)",
        about: "Silhouette of the five groups of captions that the paper prints (its Table 4), on the plane and among the vectors: 1 for groups far from each other, 0 for groups that lie in each other. The paper shows plots and no figures, and Skip-thoughts uni where both stand together here.",
        evaluations: vec![Evaluation { command: "eval map --model $MODEL --json @caption-groups", seconds: 0.5 }],
        columns: vec![
            Column::new("on the plane", 0, "silhouette").digits(2),
            Column::new("among vectors", 0, "silhouette_of_embeddings").digits(2),
        ],
        rows,
        figure: None,
    }
}
