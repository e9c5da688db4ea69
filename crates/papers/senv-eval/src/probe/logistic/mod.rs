//! L2-regularized logistic regression, the classifier on frozen vectors.
//!
//! Many regressions on the same examples, such as the folds of a cross-validation, are fitted together. Each pass over
//! the examples serves all of them, and they share an estimate of their curvature. C increases along a path, and each
//! optimum is the start for the next C.

mod lbfgs;
mod loss;
mod preconditioner;

use lbfgs::{Search, norm};
use preconditioner::Preconditioner;
use rayon::prelude::*;
use senv_core::arrays::Float;

use crate::error::{Error, Result};

/// The gradient norm at which a search ends, relative to the norm at zero.
pub(crate) const TOLERANCE: f64 = 1e-4;
/// The same in cross-validation. LIBLINEAR stops at 1e-2.
pub(crate) const FOLD_TOLERANCE: f64 = 1e-3;
/// Maximum number of steps.
const MAX_STEPS: usize = 300;
/// Number of passes after which the shared curvature is estimated again. The interval doubles each time.
const REFRESH: usize = 4;

/// Feature vectors with their targets.
pub(crate) trait Examples: Sync {
    /// The number of examples.
    fn len(&self) -> usize;
    /// The number of features.
    fn n_features(&self) -> usize;
    /// The number of outputs: 1 for two classes, otherwise one per class.
    fn n_outputs(&self) -> usize;
    /// Writes the features of one example.
    fn write<F: Float>(&self, i: usize, out: &mut [F]);
    /// One value per output: the shares of the classes, or 0 and 1.
    fn target(&self, i: usize) -> &[f64];
}

/// How outputs become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// All probabilities sum to 1.
    Softmax,
    /// Each output has its own probability.
    Sigmoid,
}

/// How a regression uses an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The regression trains on it.
    Train,
    /// The regression is tested on it.
    Judge,
    /// The regression does not use it.
    Absent,
}

/// The role of each example for each regression.
pub(crate) struct Roles {
    n_problems: usize,
    /// Shape `(examples, problems)`.
    values: Vec<Role>,
}

impl Roles {
    /// Computes the role of each example (first argument) for each regression (second argument).
    pub(crate) fn new(n: usize, n_problems: usize, role: impl Fn(usize, usize) -> Role) -> Self {
        let values = (0..n).flat_map(|i| (0..n_problems).map(move |p| (i, p))).map(|(i, p)| role(i, p)).collect();
        Self { n_problems, values }
    }

    /// Creates the roles of one regression that trains on all examples.
    pub(crate) fn all(n: usize) -> Self {
        Self { n_problems: 1, values: vec![Role::Train; n] }
    }

    /// Returns the roles of one example.
    pub(crate) fn of(&self, i: usize) -> &[Role] {
        &self.values[i * self.n_problems..][..self.n_problems]
    }
}

/// A fitted regression: for each output a row of W followed by b.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    link: Link,
    n_outputs: usize,
    parameters: Vec<f64>,
}

impl Model {
    /// Returns the parameters, of shape `(outputs, features + 1)`.
    #[cfg(test)]
    pub(crate) fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Creates a softmax regression with these parameters, of shape `(outputs, features + 1)`.
    pub(crate) fn softmax(n_outputs: usize, parameters: Vec<f64>) -> Self {
        Self { link: Link::Softmax, n_outputs, parameters }
    }

    /// Computes the scores of the outputs.
    fn scores<F: Float>(&self, x: &[F]) -> Vec<f64> {
        let rows = self.parameters.chunks_exact(x.len() + 1);
        rows.map(|row| row[x.len()] + row.iter().zip(x).map(|(w, x)| w * x.wide()).sum::<f64>()).collect()
    }

    /// Returns the most likely class, the lowest of equals.
    pub(crate) fn class<F: Float>(&self, x: &[F]) -> usize {
        likeliest(&self.scores(x))
    }

    /// Computes the probabilities of the outputs.
    pub(crate) fn probabilities<F: Float>(&self, x: &[F]) -> Vec<f64> {
        let mut p = self.scores(x);
        match self.link {
            Link::Sigmoid => p.iter_mut().for_each(|a| *a = senv_core::math::sigmoid(*a)),
            Link::Softmax => {
                let highest = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                p.iter_mut().for_each(|a| *a = (*a - highest).exp());
                let total: f64 = p.iter().sum();
                p.iter_mut().for_each(|p| *p /= total);
            }
        }
        p
    }
}

/// Returns the class of some scores. For one output it is 1 if the score is above 0.
fn likeliest<F: Float>(scores: &[F]) -> usize {
    match scores {
        [score] => usize::from(*score > F::zero()),
        _ => (1..scores.len()).fold(0, |best, j| if scores[j] > scores[best] { j } else { best }),
    }
}

