//! The leading eigenvectors of a symmetric matrix.
//!
//! Equation: `symmetric-eigen`
//!
//! ```text
//! (1)  H = I − 2 w wᵀ / wᵀw,   w = x − α e₁,   α = −sign(x₁) |x|      x: a column below the diagonal
//!      A ← H A H for every column: T = Qᵀ A Q has three diagonals, Q = H₀ H₁ ...
//! (2)  T ← G T Gᵀ with plane rotations G that chase one step of shifted QR down the diagonal;
//!      shift μ = b − e² / (δ + sign(δ) √(δ² + e²)),  δ = (a − b)/2     [[a, e], [e, b]]: the last block
//! (3)  A = (Q Gᵀ) diag(λ) (Q Gᵀ)ᵀ
//! ```
//!
//! Golub and Van Loan, Matrix Computations, section 8.3. Costs about 4/3 d³ for (1) and 6 d³ for (2); only the
//! requested vectors are transformed back through (1). There is no randomness: the same matrix gives bit-identical
//! results.

/// The maximum number of sweeps per eigenvalue; two or three are usual.
const MAX_SWEEPS: usize = 100;

/// An eigenvalue and its eigenvector of unit length.
pub(crate) type Eigenpair = (f64, Vec<f64>);

/// The `n_pairs` largest eigenvalues of a symmetric matrix with their vectors, largest first. The entry of the largest
/// magnitude (the first of several) is positive in each vector. `matrix` has `dim * dim` finite values; its upper
/// triangle is not read. `None` if the sweeps do not converge, which is not known to happen.
pub(crate) fn leading_eigenpairs(mut matrix: Vec<f64>, dim: usize, n_pairs: usize) -> Option<Vec<Eigenpair>> {
    debug_assert_eq!(matrix.len(), dim * dim);
    let largest = matrix.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if dim == 0 || n_pairs == 0 {
        return Some(Vec::new());
    }
    // With entries of at most 1, no square overflows, and underflow does not matter.
    let scale = if largest > 0.0 { largest } else { 1.0 };
    matrix.iter_mut().for_each(|x| *x /= scale);

    let (reflectors, mut diagonal, mut beside) = to_tridiagonal(&mut matrix, dim);
    // The memory of the matrix is reused for the eigenvectors of T, one per row.
    let mut rows = matrix;
    rows.fill(0.0);
    rows.iter_mut().step_by(dim + 1).for_each(|x| *x = 1.0);
    diagonalize(&mut diagonal, &mut beside, &mut rows, MAX_SWEEPS * dim)?;

    let mut order: Vec<usize> = (0..dim).collect();
    order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]));
    let pair = |&i: &usize| {
        let mut vector = rows[i * dim..][..dim].to_vec();
        reflectors.iter().rev().for_each(|r| r.apply(&mut vector)); // v = H₀ H₁ ... z
        let norm = dot(&vector, &vector).sqrt();
        let factor = norm.copysign(peak(&vector));
        vector.iter_mut().for_each(|x| *x /= factor);
        (diagonal[i] * scale, vector)
    };
    Some(order.iter().take(n_pairs).map(pair).collect())
}

/// The entry of the largest magnitude, the first of several.
pub(crate) fn peak(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |peak: f64, &x| if x.abs() > peak.abs() { x } else { peak })
}

/// H = I − β w wᵀ over the last `w.len()` coordinates.
struct Reflector {
    w: Vec<f64>,
    beta: f64,
}

impl Reflector {
    fn apply(&self, vector: &mut [f64]) {
        let at = vector.len() - self.w.len();
        let part = &mut vector[at..];
        let c = self.beta * dot(&self.w, part);
        part.iter_mut().zip(&self.w).for_each(|(x, w)| *x -= c * w);
    }
}

/// (1): the reflectors, the diagonal of T and its off-diagonal values. Only the lower triangle is read and changed.
fn to_tridiagonal(a: &mut [f64], n: usize) -> (Vec<Reflector>, Vec<f64>, Vec<f64>) {
    let (mut reflectors, mut beside) = (Vec::new(), Vec::new());
    let (mut w, mut q) = (Vec::new(), Vec::new());
    for k in 0..n.saturating_sub(1) {
        w.clear();
        w.extend((k + 1..n).map(|i| a[i * n + k]));
        let first = w[0];
        if w[1..].iter().all(|&x| x == 0.0) {
            beside.push(first);
            continue;
        }
        let alpha = -dot(&w, &w).sqrt().copysign(first);
        w[0] -= alpha;
        let beta = 2.0 / dot(&w, &w);
        // q = β A w − (β² wᵀ A w / 2) w, then A −= w qᵀ + q wᵀ.
        let m = w.len();
        q.clear();
        q.resize(m, 0.0);
        for i in 0..m {
            let row = &a[(k + 1 + i) * n + k + 1..][..=i];
            q[i] += dot(row, &w[..=i]);
            let w_i = w[i];
            q[..i].iter_mut().zip(row).for_each(|(q, x)| *q += x * w_i);
        }
        let half = beta * beta * dot(&w, &q) / 2.0;
        q.iter_mut().zip(&w).for_each(|(q, w)| *q = beta * *q - half * w);
        for i in 0..m {
            let (w_i, q_i) = (w[i], q[i]);
            let row = &mut a[(k + 1 + i) * n + k + 1..][..=i];
            row.iter_mut().zip(&w).zip(&q).for_each(|((x, w), q)| *x -= w_i * q + q_i * w);
        }
        beside.push(alpha);
        reflectors.push(Reflector { w: w.clone(), beta });
    }
    (reflectors, (0..n).map(|i| a[i * n + i]).collect(), beside)
}

