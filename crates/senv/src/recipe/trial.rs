//! The data of a trial: the beginning of the user's files, split into training data and held-out pairs.

use std::{collections::HashMap, fmt};

use senv_core::{SentenceEncoder, TextOptions, Tokenizer, counts::plural, text::beginnings_up_to};

use crate::{
    base::memory_text::MemoryText,
    check::pair_ranks::{HeldOutPairs, PairRanks},
    data::{PairFiles, PairInput, PairKind},
    error::Result,
};

/// The maximum numbers of lines with text, and of bytes, that a trial reads from all files together. It trains on them
/// in a few seconds.
const MAX_LINES: usize = 40_000;
const MAX_BYTES: usize = 12 << 20;
/// One pair in this many is held out.
const HELD_OUT_SHARE: usize = 10;
/// The maximum number of held-out pairs.
const MAX_HELD_OUT: usize = 2_000;
/// The minimum number of held-out pairs for a meaningful comparison.
const MIN_HELD_OUT: usize = 50;
/// The number of neighboring sentences that are held out together.
const RUN: usize = 8;

/// A part of the data to train on, and held-out pairs.
#[derive(Debug)]
pub(super) struct Trial {
    inputs: Vec<(MemoryText, PairKind)>,
    held_out: HeldOutPairs,
    /// The kind of the pairs.
    pub(super) kind: PairKind,
    /// The number of lines to train on.
    pub(super) n_lines: usize,
}

/// Data with too few pairs to hold out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooFew {
    kind: PairKind,
    /// Lines with text.
    n_lines: usize,
    n_held_out: usize,
}

impl fmt::Display for TooFew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, n_lines, n_held_out } = *self;
        if n_lines == 0 {
            return f.write_str("no trial of ways to start: the data can be read only once");
        }
        let (lines, pairs) = (plural(n_lines as u64, "line"), plural(n_held_out as u64, "pair"));
        let (n, of) = match kind {
            PairKind::Neighbours => (MIN_HELD_OUT.div_ceil(RUN - 1) * RUN, "sentences in order"),
            PairKind::Halves => (MIN_HELD_OUT, "sentences of four words or more"),
            _ => (MIN_HELD_OUT, "pairs without a sentence in common"),
        };
        let n = n * HELD_OUT_SHARE;
        write!(
            f,
            "not enough data for a trial of ways to start: {pairs} of {lines} can be held out, and it needs \
            {MIN_HELD_OUT} (about {n} {of})"
        )
    }
}

impl Trial {
    /// Splits the beginnings of these files. Holds out pairs if there are any, else sentences with the ones after them,
    /// else halves of sentences.
    pub(super) fn new(files: &PairFiles) -> Result<std::result::Result<Self, TooFew>> {
        let Some(kind) = files.inputs.iter().map(|input| input.kind).min_by_key(|&kind| place(kind)) else {
            return Ok(Err(TooFew { kind: PairKind::Pairs, n_lines: 0, n_held_out: 0 }));
        };
        let n = files.inputs.len();
        let (mut inputs, mut held_out, mut n_lines, mut n_read) = (Vec::new(), Vec::new(), 0, 0);
        for input in &files.inputs {
            let reading = match input.kind {
                PairKind::Pairs => files.options.text.of_pairs(),
                _ => files.options.text.clone(),
            };
            let lines = beginnings_up_to(&[&input.path], &reading, MAX_LINES / n, MAX_BYTES / n);
            let lines: Vec<String> = lines.into_iter().flat_map(|(_, lines)| lines).collect();
            if input.kind == kind {
                n_read += lines.iter().filter(|line| !line.trim().is_empty()).count();
            }
            let lines = if input.kind != kind {
                lines
            } else {
                match kind {
                    PairKind::Pairs => without_pairs(lines, &mut held_out),
                    PairKind::Halves => without_halves(lines, &mut held_out),
                    _ => without_runs(lines, &mut held_out),
                }
            };
            n_lines += lines.iter().filter(|line| !line.trim().is_empty()).count();
            inputs.push((MemoryText::new(lines)?, input.kind));
        }
        let held_out = HeldOutPairs::new(held_out, MAX_HELD_OUT);
        if held_out.len() < MIN_HELD_OUT || n_lines == 0 {
            return Ok(Err(TooFew { kind, n_lines: n_read, n_held_out: held_out.len() }));
        }
        Ok(Ok(Self { inputs, held_out, kind, n_lines }))
    }

