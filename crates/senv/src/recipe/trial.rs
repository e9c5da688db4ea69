//! What training starts from is tried on the beginning of the data: a part is trained on, the rest is asked.

use std::collections::HashMap;

use senv_core::{SentenceEncoder, TextOptions, Tokenizer, text::beginnings_up_to};

use crate::{
    base::memory_text::MemoryText,
    check::partners::{Found, Partners},
    data::{PairFiles, PairInput, PairKind},
    error::Result,
};

/// Lines with text and bytes that a trial takes of all files together: what a few seconds allow.
const MAX_LINES: usize = 40_000;
const MAX_BYTES: usize = 12 << 20;
/// One of so many pairs is asked,
const ASKED_SHARE: usize = 10;
/// no more than these,
const MAX_ASKED: usize = 2_000;
/// and no fewer, below which nothing follows.
const MIN_ASKED: usize = 50;
/// Neighbouring sentences that are asked together.
const RUN: usize = 8;

/// A part of the data to train on, and pairs to ask.
#[derive(Debug)]
pub(super) struct Trial {
    inputs: Vec<(MemoryText, PairKind)>,
    asked: Partners,
    /// What the pairs are.
    pub(super) kind: PairKind,
    /// Lines to train on.
    pub(super) n_lines: usize,
}

impl Trial {
    /// Of the beginnings of these files. Pairs are asked where there are any, else sentences and their next ones, else halves of
    /// sentences. `None` where too few are left to ask.
    pub(super) fn new(files: &PairFiles) -> Result<Option<Self>> {
        let Some(kind) = files.inputs.iter().map(|input| input.kind).min_by_key(|&kind| place(kind)) else {
            return Ok(None);
        };
        let n = files.inputs.len();
        let (mut inputs, mut asked, mut n_lines) = (Vec::new(), Vec::new(), 0);
        for input in &files.inputs {
            let reading = match input.kind {
                PairKind::Pairs => files.options.text.of_lines(),
                _ => files.options.text.clone(),
            };
            let lines = beginnings_up_to(&[&input.path], &reading, MAX_LINES / n, MAX_BYTES / n);
            let lines = lines.into_iter().flat_map(|(_, lines)| lines).collect();
            let lines = if input.kind != kind {
                lines
            } else {
                match kind {
                    PairKind::Pairs => without_pairs(lines, &mut asked),
                    PairKind::Halves => without_halves(lines, &mut asked),
                    _ => without_runs(lines, &mut asked),
                }
            };
            n_lines += lines.iter().filter(|line| !line.trim().is_empty()).count();
            inputs.push((MemoryText::new(lines)?, input.kind));
        }
        let asked = Partners::new(asked, MAX_ASKED);
        Ok((asked.len() >= MIN_ASKED && n_lines > 0).then_some(Self { inputs, asked, kind, n_lines }))
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

    /// What the pairs are, in words.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            PairKind::Neighbours => "pairs of neighbouring sentences",
            PairKind::Halves => "halves of sentences",
            _ => "pairs",
        }
    }

    /// How many pairs are asked.
    pub(super) fn n_asked(&self) -> usize {
        self.asked.len()
    }

    /// What shared words find.
    pub(super) fn tf_idf(&self) -> Result<Found> {
        self.asked.asked_of_tf_idf(&Tokenizer::words().lowercase(true))
    }

    /// What an encoder finds.
    pub(super) fn ask(&self, encoder: &(impl SentenceEncoder + ?Sized)) -> Result<Found> {
        self.asked.asked_of(encoder)
    }
}

/// What says most of a model comes first.
fn place(kind: PairKind) -> usize {
    match kind {
        PairKind::Pairs => 0,
        PairKind::Captions | PairKind::Nli => 1,
        PairKind::Neighbours => 2,
        PairKind::Halves => 3,
    }
}

