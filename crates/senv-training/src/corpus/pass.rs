//! The single pass over the text: tokenizes pieces of it to provisional ids, on several threads.
//!
//! A free thread takes the next piece from the shared reader, so pieces are handed out in order. The ids of a piece are
//! appended to the shared storage as one stretch. Each thread counts with its own vocabulary, and writes it to disk
//! when it becomes large.

use std::{
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use super::{
    block::DOCUMENT_END,
    kept::{KeptReading, Resumed, reading_of},
    piece::Piece,
    sorted_runs::SortedRuns,
    storage::{Growing, Storage},
};
use crate::{CorpusOptions, ranks, ranks::Reduce};
use senv_base::{
    Error, Observer, Result,
    threads::{spawn_others, thread_count},
};
use senv_model::{Vocabulary, words::VocabularyBuilder};
use senv_text::{BlockReader, ReadingProgress, TextBlock, TextOptions, check_line, cut_line, in_cell};

/// The bytes of text handed to a thread at a time.
const PIECE: usize = 1 << 20;
/// The id of an out-of-vocabulary token, if the vocabulary is given.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The result of the pass.
pub(super) struct PassOutput {
    /// In the order of the text.
    pub(super) pieces: Vec<Piece>,
    pub(super) storage: Storage,
    /// The number of lines in which invalid bytes were replaced.
    pub(super) n_replaced: u64,
}

/// The counts of all sets of provisional ids.
pub(super) enum Counts {
    /// By the number of the set; each thread has one.
    Memory(Vec<VocabularyBuilder>),
    /// All of them, as sorted runs.
    Disk(SortedRuns),
}

/// Reads all files. The threads keep up to `count_bytes` of counts in memory. With `known`, tokens are looked up there
/// and not counted. Of R ranks, rank r reads the pieces i with i mod R = r; if one rank is stopped, all are.
pub(super) fn pass(
    paths: &[PathBuf],
    options: &CorpusOptions,
    known: Option<&Vocabulary>,
    ranks: Option<&dyn Reduce>,
    count_bytes: usize,
    observer: &dyn Observer,
) -> Result<(PassOutput, Counts)> {
    let n_threads = thread_count(options.threads);
    // The length of a sentence is stored in 31 bits.
    let max_line_bytes = options.max_line_bytes.min(DOCUMENT_END as usize - 1);
    let text = TextOptions { max_line_bytes, ..options.text_options() };
    let part = ranks.map(|ranks| (ranks.rank() as u64, ranks.n_ranks() as u64));
    let kept = options.kept.as_ref();
    let kept = kept.and_then(|kept| Some((kept, reading_of(paths, &options.tokenizer, &text, known, part)?)));
    let resumed = kept.as_ref().and_then(|(kept, of)| kept.load(of).transpose()).transpose()?;
    let progress = ReadingProgress::new(paths, "reading the text");
    let mut input = Input {
        blocks: BlockReader::open(paths, PIECE, false, &text)?,
        next: 0,
        progress: if cfg!(test) { progress.at_each_call() } else { progress },
    };
    let mut before = Vec::new();
    let (storage, runs) = if let Some(Resumed { done, state, storage, runs }) = resumed {
        if let Err(error) = input.skip(state.next, done, observer) {
            // The stored reading is kept.
            return Err(of_all(ranks, Some(error))?.unwrap_or(Error::Interrupted { action: "reading the text" }));
        }
        before = state.pieces;
        (storage, runs)
    } else {
        let folder = options.scratch_dir.clone().unwrap_or_else(std::env::temp_dir);
        (Growing::new(options.scratch_dir.as_deref()), SortedRuns::new(folder))
    };
    let first_set = runs.n_sets();
    let shared = Shared {
        input: Mutex::new(input),
        storage: Mutex::new(storage),
        runs: Mutex::new(runs),
        next_set: AtomicUsize::new(first_set + n_threads),
        count_bytes: count_bytes / n_threads,
        failure: Mutex::new(None),
        stop: AtomicBool::new(false),
        n_tokens: AtomicU64::new(0),
        paths,
        text,
        options,
        known,
        part,
        observer,
    };
    let mut done = Vec::with_capacity(n_threads);
    std::thread::scope(|scope| {
        let shared = &shared;
        let others = spawn_others(scope, n_threads, |thread| move || shared.work(first_set + thread));
        done.push(shared.work(first_set));
        for other in others {
            match other.join() {
                Ok(result) => done.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let Shared { failure, input, storage, runs, .. } = shared;
    let (input, mut storage, mut runs) = (into_inner(input), into_inner(storage), into_inner(runs));
    let (workers, pieces): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    let mut pieces: Vec<Piece> = before.into_iter().chain(pieces.into_iter().flatten()).collect();
    pieces.sort_unstable_by_key(|piece| piece.number);
    let (number, own) = into_inner(failure).map_or((input.next, None), |(number, error)| (number, Some(error)));
    if let Some(error) = of_all(ranks, own)? {
        let stopped = matches!(error, Error::Interrupted { .. });
        if let Some((kept, of)) = kept.filter(|_| stopped && !storage.is_in_memory())
            && kept.has_room(KeptReading::KIND)
        {
            let done = input.progress.share(input.blocks.consumed());
            let written = set_all_aside(workers, &mut runs)
                .and_then(|()| kept.keep_corpus(&of, done, (number, pieces), &mut storage, &mut runs));
            if let Err(error) = written {
                observer.note_with(&format_args!("the text read so far could not be saved: {error}"), error.remedies());
            }
        }
        return Err(error);
    }
    let counts = if runs.is_empty() || ranks.is_some() {
        // Ranks send their counts to each other, which needs them in memory.
        let mut builders = runs.builders()?;
        builders.extend(workers.into_iter().map(|worker| worker.builder));
        Counts::Memory(builders)
    } else {
        set_all_aside(workers, &mut runs)?;
        Counts::Disk(runs)
    };
    if let Some((kept, _)) = &kept {
        // From now on, the ids are replaced by those of the vocabulary.
        kept.remove_corpus()?;
    }
    let n_replaced = pieces.iter().map(|piece| piece.n_replaced).sum::<u64>() + input.blocks.n_replaced();
    Ok((PassOutput { pieces, storage: storage.finish(), n_replaced }, counts))
}

/// The error that ended the reading on this rank, or an interruption on another: if one rank is stopped, all are.
fn of_all(ranks: Option<&dyn Reduce>, own: Option<Error>) -> Result<Option<Error>> {
    let is_stopped = matches!(own, Some(Error::Interrupted { .. }));
    match ranks {
        // Any other error ends the run of this rank, and so that of the others.
        Some(ranks) if own.is_none() || is_stopped => {
            let [n_stopped] = ranks::sum(ranks, [f64::from(u8::from(is_stopped))])?;
            Ok(own.or_else(|| (n_stopped > 0.0).then_some(Error::Interrupted { action: "reading the text" })))
        }
        _ => Ok(own),
    }
}

fn set_all_aside(workers: Vec<Worker>, runs: &mut SortedRuns) -> Result<()> {
    workers.iter().try_for_each(|worker| runs.write(worker.set, &worker.builder, &worker.builder.ids_by_token()?))
}

struct Input {
    blocks: BlockReader,
    /// The index of the next piece.
    next: u64,
    progress: ReadingProgress,
}

impl Input {
    /// Skips the first pieces, whose ids an earlier reading stored. `done` is the share of the work that they
    /// represent.
    fn skip(&mut self, n: u64, done: f64, observer: &dyn Observer) -> Result<()> {
        let mut block = TextBlock::default();
        while self.next < n && self.blocks.next_block(&mut block)? {
            self.next += 1;
            self.progress.report_of(done, self.blocks.consumed(), None, observer)?;
        }
        Ok(())
    }
}

struct Shared<'a> {
    input: Mutex<Input>,
    storage: Mutex<Growing>,
    runs: Mutex<SortedRuns>,
    /// The number of the next set of provisional ids.
    next_set: AtomicUsize,
    count_bytes: usize,
    /// The first piece of the text that failed, and its error.
    failure: Mutex<Option<(u64, Error)>>,
    stop: AtomicBool,
    n_tokens: AtomicU64,
    paths: &'a [PathBuf],
    text: TextOptions,
    options: &'a CorpusOptions,
    known: Option<&'a Vocabulary>,
    part: Option<(u64, u64)>,
    observer: &'a dyn Observer,
}

/// If a thread panics while holding a lock, the whole pass ends, so the state is never seen.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// The work of one thread, up to the end of the text.
    fn work(&self, thread: usize) -> (Worker, Vec<Piece>) {
        let mut worker = Worker { set: thread, ..Worker::default() };
        let mut pieces = Vec::new();
        let mut block = TextBlock::default();
        while !self.stop.load(Ordering::Relaxed) {
            let (number, taken) = self.take(&mut block);
            let result = match taken {
                Ok(false) => break,
                Ok(true) => self.tokenize(&mut worker, &block),
                Err(error) => Err(error),
            };
            match result {
                Ok(piece) => pieces.push(Piece { number, ..piece }),
                // Earlier pieces were handed out earlier, so the first error of the text is found at any number of
                // threads.
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    let mut failure = lock(&self.failure);
                    if failure.as_ref().is_none_or(|&(first, _)| number < first) {
                        *failure = Some((number, error));
                    }
                    break;
                }
            }
        }
        (worker, pieces)
    }

    /// Takes the next piece of text, and reports to the observer from time to time.
    fn take(&self, block: &mut TextBlock) -> (u64, Result<bool>) {
        let mut input = lock(&self.input);
        // Another thread was asked to stop: nothing after its piece is read, so the text read has no gap.
        if self.stop.load(Ordering::Relaxed) {
            return (input.next, Ok(false));
        }
        let (number, mut taken) = loop {
            let number = input.next;
            input.next += 1;
            let taken = input.blocks.next_block(block);
            let is_own = self.part.is_none_or(|(own, n)| number % n == own);
            if is_own || !matches!(taken, Ok(true)) {
                break (number, taken);
            }
        };
        if taken.is_ok() {
            let Input { blocks, progress, .. } = &mut *input;
            let n_tokens = self.n_tokens.load(Ordering::Relaxed);
            if let Err(error) = progress.report(blocks.consumed(), Some(n_tokens), self.observer) {
                self.stop.store(true, Ordering::Relaxed);
                taken = Err(error);
            }
        }
        (number, taken)
    }

    /// Tokenizes a piece of text and stores the ids.
    fn tokenize(&self, worker: &mut Worker, block: &TextBlock) -> Result<Piece> {
        if worker.builder.bytes() > self.count_bytes {
            self.set_aside(worker)?;
        }
        let Worker { builder, set, scratch, lengths, ids } = worker;
        lengths.clear();
        ids.clear();
        let bytes = block.bytes();
        let (mut position, mut place) = (0, 0);
        let (mut starts_document, mut n_replaced) = (false, 0);
        while position < bytes.len() {
            let (line, end) = cut_line(bytes, position);
            let text = check_line(
                line,
                &self.paths[block.file],
                block.number(place),
                self.text.max_line_bytes,
                self.text.invalid_utf8,
            )
            .map_err(|error| in_cell(error, line, self.text.table.as_ref().map(|table| &table.columns[..])))?;
            n_replaced += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            let before = ids.len();
            match self.known {
                None => {
                    let mut failed = None;
                    self.options.tokenizer.for_each(&text, scratch, |token| match builder.try_add(token) {
                        Ok(id) => ids.push(id),
                        Err(error) => failed = Some(error),
                    });
                    if let Some(error) = failed {
                        return Err(error);
                    }
                }
                Some(known) => self
                    .options
                    .tokenizer
                    .for_each(&text, scratch, |token| ids.push(known.id(token).map_or(UNKNOWN, |id| id.0))),
            }
            match (ids.len() - before, lengths.last_mut()) {
                (0, None) => starts_document = true,
                (0, Some(last)) => *last |= DOCUMENT_END,
                (n, _) => lengths.push(n as u32),
            }
            position = end;
            place += 1;
        }
        self.n_tokens.fetch_add(ids.len() as u64, Ordering::Relaxed);
        let start = lock(&self.storage).append([lengths, ids])?;
        let (n_sentences, n_ids) = (lengths.len(), ids.len());
        let set = *set;
        Ok(Piece { number: 0, set, file: block.file, start, n_sentences, n_ids, starts_document, n_replaced })
    }

    /// Writes the counts of a thread to disk; the thread then starts counting again.
    fn set_aside(&self, worker: &mut Worker) -> Result<()> {
        let order = worker.builder.ids_by_token()?;
        lock(&self.runs).write(worker.set, &worker.builder, &order)?;
        worker.builder = VocabularyBuilder::default();
        worker.set = self.next_set.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// The data that a thread keeps from piece to piece.
#[derive(Default)]
struct Worker {
    builder: VocabularyBuilder,
    /// The number of its set of provisional ids.
    set: usize,
    scratch: String,
    lengths: Vec<u32>,
    ids: Vec<u32>,
}
