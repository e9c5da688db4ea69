//! `senv dedupe`: removes sentences that say what an earlier one says.

mod report;
mod within;

use std::{
    collections::HashSet,
    io::{self, Write},
    path::PathBuf,
    time::Instant,
};

use clap::ValueEnum;
use senv::jobs::{DuplicateParams, Guard};
use senv_core::{TextOptions, text::copy_records};

use self::within::Within;
use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, with_files},
        table_rows::{RecordArgs, other_titles},
    },
    destination,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    output::{self, plural, short},
    progress::Settled,
    repeated,
    text::{AgainstText, INPUT_HELP, InputArgs, TextArgs, is_dash, note_typing},
};

/// The default thresholds. They were measured in `docs/experiments/near-duplicates.md`.
const THRESHOLD: f32 = 0.87;
const UNGUARDED_THRESHOLD: f32 = 0.9;

/// Remove near-duplicate sentences from a text.
///
/// Sentences are processed in order. A sentence is dropped if its cosine with a kept sentence reaches the threshold, or
/// if the text is the same, with or without emoji at its end. A sentence close only to dropped ones is kept. Nothing is
/// missed: the result is that of comparing all pairs, for any number of threads. Near sentences with different numbers,
/// codes, names or rare words are both kept, unless --no-guard is given. Memory holds the text and a vector per
/// distinct sentence: 2.6 KB each with the English model, 1.3 KB with --order 0.
///
/// A sentence without a vector is dropped only if its text repeats. In most models that is one without a known word;
/// the English model makes vectors of unknown words from their letters. Blank lines are dropped. Averages of words
/// ignore word order, which the English model reads: check --report before you trust a threshold. A folder made by
/// `senv index` is read as its text.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    mut_arg("records", |records| {
        records.conflicts_with_all(["report", "json"]).help("Print whole records of the table, unchanged, after its titles")
    })
)]
pub(crate) struct Dedupe {
    #[command(flatten)]
    input: InputArgs,
    /// Cosine at which a sentence repeats another, -1 to 1 [default: 0.87; with --no-guard or --to 0.9]
    ///
    /// With 1 and --order 0, almost only repeats and sentences with the same words in a different order are dropped.
    #[arg(long, short, value_name = "COSINE", allow_negative_numbers = true, value_parser = cosine)]
    threshold: Option<f32>,
    /// Compare only vectors, not numbers, codes, names and rare words.
    ///
    /// Without this option, near sentences are dropped only if each has the numbers, codes, names and rare words of the
    /// other, in some form: "two" and "2", "log-in" and "login", "UN" and "United Nations".
    #[arg(long)]
    no_guard: bool,
    /// Lower the threshold until at most N sentences, or a share, are left.
    ///
    /// A share is 0.5 or 50%. This compares all pairs six to ten times, by their vectors alone (--no-guard).
    #[arg(long, value_name = "N|SHARE", value_parser = wanted)]
    to: Option<Wanted>,
    /// Compare only sentences with the same value in this column of the table.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Also drop sentences that repeat one in these files or collections.
    ///
    /// Their sentences are not printed.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Which of several similar sentences to keep.
    ///
    /// The output has the order of the input.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    keep: Keep,
    /// Print the dropped sentences instead.
    ///
    /// `pairs` prints the cosine, the line (for tables, the record), that of the kept sentence, and both sentences,
    /// separated by tabs. `groups` prints each kept sentence with the sentences dropped for it, largest group first.
    /// Both end with the near sentences that are kept, with the words that keep them apart: `kept: postgres / mysql`.
    #[arg(long, value_name = "AS", num_args = 0..=1, require_equals = true, default_missing_value = "pairs")]
    report: Option<Report>,
    #[command(flatten)]
    record: RecordArgs,
    /// Print JSON, one object per line.
    ///
    /// It has the sentence and its line; with --report also the kept sentence and the cosine, or the group. A report
    /// ends with an object of counts.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    against_text: AgainstText,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv dedupe text.txt > kept.txt
  senv dedupe text.txt --threshold 0.85 --report | less
  senv dedupe text.txt --report=groups | less
  senv dedupe text.txt --no-guard > kept.txt
  senv dedupe new.txt --against text.txt my.index > new-only.txt
  senv dedupe posts.csv --column body --by author --records > kept.csv
  senv dedupe posts.csv --column body --report --show id --show author | less
  senv dedupe text.txt --to 50% > half.txt
  senv dedupe --model my.senv --keep longest text.txt > kept.txt";

/// Which of several similar sentences is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// The first one.
    First,
    /// The one with the most characters; the first of equally long ones.
    Longest,
}

/// How dropped sentences are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// One line each.
    Pairs,
    /// Grouped by the sentence that is kept instead of them.
    Groups,
}

/// How many sentences to keep.
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
    let bad = || "expected a number from 1, or a share between 0 and 1 such as 0.5 or 50%".to_owned();
    if let Ok(number) = text.parse::<usize>() {
        return if number > 0 { Ok(Wanted::Number(number)) } else { Err(bad()) };
    }
    let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
    let share = digits.parse::<f64>().map_err(|_| bad())? / scale;
    if share > 0.0 && share <= 1.0 { Ok(Wanted::Share(share)) } else { Err(bad()) }
}

