//! Kenter, Borisov and de Rijke 2016: Siamese CBOW.

mod claims;
mod figures;
mod tables;

use super::common::{cbow, fast_sent, skip_gram, skip_thoughts, with_seeds};
use crate::{
    paper::{Model, Paper},
    paper_name::PaperName,
};

/// An optimizer that learns from little text; the preset uses the paper's optimizer.
const ADAM: &str = "--optimizer adam --lr 1e-3";

/// Models of Table 1 other than word2vec and Skip-thoughts: file, name, and options that differ from the preset.
const VARIANTS: [(&str, &str, &str); 6] = [
    ("scbow-sgd-mean.senv", "Siamese CBOW, SGD 1e-4 (as printed)", ""),
    ("scbow-sgd-sum.senv", "Siamese CBOW, SGD 1e-2 (= 1e-4 on the sum of a batch)", "--lr 1e-2"),
    ("scbow-sgd-1.senv", "Siamese CBOW, SGD, rate 1", "--lr 1"),
    ("scbow-adam.senv", "Siamese CBOW, Adam", ADAM),
    (
        "scbow-from-cbow.senv",
        "Siamese CBOW, Adam, from CBOW's vectors",
        "--optimizer adam --lr 1e-3 --init-vectors $OUT/cbow.senv",
    ),
    ("scbow-temperature.senv", "Siamese CBOW, Adam, temperature .1", "--optimizer adam --lr 1e-3 --temperature 0.1"),
];

/// Figures 2 to 4, with Adam: file, name, options that differ, and seconds.
const CURVES: [(&str, &str, &str, f64); 12] = [
    ("curve-base.senv", "1 epoch, 2 negatives, 300 dimensions", "", 8.0),
    ("curve-epochs-2.senv", "2 epochs", "--epochs 2", 14.0),
    ("curve-epochs-3.senv", "3 epochs", "--epochs 3", 20.0),
    ("curve-epochs-4.senv", "4 epochs", "--epochs 4", 26.0),
    ("curve-epochs-5.senv", "5 epochs", "--epochs 5", 33.0),
    ("curve-negatives-1.senv", "1 negative", "--negatives 1", 7.0),
    ("curve-negatives-5.senv", "5 negatives", "--negatives 5", 11.0),
    ("curve-negatives-10.senv", "10 negatives", "--negatives 10", 17.0),
    ("curve-dim-50.senv", "50 dimensions", "--dim 50", 4.0),
    ("curve-dim-100.senv", "100 dimensions", "--dim 100", 5.0),
    ("curve-dim-200.senv", "200 dimensions", "--dim 200", 7.0),
    ("curve-temperature.senv", "temperature .1", "--temperature 0.1", 8.0),
];

pub(super) fn paper() -> Paper {
    let model = |text: &str, file: &str, options: &str, seconds| {
        let command = format!("train siamese-cbow --preset paper --input {text} --no-check --json {options}");
        Model::new(file, seconds, command.trim_end())
    };
    let mut models: Vec<Model> =
        VARIANTS.iter().map(|(file, _, options)| model("@text", file, options, 45.0)).collect();
    models.extend(CURVES.iter().map(|(file, _, options, seconds)| {
        model("@small-text", file, format!("{ADAM} {options}").trim_end(), *seconds)
    }));
    models.extend([cbow(), skip_gram(), fast_sent()]);
    let mut models: Vec<Model> = models.iter().flat_map(with_seeds).collect();
    models.extend(skip_thoughts());
    let mut tables = tables::tables();
    tables.extend(figures::tables());
    Paper {
        name: PaperName::SiameseCbow,
        title: "Siamese CBOW (Kenter, Borisov and de Rijke, ACL 2016)",
        about: "The paper trains on 74 million sentences of novels (1,057 million words). We train on .68 million \
            sentences of news, speeches and encyclopedia text, in their original order (15.9 million words), with one \
            epoch, two negatives, 300 dimensions and no temperature, as in the paper. Rows with SGD 1e-4 use the \
            paper's optimizer (gradient descent at 1e-4). A rate of 1e-2 compensates for 66 times less text, and \
            equals a rate of 1e-4 on the sum of a batch of 100 instead of its mean. Rows with Adam use a rate of 1e-3. \
            Means of three seeds.",
        models,
        tables,
        claims: claims::claims(),
    }
}
