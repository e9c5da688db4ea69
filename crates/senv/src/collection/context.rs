//! The sentences around a sentence, and the removal of hits that are the query itself.

use super::{SentenceCollection, has_column, search::SentenceHit};
use crate::{error::Result, jobs::query_file::QueryFile};

impl SentenceCollection {
    /// Up to `n` sentences before and after a position, in text order: from the same file and document, up to a deleted
    /// sentence.
    ///
    /// # Errors
    /// Errors of reading the collection.
    pub fn context(&self, position: usize, n: usize) -> Result<[Vec<String>; 2]> {
        let rows = &self.rows;
        let names = || [Self::FILE, Self::DOCUMENT].into_iter().filter(|name| has_column(rows, name));
        let origin = |position| names().map(|name| Ok(rows.text(position, name)?)).collect::<Result<Vec<_>>>();
        let own = if n > 0 { origin(position)? } else { Vec::new() };
        let take = |positions: &mut dyn Iterator<Item = usize>| -> Result<Vec<String>> {
            let mut texts = Vec::new();
            for other in positions.take(n) {
                if !rows.has_row(other) || origin(other)? != own {
                    break;
                }
                texts.push(rows.text(other, Self::TEXT)?);
            }
            Ok(texts)
        };
        let mut before = take(&mut (0..position).rev())?;
        before.reverse();
        let behind = take(&mut (position + 1..rows.n_positions()))?;
        Ok([before, behind])
    }
    /// Removes from a hit the sentence that is the query itself: the same text on this line of the query file.
    ///
    /// # Errors
    /// Errors of reading the collection.
    pub fn leave_out(&self, queries: &QueryFile, query: &str, line: u64, hit: &mut SentenceHit) -> Result<()> {
        let rows = &self.rows;
        if hit.text != query || ![Self::FILE, Self::LINE].iter().all(|name| has_column(rows, name)) {
            return Ok(());
        }
        let line = line.to_string();
        for (place, &position) in hit.positions.iter().enumerate() {
            if rows.text(position, Self::LINE)? == line && queries.is_named(&rows.text(position, Self::FILE)?) {
                hit.positions.remove(place);
                break;
            }
        }
        Ok(())
    }
}
