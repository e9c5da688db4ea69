//! Files of pairs, captions and labeled pairs, and sentences whose halves are pairs.
//!
//! To limit memory, a file is read in parts, each as if it were a file. Equal sentences in a part are one, and the
//! groups of a part do not extend to other parts. Only a file of more than 3.7 million distinct sentences, or 4.2
//! million pairs, has a second part.

use std::path::Path;

use senv_core::{
    Observer, Result as CoreResult, TextOptions, TextReader, TokenId,
    text::{Line, ReadingProgress},
    words::VocabularyBuilder,
};
use senv_data::{Captions, Entailment, NliSet};

use super::{
    anchors::Relation,
    input::{PairInput, PairOptions},
    kind::PairKind,
    taken::Taken,
};
use crate::error::{Error, Result};

/// The minimum number of tokens of a sentence that is split into halves.
const MIN_TOKENS_IN_HALVES: usize = 4;
/// The layout of a line of pairs.
const TWO_SENTENCES: &str = "two sentences";
/// The number of lines at the beginning of a file that are checked first.
const BEGINNING: usize = 1000;
/// The action that is interrupted.
const READING: &str = "reading pairs";

/// Reads a file of any kind except running text, after the records that were already read.
pub(super) fn read(
    input: &PairInput,
    options: &PairOptions,
    builder: &mut VocabularyBuilder,
    taken: &mut Taken,
    observer: &dyn Observer,
) -> Result<()> {
    let n_old = taken.n_records;
    let (tokens, scratch) = Default::default();
    let mut reader = Reader { path: &input.path, options, builder, observer, taken, n_old, tokens, scratch };
    match input.kind {
        PairKind::Captions => reader.captions(),
        PairKind::Nli => reader.nli(),
        PairKind::Halves => reader.halves(),
        _ => reader.pairs(),
    }
}

/// Refuses a file whose beginning is not pairs, before all of it is read. Skips files that can be read only once.
pub(crate) fn check_beginning(path: &Path, text: &TextOptions) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let mut reader = TextReader::open(&[path], &text.of_pairs())?;
    for _ in 0..BEGINNING {
        let Some(line) = reader.next_line()? else { break };
        cells::<2>(line, path, TWO_SENTENCES)?;
    }
    Ok(())
}

/// Returns the two sentences of a line.
pub(crate) fn pair_cells<'l>(line: Line<'l>, path: &Path) -> Result<[&'l str; 2]> {
    cells(line, path, TWO_SENTENCES)
}

/// Returns the cells of a line.
fn cells<'l, const N: usize>(line: Line<'l>, path: &Path, layout: &str) -> Result<[&'l str; N]> {
    let bad = |reason: String| Error::BadLine { path: path.to_owned(), line: line.number, reason };
    let n = line.text.split('\t').count();
    if n != N || line.is_blank() {
        let columns = if n == 1 { "1 column".to_owned() } else { format!("{n} columns") };
        return Err(bad(format!("{columns}; expected {N}, separated by tabs: {layout}")));
    }
    let mut cells = line.text.split('\t').map(str::trim);
    let cells: [&str; N] = std::array::from_fn(|_| cells.next().unwrap_or_default());
    match cells.iter().position(|cell| cell.is_empty()) {
        Some(i) => Err(bad(format!("column {} is empty; expected {layout}", i + 1))),
        None => Ok(cells),
    }
}

struct Reader<'a> {
    path: &'a Path,
    options: &'a PairOptions,
    builder: &'a mut VocabularyBuilder,
    observer: &'a dyn Observer,
    taken: &'a mut Taken,
    /// The number of records already read, which are to be skipped.
    n_old: u64,
    tokens: Vec<TokenId>,
    scratch: String,
}

