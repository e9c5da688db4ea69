//! From word vectors to the space of the targets: an encoder, and one or two linear maps.
//!
//! Equation: `target-encoder`
//!
//! ```text
//! bow       o = W (1/n) Σ_t P x_t + b = W P x̄ + b        P: shape (hidden, d), W: (target, hidden)
//! regress   o = W x̄ + b                                  x̄ = (1/n) Σ_t x_t by `average-pooling`
//! rnn       o = W h + b                                  h: last state, or mean of the states, by `lstm`
//! ```
//!
//! The mean of mapped words is the mapped mean, so P is applied once a text. Maps by `linear-map`. What is served is o / |o|;
//! the vector of a text without a known word is zero.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Result as CoreResult, TokenId,
    arrays::{Parameters, TokenBatch},
    kernels,
    rng::stream,
};
use senv_encoders::{Encoder, LinearMap};

use super::params::{TargetEncoder, TargetParams};
use crate::{
    error::Result,
    gradient::trainable_encoder::{EncoderForm, TrainableEncoder},
};

/// The encoder and its maps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Net {
    pub(super) encoder: TrainableEncoder,
    maps: Vec<(&'static str, LinearMap)>,
}

impl Net {
    /// Into vectors of dimension `target_dim`.
    pub(super) fn new(params: &TargetParams, target_dim: usize) -> Result<Self> {
        Self::of(&params.form(), params, target_dim)
    }

    fn of(form: &EncoderForm, params: &TargetParams, target_dim: usize) -> Result<Self> {
        let encoder = form.encoder(params.dim)?;
        let last = |input| ("target", LinearMap { input, output: target_dim, constant: true });
        let maps = match params.encoder {
            TargetEncoder::Bow => {
                let words = LinearMap { input: params.dim, output: params.hidden, constant: false };
                vec![("words", words), last(params.hidden)]
            }
            TargetEncoder::Regress => vec![last(params.dim)],
            TargetEncoder::Rnn => vec![last(params.hidden)],
        };
        Ok(Self { encoder, maps })
    }

    /// The groups of parameters of these forms, with values that take no time.
    pub(super) fn forms(params: &TargetParams, target_dim: usize) -> Result<[Parameters<f32>; 2]> {
        Self::of(&params.form().cheap(), params, target_dim)?.init(0)
    }

    /// Values of the maps, as far as f64 counts.
    pub(super) fn n_map_values(&self) -> f64 {
        self.maps.iter().map(|(_, map)| map.n_values()).sum()
    }

    /// The parameters before training: those of the encoder, those of the maps.
    pub(super) fn init(&self, seed: u64) -> Result<[Parameters<f32>; 2]> {
        let mut maps = Parameters::new();
        for (i, (name, map)) in (0..).zip(&self.maps) {
            map.push(name, &mut stream(seed, "target maps", &[i]), &mut maps)?;
        }
        Ok([self.encoder.init(&mut stream(seed, "encoder", &[]))?, maps])
    }

    /// What the maps make of the vectors of the encoder: the input of each map, and the result.
    pub(super) fn map(
        &self,
        parameters: &Parameters<f32>,
        vectors: ArrayView2<'_, f32>,
    ) -> CoreResult<(Vec<Array2<f32>>, Array2<f32>)> {
        let (mut inputs, mut at, mut first) = (Vec::with_capacity(self.maps.len()), vectors.to_owned(), 0);
        for (_, map) in &self.maps {
            let mapped = map.forward(parameters, first, at.view())?;
            inputs.push(std::mem::replace(&mut at, mapped));
            first += map.n_tensors();
        }
        Ok((inputs, at))
    }

    /// The gradient with respect to the vectors of the encoder; adds those of the maps.
    pub(super) fn map_back(
        &self,
        parameters: &Parameters<f32>,
        inputs: &[Array2<f32>],
        mut d_out: Array2<f32>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<Array2<f32>> {
        let mut first: usize = self.maps.iter().map(|(_, map)| map.n_tensors()).sum();
        for ((_, map), input) in self.maps.iter().zip(inputs).rev() {
            first -= map.n_tensors();
            d_out = map.backward(parameters, first, input.view(), d_out.view(), d_parameters)?;
        }
        Ok(d_out)
    }

    /// The unit vectors of texts in the space of the targets; zero for one without a word.
    pub(super) fn encode(
        &self,
        parameters: &[Parameters<f32>],
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        texts: &[&[TokenId]],
    ) -> CoreResult<Array2<f32>> {
        let vectors = self.encoder.encode(&parameters[0], batch, words)?;
        let (_, mut out) = self.map(&parameters[1], vectors.view())?;
        for (row, text) in out.rows_mut().into_iter().zip(texts) {
            if let Some(row) = row.into_slice() {
                if text.is_empty() {
                    row.fill(0.0);
                }
                kernels::l2_normalize(row);
            }
        }
        Ok(out)
    }
}
