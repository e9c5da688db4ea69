//! Finds the sentences of a text that are nearest to some queries, without keeping the text in memory; equal sentences
//! count as one.

use std::collections::{HashMap, hash_map::Entry};

use ndarray::Axis;
use senv_core::{SentenceEncoder, Table, TextReader, text::Lines};
use senv_store::{NearestStream, Neighbour};

use super::{encode_lines::CoverageCounts, encoded_rows::EncodedRows};
use crate::error::Error;

/// Vector values, and approximate bytes of text, searched at a time: 64 MiB and 16 MiB.
const CHUNK_VALUES: usize = 16 << 20;
const CHUNK_BYTES: usize = 16 << 20;

/// The position of a sentence: its file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentencePlace {
    /// The file.
    pub file: String,
    /// The line number, from 1.
    pub line: u64,
    /// For a table, the number of the record, from 1.
    pub record: Option<u64>,
}

/// A sentence near a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearSentence {
    /// The sentence.
    pub text: String,
    /// Its first position.
    pub place: SentencePlace,
    /// Its next position, if it occurs more than once.
    pub next: Option<SentencePlace>,
    /// How often it occurs.
    pub count: usize,
}

/// The result of [`nearest_sentences`] and of [`ranked_sentences`](super::ranked_sentences).
#[derive(Debug)]
#[non_exhaustive]
pub struct NearestSentences {
    /// The nearest or best distinct sentences of each query, best first; rows are keys of `sentences`.
    pub found: Vec<Vec<Neighbour>>,
    /// The score of each of them; empty if only meaning was compared. Those by words are comparable across queries.
    pub scores: Vec<Vec<f64>>,
    /// The sentences found.
    pub sentences: HashMap<usize, NearSentence>,
    /// How much of the text the encoder knows.
    pub counts: CoverageCounts,
    /// For each query, whether a sentence has a word of it; empty if only meaning was compared.
    pub has_word_of: Vec<bool>,
}

/// Equal lines of a part: the first two, and their number.
pub(super) struct Equal {
    pub(super) first: usize,
    pub(super) next: Option<usize>,
    pub(super) count: usize,
}

/// Finds the `k` distinct sentences of a text that are nearest to each query and counts how often each occurs, by exact
/// search. Memory grows with the queries and `k`, not with the text. `on_part` sees the lines of each part, and its
/// distinct lines with their vectors.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv_core::{SentenceEncoder, TextOptions, TextReader};
/// let english = senv::english()?;
/// let text = "Rain falls.\nThe train is late.\nRain falls.\n".as_bytes();
/// let mut reader = TextReader::from_reader("text.txt", text, &TextOptions::default())?;
/// let query = english.encode_one("a storm brings rain").to_vec();
/// let found = senv::jobs::nearest_sentences(&english, &mut reader, &[&query], 1, |_, _| Ok::<_, senv::Error>(()))?;
/// let nearest = &found.sentences[&found.found[0][0].row];
/// assert_eq!((nearest.text.as_str(), nearest.place.line, nearest.count), ("Rain falls.", 1, 2));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading and of `on_part`; [`senv_core::Error::OutOfMemory`].
pub fn nearest_sentences<E: From<Error> + From<senv_core::Error>>(
    encoder: &dyn SentenceEncoder,
    reader: &mut TextReader,
    queries: &[&[f32]],
    k: usize,
    mut on_part: impl FnMut(&Lines, &EncodedRows<'_>) -> Result<(), E>,
) -> Result<NearestSentences, E> {
    // A sentence that drops out of the nearest never returns, because the first of equal sentences comes first. So a
    // sentence that is among the nearest at the end has been there since it was first read, and all its copies were
    // counted.
    let mut search: NearestStream<'_, NearSentence> = NearestStream::new(queries, k);
    let (mut lines, mut counts) = (Lines::default(), CoverageCounts::default());
    loop {
        lines.fill_sentences(reader, (CHUNK_VALUES / encoder.dim().max(1)).max(1), CHUNK_BYTES)?;
        if lines.is_empty() {
            break;
        }
        let (distinct, places) = distinct(&lines);
        let sentences: Vec<&str> = distinct.iter().map(|equal| lines.get(equal.first)).collect();
        let (vectors, coverage) = encoder.encode_batch(&sentences)?;
        on_part(&lines, &EncodedRows { sentences: &sentences, coverage: &coverage, vectors: vectors.view() })?;
        for ((equal, sentence), coverage) in distinct.iter().zip(&sentences).zip(&coverage) {
            (0..equal.count).for_each(|_| counts.add(sentence, coverage));
        }
        // Sentences that are already among the nearest are counted there.
        let mut is_new = vec![true; distinct.len()];
        for sentence in search.items_mut() {
            if let Some(&i) = places.get(sentence.text.as_str()) {
                is_new[i] = false;
                sentence.count += distinct[i].count;
                sentence.next.get_or_insert_with(|| place(&lines, distinct[i].first));
            }
        }
        drop(places);
        let new: Vec<usize> = (0..distinct.len()).filter(|&i| is_new[i]).collect();
        let vectors = if new.len() < distinct.len() { vectors.select(Axis(0), &new) } else { vectors };
        let (rows, dim) = vectors.dim();
        let table = Table::from_vec(rows, dim, vectors.into_raw_vec_and_offset().0)?;
        search.add(table, |row| {
            let Equal { first, next, count } = distinct[new[row]];
            let (text, next) = (copied(lines.get(first))?, next.map(|next| place(&lines, next)));
            Ok::<_, Error>(NearSentence { text, place: place(&lines, first), next, count })
        })?;
    }
    let (found, sentences) = search.finish();
    Ok(NearestSentences { found, scores: Vec::new(), sentences, counts, has_word_of: Vec::new() })
}

/// The distinct lines of a part in order, and the index of each text among them.
pub(super) fn distinct(lines: &Lines) -> (Vec<Equal>, HashMap<&str, usize>) {
    let mut distinct: Vec<Equal> = Vec::new();
    let mut places = HashMap::with_capacity(lines.len());
    for i in 0..lines.len() {
        match places.entry(lines.get(i)) {
            Entry::Vacant(place) => {
                place.insert(distinct.len());
                distinct.push(Equal { first: i, next: None, count: 1 });
            }
            Entry::Occupied(place) => {
                let equal = &mut distinct[*place.get()];
                equal.next.get_or_insert(i);
                equal.count += 1;
            }
        }
    }
    (distinct, places)
}

pub(super) fn place(lines: &Lines, i: usize) -> SentencePlace {
    let (file, line) = lines.place(i);
    SentencePlace { file: file.display().to_string(), line, record: lines.record(i) }
}

/// Copies a sentence.
fn copied(sentence: &str) -> Result<String, Error> {
    let mut text = String::new();
    let (what, bytes) = ("the sentences found", sentence.len() as u64);
    text.try_reserve_exact(sentence.len()).map_err(|_| senv_core::Error::OutOfMemory { what, bytes })?;
    text.push_str(sentence);
    Ok(text)
}
