//! Retrieval: how high relevant documents rank by words, by meaning, and by both. [`senv_index::documents`] has the
//! equations.

use std::path::PathBuf;

use ndarray::Array2;
use senv_core::{SentenceEncoder, text::sentences};
use senv_data::{JudgedQuery, RetrievalSet};
use senv_index::documents::{DocumentRanker, Join, RankBy};
use senv_metrics::{Bootstrap, Ranking, Sample, Statistic};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, half_width, number},
    score::sentence_vectors::start_of,
};

/// Cutoff ranks of nDCG and recall.
const NDCG_RANKS: usize = 10;
const RECALL_RANKS: usize = 100;

/// How documents are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RetrievalMethod {
    /// By the words of the query ([`senv_index::documents::Bm25`]).
    Words,
    /// By the cosine of the query with the whole document.
    Documents,
    /// By the cosine of the query with the nearest sentence.
    Sentences,
    /// By all three scores.
    Hybrid,
}

impl RetrievalMethod {
    /// All methods, in the order of a table.
    pub(crate) const ALL: [Self; 4] = [Self::Words, Self::Documents, Self::Sentences, Self::Hybrid];

    fn rank_by(self) -> RankBy {
        match self {
            Self::Words => RankBy::Words,
            Self::Documents => RankBy::Document,
            Self::Sentences => RankBy::BestSentence,
            Self::Hybrid => RankBy::Hybrid,
        }
    }

    /// Returns its name in tables.
    pub(crate) fn title(self) -> &'static str {
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
#[non_exhaustive]
pub struct RetrievalMean {
    /// The mean, times 100.
    pub value_x100: f64,
    /// Lower and upper end of its 95 % interval, by the bootstrap over queries; `None` without draws.
    pub interval_x100: Option<(f64, f64)>,
}

/// Scores of one ranking method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetrievalScores {
    /// The ranking method.
    pub method: RetrievalMethod,
    /// nDCG of the first ten documents.
    pub ndcg_at_10: RetrievalMean,
    /// Mean of 1 / the rank of the first relevant document.
    pub mrr: RetrievalMean,
    /// Share of the relevant documents that are among the first hundred.
    pub recall_at_100: RetrievalMean,
    /// The nDCG of each query, from 0 to 1 (not part of the JSON).
    #[serde(skip)]
    pub ndcg_of_queries: Vec<f64>,
}

/// Result of an encoder on a retrieval set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetrievalResult {
    /// Path of the folder.
    pub path: PathBuf,
    /// Number of documents.
    pub n_documents: usize,
    /// Number of sentences in all documents, including titles.
    pub n_sentences: usize,
    /// Number of queries with a relevant document.
    pub n_queries: usize,
    /// Number of queries with judgments, but without a relevant document, which are left out.
    pub n_queries_without_relevant: usize,
    /// Number of judgments of documents that do not exist; no ranking finds them.
    pub n_judgements_of_missing_documents: u64,
    /// Number of judgments of queries that do not exist, which are skipped.
    pub n_judgements_of_missing_queries: u64,
    /// Whether all three scores are joined as they are for documents by default.
    pub is_default_join: bool,
    /// Scores per ranking method.
    pub scores: Vec<RetrievalScores>,
}

/// Ranks the documents of a set for each query: by words, by the vectors of documents, by those of their sentences, and
/// by all three, combined as `join` specifies.
///
/// A document that a ranking does not find is not in it: it has no word of the query, or no vector. A judged document
/// that is not in the corpus counts as not found, as in `trec_eval`. Equal scores count by the mean over their orders
/// ([`Ranking`]). Queries without a relevant document are left out; `trec_eval` counts them as 0. Memory: `4 dim` bytes
/// for each document and each sentence.
///
/// # Errors
/// Errors of the encoder, or for weights out of range; [`Error::NotFinite`] if an embedding is not finite, with its
/// sentence; [`senv_core::Error::TooLarge`] if the vectors do not fit into memory.
pub fn evaluate_retrieval<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    set: &RetrievalSet,
    join: Join,
    bootstrap: Bootstrap,
) -> Result<RetrievalResult> {
    let texts = RetrievalTexts::of(set);
    let n_sentences = texts.sentences.len();
    let measured = measure(encoder, set, &texts, join)?;
    let name = set.path.display().to_string();
    let mean = |values: &[f64]| -> Result<RetrievalMean> {
        let sample = Sample::new(Statistic::Mean, &[], values)?;
        let interval = bootstrap.interval(&name, &sample).map(|ends| (100.0 * ends.low, 100.0 * ends.high));
        Ok(RetrievalMean { value_x100: 100.0 * sample.value().unwrap_or(0.0), interval_x100: interval })
    };
    let scores = RetrievalMethod::ALL.into_iter().zip(&measured).map(|(method, [ndcg, mrr, recall])| {
        Ok(RetrievalScores {
            method,
            ndcg_at_10: mean(ndcg)?,
            mrr: mean(mrr)?,
            recall_at_100: mean(recall)?,
            ndcg_of_queries: ndcg.clone(),
        })
    });
    Ok(RetrievalResult {
        path: set.path.clone(),
        n_documents: set.documents.len(),
        n_sentences,
        n_queries: set.queries.len(),
        n_queries_without_relevant: set.n_without_relevant,
        n_judgements_of_missing_documents: set.missing_documents.count,
        n_judgements_of_missing_queries: set.missing_queries.count,
        is_default_join: join == Join::default(),
        scores: scores.collect::<Result<_>>()?,
    })
}

