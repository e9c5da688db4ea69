//! The tasks on word order in a folder.

use std::path::Path;

use senv_data::ParaphraseSet;

use super::{
    find::{Found, reported, reported_nli},
    folder::DataFolder,
    task_data::TaskData,
};
use crate::{error::Result, order::templates::OrderTemplates};

pub(super) const PAWS_TEST: &[&str] = &["paws-test.tsv", "paws/test.tsv", "paws/final/test.tsv"];
pub(super) const PAWS_DEV: &[&str] = &["paws-val.tsv", "paws-dev.tsv", "paws/dev.tsv", "paws/final/dev.tsv"];

pub(super) fn pairs(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |(part, path): (&str, &Path)| {
        Ok(Found::new(&format!("PAWS {part}"), &[path], TaskData::OrderPairs(ParaphraseSet::read(path)?)))
    };
    reported(folder, PAWS_TEST, PAWS_DEV).map(read).into_iter().collect()
}

pub(super) fn templates(_: &DataFolder) -> Vec<Result<Found>> {
    let found = |templates: OrderTemplates| {
        Ok(Found::new(templates.phenomenon.name(), &[], TaskData::OrderTemplates(templates)))
    };
    OrderTemplates::all_built_in().into_iter().map(found).collect()
}

pub(super) fn entailment(folder: &DataFolder) -> Vec<Result<Found>> {
    reported_nli(folder, TaskData::OrderEntailment)
}
