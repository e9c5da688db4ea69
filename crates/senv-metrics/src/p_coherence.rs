//! P-coherence: the mean cosine among the paraphrases of a group.
//!
//! Equation: `p-coherence`

use crate::{
    Result,
    error::{Error, check_lengths_of},
    mean,
};

/// A vector with a smaller norm counts as zero, as in the cosine.
const TINY: f64 = 1e-12;

/// The sum of unit vectors, which determines the sum of all their cosines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitSum {
    sum: Vec<f64>,
    n: usize,
    n_nonzero: usize,
}

impl UnitSum {
    /// Creates an empty sum.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vector divided by its norm. A vector of norm below 1e-12 counts but adds nothing.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if its dimension differs from those before; [`Error::BadValue`] if a value is not
    /// finite. After an error the sum is unchanged.
    pub fn add<T: Copy + Into<f64>>(&mut self, vector: &[T]) -> Result<()> {
        const METRIC: &str = "cosine";
        if self.n > 0 {
            check_lengths_of(METRIC, self.sum.len(), vector.len())?;
        }
        let values = || vector.iter().map(|&x| x.into());
        if let Some((position, value)) = values().enumerate().find(|(_, value): &(usize, f64)| !value.is_finite()) {
            let (list, requirement) = ("vector", "finite numbers");
            return Err(Error::BadValue { metric: METRIC, list, position, value, requirement });
        }
        self.sum.resize(vector.len(), 0.0);
        self.n += 1;
        let squares: f64 = values().map(|x| x * x).sum();
        // If the squares overflow but the norm does not, computes relative to the largest value.
        let unit = if squares.is_finite() { 1.0 } else { values().fold(0.0, |unit: f64, x| unit.max(x.abs())) };
        let squares = if unit == 1.0 { squares } else { values().map(|x| (x / unit) * (x / unit)).sum() };
        let norm = squares.sqrt();
        if norm * unit < TINY {
            return Ok(());
        }
        self.n_nonzero += 1;
        self.sum.iter_mut().zip(values()).for_each(|(sum, x)| *sum += x / unit / norm);
        Ok(())
    }

    /// Adds all vectors from another sum.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the dimensions differ.
    pub fn add_all(&mut self, other: &Self) -> Result<()> {
        if other.n == 0 {
            return Ok(());
        }
        if self.n > 0 {
            check_lengths_of("cosine", self.sum.len(), other.sum.len())?;
        }
        self.sum.resize(other.sum.len(), 0.0);
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, x)| *sum += x);
        self.n += other.n;
        self.n_nonzero += other.n_nonzero;
        Ok(())
    }

    /// The number of vectors added.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of unordered pairs of the vectors.
    #[must_use]
    pub fn n_pairs(&self) -> usize {
        self.n * self.n.saturating_sub(1) / 2
    }

    /// The sum of the cosines of all unordered pairs; a zero vector has cosine 0 with every vector.
    #[must_use]
    pub fn pair_sum(&self) -> f64 {
        (self.sum.iter().map(|x| x * x).sum::<f64>() - self.n_nonzero as f64) / 2.0
    }

    /// The mean cosine of all unordered pairs, in `[-1, 1]`; `None` below two vectors.
    #[must_use]
    pub fn mean_cosine(&self) -> Option<f64> {
        // Clamped, as rounding can exceed the range.
        (self.n > 1).then(|| (self.pair_sum() / self.n_pairs() as f64).clamp(-1.0, 1.0))
    }
}

/// The mean cosine of all unordered pairs of vectors, in `[-1, 1]`: the coherence of a group. `None` below two vectors.
///
/// ```
/// // Cosines 1 (same direction), 0 and 0.
/// let mean = senv_metrics::mean_pairwise_cosine(&[&[1.0, 0.0][..], &[3.0, 0.0], &[0.0, 2.0]])?;
/// assert!((mean.expect("three vectors") - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`Error::LengthMismatch`] if the vectors differ in dimension; [`Error::BadValue`] if a value is not finite.
pub fn mean_pairwise_cosine<T: Copy + Into<f64>>(vectors: &[&[T]]) -> Result<Option<f64>> {
    let mut sum = UnitSum::new();
    vectors.iter().try_for_each(|vector| sum.add(vector))?;
    Ok(sum.mean_cosine())
}

