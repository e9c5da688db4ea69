//! Makes each system call that changes a file fail, in every command that writes.

use crate::fault;

#[test]
fn whichever_call_fails_what_is_said_is_what_is_there() {
    fault::check("all", false);
}

#[test]
fn a_disk_that_fails_for_good_at_any_call_leaves_what_is_said() {
    fault::check("all", true);
}

#[test]
fn a_signal_at_any_call_leaves_what_was_there_or_what_was_asked_for() {
    fault::check_interrupts(|_| true);
}
