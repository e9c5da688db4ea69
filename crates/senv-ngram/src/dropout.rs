//! Dropout of word n-grams in training, so that the model does not rely on the rare n-grams of a sentence alone.
//!
//! Equation: `n-gram-dropout`
//!
//! ```text
//! paper     D ⊂ n-grams (n > 1) of S, |D| = min(K, their number), every such D equally likely
//!           R(S) loses D; words stay
//! tokens    D ⊂ tokens of S, |D| = min(K, |S| − 2) (none if |S| ≤ 2), every such D equally likely
//!           R(S) loses every n-gram (n > 1) with a token in D; words stay
//! release   as tokens, with a D of its own for each target of S
//! ```
//!
//! Pagliardini et al., NAACL 2018, section 2.4: "dropping K n-grams (n > 1) for each sentence". The authors' release
//! drops K tokens from n-gram formation instead, which costs up to 2K bigrams but always leaves two usable tokens, and
//! draws them anew for each target. Drawn once a sentence, the sum of its rows serves all its targets.
//!
//! The K indices come from Floyd's method (Bentley and Floyd, "Programming Pearls: A Sample of Brilliance", 1987): one
//! random number each, whatever has been drawn before.

use rand::Rng;
use senv_core::{FeatureList, rng::Stream};
use serde::{Deserialize, Serialize};

/// What is dropped, tokens or n-grams, and how often it is drawn.
///
/// Exhaustive on purpose: the schemes are those of a paper and a program, and trainers differ by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropoutScheme {
    /// K tokens, drawn once a sentence; every n-gram that contains one of them is dropped.
    #[default]
    Tokens,
    /// K tokens, drawn anew for each target.
    ///
    /// A [`DropoutMask`] is that of one target then: whoever has several draws as many.
    Release,
    /// K n-grams, drawn once a sentence.
    Paper,
}

impl DropoutScheme {
    /// Whether a mask is one of tokens, which takes all n-grams that contain them.
    #[must_use]
    pub fn drops_tokens(self) -> bool {
        self != Self::Paper
    }
}

#[cfg(feature = "train")]
senv_core::named_values!(DropoutScheme {
    Tokens = "tokens": "Tokens and all n-grams that contain them, drawn once per sentence",
    Release = "release": "The same, drawn again for each target, as in the released code",
    Paper = "paper": "N-grams, drawn once per sentence, as in the paper",
});

/// The number of tokens or n-grams dropped from a sentence.
///
/// ```
/// use senv_core::{FeatureList, TokenId, rng::stream};
/// use senv_ngram::{Dropout, DropoutMask, DropoutScheme, WordNgramParams, WordNgrams};
/// let n_grams = WordNgrams::from_ids(100, WordNgramParams { max_n: 2, n_buckets: 1000, ..Default::default() })?;
/// let tokens = [3, 1, 4, 1, 5, 9].map(TokenId);
/// let mut features = FeatureList::default();
/// n_grams.features_into(&tokens, &mut features); // 6 words and 5 bigrams
/// let dropout = Dropout { scheme: DropoutScheme::Paper, n_dropped: 3 };
/// dropout.apply(&mut features, &mut stream(1, "dropout", &[]), &mut DropoutMask::default());
/// assert_eq!(features.rows().len(), 6 + 5 - 3);
/// # Ok::<(), senv_ngram::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Dropout {
    /// Whether tokens or n-grams are drawn.
    pub scheme: DropoutScheme,
    /// K: the number drawn; 0 drops nothing. The paper has 4 for Wikipedia, 7 for books, 3 for
    /// tweets.
    pub n_dropped: usize,
}

impl Dropout {
    /// Draws the dropout mask of a sentence of `n_tokens` tokens and `n_n_grams` n-grams (n > 1): tokens or n-grams,
    /// depending on the scheme. Takes at least as many random numbers from `rng` as it drops, nearly always exactly as
    /// many.
    #[inline]
    pub fn draw(&self, n_tokens: usize, n_n_grams: usize, rng: &mut Stream, mask: &mut DropoutMask) {
        match self.scheme {
            DropoutScheme::Tokens | DropoutScheme::Release => {
                mask.draw(n_tokens, self.n_dropped.min(n_tokens.saturating_sub(2)), rng)
            }
            DropoutScheme::Paper => mask.draw(n_n_grams, self.n_dropped.min(n_n_grams), rng),
        }
    }

