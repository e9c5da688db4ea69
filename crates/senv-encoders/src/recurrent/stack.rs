//! Layers and directions of cells over a batch.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, Tensor, TokenBatch, matmul, matmul_into},
    hyperparameters::named_values,
};
use serde::{Deserialize, Serialize};

use super::{CellInput, RecurrentCell, StatePooling, Steps, Upstream, pool, view};
use crate::{
    encoder::{check_gradients, check_size, check_words},
    rows::{flat, matrix, row, zeros},
};

/// How directions and layers are connected. The input of a layer is the states of the layer below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RecurrentTopology {
    /// Unidirectional. The sentence vector is the last state of every layer, the lowest first.
    #[default]
    Forward,
    /// Bidirectional: a forward and a backward direction with separate layers, as in the code of P-thought. The
    /// sentence vector is the last state of both in the top layer, the forward direction first.
    Separate,
    /// Bidirectional, but both directions read the states of both directions in the layer below, as in PyTorch and
    /// cuDNN. With one layer it equals `Separate`.
    Interleaved,
}

named_values!(RecurrentTopology {
    Forward = "forward": "One direction",
    Separate = "separate": "Two directions, each with its own layers",
    Interleaved = "interleaved": "Two directions; each layer reads both directions of the layer below",
});

/// Cells in layers and directions. The tensors of direction `d` in layer `l` are those of cell `l n_directions + d`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stack<C> {
    /// The cells of the lowest layer.
    pub(crate) first: C,
    /// The cells of all layers above.
    pub(crate) above: C,
    pub(crate) word_dim: usize,
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) topology: RecurrentTopology,
    pub(crate) pooling: StatePooling,
}

/// The activations that a forward pass saves for the backward pass, by layer, then by direction.
#[derive(Debug, Clone)]
pub(crate) struct StackSaved<F, R> {
    orders: Orders,
    activations: Vec<R>,
    /// Above the first layer, if interleaved: the states of both directions below, in the order of the batch's tokens.
    joined: Vec<Array2<F>>,
}

/// Sentence vectors, and the saved state of their pass.
type Encoded<F, C> = (Array2<F>, StackSaved<F, <C as RecurrentCell>::Activations<F>>);

/// The order in which the directions process a batch.
#[derive(Debug, Clone, PartialEq)]
struct Orders {
    steps: Steps,
    /// For each direction, the distinct word of each packed row.
    words: Vec<Vec<u32>>,
    /// For each direction, the token of the batch of each packed row; empty if they are not needed.
    tokens: Vec<Vec<u32>>,
}

/// Runs `work` for one direction, or for both in parallel.
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

impl<C: RecurrentCell> Stack<C> {
    /// Creates layers of cells for word vectors of the first size, with states of the second; `above` returns the cell
    /// of a higher layer for its input dimension.
    ///
    /// Returns an error if a size is 0 or too large.
    pub(crate) fn new(
        first: C,
        above: impl FnOnce(usize) -> C,
        (word_dim, hidden): (usize, usize),
        layers: usize,
        topology: RecurrentTopology,
        pooling: StatePooling,
    ) -> Result<Self> {
        if layers == 0 {
            return Err(Error::InvalidParameter { name: "layers", requirement: "above 0", got: "0".into() });
        }
        let too_large = || Error::TooLarge { rows: hidden, dim: word_dim.max(layers) };
        let both = hidden.checked_mul(2 * layers.clamp(1, usize::MAX / 2)).ok_or_else(too_large)? / layers;
        let above = match layers {
            1 => first,
            _ => above(if topology == RecurrentTopology::Interleaved { both } else { hidden }),
        };
        first.check()?;
        above.check()?;
        Ok(Self { first, above, word_dim, hidden, layers, topology, pooling })
    }

    /// The number of parameter values, as a float to avoid overflow, in constant time for any number of layers.
    pub(crate) fn n_values(&self) -> f64 {
        let above = if self.layers > 1 { (self.layers - 1) as f64 * self.above.n_values() } else { 0.0 };
        self.n_directions() as f64 * (self.first.n_values() + above)
    }

