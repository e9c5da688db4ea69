//! Searchable sentences: an encoder, and the embeddings of the sentences.

mod memory_rows;

use std::{collections::HashMap, path::Path};

use senv_core::{SentenceEncoder, SentenceEncoderExt, Table};
use senv_index::{Collection, CollectionParams, IdKind, NewRows};

use self::memory_rows::MemoryRows;
use crate::{
    collection::{
        MODEL_PATH, SentenceCollection, SentenceHit, SentenceSearch,
        new_sentences::{compare, encode},
        owned,
        search::search,
    },
    error::{Error, Result},
};

/// Sentences with their embeddings, in memory: a [`SentenceCollection`] without a folder, for any encoder. Up to
/// 100,000 are searched exactly, on all cores. For more, 4-bit codes are compared first and the best candidates exactly
/// ([`VectorIndex`](senv_index::VectorIndex)), which finds 99 % of the nearest. Cosines are exact in both cases. Equal
/// sentences are one hit.
///
/// Vectors are those of the encoder as it is. A model with an order part keeps it, so cosines are those of
/// [`similarity`](SentenceEncoder::similarity). A [`SentenceCollection`] leaves that part out unless its parameters
/// say otherwise. For the same vectors and cosines here, index
/// [`model.without_order()`](crate::Model::without_order): searches by topic find slightly more with it.
///
/// Searches take `&self` and can run on several threads at once. Changes take `&mut self`.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("my.index");
/// use senv::Index;
/// let english = senv::english()?;
/// let mut index = Index::new(&english, &["The train is late.", "A storm brings rain."])?;
/// let ids = index.add(&["The bus was cancelled."])?;
/// assert_eq!(index.search("no buses today", 1)?[0].text, "The bus was cancelled.");
/// index.delete(&ids)?;
///
/// index.save(&folder)?;
/// let index = Index::open(&folder, &english)?; // or SentenceCollection::open_with_model, which leaves it on disk
/// assert_eq!(index.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index<E> {
    encoder: E,
    rows: MemoryRows,
}

impl<E: SentenceEncoder> Index<E> {
    /// Encodes the sentences on all cores; their ids are their positions, from 0. Memory is `4 dim` bytes per sentence
    /// plus the sentences themselves, or `4.5 dim` for more than 100,000.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the embeddings do not fit in memory; [`Error::NonFiniteVector`].
    pub fn new(encoder: E, sentences: &[impl AsRef<str>]) -> Result<Self> {
        let rows = MemoryRows::new(encoder.dim());
        let mut index = Self { encoder, rows };
        index.add(sentences)?;
        Ok(index)
    }

    /// The encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// The sentence with an id.
    #[must_use]
    pub fn sentence(&self, id: u64) -> Option<&str> {
        self.rows.text_of(id)
    }

