//! Names of own data, and the parts of a set that files are named after.

use std::path::Path;

/// Parts of a set, as files and folders are named after them.
const PARTS: &[(&[&str], Part)] = &[
    (&["train", "training", "trn"], Part::Train),
    (&["test", "testing", "eval", "evaluation", "holdout", "heldout"], Part::Test),
    (&["dev", "devel", "development", "valid", "validation", "val"], Part::Dev),
];

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

/// Returns the part of a set that has this name, in lower case.
fn part_of(name: &str) -> Option<Part> {
    PARTS.iter().find(|(names, _)| names.contains(&name)).map(|&(_, part)| part)
}

/// Returns the name of the set that a file belongs to, and its part of it, for a path without extensions:
/// `intents/train`, `intents-train`, `train_intents` and `train/intents` are of `intents`.
pub(super) fn base_and_part(name: &str) -> (String, Part) {
    let (parent, stem) = name.rsplit_once('/').unwrap_or(("", name));
    let (outer, inner) = parent.rsplit_once('/').unwrap_or(("", parent));
    let of_folder = part_of(&inner.to_lowercase());
    let (base, part) = match (part_in(stem), of_folder) {
        (Some((rest, part)), _) => (rest, part),
        (None, Some(part)) => (stem.to_owned(), part),
        (None, None) => return (name.to_owned(), Part::Whole),
    };
    // A folder that is named after the part, too, is no part of the name.
    let folder = if of_folder == Some(part) { outer } else { parent };
    let path = [folder, &base].into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>();
    (path.join("/"), part)
}

/// Returns the part that one word of a name is, and the name without it, in lower case.
fn part_in(stem: &str) -> Option<(String, Part)> {
    let lower = stem.to_lowercase();
    let words: Vec<&str> = lower.split_inclusive(['-', '_', '.', ' ']).collect();
    let part = |word: &str| part_of(word.trim_end_matches(['-', '_', '.', ' ']));
    let mut places = (0..words.len()).filter(|&i| part(words[i]).is_some());
    let place = places.next().filter(|_| places.next().is_none())?;
    let rest: String = words.iter().enumerate().filter(|&(i, _)| i != place).map(|(_, word)| *word).collect();
    Some((rest.trim_end_matches(['-', '_', '.', ' ']).to_owned(), part(words[place])?))
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
            ("intents_train_v2.csv", "intents_v2", Part::Train),
            ("train/intents.csv", "intents", Part::Train),
            ("more/valid/valid.csv", "more", Part::Dev),
            ("holdout.csv", "", Part::Test),
            ("train-test.csv", "train-test", Part::Whole),
            ("contest.tsv", "contest", Part::Whole),
            ("tickets.v2.csv", "tickets.v2", Part::Whole),
        ] {
            assert_eq!(of(file), (base.to_owned(), part), "{file}");
        }
        assert_eq!(without_extensions("a.b/.hidden"), "a.b/.hidden");
    }
}
