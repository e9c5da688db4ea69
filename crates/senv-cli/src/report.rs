//! What a failure says to the user, and its exit code.

use std::{error::Error, fmt::Write as _, process::ExitCode};

use crate::{
    failure::Failure,
    interrupt, output,
    remedies::{command_for, remedies_of, with_options},
};

/// Exit code for wrong usage.
pub(crate) const USAGE: u8 = 2;

/// Says what went wrong and gives the exit code.
pub(crate) fn report(failure: Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => {
            output::error(&format!("{message}\n\nFor more information, try '--help'."));
            ExitCode::from(USAGE)
        }
        // Where a command has nothing to add.
        Failure::Failed(error) if is_interrupted(error.as_ref()) => {
            output::warn(&format!("{error}; nothing is written"));
            ExitCode::from(interrupt::exit_code())
        }
        Failure::Failed(error) => {
            output::error(&message(error.as_ref()));
            ExitCode::from(if is_usage(error.as_ref()) { USAGE } else { 1 })
        }
        Failure::Interrupted => ExitCode::from(interrupt::exit_code()),
        Failure::ReaderGone => ExitCode::SUCCESS,
    }
}

/// The error and its causes with the options that help.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    let text = with_options(&chain(error), remedies_of(error));
    match command_for(error) {
        Some(command) => format!("{text} ({command})"),
        None => text,
    }
}

/// The error and its causes in one line; a cause that an outer message already states is not repeated.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            let _ = write!(text, ": {message}");
        }
        cause = error.source();
    }
    text
}

/// Whether the cause of the error is that the user has asked to stop.
fn is_interrupted(error: &(dyn Error + 'static)) -> bool {
    is_of_core(error, |error| matches!(error, senv_core::Error::Interrupted { .. }))
}

/// Whether the cause of the error is a parameter out of its range.
fn is_usage(error: &(dyn Error + 'static)) -> bool {
    use senv::Error as Model;
    is_of_core(error, |error| matches!(error, senv_core::Error::InvalidParameter { .. }))
        || matches!(error.downcast_ref(), Some(Model::Ngrams(_) | Model::BadGrid { .. }))
}

/// Whether the cause of the error is such an error of the core.
fn is_of_core(error: &(dyn Error + 'static), core: impl Fn(&senv_core::Error) -> bool) -> bool {
    use senv_core::Error as Core;
    // Transparent variants hand on the source of what they wrap, not what they wrap itself.
    if let Some(error) = error.downcast_ref::<senv::Error>() {
        return match error {
            senv::Error::Core(error)
            | senv::Error::Loss(senv_losses::Error::Core(error))
            | senv::Error::Training(senv_negative_sampling::Error::Core(error))
            | senv::Error::Store(senv_store::Error::Core(error))
            | senv::Error::Index(senv_index::Error::Core(error)) => core(error),
            _ => false,
        };
    }
    if let Some(error) = error.downcast_ref::<senv_index::Error>() {
        return matches!(error, senv_index::Error::Core(error) if core(error));
    }
    match error.downcast_ref::<senv_eval::Error>() {
        Some(senv_eval::Error::Core(error) | senv_eval::Error::Data(senv_data::Error::Core(error))) => core(error),
        Some(_) => false,
        None => error.downcast_ref::<Core>().is_some_and(core),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let error = senv_core::Error::io("open", "a.txt", io::Error::other("no such thing"));
        assert_eq!(chain(&error), "cannot open a.txt: no such thing");
        let error = senv::Error::from(error);
        assert_eq!(chain(&error), "cannot open a.txt: no such thing");
    }

    #[test]
    fn options_and_commands_that_help_are_told() {
        let error = || senv_core::Error::InvalidUtf8 { path: "a.txt".into(), line: 2, byte: 3 };
        let end = "or read it with invalid bytes replaced (--invalid-utf8 replace)";
        assert!(message(&error()).ends_with(end), "{}", message(&error()));
        assert!(message(&senv::Error::from(error())).ends_with(end));
        let folder = tempfile::tempdir().unwrap();
        let error = || senv_core::Error::not_a_file(folder.path(), &folder.path().metadata().unwrap());
        assert!(message(&error()).ends_with("a model of senv, or word vectors"), "{}", message(&error()));
        std::fs::write(folder.path().join("dictionary.txt"), "the\n").unwrap();
        let end = "or word vectors (released Skip-thoughts become a model by senv convert FOLDER out.senv)";
        let store = || senv_store::Error::from(error());
        for text in [message(&error()), message(&store()), message(&senv::Error::from(store()))] {
            assert!(text.ends_with(end), "{text}");
        }
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
