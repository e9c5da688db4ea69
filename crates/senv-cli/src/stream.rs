//! Lines in, results out: read, worked on by all threads, written in the order of the input.
//!
//! A reader thread fills batches, workers turn each into bytes, the calling thread writes them in order and sends
//! them back to be filled again. The number of batches is fixed, so memory does not grow with the input.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, Builder},
};

use senv_core::{TextReader, threads::spawn_others};

use crate::{
    failure::{Failure, Result},
    text::Lines,
};

/// Lines of a batch at most.
const LINES: usize = 256;
/// Bytes of text of a batch, but for its last line.
const BYTES: usize = 1 << 18;

/// Lines and what became of them.
#[derive(Debug, Default)]
pub(crate) struct Batch<T> {
    /// The lines.
    pub(crate) lines: Lines,
    /// The bytes to be written for them.
    pub(crate) out: Vec<u8>,
    /// What else there is to tell.
    pub(crate) tally: T,
}

/// Sends all lines of `reader` through `work` on `threads` threads and then, in order, through `write`.
///
/// `work` finds `out` empty and `tally` at its default; `state` makes what each thread reuses from batch to batch.
/// `accept` sees the reader after each batch and may refuse the rest. After a failure what lies before it is still
/// written.
pub(crate) fn run<S, T: Default + Send>(
    reader: TextReader,
    accept: impl Fn(&TextReader) -> Result + Send,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut Batch<T>) -> Result + Sync,
    write: impl FnMut(&Batch<T>) -> Result,
) -> Result {
    let (free_in, free) = channel();
    let (filled_in, filled) = channel::<(u64, Batch<T>)>();
    let (done_in, done) = channel();
    for _ in 0..3 * threads + 2 {
        // The receiver is at hand.
        let _ = free_in.send(Batch::default());
    }
    let filled = Mutex::new(filled);
    thread::scope(|scope| {
        let refused = |e| senv_core::Error::io("start a thread for", "-", e);
        let worker = |_| {
            let (done_in, filled, state, work) = (done_in.clone(), &filled, &state, &work);
            move || {
                let mut state = state();
                loop {
                    let next = filled.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, mut batch)) = next else { return };
                    batch.out.clear();
                    batch.tally = T::default();
                    let result = work(&mut state, &mut batch);
                    if done_in.send((number, batch, result)).is_err() {
                        return;
                    }
                }
            }
        };
        // Those that were started do the work.
        if spawn_others(scope, threads + 1, worker).is_empty() {
            return Err(refused(std::io::ErrorKind::OutOfMemory.into()).into());
        }
        drop(done_in);
        // Last, so that nothing waits for a worker that could not be started.
        let reading =
            Builder::new().spawn_scoped(scope, move || fill(reader, accept, &free, &filled_in)).map_err(refused)?;
        // Gone at its end are the channels that the other threads wait on.
        let written = write_in_order(done, free_in, write);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(read)
    })
}

fn fill<T>(
    mut reader: TextReader,
    accept: impl Fn(&TextReader) -> Result,
    free: &Receiver<Batch<T>>,
    filled: &Sender<(u64, Batch<T>)>,
) -> Result {
    let mut first = 1;
    for number in 0.. {
        // No more batches come when writing has failed.
        let Ok(mut batch) = free.recv() else { break };
        batch.lines.number_from(first);
        let result = batch.lines.fill(&mut reader, LINES, BYTES);
        let n = batch.lines.len() as u64;
        first += n;
        if n > 0 && filled.send((number, batch)).is_err() {
            break;
        }
        result?;
        accept(&reader)?;
        if n == 0 {
            break;
        }
    }
    Ok(())
}

fn write_in_order<T>(
    done: Receiver<(u64, Batch<T>, Result)>,
    free: Sender<Batch<T>>,
    mut write: impl FnMut(&Batch<T>) -> Result,
) -> Result {
    let mut waiting: BTreeMap<u64, (Batch<T>, Result)> = BTreeMap::new();
    let mut next = 0;
    for (number, batch, result) in done {
        waiting.insert(number, (batch, result));
        while let Some((batch, result)) = waiting.remove(&next) {
            write(&batch)?;
            result?;
            next += 1;
            // The reader may be done.
            let _ = free.send(batch);
        }
    }
    Ok(())
}

/// The error of line `number` of the input.
pub(crate) fn bad_line(path: &std::path::Path, number: u64, reason: impl std::fmt::Display) -> Failure {
    let reason = format!("line {number}: {reason}");
    senv_core::Error::BadFile { path: path.to_owned(), reason }.into()
}
