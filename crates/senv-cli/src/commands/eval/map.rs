//! `senv eval map`: maps groups of sentences to a plane.

use std::path::PathBuf;

use senv_eval::{MapOptions, SentenceGroups, SentenceVectors, evaluate_map};

use super::{check, shared::Evaluated, write};
use crate::{
    commands::ModelArg,
    destination::{Content, ForceArg},
    failure::Result,
};

/// Map groups of sentences to a plane (t-SNE) and measure their separation.
///
/// Prints the silhouette on the plane and of the vectors: 1 for groups far apart, 0 for groups that overlap. At most
/// 2,000 sentences. A FILE has lines of GROUP and SENTENCE, separated by a tab, such as the captions of a few images.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval map captions.tsv
  senv eval map --model model.senv captions.tsv --svg captions.svg")]
pub(super) struct Map {
    /// File of sentences in groups.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Perplexity of t-SNE, about the number of neighbors that a sentence stays near; below a third of the sentences
    /// [default: 5; less for fewer than 16 sentences]
    #[arg(long, value_name = "X")]
    perplexity: Option<f64>,
    /// Number of t-SNE steps.
    #[arg(long, value_name = "N", default_value_t = MapOptions::default().n_iterations)]
    steps: usize,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Draw the map to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

impl Map {
    pub(super) fn run(self) -> Result {
        let inputs = [&*self.model.model, &*self.file];
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        let groups = SentenceGroups::read(&self.file)?;
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, groups.sentences());
        let embeddings = SentenceVectors::encode(&model, groups.sentences())?;
        let perplexity = self.perplexity.unwrap_or_else(|| MapOptions::perplexity_for(groups.n_sentences()));
        let options = MapOptions { perplexity, n_iterations: self.steps, seed: self.seed };
        let result = evaluate_map(&embeddings, &groups, &options)?;
        write(self.svg.as_ref(), || result.to_svg())?;
        evaluated.show_result(self.json, &result, || result.to_text())
    }
}
