//! What a command may write over: one rule for all of them.
//!
//! An output that is one of the inputs is refused, by whatever name or link it is reached. A file that is there already
//! is replaced if it is empty, or if it is what the command writes, made by senv; any other takes `--force`. Devices
//! and pipes are written to. All of that is checked before the work begins.

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

/// Leave to replace any file.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ForceArg {
    /// Replace a file that is there already, whatever it holds; without it only an empty one, or what senv has written
    /// of the same kind. One of the inputs is never replaced.
    #[arg(long, help_heading = "Files")]
    pub(crate) force: bool,
}

/// What a file is going to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// A model of senv.
    Model,
    /// What a run goes on from.
    Checkpoint,
    /// A NumPy matrix.
    Matrix,
    /// A table with a column of vectors, as Parquet or Arrow.
    #[cfg(feature = "arrow")]
    VectorTable,
    /// The words of this matrix, one a line.
    WordsOf(&'a Path),
    /// A row of numbers a line.
    Vectors,
    /// Word vectors in the format of another program.
    WordVectors,
    /// A figure.
    Drawing,
    /// A report of the bench, as a page, as JSON or as Markdown.
    Report,
    /// Precision and recall at thresholds.
    Points,
    /// A sentence a line.
    Sentences,
    /// A collection for the web page.
    WebCollection,
    /// Groups of sentences.
    Groups,
    /// A page that shows groups of sentences.
    GroupsPage,
    /// The state of a search, which looks itself whether it is its own.
    Search,
}

impl Content<'_> {
    /// What a file of another kind is said not to be.
    fn name(self) -> &'static str {
        match self {
            Self::Model => "no model of senv",
            Self::Checkpoint => "no checkpoint",
            Self::Matrix => "no matrix as senv writes it",
            #[cfg(feature = "arrow")]
            Self::VectorTable => "no table with vectors as senv writes it",
            Self::WordsOf(_) => "not the words of that matrix",
            Self::Vectors => "holds no vectors as senv writes them",
            Self::WordVectors => "may be of another program",
            Self::Drawing => "no drawing of senv",
            Self::Report => "no report of senv",
            Self::Points => "no points of a precision-recall curve",
            Self::Sentences => "may be anybody's text",
            Self::WebCollection => "no collection for the web page",
            Self::Groups => "no groups of sentences",
            Self::GroupsPage => "no page of groups by senv",
            Self::Search => "of another search",
        }
    }
}

/// A file that a command is going to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Destination<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// The argument that names it.
    pub(crate) option: &'static str,
    /// What it is going to hold.
    pub(crate) content: Content<'a>,
    /// Whether any file may be replaced; `None` where that cannot be asked for.
    pub(crate) force: Option<bool>,
}

impl<'a> Destination<'a> {
    /// The file that `--output` names.
    pub(crate) fn output(path: &'a Path, content: Content<'a>, force: ForceArg) -> Self {
        Self { path, option: "--output", content, force: Some(force.force) }
    }

    /// Refuses a file that is one of the inputs, that somebody else may need, or that cannot be written; nothing is
    /// left behind. `-` among the inputs is standard input.
    pub(crate) fn check<P: AsRef<Path>>(&self, inputs: &[P]) -> Result {
        let Self { path, option, content, .. } = *self;
        if is_dash(path) {
            let message = format!(
                "{option} -: this cannot go to standard output; give the name of a file (./- for one of that name)"
            );
            return Err(Failure::Usage(message));
        }
        if matches!(content, Content::Model) && senv::is_english(path) {
            let message = format!(
                "{option} english: this is the name of the model that is part of senv, by which no file is opened; give another \
                 name, or ./english"
            );
            return Err(Failure::Usage(message));
        }
        refuse_input(path, &path.display().to_string(), inputs, &format!("give another {option}"))?;
        self.check_old()?;
        check_writable(path)
    }

    /// Refuses to replace what senv has not written.
    fn check_old(&self) -> Result {
        let Self { path, option, content, force } = *self;
        // Links of the system stand for open files of this process, which are appended to.
        let is_open_file = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
        let is_spared = fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() > 0) && !is_open_file;
        if !is_spared || force == Some(true) || recognize::is(path, content) {
            return Ok(());
        }
        // What cannot be read is not known to be of somebody else.
        File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
        let (path, what) = (path.display(), content.name());
        let has_verb = matches!(content, Content::Vectors | Content::WordVectors | Content::Sentences);
        let verb = if has_verb { "" } else { "is " };
        let remedy = if force.is_some() { ", or --force to replace it" } else { "" };
        Err(Failure::Usage(format!("{path} is there and {verb}{what}; give another {option}{remedy}")))
    }
}

/// Refuses to write to standard output where that is one of the files that are read.
pub(crate) fn check_stdout<P: AsRef<Path>>(inputs: &[P]) -> Result {
    refuse_input(Path::new("-"), "standard output", inputs, "send it to another file")
}

fn refuse_input<P: AsRef<Path>>(path: &Path, name: &str, inputs: &[P], remedy: &str) -> Result {
    let is_output = |input: &&P| is_same_as(input.as_ref(), path);
    let Some(input) = inputs.iter().find(is_output).map(AsRef::as_ref) else { return Ok(()) };
    let how = if input == path {
        "is one of the files that are read".to_owned()
    } else if is_dash(input) {
        "is the file that standard input is read from".to_owned()
    } else {
        format!("is the file {}, which is read", input.display())
    };
    Err(Failure::Usage(format!("{name} {how}; {remedy}")))
}

/// Whether two paths lead to one file, or would where it is not there yet.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    a == b || is_same_as(a, b)
}

/// Whether an input is the file that an output names.
fn is_same_as(input: &Path, output: &Path) -> bool {
    let input = if is_dash(input) { Path::new("/dev/stdin") } else { input };
    let output = if is_dash(output) { Path::new("/dev/stdout") } else { output };
    is_same_file(input, output)
}

/// Fails if a file cannot be written to where it should appear; nothing is left behind.
fn check_writable(path: &Path) -> Result {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let reason = format!("there is no folder {}; create it or give another name", folder.display());
        return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
    }
    match fs::metadata(path) {
        // Devices and pipes are not opened twice.
        Ok(file) if !file.is_file() && !file.is_dir() => Ok(()),
        _ => {
            // Dropped, it takes its temporary file with it.
            AtomicFile::create(path)?;
            Ok(())
        }
    }
}
