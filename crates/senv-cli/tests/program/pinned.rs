//! Pins the results of every system on a small fixed text, so that none changes unnoticed.
//!
//! For each system, the SHA-256 of three results is compared with `data/pinned.json`: the vectors of forty sentences,
//! the nearest sentences of one of them, and the STS report. A change that is meant to change figures rewrites that
//! file, in a commit that says so:
//!
//! ```text
//! SENV_PIN=write cargo test -p senv-cli --test program pinned
//! ```
//!
//! Other SIMD levels add in a different order, so hashes are compared only with AVX-512. Every machine tests that the
//! number of threads changes nothing.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use crate::{
    common::Folder,
    systems::{SYSTEMS, bring, bring_starts, samples, train, trained},
};
use sha2::{Digest, Sha256};

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Vectors, neighbors and report of a model.
fn results(folder: &Folder, model: &str) -> [String; 3] {
    folder.run(&["encode", "--model", model, "--input", "sentences.txt", "--output", "v.npy", "--force"]).ok();
    let query = "The train to the coast was late.";
    let nearest = ["nearest", "--model", model, "--input", "sentences.txt", "--query", query, "--k", "5"];
    let sts = ["eval", "sts", "--model", model, "sts.tsv", "--no-floor", "--resamples", "0", "--json"];
    // The printed text, because the last digit of a parsed number may depend on the features of the parser.
    let report = folder.run(&sts).ok().out;
    let overall = report.find("\"overall\"").map_or("", |start| &report[start..]);
    [
        hash(&fs::read(folder.path("v.npy")).unwrap()),
        hash(folder.run(&nearest).ok().out.as_bytes()),
        hash(overall.as_bytes()),
    ]
}

#[test]
fn no_figure_of_any_system_changes_silently() {
    let folder = samples();
    let results = |name: &str| {
        bring(&folder, name);
        results(&folder, &format!("{name}.senv"))
    };
    let found: BTreeMap<String, [String; 3]> =
        SYSTEMS.iter().map(|(name, _)| ((*name).to_owned(), results(name))).collect();
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/data/pinned.json"));
    #[cfg(target_arch = "x86_64")]
    let is_pinned = std::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    let is_pinned = false;
    if env::var_os("SENV_PIN").is_some() {
        assert!(is_pinned, "pins are written on a processor with AVX-512, where they are compared");
        let text = serde_json::to_string_pretty(&found).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(path, text + "\n").unwrap();
    }
    if is_pinned {
        let pinned: BTreeMap<String, [String; 3]> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let missing: Vec<_> = found.keys().filter(|name| !pinned.contains_key(*name)).collect();
        assert!(
            missing.is_empty() && pinned.len() == found.len(),
            "{missing:?} have no pins, or others have one too many: SENV_PIN=write cargo test -p senv-cli --test program pinned"
        );
        for (name, pinned) in pinned {
            assert_eq!(found[&name], pinned, "{name}: vectors, neighbours, STS report");
        }
    }
}

/// The models that all tests share are trained with one thread, and this test trains them again with five. Two threads
/// are only tested when pins are written, and with `SENV_ALL_THREADS=1`.
#[test]
fn any_number_of_threads_makes_the_same_files() {
    let folder = samples();
    let all = ["SENV_PIN", "SENV_ALL_THREADS"].iter().any(|name| env::var_os(name).is_some());
    for (name, _) in SYSTEMS {
        bring_starts(&folder, name);
        for threads in if all { &[2, 5][..] } else { &[5] } {
            train(&folder, name, *threads, &["--quiet", "--force"]).ok();
            let same = folder.read(&format!("{name}.senv")) == trained(name).model;
            assert!(same, "{name}: one thread and {threads} make different files");
        }
    }
}
