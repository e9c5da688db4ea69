//! Files of pairs, captions and labelled pairs; sentences whose halves are pairs.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    path::Path,
};

use hashbrown::HashTable;
use senv_core::{
    Control, Error as CoreError, Observer, Progress, Sentences, TextReader, TokenId, words::VocabularyBuilder,
};
use senv_data::{Captions, Entailment, NliSet};

use super::{
    input::{Draft, PairInput, PairOptions, SourceReport},
    kind::PairKind,
    source::{Groups, Lists},
};
use crate::error::{Error, Result};

/// A sentence of fewer tokens has no halves to compare.
const MIN_TOKENS_IN_HALVES: usize = 4;

/// Reads a file of any kind but running text.
pub(super) fn read(
    input: &PairInput,
    options: &PairOptions,
    builder: &mut VocabularyBuilder,
    observer: &dyn Observer,
) -> Result<Draft> {
    let mut reader = Reader {
        path: &input.path,
        options,
        builder,
        observer,
        sentences: Sentences::new(),
        report: SourceReport::default(),
        known: HashTable::new(),
        hash: RandomState::new(),
        tokens: Vec::new(),
        scratch: String::new(),
    };
    let groups = match input.kind {
        PairKind::Captions => reader.captions()?,
        PairKind::Nli => reader.nli()?,
        PairKind::Halves => reader.halves()?,
        _ => reader.pairs()?,
    };
    Ok(Draft { sentences: reader.sentences, groups, report: reader.report })
}

struct Reader<'a> {
    path: &'a Path,
    options: &'a PairOptions,
    builder: &'a mut VocabularyBuilder,
    observer: &'a dyn Observer,
    sentences: Sentences,
    report: SourceReport,
    /// Equal sentences of the file are one: the numbers of all sentences, by their tokens.
    known: HashTable<u32>,
    hash: RandomState,
    tokens: Vec<TokenId>,
    scratch: String,
}

/// The sentences that agree with an anchor, and those that contradict it.
#[derive(Default)]
struct NliGroup {
    anchor: u32,
    entailed: Vec<u32>,
    contradicted: Vec<u32>,
}

