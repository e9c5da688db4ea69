//! Writes a line a word. Numbers are the shortest decimals that read back to the same f32.

use std::io::Write;

use rayon::prelude::*;
use senv_core::{AtomicFile, Rows};

use crate::{Embeddings, Format, Result};

/// Rows printed at a time, by one thread and by all.
const ROWS: usize = 64;
const BLOCK: usize = 64 * ROWS;

/// Writes the embeddings; the words are known to hold no blanks or line ends.
pub(crate) fn write(embeddings: &Embeddings, file: &mut AtomicFile, format: Format) -> Result<()> {
    let (n, dim) = (embeddings.len(), embeddings.dim());
    let done = |file: &AtomicFile, result: std::io::Result<()>| result.map_err(|e| file.error(e));
    if format != Format::GloveText {
        let written = writeln!(file, "{n} {dim}");
        done(file, written)?;
    }
    let end: &[u8] = if format == Format::FastTextVec { b" \n" } else { b"\n" };
    for block in (0..n).step_by(BLOCK) {
        let pieces: Vec<Vec<u8>> = (block..n.min(block + BLOCK))
            .into_par_iter()
            .step_by(ROWS)
            .map(|start| {
                let mut text = Vec::with_capacity(ROWS * (12 * dim + 16));
                let mut digits = zmij::Buffer::new();
                for i in start..n.min(start + ROWS).min(block + BLOCK) {
                    text.extend_from_slice(embeddings.word(i).as_bytes());
                    for &x in embeddings.row(i) {
                        text.push(b' ');
                        text.extend_from_slice(digits.format(x).as_bytes());
                    }
                    text.extend_from_slice(end);
                }
                text
            })
            .collect();
        for piece in pieces {
            let written = file.write_all(&piece);
            done(file, written)?;
        }
    }
    Ok(())
}
