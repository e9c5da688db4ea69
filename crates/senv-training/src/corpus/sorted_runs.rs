//! Token counts on disk, for texts whose distinct tokens exceed the memory limit.
//!
//! A thread with large counts writes them as a run, sorted by the bytes of the tokens, and starts counting again.
//! Merging the runs gives the exact count of every token. Only the tokens of the vocabulary are read back into memory.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    time::Instant,
};

use serde::{Deserialize, Serialize};

use super::storage::ScratchFile;
use senv_base::{Control, Error, Observer, Progress, Result};
use senv_model::{Vocabulary, words::VocabularyBuilder};

/// The number of bytes written at a time.
const AT_A_TIME: usize = 1 << 20;
/// The number of bytes of each run read at a time during merging.
const BUFFER: usize = 64 << 10;
/// The number of tokens merged between two checks of the observer.
const LOOK: u64 = 1 << 20;
/// The bytes of a record before the token: its length, provisional id and count.
const HEAD: usize = 16;

/// The counts of a thread over a range of pieces.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct SortedRun {
    /// The position in the file.
    start: u64,
    end: u64,
    n_tokens: usize,
}

/// The positions of the runs in their file, by the number of the set of provisional ids; `None` for a set that was
/// never written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct SortedRunList(Vec<Option<SortedRun>>);

impl SortedRunList {
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The number of sets of provisional ids.
    pub(super) fn n_sets(&self) -> usize {
        self.0.len()
    }

    /// The end of the last run.
    fn end(&self) -> u64 {
        self.0.iter().flatten().map(|run| run.end).max().unwrap_or(0)
    }
}

/// All runs of a text, back to back in one temporary file.
#[derive(Debug)]
pub(super) struct SortedRuns {
    folder: PathBuf,
    file: Option<ScratchFile>,
    end: u64,
    list: SortedRunList,
}

