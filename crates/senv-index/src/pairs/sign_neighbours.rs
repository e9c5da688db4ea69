//! Finds the nearest other rows among rows that differ only in their signs.
//!
//! The cosine of two such rows is 1 - 2 h / D if h of D signs differ (`sign-bound`, without a rest). So the nearest
//! rows have the fewest differences. Every pair of rows is compared once. A row meets the others in ascending order. So
//! a row with as many differences as the last of the nearest so far comes too late.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::{Rows, Table};

use super::{compare::BLOCK, signs::SignRows};
use crate::{
    Neighbour, Result,
    best::{Ranked, Scored},
    code_kernels::SIGN_ROWS,
    exact,
    rows::{StoredRows, inverse_norm, unit},
};

/// At most one row in this many may lack signs; each such row is compared with all rows in full.
const SIGN_ROWS_OF: usize = 4;
/// The maximum number of neighbors, as lists are kept for all rows.
const MOST: usize = 64;
/// The number of rows in the first block; each later block is as long as all before it.
const FIRST: usize = 8;
/// Rows compared with a block at the same time.
const CHUNK: usize = 4096;
/// Rows finished together.
const TOGETHER: usize = 1024;

/// A table whose rows are mostly signs.
#[derive(Debug)]
pub(super) struct SignNeighbours {
    rows: StoredRows,
    n: usize,
    dim: usize,
    signs: SignRows,
    /// The table rows that are signs, ascending.
    sign_rows: Vec<u32>,
    /// The other nonzero rows.
    other_rows: Vec<u32>,
    others: StoredRows,
    k: usize,
}

impl SignNeighbours {
    /// Returns the table if too few rows are signs or `k` is too large.
    pub(super) fn new(rows: Table, k: usize) -> Result<Self, Table> {
        let (n, dim) = (rows.n_rows(), rows.dim());
        if u32::try_from(n).is_err() || k > MOST {
            return Err(rows);
        }
        let inverse: Vec<f32> = (0..n).into_par_iter().map(|i| inverse_norm(rows.row(i))).collect();
        let positions: Vec<u32> = (0..n as u32).filter(|&row| inverse[row as usize] != 0.0).collect();
        let Some((n_signs, is_sign_row)) = SignRows::find(&rows, &inverse, &positions) else { return Err(rows) };
        let of = |wanted: bool| -> Vec<u32> {
            positions.iter().zip(&is_sign_row).filter(|(_, is)| **is == wanted).map(|(&row, _)| row).collect()
        };
        let (sign_rows, other_rows) = (of(true), of(false));
        if n_signs != dim || other_rows.len() * SIGN_ROWS_OF > positions.len() {
            return Err(rows);
        }
        let values = other_rows.iter().flat_map(|&row| rows.row(row as usize)[..dim].iter().copied()).collect();
        let Ok(others) = Table::from_vec(other_rows.len(), dim, values) else { return Err(rows) };
        let signs = SignRows::new(&rows, &inverse, &sign_rows, n_signs);
        let [rows, others] = [rows, others].map(|table| StoredRows::F32(table, Default::default()));
        Ok(Self { rows, n, dim, signs, sign_rows, other_rows, others, k })
    }

