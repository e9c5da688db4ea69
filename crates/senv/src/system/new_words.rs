//! Initial vectors of new words when a model is fine-tuned.
//!
//! Equation: `new-word`
//!
//! ```text
//! v(t) = ℓ/√2 (û(t) + ĉ(t))      u: the vector of t alone by the model;  c = Σ over sentences S with t of Σ over x in S of v_x
//! ```
//!
//! û and ĉ have length 1, and ℓ is the mean length of the model's rows. If the word is a compound or a form of a known
//! word, the model already knows something of it, and v is u. Otherwise u is a random vector determined by a hash of
//! the word. It distinguishes the word from others, while the words around it say what it is about. At the small
//! learning rates that keep what a model knows, a word that starts at random hardly moves.

use senv_core::{Scratch, SentenceEncoder, Table, TokenId, Vocabulary, kernels};
use senv_store::Embeddings;

use crate::{data::PairData, error::Result, model::handle::Model, start::initial::InitialVectorReport};

impl PairData {
    /// Returns initial vectors to fine-tune a model, one row of the model's dimension each. They are the vectors of the
    /// model's words, followed by those of the words of these data that it lacks (`new-word`).
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if they do not fit into memory.
    pub fn vectors_from(&self, model: &Model) -> Result<Embeddings> {
        with_new_words(model, self)
    }
}

impl InitialVectorReport {
    /// Counts the words of a vocabulary that a model knows.
    #[must_use]
    pub fn of_model(vocabulary: &Vocabulary, model: &Model) -> Self {
        let known = vocabulary.iter().filter(|(_, word, _)| model.vocabulary().id(word).is_some());
        Self { words: vocabulary.len(), found: known.count() }
    }
}

fn with_new_words(model: &Model, data: &PairData) -> Result<Embeddings> {
    let known = model.to_embeddings()?;
    let dim = known.dim();
    let new: Vec<(TokenId, &str)> = data
        .vocabulary
        .iter()
        .filter(|(_, word, _)| known.get(word).is_none())
        .map(|(id, word, _)| (id, word))
        .collect();
    let contexts = contexts(&known, data, &new)?;
    let n = known.len();
    let words = known.vocabulary().iter().map(|(_, word, _)| word).chain(new.iter().map(|&(_, word)| word));
    let vocabulary = Vocabulary::from_counts(words.map(|word| (word, 0)), 0)?.with_terms_of(Some(known.vocabulary()));
    let mut table = Table::zeros(n + new.len(), dim)?;
    for (i, (_, row)) in known.iter().enumerate() {
        table.row_mut(i).copy_from_slice(row);
    }
    let length = mean_length(&known);
    // The order part does not contribute to the vector of a word.
    let of_words = model.without_order()?;
    let mut scratch = Scratch::default();
    for (i, &(_, word)) in new.iter().enumerate() {
        let row = table.row_mut(n + i);
        let coverage = of_words.encode_into(word, &mut scratch, row);
        if coverage.known > 0 {
            continue;
        }
        unit(row);
        let mut context = senv_core::Rows::row(&contexts, i).to_vec();
        unit(&mut context);
        kernels::axpy(1.0, &context, row);
        unit(row);
        kernels::scale(length, row);
    }
    Ok(Embeddings::new(vocabulary, table)?)
}

/// Returns, for each new word, the sum of the known vectors of the sentences that contain it.
fn contexts(known: &Embeddings, data: &PairData, new: &[(TokenId, &str)]) -> Result<Table> {
    let mut number = vec![None; data.vocabulary.len()];
    for (i, (id, _)) in new.iter().enumerate() {
        number[id.index()] = Some(i);
    }
    let rows: Vec<Option<&[f32]>> = data.vocabulary.iter().map(|(_, word, _)| known.get(word)).collect();
    let mut contexts = Table::zeros(new.len(), known.dim())?;
    let mut sum = vec![0.0; known.dim()];
    for sentence in data.sources.iter().flat_map(|source| source.sentences().iter()) {
        if sentence.iter().all(|id| number[id.index()].is_none()) {
            continue;
        }
        sum.fill(0.0);
        sentence.iter().filter_map(|id| rows[id.index()]).for_each(|row| kernels::axpy(1.0, row, &mut sum));
        for i in sentence.iter().filter_map(|id| number[id.index()]) {
            kernels::axpy(1.0, &sum, contexts.row_mut(i));
        }
    }
    Ok(contexts)
}

fn mean_length(vectors: &Embeddings) -> f32 {
    let lengths: f64 = vectors.iter().map(|(_, row)| f64::from(kernels::dot(row, row)).sqrt()).sum();
    (lengths / vectors.len().max(1) as f64) as f32
}

/// Scales a vector to length 1; zero stays.
fn unit(vector: &mut [f32]) {
    let length = kernels::dot(vector, vector).sqrt();
    if length > 0.0 {
        kernels::scale(1.0 / length, vector);
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{NoObserver, Rows as _, Tokenizer};

    use super::*;
    use crate::{
        average::{
            encoder::{AverageEncoder, words},
            unknown_words::UnknownWords,
        },
        data::{PairInput, PairKind, PairOptions},
    };

    #[test]
    fn new_words_start_from_what_the_model_makes_of_them_and_from_the_words_around_them() {
        let vocabulary = Vocabulary::from_counts([("sail", 3), ("tide", 2), ("oven", 1)], 6).unwrap();
        let mut values = vec![0.0; 3 * 64];
        (values[0], values[64], values[128 + 1]) = (2.0, 2.0, 2.0);
        let rows = Table::from_vec(3, 64, values).unwrap();
        let features = words(&vocabulary).unwrap();
        let encoder = AverageEncoder::new(Tokenizer::words(), vocabulary, features, rows).unwrap();
        let model = Model::from(encoder.with_unknown_words(UnknownWords::Hash));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "the zugzwang has a sail\ttide and zugzwang\nsails\toven\n").unwrap();
        let inputs = [PairInput { path: file.path().to_owned(), kind: PairKind::Pairs, weight: None }];
        let keep = vec!["sail".to_owned(), "tide".to_owned(), "oven".to_owned()];
        let options = PairOptions { keep, ..PairOptions::default() };
        let data = PairData::read(&inputs, &options, &NoObserver).unwrap();
        let vectors = data.vectors_from(&model).unwrap();
        assert_eq!(InitialVectorReport::of_model(&data.vocabulary, &model).found, 3);
        assert_eq!(vectors.len(), data.vocabulary.len());
        let of = |word: &str| vectors.get(word).unwrap();
        assert_eq!(of("oven")[1], 2.0);
        assert_eq!(of("sails"), of("sail"), "a form of a known word");
        let zugzwang = of("zugzwang");
        assert!((kernels::dot(zugzwang, zugzwang).sqrt() - 2.0).abs() < 1e-5, "as long as rows are");
        let cosine = |word: &str| kernels::cosine(zugzwang, of(word));
        assert!(cosine("sail") > 0.6 && cosine("oven").abs() < 0.3, "{} {}", cosine("sail"), cosine("oven"));
        assert!(vectors.table().row(0).iter().all(|x| x.is_finite()));
    }
}