/// The mean coherence of groups, each counting once, in `[-1, 1]`. Groups below two vectors are ignored; `None` if no
/// other group is left.
///
/// ```text
/// coherence of a group  = mean over unordered pairs {i, j} of cos(u_i, u_j)
/// P-coherence           = mean over the groups of two or more
/// û = u / |u|, 0 where |u| < 1e-12; s = Σ û_i:     Σ_{i<j} cos(u_i, u_j) = (|s|² − #{i : û_i ≠ 0}) / 2
/// ```
///
/// P-thought paper, equations 4 and 5, with the cosine of equation 3. Cosines are in `[-1, 1]` and are not clipped to
/// 0. The last line expands |s|², and needs n vector sums for a group of n instead of n²/2 products. A collapsed
/// encoder, which gives every sentence the same direction, has P-coherence 1. To detect it, compare with the mean
/// cosine of unrelated sentences, which [`UnitSum::pair_sum`] gives exactly.
///
/// ```
/// let (x, y) = ([1.0, 0.0], [0.0, 1.0]);
/// let groups: [&[&[f64]]; 3] = [&[&x, &x], &[&x, &y], &[&y]]; // coherences 1 and 0, none for the last
/// assert_eq!(senv_metrics::p_coherence(groups)?, Some(0.5));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// The errors of [`mean_pairwise_cosine`].
pub fn p_coherence<'a, T: Copy + Into<f64> + 'a>(
    groups: impl IntoIterator<Item = &'a [&'a [T]]>,
) -> Result<Option<f64>> {
    let coherences = groups.into_iter().map(mean_pairwise_cosine).collect::<Result<Vec<_>>>()?;
    Ok(mean(&coherences.into_iter().flatten().collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed values in [-1, 1).
    fn vectors(n: usize, dim: usize) -> Vec<Vec<f64>> {
        let mut state = 11_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..n).map(|_| (0..dim).map(|_| draw()).collect()).collect()
    }

    /// The definition: every pair.
    fn plain(vectors: &[Vec<f64>]) -> f64 {
        let norm = |u: &[f64]| u.iter().map(|x| x * x).sum::<f64>().sqrt();
        let cosine = |u: &[f64], v: &[f64]| {
            let norms = norm(u) * norm(v);
            if norms == 0.0 { 0.0 } else { u.iter().zip(v).map(|(x, y)| x * y).sum::<f64>() / norms }
        };
        let n = vectors.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        pairs.map(|(i, j)| cosine(&vectors[i], &vectors[j])).sum::<f64>() / (n * (n - 1) / 2) as f64
    }

    fn fast(vectors: &[Vec<f64>]) -> f64 {
        mean_pairwise_cosine(&vectors.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap().unwrap()
    }

    #[test]
    fn the_sum_of_unit_vectors_gives_the_mean_over_pairs() {
        for (n, dim) in [(2, 1), (2, 3), (5, 7), (40, 300), (300, 20)] {
            let mut vectors = vectors(n, dim);
            assert!((fast(&vectors) - plain(&vectors)).abs() < 1e-13, "{n} {dim}");
            vectors[n / 2].fill(0.0);
            assert!((fast(&vectors) - plain(&vectors)).abs() < 1e-13, "{n} {dim} with a zero vector");
        }
    }

    #[test]
    fn pairs_across_groups_are_what_is_left_of_all_pairs() {
        let mut vectors = vectors(12, 5);
        vectors[6].fill(0.0); // Counts as a vector but not as a unit vector, in its group and after.
        let (mut all, mut within) = (UnitSum::new(), 0.0);
        for group in vectors.chunks(4) {
            let mut sum = UnitSum::new();
            group.iter().for_each(|vector| sum.add(vector).unwrap());
            within += sum.pair_sum();
            all.add_all(&sum).unwrap();
        }
        assert_eq!((all.n(), all.n_pairs()), (12, 66));
        let across = (0..12).flat_map(|i| (i + 1..12).map(move |j| (i, j))).filter(|(i, j)| i / 4 != j / 4);
        let expected: f64 = across.map(|(i, j)| plain(&[vectors[i].clone(), vectors[j].clone()])).sum();
        assert!((all.pair_sum() - within - expected).abs() < 1e-13);
        // Vectors and sums can be added in any order.
        let (mut mixed, mut rest) = (UnitSum::new(), UnitSum::new());
        vectors[..5].iter().for_each(|vector| mixed.add(vector).unwrap());
        vectors[5..].iter().for_each(|vector| rest.add(vector).unwrap());
        mixed.add_all(&rest).unwrap();
        assert!((mixed.pair_sum() - all.pair_sum()).abs() < 1e-13);
    }

    #[test]
    fn sizes_of_vectors_do_not_matter_unless_they_are_zero() {
        let of = |u: &[f64], v: &[f64]| mean_pairwise_cosine(&[u, v]).unwrap().unwrap();
        for size in [1e-11, 1e-3, 1e160, 1e300] {
            assert!((of(&[3.0 * size, 4.0 * size], &[1.0, 0.0]) - 0.6).abs() < 1e-15, "{size}");
        }
        assert_eq!(of(&[TINY.next_down(), 0.0], &[1.0, 0.0]), 0.0);
        assert_eq!(of(&[TINY, 0.0], &[1.0, 0.0]), 1.0, "the bound itself is a length");
        assert_eq!(of(&[0.0, 0.0], &[0.0, 0.0]), 0.0);
        assert_eq!(of(&[3.0, 4.0], &[3.0, 4.0]), 1.0);
        assert_eq!(of(&[3.0, 4.0], &[-3.0, -4.0]), -1.0, "not clipped at 0");
        assert!((mean_pairwise_cosine(&[&[3.0_f32, 4.0], &[1.0, 0.0]]).unwrap().unwrap() - 0.6).abs() < 1e-15);
    }

    #[test]
    fn small_groups_have_no_coherence_and_bad_vectors_are_named() {
        assert_eq!(mean_pairwise_cosine::<f64>(&[]), Ok(None));
        assert_eq!(mean_pairwise_cosine(&[&[1.0][..]]), Ok(None));
        assert_eq!(p_coherence::<f64>([&[&[1.0][..]][..]]), Ok(None));
        let error = mean_pairwise_cosine(&[&[1.0, 2.0][..], &[1.0]]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { first: 2, second: 1, .. }), "{error}");
        let error = mean_pairwise_cosine(&[&[1.0, f64::NAN][..]]).unwrap_err();
        assert!(matches!(error, Error::BadValue { list: "vector", position: 1, .. }), "{error}");
        let mut sum = UnitSum::new();
        sum.add(&[1.0, 0.0]).unwrap();
        let before = sum.clone();
        assert!(sum.add(&[f64::INFINITY, 0.0]).is_err() && sum.add_all(&before).is_ok());
        let mut other = UnitSum::new();
        other.add(&[1.0]).unwrap();
        assert!(matches!(sum.add_all(&other), Err(Error::LengthMismatch { first: 2, second: 1, .. })));
    }
}
