//! The training text, complete or shortened, and its size.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::Result;

/// A text that every program can read.
#[derive(Debug)]
pub(crate) struct Text {
    path: PathBuf,
    /// Keeps the folder of a shortened text until the end.
    _folder: Option<TempDir>,
    pub(crate) tokens: u64,
    pub(crate) lines: u64,
}

impl Text {
    /// Counts lines and tokens; with `max_tokens`, copies the first lines to a temporary file.
    pub(crate) fn open(path: &Path, max_tokens: Option<u64>) -> Result<Self> {
        let told = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(told)?);
        let folder = max_tokens.map(|_| tempfile::tempdir()).transpose()?;
        let cut = folder.as_ref().map(|folder| folder.path().join("text"));
        let mut copy = cut.as_ref().map(File::create).transpose()?.map(BufWriter::new);
        let (mut tokens, mut lines, mut line) = (0, 0, Vec::new());
        while tokens < max_tokens.unwrap_or(u64::MAX) && reader.read_until(b'\n', &mut line).map_err(told)? > 0 {
            tokens += line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).count() as u64;
            lines += 1;
            if let Some(copy) = &mut copy {
                copy.write_all(&line)?;
            }
            line.clear();
        }
        if tokens == 0 {
            return Err(format!("{}: no tokens", path.display()).into());
        }
        if let Some(mut copy) = copy {
            copy.flush()?;
        }
        Ok(Self { path: cut.unwrap_or_else(|| path.to_owned()), _folder: folder, tokens, lines })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of tokens as the release counts them: every word and every line end.
    pub(crate) fn n_tokens_and_lines(&self) -> u64 {
        self.tokens + self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_counted_and_cut_after_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "a b  c\n\nd\te\nf").unwrap();
        let whole = Text::open(&path, None).unwrap();
        assert_eq!((whole.tokens, whole.lines, whole.path()), (6, 4, path.as_path()));
        let cut = Text::open(&path, Some(4)).unwrap();
        assert_eq!((cut.tokens, cut.lines, cut.n_tokens_and_lines()), (5, 3, 8));
        assert_eq!(std::fs::read_to_string(cut.path()).unwrap(), "a b  c\n\nd\te\n");
        std::fs::write(&path, "\n").unwrap();
        assert!(Text::open(&path, None).is_err());
    }
}
