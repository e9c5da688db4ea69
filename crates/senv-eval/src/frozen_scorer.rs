//! Frozen evaluation of relatedness: a scorer on vectors of an encoder that stays unchanged, the supervised protocol of
//! SICK and the STS benchmark.
//!
//! Sentences are encoded once. A `logistic-regression` is trained from `[|u − v| ; u ∘ v]` to the integer scores of the
//! scale, over which `relatedness-target` distributes a gold score; the predicted score is the mean under the
//! probabilities. The loss is the cross-entropy of the Skip-thoughts script.

use senv_core::{Result as CoreResult, SentenceEncoder};
use senv_losses::Grid;
use serde::Serialize;

use crate::{
    Correlations, Embeddings, Error, PairFeatures, PairScorer, Result, Scale, StsTask,
    frozen::{Embedded, GRID, USUAL_C},
    logistic_regression::{Examples as _, LogisticRegression},
};

/// How a scorer on frozen vectors was trained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScorerTraining {
    /// Training pairs.
    pub n_pairs: usize,
    /// C, the inverse strength of its L2 regularization.
    pub c: f64,
    /// Pearson's r x 100 on the held-out pairs for each C that was tried; empty without held-out pairs.
    pub dev_correlations: Vec<(f64, Option<f64>)>,
}

/// A scorer on top of a frozen encoder.
pub struct FrozenScorer<'a> {
    encoder: &'a dyn SentenceEncoder,
    model: LogisticRegression,
    scale: Scale,
    training: ScorerTraining,
}

/// The integer scores of a scale.
fn grid(scale: Scale) -> Grid {
    let high = scale.high as usize;
    if scale.low == 0.0 { Grid::ZeroTo(high) } else { Grid::OneTo(high) }
}

/// The pairs of tasks with the target distributions of their gold scores.
fn embedded(encoder: &dyn SentenceEncoder, tasks: &[StsTask]) -> Result<Embedded> {
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    let Some(scale) = tasks.iter().find(|task| !task.pairs.is_empty()).map(|task| task.scale) else {
        return Err(Error::NothingToDo { what: "scored pairs" });
    };
    let gold: Vec<f64> = pairs.clone().map(|pair| pair.relatedness).collect();
    if let Some(score) = gold.iter().find(|&&score| !scale.contains(score)) {
        let reason = format!("the score {score} is not between {} and {}", scale.low, scale.high);
        return Err(Error::OffScale { reason });
    }
    let targets = grid(scale).targets::<f64>(&gold).map_err(|error| Error::OffScale { reason: error.to_string() })?;
    let texts = pairs.map(|pair| (&pair.first[..], &pair.second[..]));
    Embedded::new(encoder, texts, targets, PairFeatures::Symmetric)
}

impl<'a> FrozenScorer<'a> {
    /// Trains on `train`, all of one scale; of several C, the one with the best Pearson correlation on `dev` is chosen
    /// (the smallest of equals), and 1 without `dev`.
    ///
    /// # Errors
    /// [`Error::NothingToDo`] without a pair in either; [`Error::OffScale`] for a gold score outside the scale of the
    /// first file; [`Error::NotFinite`]; [`Error::Core`] of the encoder.
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
        let examples = embedded(encoder, train)?;
        let scale = train.iter().find(|task| !task.pairs.is_empty()).map_or(Scale::STS, |task| task.scale);
        let classes = examples.target(0).len();
        let mut model = LogisticRegression::new(classes, examples.n_features());
        let (mut c, mut dev_correlations) = (USUAL_C, Vec::new());
        if dev.is_empty() {
            model.fit(&examples, c);
        } else {
            let held_out = embedded(encoder, dev)?;
            let gold: Vec<f64> = dev.iter().flat_map(|task| &task.pairs).map(|pair| pair.relatedness).collect();
            let (mut best, mut current) = (None, model.clone());
            for tried in GRID {
                // The solution of the last C is a good start for the next.
                current.fit(&examples, tried);
                let mut x = vec![0.0; held_out.n_features()];
                let scores: Vec<f64> = (0..held_out.len())
                    .map(|i| {
                        held_out.write(i, &mut x);
                        mean_grade(&current, scale, &x)
                    })
                    .collect();
                let r = Correlations::between(&gold, &scores)?.pearson_r_x100;
                dev_correlations.push((tried, r));
                if best.is_none_or(|best| r > best) {
                    (best, c) = (Some(r), tried);
                    model.clone_from(&current);
                }
            }
        }
        let training = ScorerTraining { n_pairs: examples.len(), c, dev_correlations };
        Ok(Self { encoder, model, scale, training })
    }

    /// How it was trained.
    #[must_use]
    pub fn training(&self) -> &ScorerTraining {
        &self.training
    }
}

/// Σ_j p_j (low + j)
fn mean_grade(model: &LogisticRegression, scale: Scale, x: &[f64]) -> f64 {
    model.probabilities(x).iter().enumerate().map(|(j, p)| p * (scale.low + j as f64)).sum()
}

impl PairScorer for FrozenScorer<'_> {
    fn score_batch(&self, pairs: &[(&str, &str)]) -> CoreResult<Vec<f64>> {
        let (embeddings, numbers) = Embeddings::of_pairs(self.encoder, pairs)?;
        let features = PairFeatures::Symmetric;
        let mut x = vec![0.0; features.n(self.encoder.dim())];
        let score = |pair: [usize; 2]| {
            let [u, v] = pair.map(|number| embeddings.vector(number));
            features.write(u, v, &mut x);
            mean_grade(&self.model, self.scale, &x)
        };
        Ok(numbers.into_iter().map(score).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StsPair, evaluate_scorer};
    use senv_core::{Coverage, Scratch};

    /// The length of a sentence as an angle: sentences of similar length are related.
    struct Lengths;

    impl SentenceEncoder for Lengths {
        fn dim(&self) -> usize {
            2
        }

        fn encode_into(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            let angle = sentence.len() as f32 / 10.0;
            out.copy_from_slice(&[angle.cos(), angle.sin()]);
            Coverage::new(1, 1)
        }
    }

    /// Pairs whose score falls with the difference of their lengths.
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
        assert!(training.dev_correlations.iter().all(|&(c, _)| of(c) <= of(training.c)));
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
