//! `senv eval sentences`: the sentences that another program encodes for the benchmark.

use std::{io::Write, path::PathBuf};

use senv_core::files::AtomicFile;
use senv_eval::{BenchData, choose_protocols};

use super::shared::open_data;
use crate::{
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
};

/// Write the sentences of the protocols, for another program to encode.
///
/// Writes each sentence once, one per line. To evaluate another program with `senv eval all`, give this file as
/// --sentences and the vectors of the program, one row per line, as --vectors. Data sets are found as there. The
/// documents of retrieval sets are written whole and by sentence.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sentences --data DIR --output sentences.txt
  senv eval sentences --data DIR --only sts,sick --output sentences.txt")]
pub(super) struct Sentences {
    /// Folder of the data sets.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Use only these protocols, separated by commas; `senv eval protocols` lists them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out these protocols.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skip: Vec<String>,
    /// Text file to write.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

impl Sentences {
    pub(super) fn run(self) -> Result {
        let chosen = choose_protocols(&self.only, &self.skip).map_err(|error| Failure::Usage(error.to_string()))?;
        let data = BenchData::read(&open_data(&self.data)?, &chosen)?;
        let files: Vec<&PathBuf> = data.tasks.iter().flat_map(|task| &task.files).collect();
        Destination::output(&self.output, Content::Sentences, self.force).check(&files)?;
        for note in &data.notes {
            output::note(&note.to_text());
        }
        for missing in &data.missing {
            output::note(&format!("left out: {}: {}", missing.protocol, missing.reason));
        }
        let sentences = data.sentences();
        let is_broken = |sentence: &&&str| sentence.contains('\n') || sentence.ends_with('\r');
        if let Some(sentence) = sentences.iter().find(is_broken) {
            let start: String = sentence.chars().take(60).collect();
            let message = format!(
                "the sentence {start} contains a line end but must be one line; leave out its protocol with --skip",
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