/// The texts of a set that are encoded.
#[derive(Debug, Clone)]
pub(crate) struct RetrievalTexts {
    /// Title and text of each document.
    documents: Vec<String>,
    /// The sentences of all documents.
    sentences: Vec<String>,
    /// The end of each document's sentences.
    ends: Vec<usize>,
    queries: Vec<String>,
}

impl RetrievalTexts {
    pub(crate) fn of(set: &RetrievalSet) -> Self {
        let documents: Vec<String> =
            set.documents.iter().map(|document| format!("{}\n\n{}", document.title, document.text)).collect();
        let (mut parts, mut ends) = (Vec::new(), Vec::with_capacity(documents.len()));
        for document in &documents {
            parts.extend(sentences(document).into_iter().map(str::to_owned));
            ends.push(parts.len());
        }
        let queries = set.queries.iter().map(|query| query.text.clone()).collect();
        Self { documents, sentences: parts, ends, queries }
    }

    /// Returns the same texts with a space for each run of white space, so that each is one line.
    pub(crate) fn on_lines(mut self) -> Self {
        for text in self.documents.iter_mut().chain(&mut self.sentences).chain(&mut self.queries) {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        self
    }

    /// Iterates over all texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().chain(&self.sentences).chain(&self.queries).map(String::as_str)
    }
}

/// The nDCG, reciprocal rank and recall of each query.
pub(crate) type Measured = [Vec<f64>; 3];

/// Returns what each method of [`RetrievalMethod::ALL`] reaches.
pub(crate) fn measure<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    set: &RetrievalSet,
    texts: &RetrievalTexts,
    join: Join,
) -> Result<Vec<Measured>> {
    let (of_documents, of_parts) =
        (finite_vectors(encoder, &texts.documents)?, finite_vectors(encoder, &texts.sentences)?);
    let of_queries = finite_vectors(encoder, &texts.queries)?;
    let ranker = DocumentRanker::from_vectors(&texts.documents, of_documents, of_parts, texts.ends.clone())?;
    let ranker = ranker.joined_by(join)?;
    let mut measured: Vec<Measured> = vec![Default::default(); RetrievalMethod::ALL.len()];
    for (query, vector) in set.queries.iter().zip(of_queries.rows()) {
        let judged: Vec<f64> = query.grades().collect();
        for (method, measured) in RetrievalMethod::ALL.into_iter().zip(&mut measured) {
            let scores = ranker.scores(&query.text, vector.to_slice().unwrap_or_default(), method.rank_by())?;
            let ranking = ranking(&scores, &query.judgements, query.own_document);
            measured[0].push(ranking.ndcg(&judged, NDCG_RANKS).unwrap_or(0.0));
            measured[1].push(ranking.reciprocal_rank());
            measured[2].push(ranking.recall_at(&judged, RECALL_RANKS).unwrap_or(0.0));
        }
    }
    Ok(measured)
}

