//! `senv eval p-coherence`: the similarity of captions of one image, compared with captions of different images.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use senv_eval::{DEFAULT_RANDOM_PAIRS, SentenceGroups, evaluate_p_coherence, published_p_coherence};

use super::shared::Evaluated;
use crate::{commands::ModelArg, failure::Result};

/// The largest number of random pairs: their cosines are kept in memory until the mean is taken.
const MAX_RANDOM_PAIRS: u64 = 100_000_000;

/// Measure how similar paraphrases are (P-coherence).
///
/// Prints the mean cosine of the captions of one image, averaged over images, and the mean cosine of captions of
/// different images. A model that gives every sentence the same direction reaches 1 in both. FILE has lines of IMAGE
/// and CAPTION, separated by a tab, or is captions_val2017.json of COCO. Images with one caption count only in the
/// second mean.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval p-coherence --model model.senv captions_val2017.json
  senv eval p-coherence --model model.senv results_20130124.token --random-pairs 100000 --seed 2
  senv eval p-coherence --model model.senv captions.tsv --published --json")]
pub(super) struct PCoherence {
    /// File of captions.
    #[arg(value_name = "FILE")]
    captions: PathBuf,
    /// Number of random pairs of captions of different images.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RANDOM_PAIRS,
        value_parser = RangedU64ValueParser::<usize>::new().range(0..=MAX_RANDOM_PAIRS))]
    random_pairs: usize,
    /// Random seed of these pairs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Also print the result of the P-thought paper on its captions.
    #[arg(long)]
    published: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

impl PCoherence {
    pub(super) fn run(self) -> Result {
        let captions = SentenceGroups::read(&self.captions)?;
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, captions.sentences());
        let result = evaluate_p_coherence(&model, &captions, self.random_pairs, self.seed)?;
        let published = if self.published { published_p_coherence() } else { Vec::new() };
        evaluated.show(self.json, &result, &published, || result.to_text_beside(&published))
    }
}
