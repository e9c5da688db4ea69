//! Dropout of word n-grams in training, so the model does not rely only on a sentence's rare n-grams.
//!
//! Equation: `n-gram-dropout`
//!
//! ```text
//! paper     D ⊂ n-grams (n > 1) of S, |D| = min(K, their number), every such D equally likely
//!           R(S) loses D; words stay
//! tokens    D ⊂ tokens of S, |D| = min(K, |S| − 2) (none if |S| ≤ 2), every such D equally likely
//!           R(S) loses every n-gram (n > 1) with a token in D; words stay
//! release   as tokens, with a separate D for each target of S
//! ```
//!
//! Pagliardini et al., NAACL 2018, section 2.4: "dropping K n-grams (n > 1) for each sentence". The authors' release
//! instead drops K tokens from n-gram formation. That costs up to 2K bigrams but always leaves two usable tokens. It
//! draws them again for each target. With one draw per sentence, the sum of its rows serves all its targets.
//!
//! The K indices come from Floyd's method (Bentley and Floyd, "Programming Pearls: A Sample of Brilliance", 1987), with
//! one random number each, regardless of earlier draws.

use rand::Rng;
use senv_core::{FeatureList, rng::Stream};
use serde::{Deserialize, Serialize};

/// A dropout scheme: tokens or n-grams, and how often they are drawn.
///
/// Exhaustive on purpose: the schemes are those of a paper and a program, and trainers treat them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropoutScheme {
    /// K tokens, drawn once per sentence; drops every n-gram that contains one of them.
    #[default]
    Tokens,
    /// K tokens, drawn for each target.
    ///
    /// A [`DropoutMask`] then belongs to one target; several targets need several draws.
    Release,
    /// K n-grams, drawn once per sentence.
    Paper,
}

impl DropoutScheme {
    /// Whether the mask drops tokens, and with them all n-grams that contain them.
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

/// The tokens or n-grams to drop from each sentence.
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
    /// The items to draw: tokens or n-grams.
    pub scheme: DropoutScheme,
    /// The number drawn, K; 0 drops nothing. The paper uses 4 for Wikipedia, 7 for books, 3 for tweets.
    pub n_dropped: usize,
}

impl Dropout {
    /// Draws the dropout mask for a sentence of `n_tokens` tokens and `n_n_grams` n-grams (n > 1): tokens or n-grams,
    /// depending on the scheme. Takes at least one random number from `rng` per drop, nearly always exactly one.
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
    /// Features of one token are words and are kept; the others keep their order and grouping.
    pub fn apply(&self, features: &mut FeatureList, rng: &mut Stream, mask: &mut DropoutMask) {
        self.draw_for(features, rng, mask);
        features.retain(self.keep(mask));
    }

    /// Writes the features that are kept to `out` (cleared first); like [`Dropout::apply`], without changing
    /// `features`.
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
            DropoutScheme::Tokens | DropoutScheme::Release => 0, // not needed
            DropoutScheme::Paper => features.iter().filter(|&(_, start, end)| start != end).count(),
        };
        self.draw(features.n_tokens(), n_n_grams, rng, mask);
    }

    /// Whether the mask keeps the next feature of a list; called in list order.
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

/// A dropout mask: the dropped token or n-gram indices of a sentence, one bit each. It is reused between sentences and
/// allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct DropoutMask {
    bits: Vec<u64>,
    n_dropped: usize,
}

impl DropoutMask {
    /// Whether this token or n-gram (paper) is dropped; `false` past the end of the sentence.
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

    /// The dropped indices, ascending.
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

    /// Clears the mask, so nothing is dropped.
    pub fn clear(&mut self) {
        self.bits.clear();
        self.n_dropped = 0;
    }

    /// Adds an index; returns whether it is new.
    #[inline]
    fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (&mut self.bits[number / 64], 1 << (number % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Draws `k` of the indices below `n`, every set equally likely; `k` must not exceed `n`.
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

/// A uniformly distributed number below `n` (Lemire, "Fast random integer generation in an interval", 2019).
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
