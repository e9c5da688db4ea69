//! Adding words to a trained recurrent model from word vectors that were trained on more text.
//!
//! R. Kiros et al., "Skip-Thought Vectors", NIPS 2015, section 2.2. A linear map from the other vectors to those of the
//! model is fitted (`least-squares`) on the words that both know. A word that the model lacks gets the image of its
//! vector; a word that it has keeps its own.

use ndarray::Array2;
use senv_core::{
    Error as CoreError, Table, TokenId, Vocabulary,
    arrays::{LinearMap, least_squares},
};
use senv_store::Embeddings;

use crate::{
    data::reading::SPECIAL,
    error::Result,
    gradient::WordUpdates,
    model::{
        expansion::{ExpansionReport, VocabularyExpansion},
        saved::{ExpandVocabulary, SavedModel},
    },
    sequence::{EncoderPart, SequenceModel, SequenceSystem},
};

/// The number of words whose images are computed at a time.
const A_BATCH: usize = 4096;

/// Returns the words to add: those of `vectors` that the model lacks. Words with `_` are phrases and left out, as in
/// the release.
fn new_words<'a>(vocabulary: &Vocabulary, vectors: &'a Embeddings) -> Vec<(&'a str, &'a [f32])> {
    let is_new = |(word, _): &(&str, &[f32])| !word.contains('_') && vocabulary.id(word).is_none();
    vectors.iter().filter(is_new).collect()
}

fn rows<'a>(n: usize, dim: usize, rows: impl Iterator<Item = &'a [f32]>) -> Result<Array2<f32>> {
    let values: Vec<f32> = rows.flatten().copied().collect();
    Ok(Array2::from_shape_vec((n, dim), values).map_err(|_| CoreError::TooLarge { rows: n, dim })?)
}

/// Returns the words of the model that `vectors` also has.
fn shared<'a>(vocabulary: &Vocabulary, vectors: &'a Embeddings) -> Vec<(TokenId, &'a [f32])> {
    let words = vocabulary.iter().filter(|(_, word, _)| !SPECIAL.contains(word));
    words.filter_map(|(id, word, _)| Some((id, vectors.get(word)?))).collect()
}

/// Returns the table with rows appended, and the error of the map.
fn expanded(
    table: &Table,
    shared: &[(TokenId, &[f32])],
    added: &[(&str, &[f32])],
    dim: usize,
    expansion: VocabularyExpansion,
) -> Result<(Table, f64)> {
    let x = rows(shared.len(), dim, shared.iter().map(|(_, vector)| *vector))?;
    let y = rows(shared.len(), table.dim(), shared.iter().map(|(id, _)| senv_core::Rows::row(table, id.index())))?;
    let map: Option<LinearMap<f32>> = match expansion {
        VocabularyExpansion::Same if dim != table.dim() => {
            let what = "a row of the vectors added without a map";
            return Err(CoreError::ShapeMismatch { what, expected: table.dim(), got: dim }.into());
        }
        VocabularyExpansion::Same => None,
        _ => Some(least_squares(x.view(), y.view(), expansion == VocabularyExpansion::Affine)?),
    };
    let image = |x: Array2<f32>| match &map {
        Some(map) => map.apply(x.view()),
        None => Ok(x),
    };
    let n = y.len().max(1) as f64;
    let error = (image(x)? - &y).iter().map(|&e| f64::from(e).powi(2)).sum::<f64>() / n;
    let mut out = Table::zeros(table.n_rows() + added.len(), table.dim())?;
    (0..table.n_rows()).for_each(|i| out.row_mut(i).copy_from_slice(senv_core::Rows::row(table, i)));
    let mut next = table.n_rows();
    for words in added.chunks(A_BATCH) {
        for row in image(rows(words.len(), dim, words.iter().map(|(_, vector)| *vector))?)?.rows() {
            out.row_mut(next).iter_mut().zip(row).for_each(|(to, &x)| *to = x);
            next += 1;
        }
    }
    Ok((out, error.sqrt()))
}

/// Returns a vocabulary with the words of `vectors` added, and each of its tables with their rows.
pub(crate) fn grown(
    vocabulary: &Vocabulary,
    tables: &[&Table],
    vectors: &Embeddings,
    expansion: VocabularyExpansion,
) -> Result<(Vocabulary, Vec<Table>, ExpansionReport)> {
    let (added, shared) = (new_words(vocabulary, vectors), shared(vocabulary, vectors));
    let bad = |(_, vector): &&(&str, &[f32])| vector.iter().any(|x| !x.is_finite());
    if let Some((word, _)) = added.iter().find(bad) {
        let (name, requirement) = ("vectors of added words", "finite; fix the file or remove the word");
        return Err(CoreError::InvalidParameter {
            name,
            requirement,
            got: format!("NaN or infinity in {word}", word = senv_core::quoted(word)),
        }
        .into());
    }
    let old = vocabulary.iter().map(|(_, word, count)| (word, count));
    let all = old.chain(added.iter().map(|(word, _)| (*word, 0)));
    let new = Vocabulary::from_counts(all, vocabulary.corpus_tokens())?;
    let new = new.with_terms_of(Some(vocabulary)).with_terms_of(Some(vectors.vocabulary()));
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    for table in tables {
        let (table, error) = expanded(table, &shared, &added, vectors.dim(), expansion)?;
        out.push(table);
        errors.push(error);
    }
    let error = errors.first().copied().unwrap_or_default();
    Ok((new, out, ExpansionReport { shared: shared.len(), added: added.len(), error }))
}

impl<S: SequenceSystem> SequenceModel<S> {
    /// Returns the model with the words of `vectors` added. Sentences are encoded with them, but decoders still
    /// generate only the words that they were trained on.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] if too few words are shared to fit the map, or a vector is not finite.
    /// [`CoreError::ShapeMismatch`] if vectors that are added unchanged have a different length.
    /// [`CoreError::TooLarge`] if the rows do not fit into memory.
    pub fn expand(&self, vectors: &Embeddings, expansion: VocabularyExpansion) -> Result<(Self, ExpansionReport)> {
        let tables: Vec<&Table> = self.parts.iter().map(|part| &part.words).collect();
        let (vocabulary, tables, report) = grown(&self.vocabulary, &tables, vectors, expansion)?;
        let with = |(part, words): (&EncoderPart, Table)| {
            EncoderPart::new(words, part.seq2seq.clone(), part.parameters.clone())
        };
        let parts = self.parts.iter().zip(tables).map(with).collect();
        Ok((Self::new(self.config.clone(), vocabulary, parts), report))
    }
}

impl<S: SequenceSystem> ExpandVocabulary for SequenceModel<S> {
    fn usual_expansion(&self) -> VocabularyExpansion {
        // Without decoders, its words were tuned later.
        let has_decoders = self.config.parts.iter().all(|part| part.decoders > 0);
        let frozen = self.config.params.as_ref().is_some_and(|params| params.word_updates() == WordUpdates::Frozen);
        if has_decoders && frozen { VocabularyExpansion::Same } else { VocabularyExpansion::Affine }
    }

    fn expanded(
        &self,
        vectors: &Embeddings,
        expansion: VocabularyExpansion,
    ) -> Result<(Box<dyn SavedModel>, ExpansionReport)> {
        let (model, report) = self.expand(vectors, expansion)?;
        Ok((Box::new(model), report))
    }
}