/// Predicts the class of each example with each regression, shape `(examples, regressions)`.
pub(crate) fn predict<F: Float, E: Examples>(examples: &E, models: &[Model]) -> Result<Vec<Vec<usize>>> {
    let points: Vec<&[f64]> = models.iter().map(|model| &model.parameters[..]).collect();
    let weights = loss::stack::<F>(&points, examples.n_features() + 1);
    let of_part = |range| -> Result<Vec<Vec<usize>>> {
        let mut classes = Vec::new();
        loss::for_blocks(examples, range, weights.view(), |_, _, scores| {
            for row in scores.rows() {
                let outputs = row.as_slice().unwrap_or_default().chunks_exact(examples.n_outputs());
                classes.push(outputs.map(likeliest).collect());
            }
            Ok(())
        })?;
        Ok(classes)
    };
    Ok(loss::parts(examples.len()).map(of_part).collect::<Result<Vec<_>>>()?.concat())
}

/// Fits all regressions for each C of an ascending path. Each starts from its optimum for the previous C, the first
/// from zeros. `each` receives the index of C and the models.
pub(crate) fn fit_path<F: Float, E: Examples>(
    examples: &E,
    link: Link,
    roles: &Roles,
    path: &[f64],
    tolerance: f64,
    mut each: impl FnMut(usize, &[Model]) -> Result<()>,
) -> Result<()> {
    let (columns, k) = (examples.n_features() + 1, examples.n_outputs());
    let zeros = vec![0.0; k * columns];
    let everyone: Vec<usize> = (0..roles.n_problems).collect();
    let at_zeros = loss::pass::<F, E>(examples, link, roles, &everyone, &vec![&zeros[..]; everyone.len()])?;
    let first: Vec<f64> = at_zeros.gradients.iter().map(|gradient| norm(gradient)).collect();
    if first.iter().any(|norm| !norm.is_finite()) {
        // The embeddings are finite, but products of their values overflow f32.
        return Err(Error::NotFinite { what: "the gradient of a classifier on these embeddings".to_owned() });
    }
    let mut models = vec![Model { link, n_outputs: k, parameters: zeros }; everyone.len()];
    for (place, &c) in path.iter().enumerate() {
        let start = models.iter_mut().map(|model| std::mem::take(&mut model.parameters));
        let mut searches: Vec<Search> =
            start.zip(&first).map(|(x, first)| Search::new(x, tolerance * c * first, MAX_STEPS)).collect();
        let (mut shared, mut passes, mut refresh) = (None, 0, 0);
        loop {
            let (active, points): (Vec<usize>, Vec<&[f64]>) =
                searches.iter().enumerate().filter_map(|(i, search)| Some((i, search.asks()?))).unzip();
            if active.is_empty() {
                break;
            }
            let pass = loss::pass::<F, E>(examples, link, roles, &active, &points)?;
            if passes == refresh {
                shared = Some(Preconditioner::new::<F, E>(examples, &pass.curvatures, c)?);
                refresh = if passes == 0 { REFRESH } else { 2 * refresh + REFRESH };
            }
            passes += 1;
            let precondition = |v: &mut [f64]| shared.iter().for_each(|shared| shared.apply(v));
            let mut told: Vec<Option<(f64, Vec<f64>)>> = vec![None; searches.len()];
            for ((i, loss), gradient) in active.into_iter().zip(pass.losses).zip(pass.gradients) {
                told[i] = Some((loss, gradient));
            }
            searches.par_iter_mut().zip(told).for_each(|(search, told)| {
                let (Some((loss, mut gradient)), Some(x)) = (told, search.asks()) else { return };
                let value = c * loss + penalize(x, columns, c, &mut gradient);
                search.tell(value, gradient, Some(&precondition));
            });
        }
        for (model, search) in models.iter_mut().zip(searches) {
            model.parameters = search.into_x();
        }
        each(place, &models)?;
    }
    Ok(())
}

/// Fits one regression on all examples.
pub(crate) fn fit<F: Float, E: Examples>(examples: &E, link: Link, c: f64) -> Result<Model> {
    let mut fitted = None;
    fit_path::<F, E>(examples, link, &Roles::all(examples.len()), &[c], TOLERANCE, |_, models| {
        fitted = models.first().cloned();
        Ok(())
    })?;
    let zeros = || vec![0.0; examples.n_outputs() * (examples.n_features() + 1)];
    Ok(fitted.unwrap_or_else(|| Model { link, n_outputs: examples.n_outputs(), parameters: zeros() }))
}

/// Returns ½ |W|². Scales the gradient of the loss by C and adds that of the penalty, which excludes b at the end of
/// each row.
fn penalize(x: &[f64], columns: usize, c: f64, gradient: &mut [f64]) -> f64 {
    let mut penalty = 0.0;
    for (x, gradient) in x.chunks_exact(columns).zip(gradient.chunks_exact_mut(columns)) {
        f64::scale(c, gradient);
        let w = &x[..columns - 1];
        f64::axpy(1.0, w, &mut gradient[..columns - 1]);
        penalty += 0.5 * f64::dot(w, w);
    }
    penalty
}

#[cfg(test)]
mod tests;
