//! L-BFGS: minimization of a smooth function, with curvature from its last gradients.
//!
//! Equation: `l-bfgs`
//!
//! ```text
//! s_k = x_{k+1} − x_k,   y_k = g_{k+1} − g_k,   ρ_k = 1 / y_kᵀ s_k
//! p   = −H_k g_k                          H_k: the two loops over the last pairs, from M⁻¹, or γ = sᵀy / yᵀy without M
//! x_{k+1} = x_k + t p                     t: the first of 1, ½, ¼, … with f(x + t p) ≤ f(x) + 10⁻⁴ t gᵀp
//! ```
//!
//! J. Nocedal and S. J. Wright, Numerical Optimization, 2nd edition, algorithms 7.4 and 7.5, with Armijo's rule for t.
//! For a convex function every pair has yᵀs > 0; a pair that does not, by rounding, is skipped. M is an estimate of the
//! second derivatives, the preconditioner.
//!
//! A [`Search`] requests the function at one point and receives it, so many searches share one pass over the examples.

use std::collections::VecDeque;

use senv_core::arrays::Float;

/// Number of pairs that are kept.
const MEMORY: usize = 10;
/// Maximum number of halvings of a step.
const HALVINGS: u32 = 40;

/// Overwrites a vector v with M⁻¹ v.
pub(crate) type Precondition<'a> = dyn Fn(&mut [f64]) + Sync + 'a;

/// A minimization in progress.
pub(crate) struct Search {
    /// The best point so far, with its value and gradient.
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The point at which the function is needed next.
    trial: Vec<f64>,
    direction: Vec<f64>,
    t: f64,
    halvings: u32,
    /// The most recent pair is first.
    pairs: VecDeque<(Vec<f64>, Vec<f64>)>,
    steps: usize,
    max_steps: usize,
    /// The gradient norm at which the search ends.
    enough: f64,
    is_done: bool,
}

impl Search {
    /// Searches from `x` until the gradient norm is at most `enough`, a step brings no improvement, or `max_steps` is
    /// reached.
    pub(crate) fn new(x: Vec<f64>, enough: f64, max_steps: usize) -> Self {
        let trial = x.clone();
        Self {
            value: f64::INFINITY,
            gradient: Vec::new(),
            direction: Vec::new(),
            t: 0.0,
            halvings: 0,
            pairs: VecDeque::new(),
            steps: 0,
            max_steps,
            enough,
            is_done: false,
            x,
            trial,
        }
    }

    /// Returns the point at which value and gradient are needed next; `None` at the end.
    pub(crate) fn asks(&self) -> Option<&[f64]> {
        (!self.is_done).then_some(&self.trial)
    }

    /// Receives value and gradient at the requested point.
    pub(crate) fn tell(&mut self, value: f64, gradient: Vec<f64>, precondition: Option<&Precondition<'_>>) {
        if self.gradient.is_empty() {
            (self.value, self.gradient) = (value, gradient);
            return self.turn(precondition);
        }
        if value <= self.value + 1e-4 * self.t * f64::dot(&self.gradient, &self.direction) {
            let s: Vec<f64> = self.trial.iter().zip(&self.x).map(|(new, old)| new - old).collect();
            let y: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
            if f64::dot(&s, &y) > f64::EPSILON * norm(&s) * norm(&y) {
                self.pairs.truncate(MEMORY - 1);
                self.pairs.push_front((s, y));
            }
            self.x.copy_from_slice(&self.trial);
            (self.value, self.gradient) = (value, gradient);
            self.steps += 1;
            return self.turn(precondition);
        }
        self.halvings += 1;
        self.t /= 2.0;
        // Any further improvement is below rounding error.
        self.is_done = self.halvings == HALVINGS;
        self.set_trial();
    }