impl Reader<'_> {
    fn pairs(&mut self) -> Result<()> {
        let lines = TextReader::open(&[self.path], &self.options.text.of_pairs())?;
        self.lines(lines, TWO_SENTENCES, |reader, [first, second]| {
            if let [Some(first), Some(second)] = reader.sentences([first, second])? {
                if first == second && !reader.options.keep_identical {
                    reader.taken.report.identical += 1;
                } else {
                    reader.taken.add(first, Relation::Agrees, second)?;
                }
            }
            Ok(())
        })
    }

    /// Reads the halves of every sentence, in text order. A repeated half is one sentence.
    fn halves(&mut self) -> Result<()> {
        let mut lines = TextReader::open(&[self.path], &self.options.text)?;
        let mut progress = self.progress();
        loop {
            self.report(&mut progress, lines.bytes_read())?;
            let Some(line) = lines.next_line()? else { break };
            if !self.is_new() || line.is_blank() {
                continue;
            }
            if self.options.held_out.contains(line.text) {
                self.taken.report.contaminated += 1;
                continue;
            }
            self.tokenize(line.text);
            let tokens = std::mem::take(&mut self.tokens);
            let (first, second) = tokens.split_at(tokens.len() / 2);
            if tokens.len() < MIN_TOKENS_IN_HALVES {
                self.taken.report.singletons += 1;
            } else if first == second {
                self.taken.report.identical += 1;
            } else {
                let anchor = self.taken.number_of(first)?;
                let other = self.taken.number_of(second)?;
                self.taken.add(anchor, Relation::Agrees, other)?;
            }
            self.tokens = tokens;
        }
        Ok(())
    }

    fn nli(&mut self) -> Result<()> {
        NliSet::read_each_of(self.path, &self.options.text, self.observer, |label, [premise, hypothesis]| {
            if !self.is_new() || label == Entailment::Neutral {
                return Ok(());
            }
            if let [Some(premise), Some(hypothesis)] = self.sentences([premise, hypothesis])? {
                let relation = if label == Entailment::Entailment { Relation::Agrees } else { Relation::Contradicts };
                if premise == hypothesis {
                    self.taken.report.identical += 1;
                } else {
                    self.taken.add(premise, relation, hypothesis)?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Reads captions, image by image.
    fn captions(&mut self) -> Result<()> {
        let each = |reader: &mut Self, [image, caption]: [&str; 2]| {
            reader.taken.open_image(image)?;
            if reader.options.held_out.contains(caption) {
                reader.taken.images.is_spoilt = true;
            } else {
                let caption = reader.sentence(caption)?;
                reader.taken.add_caption(caption);
            }
            Ok(())
        };
        match Captions::open(self.path, &self.options.text.of_pairs())? {
            Captions::Lines(lines) => self.lines(*lines, "the image and a caption", each),
            Captions::Json(images) => {
                for image in &images.groups {
                    for caption in &image.sentences {
                        if self.is_new() {
                            each(self, [&image.name, caption])?;
                        }
                    }
                    self.observer.go_on(READING)?;
                }
                Ok(())
            }
        }
    }

    /// Whether the next record is new; counts it as read.
    fn is_new(&mut self) -> bool {
        let is_old = self.n_old > 0;
        self.n_old -= u64::from(is_old);
        self.taken.n_records += u64::from(!is_old);
        !is_old
    }

    /// Passes the cells of every line to `each`.
    fn lines<const N: usize>(
        &mut self,
        mut reader: TextReader,
        layout: &str,
        mut each: impl FnMut(&mut Self, [&str; N]) -> CoreResult<()>,
    ) -> Result<()> {
        let (path, mut progress) = (self.path, self.progress());
        while let Some(line) = reader.next_line()? {
            let cells = cells(line, path, layout)?;
            if self.is_new() {
                each(self, cells)?;
            }
            self.report(&mut progress, reader.bytes_read())?;
        }
        Ok(())
    }

    fn progress(&self) -> ReadingProgress {
        ReadingProgress::new(&[self.path], READING)
    }

    fn report(&mut self, progress: &mut ReadingProgress, bytes_read: u64) -> CoreResult<()> {
        self.taken.bytes_read = bytes_read;
        progress.report(bytes_read, None, self.observer)
    }

    /// Returns the numbers of two sentences; `None`s if one of them is held out.
    fn sentences(&mut self, texts: [&str; 2]) -> CoreResult<[Option<u32>; 2]> {
        if texts.iter().any(|text| self.options.held_out.contains(text)) {
            self.taken.report.contaminated += 1;
            return Ok([None; 2]);
        }
        let [first, second] = texts.map(|text| self.sentence(text));
        Ok([Some(first?), Some(second?)])
    }

    /// Returns the number of a sentence.
    fn sentence(&mut self, text: &str) -> CoreResult<u32> {
        self.tokenize(text);
        self.taken.number_of(&self.tokens)
    }

    fn tokenize(&mut self, text: &str) {
        let Self { options, builder, tokens, scratch, .. } = self;
        tokens.clear();
        options.tokenizer.for_each(text, scratch, |token| tokens.push(TokenId(builder.add(token))));
    }
}

#[cfg(test)]
mod tests {
    use senv_core::NoObserver;

    use super::*;
    use crate::data::{source::Groups, taken::PartLimits};

    /// Returns the anchors of all groups with their entailed sentences, as text.
    fn groups(kind: PairKind, text: &str, group: bool, part: PartLimits) -> Vec<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.tsv");
        std::fs::write(&path, text).unwrap();
        let options = PairOptions { group, scratch_dir: Some(folder.path().to_owned()), ..PairOptions::default() };
        let (input, mut builder) = (PairInput { path, kind, weight: None }, VocabularyBuilder::default());
        let mut taken = Taken::new(Some(folder.path()), group, part).unwrap();
        read(&input, &options, &mut builder, &mut taken, &NoObserver).unwrap();
        let draft = taken.finish(kind).unwrap();
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
        let (once, twice) = (|group| groups(PairKind::Pairs, pairs, group, PartLimits::LARGEST), pairs.repeat(2));
        assert_eq!(once(true)[0], ("a".into(), vec!["b".into(), "e".into()]));
        for group in [false, true] {
            let parts = groups(PairKind::Pairs, &twice, group, PartLimits { pairs: 3, ..PartLimits::LARGEST });
            assert_eq!(parts, [once(group), once(group)].concat());
            let parts = groups(PairKind::Pairs, &twice, group, PartLimits { sentences: 5, ..PartLimits::LARGEST });
            assert_eq!(parts, [once(group), once(group)].concat());
            assert_eq!(groups(PairKind::Pairs, &twice, group, PartLimits::LARGEST).len(), if group { 2 } else { 6 });
        }
        let nli = "entailment\ta\tb\ncontradiction\ta\tc\nneutral\ta\td\n".repeat(2);
        let parts = groups(PairKind::Nli, &nli, true, PartLimits { pairs: 2, ..PartLimits::LARGEST });
        assert_eq!(parts, vec![("a".to_owned(), vec!["b".to_owned()]); 2]);
        let captions = "1\ta\n1\tb\n1\ta\n2\ta\n2\tc\n";
        let parts = |part| groups(PairKind::Captions, captions, false, part);
        assert_eq!(parts(PartLimits { sentences: 1, ..PartLimits::LARGEST }), parts(PartLimits::LARGEST));
    }
}
