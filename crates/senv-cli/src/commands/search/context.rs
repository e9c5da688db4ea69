//! The sentences around a hit.

use senv_index::Collection;

use crate::{
    commands::index::columns::{DOCUMENT, FILE},
    failure::Result,
};

/// Up to `n` sentences before a position and behind it, in the order of the text: of the same file and document, up to
/// one that was deleted.
pub(super) fn context(rows: &Collection, position: usize, n: usize) -> Result<[Vec<String>; 2]> {
    let names: Vec<&str> =
        [FILE, DOCUMENT].into_iter().filter(|name| rows.columns().iter().any(|column| column == name)).collect();
    let origin =
        |position: usize| -> Result<Vec<String>> { names.iter().map(|name| Ok(rows.text(position, name)?)).collect() };
    let own = if n > 0 { origin(position)? } else { Vec::new() };
    let take = |positions: &mut dyn Iterator<Item = usize>| -> Result<Vec<String>> {
        let mut texts = Vec::new();
        for other in positions.take(n) {
            if rows.id(other)?.is_none() || origin(other)? != own {
                break;
            }
            texts.push(rows.text(other, "text")?);
        }
        Ok(texts)
    };
    let mut before = take(&mut (0..position).rev())?;
    before.reverse();
    let behind = take(&mut (position + 1..rows.n_positions()))?;
    Ok([before, behind])
}
