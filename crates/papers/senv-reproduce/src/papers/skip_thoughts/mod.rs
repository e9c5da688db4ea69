//! The paper on Skip-thoughts fine-tuned on SNLI, compared with bags of words and autoencoders.

mod claims;
mod space;
mod supervised;

use super::common::{NEWS, TEXT, cbow, seeded, skip_thoughts, with_seeds};
use crate::{
    paper::{Model, Paper, Row},
    paper_name::PaperName,
};

const SNLI: &str = "18 K pairs of SNLI";

/// Systems: name, data, file, and the name in the paper.
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
    ("averages of CBOW, the start of all systems", TEXT, "cbow.senv", ""),
];

pub(super) fn paper() -> Paper {
    let snli = "train snli --train @snli-train --dev @snli-dev --json";
    let text = "--input @news --init-vectors $OUT/cbow.senv --min-count 3 --json";
    let trained = [
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
    ];
    let mut models = skip_thoughts();
    models.extend(trained.iter().flat_map(with_seeds));
    let mut tables = supervised::tables();
    tables.extend(space::tables());
    Paper {
        name: PaperName::SkipThoughts,
        title: "Skip-thoughts fine-tuned on SNLI (Triantafillou et al., RepL4NLP 2016)",
        about: "The paper's encoders have hidden size 2400 and saw 74 million sentences of novels for weeks; ours \
            have 400 (SNLI RNN: 300) and see 64 thousand of .27 million sentences (1,000 steps of 64). The paper's \
            SNLI has 549 thousand pairs. We do not have its training part and use 18 thousand pairs (the dev part and \
            the counterfactual pairs, whose own dev part chooses the weights).",
        models,
        tables,
        claims: claims::claims(),
    }
}

/// Returns the rows of all systems. `published` returns the published values by the name in the paper.
fn rows(n_columns: usize, published: impl Fn(&str) -> Option<Vec<Option<f64>>>) -> Vec<Row> {
    let row = |(name, data, file, theirs): (&str, &'static str, &str, &str)| {
        let row = Row::new(name, data, seeded(file));
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
