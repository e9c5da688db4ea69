//! The rows of the words and word n-grams of a sentence.

use senv_core::{FeatureList, RowId, TokenId, Vocabulary, rng::Stream};
use serde::{Deserialize, Serialize};

use crate::{
    Buckets, Dropout, DropoutMask, DropoutScheme, Error, NgramScheme, Result,
    hash::{append, fnv1a_signed, hash_operand},
    write::{self, RowsOf},
};

/// The highest order of word n-grams.
pub const MAX_ORDER: usize = 255;

/// The token that replaces the target, spelled as the Sent2Vec release writes it into its models.
pub const PLACEHOLDER: &str = "<PLACEHOLDER>";

/// Parameters of [`WordNgrams`]: the n-grams to use, and their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordNgramParams {
    /// The highest order, in `1..=255`: 1 for words only, 2 adds bigrams (default), 3 adds trigrams, ...
    pub max_n: usize,
    /// The number of hash buckets for all n-grams (n > 1) together; 2,000,000 by default. If `max_n` is 1, it has no
    /// effect and no rows are reserved.
    pub n_buckets: u32,
    /// The contribution of a word to the hash of an n-gram.
    pub scheme: NgramScheme,
    /// The number of rows before that of token 0: 0 (default), or 1 if row 0 belongs to the placeholder, as in models
    /// of the Sent2Vec release.
    pub first_row: u32,
}

impl Default for WordNgramParams {
    fn default() -> Self {
        Self { max_n: 2, n_buckets: 2_000_000, scheme: NgramScheme::TokenIds, first_row: 0 }
    }
}

/// The words and word n-grams of a sentence as rows of one table.
///
/// ```text
/// rows   0 .. first_row              set aside (the placeholder)
///        first_row .. + n_tokens     the tokens of the vocabulary, in its order
///        .. + n_buckets              the n-grams, by hash
/// ```
///
/// Under [`NgramScheme::TokenIds`] a token's row index is also its operand in hashes. So with a placeholder in row 0
/// the buckets are those of the Sent2Vec release, which counts it as word 0. For hash and remainder see the equations
/// `n-gram-hash` and `constant-remainder`.
///
/// ```
/// use senv_core::{FeatureList, TokenId};
/// use senv_ngram::{WordNgramParams, WordNgrams};
/// let n_grams = WordNgrams::from_ids(10, WordNgramParams { n_buckets: 1000, ..Default::default() })?;
/// let mut features = FeatureList::default();
/// n_grams.features_into(&[TokenId(2), TokenId(7)], &mut features);
/// // 2 · 116049371 + 7 = 232098749, which is 749 modulo 1000; the buckets start at row 10.
/// let rows: Vec<u32> = features.rows().iter().map(|row| row.0).collect();
/// assert_eq!(rows, [2, 759, 7]);
/// # Ok::<(), senv_ngram::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WordNgrams {
    params: WordNgramParams,
    n_tokens: u32,
    layout: Layout,
    /// String hash of each token; empty under `TokenIds`.
    hashes: Vec<u32>,
}

impl WordNgrams {
    /// Creates the n-grams for a vocabulary.
    ///
    /// # Errors
    /// [`Error::InvalidOrder`], [`Error::InvalidBuckets`] or [`Error::TooManyRows`].
    pub fn new(vocabulary: &Vocabulary, params: WordNgramParams) -> Result<Self> {
        let hashes = match params.scheme {
            NgramScheme::TokenIds => Vec::new(),
            NgramScheme::TokenHashes => vocabulary.iter().map(|(_, token, _)| fnv1a_signed(token.as_bytes())).collect(),
        };
        Self::build(vocabulary.len(), hashes, params)
    }

    /// Creates the n-grams for `n_tokens` token ids, without a vocabulary. `params.scheme` is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidOrder`], [`Error::InvalidBuckets`] or [`Error::TooManyRows`].
    pub fn from_ids(n_tokens: usize, params: WordNgramParams) -> Result<Self> {
        Self::build(n_tokens, Vec::new(), WordNgramParams { scheme: NgramScheme::TokenIds, ..params })
    }

