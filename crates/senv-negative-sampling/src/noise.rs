//! The noise distribution from which negatives are drawn.
//!
//! Equation: `noise-distribution`

use rand::Rng;
use senv_core::{Error, Result, rng::Stream};

/// Draws rows with probability proportional to `count^power`.
///
/// ```text
/// q(w) = count(w)^power / Σ_v count(v)^power      power = 1/2 in Sent2Vec, 3/4 in word2vec
/// ```
///
/// Vose's alias method draws with eight bytes per row and one multiplication per draw; the releases keep a table of ten
/// million entries per thread. Mikolov et al., "Distributed Representations of Words and Phrases and their
/// Compositionality", 2013, section 2.2. The power of Sent2Vec is in section 2.1 of its paper. Vose, "A linear
/// algorithm for generating random numbers with a given distribution", 1991.
#[derive(Debug, Clone)]
pub struct Noise {
    /// Of 2^32, the share of cell `i` that belongs to row `i`; the rest belongs to its alias.
    cells: Vec<(u32, u32)>,
}

impl Noise {
    /// Creates the distribution over the rows `0..counts.len()`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if the power is negative or not finite, or no row has a positive weight.
    pub fn new(counts: &[u64], power: f64) -> Result<Self> {
        let invalid = |name, requirement, got: String| Error::InvalidParameter { name, requirement, got };
        if !(power.is_finite() && power >= 0.0) {
            return Err(invalid("noise power", "finite and at least 0", power.to_string()));
        }
        let weights: Vec<f64> =
            counts.iter().map(|&count| if count == 0 { 0.0 } else { (count as f64).powf(power) }).collect();
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(invalid("noise counts", "positive for at least one token", format!("a sum of {total}")));
        }
        let n = weights.len();
        let mut scaled: Vec<f64> = weights.iter().map(|w| w / total * n as f64).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
        let mut cells: Vec<(u32, u32)> = (0..n as u32).map(|i| (u32::MAX, i)).collect();
        while let (Some(i), Some(&j)) = (small.pop(), large.last()) {
            cells[i] = ((scaled[i] * 4_294_967_296.0) as u32, j as u32);
            scaled[j] -= 1.0 - scaled[i];
            if scaled[j] < 1.0 {
                large.pop();
                small.push(j);
            }
        }
        Ok(Self { cells })
    }

    /// Draws a row.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u32 {
        self.row_at(rng.next_u64())
    }

    /// The row for a uniform 64-bit number: the upper half chooses the cell, the lower half one of its two rows.
    #[inline]
    fn row_at(&self, random: u64) -> u32 {
        let cell = ((random >> 32) * self.cells.len() as u64) >> 32;
        let (share, alias) = self.cells[cell as usize];
        if (random as u32) < share { cell as u32 } else { alias }
    }
}

/// A custom source of negatives in place of [`Noise`], such as hard negatives or those of a topic. [`fit`](crate::fit)
/// takes a reference to it.
///
/// ```
/// use senv_core::rng::{Rng, Stream};
/// use senv_negative_sampling::{Negatives, NoiseSource};
///
/// /// Every row is equally likely.
/// struct Uniform {
///     n_rows: u64,
/// }
///
/// impl NoiseSource for Uniform {
///     fn draw(&self, rng: &mut Stream) -> u32 {
///         (rng.next_u64() % self.n_rows) as u32
///     }
/// }
///
/// let uniform = Uniform { n_rows: 1000 };
/// let _negatives = Negatives::from(&uniform);
/// ```
pub trait NoiseSource: Sync {
    /// Draws a row of the target table. The result must depend only on the numbers of `rng`: then a run depends on its
    /// seed and not on the number of threads, and a resumed run continues exactly. A row that the table does not have
    /// ends the run with an error.
    fn draw(&self, rng: &mut Stream) -> u32;
}

/// The negatives for [`fit`](crate::fit), built from a reference to [`Noise`] or to a [`NoiseSource`].
#[derive(Clone, Copy)]
pub struct Negatives<'n>(Source<'n>);

#[derive(Clone, Copy)]
enum Source<'n> {
    Noise(&'n Noise),
    Own(&'n dyn NoiseSource),
}

impl<'n> From<&'n Noise> for Negatives<'n> {
    fn from(noise: &'n Noise) -> Self {
        Self(Source::Noise(noise))
    }
}

impl<'n, N: NoiseSource> From<&'n N> for Negatives<'n> {
    fn from(source: &'n N) -> Self {
        Self(Source::Own(source))
    }
}

impl<'n> From<&'n dyn NoiseSource> for Negatives<'n> {
    fn from(source: &'n dyn NoiseSource) -> Self {
        Self(Source::Own(source))
    }
}

