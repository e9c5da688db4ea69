//! `senv eval p-coherence`: how close the captions of an image lie, beside captions of different images.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use senv_eval::{DEFAULT_RANDOM_PAIRS, SentenceGroups, evaluate_p_coherence, published_p_coherence};

use super::shared::Evaluated;
use crate::{commands::ModelArg, failure::Result};

/// The most random pairs: their cosines are kept until the mean is taken.
const MAX_RANDOM_PAIRS: u64 = 100_000_000;

/// Measure how close paraphrases lie together (P-coherence).
///
/// The mean cosine of the captions of one image, averaged over images, and beside it the mean cosine of captions of
/// different images: a model that gives every sentence the same direction reaches 1 in both. FILE holds lines of IMAGE
/// and CAPTION separated by a tab, or is COCO's captions_val2017.json; images with one caption take part in the second
/// mean only.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval p-coherence --model model.senv captions_val2017.json
  senv eval p-coherence --model model.senv results_20130124.token --random-pairs 100000 --seed 2
  senv eval p-coherence --model model.senv captions.tsv --published --json")]
pub(super) struct PCoherence {
    /// Captions.
    #[arg(value_name = "FILE")]
    captions: PathBuf,
    /// Random pairs of captions of different images to draw.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RANDOM_PAIRS,
        value_parser = RangedU64ValueParser::<usize>::new().range(0..=MAX_RANDOM_PAIRS))]
    random_pairs: usize,
    /// Seed of these draws.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print what the P-thought paper reported on its captions below the result.
    #[arg(long)]
    published: bool,
    /// Write JSON.
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
