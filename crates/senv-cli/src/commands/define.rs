//! `senv define`: the words that a definition may be of.

use std::io::Write;

use clap::builder::RangedU64ValueParser;
use senv::model::DefinedWord;
use serde::Serialize;

use crate::{
    commands::{ModelArg, named},
    failure::{Failure, Result},
    output,
};

/// Print the words whose vectors are nearest to that of a definition: a reverse dictionary.
///
/// The model is one of `senv train dict-rep`. Written are lines of DEFINITION, COSINE and WORD, with tabs between, the
/// nearest first.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv define --model dict.senv \"a person who repairs shoes\"
  senv define --model dict.senv --k 3 --json \"fear of open spaces\" \"a large body of water\""
)]
pub(crate) struct Define {
    /// Definitions.
    #[arg(required = true, value_name = "DEFINITION")]
    definitions: Vec<String>,
    /// Words to print for each, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    k: usize,
    /// Write JSON: an object a definition, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

/// A definition, and its words.
#[derive(Debug, Serialize)]
struct Defined<'a> {
    definition: &'a str,
    words: Vec<DefinedWord>,
}

impl Define {
    pub(crate) fn run(self) -> Result {
        let model = self.model.open()?;
        let mut out = output::stdout();
        for definition in &self.definitions {
            let words = model.define(definition, self.k)?;
            if words.is_empty() {
                output::warn(&format!(
                    "{definition}: the model knows no word of it; say it in other words",
                    definition = senv_core::quoted(definition)
                ));
            }
            if self.json {
                output::write_json_line(&mut out, &Defined { definition, words }).map_err(Failure::stdout)?;
                continue;
            }
            let clean = definition.replace(['\t', '\n', '\r'], " ");
            for DefinedWord { word, cosine, .. } in words {
                writeln!(out, "{clean}\t{cosine:.4}\t{}", output::cell(&word)).map_err(Failure::stdout)?;
            }
        }
        out.flush().map_err(Failure::stdout)
    }
}
