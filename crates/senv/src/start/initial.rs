//! Where word vectors start: random or from a file, optionally weighted by word frequency.
//!
//! Equation: `initial-rows`
//!
//! ```text
//! w₀ = g(w) x_w     x_w: the vector of the file, or N(0, sd²) where it has none
//! g(w): `sif-weight` by the relative frequency of w in the training text with a frequency weight a, else 1
//! ```
//!
//! The weight is that of S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
//! ICLR 2017. With it a table without other weights can learn to weight words, because the length of a row is free.
//! Words that the file lacks are drawn with the average length of its rows.

use senv_core::{
    Error as CoreError, Observer, Table, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters},
    init,
    rng::stream,
    words::sif_weight,
};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    base::{file, fingerprint::Fingerprint},
    error::{Error, Result},
};

hyperparameters! {
    /// Initial word vectors: N(0, sd²), or given ones, times the frequency weight.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Initial {
        /// Standard deviation of the initial values of words without a given vector.
        pub sd as init_sd: f64 = 0.1 => Training[at_least 0];
        /// Multiplies initial word vectors by a / (a + relative frequency of the word), as in SIF; 1e-5 is usual.
        pub frequency_weight as init_frequency_weight: Option<f64> = None => Training[above 0];
    }
}

impl Initial {
    /// N(0, 0.01²), as in Siamese CBOW's release.
    pub const SIAMESE_CBOW: Self = Self { sd: 0.01, frequency_weight: None };
}

/// The default learning rate for vectors already trained on pairs, as a factor on the usual one.
const CONTINUED_LR: f64 = 1.0 / 40.0;

/// How many words had an initial vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct InitialVectorReport {
    /// Words of the vocabulary.
    pub words: usize,
    /// Words found in the file.
    pub found: usize,
}

impl Initial {
    /// Returns the initial rows for the words of `vocabulary`.
    ///
    /// # Errors
    /// [`Error::InitialVectorsDim`] if the file has a different dimension; [`CoreError::InvalidParameter`] for a
    /// parameter out of range; [`CoreError::TooLarge`] if the rows do not fit into memory.
    pub fn rows(
        &self,
        vocabulary: &Vocabulary,
        dim: usize,
        vectors: Option<&Embeddings>,
        seed: u64,
    ) -> Result<(Table, InitialVectorReport)> {
        file::check_dim(dim)?;
        if let Some(vectors) = vectors
            && vectors.dim() != dim
        {
            return Err(Error::InitialVectorsDim { expected: dim, got: vectors.dim() });
        }
        self.check_ranges()?;
        if let Some((word, _)) =
            vectors.and_then(|vectors| vectors.iter().find(|(_, row)| row.iter().any(|x| !x.is_finite())))
        {
            let requirement = "a vector of finite numbers for every word";
            return Err(CoreError::InvalidParameter {
                name: "initial vectors",
                requirement,
                got: format!("that of {word}", word = senv_core::quoted(word)),
            }
            .into());
        }
        let sd = vectors.map_or(self.sd, |vectors| spread(vectors.table()));
        let mut rows = Table::zeros(vocabulary.len(), dim)?;
        let mut found = InitialVectorReport { words: vocabulary.len(), found: 0 };
        for (id, token, _) in vocabulary.iter() {
            let row = rows.row_mut(id.index());
            match vectors.and_then(|vectors| vectors.get(token)) {
                Some(vector) => {
                    row.copy_from_slice(vector);
                    found.found += 1;
                }
                None => init::normal(&mut stream(seed, "initial rows", &[u64::from(id.0)]), row, sd)?,
            }
            if let Some(a) = self.frequency_weight {
                senv_core::kernels::scale(sif_weight(a, vocabulary.frequency(id)) as f32, row);
            }
        }
        Ok((rows, found))
    }
}

/// Returns the rows that a system trained by negative sampling starts from: those of `start`, and random ones of the
/// average length for words that it lacks.
pub(crate) fn start_rows(vocabulary: &Vocabulary, dim: usize, start: &Embeddings, seed: u64) -> Result<Table> {
    // Without a file these systems draw rows themselves, so the standard deviation is not needed.
    Ok(Initial { sd: 0.0, frequency_weight: None }.rows(vocabulary, dim, Some(start), seed)?.0)
}

/// Returns rows initialized as in word2vec: uniform in ±1/(2 dim).
pub(crate) fn uniform_rows(n: usize, dim: usize, seed: u64) -> senv_core::Result<Table> {
    let mut rows = Table::zeros(n, dim)?;
    init::uniform_rows(&mut rows, 0..n, 0.5 / dim as f32, seed)?;
    Ok(rows)
}

/// Returns the settings that a resumed run must agree on, with the vectors that training starts from.
pub(crate) fn settings_from(settings: String, start: Option<&Embeddings>) -> String {
    match start {
        Some(_) => format!("{settings} {}", vectors_fingerprint(start)),
        None => settings,
    }
}

impl InitialVectorReport {
    /// Counts as [`InitialVectorReport::count`]; finds nothing without vectors.
    pub(crate) fn of(vocabulary: &Vocabulary, vectors: Option<&Embeddings>) -> Self {
        vectors.map_or(Self { words: vocabulary.len(), found: 0 }, |vectors| Self::count(vocabulary, vectors))
    }

