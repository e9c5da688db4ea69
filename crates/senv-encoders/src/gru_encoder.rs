//! Recurrent encoders: one reader or two, one layer or several.

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{Error, Float, Parameters, Result, Stream, TokenBatch, matmul, matmul_into};
use serde::{Deserialize, Serialize};

use crate::{
    encoder::{Encoder, check_gradients, check_size, check_words},
    gru::{Cell, Gradients, GruInit, GruStyle, Reading, Run, Steps, Upstream, view},
    rows::{flat, matrix, row, zeros},
};

/// How readers and layers are joined. A layer reads the states of the layer below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GruTopology {
    /// One reader from the left. The sentence vector is the last state of every layer, the lowest first.
    #[default]
    Forward,
    /// A reader from the left and one from the right, each with layers of its own, as in the code of P-thought. The
    /// sentence vector is the last state of both in the top layer, the reader from the left first.
    Separate,
    /// The same, but the readers of a layer read the states of both readers of the layer below, as in PyTorch and cuDNN.
    /// With one layer no different from `Separate`.
    Interleaved,
}

/// A recurrent encoder: Skip-thoughts uni (`Forward`) and bi (`Separate`), P-thought in all three structures.
///
/// Parameters of reader `d` (`forward`, `backward`) in layer `l`, counted from 1, by layer and in it the reader from the
/// left first; rows in the order r, z, n, `hidden` each:
///
/// | name | shape |
/// | --- | --- |
/// | `{d}{l}.input` | `(3 hidden, d)`; above the first layer `hidden` columns, `2 hidden` if interleaved |
/// | `{d}{l}.recurrent` | `(3 hidden, hidden)` |
/// | `{d}{l}.bias` | `(1, 3 hidden)` |
/// | `{d}{l}.recurrent_bias` | `(1, 3 hidden)`, in the form [`GruStyle::Torch`] alone |
///
/// The weights that the Skip-thought authors released are of the form [`GruStyle::Release`] and stand on their side, the
/// candidate apart: `input` is `W` turned above `Wx` turned, `recurrent` `U` above `Ux`, `bias` `b` before `bx`. Those of
/// PyTorch (`weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`) are the four tensors of [`GruStyle::Torch`] as they are.
///
/// First states are zero. No step is computed for a sentence that has ended. A forward pass over `n` words in `s`
/// sentences with `u` distinct words saves `5 hidden n + hidden s` values a reader and layer, and needs `3 hidden u` in
/// passing; the backward pass needs as many again.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenBatch, TokenId, stream};
/// use senv_encoders::{Encoder, GruEncoder, GruInit, GruStyle, GruTopology};
/// let bi = GruEncoder::new(2, 3, 1, GruTopology::Separate, GruStyle::Tf1, GruInit::Glorot)?;
/// let parameters = bi.init(&mut stream(1, "encoder", &[]))?;
/// assert_eq!(parameters[3].name(), "backward1.input");
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(6)][..], &[TokenId(6), TokenId(4)], &[]])?;
/// let (out, _) = bi.forward(&parameters, &batch, array![[0.1, 0.9], [-0.5, 0.2]].view())?;
/// assert_eq!(out.dim(), (3, 6));
/// assert!(out.row(0) != out.row(1)); // The order of words matters,
/// assert!(out.row(2).iter().all(|&x| x == 0.0)); // and an empty sentence is the first state.
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, EMNLP 2014, section 2.3; R. Kiros et al.,
/// Skip-Thought Vectors, NIPS 2015, section 2.1.
#[derive(Debug, Clone, PartialEq)]
pub struct GruEncoder {
    word_dim: usize,
    hidden: usize,
    layers: usize,
    topology: GruTopology,
    style: GruStyle,
    start: GruInit,
}

/// What the backward pass of [`GruEncoder`] needs: gates and states of all words, reader by reader.
#[derive(Debug, Clone)]
pub struct GruSaved<F> {
    orders: Orders,
    /// By layer, in it by reader.
    runs: Vec<Run<F>>,
    /// Above the first layer, if interleaved: the states of both readers below, in the order of the batch's tokens.
    joined: Vec<Array2<F>>,
}

