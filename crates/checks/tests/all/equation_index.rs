//! Compares `docs/equations.md` with the code: every equation has one key, one row and one file.

use std::{collections::BTreeMap, fs};

use crate::workspace::{crate_folders, root, rust_files};

/// The text before the key of an equation in a source file.
const MARK: &str = "//! Equation: `";

/// The keys that a source file declares. More words may follow on the line.
fn declared(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| Some(line.trim().strip_prefix(MARK)?.split_once('`')?.0))
}

/// Key and file of each row of the index.
fn rows(index: &str) -> Vec<(String, String)> {
    let cell = |text: &str| text.trim().trim_matches('`').to_owned();
    index
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').collect();
            assert_eq!(cells.len(), 4, "a row has four columns: {line}");
            assert!(cells.iter().all(|cell| !cell.trim().is_empty()), "an empty column: {line}");
            (cell(cells[0]), cell(cells[2]))
        })
        .collect()
}

/// Differences between the keys in the code (key, file) and the rows of the index.
fn differences(code: &[(String, String)], index: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut files = BTreeMap::new();
    for (key, file) in code {
        if let Some(other) = files.insert(key, file) {
            found.push(format!("`{key}` stands in {other} and in {file}: one equation, one file"));
        }
    }
    for (key, file) in &files {
        match index.iter().find(|(row, _)| row == *key) {
            None => found.push(format!("`{key}` of {file} has no row")),
            Some((_, named)) if named != *file => found.push(format!("`{key}` is in {file}, its row says {named}")),
            Some(_) => {}
        }
    }
    for pair in index.windows(2).filter(|pair| pair[0].0 >= pair[1].0) {
        found.push(format!("`{}` follows `{}`: rows are sorted by key, one a key", pair[1].0, pair[0].0));
    }
    for (key, _) in index.iter().filter(|(key, _)| !files.contains_key(key)) {
        found.push(format!("`{key}` has a row and no file"));
    }
    found
}

#[test]
fn every_equation_has_one_row_and_one_file() {
    let root = root();
    let files = crate_folders().into_iter().flat_map(|folder| rust_files(&folder.join("src")));
    let mut code = Vec::new();
    for path in files {
        let source = fs::read_to_string(&path).expect("a source file");
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        code.extend(declared(&source).map(|key| (key.to_owned(), name.clone())));
    }
    assert!(code.iter().any(|(key, _)| key == "adam"), "the search finds nothing");
    let index = fs::read_to_string(root.join("docs/equations.md")).expect("docs/equations.md");
    let found = differences(&code, &rows(&index));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn each_kind_of_difference_is_found() {
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, f)| ((*k).to_owned(), (*f).to_owned())).collect();
    let code: Vec<_> = pairs(&[("adam", "a.rs"), ("cosine", "b.rs")]);
    let check = |index: &[(&str, &str)]| differences(&code, &pairs(index)).len();
    assert_eq!(check(&[("adam", "a.rs"), ("cosine", "b.rs")]), 0);
    assert_eq!(check(&[("adam", "a.rs")]), 1, "a key without a row");
    assert_eq!(check(&[("adam", "a.rs"), ("bias", "b.rs"), ("cosine", "b.rs")]), 1, "a row without a key");
    assert_eq!(check(&[("adam", "b.rs"), ("cosine", "b.rs")]), 1, "another file");
    assert_eq!(check(&[("cosine", "b.rs"), ("adam", "a.rs")]), 1, "not sorted");
    assert_eq!(check(&[("adam", "a.rs"), ("adam", "a.rs"), ("cosine", "b.rs")]), 1, "two rows");
    let twice: Vec<_> = pairs(&[("adam", "a.rs"), ("adam", "b.rs")]);
    assert!(!differences(&twice, &pairs(&[("adam", "a.rs")])).is_empty(), "a key in two files");

    let source =
        format!("//! Words.\n//!\n{MARK}adam`\n    {MARK}inner`, and words\n// Equation: `no`\n/// Equation: `no`\n");
    assert_eq!(declared(&source).collect::<Vec<_>>(), ["adam", "inner"]);
    let index = "| key | paper |\n| --- | --- |\n| `adam` | Kingma, 1 | `a.rs` | golden |\ntext `no`\n";
    assert_eq!(rows(index), [("adam".to_owned(), "a.rs".to_owned())]);
}

#[test]
fn each_protocol_has_its_equation_in_the_index() {
    let index = fs::read_to_string(root().join("docs/equations.md")).expect("the index");
    let keys: Vec<String> = rows(&index).into_iter().map(|(key, _)| key).collect();
    for protocol in senv_eval::protocols() {
        assert!(keys.iter().any(|key| key == protocol.equation), "{} has no row", protocol.equation);
    }
}
