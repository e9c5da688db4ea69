//! Sentences that can be searched: an encoder, and the embeddings of the sentences it is asked about.

use senv_core::{Scratch, SentenceEncoder, Table};
use senv_index::{IndexParams, Search, VectorIndex};
use senv_store::NearestIndex;

use crate::error::Result;

/// Sentences from which on codes are compared first. Below, an exact search takes less than 5 ms of CPU time (256
/// dimensions, 50 ns a row); codes take 6 ns a row, but as long to make as 75 exact searches.
const CODES_FROM: usize = 100_000;

/// Sentences with their embeddings, in memory. Up to 100,000 are searched exactly: every one is compared, on all cores.
/// Of more, 4-bit codes are compared and the best candidates exactly ([`VectorIndex`]), which finds 99 % of the
/// nearest; cosines are exact in both. [`SentenceCollection`](crate::SentenceCollection) is the same on disk.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog sat on the rug\n\nrain falls on the hills\n".repeat(20))?;
/// use senv::{Index, Sent2Vec};
/// let model = Sent2Vec::train(&text)?;
/// let index = Index::new(&model, &["the cat sat on the mat", "rain falls on the hills"])?;
/// let hits = index.search("a cat on a mat", 1)?;
/// assert_eq!(hits[0].sentence, "the cat sat on the mat");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Index<E> {
    encoder: E,
    sentences: Vec<String>,
    nearest: Nearest,
}

#[derive(Debug)]
enum Nearest {
    Exact(NearestIndex<Table>),
    Codes(Box<VectorIndex>),
}

/// A sentence that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<'i> {
    /// Its position among the sentences of the index, from 0.
    pub position: usize,
    /// The sentence.
    pub sentence: &'i str,
    /// Cosine of its embedding with the query's, in `[-1, 1]`.
    pub cosine: f32,
}

impl<E: SentenceEncoder> Index<E> {
    /// Encodes the sentences on all cores. Takes `4 dim` bytes a sentence beside the sentences themselves, `4.5 dim` of
    /// more than 100,000.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the embeddings do not fit into memory; [`senv_index::Error::NonFinite`] if the
    /// encoder gives a vector that is not finite.
    pub fn new(encoder: E, sentences: &[impl AsRef<str>]) -> Result<Self> {
        let sentences: Vec<String> = sentences.iter().map(|sentence| sentence.as_ref().to_owned()).collect();
        let texts: Vec<&str> = sentences.iter().map(String::as_str).collect();
        let (vectors, _) = encoder.encode_batch(&texts)?;
        let (values, _) = vectors.into_raw_vec_and_offset();
        let table = Table::from_vec(sentences.len(), encoder.dim(), values)?;
        let nearest = match sentences.len() < CODES_FROM {
            true => Nearest::Exact(NearestIndex::new(table)),
            false => Nearest::Codes(Box::new(VectorIndex::build(table, &IndexParams::default())?)),
        };
        Ok(Self { encoder, sentences, nearest })
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Whether there is no sentence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The `k` sentences most similar to the query, the most similar first: fewer if the index has fewer, none if the
    /// encoder has no vector for any word of the query. Sentences of such words alone are never found.
    ///
    /// # Errors
    /// If the encoder gives a vector that is not finite.
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<Hit<'_>>> {
        let mut vector = vec![0.0; self.encoder.dim()];
        self.encoder.encode_into(query, &mut Scratch::default(), &mut vector);
        let hit = |row: usize, cosine| Hit { position: row, sentence: &self.sentences[row], cosine };
        Ok(match &self.nearest {
            Nearest::Exact(rows) => {
                rows.nearest(&vector, k)?.into_iter().map(|near| hit(near.row, near.cosine)).collect()
            }
            Nearest::Codes(rows) => {
                let found = rows.search(&vector, &Search::new(k))?;
                found.into_iter().map(|near| hit(near.row, near.cosine)).collect()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use senv_core::Coverage;

    use super::*;

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
        let positions = |query, k| index.search(query, k).unwrap().iter().map(|hit| hit.position).collect::<Vec<_>>();
        assert_eq!(positions("aaab", 9), [2, 0, 1]);
        assert_eq!(positions("b", 1), [1]);
        assert!(positions("xyz", 3).is_empty());
        assert_eq!((index.len(), index.search("aa", 1).unwrap()[0].sentence), (4, "a"));
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
        assert!(matches!(index.nearest, Nearest::Codes(_)));
        let few = Index::new(&Numbers, &sentences[1..]).unwrap();
        assert!(matches!(few.nearest, Nearest::Exact(_)));
        let mut found = 0;
        for query in (200_000..200_040).map(|i| i.to_string()) {
            let (hits, exact) = (index.search(&query, 10).unwrap(), few.search(&query, 10).unwrap());
            found += exact.iter().filter(|near| hits.iter().any(|hit| hit.sentence == near.sentence)).count();
            for hit in hits {
                let cosine = Numbers.similarity(&query, hit.sentence);
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
        assert_eq!(owned.search("a", 1).unwrap()[0].position, 0);
    }
}
