//! What the tests of all formats share.
#![allow(dead_code, unreachable_pub)]

use std::{io::Read, path::PathBuf};

use senv_core::{Table, Vocabulary};
use senv_store::{Embeddings, Error, Format, LoadReport, ReadOptions, Result};
use tempfile::TempDir;

/// A folder for the files of one test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.path("file");
        write_anew(&path, bytes);
        path
    }
}

/// Writes a file under a name that may be taken. Some file systems write a file that is truncated and rewritten to the
/// disk at once, which is slow many thousand times over; a new one they do not.
pub fn write_anew(path: &std::path::Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

/// Reads a file of these bytes.
pub fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    let folder = Folder::new();
    Embeddings::read(folder.file(bytes), options)
}

pub fn read_as(bytes: &[u8], format: Format) -> Result<(Embeddings, LoadReport)> {
    read_with(bytes, &ReadOptions::default().format(format))
}

pub fn read(bytes: &[u8]) -> Result<(Embeddings, LoadReport)> {
    read_with(bytes, &ReadOptions::default())
}

pub fn error(bytes: &[u8]) -> Error {
    read(bytes).map(|(e, r)| (words(&e).join("|"), r)).expect_err("an error was expected")
}

pub fn words(embeddings: &Embeddings) -> Vec<String> {
    embeddings.iter().map(|(word, _)| word.to_owned()).collect()
}

pub fn values(embeddings: &Embeddings) -> Vec<f32> {
    embeddings.iter().flat_map(|(_, row)| row.to_vec()).collect()
}

/// The bits, so that NaN and minus zero are compared too.
pub fn bits(embeddings: &Embeddings) -> Vec<u32> {
    values(embeddings).into_iter().map(f32::to_bits).collect()
}

/// Embeddings of these words, all counts different.
pub fn embeddings(words: &[&str], dim: usize, values: &[f32]) -> Embeddings {
    let counts = words.iter().enumerate().map(|(i, word)| (word, 1000 - i as u64));
    let vocabulary = Vocabulary::from_counts(counts, 12_345).unwrap();
    Embeddings::new(vocabulary, Table::from_vec(words.len(), dim, values.to_vec()).unwrap()).unwrap()
}

/// Values that are hard to print: all bits used, subnormal, the smallest, the largest, minus zero.
pub const HARD: [f32; 8] = [0.1, -1.0 / 3.0, 1.234_5e-41, f32::from_bits(1), f32::MAX, f32::MIN, -0.0, 16_777_217.0];

/// A stream that gives one byte at a time.
pub struct Drops(pub std::io::Cursor<Vec<u8>>);

impl Read for Drops {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = out.len().min(1);
        self.0.read(&mut out[..n])
    }
}

pub fn read_in_drops(bytes: &[u8], options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    Embeddings::read_from(Drops(std::io::Cursor::new(bytes.to_vec())), "-", options)
}
