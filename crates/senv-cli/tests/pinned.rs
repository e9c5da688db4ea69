//! What every system makes of a small fixed text, pinned: nothing may change silently.
//!
//! For each system the SHA-256 of the vectors of forty sentences, of what is nearest to one of them and of its STS report
//! are compared with `data/pinned.json`. A change that is meant to change figures writes that file anew, in a commit that
//! says so:
//!
//! ```text
//! SENV_PIN=write cargo test -p senv-cli --test pinned
//! ```
//!
//! Other SIMD levels add in another order, so the hashes are compared where AVX-512 is; that the number of threads changes
//! nothing is tested everywhere.

mod common;

use std::{collections::BTreeMap, fs, path::PathBuf};

use common::Folder;
use sha2::{Digest, Sha256};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");

/// Name, whether it is pinned, arguments of `senv train`; later ones build on earlier ones.
const SYSTEMS: &[(&str, &str)] = &[
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
        "pp --pairs pairs.tsv:2 --neighbours text.txt:1 --loss softmax-cosine --init-vectors sent2vec.senv --epochs 1",
    ),
    ("cse", "cse --pairs phrases.tsv --stage2 pairs.tsv --init-vectors sent2vec.senv --epochs 2"),
    ("relatedness", "relatedness --model cse.senv --train scored.tsv --dev scored-dev.tsv --epochs 2"),
    ("weighted", "weighted --model sent2vec.senv --input text.txt --scheme sif"),
    ("random-bow", "random-bow --dim 32 --seed 5"),
    ("bow-ae", "bow-ae --input text.txt --dim 16 --epochs 1"),
    ("rnn-ae", "rnn-ae --input text.txt --init-vectors sent2vec.senv --hidden 16 --epochs 1 --softmax sampled"),
    ("skip-thought", "skip-thought --input text.txt --dim 12 --sentence-dim 16 --softmax sampled --epochs 1"),
    ("p-thought", "p-thought --pairs pairs.tsv --init-vectors sent2vec.senv --hidden 12 --epochs 1"),
    ("snli", "snli --train labelled.tsv --init-vectors sent2vec.senv --hidden 12 --epochs 1"),
];

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn folder() -> Folder {
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

/// Vectors, neighbours and the report of a model.
fn results(folder: &Folder, model: &str) -> [String; 3] {
    folder.run(&["encode", "--model", model, "--input", "sentences.txt", "--output", "v.npy", "--force"]).ok();
    let query = "The train to the coast was late.";
    let nearest = ["nearest", "--model", model, "--input", "sentences.txt", "--query", query, "--k", "5"];
    let sts = ["eval", "sts", "--model", model, "sts.tsv", "--no-floor", "--json"];
    let overall = |report: &serde_json::Value| report["overall"].to_string();
    [
        hash(&fs::read(folder.path("v.npy")).unwrap()),
        hash(folder.run(&nearest).ok().out.as_bytes()),
        hash(overall(&folder.run(&sts).ok().json()).as_bytes()),
    ]
}

#[test]
fn no_figure_of_any_system_changes_silently() {
    let folder = folder();
    let mut found = BTreeMap::new();
    for (name, arguments) in SYSTEMS {
        let output = format!("{name}.senv");
        for threads in ["1", "2", "5"] {
            let mut command = vec!["train"];
            command.extend(arguments.split(' '));
            command.extend(["--output", &output, "--threads", threads, "--force"]);
            folder.run(&command).ok();
            let results = results(&folder, &output);
            let first = found.entry((*name).to_owned()).or_insert_with(|| results.clone());
            assert_eq!(*first, results, "{name} at {threads} threads");
        }
    }
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pinned.json"));
    if std::env::var_os("SENV_PIN").is_some() {
        let text = serde_json::to_string_pretty(&found).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(path, text + "\n").unwrap();
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f") {
        let pinned: BTreeMap<String, [String; 3]> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(pinned.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
        for (name, pinned) in pinned {
            assert_eq!(found[&name], pinned, "{name}: vectors, neighbours, STS report");
        }
    }
}