impl Dedupe {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Kept)?;
        open_folders(&mut self.against, self.text.content(), Collections::Kept)?;
        let input = self.input.paths_or_stdin();
        self.check(input)?;
        repeated::note(input.iter().chain(&self.against));
        let model = self.model.open_for_many()?;
        note_typing(input, "sentences");
        let started = Instant::now();
        let read = Within::read(input, &self.against, self.by.as_deref(), (&self.text, &self.against_text.other()))?;
        read.check_words(&self.model, &model, input)?;
        let Within { fixed, lines, groups } = &read;
        let n_fixed = fixed.len();
        let sentences = [fixed.texts(), lines.texts()].concat();
        let is_guarded = !self.no_guard && self.to.is_none();
        let guard = is_guarded.then(|| Guard::of_model(&model, &sentences));
        let params = DuplicateParams {
            guard: guard.as_ref(),
            threshold: self.threshold.unwrap_or(if is_guarded { THRESHOLD } else { UNGUARDED_THRESHOLD }),
            n_fixed,
            groups: groups.as_deref(),
            keeps_longest: self.keep == Keep::Longest,
        };
        let progress = Settled::new("comparing");
        let set = |done, n| progress.set_of_pairs(done, n);
        let found = match self.to {
            Some(to) => senv::jobs::duplicates_to(&model, &sentences, &params, to.of(lines.len()), set)?,
            None => senv::jobs::duplicates(&model, &sentences, &params, set)?,
        };
        progress.finish();
        let of_line = &found.repeated[n_fixed..];
        let apart = &found.kept_apart[n_fixed..];
        let n_apart = apart.iter().flatten().count() as u64;
        let with_file = !self.against.is_empty() || with_files(input, lines);
        let options = self.text.options();
        // --records copies the records in their order.
        let show = RecordArgs { records: false, ..self.record.clone() };
        let joined = show.read_of(input, &options, lines, 0..lines.len())?;
        let of_lines = |i: usize| located(lines, i, with_file).with_columns(&joined, lines, i);
        let place_of = |of: usize| match of.checked_sub(n_fixed) {
            None => located(fixed, of, with_file),
            Some(of) => of_lines(of),
        };
        let mut out = output::stdout();
        let is_kept = |i: &usize| of_line[*i].is_none();
        let (n, n_kept) = (lines.len() as u64, (0..lines.len()).filter(is_kept).count() as u64);
        let mut report = report::Report { out: &mut out, of_lines, place_of, json: self.json };
        match self.report {
            Some(Report::Pairs) => report.pairs(of_line).and_then(|()| report.end(apart, guard.as_ref(), n_kept)),
            Some(Report::Groups) => report.groups(of_line).and_then(|()| report.end(apart, guard.as_ref(), n_kept)),
            None if self.record.records => {
                let place = |i: usize| (lines.place(i).0, lines.record(i));
                let kept: HashSet<_> = (0..lines.len()).filter(is_kept).map(place).collect();
                let is_kept = |path: &std::path::Path, record| kept.contains(&(path, Some(record)));
                let write = |record: &str| out.write_all(record.as_bytes()).map_err(Failure::stdout);
                copy_records(input, &options, is_kept, other_titles, write)?;
                Ok(())
            }
            None => (0..lines.len()).filter(is_kept).try_for_each(|i| self.write_kept(&mut out, &of_lines(i))),
        }
        .map_err(Failure::stdout)?;
        out.flush().map_err(Failure::stdout)?;
        let rate = short(n as f64 / started.elapsed().as_secs_f64().max(1e-9));
        let at = if self.to.is_some() { format!(" at threshold {}", found.threshold) } else { String::new() };
        let apart = match n_apart {
            0 => String::new(),
            n => format!(", {} of them near others that name different things", output::grouped(n)),
        };
        output::note(&format!(
            "{}: {} kept{apart}, {} dropped{at}, {rate}/s",
            plural(n, "sentence"),
            output::grouped(n_kept),
            output::grouped(n - n_kept)
        ));
        if let Some(to) = self.to.map(|to| to.of(lines.len()) as u64).filter(|&to| to < n_kept) {
            let to = output::grouped(to);
            output::note(&format!(
                "more than {to} remain at any threshold, because some have no known \
                 word or are alone in their --by group"
            ));
        }
        Ok(())
    }

    fn check(&self, input: &[PathBuf]) -> Result {
        let usage = |message: &str| Err(Failure::Usage(message.into()));
        if input.iter().chain(&self.against).filter(|path| is_dash(path)).count() > 1 {
            return usage("standard input can be read only once; give the other text as a file");
        }
        let options = self.text.options();
        let TextOptions { table, split, .. } = &options;
        if (self.by.is_some() || self.record.records) && split.is_some() {
            return usage("--by and --records need whole records, but --split splits them into sentences");
        }
        if self.by.is_some() && table.is_none() {
            return usage("--by needs a table; name the text with --column or --field");
        }
        self.record.check_beside(input, &options, self.by.as_deref())?;
        if self.by.is_some() && self.against.iter().any(|path| path.is_dir()) {
            return usage("--by needs the column in all text, but a collection is compared without its columns");
        }
        destination::check_stdout(&input.iter().chain(&self.against).collect::<Vec<_>>())
    }

    fn write_kept(&self, out: &mut impl Write, place: &LocatedSentence<'_>) -> io::Result<()> {
        if self.json {
            return output::write_json_line(out, place);
        }
        write!(out, "{}", place.text)?;
        place.columns.write(out)?;
        writeln!(out)
    }
}
