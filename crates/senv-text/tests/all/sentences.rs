//! Cases of sentences with their cuts, in `tests/sentences`.

use std::{fs, path::Path};

use senv_text::sentences;

/// Text and sentences of a case: `‖` is a cut, `⏎` a line end.
fn case(line: &str) -> (String, Vec<String>) {
    let line = line.replace('⏎', "\n");
    let text = line.replace(" ‖ ", " ").replace('‖', "");
    (text, line.split('‖').map(|sentence| sentence.trim().to_owned()).collect())
}

#[test]
fn cases_are_cut_as_marked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sentences");
    let (mut n, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for line in fs::read_to_string(&path).unwrap().lines().filter(|line| !line.starts_with('%')) {
            let (text, expected) = case(line);
            n += 1;
            let found = sentences(&text);
            if found != expected {
                wrong.push(format!("{name}: {line}\n    {}", found.join(" ‖ ").replace('\n', "⏎")));
            }
        }
    }
    assert!(n >= 400, "{n} cases");
    assert!(wrong.is_empty(), "{} of {n} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
