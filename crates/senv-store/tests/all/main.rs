//! Tests of what is public. One binary for all: each would be linked for itself.

mod common;
mod finalfusion;
mod glove_text;
mod model_file;
mod nearest;
mod npy;
mod word2vec_binary;
mod word2vec_text;
