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
//! The mean of mapped words is the mapped mean, so P is applied once per text. The maps are `linear-map`. The sentence
//! vector is o / |o|, or zero for a text without a known word.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Result as CoreResult, TokenId,
    arrays::{Parameters, TokenBatch},
    kernels,
    rng::stream,
};
use senv_encoders::LinearMap;

use super::params::{TargetEncoder, TargetParams};
use crate::{
    error::Result,
    gradient::{encoder_form::EncoderForm, trainable_encoder::TrainableEncoder},
};

/// The encoder and its maps.
#[derive(Debug, Clone)]
pub(super) struct Net {
    pub(super) encoder: Arc<dyn TrainableEncoder>,
    maps: Vec<(&'static str, LinearMap)>,
}

impl Net {
    /// Builds a net whose vectors have dimension `target_dim`.
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

    /// Returns the groups of parameters in these forms, with values that are fast to compute.
    pub(super) fn forms(params: &TargetParams, target_dim: usize) -> Result<[Parameters<f32>; 2]> {
        let net = Self::of(&params.form().cheap(), params, target_dim)?;
        let mut maps = Parameters::new();
        for (name, map) in &net.maps {
            map.push_zeros(name, &mut maps)?;
        }
        Ok([net.encoder.init(&mut stream(0, "form", &[]))?, maps])
    }

    /// Returns the number of values of the maps, as a float.
    pub(super) fn n_map_values(&self) -> f64 {
        self.maps.iter().map(|(_, map)| map.n_values()).sum()
    }

    /// Returns initial parameters: those of the encoder and those of the maps.
    pub(super) fn init(&self, seed: u64) -> Result<[Parameters<f32>; 2]> {
        let mut maps = Parameters::new();
        for (i, (name, map)) in (0..).zip(&self.maps) {
            map.push(name, &mut stream(seed, "target maps", &[i]), &mut maps)?;
        }
        Ok([self.encoder.init(&mut stream(seed, "encoder", &[]))?, maps])
    }

    /// Maps the vectors of the encoder; returns the input of each map, and the result.
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

    /// Returns the gradient with respect to the vectors of the encoder, and adds those of the maps.
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

    /// Returns the unit vectors of texts in the space of the targets; zero for a text without a word.
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Axis, array};

    fn params(encoder: TargetEncoder) -> TargetParams {
        TargetParams { encoder, dim: 3, hidden: 4, ..TargetParams::default() }
    }

    /// Three words, two texts and an empty one.
    fn batch() -> (TokenBatch, Array2<f32>, [Vec<TokenId>; 3]) {
        let texts = [vec![TokenId(0), TokenId(1), TokenId(0)], vec![TokenId(2)], vec![]];
        let mut batch = TokenBatch::new();
        batch.assign(texts.iter().map(Vec::as_slice)).unwrap();
        (batch, array![[0.1, -0.4, 0.3], [0.7, 0.2, -0.5], [0.9, 0.1, 0.6]], texts)
    }

    /// Returns parameters that are not small, with a nonzero constant.
    fn parameters(net: &Net) -> [Parameters<f32>; 2] {
        let mut parameters = net.init(1).unwrap();
        for tensor in parameters[1].iter_mut() {
            tensor.values_mut().iter_mut().enumerate().for_each(|(i, x)| *x += 0.3 * (i as f32 + 1.0).sin());
        }
        parameters
    }

    #[test]
    fn bow_maps_every_word_averages_and_maps_again() {
        let net = Net::new(&params(TargetEncoder::Bow), 2).unwrap();
        let (parameters, (batch, words, texts)) = (parameters(&net), batch());
        let [p, w, b] = [0, 1, 2].map(|place| parameters[1][place].view().to_owned());
        let each: Vec<&[TokenId]> = texts.iter().map(Vec::as_slice).collect();
        let out = net.encode(&parameters, &batch, words.view(), &each).unwrap();
        for (text, out) in texts.iter().zip(out.rows()) {
            if text.is_empty() {
                assert!(out.iter().all(|&x| x == 0.0), "an empty text is zero, whatever the constant");
                continue;
            }
            let mapped: Vec<_> = text.iter().map(|token| p.dot(&words.row(token.index()))).collect();
            let mean = mapped.iter().fold(ndarray::Array1::<f32>::zeros(4), |sum, row| sum + row) / text.len() as f32;
            let expected = w.dot(&mean) + b.row(0);
            let expected = &expected / expected.dot(&expected).sqrt();
            assert!((&expected - &out).iter().all(|d| d.abs() < 1e-6), "{expected} {out}");
        }
    }

    #[test]
    fn every_encoder_takes_text_into_the_space_of_the_targets() {
        for (encoder, tensors) in [(TargetEncoder::Bow, 3), (TargetEncoder::Regress, 2), (TargetEncoder::Rnn, 2)] {
            let net = Net::new(&params(encoder), 5).unwrap();
            let (parameters, (batch, words, texts)) = (parameters(&net), batch());
            assert_eq!(parameters[1].len(), tensors);
            let values: usize = parameters[1].iter().map(|tensor| tensor.values().len()).sum();
            assert_eq!(net.n_map_values(), values as f64);
            let forms = Net::forms(&params(encoder), 5).unwrap();
            assert!(forms.iter().zip(&parameters).all(|(form, real)| form.expect_form_of(real).is_ok()));
            let each: Vec<&[TokenId]> = texts.iter().map(Vec::as_slice).collect();
            let out = net.encode(&parameters, &batch, words.view(), &each).unwrap();
            let lengths = out.map_axis(Axis(1), |row| row.dot(&row).sqrt());
            assert!((lengths - array![1.0, 1.0, 0.0]).iter().all(|d| d.abs() < 1e-5), "{encoder:?}");
        }
    }

    /// The maps are linear in their input and in each of their tensors, so a wide central difference is exact up to
    /// rounding.
    #[test]
    fn gradients_of_the_maps_match_central_differences() {
        for encoder in [TargetEncoder::Bow, TargetEncoder::Regress] {
            let net = Net::new(&params(encoder), 2).unwrap();
            let parameters = parameters(&net);
            let (x, g) = (array![[0.3_f32, -0.2, 0.8], [0.5, 0.9, -0.1]], array![[1.0_f32, -2.0], [0.5, 3.0]]);
            let f = |maps: &Parameters<f32>, x: &Array2<f32>| {
                (net.map(maps, x.view()).unwrap().1 * &g).iter().map(|&x| f64::from(x)).sum::<f64>()
            };
            let mut d_maps = parameters[1].zeros_like();
            let (inputs, _) = net.map(&parameters[1], x.view()).unwrap();
            let d_x = net.map_back(&parameters[1], &inputs, g.clone(), &mut d_maps).unwrap();
            let close = |up: f64, down: f64, d: f32| {
                let numeric = (up - down) / 2.0;
                assert!((numeric - f64::from(d)).abs() < 1e-4 * (1.0 + numeric.abs()), "{encoder:?}: {numeric} {d}");
            };
            for (place, &d) in d_x.indexed_iter() {
                let moved = |by: f32| {
                    let mut x = x.clone();
                    x[place] += by;
                    f(&parameters[1], &x)
                };
                close(moved(1.0), moved(-1.0), d);
            }
            for (tensor, d) in d_maps.iter().enumerate() {
                for (i, &d) in d.values().iter().enumerate() {
                    let moved = |by: f32| {
                        let mut maps = parameters[1].clone();
                        maps[tensor].values_mut()[i] += by;
                        f(&maps, &x)
                    };
                    close(moved(1.0), moved(-1.0), d);
                }
            }
        }
    }
}
