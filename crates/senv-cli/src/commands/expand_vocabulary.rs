//! `senv expand-vocabulary`: adds words to a recurrent model.

use std::path::{Path, PathBuf};

use senv::{Model, ReleasedBin, model::VocabularyExpansion};
use senv_store::{Embeddings, ModelFile, NonFinite, ReadOptions};
use serde::Serialize;

use crate::{
    argument::argument_of,
    commands::{ModelArg, named},
    destination::{Content, Destination, ForceArg},
    failure::Result,
    output::{self, plural},
};

/// The mean error of the model's own vectors after rounding in a text file.
const ROUNDING: f64 = 1e-4;

/// Add words to a recurrent model from other word vectors.
///
/// Fits a map from the given vectors to the word vectors of the model by least squares on their shared words. A word
/// that the model lacks gets the image of its given vector; the model's own words keep theirs (Kiros et al. 2015,
/// section 2.2). Words with `_` are phrases and left out. Encoding uses the new words, but decoders keep generating
/// only their trained words. For skip-thought, rnn-ae, p-thought and snli models. Fine-tune a model first and expand it
/// afterward.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv expand-vocabulary --model uni.senv --vectors GoogleNews-vectors-negative300.bin --output large.senv
  senv expand-vocabulary --model p-thought.senv --vectors glove.840B.300d.txt --map same --output large.senv"
)]
pub(crate) struct ExpandVocabulary {
    /// Word vectors: a senv model, word2vec text or binary, GloVe, fastText .vec or .bin.
    #[arg(long, value_name = "FILE")]
    vectors: PathBuf,
    /// Model to write; replaced atomically.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Map from the vectors to those of the model [default: same if training froze its word vectors, else affine]
    #[arg(long, value_name = "MAP")]
    map: Option<MapArg>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    enum MapArg for VocabularyExpansion {
        /// A matrix and a constant, as in the release of Skip-thoughts.
        Affine,
        /// Only a matrix, as in the paper.
        Linear,
        /// Unchanged: the model was trained on these vectors.
        Same,
    }
}

/// The result, as JSON.
#[derive(Debug, Serialize)]
struct Report<'a> {
    output: String,
    map: VocabularyExpansion,
    shared_words: usize,
    added_words: usize,
    words: usize,
    root_mean_squared_error: f64,
    vectors: &'a Path,
}

impl ExpandVocabulary {
    pub(crate) fn run(self) -> Result {
        Destination::output(&self.output, Content::Model, self.force).check(&[&self.model.model, &self.vectors])?;
        let model = self.model.open_verified()?;
        let usual = model.abilities().expandable.map_or(VocabularyExpansion::Affine, |model| model.usual_expansion());
        let map = self.map.map_or(usual, VocabularyExpansion::from);
        let (expanded, report) = model.expanded(&read(&self.vectors)?, map)?;
        let _last = senv_core::files::LastStep::begin();
        expanded.save(&self.output)?;
        if map == VocabularyExpansion::Same && report.error > ROUNDING {
            output::warn(&format!(
                "the vectors of shared words differ from the model's by {:.3} on average, so it was probably not trained on {}; \
                 --map affine fits a map",
                report.error,
                self.vectors.display()
            ));
        }
        let words = expanded.vocabulary().len();
        if self.json {
            return output::print_json(&Report {
                output: self.output.display().to_string(),
                map,
                shared_words: report.shared,
                added_words: report.added,
                words,
                root_mean_squared_error: report.error,
                vectors: &self.vectors,
            });
        }
        let (added, shared) = (plural(report.added as u64, "word"), plural(report.shared as u64, "word"));
        output::note(&format!(
            "{added} added, {} now; map fitted on {shared} known to both, with root mean squared error {:.4}",
            output::grouped(words as u64),
            report.error
        ));
        Ok(())
    }
}

/// The words and vectors of a file in any format.
fn read(path: &Path) -> Result<Embeddings> {
    match ModelFile::open(path) {
        Ok(file) if file.kind() != "embeddings" => Ok(Model::open_verified(path)?.to_embeddings()?),
        Err(_) if ReleasedBin::is_one(path) => Ok(Model::open(path)?.to_embeddings()?),
        _ => Ok(Embeddings::read(path, &ReadOptions::default().non_finite(NonFinite::Error).verify(true))?.0),
    }
}