/// In which order the readers go through a batch.
#[derive(Debug, Clone, PartialEq)]
struct Orders {
    steps: Steps,
    /// For each reader, the distinct words it reads.
    words: Vec<Vec<u32>>,
    /// For each reader, the tokens of the batch it reads; empty if they are not needed.
    tokens: Vec<Vec<u32>>,
}

/// Does `work` for one reader, or for both at the same time.
fn for_readers<I: Send, T: Send>(items: Vec<I>, work: impl Fn(usize, I) -> Result<T> + Sync) -> Result<Vec<T>> {
    let mut items = items.into_iter();
    match (items.next(), items.next()) {
        (Some(first), Some(second)) => {
            let (first, second) = rayon::join(|| work(0, first), || work(1, second));
            Ok(vec![first?, second?])
        }
        (Some(only), None) => Ok(vec![work(0, only)?]),
        _ => Ok(Vec::new()),
    }
}

impl GruEncoder {
    /// An encoder for word vectors of `word_dim` values. Skip-thoughts: 620, `hidden` 2400 (uni) or 1200 (bi), one layer.
    /// P-thought: 300, 1200, one or two layers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `word_dim`, `hidden` and `layers` are above 0; [`Error::TooLarge`] if the
    /// parameters do not fit into memory.
    pub fn new(
        word_dim: usize,
        hidden: usize,
        layers: usize,
        topology: GruTopology,
        style: GruStyle,
        start: GruInit,
    ) -> Result<Self> {
        let encoder = Self { word_dim, hidden, layers, topology, style, start };
        if layers == 0 {
            return Err(Error::InvalidParameter { name: "layers", requirement: "above 0", got: "0".into() });
        }
        let too_large = || Error::TooLarge { rows: hidden, dim: word_dim.max(layers) };
        hidden.checked_mul(2 * layers.clamp(1, usize::MAX / 2)).ok_or_else(too_large)?;
        encoder.cell(0).check()?;
        encoder.cell(layers - 1).check()?;
        Ok(encoder)
    }

