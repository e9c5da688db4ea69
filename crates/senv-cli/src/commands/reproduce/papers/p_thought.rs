//! The P-thought paper: paraphrases predicted from a sentence vector.

use senv_eval::{published_p_coherence, published_stsb};

use super::{
    super::recipe::{Column, Evaluation, Model, Paper, Row, Table},
    common::{EVAL_STSB, NEWS, TEXT, cbow, pv_dbow, sent2vec, sent2vec_bigrams, skip_thoughts},
};

const CAPTIONS: &str = "149 K captions of Flickr30k";

/// P-thought models: file, name, options, the names in the two published tables.
const P_THOUGHTS: [(&str, &str, &str, &str); 4] = [
    ("p-one-bi.senv", "P-thought, one layer, bidirectional", "--structure one-bi", "P-thought one-layer bi"),
    ("p-two-forward.senv", "P-thought, two layers forward", "--structure two-forward", "P-thought two-layer forward"),
    ("p-two-bi.senv", "P-thought, two layers, bidirectional", "--structure two-bi", "P-thought two-layer bi"),
    ("p-alpha.senv", "P-thought, one layer, α = .5", "--structure one-bi --alpha 0.5", ""),
];

/// Others: name, data, file, the names of P-coherence and of the STS benchmark in the paper.
const OTHERS: [(&str, &str, &str, &str, &str); 5] = [
    ("PV-DBOW", TEXT, "pv-dbow.senv", "PV-DBOW", "PV-DBOW"),
    ("Skip-thoughts uni", NEWS, "uni.senv", "Skip-thoughts uni", ""),
    ("Skip-thoughts bi", NEWS, "bi.senv", "Skip-thoughts bi", ""),
    ("Skip-thoughts combined", NEWS, "combined.senv", "Skip-thoughts combine", "SkipThought"),
    ("CBOW with SIF", TEXT, "cbow-sif.senv", "SIF", "SIF"),
];

pub(crate) fn paper() -> Paper {
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
    Paper {
        name: "p-thought",
        title: "P-thought (P-thought paper)",
        about: "The paper trains on 2.5 million caption pairs of COCO for four epochs, hidden size 1200, over GloVe of 2 million words; here it is 77 thousand pairs of Flickr30k, hidden size 150, over CBOW vectors of 15.9 million words.",
        models,
        tables: vec![main_table(), map()],
    }
}

fn row(name: &str, data: &'static str, file: &str, coherence: &str, stsb: &str) -> Row {
    let row = Row::new(name, data, [file]);
    let coherence_rows = published_p_coherence();
    let p = coherence_rows.iter().find(|row| row.system == coherence).map(|row| row.p_coherence);
    let stsb_rows = published_stsb();
    let r = stsb_rows.iter().find(|row| row.system == stsb).and_then(|row| row.correlations.pearson_r_x100);
    if p.is_none() && r.is_none() { row } else { row.beside(coherence, [p, None, r, None]) }
}

fn main_table() -> Table {
    let mut rows: Vec<Row> =
        OTHERS.iter().map(|(name, data, file, coherence, stsb)| row(name, data, file, coherence, stsb)).collect();
    rows.push(row("Sent2Vec, words", TEXT, &sent2vec(1).file, "Sent2Vec wiki uni", "Sent2Vec"));
    rows.push(row("Sent2Vec, words and bigrams", TEXT, &sent2vec_bigrams(1).file, "Sent2Vec wiki bi", ""));
    rows.extend(P_THOUGHTS.map(|(file, name, _, theirs)| row(name, CAPTIONS, file, theirs, theirs)));
    Table {
        title: "P-coherence and STS benchmark",
        about: "P-coherence of COCO captions (4,137 images here, 5,000 there), beside the mean cosine of captions of different images: vectors that all point one way have both high. STS benchmark: Pearson's r x 100 of a regression on frozen vectors, the dev part where the test part is not there, and of the cosine.",
        evaluations: vec![
            Evaluation { command: "eval p-coherence --model $MODEL --json @coco", seconds: 2.0 },
            EVAL_STSB,
        ],
        columns: vec![
            Column::new("P-coherence", 0, "p_coherence").digits(3),
            Column::new("different images", 0, "random_pairs.mean_cosine").digits(3),
            Column::new("STS benchmark", 1, "results[scored_by=supervised].tasks[0].pearson_r_x100"),
            Column::new("by cosine", 1, "results[scored_by=cosine].tasks[0].pearson_r_x100"),
        ],
        rows,
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
        title: "Scatter plots: captions of five images on a plane (t-SNE)",
        about: "Silhouette of the five groups of captions that the paper prints, on the plane and among the vectors: 1 for groups far from each other, 0 for groups that lie in each other. The paper shows plots and no figures.",
        evaluations: vec![Evaluation { command: "eval map --model $MODEL --json @caption-groups", seconds: 0.5 }],
        columns: vec![
            Column::new("on the plane", 0, "silhouette").digits(2),
            Column::new("among vectors", 0, "silhouette_of_embeddings").digits(2),
        ],
        rows,
        figure: None,
    }
}
