//! The check of a model on its training text, and on what of it was held out.

use std::path::PathBuf;

use senv::{Check, CheckParams, CheckText, LossAgainstChance, PairData, check};
use senv_core::{Corpus, SentenceEncoder, TextOptions, Tokenizer, Vocabulary};

/// Whether a model is checked once it is trained.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct CheckArgs {
    /// Do not check the model on a sample of the training text, which shows whether its vectors are of use. Where a system
    /// is not named, that also trains on the 1 % of a longer text which is held out for the check otherwise.
    #[arg(long, help_heading = "Training")]
    no_check: bool,
}

impl CheckArgs {
    /// The sample of a corpus, which is gone once training is over.
    pub(crate) fn of_corpus(
        self,
        corpus: &Corpus,
        words: &Vocabulary,
        params: &CheckParams,
    ) -> senv::Result<Option<CheckText>> {
        if self.no_check {
            return Ok(None);
        }
        CheckText::of_corpus(corpus, words, params).map(Some)
    }

    /// The sample of the running text among sources of pairs.
    pub(crate) fn of_pairs(self, data: &PairData) -> Option<CheckText> {
        if self.no_check { None } else { CheckText::of_pairs(data, &CheckParams::default()) }
    }

    /// A sample of files; `None` where they cannot be read, which is said elsewhere.
    pub(crate) fn of_files(self, files: &[PathBuf], options: &TextOptions) -> Option<CheckText> {
        if self.no_check { None } else { CheckText::read(files, options, &CheckParams::default()).ok() }
    }

    /// The same, with a part of a longer text held out of training.
    pub(crate) fn hold_out(self, data: &mut PairData) -> senv::Result<Option<CheckText>> {
        if self.no_check { Ok(None) } else { CheckText::hold_out(data, &CheckParams::default()) }
    }
}

/// How much a model is checked on: less where each sentence takes long.
pub(crate) fn check_params(is_slow: bool) -> CheckParams {
    let params = CheckParams::default();
    if is_slow { CheckParams { n_sentences: params.n_sentences / 4, ..params } } else { params }
}

/// Checks a model, once.
pub(crate) type Checker<M> = Box<dyn FnOnce(&M) -> senv::Result<Check>>;

/// The check of a model on a sample of its training text; of vectors of another text that it started from nothing is
/// known but that there were some.
pub(crate) fn checker<M: SentenceEncoder>(
    text: CheckText,
    tokenizer: &Tokenizer,
    loss: Option<LossAgainstChance>,
    starts_from_vectors: bool,
) -> Checker<M> {
    let tokenizer = tokenizer.clone();
    let params = CheckParams { tokenizer, loss, starts_from_vectors, on_training_text: true, ..CheckParams::default() };
    Box::new(move |model| check(model, &text, &params))
}
