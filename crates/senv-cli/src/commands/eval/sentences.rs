//! `senv eval sentences`: what another program has to encode for the bench.

use std::{io::Write, path::PathBuf};

use senv_core::files::AtomicFile;
use senv_eval::{BenchData, DataFolder, choose_protocols};

use crate::{
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
};

/// Write the sentences of the protocols to a file, one a line, each once.
///
/// They are what another program has to encode for `senv eval all`: its vectors, a row for each line, are given there
/// as --vectors, and this file as --sentences. Data sets are found as there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sentences --data DIR --output sentences.txt
  senv eval sentences --data DIR --only sts,sick --output sentences.txt")]
pub(super) struct Sentences {
    /// The folder of the data sets.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Take the sentences of these protocols alone, separated by commas; `senv eval protocols` lists them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these protocols out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skip: Vec<String>,
    /// The text to write.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

impl Sentences {
    pub(super) fn run(self) -> Result {
        let chosen = choose_protocols(&self.only, &self.skip).map_err(|error| Failure::Usage(error.to_string()))?;
        let data = BenchData::read(&DataFolder::open(&self.data)?, &chosen)?;
        let files: Vec<&PathBuf> = data.tasks.iter().flat_map(|task| &task.files).collect();
        Destination::output(&self.output, Content::Sentences, self.force).check(&files)?;
        for missing in &data.missing {
            output::note(&format!("left out: {}: {}", missing.protocol, missing.reason));
        }
        let sentences = data.sentences();
        let is_broken = |sentence: &&&str| sentence.contains('\n') || sentence.ends_with('\r');
        if let Some(sentence) = sentences.iter().find(is_broken) {
            let start: String = sentence.chars().take(60).collect();
            let message = format!(
                "the sentence {start} holds a line end and needs one line; --skip its protocol",
                start = senv_core::quoted(start)
            );
            return Err(std::io::Error::other(message).into());
        }
        let text: String = sentences.iter().flat_map(|sentence| [*sentence, "\n"]).collect();
        AtomicFile::write_with(&self.output, |file| file.write_all(text.as_bytes()))?;
        let n = plural(sentences.len() as u64, "sentence");
        output::note(&format!("{} written ({n})", self.output.display()));
        Ok(())
    }
}
