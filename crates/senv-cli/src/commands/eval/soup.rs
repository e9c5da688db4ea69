//! `senv eval soup`: evaluates sentences that share words and differ in meaning.

use std::path::PathBuf;

use senv_eval::{SentenceGroups, evaluate_group_ranking, published_soup};

use super::shared::Evaluated;
use crate::{commands::ModelArg, failure::Result};

/// Rank sentences that share words and differ in meaning (soup test).
///
/// Each sentence in turn is the reference. The others are ranked by their cosine with it, and those of its group should
/// come first. Prints the cosines, the average precision, and the gap between the farthest sentence of the group and
/// the nearest one outside. Without FILE, uses the six sentences about hot and cold soup from the paper on
/// SNLI-finetuned Skip-thoughts. A FILE has lines of GROUP and SENTENCE, separated by a tab.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval soup --model model.senv --published
  senv eval soup --model model.senv my-groups.tsv --json")]
pub(super) struct Soup {
    /// File of sentences in groups.
    #[arg(value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Also print the paper's result, which is for its last sentence.
    #[arg(long)]
    published: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

impl Soup {
    pub(super) fn run(self) -> Result {
        let groups = self.sentences.as_ref().map_or_else(|| Ok(SentenceGroups::soup()), SentenceGroups::read)?;
        let model = self.model.open()?;
        let evaluated = Evaluated::on(&self.model, &model, groups.sentences());
        let result = evaluate_group_ranking(&model, &groups)?;
        let published = if self.published { published_soup() } else { Vec::new() };
        evaluated.show(self.json, &result, &published, || result.to_text_beside(&published))
    }
}
