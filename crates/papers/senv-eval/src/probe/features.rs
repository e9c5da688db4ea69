//! Features of sentences and pairs for classifiers on frozen vectors.

use ndarray::Array2;
use senv_core::arrays::Float;
use senv_data::NliLayout;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    probe::{
        cross_validation::{Classified, class_targets},
        logistic::Examples,
    },
    score::sentence_vectors::SentenceVectors,
};

/// The features of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PairFeatures {
    /// `[|u − v| ; u ∘ v]`, symmetric in the pair: for SICK in SentEval, and for MSRP.
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

    pub(crate) fn write<F: Float>(self, u: &[f32], v: &[f32], out: &mut [F]) {
        let pairs = u.iter().zip(v).map(|(&u, &v)| (F::of(f64::from(u)), F::of(f64::from(v))));
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

/// The sentences of examples, as numbers of embeddings.
enum Items {
    /// The features are the vector itself.
    Sentences(Vec<usize>),
    /// The features are computed from two vectors.
    Pairs(Vec<[usize; 2]>, PairFeatures),
}

/// Examples whose features are computed from embeddings when they are needed.
pub(crate) struct Featured<'a> {
    embeddings: &'a SentenceVectors,
    items: Items,
    /// Shape `(examples, outputs)`.
    targets: Array2<f64>,
    classes: Vec<usize>,
    n_classes: usize,
}

impl<'a> Featured<'a> {
    /// Creates examples from sentences with one class each.
    pub(crate) fn sentences<'t>(
        embeddings: &'a SentenceVectors,
        texts: impl IntoIterator<Item = &'t str>,
        classes: Vec<usize>,
        n_classes: usize,
    ) -> Result<Self> {
        let numbers = texts.into_iter().map(|text| embeddings.number(text)).collect::<Result<Vec<_>>>()?;
        Self::classified(embeddings, Items::Sentences(numbers), classes, n_classes)
    }

    /// Creates examples from pairs with one class each.
    pub(crate) fn pairs<'t>(
        embeddings: &'a SentenceVectors,
        pairs: impl IntoIterator<Item = (&'t str, &'t str)>,
        features: PairFeatures,
        classes: Vec<usize>,
        n_classes: usize,
    ) -> Result<Self> {
        let pairs = embeddings.pair_numbers(pairs)?;
        Self::classified(embeddings, Items::Pairs(pairs, features), classes, n_classes)
    }

    /// Creates examples from pairs with one distribution over the outputs each, a row of `targets`.
    pub(crate) fn distributions<'t>(
        embeddings: &'a SentenceVectors,
        pairs: impl IntoIterator<Item = (&'t str, &'t str)>,
        features: PairFeatures,
        targets: Array2<f64>,
    ) -> Result<Self> {
        embeddings.check_finite()?;
        let items = Items::Pairs(embeddings.pair_numbers(pairs)?, features);
        Ok(Self { embeddings, items, n_classes: targets.ncols(), targets, classes: Vec::new() })
    }

    fn classified(
        embeddings: &'a SentenceVectors,
        items: Items,
        classes: Vec<usize>,
        n_classes: usize,
    ) -> Result<Self> {
        embeddings.check_finite()?;
        if classes.is_empty() {
            return Err(Error::NothingToDo { what: "examples with a class" });
        }
        if n_classes < 2 {
            return Err(Error::OneClass);
        }
        let n_outputs = if n_classes == 2 { 1 } else { n_classes };
        let targets = class_targets(&classes, n_classes);
        let targets = Array2::from_shape_vec((classes.len(), n_outputs), targets)
            .map_err(|_| senv_core::Error::TooLarge { rows: classes.len(), dim: n_outputs })?;
        Ok(Self { embeddings, items, targets, classes, n_classes })
    }

    /// Returns the examples with these indices.
    pub(crate) fn subset(&self, kept: &[usize]) -> Self {
        let items = match &self.items {
            Items::Sentences(numbers) => Items::Sentences(kept.iter().map(|&i| numbers[i]).collect()),
            Items::Pairs(pairs, features) => Items::Pairs(kept.iter().map(|&i| pairs[i]).collect(), *features),
        };
        Self {
            embeddings: self.embeddings,
            items,
            targets: self.targets.select(ndarray::Axis(0), kept),
            classes: kept.iter().map(|&i| self.classes[i]).collect(),
            n_classes: self.n_classes,
        }
    }

    /// Returns the number of examples in which a sentence has no known token. Its vector is zero.
    pub(crate) fn n_without_known_token(&self) -> usize {
        let is_empty = |number: &usize| self.embeddings.coverage(*number).is_empty();
        match &self.items {
            Items::Sentences(numbers) => numbers.iter().filter(|number| is_empty(number)).count(),
            Items::Pairs(pairs, _) => pairs.iter().filter(|pair| pair.iter().any(is_empty)).count(),
        }
    }
}

impl Examples for Featured<'_> {
    fn len(&self) -> usize {
        match &self.items {
            Items::Sentences(numbers) => numbers.len(),
            Items::Pairs(pairs, _) => pairs.len(),
        }
    }

    fn n_features(&self) -> usize {
        let dim = self.embeddings.values().ncols();
        match &self.items {
            Items::Sentences(_) => dim,
            Items::Pairs(_, features) => features.n(dim),
        }
    }

    fn n_outputs(&self) -> usize {
        self.targets.ncols()
    }

    fn write<F: Float>(&self, i: usize, out: &mut [F]) {
        match &self.items {
            Items::Sentences(numbers) => {
                let vector = self.embeddings.vector(numbers[i]);
                out.iter_mut().zip(vector).for_each(|(out, &x)| *out = F::of(f64::from(x)));
            }
            Items::Pairs(pairs, features) => {
                let [u, v] = pairs[i].map(|number| self.embeddings.vector(number));
                features.write(u, v, out);
            }
        }
    }

    fn target(&self, i: usize) -> &[f64] {
        let k = self.targets.ncols();
        self.targets.as_slice().map_or(&[], |targets| &targets[i * k..(i + 1) * k])
    }
}

impl Classified for Featured<'_> {
    fn classes(&self) -> &[usize] {
        &self.classes
    }

    fn n_classes(&self) -> usize {
        self.n_classes
    }
}
