//! A digest of a model file, which tells models apart.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use senv_store::ModelFile;

use crate::{base::fingerprint::Fingerprint, error::Result};

/// The number of pieces sampled from a file of another program, and the bytes in each.
const PIECES: u64 = 64;
const PIECE_BYTES: u64 = 1 << 16;

/// Returns a digest of a model file or Model2Vec folder, in hexadecimal digits. Different models have different
/// digests.
///
/// The header of a senv file has checksums of its tensors, so its digest covers the whole file without reading it. For
/// other files the digest covers the length and 64 pieces spread evenly over the file. It protects against mistakes,
/// not against malice. With the feature `english`, the name `english` means the built-in model, as in
/// [`crate::Model::open`].
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.txt"), folder.path().join("my.senv"));
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog sat on the rug\nrain falls\n".repeat(20))?;
/// senv::Sent2Vec::train(&text)?.save(&path)?;
/// let digest = senv::model::model_digest(&path)?;
/// assert_eq!(senv::model::model_digest(&path)?, digest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::Io`] if the file cannot be read.
pub fn model_digest(path: impl AsRef<Path>) -> Result<String> {
    let path = path.as_ref();
    #[cfg(feature = "english")]
    if crate::base::english_name::is_english(path) {
        return Ok(of_model(&ModelFile::from_bytes(senv_english::BYTES)?));
    }
    if path.is_dir() {
        return of_folder(path);
    }
    match ModelFile::open(path) {
        Ok(file) if file.has_checksums() => Ok(of_model(&file)),
        _ => Ok(of_pieces(path).map_err(|e| senv_core::Error::io("read", path, e))?),
    }
}

/// Returns the digest of a model without a file, from the bytes it would be written as.
pub(crate) fn of_written(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<String> {
    let mut bytes = Bytes(Vec::new());
    write(&mut bytes)?;
    Ok(of_model(&ModelFile::from_bytes(bytes.0)?))
}

/// Bytes in memory; returns an error if memory runs out.
struct Bytes(Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.try_reserve(bytes.len()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The files of a folder that contains a model.
const FILES: [&str; 5] =
    ["config.json", "config_sentence_transformers.json", "model.safetensors", "modules.json", "tokenizer.json"];

/// Returns the digest of a Model2Vec folder, over the files that determine what the model does.
fn of_folder(folder: &Path) -> Result<String> {
    let (mut sum, mut is_empty) = (Fingerprint::new(), true);
    for folder in [folder.to_owned(), folder.join("0_StaticEmbedding")] {
        for path in FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()) {
            sum = sum.text(&of_pieces(&path).map_err(|e| senv_core::Error::io("read", &path, e))?);
            is_empty = false;
        }
    }
    if is_empty {
        let (path, found, remedy) = (folder.to_owned(), "a folder", "");
        return Err(senv_core::Error::NotAFile { path, found, remedy }.into());
    }
    Ok(sum.hex())
}

/// Returns the digest of a file with checksums.
pub(crate) fn of_model(file: &ModelFile) -> String {
    let sum = file.metadata().iter().fold(Fingerprint::new(), |sum, (key, value)| sum.text(key).text(value));
    let tensors = file
        .tensors()
        .fold(sum, |sum, (name, dtype, shape, _)| sum.text(name).text(&dtype).numbers(shape.iter().map(|&n| n as u64)));
    tensors.hex()
}

fn of_pieces(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut sum = Fingerprint::new().number(len);
    let mut piece = Vec::new();
    let last = len.saturating_sub(PIECE_BYTES);
    let n = if last < PIECES * PIECE_BYTES { len.div_ceil(PIECE_BYTES) } else { PIECES };
    for i in 0..n {
        let start = if n < PIECES {
            i * PIECE_BYTES
        } else {
            (u128::from(last) * u128::from(i) / u128::from(PIECES - 1)) as u64
        };
        file.seek(SeekFrom::Start(start))?;
        piece.clear();
        (&mut file).take(PIECE_BYTES).read_to_end(&mut piece)?;
        let (words, rest) = piece.as_chunks::<8>();
        sum =
            sum.numbers(words.iter().map(|word| u64::from_le_bytes(*word))).numbers(rest.iter().map(|&b| u64::from(b)));
    }
    Ok(sum.hex())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_piece_and_another_length_change_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.vec");
        let digest = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            model_digest(&path).unwrap()
        };
        for len in [0, 5, 1 << 16, (1 << 16) + 3, 3 << 20, 5 << 20] {
            let bytes: Vec<u8> = (0..len).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let whole = digest(&bytes);
            assert_eq!(digest(&bytes), whole);
            assert_ne!(digest(&[&bytes[..], b"x"].concat()), whole);
            for at in [0, len.saturating_sub(1)].into_iter().filter(|&at| at < len) {
                let mut changed = bytes.clone();
                changed[at as usize] ^= 1;
                assert_ne!(digest(&changed), whole, "{at} of {len}");
            }
        }
        assert!(model_digest(folder.path().join("absent")).is_err());
    }
}
