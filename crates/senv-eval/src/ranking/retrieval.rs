//! Retrieval: how high relevant documents stand, by words, by meaning, and by both.
//!
//! Equation: `hybrid-score`
//!
//! ```text
//! score(q, d) = z(BM25(q, d)) + z(cos(q, d)) + z(max_{s in d} cos(q, s))        z(x) = (x - mean) / deviation, over all documents
//! ```
//!
//! s are the sentences of a document, its title among them. The three are joined without weights to tune: a score counts by how far it
//! stands out among those of its kind.

use std::path::PathBuf;

use senv_core::{
    SentenceEncoder, kernels,
    text::sentences,
    words::{Bm25, Bm25Params},
};
use senv_data::RetrievalSet;
use senv_metrics::{Bootstrap, Sample, Statistic, ndcg, recall_at, reciprocal_rank};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, half_width, number},
    score::sentence_vectors::start_of,
};

/// Ranks that nDCG looks at, and recall.
const NDCG_RANKS: usize = 10;
const RECALL_RANKS: usize = 100;

/// How documents are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetrievalMethod {
    /// By the words of the query ([`Bm25`]).
    Words,
    /// By the cosine of the query with the whole document.
    Documents,
    /// By the cosine of the query with the nearest sentence.
    Sentences,
    /// By all three.
    Hybrid,
}

impl RetrievalMethod {
    const ALL: [Self; 4] = [Self::Words, Self::Documents, Self::Sentences, Self::Hybrid];

    fn title(self) -> &'static str {
        match self {
            Self::Words => "words (BM25)",
            Self::Documents => "documents",
            Self::Sentences => "best sentence",
            Self::Hybrid => "all three",
        }
    }
}

/// A mean over queries, times 100, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RetrievalMean {
    /// The mean, times 100.
    pub value_x100: f64,
    /// Both ends of its 95 % interval, by the bootstrap over queries; `None` without draws.
    pub interval_x100: Option<(f64, f64)>,
}

/// What one way of ranking reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalScores {
    /// The way.
    pub method: RetrievalMethod,
    /// nDCG of the first ten.
    pub ndcg_at_10: RetrievalMean,
    /// The mean of 1 / the rank of the first relevant document.
    pub mrr: RetrievalMean,
    /// The share of the relevant documents among the first hundred.
    pub recall_at_100: RetrievalMean,
}

/// Result of an encoder on a retrieval set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalResult {
    /// The folder.
    pub path: PathBuf,
    /// Documents, and sentences of them.
    pub n_documents: usize,
    /// Sentences of all documents, titles among them.
    pub n_sentences: usize,
    /// Queries with a relevant document.
    pub n_queries: usize,
    /// Each way of ranking.
    pub scores: Vec<RetrievalScores>,
}

/// Ranks the documents of a set for each of its queries, by words, by the vectors of documents and of their sentences, and by all three.
///
/// Of documents of the same score the earlier one stands higher. Takes `4 dim` bytes for each document and each sentence.
///
/// # Errors
/// Those of the encoder; [`Error::NotFinite`] if an embedding is not, with its sentence; [`senv_core::Error::TooLarge`] if the vectors do not fit into memory.
pub fn evaluate_retrieval<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    set: &RetrievalSet,
    bootstrap: Bootstrap,
) -> Result<RetrievalResult> {
    let whole: Vec<String> =
        set.documents.iter().map(|document| format!("{}\n\n{}", document.title, document.text)).collect();
    let bm25 = Bm25::new(whole.iter().map(String::as_str), &Bm25Params::default());
    let mut parts: Vec<&str> = Vec::new();
    let mut ends = Vec::with_capacity(whole.len());
    for document in &whole {
        parts.extend(sentences(document));
        ends.push(parts.len());
    }
    let texts: Vec<&str> = whole.iter().map(String::as_str).collect();
    let queries: Vec<&str> = set.queries.iter().map(|query| query.text.as_str()).collect();
    let [documents, parts, queries] = [&texts, &parts, &queries]
        .map(|texts| units(encoder, texts))
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .try_into()
        .unwrap_or_default();
    let dim = encoder.dim();
    let mut measured: Vec<[Vec<f64>; 3]> = vec![Default::default(); RetrievalMethod::ALL.len()];
    for (query, unit) in set.queries.iter().zip(queries.chunks_exact(dim.max(1))) {
        let words: Vec<f64> = bm25.scores(&query.text).into_iter().map(f64::from).collect();
        let cosines = |rows: &[f32]| -> Vec<f64> {
            rows.chunks_exact(dim).map(|row| f64::from(kernels::dot(row, unit))).collect()
        };
        let of_documents = cosines(&documents);
        let of_parts = cosines(&parts);
        let best = |i: usize| {
            let start = if i == 0 { 0 } else { ends[i - 1] };
            of_parts[start..ends[i]].iter().copied().reduce(f64::max).unwrap_or(0.0)
        };
        let of_sentences: Vec<f64> = (0..ends.len()).map(best).collect();
        let all = [&words, &of_documents, &of_sentences].map(|scores| standardized(scores));
        let hybrid: Vec<f64> = (0..words.len()).map(|i| all.iter().map(|scores| scores[i]).sum()).collect();
        let judged: Vec<f64> = query.judgements.iter().map(|&(_, grade)| grade).collect();
        for (scores, measured) in [words, of_documents, of_sentences, hybrid].iter().zip(&mut measured) {
            let grades = ranked_grades(scores, &query.judgements);
            measured[0].push(ndcg(&grades, &judged, NDCG_RANKS).unwrap_or(0.0));
            measured[1].push(reciprocal_rank(&grades));
            measured[2].push(recall_at(&grades, &judged, RECALL_RANKS).unwrap_or(0.0));
        }
    }
    let name = set.path.display().to_string();
    let mean = |values: &[f64]| -> Result<RetrievalMean> {
        let sample = Sample::new(Statistic::Mean, &[], values)?;
        let interval = bootstrap.interval(&name, &sample).map(|ends| (100.0 * ends.low, 100.0 * ends.high));
        Ok(RetrievalMean { value_x100: 100.0 * sample.value().unwrap_or(0.0), interval_x100: interval })
    };
    let scores = RetrievalMethod::ALL.into_iter().zip(&measured).map(|(method, [ndcg, mrr, recall])| {
        Ok(RetrievalScores { method, ndcg_at_10: mean(ndcg)?, mrr: mean(mrr)?, recall_at_100: mean(recall)? })
    });
    Ok(RetrievalResult {
        path: set.path.clone(),
        n_documents: set.documents.len(),
        n_sentences: ends.last().copied().unwrap_or(0),
        n_queries: set.queries.len(),
        scores: scores.collect::<Result<_>>()?,
    })
}

