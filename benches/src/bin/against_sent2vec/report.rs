//! Tables of the measurements.

use std::fmt::{self, Display};

use serde_json::{Value, json};

use crate::{
    run::{Case, Measurement, Program, Settings},
    text::Text,
};

/// A run: the program (its index in the list), the case and the round.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) program: usize,
    pub(crate) case: Case,
    pub(crate) round: usize,
    pub(crate) run: Measurement,
}

/// All runs so far.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    text: &'a Text,
    settings: &'a Settings,
    programs: &'a [Program],
    records: Vec<Record>,
}

/// Median, minimum and maximum.
#[derive(Debug, Clone, Copy)]
struct Spread {
    median: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (&least, &greatest) = (numbers.first()?, numbers.last()?);
        let middle = numbers.len() / 2;
        let median =
            if numbers.len() % 2 == 1 { numbers[middle] } else { (numbers[middle - 1] + numbers[middle]) / 2.0 };
        Some(Self { median, least, greatest })
    }

    /// A table cell: the median, followed by the range if there were several runs.
    fn cell(spread: Option<Self>, unit: f64, decimals: usize) -> String {
        let Some(Self { median, least, greatest }) = spread else { return "-".into() };
        let at = |x: f64| format!("{:.decimals$}", x / unit);
        if least == greatest {
            return at(median);
        }
        format!("{} [{}-{}]", at(median), at(least), at(greatest))
    }
}

impl<'a> Report<'a> {
    pub(crate) fn new(text: &'a Text, settings: &'a Settings, programs: &'a [Program]) -> Self {
        Self { text, settings, programs, records: Vec::new() }
    }

