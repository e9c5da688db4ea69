//! `senv eval retrieval`: do queries find the documents that answer them?

use std::path::PathBuf;

use senv_eval::{RetrievalResult, RetrievalSet, evaluate_retrieval};
use serde::Serialize;

use super::shared::ResamplesArg;
use crate::{
    commands::{ModelArg, file_name, join::JoinArgs, known_words::known_share},
    failure::Result,
    output::{self, plural},
};

/// Rank documents for queries: by their words, by their vectors, by their best sentence, and by all three.
///
/// A folder holds the files of BEIR: corpus.jsonl with _id, title and text, queries.jsonl with _id and text, and
/// qrels/test.tsv with query, document and grade between tabs. Shown are nDCG@10, MRR and recall@100, times 100, with
/// half of their 95 % intervals (bootstrap over the queries; both ends are in --json).
///
/// By words is BM25. All three are the sum of how far each score stands out among all documents, in deviations, unless
/// --join and --weights say otherwise; nothing is tuned on the queries. As in senv index and senv search, word order
/// does not count unless --order says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval retrieval scifact
  senv eval retrieval --model my.senv cranfield cisi --json")]
pub(super) struct Retrieval {
    /// Folders of documents, queries and judgements.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    join: JoinArgs,
    /// Do not rank a document for the query of the same id: queries of ArguAna are documents, and each would find
    /// itself.
    #[arg(long)]
    leave_out_query: bool,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Write JSON.
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
}

impl Retrieval {
    /// What is to be said of a set before it is evaluated.
    fn tell(&self, set: &RetrievalSet) {
        let path = set.path.display();
        if set.unknown.count > 0 {
            let (judgements, first) = (plural(set.unknown.count, "judgement"), &set.unknown.first);
            output::warn(&format!(
                "{path}: {judgements} of documents or queries that are not there, passed over: {first}"
            ));
        }
        let n = set.n_own_documents() as u64;
        if n > 0 && !self.leave_out_query {
            output::note(&format!(
                "{path}: queries that are documents themselves: {n}; --leave-out-query does not rank these"
            ));
        }
    }

    pub(super) fn run(self) -> Result {
        let mut sets = self.folders.iter().map(RetrievalSet::read).collect::<std::result::Result<Vec<_>, _>>()?;
        sets.iter().for_each(|set| self.tell(set));
        if self.leave_out_query {
            sets = sets.into_iter().map(RetrievalSet::leave_out_queries).collect();
        }
        let model = self.model.open_for_topics()?;
        let texts = sets.iter().flat_map(|set| &set.documents).map(|document| document.text.as_str());
        let known_word_share = known_share(&self.model.model, &model, texts);
        let evaluate = |set| evaluate_retrieval(&model, set, self.join.join(), self.resamples.bootstrap());
        let results = sets.iter().map(evaluate).collect::<std::result::Result<Vec<_>, _>>()?;
        if self.json {
            let model = file_name(&self.model.model);
            return output::print_json(&Report { model, known_word_share, sets: results });
        }
        let text: Vec<String> =
            results.iter().map(|result| format!("{}\n{}", result.path.display(), result.to_text())).collect();
        output::print(&text.join("\n"))
    }
}
