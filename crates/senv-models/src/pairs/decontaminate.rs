//! Keeps training data away from test data.

use std::{collections::HashSet, path::Path};

use senv_core::TextOptions;
use senv_data::Captions;

use crate::Result;

/// Words from which on a sentence counts: shorter ones are alike by chance.
const MIN_WORDS: usize = 4;

/// Sentences of development and test sets, which training must not see: compared in lower case, by letters and digits
/// alone, from four words on.
///
/// ```
/// use senv_models::HeldOut;
/// let mut held_out = HeldOut::default();
/// held_out.add("A man plays the guitar.");
/// assert!(held_out.contains("a man plays the \"guitar\""));
/// assert!(!held_out.contains("A man plays a guitar."));
/// ```
#[derive(Debug, Clone, Default)]
pub struct HeldOut(HashSet<String>);

impl HeldOut {
    /// Every cell of tab-separated files; cells of fewer than four words count for nothing.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        let mut held_out = Self::default();
        for path in paths {
            match Captions::open(path, &TextOptions::default())? {
                Captions::Json(images) => images.sentences().for_each(|caption| held_out.add(caption)),
                Captions::Lines(mut reader) => {
                    while let Some(line) = reader.next_line()? {
                        line.text.split('\t').for_each(|cell| held_out.add(cell));
                    }
                }
            }
        }
        Ok(held_out)
    }

    /// One more sentence.
    pub fn add(&mut self, sentence: &str) {
        self.0.extend(key(sentence));
    }

    /// Whether a sentence is among them.
    #[must_use]
    pub fn contains(&self, sentence: &str) -> bool {
        !self.0.is_empty() && key(sentence).is_some_and(|key| self.0.contains(&key))
    }

    /// Number of different sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is held out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Letters and digits in lower case; `None` for fewer than four words.
fn key(sentence: &str) -> Option<String> {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    sentence.split_whitespace().filter(is_word).nth(MIN_WORDS - 1)?;
    Some(sentence.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_files_are_held_out_and_short_ones_are_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "2.5\tThe cat sat down .\tIt is\n0\tÉté à la plage\tx\n").unwrap();
        let held_out = HeldOut::read(&[file.path()]).unwrap();
        assert_eq!(held_out.len(), 2);
        assert!(held_out.contains("the CAT sat down") && held_out.contains("été à la plage!"));
        assert!(!held_out.contains("It is") && !held_out.contains(""));
        assert!(HeldOut::read::<&str>(&[]).unwrap().is_empty());
        assert!(HeldOut::read(&["no/such/file"]).is_err());
    }
}
