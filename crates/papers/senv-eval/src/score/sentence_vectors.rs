//! The embeddings of many sentences, each distinct one encoded once.

use indexmap::IndexSet;
use ndarray::{Array2, ArrayView2};
use senv_core::{Coverage, Error as CoreError, Result as CoreResult, Scratch, SentenceEncoder};

use crate::error::{Error, Result};

/// Distinct sentences, numbered in the order of their first occurrence, with their embeddings.
///
/// Encode the sentences of all data sets once and pass the result to every protocol. It is itself a [`SentenceEncoder`]
/// that looks sentences up, so functions that take an encoder accept it too. The vectors may also come from another
/// program ([`SentenceVectors::from_vectors`]).
///
/// ```
/// use senv_eval::{SentenceVectors, StsTask, evaluate_sts};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("small.tsv");
/// std::fs::write(&path, "5\ta dog\ta puppy\n1\ta dog\tno rain\n")?;
/// let vectors = ndarray::array![[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]];
/// let embeddings = SentenceVectors::from_vectors(["a dog", "a puppy", "no rain"], vectors)?;
/// let result = evaluate_sts(&embeddings, &[StsTask::read(&path)?])?;
/// assert_eq!(result.tasks[0].known_token_share, None); // unknown for vectors from elsewhere
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SentenceVectors {
    sentences: IndexSet<String>,
    /// Shape `(n, dim)`, row-major.
    values: Array2<f32>,
    coverage: Vec<Coverage>,
}

