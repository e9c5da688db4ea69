//! `senv similarity`: how similar two sentences are.

use std::{
    io::Write,
    ops::AddAssign,
    path::{Path, PathBuf},
};

use senv::{Model, jobs::CoverageCounts};
use senv_core::{
    Scratch, SentenceEncoder, TextOptions, TextReader, kernels,
    text::{LineBatch, TableKind, for_line_batches},
};
use senv_store::{Digits, push_row};
use serde::Serialize;

use crate::{
    commands::{ModelArg, known_words::WordSample, unread::warn_of_unread},
    destination,
    failure::{Failure, Result},
    output::{self, plural},
    text::{LineArgs, TableArgs, is_dash, note_tables, note_typing, refuse_tables},
};

/// Decimals of a cosine: the precision of an f32.
const DIGITS: Digits = Digits::Fixed(6);

/// Print how similar two sentences are.
///
/// Prints the cosine of the two sentence vectors, -1 to 1. Without sentences, reads pairs from a file or standard
/// input, two sentences per line separated by a tab, and appends the cosine as a last column. A model fine-tuned on
/// scored pairs (senv train relatedness) also prints its score, after the cosine and a tab.
///
/// A sentence without a known word has cosine 0 with every sentence, unless the model has vectors for unknown words.
/// senv warns about such sentences.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Similarity {
    /// First sentence, or the only argument: a file of pairs.
    #[arg(conflicts_with = "input")]
    first: Option<String>,
    /// Second sentence.
    second: Option<String>,
    /// Pairs, one per line, separated by a tab; - is standard input.
    ///
    /// Further columns are kept. Of a table, such as CSV or JSON lines, name two columns.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// Column of a table; given twice, for both sentences.
    #[arg(long, value_name = "NAME", groups = ["tabled", "quoted"], help_heading = "Text")]
    column: Vec<String>,
    /// Read CSV and JSON as lines with a tab, too.
    #[arg(id = "as_lines", long = "lines", conflicts_with = "column", help_heading = "Text")]
    as_lines: bool,
    #[command(flatten)]
    table: TableArgs,
    /// Print JSON, one object per pair.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: LineArgs,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv similarity \"a cat sat on the mat\" \"a dog lay on the rug\"
  senv similarity --model model.senv pairs.tsv > scored.tsv
  senv similarity pairs.csv --column question --column duplicate";

#[derive(Debug, Serialize)]
struct Pair<'a> {
    first: &'a str,
    second: &'a str,
    cosine: f32,
    /// The score of a model fine-tuned on scored pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    relatedness: Option<f64>,
    /// Known tokens of each sentence.
    known_tokens: [usize; 2],
    /// The share of known words of each, without punctuation and digits; `null` without words.
    known_word_share: [Option<f64>; 2],
    #[serde(skip)]
    tally: Tally,
}

/// Counts of pairs with a zero vector, and of known words.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    unknown: u64,
    sentences: CoverageCounts,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.unknown += other.unknown;
        self.sentences += other.sentences;
    }
}

impl Pair<'_> {
    /// Writes the cosine, the score if there is one, and the line end.
    fn write(&self, out: &mut Vec<u8>) {
        push_row(&[self.cosine], b' ', DIGITS, out);
        if let Some(score) = self.relatedness {
            out.pop();
            out.push(b'\t');
            push_row(&[score as f32], b' ', DIGITS, out);
        }
    }
}

/// Buffers that a thread reuses.
struct State<'a> {
    model: &'a Model,
    /// The file of the model, for errors.
    path: &'a Path,
    /// Whether known words are counted; only JSON shows them.
    counts_words: bool,
    scratch: Scratch,
    vectors: Vec<f32>,
}

impl<'m> State<'m> {
    fn new(model: &'m Model, path: &'m Path, counts_words: bool) -> Self {
        Self { model, path, counts_words, scratch: Scratch::default(), vectors: vec![0.0; 2 * model.dim()] }
    }

