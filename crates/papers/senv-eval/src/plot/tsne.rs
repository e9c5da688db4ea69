//! Exact t-SNE: places sentences on a plane.
//!
//! Equation: `t-sne`
//!
//! ```text
//! (F1)  p_{j|i} ∝ exp(−β_i |x_i − x_j|²), j ≠ i;  β_i: entropy of p_{·|i} = ln perplexity
//! (F2)  p_ij = (p_{j|i} + p_{i|j}) / 2n        q_ij ∝ 1 / (1 + |y_i − y_j|²), i ≠ j
//! (F3)  KL = Σ_ij p_ij ln (p_ij / q_ij)
//! (B3)  ∂y_i = 4 Σ_j (p_ij − q_ij) (y_i − y_j) / (1 + |y_i − y_j|²)
//! ```
//!
//! Gradient descent with momentum and a gain per value. For the first quarter of the iterations, p is multiplied by 12.
//! The layout starts from the first two principal components, scaled to a deviation of 10⁻⁴. Only the start vectors of
//! the power iteration that finds them are random. L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE",
//! JMLR 9, 2008.

use rand::RngExt;

use crate::error::Result;

/// Number of times that β is doubled or bisected.
const BISECTIONS: usize = 60;
/// Factor of p in the early iterations.
const EXAGGERATION: f64 = 12.0;
/// Rounds of power iteration.
const POWER_ROUNDS: usize = 200;

/// Positions on the plane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) places: Vec<[f64; 2]>,
    /// Final value of (F3).
    pub(crate) divergence: f64,
}

