//! A batch of sentences over its distinct tokens.
//!
//! In running text, most tokens of a batch repeat. Work per distinct token instead of per occurrence (reading its row
//! from memory, multiplying it by filters, updating it) gets cheaper with larger batches. A row that belongs to one
//! entry of the batch can also be updated by one thread without locks, in a fixed order.

use ndarray::Array2;
use rayon::prelude::*;

use senv_base::{Error, Result, TokenId};
use senv_kernels::Table;

/// The position of a token in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the sentence in the batch.
    pub sentence: u32,
    /// The position of the token in the sentence, counted from 0.
    pub position: u32,
}

/// The sentences of one step, with tokens numbered from 0 by their order among the distinct tokens of the batch.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `distinct` | distinct tokens of the batch, ascending | `(n_distinct,)` |
/// | `sentence(i)` | sentence `i` as positions in `distinct` | ragged |
/// | `occurrences(u)` | positions of distinct token `u`, by sentence, then by position | ragged |
///
/// ```
/// use senv_core::{TokenId, arrays::TokenBatch};
/// let sentences = [vec![TokenId(7), TokenId(2), TokenId(7)], vec![TokenId(2)]];
/// let mut batch = TokenBatch::new();
/// batch.assign(sentences.iter().map(Vec::as_slice))?;
/// assert_eq!(batch.distinct(), [TokenId(2), TokenId(7)]);
/// assert_eq!(batch.sentence(0), [1, 0, 1]);
/// assert_eq!(batch.occurrences(0).len(), 2);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TokenBatch {
    distinct: Vec<TokenId>,
    places: Vec<u32>,
    offsets: Vec<u32>,
    occurrences: Vec<Occurrence>,
    first: Vec<u32>,
    /// The position in `distinct` of every token seen so far; only the entries of the current batch are valid.
    place_of: Vec<u32>,
}

/// A token that is not in the batch.
const ABSENT: u32 = u32::MAX;

