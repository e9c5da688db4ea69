//! How the files of each crate use each other, read from their `use` lines and paths. There must be no cycles, and
//! folders must follow the order of the data.

mod graph;
mod source;

use std::path::{Path, PathBuf};

use crate::workspace::crate_folders;

/// Intended cycles by crate: the files and the reason.
const MEANT: &[(&str, &[&str], &str)] = &[(
    "senv-model",
    &["static_model/encoder.rs", "static_model/order/part.rs", "static_model/order/words.rs"],
    "an encoder holds its order part, which reads words as the encoder does",
)];

fn crates() -> Vec<(String, PathBuf, &'static str)> {
    let mut found = Vec::new();
    let in_workspace = |folder: &PathBuf| !folder.components().any(|part| part.as_os_str() == "cluster");
    for folder in crate_folders().into_iter().filter(in_workspace) {
        for root in ["lib.rs", "main.rs"] {
            let src = folder.join("src");
            if src.join(root).exists() {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name, src, root));
            }
        }
    }
    found
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for (name, src, root) in crates() {
        let uses = graph::uses(&source::modules(&src, root));
        for circle in graph::circles(&uses) {
            let files: Vec<String> = circle.iter().map(|file| file.display().to_string()).collect();
            if MEANT.iter().any(|(krate, meant, _)| *krate == name && files == *meant) {
                continue;
            }
            let within = |file: &PathBuf| {
                let targets = uses[file].iter().filter(|target| circle.contains(target));
                targets.map(|target| target.display().to_string()).collect::<Vec<_>>().join(", ")
            };
            let lines: Vec<String> =
                circle.iter().map(|file| format!("    {} uses {}", file.display(), within(file))).collect();
            wrong.push(format!("{name}: {} files\n{}", circle.len(), lines.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "files that use each other:\n{}", wrong.join("\n"));
}

/// The folders and files at the top of a crate, from the bottom up. None may use a later one.
const ORDERS: &[(&str, &[&str])] = &[
    (
        "senv-base",
        &[
            "counts.rs",
            "quoted.rs",
            "error",
            "registry.rs",
            "ids.rs",
            "hash.rs",
            "rng.rs",
            "rows.rs",
            "memory.rs",
            "shared_bytes.rs",
            "map.rs",
            "observer.rs",
            "threads.rs",
            "lib.rs",
        ],
    ),
    ("senv-kernels", &["math.rs", "table.rs", "kernels", "few_rows.rs", "float.rs", "compiled_here.rs", "lib.rs"]),
    ("senv-model", &["words", "encoder.rs", "known_words.rs", "files", "static_model", "writing", "lib.rs"]),
    (
        "senv-training",
        &[
            "matmul.rs",
            "init",
            "least_squares.rs",
            "gradcheck.rs",
            "parameters.rs",
            "token_batch.rs",
            "checkpoint.rs",
            "ranks",
            "corpus",
            "optim",
            "hyperparameters",
            "run_options.rs",
            "lib.rs",
        ],
    ),
    (
        "senv",
        &[
            "error.rs",
            "base",
            "data",
            "check",
            "average",
            "gradient",
            "start",
            "model",
            "model2vec",
            "compress",
            "sequence",
            "system",
            "targets",
            "systems",
            "train_job.rs",
            "grid_search",
            "recipe",
            "jobs",
            "collection",
            "sentence_index",
            "evaluation",
            "parts.rs",
            "prelude.rs",
            "lib.rs",
        ],
    ),
    (
        "senv-eval",
        &[
            "error.rs",
            "report.rs",
            "sizes.rs",
            "score",
            "published",
            "plot",
            "sts",
            "ranking",
            "probe",
            "latency.rs",
            "order",
            "bench",
            "mteb",
            "lib.rs",
        ],
    ),
    (
        "senv-reproduce",
        &[
            "error.rs",
            "paper_name.rs",
            "claims.rs",
            "paper.rs",
            "papers",
            "options.rs",
            "data.rs",
            "plan.rs",
            "observer.rs",
            "runner.rs",
            "checksums.rs",
            "report",
            "reproduction.rs",
            "run.rs",
            "lib.rs",
        ],
    ),
];

#[test]
fn folders_stand_in_the_order_in_which_they_use_each_other() {
    let crates = crates();
    let mut wrong = Vec::new();
    for (name, order) in ORDERS {
        let (_, src, root) = crates.iter().find(|(krate, ..)| krate == name).expect("a crate");
        let place = |file: &Path| {
            let top = file.components().next().map(|part| part.as_os_str().to_owned()).unwrap_or_default();
            order
                .iter()
                .position(|known| top == **known)
                .unwrap_or_else(|| panic!("{name}: {} has no place", top.display()))
        };
        for (file, targets) in graph::uses(&source::modules(src, root)) {
            let up = targets.iter().filter(|target| place(target) > place(&file));
            wrong.extend(up.map(|target| format!("{name}: {} uses {}", file.display(), target.display())));
        }
    }
    assert!(wrong.is_empty(), "uses of what stands above:\n{}", wrong.join("\n"));
}
