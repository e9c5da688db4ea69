//! The prompt on a terminal: one query per line, with history.

use std::path::PathBuf;

use rustyline::{Config, DefaultEditor, error::ReadlineError};

use crate::{
    failure::{Failure, Result},
    output, report,
};

/// The number of lines of history that are kept.
const HISTORY: usize = 1000;

/// The file of the history: `.senv_history` in the home folder.
fn history_file() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
    (!home.is_empty()).then(|| PathBuf::from(home).join(".senv_history"))
}

/// Reads queries until Ctrl-D; each goes to `answer`, whose errors are printed and do not end it.
pub(super) fn run(mut answer: impl FnMut(&str) -> Result) -> Result {
    let failed = |error: ReadlineError| senv_core::Error::io("read", "-", std::io::Error::other(error));
    let config = Config::builder().auto_add_history(true).max_history_size(HISTORY).map_err(failed)?.build();
    let mut editor = DefaultEditor::with_config(config).map_err(failed)?;
    let history = history_file();
    if let Some(path) = &history {
        // It does not exist the first time.
        let _ = editor.load_history(path);
    }
    output::note("one query per line; arrow keys recall earlier ones; Ctrl-D quits");
    let result = loop {
        match editor.readline("search> ") {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => match answer(&line) {
                Ok(()) => {}
                Err(Failure::Failed(error)) => output::error(&report::message(error.as_ref())),
                Err(failure) => break Err(failure),
            },
            // Ctrl-C discards the line, as in a shell.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break Ok(()),
            Err(error) => break Err(failed(error).into()),
        }
    };
    if let Some(path) = &history {
        // A read-only home folder is not an error.
        let _ = editor.append_history(path);
    }
    result
}
