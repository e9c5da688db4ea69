//! From a trained average of word vectors to a small table: rows, with weights and common components applied, stored in
//! few bits.

use senv_core::{
    StaticEncoder,
    static_model::{CompressedRows, RowEncoding},
    text::Normalization,
};

use crate::{
    StaticModel,
    base::range::require,
    compress::{principal::on_principal_axes, word_rows::WordRows},
    error::{Error, Result},
    model::handle::Model,
};

/// How a model is compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompressParams {
    /// How values are stored.
    pub encoding: RowEncoding,
    /// The number of leading dimensions to keep; `None` for all. For models trained with nested dimensions.
    pub dim: Option<usize>,
    /// The number of most frequent words to keep; `None` for all.
    pub max_vocabulary: Option<usize>,
    /// The number of principal axes of the rows to keep (`principal-rows`); `None` for all, in the original
    /// coordinates.
    pub principal: Option<usize>,
    /// How much weaker axes are amplified, from 0 (not at all) to 0.5 (all axes equally strong).
    pub whitening: f64,
    /// The length of the vectors of unknown words, if the model has them, as a multiple of the mean length of the rows.
    /// If an order part is kept, it is a multiple of their present length.
    pub unknown_length: f64,
    /// Another normalization of text than that of the model; `None` for the same.
    pub normalization: Option<Normalization>,
}

impl Default for CompressParams {
    /// Four bits per value, everything else unchanged.
    fn default() -> Self {
        Self {
            encoding: RowEncoding::Int4,
            dim: None,
            max_vocabulary: None,
            principal: None,
            whitening: 0.0,
            unknown_length: 1.0,
            normalization: None,
        }
    }
}

