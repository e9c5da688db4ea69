//! The program, run as a user runs it, in tests that take minutes: whole tables, little memory, small disks, kills.
//! `cargo test` leaves them out; `.ci/run` runs them when the program has changed.
//!
//! ```text
//! cargo test --workspace --test long
//! ```

#[path = "../program/common.rs"]
mod common;
#[path = "../program/fault.rs"]
mod fault;
#[path = "../program/many_files.rs"]
mod many_files;
#[path = "../program/running.rs"]
mod running;

mod faults;
#[cfg(unix)]
mod kills;
mod reproduce;
mod scarce;