impl SentenceVectors {
    /// Encodes each distinct sentence once, on all threads of the current rayon pool. Memory: the distinct sentences,
    /// plus their number times the dimension in f32.
    ///
    /// # Errors
    /// [`Error::Core`] if the embeddings do not fit into memory or the encoder returns a different shape than declared;
    /// [`Error::Unread`] if it did not read a sentence to its end, because the figures would not be those of the
    /// sentence.
    pub fn encode<'a>(encoder: &dyn SentenceEncoder, sentences: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut distinct = IndexSet::new();
        for sentence in sentences {
            if !distinct.contains(sentence) {
                distinct.insert(sentence.to_owned());
            }
        }
        let texts: Vec<&str> = distinct.iter().map(String::as_str).collect();
        let (values, coverage) = encoder.encode_batch(&texts)?;
        check_shape("an embedding", encoder.dim(), values.ncols())?;
        check_shape("coverage of the sentences", distinct.len(), coverage.len())?;
        if let Some((text, cut)) = texts.iter().zip(&coverage).find(|(_, coverage)| coverage.unread > 0) {
            let (tokens, unread) = (cut.tokens, cut.unread);
            return Err(Error::Unread { sentence: start_of(text), tokens, unread });
        }
        Self::new(distinct, values, coverage)
    }

    /// Takes sentences and their vectors, one per row, as another program computed them. A sentence may occur again
    /// with the same vector. A zero vector counts as a sentence without a known token. The coverage of tokens is
    /// unknown.
    ///
    /// # Errors
    /// [`Error::Core`] if the numbers of sentences and vectors differ; [`Error::TwoVectors`] for a sentence with two
    /// different vectors; [`Error::NotFinite`] for a vector with NaN or an infinity, with its sentence.
    pub fn from_vectors<S: Into<String>>(sentences: impl IntoIterator<Item = S>, vectors: Array2<f32>) -> Result<Self> {
        let (mut distinct, mut rows, mut n) = (IndexSet::new(), Vec::new(), 0);
        for (row, sentence) in sentences.into_iter().enumerate() {
            n = row + 1;
            let (number, is_new) = distinct.insert_full(sentence.into());
            if is_new {
                rows.push(row);
            } else if row < vectors.nrows() && vectors.row(row) != vectors.row(rows[number]) {
                return Err(Error::TwoVectors { sentence: start_of(&distinct[number]) });
            }
        }
        check_shape("rows of the embeddings", n, vectors.nrows())?;
        let values = if rows.len() == n { vectors } else { vectors.select(ndarray::Axis(0), &rows) };
        // One known token unless the vector is zero: callers only use `Coverage::is_empty`.
        let known = |row: ndarray::ArrayView1<'_, f32>| usize::from(row.iter().any(|&x| x != 0.0));
        let coverage = values.rows().into_iter().map(|row| Coverage::new(0, known(row))).collect();
        let embeddings = Self::new(distinct, values, coverage)?;
        embeddings.check_finite()?;
        Ok(embeddings)
    }

    fn new(sentences: IndexSet<String>, values: Array2<f32>, coverage: Vec<Coverage>) -> Result<Self> {
        check_shape("rows of the embeddings", sentences.len(), values.nrows())?;
        let values = if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() };
        Ok(Self { sentences, values, coverage })
    }

    /// Returns the embeddings of pairs and the numbers of their sentences. Errors are those of an encoder.
    pub(crate) fn of_pairs(
        encoder: &dyn SentenceEncoder,
        pairs: &[(&str, &str)],
    ) -> CoreResult<(Self, Vec<[usize; 2]>)> {
        let sentences = pairs.iter().flat_map(|&(first, second)| [first, second]);
        let encoded = Self::encode(encoder, sentences).and_then(|embeddings| {
            let numbers = embeddings.pair_numbers(pairs.iter().copied())?;
            Ok((embeddings, numbers))
        });
        encoded.map_err(|error| match error {
            Error::Core(error) => error,
            Error::Unread { tokens, .. } => CoreError::InvalidParameter {
                name: "a sentence",
                requirement: "at most as long as its encoder reads",
                got: format!("{tokens} tokens"),
            },
            // Encoding has no other errors.
            _ => CoreError::TooLarge { rows: pairs.len(), dim: encoder.dim() },
        })
    }

    /// Checks that every embedding is finite.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the sentence.
    pub(crate) fn check_finite(&self) -> Result<()> {
        match (0..self.n()).find(|&number| self.vector(number).iter().any(|x| !x.is_finite())) {
            Some(number) => Err(Error::NotFinite {
                what: format!("the embedding of {}", senv_core::quoted(start_of(&self.sentences[number]))),
            }),
            None => Ok(()),
        }
    }

    /// Returns the number of distinct sentences.
    #[must_use]
    pub fn n(&self) -> usize {
        self.sentences.len()
    }

    /// Iterates over the sentences in order of their numbers.
    pub fn sentences(&self) -> impl ExactSizeIterator<Item = &str> {
        self.sentences.iter().map(String::as_str)
    }

    /// Returns the number of a sentence, from 0.
    ///
    /// # Errors
    /// [`Error::NotEncoded`] if the sentence has no embedding.
    pub fn number(&self, sentence: &str) -> Result<usize> {
        let number = self.sentences.get_index_of(sentence);
        number.ok_or_else(|| Error::NotEncoded { sentence: start_of(sentence) })
    }

    /// Returns the numbers of the sentences of pairs.
    ///
    /// # Errors
    /// [`Error::NotEncoded`] for a sentence without an embedding.
    pub(crate) fn pair_numbers<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<[usize; 2]>> {
        let numbers = |(first, second)| Ok([self.number(first)?, self.number(second)?]);
        pairs.into_iter().map(numbers).collect()
    }

    /// Returns the embedding of sentence `number`.
    ///
    /// # Panics
    /// If `number` is not below [`SentenceVectors::n`].
    #[must_use]
    pub fn vector(&self, number: usize) -> &[f32] {
        let dim = self.values.ncols();
        self.values.as_slice().map_or(&[], |values| &values[number * dim..][..dim])
    }

    /// Returns the coverage of sentence `number`. For a vector from another program, `n_tokens` is 0, and one token
    /// counts as known if the vector is not zero.
    ///
    /// # Panics
    /// If `number` is not below [`SentenceVectors::n`].
    #[must_use]
    pub fn coverage(&self, number: usize) -> Coverage {
        self.coverage[number]
    }

    /// Returns all embeddings, one per row, shape `(n, dim)`.
    #[must_use]
    pub fn values(&self) -> ArrayView2<'_, f32> {
        self.values.view()
    }

    /// Returns all embeddings, one per row.
    pub(crate) fn into_values(self) -> Array2<f32> {
        self.values
    }
}

