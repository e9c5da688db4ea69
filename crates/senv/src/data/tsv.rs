//! Files of pairs, captions and labelled pairs; sentences whose halves are pairs.
//!
//! A file is read in parts, each as if by itself, so that memory has a bound: equal sentences of a part are one, and the groups of a part
//! belong to it alone. Only a file of more than 3.7 million distinct sentences, or 4.2 million pairs, has a second part.

use std::path::Path;

use senv_core::{
    Observer, Result as CoreResult, TextReader, TokenId,
    text::ReadingProgress,
    words::{SentencesWriter, VocabularyBuilder},
};
use senv_data::{Captions, Entailment, NliSet};

use super::{
    anchors::{Anchors, Relation},
    input::{Draft, PairInput, PairOptions, SourceReport},
    kind::PairKind,
    numbers::Numbers,
    source::{Groups, ListsWriter},
};
use crate::error::{Error, Result};

/// A sentence of fewer tokens has no halves to compare.
const MIN_TOKENS_IN_HALVES: usize = 4;
/// What is interrupted.
const READING: &str = "reading pairs";

/// What a part of a file has at most.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Distinct sentences.
    sentences: usize,
    pairs: usize,
}

impl Part {
    /// As many sentences as a table of four million places holds without growing.
    const LARGEST: Self = Self { sentences: 7 << 19, pairs: 1 << 22 };
}

/// Reads a file of any kind but running text.
pub(super) fn read(
    input: &PairInput,
    options: &PairOptions,
    builder: &mut VocabularyBuilder,
    observer: &dyn Observer,
) -> Result<Draft> {
    read_in_parts(input, options, builder, Part::LARGEST, observer)
}

fn read_in_parts(
    input: &PairInput,
    options: &PairOptions,
    builder: &mut VocabularyBuilder,
    part: Part,
    observer: &dyn Observer,
) -> Result<Draft> {
    let folder = options.scratch_dir.as_deref();
    let mut reader = Reader {
        path: &input.path,
        options,
        builder,
        observer,
        sentences: SentencesWriter::new(folder)?,
        anchors: Anchors::new(folder, options.group, part.pairs),
        report: SourceReport::default(),
        numbers: Numbers::new(part.sentences),
        tokens: Vec::new(),
        scratch: String::new(),
    };
    let groups = match input.kind {
        PairKind::Captions => reader.captions()?,
        PairKind::Nli => reader.nli()?,
        PairKind::Halves => reader.halves()?,
        _ => reader.pairs()?,
    };
    let groups = groups.map_or_else(|| reader.anchors.finish(), Ok)?;
    Ok(Draft { sentences: reader.sentences.finish()?, groups, report: reader.report })
}

struct Reader<'a> {
    path: &'a Path,
    options: &'a PairOptions,
    builder: &'a mut VocabularyBuilder,
    observer: &'a dyn Observer,
    sentences: SentencesWriter,
    anchors: Anchors,
    report: SourceReport,
    numbers: Numbers,
    tokens: Vec<TokenId>,
    scratch: String,
}

/// Groups that are no [`Anchors`].
type OtherGroups = Option<Groups>;

