//! A random rotation, after which all values of a vector carry about the same weight.
//!
//! Equation: `random-rotation`
//!
//! ```text
//! R = H_p D_1                                  for a block of n = p dimensions, p a power of two
//! R = (H_p D_3 ⊕ I) (I ⊕ H_p D_2) (H_p D_1 ⊕ I)  for n between p and 2 p: the first p, the last p, the first p again
//! H_p  Walsh-Hadamard matrix of order p, times 1 / √p          D_i  random signs on the diagonal
//! ```
//!
//! Every factor is orthogonal, so lengths and angles are preserved. No dimension is padded. Blocks of dimensions are
//! rotated separately, each by its own signs. The only operations are sums, differences and one product per value, in a
//! fixed order: bit-identical on every machine.

use rand::Rng;
use senv_core::rng::stream;

use crate::code_kernels::walsh_hadamard;

/// A rotation of vectors, determined by a seed and the lengths of the blocks.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    blocks: Vec<Block>,
    dim: usize,
}

#[derive(Debug, Clone)]
struct Block {
    len: usize,
    /// The largest power of two up to the length.
    power: usize,
    /// The signs of each round, with the scale 1 / √power.
    rounds: Vec<Vec<f32>>,
}

impl Rotation {
    /// Creates the rotation for blocks of these lengths, each at least 1.
    pub(crate) fn new(seed: u64, lengths: &[usize]) -> Self {
        let block = |(number, &len): (usize, &usize)| {
            let power = 1 << len.ilog2();
            let scale = (1.0 / (power as f64).sqrt()) as f32;
            let n_rounds = if power == len { 1 } else { 3 };
            let round = |round: u64| {
                let mut stream = stream(seed, "index.rotation", &[number as u64, round]);
                let mut bits = 0;
                let mut sign = |i: usize| {
                    if i.is_multiple_of(64) {
                        bits = stream.next_u64();
                    }
                    if bits >> (i % 64) & 1 == 1 { -scale } else { scale }
                };
                (0..power).map(&mut sign).collect()
            };
            Block { len, power, rounds: (0..n_rounds).map(round).collect() }
        };
        Self { blocks: lengths.iter().enumerate().map(block).collect(), dim: lengths.iter().sum() }
    }

    /// The length of a vector.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Rotates a vector of [`Rotation::dim`] values in place.
    pub(crate) fn rotate(&self, x: &mut [f32]) {
        let mut rest = x;
        for block in &self.blocks {
            let (x, behind) = rest.split_at_mut(block.len);
            rest = behind;
            for (round, signs) in block.rounds.iter().enumerate() {
                let start = if round == 1 { block.len - block.power } else { 0 };
                let x = &mut x[start..][..block.power];
                x.iter_mut().zip(signs).for_each(|(x, sign)| *x *= sign);
                walsh_hadamard(x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(n: usize, key: u64) -> Vec<f32> {
        let mut stream = stream(key, "test", &[n as u64]);
        (0..n).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    #[test]
    fn lengths_and_angles_stay_at_any_dimension() {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
        for lengths in [
            vec![1],
            vec![2],
            vec![3],
            vec![7],
            vec![256],
            vec![300],
            vec![384],
            vec![514],
            vec![256, 258],
            vec![1, 5, 64],
        ] {
            let rotation = Rotation::new(3, &lengths);
            let (a, b) = (vector(rotation.dim(), 5), vector(rotation.dim(), 6));
            let (mut c, mut d) = (a.clone(), b.clone());
            rotation.rotate(&mut c);
            rotation.rotate(&mut d);
            let mut end = 0;
            for len in &lengths {
                end += len;
                let range = end - len..end;
                for ((x, y), (u, v)) in [((&a, &b), (&c, &d)), ((&a, &a), (&c, &c))] {
                    let (before, after) =
                        (dot(&x[range.clone()], &y[range.clone()]), dot(&u[range.clone()], &v[range.clone()]));
                    assert!((before - after).abs() < 1e-5 * range.len() as f64, "{lengths:?}: {before} {after}");
                }
            }
        }
    }

    #[test]
    fn one_value_is_distributed_over_all_dimensions_of_its_block() {
        for n in [256, 300, 384, 514] {
            let rotation = Rotation::new(1, &[n, 8]);
            for i in [0, 1, n / 2, n - 1] {
                let mut x = vec![0.0; n + 8];
                x[i] = 1.0;
                rotation.rotate(&mut x);
                let largest = x.iter().fold(0_f32, |largest, x| largest.max(x.abs()));
                // Evenly distributed, each would be 1 / √n; three rounds of overlapping halves leave some larger.
                assert!(largest < 8.0 / (n as f32).sqrt(), "{n}, {i}: {largest}");
                assert!(x[n..].iter().all(|&x| x == 0.0), "the other block");
            }
        }
    }

    #[test]
    fn the_seed_chooses_the_signs() {
        let rotated = |seed| {
            let mut x = vector(64, 2);
            Rotation::new(seed, &[64]).rotate(&mut x);
            x
        };
        assert_eq!(rotated(1), rotated(1));
        assert_ne!(rotated(1), rotated(2));
    }
}
