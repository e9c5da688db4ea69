//! Rankings by words and meaning, of sentences and of documents.

use clap::ValueEnum;
use senv::{
    SentenceCollection,
    collection::{DocumentHit, RankedCollection, SentenceHit},
    documents::RankBy,
    index::Id,
};

use crate::{
    commands::{join::JoinArgs, rank::Rank},
    failure::{Failure, Result},
};

/// What is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum By {
    /// Documents, each shown with its nearest sentence.
    Document,
    /// Sentences.
    Sentence,
}

/// A hit: a sentence, and its score and document if it has them.
pub(super) struct Hit {
    pub(super) sentence: SentenceHit,
    pub(super) score: Option<f64>,
    pub(super) document: Option<String>,
}

impl From<SentenceHit> for Hit {
    fn from(sentence: SentenceHit) -> Self {
        Self { sentence, score: None, document: None }
    }
}

/// A collection whose ranking uses more than the cosines of its sentences.
pub(super) struct Ranked {
    by: By,
    rank_by: RankBy,
    rows: RankedCollection,
}

impl Ranked {
    /// Prepares the sentences to rank; `None` if a vector search is enough.
    pub(super) fn new(
        collection: &SentenceCollection,
        by: Option<By>,
        rank: Option<Rank>,
        join: JoinArgs,
        kept: Option<&Vec<bool>>,
    ) -> Result<Option<Self>> {
        let is_of_documents = collection.has_documents();
        let by = by.unwrap_or(if is_of_documents { By::Document } else { By::Sentence });
        if by == By::Document && !is_of_documents {
            let message =
                "--by document needs a collection of documents (senv index --documents), and this one has sentences";
            return Err(Failure::Usage(message.into()));
        }
        let is_joined = matches!((by, rank), (By::Document, None) | (_, Some(Rank::Hybrid)));
        if join.is_given() && !is_joined {
            let message = "--join and --weights need a combined ranking; add --hybrid";
            return Err(Failure::Usage(message.into()));
        }
        let rank_by = match (by, rank) {
            (By::Sentence, None | Some(Rank::Meaning)) => return Ok(None),
            (By::Document, Some(Rank::Meaning)) => RankBy::BestSentence,
            (_, Some(Rank::Words)) => RankBy::Words,
            (By::Document, None) | (_, Some(Rank::Hybrid)) => RankBy::Hybrid,
        };
        let keep = |position: usize| kept.is_none_or(|kept| kept.get(position) == Some(&true));
        let rows = collection
            .ranked((by == By::Document).then_some(SentenceCollection::DOCUMENT), keep)?
            .joined_by(join.join())?;
        Ok(Some(Self { by, rank_by, rows }))
    }

    /// Whether only words count, so that it does not matter what the model knows.
    pub(super) fn is_by_words(&self) -> bool {
        self.rank_by == RankBy::Words
    }

    /// Whether something that is ranked has a word of the query.
    pub(super) fn has_word_of(&self, collection: &SentenceCollection, query: &str) -> Result<bool> {
        Ok(self.rows.has_word_of(collection, query)?)
    }

    /// Whether it has read all sentences.
    pub(super) fn is_in_memory(&self) -> bool {
        self.rows.is_in_memory()
    }

    /// The best `k` hits of a query with a cosine of at least `least`; equal sentences are one hit.
    pub(super) fn search(
        &self,
        collection: &SentenceCollection,
        query: &str,
        k: usize,
        least: f32,
    ) -> Result<Vec<Hit>> {
        let hit = |found: DocumentHit| -> Result<Hit> {
            let DocumentHit { name, score, cosine, text, positions, .. } = found;
            let id = collection.rows().id(positions[0])?.unwrap_or(Id::Number(0));
            let document = (self.by == By::Document).then_some(name);
            Ok(Hit { sentence: SentenceHit { id, cosine, text, positions }, score: Some(score), document })
        };
        self.rows.search(collection, query, k, self.rank_by, least)?.into_iter().map(hit).collect()
    }
}
