//! `senv define`: the words that fit a definition.

use std::io::Write;

use clap::builder::RangedU64ValueParser;
use senv::model::DefinedWord;
use serde::Serialize;

use crate::{
    commands::{ModelArg, named},
    failure::{Failure, Result},
    output,
};

/// Find the words that fit a definition: a reverse dictionary.
///
/// Needs a model trained by `senv train dict-rep`. Prints DEFINITION, COSINE and WORD, separated by tabs, best match
/// first.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv define --model dict.senv \"a person who repairs shoes\"
  senv define --model dict.senv --k 3 --json \"fear of open spaces\" \"a large body of water\""
)]
pub(crate) struct Define {
    /// Definitions to look up.
    #[arg(required = true, value_name = "DEFINITION")]
    definitions: Vec<String>,
    /// Number of words for each definition, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    k: usize,
    /// Print JSON, one object per definition.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

/// A definition and its words.
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
                    "no word of {definition} is known to the model; use other words",
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
