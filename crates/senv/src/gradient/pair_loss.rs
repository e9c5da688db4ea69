//! The loss of a batch of pairs: those of the papers, and the trait for others.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Error as CoreError, Result as CoreResult,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, named_values, set_value, variants},
    observer::Metric,
    rng::stream,
};
use senv_losses::{InfoNce, MarginLoss};
use serde::{Deserialize, Serialize};

use super::{GradientStep, StepReport};
use crate::error::Result;

/// The vectors of the sentences of a batch of pairs.
#[derive(Debug, Clone, Copy)]
pub struct PairVectors<'v> {
    /// Vectors of the first sentences, shape `(n_pairs, dim)`.
    pub first: ArrayView2<'v, f32>,
    /// Vectors of the second sentences, same shape: row `i` is the partner of row `i`.
    pub second: ArrayView2<'v, f32>,
    /// Vectors of the hard negatives, shape `(n_hard, dim)`; no rows if [`BatchLoss::uses_hard_negatives`] is false or
    /// the data have none.
    pub hard: ArrayView2<'v, f32>,
    /// A number for each sentence, shared by equal sentences, so none is a negative of itself. The order is first and
    /// second of each pair in turn, then the hard negatives.
    pub texts: &'v [u32],
}

/// The gradients of a loss with respect to [`PairVectors`], each with the shape of its vectors.
#[derive(Debug, Clone)]
pub struct PairGradients {
    /// Gradients of the first sentences.
    pub d_first: Array2<f32>,
    /// Gradients of the second sentences.
    pub d_second: Array2<f32>,
    /// Gradients of the hard negatives; `None` for zeros.
    pub d_hard: Option<Array2<f32>>,
}

/// A loss of sentence pairs, computed from their vectors. [`PairLoss`] has those of the papers; your program can
/// implement another for [`PairObjective`](super::PairObjective).
///
/// ```
/// use senv::{Result, gradient::{BatchLoss, GradientStep, PairGradients, PairVectors, StepReport}};
///
/// /// ½ |u − v|² of each pair, and nothing that keeps other sentences apart.
/// struct Distance;
///
/// impl BatchLoss for Distance {
///     fn identity(&self) -> String {
///         "distance".to_owned()
///     }
///
///     fn loss(&self, _: &GradientStep<'_>, pairs: &PairVectors<'_>) -> Result<(StepReport, PairGradients)> {
///         let n = pairs.first.nrows() as f32;
///         let d_first = (&pairs.first - &pairs.second) / n;
///         let loss = f64::from(d_first.iter().map(|d| d * d).sum::<f32>() * n / 2.0);
///         let gradients = PairGradients { d_second: -&d_first, d_first, d_hard: None };
///         Ok((StepReport { loss, ..StepReport::default() }, gradients))
///     }
/// }
/// ```
pub trait BatchLoss: Sync {
    /// A string that identifies the loss and its settings: only a loss with the same identity can resume a checkpoint.
    fn identity(&self) -> String;

    /// Whether hard negatives are drawn if the data have any.
    fn uses_hard_negatives(&self) -> bool {
        false
    }

    /// Returns a report with the mean loss per pair, and the gradient of that mean. Random choices must depend only on
    /// `step`.
    ///
    /// # Errors
    /// Errors of shapes or memory; [`Error::other`](crate::Error::other) for errors of your own.
    fn loss(&self, step: &GradientStep<'_>, pairs: &PairVectors<'_>) -> Result<(StepReport, PairGradients)>;
}

impl PairGradients {
    /// The gradients stacked in the order of the sentences of a batch.
    pub(super) fn stacked(self, pairs: &PairVectors<'_>) -> CoreResult<Array2<f32>> {
        let d_hard = self.d_hard.unwrap_or_else(|| Array2::zeros(pairs.hard.raw_dim()));
        let parts = [self.d_first.view(), self.d_second.view(), d_hard.view()];
        for (part, of) in parts.iter().zip([pairs.first, pairs.second, pairs.hard]) {
            for (expected, got) in [(of.nrows(), part.nrows()), (of.ncols(), part.ncols())] {
                if expected != got {
                    return Err(CoreError::ShapeMismatch { what: "gradient of a loss of pairs", expected, got });
                }
            }
        }
        let rows: usize = parts.iter().map(ArrayView2::nrows).sum();
        ndarray::concatenate(ndarray::Axis(0), &parts)
            .map_err(|_| CoreError::TooLarge { rows, dim: pairs.first.ncols() })
    }
}

/// The loss of a batch of pairs.
///
/// Exhaustive on purpose: its settings are read loss by loss. For another loss, implement [`BatchLoss`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairLoss {
    /// The margin loss of PP and CSE.
    Margin(MarginLoss),
    /// Softmax over the cosines of the whole batch, with a temperature; `softmax-cosine` in options and model files.
    /// Siamese CBOW's loss over the cosines of neighboring sentences is another one
    /// ([`SoftmaxCosine`](senv_losses::SoftmaxCosine)).
    #[serde(rename = "softmax-cosine")]
    InfoNce(InfoNce),
}

