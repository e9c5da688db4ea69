//! `senv mine`: the most similar pairs of a text.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::builder::RangedU64ValueParser;
use senv::jobs::{Guard, MineParams};
use senv_core::text::Lines;
use serde::Serialize;

use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, read_for, read_other, with_files},
        table_rows::{Figure, RecordArgs},
    },
    destination,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    output::{self, plural},
    progress::Settled,
    text::{INPUT_HELP, InputArgs, TextArgs, WithText, is_dash, note_typing},
};

/// Find the most similar pairs of sentences in one text or two.
///
/// Prints the score and both sentences, separated by tabs, best pair first; for tables also the two records, then the
/// columns of --show. With --records, the two records of a pair follow each other. Equal sentences count as one. The
/// score is the cosine. With --margin it is the cosine divided by the mean cosine of both sentences with their nearest
/// neighbors, which lowers sentences that are similar to everything.
///
/// By cosine nothing is missed: all pairs are compared, for any number of threads. By margin, 99 % of the neighbors are
/// found. Memory holds the text and a vector per distinct sentence, 2.6 KB each with the English model.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct Mine {
    #[command(flatten)]
    input: InputArgs,
    /// Pair the sentences of the input with those of these files.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    with: Vec<PathBuf>,
    /// Largest number of pairs.
    #[arg(long, short, value_name = "N", default_value_t = MineParams::default().n)]
    n: usize,
    /// Leave out pairs with a lower cosine, -1 to 1. Lower values take longer.
    #[arg(long, value_name = "COSINE", default_value_t = MineParams::default().min_cosine, allow_negative_numbers = true,
          value_parser = cosine)]
    min_score: f32,
    /// Leave out pairs with a higher cosine, which say nothing new.
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true, value_parser = cosine)]
    max_score: Option<f32>,
    /// Rank by margin, with K neighbors of each sentence [default: 4]
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_missing_value = "4",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    margin: Option<usize>,
    /// Use each sentence only in its best pair.
    #[arg(long)]
    once: bool,
    /// Leave out pairs with different numbers, codes, names or rare words.
    #[arg(long)]
    guard: bool,
    /// Print only the two sentences, as senv train --pairs reads them.
    #[arg(long, conflicts_with_all = ["json", "show", "records"])]
    no_score: bool,
    /// Print JSON, one object per line, with the lines of both sentences.
    #[arg(long, conflicts_with = "records")]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    with_text: WithText,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv mine text.txt
  senv mine questions.txt --with answers.txt --margin --once
  senv mine tickets.csv --column body --show id --show author
  senv mine text.txt -n 20000 --min-score 0.6 --max-score 0.95 --once --no-score > pairs.tsv";

#[derive(Debug, Serialize)]
struct Mined<'a> {
    score: f32,
    cosine: f32,
    first: LocatedSentence<'a>,
    second: LocatedSentence<'a>,
}

impl Mine {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Kept)?;
        open_folders(&mut self.with, self.text.content(), Collections::Kept)?;
        let input = self.input.paths_or_stdin();
        let paths: Vec<&PathBuf> = input.iter().chain(&self.with).collect();
        if paths.iter().filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::Usage("standard input can be read only once; give the other text as a file".into()));
        }
        if self.max_score.is_some_and(|max| max < self.min_score) {
            return Err(Failure::Usage("--max-score is lower than --min-score, so no pair fits".into()));
        }
        destination::check_stdout(&paths)?;
        let options = self.text.options();
        self.record.check(input, &options)?;
        if self.record.records && !self.with.is_empty() {
            let message = "--records is for pairs of one text; --show prints columns of the input";
            return Err(Failure::Usage(message.into()));
        }
        let model = self.model.open_for_many()?;
        note_typing(input, "sentences");
        let lines = read_for(&self.model, &model, input, &self.text)?;
        let others = match self.with.is_empty() {
            true => None,
            false => Some(read_other(&self.model, &model, &self.with, &self.text, &self.with_text.other())?),
        };
        let (texts, other_texts) = (lines.texts(), others.as_ref().map(Lines::texts));
        let guard = self.guard.then(|| {
            let all = texts.iter().chain(other_texts.iter().flatten()).copied();
            Guard::of_model(&model, &all.collect::<Vec<_>>())
        });
        let params = MineParams {
            guard: guard.as_ref(),
            n: self.n,
            min_cosine: self.min_score,
            max_cosine: self.max_score.unwrap_or(f32::INFINITY),
            margin: self.margin,
            once: self.once,
        };
        let progress = Settled::new("comparing");
        // All pairs of a text: each sentence is compared with fewer than the one before.
        let falls = others.is_none() && self.margin.is_none();
        let set = |done, n| {
            if falls { progress.set_of_pairs(done, n) } else { progress.set(done as f64 / n.max(1) as f64) }
        };
        let found = senv::jobs::mine(&model, &texts, other_texts.as_deref(), &params, set)?;
        progress.finish();

        let mut out = output::stdout();
        let of_lines = |second: usize| others.is_none().then_some(second);
        let shown = found.iter().flat_map(|pair| [Some(pair.first), of_lines(pair.second)]).flatten();
        let joined = self.record.read_of(input, &options, &lines, shown)?;
        if joined.has_records() {
            let records = (1..).zip(&found).flat_map(|(n, pair)| {
                let figures = move || [format!("{n}"), format!("{:.4}", pair.score)].map(Figure::Number).to_vec();
                [pair.first, pair.second].map(|i| (lines.place(i).0, lines.record(i), figures()))
            });
            joined.write_records(&mut out, &["pair", "score"], records).map_err(Failure::stdout)?;
        } else {
            for pair in &found {
                let first = located(&lines, pair.first, with_files(input, &lines));
                let of_second = others.as_ref().unwrap_or(&lines);
                let with_file = paths.len() > 1 && others.is_none() || self.with.len() > 1;
                let second = located(of_second, pair.second, with_file);
                let first = first.with_columns(&joined, &lines, pair.first);
                let second = match of_lines(pair.second) {
                    Some(i) => second.with_columns(&joined, &lines, i),
                    None => second,
                };
                let mined = Mined { score: pair.score, cosine: pair.cosine, first, second };
                self.write(&mut out, &mined).map_err(Failure::stdout)?;
            }
        }
        out.flush().map_err(Failure::stdout)?;
        let (n, pairs) = (plural(lines.len() as u64, "sentence"), plural(found.len() as u64, "pair"));
        let (pairs, more) = match found.len() {
            n if n != self.n => (pairs, ""),
            1 => ("the best pair".to_owned(), " (-n for more)"),
            n => (format!("the {} best pairs", output::grouped(n as u64)), " (-n for more)"),
        };
        output::note(&format!("{n}: {pairs} with cosine {} or above{more}", self.min_score));
        Ok(())
    }

    fn write(&self, out: &mut impl Write, pair: &Mined<'_>) -> io::Result<()> {
        if self.json {
            return output::write_json_line(out, pair);
        }
        let Mined { score, first, second, .. } = pair;
        if self.no_score {
            return writeln!(out, "{}\t{}", first.column(), second.column());
        }
        write!(out, "{score:.4}\t{}\t{}", first.column(), second.column())?;
        if first.record.is_some() || second.record.is_some() {
            write!(out, "\t{}\t{}", first.shown(), second.shown())?;
        }
        first.columns.write(out)?;
        second.columns.write(out)?;
        writeln!(out)
    }
}
