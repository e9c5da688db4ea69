//! Accuracy of a classifier, and precision and recall for each class.
//!
//! Equation: `accuracy`

use crate::{
    Result,
    error::{Error, check_lengths_of},
};

/// A confusion matrix: a table of `n_classes` × `n_classes` counts.
///
/// ```text
/// accuracy = #{i : ŷ_i = y_i} / n
/// precision_c = #{ŷ = c, y = c} / #{ŷ = c}     recall_c = #{ŷ = c, y = c} / #{y = c}
/// F1_c = 2 #{ŷ = c, y = c} / (#{ŷ = c} + #{y = c})
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    n_classes: usize,
    /// Rows are gold classes, columns predicted classes.
    counts: Vec<usize>,
}

/// Item counts for one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClassCounts {
    /// Items of this class.
    pub n_gold: usize,
    /// Items predicted as this class.
    pub n_predicted: usize,
    /// Items of this class with the right prediction.
    pub n_correct: usize,
}

impl ClassCounts {
    /// Share of the items predicted as this class that belong to it, in `[0, 1]`; `None` if it was never predicted.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        share(self.n_correct, self.n_predicted)
    }

    /// Share of the items of this class with the right prediction, in `[0, 1]`; `None` if there are none.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.n_correct, self.n_gold)
    }

    /// Harmonic mean of precision and recall, in `[0, 1]`; `None` if the class neither occurs nor was predicted.
    #[must_use]
    pub fn f1(&self) -> Option<f64> {
        share(2 * self.n_correct, self.n_predicted + self.n_gold)
    }
}

impl Confusion {
    /// Counts classes, numbered from 0, item by item.
    ///
    /// ```
    /// use senv_metrics::Confusion;
    /// let confusion = Confusion::new(&[1, 0, 1, 1, 0], &[1, 1, 1, 0, 0], 2)?;
    /// assert_eq!(confusion.accuracy(), Some(0.6)); // items 1, 3 and 5
    /// assert_eq!(confusion.count(0, 1), 1); // of class 0, given class 1
    /// assert_eq!(confusion.class(1).f1(), Some(2.0 / 3.0)); // 2 · 2 / (3 + 3)
    /// # Ok::<(), senv_metrics::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::BadClass`] if a class is `n_classes` or above.
    pub fn new(gold: &[usize], predicted: &[usize], n_classes: usize) -> Result<Self> {
        const METRIC: &str = "accuracy";
        check_lengths_of(METRIC, gold.len(), predicted.len())?;
        for (list, classes) in [("gold classes", gold), ("predicted classes", predicted)] {
            if let Some(position) = classes.iter().position(|&class| class >= n_classes) {
                return Err(Error::BadClass { metric: METRIC, list, position, class: classes[position], n_classes });
            }
        }
        let mut counts = vec![0; n_classes * n_classes];
        for (&gold, &predicted) in gold.iter().zip(predicted) {
            counts[gold * n_classes + predicted] += 1;
        }
        Ok(Self { n_classes, counts })
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of items.
    #[must_use]
    pub fn n_items(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Items of class `gold` predicted as class `predicted`; 0 for a class that does not exist.
    #[must_use]
    pub fn count(&self, gold: usize, predicted: usize) -> usize {
        let exists = gold < self.n_classes && predicted < self.n_classes;
        if exists { self.counts[gold * self.n_classes + predicted] } else { 0 }
    }

    /// Item counts for one class; zeros for a class that does not exist.
    #[must_use]
    pub fn class(&self, class: usize) -> ClassCounts {
        let over = |count: &dyn Fn(usize) -> usize| (0..self.n_classes).map(count).sum();
        ClassCounts {
            n_gold: over(&|other| self.count(class, other)),
            n_predicted: over(&|other| self.count(other, class)),
            n_correct: self.count(class, class),
        }
    }

    /// Share of items with the right prediction, in `[0, 1]`; `None` without items.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        share((0..self.n_classes).map(|class| self.count(class, class)).sum(), self.n_items())
    }

    /// The accuracy of always predicting the most frequent class, the usual baseline.
    #[must_use]
    pub fn majority_share(&self) -> Option<f64> {
        share((0..self.n_classes).map(|class| self.class(class).n_gold).max()?, self.n_items())
    }
}

/// The share of items whose two labels are equal, in `[0, 1]`; `None` without items.
///
/// ```
/// let accuracy = senv_metrics::accuracy(&["yes", "no", "no", "yes"], &["yes", "no", "yes", "yes"])?;
/// assert_eq!(accuracy, Some(0.75));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`Error::LengthMismatch`].
pub fn accuracy<L: PartialEq>(gold: &[L], predicted: &[L]) -> Result<Option<f64>> {
    check_lengths_of("accuracy", gold.len(), predicted.len())?;
    Ok(share(gold.iter().zip(predicted).filter(|(gold, predicted)| gold == predicted).count(), gold.len()))
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_classes_by_hand() {
        let (gold, predicted) = ([0, 0, 0, 1, 1, 2], [0, 1, 0, 1, 0, 0]);
        let confusion = Confusion::new(&gold, &predicted, 4).unwrap();
        assert_eq!((confusion.n_items(), confusion.n_classes()), (6, 4));
        assert_eq!(confusion.accuracy(), Some(0.5));
        assert_eq!(confusion.accuracy(), accuracy(&gold, &predicted).unwrap());
        assert_eq!(confusion.majority_share(), Some(0.5));
        assert_eq!(confusion.class(0), ClassCounts { n_gold: 3, n_predicted: 4, n_correct: 2 });
        assert_eq!([confusion.count(0, 1), confusion.count(1, 0), confusion.count(2, 0)], [1, 1, 1]);
        let [first, last, absent] = [0, 2, 3].map(|class| confusion.class(class));
        assert_eq!((first.precision(), first.recall(), first.f1()), (Some(0.5), Some(2.0 / 3.0), Some(4.0 / 7.0)));
        assert_eq!((last.precision(), last.recall(), last.f1()), (None, Some(0.0), Some(0.0)));
        assert_eq!((absent.precision(), absent.recall(), absent.f1()), (None, None, None));
        assert_eq!((confusion.count(4, 0), confusion.class(4)), (0, ClassCounts::default()));
    }

    #[test]
    fn nothing_to_judge_is_none_and_bad_classes_are_named() {
        assert_eq!(accuracy::<u8>(&[], &[]), Ok(None));
        assert_eq!(Confusion::new(&[], &[], 3).unwrap().accuracy(), None);
        assert_eq!(Confusion::new(&[], &[], 0).unwrap().majority_share(), None);
        assert!(matches!(accuracy(&[1], &[1, 2]), Err(Error::LengthMismatch { first: 1, second: 2, .. })));
        let error = Confusion::new(&[0, 1], &[0, 2], 2).unwrap_err();
        assert!(matches!(error, Error::BadClass { list: "predicted classes", position: 1, class: 2, .. }), "{error}");
        assert!(matches!(Confusion::new(&[3], &[0], 3), Err(Error::BadClass { list: "gold classes", .. })));
    }
}