    /// Numbers in a word vector.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.word_dim
    }

    /// Units of a reader in a layer.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Layers, one above another.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// How readers and layers are joined.
    #[must_use]
    pub fn topology(&self) -> GruTopology {
        self.topology
    }

    /// The form of the cells.
    #[must_use]
    pub fn style(&self) -> GruStyle {
        self.style
    }

    /// Readers in a layer.
    fn readers(&self) -> usize {
        if self.topology == GruTopology::Forward { 1 } else { 2 }
    }

    fn is_interleaved(&self) -> bool {
        self.topology == GruTopology::Interleaved && self.layers > 1
    }

    /// Numbers in a sentence vector.
    fn out_dim(&self) -> usize {
        self.hidden * if self.topology == GruTopology::Forward { self.layers } else { 2 }
    }

    /// The cells of layer `layer`, from 0.
    fn cell(&self, layer: usize) -> Cell {
        let input = match layer {
            0 => self.word_dim,
            _ if self.is_interleaved() => 2 * self.hidden,
            _ => self.hidden,
        };
        Cell { input, hidden: self.hidden, context: 0, style: self.style }
    }

    /// The column of the sentence vector where the last states of a reader stand, if they are part of it.
    fn column(&self, layer: usize, reader: usize) -> Option<usize> {
        match self.topology {
            GruTopology::Forward => Some(layer * self.hidden),
            _ => (layer + 1 == self.layers).then_some(reader * self.hidden),
        }
    }

    /// Place of the first tensor of a reader.
    fn first_tensor(&self, layer: usize, reader: usize) -> usize {
        (layer * self.readers() + reader) * self.cell(0).n_tensors()
    }

    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        check_size("tensors of the encoder", self.first_tensor(self.layers, 0), parameters.len())?;
        for layer in 0..self.layers {
            for reader in 0..self.readers() {
                self.cell(layer).check_tensors(parameters, self.first_tensor(layer, reader))?;
            }
        }
        Ok(())
    }

    fn orders(&self, batch: &TokenBatch) -> Result<Orders> {
        let steps = Steps::of(batch)?;
        let words = (0..self.readers()).map(|reader| steps.words(batch, reader == 1)).collect();
        let joined = if self.is_interleaved() { self.readers() } else { 0 };
        let tokens = (0..joined).map(|reader| steps.tokens(batch, reader == 1)).collect();
        Ok(Orders { steps, words, tokens })
    }

    /// What a reader of a layer reads, given the runs of the layers below.
    fn reading<'a, F: Float>(
        &self,
        (layer, reader): (usize, usize),
        orders: &'a Orders,
        words: ArrayView2<'a, F>,
        runs: &'a [Run<F>],
        joined: &'a [Array2<F>],
    ) -> Reading<'a, F> {
        let (rows, index) = if layer == 0 {
            (words, Some(&orders.words[reader][..]))
        } else if self.is_interleaved() {
            (joined[layer - 1].view(), Some(&orders.tokens[reader][..]))
        } else {
            let below = &runs[(layer - 1) * self.readers() + reader];
            (view(below.states(), orders.steps.total(), self.hidden), None)
        };
        Reading { steps: &orders.steps, rows, index, initial: None, context: None }
    }

    /// The states of both readers of a layer, in the order of the batch's tokens.
    fn join<F: Float>(&self, orders: &Orders, runs: &[Run<F>]) -> Result<Array2<F>> {
        let (h, total) = (self.hidden, orders.steps.total());
        let mut joined = zeros(total, 2 * h)?;
        for ((reader, run), tokens) in runs.iter().enumerate().zip(&orders.tokens) {
            for (state, &token) in run.states().chunks_exact(h).zip(tokens) {
                joined[token as usize * 2 * h + reader * h..][..h].copy_from_slice(state);
            }
        }
        matrix(total, 2 * h, joined)
    }

    /// Sentence vectors, and all runs, given how a cell in its place runs.
    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        pass: impl Fn(&Cell, usize, &Reading<'_, F>) -> Result<Run<F>> + Sync,
    ) -> Result<(Array2<F>, GruSaved<F>)> {
        check_words(batch, self.word_dim, words)?;
        self.check_parameters(parameters)?;
        let orders = self.orders(batch)?;
        let (mut runs, mut joined): (Vec<Run<F>>, Vec<Array2<F>>) = Default::default();
        let (h, out_dim) = (self.hidden, self.out_dim());
        let mut out = zeros(batch.len(), out_dim)?;
        for layer in 0..self.layers {
            let cell = self.cell(layer);
            let new = for_readers(vec![(); self.readers()], |reader, ()| {
                let reading = self.reading((layer, reader), &orders, words, &runs, &joined);
                pass(&cell, layer * self.readers() + reader, &reading)
            })?;
            for (reader, run) in new.iter().enumerate() {
                let Some(column) = self.column(layer, reader) else { continue };
                for i in 0..batch.len() {
                    let at = orders.steps.sentence(i) * out_dim + column;
                    out[at..at + h].copy_from_slice(run.last(&orders.steps, i));
                }
            }
            if self.is_interleaved() && layer + 1 < self.layers {
                joined.push(self.join(&orders, &new)?);
            }
            runs.extend(new);
        }
        Ok((matrix(batch.len(), out_dim, out)?, GruSaved { orders, runs, joined }))
    }

    /// The sentence vectors of trained parameters: those of [`forward`](Encoder::forward) to the bit, without what only the
    /// backward pass needs.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if words or parameters do not fit the encoder or the batch; [`Error::TooLarge`] if the
    /// result does not fit into memory.
    pub fn encode<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<Array2<F>> {
        let vectors = self.run(parameters, batch, words, |cell, place, reading| {
            cell.encode(&cell.weights(parameters, place * cell.n_tensors()), reading)
        })?;
        Ok(vectors.0)
    }
}

impl<F: Float> Encoder<F> for GruEncoder {
    type Saved = GruSaved<F>;

    fn dim(&self) -> usize {
        self.out_dim()
    }

    fn init(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        for layer in 0..self.layers {
            for name in &["forward", "backward"][..self.readers()] {
                self.cell(layer).push(&format!("{name}{}", layer + 1), self.start, rng, &mut parameters)?;
            }
        }
        Ok(parameters)
    }

