//! Your own objective in the gradient loop: sentences with a label, and a head that predicts it.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_objective
//! ```
use senv::gradient::{
    FitParams, GradientStep, Gradients, Objective, Source, StepReport, Weights, WordEncoder, fit, through_encoder,
};
use senv::parts::core::{RunOptions, Sentences, TokenId, arrays::Parameters, arrays::TokenBatch};
use senv::parts::encoders::{Average, Pooling};
use senv::{Result, Tokenizer, Vocabulary};

const WORDS: [&str; 6] = ["ship", "boat", "sails", "rain", "storm", "falls"];
const LABELLED: [([u32; 2], f32); 4] = [([0, 2], 1.0), ([1, 2], 1.0), ([3, 5], -1.0), ([4, 5], -1.0)];
const DIM: usize = 8;

/// The label of a sentence is 1 for the sea and -1 for the weather; the loss is ln(1 + e^(−y w·s)).
struct Labels {
    sentences: Sentences,
    labels: Vec<f32>,
    encoder: Average,
}

impl Objective for Labels {
    type Batch = TokenBatch;

    fn kind(&self) -> &'static str {
        "labels"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.labels.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        format!("{:?} {:?}", self.sentences, self.labels) // what a checkpoint is of; a hash is enough
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut TokenBatch) -> Result<()> {
        Ok(batch.assign(step.examples.iter().map(|&i| self.sentences.get(i as usize)))?)
    }

    fn gradients(&self, w: &Weights, step: &GradientStep<'_>, b: &TokenBatch, d: &mut Gradients) -> Result<StepReport> {
        let head = w.parameters[1][0].view();
        through_encoder(&self.encoder, w, b, None, d, |vectors, d_head| {
            let (mut loss, mut d_vectors) = (0.0, vectors.to_owned());
            let n = step.examples.len() as f32;
            for ((mut d_vector, s), &i) in d_vectors.rows_mut().into_iter().zip(vectors.rows()).zip(step.examples) {
                let y = self.labels[i as usize];
                let score = y * s.dot(&head.row(0));
                loss += f64::from((-score).exp().ln_1p() / n);
                let d_score = -y / (1.0 + score.exp()) / n;
                d_head.dense[0][0].view_mut().row_mut(0).scaled_add(d_score, &s);
                d_vector.assign(&(&head.row(0) * d_score));
            }
            Ok((StepReport { loss, chance: Some(2_f64.ln()), ..StepReport::default() }, d_vectors))
        })
    }
}

fn main() -> Result<()> {
    let vocabulary = Vocabulary::from_counts(WORDS.map(|word| (word, 1)), WORDS.len() as u64)?;
    let (mut sentences, labels) = (Sentences::new(), LABELLED.map(|(_, label)| label).to_vec());
    LABELLED.iter().for_each(|(words, _)| sentences.push(words.map(TokenId)));
    let encoder = Average::new(DIM, Pooling::Mean);
    let initial = || {
        let (mut weights, mut head) = (Weights::random(WORDS.len(), DIM, &encoder, 1)?, Parameters::new());
        head.push("head", [1, DIM], vec![1.0; DIM])?;
        weights.parameters.push(head);
        Ok(weights)
    };
    let params = FitParams { epochs: Some(200), lr: Some(0.01), ..FitParams::default() };
    let outcome = fit(&mut Labels { sentences, labels, encoder }, initial, &params, &RunOptions::default())?;
    let model = WordEncoder::new(Tokenizer::words(), vocabulary, encoder, outcome.weights)?;
    assert!(model.similarity("ship", "boat") > model.similarity("ship", "storm"));
    Ok(())
}