impl TokenBatch {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the batch by these sentences; memory is reused.
    ///
    /// # Errors
    /// [`Error::TooLarge`] at 2^32 tokens.
    pub fn assign<'a>(&mut self, sentences: impl IntoIterator<Item = &'a [TokenId]>) -> Result<()> {
        for token in &self.distinct {
            self.place_of[token.index()] = ABSENT;
        }
        self.distinct.clear();
        self.places.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for sentence in sentences {
            for &token in sentence {
                if token.index() >= self.place_of.len() {
                    self.place_of.resize(token.index() + 1, ABSENT);
                }
                if self.place_of[token.index()] == ABSENT {
                    self.place_of[token.index()] = 0;
                    self.distinct.push(token);
                }
                self.places.push(token.0);
            }
            let end = u32::try_from(self.places.len()).ok().filter(|&end| end < ABSENT);
            self.offsets.push(end.ok_or(Error::TooLarge { rows: self.places.len(), dim: 1 })?);
        }
        self.distinct.sort_unstable();
        for (place, token) in self.distinct.iter().enumerate() {
            self.place_of[token.index()] = place as u32;
        }
        for place in &mut self.places {
            *place = self.place_of[*place as usize];
        }
        self.find_occurrences();
        Ok(())
    }

    /// Sorts the positions by token with a counting sort.
    fn find_occurrences(&mut self) {
        let n = self.distinct.len();
        self.first.clear();
        self.first.resize(n + 1, 0);
        for &place in &self.places {
            self.first[place as usize + 1] += 1;
        }
        for i in 0..n {
            self.first[i + 1] += self.first[i];
        }
        self.occurrences.clear();
        self.occurrences.resize(self.places.len(), Occurrence { sentence: 0, position: 0 });
        for (sentence, ends) in self.offsets.windows(2).enumerate() {
            for (position, &place) in self.places[ends[0] as usize..ends[1] as usize].iter().enumerate() {
                let next = &mut self.first[place as usize];
                self.occurrences[*next as usize] = Occurrence { sentence: sentence as u32, position: position as u32 };
                *next += 1;
            }
        }
        // Every start has advanced to its end, which is the start of the next token.
        self.first.rotate_right(1);
        self.first[0] = 0;
    }

    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of tokens in all sentences.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.places.len()
    }

    /// The distinct tokens, ascending.
    #[must_use]
    pub fn distinct(&self) -> &[TokenId] {
        &self.distinct
    }

    /// Sentence `i` as positions in [`TokenBatch::distinct`].
    ///
    /// # Panics
    /// If `i` is not below [`TokenBatch::len`].
    #[must_use]
    pub fn sentence(&self, i: usize) -> &[u32] {
        &self.places[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The start of sentence `i` among all tokens of the batch.
    ///
    /// # Panics
    /// If `i` is not below [`TokenBatch::len`].
    #[must_use]
    pub fn start(&self, i: usize) -> usize {
        self.offsets[i] as usize
    }

    /// The positions of the distinct token `u`, by sentence, then by position.
    ///
    /// # Panics
    /// If `u` is not a position in [`TokenBatch::distinct`].
    #[must_use]
    pub fn occurrences(&self, u: usize) -> &[Occurrence] {
        &self.occurrences[self.first[u] as usize..self.first[u + 1] as usize]
    }

    /// Copies the rows of the distinct tokens, shape `(n_distinct, dim)`, on the threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the table has no row for a token.
    pub fn gather(&self, table: &Table) -> Result<Array2<f32>> {
        let mut rows = Array2::default((0, 0));
        self.gather_into(table, &mut rows)?;
        Ok(rows)
    }

    /// Like [`TokenBatch::gather`], into `rows`, whose memory is reused.
    ///
    /// # Errors
    /// The errors of [`TokenBatch::gather`]; then `rows` is unchanged.
    pub fn gather_into(&self, table: &Table, rows: &mut Array2<f32>) -> Result<()> {
        let dim = table.dim();
        if let Some(last) = self.distinct.last()
            && last.index() >= table.n_rows()
        {
            return Err(Error::ShapeMismatch {
                what: "rows of a table",
                expected: last.index() + 1,
                got: table.n_rows(),
            });
        }
        let (values, stride) = (table.values(), table.stride());
        resize(rows, self.distinct.len(), dim)?;
        let rows = rows.as_slice_mut().unwrap_or_default();
        if dim > 0 {
            rows.par_chunks_mut(ROWS_A_TASK * dim).zip(self.distinct.par_chunks(ROWS_A_TASK)).for_each(
                |(rows, tokens)| {
                    for (row, token) in rows.chunks_exact_mut(dim).zip(tokens) {
                        row.copy_from_slice(&values[token.index() * stride..][..dim]);
                    }
                },
            );
        }
        Ok(())
    }

    /// Sets `rows` to zeros of shape `(n_distinct, dim)` and reuses its memory, for the summed gradients of the
    /// distinct tokens.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there is not enough memory.
    pub fn zeros_into(&self, dim: usize, rows: &mut Array2<f32>) -> Result<()> {
        resize(rows, self.distinct.len(), dim)?;
        let values = rows.as_slice_mut().unwrap_or_default();
        values.par_chunks_mut((ROWS_A_TASK * dim).max(1)).for_each(|values| values.fill(0.0));
        Ok(())
    }
}

/// The number of rows that a thread copies or clears at a time.
const ROWS_A_TASK: usize = 64;

/// Resizes `rows` to shape `(n, dim)`. Its values are arbitrary; the old memory is reused if it is large enough.
fn resize(rows: &mut Array2<f32>, n: usize, dim: usize) -> Result<()> {
    if rows.dim() == (n, dim) && rows.is_standard_layout() {
        return Ok(());
    }
    let too_large = || Error::TooLarge { rows: n, dim };
    let len = n.checked_mul(dim).ok_or_else(too_large)?;
    let (mut values, _) = std::mem::take(rows).into_raw_vec_and_offset();
    values.try_reserve(len.saturating_sub(values.len())).map_err(|_| too_large())?;
    values.resize(len, 0.0);
    *rows = Array2::from_shape_vec((n, dim), values).map_err(|_| too_large())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(tokens: &[u32]) -> Vec<TokenId> {
        tokens.iter().map(|&t| TokenId(t)).collect()
    }

    #[test]
    fn every_occurrence_is_found_and_a_second_batch_forgets_the_first() {
        let mut batch = TokenBatch::new();
        for sentences in [vec![ids(&[5, 9, 5]), ids(&[]), ids(&[9, 1])], vec![ids(&[9]), ids(&[30, 9, 9])], vec![]] {
            batch.assign(sentences.iter().map(Vec::as_slice)).unwrap();
            assert_eq!(batch.len(), sentences.len());
            assert_eq!(batch.n_tokens(), sentences.iter().map(Vec::len).sum::<usize>());
            assert!(batch.distinct().windows(2).all(|w| w[0] < w[1]));
            for (i, sentence) in sentences.iter().enumerate() {
                let back: Vec<_> = batch.sentence(i).iter().map(|&u| batch.distinct()[u as usize]).collect();
                assert_eq!(&back, sentence);
            }
            let mut n = 0;
            for u in 0..batch.distinct().len() {
                let places = batch.occurrences(u);
                assert!(places.windows(2).all(|w| (w[0].sentence, w[0].position) < (w[1].sentence, w[1].position)));
                for o in places {
                    assert_eq!(batch.sentence(o.sentence as usize)[o.position as usize], u as u32);
                    n += 1;
                }
            }
            assert_eq!(n, batch.n_tokens());
        }
    }

    #[test]
    fn rows_are_gathered_in_the_order_of_the_distinct_tokens() {
        let table = Table::from_vec(4, 2, (0..8).map(|i| i as f32).collect()).unwrap();
        let mut batch = TokenBatch::new();
        batch.assign([ids(&[3, 1, 3]).as_slice()]).unwrap();
        assert_eq!(batch.gather(&table).unwrap(), ndarray::array![[2.0, 3.0], [6.0, 7.0]]);
        // Into reused memory with more rows, fewer rows, and another memory order.
        for before in [Array2::ones((9, 3)), Array2::ones((1, 1)), Array2::ones((2, 2)).reversed_axes()] {
            let mut rows = before;
            batch.gather_into(&table, &mut rows).unwrap();
            assert_eq!(rows, ndarray::array![[2.0, 3.0], [6.0, 7.0]]);
            batch.zeros_into(3, &mut rows).unwrap();
            assert_eq!(rows, Array2::<f32>::zeros((2, 3)));
        }
        batch.assign([ids(&[4]).as_slice()]).unwrap();
        assert!(batch.gather(&table).is_err());
    }
}
