//! `senv eval soup`: does the model distinguish sentences that share words and differ in meaning?

use std::path::PathBuf;

use senv_eval::{GroupRankingResult, PublishedSoup, SentenceGroups, evaluate_group_ranking, published_soup};
use serde::Serialize;

use crate::{commands::ModelArg, failure::Result, output};

/// Rank sentences that share words and differ in what they say (the soup test).
///
/// Each sentence in turn is the reference; the others are ranked by the cosine with it, and those of its group should
/// come first. Shown are the cosines, the average precision, and the gap between the farthest of the group and the
/// nearest outside. Without FILE, the six sentences about a hot and a cold soup of the paper of the SNLI-finetuned
/// Skip-thoughts; a FILE holds lines of GROUP and SENTENCE separated by a tab.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval soup --model model.senv --published
  senv eval soup --model model.senv my-groups.tsv --json")]
pub(super) struct Soup {
    #[command(flatten)]
    model: ModelArg,
    /// Sentences in groups.
    #[arg(value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Print what the paper reported for its last sentence below the result.
    #[arg(long)]
    published: bool,
    /// Write JSON.
    #[arg(long)]
    json: bool,
}

/// All that was asked for, as JSON.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    /// The share of known words in the first sentences.
    known_word_share: Option<f64>,
    #[serde(flatten)]
    result: GroupRankingResult,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedSoup>,
}

impl Soup {
    pub(super) fn run(self) -> Result {
        let groups = self.sentences.as_ref().map_or_else(|| Ok(SentenceGroups::soup()), SentenceGroups::read)?;
        let model = self.model.open()?;
        let known_word_share = self.model.warn_of_unknown(&model, groups.sentences());
        let result = evaluate_group_ranking(&model, &groups)?;
        let published = if self.published { published_soup() } else { Vec::new() };
        if self.json {
            let model = self.model.model.display().to_string();
            return output::print_json(&Report { model, known_word_share, result, published });
        }
        output::print(&result.to_text_beside(&published))
    }
}