/// (2): `d` becomes the eigenvalues. The rotations are applied to `rows`, so row `i` becomes the vector of `d[i]`.
/// `None` after this many sweeps.
fn diagonalize(d: &mut [f64], e: &mut [f64], rows: &mut [f64], mut sweeps: usize) -> Option<()> {
    let n = d.len();
    let mut hi = n - 1;
    while hi > 0 {
        let negligible = |i: usize, e: &[f64]| e[i].abs() <= f64::EPSILON * (d[i].abs() + d[i + 1].abs());
        if e[hi - 1].abs() < f64::MIN_POSITIVE || negligible(hi - 1, e) {
            hi -= 1;
            continue;
        }
        let mut lo = hi - 1;
        while lo > 0 && !negligible(lo - 1, e) {
            lo -= 1;
        }
        sweeps = sweeps.checked_sub(1)?;
        let delta = (d[hi - 1] - d[hi]) / 2.0;
        let last = e[hi - 1];
        let shift = d[hi] - last * (last / (delta + delta.hypot(last).copysign(delta)));
        let (mut x, mut z) = (d[lo] - shift, e[lo]);
        for k in lo..hi {
            let r = x.hypot(z);
            let (c, s) = if r == 0.0 { (1.0, 0.0) } else { (x / r, z / r) };
            if k > lo {
                e[k - 1] = r;
            }
            let (a, b, between) = (d[k], d[k + 1], e[k]);
            d[k] = c * c * a + 2.0 * c * s * between + s * s * b;
            d[k + 1] = s * s * a - 2.0 * c * s * between + c * c * b;
            e[k] = c * s * (b - a) + (c - s) * (c + s) * between;
            if k + 1 < hi {
                (x, z) = (e[k], s * e[k + 1]);
                e[k + 1] *= c;
            }
            let (upper, lower) = rows[k * n..][..2 * n].split_at_mut(n);
            for (u, v) in upper.iter_mut().zip(lower) {
                (*u, *v) = (c * *u + s * *v, c * *v - s * *u);
            }
        }
    }
    Some(())
}