    fn build(n_tokens: usize, hashes: Vec<u32>, params: WordNgramParams) -> Result<Self> {
        let WordNgramParams { max_n, first_row, .. } = params;
        if !(1..=MAX_ORDER).contains(&max_n) {
            return Err(Error::InvalidOrder { got: max_n, highest: MAX_ORDER });
        }
        let n_buckets = if max_n == 1 { 0 } else { params.n_buckets };
        let buckets = Buckets::new(if max_n == 1 { 1 } else { n_buckets })?;
        let too_many = || Error::TooManyRows { first_row, n_tokens, n_buckets };
        let n = u32::try_from(n_tokens).map_err(|_| too_many())?;
        let first_bucket = first_row.checked_add(n).ok_or_else(too_many)?;
        first_bucket.checked_add(n_buckets).ok_or_else(too_many)?;
        let layout = Layout { first_row, first_bucket, buckets };
        Ok(Self { params: WordNgramParams { n_buckets, ..params }, n_tokens: n, layout, hashes })
    }

    /// The parameters; `n_buckets` is 0 without n-grams.
    #[must_use]
    pub fn params(&self) -> &WordNgramParams {
        &self.params
    }

    /// Size of the vocabulary.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.n_tokens as usize
    }

    /// The row of a token.
    #[inline]
    #[must_use]
    pub fn token_row(&self, token: TokenId) -> RowId {
        self.layout.word(token)
    }

    /// The row of the placeholder, if rows are reserved before that of token 0.
    #[must_use]
    pub fn placeholder_row(&self) -> Option<RowId> {
        (self.params.first_row > 0).then_some(RowId(0))
    }

    /// The row of an n-gram. For one token it is the word's row; for none, `None`.
    ///
    /// # Panics
    /// If a token is not below the size of the vocabulary, or if there are several tokens and n-grams are disabled.
    #[must_use]
    pub fn n_gram_row(&self, tokens: &[TokenId]) -> Option<RowId> {
        self.check(tokens);
        match tokens {
            [] => None,
            &[token] => Some(self.token_row(token)),
            _ => {
                assert!(self.params.max_n > 1, "an n-gram of {} tokens, but there are only words", tokens.len());
                Some(self.layout.bucket(tokens.iter().fold(0, |hash, &token| append(hash, self.operand(token)))))
            }
        }
    }

    /// The number of features of a sentence of `n` tokens, words and n-grams together, without dropout.
    ///
    /// ```text
    /// Σ_{k = 1..min(max_n, n)} (n − k + 1)
    /// ```
    #[inline]
    #[must_use]
    pub fn n_features(&self, n: usize) -> usize {
        let k = self.params.max_n.min(n);
        k * (2 * n + 1 - k) / 2
    }

    /// Writes the features of `tokens` to `out` (cleared first), except those that `dropout` drops, which are never
    /// computed. The features are those of [`WordNgrams::features_into`] followed by [`Dropout::apply`], from the same
    /// random numbers. The dropout mask is left in `mask`.
    ///
    /// # Panics
    /// If a token is not below the size of the vocabulary.
    pub fn features_with_dropout_into(
        &self,
        tokens: &[TokenId],
        dropout: Dropout,
        rng: &mut Stream,
        mask: &mut DropoutMask,
        out: &mut FeatureList,
    ) {
        dropout.draw(tokens.len(), self.n_features(tokens.len()) - tokens.len(), rng, mask);
        self.features_with_mask_into(tokens, dropout.scheme, mask, out);
    }

    /// Writes the features of `tokens` to `out` (cleared first), except those dropped by a mask from [`Dropout::draw`].
    ///
    /// # Panics
    /// If a token is not below the size of the vocabulary.
    pub(crate) fn features_with_mask_into(
        &self,
        tokens: &[TokenId],
        scheme: DropoutScheme,
        mask: &DropoutMask,
        out: &mut FeatureList,
    ) {
        self.write(tokens, (mask.n_dropped() > 0).then_some((scheme, mask)), out);
    }

    /// Calls `each(row, start, end)` for every n-gram (n > 1) with the placeholder at the position of token `target`,
    /// in the order of [`FeatureList`]. N-grams with a dropped token are skipped. If no row is reserved for the
    /// placeholder, nothing is called.
    ///
    /// This turns the features of a sentence into those with the placeholder in place of the target. Remove the
    /// features that contain the target, then add the placeholder's row and these. Only tokens within `max_n - 1` of
    /// the target are read, so all targets of a sentence together take time linear in its length.
    ///
    /// # Panics
    /// If one of these tokens is not below the size of the vocabulary, or `target` is not below the length of the
    /// sentence.
    pub fn placeholder_n_grams(
        &self,
        tokens: &[TokenId],
        target: usize,
        dropped: Option<&DropoutMask>,
        mut each: impl FnMut(RowId, usize, usize),
    ) {
        assert!(target < tokens.len(), "target {target} of a sentence of {} tokens", tokens.len());
        let reach = self.params.max_n - 1;
        self.check(&tokens[target.saturating_sub(reach)..(target + reach + 1).min(tokens.len())]);
        let usable = |token: usize| dropped.is_none_or(|mask| !mask.contains(token));
        if self.params.first_row == 0 || !usable(target) {
            return;
        }
        let operand = |i: usize| if i == target { self.placeholder_operand() } else { self.operand(tokens[i]) };
        let mut start = target;
        while start > 0 && target - start < reach && usable(start - 1) {
            start -= 1;
        }
        for start in start..=target {
            let mut hash = operand(start);
            for end in start + 1..(start + reach + 1).min(tokens.len()) {
                if !usable(end) {
                    break;
                }
                hash = append(hash, operand(end));
                if end >= target {
                    each(self.layout.bucket(hash), start, end);
                }
            }
        }
    }

    /// Every token must have a row, or its features would be wrong.
    #[inline]
    fn check(&self, tokens: &[TokenId]) {
        let highest = tokens.iter().fold(0, |highest, token| highest.max(token.0));
        assert!(
            highest < self.n_tokens || tokens.is_empty(),
            "token {highest} in a vocabulary of {} tokens",
            self.n_tokens
        );
    }

    fn operand(&self, token: TokenId) -> u64 {
        match self.params.scheme {
            NgramScheme::TokenIds => ByIds(self.layout).operand(token),
            NgramScheme::TokenHashes => ByHashes(self.layout, &self.hashes).operand(token),
        }
    }

    fn placeholder_operand(&self) -> u64 {
        match self.params.scheme {
            NgramScheme::TokenIds => 0,
            NgramScheme::TokenHashes => const { hash_operand(fnv1a_signed(PLACEHOLDER.as_bytes())) },
        }
    }

    fn write(&self, tokens: &[TokenId], dropped: Option<(DropoutScheme, &DropoutMask)>, out: &mut FeatureList) {
        self.check(tokens);
        let size = (self.params.max_n, self.n_features(tokens.len()));
        match self.params.scheme {
            NgramScheme::TokenIds => write::features(&ByIds(self.layout), tokens, size, dropped, out),
            NgramScheme::TokenHashes => {
                write::features(&ByHashes(self.layout, &self.hashes), tokens, size, dropped, out)
            }
        }
    }
}

