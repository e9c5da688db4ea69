//! `senv sample`: a few representative sentences of a text.

use std::io::{self, Write};

use clap::ArgGroup;

use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, located, read_for, share, with_files},
        table_rows::RecordArgs,
    },
    destination,
    failure::{Failure, Result},
    folders::Collections,
    output::{self, grouped, plural},
    progress::Settled,
    text::{INPUT_HELP, InputArgs, TextArgs, note_typing},
};

/// Choose a few sentences that show what is in a text.
///
/// Each sentence is chosen to be unlike the earlier ones and similar to the whole text; --typical weighs the two. At 0
/// the sample covers the edges of the text and starts with odd sentences, at 1 it is typical of the text. Sentences are
/// printed in the order of choice, so the first few are a sample too.
///
/// Equal sentences count as one, and sentences without a known word are not chosen. Memory holds the text and a
/// vector per distinct sentence, 1.1 KB each with the English model.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    group = ArgGroup::new("wanted").args(["diverse", "random"]).required(true)
)]
pub(crate) struct Sample {
    #[command(flatten)]
    input: InputArgs,
    /// Choose N sentences that differ from each other.
    #[arg(long, value_name = "N")]
    diverse: Option<usize>,
    /// Choose N distinct sentences at random, in the order of the text.
    #[arg(long, value_name = "N")]
    random: Option<usize>,
    /// Weight of similarity to the whole text, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.4, value_parser = share, conflicts_with = "random")]
    typical: f32,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON, one object per line: the sentence and its line.
    #[arg(long, conflicts_with = "records")]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv sample --diverse 50 text.txt
  senv sample --random 1000 --seed 2 text.txt > some.txt
  senv sample --diverse 50 --typical 0 text.txt
  senv sample --random 200 tickets.csv --column body --records > some.csv";

impl Sample {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Kept)?;
        let input = self.input.paths_or_stdin();
        destination::check_stdout(&input.iter().collect::<Vec<_>>())?;
        let options = self.text.options();
        self.record.check(input, &options)?;
        let model = self.model.open_for_topics()?;
        note_typing(input, "sentences");
        let lines = read_for(&self.model, &model, input, &self.text)?;
        let sentences = lines.texts();
        let chosen = match (self.diverse, self.random) {
            (Some(n), _) => {
                let progress = Settled::new("choosing");
                let set = |done, n: usize| progress.set(done as f64 / n.max(1) as f64);
                let chosen = senv::jobs::diverse_sample(&model, &sentences, n, self.typical, set)?;
                progress.finish();
                chosen
            }
            (None, n) => senv::jobs::random_sample(&sentences, n.unwrap_or(0), self.seed),
        };
        let mut out = output::stdout();
        let joined = self.record.read_of(input, &options, &lines, chosen.iter().copied())?;
        if joined.has_records() {
            let records = chosen.iter().map(|&i| (lines.place(i).0, lines.record(i), Vec::new()));
            joined.write_records(&mut out, &[], records).map_err(Failure::stdout)?;
        } else {
            for &i in &chosen {
                let place = located(&lines, i, with_files(input, &lines)).with_columns(&joined, &lines, i);
                self.write(&mut out, &place).map_err(Failure::stdout)?;
            }
        }
        out.flush().map_err(Failure::stdout)?;
        let wanted = self.diverse.or(self.random).unwrap_or(0);
        let fewer = if chosen.len() < wanted { ", all distinct sentences" } else { "" };
        output::note(&format!(
            "{}: {} chosen{fewer}",
            plural(lines.len() as u64, "sentence"),
            grouped(chosen.len() as u64)
        ));
        Ok(())
    }

    fn write(&self, out: &mut impl Write, place: &LocatedSentence<'_>) -> io::Result<()> {
        if self.json {
            return output::write_json_line(out, place);
        }
        write!(out, "{}", place.text)?;
        place.columns.write(out)?;
        writeln!(out)
    }
}