    fn pair<'a>(&mut self, first: &'a str, second: &'a str) -> Result<Pair<'a>> {
        let Self { model, path, counts_words, .. } = *self;
        let (u, v) = self.vectors.split_at_mut(model.dim());
        let coverage =
            [model.encode_into(first, &mut self.scratch, u), model.encode_into(second, &mut self.scratch, v)];
        model.check_finite(path, first, u)?;
        model.check_finite(path, second, v)?;
        let relatedness = model.relatedness(first, second)?;
        let known_tokens = coverage.map(|coverage| coverage.known);
        let share = |text| if counts_words { model.known_words([text]).share() } else { None };
        let known_word_share = [share(first), share(second)];
        let unknown = u64::from(coverage.iter().any(|coverage| coverage.is_empty()));
        let mut tally = Tally { unknown, ..Tally::default() };
        [first, second].iter().zip(&coverage).for_each(|(text, coverage)| tally.sentences.add(text, coverage));
        Ok(Pair { first, second, cosine: kernels::cosine(u, v), relatedness, known_tokens, known_word_share, tally })
    }
}

impl Similarity {
    pub(crate) fn run(mut self, threads: usize) -> Result {
        if let (Some(only), None) = (&self.first, &self.second) {
            if !is_dash(only.as_ref()) && !Path::new(only).exists() {
                let message = format!(
                    "only one sentence is given, and there is no file of pairs {only}; give a second sentence",
                    only = senv_core::quoted(only)
                );
                return Err(Failure::Usage(message));
            }
            self.input = only.into();
        }
        let model = self.model.open()?;
        let state = || State::new(&model, &self.model.model, self.json);
        let mut sample = WordSample::new(&self.model.model, &model);
        let mut tally = Tally::default();
        if let (Some(first), Some(second)) = (&self.first, &self.second) {
            let pair = state().pair(first, second)?;
            tally = pair.tally;
            sample.add([first.as_str(), second]);
            if self.json {
                output::print_json(&pair)?;
            } else {
                let mut text = Vec::new();
                pair.write(&mut text);
                output::print(&String::from_utf8_lossy(&text))?;
            }
        } else {
            destination::check_stdout(&[&self.input])?;
            let options = self.options()?;
            note_typing(&[&self.input], "pairs, FIRST<TAB>SECOND,");
            model.prepare_for_many();
            let reader = TextReader::open(&[&self.input], &options)?;
            let mut out = output::stdout();
            let work = |state: &mut State<'_>, batch: &mut LineBatch<Tally>| self.score(state, batch);
            for_line_batches(reader, threads, state, work, |batch| {
                tally += batch.tally;
                if !sample.is_complete() {
                    sample.add(batch.lines.iter().flat_map(|(_, line)| line.split('\t').take(2)));
                }
                out.write_all(&batch.out).map_err(Failure::stdout)
            })?;
            out.flush().map_err(Failure::stdout)?;
        }
        if tally.unknown > 0 {
            let pairs = plural(tally.unknown, "pair");
            output::warn(&format!("{pairs} with a sentence without known words: cosine 0"));
        }
        sample.finish();
        warn_of_unread(&tally.sentences);
        Ok(())
    }

    /// How the pairs are read.
    fn options(&self) -> Result<TextOptions> {
        let lines = self.text.options();
        let [first, second] = &self.column[..] else {
            if !self.column.is_empty() {
                return Err(Failure::Usage(
                    "name the columns of both sentences: --column FIRST --column SECOND".into(),
                ));
            }
            // Lines with a tab are the usual form.
            let is_tsv = TableKind::of_file(&self.input) == Some(TableKind::Tsv);
            if !self.as_lines && !is_tsv {
                let of_titles = TextOptions { table: Some(self.table.of_column("1")), ..lines };
                refuse_tables(&[&self.input], &of_titles, ["--column, given twice", "--lines"])?;
            }
            return Ok(self.text.options());
        };
        let mut table = self.table.of_column(first);
        table.columns.push(second.as_str().into());
        note_tables(&[&self.input], &table);
        Ok(TextOptions { table: Some(table), ..lines })
    }

    fn score(&self, state: &mut State<'_>, batch: &mut LineBatch<Tally>) -> Result {
        let LineBatch { lines, out, tally } = batch;
        for (number, line) in lines.iter() {
            let mut columns = line.split('\t');
            let (Some(first), Some(second)) = (columns.next(), columns.next()) else {
                let reason = "found no tab, expected FIRST<TAB>SECOND; separate the sentences with one tab";
                let reason = reason.to_owned();
                return Err(senv_core::Error::BadTable { path: self.input.clone(), line: number, reason }.into());
            };
            let pair = state.pair(first, second)?;
            *tally += pair.tally;
            if self.json {
                output::write_json_line(out, &pair)?;
            } else {
                out.extend_from_slice(line.as_bytes());
                out.push(b'\t');
                pair.write(out);
            }
        }
        Ok(())
    }
}
