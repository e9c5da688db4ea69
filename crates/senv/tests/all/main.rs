//! Tests of the public interface. A single binary, because linking each file separately takes longer.

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

/// Writes a new file. Some systems immediately flush a file that is truncated and rewritten, which takes long with
/// thousands of files.
fn write_anew(path: &std::path::Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}
