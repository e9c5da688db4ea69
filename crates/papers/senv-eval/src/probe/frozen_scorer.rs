//! Relatedness on frozen vectors: a scorer on the vectors of an unchanged encoder, which is the supervised protocol of
//! SICK and the STS benchmark.
//!
//! Sentences are encoded once. A softmax regression maps `[|u − v| ; u ∘ v]` to the integer scores of the scale, over
//! which `relatedness-target` distributes a gold score. The predicted score is the mean under the probabilities.
//! [`RelatednessForm`] selects how it is trained.

use ndarray::Array2;
use senv_core::{Result as CoreResult, SentenceEncoder};
use senv_data::{Scale, StsTask};
use senv_losses::ScoreGrid;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    probe::{
        features::{Featured, PairFeatures},
        frozen::{GRID, USUAL_C, best_on_dev},
        linear_probe::{self, Pairs, ScriptSettings},
        logistic::{self, Examples as _, Link, Model},
    },
    score::{correlations::Correlations, pairs::PairScorer, sentence_vectors::SentenceVectors},
};

/// How the regression is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RelatednessForm {
    /// Minimizes cross-entropy with L2 regularization. The development set chooses C from 2⁻² to 2⁸.
    #[default]
    Regression,
    /// As in the script of Skip-thoughts: cross-entropy, Adam, early stopping on the development set.
    SkipThoughts,
    /// As in SentEval: squared error of the distribution, Adam, early stopping on the development set. Scores from 0 to
    /// 5 use the classes 1 to 5, as in that script.
    SentEval,
}

impl RelatednessForm {
    /// All forms, in the order of their definition.
    pub const ALL: [Self; 3] = [Self::Regression, Self::SkipThoughts, Self::SentEval];

    /// Returns its name, as printed in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "L2 regression",
            Self::SkipThoughts => "script of Skip-thoughts",
            Self::SentEval => "script of SentEval",
        }
    }

    /// Returns the classes for scores of a scale.
    fn grid(self, scale: Scale) -> ScoreGrid {
        let high = scale.high as usize;
        match self {
            _ if scale.low > 0.0 => ScoreGrid::OneTo(high),
            Self::SentEval => ScoreGrid::SentEval,
            _ => ScoreGrid::ZeroTo(high),
        }
    }
}

/// How a scorer on frozen vectors was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScorerTraining {
    /// The form of training.
    pub form: RelatednessForm,
    /// Number of training pairs.
    pub n_pairs: usize,
    /// C, the inverse strength of the L2 regularization; `None` for the scripts, which have none.
    pub c: Option<f64>,
    /// Number of epochs of the selected model; `None` for the regression, which is minimized to convergence.
    pub epochs: Option<usize>,
    /// Pearson's r times 100 on the held-out pairs, for each C or each number of epochs; empty without held-out pairs.
    pub dev_correlations: Vec<(f64, Option<f64>)>,
}

/// A scorer on top of a frozen encoder.
pub struct FrozenScorer<'a> {
    encoder: &'a dyn SentenceEncoder,
    model: Model,
    /// The score of the first class.
    first: f64,
    training: ScorerTraining,
}

/// Encodes the sentences of tasks.
fn encode(encoder: &dyn SentenceEncoder, tasks: &[StsTask]) -> Result<SentenceVectors> {
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    SentenceVectors::encode(encoder, pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]))
}

/// Creates examples from the pairs of tasks, with the target distributions of their gold scores on a grid.
fn distributed<'e>(embeddings: &'e SentenceVectors, tasks: &[StsTask], grid: ScoreGrid) -> Result<Featured<'e>> {
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    let Some(scale) = scale_of(tasks) else {
        return Err(Error::NothingToDo { what: "scored pairs" });
    };
    let gold: Vec<f64> = pairs.clone().map(|pair| pair.relatedness).collect();
    if let Some(score) = gold.iter().find(|&&score| !scale.contains(score)) {
        let reason = format!("the score {score} is not between {} and {}", scale.low, scale.high);
        return Err(Error::OffScale { reason });
    }
    let targets = grid.targets::<f64>(&gold).map_err(|error| Error::OffScale { reason: error.to_string() })?;
    let texts = pairs.map(|pair| (&pair.first[..], &pair.second[..]));
    Featured::distributions(embeddings, texts, PairFeatures::Symmetric, targets)
}