impl Reader<'_> {
    fn pairs(&mut self) -> Result<Groups> {
        let mut groups = Anchors::default();
        let lines = TextReader::open(&[self.path], &self.options.text.of_lines())?;
        self.lines(lines, "two sentences", |reader, [first, second]| {
            if let [Some(first), Some(second)] = reader.sentences([first, second]) {
                if first == second && !reader.options.keep_identical {
                    reader.report.identical += 1;
                } else {
                    groups.of(first).entailed.push(second);
                }
            }
        })?;
        Ok(groups.finish(self.options.group))
    }

    /// The halves of every sentence, in the order of the text; half a sentence that comes again is one.
    fn halves(&mut self) -> Result<Groups> {
        let mut groups = Anchors::default();
        let mut lines = TextReader::open(&[self.path], &self.options.text)?;
        while let Some(line) = lines.next_line()? {
            self.tell(line.number)?;
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
                let anchor = self.numbered(first);
                let other = self.numbered(second);
                groups.of(anchor).entailed.push(other);
            }
            self.tokens = tokens;
        }
        Ok(groups.finish(self.options.group))
    }

    fn nli(&mut self) -> Result<Groups> {
        let mut groups = Anchors::default();
        let set = NliSet::read(self.path)?;
        for (i, pair) in set.pairs.iter().enumerate() {
            self.tell(i as u64)?;
            if pair.label == Entailment::Neutral {
                continue;
            }
            if let [Some(premise), Some(hypothesis)] = self.sentences([&pair.premise, &pair.hypothesis]) {
                let group = groups.of(premise);
                match pair.label {
                    _ if premise == hypothesis => self.report.identical += 1,
                    Entailment::Entailment => group.entailed.push(hypothesis),
                    _ => group.contradicted.push(hypothesis),
                }
            }
        }
        Ok(groups.finish(self.options.group))
    }

    /// Captions, an image after the other.
    fn captions(&mut self) -> Result<Groups> {
        let mut lists = Lists::default();
        // The image under way, its captions, and whether one of them is held out.
        let (mut image, mut members, mut spoilt) = (String::new(), Vec::new(), false);
        let mut close = |members: &mut Vec<u32>, spoilt: &mut bool, report: &mut SourceReport| {
            if *spoilt {
                report.contaminated += 1;
            } else if members.len() > 1 {
                lists.push(members);
            } else if !members.is_empty() {
                report.singletons += 1;
            }
            members.clear();
            *spoilt = false;
        };
        let mut each = |reader: &mut Self, [of, caption]: [&str; 2]| {
            if of != image {
                close(&mut members, &mut spoilt, &mut reader.report);
                of.clone_into(&mut image);
            }
            if reader.options.held_out.contains(caption) {
                spoilt = true;
            } else {
                let caption = reader.sentence(caption);
                if members.contains(&caption) {
                    reader.report.identical += 1;
                } else {
                    members.push(caption);
                }
            }
        };
        match Captions::open(self.path, &self.options.text.of_lines())? {
            Captions::Lines(lines) => self.lines(*lines, "the image and a caption", &mut each)?,
            Captions::Json(images) => {
                for (i, image) in images.groups.iter().enumerate() {
                    image.sentences.iter().for_each(|caption| each(self, [&image.name, caption]));
                    self.tell(i as u64)?;
                }
            }
        }
        close(&mut members, &mut spoilt, &mut self.report);
        Ok(Groups::Cliques(lists))
    }

    /// Hands the cells of every line to `each`.
    fn lines<const N: usize>(
        &mut self,
        mut reader: TextReader,
        layout: &str,
        mut each: impl FnMut(&mut Self, [&str; N]),
    ) -> Result<()> {
        let path = self.path;
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
            each(self, cells);
            self.tell(line.number)?;
        }
        Ok(())
    }

    /// Reports now and then how far reading has come; an error if it shall end.
    fn tell(&self, units: u64) -> Result<()> {
        let stops = units.is_multiple_of(1 << 16)
            && self.observer.progress(&Progress { units, ..Progress::default() }) == Control::Stop;
        if stops { Err(CoreError::Interrupted { action: "reading pairs" }.into()) } else { Ok(()) }
    }

    /// The numbers of two sentences; `None`s where one of them is held out.
    fn sentences(&mut self, texts: [&str; 2]) -> [Option<u32>; 2] {
        if texts.iter().any(|text| self.options.held_out.contains(text)) {
            self.report.contaminated += 1;
            return [None; 2];
        }
        texts.map(|text| Some(self.sentence(text)))
    }

    fn sentence(&mut self, text: &str) -> u32 {
        let Self { options, builder, tokens, scratch, .. } = self;
        tokens.clear();
        options.tokenizer.for_each(text, scratch, |token| tokens.push(TokenId(builder.add(token))));
        let tokens = std::mem::take(&mut self.tokens);
        let number = self.numbered(&tokens);
        self.tokens = tokens;
        number
    }

    /// The number of a sentence of these tokens: that of an equal one, if there is one.
    fn numbered(&mut self, tokens: &[TokenId]) -> u32 {
        let Self { sentences, known, hash, .. } = self;
        let hash_of = |tokens: &[TokenId]| hash.hash_one(tokens);
        if let Some(&number) = known.find(hash_of(tokens), |&number| sentences.get(number as usize) == tokens) {
            return number;
        }
        let number = sentences.len() as u32;
        sentences.push(tokens.iter().copied());
        known.insert_unique(hash_of(tokens), number, |&number| hash_of(sentences.get(number as usize)));
        number
    }
}

/// Groups by their anchors, in the order of the file.
#[derive(Default)]
struct Anchors {
    place: HashMap<u32, usize>,
    groups: Vec<NliGroup>,
}

impl Anchors {
    fn of(&mut self, anchor: u32) -> &mut NliGroup {
        let place = match self.place.entry(anchor) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                self.groups.push(NliGroup { anchor, ..NliGroup::default() });
                *place.insert(self.groups.len() - 1)
            }
        };
        &mut self.groups[place]
    }

    /// One group an anchor, or one a pair.
    fn finish(self, group: bool) -> Groups {
        let (mut anchors, mut entailed, mut contradicted) = (Vec::new(), Lists::default(), Lists::default());
        let mut push = |anchor: u32, agreeing: &[u32], contradicting: &[u32]| {
            anchors.push(anchor);
            entailed.push(agreeing);
            contradicted.push(contradicting);
        };
        for nli in self.groups.iter().filter(|nli| !nli.entailed.is_empty()) {
            if group {
                push(nli.anchor, &nli.entailed, &nli.contradicted);
            } else {
                nli.entailed.iter().for_each(|one| push(nli.anchor, &[*one], &nli.contradicted));
            }
        }
        Groups::Anchored { anchors, entailed, contradicted }
    }
}
