//! `senv eval histograms`: the distribution of cosines and shared words of pairs.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use senv_eval::{
    DEFAULT_HISTOGRAM_BINS, NliSet, PairGroups, ParaphraseSet, SentenceVectors, SickSet, evaluate_pair_histograms,
};

use super::{check, shared::Evaluated, write};
use crate::{
    commands::ModelArg,
    destination::{Content, ForceArg},
    failure::Result,
};

/// Compare the cosines and shared words of kinds of pairs (MSRP, SNLI, SICK).
///
/// Prints the mean and standard deviation of each kind, and the overlap of the histograms of each pair of kinds: 0 if
/// they are separate, 1 if they are equal. Shared words are the share of all words of a pair that both sentences have,
/// in lower case. --json and the figures have the histograms.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval histograms --model model.senv --by paraphrase msrp/train.tsv
  senv eval histograms --model model.senv --by label snli/test.tsv --svg cosines.svg
  senv eval histograms --model model.senv --by score SICK_test_annotated.txt --json")]
pub(super) struct Histograms {
    /// Files of pairs, as for `senv eval msrp`, `nli` or `sick`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How pairs are divided into kinds.
    #[arg(long, value_name = "KIND", default_value = "paraphrase")]
    by: By,
    /// Number of bins, from -1 to 1 for cosines and from 0 to 1 for shared words.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HISTOGRAM_BINS)]
    bins: usize,
    /// Draw the histograms of cosines to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw the histograms of shared words to this file.
    #[arg(long, value_name = "FILE")]
    words_svg: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Paraphrases and other pairs: MSRP.
    Paraphrase,
    /// Contradiction, neutral, entailment: SNLI, SICK.
    Label,
    /// Below 3, and 3 or above: SICK.
    Score,
}

impl Histograms {
    pub(super) fn run(self) -> Result {
        let inputs: Vec<&Path> = self.files.iter().chain([&self.model.model]).map(PathBuf::as_path).collect();
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        check(self.words_svg.as_ref(), "--words-svg", Content::Drawing, self.force, &inputs)?;
        match self.by {
            By::Paraphrase => {
                let sets = self.files.iter().map(ParaphraseSet::read).collect::<senv_data::Result<Vec<_>>>()?;
                self.report(&PairGroups::of_paraphrases(&sets))
            }
            By::Label => {
                let sets = self.files.iter().map(NliSet::read).collect::<senv_data::Result<Vec<_>>>()?;
                self.report(&PairGroups::of_labels(&sets))
            }
            By::Score => {
                let read = |path| SickSet::read(path).map(|set| set.task);
                let tasks = self.files.iter().map(read).collect::<senv_data::Result<Vec<_>>>()?;
                self.report(&PairGroups::of_scores(&tasks, 3.0))
            }
        }
    }

    fn report(&self, pairs: &PairGroups<'_>) -> Result {
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, pairs.sentences());
        let embeddings = SentenceVectors::encode(&model, pairs.sentences())?;
        let histograms = evaluate_pair_histograms(&embeddings, pairs, self.bins)?;
        write(self.svg.as_ref(), || histograms.cosines.curve().to_svg())?;
        write(self.words_svg.as_ref(), || histograms.word_overlaps.curve().to_svg())?;
        evaluated.show_result(self.json, &histograms, || histograms.to_text())
    }
}