    fn forward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved)> {
        self.run(parameters, batch, words, |cell, place, reading| {
            cell.forward(&cell.weights(parameters, place * cell.n_tensors()), reading)
        })
    }

    fn backward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Self::Saved,
        d_out: ArrayView2<'_, F>,
        mut d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        check_words(batch, self.word_dim, words)?;
        self.check_parameters(parameters)?;
        self.check_parameters(d_parameters)?;
        check_gradients(batch, self.out_dim(), d_out, words, d_words.as_ref())?;
        self.check_saved(batch, saved)?;
        let (orders, h, readers) = (&saved.orders, self.hidden, self.readers());
        let d_out = d_out.as_standard_layout();
        let d_out = orders.steps.sorted(flat(&d_out), self.out_dim());
        let mut tensors = d_parameters.iter_mut();
        let mut gradients: Vec<Gradients<'_, F>> =
            (0..self.layers * readers).map(|i| self.cell(i / readers).gradients(&mut tensors)).collect();
        // ∂ of the states of the present layer, from the layer above.
        let mut d_states: Vec<Option<Vec<F>>> = vec![None; readers];
        for layer in (0..self.layers).rev() {
            let cell = self.cell(layer);
            let weights = |reader| cell.weights(parameters, self.first_tensor(layer, reader));
            let items = gradients.split_off(layer * readers).into_iter().zip(std::mem::take(&mut d_states)).collect();
            let below = for_readers(items, |reader, (mut d, d_states): (Gradients<'_, F>, Option<Vec<F>>)| {
                let reading = self.reading((layer, reader), orders, words, &saved.runs, &saved.joined);
                let last: Option<Vec<F>> = self.column(layer, reader).map(|column| {
                    let columns = |row: &'_ [F]| row[column..column + h].to_vec();
                    d_out.chunks_exact(self.out_dim()).flat_map(columns).collect()
                });
                let upstream = Upstream { states: d_states.as_deref(), last: last.as_deref() };
                let run = &saved.runs[layer * readers + reader];
                Ok(cell.backward(&weights(reader), &reading, run, &upstream, &mut d)?.projections)
            })?;
            if layer == 0 {
                let Some(d_words) = &mut d_words else { continue };
                for (reader, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(reader).input, F::one(), d_words.view_mut())?;
                }
            } else if self.is_interleaved() {
                let mut d_joined = Array2::zeros((orders.steps.total(), 2 * h));
                for (reader, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(reader).input, F::one(), d_joined.view_mut())?;
                }
                let d_joined = d_joined.into_raw_vec_and_offset().0;
                let of_reader = |reader: usize| {
                    let mut d = zeros(orders.steps.total(), h)?;
                    d.par_chunks_exact_mut(h).zip(&orders.tokens[reader]).with_min_len(8).for_each(|(d, &token)| {
                        d.copy_from_slice(&row(&d_joined, 2 * h, token as usize)[reader * h..][..h]);
                    });
                    Ok(Some(d))
                };
                d_states = (0..readers).map(of_reader).collect::<Result<_>>()?;
            } else {
                let through = |(reader, d): (usize, &Array2<F>)| {
                    Ok(Some(matmul(d.view(), weights(reader).input)?.into_raw_vec_and_offset().0))
                };
                d_states = below.iter().enumerate().map(through).collect::<Result<_>>()?;
            }
        }
        Ok(())
    }
}

impl GruEncoder {
    /// Refuses what was saved by another encoder or for another batch.
    fn check_saved<F: Float>(&self, batch: &TokenBatch, saved: &GruSaved<F>) -> Result<()> {
        let orders = self.orders(batch)?;
        check_size("saved state, in readers and layers,", self.layers * self.readers(), saved.runs.len())?;
        let of_form = saved.runs.iter().all(|run| run.states().len() == orders.steps.total() * self.hidden);
        let joined = if self.is_interleaved() { self.layers - 1 } else { 0 };
        if saved.orders == orders && of_form && saved.joined.len() == joined {
            return Ok(());
        }
        let got = "that of other sentences or another encoder".into();
        Err(Error::InvalidParameter { name: "saved state", requirement: "of this encoder and batch", got })
    }
}
