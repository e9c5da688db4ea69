//! The objective of a student: a batch is of pairs without a teacher, of passages, or of texts.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use senv_core::{
    Rows, Sentences,
    arrays::{TokenBatch, matmul},
    rng::stream,
};
use senv_losses::{TargetCosine, TaughtSimilarities, TaughtSoftmax};

use super::{TextLoss, taught::Taught};
use crate::{
    error::Result,
    gradient::{
        GradientStep, Gradients, Objective, PairBatch, PairObjective, Source, StepReport, Weights, keep_words,
        through_encoder, trainable_encoder::AnyEncoder,
    },
};

/// The objective.
pub(super) struct StudentObjective<'a> {
    pub(super) encoder: &'a dyn AnyEncoder,
    /// Pairs without a teacher, and the validation.
    pub(super) pairs: PairObjective<'a>,
    pub(super) passages: &'a [Taught<'a>],
    pub(super) texts: &'a [Taught<'a>],
    pub(super) softmax: TaughtSoftmax,
    pub(super) text_loss: TextLoss,
    pub(super) text_weight: f64,
    pub(super) word_dropout: f64,
    /// The axes of the teacher that the student's dimensions are, for [`TextLoss::Cosine`].
    pub(super) axes: Array2<f32>,
    pub(super) identity: String,
}

/// A step of any of the three.
#[derive(Default)]
pub(super) struct StudentBatch {
    pairs: PairBatch,
    batch: TokenBatch,
    /// The teacher's vectors of each side.
    teacher: [Array2<f32>; 2],
    /// A number for each sentence in the order of `TaughtSoftmax`, shared by equal sentences.
    texts: Vec<u32>,
}

/// What a source is.
enum Kind<'o, 'a> {
    Pairs,
    Passages(&'o Taught<'a>),
    Texts(&'o Taught<'a>),
}

impl<'a> StudentObjective<'a> {
    fn kind_of(&self, source: usize) -> Kind<'_, 'a> {
        let n_pairs = self.pairs.sources().len();
        match source.checked_sub(n_pairs) {
            None => Kind::Pairs,
            Some(i) if i < self.passages.len() => Kind::Passages(&self.passages[i]),
            Some(i) => Kind::Texts(&self.texts[i - self.passages.len()]),
        }
    }

    /// Draws the sentences of a step.
    fn draw(&self, taught: &Taught<'_>, step: &GradientStep<'_>, out: &mut StudentBatch) -> Result<()> {
        let mut rng = stream(step.seed, "taught", &[step.number]);
        let (mut sentences, mut kept, mut known) = (Sentences::new(), Vec::new(), HashMap::new());
        let n = step.examples.len();
        out.texts.clear();
        out.texts.resize(n * taught.vectors.len(), 0);
        for (at, (side, rows)) in taught.sides.iter().zip(&taught.vectors).enumerate() {
            let mut vectors = Array2::zeros((n, rows.dim()));
            for (i, (mut vector, &example)) in vectors.rows_mut().into_iter().zip(step.examples).enumerate() {
                let sentence = side.get(example as usize);
                let next = known.len() as u32;
                out.texts[i * taught.vectors.len() + at] = *known.entry(sentence).or_insert(next);
                keep_words(sentence, self.word_dropout, &mut rng, &mut kept);
                sentences.push(kept.iter().copied());
                vector.assign(&ArrayView1::from(rows.row(taught.rows[example as usize] as usize)));
            }
            out.teacher[at] = vectors;
        }
        Ok(out.batch.assign(sentences.iter())?)
    }

    fn passage_loss(&self, vectors: ArrayView2<'_, f32>, drawn: &StudentBatch) -> Result<(StepReport, Array2<f32>)> {
        let n = vectors.nrows() / 2;
        let (first, second) = vectors.split_at(Axis(0), n);
        let teacher = [drawn.teacher[0].view(), drawn.teacher[1].view()];
        let (loss, saved) = self.softmax.forward([first, second], teacher, &drawn.texts)?;
        let [d_first, d_second] = self.softmax.backward(&saved, 1.0)?;
        let mut d_vectors = Array2::zeros(vectors.raw_dim());
        let (mut of_first, mut of_second) = d_vectors.view_mut().split_at(Axis(0), n);
        of_first.assign(&d_first);
        of_second.assign(&d_second);
        Ok((StepReport { loss, chance: Some((n as f64).ln()), ..StepReport::default() }, d_vectors))
    }

    fn text_loss(&self, vectors: ArrayView2<'_, f32>, drawn: &StudentBatch) -> Result<(StepReport, Array2<f32>)> {
        let teacher = drawn.teacher[0].view();
        let weight = self.text_weight;
        let (loss, chance, d_vectors) = match self.text_loss {
            TextLoss::Similarities => {
                let (loss, saved) = TaughtSimilarities.forward(vectors, teacher)?;
                // Nothing is known to be a guess: vectors of random words are similar by the words that they share.
                (loss, None, TaughtSimilarities.backward(&saved, weight)?)
            }
            TextLoss::Cosine => {
                let target = matmul(teacher, self.axes.view())?;
                let (loss, saved) = TargetCosine.forward(vectors, target.view())?;
                (loss, Some(1.0), TargetCosine.backward(&saved, weight))
            }
        };
        let report = StepReport {
            loss: weight * loss,
            chance: chance.map(|chance: f64| weight * chance),
            ..StepReport::default()
        };
        Ok((report, d_vectors))
    }
}

impl Objective for StudentObjective<'_> {
    type Batch = StudentBatch;

    fn kind(&self) -> &'static str {
        self.pairs.kind()
    }

    fn sources(&self) -> Vec<Source> {
        let taught = self.passages.iter().chain(self.texts);
        let taught = taught.map(|taught| Source { n_examples: taught.rows.len() as u32, weight: taught.weight });
        self.pairs.sources().into_iter().chain(taught).collect()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn may_explode(&self) -> bool {
        false
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut StudentBatch) -> Result<()> {
        match self.kind_of(step.source) {
            Kind::Pairs => self.pairs.prepare(step, &mut batch.pairs),
            Kind::Passages(taught) | Kind::Texts(taught) => self.draw(taught, step, batch),
        }
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        drawn: &StudentBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let kind = self.kind_of(step.source);
        if let Kind::Pairs = kind {
            return self.pairs.gradients(weights, step, &drawn.pairs, gradients);
        }
        through_encoder(self.encoder, weights, &drawn.batch, None, gradients, |vectors, _| match kind {
            Kind::Passages(_) => self.passage_loss(vectors, drawn),
            _ => self.text_loss(vectors, drawn),
        })
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        self.pairs.validate(weights)
    }
}
