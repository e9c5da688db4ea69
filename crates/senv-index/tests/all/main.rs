//! Tests of the public interface. A single binary, because linking each file separately takes longer.

mod collection;
mod collection_files;
mod common;
mod file;
mod index;
mod text_ids;
mod words;
