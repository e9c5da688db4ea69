//! Frozen evaluation of entailment: a classifier on vectors of an encoder that stays unchanged.
//!
//! Sentences are encoded once; a logistic regression is trained on features of the two vectors u and v of a pair.

use ndarray::Array2;
use senv_core::{Result as CoreResult, SentenceEncoder};
use serde::Serialize;

use crate::{
    Embeddings, Entailment, Error, NliLayout, NliSet, PairClassifier, Result,
    logistic_regression::{Examples, LogisticRegression},
};

/// The values of C for the search on a held-out set: those of SentEval and of the Skip-thoughts paper.
pub(crate) const GRID: [f64; 11] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// The C without a held-out set.
pub(crate) const USUAL_C: f64 = 1.0;

/// The features of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairFeatures {
    /// `[|u − v| ; u ∘ v]`, symmetric in the pair: for SICK in SentEval.
    Symmetric,
    /// `[u ; v ; u ∘ v ; |u − v|]`: for SNLI in SentEval.
    All,
}

impl PairFeatures {
    /// The usual features for a set of this layout.
    #[must_use]
    pub fn of(layout: NliLayout) -> Self {
        match layout {
            NliLayout::Snli => Self::All,
            NliLayout::Sick => Self::Symmetric,
        }
    }

    pub(crate) fn n(self, dim: usize) -> usize {
        match self {
            Self::Symmetric => 2 * dim,
            Self::All => 4 * dim,
        }
    }

    pub(crate) fn write(self, u: &[f32], v: &[f32], out: &mut [f64]) {
        let pairs = u.iter().zip(v).map(|(&u, &v)| (f64::from(u), f64::from(v)));
        let dim = u.len();
        match self {
            Self::Symmetric => {
                for (i, (u, v)) in pairs.enumerate() {
                    (out[i], out[dim + i]) = ((u - v).abs(), u * v);
                }
            }
            Self::All => {
                for (i, (u, v)) in pairs.enumerate() {
                    (out[i], out[dim + i], out[2 * dim + i], out[3 * dim + i]) = (u, v, u * v, (u - v).abs());
                }
            }
        }
    }
}

/// How a classifier on frozen vectors was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrozenTraining {
    /// Its features.
    pub features: PairFeatures,
    /// Training pairs.
    pub n_pairs: usize,
    /// C, the inverse strength of its L2 regularization.
    pub c: f64,
    /// Accuracy on the held-out pairs for each C that was tried; empty without held-out pairs.
    pub dev_accuracies: Vec<(f64, f64)>,
}

/// A classifier on top of a frozen encoder.
pub struct FrozenClassifier<'a> {
    encoder: &'a dyn SentenceEncoder,
    model: LogisticRegression,
    training: FrozenTraining,
}

/// Pairs with the embeddings of their sentences, and the shares of the classes in each.
pub(crate) struct Embedded {
    embeddings: Embeddings,
    pairs: Vec<[usize; 2]>,
    /// Shape `(n_pairs, n_classes)`.
    targets: Array2<f64>,
    features: PairFeatures,
    dim: usize,
}

impl Embedded {
    /// Encodes pairs; `targets` has a row for each, row-major.
    pub(crate) fn new<'a>(
        encoder: &dyn SentenceEncoder,
        pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone,
        targets: Array2<f64>,
        features: PairFeatures,
    ) -> Result<Self> {
        let embeddings = Embeddings::encode(encoder, pairs.clone().flat_map(|(first, second)| [first, second]))?;
        embeddings.check_finite()?;
        Ok(Self { pairs: embeddings.pair_numbers(pairs)?, embeddings, targets, features, dim: encoder.dim() })
    }

    /// Labeled pairs: one class each.
    fn of(encoder: &dyn SentenceEncoder, sets: &[NliSet], features: PairFeatures) -> Result<Self> {
        let pairs = sets.iter().flat_map(|set| &set.pairs);
        let mut targets = Array2::zeros((pairs.clone().count(), Entailment::ALL.len()));
        for (mut row, pair) in targets.rows_mut().into_iter().zip(pairs.clone()) {
            row[pair.label.class()] = 1.0;
        }
        Self::new(encoder, pairs.map(|pair| (&pair.premise[..], &pair.hypothesis[..])), targets, features)
    }
}

impl Examples for Embedded {
    fn len(&self) -> usize {
        self.pairs.len()
    }

    fn n_features(&self) -> usize {
        self.features.n(self.dim)
    }

    fn write(&self, i: usize, out: &mut [f64]) {
        let [u, v] = self.pairs[i].map(|number| self.embeddings.vector(number));
        self.features.write(u, v, out);
    }

    fn target(&self, i: usize) -> &[f64] {
        let k = self.targets.ncols();
        self.targets.as_slice().map_or(&[], |targets| &targets[i * k..(i + 1) * k])
    }
}

impl<'a> FrozenClassifier<'a> {
    /// Trains on `train`; of several C, the one of the best accuracy on `dev` is chosen (the smallest of equals), and 1
    /// without `dev`.
    ///
    /// # Errors
    /// [`Error::NothingToDo`] without a pair in either; [`Error::NotFinite`]; [`Error::Core`] of the encoder.
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
        let examples = Embedded::of(encoder, train, features)?;
        let mut model = LogisticRegression::new(Entailment::ALL.len(), examples.n_features());
        let (mut c, mut dev_accuracies) = (USUAL_C, Vec::new());
        if dev.is_empty() {
            model.fit(&examples, c);
        } else {
            let held_out = Embedded::of(encoder, dev, features)?;
            let (mut best, mut current) = (None, model.clone());
            for tried in GRID {
                // The solution of the last C is a good start for the next.
                current.fit(&examples, tried);
                let accuracy = current.accuracy(&held_out);
                dev_accuracies.push((tried, accuracy));
                if best.is_none_or(|best| accuracy > best) {
                    (best, c) = (Some(accuracy), tried);
                    model.clone_from(&current);
                }
            }
        }
        let training = FrozenTraining { features, n_pairs: examples.len(), c, dev_accuracies };
        Ok(Self { encoder, model, training })
    }

    /// How it was trained.
    #[must_use]
    pub fn training(&self) -> &FrozenTraining {
        &self.training
    }
}

impl PairClassifier for FrozenClassifier<'_> {
    fn classify_batch(&self, pairs: &[(&str, &str)]) -> CoreResult<Vec<Entailment>> {
        let (embeddings, numbers) = Embeddings::of_pairs(self.encoder, pairs)?;
        let mut x = vec![0.0; self.training.features.n(self.encoder.dim())];
        let label = |pair: [usize; 2]| {
            let [u, v] = pair.map(|number| embeddings.vector(number));
            self.training.features.write(u, v, &mut x);
            Entailment::ALL[self.model.class(&x)]
        };
        Ok(numbers.into_iter().map(label).collect())
    }
}