/// Returns the mean nDCG of documents in random order.
pub(crate) fn random_ndcg(set: &RetrievalSet) -> f64 {
    let scores = vec![Some(0.0); set.documents.len()];
    let of = |query: &JudgedQuery| {
        let judged: Vec<f64> = query.grades().collect();
        ranking(&scores, &query.judgements, query.own_document).ndcg(&judged, NDCG_RANKS).unwrap_or(0.0)
    };
    senv_metrics::mean(&set.queries.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Encodes texts and checks that all values are finite.
fn finite_vectors<E: SentenceEncoder + ?Sized>(encoder: &E, texts: &[String]) -> Result<Array2<f32>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (vectors, _) = encoder.encode_batch(&texts)?;
    match vectors.rows().into_iter().position(|row| row.iter().any(|x| !x.is_finite())) {
        Some(bad) => Err(Error::NotFinite {
            what: format!("the embedding of {}", senv_core::quoted(start_of(texts[bad].trim()))),
        }),
        None => Ok(vectors),
    }
}

/// Returns the ranking of the documents that were found, except the query's own one.
fn ranking(scores: &[Option<f64>], judgements: &[(usize, f64)], own: Option<usize>) -> Ranking {
    let mut grades = vec![0.0; scores.len()];
    judgements.iter().for_each(|&(document, grade)| grades[document] = grade);
    let others = (0..scores.len()).filter(|&document| Some(document) != own);
    Ranking::by_scores(others.filter_map(|document| Some((scores[document]?, grades[document]))))
}

impl RetrievalResult {
    /// Returns the name of a method in tables: `default` if it is the ranking of documents in a search.
    pub(crate) fn title_of(&self, method: RetrievalMethod) -> &'static str {
        if self.is_default_join && method == RetrievalMethod::Hybrid { "default" } else { method.title() }
    }

    /// Formats one line per ranking method, with half of each interval.
    #[must_use]
    pub fn to_text(&self) -> String {
        let titles = ["nDCG@10", "MRR", "recall@100"].map(|title| (title, Align::Right));
        let mut table = TextTable::new([("ranked by", Align::Left), titles[0], titles[1], titles[2]]);
        for scores in &self.scores {
            let cell = |mean: &RetrievalMean| number(Some(mean.value_x100), 1) + &half_width(mean.interval_x100, 1);
            let [a, b, c] = [&scores.ndcg_at_10, &scores.mrr, &scores.recall_at_100].map(cell);
            table.row([self.title_of(scores.method).to_owned(), a, b, c]);
        }
        format!(
            "{table}{} {}, {} documents of {} sentences; x 100\n",
            self.n_queries,
            if self.n_queries == 1 { "query" } else { "queries" },
            self.n_documents,
            self.n_sentences
        )
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Coverage, Scratch};
    use senv_data::Document;

    use super::*;

    /// Counts the letters a, b and c.
    struct Letters;

    impl SentenceEncoder for Letters {
        fn dim(&self) -> usize {
            3
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
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
            missing: Vec::new(),
            own_document: None,
        };
        let queries = vec![query("word", &[(2, 1.0)]), query("aaaa", &[(0, 2.0), (1, 1.0)])];
        let set = RetrievalSet {
            path: "set".into(),
            documents,
            queries,
            n_without_relevant: 0,
            missing_documents: Default::default(),
            missing_queries: Default::default(),
            n_repeated_judgements: 0,
        };
        let found = evaluate_retrieval(&Letters, &set, Join::default(), Bootstrap { resamples: 0, seed: 1 }).unwrap();
        assert_eq!((found.n_documents, found.n_sentences, found.n_queries), (4, 5, 2));
        let mrr: Vec<f64> = found.scores.iter().map(|scores| scores.mrr.value_x100).collect();
        // By words the first query finds its document, and the second finds nothing. By vectors it is the other way
        // round: the first query has a zero vector.
        let is_near = |got: f64, expected: f64| (got - expected).abs() < 1e-9;
        assert!([0, 1, 2].iter().all(|&i| is_near(mrr[i], 50.0)) && is_near(mrr[3], 100.0), "{mrr:?}");
        let text = found.to_text();
        assert!(text.contains("\ndefault ") && text.contains("2 queries, 4 documents of 5 sentences"), "{text}");
    }

    #[test]
    fn a_document_that_is_the_query_itself_or_is_not_found_is_not_ranked() {
        let (scores, judgements) = ([Some(3.0), Some(2.0), None, Some(2.0)], [(1, 1.0), (2, 1.0)]);
        let all = Ranking::by_scores([(3.0, 0.0), (2.0, 1.0), (2.0, 0.0)]);
        assert_eq!(ranking(&scores, &judgements, None), all);
        assert_eq!(ranking(&scores, &judgements, Some(0)), Ranking::by_scores([(2.0, 1.0), (2.0, 0.0)]));
    }

    #[test]
    fn a_ranking_that_finds_nothing_has_no_points_wherever_the_relevant_document_is() {
        for at in 0..4 {
            let found = ranking(&[None; 4], &[(at, 1.0)], None);
            assert_eq!((found.ndcg(&[1.0], 10), found.reciprocal_rank()), (Some(0.0), 0.0));
            assert_eq!(found.recall_at(&[1.0], 100), Some(0.0));
        }
    }
}
