//! Unit vectors of a sample of rows.

use rand::Rng;
use senv_core::{Rows, Table, rng::stream};

use crate::rows::inverse_norm;

/// Unit vectors, concatenated, of up to `n` nonzero rows, in row order.
pub(super) fn unit_sample(
    rows: &Table,
    counts: Counts<'_>,
    n: usize,
    seed: u64,
    stream_name: &'static str,
) -> (Vec<f32>, Vec<f64>) {
    let mut sample: Vec<usize> = (0..rows.n_rows()).filter(|&row| inverse_norm(rows.row(row)) != 0.0).collect();
    if sample.len() > n {
        let mut stream = stream(seed, stream_name, &[]);
        for i in 0..n {
            let j = i + below(&mut stream, sample.len() - i);
            sample.swap(i, j);
        }
        sample.truncate(n);
        sample.sort_unstable();
    }
    let unit = |&row: &usize| {
        let inverse = inverse_norm(rows.row(row));
        rows.row(row)[..rows.dim()].iter().map(move |x| x * inverse)
    };
    (sample.iter().flat_map(unit).collect(), sample.iter().map(|&row| counts.of(row)).collect())
}

/// How often each row occurs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts<'a>(Option<&'a [u32]>);

impl<'a> Counts<'a> {
    /// Each row once.
    pub(super) const ONCE: Counts<'static> = Counts(None);

    /// One count per row.
    pub(super) fn new(rows: &Table, counts: &'a [u32]) -> crate::Result<Self> {
        let (what, expected, got) = ("the counts", rows.n_rows(), counts.len());
        match expected == got {
            true => Ok(Self(Some(counts))),
            false => Err(senv_core::Error::ShapeMismatch { what, expected, got }.into()),
        }
    }

    /// The count of a row.
    pub(super) fn of(self, row: usize) -> f64 {
        self.0.map_or(1.0, |counts| f64::from(counts[row]))
    }
}

/// A uniformly distributed integer below `n`.
pub(super) fn below(stream: &mut impl Rng, n: usize) -> usize {
    ((u128::from(stream.next_u64()) * n as u128) >> 64) as usize
}

/// A number from 0 to 1.
pub(super) fn fraction(stream: &mut impl Rng) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