/// The losses by name.
enum LossName {
    Margin,
    SoftmaxCosine,
}
named_values!(LossName {
    Margin = "margin": "Margin loss, as in the papers: a pair must be closer than other sentences of the batch by a \
        margin",
    SoftmaxCosine = "softmax-cosine": "Softmax over the cosines of the whole batch, with a temperature",
});

impl Default for PairLoss {
    fn default() -> Self {
        Self::Margin(MarginLoss::default())
    }
}

impl Hyperparameters for PairLoss {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let (name, own, other) = match self {
            Self::Margin(loss) => (LossName::Margin, loss.hyperparameters(), InfoNce::default().hyperparameters()),
            Self::InfoNce(loss) => {
                (LossName::SoftmaxCosine, loss.hyperparameters(), MarginLoss::default().hyperparameters())
            }
        };
        let loss = Hyperparameter::of("loss", &["Loss."], Section::Training, None, &name);
        variants([loss].into_iter().chain(own).collect(), [other])
    }

    /// A change of the loss also resets its settings to their defaults.
    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        if name == "loss" {
            let mut loss = LossName::Margin;
            set_value(&mut loss, name, text)?;
            match (loss, &*self) {
                (LossName::Margin, Self::InfoNce(_)) => *self = Self::Margin(MarginLoss::default()),
                (LossName::SoftmaxCosine, Self::Margin(_)) => *self = Self::InfoNce(InfoNce::default()),
                _ => {}
            }
            return Ok(true);
        }
        let (known, other, owner) = match self {
            Self::Margin(loss) => (loss.set(name, text)?, InfoNce::default().set(name, text), "loss = softmax-cosine"),
            Self::InfoNce(loss) => (loss.set(name, text)?, MarginLoss::default().set(name, text), "loss = margin"),
        };
        if !known && other? {
            return Err(belongs_to(name, text, owner));
        }
        Ok(known)
    }

    fn check_ranges(&self) -> CoreResult<()> {
        match self {
            Self::Margin(loss) => loss.check_ranges(),
            Self::InfoNce(loss) => loss.check_ranges(),
        }
    }
}

impl BatchLoss for PairLoss {
    fn identity(&self) -> String {
        format!("{self:?}")
    }

    fn uses_hard_negatives(&self) -> bool {
        matches!(self, Self::InfoNce(_))
    }

    fn loss(&self, step: &GradientStep<'_>, pairs: &PairVectors<'_>) -> Result<(StepReport, PairGradients)> {
        let PairVectors { first, second, hard, texts } = *pairs;
        let n = first.nrows();
        Ok(match self {
            Self::Margin(margin) => {
                let mut rng = stream(step.seed, "negatives", &[step.number]);
                let (loss, saved) = margin.forward(first, second, texts, &mut rng)?;
                let (d_first, d_second) = margin.backward(&saved, 1.0);
                let active = saved.n_active() as f64 / saved.n_hinges() as f64;
                let active = Some(Metric { name: "active hinges", value: active });
                let n_hinges = saved.negatives().iter().flatten().count();
                let chance = Some(margin.margin * n_hinges as f64 / n as f64);
                let report = StepReport { loss, chance, metrics: [active, None], ..StepReport::default() };
                (report, PairGradients { d_first, d_second, d_hard: None })
            }
            Self::InfoNce(softmax) => {
                let n_hard = hard.nrows();
                let (loss, saved) = softmax.forward(first, second, (n_hard > 0).then_some(hard), texts)?;
                let (d_first, d_second, d_hard) = softmax.backward(&saved, 1.0)?;
                let chance = Some(((n + n_hard) as f64).ln());
                (StepReport { loss, chance, ..StepReport::default() }, PairGradients { d_first, d_second, d_hard })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_of_another_shape_are_refused_and_missing_ones_are_zeros() {
        let (two, one) = (Array2::<f32>::ones((2, 3)), Array2::<f32>::ones((1, 3)));
        let pairs = PairVectors { first: two.view(), second: two.view(), hard: one.view(), texts: &[0, 1, 2, 3, 4] };
        let of = |d_first: &Array2<f32>, d_hard: Option<&Array2<f32>>| {
            let d_second = two.clone();
            PairGradients { d_first: d_first.clone(), d_second, d_hard: d_hard.cloned() }.stacked(&pairs)
        };
        let all = of(&two, None).unwrap();
        assert_eq!((all.dim(), all.sum(), all.row(4).sum()), ((5, 3), 12.0, 0.0));
        assert_eq!(of(&two, Some(&one)).unwrap().sum(), 15.0);
        let narrow = Array2::ones((2, 2));
        for bad in [of(&one, None), of(&two, Some(&two)), of(&narrow, None)] {
            assert!(matches!(bad, Err(CoreError::ShapeMismatch { .. })), "{bad:?}");
        }
    }
}
