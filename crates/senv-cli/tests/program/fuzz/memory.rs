//! Records the largest block of memory that the thread of a test requests.
#![allow(unsafe_code)] // needed to implement an allocator

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Resets the record.
pub(super) fn start() {
    LARGEST.set(0);
}

/// The largest block since the start, in bytes.
pub(super) fn largest() -> usize {
    LARGEST.get()
}

struct Watch;

fn note(size: usize) {
    // Requests while a thread ends are not recorded.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is forwarded to the system allocator unchanged, and a `Cell` of a number allocates nothing.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;
