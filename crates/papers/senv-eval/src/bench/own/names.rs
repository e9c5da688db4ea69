//! Names of own data, and the parts of a set that files are named after.

use std::path::Path;

/// Parts of a set, as files are named after them.
const TRAIN: &[&str] = &["train", "training"];
const TEST: &[&str] = &["test"];
const DEV: &[&str] = &["dev", "valid", "validation", "val"];

/// A part of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Train,
    Dev,
    Test,
}

/// Returns a number with its noun.
pub(super) fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns the name of a folder, also of `.`.
pub(super) fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| "data".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns a path without the extensions of a table and of compression.
pub(super) fn without_extensions(shown: &str) -> &str {
    let lower = shown.to_lowercase();
    let packed = [".gz", ".zst"].iter().find(|end| lower.ends_with(**end)).map_or(0, |end| end.len());
    // Letters of other scripts can change their length in lower case; extensions have none.
    let shown = &shown[..shown.len() - packed];
    let folder = shown.rfind('/').map_or(0, |at| at + 1);
    match shown[folder..].rfind('.') {
        Some(dot) if dot > 0 => &shown[..folder + dot],
        _ => shown,
    }
}

/// Returns the name of the set that a file belongs to, and its part of it, for a path without extensions:
/// `intents/train` and `intents-train.csv` are of `intents`.
pub(super) fn base_and_part(name: &str) -> (String, Part) {
    let (parent, stem) = name.rsplit_once('/').map_or(("", name), |(parent, stem)| (parent, stem));
    let lower = stem.to_lowercase();
    let is_between = |c: char| matches!(c, '-' | '_' | '.');
    for (names, part) in [(TRAIN, Part::Train), (TEST, Part::Test), (DEV, Part::Dev)] {
        for part_name in names {
            if lower == *part_name {
                return (parent.to_owned(), part);
            }
            let before = lower.strip_suffix(part_name).and_then(|rest| rest.strip_suffix(is_between));
            let after = lower.strip_prefix(part_name).and_then(|rest| rest.strip_prefix(is_between));
            if let Some(rest) = before.or(after).filter(|rest| !rest.is_empty()) {
                let folder = if parent.is_empty() { String::new() } else { format!("{parent}/") };
                return (format!("{folder}{rest}"), part);
            }
        }
    }
    (name.to_owned(), Part::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_set_are_named_before_after_or_by_their_folder() {
        let of = |name: &str| base_and_part(without_extensions(name));
        for (file, base, part) in [
            ("intents/train.csv.gz", "intents", Part::Train),
            ("train.tsv", "", Part::Train),
            ("a/Intents_Test.jsonl", "a/intents", Part::Test),
            ("dev-intents.csv", "intents", Part::Dev),
            ("intents.validation.tsv.zst", "intents", Part::Dev),
            ("contest.tsv", "contest", Part::Whole),
            ("tickets.v2.csv", "tickets.v2", Part::Whole),
        ] {
            assert_eq!(of(file), (base.to_owned(), part), "{file}");
        }
        assert_eq!(without_extensions("a.b/.hidden"), "a.b/.hidden");
    }
}