    /// Counts the words of a vocabulary that have a vector.
    #[must_use]
    pub fn count(vocabulary: &Vocabulary, vectors: &Embeddings) -> Self {
        let found = vocabulary.iter().filter(|&(_, token, _)| vectors.get(token).is_some()).count();
        Self { words: vocabulary.len(), found }
    }
}

/// The root mean square of all values.
fn spread(table: &Table) -> f64 {
    let squares: f64 = table.iter().flatten().map(|&x| f64::from(x) * f64::from(x)).sum();
    (squares / (table.n_rows() * table.dim()).max(1) as f64).sqrt()
}

impl Initial {
    /// Returns how many times longer than random rows these vectors are on average. If only cosines are learned from,
    /// multiply a learning rate chosen for random rows by it: AdaGrad and Adam change a row by about the rate,
    /// regardless of its length.
    #[must_use]
    fn relative_length(&self, vectors: &Embeddings) -> f64 {
        spread(vectors.table()) / self.sd
    }

    /// Returns a learning rate that suits these vectors, where only cosines are learned from. It is proportional to
    /// their length. For vectors that are already `trained` on pairs, it is also much smaller, because larger rates
    /// destroy most of what was learned (`docs/experiments/senv-english.md`). The observer gets a note with the rate.
    pub(crate) fn suited_lr(&self, lr: f64, vectors: &Embeddings, trained: bool, observer: &dyn Observer) -> f64 {
        let relative = self.relative_length(vectors);
        // Vectors that are zero or not finite are refused elsewhere.
        if !relative.is_normal() {
            return lr;
        }
        let lr = lr * if trained { relative * CONTINUED_LR } else { relative };
        let what = if trained { "vectors that are already trained" } else { "the length of the initial vectors" };
        observer.note(&format!("learning rate {lr:.3}, chosen for {what}"));
        lr
    }
}

/// Returns a fingerprint of initial vectors, which depends on every word and value; `drawn` without vectors.
#[must_use]
pub fn vectors_fingerprint(vectors: Option<&Embeddings>) -> String {
    let of = |vectors: &Embeddings| Fingerprint::new().vocabulary(vectors.vocabulary()).table(vectors.table()).hex();
    vectors.map_or_else(|| "drawn".into(), of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::Rows;

    fn vocabulary() -> Vocabulary {
        Vocabulary::from_counts([("the", 90), ("cat", 9), ("sat", 1)], 100).unwrap()
    }

    fn vectors() -> Embeddings {
        let words = Vocabulary::from_counts([("cat", 0), ("dog", 0)], 0).unwrap();
        Embeddings::new(words, Table::from_vec(2, 2, vec![3.0, -3.0, 3.0, 3.0]).unwrap()).unwrap()
    }

    #[test]
    fn known_words_keep_their_vectors_and_others_are_drawn_as_long() {
        let initial = Initial::SIAMESE_CBOW;
        let (rows, found) = initial.rows(&vocabulary(), 2, Some(&vectors()), 1).unwrap();
        assert_eq!((found.words, found.found), (3, 1));
        assert_eq!(rows.row(1), [3.0, -3.0]);
        assert!((0..3).filter(|&i| i != 1).all(|i| rows.row(i).iter().all(|x| x.abs() > 1e-3 && x.abs() < 20.0)));
        let again = initial.rows(&vocabulary(), 2, Some(&vectors()), 1).unwrap().0;
        assert_eq!(rows.row(2), again.row(2));
        let (drawn, found) = initial.rows(&vocabulary(), 50, None, 1).unwrap();
        assert_eq!(found.found, 0);
        let sd = spread(&drawn);
        assert!((0.008..0.012).contains(&sd), "{sd}");
    }

    #[test]
    fn frequent_words_are_shortened() {
        let initial = Initial { sd: 1.0, frequency_weight: Some(0.1) };
        let (rows, _) = initial.rows(&vocabulary(), 2, Some(&vectors()), 1).unwrap();
        assert!((rows.row(1)[0] - 3.0 * 0.1 / 0.19).abs() < 1e-6);
        assert!(Initial { sd: 1.0, frequency_weight: Some(0.0) }.rows(&vocabulary(), 2, None, 1).is_err());
    }

    #[test]
    fn a_vector_that_is_no_number_is_named() {
        let words = Vocabulary::from_counts([("cat", 0), ("dog", 0)], 0).unwrap();
        let vectors = Embeddings::new(words, Table::from_vec(2, 2, vec![3.0, -3.0, f32::NAN, 3.0]).unwrap()).unwrap();
        let error = Initial::SIAMESE_CBOW.rows(&vocabulary(), 2, Some(&vectors), 1).unwrap_err().to_string();
        assert!(error.contains("dog"), "{error}");
    }

    #[test]
    fn a_file_of_another_dimension_is_refused() {
        let error = Initial::SIAMESE_CBOW.rows(&vocabulary(), 3, Some(&vectors()), 1).unwrap_err().to_string();
        assert!(error.contains("initial vectors") && error.contains("2") && error.contains("3"), "{error}");
    }
}
