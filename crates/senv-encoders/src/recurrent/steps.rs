//! The packed order in which a recurrent network processes a batch.
//!
//! Sentences are sorted by length, longest first, so the sentences that still have words at a step come first. Nothing
//! is computed for a sentence that has ended. The states of all steps are concatenated, starting with step 0. Below,
//! "sorted" means the order of the sentences by length, and "packed" that of the states.

use senv_core::{Error, Result, arrays::TokenBatch};

use crate::rows::row;

/// The packed order of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Steps {
    /// Sentences by length, longest first, ties in batch order.
    order: Vec<u32>,
    /// Their lengths, in that order.
    lengths: Vec<u32>,
    /// The first packed row of each step, then the number of packed rows.
    starts: Vec<usize>,
}

impl Steps {
    /// The order for sentences of these lengths.
    pub(crate) fn new(lengths: impl Iterator<Item = usize>) -> Result<Self> {
        let lengths: Vec<usize> = lengths.collect();
        let total = lengths.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
        let fits = total.is_some_and(|n| u32::try_from(n).is_ok_and(|n| n < u32::MAX));
        if !fits || u32::try_from(lengths.len()).is_err() {
            return Err(Error::TooLarge { rows: total.unwrap_or(usize::MAX), dim: 1 });
        }
        let mut order: Vec<u32> = (0..lengths.len() as u32).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(lengths[i as usize]));
        let sorted: Vec<u32> = order.iter().map(|&i| lengths[i as usize] as u32).collect();
        let longest = sorted.first().copied().unwrap_or(0) as usize;
        let mut starts = Vec::with_capacity(longest + 1);
        starts.push(0);
        let mut active = sorted.len();
        for t in 0..longest {
            while sorted[active - 1] as usize <= t {
                active -= 1;
            }
            starts.push(starts[t] + active);
        }
        Ok(Self { order, lengths: sorted, starts })
    }

    /// The order for the sentences of a batch.
    pub(crate) fn of(batch: &TokenBatch) -> Result<Self> {
        Self::new((0..batch.len()).map(|i| batch.sentence(i).len()))
    }

    /// The number of sentences, including empty ones.
    pub(crate) fn n_sentences(&self) -> usize {
        self.order.len()
    }

    /// The number of steps: the length of the longest sentence.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of packed rows, which is the number of words.
    pub(crate) fn total(&self) -> usize {
        self.starts[self.len()]
    }

    /// The first packed row of step `t`.
    pub(crate) fn start(&self, t: usize) -> usize {
        self.starts[t]
    }

    /// The number of sentences with a word at step `t`.
    pub(crate) fn active(&self, t: usize) -> usize {
        self.starts[t + 1] - self.starts[t]
    }

    /// The sentence at sorted position `i`.
    pub(crate) fn sentence(&self, i: usize) -> usize {
        self.order[i] as usize
    }

    /// The packed row of the last step of the sentence at sorted position `i`; `None` if it is empty.
    pub(crate) fn last(&self, i: usize) -> Option<usize> {
        (self.lengths[i] as usize).checked_sub(1).map(|t| self.starts[t] + i)
    }

    /// For each packed row of one direction, the row of the same word in the other direction.
    pub(crate) fn mirrored(&self) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.total());
        for t in 0..self.len() {
            let ends = self.lengths[..self.active(t)].iter().enumerate();
            rows.extend(ends.map(|(i, &length)| (self.starts[length as usize - 1 - t] + i) as u32));
        }
        rows
    }

    /// For each packed row, the index of its token among all tokens of the batch, in forward or `backward` direction.
    pub(crate) fn tokens(&self, batch: &TokenBatch, backward: bool) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.total());
        for t in 0..self.len() {
            for i in 0..self.active(t) {
                let position = if backward { self.lengths[i] as usize - 1 - t } else { t };
                rows.push((batch.start(self.sentence(i)) + position) as u32);
            }
        }
        rows
    }

    /// For each packed row, the index of its token among the distinct ones.
    pub(crate) fn words(&self, batch: &TokenBatch, backward: bool) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.total());
        for t in 0..self.len() {
            for i in 0..self.active(t) {
                let position = if backward { self.lengths[i] as usize - 1 - t } else { t };
                rows.push(batch.sentence(self.sentence(i))[position]);
            }
        }
        rows
    }

    /// For each packed row, the index of the previous token among the distinct ones, `first` at step 0. It is the input
    /// of a decoder under teacher forcing.
    pub(crate) fn words_before(&self, batch: &TokenBatch, first: u32) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.total());
        for t in 0..self.len() {
            for i in 0..self.active(t) {
                rows.push(t.checked_sub(1).map_or(first, |before| batch.sentence(self.sentence(i))[before]));
            }
        }
        rows
    }

    /// Rows given by sentence, `dim` values each, in sorted order.
    pub(crate) fn sorted<F: Copy>(&self, values: &[F], dim: usize) -> Vec<F> {
        self.order.iter().flat_map(|&i| row(values, dim, i as usize)).copied().collect()
    }
}

