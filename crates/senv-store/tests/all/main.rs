//! Tests of the public interface. A single binary, because linking each file separately takes longer.

mod common;
mod finalfusion;
mod glove_text;
mod model_file;
mod nearest;
mod npy;
mod terms;
mod word2vec_binary;
mod word2vec_text;
