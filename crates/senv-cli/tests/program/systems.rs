//! Every system with small settings, and samples to train it on.

use std::fs;

use crate::common::Folder;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");

/// Name and arguments of `senv train`; later systems start from models of earlier ones.
pub(crate) const SYSTEMS: &[(&str, &str)] = &[
    ("sent2vec", "sent2vec --input text.txt --dim 24 --epochs 3"),
    ("sent2vec-paper", "sent2vec --input text.txt --preset paper --dim 40 --epochs 3 --min-count 2 --subsample 1e-3"),
    ("sent2vec-bigrams", "sent2vec --input text.txt --dim 24 --epochs 2 --word-ngrams 2 --negatives-shared none"),
    ("word2vec", "word2vec --input text.txt --dim 24 --epochs 2"),
    ("word2vec-cbow", "word2vec --input text.txt --dim 24 --epochs 3 --architecture cbow --weights sif"),
    ("pv-dbow", "pv-dbow --input text.txt --dim 16 --epochs 3"),
    ("fast-sent", "fast-sent --input text.txt --dim 24 --epochs 2"),
    ("fast-sent-ae", "fast-sent --input text.txt --dim 24 --epochs 1 --autoencode --preset paper"),
    ("siamese-cbow", "siamese-cbow --input text.txt --dim 16 --epochs 1"),
    ("recipe", "--input text.txt --dim 32 --seed 3"),
    (
        "pp",
        "pp --pairs pairs.tsv:2 --neighbours text.txt:1 --loss softmax-cosine --init-vectors word2vec.senv --epochs 4",
    ),
    ("cse", "cse --pairs phrases.tsv --stage2 pairs.tsv --init-vectors word2vec.senv --epochs 2"),
    ("relatedness", "relatedness --model cse.senv --train scored.tsv --dev scored-dev.tsv --epochs 2"),
    ("weighted", "weighted --model sent2vec.senv --input text.txt --scheme sif"),
    ("random-bow", "random-bow --dim 32 --seed 5"),
    ("bow-ae", "bow-ae --input text.txt --dim 16 --epochs 1"),
    ("rnn-ae", "rnn-ae --input text.txt --init-vectors word2vec.senv --hidden 16 --epochs 1 --softmax sampled"),
    ("skip-thought", "skip-thought --input text.txt --dim 12 --sentence-dim 16 --softmax sampled --epochs 1"),
    ("relatedness-gru", "relatedness --model skip-thought.senv --train scored.tsv --dev scored-dev.tsv --epochs 1"),
    ("p-thought", "p-thought --pairs pairs.tsv --init-vectors word2vec.senv --hidden 12 --epochs 1"),
    (
        "order",
        "order --init-model word2vec.senv --train paws.tsv --pairs pairs.tsv --neighbours text.txt --gate sts.tsv --steps 6 --dim 8",
    ),
    ("snli", "snli --train labelled.tsv --init-vectors word2vec.senv --hidden 12 --epochs 1"),
];

/// A folder with all samples that [`SYSTEMS`] are trained on.
pub(crate) fn samples() -> Folder {
    let folder = Folder::new();
    let sample = |name: &str| fs::read_to_string(format!("{DATA}{name}")).unwrap();
    let text = sample("quickstart.txt");
    folder.write("text.txt", &text);
    folder.write(
        "sentences.txt",
        text.lines().filter(|line| !line.is_empty()).step_by(61).collect::<Vec<_>>().join("\n"),
    );
    let pairs = sample("sentence-pairs-sample.tsv");
    let labels = ["entailment", "neutral", "contradiction"];
    let labelled = pairs.lines().filter(|line| line.contains('\t')).enumerate();
    folder.write("labelled.tsv", labelled.map(|(i, line)| format!("{}\t{line}\n", labels[i % 3])).collect::<String>());
    let paws = pairs.lines().filter(|line| line.contains('\t')).enumerate();
    folder.write("paws.tsv", paws.map(|(i, line)| format!("{}\t{line}\n", i % 2)).collect::<String>());
    for (name, from) in [
        ("pairs.tsv", "sentence-pairs-sample.tsv"),
        ("phrases.tsv", "phrase-pairs-sample.tsv"),
        ("scored.tsv", "sick-train-sample.tsv"),
        ("scored-dev.tsv", "sick-trial-sample.tsv"),
        ("sts.tsv", "sts-sample.tsv"),
    ] {
        folder.write(name, sample(from));
    }
    folder
}
