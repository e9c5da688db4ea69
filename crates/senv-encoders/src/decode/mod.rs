//! Decoding of a sentence vector into words, greedily or by beam search.
//!
//! Equation: `beam-search`
//!
//! ```text
//! ln p(w_1 .. w_n) = Σ_t ln softmax(a(h_t))_{w_t}          a: logits, w_n: the end token
//! score            = ln p / n^power
//! ```
//!
//! At each step the `width` likeliest hypotheses are extended. One that ends among them is complete; the search ends
//! when no open hypothesis can exceed the complete ones. With a width of 1 the likeliest word is taken each time. Ties
//! go to the earlier hypothesis, then to the lower word.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use ndarray::{Array2, ArrayView2, s};
use senv_core::{Error, Result, arrays::Float, math};

use crate::{
    decoder::{Decoder, DecoderSession},
    encoder::check_size,
};

/// The limits of a beam search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamSearch {
    /// The word that ends a sentence.
    pub end: u32,
    /// The maximum number of words of a sentence, the end token included.
    pub longest: usize,
    /// The beam width: hypotheses that are extended at each step, at least 1; 1 is greedy.
    pub width: usize,
    /// The length penalty: the power of the length that ln p is divided by, at least 0. 0 ranks by probability, which
    /// prefers short sentences; 1 ranks by the mean ln p of a word.
    pub power: f64,
}

impl BeamSearch {
    /// Greedy decoding: the likeliest word each time, until `end` or `longest` words.
    #[must_use]
    pub fn greedy(end: u32, longest: usize) -> Self {
        Self { end, longest, width: 1, power: 0.0 }
    }

    /// A beam search of this width, ranked by probability.
    #[must_use]
    pub fn new(end: u32, longest: usize, width: usize) -> Self {
        Self { width, ..Self::greedy(end, longest) }
    }

    fn score(&self, hypothesis: &Hypothesis) -> f64 {
        let n = hypothesis.tokens.len() + usize::from(hypothesis.ended);
        hypothesis.log_probability / (n.max(1) as f64).powf(self.power)
    }
}

/// A sentence that a beam search generates.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// Its words, without the end token.
    pub tokens: Vec<u32>,
    /// ln of its probability, with that of the end token if it was reached.
    pub log_probability: f64,
    /// Whether the end token was reached.
    pub ended: bool,
}

