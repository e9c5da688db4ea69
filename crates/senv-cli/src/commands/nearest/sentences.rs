//! The sentences of a text that are nearest to some queries, without holding the text: equal ones are one.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::{Path, PathBuf},
};

use ndarray::Axis;
use senv::Model;
use senv_core::{SentenceEncoder, Table, TextOptions, TextReader};
use senv_store::{NearestStream, Neighbour};

use crate::{
    commands::{finite, known_words::WordSample, own_lines::OwnLines, unread::Unread},
    failure::{Result, no_memory},
    output::{self, plural},
    text::Lines,
};

/// Values of the vectors, and about the bytes of the text, that are searched at a time: 64 MiB and 16 MiB.
const CHUNK_VALUES: usize = 16 << 20;
const CHUNK_BYTES: usize = 16 << 20;

/// Where a sentence stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SentenceLocation {
    pub(super) file: String,
    pub(super) line: u64,
}

/// A sentence that is near to a query.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// Where it is first.
    pub(super) location: SentenceLocation,
    /// Where it is next, if it is there more than once.
    next: Option<SentenceLocation>,
    /// How often it is there.
    pub(super) count: usize,
}

impl Sentence {
    /// Leaves out the line of the text that a query, equal to this sentence, is itself.
    pub(super) fn leave_out(&mut self, own_lines: &OwnLines, line: u64) {
        self.count -= 1;
        if self.location.line == line
            && own_lines.is_own(self.location.file.clone())
            && let Some(next) = self.next.take()
        {
            self.location = next;
        }
    }
}

/// What was found.
pub(super) struct Searched {
    /// The nearest distinct sentences of each query, by numbers of `sentences`.
    pub(super) found: Vec<Vec<Neighbour>>,
    pub(super) sentences: HashMap<usize, Sentence>,
    pub(super) unread: Unread,
    /// The share of words of the text that the model knows.
    pub(super) known_word_share: Option<f64>,
}

/// Equal lines of a part: the first two, and their number.
struct Equal {
    first: usize,
    next: Option<usize>,
    count: usize,
}

/// The `k` distinct sentences that are nearest to each query, with how often each is there.
///
/// A sentence that is no longer among the nearest never becomes so again, and the first of equal ones comes first. So a
/// sentence that is among the nearest at the end has been since it was read first, and all that are equal to it were
/// counted.
pub(super) fn search(
    input: &[PathBuf],
    options: &TextOptions,
    path: &Path,
    model: &Model,
    queries: &[&[f32]],
    k: usize,
) -> Result<Searched> {
    let mut search: NearestStream<'_, Sentence> = NearestStream::new(queries, k);
    let mut reader = TextReader::open(input, options)?;
    let (mut lines, mut n_lines, mut n_unknown) = (Lines::default(), 0_u64, 0_u64);
    let mut unread = Unread::default();
    let mut sample = WordSample::new(path, model);
    loop {
        lines.fill_sentences(&mut reader, (CHUNK_VALUES / model.dim().max(1)).max(1), CHUNK_BYTES)?;
        if lines.len() == 0 {
            break;
        }
        n_lines += lines.len() as u64;
        sample.add(lines.iter().map(|(_, line)| line));
        let (distinct, places) = distinct(&lines);
        let sentences: Vec<&str> = distinct.iter().map(|equal| lines.get(equal.first)).collect();
        let (vectors, coverage) = model.encode_batch(&sentences)?;
        for (sentence, vector) in sentences.iter().zip(vectors.rows()) {
            finite::check(model, path, sentence, vector.to_slice().unwrap_or_default())?;
        }
        for (equal, coverage) in distinct.iter().zip(&coverage) {
            n_unknown += if coverage.is_empty() { equal.count as u64 } else { 0 };
            (0..equal.count).for_each(|_| unread.add(coverage));
        }
        // Those that are among the nearest already are counted there.
        let mut is_new = vec![true; distinct.len()];
        for sentence in search.items_mut() {
            if let Some(&i) = places.get(sentence.text.as_str()) {
                is_new[i] = false;
                sentence.count += distinct[i].count;
                sentence.next.get_or_insert_with(|| location(&lines, distinct[i].first));
            }
        }
        drop(places);
        let new: Vec<usize> = (0..distinct.len()).filter(|&i| is_new[i]).collect();
        let vectors = if new.len() < distinct.len() { vectors.select(Axis(0), &new) } else { vectors };
        let (rows, dim) = vectors.dim();
        let table = Table::from_vec(rows, dim, vectors.into_raw_vec_and_offset().0)?;
        search.add(table, |row| {
            let Equal { first, next, count } = distinct[new[row]];
            let (text, next) = (copied(lines.get(first))?, next.map(|next| location(&lines, next)));
            Ok::<_, crate::failure::Failure>(Sentence { text, location: location(&lines, first), next, count })
        })?;
    }
    if n_lines == 0 {
        return Err(senv_core::Error::EmptyInput { path: input[0].clone() }.into());
    }
    if n_unknown > 0 {
        let sentences = plural(n_unknown, "sentence");
        output::warn(&format!("{sentences} of the input without a known word: never neighbours"));
    }
    let (found, sentences) = search.finish();
    Ok(Searched { found, sentences, unread, known_word_share: sample.finish() })
}

/// The distinct lines of a part in their order, and where each text is among them.
fn distinct(lines: &Lines) -> (Vec<Equal>, HashMap<&str, usize>) {
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

fn location(lines: &Lines, i: usize) -> SentenceLocation {
    let (file, line) = lines.place(i);
    SentenceLocation { file: file.display().to_string(), line }
}

/// A copy of a sentence.
fn copied(sentence: &str) -> Result<String> {
    let mut text = String::new();
    text.try_reserve_exact(sentence.len()).map_err(|_| no_memory("the sentences found", sentence.len()))?;
    text.push_str(sentence);
    Ok(text)
}
