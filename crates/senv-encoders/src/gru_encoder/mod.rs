//! Recurrent encoders: unidirectional or bidirectional, with one or more layers.

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch, matmul, matmul_into},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    encoder::{Encoder, check_gradients, check_size, check_words},
    gru::{Activations, Cell, CellInput, Gradients, GruInit, GruStyle, Steps, Upstream, view},
    rows::{flat, matrix, row, zeros},
};

/// How directions and layers are connected. The input of a layer is the states of the layer below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GruTopology {
    /// Unidirectional. The sentence vector is the last state of every layer, the lowest first.
    #[default]
    Forward,
    /// Bidirectional: a forward and a backward direction, each with layers of its own, as in the code of P-thought. The
    /// sentence vector is the last state of both in the top layer, the forward direction first.
    Separate,
    /// Bidirectional, but the input of both directions is the states of both directions of the layer below, as in
    /// PyTorch and cuDNN. With one layer it equals `Separate`.
    Interleaved,
}

named_values!(GruTopology {
    Forward = "forward": "One direction",
    Separate = "separate": "Two directions, each with layers of its own",
    Interleaved = "interleaved": "Two directions, and each layer reads both of the layer below",
});

/// A recurrent encoder: Skip-thoughts uni (`Forward`) and bi (`Separate`), P-thought in all three structures.
///
/// Parameters of direction `d` (`forward`, `backward`) in layer `l`, counted from 1; by layer, within a layer the
/// forward direction first. The rows of each stack the blocks of r, z and n, `hidden` rows each:
///
/// | name | shape |
/// | --- | --- |
/// | `{d}{l}.input` | `(3 hidden, d)`; above the first layer `hidden` columns, `2 hidden` if interleaved |
/// | `{d}{l}.recurrent` | `(3 hidden, hidden)` |
/// | `{d}{l}.bias` | `(1, 3 hidden)` |
/// | `{d}{l}.recurrent_bias` | `(1, 3 hidden)`, only in the variant [`GruStyle::Torch`] |
///
/// The weights that the Skip-thought authors released are of the variant [`GruStyle::Release`], transposed, with the
/// candidate in separate arrays: `input` is `W` transposed above `Wx` transposed, `recurrent` `U` above `Ux`, `bias`
/// `b` before `bx`. Those of PyTorch (`weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`) are the four tensors of
/// [`GruStyle::Torch`] as they are.
///
/// Initial states are zero. No step is computed for a sentence that has ended. For each direction and layer, a forward
/// pass over `n` words in `s` sentences with `u` distinct words saves `5 hidden n + hidden s` values, and needs `3
/// hidden u` temporarily; the backward pass needs as many again.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
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

/// The saved state for the backward pass of [`GruEncoder`]: gates and states of all words, by direction.
#[derive(Debug, Clone)]
pub struct GruSaved<F> {
    orders: Orders,
    /// Ordered by layer, then by direction.
    runs: Vec<Activations<F>>,
    /// Above the first layer, if interleaved: the states of both directions below, in the order of the batch's tokens.
    joined: Vec<Array2<F>>,
}

/// The order in which the directions process a batch.
#[derive(Debug, Clone, PartialEq)]
struct Orders {
    steps: Steps,
    /// For each direction, the distinct word of each packed row.
    words: Vec<Vec<u32>>,
    /// For each direction, the token of the batch of each packed row; empty if they are not needed.
    tokens: Vec<Vec<u32>>,
}

