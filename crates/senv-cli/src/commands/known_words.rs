//! How many words of a text the model knows: measured on its beginning, warned of, and part of what is written as JSON.

use std::path::Path;

use senv::{FewKnownWords, KnownWords, Model};

use super::{ModelArg, file_name};
use crate::{output, remedies::shown};

/// Words after which a sample is large enough, however few sentences they are.
const WORDS: u64 = 100_000;

/// The beginning of a text, which may come in parts. It warns once, as soon as there is enough.
pub(crate) struct WordSample<'a> {
    model: &'a Model,
    /// The file of the model.
    path: &'a Path,
    known: KnownWords,
    is_complete: bool,
}

impl<'a> WordSample<'a> {
    /// A sample of text for this model; `path` is its file.
    pub(crate) fn new(path: &'a Path, model: &'a Model) -> Self {
        Self { model, path, known: KnownWords::default(), is_complete: false }
    }

    /// Whether no more sentences are needed.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Looks at the next sentences of the text, as far as they are needed.
    pub(crate) fn add<'s>(&mut self, sentences: impl IntoIterator<Item = &'s str>) {
        for sentence in sentences {
            if self.is_complete {
                return;
            }
            self.known += self.model.known_words([sentence]);
            if self.known.sentences >= KnownWords::SAMPLE as u64 || self.known.words >= WORDS {
                self.complete();
            }
        }
    }

    /// The share of known words, in `[0, 1]`; `None` where there was no word.
    pub(crate) fn finish(mut self) -> Option<f64> {
        self.complete();
        self.known.share()
    }

    fn complete(&mut self) {
        if self.is_complete {
            return;
        }
        self.is_complete = true;
        warn_of_few(self.path, self.known);
    }
}

impl ModelArg {
    /// Warns where the model knows few words of the first sentences of a text, and says which share it knows.
    pub(crate) fn warn_of_unknown<'s>(
        &self,
        model: &Model,
        sentences: impl IntoIterator<Item = &'s str>,
    ) -> Option<f64> {
        known_share(&self.model, model, sentences)
    }
}

/// The same of the model of this file.
pub(crate) fn known_share<'s>(path: &Path, model: &Model, sentences: impl IntoIterator<Item = &'s str>) -> Option<f64> {
    let mut sample = WordSample::new(path, model);
    sample.add(sentences);
    sample.finish()
}

/// Warns where the model in this file knows few words of the sentences that were counted.
pub(crate) fn warn_of_few(path: &Path, known: KnownWords) {
    if let Some(few) = known.few(min_share(path)) {
        warn_of(path, &few);
    }
}

/// What to say of a query of which no word is known.
pub(crate) fn unknown_query(query: &str, is_zero: bool, known: KnownWords) -> Option<String> {
    if is_zero && known.known > 0 {
        return Some(format!(
            "the words of {query} that are known have vectors that add up to zero: no neighbours",
            query = senv_core::quoted(query)
        ));
    }
    if is_zero {
        return Some(format!(
            "no word of {query} is known: zero vector, no neighbours",
            query = senv_core::quoted(query)
        ));
    }
    known.is_unknown_text().then(|| {
        format!(
            "no word of {query} is known to the model: its neighbours say little, but for texts with the same words",
            query = senv_core::quoted(query)
        )
    })
}

/// What to say of a query of which the model in this file knows few words: fewer than of text that it fits, and so few
/// that it is no chance, or, with the English model, among the unknown a word in lower case with a letter that is not
/// of ASCII, as English has none (`docs/experiments/known-words.md`).
pub(crate) fn foreign_query(path: &Path, model: &Model, query: &str, known: KnownWords) -> Option<String> {
    let least = min_share(path);
    let is_foreign = |word: &str| {
        !word.is_ascii() && word.chars().all(char::is_lowercase) && model.known_words([word]).is_unknown_text()
    };
    let has_foreign = || senv::is_english(path) && query.split(|c: char| !c.is_alphabetic()).any(is_foreign);
    let is_below = known.share().is_some_and(|share| share < least);
    (is_below && (known.few(least).is_some() || has_foreign())).then(|| {
        let KnownWords { words, known, .. } = known;
        let language = if senv::is_english(path) { ", which is for English only" } else { "" };
        format!(
            "{known} of the {words} words of {query} are known to the model{language}, and {:.0} % or more of text that it fits: its \
             neighbours say little",
            100.0 * least, query = senv_core::quoted(query)
        )
    })
}

/// Queries from which on what to say of them is said once, of all together.
pub(crate) const MANY_QUERIES: usize = 10;

/// The least share of known words of a text that the model fits.
fn min_share(path: &Path) -> f64 {
    if senv::is_english(path) { senv_english::MIN_KNOWN_SHARE } else { KnownWords::MIN_SHARE }
}

fn warn_of(path: &Path, few: &FewKnownWords) {
    let said = shown(few);
    output::warn(&if senv::is_english(path) {
        format!("the model that is part of senv is for English only: {said}")
    } else {
        format!("{}: {said}", file_name(path))
    });
}
