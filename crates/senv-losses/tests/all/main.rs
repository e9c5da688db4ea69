//! Tests of what is public. One binary for all: each would be linked for itself.

mod decoder_losses;
mod properties;
mod reference;