/// a·b in eight running sums, which the compiler can vectorize.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use senv_core::rng::stream;

    fn random_symmetric(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = stream(seed, "eigen-test", &[]);
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let x = rng.random_range(-1.0..1.0);
                (a[i * n + j], a[j * n + i]) = (x, x);
            }
        }
        a
    }

    /// A v = λ v, VᵀV = I, Σ λ = tr A, descending order and signs, for all pairs of a matrix.
    fn check(a: &[f64], n: usize) {
        let pairs = leading_eigenpairs(a.to_vec(), n, n).unwrap();
        assert_eq!(pairs.len(), n);
        let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let tolerance = 1e-14 * n as f64;
        for (i, (lambda, v)) in pairs.iter().enumerate() {
            for (row, v_i) in a.chunks(n).zip(v) {
                assert!((dot(row, v) - lambda * v_i).abs() <= tolerance * largest, "A v = λ v, n = {n}, pair {i}");
            }
            for (j, (_, u)) in pairs.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((dot(u, v) - expected).abs() < tolerance, "n = {n}: {i} and {j}: {}", dot(u, v));
            }
            let peak = v.iter().fold(0.0, |p: f64, &x| if x.abs() > p.abs() { x } else { p });
            assert!(peak > 0.0);
        }
        assert!(pairs.windows(2).all(|w| w[0].0 >= w[1].0));
        let (sum, trace): (f64, f64) = (pairs.iter().map(|p| p.0).sum(), a.iter().step_by(n + 1).sum());
        assert!((sum - trace).abs() <= tolerance * n as f64 * largest);
    }

    #[test]
    fn random_matrices_of_many_sizes_and_scales() {
        for n in [1, 2, 3, 4, 7, 20, 61] {
            for scale in [1.0, 1e-180, 1e180] {
                let a: Vec<f64> = random_symmetric(n, n as u64).iter().map(|x| x * scale).collect();
                check(&a, n);
            }
        }
    }

    #[test]
    fn repeated_values_zeros_and_low_rank() {
        let n = 12;
        let mut identity = vec![0.0; n * n];
        identity.iter_mut().step_by(n + 1).for_each(|x| *x = 3.0);
        check(&identity, n);
        check(&vec![0.0; n * n], n);
        check(&vec![1.0; n * n], n);
        let mut blocks = identity;
        (blocks[1], blocks[n]) = (1.0, 1.0);
        (blocks[5 * n + 9], blocks[9 * n + 5]) = (-2.0, -2.0);
        check(&blocks, n);
        // Entries over 30 orders of magnitude.
        let graded: Vec<f64> = (0..n * n).map(|i| 10f64.powi(-((i / n + i % n) as i32) * 3 / 2)).collect();
        check(&graded, n);
    }

    #[test]
    fn a_matrix_worked_out_by_hand() {
        // [[2, 1], [1, 2]]: 3 with (1, 1)/√2 and 1 with (1, −1)/√2.
        let pairs = leading_eigenpairs(vec![2.0, 1.0, 1.0, 2.0], 2, 2).unwrap();
        let half = 0.5f64.sqrt();
        for ((lambda, v), (expected, u)) in pairs.iter().zip([(3.0, [half, half]), (1.0, [half, -half])]) {
            assert!((lambda - expected).abs() < 1e-15);
            assert!((dot(v, &u).abs() - 1.0).abs() < 1e-15, "{v:?}");
        }
        assert!(leading_eigenpairs(vec![2.0], 1, 0).unwrap().is_empty());
        assert_eq!(leading_eigenpairs(vec![-2.0], 1, 5).unwrap(), [(-2.0, vec![1.0])]);
    }

    #[test]
    fn the_upper_triangle_is_not_read() {
        let n = 9;
        let a = random_symmetric(n, 3);
        let mut lower = a.clone();
        (0..n).for_each(|i| (i + 1..n).for_each(|j| lower[i * n + j] = 0.25));
        assert_eq!(leading_eigenpairs(a, n, 3), leading_eigenpairs(lower, n, 3));
    }

    #[test]
    fn fewer_than_three_sweeps_an_eigenvalue_are_enough() {
        // The shift makes convergence cubic: 2.1 to 2.3 sweeps per eigenvalue on these matrices.
        for n in [20, 60] {
            for seed in 0..4 {
                let mut a = random_symmetric(n, seed);
                let (_, mut d, mut e) = to_tridiagonal(&mut a, n);
                a.fill(0.0);
                assert!(diagonalize(&mut d, &mut e, &mut a, 5 * n / 2).is_some(), "n = {n}, seed {seed}");
            }
        }
    }

    #[test]
    fn a_value_next_to_the_diagonal_counts_as_0_beside_either_of_its_neighbours_or_below_all_normal_numbers() {
        let is_0 = |mut d: [f64; 2], e: f64| {
            let (mut e, before) = ([e], d);
            let done = diagonalize(&mut d, &mut e, &mut [1.0, 0.0, 0.0, 1.0], 0).is_some();
            assert!(!done || d == before);
            done
        };
        for d in [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]] {
            assert!(is_0(d, 1e-17) && is_0(d, -f64::EPSILON) && !is_0(d, 3e-16) && !is_0(d, -1e-15), "{d:?}");
        }
        let least = f64::MIN_POSITIVE;
        assert!(
            is_0([0.0; 2], 0.0) && is_0([0.0; 2], least / 2.0) && !is_0([0.0; 2], least) && !is_0([0.0; 2], -least)
        );
    }

    #[test]
    fn lengths_are_1_to_the_last_digits_whatever_the_rotations_left() {
        let n = 150;
        let worst = leading_eigenpairs(random_symmetric(n, 8), n, n)
            .unwrap()
            .iter()
            .map(|(_, v)| (dot(v, v) - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 4.0 * f64::EPSILON, "{}", worst / f64::EPSILON);
    }

    #[test]
    fn values_beside_small_entries_and_columns_along_an_axis_keep_their_digits() {
        // Next to entries of 1e-10, 1e-9 is not rounding error.
        check(&[1.0, 0.0, 0.0, 0.0, 1e-10, 1e-9, 0.0, 1e-9, 1e-10], 3);
        // x is nearly along e₁: with the other sign of α, x₁ − α would lose all digits.
        check(&[0.0, 1.0, 1e-9, 1.0, 2.0, 3.0, 1e-9, 3.0, 4.0], 3);
        assert_eq!(leading_eigenpairs(Vec::new(), 0, 2), Some(Vec::new()));
    }
}
