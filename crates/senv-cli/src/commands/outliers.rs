//! `senv outliers`: the sentences least similar to all others.

use std::io::{self, Write};

use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, read_for, with_files},
        table_rows::{Figure, RecordArgs},
    },
    destination,
    failure::{Failure, Result},
    folders::Collections,
    output::{self, plural},
    progress::Settled,
    text::{INPUT_HELP, InputArgs, TextArgs, note_typing},
};

/// Find the sentences least similar to all others.
///
/// Prints the similarity of a sentence to others, its line (for tables, its record), and the sentence, separated by
/// tabs, least similar first. The similarity is the mean cosine with the nearest other sentences. A sentence without a
/// vector has similarity 0. In most models that is one without a known word; the English model makes vectors of unknown
/// words from their letters. Equal sentences count as one, and the first is printed.
///
/// Up to 5,000 distinct sentences, all pairs are compared. In longer texts the similarity is approximate: 99 % of the
/// nearest are found. Memory holds the text and a vector per distinct sentence, 1.4 KB each with the English model.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct Outliers {
    #[command(flatten)]
    input: InputArgs,
    /// Largest number of sentences.
    #[arg(long, short, value_name = "N", default_value_t = 20)]
    n: usize,
    /// Leave out sentences with a higher similarity, -1 to 1.
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true, value_parser = cosine)]
    max_score: Option<f32>,
    /// Number of nearest sentences that the similarity is computed from.
    #[arg(long, short, value_name = "K", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    k: usize,
    /// Print the text without the outliers instead.
    #[arg(long)]
    drop: bool,
    /// Print JSON, one object per line.
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
  senv outliers text.txt
  senv outliers text.txt -n 100 --max-score 0.4
  senv outliers tickets.csv --column body --show id --show author
  senv outliers text.txt -n 100 --drop > cleaned.txt";

#[derive(Debug, Serialize)]
struct Outlier<'a> {
    likeness: f32,
    #[serde(flatten)]
    place: LocatedSentence<'a>,
}

impl Outliers {
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
        let progress = Settled::new("comparing");
        let likeness =
            senv::jobs::outliers(&model, &sentences, self.k, |done, n| progress.set(done as f64 / n.max(1) as f64))?;
        progress.finish();

        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|&a, &b| likeness[a].total_cmp(&likeness[b]));
        let mut known = std::collections::HashSet::new();
        order.retain(|&i| self.max_score.is_none_or(|max| likeness[i] <= max) && known.insert(sentences[i]));
        order.truncate(self.n);
        let (mut out, with_file) = (output::stdout(), with_files(input, &lines));
        if self.drop {
            let dropped: std::collections::HashSet<&str> = order.iter().map(|&i| sentences[i]).collect();
            order = (0..lines.len()).filter(|&i| !dropped.contains(sentences[i])).collect();
        }
        let joined = self.record.read_of(input, &options, &lines, order.iter().copied())?;
        if joined.has_records() {
            let names: &[&str] = if self.drop { &[] } else { &["likeness"] };
            let figures = |i: usize| names.iter().map(|_| Figure::Number(format!("{:.4}", likeness[i]))).collect();
            let records = order.iter().map(|&i| (lines.place(i).0, lines.record(i), figures(i)));
            joined.write_records(&mut out, names, records).map_err(Failure::stdout)?;
        } else {
            for &i in &order {
                let place = located(&lines, i, with_file).with_columns(&joined, &lines, i);
                self.write(&mut out, &Outlier { likeness: likeness[i], place }).map_err(Failure::stdout)?;
            }
        }
        out.flush().map_err(Failure::stdout)?;
        if self.drop && order.is_empty() {
            output::warn(&format!(
                "nothing is left: -n {} drops every sentence; give a lower -n, or --max-score",
                output::grouped(self.n as u64)
            ));
        }
        let mean = likeness.iter().map(|&x| f64::from(x)).sum::<f64>() / likeness.len() as f64;
        let shown = if self.drop { "left" } else { "shown" };
        let (n, n_shown) = (plural(lines.len() as u64, "sentence"), output::grouped(order.len() as u64));
        output::note(&format!("{n}, mean similarity {mean:.2}; {n_shown} {shown}"));
        Ok(())
    }

    fn write(&self, out: &mut impl Write, outlier: &Outlier<'_>) -> io::Result<()> {
        let place = &outlier.place;
        if self.json {
            return output::write_json_line(out, outlier);
        }
        if self.drop {
            write!(out, "{}", place.text)?;
        } else {
            write!(out, "{:.4}\t{}\t{}", outlier.likeness, place.shown(), output::cell(place.text))?;
        }
        place.columns.write(out)?;
        writeln!(out)
    }
}
