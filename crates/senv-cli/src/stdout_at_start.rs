//! Whether standard output was open when the program was started.
//!
//! Before `main` the runtime of Rust opens `/dev/null` in the place of a standard stream that is closed, so that no
//! file gets its number. What is written there then seems to succeed, and afterwards nobody can tell it from a
//! redirection to `/dev/null`. So a function of this module looks before the runtime does.
#![allow(unsafe_code)] // for the section of the program that the system calls first

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether it was closed, as by `>&-` in a shell; `false` on systems where nobody looked.
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

    /// Asks for a second number of the stream, which a closed one cannot give. Nothing of the runtime is needed for
    /// that: one system call, another to give the number back.
    extern "C" fn look() {
        // SAFETY: the number is not -1, and it is not used once this function is over; where it stands for no open
        // file, the call below says so and does nothing else.
        let stdout = unsafe { BorrowedFd::borrow_raw(1) };
        super::CLOSED.store(stdout.try_clone_to_owned().is_err(), Ordering::Relaxed);
    }
}
