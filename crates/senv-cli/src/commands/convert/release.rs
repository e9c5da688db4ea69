//! Converts models of other programs: the released Skip-thoughts, and `.bin` files of fastText and of the Sent2Vec
//! program.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv::{ReleasedBin, SkipThought};
use senv_core::{Error as CoreError, Tokenizer};
use senv_store::{Embeddings, tokenizer_of_words};

use crate::{
    commands::train::HyperArgs,
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
};

/// How a converted model reads text.
#[derive(Debug, clap::Args)]
pub(super) struct ReleaseArgs {
    #[command(flatten)]
    tokenizer: HyperArgs<Tokenizer>,
    /// Read the end token after the last word, as the release does, but only for SICK.
    #[arg(long, help_heading = "Skip-thoughts")]
    end_token: bool,
}

impl ReleaseArgs {
    /// Refuses an option that word vectors have no use for.
    pub(super) fn refuse_end_token(&self) -> Result {
        if self.end_token {
            return Err(Failure::Usage("--end-token needs a folder of released Skip-thoughts".into()));
        }
        Ok(())
    }

    /// The word vectors with the requested tokenizer, if any, which a senv model stores; other settings are unchanged.
    pub(super) fn with_tokenizer(&self, embeddings: Embeddings, keeps_it: bool) -> Result<Embeddings> {
        let Some(option) = self.tokenizer.first_given(&["tokenizer", "lowercase", "strip_hashtags", "normalize"])
        else {
            return Ok(embeddings);
        };
        if !keeps_it {
            return Err(Failure::Usage(format!("{option} can only be stored in a senv model; give a .senv name")));
        }
        let tokenizer = embeddings.tokenizer().cloned();
        let mut tokenizer = tokenizer.unwrap_or_else(|| tokenizer_of_words(embeddings.vocabulary()));
        self.tokenizer.apply(&mut tokenizer)?;
        Ok(embeddings.with_tokenizer(Some(tokenizer)))
    }

    /// Reads a `.bin` file of fastText or of the Sent2Vec program and writes the model; the output has been checked.
    pub(super) fn convert_bin(&self, path: &Path, to: &Path) -> Result {
        self.refuse_end_token()?;
        let released = ReleasedBin::open(path)?;
        let mut tokenizer = released.tokenizer();
        self.tokenizer.apply(&mut tokenizer)?;
        let case = if tokenizer.is_lowercase() { "lower-cased" } else { "not lower-cased" };
        let reading = format!("text is tokenized by {:?} and {case}", tokenizer.name());
        let _last = senv_core::files::LastStep::begin();
        released.save(tokenizer, to)?;
        match released.n_invalid_words() as u64 {
            0 => {}
            n if released.kind() == "sent2vec" => {
                output::warn(&format!("{} not UTF-8, so no text contains them", plural(n, "word")))
            }
            n => output::warn(&format!("{} left out: not UTF-8", plural(n, "word"))),
        }
        let (words, dim) = (plural(released.vocabulary().len() as u64, "word"), released.dim());
        output::note(&format!("{} model of {dim} dimensions, {words}, written to {}", released.kind(), to.display()));
        output::note(&format!(
            "{reading}; if the training text was prepared differently, convert with --tokenizer and --lowercase"
        ));
        Ok(())
    }

    /// Reads the folder and writes the model.
    pub(super) fn convert(&self, folder: &Path, to: &Path, force: ForceArg) -> Result {
        if !SkipThought::is_release(folder) {
            let reason = "the folder has no dictionary.txt; give one with the released Skip-thoughts: dictionary.txt, \
                          utable.npy with uni_skip.npz, btable.npy with bi_skip.npz";
            return Err(CoreError::BadFile { path: folder.to_owned(), reason: reason.into() }.into());
        }
        // All of its files, since it is not known yet which ones are read.
        let entries = fs::read_dir(folder).map_err(|error| CoreError::io("read", folder, error))?;
        let inputs: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let force = Some(force.force);
        Destination { path: to, option: "OUT", content: Content::Model, force }.check(&inputs)?;
        let mut tokenizer = Tokenizer::words();
        self.tokenizer.apply(&mut tokenizer)?;
        let model = SkipThought::open_release(folder, tokenizer)?.with_end_token(self.end_token);
        let _last = senv_core::files::LastStep::begin();
        model.save(to)?;
        let words = plural(model.vocabulary().len() as u64, "word");
        let dim = model.dim();
        output::note(&format!("Skip-thoughts of {dim} dimensions, {words}, written to {}", to.display()));
        Ok(())
    }
}