/// Sentences that pairs join, directly or by others, are held out together: every tenth such group, of which one pair is asked.
/// Otherwise training would learn of a held-out pair by a third sentence.
fn without_pairs(lines: Vec<String>, asked: &mut Vec<[String; 2]>) -> Vec<String> {
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
            Some((number, is_first)) if number % ASKED_SHARE == ASKED_SHARE - 1 => {
                let mut cells = line.split('\t').map(|cell| cell.trim().to_owned());
                if let (true, Some(first), Some(second)) = (is_first, cells.next(), cells.next()) {
                    asked.push([first, second]);
                }
            }
            _ => kept.push(line.clone()),
        }
    }
    kept
}

/// Sentences that belong together (a union-find forest).
#[derive(Default)]
struct Groups(Vec<usize>);

impl Groups {
    /// A new sentence, alone.
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// The sentence that stands for the group of this one.
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

/// Whether a sentence is long enough for two halves: four words.
pub(super) fn has_halves(line: &str) -> bool {
    line.split_whitespace().nth(3).is_some()
}

/// Every tenth sentence of four words and more is asked for its second half.
fn without_halves(lines: Vec<String>, asked: &mut Vec<[String; 2]>) -> Vec<String> {
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
            let is_asked = number % ASKED_SHARE == 1;
            if is_asked {
                let (first, second) = words.split_at(words.len() / 2);
                asked.push([of(first), of(second)]);
            }
            !is_asked
        })
        .collect()
}

/// Every tenth run of eight sentences is asked, each sentence for the next; a document ends where it was.
fn without_runs(lines: Vec<String>, asked: &mut Vec<[String; 2]>) -> Vec<String> {
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
            if run % ASKED_SHARE != ASKED_SHARE - 1 {
                before = None;
                return line;
            }
            asked.extend(before.replace(line.clone()).map(|before| [before, line]));
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
    fn what_is_asked_is_not_trained_on() {
        let mut asked = Vec::new();
        // Three lines of each first sentence.
        let kept = without_pairs(lines(300, |i| format!("first {}\tsecond {i}", i / 3)), &mut asked);
        assert_eq!((kept.len(), asked.len()), (270, 10));
        assert!(asked.iter().all(|[first, _]| kept.iter().all(|line| !line.starts_with(&format!("{first}\t")))));
        assert_eq!(asked[1], ["first 19", "second 57"]);
        // Chains of four sentences: nothing is known of the first by way of the third.
        let mut asked = Vec::new();
        let kept = without_pairs(lines(300, |i| format!("s {}\ts {}", i + i / 3, i + i / 3 + 1)), &mut asked);
        assert_eq!((kept.len(), asked.len()), (270, 10));
        assert!(kept.iter().flat_map(|line| line.split('\t')).all(|s| asked.iter().flatten().all(|a| a != s)));

        let mut asked = Vec::new();
        let kept = without_halves(lines(100, |i| format!("a sentence with number {i}")), &mut asked);
        assert_eq!((kept.len(), asked.len()), (90, 10));
        assert_eq!(asked[0], ["a sentence", "with number 0"]);
        assert_eq!(without_halves(lines(20, |i| format!("short {i}")), &mut asked).len(), 20);

        let mut asked = Vec::new();
        let kept = without_runs(lines(160, |i| format!("sentence {i}")), &mut asked);
        assert_eq!(kept.iter().filter(|line| line.is_empty()).count(), 16);
        assert_eq!(asked.len(), 14);
        assert_eq!(asked[0], ["sentence 72", "sentence 73"]);
        assert_eq!(asked[7], ["sentence 152", "sentence 153"]);
    }

    #[test]
    fn a_document_ends_within_a_run() {
        let mut asked = Vec::new();
        let text = lines(90, |i| if i == 76 { String::new() } else { format!("sentence {i}") });
        let kept = without_runs(text, &mut asked);
        assert_eq!(kept.len(), 90);
        let around: Vec<&str> = asked.iter().map(|[first, _]| first.as_str()).collect();
        assert_eq!(around, ["sentence 72", "sentence 73", "sentence 74", "sentence 77", "sentence 78", "sentence 79"]);
    }
}
