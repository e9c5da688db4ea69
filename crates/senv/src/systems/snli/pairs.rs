//! Pairs of sentences with one of three labels.

use std::path::Path;

use senv_core::{Error as CoreError, Observer, TextOptions};
use senv_data::NliSet;
use senv_losses::NLI_LABELS;

use crate::{
    base::sealed::Sealed,
    check::{CheckParams, CheckText},
    error::{Error, Result},
    system::SampledInput,
};

/// Labelled pairs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NliPairs {
    /// Where the pairs come from.
    pub name: String,
    /// Label (0 entailment, 1 neutral, 2 contradiction), premise, hypothesis.
    pub pairs: Vec<(u32, String, String)>,
}

impl Sealed for NliPairs {}

impl SampledInput for NliPairs {
    fn sample(&self, params: &CheckParams, _: &TextOptions) -> Result<Option<CheckText>> {
        let sentence = |i: usize| {
            let (_, premise, hypothesis) = &self.pairs[i / 2];
            if i.is_multiple_of(2) { premise } else { hypothesis }
        };
        Ok(CheckText::of_lone_sentences((0..2 * self.pairs.len()).map(|i| sentence(i).as_str()), params))
    }
}

impl NliPairs {
    /// Creates pairs from labels (a name in [`NLI_LABELS`], in any case), premises and hypotheses.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] for another label; [`Error::NoExamples`] without a pair.
    pub fn new<'a>(
        name: impl Into<String>,
        pairs: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Result<Self> {
        let mut new = Self { name: name.into(), ..Self::default() };
        for (label, premise, hypothesis) in pairs {
            let number = NLI_LABELS.iter().position(|name| name.eq_ignore_ascii_case(label)).ok_or_else(|| {
                let (name, requirement) = ("label", "entailment, neutral or contradiction");
                CoreError::InvalidParameter { name, requirement, got: format!("{label:?}") }
            })?;
            new.pairs.push((number as u32, premise.to_owned(), hypothesis.to_owned()));
        }
        if new.pairs.is_empty() { Err(Error::NoExamples { kind: "snli" }) } else { Ok(new) }
    }

    /// Reads labelled pairs from files in any layout of [`NliSet::read`], as one set. Pairs without a label are
    /// skipped; a note gives their number.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("dev.tsv");
    /// # std::fs::write(&path, "entailment\tA dog runs\tAn animal moves\n-\tA dog\tA cat\n")?;
    /// let pairs = senv::NliPairs::read(&[path], &senv::NoObserver)?;
    /// assert_eq!(pairs.pairs.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`NliSet::read`]; [`Error::NoExamples`] without a pair.
    pub fn read(paths: &[impl AsRef<Path>], observer: &dyn Observer) -> Result<Self> {
        let sets = paths.iter().map(NliSet::read).collect::<senv_data::Result<Vec<_>>>()?;
        for set in sets.iter().filter(|set| set.n_unlabeled > 0) {
            let pairs = if set.n_unlabeled == 1 { "pair" } else { "pairs" };
            observer.note(&format!("{}: skipped {} {pairs} without a label", set.path.display(), set.n_unlabeled));
        }
        let name = sets.first().map_or(String::new(), |set| set.path.display().to_string());
        let pairs = sets.iter().flat_map(|set| &set.pairs);
        Self::new(name, pairs.map(|pair| (pair.label.name(), &pair.premise[..], &pair.hypothesis[..])))
    }

    /// Premises, then hypotheses.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let premises = self.pairs.iter().map(|pair| &pair.1[..]);
        premises.chain(self.pairs.iter().map(|pair| &pair.2[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_taken_in_any_case_and_others_named() {
        let new = NliPairs::new("x", [("NEUTRAL", "a", "b"), ("entailment", "e", "f")]).unwrap();
        assert_eq!(new.pairs, [(1, "a".into(), "b".into()), (0, "e".into(), "f".into())]);
        assert!(NliPairs::new("x", [("maybe", "a", "b")]).unwrap_err().to_string().contains("\"maybe\""));
        assert!(NliPairs::new("x", []).is_err());
    }
}
