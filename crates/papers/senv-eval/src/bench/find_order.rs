//! Finds the word-order tasks in a folder.

use std::path::Path;

use senv_data::ParaphraseSet;

use super::{
    find::{Found, reported, reported_nli},
    folder::DataFolder,
    task_data::TaskData,
};
use crate::{
    error::{Error, Result},
    order::templates::OrderTemplates,
};

pub(super) const PAWS_TEST: &[&str] = &["paws-test.tsv", "paws/test.tsv", "paws/final/test.tsv"];
pub(super) const PAWS_DEV: &[&str] = &["paws-val.tsv", "paws-dev.tsv", "paws/dev.tsv", "paws/final/dev.tsv"];

pub(super) fn pairs(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |(part, path): (&str, &Path)| {
        let found = Found::new(&format!("PAWS {part}"), &[path], TaskData::OrderPairs(ParaphraseSet::read(path)?));
        of_both(found, "pairs with the same meaning (1) and with different meanings (0)")
    };
    reported(folder, PAWS_TEST, PAWS_DEV).map(read).into_iter().collect()
}

pub(super) fn entailment(folder: &DataFolder) -> Vec<Result<Found>> {
    let sets = reported_nli(folder, TaskData::OrderEntailment).into_iter();
    sets.map(|found| of_both(found?, "entailments and contradictions")).collect()
}

pub(super) fn templates(_: &DataFolder) -> Vec<Result<Found>> {
    let found = |templates: OrderTemplates| {
        Ok(Found::new(templates.phenomenon.name(), &[], TaskData::OrderTemplates(templates)))
    };
    OrderTemplates::all_built_in().into_iter().map(found).collect()
}

/// Checks that both labels occur. With only one of them, no system has a value or a mean.
fn of_both(found: Found, labels: &'static str) -> Result<Found> {
    let gold = found.data.gold();
    match gold.contains(&0.0) && gold.contains(&1.0) {
        true => Ok(found),
        false => Err(Error::OneLabel { path: found.files.into_iter().next().unwrap_or_default(), labels }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_of_one_label_are_left_out_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("snli")).unwrap();
        let fails = |found: Vec<Result<Found>>, says: &[&str]| {
            let error = found.into_iter().next().unwrap().unwrap_err().to_string();
            assert!(says.iter().all(|part| error.contains(part)), "{error}");
        };
        write("paws-val.tsv", "1\ta\tb\n1\tc\td\n");
        write("snli/dev.tsv", "neutral\ta\tb\nentailment\tc\td\n");
        let opened = DataFolder::open(folder.path()).unwrap();
        fails(pairs(&opened), &["paws-val.tsv", "(1) and with different meanings (0)", "needs both labels"]);
        fails(entailment(&opened), &["dev.tsv", "entailments and contradictions"]);
        write("paws-val.tsv", "1\ta\tb\n0\tc\td\n");
        write("snli/dev.tsv", "contradiction\ta\tb\nentailment\tc\td\n");
        assert!(pairs(&opened)[0].is_ok() && entailment(&opened)[0].is_ok());
    }
}