    /// The files to train on.
    pub(super) fn inputs(&self) -> Vec<PairInput> {
        let input = |(text, kind): &(MemoryText, PairKind)| PairInput {
            path: text.as_ref().to_owned(),
            kind: *kind,
            weight: None,
        };
        self.inputs.iter().map(input).collect()
    }

    /// How their lines are read.
    pub(super) fn reading() -> TextOptions {
        TextOptions::default()
    }

    /// Returns what the pairs are, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            PairKind::Neighbours => "pairs of neighboring sentences",
            PairKind::Halves => "halves of sentences",
            _ => "pairs",
        }
    }

    /// Returns the number of held-out pairs.
    pub(super) fn n_held_out(&self) -> usize {
        self.held_out.len()
    }

    /// Ranks the held-out pairs by TF-IDF.
    pub(super) fn tf_idf(&self) -> Result<PairRanks> {
        self.held_out.ranks_by_tf_idf(&Tokenizer::words().lowercase(true))
    }

    /// Ranks the held-out pairs by an encoder.
    pub(super) fn ranks_by(&self, encoder: &(impl SentenceEncoder + ?Sized)) -> Result<PairRanks> {
        self.held_out.ranks_by(encoder)
    }
}

/// Returns the order of preference of what is held out.
fn place(kind: PairKind) -> usize {
    match kind {
        PairKind::Pairs => 0,
        PairKind::Captions | PairKind::Nli => 1,
        PairKind::Neighbours => 2,
        PairKind::Halves => 3,
    }
}

/// Holds out one pair from every tenth group of sentences that pairs connect, directly or indirectly. The whole group
/// is kept out of training, which would otherwise learn a held-out pair through a third sentence.
fn without_pairs(lines: Vec<String>, held_out: &mut Vec<[String; 2]>) -> Vec<String> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut groups = Groups::default();
    let mut pairs = Vec::with_capacity(lines.len());
    for line in &lines {
        let mut cells = line.split('\t').map(str::trim);
        let pair = cells
            .next()
            .zip(cells.next())
            .map(|pair| [pair.0, pair.1].map(|sentence| *numbers.entry(sentence).or_insert_with(|| groups.add())));
        if let Some([first, second]) = pair {
            groups.join(first, second);
        }
        pairs.push(pair);
    }
    let mut order: HashMap<usize, usize> = HashMap::new();
    let mut kept = Vec::new();
    for (line, pair) in lines.iter().zip(pairs) {
        let number = pair.map(|[first, _]| {
            let (group, next) = (groups.of(first), order.len());
            let number = *order.entry(group).or_insert(next);
            (number, number == next)
        });
        match number {
            Some((number, is_first)) if number % HELD_OUT_SHARE == HELD_OUT_SHARE - 1 => {
                let mut cells = line.split('\t').map(|cell| cell.trim().to_owned());
                if let (true, Some(first), Some(second)) = (is_first, cells.next(), cells.next()) {
                    held_out.push([first, second]);
                }
            }
            _ => kept.push(line.clone()),
        }
    }
    kept
}

/// Groups of connected sentences (a union-find forest).
#[derive(Default)]
struct Groups(Vec<usize>);

impl Groups {
    /// Adds a sentence in a group by itself.
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// Returns the sentence that represents the group of this one.
    fn of(&mut self, mut sentence: usize) -> usize {
        while self.0[sentence] != sentence {
            self.0[sentence] = self.0[self.0[sentence]];
            sentence = self.0[sentence];
        }
        sentence
    }

    fn join(&mut self, first: usize, second: usize) {
        let (first, second) = (self.of(first), self.of(second));
        self.0[second.max(first)] = first.min(second);
    }
}

