//! Sentence encoders and decoders with hand-written, checked gradients.
//!
//! | encoder | sentence vector | system |
//! | --- | --- | --- |
//! | [`Average`] | mean or sum of the word vectors | PP, Siamese CBOW |
//! | [`SumPooledCnn`] | filters over windows of words, summed over the sentence; linear or tanh | CSE |
//! | [`GruEncoder`] | last hidden states of a recurrent network, in one or both directions, with one or more layers | Skip-thoughts, P-thought |
//! | [`LstmEncoder`] | last state, mean or maximum of the states of an LSTM, with or without peepholes and output gate | LSTM last, LSTM average |
//! | [`JoinedLstm`] | both directions of an LSTM, joined by a tanh layer | BiLSTM average |
//! | [`GranEncoder`] | mean of word vectors through gates that see the sentence | GRAN |
//! | [`OrderEncoder`] | gated skip-bigrams of the words in both directions: what depends on their order | order |
//!
//! An [`Encoder`] works on a [`TokenBatch`](senv_core::arrays::TokenBatch), a batch of sentences over its distinct
//! tokens. A token's row is read, multiplied by the filters and updated once per batch, no matter how often the token
//! occurs. Code is generic over [`Float`](senv_core::arrays::Float): f32 for training, f64 for gradient checks. The
//! same batch gives the same bits at any number of threads. [`FoldedCnn`] and [`SumPooledCnn::encode_into`] encode
//! single sentences with trained weights.
//!
//! A [`LinearMap`] maps sentence vectors into another space. A [`Decoder`] ([`GruDecoder`], [`LstmDecoder`]) computes
//! hidden states that predict words from sentence vectors; [`beam_search`] decodes a vector into words.
//!
//! ```
//! use ndarray::Array2;
//! use senv_core::{Table, TokenId, arrays::TokenBatch, rng::stream};
//! use senv_encoders::{Activation, Encoder, Padding, SumPooledCnn, Window};
//! // Word vectors of three dimensions, filters over one word and over two.
//! let table = Table::from_vec(3, 3, vec![0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7, -0.8, 0.9])?;
//! let windows = vec![Window { width: 1, n_filters: 4 }, Window { width: 2, n_filters: 5 }];
//! let cnn = SumPooledCnn::new(3, windows, Activation::Tanh, Padding::PerFilter)?;
//! let parameters = cnn.init(&mut stream(7, "filters", &[]))?;
//!
//! let sentences = [vec![TokenId(0), TokenId(1), TokenId(2)], vec![TokenId(1)]];
//! let mut batch = TokenBatch::new();
//! batch.assign(sentences.iter().map(Vec::as_slice))?;
//! let words = batch.gather(&table)?;
//! let (vectors, saved) = cnn.forward(&parameters, &batch, words.view())?;
//! assert_eq!(vectors.dim(), (2, 9));
//!
//! // The gradient of the sum of all values of all vectors.
//! let (mut d_words, mut d_parameters) = (Array2::zeros(words.dim()), parameters.zeros_like());
//! let d_out = Array2::ones(vectors.dim());
//! cnn.backward(&parameters, &batch, words.view(), &saved, d_out.view(), Some(d_words.view_mut()), &mut d_parameters)?;
//! assert!(d_words.iter().all(|&d| d != 0.0));
//! # Ok::<(), senv_core::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod average;
mod cnn;
mod decode;
mod decoder;
mod encoder;
mod gran;
mod gru;
mod gru_decoder;
mod gru_encoder;
mod joined_lstm;
mod linear_map;
mod lstm;
mod lstm_decoder;
mod lstm_encoder;
mod order;
mod recurrent;
mod rows;
#[cfg(test)]
mod testing;

pub use average::{Average, Pooling};
pub use cnn::{Activation, CnnSaved, FoldedCnn, Padding, SumPooledCnn, Window};
pub use decode::{BeamSearch, Hypothesis, beam_search};
pub use decoder::{Conditioning, Decoder, DecoderSession, FirstInput};
pub use encoder::Encoder;
pub use gran::{GranEncoder, GranForm, GranGate, GranSaved};
pub use gru::{GruInit, GruStyle};
pub use gru_decoder::{GruDecoder, GruDecoderSaved};
pub use gru_encoder::{GruEncoder, GruSaved};
pub use joined_lstm::{JoinedLstm, JoinedLstmSaved};
pub use linear_map::LinearMap;
pub use lstm::LstmInit;
pub use lstm_decoder::{LstmDecoder, LstmDecoderSaved};
pub use lstm_encoder::{LstmEncoder, LstmForm, LstmSaved};
pub use order::{OrderEncoder, OrderSaved};
pub use recurrent::{RecurrentTopology, StatePooling};
pub use senv_core::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