impl SortedRuns {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, file: None, end: 0, list: SortedRunList::default() }
    }

    /// The runs of a stored reading; `None` if the file does not contain them.
    pub(super) fn of_kept(
        file: Option<ScratchFile>,
        list: SortedRunList,
        checksum: u32,
        folder: &Path,
    ) -> Result<Option<Self>> {
        let (bytes, end) = (file.as_ref().map_or(Ok(0), ScratchFile::bytes)?, list.end());
        let holds =
            |run: &SortedRun| run.end.checked_sub(run.start).is_some_and(|n| run.n_tokens as u64 <= n / HEAD as u64);
        let in_order = list.0.iter().flatten().all(holds);
        let mut fits = in_order && end <= bytes;
        if let Some(file) = file.as_ref().filter(|_| fits) {
            fits = file.checksum(end)? == checksum;
        }
        Ok(fits.then(|| Self { folder: folder.to_owned(), file, end, list }))
    }

    /// Gives the file this name, if there is a file. Returns the positions of the runs and the checksum of all.
    pub(super) fn keep(&mut self, path: &Path) -> Result<(SortedRunList, u32)> {
        let end = self.end;
        let checksum = self.file.as_mut().map_or(Ok(0), |file| file.keep(path, end).and_then(|()| file.checksum(end)));
        Ok((self.list.clone(), checksum?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.file.is_none()
    }

    /// The number of sets of provisional ids.
    pub(super) fn n_sets(&self) -> usize {
        self.list.n_sets()
    }

    /// Writes the counts of a set of provisional ids; `order` contains the ids sorted by the bytes of their tokens.
    pub(super) fn write(&mut self, set: usize, builder: &VocabularyBuilder, order: &[u32]) -> Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(ScratchFile::create(&self.folder)?),
        };
        let start = self.end;
        let mut bytes = Vec::with_capacity(AT_A_TIME);
        for (i, &id) in order.iter().enumerate() {
            let (token, count) = builder.get(id);
            bytes.extend((token.len() as u32).to_le_bytes());
            bytes.extend(id.to_le_bytes());
            bytes.extend(count.to_le_bytes());
            bytes.extend(token.as_bytes());
            if bytes.len() >= AT_A_TIME || i + 1 == order.len() {
                file.write_bytes(self.end, &bytes)?;
                self.end += bytes.len() as u64;
                bytes.clear();
            }
        }
        let SortedRunList(runs) = &mut self.list;
        if runs.len() <= set {
            runs.resize(set + 1, None);
        }
        runs[set] = Some(SortedRun { start, end: self.end, n_tokens: order.len() });
        Ok(())
    }

    fn reader(&self, run: SortedRun, buffer: usize) -> Option<SortedRunReader<'_>> {
        let bytes = RunBytes { file: self.file.as_ref()?, position: run.start, end: run.end };
        Some(SortedRunReader { bytes: BufReader::with_capacity(buffer, bytes), token: Vec::new(), id: 0, count: 0 })
    }

    /// The final ids of a set; `unknown` for tokens that are not in the vocabulary.
    pub(super) fn table(&self, set: usize, vocabulary: &Vocabulary, unknown: u32) -> Result<Vec<u32>> {
        let Some(run) = self.list.0.get(set).copied().flatten() else { return Ok(Vec::new()) };
        let refused = |_| Error::OutOfMemory { what: "a vocabulary", bytes: 4 * run.n_tokens as u64 };
        let mut table = Vec::new();
        table.try_reserve_exact(run.n_tokens).map_err(refused)?;
        table.resize(run.n_tokens, unknown);
        if let Some(mut reader) = self.reader(run, AT_A_TIME) {
            while reader.advance()? {
                if let Some(id) = vocabulary.id(reader.token()?) {
                    *table.get_mut(reader.id as usize).ok_or_else(|| reader.damaged())? = id.0;
                }
            }
        }
        Ok(table)
    }

    /// Reads the counts of all sets of provisional ids back into memory.
    pub(super) fn builders(&self) -> Result<Vec<VocabularyBuilder>> {
        self.list
            .0
            .iter()
            .map(|run| run.map_or_else(|| Ok(VocabularyBuilder::default()), |run| self.builder(run)))
            .collect()
    }

    fn builder(&self, run: SortedRun) -> Result<VocabularyBuilder> {
        let mut counts: Vec<(String, u64)> = Vec::new();
        let bytes = (size_of::<(String, u64)>() * run.n_tokens) as u64;
        let refused = |_| Error::OutOfMemory { what: "a vocabulary", bytes };
        counts.try_reserve_exact(run.n_tokens).map_err(refused)?;
        counts.resize(run.n_tokens, (String::new(), 0));
        let mut builder = VocabularyBuilder::default();
        if let Some(mut reader) = self.reader(run, AT_A_TIME) {
            while reader.advance()? {
                let count = (reader.token()?.to_owned(), reader.count);
                *counts.get_mut(reader.id as usize).ok_or_else(|| reader.damaged())? = count;
            }
        }
        for (token, count) in counts {
            builder.try_add_many(&token, count)?;
        }
        Ok(builder)
    }

    /// The vocabulary of all runs, as [`VocabularyBuilder::finish_keeping`] builds it from one builder, and the number
    /// of distinct tokens.
    pub(super) fn vocabulary(
        &self,
        min_count: u64,
        max_vocabulary: Option<usize>,
        keep: &[String],
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, u64)> {
        let mut selected = Selected::new(min_count, max_vocabulary, keep);
        let runs: Vec<SortedRun> = self.list.0.iter().copied().flatten().collect();
        let mut readers: Vec<SortedRunReader<'_>> = runs.iter().filter_map(|&run| self.reader(run, BUFFER)).collect();
        let all: u64 = runs.iter().map(|run| run.n_tokens as u64).sum();
        let mut heap = BinaryHeap::with_capacity(readers.len());
        for (i, reader) in readers.iter_mut().enumerate() {
            if reader.advance()? {
                heap.push(Reverse((std::mem::take(&mut reader.token), i)));
            }
        }
        let (started, mut token, mut count, mut merged) = (Instant::now(), Vec::new(), 0_u64, 0_u64);
        while let Some(Reverse((next, i))) = heap.pop() {
            if next != token {
                selected.add(&token, count)?;
                token.clone_from(&next);
                count = 0;
            }
            let reader = &mut readers[i];
            count += reader.count;
            reader.token = next;
            if reader.advance()? {
                heap.push(Reverse((std::mem::take(&mut reader.token), i)));
            }
            merged += 1;
            if merged.is_multiple_of(LOOK) {
                let (done, seconds) = (merged as f64 / all as f64, started.elapsed().as_secs_f64());
                let progress = Progress { done, units: merged, seconds, ..Progress::default() };
                if observer.progress(&progress) == Control::Stop {
                    return Err(Error::Interrupted { action: "counting the words" });
                }
            }
        }
        selected.add(&token, count)?;
        selected.finish()
    }
}

/// The tokens that may be in the vocabulary.
struct Selected<'a> {
    min_count: u64,
    most: Option<usize>,
    keep: HashSet<&'a str>,
    builder: VocabularyBuilder,
    /// The occurrences of tokens that were left out.
    others: u64,
    distinct: u64,
    highest: u64,
}