/// Does `work` for one direction, or for both in parallel.
fn for_directions<I: Send, T: Send>(items: Vec<I>, work: impl Fn(usize, I) -> Result<T> + Sync) -> Result<Vec<T>> {
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
    /// An encoder for word vectors of dimension `word_dim`. Skip-thoughts: 620, `hidden` 2400 (uni) or 1200 (bi), one
    /// layer. P-thought: 300, 1200, one or two layers.
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

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.word_dim
    }

    /// The hidden size of each direction and layer.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The number of layers.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// How directions and layers are connected.
    #[must_use]
    pub fn topology(&self) -> GruTopology {
        self.topology
    }

    /// The variant of the cells.
    #[must_use]
    pub fn style(&self) -> GruStyle {
        self.style
    }

    /// The number of its parameters, as far as f64 counts: in one step however many layers there are.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        let values = |layer: usize| {
            let cell = self.cell(layer);
            3.0 * cell.hidden as f64 * (cell.input as f64 + cell.hidden as f64 + 1.0)
        };
        let above = if self.layers > 1 { (self.layers - 1) as f64 * values(1) } else { 0.0 };
        let biases = if self.style == GruStyle::Torch { 3.0 * self.hidden as f64 * self.layers as f64 } else { 0.0 };
        self.n_directions() as f64 * (values(0) + above + biases)
    }

    /// The number of directions.
    fn n_directions(&self) -> usize {
        if self.topology == GruTopology::Forward { 1 } else { 2 }
    }

    fn is_interleaved(&self) -> bool {
        self.topology == GruTopology::Interleaved && self.layers > 1
    }

    /// The sentence dimension.
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

    /// The first column in the sentence vector of the last states of a direction, if they are part of it.
    fn column(&self, layer: usize, direction: usize) -> Option<usize> {
        match self.topology {
            GruTopology::Forward => Some(layer * self.hidden),
            _ => (layer + 1 == self.layers).then_some(direction * self.hidden),
        }
    }

    /// Index of the first tensor of a direction.
    fn first_tensor(&self, layer: usize, direction: usize) -> usize {
        (layer * self.n_directions() + direction) * self.cell(0).n_tensors()
    }

    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        check_size("tensors of the encoder", self.first_tensor(self.layers, 0), parameters.len())?;
        for layer in 0..self.layers {
            for direction in 0..self.n_directions() {
                self.cell(layer).check_tensors(parameters, self.first_tensor(layer, direction))?;
            }
        }
        Ok(())
    }

    fn orders(&self, batch: &TokenBatch) -> Result<Orders> {
        let steps = Steps::of(batch)?;
        let words = (0..self.n_directions()).map(|direction| steps.words(batch, direction == 1)).collect();
        let joined = if self.is_interleaved() { self.n_directions() } else { 0 };
        let tokens = (0..joined).map(|direction| steps.tokens(batch, direction == 1)).collect();
        Ok(Orders { steps, words, tokens })
    }

    /// The inputs of a direction in a layer, given the activations of the layers below.
    fn cell_input<'a, F: Float>(
        &self,
        (layer, direction): (usize, usize),
        orders: &'a Orders,
        words: ArrayView2<'a, F>,
        runs: &'a [Activations<F>],
        joined: &'a [Array2<F>],
    ) -> CellInput<'a, F> {
        let (rows, index) = if layer == 0 {
            (words, Some(&orders.words[direction][..]))
        } else if self.is_interleaved() {
            (joined[layer - 1].view(), Some(&orders.tokens[direction][..]))
        } else {
            let below = &runs[(layer - 1) * self.n_directions() + direction];
            (view(below.states(), orders.steps.total(), self.hidden), None)
        };
        CellInput { steps: &orders.steps, rows, index, initial: None, context: None }
    }

    /// The states of both directions of a layer, in the order of the batch's tokens.
    fn join<F: Float>(&self, orders: &Orders, runs: &[Activations<F>]) -> Result<Array2<F>> {
        let (h, total) = (self.hidden, orders.steps.total());
        let mut joined = zeros(total, 2 * h)?;
        for ((direction, run), tokens) in runs.iter().enumerate().zip(&orders.tokens) {
            for (state, &token) in run.states().chunks_exact(h).zip(tokens) {
                joined[token as usize * 2 * h + direction * h..][..h].copy_from_slice(state);
            }
        }
        matrix(total, 2 * h, joined)
    }

    /// Sentence vectors, and all activations; `pass` runs the cell of a given index.
    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        pass: impl Fn(&Cell, usize, &CellInput<'_, F>) -> Result<Activations<F>> + Sync,
    ) -> Result<(Array2<F>, GruSaved<F>)> {
        check_words(batch, self.word_dim, words)?;
        self.check_parameters(parameters)?;
        let orders = self.orders(batch)?;
        let (mut runs, mut joined): (Vec<Activations<F>>, Vec<Array2<F>>) = Default::default();
        let (h, out_dim) = (self.hidden, self.out_dim());
        let mut out = zeros(batch.len(), out_dim)?;
        for layer in 0..self.layers {
            let cell = self.cell(layer);
            let new = for_directions(vec![(); self.n_directions()], |direction, ()| {
                let cell_input = self.cell_input((layer, direction), &orders, words, &runs, &joined);
                pass(&cell, layer * self.n_directions() + direction, &cell_input)
            })?;
            for (direction, run) in new.iter().enumerate() {
                let Some(column) = self.column(layer, direction) else { continue };
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

    /// The sentence vectors of trained parameters: bit-identical to those of [`forward`](Encoder::forward), without the
    /// activations that only the backward pass needs.
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
        let vectors = self.run(parameters, batch, words, |cell, place, cell_input| {
            cell.encode(&cell.weights(parameters, place * cell.n_tensors()), cell_input)
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
            for name in &["forward", "backward"][..self.n_directions()] {
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
        self.run(parameters, batch, words, |cell, place, cell_input| {
            cell.forward(&cell.weights(parameters, place * cell.n_tensors()), cell_input)
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
        let (orders, h, n_directions) = (&saved.orders, self.hidden, self.n_directions());
        let d_out = d_out.as_standard_layout();
        let d_out = orders.steps.sorted(flat(&d_out), self.out_dim());
        let mut tensors = d_parameters.iter_mut();
        let mut gradients: Vec<Gradients<'_, F>> =
            (0..self.layers * n_directions).map(|i| self.cell(i / n_directions).gradients(&mut tensors)).collect();
        // ∂ of the states of the current layer, from the layer above.
        let mut d_states: Vec<Option<Vec<F>>> = vec![None; n_directions];
        for layer in (0..self.layers).rev() {
            let cell = self.cell(layer);
            let weights = |direction| cell.weights(parameters, self.first_tensor(layer, direction));
            let items =
                gradients.split_off(layer * n_directions).into_iter().zip(std::mem::take(&mut d_states)).collect();
            let below = for_directions(items, |direction, (mut d, d_states): (Gradients<'_, F>, Option<Vec<F>>)| {
                let cell_input = self.cell_input((layer, direction), orders, words, &saved.runs, &saved.joined);
                let last: Option<Vec<F>> = self.column(layer, direction).map(|column| {
                    let columns = |row: &'_ [F]| row[column..column + h].to_vec();
                    d_out.chunks_exact(self.out_dim()).flat_map(columns).collect()
                });
                let upstream = Upstream { states: d_states.as_deref(), last: last.as_deref() };
                let run = &saved.runs[layer * n_directions + direction];
                Ok(cell.backward(&weights(direction), &cell_input, run, &upstream, &mut d)?.projections)
            })?;
            if layer == 0 {
                let Some(d_words) = &mut d_words else { continue };
                for (direction, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(direction).input, F::one(), d_words.view_mut())?;
                }
            } else if self.is_interleaved() {
                let mut d_joined = Array2::zeros((orders.steps.total(), 2 * h));
                for (direction, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(direction).input, F::one(), d_joined.view_mut())?;
                }
                let d_joined = d_joined.into_raw_vec_and_offset().0;
                let of_direction = |direction: usize| {
                    let mut d = zeros(orders.steps.total(), h)?;
                    d.par_chunks_exact_mut(h).zip(&orders.tokens[direction]).with_min_len(8).for_each(|(d, &token)| {
                        d.copy_from_slice(&row(&d_joined, 2 * h, token as usize)[direction * h..][..h]);
                    });
                    Ok(Some(d))
                };
                d_states = (0..n_directions).map(of_direction).collect::<Result<_>>()?;
            } else {
                let through = |(direction, d): (usize, &Array2<F>)| {
                    Ok(Some(matmul(d.view(), weights(direction).input)?.into_raw_vec_and_offset().0))
                };
                d_states = below.iter().enumerate().map(through).collect::<Result<_>>()?;
            }
        }
        Ok(())
    }
}

impl GruEncoder {
    /// Returns an error for a state saved by another encoder or for another batch.
    fn check_saved<F: Float>(&self, batch: &TokenBatch, saved: &GruSaved<F>) -> Result<()> {
        let orders = self.orders(batch)?;
        check_size("saved state, in directions and layers,", self.layers * self.n_directions(), saved.runs.len())?;
        let of_form = saved.runs.iter().all(|run| run.states().len() == orders.steps.total() * self.hidden);
        let joined = if self.is_interleaved() { self.layers - 1 } else { 0 };
        if saved.orders == orders && of_form && saved.joined.len() == joined {
            return Ok(());
        }
        let got = "that of other sentences or another encoder".into();
        Err(Error::InvalidParameter { name: "saved state", requirement: "of this encoder and batch", got })
    }
}
