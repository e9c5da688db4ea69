//! Locations of the crates, and contents of their manifests.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root of the workspace")
}

/// Cargo's metadata for the packages of the workspace.
pub(crate) fn metadata() -> Value {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The folders of all crates, including those with their own lock files: `crates/NAME`, `crates/PRODUCT/NAME`.
pub(crate) fn crate_folders() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in entries(&root().join("crates")) {
        let folders = if folder.join("Cargo.toml").exists() { vec![folder] } else { entries(&folder) };
        found.extend(folders.into_iter().filter(|folder| folder.join("Cargo.toml").exists()));
    }
    assert!(found.len() > 20, "only {} crates were found", found.len());
    found
}

/// All Rust files in a folder, except build output.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, &["rs"])
}

/// All files in a folder with one of the endings. Build output and hidden folders are skipped.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|ending| endings.iter().any(|&one| one == ending)) {
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
