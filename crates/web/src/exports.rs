//! The C ABI that a page calls: bytes in, JSON out.
//!
//! A caller writes UTF-8 into the memory that [`senv_input`] returns and calls a function. It then reads the JSON at
//! [`senv_answer`], whose length the function returns. An error is `{"error": "..."}`. Addresses are valid until the
//! next call. Nothing here dereferences an address of the caller: bytes are written into a vector of the session, and
//! every length that the caller passes is compared with it.
//!
//! There is one session per thread, which in a browser means one per page.
#![allow(unsafe_code)] // only for the attribute `no_mangle`, whose names are unique in the program

use std::cell::RefCell;

use serde::Serialize;

use crate::Session;

/// The data that the calls of a thread share.
#[derive(Default)]
struct Shared {
    session: Option<Session>,
    input: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static SHARED: RefCell<Shared> = RefCell::default();
}

#[derive(Serialize)]
struct Failed {
    error: String,
}

/// Writes the result of `work` for the session and the input as the answer; returns its length.
fn answer<A: Serialize>(work: impl FnOnce(&mut Session, &mut Vec<u8>) -> senv_core::Result<A>) -> usize {
    SHARED.with_borrow_mut(|shared| {
        let Shared { session, input, answer } = shared;
        let done = match session {
            Some(session) => work(session, input).map_err(|error| error.to_string()),
            None => Err("the session was not started: call senv_start first".to_owned()),
        };
        answer.clear();
        let written = match done {
            Ok(value) => serde_json::to_writer(&mut *answer, &value),
            Err(error) => serde_json::to_writer(&mut *answer, &Failed { error }),
        };
        if written.is_err() {
            answer.clear();
        }
        answer.len()
    })
}

/// Opens the model, unless it is already open. The answer describes it: `{"dim", "line_dim", "words", "bytes"}`.
#[unsafe(no_mangle)]
pub extern "C" fn senv_start() -> usize {
    let failed = SHARED.with_borrow_mut(|shared| {
        if shared.session.is_none() {
            match Session::new() {
                Ok(session) => shared.session = Some(session),
                Err(error) => return Some(error),
            }
        }
        None
    });
    match failed {
        None => answer(|session, _| Ok(session.about())),
        Some(error) => SHARED.with_borrow_mut(|shared| {
            shared.answer = serde_json::to_vec(&Failed { error: error.to_string() }).unwrap_or_default();
            shared.answer.len()
        }),
    }
}

/// Returns where to write the next input of `n_bytes` bytes; null if memory runs out.
#[unsafe(no_mangle)]
pub extern "C" fn senv_input(n_bytes: usize) -> *mut u8 {
    SHARED.with_borrow_mut(|shared| {
        let input = &mut shared.input;
        input.clear();
        if input.capacity() > 1 << 20 && n_bytes < 1 << 16 {
            // Frees the memory of a large text before the short ones after it.
            input.shrink_to(1 << 16);
        }
        if input.try_reserve_exact(n_bytes).is_err() {
            return std::ptr::null_mut();
        }
        input.resize(n_bytes, 0);
        input.as_mut_ptr()
    })
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn senv_answer() -> *const u8 {
    SHARED.with_borrow(|shared| shared.answer.as_ptr())
}

/// Compares two sentences: the first `first_bytes` bytes of the input, and the rest. See [`crate::Comparison`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_compare(first_bytes: usize) -> usize {
    answer(|session, input| {
        let (first, second) = input.split_at(first_bytes.min(input.len()));
        Ok(session.compare(&String::from_utf8_lossy(first), &String::from_utf8_lossy(second)))
    })
}

/// Embeds the input. See [`crate::Embedding`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_embed() -> usize {
    answer(|session, input| Ok(session.embed(&String::from_utf8_lossy(input))))
}

/// Opens the input as the text to search, one sentence per line; the answer is `null`.
#[unsafe(no_mangle)]
pub extern "C" fn senv_open_text() -> usize {
    answer(|session, input| session.open_text(std::mem::take(input)))
}

/// Opens the input as the collection to search, a file written by `senv index --export-web`. See [`crate::Opened`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_open_collection() -> usize {
    answer(|session, input| session.open_collection(std::mem::take(input)))
}

/// Reads up to `at_most` further lines of the text, or checks an equivalent part of the collection. See
/// [`crate::Reading`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_read_lines(at_most: usize) -> usize {
    answer(|session, _| session.read_lines(at_most))
}

/// Sets the input as the query, to find its `k` nearest lines. See [`crate::Counts`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_ask(k: usize) -> usize {
    answer(|session, input| Ok(session.ask(&String::from_utf8_lossy(input), k)))
}

/// Compares the query with up to `at_most` further lines. See [`crate::Searching`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_search(at_most: usize) -> usize {
    answer(|session, _| Ok(session.search(at_most)))
}

/// Returns the nearest lines or sentences so far: an array of [`crate::Hit`].
#[unsafe(no_mangle)]
pub extern "C" fn senv_hits() -> usize {
    answer(|session, _| Ok(session.hits()))
}

/// Returns the positions of the line vectors: an array with the address and the number of f32 values of each block of
/// whole rows.
#[unsafe(no_mangle)]
pub extern "C" fn senv_vectors() -> usize {
    answer(|session, _| Ok(session.vectors().map(|block| [block.as_ptr().addr(), block.len()]).collect::<Vec<_>>()))
}
