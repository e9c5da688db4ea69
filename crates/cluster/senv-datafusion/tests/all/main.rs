//! Compares the functions with plain senv, and runs the program as separate processes.

mod cluster;
mod columns;
mod encode;
mod functions;
mod near_duplicates;
mod processes;
#[cfg(feature = "s3")]
mod s3;
#[cfg(feature = "s3")]
mod s3_server;
mod support;
