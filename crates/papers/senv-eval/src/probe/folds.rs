//! Folds for cross-validation.

use rand::seq::SliceRandom;
use serde::Serialize;

use crate::error::{Error, Result};

/// How examples, shuffled with the random seed, are divided into folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FoldRule {
    /// Each fold has about the same share of each class, as in SentEval and scikit-learn.
    Stratified,
    /// Runs of equal length, regardless of class, as in the script of Skip-thoughts.
    Contiguous,
}

/// Returns the fold of each example, from 0. `place` selects one of the random streams of a seed.
///
/// # Errors
/// [`Error::TooFewExamples`] if there are fewer examples than folds, or fewer than two folds.
pub(crate) fn folds(classes: &[usize], n_folds: usize, rule: FoldRule, seed: u64, place: u64) -> Result<Vec<usize>> {
    if n_folds < 2 || classes.len() < n_folds {
        return Err(Error::TooFewExamples { needed: n_folds.max(2), got: classes.len() });
    }
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.shuffle(&mut senv_core::rng::stream(seed, "folds", &[place]));
    let mut fold_of = vec![0; classes.len()];
    match rule {
        FoldRule::Contiguous => {
            let n = order.len();
            order.iter().enumerate().for_each(|(rank, &i)| fold_of[i] = rank * n_folds / n);
        }
        FoldRule::Stratified => {
            // Deal out the examples class by class. The next class continues where the last one ended.
            order.sort_by_key(|&i| classes[i]);
            order.iter().enumerate().for_each(|(rank, &i)| fold_of[i] = rank % n_folds);
        }
    }
    Ok(fold_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stratified_folds_share_out_classes_and_contiguous_ones_are_of_equal_size() {
        let classes: Vec<usize> = (0..103).map(|i| usize::from(i % 5 == 0)).collect();
        for rule in [FoldRule::Stratified, FoldRule::Contiguous] {
            let found = folds(&classes, 10, rule, 7, 0).unwrap();
            for fold in 0..10 {
                let of_fold = |class| found.iter().zip(&classes).filter(|&(f, c)| *f == fold && *c == class).count();
                let (ones, zeros) = (of_fold(1), of_fold(0));
                assert!((10..=11).contains(&(ones + zeros)), "{ones} {zeros}");
                assert!(rule == FoldRule::Contiguous || (2..=3).contains(&ones), "{ones}");
            }
            assert_eq!(found, folds(&classes, 10, rule, 7, 0).unwrap());
            assert_ne!(found, folds(&classes, 10, rule, 8, 0).unwrap());
            assert_ne!(found, folds(&classes, 10, rule, 7, 1).unwrap());
        }
    }

    #[test]
    fn fewer_examples_than_folds_are_refused() {
        assert!(folds(&[0; 10], 10, FoldRule::Stratified, 1, 0).is_ok());
        let error = folds(&[0; 9], 10, FoldRule::Stratified, 1, 0).unwrap_err();
        assert!(matches!(error, Error::TooFewExamples { needed: 10, got: 9 }), "{error}");
        assert!(folds(&[0; 9], 1, FoldRule::Stratified, 1, 0).is_err());
    }
}