impl CompressParams {
    /// Returns the small model.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, Tokenizer, Vocabulary};
    /// use senv::{CompressParams, Model, average::AverageEncoder};
    /// let vocabulary = Vocabulary::from_counts([("cat", 2), ("dog", 1)], 3)?;
    /// let words = ["cat", "dog"];
    /// let model: Model = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &words, 64, 1)?.into();
    /// let small = CompressParams::default().compress(&model)?;
    /// assert!((small.similarity("cat", "dog") - model.similarity("cat", "dog")).abs() < 0.1);
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::CannotCompress`] for a model that is not an average of words, or has n-grams;
    /// [`senv_core::Error::InvalidParameter`] for a dimension out of range.
    pub fn compress(&self, model: &Model) -> Result<StaticEncoder> {
        self.compress_side_by_side(model, &[])
    }

    /// Compresses like [`CompressParams::compress`], with the vectors of other models side by side
    /// (`rows-side-by-side`).
    ///
    /// An ensemble of models of the same vocabulary has better cosines than one of them, because its dimension is
    /// higher. `principal` reduces the dimension again. Models of different data complement each other if a classifier
    /// is trained on the vectors. Each model counts the same, regardless of the length of its vectors. The first model
    /// determines the tokenizer and the treatment of unknown words. Small tables can be added to others; a single one
    /// can only lose words or get another normalization.
    ///
    /// An order part is kept if the table keeps all its dimensions and axes. With `dim`, `principal`, `whitening` or
    /// other models, only the table is used.
    ///
    /// # Errors
    /// The errors of [`CompressParams::compress`]; [`Error::CannotCompress`] if tokenizers differ.
    pub fn compress_side_by_side(&self, model: &Model, others: &[&Model]) -> Result<StaticEncoder> {
        let factor = self.unknown_length;
        require(factor.is_finite() && factor >= 0.0, "unknown_length", "finite and at least 0", factor)?;
        if others.is_empty() && model.is::<StaticModel>() {
            if let Some(table) = model.abilities().static_table
                && self.keeps_rows(table)
                && self.changes_words_or_text(table)
            {
                let table = self.normalized(table.clone());
                return Ok(match self.max_vocabulary {
                    Some(n) => table.truncate_vocabulary(n)?,
                    None => table,
                });
            }
            let reason = "it is already compressed; only a limit on its words (--max-vocabulary) can make it smaller, \
                and only --normalize can change how it reads text";
            return Err(Error::CannotCompress { kind: model.kind(), reason: reason.into() });
        }
        if let Some(table) = model.abilities().static_table
            && let Some(part) = table.order()
            && self.keeps_axes(others.len())
        {
            return Ok(self.normalized(self.compress_with_order(table, part)?));
        }
        let WordRows { tokenizer, vocabulary, mut rows, hashes_unknown_words } =
            WordRows::side_by_side(model, others, self.normalization)?;
        if self.principal.is_some() || self.whitening != 0.0 {
            rows = on_principal_axes(&rows, &vocabulary, self.principal, self.whitening)?;
        }
        let rows = CompressedRows::compress(&rows, self.encoding)?;
        let length = hashes_unknown_words.then(|| factor as f32 * rows.mean_length());
        let encoder = StaticEncoder::new(tokenizer, vocabulary, rows, length)?;
        let encoder = match self.max_vocabulary {
            Some(n) => encoder.truncate_vocabulary(n)?,
            None => encoder,
        };
        Ok(match self.dim {
            Some(dim) => encoder.truncate_dim(dim)?,
            None => encoder,
        }
        .with_source(model.kind()))
    }

    /// Whether a table loses words, or gets another normalization.
    fn changes_words_or_text(&self, table: &StaticEncoder) -> bool {
        self.max_vocabulary.is_some_and(|n| n < table.vocabulary().len())
            || self.normalization.is_some_and(|rule| rule != table.tokenizer().normalization())
    }

    fn normalized(&self, table: StaticEncoder) -> StaticEncoder {
        match self.normalization {
            Some(normalization) => table.with_normalization(normalization),
            None => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Corpus, Rows, Sentences, Table, Tokenizer, Vocabulary};

    use super::*;
    use crate::average::{
        encoder::{AverageEncoder, words},
        unknown_words::UnknownWords,
        weight_scheme::WeightScheme,
    };

    fn encoder() -> AverageEncoder {
        let vocabulary = Vocabulary::from_counts([("the", 9), ("cat", 3), ("sat", 2), ("dog", 1)], 15).unwrap();
        let features = words(&vocabulary).unwrap();
        let mut rows = Table::zeros(4, 24).unwrap();
        senv_core::init::uniform_rows(&mut rows, 0..4, 1.0, 5).unwrap();
        AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap()
    }

    fn corpus() -> Corpus {
        let mut sentences = Sentences::new();
        let ids: Vec<_> = encoder().vocabulary().iter().map(|(id, ..)| id).collect();
        [&ids[..], &ids[1..], &ids[..2]].into_iter().for_each(|ids| sentences.push(ids.iter().copied()));
        Corpus::from_sentences(sentences)
    }

    #[test]
    fn folded_rows_give_the_vectors_of_the_model() {
        let sif = encoder().weighted(Some(WeightScheme::SIF), &corpus(), 1).unwrap();
        for encoder in [encoder(), sif.clone(), sif.with_unknown_words(UnknownWords::Hash)] {
            let model: Model = encoder.into();
            let params = CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() };
            let small = params.compress(&model).unwrap();
            for text in ["the cat sat", "dog", "the the dog", ""] {
                let (expected, got) = (model.encode(&[text]).unwrap(), small.encode(&[text]).unwrap());
                assert!(expected.iter().zip(&got).all(|(x, y)| (x - y).abs() < 1e-5), "{text}: {expected} {got}");
            }
            let hashes = model.abilities().average.unwrap().unknown_words() == UnknownWords::Hash;
            assert_eq!(small.unknown_word_length().is_some(), hashes);
            assert_eq!(small.similarity("x", "x") > 0.99, hashes);
        }
    }

    /// Another model of the same words.
    fn other() -> AverageEncoder {
        let encoder = encoder();
        let mut rows = Table::zeros(4, 8).unwrap();
        senv_core::init::uniform_rows(&mut rows, 0..4, 1.0, 6).unwrap();
        let vocabulary = encoder.vocabulary().clone();
        let features = words(&vocabulary).unwrap();
        AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap()
    }

    #[test]
    fn vectors_side_by_side_are_those_of_the_models_and_principal_axes_keep_their_cosines() {
        let (first, second): (Model, Model) = (encoder().into(), other().into());
        let params = CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() };
        let both = params.compress_side_by_side(&first, &[&second]).unwrap();
        let texts = ["the cat sat", "dog the", "cat", ""];
        let (all, one, two) = (both.encode(&texts), first.encode(&texts), second.encode(&texts));
        let (all, one, two) = (all.unwrap(), one.unwrap(), two.unwrap());
        assert_eq!(all.ncols(), 32);
        for (i, row) in all.outer_iter().enumerate() {
            let expected = one.row(i).iter().chain(two.row(i)).copied().collect::<Vec<f32>>();
            assert!(row.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6));
        }
        // Four words have four directions.
        let few = CompressParams { principal: Some(4), ..params }.compress_side_by_side(&first, &[&second]).unwrap();
        assert_eq!(few.dim(), 4);
        assert!((few.similarity("the cat", "dog sat") - both.similarity("the cat", "dog sat")).abs() < 1e-5);
    }

    #[test]
    fn unknown_words_are_as_long_as_was_asked() {
        let model: Model = encoder().with_unknown_words(UnknownWords::Hash).into();
        let length = |unknown_length| {
            let params = CompressParams { unknown_length, whitening: 0.25, ..CompressParams::default() };
            params.compress(&model).map(|small| (small.unknown_word_length().unwrap(), small.rows().mean_length()))
        };
        let ((whole, rows), (half, _)) = (length(1.0).unwrap(), length(0.5).unwrap());
        assert!((whole - rows).abs() < 1e-6 && (half - 0.5 * rows).abs() < 1e-6);
        assert_eq!(length(0.0).unwrap().0, 0.0);
        assert!(length(-0.1).is_err() && length(f64::NAN).is_err() && length(f64::INFINITY).is_err());
    }

    #[test]
    fn a_table_of_several_models_has_the_terms_of_all() {
        let under = |terms: Option<&str>| -> Model {
            let vocabulary = Vocabulary::from_counts([("fog", 5), ("cat", 3)], 8).unwrap().with_terms(terms);
            let (features, mut rows) = (words(&vocabulary).unwrap(), Table::zeros(2, 4).unwrap());
            rows.row_mut(0).fill(1.0);
            rows.row_mut(1).fill(0.5);
            AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap().into()
        };
        let params = CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() };
        for (first, second, expected) in [
            (None, None, None),
            (None, Some("MIT"), Some("MIT")),
            (Some("MIT"), None, Some("MIT")),
            (Some("MIT"), Some("MIT"), Some("MIT")),
            (Some("MIT"), Some("CC BY-SA 4.0: b"), Some("MIT AND CC BY-SA 4.0: MIT; CC BY-SA 4.0: b")),
            (Some("CC BY-SA 4.0: b"), Some("MIT"), Some("CC BY-SA 4.0 AND MIT: CC BY-SA 4.0: b; MIT")),
        ] {
            let both = params.compress_side_by_side(&under(first), &[&under(second)]).unwrap();
            assert_eq!(both.vocabulary().terms(), expected);
        }
    }

    #[test]
    fn models_of_other_words_stand_side_by_side_and_count_the_same() {
        let params = CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() };
        let vocabulary = Vocabulary::from_counts([("fog", 5), ("cat", 3)], 8).unwrap().with_terms(Some("Terms."));
        let mut rows = Table::zeros(2, 2).unwrap();
        rows.row_mut(0).copy_from_slice(&[30.0, 0.0]);
        rows.row_mut(1).copy_from_slice(&[6.0, 8.0]);
        let features = words(&vocabulary).unwrap();
        let other = AverageEncoder::new(Tokenizer::whitespace(), vocabulary, features, rows).unwrap();
        let first = encoder();
        let length = (0..4).map(|i| senv_core::kernels::norm(first.rows().row(i))).sum::<f32>() / 4.0;
        let both = params.compress_side_by_side(&first.clone().into(), &[&other.into()]).unwrap();
        let known: Vec<&str> = both.vocabulary().iter().map(|(_, word, _)| word).collect();
        assert_eq!(known, ["the", "cat", "sat", "dog", "fog"]);
        assert_eq!((both.dim(), both.vocabulary().terms()), (26, Some("Terms.")));
        let vectors = both.encode(&["fog", "cat", "the"]).unwrap();
        let near =
            |row: usize, expected: &[f32]| vectors.row(row).iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6);
        // The mean length of the second table is 20.
        assert!(near(0, &[&[0.0; 24][..], &[1.5, 0.0]].concat()), "{vectors}");
        let scaled = |i: usize| first.rows().row(i).iter().map(|x| x / length).collect::<Vec<f32>>();
        assert!(near(1, &[&scaled(1)[..], &[0.3, 0.4]].concat()) && near(2, &[&scaled(0)[..], &[0.0; 2]].concat()));
        // A small table can read text in another way.
        let typed = CompressParams { normalization: Some(Normalization::Typing), ..params };
        let table: Model = StaticModel::from(both.clone()).into();
        let normalized = typed.compress(&table).unwrap();
        assert_eq!(normalized.tokenizer(), &both.tokenizer().clone().normalize(Normalization::Typing));
        let rows = [&normalized, &both].map(|model| model.rows().decoded().unwrap());
        assert_eq!(rows[0].view(), rows[1].view());
        assert!(typed.compress(&StaticModel::from(normalized).into()).is_err(), "nothing to change");
        // A small table can be combined with others, but not compressed by itself.
        let small: Model = StaticModel::from(both).into();
        assert_eq!(params.compress_side_by_side(&small, &[&first.into()]).unwrap().dim(), 50);
        assert!(params.compress(&small).unwrap_err().to_string().contains("already compressed"));
    }

    #[test]
    fn models_of_other_tokenizers_do_not_stand_side_by_side() {
        let all = ["the", "cat", "sat", "dog"];
        let other: Model =
            AverageEncoder::random(&Tokenizer::words(), encoder().vocabulary(), &all, 8, 1).unwrap().into();
        let error = CompressParams::default().compress_side_by_side(&encoder().into(), &[&other]).unwrap_err();
        assert!(error.to_string().contains("same tokenizer"), "{error}");
    }

    #[test]
    fn what_is_no_mean_of_rows_is_refused_and_parts_can_be_left_behind() {
        let params = CompressParams { dim: Some(8), max_vocabulary: Some(2), ..CompressParams::default() };
        let small = params.compress(&encoder().into()).unwrap();
        assert_eq!((small.dim(), small.vocabulary().len()), (8, 2));
        let none = CompressParams { dim: Some(25), ..params };
        assert!(none.compress(&encoder().into()).is_err());
    }
}
