//! `senv dedupe`: a text without the sentences that say what an earlier one says.

use std::{
    cmp::Reverse,
    io::{self, Write},
    path::PathBuf,
    time::Instant,
};

use clap::ValueEnum;
use senv::index::Duplicate;
use serde::Serialize;

use crate::{
    commands::{
        ModelArg,
        sentences::{Place, cosine, place, read_for},
    },
    destination,
    failure::{Failure, Result},
    output::{self, plural, short},
    progress::Settled,
    text::{InputArgs, Lines, TextArgs, is_dash, note_typing, read_sentences},
};

/// Write a text without its near-duplicates: sentences that say what an earlier one says.
///
/// Sentences are taken in order. One is dropped if the cosine of its vector with that of a sentence that was kept is at least
/// the threshold, or if it is the same text; one that is near to a dropped sentence alone is kept. Nothing is missed: the answer is that
/// of comparing all pairs, at any number of threads. Memory holds the text and a vector for each distinct sentence, 1.3 KB each
/// with the English model.
///
/// A sentence without a known word has no vector, and repeats only the same text. Blank lines are dropped. Models that average
/// words do not see their order: look at --report before you trust a threshold.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("input", |input| input.help(INPUT_HELP)))]
pub(crate) struct Dedupe {
    #[command(flatten)]
    model: ModelArg,
    #[command(flatten)]
    input: InputArgs,
    /// The cosine from which on a sentence repeats another, from -1 to 1; 1 drops little but the same words in another order.
    #[arg(long, short, value_name = "COSINE", default_value_t = 0.9, allow_negative_numbers = true, value_parser = cosine)]
    threshold: f32,
    /// Drop what repeats a sentence of these files, too, which are not written.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Which of several near sentences is kept. Kept sentences are written in the order of the input.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    keep: Keep,
    /// Write what is dropped instead: cosine, line, line of the kept sentence, and both sentences, separated by tabs.
    #[arg(long)]
    report: bool,
    /// Write JSON, an object a line: the sentence and its line; with --report also the kept one, and the cosine.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
}

const INPUT_HELP: &str = "Text, one sentence a line; plain, .gz or .zst; - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv dedupe text.txt > kept.txt
  senv dedupe text.txt --threshold .85 --report | less
  senv dedupe new.txt --against text.txt > new-only.txt
  senv dedupe --model my.senv --keep longest text.txt > kept.txt";

/// Which of several near sentences is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// The one that comes first.
    First,
    /// The one of most characters; of equally long ones the first.
    Longest,
}

#[derive(Debug, Serialize)]
struct Dropped<'a> {
    #[serde(flatten)]
    dropped: Place<'a>,
    cosine: f32,
    kept: Place<'a>,
}

impl Dedupe {
    pub(crate) fn run(self) -> Result {
        let stdin = [PathBuf::from("-")];
        let input = if self.input.paths().is_empty() { &stdin } else { self.input.paths() };
        if input.iter().chain(&self.against).filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::Usage("standard input can be read once: give the other text as a file".into()));
        }
        destination::check_stdout(&input.iter().chain(&self.against).collect::<Vec<_>>())?;
        let model = self.model.open_for_many()?;
        note_typing(input, "sentences");
        let started = Instant::now();
        let mut fixed = Lines::default();
        if !self.against.is_empty() {
            fixed = read_sentences(&self.against, &self.text.options())?;
        }
        let lines = read_for(&self.model, &model, input, &self.text)?;
        let mut order: Vec<usize> = (0..lines.len()).collect();
        if self.keep == Keep::Longest {
            order.sort_by_cached_key(|&i| Reverse(lines.get(i).chars().count()));
        }
        let n_fixed = fixed.len();
        let sentences: Vec<&str> =
            fixed.iter().map(|(_, line)| line).chain(order.iter().map(|&i| lines.get(i))).collect();
        let progress = Settled::new("comparing");
        let found =
            senv::duplicates(&model, &sentences, n_fixed, self.threshold, |done, n| progress.set_of_pairs(done, n))?;
        progress.finish();
        let mut of_line: Vec<Option<Duplicate>> = vec![None; lines.len()];
        for (&i, duplicate) in order.iter().zip(&found[n_fixed..]) {
            of_line[i] = *duplicate;
        }

        let with_file = input.len() + self.against.len() > 1;
        let kept = |of: usize| match of.checked_sub(n_fixed) {
            None => place(&fixed, of, with_file),
            Some(of) => place(&lines, order[of], with_file),
        };
        let mut out = output::stdout();
        let mut n_dropped = 0;
        for (i, duplicate) in of_line.iter().enumerate() {
            n_dropped += u64::from(duplicate.is_some());
            match duplicate {
                None if !self.report => self.write_kept(&mut out, &place(&lines, i, with_file)),
                Some(Duplicate { of, cosine }) if self.report => {
                    let dropped = Dropped { dropped: place(&lines, i, with_file), cosine: *cosine, kept: kept(*of) };
                    self.write_dropped(&mut out, &dropped)
                }
                _ => Ok(()),
            }
            .map_err(Failure::stdout)?;
        }
        out.flush().map_err(Failure::stdout)?;
        let n = lines.len() as u64;
        let rate = short(n as f64 / started.elapsed().as_secs_f64().max(1e-9));
        output::note(&format!(
            "{}: {} kept, {} dropped; {rate} a second",
            plural(n, "sentence"),
            output::grouped(n - n_dropped),
            output::grouped(n_dropped)
        ));
        Ok(())
    }

    fn write_kept(&self, out: &mut impl Write, place: &Place<'_>) -> io::Result<()> {
        if !self.json {
            return writeln!(out, "{}", place.text);
        }
        serde_json::to_writer(&mut *out, place)?;
        writeln!(out)
    }

    fn write_dropped(&self, out: &mut impl Write, pair: &Dropped<'_>) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *out, pair)?;
            return writeln!(out);
        }
        let Dropped { dropped, cosine, kept } = pair;
        writeln!(out, "{cosine:.4}\t{}\t{}\t{}\t{}", dropped.shown(), kept.shown(), dropped.text, kept.text)
    }
}
