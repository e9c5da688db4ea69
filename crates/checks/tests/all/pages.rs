//! Pages with programs are compiled.

use std::{fs, path::Path};

use crate::workspace::root;

#[test]
fn every_page_with_a_program_is_compiled() {
    let compiled = fs::read_to_string(root().join("crates/checks/src/lib.rs")).unwrap();
    let mut n = 0;
    for folder in ["docs", "docs/guide", "docs/experiments"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            if !is_page || !fs::read_to_string(&path).unwrap().lines().any(|line| line.starts_with("```rust")) {
                continue;
            }
            let name = path.strip_prefix(root().join("docs")).unwrap_or(Path::new("")).display().to_string();
            assert!(compiled.contains(&format!("\"{name}\"")), "docs/{name} is not in crates/checks/src/lib.rs");
            n += 1;
        }
    }
    assert!(n >= 7, "only {n} pages were found");
}
