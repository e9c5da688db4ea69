//! Tests of what is public. One binary for all: each would be linked for itself.

mod exports;
mod session;