/// The layout of the rows, kept in registers while the features of a sentence are written.
#[derive(Debug, Clone, Copy)]
struct Layout {
    first_row: u32,
    first_bucket: u32,
    buckets: Buckets,
}

impl Layout {
    #[inline]
    fn word(&self, token: TokenId) -> RowId {
        RowId(self.first_row + token.0)
    }

    #[inline]
    fn bucket(&self, hash: u64) -> RowId {
        RowId(self.first_bucket + self.buckets.of(hash))
    }
}

/// N-grams by token ids.
struct ByIds(Layout);

impl RowsOf for ByIds {
    #[inline]
    fn word(&self, token: TokenId) -> RowId {
        self.0.word(token)
    }
    #[inline]
    fn operand(&self, token: TokenId) -> u64 {
        u64::from(self.0.word(token).0)
    }
    #[inline]
    fn bucket(&self, hash: u64) -> RowId {
        self.0.bucket(hash)
    }
}

/// N-grams by string hashes.
struct ByHashes<'a>(Layout, &'a [u32]);

impl RowsOf for ByHashes<'_> {
    #[inline]
    fn word(&self, token: TokenId) -> RowId {
        self.0.word(token)
    }
    #[inline]
    fn operand(&self, token: TokenId) -> u64 {
        hash_operand(self.1[token.index()])
    }
    #[inline]
    fn bucket(&self, hash: u64) -> RowId {
        self.0.bucket(hash)
    }
}

impl WordNgrams {
    /// The number of rows that features can refer to: the number of rows of the source table.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.layout.first_bucket as usize + self.params.n_buckets as usize
    }

    /// The longest feature in tokens: 1 for words only, 2 with bigrams.
    #[must_use]
    pub fn max_span(&self) -> usize {
        self.params.max_n
    }

    /// Writes the features of `tokens` to `out` (cleared first), processing every token once.
    ///
    /// # Panics
    /// If a token is not below the size of the vocabulary.
    pub fn features_into(&self, tokens: &[TokenId], out: &mut FeatureList) {
        self.write(tokens, None, out);
    }
}
