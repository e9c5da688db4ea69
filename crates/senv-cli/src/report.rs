//! The message and the exit code of a failure.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, PoisonError},
};

use senv::SkipThought;

use crate::{
    failure::{DONE_IN_DOUBT, Failure, Result},
    interrupt, output,
    remedies::shown,
};

/// Exit code for wrong usage.
pub(crate) const USAGE: u8 = 2;

/// The outputs written by a command with several outputs, and the first failure that leaves one in doubt.
static OUTPUTS: Mutex<(Vec<PathBuf>, Option<Failure>)> = Mutex::new((Vec::new(), None));

/// Continues after one of several outputs: an output in doubt does not keep the others from being written.
pub(crate) fn go_on(output: &Path, written: Result) -> Result {
    if written.as_ref().is_err_and(|failure| !is_done_by(failure)) {
        return written;
    }
    let mut outputs = OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    outputs.0.push(output.to_owned());
    if let Err(failure) = written {
        outputs.1.get_or_insert(failure);
    }
    Ok(())
}

/// The exit code of a command that has ended; prints its error.
pub(crate) fn end(ended: Result) -> ExitCode {
    let (written, in_doubt) = std::mem::take(&mut *OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner));
    match (ended, in_doubt) {
        (Ok(()), None) => ExitCode::SUCCESS,
        (Ok(()) | Err(Failure::ReaderGone), Some(failure)) => report(failure),
        (Err(Failure::Failed(error)), _) if !written.is_empty() && !is_done(error.as_ref()) => {
            let (n, last) = (written.len(), written[written.len() - 1].display());
            let done = if n == 1 { format!("{last} was") } else { format!("{n} files up to {last} were") };
            let code = code(error.as_ref());
            output::error(&format!("{}; {done} already written", message(error.as_ref())));
            code
        }
        (Err(failure), _) => report(failure),
    }
}

/// Prints what went wrong and returns the exit code.
pub(crate) fn report(failure: Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => {
            output::usage_error(&message, &[]);
            ExitCode::from(USAGE)
        }
        Failure::Choice { message, commands } => {
            output::usage_error(&message, &commands);
            ExitCode::from(USAGE)
        }
        Failure::Done(message) => {
            output::error(&message);
            ExitCode::from(DONE_IN_DOUBT)
        }
        // If the command has nothing to add.
        Failure::Failed(error) if is_interrupted(error.as_ref()) => {
            output::warn(&format!("{error}; nothing was written"));
            ExitCode::from(interrupt::exit_code())
        }
        Failure::Failed(error) => {
            output::error(&message(error.as_ref()));
            code(error.as_ref())
        }
        Failure::Interrupted => ExitCode::from(interrupt::exit_code()),
        Failure::ReaderGone => ExitCode::SUCCESS,
    }
}

/// The exit code of an error.
fn code(error: &(dyn Error + 'static)) -> ExitCode {
    ExitCode::from(match error {
        error if is_done(error) => DONE_IN_DOUBT,
        error if is_usage(error) => USAGE,
        _ => 1,
    })
}

/// Whether the work is done in spite of this failure.
pub(crate) fn is_done_by(failure: &Failure) -> bool {
    match failure {
        Failure::Failed(error) => is_done(error.as_ref()),
        Failure::Done(_) => true,
        _ => false,
    }
}

/// The message of a failure, on one line.
pub(crate) fn said(failure: &Failure) -> String {
    match failure {
        Failure::Usage(message) | Failure::Choice { message, .. } | Failure::Done(message) => message.clone(),
        Failure::Failed(error) => message(error.as_ref()),
        Failure::Interrupted => "interrupted".into(),
        Failure::ReaderGone => "standard output was closed by its reader".into(),
    }
}

/// The error with the options that help. Errors of the libraries include their cause.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    let text = shown(&error);
    match command_for(error) {
        Some(command) => format!("{text} ({command})"),
        None => text,
    }
}

