//! `senv eval retrieval`: evaluates document search.

use std::path::PathBuf;

use senv_eval::{NanoBeirResult, RetrievalResult, RetrievalSet, evaluate_retrieval, retrieval_folders};
use serde::Serialize;

use super::shared::ResamplesArg;
use crate::{
    commands::{ModelArg, file_name, join::JoinArgs, known_words::known_share},
    failure::Result,
    output::{self, grouped, plural},
};

/// Rank documents for queries: by words, vectors, best sentence, and all three.
///
/// A folder has the files of BEIR: corpus.jsonl with _id, title and text, queries.jsonl with _id and text, and
/// qrels/test.tsv with query, document and grade, separated by tabs. Prints nDCG@10, MRR and recall@100, times 100,
/// with half of the 95 % interval (bootstrap over the queries; --json has both ends). A folder of such folders stands
/// for all of them. If they are named as NanoBEIR's collections (NanoNQ/, NanoFEVER/), the mean over those of the
/// thirteen that are there follows, with the names of the missing ones.
///
/// The ranking by words is BM25. `default` is the ranking of documents in senv search: it adds the scores in standard
/// deviations over all documents, with words counted twice. --join or --weights combine them otherwise (`all three`).
/// As in senv index and senv search, word order does not count unless --order is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval retrieval scifact
  senv eval retrieval --model my.senv cranfield cisi --json
  senv eval retrieval NanoBEIR")]
pub(super) struct Retrieval {
    /// Folders of documents, queries and judgments, or folders of such folders.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    join: JoinArgs,
    /// Do not rank a document for the query with the same id. The queries of ArguAna are documents, so each would find
    /// itself.
    #[arg(long)]
    leave_out_query: bool,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    /// The share of known words in the first documents.
    known_word_share: Option<f64>,
    sets: Vec<RetrievalResult>,
    /// The mean over the collections of NanoBEIR, if any is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    nano_beir: Option<NanoBeirResult>,
}

impl Retrieval {
    /// Prints notes and warnings about a set before it is evaluated.
    fn tell(&self, set: &RetrievalSet) {
        let path = set.path.display();
        if set.missing_queries.count > 0 {
            let (judgments, first) = (plural(set.missing_queries.count, "judgment"), &set.missing_queries.first);
            output::warn(&format!("{path}: skipped {judgments} of missing queries: {first}"));
        }
        if set.missing_documents.count > 0 {
            let (judgments, first) = (plural(set.missing_documents.count, "judgment"), &set.missing_documents.first);
            output::warn(&format!("{path}: {judgments} of missing documents, which count as not found: {first}"));
        }
        if set.n_without_relevant > 0 {
            let queries = match set.n_without_relevant as u64 {
                1 => "1 query".to_owned(),
                n => format!("{} queries", grouped(n)),
            };
            output::note(&format!("{path}: left out {queries} without a relevant document"));
        }
        if set.n_repeated_judgements > 0 {
            let judgments = plural(set.n_repeated_judgements, "repeated judgment");
            output::note(&format!("{path}: {judgments}, each counted once"));
        }
        let n = set.n_own_documents() as u64;
        if n > 0 && !self.leave_out_query {
            let queries = match n {
                1 => "1 query is also a document".to_owned(),
                n => format!("{} queries are also documents", grouped(n)),
            };
            output::note(&format!("{path}: {queries}; --leave-out-query keeps each out of its own ranking"));
        }
    }

    pub(super) fn run(self) -> Result {
        let folders = self.folders.iter().map(retrieval_folders).collect::<std::result::Result<Vec<_>, _>>()?.concat();
        let mut sets = folders.iter().map(RetrievalSet::read).collect::<std::result::Result<Vec<_>, _>>()?;
        sets.iter().for_each(|set| self.tell(set));
        if self.leave_out_query {
            sets = sets.into_iter().map(RetrievalSet::leave_out_queries).collect();
        }
        let model = self.model.open_for_topics()?;
        let texts = sets.iter().flat_map(|set| &set.documents).map(|document| document.text.as_str());
        let known_word_share = known_share(&self.model.model, &model, texts);
        let evaluate = |set| evaluate_retrieval(&model, set, self.join.join(), self.resamples.bootstrap());
        let results = sets.iter().map(evaluate).collect::<std::result::Result<Vec<_>, _>>()?;
        let nano_beir = NanoBeirResult::of(&results, self.resamples.bootstrap())?;
        if self.json {
            let model = file_name(&self.model.model);
            return output::print_json(&Report { model, known_word_share, sets: results, nano_beir });
        }
        let mut text: Vec<String> =
            results.iter().map(|result| format!("{}\n{}", result.path.display(), result.to_text())).collect();
        text.extend(nano_beir.map(|mean| mean.to_text()));
        output::print(&text.join("\n"))
    }
}