impl Reader<'_> {
    fn pairs(&mut self) -> Result<OtherGroups> {
        let lines = TextReader::open(&[self.path], &self.options.text.of_lines())?;
        self.lines(lines, "two sentences", |reader, [first, second]| {
            if let [Some(first), Some(second)] = reader.sentences([first, second])? {
                if first == second && !reader.options.keep_identical {
                    reader.report.identical += 1;
                } else {
                    reader.group(first, Relation::Agrees, second)?;
                }
            }
            Ok(())
        })?;
        Ok(None)
    }

    /// The halves of every sentence, in the order of the text; half a sentence that comes again is one.
    fn halves(&mut self) -> Result<OtherGroups> {
        let mut lines = TextReader::open(&[self.path], &self.options.text)?;
        let mut progress = self.progress();
        loop {
            progress.report(lines.bytes_read(), None, self.observer)?;
            let Some(line) = lines.next_line()? else { break };
            if line.is_blank() {
                continue;
            }
            if self.options.held_out.contains(line.text) {
                self.report.contaminated += 1;
                continue;
            }
            let Self { options, builder, tokens, scratch, .. } = self;
            tokens.clear();
            options.tokenizer.for_each(line.text, scratch, |token| tokens.push(TokenId(builder.add(token))));
            let tokens = std::mem::take(&mut self.tokens);
            let (first, second) = tokens.split_at(tokens.len() / 2);
            if tokens.len() < MIN_TOKENS_IN_HALVES {
                self.report.singletons += 1;
            } else if first == second {
                self.report.identical += 1;
            } else {
                let anchor = self.numbers.of(first, &mut self.sentences)?;
                let other = self.numbers.of(second, &mut self.sentences)?;
                self.group(anchor, Relation::Agrees, other)?;
            }
            self.tokens = tokens;
        }
        Ok(None)
    }

    fn nli(&mut self) -> Result<OtherGroups> {
        NliSet::read_each(self.path, self.observer, |label, [premise, hypothesis]| {
            if label == Entailment::Neutral {
                return Ok(());
            }
            if let [Some(premise), Some(hypothesis)] = self.sentences([premise, hypothesis])? {
                let relation = if label == Entailment::Entailment { Relation::Agrees } else { Relation::Contradicts };
                if premise == hypothesis {
                    self.report.identical += 1;
                } else {
                    self.group(premise, relation, hypothesis)?;
                }
            }
            Ok(())
        })?;
        Ok(None)
    }

    /// Adds to the group of an anchor; behind the last pair of a part of the file another begins.
    fn group(&mut self, anchor: u32, relation: Relation, other: u32) -> CoreResult<()> {
        self.anchors.add(anchor, relation, other);
        if self.numbers.are_many() || self.anchors.are_many() {
            self.numbers.forget();
            self.anchors.end_part()?;
        }
        Ok(())
    }

    /// Captions, an image after the other.
    fn captions(&mut self) -> Result<OtherGroups> {
        let mut lists = ListsWriter::new(self.options.scratch_dir.as_deref());
        // The image under way, its captions, and whether one of them is held out.
        let (mut image, mut members, mut spoilt) = (String::new(), Vec::new(), false);
        let mut close = |members: &mut Vec<u32>, spoilt: &mut bool, report: &mut SourceReport| {
            if *spoilt {
                report.contaminated += 1;
            } else if members.len() > 1 {
                lists.push(members.iter().copied())?;
            } else if !members.is_empty() {
                report.singletons += 1;
            }
            members.clear();
            *spoilt = false;
            CoreResult::Ok(())
        };
        let mut each = |reader: &mut Self, [of, caption]: [&str; 2]| {
            if of != image {
                close(&mut members, &mut spoilt, &mut reader.report)?;
                of.clone_into(&mut image);
                if reader.numbers.are_many() {
                    reader.numbers.forget();
                }
            }
            if reader.options.held_out.contains(caption) {
                spoilt = true;
            } else {
                let caption = reader.sentence(caption)?;
                if members.contains(&caption) {
                    reader.report.identical += 1;
                } else {
                    members.push(caption);
                }
            }
            Ok(())
        };
        match Captions::open(self.path, &self.options.text.of_lines())? {
            Captions::Lines(lines) => self.lines(*lines, "the image and a caption", &mut each)?,
            Captions::Json(images) => {
                for image in &images.groups {
                    image.sentences.iter().try_for_each(|caption| each(self, [&image.name, caption]))?;
                    self.observer.go_on(READING)?;
                }
            }
        }
        close(&mut members, &mut spoilt, &mut self.report)?;
        Ok(Some(Groups::Cliques(lists.finish()?)))
    }

    /// Hands the cells of every line to `each`.
    fn lines<const N: usize>(
        &mut self,
        mut reader: TextReader,
        layout: &str,
        mut each: impl FnMut(&mut Self, [&str; N]) -> CoreResult<()>,
    ) -> Result<()> {
        let (path, mut progress) = (self.path, self.progress());
        while let Some(line) = reader.next_line()? {
            let bad = |reason: String| Error::BadLine { path: path.to_owned(), line: line.number, reason };
            let n = line.text.split('\t').count();
            if n != N || line.is_blank() {
                let columns = if n == 1 { "1 column".to_owned() } else { format!("{n} columns") };
                return Err(bad(format!("{columns}; expected {N}, separated by tabs: {layout}")));
            }
            let mut cells = line.text.split('\t').map(str::trim);
            let cells: [&str; N] = std::array::from_fn(|_| cells.next().unwrap_or_default());
            if let Some(i) = cells.iter().position(|cell| cell.is_empty()) {
                return Err(bad(format!("column {} is empty; expected {layout}", i + 1)));
            }
            each(self, cells)?;
            progress.report(reader.bytes_read(), None, self.observer)?;
        }
        Ok(())
    }

    fn progress(&self) -> ReadingProgress {
        ReadingProgress::new(&[self.path], READING)
    }

    /// The numbers of two sentences; `None`s where one of them is held out.
    fn sentences(&mut self, texts: [&str; 2]) -> CoreResult<[Option<u32>; 2]> {
        if texts.iter().any(|text| self.options.held_out.contains(text)) {
            self.report.contaminated += 1;
            return Ok([None; 2]);
        }
        let [first, second] = texts.map(|text| self.sentence(text));
        Ok([Some(first?), Some(second?)])
    }

    /// The number of a sentence.
    fn sentence(&mut self, text: &str) -> CoreResult<u32> {
        let Self { options, builder, tokens, scratch, numbers, sentences, .. } = self;
        tokens.clear();
        options.tokenizer.for_each(text, scratch, |token| tokens.push(TokenId(builder.add(token))));
        numbers.of(tokens, sentences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::NoObserver;

    /// The anchors of all groups with what agrees, in words.
    fn groups(kind: PairKind, text: &str, group: bool, part: Part) -> Vec<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.tsv");
        std::fs::write(&path, text).unwrap();
        let options = PairOptions { group, scratch_dir: Some(folder.path().to_owned()), ..PairOptions::default() };
        let (input, mut builder) = (PairInput { path, kind, weight: None }, VocabularyBuilder::default());
        let draft = read_in_parts(&input, &options, &mut builder, part, &NoObserver).unwrap();
        let words: Vec<&str> = builder.iter().map(|(word, _)| word).collect();
        let text = |i: u32| {
            let tokens = draft.sentences.get(i as usize).iter();
            tokens.map(|token| words[token.index()]).collect::<Vec<_>>().join(" ")
        };
        match &draft.groups {
            Groups::Anchored { anchors, entailed, .. } => anchors
                .iter()
                .enumerate()
                .map(|(i, &anchor)| (text(anchor), entailed.get(i).iter().map(|&other| text(other)).collect()))
                .collect(),
            Groups::Cliques(lists) => (0..lists.len())
                .map(|i| (String::new(), lists.get(i).iter().map(|&member| text(member)).collect()))
                .collect(),
            Groups::Neighbours { .. } => unreachable!(),
        }
    }

    #[test]
    fn a_file_in_parts_is_its_parts_one_after_another() {
        let pairs = "a\tb\nc\td\na\te\n";
        let (once, twice) = (|group| groups(PairKind::Pairs, pairs, group, Part::LARGEST), pairs.repeat(2));
        assert_eq!(once(true)[0], ("a".into(), vec!["b".into(), "e".into()]));
        for group in [false, true] {
            let parts = groups(PairKind::Pairs, &twice, group, Part { pairs: 3, ..Part::LARGEST });
            assert_eq!(parts, [once(group), once(group)].concat());
            let parts = groups(PairKind::Pairs, &twice, group, Part { sentences: 5, ..Part::LARGEST });
            assert_eq!(parts, [once(group), once(group)].concat());
            assert_eq!(groups(PairKind::Pairs, &twice, group, Part::LARGEST).len(), if group { 2 } else { 6 });
        }
        let nli = "entailment\ta\tb\ncontradiction\ta\tc\nneutral\ta\td\n".repeat(2);
        let parts = groups(PairKind::Nli, &nli, true, Part { pairs: 2, ..Part::LARGEST });
        assert_eq!(parts, vec![("a".to_owned(), vec!["b".to_owned()]); 2]);
        let captions = "1\ta\n1\tb\n1\ta\n2\ta\n2\tc\n";
        let parts = |part| groups(PairKind::Captions, captions, false, part);
        assert_eq!(parts(Part { sentences: 1, ..Part::LARGEST }), parts(Part::LARGEST));
    }
}
