//! Comments keep to 120 columns, like code. Rows of tables, and examples and equations between fences, may be longer.

use std::fs;

use crate::workspace::{root, rust_files};

const MOST: usize = 120;

/// The numbers of the lines that are too long, from 1.
fn too_long(source: &str) -> Vec<usize> {
    let (mut found, mut in_fence) = (Vec::new(), false);
    for (i, line) in source.lines().enumerate() {
        let text = line.trim_start();
        let comment = text.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim_start());
        match comment {
            Some(text) if text.starts_with("```") => in_fence = !in_fence,
            Some(_) => {}
            None => in_fence = false,
        }
        let may_be_long = comment.is_none_or(|text| in_fence || text.starts_with('|'));
        if line.chars().count() > MOST && !may_be_long {
            found.push(i + 1);
        }
    }
    found
}

#[test]
fn comments_keep_to_120_columns() {
    let mut wrong = Vec::new();
    for folder in ["crates", "examples", "benches"] {
        for file in rust_files(&root().join(folder)) {
            let source = fs::read_to_string(&file).expect("a source file");
            let name = file.strip_prefix(root()).expect("below the root").display().to_string();
            wrong.extend(too_long(&source).into_iter().map(|line| format!("{name}:{line}")));
        }
    }
    assert!(wrong.is_empty(), "lines above {MOST} columns:\n{}", wrong.join("\n"));
}

#[test]
fn a_long_line_is_found_unless_it_cannot_be_broken() {
    let long = "x".repeat(MOST);
    let source = format!("// {long}\n/// | {long} |\n/// ```\n/// {long}\n/// ```\n//! {long}\nlet a = {long};\n");
    assert_eq!(too_long(&source), [1, 6]);
}
