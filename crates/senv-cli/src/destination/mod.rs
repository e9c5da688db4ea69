//! What a command may overwrite: one rule for all commands.
//!
//! An output that is one of the inputs is refused, under any name or link. An existing file is replaced if it is empty,
//! or if senv wrote it and it has the same kind of content; any other file needs `--force`. Devices and pipes are
//! written to. All of this is checked before the work starts.

mod recognize;

use std::{
    fs::{self, File},
    path::Path,
};

use senv_core::files::{AtomicFile, is_same_file};

use crate::{
    failure::{Failure, Result},
    text::is_dash,
};

/// Permission to replace any file.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ForceArg {
    /// Overwrite an existing file.
    ///
    /// Without it, senv replaces only empty files and files of the same kind that it wrote itself. It never overwrites
    /// an input.
    #[arg(long, help_heading = "Files")]
    pub(crate) force: bool,
}

/// What a file will contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// A model of senv.
    Model,
    /// A checkpoint of a run.
    Checkpoint,
    /// A NumPy matrix.
    Matrix,
    /// A Parquet or Arrow table with a column of vectors.
    #[cfg(feature = "arrow")]
    VectorTable,
    /// The words of this matrix, one per line.
    WordsOf(&'a Path),
    /// The terms of use of word vectors, which are in another file.
    License,
    /// One row of numbers per line.
    Vectors,
    /// Word vectors in the format of another program.
    WordVectors,
    /// A figure.
    Drawing,
    /// A benchmark report as HTML, JSON or Markdown.
    Report,
    /// Precision and recall at thresholds.
    Points,
    /// One sentence per line.
    Sentences,
    /// A collection for the web page.
    WebCollection,
    /// Groups of sentences.
    Groups,
    /// A page that shows groups of sentences.
    GroupsPage,
    /// The state of a search, which checks itself whether a file is its own.
    Search,
}

impl Content<'_> {
    /// Why a file with other content is not replaced.
    fn name(self) -> &'static str {
        match self {
            Self::Model => "is not a senv model",
            Self::Checkpoint => "is not a senv checkpoint",
            Self::Matrix => "is not a matrix written by senv",
            #[cfg(feature = "arrow")]
            Self::VectorTable => "is not a table of vectors written by senv",
            Self::WordsOf(_) => "is not the word list of that matrix",
            Self::License => "has terms that senv did not write",
            Self::Vectors => "was not written by senv",
            Self::WordVectors => "may not be from senv",
            Self::Drawing => "is not a figure written by senv",
            Self::Report => "is not a report written by senv",
            Self::Points => "is not a precision-recall curve written by senv",
            Self::Sentences => "may not be from senv",
            Self::WebCollection => "is not a collection for the web page",
            Self::Groups => "is not a file of groups written by senv",
            Self::GroupsPage => "is not a page of groups written by senv",
            Self::Search => "belongs to another search",
        }
    }
}

/// A file that a command will write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// The argument that names it.
    pub(crate) option: &'static str,
    /// What it will contain.
    pub(crate) content: Content<'a>,
    /// Whether any file may be replaced; `None` if the command has no such option.
    pub(crate) force: Option<bool>,
}

impl<'a> Destination<'a> {
    /// The file that `--output` names.
    pub(crate) fn output(path: &'a Path, content: Content<'a>, force: ForceArg) -> Self {
        Self { path, option: "--output", content, force: Some(force.force) }
    }

    /// Refuses a file that is an input, that senv did not write, or that cannot be written; leaves nothing behind. `-`
    /// among the inputs is standard input.
    pub(crate) fn check<P: AsRef<Path>>(&self, inputs: &[P]) -> Result {
        let Self { path, option, content, .. } = *self;
        if is_dash(path) {
            let message =
                format!("{option} -: this cannot be written to standard output; give a file (./- for a file named -)");
            return Err(Failure::Usage(message));
        }
        if matches!(content, Content::Model) && senv::is_english(path) {
            let message =
                format!("{option} english: this is the name of the built-in model; give another name, or ./english");
            return Err(Failure::Usage(message));
        }
        refuse_input(path, &path.display().to_string(), inputs, &format!("give another {option}"))?;
        self.check_old()?;
        check_writable(path)
    }

    /// Refuses to replace a file that senv did not write.
    fn check_old(&self) -> Result {
        let Self { path, option, content, force } = *self;
        // Links of the system to open files of this process, which are appended to.
        let is_open_file = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
        let is_spared = fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() > 0) && !is_open_file;
        if !is_spared || force == Some(true) || recognize::is(path, content) {
            return Ok(());
        }
        // A file that cannot be read may be senv's.
        File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
        let (path, what) = (path.display(), content.name());
        let remedy = if force.is_some() { ", or use --force to overwrite it" } else { "" };
        Err(Failure::Usage(format!("{path} exists and {what}; give another {option}{remedy}")))
    }
}

/// Refuses to write to standard output if that is one of the files that are read.
pub(crate) fn check_stdout<P: AsRef<Path>>(inputs: &[P]) -> Result {
    refuse_input(Path::new("-"), "standard output", inputs, "redirect it to another file")
}

fn refuse_input<P: AsRef<Path>>(path: &Path, name: &str, inputs: &[P], remedy: &str) -> Result {
    let is_output = |input: &&P| is_same_as(input.as_ref(), path);
    let Some(input) = inputs.iter().find(is_output).map(AsRef::as_ref) else { return Ok(()) };
    let how = if input == path {
        "is also an input".to_owned()
    } else if is_dash(input) {
        "is the file that standard input is read from".to_owned()
    } else {
        format!("is the same file as the input {}", input.display())
    };
    Err(Failure::Usage(format!("{name} {how}; {remedy}")))
}

/// Whether two paths are the same file, or will be if it does not exist yet.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    a == b || is_same_as(a, b)
}

/// Whether an input is the file that an output names.
fn is_same_as(input: &Path, output: &Path) -> bool {
    let input = if is_dash(input) { Path::new("/dev/stdin") } else { input };
    let output = if is_dash(output) { Path::new("/dev/stdout") } else { output };
    is_same_file(input, output)
}

/// Fails if a file cannot be written; leaves nothing behind.
fn check_writable(path: &Path) -> Result {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let reason = format!("the folder {} does not exist; create it or give another name", folder.display());
        return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
    }
    match fs::metadata(path) {
        // Devices and pipes are not opened twice.
        Ok(file) if !file.is_file() && !file.is_dir() => Ok(()),
        _ => {
            // Dropping it removes its temporary file.
            AtomicFile::create(path)?;
            Ok(())
        }
    }
}
