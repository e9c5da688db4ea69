//! `senv compare`: what one text says and another does not.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::ValueEnum;
use senv::jobs::{CompareParams, Counterpart, Guard};
use senv_core::text::Lines;
use serde::Serialize;

use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, read_for, read_other},
    },
    destination,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    output::{self, grouped, plural},
    progress::Settled,
    text::{SecondText, TextArgs, is_dash, note_typing},
};

/// Show which sentences are in both texts, and which in only one.
///
/// A sentence is in the other text if its cosine with a sentence there reaches the threshold, or if the text is the
/// same. Nothing is missed: the result is that of comparing all pairs, for any number of threads.
///
/// Prints one line per sentence, with columns separated by tabs: a mark, the cosine, the line in each text, and the
/// sentence of each text; - replaces a missing counterpart. For a table, the number of the record replaces the line.
/// The mark is = for sentences of the first text that are in both, < for those only in the first, then > for those only
/// in the second.
///
/// Memory holds both texts and a vector per distinct sentence, 2.6 KB each with the English model.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compare {
    /// Text, one sentence per line; plain, .gz or .zst; - is standard input.
    #[arg(value_name = "FIRST")]
    first: PathBuf,
    /// Text to compare it with.
    #[arg(value_name = "SECOND")]
    second: PathBuf,
    /// Cosine at which two sentences count as the same, -1 to 1.
    #[arg(long, short, value_name = "COSINE", default_value_t = 0.9, allow_negative_numbers = true, value_parser = cosine)]
    threshold: f32,
    /// Take sentences with different numbers, codes, names or rare words for different.
    #[arg(long)]
    guard: bool,
    /// Print only these sentences.
    #[arg(long, value_name = "WHICH")]
    only: Option<Only>,
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    second_text: SecondText,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv compare old.txt new.txt
  senv compare old.txt new.txt --only second
  senv compare tickets.csv known.txt --column body --second-lines
  senv compare --threshold 0.8 --only both --json questions.txt answered.txt";

/// Sentences to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Only {
    /// Those of the first text that are not in the second.
    First,
    /// Those of the second text that are not in the first.
    Second,
    /// Those of the first text that are in both, with the most similar of the second.
    Both,
}

#[derive(Debug, Serialize)]
struct Compared<'a> {
    r#in: Only,
    #[serde(skip_serializing_if = "Option::is_none")]
    cosine: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<LocatedSentence<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<LocatedSentence<'a>>,
}

impl Compare {
    pub(crate) fn run(self) -> Result {
        let paths = [&self.first, &self.second];
        if paths.iter().all(|path| is_dash(path)) {
            return Err(Failure::Usage("standard input can be read only once; give the other text as a file".into()));
        }
        destination::check_stdout(&paths)?;
        let model = self.model.open_for_many()?;
        note_typing(&paths, "sentences");
        let files = |path: &PathBuf| {
            let mut files = vec![path.clone()];
            open_folders(&mut files, self.text.content(), Collections::Kept).map(|()| files)
        };
        let first = read_for(&self.model, &model, &files(&self.first)?, &self.text)?;
        let second = read_other(&self.model, &model, &files(&self.second)?, &self.text, &self.second_text.other())?;
        let progress = Settled::new("comparing");
        let (texts, other_texts) = (first.texts(), second.texts());
        let all = || [&texts[..], &other_texts[..]].concat();
        let guard = self.guard.then(|| Guard::of_model(&model, &all()));
        let params = CompareParams { guard: guard.as_ref(), ..CompareParams::new(self.threshold) };
        let found = senv::jobs::compare(&model, &texts, &other_texts, &params, |done, n| {
            progress.set(done as f64 / n.max(1) as f64);
        })?;
        progress.finish();

        let mut out = output::stdout();
        let mut rows = self.rows(&first, &second, &found.first, &found.second);
        rows.try_for_each(|row| self.write(&mut out, &row)).map_err(Failure::stdout)?;
        out.flush().map_err(Failure::stdout)?;
        let counts = |found: &[Option<Counterpart>], other: &str| {
            let n_found = found.iter().flatten().count();
            let (n, both) = (plural(found.len() as u64, "sentence"), grouped(n_found as u64));
            format!("{n}, {both} also in the {other}, {} not", grouped((found.len() - n_found) as u64))
        };
        let (of_first, of_second) = (counts(&found.first, "second"), counts(&found.second, "first"));
        output::note(&format!("first: {of_first}; second: {of_second}"));
        Ok(())
    }

    fn rows<'a>(
        &self,
        first: &'a Lines,
        second: &'a Lines,
        of_first: &'a [Option<Counterpart>],
        of_second: &'a [Option<Counterpart>],
    ) -> impl Iterator<Item = Compared<'a>> {
        let only = self.only;
        let of_first = of_first.iter().enumerate().map(|(i, found)| Compared {
            r#in: if found.is_some() { Only::Both } else { Only::First },
            cosine: found.map(|found| found.cosine),
            first: Some(located(first, i, first.has_files())),
            second: found.map(|found| located(second, found.position, second.has_files())),
        });
        let alone = of_second.iter().enumerate().filter(|(_, found)| found.is_none());
        let of_second = alone.map(|(i, _)| Compared {
            r#in: Only::Second,
            cosine: None,
            first: None,
            second: Some(located(second, i, second.has_files())),
        });
        of_first.chain(of_second).filter(move |row| only.is_none_or(|only| only == row.r#in))
    }

    fn write(&self, out: &mut impl Write, row: &Compared<'_>) -> io::Result<()> {
        if self.json {
            return output::write_json_line(out, row);
        }
        let mark = match row.r#in {
            Only::First => '<',
            Only::Second => '>',
            Only::Both => '=',
        };
        let cosine = row.cosine.map_or_else(|| "-".into(), |cosine| format!("{cosine:.4}"));
        let line =
            |place: &Option<LocatedSentence<'_>>| place.as_ref().map_or_else(|| "-".into(), LocatedSentence::shown);
        let column = |place: &Option<LocatedSentence<'_>>| {
            place.as_ref().map_or_else(|| "-".into(), |place| place.column().into_owned())
        };
        let Compared { first, second, .. } = row;
        writeln!(out, "{mark}\t{cosine}\t{}\t{}\t{}\t{}", line(first), line(second), column(first), column(second))
    }
}
