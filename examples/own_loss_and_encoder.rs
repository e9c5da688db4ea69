//! Your own encoder and loss, trained on pairs of sentences.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_loss_and_encoder
//! ```
use senv::data::{PairData, PairOptions};
use senv::gradient::{
    BatchLoss, FitParams, GradientStep, PairGradients, PairObjective, PairParams, PairVectors, StepReport, Weights,
    WordEncoder, fit,
};
use senv::parts::core::arrays::{Parameters, TokenBatch};
use senv::parts::core::{Result, RunOptions, rng::Stream};
use senv::parts::encoders::{Average, Encoder, Pooling};
use senv::parts::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

const PAIRS: [(&str, &str); 3] =
    [("ship sails", "boat leaves"), ("rain falls", "it pours"), ("late train", "slow railway")];
const DIM: usize = 16;

/// The mean of the words, with a learned weight for each dimension.
#[derive(Debug)]
struct Scaled(Average);

type Words<'w> = ArrayView2<'w, f32>;

impl Encoder<f32> for Scaled {
    type Saved = Array2<f32>; // what `backward` needs: the means

    fn dim(&self) -> usize {
        self.0.dim
    }

    fn init(&self, _: &mut Stream) -> Result<Parameters<f32>> {
        let mut weights = Parameters::new();
        weights.push("scale", [1, self.0.dim], vec![1.0; self.0.dim])?;
        Ok(weights)
    }

    fn forward(&self, p: &Parameters<f32>, batch: &TokenBatch, x: Words<'_>) -> Result<(Array2<f32>, Array2<f32>)> {
        let (means, ()) = self.0.forward(&Parameters::new(), batch, x)?;
        Ok((&means * &p[0].view(), means))
    }

    #[rustfmt::skip]
    fn backward(&self, p: &Parameters<f32>, batch: &TokenBatch, x: Words<'_>, means: &Array2<f32>, d_out: Words<'_>,
        d_x: Option<ArrayViewMut2<'_, f32>>, d_p: &mut Parameters<f32>) -> Result<()> {
        d_p[0].view_mut().scaled_add(1.0, &(means * &d_out).sum_axis(Axis(0))); // gradients are added up
        let d_means = &d_out * &p[0].view();
        self.0.backward(&Parameters::new(), batch, x, &(), d_means.view(), d_x, &mut Parameters::new())
    }
}

/// Σ (u_i·v_j − [i = j])² / 2n over the first sentences and the second sentences of the pairs.
struct Identity;

impl BatchLoss for Identity {
    fn identity(&self) -> String {
        "identity".to_owned()
    }

    fn loss(&self, _: &GradientStep<'_>, pairs: &PairVectors<'_>) -> senv::Result<(StepReport, PairGradients)> {
        let (u, v, n) = (pairs.first, pairs.second, pairs.first.nrows());
        let off = u.dot(&v.t()) - Array2::<f32>::eye(n);
        let loss = f64::from(off.iter().map(|x| x * x).sum::<f32>()) / (2 * n) as f64;
        let (d_first, d_second) = (off.dot(&v) / n as f32, off.t().dot(&u) / n as f32);
        Ok((StepReport { loss, ..StepReport::default() }, PairGradients { d_first, d_second, d_hard: None }))
    }
}

fn main() -> senv::Result<()> {
    let data = PairData::of_pairs(PAIRS, &PairOptions::default())?;
    let (encoder, params) = (Scaled(Average::new(DIM, Pooling::Mean)), PairParams::default());
    let initial = || Ok(Weights::random(data.vocabulary.len(), DIM, &encoder, 1)?);
    let mut pairs = PairObjective::new("scaled", &encoder, &Identity, &data, &params);
    let outcome =
        fit(&mut pairs, initial, &FitParams { epochs: Some(300), ..Default::default() }, &RunOptions::default())?;
    let model = WordEncoder::new(PairOptions::default().tokenizer, data.vocabulary.clone(), encoder, outcome.weights)?;
    assert!(model.similarity("ship", "boat") > model.similarity("ship", "rain") + 0.2);
    Ok(())
}
