//! The largest piece of memory that the thread of a test asks for.
#![allow(unsafe_code)] // an allocator cannot be written without

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Forgets what was asked for before.
pub(super) fn start() {
    LARGEST.set(0);
}

/// The largest piece since the start, in bytes.
pub(super) fn largest() -> usize {
    LARGEST.get()
}

struct Watch;

fn note(size: usize) {
    // Nothing is noted while a thread ends.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call goes to the allocator of the system as it is; a `Cell` of a number allocates nothing.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the promise of the caller, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the promise of the caller, passed on.
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the promise of the caller, passed on.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;
