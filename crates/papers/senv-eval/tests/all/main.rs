//! Tests of what is public. One binary for all: each would be linked for itself.

mod bench;
mod protocols;
mod relatedness;
mod similarity;
mod sts;