    /// Starts in a new direction from the best point.
    fn turn(&mut self, precondition: Option<&Precondition<'_>>) {
        let slope = norm(&self.gradient);
        if self.steps == self.max_steps || slope.is_nan() || slope <= self.enough {
            self.is_done = true;
            return;
        }
        self.direction = direction(&self.gradient, &self.pairs, precondition);
        // Without any curvature information the first step has a length of at most 1.
        let blind = self.pairs.is_empty() && precondition.is_none();
        self.t = if blind { 1.0_f64.min(1.0 / slope) } else { 1.0 };
        self.halvings = 0;
        self.set_trial();
    }

    fn set_trial(&mut self) {
        self.trial.copy_from_slice(&self.x);
        f64::axpy(self.t, &self.direction, &mut self.trial);
    }

    /// Returns the number of steps and the norm of the last gradient.
    #[cfg(test)]
    pub(crate) fn convergence(&self) -> (usize, f64) {
        (self.steps, norm(&self.gradient))
    }

    /// Returns the best point.
    pub(crate) fn into_x(self) -> Vec<f64> {
        self.x
    }
}

pub(crate) fn norm(v: &[f64]) -> f64 {
    f64::dot(v, v).sqrt()
}

/// Computes −H g, starting with the most recent pair.
fn direction(
    gradient: &[f64],
    pairs: &VecDeque<(Vec<f64>, Vec<f64>)>,
    precondition: Option<&Precondition<'_>>,
) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (s, y) in pairs {
        let share = f64::dot(s, &q) / f64::dot(s, y);
        f64::axpy(-share, y, &mut q);
        shares.push(share);
    }
    match (precondition, pairs.front()) {
        (Some(precondition), _) => precondition(&mut q),
        (None, Some((s, y))) => f64::scale(f64::dot(s, y) / f64::dot(y, y), &mut q),
        (None, None) => {}
    }
    for ((s, y), share) in pairs.iter().zip(shares).rev() {
        f64::axpy(share - f64::dot(y, &q) / f64::dot(s, y), s, &mut q);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimize(
        f: impl Fn(&[f64], &mut [f64]) -> f64,
        x: &[f64],
        relative: f64,
        precondition: Option<&Precondition<'_>>,
    ) -> (Vec<f64>, usize) {
        let mut gradient = vec![0.0; x.len()];
        f(x, &mut gradient);
        let mut search = Search::new(x.to_vec(), relative * norm(&gradient), 200);
        while let Some(x) = search.asks() {
            let value = f(x, &mut gradient);
            search.tell(value, gradient.clone(), precondition);
        }
        let (steps, slope) = search.convergence();
        assert!(slope <= search.enough, "{slope}");
        (search.into_x(), steps)
    }

    #[test]
    fn the_valley_of_rosenbrock_is_walked_to_its_end() {
        let f = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g.copy_from_slice(&[-2.0 * a - 400.0 * x[0] * b, 200.0 * b]);
            a * a + 100.0 * b * b
        };
        let (x, steps) = minimize(f, &[-1.2, 1.0], 1e-10, None);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
        assert!(steps < 100, "{steps}");
    }

    #[test]
    fn a_bowl_of_uneven_axes_takes_few_steps_one_with_its_curvature_and_the_bottom_none() {
        let f = |x: &[f64], g: &mut [f64]| {
            g.iter_mut().zip(x).enumerate().for_each(|(i, (g, x))| *g = (1 << i) as f64 * x);
            x.iter().enumerate().map(|(i, x)| 0.5 * (1 << i) as f64 * x * x).sum()
        };
        let (x, steps) = minimize(f, &[1.0; 8], 1e-8, None);
        assert!(steps < 60 && x.iter().all(|x| x.abs() < 1e-6), "{steps} {x:?}");
        let exact = |v: &mut [f64]| v.iter_mut().enumerate().for_each(|(i, v)| *v /= (1 << i) as f64);
        assert_eq!(minimize(f, &[1.0; 8], 1e-8, Some(&exact)), (vec![0.0; 8], 1));
        assert_eq!(minimize(f, &[0.0; 3], 1e-8, None), (vec![0.0; 3], 0));
    }
}
