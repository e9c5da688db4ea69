//! The English model without files or threads: in a browser, at the edge, in a plugin. It needs only `senv-core` and
//! `senv-english`, compiled to a module of 8 MB, most of which is the model; `crates/web` makes a page from them.
//!
//! ```text
//! rustup target add wasm32-unknown-unknown
//! cargo build --release -p senv-web --example web_assembly --target wasm32-unknown-unknown
//! ```
//!
//! A host writes two UTF-8 sentences, one directly after the other, to the address that `input` returns, and calls
//! `similarity`.
#![allow(unsafe_code)] // only for the names of the functions: no address of the host is followed
use std::cell::RefCell;

use senv_core::StaticEncoder;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ENGLISH: Option<StaticEncoder> = senv_english::model().ok();
}

/// Room for this many bytes, at the place where the host writes them.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.resize(len, 0);
        input.as_mut_ptr()
    })
}

/// The cosine of two sentences, of which the first ends before byte `end`; 2 for invalid text.
#[unsafe(no_mangle)]
pub extern "C" fn similarity(end: usize) -> f32 {
    INPUT.with_borrow(|input| {
        let text = std::str::from_utf8(input).ok();
        let Some((first, second)) = text.and_then(|text| text.split_at_checked(end)) else { return 2.0 };
        ENGLISH.with(|english| english.as_ref().map_or(2.0, |english| english.similarity(first, second)))
    })
}

#[test]
fn a_host_gets_the_cosine_of_what_it_wrote() {
    let (first, second) = ("Rain is coming.", "A storm brings rain.");
    input(first.len() + second.len());
    INPUT.with_borrow_mut(|input| input.copy_from_slice(format!("{first}{second}").as_bytes()));
    assert!((0.4..=1.0).contains(&similarity(first.len())));
    assert_eq!(similarity(99), 2.0);
}
