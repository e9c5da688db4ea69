//! Options of a run.

use std::path::PathBuf;

use crate::paper_name::PaperName;

/// Which papers to reproduce, with which data, and where to write the output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The papers, in this order; [`PaperName::ALL`] by default.
    pub papers: Vec<PaperName>,
    /// The folder of the data sets. Files are named `sts/2014/TASK.tsv`, `sick/test.tsv` and so on, or as the authors
    /// of the data sets name them.
    pub data: PathBuf,
    /// The folder for models, results and reports: new, empty, or from an earlier run.
    pub output: PathBuf,
    /// Text to train on instead of the text in the data folder; none by default.
    pub text: Vec<PathBuf>,
    /// Reduces epochs, steps and dimensions and uses one seed per row, to test all commands in minutes. The figures are
    /// then meaningless. False by default.
    pub quick: bool,
    /// Removes models as soon as no remaining command reads them. A later run that needs them trains them again. False
    /// by default.
    pub remove_models: bool,
    /// The program that runs the commands, which must have this version; `senv` on the search path by default.
    pub program: PathBuf,
    /// Number of threads for the commands; by default 0, which means all cores.
    pub threads: usize,
}

impl Options {
    /// Creates options for all papers, with the data sets in one folder and the output in another.
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