/// Returns the scale of the first task that has a pair.
fn scale_of(tasks: &[StsTask]) -> Option<Scale> {
    tasks.iter().find(|task| !task.pairs.is_empty()).map(|task| task.scale)
}

impl<'a> FrozenScorer<'a> {
    /// Trains on `train`, whose files must have the same scale. C is the one with the best Pearson correlation on `dev`
    /// (the smallest of equals), or 1 without `dev`.
    ///
    /// # Errors
    /// [`Error::NothingToDo`] if either set has no pairs; [`Error::OffScale`] for a gold score outside the scale of the
    /// first file; [`Error::NotFinite`]; [`Error::Core`] from the encoder.
    ///
    /// # Examples
    /// ```no_run
    /// use senv_eval::{FrozenScorer, SickSet, evaluate_scorer};
    /// # fn f(encoder: &dyn senv_core::SentenceEncoder) -> senv_eval::Result<()> {
    /// let read = |part: &str| SickSet::read(format!("sick/{part}.tsv")).map(|set| set.task);
    /// let scorer = FrozenScorer::train(encoder, &[read("train")?], &[read("trial")?])?;
    /// let supervised = evaluate_scorer(&scorer, &[read("test")?])?;
    /// println!("{:?}", supervised.tasks[0].result.correlations.pearson_r_x100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # References
    /// Tai, Socher and Manning, ACL 2015, section 4.2; Kiros et al., NIPS 2015, section 3.1.
    pub fn train(encoder: &'a dyn SentenceEncoder, train: &[StsTask], dev: &[StsTask]) -> Result<Self> {
        Self::train_by(RelatednessForm::Regression, encoder, train, dev, 1)
    }

    /// Trains in one of the published forms. The scripts need a development set. The random seed determines their
    /// initial weights and shuffles.
    ///
    /// # Errors
    /// Returns the errors of [`FrozenScorer::train`].
    pub fn train_by(
        form: RelatednessForm,
        encoder: &'a dyn SentenceEncoder,
        train: &[StsTask],
        dev: &[StsTask],
        seed: u64,
    ) -> Result<Self> {
        let Some(scale) = scale_of(train) else {
            return Err(Error::NothingToDo { what: "scored pairs" });
        };
        let grid = form.grid(scale);
        let embeddings = encode(encoder, train)?;
        let examples = distributed(&embeddings, train, grid)?;
        let first = if matches!(grid, ScoreGrid::ZeroTo(_)) { 0.0 } else { 1.0 };
        let dev_embeddings = encode(encoder, dev)?;
        let held_out = if dev.is_empty() { None } else { Some(distributed(&dev_embeddings, dev, grid)?) };
        let gold: Vec<f64> = dev.iter().flat_map(|task| &task.pairs).map(|pair| pair.relatedness).collect();
        let r = |scores: &[f64]| Ok(Correlations::between(&gold, scores)?.pearson_r_x100);
        let script = match form {
            RelatednessForm::Regression => None,
            RelatednessForm::SkipThoughts => Some(ScriptSettings::SKIP_THOUGHTS),
            RelatednessForm::SentEval => Some(ScriptSettings::SENT_EVAL),
        };
        let n_pairs = examples.len();
        let (model, c, epochs, dev_correlations) = match (script, held_out) {
            (Some(_), None) => return Err(Error::NothingToDo { what: "scored pairs of a development set" }),
            (Some(script), Some(held_out)) => {
                let pairs = Pairs { features: features_of(&examples), targets: targets_of(&examples) };
                let found = linear_probe::train(script, grid, &pairs, &features_of(&held_out), seed, r)?;
                (Model::softmax(grid.n_classes(), found.parameters), None, Some(found.epochs), found.checks)
            }
            (None, None) => {
                (logistic::fit::<f32, _>(&examples, Link::Softmax, USUAL_C)?, Some(USUAL_C), None, Vec::new())
            }
            (None, Some(held_out)) => {
                let features = features_of(&held_out);
                let found = best_on_dev(&examples, &GRID, |model| {
                    let row = |row: ndarray::ArrayView1<'_, f32>| mean_grade(model, first, &row.to_vec());
                    r(&features.rows().into_iter().map(row).collect::<Vec<_>>())
                })?;
                (found.model, Some(found.c), None, found.results)
            }
        };
        let training = ScorerTraining { form, n_pairs, c, epochs, dev_correlations };
        Ok(Self { encoder, model, first, training })
    }