impl<'a> Selected<'a> {
    /// Above twice the vocabulary plus this number, tokens that can no longer be in it are left out.
    const SLACK: usize = 1 << 16;

    fn new(min_count: u64, most: Option<usize>, keep: &'a [String]) -> Self {
        let keep = keep.iter().map(String::as_str).collect();
        Self { min_count, most, keep, builder: VocabularyBuilder::default(), others: 0, distinct: 0, highest: 0 }
    }

    fn add(&mut self, token: &[u8], count: u64) -> Result<()> {
        // Called before the first token.
        if count == 0 {
            return Ok(());
        }
        let token = str::from_utf8(token).map_err(|_| not_what_was_written(""))?;
        self.distinct += 1;
        self.highest = self.highest.max(count);
        if count < self.min_count.max(1) && !self.keep.contains(token) {
            self.others += count;
            return Ok(());
        }
        self.builder.try_add_many(token, count)?;
        match self.most {
            Some(most) if self.builder.len() > most.saturating_mul(2).saturating_add(Self::SLACK) => self.cut(most),
            _ => Ok(()),
        }
    }

    /// Leaves out tokens that are already too rare for the vocabulary.
    fn cut(&mut self, most: usize) -> Result<()> {
        let kept = self.builder.finish_keeping(1, Some(most), &self.kept_ids(), 0)?;
        let mut builder = VocabularyBuilder::default();
        let mut known = 0;
        for (_, token, count) in kept.iter() {
            builder.try_add_many(token, count)?;
            known += count;
        }
        self.others += kept.corpus_tokens() - known;
        self.builder = builder;
        Ok(())
    }

    /// The ids of the tokens to keep, among those seen so far.
    fn kept_ids(&self) -> Vec<u32> {
        if self.keep.is_empty() {
            return Vec::new();
        }
        (0_u32..)
            .zip(self.builder.iter())
            .filter(|(_, (token, _))| self.keep.contains(token))
            .map(|(id, _)| id)
            .collect()
    }

    fn finish(mut self) -> Result<(Vocabulary, u64)> {
        let keep: Vec<u32> = self.keep.iter().map(|token| self.builder.add_many(token, 0)).collect();
        if self.builder.is_empty() {
            let distinct = usize::try_from(self.distinct).unwrap_or(usize::MAX);
            return Err(Error::EmptyVocabulary { min_count: self.min_count, distinct, highest: self.highest });
        }
        let vocabulary = self.builder.finish_keeping(self.min_count, self.most, &keep, self.others)?;
        Ok((vocabulary, self.distinct))
    }
}

/// The bytes of a run, in order.
struct RunBytes<'a> {
    file: &'a ScratchFile,
    position: u64,
    end: u64,
}

impl Read for RunBytes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = to.len().min((self.end - self.position) as usize);
        self.file.read_bytes(self.position, &mut to[..n]).map_err(io::Error::other)?;
        self.position += n as u64;
        Ok(n)
    }
}

/// The records of a run, in order.
struct SortedRunReader<'a> {
    bytes: BufReader<RunBytes<'a>>,
    token: Vec<u8>,
    id: u32,
    count: u64,
}

impl SortedRunReader<'_> {
    /// Moves to the next record; false if there is none.
    fn advance(&mut self) -> Result<bool> {
        let has_more = self.bytes.fill_buf().map(|bytes| !bytes.is_empty());
        if !has_more.map_err(|e| self.failed(e))? {
            return Ok(false);
        }
        let mut head = [0; HEAD];
        self.bytes.read_exact(&mut head).map_err(|e| self.failed(e))?;
        let [length, id] = [0, 4].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        self.count = head[8..].iter().rev().fold(0, |count, &byte| count << 8 | u64::from(byte));
        self.id = id;
        self.token.clear();
        let read = (&mut self.bytes).take(u64::from(length)).read_to_end(&mut self.token);
        if read.map_err(|e| self.failed(e))? < length as usize {
            return Err(self.damaged());
        }
        Ok(true)
    }

    fn token(&self) -> Result<&str> {
        str::from_utf8(&self.token).map_err(|_| self.damaged())
    }

    /// The error that [`RunBytes`] wrapped.
    fn failed(&self, error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(_) => self.damaged(),
        }
    }

    fn damaged(&self) -> Error {
        not_what_was_written(self.bytes.get_ref().file.folder())
    }
}

fn not_what_was_written(folder: impl Into<PathBuf>) -> Error {
    Error::BadFile {
        path: folder.into(),
        reason: "a temporary file has changed since it was written; check the disk".into(),
    }
}
