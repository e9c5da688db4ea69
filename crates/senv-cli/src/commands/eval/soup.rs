//! `senv eval soup`: does the model distinguish sentences that share words and differ in meaning?

use std::path::PathBuf;

use senv_eval::{SentenceGroups, evaluate_group_ranking, published_soup};

use super::shared::Evaluated;
use crate::{commands::ModelArg, failure::Result};

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
    /// Sentences in groups.
    #[arg(value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Print what the paper reported for its last sentence below the result.
    #[arg(long)]
    published: bool,
    /// Write JSON.
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
