//! The P-thought paper: paraphrases predicted from a sentence vector.

mod claims;
mod data;
mod tables;

use super::common::{NEWS, TEXT, cbow, pv_dbow, pv_dbow_fitted, sent2vec, sent2vec_bigrams, skip_thoughts, with_seeds};
use crate::{
    paper::{Model, Paper},
    paper_name::PaperName,
};

const CAPTIONS: &str = "149 K captions of Flickr30k";

/// P-thought models: file, name, options, and the name in both published tables.
const P_THOUGHTS: [(&str, &str, &str, &str); 4] = [
    ("p-one-bi.senv", "P-thought, one layer, bidirectional", "--structure one-bi", "P-thought one-layer bi"),
    ("p-two-forward.senv", "P-thought, two layers forward", "--structure two-forward", "P-thought two-layer forward"),
    ("p-two-bi.senv", "P-thought, two layers, bidirectional", "--structure two-bi", "P-thought two-layer bi"),
    ("p-alpha.senv", "P-thought, one layer, α = .5", "--structure one-bi --alpha 0.5", ""),
];

/// The training pairs of InferSent, because the training part of SNLI is not available.
const NLI_PAIRS: &str = "18 K pairs: counterfactual SNLI and its dev part";

/// The captions that PV-DBOW is trained on in the paper's protocol.
const CAPTIONS_TEXT: &str = "captions.txt";

/// PV-DBOW trained on the captions that it is evaluated on: file, name, settings, seconds.
const ON_CAPTIONS: [(&str, &str, &str, f64); 2] = [
    ("pv-captions.senv", "PV-DBOW, settings for long texts", "--preset large-text --dim 300 --epochs 5", 10.0),
    ("pv-captions-fit.senv", "PV-DBOW, settings that fit the text", "--dim 300", 60.0),
];

/// Other systems: name, data, file, and the names in the paper's tables of P-coherence and of the STS benchmark. The
/// published P-coherence of PV-DBOW is for vectors trained on the captions, which have their own table.
const OTHERS: [(&str, &str, &str, &str, &str); 6] = [
    ("PV-DBOW, settings for long documents", TEXT, "pv-dbow.senv", "", "PV-DBOW"),
    ("PV-DBOW, defaults", TEXT, "pv-dbow-fit.senv", "", ""),
    ("Skip-thoughts uni", NEWS, "uni.senv", "Skip-thoughts uni", ""),
    ("Skip-thoughts bi", NEWS, "bi.senv", "Skip-thoughts bi", ""),
    ("Skip-thoughts combined", NEWS, "combined.senv", "Skip-thoughts combine", "SkipThought"),
    ("CBOW with SIF", TEXT, "cbow-sif.senv", "SIF", "SIF"),
];

pub(super) fn paper() -> Paper {
    let mut several = vec![
        cbow(),
        pv_dbow(),
        pv_dbow_fitted(),
        Model::new("cbow-sif.senv", 5.0, "train weighted --model $OUT/cbow.senv --input @text"),
        Model::new(
            "infersent.senv",
            90.0,
            "train snli --preset infersent --sentence-dim 256 --epochs 8 --train @snli-train --dev @snli-dev --init-vectors $OUT/cbow.senv --json",
        ),
    ];
    several.extend(P_THOUGHTS.map(|(file, _, options, _)| {
        let command = format!(
            "train p-thought --captions @flickr --decontaminate @stsb-train @stsb-test --init-vectors $OUT/cbow.senv --hidden 150 --min-count 3 --steps 600 --json {options}"
        );
        Model::new(file, if options.contains("two") { 120.0 } else { 75.0 }, command)
    }));
    // Word weights have no seed, and all models start from the same words.
    let is_seeded = |model: &Model| !["cbow.senv", "cbow-sif.senv"].contains(&&model.file[..]);
    let mut models: Vec<Model> = Vec::new();
    for model in &several {
        if is_seeded(model) {
            models.extend(with_seeds(model));
        } else {
            models.push(model.clone());
        }
    }
    models.extend(skip_thoughts());
    models.extend([1, 2, 3].into_iter().flat_map(|seed| [sent2vec(seed), sent2vec_bigrams(seed)]));
    // Lists of sentences do not record who wrote them, so `--force` replaces files left by a stopped run.
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
        about: "The paper trains on 2.5 million caption pairs of COCO for four epochs, with hidden size 1200 and \
            GloVe vectors of 2 million words. Here training uses 77 thousand pairs of Flickr30k, hidden size 150, and \
            CBOW vectors trained on 15.9 million words.",
        models,
        tables: tables::tables(),
        claims: claims::claims(),
    }
}