/// The likeliest sentences by beam search, `width` of them at most, the best first; none if every word is excluded.
///
/// | name | meaning |
/// | --- | --- |
/// | `embed` | writes the vector of a word; called with `None` for the input before the first word, over zeros: write nothing for [`FirstInput::Zero`](crate::FirstInput::Zero), the start token's vector otherwise |
/// | `logits` | one row of logits, one for each word, for each row of hidden states; a word of −∞ is never taken |
///
/// ```
/// use ndarray::{Array2, array};
/// use senv_core::{Error, rng::stream};
/// use senv_encoders::{BeamSearch, Conditioning, Decoder, FirstInput, GruDecoder, GruInit, GruStyle, beam_search};
/// let decoder = GruDecoder::new(1, 2, 2, Conditioning::InitialState, FirstInput::Zero, GruStyle::Tf1, GruInit::Glorot)?;
/// let parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[]))?;
/// let session = decoder.session(&parameters, array![0.1, 0.2].view())?;
/// // Word 2 is likely, word 0 ends.
/// let logits = |h: ndarray::ArrayView2<'_, f64>| Ok::<_, Error>(Array2::from_shape_fn((h.nrows(), 3), |(_, w)| w as f64));
/// let found = beam_search(&session, &BeamSearch::greedy(0, 4), |_, _| {}, logits)?;
/// assert_eq!((&found[0].tokens[..], found[0].ended), (&[2, 2, 2, 2][..], false));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] if the width is 0, the power negative, infinite or NaN, or a logit NaN or +∞;
/// [`Error::ShapeMismatch`] if there is not one row of logits for each state; any error of `logits`.
pub fn beam_search<F: Float, D: Decoder, E: From<Error>>(
    session: &DecoderSession<'_, F, D>,
    search: &BeamSearch,
    mut embed: impl FnMut(Option<u32>, &mut [F]),
    mut logits: impl FnMut(ArrayView2<'_, F>) -> Result<Array2<F>, E>,
) -> Result<Vec<Hypothesis>, E> {
    let bad = |name, requirement, got: String| E::from(Error::InvalidParameter { name, requirement, got });
    if search.width == 0 {
        return Err(bad("width of a beam", "above 0", "0".into()));
    }
    if !(search.power.is_finite() && search.power >= 0.0) {
        return Err(bad("power of the length", "finite and not negative", search.power.to_string()));
    }
    let (hidden, word_dim) = (session.decoder().hidden(), session.decoder().word_dim());
    let mut states = Array2::from_shape_fn((1, session.decoder().state_dim()), |(_, j)| session.first_state()[j]);
    let mut open = vec![Hypothesis { tokens: Vec::new(), log_probability: 0.0, ended: false }];
    let mut done: Vec<Hypothesis> = Vec::new();
    let best_first = |a: &Hypothesis, b: &Hypothesis| search.score(b).total_cmp(&search.score(a));
    for _ in 0..search.longest {
        let mut words = vec![F::zero(); open.len() * word_dim];
        for (hypothesis, word) in open.iter().zip(words.chunks_exact_mut(word_dim)) {
            embed(hypothesis.tokens.last().copied(), word);
        }
        let words = Array2::from_shape_vec((open.len(), word_dim), words)
            .map_err(|_| Error::TooLarge { rows: open.len(), dim: word_dim })?;
        let next = session.step(words.view(), states.view())?;
        let scores = logits(next.slice(s![.., ..hidden]))?;
        check_size("rows of logits", open.len(), scores.nrows())?;
        let candidates = likeliest(&open, scores.view(), 2 * search.width)
            .ok_or_else(|| bad("logits", "numbers below infinity", "infinity or NaN".into()))?;
        let (mut chosen, mut from) = (Vec::with_capacity(search.width), Vec::with_capacity(search.width));
        for (rank, candidate) in candidates.into_iter().enumerate() {
            let mut tokens = open[candidate.hypothesis].tokens.clone();
            let log_probability = candidate.log_probability;
            if candidate.word == search.end {
                if rank < search.width {
                    done.push(Hypothesis { tokens, log_probability, ended: true });
                }
            } else if chosen.len() < search.width {
                tokens.push(candidate.word);
                chosen.push(Hypothesis { tokens, log_probability, ended: false });
                from.push(candidate.hypothesis);
            }
        }
        open = chosen;
        states = next.select(ndarray::Axis(0), &from);
        done.sort_by(best_first);
        done.truncate(search.width);
        // Upper bound of the score of the open hypotheses: ln p only falls, and the divisor is largest for the longest
        // sentence.
        let bound = open.iter().map(|hypothesis| hypothesis.log_probability).fold(f64::NEG_INFINITY, f64::max)
            / (search.longest as f64).powf(search.power);
        let full = done.len() == search.width;
        if open.is_empty() || (full && done.last().is_some_and(|last| search.score(last) >= bound)) {
            open.clear();
            break;
        }
    }
    done.extend(open);
    done.sort_by(best_first);
    done.truncate(search.width);
    Ok(done)
}

/// A hypothesis extended by a word.
struct ExtendedHypothesis {
    hypothesis: usize,
    word: u32,
    log_probability: f64,
}

/// The `n` likeliest extensions, the best first; none if a logit is NaN or +∞.
fn likeliest<F: Float>(open: &[Hypothesis], logits: ArrayView2<'_, F>, n: usize) -> Option<Vec<ExtendedHypothesis>> {
    let order = |a: &ExtendedHypothesis, b: &ExtendedHypothesis| -> Ordering {
        let by_probability = b.log_probability.total_cmp(&a.log_probability);
        by_probability.then(a.hypothesis.cmp(&b.hypothesis)).then(a.word.cmp(&b.word))
    };
    let mut best: Vec<ExtendedHypothesis> = Vec::new();
    for ((hypothesis, before), row) in open.iter().enumerate().zip(logits.rows()) {
        let row: Vec<f64> = row.iter().map(|x| x.wide()).collect();
        if row.iter().any(|x| x.is_nan() || *x == f64::INFINITY) {
            return None;
        }
        let total = math::log_sum_exp(&row);
        let mut ways: Vec<ExtendedHypothesis> = (0..)
            .zip(&row)
            .filter(|(_, x)| x.is_finite())
            .map(|(word, x)| ExtendedHypothesis {
                hypothesis,
                word,
                log_probability: before.log_probability + x - total,
            })
            .collect();
        if ways.len() > n {
            ways.select_nth_unstable_by(n - 1, order);
            ways.truncate(n);
        }
        best.extend(ways);
    }
    best.sort_by(order);
    best.truncate(n);
    Some(best)
}
