//! Models of other programs as models of senv: the released Skip-thoughts, and `.bin` files of fastText and of
//! Sent2Vec's program.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv::{ReleasedBin, SkipThought};
use senv_core::{Error as CoreError, Tokenizer};

use crate::{
    commands::train::HyperArgs,
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
};

/// How a model of another program reads text.
#[derive(Debug, clap::Args)]
pub(super) struct ReleaseArgs {
    #[command(flatten)]
    tokenizer: HyperArgs<Tokenizer>,
    /// Read the end token after the last word, as the release does for SICK but for no other task.
    #[arg(long, help_heading = "Skip-thoughts")]
    end_token: bool,
}

impl ReleaseArgs {
    /// Refuses what word vectors have no use for.
    pub(super) fn refuse(&self) -> Result {
        let given = [
            ("--tokenizer", self.tokenizer.is_given("tokenizer")),
            ("--lowercase", self.tokenizer.is_given("lowercase")),
            ("--strip-hashtags", self.tokenizer.is_given("strip_hashtags")),
            ("--end-token", self.end_token),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::Usage(format!(
                "{name} goes with a folder of released Skip-thoughts{} that becomes a model of senv",
                if name == "--end-token" { "" } else { " or a .bin file of fastText or Sent2Vec's program" }
            ))),
            None => Ok(()),
        }
    }

    /// Reads a `.bin` file of fastText or of Sent2Vec's program and writes the model, which may be written there.
    pub(super) fn convert_bin(&self, path: &Path, to: &Path) -> Result {
        if self.end_token {
            return Err(Failure::Usage("--end-token goes with a folder of released Skip-thoughts".into()));
        }
        let released = ReleasedBin::open(path)?;
        let mut tokenizer = released.tokenizer();
        self.tokenizer.apply(&mut tokenizer)?;
        let case = if tokenizer.is_lowercase() { "lower-cased" } else { "not lower-cased" };
        let reading = format!("text is tokenized by the rule {:?} and {case}", tokenizer.name());
        released.save(tokenizer, to)?;
        match released.n_invalid_words() as u64 {
            0 => {}
            n if released.kind() == "sent2vec" => {
                output::warn(&format!("{} not UTF-8, which no text has", plural(n, "word")))
            }
            n => output::warn(&format!("{} left out: not UTF-8", plural(n, "word"))),
        }
        let (words, dim) = (plural(released.vocabulary().len() as u64, "word"), released.dim());
        output::note(&format!("{} model of {dim} dimensions, {words}, written to {}", released.kind(), to.display()));
        output::note(&format!(
            "{reading}; prepare it as the text that the model was trained on, or convert with --tokenizer and --lowercase"
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
        // All of its files: which of them are read shows when they are.
        let entries = fs::read_dir(folder).map_err(|error| CoreError::io("read", folder, error))?;
        let inputs: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let force = Some(force.force);
        Destination { path: to, option: "OUT", content: Content::Model, force }.check(&inputs)?;
        let mut tokenizer = Tokenizer::words();
        self.tokenizer.apply(&mut tokenizer)?;
        let model = SkipThought::open_release(folder, tokenizer)?.with_end_token(self.end_token);
        model.save(to)?;
        let words = plural(model.vocabulary().len() as u64, "word");
        let dim = model.dim();
        output::note(&format!("Skip-thoughts of {dim} dimensions, {words}, written to {}", to.display()));
        Ok(())
    }
}