    /// The cells and the name of each direction of each layer, in the order of their tensors.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (C, String)> + use<C> {
        let Self { first, above, layers, .. } = *self;
        let n = self.n_directions();
        (0..layers).flat_map(move |layer| {
            let name =
                move |direction: &&str| (if layer == 0 { first } else { above }, format!("{direction}{}", layer + 1));
            ["forward", "backward"].iter().take(n).map(move |direction| name(&&**direction)).collect::<Vec<_>>()
        })
    }

    pub(crate) fn n_directions(&self) -> usize {
        if self.topology == RecurrentTopology::Forward { 1 } else { 2 }
    }

    fn is_interleaved(&self) -> bool {
        self.topology == RecurrentTopology::Interleaved && self.layers > 1
    }

    /// Whether the sentence vector consists of the last states of every layer.
    fn takes_all_layers(&self) -> bool {
        self.topology == RecurrentTopology::Forward && self.pooling == StatePooling::Last
    }

    /// The sentence dimension.
    pub(crate) fn out_dim(&self) -> usize {
        self.hidden * if self.takes_all_layers() { self.layers } else { self.n_directions() }
    }

    /// The cells of layer `layer`, counted from 0.
    fn cell(&self, layer: usize) -> C {
        if layer == 0 { self.first } else { self.above }
    }

    /// The first column of a direction's states in the sentence vector, if they are part of it.
    fn column(&self, layer: usize, direction: usize) -> Option<usize> {
        match self.takes_all_layers() {
            true => Some(layer * self.hidden),
            false => (layer + 1 == self.layers).then_some(direction * self.hidden),
        }
    }

    /// Index of the first tensor of a direction.
    fn first_tensor(&self, layer: usize, direction: usize) -> usize {
        (layer * self.n_directions() + direction) * self.first.n_tensors()
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
        activations: &'a [C::Activations<F>],
        joined: &'a [Array2<F>],
    ) -> CellInput<'a, F> {
        let (rows, index) = if layer == 0 {
            (words, Some(&orders.words[direction][..]))
        } else if self.is_interleaved() {
            (joined[layer - 1].view(), Some(&orders.tokens[direction][..]))
        } else {
            let below = &activations[(layer - 1) * self.n_directions() + direction];
            (view(C::states(below), orders.steps.total(), self.hidden), None)
        };
        CellInput { steps: &orders.steps, rows, index, initial: None, context: None }
    }

    /// The states of both directions of a layer, in the order of the batch's tokens.
    fn join<F: Float>(&self, orders: &Orders, activations: &[C::Activations<F>]) -> Result<Array2<F>> {
        let (h, total) = (self.hidden, orders.steps.total());
        let mut joined = zeros(total, 2 * h)?;
        for ((direction, of_direction), tokens) in activations.iter().enumerate().zip(&orders.tokens) {
            for (state, &token) in C::states(of_direction).chunks_exact(h).zip(tokens) {
                joined[token as usize * 2 * h + direction * h..][..h].copy_from_slice(state);
            }
        }
        matrix(total, 2 * h, joined)
    }

    /// Computes sentence vectors and the state for the backward pass; unless `keep`, less is stored.
    pub(crate) fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        keep: bool,
    ) -> Result<Encoded<F, C>> {
        check_words(batch, self.word_dim, words)?;
        self.check_parameters(parameters)?;
        let orders = self.orders(batch)?;
        let (mut activations, mut joined): (Vec<C::Activations<F>>, Vec<Array2<F>>) = Default::default();
        let (h, out_dim) = (self.hidden, self.out_dim());
        let mut out = zeros(batch.len(), out_dim)?;
        for layer in 0..self.layers {
            let cell = self.cell(layer);
            let new = for_directions(vec![(); self.n_directions()], |direction, ()| {
                let cell_input = self.cell_input((layer, direction), &orders, words, &activations, &joined);
                cell.run(parameters, self.first_tensor(layer, direction), &cell_input, keep)
            })?;
            for (direction, of_direction) in new.iter().enumerate() {
                let Some(column) = self.column(layer, direction) else { continue };
                for i in 0..batch.len() {
                    let at = orders.steps.sentence(i) * out_dim + column;
                    let out = &mut out[at..at + h];
                    match self.pooling {
                        StatePooling::Last => out.copy_from_slice(C::last(of_direction, &orders.steps, i)),
                        pooling => pool::forward(pooling, C::states(of_direction), &orders.steps, i, out),
                    }
                }
            }
            if self.is_interleaved() && layer + 1 < self.layers {
                joined.push(self.join(&orders, &new)?);
            }
            activations.extend(new);
        }
        Ok((matrix(batch.len(), out_dim, out)?, StackSaved { orders, activations, joined }))
    }

    /// Adds the gradients of the words and the parameters, as in [`Encoder::backward`](crate::Encoder::backward).
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &StackSaved<F, C::Activations<F>>,
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
        let mut gradients: Vec<Vec<&mut Tensor<F>>> =
            (0..self.layers * n_directions).map(|_| tensors.by_ref().take(self.first.n_tensors()).collect()).collect();
        // ∂ of the states of the current layer, from the layer above.
        let mut d_states: Vec<Option<Vec<F>>> = vec![None; n_directions];
        for layer in (0..self.layers).rev() {
            let cell = self.cell(layer);
            let weights = |direction| cell.input_weights(parameters, self.first_tensor(layer, direction));
            let items =
                gradients.split_off(layer * n_directions).into_iter().zip(std::mem::take(&mut d_states)).collect();
            let below = for_directions(items, |direction, (d, d_states): (Vec<&mut Tensor<F>>, Option<Vec<F>>)| {
                let cell_input = self.cell_input((layer, direction), orders, words, &saved.activations, &saved.joined);
                let last: Option<Vec<F>> = self.column(layer, direction).map(|column| {
                    let columns = |row: &'_ [F]| row[column..column + h].to_vec();
                    d_out.chunks_exact(self.out_dim()).flat_map(columns).collect()
                });
                let of_direction = &saved.activations[layer * n_directions + direction];
                let (last, pooled) = match (self.pooling, last) {
                    (StatePooling::Last, last) => (last, None),
                    (pooling, Some(d)) => {
                        (None, Some(pool::backward(pooling, C::states(of_direction), &orders.steps, h, &d)?))
                    }
                    (_, None) => (None, None),
                };
                let states = d_states.as_deref().or(pooled.as_deref());
                let upstream = Upstream { states, last: last.as_deref() };
                let first = self.first_tensor(layer, direction);
                Ok(cell.through(parameters, first, &cell_input, of_direction, &upstream, d)?.projections)
            })?;
            if layer == 0 {
                let Some(d_words) = &mut d_words else { continue };
                for (direction, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(direction), F::one(), d_words.view_mut())?;
                }
            } else if self.is_interleaved() {
                let mut d_joined = Array2::zeros((orders.steps.total(), 2 * h));
                for (direction, d) in below.iter().enumerate() {
                    matmul_into(F::one(), d.view(), weights(direction), F::one(), d_joined.view_mut())?;
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
                    Ok(Some(matmul(d.view(), weights(direction))?.into_raw_vec_and_offset().0))
                };
                d_states = below.iter().enumerate().map(through).collect::<Result<_>>()?;
            }
        }
        Ok(())
    }

    /// Returns an error for a state saved by another encoder or for another batch.
    fn check_saved<F: Float>(&self, batch: &TokenBatch, saved: &StackSaved<F, C::Activations<F>>) -> Result<()> {
        let orders = self.orders(batch)?;
        check_size("directions and layers of saved state", self.layers * self.n_directions(), saved.activations.len())?;
        let of_form = saved
            .activations
            .iter()
            .all(|of_direction| C::states(of_direction).len() == orders.steps.total() * self.hidden);
        let joined = if self.is_interleaved() { self.layers - 1 } else { 0 };
        if saved.orders == orders && of_form && saved.joined.len() == joined {
            return Ok(());
        }
        let got = "one of other sentences or another encoder".into();
        Err(Error::InvalidParameter { name: "saved state", requirement: "that of this encoder and batch", got })
    }
}