/// Work that draws many rows.
pub(crate) trait DrawMany {
    fn run(self, draw: impl FnMut(&mut Stream) -> u32);
}

impl Negatives<'_> {
    /// Does `work`, which is compiled for both kinds of source, so drawing from the table is inlined.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a source drew a row outside `n_rows`; row 0 was used instead.
    #[inline]
    pub(crate) fn draw_many(self, n_rows: usize, work: impl DrawMany) -> Result<()> {
        match self.0 {
            Source::Noise(noise) => work.run(|rng| noise.draw(rng)),
            Source::Own(source) => {
                let mut outside = None;
                work.run(|rng| {
                    let row = source.draw(rng);
                    if (row as usize) < n_rows {
                        return row;
                    }
                    outside = Some(row);
                    0
                });
                if let Some(row) = outside {
                    let (name, requirement) = ("negatives drawn by a noise source", "rows of the target table");
                    return Err(Error::InvalidParameter { name, requirement, got: format!("row {row} of {n_rows}") });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    #[test]
    fn draws_follow_the_square_root_of_the_counts() {
        let counts = [100_000, 5_000, 300, 40, 6, 5];
        // Shares under the square-root law for these counts: reference numbers made in f64 by the project's generator
        // make_golden.py (sent2vec.json, keep_probability).
        let shares = [
            0.7615008977976512,
            0.17027677724026677,
            0.04170912192842097,
            0.015230017955953024,
            0.005898560590584598,
            0.005384624487123632,
        ];
        let noise = Noise::new(&counts, 0.5).unwrap();
        let mut rng = senv_core::rng::stream(11, "chi-square", &[]);
        let n = 2_000_000;
        let mut seen = [0_u64; 6];
        for _ in 0..n {
            seen[noise.draw(&mut rng) as usize] += 1;
        }
        let chi2: f64 =
            seen.iter().zip(shares).map(|(&o, p)| (o as f64 - p * f64::from(n)).powi(2) / (p * f64::from(n))).sum();
        let p = 1.0 - ChiSquared::new(5.0).unwrap().cdf(chi2);
        assert!(p > 0.01, "chi-square {chi2}, p = {p}, {seen:?}");
    }

    #[test]
    fn a_row_without_count_is_never_drawn() {
        let noise = Noise::new(&[0, 7, 0, 1], 0.75).unwrap();
        let mut rng = senv_core::rng::stream(3, "zero", &[]);
        assert!((0..100_000).all(|_| matches!(noise.draw(&mut rng), 1 | 3)));
        // If a row's share of a cell is 0, even the lowest number does not draw it. A row that owns its cell is drawn
        // up to the highest number.
        let noise = Noise::new(&[0, 7], 0.75).unwrap();
        assert_eq!([0, u64::from(u32::MAX), 1 << 63, u64::MAX].map(|random| noise.row_at(random)), [1; 4]);
    }

    #[test]
    fn bad_powers_and_empty_counts_are_refused() {
        for power in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(Noise::new(&[1, 2], power).is_err());
        }
        assert!(Noise::new(&[0, 0], 0.5).is_err());
        assert!(Noise::new(&[], 0.5).is_err());
    }

    /// The rows from eight draws.
    fn drawn(negatives: Negatives<'_>, n_rows: usize) -> (Result<()>, Vec<u32>) {
        struct Eight<'v>(&'v mut Vec<u32>);
        impl DrawMany for Eight<'_> {
            fn run(self, mut draw: impl FnMut(&mut Stream) -> u32) {
                let mut rng = senv_core::rng::stream(1, "eight", &[]);
                self.0.extend((0..8).map(|_| draw(&mut rng)));
            }
        }
        let mut rows = Vec::new();
        (negatives.draw_many(n_rows, Eight(&mut rows)), rows)
    }

    #[test]
    fn a_source_draws_in_the_place_of_the_table_and_rows_that_are_not_there_are_refused() {
        struct Same(Noise);
        impl NoiseSource for Same {
            fn draw(&self, rng: &mut Stream) -> u32 {
                self.0.draw(rng)
            }
        }
        let same = Same(Noise::new(&[3, 1, 2], 1.0).unwrap());
        let (of_table, of_source) = (drawn(Negatives::from(&same.0), 3), drawn(Negatives::from(&same), 3));
        assert!(of_table.0.is_ok() && of_source.0.is_ok() && of_table.1 == of_source.1 && of_table.1.contains(&2));
        let (refused, rows) = drawn(Negatives::from(&same as &dyn NoiseSource), 2);
        assert!(matches!(&refused, Err(Error::InvalidParameter { got, .. }) if got == "row 2 of 2"), "{refused:?}");
        assert!(rows.iter().all(|&row| row < 2));
    }
}
