//! `senv dedupe`: a text without the sentences that say what an earlier one says.

mod report;
mod within;

use std::{
    collections::HashSet,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::ValueEnum;
use senv::jobs::DuplicateParams;
use senv_core::{TextOptions, text::copy_records};

use self::within::Within;
use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, with_files},
    },
    destination,
    failure::{Failure, Result},
    output::{self, plural, short},
    progress::Settled,
    text::{INPUT_HELP, InputArgs, TextArgs, is_arrow, is_dash, note_typing},
};

/// Write a text without its near-duplicates: sentences that say what an earlier one says.
///
/// Sentences are taken in order. One is dropped if the cosine of its vector with that of a sentence that was kept is at
/// least the threshold, or if it is the same text; one that is near to a dropped sentence alone is kept. Nothing is
/// missed: the answer is that of comparing all pairs, at any number of threads. Memory holds the text and a vector for
/// each distinct sentence, 2.6 KB each with the English model, 1.3 KB with --order 0.
///
/// A sentence without a known word has no vector, and repeats only the same text. Blank lines are dropped. Averages of
/// words do not see their order, as the English model does: look at --report before you trust a threshold. A folder
/// that `senv index` has made is read as the text that is in it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct Dedupe {
    #[command(flatten)]
    input: InputArgs,
    /// The cosine from which on a sentence repeats another, from -1 to 1; 1 drops little but the same words in another
    /// order.
    #[arg(long, short, value_name = "COSINE", default_value_t = 0.9, allow_negative_numbers = true, value_parser = cosine)]
    threshold: f32,
    /// Lower the threshold until at most so many sentences are left: a number, or a share as .5 or 50%. Compares all
    /// pairs six to ten times.
    #[arg(long, value_name = "N|SHARE", value_parser = wanted)]
    to: Option<Wanted>,
    /// Compare only sentences that have the same value in this column of the table.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Drop what repeats a sentence of these files or collections, too, which are not written.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Which of several near sentences is kept. Kept sentences are written in the order of the input.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    keep: Keep,
    /// Write what is dropped instead. `pairs`: cosine, line, line of the kept sentence, and both sentences, separated
    /// by tabs. `groups`: each sentence that is kept for others, the largest group first, and below it what is dropped.
    #[arg(long, value_name = "AS", num_args = 0..=1, require_equals = true, default_missing_value = "pairs")]
    report: Option<Report>,
    /// Write whole records of a table, as they stand in the file, after its titles.
    #[arg(long, conflicts_with_all = ["report", "json"])]
    records: bool,
    /// Write JSON, an object a line: the sentence and its line; with --report also the kept one and the cosine, or the
    /// group.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv dedupe text.txt > kept.txt
  senv dedupe text.txt --threshold .85 --report | less
  senv dedupe text.txt --report=groups | less
  senv dedupe new.txt --against text.txt my.index > new-only.txt
  senv dedupe posts.csv --column body --by author --records > kept.csv
  senv dedupe text.txt --to 50% > half.txt
  senv dedupe --model my.senv --keep longest text.txt > kept.txt";

/// Which of several near sentences is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// The one that comes first.
    First,
    /// The one of most characters; of equally long ones the first.
    Longest,
}

/// What is said of dropped sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// A line for each.
    Pairs,
    /// By the sentence that is kept for them.
    Groups,
}

/// How much is to be left.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Number(usize),
    Share(f64),
}

impl Wanted {
    fn of(self, n: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Share(share) => (share * n as f64).round() as usize,
        }
    }
}

fn wanted(text: &str) -> std::result::Result<Wanted, String> {
    let bad = || "a number from 1, or a share between 0 and 1 such as .5 or 50%".to_owned();
    if let Ok(number) = text.parse::<usize>() {
        return if number > 0 { Ok(Wanted::Number(number)) } else { Err(bad()) };
    }
    let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    let share = digits.parse::<f64>().map_err(|_| bad())? / scale;
    if share > 0.0 && share <= 1.0 { Ok(Wanted::Share(share)) } else { Err(bad()) }
}

