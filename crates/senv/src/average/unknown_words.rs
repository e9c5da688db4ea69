//! Words that a model does not know: left out, or given random vectors.
//!
//! The vectors are those of [`senv_core::words::look_up_all`], equation `unknown-word`; ρ is the mean length of the
//! rows of the vocabulary. In a mean they count like words:
//!
//! ```text
//! v_S = (Σ_{r in R(S)} v_r + Σ_{unknown t in S} u(t)) / (|R(S)| + number of unknown t)
//! ```
//!
//! Two sentences that share a name are more similar than two that do not, even if the name was not in the training
//! text. Random vectors of different words are nearly orthogonal, and the same word always has the same vector. With
//! weights, an unknown word has the highest weight of any word. `docs/experiments/unknown-words.md` measures the
//! effect.

use senv_core::{hyperparameters::named_values, words::unknown_word_value};
use senv_store::{ModelFile, ModelWriter};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The name of the tensor that stores ρ.
const LENGTH: &str = "unknown_word_length";

/// The treatment of words missing from the vocabulary, in averages of word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnknownWords {
    /// Unknown words are left out, as in the papers.
    #[default]
    Skip,
    /// The parts of a compound; the word that it is a form of; or else a random vector determined by a hash of the
    /// word.
    Hash,
}

named_values!(UnknownWords {
    Skip = "skip": "Nothing, as in the papers",
    Hash = "hash": "The parts of a compound, or a known word of which it is a form; otherwise a random vector from a \
        hash of the word, so sentences that share the word are more similar",
});

impl UnknownWords {
    /// Whether it is the default, which files do not store.
    pub(crate) fn is_skip(&self) -> bool {
        *self == Self::Skip
    }
}

/// Random vectors, all of the same length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HashedWords {
    /// The length ρ.
    length: f32,
}

impl HashedWords {
    /// Returns vectors of the average length of these rows.
    pub(crate) fn like<'r>(rows: impl Iterator<Item = &'r [f32]>) -> Self {
        let norm = |row: &[f32]| row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        let (n, sum) = rows.fold((0, 0.0), |(n, sum), row| (n + 1, sum + norm(row)));
        Self { length: (sum / f64::from(n.max(1))) as f32 }
    }

    /// Returns the absolute value of each number of a vector.
    pub(crate) fn value(self, dim: usize) -> f32 {
        unknown_word_value(self.length, dim)
    }

    /// Adds ρ to a model file.
    pub(crate) fn save_into<'a>(&'a self, writer: ModelWriter<'a>) -> ModelWriter<'a> {
        writer.f32s(LENGTH, std::slice::from_ref(&self.length))
    }

    /// Reads what [`HashedWords::save_into`] wrote, if unknown words have vectors.
    pub(crate) fn open(file: &ModelFile, unknown: UnknownWords) -> Result<Option<Self>> {
        if unknown.is_skip() {
            return Ok(None);
        }
        match file.f32s(LENGTH)?[..] {
            [length] if length.is_finite() && length >= 0.0 => Ok(Some(Self { length })),
            ref other => {
                let reason = format!("tensor {LENGTH:?} contains {other:?}, expected one length");
                Err(Error::BadModel { path: file.path().to_owned(), reason })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Corpus, Scratch, SentenceEncoder, Sentences, Table, Tokenizer, Vocabulary};

    use super::*;
    use crate::average::{
        encoder::{AverageEncoder, words},
        weight_scheme::WeightScheme,
    };

    const DIM: usize = 64;

    /// Two words of length 2 and 4 in the directions of the first two dimensions.
    fn encoder() -> AverageEncoder {
        let vocabulary = Vocabulary::from_counts([("the", 9), ("cat", 1)], 10).unwrap();
        let mut rows = Table::zeros(2, DIM).unwrap();
        rows.row_mut(0)[0] = 2.0;
        rows.row_mut(1)[1] = 4.0;
        let features = words(&vocabulary).unwrap();
        AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap()
    }

    fn vector(encoder: &AverageEncoder, text: &str) -> Vec<f32> {
        let mut out = vec![f32::NAN; DIM];
        encoder.encode_into(text, &mut Scratch::default(), &mut out);
        out
    }

    #[test]
    fn an_unknown_word_is_as_long_as_known_ones_are_and_counts_as_one() {
        let hashed = encoder().with_unknown_words(UnknownWords::Hash);
        let (name, both) = (vector(&hashed, "Quetzalcoatl"), vector(&hashed, "cat Quetzalcoatl"));
        assert!(name.iter().all(|x| (x.abs() - 3.0 / 8.0).abs() < 1e-6), "length 3 in 64 dimensions");
        for (i, (x, y)) in name.iter().zip(&both).enumerate() {
            let cat = if i == 1 { 4.0 } else { 0.0 };
            assert!(((x + cat) / 2.0 - y).abs() < 1e-6);
        }
        assert!(hashed.similarity("the Quetzalcoatl", "Quetzalcoatl cat") > 0.3);
        assert!(hashed.similarity("the Quetzalcoatl", "Huitzilopochtli cat").abs() < 0.3);
        assert_eq!(vector(&hashed, ""), [0.0; DIM]);
        assert_eq!(vector(&encoder(), "Quetzalcoatl"), [0.0; DIM], "left out unless asked for");
        assert_eq!(vector(&hashed, "the cat"), vector(&encoder(), "the cat"), "known words are as before");
    }

    #[test]
    fn with_weights_it_weighs_as_much_as_the_rarest_word() {
        let corpus = || {
            let mut sentences = Sentences::new();
            sentences.push(encoder().vocabulary().iter().map(|(id, ..)| id));
            Corpus::from_sentences(sentences)
        };
        for scheme in [WeightScheme::Sif { a: 0.01 }, WeightScheme::USIF] {
            let skip = encoder().weighted(Some(scheme), &corpus(), 1).unwrap();
            let plain = skip.clone().with_unknown_words(UnknownWords::Hash);
            let weights = plain.weighting().unwrap().words();
            assert!(weights[1] > weights[0]);
            // The vector before components are removed, by definition.
            let (the, cat, name) =
                ([2.0, 0.0], [0.0, 4.0], vector(&encoder().with_unknown_words(UnknownWords::Hash), "x"));
            let rows: Vec<Vec<f32>> =
                [the, cat].map(|row| [&row[..], &[0.0; DIM - 2]].concat()).into_iter().chain([name]).collect();
            let expected: Vec<f32> = (0..DIM)
                .map(|j| {
                    let of = |f: &dyn Fn(f32, f32) -> f32| -> f32 {
                        rows.iter().zip([weights[0], weights[1], weights[1]]).map(|(row, w)| f(row[j], w)).sum()
                    };
                    let norm = if scheme == WeightScheme::USIF { of(&|x, _| x * x).sqrt() } else { 1.0 };
                    if norm > 0.0 { of(&|x, w| w * x) / 3.0 / norm } else { 0.0 }
                })
                .collect();
            let mut expected = expected;
            plain.weighting().unwrap().components().unwrap().remove(&mut expected);
            for (x, y) in vector(&plain, "the cat x").iter().zip(&expected) {
                assert!((x - y).abs() < 1e-5, "{scheme:?}: {x} {y}");
            }
            assert_eq!(vector(&plain, "the cat"), vector(&skip, "the cat"));
        }
    }
}
