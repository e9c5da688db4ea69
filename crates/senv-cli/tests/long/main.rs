//! Runs the program as a user does, in tests that take minutes: complete tables, little memory, small disks, kills.
//! `cargo test` skips them, and `.ci/run` runs them when the program has changed.
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
