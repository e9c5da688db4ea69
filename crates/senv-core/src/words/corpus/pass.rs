//! The one pass over the text: tokenizes pieces of it to provisional ids, on several threads.
//!
//! A free thread takes the next piece from the one reader, so pieces are handed out in order; the ids of a piece are
//! appended to the common storage as one stretch. Each thread counts with a vocabulary of its own, and sets it aside on the disk
//! when it has become large.

use std::{
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    block::DOCUMENT_END,
    runs::Runs,
    storage::{Growing, Storage},
};
use crate::{
    Control, CorpusOptions, Error, Observer, Progress, Result, TextOptions, Vocabulary,
    text::{BlockReader, TextBlock, check_line, cut_line},
    threads::{spawn_others, thread_count},
    words::VocabularyBuilder,
};

/// Bytes of text handed to a thread at a time.
const PIECE: usize = 1 << 20;
/// Time between two reports.
const REPORT: Duration = Duration::from_millis(100);
/// The id of an out-of-vocabulary token, where the vocabulary is given.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The ids of one piece of text, as stored: the length of each sentence, then all ids.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its index in the text.
    pub(super) number: u64,
    /// The set of provisional ids that its ids belong to.
    pub(super) set: usize,
    pub(super) file: usize,
    pub(super) start: u64,
    pub(super) n_sentences: usize,
    pub(super) n_ids: usize,
    /// Whether a blank line stands before the first sentence.
    pub(super) starts_document: bool,
    n_replaced: u64,
}

/// What the pass returns.
pub(super) struct PassOutput {
    /// In the order of the text.
    pub(super) pieces: Vec<Piece>,
    pub(super) storage: Storage,
    /// Lines in which invalid bytes were replaced.
    pub(super) n_replaced: u64,
}

/// The counts of all sets of provisional ids.
pub(super) enum Counts {
    /// By the number of the set: there is one for each thread.
    Memory(Vec<VocabularyBuilder>),
    /// All of them as runs.
    Disk(Runs),
}

/// Reads all files. The threads keep up to `count_bytes` of counts in memory. With `known`, tokens are looked up there and not counted.
/// With `part` (I, N), piece number i is read where i mod N is I.
pub(super) fn pass(
    paths: &[PathBuf],
    options: &CorpusOptions,
    known: Option<&Vocabulary>,
    part: Option<(u64, u64)>,
    count_bytes: usize,
    observer: &dyn Observer,
) -> Result<(PassOutput, Counts)> {
    let n_threads = thread_count(options.threads);
    // The length of a sentence has 31 bits.
    let max_line_bytes = options.max_line_bytes.min(DOCUMENT_END as usize - 1);
    let text = TextOptions { max_line_bytes, ..options.text_options() };
    let shared = Shared {
        input: Mutex::new(Input {
            blocks: BlockReader::open(paths, PIECE, false, &text)?,
            next: 0,
            bytes: size(paths),
            began: Instant::now(),
            reported: Instant::now(),
        }),
        storage: Mutex::new(Growing::new(options.scratch_dir.as_deref())),
        runs: Mutex::new(Runs::new(options.scratch_dir.clone().unwrap_or_else(std::env::temp_dir))),
        next_set: AtomicUsize::new(n_threads),
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
        let others = spawn_others(scope, n_threads, |thread| move || shared.work(thread));
        done.push(shared.work(0));
        for other in others {
            match other.join() {
                Ok(result) => done.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    if let Some((_, error)) = into_inner(shared.failure) {
        return Err(error);
    }
    let (workers, pieces): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    let mut runs = into_inner(shared.runs);
    let counts = if runs.is_empty() {
        Counts::Memory(workers.into_iter().map(|worker| worker.builder).collect())
    } else {
        for worker in workers {
            runs.write(worker.set, &worker.builder, &worker.builder.ids_by_token()?)?;
        }
        Counts::Disk(runs)
    };
    let mut pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
    pieces.sort_unstable_by_key(|piece| piece.number);
    let of_pieces: u64 = pieces.iter().map(|piece| piece.n_replaced).sum();
    let n_replaced = of_pieces + into_inner(shared.input).blocks.n_replaced();
    Ok((PassOutput { pieces, storage: into_inner(shared.storage).finish(), n_replaced }, counts))
}

/// Size of all files on the disk in bytes; `None` where one of them is not a regular file.
fn size(paths: &[PathBuf]) -> Option<u64> {
    paths.iter().map(|path| std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len())).sum()
}

struct Input {
    blocks: BlockReader,
    /// Index of the next piece.
    next: u64,
    bytes: Option<u64>,
    began: Instant,
    reported: Instant,
}

struct Shared<'a> {
    input: Mutex<Input>,
    storage: Mutex<Growing>,
    runs: Mutex<Runs>,
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

/// A lock holder that panics ends the whole pass, so its state is never seen.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Shared<'_> {
    /// The work of one thread, to the end of the text.
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
                // Pieces before this one were given out before it, so the first error of the text is found
                // whatever the number of threads.
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

    /// Takes the next piece of text, and reports to the observer now and then.
    fn take(&self, block: &mut TextBlock) -> (u64, Result<bool>) {
        let mut input = lock(&self.input);
        let (number, mut taken) = loop {
            let number = input.next;
            input.next += 1;
            let taken = input.blocks.next_block(block);
            let is_own = self.part.is_none_or(|(own, n)| number % n == own);
            if is_own || !matches!(taken, Ok(true)) {
                break (number, taken);
            }
        };
        if taken.is_ok() && input.reported.elapsed() >= REPORT {
            input.reported = Instant::now();
            let (units, seconds) = (self.n_tokens.load(Ordering::Relaxed), input.began.elapsed().as_secs_f64());
            let share = input.bytes.map_or(0.0, |bytes| input.blocks.consumed() as f64 / bytes.max(1) as f64);
            let progress = Progress {
                done: share.min(1.0),
                units,
                units_per_second: units as f64 / seconds.max(1e-9),
                seconds,
                ..Progress::default()
            };
            if self.observer.progress(&progress) == Control::Stop {
                taken = Err(Error::Interrupted { action: "reading the text" });
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
            )?;
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

    /// Writes the counts of a thread to the disk; the thread then counts anew.
    fn set_aside(&self, worker: &mut Worker) -> Result<()> {
        let order = worker.builder.ids_by_token()?;
        lock(&self.runs).write(worker.set, &worker.builder, &order)?;
        worker.builder = VocabularyBuilder::default();
        worker.set = self.next_set.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// What a thread keeps from piece to piece.
#[derive(Default)]
struct Worker {
    builder: VocabularyBuilder,
    /// The number of its set of provisional ids.
    set: usize,
    scratch: String,
    lengths: Vec<u32>,
    ids: Vec<u32>,
}