/// The packed rows that read each input row: the inverse of an index.
pub(crate) struct InverseIndex {
    rows: Vec<u32>,
    first: Vec<usize>,
}

impl InverseIndex {
    /// The inverse of `index`, whose values are below `n_rows`.
    pub(crate) fn of(index: &[u32], n_rows: usize) -> Self {
        let mut first = vec![0; n_rows + 1];
        index.iter().for_each(|&row| first[row as usize + 1] += 1);
        (0..n_rows).for_each(|i| first[i + 1] += first[i]);
        let mut rows = vec![0; index.len()];
        for (packed, &row) in index.iter().enumerate() {
            rows[first[row as usize]] = packed as u32;
            first[row as usize] += 1;
        }
        // Every start has advanced to its end, which is the start of the next.
        first.rotate_right(1);
        first[0] = 0;
        Self { rows, first }
    }

    /// The packed rows that read input row `i`, ascending.
    pub(crate) fn of_row(&self, i: usize) -> &[u32] {
        &self.rows[self.first[i]..self.first[i + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::batch;

    #[test]
    fn the_longest_sentence_comes_first_and_the_ended_ones_drop_out() {
        let batch = batch(&[&[5, 6], &[], &[7, 5, 8], &[9, 9]]);
        let steps = Steps::of(&batch).unwrap();
        assert_eq!((steps.n_sentences(), steps.len(), steps.total()), (4, 3, 7));
        assert_eq!((0..4).map(|i| steps.sentence(i)).collect::<Vec<_>>(), [2, 0, 3, 1]);
        assert_eq!((0..3).map(|t| (steps.start(t), steps.active(t))).collect::<Vec<_>>(), [(0, 3), (3, 3), (6, 1)]);
        assert_eq!((0..4).map(|i| steps.last(i)).collect::<Vec<_>>(), [Some(6), Some(4), Some(5), None]);
        // Tokens in the order of the batch: 5 6 | 7 5 8 | 9 9, numbered 0 to 6; distinct: 5 6 7 8 9.
        assert_eq!(steps.tokens(&batch, false), [2, 0, 5, 3, 1, 6, 4]);
        assert_eq!(steps.tokens(&batch, true), [4, 1, 6, 3, 0, 5, 2]);
        let mirrored: Vec<u32> = steps.mirrored().iter().map(|&at| steps.tokens(&batch, true)[at as usize]).collect();
        assert_eq!(mirrored, steps.tokens(&batch, false));
        let words = steps.words(&batch, true);
        assert_eq!(words, [3, 1, 4, 0, 0, 4, 2]);
        assert_eq!(steps.words_before(&batch, 7), [7, 7, 7, 2, 0, 4, 0]);
        let inverse = InverseIndex::of(&words, 5);
        assert_eq!(inverse.of_row(0), [3, 4]);
        assert_eq!(inverse.of_row(4), [2, 5]);
        assert_eq!(steps.sorted(&[0, 1, 2, 3], 1), [2, 0, 3, 1]);
    }

    #[test]
    fn nothing_to_read() {
        for lengths in [&[][..], &[0, 0]] {
            let steps = Steps::new(lengths.iter().copied()).unwrap();
            assert_eq!((steps.len(), steps.total(), steps.n_sentences()), (0, 0, lengths.len()));
        }
        assert!(Steps::new([usize::MAX, 2].into_iter()).is_err());
        assert!(Steps::new([u32::MAX as usize].into_iter()).is_err());
    }
}
