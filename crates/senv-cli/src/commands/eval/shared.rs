//! Shared parts of the commands that evaluate one model.

use std::path::Path;

use clap::builder::RangedU64ValueParser;
use senv::Model;
use senv_eval::DataFolder;
use senv_metrics::{Bootstrap, DEFAULT_RESAMPLES};
use serde::Serialize;

use crate::{
    commands::ModelArg,
    failure::{Failure, Result},
    output,
};

/// The number of bootstrap samples for intervals.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct ResamplesArg {
    /// Number of bootstrap samples for the 95 % intervals, 0 to 100000; 0 leaves out intervals.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RESAMPLES,
          value_parser = RangedU64ValueParser::<usize>::new().range(0..=100_000))]
    resamples: usize,
}

impl ResamplesArg {
    pub(super) fn bootstrap(self) -> Bootstrap {
        Bootstrap { resamples: self.resamples, ..Bootstrap::default() }
    }
}

/// Opens the folder of --data.
pub(super) fn open_data(path: &Path) -> Result<DataFolder> {
    if path.is_file() {
        let shown = path.display();
        return Err(Failure::Usage(format!(
            "{shown} is a file, and --data needs a folder of data sets; give the folder that it is in"
        )));
    }
    Ok(DataFolder::open(path)?)
}

/// The evaluated model and how well it knows the text: the start of all JSON.
#[derive(Debug, Serialize)]
pub(super) struct Evaluated {
    model: String,
    /// The share of known words in the first sentences.
    known_word_share: Option<f64>,
}

impl Evaluated {
    /// Warns if the model knows few words of the text.
    pub(super) fn on<'s>(arg: &ModelArg, model: &Model, sentences: impl IntoIterator<Item = &'s str>) -> Self {
        let known_word_share = arg.warn_of_unknown(model, sentences);
        Self { model: arg.model.display().to_string(), known_word_share }
    }

    /// Prints a result as JSON or as text, with the results of papers.
    pub(super) fn show<P: Serialize>(
        &self,
        json: bool,
        result: &impl Serialize,
        published: &[P],
        text: impl FnOnce() -> String,
    ) -> Result {
        if json {
            return output::print_json(&Report { evaluated: self, result, published });
        }
        output::print(&text())
    }

    /// The same without results of papers.
    pub(super) fn show_result(&self, json: bool, result: &impl Serialize, text: impl FnOnce() -> String) -> Result {
        self.show::<()>(json, result, &[], text)
    }
}

#[derive(Serialize)]
struct Report<'a, R, P> {
    #[serde(flatten)]
    evaluated: &'a Evaluated,
    #[serde(flatten)]
    result: &'a R,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    published: &'a [P],
}