/// Looks sentences up. A missing sentence is an error in `encode_batch`, and NaN in `encode_into`, which cannot return
/// errors.
impl SentenceEncoder for SentenceVectors {
    fn dim(&self) -> usize {
        self.values.ncols()
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        match self.sentences.get_index_of(sentence) {
            Some(number) => {
                out.copy_from_slice(self.vector(number));
                self.coverage(number)
            }
            None => {
                out.fill(f32::NAN);
                Coverage::default()
            }
        }
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        let number = |sentence: &&str| {
            self.sentences.get_index_of(*sentence).ok_or_else(|| CoreError::InvalidParameter {
                name: "sentence",
                requirement: "one of the encoded sentences",
                got: senv_core::quoted(start_of(sentence)).to_string(),
            })
        };
        let numbers = sentences.iter().map(number).collect::<CoreResult<Vec<_>>>()?;
        let coverage = numbers.iter().map(|&number| self.coverage[number]).collect();
        Ok((self.values.select(ndarray::Axis(0), &numbers), coverage))
    }
}

fn check_shape(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(CoreError::ShapeMismatch { what, expected, got }.into()) }
}

/// Returns the start of a sentence, as shown in a message.
pub(crate) fn start_of(sentence: &str) -> String {
    sentence.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn two() -> SentenceVectors {
        SentenceVectors::from_vectors(["a", "b", "a"], array![[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]).unwrap()
    }

    #[test]
    fn vectors_of_another_program_are_looked_up_by_sentence() {
        let two = two();
        assert_eq!((two.n(), two.dim(), two.sentences().collect::<Vec<_>>()), (2, 2, vec!["a", "b"]));
        assert_eq!(two.vector(two.number("a").unwrap()), [1.0, 2.0]);
        assert!(!two.coverage(0).is_empty() && two.coverage(1).is_empty());
        assert_eq!(two.pair_numbers([("b", "a")]).unwrap(), [[1, 0]]);
        // Encoding with it returns the same vectors.
        let again = SentenceVectors::encode(&two, ["b", "a", "b"]).unwrap();
        assert_eq!((again.n(), again.vector(1)), (2, two.vector(0)));
        assert!(again.coverage(0).is_empty());
    }

    /// Reads the first three letters of a sentence.
    struct Short;

    impl SentenceEncoder for Short {
        fn dim(&self) -> usize {
            1
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            out.fill(1.0);
            Coverage { unread: sentence.len().saturating_sub(3), ..Coverage::new(sentence.len(), 1) }
        }
    }

    #[test]
    fn a_sentence_that_was_not_read_to_its_end_is_not_evaluated() {
        assert!(SentenceVectors::encode(&Short, ["a", "abc"]).is_ok());
        let error = SentenceVectors::encode(&Short, ["abc", "abcde"]).unwrap_err();
        assert!(matches!(&error, Error::Unread { sentence, tokens: 5, unread: 2 } if sentence == "abcde"), "{error}");
        let error = SentenceVectors::of_pairs(&Short, &[("a", "abcd")]).unwrap_err();
        assert!(error.to_string().contains("at most as long as its encoder reads, got 4 tokens"), "{error}");
    }

    #[test]
    fn missing_sentences_and_bad_vectors_are_named() {
        let message = |result: Result<SentenceVectors>| result.unwrap_err().to_string();
        assert!(message(SentenceVectors::encode(&two(), ["a", "c"])).contains("\"c\""));
        assert!(two().number("c").unwrap_err().to_string().contains("\"c\""));
        let mut out = [0.0; 2];
        two().encode_into("c", &mut Scratch::default(), &mut out);
        assert!(out[0].is_nan());
        assert!(message(SentenceVectors::from_vectors(["a", "a"], array![[1.0], [2.0]])).contains("\"a\""));
        assert!(message(SentenceVectors::from_vectors(["a", "b"], array![[1.0], [f32::NAN]])).contains("\"b\""));
        assert!(SentenceVectors::from_vectors(["a"], array![[1.0], [2.0]]).is_err());
        assert!(SentenceVectors::from_vectors(["a", "b"], array![[1.0]]).is_err());
    }
}
