//! Ranks the sentences of a text for queries by their words, or by words and meaning; equal sentences count as one.

use std::collections::HashMap;

use ndarray::Array2;
use senv_core::{SentenceEncoder, TextReader, memory::check_memory, text::Lines};
use senv_index::documents::{DocumentRanker, RankBy, best};
use senv_store::Neighbour;

use super::{
    encode_lines::CoverageCounts,
    encoded_rows::EncodedRows,
    nearest::{NearSentence, NearestSentences, distinct, place},
};
use crate::error::Error;

/// Sentences, and approximate bytes of text, encoded at a time.
const PART: usize = 1 << 14;
const PART_BYTES: usize = 16 << 20;

/// Ranks the distinct sentences of a text for each query, a text and its vector, and returns the `k` best with a cosine
/// of at least `least`. Unlike [`nearest_sentences`](super::nearest_sentences), it keeps the text in memory: `4 dim`
/// bytes for each sentence, and its words. [`RankBy::Hybrid`] is the rule of collections: words, counted twice, and
/// meaning. `on_part` sees the lines of each part, and its distinct lines with their vectors.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::{documents::RankBy, jobs::ranked_sentences};
/// use senv_core::{SentenceEncoder, TextOptions, TextReader};
/// let english = senv::english()?;
/// let text = "The printer shows E-4711.\nThe train is late.\nThe printer shows E-4712.\n".as_bytes();
/// let mut reader = TextReader::from_reader("text.txt", text, &TextOptions::default())?;
/// let query = "what is E-4712";
/// let vector = english.encode_one(query).to_vec();
/// let queries = [(query, &vector[..])];
/// let found = ranked_sentences(&english, &mut reader, &queries, 1, RankBy::Hybrid, -1.0, |_, _| Ok::<_, senv::Error>(()))?;
/// assert_eq!(found.sentences[&found.found[0][0].row].place.line, 3);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading and of `on_part`; [`senv_core::Error::TooLarge`] if the vectors do not fit in memory.
pub fn ranked_sentences<E: From<Error> + From<senv_core::Error>>(
    encoder: &dyn SentenceEncoder,
    reader: &mut TextReader,
    queries: &[(&str, &[f32])],
    k: usize,
    by: RankBy,
    least: f32,
    mut on_part: impl FnMut(&Lines, &EncodedRows<'_>) -> Result<(), E>,
) -> Result<NearestSentences, E> {
    let dim = encoder.dim();
    let (mut lines, mut counts) = (Lines::default(), CoverageCounts::default());
    let (mut all, mut values): (Vec<NearSentence>, Vec<f32>) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    loop {
        lines.fill_sentences(reader, PART, PART_BYTES)?;
        if lines.is_empty() {
            break;
        }
        let (distinct, _) = distinct(&lines);
        let sentences: Vec<&str> = distinct.iter().map(|equal| lines.get(equal.first)).collect();
        let (vectors, coverage) = encoder.encode_batch(&sentences)?;
        on_part(&lines, &EncodedRows { sentences: &sentences, coverage: &coverage, vectors: vectors.view() })?;
        check_memory::<f32>(all.len() + distinct.len(), dim)?;
        for (i, (equal, &sentence)) in distinct.iter().zip(&sentences).enumerate() {
            (0..equal.count).for_each(|_| counts.add(sentence, &coverage[i]));
            if let Some(&known) = places.get(sentence) {
                let known = &mut all[known];
                known.count += equal.count;
                known.next.get_or_insert_with(|| place(&lines, equal.first));
                continue;
            }
            places.insert(sentence.to_owned(), all.len());
            let next = equal.next.map(|next| place(&lines, next));
            let (text, place) = (sentence.to_owned(), place(&lines, equal.first));
            all.push(NearSentence { text, place, next, count: equal.count });
            values.extend(vectors.row(i));
        }
    }
    let too_large = |_| senv_core::Error::TooLarge { rows: all.len(), dim };
    let vectors = Array2::from_shape_vec((all.len(), dim), values).map_err(too_large)?;
    let texts: Vec<&str> = all.iter().map(|sentence| sentence.text.as_str()).collect();
    let ranker = DocumentRanker::from_vectors(&texts, vectors, Array2::zeros((0, dim)), vec![0; all.len()])?;
    let (mut found, mut found_scores, mut sentences) = (Vec::new(), Vec::new(), HashMap::new());
    for (query, vector) in queries {
        let scores = ranker.scores(query, vector, by)?;
        let (mut near, mut near_scores) = (Vec::new(), Vec::new());
        for row in best(&scores, scores.len()) {
            let cosine = ranker.document_cosine(vector, row)?;
            if near.len() == k {
                break;
            }
            if cosine >= least {
                near.push(Neighbour::new(row, cosine));
                near_scores.push(scores[row].unwrap_or_default());
                sentences.entry(row).or_insert_with(|| all[row].clone());
            }
        }
        found.push(near);
        found_scores.push(near_scores);
    }
    let has_word_of = queries.iter().map(|(query, _)| ranker.has_word_of(query)).collect();
    Ok(NearestSentences { found, scores: found_scores, sentences, counts, has_word_of })
}
