//! Where the crates are.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root of the workspace")
}

/// The folders of all crates, those of their own lock files too: `crates/NAME`, `crates/PRODUCT/NAME`.
pub(crate) fn crate_folders() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in entries(&root().join("crates")) {
        let folders = if folder.join("Cargo.toml").exists() { vec![folder] } else { entries(&folder) };
        found.extend(folders.into_iter().filter(|folder| folder.join("Cargo.toml").exists()));
    }
    assert!(found.len() > 20, "only {} crates were found", found.len());
    found
}

/// All Rust files below a folder, but those that were built.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}
