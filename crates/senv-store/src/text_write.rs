//! Writes formats with one line per word. Values are the shortest decimals that read back to the same f32.

use std::io::{Result, Write};

use rayon::prelude::*;
use senv_core::Rows;

use crate::{
    Embeddings, Format,
    row_text::{Digits, push_row},
};

/// Rows formatted at a time, by one thread and by all.
const ROWS: usize = 64;
const BLOCK: usize = 64 * ROWS;

/// Writes the embeddings; words must not contain spaces or line ends.
pub(crate) fn write(embeddings: &Embeddings, out: &mut impl Write, format: Format) -> Result<()> {
    let (n, dim) = (embeddings.len(), embeddings.dim());
    if format != Format::GloveText {
        writeln!(out, "{n} {dim}")?;
    }
    let end: &[u8] = if format == Format::FastTextVec { b" \n" } else { b"\n" };
    for block in (0..n).step_by(BLOCK) {
        let pieces: Vec<Vec<u8>> = (block..n.min(block + BLOCK))
            .into_par_iter()
            .step_by(ROWS)
            .map(|start| {
                let mut text = Vec::with_capacity(ROWS * (12 * dim + 16));
                for i in start..n.min(start + ROWS).min(block + BLOCK) {
                    text.extend_from_slice(embeddings.word(i).as_bytes());
                    text.push(b' ');
                    push_row(embeddings.row(i), b' ', Digits::Shortest, &mut text);
                    text.pop();
                    text.extend_from_slice(end);
                }
                text
            })
            .collect();
        pieces.iter().try_for_each(|piece| out.write_all(piece))?;
    }
    Ok(())
}
