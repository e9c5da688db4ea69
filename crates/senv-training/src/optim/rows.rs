//! Sparse and dense updates of the rows of a matrix and of its moments, on all threads.

use senv_base::{Error, Result, TokenId};
use senv_kernels::Float;

/// Returns an error unless the rows ascend and are below `n_rows`.
pub(super) fn check_rows(rows: &[TokenId], n_rows: usize) -> Result<()> {
    let rising = rows.windows(2).all(|w| w[0] < w[1]);
    if rising && rows.last().is_none_or(|last| last.index() < n_rows) {
        return Ok(());
    }
    let got = format!("{} rows, some out of order, repeated or beyond the {n_rows} rows", rows.len());
    Err(Error::InvalidParameter { name: "rows", requirement: "ascending and in the table", got })
}

/// A range of rows of a table and its moments, with the gradients of these rows.
pub(super) struct RowRange<'a, F> {
    /// The index of the first row.
    pub(super) first: usize,
    pub(super) n_rows: usize,
    /// The values of the table and of the moments, with their strides; empty if there are none.
    pub(super) parts: [(&'a mut [F], usize); 3],
    /// The rows with a gradient, ascending, without repetition.
    pub(super) tokens: &'a [TokenId],
    /// Their gradients, back to back.
    pub(super) d_rows: &'a [F],
}

impl<F: Float> RowRange<'_, F> {
    /// Calls `work` with index, scratch, values, gradient (empty if there is none) and moments of every row, or only of
    /// those with a gradient. Ranges are halved down to a few rows and divided among the threads. They are disjoint
    /// slices, so each row belongs to one thread.
    pub(super) fn split<W>(self, dim: usize, every_row: bool, work: &W)
    where
        W: Fn(usize, &mut [F], &mut [F], &[F], &mut [F], &mut [F]) + Sync,
    {
        let grain = if every_row { 256 } else { 64 };
        let n = if every_row { self.n_rows } else { self.tokens.len() };
        if n <= grain {
            return self.each(dim, every_row, work);
        }
        let (middle_row, middle_token) = if every_row {
            let row = self.first + n / 2;
            (row, self.tokens.partition_point(|token| token.index() < row))
        } else {
            (self.tokens[n / 2].index(), n / 2)
        };
        let rows = middle_row - self.first;
        let [x, m, v] = self.parts.map(|(values, stride)| {
            let (left, right) = values.split_at_mut((rows * stride).min(values.len()));
            ((left, stride), (right, stride))
        });
        let (left_tokens, right_tokens) = self.tokens.split_at(middle_token);
        let (left_d, right_d) = self.d_rows.split_at(middle_token * dim);
        let left =
            Self { first: self.first, n_rows: rows, parts: [x.0, m.0, v.0], tokens: left_tokens, d_rows: left_d };
        let right = Self {
            first: middle_row,
            n_rows: self.n_rows - rows,
            parts: [x.1, m.1, v.1],
            tokens: right_tokens,
            d_rows: right_d,
        };
        rayon::join(|| left.split(dim, every_row, work), || right.split(dim, every_row, work));
    }

    fn each<W>(self, dim: usize, every_row: bool, work: &W)
    where
        W: Fn(usize, &mut [F], &mut [F], &[F], &mut [F], &mut [F]),
    {
        let Self { first, n_rows, parts: [(x, x_stride), (m, m_stride), (v, v_stride)], tokens, d_rows } = self;
        let mut scratch = vec![F::zero(); dim];
        let span = |len: usize, start: usize| if len == 0 { 0..0 } else { start..start + dim };
        let mut one = |row: usize, d_x: &[F]| {
            let at = row - first;
            let (x_span, m_span) = (span(x.len(), at * x_stride), span(m.len(), at * m_stride));
            let v_span = span(v.len(), at * v_stride);
            work(row, &mut scratch, &mut x[x_span], d_x, &mut m[m_span], &mut v[v_span]);
        };
        let mut gradients = tokens.iter().zip(d_rows.chunks_exact(dim.max(1))).peekable();
        if every_row {
            for row in first..first + n_rows {
                one(row, gradients.next_if(|(token, _)| token.index() == row).map_or(&[], |(_, d_x)| d_x));
            }
        } else {
            gradients.for_each(|(token, d_x)| one(token.index(), d_x));
        }
    }
}