    /// Returns how it was trained.
    #[must_use]
    pub fn training(&self) -> &ScorerTraining {
        &self.training
    }
}

/// Computes Σ_j p_j (first + j).
fn mean_grade(model: &Model, first: f64, x: &[f32]) -> f64 {
    model.probabilities(x).iter().enumerate().map(|(j, p)| p * (first + j as f64)).sum()
}

/// Returns all features, one row per example.
fn features_of(examples: &Featured<'_>) -> Array2<f32> {
    let mut features = Array2::zeros((examples.len(), examples.n_features()));
    for (i, mut row) in features.rows_mut().into_iter().enumerate() {
        if let Some(row) = row.as_slice_mut() {
            examples.write(i, row);
        }
    }
    features
}

/// Returns all targets, one row per example.
fn targets_of(examples: &Featured<'_>) -> Array2<f32> {
    Array2::from_shape_fn((examples.len(), examples.n_outputs()), |(i, j)| examples.target(i)[j] as f32)
}

impl PairScorer for FrozenScorer<'_> {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> CoreResult<Vec<f64>> {
        let (embeddings, numbers) = SentenceVectors::of_pairs(self.encoder, pairs)?;
        let features = PairFeatures::Symmetric;
        let mut x = vec![0.0_f32; features.n(self.encoder.dim())];
        let score = |pair: [usize; 2]| {
            let [u, v] = pair.map(|number| embeddings.vector(number));
            features.write(u, v, &mut x);
            mean_grade(&self.model, self.first, &x)
        };
        Ok(numbers.into_iter().map(score).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sts::relatedness::evaluate_scorer;
    use senv_core::{Coverage, Scratch};
    use senv_data::StsPair;

    /// Encodes the length of a sentence as an angle, so that sentences of similar length are related.
    struct Lengths;

    impl SentenceEncoder for Lengths {
        fn dim(&self) -> usize {
            2
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            let angle = sentence.len() as f32 / 10.0;
            out.copy_from_slice(&[angle.cos(), angle.sin()]);
            Coverage::new(1, 1)
        }
    }

    /// Pairs whose score falls as their lengths differ more.
    fn task(from: usize, n: usize) -> StsTask {
        let pair = |i: usize| {
            let (a, b) = (3 + i % 7, 3 + i * 5 % 11);
            StsPair { relatedness: 5.0 - a.abs_diff(b) as f64 / 2.0, first: "a".repeat(a), second: "b".repeat(b) }
        };
        StsTask {
            name: "lengths".into(),
            year: None,
            path: "lengths".into(),
            scale: Scale::STS,
            pairs: (from..from + n).map(pair).collect(),
            n_unscored: 0,
            n_empty_sentences: 0,
        }
    }

    #[test]
    fn scores_are_learned_from_frozen_vectors_and_the_best_c_is_taken() {
        let scorer = FrozenScorer::train(&Lengths, &[task(0, 60)], &[task(60, 30)]).unwrap();
        let training = scorer.training();
        assert_eq!((training.n_pairs, training.dev_correlations.len()), (60, GRID.len()));
        let of = |c: f64| training.dev_correlations.iter().find(|(tried, _)| *tried == c).unwrap().1.unwrap();
        assert!(training.dev_correlations.iter().all(|&(c, _)| of(c) <= of(training.c.unwrap())));
        let result = evaluate_scorer(&scorer, &[task(90, 40)]).unwrap();
        let r = result.tasks[0].result.correlations.pearson_r_x100.unwrap();
        assert!(r > 95.0, "{r}");
        assert!(result.tasks[0].mse.unwrap() < 0.1, "{result:?}");
        assert!(matches!(FrozenScorer::train(&Lengths, &[], &[]), Err(Error::NothingToDo { .. })));
        let mut off = task(0, 5);
        off.pairs[2].relatedness = 5.5;
        let error = FrozenScorer::train(&Lengths, &[off], &[]).err().unwrap().to_string();
        assert!(error.contains("5.5"), "{error}");
    }
}