impl Dedupe {
    pub(crate) fn run(self) -> Result {
        let input = self.input.paths_or_stdin();
        self.check(input)?;
        let model = self.model.open_for_many()?;
        note_typing(input, "sentences");
        let started = Instant::now();
        let read = Within::read(input, &self.against, self.by.as_deref(), &self.text)?;
        read.check_words(&self.model, &model, input)?;
        let Within { fixed, lines, groups } = &read;
        let n_fixed = fixed.len();
        let sentences = [fixed.texts(), lines.texts()].concat();
        let params = DuplicateParams {
            threshold: self.threshold,
            n_fixed,
            groups: groups.as_deref(),
            keeps_longest: self.keep == Keep::Longest,
        };
        let progress = Settled::new("comparing");
        let set = |done, n| progress.set_of_pairs(done, n);
        let (threshold, found) = match self.to {
            Some(to) => {
                let (threshold, found) =
                    senv::jobs::duplicates_to(&model, &sentences, &params, to.of(lines.len()), set)?;
                (Some(threshold), found)
            }
            None => (None, senv::jobs::duplicates(&model, &sentences, &params, set)?),
        };
        progress.finish();
        let of_line = &found[n_fixed..];
        let with_file = !self.against.is_empty() || with_files(input, lines);
        let place_of = |of: usize| match of.checked_sub(n_fixed) {
            None => located(fixed, of, with_file),
            Some(of) => located(lines, of, with_file),
        };
        let mut out = output::stdout();
        let is_kept = |i: &usize| of_line[*i].is_none();
        let n_kept = (0..lines.len()).filter(is_kept).count() as u64;
        match self.report {
            Some(Report::Pairs) => report::pairs(&mut out, lines, of_line, place_of, with_file, self.json),
            Some(Report::Groups) => report::groups(&mut out, lines, of_line, place_of, with_file, self.json),
            None if self.records => {
                let kept: HashSet<_> = (0..lines.len()).filter(is_kept).map(|i| lines.place(i)).collect();
                let other_titles = |path: &Path| {
                    let (path, first) = (path.display(), input[0].display());
                    let message =
                        format!("{path} has other titles than {first}: write the records of each file by itself");
                    Failure::Usage(message)
                };
                let is_kept = |path: &Path, number| kept.contains(&(path, number));
                let write = |record: &str| out.write_all(record.as_bytes()).map_err(Failure::stdout);
                copy_records(input, &self.text.options(), is_kept, other_titles, write)?;
                Ok(())
            }
            None => (0..lines.len())
                .filter(is_kept)
                .try_for_each(|i| self.write_kept(&mut out, &located(lines, i, with_file))),
        }
        .map_err(Failure::stdout)?;
        out.flush().map_err(Failure::stdout)?;
        let n = lines.len() as u64;
        let rate = short(n as f64 / started.elapsed().as_secs_f64().max(1e-9));
        let at = threshold.map_or_else(String::new, |threshold| format!(" at a threshold of {threshold}"));
        output::note(&format!(
            "{}: {} kept, {} dropped{at}; {rate} a second",
            plural(n, "sentence"),
            output::grouped(n_kept),
            output::grouped(n - n_kept)
        ));
        if let Some(to) = self.to.map(|to| to.of(lines.len()) as u64).filter(|&to| to < n_kept) {
            let to = output::grouped(to);
            output::note(&format!(
                "more than {to} are left at any threshold: the others have no known word, or a group to themselves"
            ));
        }
        Ok(())
    }

    fn check(&self, input: &[PathBuf]) -> Result {
        let usage = |message: &str| Err(Failure::Usage(message.into()));
        if input.iter().chain(&self.against).filter(|path| is_dash(path)).count() > 1 {
            return usage("standard input can be read once: give the other text as a file");
        }
        let TextOptions { table, split, .. } = self.text.options();
        let has_table = table.is_some();
        if (self.by.is_some() || self.records) && split.is_some() {
            return usage("--by and --records are of whole records, which --split cuts into sentences");
        }
        if self.records
            && let Some(path) = input.iter().find(|path| is_arrow(path))
        {
            let message = format!(
                "--records: {} is no text whose lines could be copied; --report gives the numbers of the rows that are left out",
                path.display()
            );
            return Err(Failure::Usage(message));
        }
        if (self.by.is_some() || self.records) && !has_table {
            let option = if self.records { "--records" } else { "--by" };
            return Err(Failure::Usage(format!("{option} is for tables: --column or --field says where the text is")));
        }
        if self.records && input.iter().any(|path| !path.is_file()) {
            return usage("--records reads a table twice: give it as a file");
        }
        if self.by.is_some() && self.against.iter().any(|path| path.is_dir()) {
            return usage("--by needs the column in all text, and a collection is compared without its columns");
        }
        destination::check_stdout(&input.iter().chain(&self.against).collect::<Vec<_>>())
    }

    fn write_kept(&self, out: &mut impl Write, place: &LocatedSentence<'_>) -> io::Result<()> {
        if !self.json {
            return writeln!(out, "{}", place.text);
        }
        output::write_json_line(out, place)
    }
}
