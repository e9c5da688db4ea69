//! The options and commands behind the remedies of the libraries, which know nothing of a command line.
//!
//! The words of a remedy stand in the library alone: messages are formatted from what [`Remedy`] displays, and the option is
//! put behind it.

use std::error::Error;

use senv::{Remedy, SkipThought};

/// The option that does it, or the command; none for remedies of later releases of the library.
fn option(remedy: Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::LowerLearningRate | Remedy::HigherLearningRate => "--lr",
        Remedy::LimitGradients => "--clip",
        Remedy::MoreEpochs => "--epochs",
        Remedy::LowerMinCount => "--min-count",
        Remedy::LowerMinTargetCount => "--min-target-count",
        Remedy::SifWeights => "--weights sif",
        Remedy::Buckets => "--buckets",
        Remedy::ModelOfLargerText => "--from MODEL, of a system --init-model MODEL",
        Remedy::InitialVectorsOfDim => "--init-vectors; ask for the same --dim",
        Remedy::ReplaceInvalidUtf8 => "--invalid-utf8 replace",
        Remedy::RaiseLineLimit => "--max-line-bytes",
        Remedy::RaiseTokenLimit => "--max-tokens",
        Remedy::CutLongSentences => "--long cut",
        Remedy::TrainOnText => "senv train",
        Remedy::OtherModel => "--model",
        Remedy::ModelPlace => "--model FILE",
        Remedy::NameColumn => "--column NAME",
        Remedy::Replace => "--force",
        Remedy::ShareByClaims => "--claims FOLDER",
        _ => return None,
    })
}

/// A message with the option of each remedy in brackets: behind the words of the remedy where they stand first, at the end
/// where the message has other words for it.
pub(crate) fn with_options(message: &str, remedies: &[Remedy]) -> String {
    let mut text = message.to_owned();
    for &remedy in remedies {
        let Some(option) = option(remedy).map(|option| format!(" ({option})")) else { continue };
        if !text.contains(&option) {
            let words = remedy.to_string();
            let at = text.find(&words).map_or(text.len(), |at| at + words.len());
            text.insert_str(at, &option);
        }
    }
    text
}

/// What helps against an error of any of the libraries.
pub(crate) fn remedies_of<'a>(error: &'a (dyn Error + 'static)) -> &'a [Remedy] {
    None.or_else(|| error.downcast_ref().map(senv::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_core::Error::remedies))
        .or_else(|| match error.downcast_ref() {
            Some(senv_index::Error::Core(error)) => Some(error.remedies()),
            _ => None,
        })
        .or_else(|| error.downcast_ref().map(senv_data::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_eval::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_negative_sampling::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_ngram::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_reproduce::Error::remedies))
        .or_else(|| error.downcast_ref().map(senv_store::Error::remedies))
        .unwrap_or_default()
}

/// What to do with a folder that was given where a file is expected, if the program has a command for it.
pub(crate) fn command_for(error: &(dyn Error + 'static)) -> Option<&'static str> {
    use senv_core::Error as Core;
    let core = match error.downcast_ref() {
        Some(senv::Error::Core(core) | senv::Error::Store(senv_store::Error::Core(core))) => Some(core),
        _ => match error.downcast_ref() {
            Some(senv_store::Error::Core(core)) => Some(core),
            _ => error.downcast_ref(),
        },
    };
    match core {
        Some(Core::NotAFile { path, .. }) if SkipThought::is_release(path) => {
            Some("released Skip-thoughts become a model by senv convert FOLDER out.senv")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_remedy_has_an_option() {
        for remedy in Remedy::ALL {
            assert!(
                option(remedy).is_some_and(|option| option.starts_with("--") || option.starts_with("senv ")),
                "{remedy}"
            );
        }
    }

    #[test]
    fn each_remedy_has_its_option_once() {
        let error = senv::Error::Diverged { step: 3, lr: 9.0 };
        let text = with_options(&error.to_string(), error.remedies());
        assert!(text.ends_with("a lower learning rate (--lr), or limit gradients (--clip)"), "{text}");
        assert_eq!(with_options(&text, error.remedies()), text);
        assert_eq!(with_options("more epochs", &[]), "more epochs");
    }

    #[test]
    fn options_stand_behind_the_words_or_at_the_end() {
        let error = senv_negative_sampling::Error::NothingToLearn { sentences: 2, tokens: 1 };
        let text = with_options(&error.to_string(), error.remedies());
        let end = "lower the minimum count (--min-count), also that of targets (--min-target-count)";
        assert!(text.ends_with(end), "{text}");
        let error = senv::Error::InitialVectorsDim { expected: 3, got: 2 };
        let text = with_options(&error.to_string(), error.remedies());
        let all = "a row of the initial vectors (--init-vectors; ask for the same --dim) has size 2, expected 3";
        assert_eq!(text, all);
        let warning = senv::CheckWarning::FewWords { words: 3, least: 1000 };
        let text = with_options(&warning.to_string(), warning.remedies());
        assert!(text.ends_with("a model of a larger one (--from MODEL, of a system --init-model MODEL)"), "{text}");
    }

    #[test]
    fn remedies_are_found_in_errors_of_all_libraries() {
        let core = || senv_core::Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
        let errors: [Box<dyn Error>; 8] = [
            core().into(),
            senv::Error::from(core()).into(),
            senv_data::Error::from(core()).into(),
            senv_eval::Error::from(core()).into(),
            senv_negative_sampling::Error::from(core()).into(),
            senv_ngram::Error::from(core()).into(),
            senv_reproduce::Error::from(core()).into(),
            senv_store::Error::from(core()).into(),
        ];
        for error in errors {
            assert_eq!(remedies_of(error.as_ref()), [Remedy::LowerMinCount], "{error:?}");
        }
        assert!(remedies_of(&std::io::Error::other("disk full")).is_empty());
    }
}
