//! The options and commands behind the remedies of the libraries, which know nothing of a command line.
//!
//! The words of a remedy stand in the library alone, which puts the option behind them as it writes a message.

use std::fmt::Display;

use senv::Remedy;

use crate::command_line;

/// The option of the command that runs that does it, or another command with its option; none where the command has no
/// such option and no other has, and for remedies of later releases of the library.
fn option(remedy: Remedy) -> Option<&'static str> {
    let text = match remedy {
        Remedy::ModelOfLargerText if runs_a_system() => "--init-model MODEL",
        Remedy::ModelOfLargerText => "--from MODEL, of a system --init-model MODEL",
        Remedy::SplitLines if matches!(command_line::path(), [split] if split == "split") => "--by lines",
        remedy => any_option(remedy)?,
    };
    let name = text.strip_prefix("--").and_then(|text| text.split([' ', ';', ',', '=']).next());
    if name.is_none_or(command_line::has_option) { Some(text) } else { option_elsewhere(remedy) }
}

/// The command that has the option, where that which runs does not: it made what is used here, or makes it anew.
fn option_elsewhere(remedy: Remedy) -> Option<&'static str> {
    match remedy {
        Remedy::AcceptExpansion => return Some("decompress it before"),
        Remedy::SifWeights => return Some("senv train weighted --scheme sif"),
        _ => {}
    }
    if runs_a_system() {
        // No other system helps this one.
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

/// Whether a system is trained, whose options are its own.
fn runs_a_system() -> bool {
    matches!(command_line::path(), [train, _] if train == "train")
}

/// The option that does it in any command, or the command.
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
        Remedy::InitialVectorsOfDim => "--init-vectors; ask for the same --dim",
        Remedy::ReplaceInvalidUtf8 => "--invalid-utf8 replace",
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

/// A message with the option of each remedy in brackets behind it.
pub(crate) fn shown(message: &dyn Display) -> String {
    Remedy::show(message, option)
}

/// The same for a warning about a model, whoever trained it and however: an option that only systems have stands with
/// the command that has it.
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
                "the dimension of the initial vectors (--init-vectors; ask for the same --dim) is 2, expected 3",
            ),
            (
                shown(&senv::check::CheckWarning::FewWords { words: 3, least: 1000, start_may_help: true }),
                "a model trained on more text (--from MODEL, of a system --init-model MODEL)",
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
