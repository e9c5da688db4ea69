//! The options and commands for the remedies that the libraries name: they do not know the command line.
//!
//! The library has the words of a remedy, and adds the option when it writes a message.

use std::fmt::Display;

use senv::Remedy;

use crate::command_line;

/// The option for a remedy in the command that runs, or another command with its option. None if no command has one,
/// and for remedies of later releases of the library.
fn option(remedy: Remedy) -> Option<&'static str> {
    let text = match remedy {
        Remedy::ModelOfLargerText if runs_a_system() => "--init-model MODEL",
        Remedy::ModelOfLargerText => "--from MODEL, or --init-model MODEL of a system",
        Remedy::SplitLines if matches!(command_line::path(), [split] if split == "split") => "--by lines",
        remedy => any_option(remedy)?,
    };
    let name = text.strip_prefix("--").and_then(|text| text.split([' ', ';', ',', '=']).next());
    if name.is_none_or(command_line::has_option) { Some(text) } else { option_elsewhere(remedy) }
}

/// The option of another command, if the one that runs lacks it: of the command that made the input or can make it
/// again.
fn option_elsewhere(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::AcceptExpansion => return Some("decompress it first"),
        Remedy::SifWeights => return Some("senv train weighted --scheme sif"),
        _ => {}
    }
    if runs_a_system() {
        // An option of another system does not help.
        return None;
    }
    Some(match remedy {
        Remedy::LowerLearningRate | Remedy::HigherLearningRate => "senv train SYSTEM --lr",
        Remedy::WeakerL1 => "senv train SYSTEM --l1",
        Remedy::MoreEpochs => "senv train SYSTEM --epochs",
        Remedy::LowerMinCount => "senv train SYSTEM --min-count",
        Remedy::Replace => "senv index --force",
        _ => return None,
    })
}

/// Whether the command trains a named system, which has its own options.
fn runs_a_system() -> bool {
    matches!(command_line::path(), [train, _] if train == "train")
}

/// The option for a remedy in any command, or the command.
fn any_option(remedy: Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::LowerLearningRate | Remedy::HigherLearningRate => "--lr",
        Remedy::WeakerL1 => "--l1",
        Remedy::LimitGradients => "--clip",
        Remedy::MoreEpochs => "--epochs",
        Remedy::LowerMinCount => "--min-count",
        Remedy::LowerMinTargetCount => "--min-target-count",
        Remedy::RaiseSubsampling => "--subsample",
        Remedy::SifWeights => "--weights sif",
        Remedy::Buckets => "--buckets",
        Remedy::InitialVectorsOfDim => "--init-vectors; use the same --dim",
        Remedy::ReplaceInvalidUtf8 => "--invalid-utf8 replace",
        Remedy::ReadWindows1252 => "--invalid-utf8 windows-1252",
        Remedy::AcceptRowCount => "senv convert --accept-row-count",
        Remedy::RaiseLineLimit => "--max-line-bytes",
        Remedy::SplitLines => "--split=lines",
        Remedy::AcceptExpansion => "--any-expansion",
        Remedy::RaiseTokenLimit => "--max-tokens",
        Remedy::CutLongSentences => "--long cut",
        Remedy::TrainOnText => "senv train",
        Remedy::OtherModel => "--model",
        Remedy::ModelPlace => "--model FILE",
        Remedy::NameColumn => "--column NAME",
        Remedy::Replace => "--force",
        Remedy::ShareByClaims => "--claims FOLDER",
        Remedy::LeaveOutCheck => "--no-check",
        _ => return None,
    })
}

/// A message with the option of each remedy after it, in parentheses.
pub(crate) fn shown(message: &dyn Display) -> String {
    Remedy::show(message, option)
}

/// The same for a warning about any model: an option that only systems have is shown with its command.
pub(crate) fn shown_of_model(message: &dyn Display) -> String {
    if runs_a_system() {
        return shown(message);
    }
    Remedy::show(message, |remedy| match remedy {
        Remedy::Replace => option(remedy),
        remedy => option_elsewhere(remedy).or_else(|| option(remedy)),
    })
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
    fn options_stand_behind_the_words() {
        for (text, end) in [
            (
                shown(&senv::Error::Diverged { step: 3, lr: 9.0 }),
                "a lower learning rate (--lr), or limit gradients (--clip)",
            ),
            (
                shown(&senv_negative_sampling::Error::NothingToLearn { sentences: 2, tokens: 1 }),
                "give more text, or lower the minimum count (--min-count)",
            ),
            (
                shown(&senv::Error::InitialVectorsDim { expected: 3, got: 2 }),
                "the dimension of the initial vectors (--init-vectors; use the same --dim) is 2, expected 3",
            ),
            (
                shown(&senv::check::CheckWarning::FewWords { words: 3, least: 1000, start_may_help: true }),
                "a model trained on more text (--from MODEL, or --init-model MODEL of a system)",
            ),
            (
                shown_of_model(&senv::check::CheckWarning::NotFinite { sentences: 3 }),
                "a lower learning rate (senv train SYSTEM --lr), or fix the word vectors that the model was made from",
            ),
        ] {
            assert!(text.ends_with(end), "{text}");
        }
    }

    #[test]
    fn options_stand_in_errors_of_all_libraries() {
        let core = || senv_core::Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
        let errors: [Box<dyn std::error::Error>; 9] = [
            core().into(),
            senv::Error::from(core()).into(),
            senv::Error::from(senv_negative_sampling::Error::from(core())).into(),
            senv_data::Error::from(core()).into(),
            senv_eval::Error::from(core()).into(),
            senv_index::Error::from(core()).into(),
            senv_ngram::Error::from(core()).into(),
            senv_reproduce::Error::from(core()).into(),
            senv_store::Error::from(core()).into(),
        ];
        for error in errors {
            let text = shown(&error);
            assert!(text.ends_with("; lower the minimum count (--min-count) or give more text"), "{text}");
        }
    }
}
