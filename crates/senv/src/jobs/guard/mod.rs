//! Tells whether two texts that are near by their vectors name the same things.
//!
//! A sentence vector is a mean of words: one other number or product name moves it little, and an unknown word not to a
//! place that means anything. So near texts are compared word by word, too. The thresholds were chosen and measured in
//! `docs/experiments/near-duplicates.md`.

mod compare;
mod forms;
mod lookup;
mod numbers;
mod signs;
mod synonyms;
#[cfg(test)]
mod tests;
mod words;

use std::sync::OnceLock;

use senv_core::{SentenceEncoder, Vocabulary};

use self::{compare::difference, lookup::Lookup, synonyms::Synonyms, words::Words};
use crate::model::Model;

/// Tells whether two texts name the same things: the same numbers, codes, names and rare words.
///
/// Jobs ask it about pairs that are near by their vectors ([`DuplicateParams::guard`](crate::jobs::DuplicateParams),
/// [`MineParams::guard`](crate::jobs::MineParams), [`CompareParams::guard`](crate::jobs::CompareParams)).
///
/// | what | is the same |
/// | --- | --- |
/// | numbers, in dates and ranges with their order | `1,000` and `1000`, `3.0` and `3`, `two` and `2`, `II` and `2` |
/// | minus, currency, `%`, `<`, `>` and units beside a number | `5 %` and `5 percent`, `5kg` and `5 kilograms` |
/// | codes: letters with digits, identifiers, single letters | in any case, with or without hyphens and spaces |
/// | days, months, negations | the same day or month; any negation |
/// | names: capitals inside running text | as other words; `UN` and `United Nations` |
/// | words that are rare in the vocabulary, or unknown | their forms; `log-in`, `log in` and `login`; a slip of a key |
///
/// Each must be in both texts. For a rare word, a word that means about the same will do, by the vectors of the
/// encoder. Any other word, function words left out, may be missing in one text, but not be exchanged for one of
/// another meaning. In a text of at most four words none may be missing, nor may all of a part that a dash, a colon or
/// parentheses set off at the end.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let guard = senv::jobs::Guard::of_model(&english, &[] as &[&str]);
/// assert!(guard.difference("Log in to Postgres 3.0.", "Log-in to postgres 3").is_none());
/// let difference = guard.difference("Provider package for openfaas", "Provider package for postgres").unwrap();
/// assert_eq!((difference.first, difference.second), (vec!["openfaas".into()], vec!["postgres".into()]));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug)]
pub struct Guard<'v> {
    lookup: Lookup<'v>,
    synonyms: Synonyms<'v>,
}

/// The words by which two texts name different things, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Difference {
    /// Those of the first text that the second lacks.
    pub first: Vec<String>,
    /// Those of the second text that the first lacks.
    pub second: Vec<String>,
}

impl<'v> Guard<'v> {
    /// Creates a guard with the words of a model ([`Guard::new`]).
    #[must_use]
    pub fn of_model(model: &'v Model, texts: &[impl AsRef<str>]) -> Self {
        Self::new(model, model.vocabulary(), texts)
    }

    /// Creates a guard. The vocabulary tells how rare words are: by its counts, or if it has none by its order, most
    /// frequent words first. If it is empty, the words of `texts` are counted; otherwise these are not read. The
    /// encoder tells which words mean about the same; it encodes 400 words now, and later single words.
    #[must_use]
    pub fn new(encoder: &'v dyn SentenceEncoder, vocabulary: &'v Vocabulary, texts: &[impl AsRef<str>]) -> Self {
        Self { lookup: Lookup::new(vocabulary, texts), synonyms: Synonyms::new(encoder, vocabulary) }
    }

    /// The words by which two texts name different things; `None` if they name the same.
    #[must_use]
    pub fn difference(&self, first: &str, second: &str) -> Option<Difference> {
        let (a, b) = (self.words(first), self.words(second));
        let (of_a, of_b) = difference(&a, &b, &self.synonyms, true)?;
        let shown = |words: &Words, list: Vec<&_>| list.into_iter().map(|word| words.shown(word).to_owned()).collect();
        Some(Difference { first: shown(&a, of_a), second: shown(&b, of_b) })
    }

    fn words(&self, text: &str) -> Words {
        Words::of(text, |word, written| self.lookup.get(word, written))
    }
}

/// The texts of a job with their words, each read when it is first compared.
pub(super) struct GuardedTexts<'g> {
    guard: Option<&'g Guard<'g>>,
    texts: Vec<&'g str>,
    words: Vec<OnceLock<Words>>,
}

impl<'g> GuardedTexts<'g> {
    /// The texts by row; without a guard, all name the same things.
    pub(super) fn new(guard: Option<&'g Guard<'g>>, texts: Vec<&'g str>) -> Self {
        let words = if guard.is_some() { texts.iter().map(|_| OnceLock::new()).collect() } else { Vec::new() };
        Self { guard, texts, words }
    }

    /// Whether two rows name the same things.
    pub(super) fn is_same(&self, a: usize, b: usize) -> bool {
        let Some(guard) = self.guard else { return true };
        let [a, b] = [a, b].map(|row| self.words[row].get_or_init(|| guard.words(self.texts[row])));
        difference(a, b, &guard.synonyms, false).is_none()
    }
}
