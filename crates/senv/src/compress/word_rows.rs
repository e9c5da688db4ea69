//! The rows of the words of one or several models, with weights and common components applied.
//!
//! Equation: `folded-row`
//!
//! ```text
//! r_t = (I − Σ_i λ_i c_i c_iᵀ) w(t) v_t               w(t), λ_i, c_i: weights and common components of the model, if it has any
//! ```
//!
//! Equation: `rows-side-by-side`
//!
//! ```text
//! r_t = [r_t⁽¹⁾; ..; r_t⁽ᴹ⁾]                        M models of the same words
//! r_t = [r_t⁽¹⁾ / ℓ₁; ..; r_t⁽ᴹ⁾ / ℓ_M]              of different words: r_t⁽ᵐ⁾ = 0 where model m lacks t, ℓ_m = mean_t ‖r_t⁽ᵐ⁾‖
//! ```
//!
//! Weights and components are linear, so the mean of folded rows is the vector of the model (`feature-weight`), except
//! that words without weight count here. In uSIF each dimension is also divided by its norm over the sentence. That is
//! not linear and is left out; see `docs/experiments/sif-usif.md` for the cost. Models with n-grams are refused.
//!
//! The mean of rows side by side is the concatenation of the means of all models. For models of different words, each
//! is a mean over all words that one of them knows.

use std::collections::HashSet;

use senv_core::{Rows, Table, Tokenizer, Vocabulary, kernels, text::Normalization};

use crate::{
    average::{encoder::AverageEncoder, unknown_words::UnknownWords},
    error::{Error, Result},
    model::handle::Model,
};

/// Words and their rows.
pub(super) struct WordRows {
    pub(super) tokenizer: Tokenizer,
    pub(super) vocabulary: Vocabulary,
    pub(super) rows: Table,
    /// Whether unknown words have vectors made from their hash.
    pub(super) hashes_unknown_words: bool,
}

impl WordRows {
    /// Returns the rows of a model whose sentence vectors are their means.
    ///
    /// # Errors
    /// [`Error::CannotCompress`] for any other model; an error if memory runs out.
    pub(super) fn of(model: &Model) -> Result<Self> {
        let (rows, hashes_unknown_words) = match model.abilities().static_table {
            Some(table) => (table.rows().decoded()?, table.unknown_word_length().is_some()),
            None => {
                let average = average_of(model)?;
                (folded(average)?, average.unknown_words() == UnknownWords::Hash)
            }
        };
        let (tokenizer, vocabulary) = (model.tokenizer().clone(), model.vocabulary().clone());
        Ok(Self { tokenizer, vocabulary, rows, hashes_unknown_words })
    }

    /// Returns the rows of several models side by side. The first determines the tokenizer and the treatment of unknown
    /// words; a given normalization replaces that of all.
    ///
    /// # Errors
    /// [`Error::CannotCompress`] if tokenizers differ; the errors of [`WordRows::of`].
    pub(super) fn side_by_side(model: &Model, others: &[&Model], normalization: Option<Normalization>) -> Result<Self> {
        let of = |model: &Model| -> Result<Self> {
            let rows = Self::of(model)?;
            let rule = normalization.unwrap_or(rows.tokenizer.normalization());
            Ok(Self { tokenizer: rows.tokenizer.clone().normalize(rule), ..rows })
        };
        let first = of(model)?;
        if others.is_empty() {
            return Ok(first);
        }
        let mut parts = vec![first];
        for other in others {
            let part = of(other)?;
            if part.tokenizer != parts[0].tokenizer {
                let reason = "the models tokenize text differently; train them with the same tokenizer and letter case, or \
                    give all the same --normalize";
                return Err(Error::CannotCompress { kind: other.kind(), reason: reason.into() });
            }
            parts.push(part);
        }
        let same = |a: &Vocabulary, b: &Vocabulary| a.offsets() == b.offsets() && a.text() == b.text();
        let vocabulary = if parts.iter().all(|part| same(&part.vocabulary, &parts[0].vocabulary)) {
            parts[0].vocabulary.clone()
        } else {
            parts.iter_mut().for_each(|part| to_mean_length_one(&mut part.rows));
            union(&parts)?
        };
        let vocabulary = parts.iter().fold(vocabulary, |all, part| all.with_terms_of(Some(&part.vocabulary)));
        let mut rows = Table::zeros(vocabulary.len(), parts.iter().map(|part| part.rows.dim()).sum())?;
        for (id, word, _) in vocabulary.iter() {
            let mut rest = rows.row_mut(id.index());
            for part in &parts {
                let (row, after) = rest.split_at_mut(part.rows.dim());
                if let Some(id) = part.vocabulary.id(word) {
                    row.copy_from_slice(part.rows.row(id.index()));
                }
                rest = after;
            }
        }
        let Self { tokenizer, hashes_unknown_words, .. } = parts.swap_remove(0);
        Ok(Self { tokenizer, vocabulary, rows, hashes_unknown_words })
    }
}

/// Returns the words of the first model, then those of each other one that no model before it has.
fn union(parts: &[WordRows]) -> Result<Vocabulary> {
    let mut seen = HashSet::new();
    let words = parts.iter().flat_map(|part| part.vocabulary.iter()).filter(|&(_, word, _)| seen.insert(word));
    let words: Vec<_> = words.map(|(_, word, count)| (word, count)).collect();
    Ok(Vocabulary::from_counts(words, parts[0].vocabulary.corpus_tokens())?)
}

/// Scales rows to a mean length of 1; zero rows stay.
fn to_mean_length_one(rows: &mut Table) {
    let n = rows.n_rows();
    let sum: f64 = (0..n).map(|i| f64::from(kernels::norm(rows.row(i)))).sum();
    if sum > 0.0 {
        let scale = (n as f64 / sum) as f32;
        (0..n).for_each(|i| rows.row_mut(i).iter_mut().for_each(|x| *x *= scale));
    }
}

/// Returns the average that a model is.
fn average_of(model: &Model) -> Result<&AverageEncoder> {
    let refuse = |reason: &str| Err(Error::CannotCompress { kind: model.kind(), reason: reason.to_owned() });
    let Some(average) = model.abilities().average else { return refuse("it is not an average of word vectors") };
    if average.features().params().max_n > 1 {
        return refuse("it has n-grams");
    }
    if average.unknown_row().is_some() {
        return refuse("one of its words represents unknown words");
    }
    Ok(average)
}

/// Returns the weighted rows of the words, without common components.
fn folded(average: &AverageEncoder) -> Result<Table> {
    let mut rows = Table::zeros(average.vocabulary().len(), average.dim())?;
    for (i, (_, _, word)) in average.words().enumerate() {
        let row = rows.row_mut(i);
        row.copy_from_slice(word);
        if let Some(weighting) = average.weighting() {
            row.iter_mut().for_each(|x| *x *= weighting.words()[i]);
            if let Some(components) = weighting.components() {
                components.remove(row);
            }
        }
    }
    Ok(rows)
}
