//! Tests of what is public. One binary for all: each would be linked for itself.

mod collection;
mod collection_files;
mod common;
mod file;
mod index;