    /// Calls `visit` with each row, in order, and its `k` nearest others, nearest first; a row of zeros has none.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, &[Neighbour]) -> Result<()>) -> Result<()> {
        let n = self.signs.len();
        let mut fewest = vec![Fewest::new(self.k); n];
        // The limits of the rows in the lanes; lanes without a row have a limit that nothing meets.
        let mut limits = vec![self.dim as i64; n];
        limits.resize(n.next_multiple_of(SIGN_ROWS), i64::MIN);
        let (mut start, mut n_done, mut next) = (0, 0, 0);
        while start < n && self.k > 0 {
            let block = start..n.min(start + start.clamp(FIRST, BLOCK));
            start = block.end;
            for (a, b, n_different) in self.alike(&block, &limits) {
                for (row, other) in [(a, b), (b, a)] {
                    if i64::from(n_different) <= limits[row as usize] {
                        fewest[row as usize].push(n_different, other, &mut limits[row as usize]);
                    }
                }
            }
            if start - n_done >= TOGETHER && start < n {
                let end = self.sign_rows[start] as usize;
                self.finish(next..end, &mut fewest[n_done..start], &mut visit)?;
                (n_done, next) = (start, end);
            }
        }
        self.finish(next..self.n, &mut fewest[n_done..], &mut visit)
    }

    /// All pairs of one sign row of the block and a later one whose differences are within the limit of either. Returns
    /// the numbers of both and of the differing places, ordered by the other row for each row.
    fn alike(&self, block: &Range<usize>, limits: &[i64]) -> Vec<(u32, u32, u32)> {
        let n = self.signs.len();
        let chunks: Vec<Range<usize>> =
            (block.start..n).step_by(CHUNK).map(|start| start..n.min(start + CHUNK)).collect();
        let of_chunk = |masks: &mut Vec<u8>, chunk: Range<usize>| {
            let mut found = Vec::new();
            let lanes = chunk.start / SIGN_ROWS * SIGN_ROWS..chunk.end.next_multiple_of(SIGN_ROWS);
            self.signs.alike(block.clone(), &limits[block.clone()], chunk, &limits[lanes], masks, |a, b| {
                if b > a {
                    found.push((a as u32, b as u32, self.signs.n_different(a, b)));
                }
            });
            found
        };
        let found: Vec<Vec<_>> = chunks.into_par_iter().map_init(Vec::new, of_chunk).collect();
        found.concat()
    }

    /// Calls `visit` with these rows; `fewest` belongs to the sign rows among them.
    fn finish(
        &self,
        rows: Range<usize>,
        fewest: &mut [Fewest],
        visit: &mut impl FnMut(usize, &[Neighbour]) -> Result<()>,
    ) -> Result<()> {
        let mut found = vec![Vec::new(); rows.len()];
        let of = |all: &[u32]| {
            let first = |end: usize| all.partition_point(|&row| (row as usize) < end);
            first(rows.start)..first(rows.end)
        };
        let (signs, others) = (&self.sign_rows[of(&self.sign_rows)], &self.other_rows[of(&self.other_rows)]);
        // Compares sign rows with all other rows in full.
        let mut of_signs = vec![Vec::new(); signs.len()];
        if !self.other_rows.is_empty() {
            of_signs = exact::nearest(&self.others, self.other_rows.len(), &self.units(signs)?, self.dim, self.k, None);
        }
        for ((&row, near), fewest) in signs.iter().zip(of_signs).zip(fewest) {
            let by_value = near.into_iter().map(|near| Scored { row: self.other_rows[near.row as usize], ..near });
            let mut all: Vec<Scored> = by_value.chain(fewest.take().map(|near| self.scored(near))).collect();
            all.sort_unstable_by(Scored::order);
            all.truncate(self.k);
            found[row as usize - rows.start] = all;
        }
        if !others.is_empty() {
            let keep = |query: usize, row: usize| others[query] as usize != row;
            let near = exact::nearest(&self.rows, self.n, &self.units(others)?, self.dim, self.k, Some(&keep));
            others.iter().zip(near).for_each(|(&row, near)| found[row as usize - rows.start] = near);
        }
        for (row, near) in rows.zip(found) {
            let neighbour = |scored: Scored| Neighbour { row: scored.row as usize, cosine: scored.score };
            visit(row, &near.into_iter().map(neighbour).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// A sign row that differs from another in `n_different` places.
    fn scored(&self, (n_different, row): (u32, u32)) -> Scored {
        let cosine = 1.0 - 2.0 * f64::from(n_different) / self.dim as f64;
        Scored { row: self.sign_rows[row as usize], score: cosine as f32 }
    }

    fn units(&self, rows: &[u32]) -> Result<Vec<f32>> {
        let (mut units, mut space) = (Vec::with_capacity(rows.len() * self.dim), Vec::new());
        for &row in rows {
            units.extend(unit(self.rows.row(row as usize, &mut space), self.dim)?.unwrap_or_default());
        }
        Ok(units)
    }
}

/// The rows with the fewest differences from one row: the number of differences, and the row.
#[derive(Debug, Clone)]
struct Fewest {
    k: usize,
    rows: Vec<(u32, u32)>,
}

impl Fewest {
    fn new(k: usize) -> Self {
        Self { k, rows: Vec::new() }
    }

    /// Adds a row that follows all added ones. Updates `limit`, the maximum number of differences that a later row can
    /// have.
    fn push(&mut self, n_different: u32, row: u32, limit: &mut i64) {
        self.rows.push((n_different, row));
        // Selects the fewest from time to time.
        if self.rows.len() == self.k || self.rows.len() >= self.k + self.k.div_ceil(2) {
            let (_, &mut (last, _), _) = self.rows.select_nth_unstable(self.k - 1);
            self.rows.truncate(self.k);
            *limit = i64::from(last) - 1;
        }
    }

    /// Takes the fewest, in order.
    fn take(&mut self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable();
        rows.into_iter().take(self.k)
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::rng::stream;

    use super::*;

    /// Signs at three scales, some close to each other or equal, with some rows of other values and some of zeros.
    fn table(n: usize, dim: usize, others: usize) -> Table {
        let mut stream = stream(14, "test", &[dim as u64]);
        let mut values: Vec<f32> = Vec::new();
        for i in 0..n {
            let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
            let start = values.len();
            let scale = [0.3, 3.1649847, 12.0][i % 3];
            match i % 12 {
                11 => values.extend(vec![0.0; dim]),
                i if i < others => values.extend((0..dim).map(|_| next())),
                4 => values.extend_from_within(start - dim..start),
                5 => values.extend((0..dim).map(|_| next()).map(|x| if x < 0.0 { -scale } else { scale })),
                _ => {
                    let share = 0.4 + (i % 7) as f32 / 20.0;
                    let before = values[start - start.min(3 * dim)..].to_vec();
                    let sign =
                        |d: usize, x: f32, y: f32| if y < share { before.get(d).copied().unwrap_or(x) } else { x };
                    let signs: Vec<f32> = (0..dim).map(|d| sign(d, next(), next().abs())).collect();
                    values.extend(signs.into_iter().map(|x| if x < 0.0 { -scale } else { scale }));
                }
            }
        }
        Table::from_vec(n, dim, values).unwrap()
    }

    /// All cosines in f64, computed naively.
    fn all_pairs(rows: &Table, k: usize) -> Vec<Vec<(usize, f64)>> {
        let (n, dim) = (rows.n_rows(), rows.dim());
        let units: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let row: Vec<f64> = rows.row(i)[..dim].iter().map(|&x| f64::from(x)).collect();
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                row.into_iter().map(|x| if norm > 0.0 { x / norm } else { 0.0 }).collect()
            })
            .collect();
        let cosine = |a: usize, b: usize| units[a].iter().zip(&units[b]).map(|(x, y)| x * y).sum::<f64>();
        let is_zero = |i: usize| units[i].iter().all(|x| *x == 0.0);
        let of_row = |a: usize| {
            let others = (0..n).filter(|&b| b != a && !is_zero(a) && !is_zero(b));
            // Sign rows with equal numbers of differences are equally near.
            let mut near: Vec<(usize, f64)> = others.map(|b| (b, (cosine(a, b) * 1e9).round() / 1e9)).collect();
            near.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
            near.truncate(k);
            near
        };
        (0..n).map(of_row).collect()
    }

    #[test]
    fn the_nearest_others_are_those_of_comparing_all_rows() {
        for (n, dim, others, k) in [(1700, 64, 2, 10), (1300, 100, 1, 3), (1300, 33, 0, 1), (1200, 70, 2, 64)] {
            let rows = table(n, dim, others);
            let expected = all_pairs(&rows, k);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let signs = SignNeighbours::new(rows.clone(), k).unwrap();
                let mut found = Vec::new();
                let visit = |row: usize, near: &[Neighbour]| {
                    assert_eq!(row, found.len());
                    found.push(near.iter().map(|near| (near.row, f64::from(near.cosine))).collect::<Vec<_>>());
                    Ok(())
                };
                pool.install(|| signs.for_each(visit)).unwrap();
                assert_eq!(found.len(), n);
                for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let [of_found, of_expected] = [found, expected].map(|near| near.iter().map(|near| near.0));
                    assert!(of_found.eq(of_expected), "{n} {dim} {row}: {found:?} {expected:?}");
                    assert!(found.iter().zip(expected).all(|(x, y)| (x.1 - y.1).abs() < 1e-6));
                }
            }
        }
    }

    #[test]
    fn rows_that_are_all_equal_have_the_first_ones_as_their_nearest() {
        let rows = Table::from_vec(3000, 20, [1.5; 60_000].to_vec()).unwrap();
        let signs = SignNeighbours::new(rows, 2).unwrap();
        let visit = |row: usize, near: &[Neighbour]| {
            let expected = [[1, 2], [0, 2], [0, 1]][row.min(2)];
            assert!(near.iter().map(|near| (near.row, near.cosine)).eq(expected.map(|row| (row, 1.0))));
            Ok(())
        };
        signs.for_each(visit).unwrap();
    }

    #[test]
    fn tables_of_other_rows_are_given_back() {
        assert!(SignNeighbours::new(table(1700, 64, 2), 10).is_ok());
        assert_eq!(SignNeighbours::new(table(1700, 64, 4), 10).unwrap_err().n_rows(), 1700, "too few signs");
        assert!(SignNeighbours::new(table(1700, 64, 2), 65).is_err(), "too many neighbours");
        assert!(SignNeighbours::new(table(1000, 64, 0), 10).is_err(), "too few rows");
        assert!(SignNeighbours::new(Table::from_vec(0, 4, vec![]).unwrap(), 10).is_err());
    }
}