    pub(crate) fn add(&mut self, record: Record) {
        self.records.push(record);
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    fn rounds(&self) -> usize {
        self.records.iter().map(|record| record.round + 1).max().unwrap_or(0)
    }

    fn run(&self, program: usize, case: Case, round: usize) -> Option<&Measurement> {
        let wanted = |r: &&Record| r.program == program && r.case == case && r.round == round;
        self.records.iter().find(wanted).map(|record| &record.run)
    }

    /// A measured value in every run of a program.
    fn spread(&self, program: usize, case: Case, number: impl Fn(&Measurement) -> Option<f64>) -> Option<Spread> {
        let runs = (0..self.rounds()).filter_map(|round| self.run(program, case, round));
        Spread::of(runs.filter_map(number).collect())
    }

    /// Words per second of a run, relative to another run in the same round.
    fn ratio(&self, over: (usize, Case), under: (usize, Case)) -> Option<Spread> {
        let in_round = |round| {
            let rate = |(program, case)| self.run(program, case, round).map(Measurement::words_per_second);
            Some(rate(over)? / rate(under)?)
        };
        Spread::of((0..self.rounds()).filter_map(in_round).collect())
    }

    /// Distinct values of a part of the cases, in the order of the runs.
    fn distinct<T: PartialEq>(&self, part: impl Fn(Case) -> T) -> Vec<T> {
        let mut values = Vec::new();
        for value in self.records.iter().map(|record| part(record.case)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    pub(crate) fn to_json(&self) -> Value {
        let runs = self.records.iter().map(|Record { program, case, round, run }| {
            json!({
                "program": self.programs[*program].to_string(),
                "case": case,
                "round": round,
                "words_per_second": run.words_per_second(),
                "run": run,
            })
        });
        let runs: Vec<Value> = runs.collect();
        let Text { tokens, lines, .. } = self.text;
        json!({ "text": { "tokens": tokens, "lines": lines }, "settings": self.settings, "runs": runs })
    }

    fn rates(&self, f: &mut fmt::Formatter<'_>, threads: usize) -> fmt::Result {
        writeln!(f, "\n## Training, {threads} thread{}: million words/s\n", if threads == 1 { "" } else { "s" })?;
        let dims = self.distinct(|case| case.dim);
        header(f, "features | program", dims.iter().map(|dim| format!("dim {dim}")))?;
        for word_ngrams in self.distinct(|case| case.word_ngrams) {
            let at = |dim| Case { dim, word_ngrams, threads };
            let features = at(0).features();
            for (p, program) in self.programs.iter().enumerate() {
                let rate = |&dim: &usize| self.spread(p, at(dim), |run| Some(run.words_per_second()));
                row(f, &features, program, dims.iter().map(|dim| Spread::cell(rate(dim), 1e6, 3)))?;
            }
            for (ours, program) in self.ours() {
                for (peer, named) in self.peers() {
                    let ratio = |&dim: &usize| self.ratio((ours, at(dim)), (peer, at(dim)));
                    let cells = dims.iter().map(|dim| Spread::cell(ratio(dim), 1.0, 2));
                    row(f, &features, &format!("{program} / {named}"), cells)?;
                }
            }
        }
        Ok(())
    }

    fn scaling(&self, f: &mut fmt::Formatter<'_>, from: usize, to: usize) -> fmt::Result {
        writeln!(f, "\n## From {from} to {to} threads: words/s over words/s\n")?;
        let dims = self.distinct(|case| case.dim);
        header(f, "features | program", dims.iter().map(|dim| format!("dim {dim}")))?;
        for word_ngrams in self.distinct(|case| case.word_ngrams) {
            let at = |dim, threads| Case { dim, word_ngrams, threads };
            for (p, program) in self.programs.iter().enumerate() {
                let ratio = |&dim: &usize| self.ratio((p, at(dim, to)), (p, at(dim, from)));
                row(f, &at(0, 0).features(), program, dims.iter().map(|dim| Spread::cell(ratio(dim), 1.0, 2)))?;
            }
        }
        Ok(())
    }

    /// Medians of everything except throughput.
    fn start_and_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## Start and memory\n")?;
        let columns = ["vocabulary s", "start s", "training s", "peak MB", "tables MB", "peak / tables", "loss"];
        header(f, "case | program", columns.map(str::to_owned).into_iter())?;
        for word_ngrams in self.distinct(|case| case.word_ngrams) {
            for dim in self.distinct(|case| case.dim) {
                for threads in self.distinct(|case| case.threads) {
                    let case = Case { dim, word_ngrams, threads };
                    for (p, program) in self.programs.iter().enumerate() {
                        let median = |unit: f64, decimals: usize, number: &dyn Fn(&Measurement) -> Option<f64>| {
                            let middle = self.spread(p, case, number).map(|s| s.median / unit);
                            middle.map_or("-".into(), |x| format!("{x:.decimals$}"))
                        };
                        let peak = |run: &Measurement| run.peak_bytes.map(|n| n as f64);
                        let tables = |run: &Measurement| run.table_bytes as f64;
                        let cells = [
                            median(1.0, 2, &|run| Some(run.vocabulary_seconds)),
                            median(1.0, 2, &|run| Some(run.start_seconds)),
                            median(1.0, 2, &|run| Some(run.training_seconds)),
                            median(1e6, 0, &peak),
                            median(1e6, 0, &|run| Some(tables(run))),
                            median(1.0, 2, &|run| Some(peak(run)? / tables(run))),
                            median(1.0, 3, &|run| run.loss),
                        ];
                        row(f, &case.to_string(), program, cells.into_iter())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn ours(&self) -> impl Iterator<Item = (usize, &Program)> {
        self.programs.iter().enumerate().filter(|(_, program)| matches!(program, Program::Ours { .. }))
    }

    fn peers(&self) -> impl Iterator<Item = (usize, &Program)> {
        self.programs.iter().enumerate().filter(|(_, program)| matches!(program, Program::Peer(_)))
    }
}

fn header(f: &mut fmt::Formatter<'_>, first: &str, columns: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    let rule = "| --- ".repeat(columns.len() + first.split('|').count());
    writeln!(f, "| {first} | {} |\n{rule}|", columns.collect::<Vec<_>>().join(" | "))
}

fn row(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    program: &dyn Display,
    cells: impl Iterator<Item = String>,
) -> fmt::Result {
    writeln!(f, "| {what} | {program} | {} |", cells.collect::<Vec<_>>().join(" | "))
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Text { tokens, lines, .. } = self.text;
        let Settings { lr, negatives, subsample, epochs, min_count, min_target_count, buckets, dropout } =
            self.settings;
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        writeln!(
            f,
            "{tokens} tokens in {lines} lines; {cores} cores; lr {lr}, {negatives} negatives, t {subsample:e}, {epochs} \
             epoch(s), min count {min_count}, min target count {min_target_count}, {buckets} buckets, dropout {dropout}. \
             Median of {} run(s) [min-max]; ratios within a round.",
            self.rounds()
        )?;
        let threads = self.distinct(|case| case.threads);
        for &threads in &threads {
            self.rates(f, threads)?;
        }
        if let Some((&from, rest)) = threads.split_first() {
            for &to in rest {
                self.scaling(f, from, to)?;
            }
        }
        self.start_and_memory(f)?;
        f.write_str(NOTES)
    }
}

const NOTES: &str = "
Words are known words trained on. Ours: wall time of training as the library reports it, for the known words of the
text. The release: wall time from its first progress output to its last, observed from outside within 2 ms, for the
words it processes in that time. In an epoch these are as many known words as the text has tokens and line ends, so it
reads the text slightly more than once. Vocabulary: from the start of the process (ours: of the call) until the words
are counted; ours also maps tokens to ids. Start: from there to the start of training (tables, samplers). Peak: resident
memory (VmHWM) until training ends, before saving. Tables: both, at four bytes per value. Loss: each program's own mean,
not comparable if negatives are shared.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_median_and_the_range() {
        assert_eq!(Spread::cell(Spread::of(vec![3e6, 1e6, 2e6]), 1e6, 1), "2.0 [1.0-3.0]");
        assert_eq!(Spread::cell(Spread::of(vec![1.0, 4.0]), 1.0, 1), "2.5 [1.0-4.0]");
        assert_eq!(Spread::cell(Spread::of(vec![7.0]), 1.0, 0), "7");
        assert_eq!(Spread::cell(Spread::of(vec![]), 1.0, 0), "-");
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "a b\nc\n").unwrap();
        let text = Text::open(&path, None).unwrap();
        let settings = Settings {
            lr: 0.2,
            negatives: 10,
            subsample: 1e-5,
            epochs: 1,
            min_count: 5,
            min_target_count: 8,
            buckets: 1000,
            dropout: 2,
        };
        let programs = ["a", "b"].map(|name| Program::Peer(name.into()));
        let mut report = Report::new(&text, &settings, &programs);
        let case = Case { dim: 8, word_ngrams: 1, threads: 1 };
        // The second program is twice as fast; in the second round the machine is ten times slower.
        for (program, round, words) in [(0, 0, 1000), (1, 0, 2000), (1, 1, 200), (0, 1, 100)] {
            let run = Measurement {
                words,
                training_seconds: 1.0,
                vocabulary_seconds: 0.5,
                start_seconds: 0.25,
                peak_bytes: None,
                table_bytes: 64,
                loss: None,
                stated_words_per_cpu_second: None,
            };
            report.add(Record { program, case, round, run });
        }
        let ratio = report.ratio((1, case), (0, case)).unwrap();
        assert_eq!((ratio.least, ratio.median, ratio.greatest), (2.0, 2.0, 2.0));
        assert_eq!(report.ratio((1, Case { dim: 9, ..case }), (0, case)).map(|s| s.median), None);
        let shown = report.to_string();
        assert!(shown.contains("3 tokens in 2 lines"), "{shown}");
        assert!(shown.contains("| uni | a | 0.001 [0.000-0.001] |"), "{shown}");
        assert_eq!(report.to_json()["runs"][2]["words_per_second"], 200.0);
    }
}