/// Whether a sentence is long enough for two halves, that is, has four words.
pub(super) fn has_halves(line: &str) -> bool {
    line.split_whitespace().nth(3).is_some()
}

/// Holds out every tenth sentence of at least four words, as a pair of its halves.
fn without_halves(lines: Vec<String>, held_out: &mut Vec<[String; 2]>) -> Vec<String> {
    let mut number = 0;
    let of = |words: &[&str]| words.join(" ");
    lines
        .into_iter()
        .filter(|line| {
            if !has_halves(line) {
                return true;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            number += 1;
            let is_held_out = number % HELD_OUT_SHARE == 1;
            if is_held_out {
                let (first, second) = words.split_at(words.len() / 2);
                held_out.push([of(first), of(second)]);
            }
            !is_held_out
        })
        .collect()
}

/// Holds out every tenth run of eight sentences as pairs of a sentence and the next. A document ends where a run was.
fn without_runs(lines: Vec<String>, held_out: &mut Vec<[String; 2]>) -> Vec<String> {
    let (mut number, mut before): (usize, Option<String>) = (0, None);
    lines
        .into_iter()
        .map(|line| {
            if line.trim().is_empty() {
                before = None;
                return line;
            }
            let run = number / RUN;
            number += 1;
            if run % HELD_OUT_SHARE != HELD_OUT_SHARE - 1 {
                before = None;
                return line;
            }
            held_out.extend(before.replace(line.clone()).map(|before| [before, line]));
            String::new()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize, line: impl Fn(usize) -> String) -> Vec<String> {
        (0..n).map(line).collect()
    }

    #[test]
    fn held_out_pairs_are_not_trained_on() {
        let mut held_out = Vec::new();
        // Three lines of each first sentence.
        let kept = without_pairs(lines(300, |i| format!("first {}\tsecond {i}", i / 3)), &mut held_out);
        assert_eq!((kept.len(), held_out.len()), (270, 10));
        assert!(held_out.iter().all(|[first, _]| kept.iter().all(|line| !line.starts_with(&format!("{first}\t")))));
        assert_eq!(held_out[1], ["first 19", "second 57"]);
        // Chains of four sentences: the first cannot be inferred from the third.
        let mut held_out = Vec::new();
        let kept = without_pairs(lines(300, |i| format!("s {}\ts {}", i + i / 3, i + i / 3 + 1)), &mut held_out);
        assert_eq!((kept.len(), held_out.len()), (270, 10));
        assert!(kept.iter().flat_map(|line| line.split('\t')).all(|s| held_out.iter().flatten().all(|a| a != s)));

        let mut held_out = Vec::new();
        let kept = without_halves(lines(100, |i| format!("a sentence with number {i}")), &mut held_out);
        assert_eq!((kept.len(), held_out.len()), (90, 10));
        assert_eq!(held_out[0], ["a sentence", "with number 0"]);
        assert_eq!(without_halves(lines(20, |i| format!("short {i}")), &mut held_out).len(), 20);

        let mut held_out = Vec::new();
        let kept = without_runs(lines(160, |i| format!("sentence {i}")), &mut held_out);
        assert_eq!(kept.iter().filter(|line| line.is_empty()).count(), 16);
        assert_eq!(held_out.len(), 14);
        assert_eq!(held_out[0], ["sentence 72", "sentence 73"]);
        assert_eq!(held_out[7], ["sentence 152", "sentence 153"]);
    }

    #[test]
    fn a_document_ends_within_a_run() {
        let mut held_out = Vec::new();
        let text = lines(90, |i| if i == 76 { String::new() } else { format!("sentence {i}") });
        let kept = without_runs(text, &mut held_out);
        assert_eq!(kept.len(), 90);
        let around: Vec<&str> = held_out.iter().map(|[first, _]| first.as_str()).collect();
        assert_eq!(around, ["sentence 72", "sentence 73", "sentence 74", "sentence 77", "sentence 78", "sentence 79"]);
    }
}
