//! What each word adds to a cosine.
//!
//! Equation: `cosine-shares`
//!
//! ```text
//! m = (Σ_t r_t) / n      c(u, v) = Σ_t a_t + o      a_t = r_t·m′ / (n |u| |v|)        m, m′: the means that u and v begin with
//! ```
//!
//! A sentence vector starts with a mean, so its cosine with another is a sum over its words. A word that points in the
//! direction of the other sentence raises it, and one that points away lowers it. The remainder o is from the part for
//! word order and negation (`order-vector`). It is 0 if u or v is zero.

use senv_core::{Scratch, SentenceEncoder, StaticEncoder, Tokenizer, kernels};
use serde::Serialize;

use crate::embedding::{Counts, Embedding};

/// The maximum number of words of a sentence that are listed.
const MOST_WORDS: usize = 300;
/// The maximum number of bytes of a listed word.
const MOST_BYTES: usize = 60;

/// The comparison of two sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The cosine of their vectors, in `[-1, 1]`; 0 if one of them has no words.
    pub cosine: f32,
    /// What word order and negation add to the cosine; `None` for a model without an order part.
    pub order: Option<f32>,
    /// The words of the first and the second sentence.
    pub sides: [Side; 2],
}

/// One of the two sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The numbers of its words.
    pub counts: Counts,
    /// The first words, as the model reads them, at most 300.
    pub words: Vec<Word>,
    /// The number of further words.
    pub n_more: usize,
    /// What the further words together add to the cosine.
    pub more: f32,
}

/// A word of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Word {
    /// The word in lower case; a very long one is truncated.
    pub text: String,
    /// Whether the word, the word that it is a form of, or all parts of a compound have a row. Otherwise the vector
    /// comes from a hash.
    pub known: bool,
    /// What the word adds to the cosine.
    pub share: f32,
}

/// What the order part, after the first `dim` values of two vectors, adds to their cosine.
pub(crate) fn order_share(u: &[f32], v: &[f32], dim: usize) -> Option<f32> {
    if u.len() == dim {
        return None;
    }
    let norms = kernels::norm(u) * kernels::norm(v);
    Some(if norms > 0.0 { kernels::dot(&u[dim..], &v[dim..]) / norms } else { 0.0 })
}

/// The words of `sentence`, whose vector is `own`, and what each adds to its cosine with `other`; together they add
/// `of_words`. `tokens` encodes text that is already split, without word order.
pub(crate) fn side(
    tokenizer: &Tokenizer,
    tokens: &StaticEncoder,
    scratch: &mut Scratch,
    sentence: &str,
    own: &Embedding,
    other: &[f32],
    of_words: f32,
) -> Side {
    let norms = f64::from(kernels::norm(&own.vector)) * f64::from(kernels::norm(other));
    let mut row = vec![0.0; tokens.dim()];
    let mean = &other[..row.len()];
    let (mut words, mut n_more, mut sum) = (Vec::new(), 0, 0.0);
    let n = (own.counts.known + own.counts.hashed).max(1) as f64;
    tokenizer.for_each(sentence, &mut String::new(), |token| {
        if words.len() == MOST_WORDS {
            n_more += 1;
            return;
        }
        let coverage = tokens.encode_into(token, scratch, &mut row);
        let parts = (coverage.known + coverage.hashed) as f64;
        let share = if norms > 0.0 { parts * f64::from(kernels::dot(&row, mean)) / (n * norms) } else { 0.0 };
        sum += share;
        words.push(Word { text: beginning(token, MOST_BYTES), known: coverage.hashed == 0, share: share as f32 });
    });
    let more = if n_more == 0 { 0.0 } else { (f64::from(of_words) - sum) as f32 };
    Side { counts: own.counts, words, n_more, more }
}

/// Returns the text, or its first bytes and an ellipsis.
pub(crate) fn beginning(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let mut end = most_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
