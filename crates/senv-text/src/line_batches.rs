//! Reads lines, processes them on all threads, and writes the results in input order.
//!
//! A reader thread fills batches, workers turn each into bytes, and the calling thread writes them in order and returns
//! them to the reader. The number of batches is fixed, so memory does not grow with the input.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, Builder},
};

use senv_base::{Error, threads::spawn_others};

use super::{Lines, TextReader};

/// The maximum number of lines in a batch.
const LINES: usize = 256;
/// The number of text bytes after which a batch takes no further line.
const BYTES: usize = 1 << 18;

/// Lines and their results.
#[derive(Debug, Default)]
pub struct LineBatch<T> {
    /// The lines.
    pub lines: Lines,
    /// The bytes to be written for them.
    pub out: Vec<u8>,
    /// Further results, such as counts.
    pub tally: T,
}

/// Processes all lines of `reader` with `work` on `threads` threads and passes the results to `write` in order, in
/// bounded memory.
///
/// `work` receives an empty `out` and a default `tally`. `state` creates what each thread reuses from batch to batch.
/// After a failure, the batches before it are still written.
///
/// ```
/// use senv_core::{Error, TextOptions, TextReader, text::{LineBatch, for_line_batches}};
/// let text = "one\ntwo words\n".as_bytes();
/// let reader = TextReader::from_reader("text", text, &TextOptions::default())?;
/// let count = |_: &mut (), batch: &mut LineBatch<usize>| -> Result<(), Error> {
///     batch.tally = batch.lines.iter().map(|(_, line)| line.split(' ').count()).sum();
///     Ok(())
/// };
/// let mut n_words = 0;
/// for_line_batches(reader, 2, || (), count, |batch| Ok(n_words += batch.tally))?;
/// assert_eq!(n_words, 3);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of reading, of `work` and of `write`; [`Error::Io`] if no thread can be started.
pub fn for_line_batches<S, T: Default + Send, E: From<Error> + Send>(
    reader: TextReader,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &mut LineBatch<T>) -> Result<(), E> + Sync,
    write: impl FnMut(&LineBatch<T>) -> Result<(), E>,
) -> Result<(), E> {
    let (free_in, free) = channel();
    let (filled_in, filled) = channel::<(u64, LineBatch<T>)>();
    let (done_in, done) = channel();
    for _ in 0..3 * threads + 2 {
        // The receiver exists.
        let _ = free_in.send(LineBatch::default());
    }
    let filled = Mutex::new(filled);
    thread::scope(|scope| {
        let refused = |e| Error::io("start a thread for", "-", e);
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
        // The threads that did start do the work.
        if spawn_others(scope, threads + 1, worker).is_empty() {
            return Err(refused(std::io::ErrorKind::OutOfMemory.into()).into());
        }
        drop(done_in);
        // Starts last, so nothing waits for a worker that could not be started.
        let reading = Builder::new().spawn_scoped(scope, move || fill(reader, &free, &filled_in)).map_err(refused)?;
        // When it ends, it drops the channels that the other threads wait on.
        let written = write_in_order(done, free_in, write);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(read)
    })
}

fn fill<T, E: From<Error>>(
    mut reader: TextReader,
    free: &Receiver<LineBatch<T>>,
    filled: &Sender<(u64, LineBatch<T>)>,
) -> Result<(), E> {
    let mut n_before = 0;
    for number in 0.. {
        // If writing has failed, no more batches arrive.
        let Ok(mut batch) = free.recv() else { break };
        batch.lines.go_on_from(n_before);
        let result = batch.lines.fill(&mut reader, LINES, BYTES);
        let n = batch.lines.len() as u64;
        n_before += n;
        if n > 0 && filled.send((number, batch)).is_err() {
            break;
        }
        result?;
        if n == 0 {
            break;
        }
    }
    Ok(())
}

fn write_in_order<T, E>(
    done: Receiver<(u64, LineBatch<T>, Result<(), E>)>,
    free: Sender<LineBatch<T>>,
    mut write: impl FnMut(&LineBatch<T>) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting: BTreeMap<u64, (LineBatch<T>, Result<(), E>)> = BTreeMap::new();
    let mut next = 0;
    for (number, batch, result) in done {
        waiting.insert(number, (batch, result));
        while let Some((batch, result)) = waiting.remove(&next) {
            write(&batch)?;
            result?;
            next += 1;
            // The reader may have finished.
            let _ = free.send(batch);
        }
    }
    Ok(())
}
