//! `senv split`: splits a text into one sentence per line.

use std::io::Write;

use senv_core::{TextOptions, TextReader, text::Split};
use serde::Serialize;

use crate::{
    destination,
    failure::{Failure, Result},
    folders::Collections,
    output::{self, plural},
    text::{InputArgs, TextArgs, note_typing},
};

/// Split a text into sentences, one per line.
///
/// A paragraph ends at an empty line, which is kept. With --by lines, each line is a paragraph; each record of a table
/// always is one. Sentences end at full stops, exclamation and question marks, ellipses and the marks of other scripts,
/// but not after English abbreviations and initials (Dr., e.g., J. Smith), numbers of items (1.) or before a lower-case
/// letter. Quotes, brackets, footnote marks ([4]) and emoji after a mark belong to the sentence before it. Headings,
/// items, rows of tables and lines of code as in Markdown are sentences of their own.
///
/// Commands that read text split it the same way with --split.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    mut_arg("split", |split| {
        split.long("by").require_equals(false).num_args(1).default_value("paragraphs").help("What to split")
    })
)]
pub(crate) struct SplitCommand {
    #[command(flatten)]
    input: InputArgs,
    /// Print JSON, one object per line: the sentence and the line where it starts.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
}

const INPUT_HELP: &str = "Text; plain, .gz or .zst; - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv split book.txt > sentences.txt
  senv split posts.csv --column body --json
  senv split --by lines paragraphs.txt > sentences.txt";

#[derive(Serialize)]
struct Sentence<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u64,
    /// The number of its record, if it is from a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    text: &'a str,
}

impl SplitCommand {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Refused)?;
        let input = self.input.paths_or_stdin();
        destination::check_stdout(input)?;
        self.text.check_tables_to_cut(input)?;
        note_typing(input, "text");
        let options = self.text.options();
        let options = TextOptions { split: options.split.or(Some(Split::Paragraphs)), ..options };
        let mut reader = TextReader::open(input, &options)?;
        let (mut out, mut n, mut is_blank) = (output::stdout(), 0, true);
        while let Some(line) = reader.next_line()? {
            // At most one empty line, and none at the start.
            let was_blank = std::mem::replace(&mut is_blank, line.is_blank());
            n += u64::from(!is_blank);
            if self.json {
                if !is_blank {
                    let file = (input.len() > 1).then(|| line.path.display().to_string());
                    let sentence = Sentence { file, line: line.number, record: line.record, text: line.text };
                    output::write_json_line(&mut out, &sentence).map_err(Failure::stdout)?;
                }
            } else if !(is_blank && was_blank) {
                writeln!(out, "{}", line.text).map_err(Failure::stdout)?;
            }
        }
        out.flush().map_err(Failure::stdout)?;
        if n == 0 {
            return Err(senv_core::Error::EmptyInput { path: input[0].clone() }.into());
        }
        output::note(&plural(n, "sentence"));
        Ok(())
    }
}
