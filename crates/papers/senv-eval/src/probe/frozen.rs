//! Entailment on frozen vectors: a classifier on the vectors of an unchanged encoder.
//!
//! Sentences are encoded once. A logistic regression is trained on features of the two vectors u and v of a pair.

use senv_core::{Result as CoreResult, SentenceEncoder};
use senv_data::{Entailment, NliSet};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    probe::{
        cross_validation::{Chosen, Classified as _},
        features::{Featured, PairFeatures},
        logistic::{self, Examples, Link, Model, Roles},
    },
    ranking::entailment::PairClassifier,
    score::sentence_vectors::SentenceVectors,
};

/// The values of C to search with a held-out set: the union of SentEval's and the Skip-thoughts paper's.
pub(crate) const GRID: [f64; 11] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// C without a held-out set.
pub(crate) const USUAL_C: f64 = 1.0;

/// How a classifier on frozen vectors was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FrozenTraining {
    /// Features of a pair.
    pub features: PairFeatures,
    /// Number of training pairs.
    pub n_pairs: usize,
    /// C, the inverse strength of its L2 regularization.
    pub c: f64,
    /// Accuracy on the held-out pairs for each C; empty without held-out pairs.
    pub dev_accuracies: Vec<(f64, f64)>,
}

/// A classifier on top of a frozen encoder.
pub struct FrozenClassifier<'a> {
    encoder: &'a dyn SentenceEncoder,
    model: Model,
    training: FrozenTraining,
}

/// Encodes the sentences of data sets.
fn encode(encoder: &dyn SentenceEncoder, sets: &[NliSet]) -> Result<SentenceVectors> {
    let pairs = sets.iter().flat_map(|set| &set.pairs);
    SentenceVectors::encode(encoder, pairs.flat_map(|pair| [&pair.premise[..], &pair.hypothesis[..]]))
}

/// Creates examples from labeled pairs, with one class each.
fn labeled<'e>(embeddings: &'e SentenceVectors, sets: &[NliSet], features: PairFeatures) -> Result<Featured<'e>> {
    let pairs = sets.iter().flat_map(|set| &set.pairs);
    let classes = pairs.clone().map(|pair| pair.label.class()).collect();
    let texts = pairs.map(|pair| (&pair.premise[..], &pair.hypothesis[..]));
    Featured::pairs(embeddings, texts, features, classes, Entailment::ALL.len())
}

/// Fits the softmax regression with the C of the best result on the development set (the smallest C of equals).
pub(crate) fn best_on_dev<E: Examples, R: PartialOrd + Copy>(
    examples: &E,
    path: &[f64],
    result: impl Fn(&Model) -> Result<R>,
) -> Result<Chosen<R>> {
    let (mut best, mut results): (Option<(Model, f64, R)>, _) = (None, Vec::new());
    let roles = Roles::all(examples.len());
    logistic::fit_path::<f32, E>(examples, Link::Softmax, &roles, path, logistic::TOLERANCE, |place, models| {
        let found = result(&models[0])?;
        results.push((path[place], found));
        if best.as_ref().is_none_or(|(_, _, best)| found > *best) {
            best = Some((models[0].clone(), path[place], found));
        }
        Ok(())
    })?;
    let (model, c, _) = best.ok_or(Error::NothingToDo { what: "values of C" })?;
    Ok(Chosen { model, c, results })
}

impl<'a> FrozenClassifier<'a> {
    /// Trains on `train`. C is the one with the best accuracy on `dev` (the smallest of equals), or 1 without `dev`.
    ///
    /// # Errors
    /// [`Error::NothingToDo`] if either set has no pairs; [`Error::NotFinite`]; [`Error::Core`] from the encoder.
    ///
    /// # Examples
    /// ```no_run
    /// use senv_eval::{FrozenClassifier, NliSet, PairFeatures, evaluate_entailment};
    /// # fn f(encoder: &dyn senv_core::SentenceEncoder) -> senv_eval::Result<()> {
    /// let [train, dev, test] = ["train", "trial", "test"].map(|part| NliSet::read(format!("sick/{part}.tsv")));
    /// let classifier = FrozenClassifier::train(encoder, &[train?], &[dev?], PairFeatures::Symmetric)?;
    /// print!("{}", evaluate_entailment(&classifier, &[test?])?.to_text());
    /// # Ok(())
    /// # }
    /// ```
    pub fn train(
        encoder: &'a dyn SentenceEncoder,
        train: &[NliSet],
        dev: &[NliSet],
        features: PairFeatures,
    ) -> Result<Self> {
        let nothing = |sets: &[NliSet]| sets.iter().all(|set| set.pairs.is_empty());
        if nothing(train) || (!dev.is_empty() && nothing(dev)) {
            return Err(Error::NothingToDo { what: "labeled pairs" });
        }
        let embeddings = encode(encoder, train)?;
        let examples = labeled(&embeddings, train, features)?;
        let (model, c, dev_accuracies) = if dev.is_empty() {
            (logistic::fit::<f32, _>(&examples, Link::Softmax, USUAL_C)?, USUAL_C, Vec::new())
        } else {
            let embeddings = encode(encoder, dev)?;
            let held_out = labeled(&embeddings, dev, features)?;
            let found = best_on_dev(&examples, &GRID, |model| {
                let classes = logistic::predict::<f32, _>(&held_out, std::slice::from_ref(model))?;
                let right = classes.iter().enumerate().filter(|(i, class)| held_out.classes()[*i] == class[0]);
                Ok(right.count() as f64 / held_out.len() as f64)
            })?;
            (found.model, found.c, found.results)
        };
        let training = FrozenTraining { features, n_pairs: examples.len(), c, dev_accuracies };
        Ok(Self { encoder, model, training })
    }

    /// Returns how it was trained.
    #[must_use]
    pub fn training(&self) -> &FrozenTraining {
        &self.training
    }
}

impl PairClassifier for FrozenClassifier<'_> {
    fn classify_batch(&self, pairs: &[(&str, &str)]) -> CoreResult<Vec<Entailment>> {
        let (embeddings, numbers) = SentenceVectors::of_pairs(self.encoder, pairs)?;
        let mut x = vec![0.0_f32; self.training.features.n(self.encoder.dim())];
        let label = |pair: [usize; 2]| {
            let [u, v] = pair.map(|number| embeddings.vector(number));
            self.training.features.write(u, v, &mut x);
            Entailment::ALL[self.model.class(&x)]
        };
        Ok(numbers.into_iter().map(label).collect())
    }
}
