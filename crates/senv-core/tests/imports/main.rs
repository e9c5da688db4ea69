//! How the files of each crate use each other, read from their `use` lines and paths: no circles, and folders in the
//! order of the data.

mod graph;
mod source;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

/// Circles that are meant, by crate: their files, and why.
const MEANT: &[(&str, &[&str], &str)] = &[];

fn crates() -> Vec<(String, PathBuf, &'static str)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        for root in ["lib.rs", "main.rs"] {
            let src = path.join("src");
            if src.join(root).exists() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name, src, root));
            }
        }
    }
    found.sort();
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

/// Number of uses from each folder or file at the top of a crate to each other, for a look at the order.
#[test]
fn dump() {
    let Ok(krate) = env::var("SENV_IMPORTS_OF") else { return };
    for (name, src, root) in crates().into_iter().filter(|(name, ..)| *name == krate) {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        let top = |file: &Path| {
            file.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned()).unwrap_or_default()
        };
        for (file, targets) in graph::uses(&source::modules(&src, root)) {
            for target in targets {
                if top(&file) != top(&target) {
                    *counts.entry((top(&file), top(&target))).or_default() += 1;
                }
            }
        }
        println!("{name}");
        counts.iter().for_each(|((from, to), n)| println!("{from} -> {to}: {n}"));
    }
}