/// Lays out vectors in `n_iterations` steps. The caller has checked that the perplexity is below a third of their
/// number.
pub(crate) fn layout(vectors: &[&[f32]], perplexity: f64, n_iterations: usize, seed: u64) -> Result<Layout> {
    let n = vectors.len();
    let p = joint(&squared_distances(vectors), n, perplexity);
    let mut y = principal_components(vectors, seed);
    let (mut speed, mut gains) = (vec![[0.0; 2]; n], vec![[1.0_f64; 2]; n]);
    // The choice of scikit-learn and of the author's later programs.
    let lr = (n as f64 / EXAGGERATION / 4.0).max(50.0);
    for t in 0..n_iterations {
        let early = t < n_iterations / 4;
        let (factor, momentum) = if early { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let gradient = gradient(&p, &y, factor);
        for i in 0..n {
            for d in 0..2 {
                let (g, v, gain) = (gradient[i][d], &mut speed[i][d], &mut gains[i][d]);
                *gain = if (g > 0.0) == (*v > 0.0) { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
                *v = momentum * *v - lr * *gain * g;
                y[i][d] += *v;
            }
        }
    }
    let divergence = divergence(&p, &y);
    Ok(Layout { places: y, divergence })
}

fn squared_distances(vectors: &[&[f32]]) -> Vec<f64> {
    let square = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    vectors.iter().flat_map(|a| vectors.iter().map(move |b| square(a, b))).collect()
}

/// (F1), (F2): p_ij, row by row.
fn joint(squares: &[f64], n: usize, perplexity: f64) -> Vec<f64> {
    let mut conditional = vec![0.0; n * n];
    for (i, (row, squares)) in conditional.chunks_exact_mut(n).zip(squares.chunks_exact(n)).enumerate() {
        // Distances in units of their mean, so that β starts close to its final value.
        let unit = squares.iter().sum::<f64>() / (n - 1) as f64;
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let nearest = (0..n).filter(|&j| j != i).map(|j| squares[j]).fold(f64::INFINITY, f64::min);
        let (mut beta, mut low, mut high) = (1.0_f64, 0.0, f64::INFINITY);
        for _ in 0..BISECTIONS {
            let mut total = 0.0;
            for j in 0..n {
                row[j] = if j == i { 0.0 } else { (-beta * (squares[j] - nearest) / unit).exp() };
                total += row[j];
            }
            row.iter_mut().for_each(|p| *p /= total);
            let entropy: f64 = row.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
            if entropy > perplexity.ln() {
                low = beta;
                beta = if high.is_finite() { (low + high) / 2.0 } else { 2.0 * beta };
            } else {
                high = beta;
                beta = (low + high) / 2.0;
            }
        }
    }
    let pair = |i: usize, j: usize| (conditional[i * n + j] + conditional[j * n + i]) / (2 * n) as f64;
    (0..n * n).map(|place| pair(place / n, place % n)).collect()
}

/// Returns 1 / (1 + |y_i − y_j|²), 0 for i = j, and their sum.
fn kernel(y: &[[f64; 2]]) -> (Vec<f64>, f64) {
    let weight = |i: usize, j: usize| {
        let (dx, dy) = (y[i][0] - y[j][0], y[i][1] - y[j][1]);
        if i == j { 0.0 } else { 1.0 / (1.0 + dx * dx + dy * dy) }
    };
    let weights: Vec<f64> = (0..y.len() * y.len()).map(|place| weight(place / y.len(), place % y.len())).collect();
    let total = weights.iter().sum();
    (weights, total)
}

/// Computes (F3).
fn divergence(p: &[f64], y: &[[f64; 2]]) -> f64 {
    let (weights, total) = kernel(y);
    p.iter().zip(weights).filter(|(p, _)| **p > 0.0).map(|(p, w)| p * (p * total / w).ln()).sum()
}

/// Computes (B3), with p multiplied by `factor`.
fn gradient(p: &[f64], y: &[[f64; 2]], factor: f64) -> Vec<[f64; 2]> {
    let (weights, total) = kernel(y);
    let n = y.len();
    let of_point = |i: usize| {
        (0..n).fold([0.0; 2], |[gx, gy], j| {
            let w = weights[i * n + j];
            let c = 4.0 * (factor * p[i * n + j] - w / total) * w;
            [gx + c * (y[i][0] - y[j][0]), gy + c * (y[i][1] - y[j][1])]
        })
    };
    (0..n).map(of_point).collect()
}

/// Returns the first two principal components of the vectors, scaled so that the first has a standard deviation of
/// 10⁻⁴.
fn principal_components(vectors: &[&[f32]], seed: u64) -> Vec<[f64; 2]> {
    let (n, dim) = (vectors.len(), vectors.first().map_or(0, |v| v.len()));
    let mean: Vec<f64> = (0..dim).map(|d| vectors.iter().map(|v| f64::from(v[d])).sum::<f64>() / n as f64).collect();
    let centered: Vec<Vec<f64>> =
        vectors.iter().map(|v| v.iter().zip(&mean).map(|(x, m)| f64::from(*x) - m).collect()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut rng = senv_core::rng::stream(seed, "t-SNE", &[]);
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for _ in 0..2 {
        let mut axis: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        for _ in 0..POWER_ROUNDS {
            let mut next = vec![0.0; dim];
            for x in &centered {
                let share = dot(x, &axis);
                next.iter_mut().zip(x).for_each(|(next, x)| *next += share * x);
            }
            for earlier in &axes {
                let share = dot(earlier, &next);
                next.iter_mut().zip(earlier).for_each(|(next, e)| *next -= share * e);
            }
            let norm = dot(&next, &next).sqrt();
            if norm <= f64::MIN_POSITIVE {
                break;
            }
            axis = next.into_iter().map(|x| x / norm).collect();
        }
        // Power iteration keeps the sign of its start, so fix the sign here.
        let largest = axis.iter().copied().fold(0.0, |a: f64, x| if x.abs() > a.abs() { x } else { a });
        if largest < 0.0 {
            axis.iter_mut().for_each(|x| *x = -*x);
        }
        axes.push(axis);
    }
    let mut places: Vec<[f64; 2]> = centered.iter().map(|x| [dot(x, &axes[0]), dot(x, &axes[1])]).collect();
    let deviation = (places.iter().map(|y| y[0] * y[0]).sum::<f64>() / n as f64).sqrt();
    let scale = if deviation > 0.0 { 1e-4 / deviation } else { 0.0 };
    places.iter_mut().flatten().for_each(|y| *y *= scale);
    places
}

#[cfg(test)]
mod tests {
    use senv_core::gradcheck;

    use super::*;

    /// Three groups of points in five dimensions.
    fn points() -> Vec<Vec<f32>> {
        let value = |i: usize, d: usize| if d == i % 3 { 4.0 } else { 0.0 } + ((i * 7 + d * 3) % 5) as f32 * 0.1;
        (0..18).map(|i| (0..5).map(|d| value(i, d)).collect()).collect()
    }

    #[test]
    fn gradient_matches_central_differences_and_rows_have_the_perplexity() {
        let points = points();
        let vectors: Vec<&[f32]> = points.iter().map(|x| &x[..]).collect();
        let p = joint(&squared_distances(&vectors), 18, 4.0);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let y: Vec<f64> = (0..36).map(|i| (i as f64 * 1.3).sin()).collect();
        let places = |y: &[f64]| y.chunks_exact(2).map(|y| [y[0], y[1]]).collect::<Vec<_>>();
        let mut g = gradient(&p, &places(&y), 1.0).concat();
        let f = |y: &[f64]| divergence(&p, &places(y));
        assert!(gradcheck::max_relative_error(f, &y, &g) < 1e-6);
        g[3] = -g[3];
        assert!(gradcheck::max_relative_error(f, &y, &g) > 1.0);
    }

    #[test]
    fn groups_come_apart_and_the_same_seed_gives_the_same_bits() {
        let points = points();
        let vectors: Vec<&[f32]> = points.iter().map(|x| &x[..]).collect();
        let found = layout(&vectors, 4.0, 500, 1).unwrap();
        assert_eq!(found, layout(&vectors, 4.0, 500, 1).unwrap());
        let groups: Vec<usize> = (0..18).map(|i| i % 3).collect();
        let s = senv_metrics::silhouette(&found.places.concat(), 2, &groups).unwrap().unwrap();
        assert!(s > 0.6 && found.divergence < 0.5, "{s} {}", found.divergence);
        // Points at the same position stay finite.
        let same = layout(&[&[1.0, 2.0][..]; 12], 3.0, 50, 1).unwrap();
        assert!(same.places.iter().flatten().all(|y| y.is_finite()));
    }
}