    /// The ids and sentences, in the order of their positions.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.rows.iter()
    }

    /// The id of the sentence at a position, as passed to a filter ([`SentenceSearch::keep`]); `None` if it was
    /// deleted.
    #[must_use]
    pub fn id(&self, position: usize) -> Option<u64> {
        self.rows.id(position)
    }

    /// Adds sentences and returns their ids, which are the next free ones. A blank sentence gets the zero vector and is
    /// never found; a [`SentenceCollection`] refuses it.
    ///
    /// # Errors
    /// The errors of [`Index::new`].
    pub fn add(&mut self, sentences: &[impl AsRef<str>]) -> Result<Vec<u64>> {
        let texts = owned(sentences);
        let (vectors, ids) = (encode(&self.encoder, &texts)?, self.rows.free_ids(texts.len())?);
        self.rows.put(texts, &ids, vectors)?;
        Ok(ids)
    }

    /// Replaces the sentences with these ids; new ids are added.
    ///
    /// # Errors
    /// The errors of [`Index::new`]; [`senv_index::Error::GivenTwice`]. Nothing changes then.
    pub fn replace(&mut self, sentences: &[(u64, impl AsRef<str>)]) -> Result<()> {
        let ids: Vec<u64> = sentences.iter().map(|(id, _)| *id).collect();
        let mut rows = HashMap::new();
        for (second, &id) in ids.iter().enumerate() {
            if let Some(first) = rows.insert(id, second) {
                return Err(senv_index::Error::GivenTwice { id: id.into(), first, second }.into());
            }
        }
        let texts: Vec<String> = sentences.iter().map(|(_, text)| text.as_ref().to_owned()).collect();
        let vectors = encode(&self.encoder, &texts)?;
        self.rows.put(texts, &ids, vectors)
    }

    /// Deletes the sentences with these ids.
    ///
    /// # Errors
    /// [`senv_index::Error::UnknownId`]; nothing is deleted then.
    pub fn delete(&mut self, ids: &[u64]) -> Result<()> {
        self.rows.delete(ids)
    }

    /// Frees the memory of deleted sentences. Positions change, but ids do not.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if a copy does not fit in memory.
    pub fn compact(&mut self) -> Result<()> {
        self.rows.compact()
    }

    /// The `k` sentences most similar to the query, most similar first; equal ones are one hit. Fewer if the index has
    /// fewer; none if the encoder has no vector for any word of the query. Sentences with only such words are never
    /// found.
    ///
    /// # Errors
    /// If the encoder gives a vector that is not finite.
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<SentenceHit>> {
        Ok(self.search_batch(&[query], &SentenceSearch::new(k))?.pop().unwrap_or_default())
    }

    /// The sentences nearest to each query; faster than single searches.
    ///
    /// ```
    /// use senv::{Index, collection::SentenceSearch};
    /// let sentences = ["The train is late.", "A storm brings rain.", "The bus was cancelled."];
    /// let index = Index::new(senv::english()?, &sentences)?;
    /// // All but the first, and only what is similar at all.
    /// let others = |_query: usize, position: usize| index.id(position) != Some(0);
    /// let search = SentenceSearch { keep: Some(&others), min_cosine: 0.2, ..SentenceSearch::new(2) };
    /// let hits = index.search_batch(&["When does the train come?", "Will it rain?"], &search)?;
    /// assert_eq!(hits[1][0].text, "A storm brings rain.");
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Index::search`]; [`senv_core::Error::InvalidParameter`] if the recall is out of range.
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str>],
        search: &SentenceSearch<'_>,
    ) -> Result<Vec<Vec<SentenceHit>>> {
        let vectors = Table::from(self.encoder.encode(queries)?);
        self.search_vectors(&vectors.iter().collect::<Vec<_>>(), search)
    }

    /// Like [`Index::search_batch`], for encoded queries.
    ///
    /// # Errors
    /// The errors of [`Index::search_batch`]; [`senv_core::Error::ShapeMismatch`] if a vector has a different length.
    pub fn search_vectors(&self, queries: &[&[f32]], wanted: &SentenceSearch<'_>) -> Result<Vec<Vec<SentenceHit>>> {
        search(&self.rows, queries, wanted, wanted.recall.unwrap_or(senv_index::DEFAULT_RECALL))
    }

    /// Writes sentences, ids and vectors as a collection in a folder, replacing an existing collection. [`Index::open`]
    /// reads it into memory; [`SentenceCollection::open_with_model`] searches it in place.
    ///
    /// # Errors
    /// The errors of [`Collection::rebuild`].
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<()> {
        let (texts, ids, vectors) = self.rows.kept()?;
        let params =
            CollectionParams::new(self.encoder.dim()).metadata(MODEL_PATH, "").column(SentenceCollection::TEXT);
        let mut rows = (!ids.is_empty()).then(|| NewRows::new(vectors).ids(ids).texts(vec![texts]));
        Collection::rebuild::<Error>(folder, &params, || Ok(rows.take()))?;
        Ok(())
    }

    /// Reads a collection of sentences into memory. `encoder` must be the one that made its vectors; some of them are
    /// compared with new vectors of their sentences. For a collection that was made with a model with an order part,
    /// pass [`model.without_order()`](crate::Model::without_order), unless the collection has kept that part.
    ///
    /// # Errors
    /// The errors of [`Collection::open`]; [`Error::NoSentences`]; [`Error::ForeignVector`]; [`Error::TextIds`];
    /// [`senv_core::Error::ShapeMismatch`] if the vectors have a different length.
    pub fn open(folder: impl AsRef<Path>, encoder: E) -> Result<Self> {
        let rows = Collection::open(folder)?;
        if rows.columns().first().is_none_or(|name| name != SentenceCollection::TEXT) {
            return Err(Error::NoSentences { collection: rows.folder().to_owned() });
        }
        if rows.id_kind() == Some(IdKind::Texts) {
            let (what, remedy) = ("an index in memory", "search it with SentenceCollection::open_with_model");
            return Err(Error::TextIds { collection: rows.folder().to_owned(), what, remedy });
        }
        let (expected, got) = (rows.dim(), encoder.dim());
        if got != expected {
            return Err(senv_core::Error::ShapeMismatch { what: "vectors of the encoder", expected, got }.into());
        }
        let (mut texts, mut ids) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let mut values = Vec::new();
        for position in 0..rows.n_positions() {
            let Some(id) = rows.id(position)?.and_then(|id| id.number()) else { continue };
            let text = rows.text(position, SentenceCollection::TEXT)?;
            match rows.vector(position)? {
                Some(vector) => values.extend(vector),
                None => values.extend(encoder.encode(&[&text])?),
            }
            texts.push(text);
            ids.push(id);
        }
        let vectors = Table::from_vec(ids.len(), expected, values)?;
        compare(&encoder, &texts, &vectors)?;
        let mut memory = MemoryRows::new(expected);
        memory.put(texts, &ids, vectors)?;
        Ok(Self { encoder, rows: memory })
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Coverage, Scratch};

    use super::{memory_rows::CODES_FROM, *};

    /// Counts the letters a and b.
    struct Letters;

    impl SentenceEncoder for Letters {
        fn dim(&self) -> usize {
            2
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            out[0] = sentence.matches('a').count() as f32;
            out[1] = sentence.matches('b').count() as f32;
            Coverage::default()
        }
    }

    #[test]
    fn the_most_similar_come_first_and_empty_vectors_never() {
        let index = Index::new(&Letters, &["ab", "b", "a", "c"]).unwrap();
        let positions =
            |query, k| index.search(query, k).unwrap().iter().filter_map(|hit| hit.id.number()).collect::<Vec<_>>();
        assert_eq!(positions("aaab", 9), [2, 0, 1]);
        assert_eq!(positions("b", 1), [1]);
        assert!(positions("xyz", 3).is_empty());
        assert_eq!((index.len(), index.search("aa", 1).unwrap()[0].text.as_str()), (4, "a"));
    }

    /// A vector of 16 values for each number.
    struct Numbers;

    impl SentenceEncoder for Numbers {
        fn dim(&self) -> usize {
            16
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            let mut state: u64 = sentence.parse().unwrap_or(0);
            out.fill_with(|| {
                state = (state ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                state ^= state >> 32;
                (state >> 40) as f32 / (1 << 23) as f32 - 1.0
            });
            Coverage::default()
        }
    }

    #[test]
    fn many_sentences_are_found_by_codes_as_exactly() {
        let sentences: Vec<String> = (0..CODES_FROM).map(|i| i.to_string()).collect();
        let index = Index::new(&Numbers, &sentences).unwrap();
        let few = Index::new(&Numbers, &sentences[1..]).unwrap();
        let mut found = 0;
        for query in (200_000..200_040).map(|i| i.to_string()) {
            let (hits, exact) = (index.search(&query, 10).unwrap(), few.search(&query, 10).unwrap());
            found += exact.iter().filter(|near| hits.iter().any(|hit| hit.text == near.text)).count();
            for hit in hits {
                let cosine = Numbers.similarity(&query, &hit.text);
                assert!((hit.cosine - cosine).abs() < 1e-5, "{} {cosine}", hit.cosine);
            }
        }
        assert!(found >= 390, "{found} of 400");
    }

    #[test]
    fn an_index_without_sentences_finds_nothing() {
        let none: [&str; 0] = [];
        let index = Index::new(&Letters, &none).unwrap();
        assert!(index.is_empty() && index.search("a", 5).unwrap().is_empty());
    }

    #[test]
    fn any_encoder_behind_a_pointer_will_do() {
        let encoder: Box<dyn SentenceEncoder> = Box::new(Letters);
        assert_eq!(Index::new(&*encoder, &["a"]).unwrap().search("a", 1).unwrap()[0].cosine, 1.0);
        let owned: Index<Box<dyn SentenceEncoder>> = Index::new(encoder, &["a"]).unwrap();
        assert_eq!(owned.search("a", 1).unwrap()[0].id, 0);
    }

    #[test]
    fn what_is_added_replaced_and_deleted_is_found_or_not_and_comes_back_from_a_folder() {
        let mut index = Index::new(&Letters, &["a", "ab", "a"]).unwrap();
        let ids = |index: &Index<&Letters>, query: &str| {
            index.search(query, 9).unwrap().iter().filter_map(|hit| hit.id.number()).collect::<Vec<_>>()
        };
        assert_eq!(index.search("a", 9).unwrap()[0].positions, [0, 2], "equal sentences are one hit");
        assert_eq!(index.add(&["b", "abb"]).unwrap(), [3, 4]);
        assert_eq!((index.sentence(4), index.sentence(5)), (Some("abb"), None));
        index.delete(&[0, 2]).unwrap();
        assert_eq!((ids(&index, "a"), index.len()), (vec![1, 4, 3], 3));
        assert!(index.delete(&[1, 0]).is_err() && index.len() == 3, "all or none");
        index.replace(&[(1, "bbb"), (7, "aab")]).unwrap();
        assert!(index.replace(&[(8, "a"), (8, "b")]).is_err());
        assert_eq!((ids(&index, "a")[0], index.len(), index.add(&["a"]).unwrap()), (7, 4, vec![8]));
        let first = |query: usize, position: usize| query == 0 || index.id(position) == Some(3);
        let search = SentenceSearch { keep: Some(&first), ..SentenceSearch::new(1) };
        let found = index.search_vectors(&[&[1.0, 0.0], &[1.0, 1.0]], &search).unwrap();
        assert!(found[0][0].id == 8 && found[1][0].id == 3);
        assert!(index.search_vectors(&[&[1.0]], &SentenceSearch::new(1)).is_err());

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        index.save(&path).unwrap();
        index.save(&path).unwrap();
        let again = Index::open(&path, &Letters).unwrap();
        index.compact().unwrap();
        for index in [&index, &again] {
            assert_eq!((ids(index, "abb"), index.len()), (vec![4, 3, 1, 7, 8], 5));
            assert_eq!(index.id(5), None);
            let sentences = [(1, "bbb"), (3, "b"), (4, "abb"), (7, "aab"), (8, "a")];
            assert_eq!(index.iter().collect::<std::collections::BTreeMap<_, _>>(), sentences.into());
        }
        assert!(matches!(Index::open(&path, Numbers), Err(Error::Core(senv_core::Error::ShapeMismatch { .. }))));
        let model = crate::Model::from_encoder("letters", Letters).unwrap();
        let collection = SentenceCollection::open_with_model(&path, &model).unwrap();
        assert_eq!(collection.search("abb", 1).unwrap(), again.search("abb", 1).unwrap());
        let error = SentenceCollection::open(&path).unwrap_err();
        assert!(matches!(error, Error::ModelInMemory { .. }), "{error}");
    }

    #[test]
    fn many_small_additions_are_searched_as_one() {
        let sentences: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let whole = Index::new(&Numbers, &sentences).unwrap();
        let mut parts = Index::new(&Numbers, &sentences[..3]).unwrap();
        sentences[3..].chunks(7).for_each(|part| assert!(parts.add(part).is_ok()));
        for query in ["5000", "70000", "12"] {
            assert_eq!(parts.search(query, 20).unwrap(), whole.search(query, 20).unwrap());
        }
    }
}