/// Unit vectors, one after another; zeros of a text without a known word.
fn units<E: SentenceEncoder + ?Sized>(encoder: &E, texts: &[&str]) -> Result<Vec<f32>> {
    let (vectors, _) = encoder.encode_batch(texts)?;
    if let Some(bad) = vectors.rows().into_iter().position(|row| row.iter().any(|x| !x.is_finite())) {
        return Err(Error::NotFinite { what: format!("the embedding of {:?}", start_of(texts[bad].trim())) });
    }
    let mut values: Vec<f32> = vectors.iter().copied().collect();
    for row in values.chunks_exact_mut(encoder.dim().max(1)) {
        let norm = kernels::norm(row);
        let inverse = if norm > 0.0 && norm.is_finite() { 1.0 / norm } else { 0.0 };
        row.iter_mut().for_each(|x| *x *= inverse);
    }
    Ok(values)
}

/// Scores less their mean, over their deviation; zeros where all are the same.
fn standardized(scores: &[f64]) -> Vec<f64> {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let deviation = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
    scores.iter().map(|score| if deviation > 1e-12 { (score - mean) / deviation } else { 0.0 }).collect()
}

/// The grades of all documents, by falling score.
fn ranked_grades(scores: &[f64], judgements: &[(usize, f64)]) -> Vec<f64> {
    let mut grades = vec![0.0; scores.len()];
    judgements.iter().for_each(|&(document, grade)| grades[document] = grade);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.into_iter().map(|document| grades[document]).collect()
}

impl RetrievalResult {
    /// A line for each way of ranking, with half of each interval.
    #[must_use]
    pub fn to_text(&self) -> String {
        let titles = ["nDCG@10", "MRR", "recall@100"].map(|title| (title, Align::Right));
        let mut table = TextTable::new([("ranked by", Align::Left), titles[0], titles[1], titles[2]]);
        for scores in &self.scores {
            let cell = |mean: &RetrievalMean| number(Some(mean.value_x100), 1) + &half_width(mean.interval_x100, 1);
            let [a, b, c] = [&scores.ndcg_at_10, &scores.mrr, &scores.recall_at_100].map(cell);
            table.row([scores.method.title().to_owned(), a, b, c]);
        }
        format!(
            "{table}{} queries, {} documents of {} sentences; x 100\n",
            self.n_queries, self.n_documents, self.n_sentences
        )
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Coverage, Scratch};
    use senv_data::{Document, JudgedQuery};

    use super::*;

    /// Counts of the letters a, b and c.
    struct Letters;

    impl SentenceEncoder for Letters {
        fn dim(&self) -> usize {
            3
        }

        fn encode_into(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            for (value, letter) in out.iter_mut().zip(["a", "b", "c"]) {
                *value = sentence.matches(letter).count() as f32;
            }
            Coverage::default()
        }
    }

    #[test]
    fn documents_are_ranked_in_four_ways() {
        let document = |id: &str, text: &str| Document { id: id.into(), title: String::new(), text: text.into() };
        let documents =
            vec![document("1", "aaa. Cxc."), document("2", "bbb b. Aab."), document("3", "word."), document("4", "")];
        let query = |text: &str, judgements: &[(usize, f64)]| JudgedQuery {
            id: text.into(),
            text: text.into(),
            judgements: judgements.to_vec(),
        };
        let queries = vec![query("word", &[(2, 1.0)]), query("aaaa", &[(0, 2.0), (1, 1.0)])];
        let set = RetrievalSet { path: "set".into(), documents, queries };
        let found = evaluate_retrieval(&Letters, &set, Bootstrap { resamples: 0, seed: 1 }).unwrap();
        assert_eq!((found.n_documents, found.n_sentences, found.n_queries), (4, 5, 2));
        let mrr: Vec<f64> = found.scores.iter().map(|scores| scores.mrr.value_x100).collect();
        // By words the first query finds its document, and the second nothing: all are of one score, the relevant one stands first.
        // By vectors the first query has none; its document is the third. The second has its document first.
        let third = (100.0 / 3.0 + 100.0) / 2.0;
        assert!((mrr[0] - 100.0).abs() < 1e-9 && (mrr[3] - 100.0).abs() < 1e-9, "{mrr:?}");
        assert!((mrr[1] - third).abs() < 1e-9 && (mrr[2] - third).abs() < 1e-9, "{mrr:?}");
        let text = found.to_text();
        assert!(text.contains("all three") && text.contains("2 queries, 4 documents of 5 sentences"), "{text}");
        assert_eq!(standardized(&[1.0, 3.0]), [-1.0, 1.0]);
        assert_eq!(standardized(&[2.0, 2.0]), [0.0, 0.0]);
    }
}
