//! How to find the words of another program in text.

use senv_core::{Tokenizer, Vocabulary};

/// The share of words with letters above which word vectors count as lowercase, if these words are lowercase. A
/// lowercased file has a few others: a row for unknown words, markers of a format.
const MIN_LOWERCASE: f64 = 0.99;

/// The tokenizer for word vectors from another program, whose own tokenizer is unknown. It looks up the longest form
/// that has a row, unchanged or, if nearly all words are lowercase, in lowercase.
///
/// ```
/// use senv_core::Vocabulary;
/// let words = |words: &[&str]| Vocabulary::from_counts(words.iter().map(|word| (*word, 1)), 0);
/// assert!(senv_store::tokenizer_of_words(&words(&["the", "cat", "sat", "UNK"])?).is_lowercase());
/// assert!(!senv_store::tokenizer_of_words(&words(&["the", "The", "cat", "Paris"])?).is_lowercase());
/// # Ok::<(), senv_core::Error>(())
/// ```
#[must_use]
pub fn tokenizer_of_words(vocabulary: &Vocabulary) -> Tokenizer {
    let WordCase { words, capitals } = WordCase::of(vocabulary);
    // If there are few words, one can be an exception.
    let is_lowercase = (capitals == 1 && words > 3) || capitals as f64 <= (1.0 - MIN_LOWERCASE) * words as f64;
    Tokenizer::words().longest_first(true).lowercase(is_lowercase)
}

/// The number of words with capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordCase {
    /// Words with a letter.
    pub words: usize,
    /// Of these, words with a capital letter.
    pub capitals: usize,
}

impl WordCase {
    /// Counts the words of a vocabulary.
    #[must_use]
    pub fn of(vocabulary: &Vocabulary) -> Self {
        let mut case = Self { words: 0, capitals: 0 };
        for (_, word, _) in vocabulary.iter().filter(|(_, word, _)| word.chars().any(char::is_alphabetic)) {
            case.words += 1;
            case.capitals += usize::from(word.chars().any(char::is_uppercase));
        }
        case
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_lowercase(words: impl Iterator<Item = String>) -> bool {
        let vocabulary = Vocabulary::from_counts(words.map(|word| (word, 1)), 0).unwrap();
        tokenizer_of_words(&vocabulary).is_lowercase()
    }

    #[test]
    fn a_few_capitals_do_not_make_lower_case_vectors_cased() {
        let lower = |n: usize| (0..n).map(|i| format!("word{i}"));
        let upper = |n: usize| (0..n).map(|i| format!("Word{i}"));
        assert!(is_lowercase(lower(500)));
        assert!(is_lowercase(lower(495).chain(upper(5))));
        assert!(!is_lowercase(lower(490).chain(upper(10))));
        assert!(is_lowercase(lower(3).chain(upper(1))), "a row for unknown words");
        assert!(!is_lowercase(upper(1)) && !is_lowercase(upper(3)) && !is_lowercase(lower(2).chain(upper(1))));
        // Numbers and symbols have no case.
        assert!(!is_lowercase(upper(3).chain((0..1000).map(|i| i.to_string()))));
        assert!(is_lowercase((0..10).map(|i| i.to_string())));
    }
}
