//! How many words of a text the model knows: measured on its start, in warnings and in JSON.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use senv::{FewKnownWords, KnownWords, Model, TextKind};

use super::{ModelArg, file_name};
use crate::{output, remedies::shown};

/// The share of known words from which results on English of a special subject are what they were with the words of
/// general English (`docs/experiments/known-words.md`).
const WEAKER: f64 = 0.87;

/// The number of words at which a sample is large enough, however few sentences it has.
const WORDS: u64 = 100_000;

/// The start of a text, which may arrive in parts. It warns once, as soon as there is enough text.
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

    /// Counts the next sentences of the text, as far as needed.
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

    /// The share of known words, in `[0, 1]`; `None` without words.
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
    /// Warns if the model knows few words in the first sentences of a text; returns the share that it knows.
    pub(crate) fn warn_of_unknown<'s>(
        &self,
        model: &Model,
        sentences: impl IntoIterator<Item = &'s str>,
    ) -> Option<f64> {
        known_share(&self.model, model, sentences)
    }
}

/// The same for the model in this file.
pub(crate) fn known_share<'s>(path: &Path, model: &Model, sentences: impl IntoIterator<Item = &'s str>) -> Option<f64> {
    let mut sample = WordSample::new(path, model);
    sample.add(sentences);
    sample.finish()
}

/// Warns if the model in this file knows few words of the counted sentences.
pub(crate) fn warn_of_few(path: &Path, known: KnownWords) {
    if let Some(few) = known.few(min_share(path)) {
        warn_of(path, &few);
    }
}

/// The warning for a query without a known word.
pub(crate) fn unknown_query(query: &str, is_zero: bool, known: KnownWords) -> Option<String> {
    if is_zero && known.known > 0 {
        return Some(format!(
            "the vectors of the known words in {query} add up to zero, so it has no neighbors",
            query = senv_core::quoted(query)
        ));
    }
    if is_zero {
        return Some(format!("no word of {query} is known, so it has no neighbors", query = senv_core::quoted(query)));
    }
    known.is_unknown_text().then(|| {
        format!(
            "no word of {query} is known to the model; only neighbors that share its words are reliable",
            query = senv_core::quoted(query)
        )
    })
}

/// The warning for a query in which the model in this file knows too few words: fewer than half, or fewer than in a
/// suitable text, beyond chance. With the English model, one unknown lower-case word is enough if it has a non-ASCII
/// letter, or beside a word of another language's grammar and none of English (`docs/experiments/known-words.md`).
pub(crate) fn foreign_query(path: &Path, model: &Model, query: &str, known: KnownWords) -> Option<String> {
    let least = min_share(path);
    if known.share().is_none_or(|share| share >= least) {
        return None;
    }
    let unknown = unknown_words(model, query);
    let is_foreign =
        |word: &&&str| !word.is_ascii() && word.chars().filter(|c| c.is_alphabetic()).all(char::is_lowercase);
    let has_foreign = || {
        let is_lower = unknown.iter().any(|word| word.starts_with(char::is_lowercase));
        let is_of_others = known.marks.others > 0 && known.marks.english == 0;
        unknown.iter().any(|word| is_foreign(&word)) || is_lower && is_of_others
    };
    let is_unknown = 2 * known.known < known.words;
    let is_few = is_unknown || known.few(least).is_some() || senv::is_english(path) && has_foreign();
    (is_few && !unknown.is_empty()).then(|| {
        let language = if senv::is_english(path) { " (English only)" } else { "" };
        format!("the model{language} does not know {}; neighbors of the query are unreliable", named(&unknown))
    })
}

/// The distinct words of a query, as they were typed, that the model does not know.
pub(crate) fn unknown_words<'q>(model: &Model, query: &'q str) -> Vec<&'q str> {
    let words = query.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_unknown = |word: &&str| {
        let known = model.known_words([word]);
        known.known < known.words
    };
    let mut unknown: Vec<&str> = Vec::new();
    for word in words.filter(is_unknown) {
        if !unknown.contains(&word) {
            unknown.push(word);
        }
    }
    unknown
}

/// The number of unknown words that a warning names.
const NAMED: usize = 5;

/// Names words in a sentence.
fn named(words: &[&str]) -> String {
    let mut names: Vec<String> = words.iter().take(NAMED).map(|word| senv_core::quoted(word).to_string()).collect();
    match words.len().saturating_sub(NAMED) {
        0 => {}
        1 => names.push("1 more word".to_owned()),
        more => names.push(format!("{more} more words")),
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// At this number of queries or more, one warning is printed for all of them.
pub(crate) const MANY_QUERIES: usize = 10;

/// The smallest share of known words in a text that suits the model.
fn min_share(path: &Path) -> f64 {
    if senv::is_english(path) { senv_english::MIN_KNOWN_SHARE } else { KnownWords::MIN_SHARE }
}

/// Prints the warning. For the built-in model it says what the text is. That of a special subject comes once in a run.
fn warn_of(path: &Path, few: &FewKnownWords) {
    if !senv::is_english(path) {
        return output::warn(&format!("{}: {}", file_name(path), shown(few)));
    }
    static SAID: AtomicBool = AtomicBool::new(false);
    match few.kind() {
        TextKind::Code => output::warn(&format!("the text looks like program code: {}", shown(few))),
        TextKind::Domain => {
            let share = few.known.share().unwrap_or(1.0);
            if share < WEAKER && !SAID.swap(true, Ordering::Relaxed) {
                output::warn(&format!(
                    "{:.0} % of the words are unknown; results may be weaker; train a model on such text to adapt (senv train)",
                    100.0 * (1.0 - share)
                ));
            }
        }
        _ => output::warn(&format!("the built-in model is for English only: {}", shown(few))),
    }
}
