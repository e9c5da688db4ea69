//! Scored pairs and labeled text from the records of tables.

use std::path::Path;

use senv_data::{LabeledSet, Scale, StsPair, StsTask};

use super::{columns::score_of, table::Row};
use crate::{
    error::Result,
    probe::folds::{FoldRule, folds},
};

/// One of this many parts of labeled text without a test file is tested.
const PARTS: usize = 5;
/// The seed of that part. It is not the seed of a run, so all runs test the same texts.
const SPLIT_SEED: u64 = 1;

/// Splits off every fifth text of each label, in a fixed random order, as the test set.
pub(super) fn split(set: LabeledSet) -> Result<(LabeledSet, LabeledSet)> {
    let classes: Vec<usize> = set.sentences.iter().map(|sentence| sentence.class).collect();
    let parts = folds(&classes, PARTS, FoldRule::Stratified, SPLIT_SEED, 0)?;
    let of = |tested: bool| -> Result<LabeledSet> {
        let sentences = set.sentences.iter().zip(&parts).filter(|&(_, &part)| (part == 0) == tested);
        let texts = sentences.map(|(sentence, _)| (set.classes[sentence.class].clone(), sentence.text.clone()));
        Ok(LabeledSet::from_texts(&set.path, texts.collect())?)
    };
    Ok((of(false)?, of(true)?))
}

/// Returns the scored pairs of a table.
pub(super) fn pairs(
    path: &Path,
    name: &str,
    rows: &[Row],
    [first, second, score]: [usize; 3],
) -> std::result::Result<StsTask, String> {
    let mut task = StsTask {
        name: name.to_owned(),
        year: None,
        path: path.to_owned(),
        scale: Scale { low: f64::INFINITY, high: f64::NEG_INFINITY },
        pairs: Vec::new(),
        n_unscored: 0,
        n_empty_sentences: 0,
    };
    for row in rows {
        let cell = |column: usize| row.cells.get(column).map_or("", String::as_str);
        let Some(relatedness) = score_of(cell(score)) else {
            let got: String = cell(score).chars().take(40).collect();
            return Err(format!("line {}: the score {} is not a number", row.line, senv_core::quoted(got)));
        };
        let Some(relatedness) = relatedness else {
            task.n_unscored += 1;
            continue;
        };
        task.scale = Scale { low: task.scale.low.min(relatedness), high: task.scale.high.max(relatedness) };
        let texts = [cell(first), cell(second)];
        task.n_empty_sentences += texts.iter().filter(|text| text.trim().is_empty()).count();
        let [first, second] = texts.map(str::to_owned);
        task.pairs.push(StsPair { relatedness, first, second });
    }
    if task.pairs.len() < 2 {
        return Err(format!("scored pairs: {}; a correlation needs two", task.pairs.len()));
    }
    if task.scale.low == task.scale.high {
        return Err(format!("all {} scores are equal, so nothing can agree with them", task.pairs.len()));
    }
    Ok(task)
}

/// Returns the labeled text of a table with at least `least` labels, and the number of records without a text or a
/// label.
pub(super) fn labels(
    path: &Path,
    rows: &[Row],
    [text, label]: [usize; 2],
    least: usize,
) -> std::result::Result<(LabeledSet, usize), String> {
    let cell = |row: &Row, column: usize| row.cells.get(column).map_or("", |cell| cell.trim()).to_owned();
    let texts = rows.iter().map(|row| (cell(row, label), cell(row, text)));
    let texts: Vec<(String, String)> = texts.filter(|(label, text)| !label.is_empty() && !text.is_empty()).collect();
    let n_without = rows.len() - texts.len();
    let set = LabeledSet::from_texts(path, texts).map_err(|_| "no record has a text and a label".to_owned())?;
    match set.classes.len() < least {
        true => Err("one label; give at least two different labels".to_owned()),
        false => Ok((set, n_without)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_each_label_is_tested_and_always_the_same() {
        let texts = |n: usize| -> Vec<(String, String)> {
            (0..n).map(|i| (["x", "y"][usize::from(i % 4 == 0)].to_owned(), format!("text {i}"))).collect()
        };
        let set = || LabeledSet::from_texts("a.tsv", texts(100)).unwrap();
        let (train, test) = split(set()).unwrap();
        assert_eq!((train.sentences.len(), test.sentences.len()), (80, 20));
        assert_eq!(test.sentences.iter().filter(|sentence| sentence.class == 1).count(), 5);
        let tested = |set: &LabeledSet| set.sentences.iter().map(|of| of.text.clone()).collect::<Vec<_>>();
        assert_eq!(tested(&split(set()).unwrap().1), tested(&test));
        assert!(tested(&train).iter().all(|text| !tested(&test).contains(text)));
        assert!(split(LabeledSet::from_texts("a.tsv", texts(4)).unwrap()).is_err(), "too few to split");
    }
}
