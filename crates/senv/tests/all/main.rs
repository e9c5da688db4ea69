//! Tests of what is public. One binary for all: each would be linked for itself.

mod auto_traits;
mod gradient;
mod gran;
mod initial_model;
mod models;
mod noise;
mod own_parts;
mod pv_dm_gensim;
mod ranks;
mod recipe;
mod recurrent;
mod released_bin;
mod released_skip_thoughts;
mod settings_as_json;
mod train_job;
mod weights;

/// Writes a new file. One that is cut to nothing and filled again is brought to the disk at once, which takes a while
/// where thousands are.
fn write_anew(path: &std::path::Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}
