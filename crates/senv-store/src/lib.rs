//! The embedding store: words and their rows, in memory or memory-mapped, and exact nearest-neighbour search by cosine.
//!
//! [`Embeddings`] combines a vocabulary and a table. [`Embeddings::open`] reads the formats of other programs (word2vec
//! text and binary, GloVe text, fastText `.vec`, each also as `.gz`), detected from their content. [`Embeddings::save`]
//! writes senv's model file, which is memory-mapped and opens in milliseconds at any size. [`NearestIndex`] finds the
//! nearest rows by cosine, exactly; [`NearestStream`] does the same for rows that arrive in parts.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (text, model) = (folder.path().join("vectors.txt"), folder.path().join("vectors.safetensors"));
//! use senv_store::{Embeddings, NearestIndex};
//! std::fs::write(&text, "cat 1 0.5\ndog 1 0.75\nsun -0.5 1\n")?;
//!
//! let embeddings = Embeddings::open(&text)?;
//! embeddings.save(&model)?;
//!
//! let embeddings = Embeddings::open(&model)?;
//! let cat = embeddings.get("cat").ok_or("no cat")?;
//! let nearest = NearestIndex::new(&embeddings).nearest(cat, 2)?;
//! let words: Vec<&str> = nearest.iter().map(|n| embeddings.word(n.row)).collect();
//! assert_eq!(words, ["cat", "dog"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Files are not trusted. Every declared size is compared with the length of the file before memory is allocated;
//! [`ReadOptions`] sets limits and policies. An [`Error`] gives file, position, what was expected and what to do. Files
//! are written by atomic replacement.
//!
//! [`ModelFile`] and [`ModelWriter`] read and write whole models: tensors, metadata, a version and checksums in a
//! safetensors file. [`NpyWriter`] and [`read_npy`] exchange matrices with NumPy.
//!
//! [`Sif`] and [`Usif`] compute frequency weights of words, [`weighted_sentence`] averages with such weights, and
//! [`CommonComponents`] does common-component removal.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod byte_window;
mod collect;
mod common_components;
mod common_components_eigen;
mod common_components_weights;
mod detect;
mod embedding_files;
mod embeddings;
mod error;
mod finalfusion;
mod license_file;
mod matrix;
mod nearest;
mod nearest_stream;
mod npy;
mod npy_header;
mod number;
mod options;
mod row_text;
mod text_read;
mod text_write;
#[cfg(feature = "arrow")]
mod vector_table;
mod word2vec_binary;
mod word_lookup;

pub use common_components::{CommonComponents, SecondMoment};
pub use common_components_weights::{
    DEFAULT_SIF_A, DEFAULT_USIF_LENGTH, RowSum, Sif, Usif, load_weights_from, save_weights_into, weighted_sentence,
    weighted_sentence_with,
};
pub use embeddings::Embeddings;
pub use error::{Error, Position, Result};
pub use nearest::{NearestIndex, Neighbour};
pub use nearest_stream::NearestStream;
pub use npy::{NpyReader, NpyWriter, read_npy, read_npy_marked, read_npy_stream, write_npy};
pub use options::{Duplicates, Format, LoadReport, NonFinite, ReadOptions};
pub use row_text::{Digits, is_text_of_rows, push_row};
pub use senv_core::{ModelFile, ModelWriter, files::FORMAT_VERSION, text::InvalidUtf8};

#[cfg(feature = "arrow")]
pub use vector_table::{VectorPrecision, VectorTableWriter};
pub use word_lookup::{WordCase, tokenizer_of_words};
/// The crates whose types [`VectorTableWriter`] takes.
#[cfg(feature = "arrow")]
pub use {arrow_array, arrow_schema};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
