//! Averages of random word vectors: the result of counting words only, and a lower bound for trained averages.

use senv_core::{Table, TokenId, Tokenizer, Vocabulary, init, rng::stream};

use crate::{
    average::encoder::{AverageEncoder, known_tokens, words},
    base::file,
    error::Result,
};

impl AverageEncoder {
    /// Returns an encoder with a random vector, N(0, 1) in each of `dim` values, for every word of `vocabulary` that
    /// occurs in `sentences`. Other words are unknown to it, so it is small for any vocabulary. It keeps the counts,
    /// which weights ([`AverageEncoder::weighted_on`]) use. A word's vector depends on the seed and its position in the
    /// vocabulary, not on the sentences.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, Tokenizer, Vocabulary};
    /// use senv::average::AverageEncoder;
    /// let vocabulary = Vocabulary::from_counts([("the", 90), ("cat", 9), ("dog", 1)], 100)?;
    /// let sentences = ["the cat", "a cat"];
    /// let random = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &sentences, 300, 1)?;
    /// assert_eq!(random.vocabulary().len(), 2);
    /// assert!(random.similarity("the cat", "cat") > random.similarity("the", "cat"));
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] for a dimension out of range; [`senv_core::Error::TooLarge`] if the rows
    /// do not fit into memory.
    pub fn random<S: AsRef<str>>(
        tokenizer: &Tokenizer,
        vocabulary: &Vocabulary,
        sentences: &[S],
        dim: usize,
        seed: u64,
    ) -> Result<Self> {
        file::check_dim(dim)?;
        let (mut met, mut text, mut tokens) = (vec![false; vocabulary.len()], String::new(), Vec::new());
        for sentence in sentences {
            known_tokens(tokenizer, vocabulary, sentence.as_ref(), &mut text, &mut tokens);
            tokens.iter().for_each(|token| met[token.index()] = true);
        }
        let met: Vec<TokenId> = vocabulary.iter().map(|(id, ..)| id).filter(|id| met[id.index()]).collect();
        let counts = met.iter().map(|&id| (vocabulary.token(id), vocabulary.count(id)));
        let known = Vocabulary::from_counts(counts, vocabulary.corpus_tokens())?;
        let mut rows = Table::zeros(known.len(), dim)?;
        for (i, id) in met.iter().enumerate() {
            init::normal(&mut stream(seed, "random vectors", &[u64::from(id.0)]), rows.row_mut(i), 1.0)?;
        }
        let features = words(&known)?;
        Ok(Self::new(tokenizer.clone(), known, features, rows)?)
    }
}
