//! Whether standard output was open when the program started.
//!
//! Before `main`, the Rust runtime opens `/dev/null` for each closed standard stream, so that no file gets its number.
//! Writes then seem to succeed, and cannot be told from a redirection to `/dev/null`. A function of this module
//! therefore checks before the runtime does.
#![allow(unsafe_code)] // for the section of the program that the system calls first

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether it was closed, as by `>&-` in a shell; `false` on systems where this is not checked.
pub(crate) fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod first {
    use std::{os::fd::BorrowedFd, sync::atomic::Ordering};

    // SAFETY: the section holds pointers to functions of this type, which the system calls one after another before
    // `main`, on the only thread that there is.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    /// Duplicates the file descriptor, which fails for a closed one. It needs nothing of the runtime: one system call,
    /// and another to close the duplicate.
    extern "C" fn look() {
        // SAFETY: the number is not -1, and it is not used after this function; if it is no open file, the call below
        // returns an error and does nothing else.
        let stdout = unsafe { BorrowedFd::borrow_raw(1) };
        super::CLOSED.store(stdout.try_clone_to_owned().is_err(), Ordering::Relaxed);
    }
}
