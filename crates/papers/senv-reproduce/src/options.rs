//! What a run is asked for.

use std::path::PathBuf;

use crate::paper_name::PaperName;

/// What is made, of which data, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The papers, in this order; by default [`PaperName::ALL`].
    pub papers: Vec<PaperName>,
    /// The folder of the data sets: as `sts/2014/TASK.tsv`, `sick/test.tsv` and so on, or as their authors name the
    /// files.
    pub data: PathBuf,
    /// The folder for models, results and reports: that of an earlier run, an empty one, or a new one.
    pub output: PathBuf,
    /// Running text to train on instead of that in the folder of the data sets; by default none.
    pub text: Vec<PathBuf>,
    /// Whether epochs, steps and dimensions are cut down and each row has one seed, to try all commands out in minutes;
    /// then the figures mean nothing. Not by default.
    pub quick: bool,
    /// Whether models are removed once nothing that is left reads them; not by default. They are trained anew where a
    /// later run needs them.
    pub remove_models: bool,
    /// The program that runs the commands, of this version; by default the `senv` of the search path.
    pub program: PathBuf,
    /// The threads that it is asked for; by default 0, which is all cores.
    pub threads: usize,
}

impl Options {
    /// All papers, of the data sets in one folder, into another.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>, output: impl Into<PathBuf>) -> Self {
        Self {
            papers: PaperName::ALL.to_vec(),
            data: data.into(),
            output: output.into(),
            text: Vec::new(),
            quick: false,
            remove_models: false,
            program: "senv".into(),
            threads: 0,
        }
    }
}
