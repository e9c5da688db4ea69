//! `senv eval retrieval`: do queries find the documents that answer them?

use std::path::PathBuf;

use senv_eval::{RetrievalResult, RetrievalSet, evaluate_retrieval};
use serde::Serialize;

use super::shared::ResamplesArg;
use crate::{
    commands::{ModelArg, file_name, join::JoinArgs, known_words::known_share},
    failure::Result,
    output,
};

/// Rank documents for queries: by their words, by their vectors, by their best sentence, and by all three.
///
/// A folder holds the files of BEIR: corpus.jsonl with _id, title and text, queries.jsonl with _id and text, and
/// qrels/test.tsv with query, document and grade between tabs. Shown are nDCG@10, MRR and recall@100, times 100, with
/// half of their 95 % intervals (bootstrap over the queries; both ends are in --json).
///
/// By words is BM25. All three are the sum of how far each score stands out among all documents, in deviations, unless
/// --join and --weights say otherwise; nothing is tuned on the queries.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval retrieval scifact
  senv eval retrieval --model my.senv cranfield cisi --json")]
pub(super) struct Retrieval {
    #[command(flatten)]
    model: ModelArg,
    /// Folders of documents, queries and judgements.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    join: JoinArgs,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Write JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    model: String,
    /// The share of known words in the first documents.
    known_word_share: Option<f64>,
    sets: Vec<RetrievalResult>,
}

impl Retrieval {
    pub(super) fn run(self) -> Result {
        let sets = self.folders.iter().map(RetrievalSet::read).collect::<std::result::Result<Vec<_>, _>>()?;
        let model = self.model.open_for_many()?;
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
