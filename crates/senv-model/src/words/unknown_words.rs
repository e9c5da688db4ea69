//! Vectors for words that are not in the vocabulary.
//!
//! Equation: `unknown-word`
//!
//! ```text
//! u(t) = ρ/√d s(t)      s(t) ∈ {−1, 1}^d: bits of a hash of t;  ρ: the length of such vectors
//! ```
//!
//! Random vectors of different words are nearly orthogonal, and a word has the same vector everywhere. So two sentences
//! that share a name are more similar than two that do not, even if the name was not in the training text. An unknown
//! compound, "low-cost" or "and/or", is replaced by its parts, which are looked up separately. An unknown form of a
//! known English word, "trotted" or "skeptics", is replaced by that word.

use super::base_forms::base_form;
use crate::{Coverage, Vocabulary, add_signs};
use senv_base::TokenId;
use senv_text::Tokenizer;

/// ρ/√d: the absolute value of each number in a vector of length `length` for an unknown word.
#[must_use]
pub fn unknown_word_value(length: f32, dim: usize) -> f32 {
    length / (dim as f32).sqrt()
}

/// Looks up the tokens of a text, in order, and writes known ids to `tokens` (cleared first). The vectors of unknown
/// tokens are `value` ([`unknown_word_value`]) times 1 or -1 in each of `dim` positions. Their sum goes to `sum`
/// (cleared first, empty if nothing is unknown).
///
/// [`Coverage::hashed`] is the number of vectors added. A compound counts as its parts, and a form of a known word as
/// known. For `scratch`, see [`Tokenizer::for_each`].
///
/// ```
/// use senv_core::{Tokenizer, Vocabulary, words::look_up_all};
/// let vocabulary = Vocabulary::from_counts([("low", 2), ("cost", 1)], 3)?;
/// let (mut scratch, mut tokens, mut sum) = (String::new(), Vec::new(), Vec::new());
/// let mut look_up = |text: &str| look_up_all(&vocabulary, &Tokenizer::words(), text, 0.5, 8, &mut scratch, &mut tokens, &mut sum);
/// let coverage = look_up("low-costs Ishmael");
/// assert_eq!((coverage.tokens, coverage.known, coverage.hashed), (3, 2, 1));
/// assert_eq!(sum.iter().map(|x: &f32| x.abs()).collect::<Vec<_>>(), [0.5; 8]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[allow(clippy::too_many_arguments)]
pub fn look_up_all(
    vocabulary: &Vocabulary,
    tokenizer: &Tokenizer,
    text: &str,
    value: f32,
    dim: usize,
    scratch: &mut String,
    tokens: &mut Vec<TokenId>,
    sum: &mut Vec<f32>,
) -> Coverage {
    sum.clear();
    let mut hashed = 0;
    let n = look_up_parts(vocabulary, tokenizer, text, scratch, tokens, |part, _| {
        sum.resize(dim, 0.0);
        add_signs(part, value, sum);
        hashed += 1;
    });
    Coverage { hashed, ..Coverage::new(n, tokens.len()) }
}

/// Looks up the tokens of a text, in order, and writes ids to `tokens` (cleared first). As in [`look_up_all`],
/// compounds are replaced by their parts, and forms of known words by these words. Words that remain unknown are passed
/// to `unknown` in their place, with the ids found so far, which it can extend. Returns the number of tokens; a
/// compound counts as its parts.
pub fn look_up_parts(
    vocabulary: &Vocabulary,
    tokenizer: &Tokenizer,
    text: &str,
    scratch: &mut String,
    tokens: &mut Vec<TokenId>,
    mut unknown: impl FnMut(&str, &mut Vec<TokenId>),
) -> usize {
    let mut further = 0;
    let n = vocabulary.known_tokens_or(tokenizer, text, scratch, tokens, |word, tokens| {
        let parts = word.split(['-', '/', '\u{2010}', '\u{2011}', '\u{2013}']).filter(|part| !part.is_empty());
        let mut n_parts = 0;
        for part in parts {
            n_parts += 1;
            // A word with one part was already looked up.
            let id = if part.len() < word.len() { vocabulary.id(part) } else { None };
            match id.or_else(|| base_form(part, |form| vocabulary.id(form))) {
                Some(id) => tokens.push(id),
                None => unknown(part, tokens),
            }
        }
        if n_parts == 0 {
            // Only a dash.
            unknown(word, tokens);
        }
        further += usize::saturating_sub(n_parts, 1);
    });
    n + further
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up(text: &str) -> (Coverage, Vec<u32>, Vec<f32>) {
        let vocabulary = Vocabulary::from_counts([("a", 3), ("b", 2), ("x-y", 1)], 6).unwrap();
        let (mut tokens, mut sum) = (Vec::new(), Vec::new());
        let (tokenizer, scratch) = (Tokenizer::whitespace(), &mut String::new());
        let coverage = look_up_all(&vocabulary, &tokenizer, text, 1.0, 5, scratch, &mut tokens, &mut sum);
        (coverage, tokens.iter().map(|id| id.0).collect(), sum)
    }

    #[test]
    fn compounds_stand_for_their_parts_unless_they_are_known() {
        let (coverage, tokens, sum) = look_up("x-y a-b/c d");
        assert_eq!((coverage, tokens), (Coverage { hashed: 2, ..Coverage::new(5, 3) }, vec![2, 0, 1]));
        let mut expected = vec![0.0; 5];
        ["c", "d"].iter().for_each(|word| add_signs(word, 1.0, &mut expected));
        assert_eq!(sum, expected);
    }

    #[test]
    fn forms_of_known_words_stand_for_these() {
        let vocabulary = Vocabulary::from_counts([("low", 3), ("trot", 2), ("cost", 1), ("costs", 1)], 7).unwrap();
        let look_up = |text: &str| {
            let (mut tokens, mut sum) = (Vec::new(), Vec::new());
            let (tokenizer, scratch) = (Tokenizer::words(), &mut String::new());
            let coverage = look_up_all(&vocabulary, &tokenizer, text, 1.0, 5, scratch, &mut tokens, &mut sum);
            (coverage, tokens.iter().map(|id| id.0).collect::<Vec<_>>(), sum)
        };
        let coverage = Coverage::new(4, 4);
        assert_eq!(look_up("trotted low-costed costs"), (coverage, vec![1, 0, 2, 3], vec![]), "a known word is itself");
    }

    #[test]
    fn dashes_and_edges_are_words_too() {
        for (text, expected) in
            [("-", (1, 0, 1)), ("--", (1, 0, 1)), ("a-", (1, 1, 0)), ("-q", (1, 0, 1)), ("", (0, 0, 0))]
        {
            let (coverage, ..) = look_up(text);
            assert_eq!((coverage.tokens, coverage.known, coverage.hashed), expected, "{text:?}");
        }
        assert!(look_up("a b").2.is_empty());
    }
}