    /// Drops n-grams from the features of one sentence, in place.
    ///
    /// Features of one token are words and are kept; the order and the grouping of the others do not change.
    pub fn apply(&self, features: &mut FeatureList, rng: &mut Stream, mask: &mut DropoutMask) {
        self.draw_for(features, rng, mask);
        features.retain(self.keep(mask));
    }

    /// Writes the features that are kept to `out` (cleared first); [`Dropout::apply`] without changing `features`.
    pub fn apply_into(&self, features: &FeatureList, rng: &mut Stream, mask: &mut DropoutMask, out: &mut FeatureList) {
        self.draw_for(features, rng, mask);
        let mut keep = self.keep(mask);
        out.clear();
        for start in 0..features.n_tokens() {
            out.start_token();
            for i in features.starting_at(start) {
                if keep(start, features.end_of(i)) {
                    out.push(features.rows()[i], features.end_of(i));
                }
            }
        }
    }

    fn draw_for(&self, features: &FeatureList, rng: &mut Stream, mask: &mut DropoutMask) {
        let n_n_grams = match self.scheme {
            DropoutScheme::Tokens | DropoutScheme::Release => 0, // not asked for
            DropoutScheme::Paper => features.iter().filter(|&(_, start, end)| start != end).count(),
        };
        self.draw(features.n_tokens(), n_n_grams, rng, mask);
    }

    /// Whether the mask keeps the next feature of a list; called in the order of the list.
    fn keep<'a>(&self, mask: &'a DropoutMask) -> impl FnMut(usize, usize) -> bool + 'a {
        let (scheme, mut number) = (self.scheme, 0);
        move |start, end| match scheme {
            _ if start == end => true,
            DropoutScheme::Tokens | DropoutScheme::Release => !(start..=end).any(|token| mask.contains(token)),
            DropoutScheme::Paper => {
                number += 1;
                !mask.contains(number - 1)
            }
        }
    }
}

/// A dropout mask: the dropped token or n-gram indices of a sentence, one bit each. Reused from sentence to sentence;
/// it allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct DropoutMask {
    bits: Vec<u64>,
    n_dropped: usize,
}

impl DropoutMask {
    /// Whether this token or n-gram (paper) is dropped; `false` beyond the end of the sentence.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        self.bits.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The number of dropped tokens or n-grams.
    #[inline]
    #[must_use]
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// The dropped indices, rising.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(word, bits): (usize, &u64)| {
            let mut left = *bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(64 * word + bit)
            })
        };
        self.bits.iter().enumerate().flat_map(bits)
    }

    /// Clears the mask: nothing is dropped.
    pub fn clear(&mut self) {
        self.bits.clear();
        self.n_dropped = 0;
    }

    /// Adds an index; returns whether it was new.
    #[inline]
    fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (&mut self.bits[number / 64], 1 << (number % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Draws `k` of the indices below `n`, every set of them equally likely; `k` must not exceed `n`.
    fn draw(&mut self, n: usize, k: usize, rng: &mut Stream) {
        self.bits.clear();
        self.n_dropped = k;
        if k == 0 {
            return;
        }
        self.bits.resize(n.div_ceil(64), 0);
        for last in n - k..n {
            let drawn = below(last as u64 + 1, rng) as usize;
            if !self.insert(drawn) {
                self.insert(last);
            }
        }
    }
}

/// A number below `n`, all equally likely (Lemire, "Fast random integer generation in an interval", 2019).
#[inline]
fn below(n: u64, rng: &mut Stream) -> u64 {
    let mut wide = u128::from(rng.next_u64()) * u128::from(n);
    if (wide as u64) < n {
        let too_many = n.wrapping_neg() % n;
        while (wide as u64) < too_many {
            wide = u128::from(rng.next_u64()) * u128::from(n);
        }
    }
    (wide >> 64) as u64
}