/// The command for a folder that was given instead of a file, if there is one.
fn command_for(error: &(dyn Error + 'static)) -> Option<&'static str> {
    match core_of(error) {
        Some(senv_core::Error::NotAFile { path, .. }) if SkipThought::is_release(path) => {
            Some("senv convert FOLDER out.senv converts released Skip-thoughts")
        }
        _ => None,
    }
}

/// Whether the cause of the error is an interruption by the user.
fn is_interrupted(error: &(dyn Error + 'static)) -> bool {
    matches!(core_of(error), Some(senv_core::Error::Interrupted { .. }))
}

/// Whether the work is done in spite of the error.
pub(crate) fn is_done(error: &(dyn Error + 'static)) -> bool {
    let of_index = match error.downcast_ref() {
        Some(senv::Error::Index(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    of_index.is_some_and(senv_index::Error::is_done) || core_of(error).is_some_and(senv_core::Error::is_done)
}

/// The failure of a step, for a command that is not done after it.
pub(crate) fn of_step(failure: Failure) -> Failure {
    let Failure::Failed(error) = &failure else { return failure };
    match core_of(error.as_ref()) {
        Some(senv_core::Error::NotDurable { path, error: source }) => {
            senv_core::Error::io("write the folder of", path, io::Error::new(source.kind(), source.to_string())).into()
        }
        _ => failure,
    }
}

/// Whether the cause of the error is a parameter outside its range.
fn is_usage(error: &(dyn Error + 'static)) -> bool {
    use senv::Error as Model;
    matches!(core_of(error), Some(senv_core::Error::InvalidParameter { .. }))
        || matches!(error.downcast_ref(), Some(Model::Ngrams(_) | Model::BadGrid { .. }))
}

/// The error of the core inside this error, through any number of libraries. Transparent variants return the source of
/// what they wrap, not what they wrap.
fn core_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a senv_core::Error> {
    macro_rules! look_into {
        ($($variant:path),* $(,)?) => {
            $(if let Some($variant(within)) = error.downcast_ref() {
                return core_of(within);
            })*
        };
    }
    if let Some(senv::Error::Eval(within)) = error.downcast_ref() {
        return core_of(within.as_ref());
    }
    look_into!(
        senv::Error::Core,
        senv::Error::Data,
        senv::Error::Training,
        senv::Error::Ngrams,
        senv::Error::Loss,
        senv::Error::Store,
        senv::Error::Index,
        senv_data::Error::Core,
        senv_eval::Error::Core,
        senv_eval::Error::Data,
        senv_index::Error::Core,
        senv_losses::Error::Core,
        senv_negative_sampling::Error::Core,
        senv_ngram::Error::Core,
        senv_reproduce::Error::Core,
        senv_reproduce::Error::Eval,
        senv_store::Error::Core,
    );
    error.downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let error = senv_core::Error::io("open", "a.txt", io::Error::other("no such thing"));
        assert_eq!(message(&error), "cannot open a.txt: no such thing");
        let error = senv::Error::from(error);
        assert_eq!(message(&error), "cannot open a.txt: no such thing");
    }

    #[test]
    fn options_and_commands_that_help_are_told() {
        let error = || senv_core::Error::InvalidUtf8 { path: "a.txt".into(), line: 2, byte: 3, column: None };
        let end = "or read it with invalid bytes replaced (--invalid-utf8 replace)";
        assert!(message(&error()).ends_with(end), "{}", message(&error()));
        assert!(message(&senv::Error::from(error())).ends_with(end));
        let folder = tempfile::tempdir().unwrap();
        let error = || senv_core::Error::not_a_file(folder.path(), &folder.path().metadata().unwrap());
        assert!(message(&error()).ends_with("a senv model or a file of word vectors"), "{}", message(&error()));
        std::fs::write(folder.path().join("dictionary.txt"), "the\n").unwrap();
        let end = "or a file of word vectors (senv convert FOLDER out.senv converts released Skip-thoughts)";
        let store = || senv_store::Error::from(error());
        for text in [message(&error()), message(&store()), message(&senv::Error::from(store()))] {
            assert!(text.ends_with(end), "{text}");
        }
    }

    #[test]
    fn what_is_done_and_in_doubt_is_no_failure_of_the_whole_and_one_of_its_step() {
        let error = || senv_core::Error::NotDurable { path: "c".into(), error: io::Error::other("worn out") };
        let opened = || senv_index::Error::ChangedNotOpened { path: "c".into(), error: Box::new(error().into()) };
        for failure in [
            Failure::from(error()),
            senv::Error::from(error()).into(),
            senv::Error::from(senv_index::Error::from(error())).into(),
            senv::Error::from(opened()).into(),
            opened().into(),
        ] {
            let Failure::Failed(error) = &failure else { panic!("{failure:?}") };
            assert!(is_done(error.as_ref()) && message(error.as_ref()).contains("is "), "{error}");
            assert_eq!(format!("{:?}", report(failure)), format!("{:?}", ExitCode::from(DONE_IN_DOUBT)));
        }
        let Failure::Failed(step) = of_step(senv::Error::from(error()).into()) else { panic!("another failure") };
        assert!(!is_done(step.as_ref()), "{step}");
        assert_eq!(message(step.as_ref()), "cannot write the folder of c: worn out");
    }

    #[test]
    fn parameters_out_of_range_are_wrong_usage() {
        let bad = || senv_core::Error::InvalidParameter { name: "dim", requirement: "at least 1", got: "0".into() };
        assert!(is_usage(&bad()));
        assert!(is_usage(&senv::Error::from(bad())));
        assert!(is_usage(&senv::Error::from(senv_negative_sampling::Error::from(bad()))));
        assert!(!is_usage(&io::Error::other("disk full")));
    }
}
