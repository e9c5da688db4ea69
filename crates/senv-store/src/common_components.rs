//! Common-component removal: the directions shared by all sentence vectors, fitted once and subtracted from each.
//!
//! Equation: `common-component-removal`
//!
//! ```text
//! M = Σ_s v_s v_sᵀ                      over the sentences it is fitted on; not centred
//! M u_i = σ_i² u_i,  σ_1 ≥ σ_2 ≥ ...    u_i: right singular vectors of the sentence matrix
//! G = (v_s·v_t)_st,  G w_i = σ_i² w_i,  u_i = Σ_s w_is v_s / σ_i      the same for at most as many vectors as dimensions
//! v ← v − Σ_i λ_i u_i (u_i·v)           SIF: one component, λ = 1
//!                                       uSIF: five, λ_i = σ_i² / Σ_j σ_j² over the components taken
//! ```
//!
//! Arora, Liang and Ma, ICLR 2017, Algorithm 1; Ethayarajh, RepL4NLP 2018, Algorithm 1. Arora et al.'s program finds
//! the component for each list of sentences. Here it is found once and frozen, so the vector of a sentence does not
//! depend on the others.

use ndarray::{Array2, ArrayView1, ArrayView2, s};
use senv_core::{
    Error as Core, Rows, Table,
    arrays::{Float, matmul_into},
    kernels,
};

use crate::{
    ModelFile, ModelWriter, Result,
    common_components_eigen::{Eigenpair, leading_eigenpairs, peak},
};

/// Names of the tensors in a model file.
const VECTORS: &str = "common_components.vectors";
const SHARES: &str = "common_components.lambdas";

/// Vectors collected before they are added to the second moment as one matrix product.
const BLOCK: usize = 256;

/// The share of the squared norms below which a remainder is rounding error: f32 vectors are exact to 1e-7.
const ROUNDING: f64 = 1e-12;

/// Common components that are subtracted from sentence vectors: fitted once, then the same for every sentence.
///
/// ```
/// use ndarray::array;
/// use senv_store::CommonComponents;
/// // All vectors lie near the first axis.
/// let sentences = array![[2.0f32, 0.5], [2.0, -0.5], [3.0, 0.0]];
/// let common = CommonComponents::fit(sentences.view(), 1, false)?;
/// let mut vector = [5.0, 0.25];
/// common.remove(&mut vector);
/// assert_eq!(vector, [0.0, 0.25]);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommonComponents {
    /// One unit vector per row.
    vectors: Table,
    lambdas: Vec<f32>,
}

impl CommonComponents {
    /// Finds the first `n_components` directions of sentence vectors, one vector per row. `scaled` subtracts each
    /// component times its share of the variance (uSIF) instead of the whole component (SIF). The result can have fewer
    /// components: no more than vectors, and none with an eigenvalue of 0. With `n_components` 0, nothing is
    /// subtracted.
    ///
    /// For vectors that do not fit in memory, see [`SecondMoment`].
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] without a vector, or if one has a NaN or infinite value (with its row);
    /// [`senv_core::Error::TooLarge`] if dim × dim values do not fit in memory.
    pub fn fit<F: Float>(vectors: ArrayView2<'_, F>, n_components: usize, scaled: bool) -> Result<Self> {
        let mut moment = SecondMoment::new(vectors.ncols())?;
        let mut row = Vec::new();
        for vector in vectors.rows() {
            row.clear();
            row.extend(vector.iter().copied());
            moment.add(&row)?;
        }
        moment.common_components(n_components, scaled)
    }

    /// Removes the components from a vector.
    ///
    /// # Panics
    /// If the dimension of the vector is not [`CommonComponents::dim`].
    pub fn remove(&self, vector: &mut [f32]) {
        assert_eq!(vector.len(), self.dim(), "the vector and the components have different dimensions");
        for (i, lambda) in self.lambdas.iter().enumerate() {
            let u = self.vectors.row(i);
            kernels::axpy(-lambda * kernels::dot(u, vector), u, vector);
        }
    }

    /// The embedding dimension.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.vectors.dim()
    }

    /// The components, one unit vector per row, strongest first. The entry with the largest magnitude is positive in
    /// each.
    #[must_use]
    pub fn vectors(&self) -> &Table {
        &self.vectors
    }

    /// The share of each component that is subtracted, in `[0, 1]`.
    #[must_use]
    pub fn lambdas(&self) -> &[f32] {
        &self.lambdas
    }

    /// Adds the components to a model file, as the F32 tensors `common_components.vectors` (components × dim) and
    /// `common_components.lambdas`.
    #[must_use]
    pub fn save_into<'a>(&'a self, writer: ModelWriter<'a>) -> ModelWriter<'a> {
        writer.table(VECTORS, &self.vectors).f32s(SHARES, &self.lambdas)
    }

    /// Loads the components of a model file; `None` if it has none.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] if the tensors do not match each other or vectors of `dim` values, or have values
    /// that no fit gives; [`senv_core::Error::MissingTensor`], [`senv_core::Error::WrongTensor`],
    /// [`senv_core::Error::Checksum`].
    pub fn load_from(model: &ModelFile, dim: usize) -> Result<Option<Self>> {
        if !model.contains(VECTORS) && !model.contains(SHARES) {
            return Ok(None);
        }
        // Copied and checked, because they are few and used for every vector.
        let (shape, values) = (model.table(VECTORS)?, model.f32s(VECTORS)?);
        let lambdas = model.f32s(SHARES)?;
        let bad = |reason| Err(Core::BadFile { path: model.path().to_owned(), reason }.into());
        if shape.dim() != dim || shape.n_rows() != lambdas.len() {
            let (rows, found, n) = (shape.n_rows(), shape.dim(), lambdas.len());
            return bad(format!(
                "tensor {VECTORS:?} is {rows} x {found} and {SHARES:?} has {n} values, expected {n} x {dim}"
            ));
        }
        for (i, row) in values.chunks_exact(dim.max(1)).enumerate() {
            let norm = kernels::norm(row);
            if norm.is_nan() || (norm - 1.0).abs() >= 1e-3 {
                return bad(format!("row {i} of tensor {VECTORS:?} has norm {norm}, expected 1"));
            }
        }
        if let Some(lambda) = lambdas.iter().find(|lambda| !(0.0..=1.0).contains(*lambda)) {
            return bad(format!("tensor {SHARES:?} contains {lambda}, expected numbers from 0 to 1"));
        }
        Ok(Some(Self { vectors: Table::from_vec(lambdas.len(), dim, values)?, lambdas }))
    }
}

/// Σ v vᵀ of vectors that are added one by one, in f64: dim² values for any number of vectors. The vectors themselves
/// are kept while there are at most dim: their products then take n² values and n³ steps instead of dim³.
///
/// The result depends only on the vectors and their order, not on the number of threads. (The threads of the current
/// rayon pool divide each block of 256 vectors.)
///
/// ```
/// let mut moment = senv_store::SecondMoment::new(2)?;
/// for i in 0..1000 {
///     moment.add(&[1.0f32, (i % 3) as f32 - 1.0])?;
/// }
/// let common = moment.common_components(1, false)?;
/// assert!(common.vectors().iter().next().is_some_and(|u| u[0] > 0.999));
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SecondMoment {
    dim: usize,
    /// `None` while there are no more vectors than dimensions.
    sum: Option<Array2<f64>>,
    /// Vectors that are not yet in the sum.
    held: Vec<f64>,
    n_vectors: usize,
}

impl SecondMoment {
    /// Creates an empty sum for vectors of dimension `dim`.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if dim × dim values do not fit in memory.
    pub fn new(dim: usize) -> Result<Self> {
        reserve(&mut Vec::new(), dim, dim)?;
        Ok(Self { dim, sum: None, held: Vec::new(), n_vectors: 0 })
    }

    /// Adds a vector.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the vector has a different length; [`senv_core::Error::InvalidParameter`]
    /// if it has a NaN or infinite value; [`senv_core::Error::TooLarge`] as in [`SecondMoment::new`].
    pub fn add<F: Float>(&mut self, vector: &[F]) -> Result<()> {
        let dim = self.dim;
        if vector.len() != dim {
            return Err(Core::ShapeMismatch { what: "a sentence vector", expected: dim, got: vector.len() }.into());
        }
        if vector.iter().any(|x| !x.is_finite()) {
            return Err(Core::InvalidParameter {
                name: "each sentence vector",
                requirement: "of finite numbers",
                got: format!("NaN or an infinite number in vector {} (counted from 0)", self.n_vectors),
            }
            .into());
        }
        reserve(&mut self.held, 1, dim)?;
        self.held.extend(vector.iter().map(|x| x.wide()));
        self.n_vectors += 1;
        if self.n_vectors > dim && self.held.len() >= BLOCK * dim { self.add_held(BLOCK) } else { Ok(()) }
    }

    /// The number of vectors added so far.
    #[must_use]
    pub fn n_vectors(&self) -> usize {
        self.n_vectors
    }

    /// The components, as in [`CommonComponents::fit`].
    ///
    /// # Errors
    /// The errors of [`CommonComponents::fit`].
    pub fn common_components(self, n_components: usize, scaled: bool) -> Result<CommonComponents> {
        let dim = self.dim;
        Self::components(dim, &self.leading(n_components)?, scaled)
    }

    /// Like [`SecondMoment::common_components`], but keeps only as many components as leave a remainder of the vectors.
    /// If the first leaves none, there are no components: the rest of the vectors would be rounding error, and its
    /// cosines meaningless.
    ///
    /// # Errors
    /// The errors of [`CommonComponents::fit`].
    pub fn removable_components(self, n_components: usize, scaled: bool) -> Result<CommonComponents> {
        let of_sum = self.sum.as_ref().map_or(0.0, |sum| sum.diag().sum());
        let (dim, all) = (self.dim, of_sum + self.held.iter().map(|x| x * x).sum::<f64>());
        let mut pairs = self.leading(n_components)?;
        while !pairs.is_empty() && remainder(&pairs, scaled, all) <= ROUNDING * all {
            pairs.pop();
        }
        Self::components(dim, &pairs, scaled)
    }

    fn components(dim: usize, pairs: &[Eigenpair], scaled: bool) -> Result<CommonComponents> {
        let lambdas = shares(pairs, scaled).into_iter().map(|lambda| lambda as f32).collect();
        let values = pairs.iter().flat_map(|(_, u)| u.iter().map(|&x| x as f32)).collect();
        Ok(CommonComponents { vectors: Table::from_vec(pairs.len(), dim, values)?, lambdas })
    }

    /// The first pairs of σ² and u with an eigenvalue above rounding error.
    fn leading(mut self, n_components: usize) -> Result<Vec<Eigenpair>> {
        if self.n_vectors == 0 {
            let (name, requirement) = ("the number of sentence vectors", "at least 1");
            return Err(Core::InvalidParameter { name, requirement, got: "0".into() }.into());
        }
        let dim = self.dim;
        let n_pairs = n_components.min(dim).min(self.n_vectors);
        let pairs = if self.n_vectors <= dim {
            self.leading_of_products(n_pairs)?
        } else {
            self.add_held(1)?;
            leading_if_finite(self.sum.unwrap_or_default(), n_pairs)
        };
        let Some(mut pairs) = pairs else {
            let (name, requirement) = ("the length of the sentence vectors", "small enough for finite sums of squares");
            return Err(Core::InvalidParameter { name, requirement, got: "an overflow".into() }.into());
        };
        // An eigenvalue below this is rounding error: the vectors span fewer dimensions than requested.
        let floor = pairs.first().map_or(0.0, |(largest, _)| largest * dim as f64 * f64::EPSILON);
        pairs.retain(|(value, _)| *value > floor);
        Ok(pairs)
    }

    /// The same from G, with the vectors that are kept; `None` if a sum overflows.
    fn leading_of_products(&self, n_pairs: usize) -> Result<Option<Vec<Eigenpair>>> {
        let n = self.n_vectors;
        let vectors = self.view(n)?;
        let mut products = zeros(n, n)?;
        matmul_into(1.0, vectors, vectors.t(), 0.0, products.view_mut())?;
        let pairs = leading_if_finite(products, n_pairs);
        let direction = |(value, w): Eigenpair| {
            let mut u = ArrayView1::from(&w).dot(&vectors).to_vec();
            let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
            let scale = if norm > 0.0 { norm.copysign(peak(&u)) } else { 1.0 };
            u.iter_mut().for_each(|x| *x /= scale);
            (value, u)
        };
        Ok(pairs.map(|pairs| pairs.into_iter().map(direction).collect()))
    }

    /// Adds the kept vectors to the sum, as one product per block; a last block of fewer than `least` vectors is kept.
    fn add_held(&mut self, least: usize) -> Result<()> {
        let dim = self.dim;
        let mut sum = match self.sum.take() {
            Some(sum) => sum,
            None => zeros(dim, dim)?,
        };
        let n = self.held.len() / dim.max(1);
        let mut done = 0;
        while n - done >= least.max(1) {
            let block = BLOCK.min(n - done);
            let vectors = self.view(n)?;
            let vectors = vectors.slice(s![done..done + block, ..]);
            matmul_into(1.0, vectors.t(), vectors, 1.0, sum.view_mut())?;
            done += block;
        }
        self.held.drain(..done * dim);
        self.sum = Some(sum);
        Ok(())
    }

    /// The kept vectors, one per row.
    fn view(&self, n: usize) -> Result<ArrayView2<'_, f64>> {
        let too_large = |_| Core::TooLarge { rows: n, dim: self.dim };
        Ok(ArrayView2::from_shape((n, self.dim), &self.held).map_err(too_large)?)
    }
}

/// The leading eigenpairs of a symmetric matrix; `None` if it has an infinite value.
fn leading_if_finite(matrix: Array2<f64>, n_pairs: usize) -> Option<Vec<Eigenpair>> {
    let dim = matrix.ncols();
    // It is row-major from the start.
    let (values, _) = matrix.into_raw_vec_and_offset();
    values.iter().all(|x| x.is_finite()).then(|| leading_eigenpairs(values, dim, n_pairs)).flatten()
}

/// Σ |v|² of the vectors without these components; `all` is the sum with them.
fn remainder(pairs: &[Eigenpair], scaled: bool, all: f64) -> f64 {
    let taken: f64 = pairs.iter().map(|pair| pair.0).sum();
    let left: f64 = pairs.iter().zip(shares(pairs, scaled)).map(|(pair, share)| pair.0 * (1.0 - share).powi(2)).sum();
    (all - taken).max(0.0) + left
}

/// λ of each component.
fn shares(pairs: &[Eigenpair], scaled: bool) -> Vec<f64> {
    let sum: f64 = pairs.iter().map(|pair| pair.0).sum();
    pairs.iter().map(|pair| if scaled { pair.0 / sum } else { 1.0 }).collect()
}

fn zeros(rows: usize, dim: usize) -> Result<Array2<f64>> {
    let mut values = Vec::new();
    reserve(&mut values, rows, dim)?;
    values.resize(rows * dim, 0.0);
    Ok(Array2::from_shape_vec((rows, dim), values).map_err(|_| Core::TooLarge { rows, dim })?)
}

/// Reserves capacity for further rows.
fn reserve(values: &mut Vec<f64>, rows: usize, dim: usize) -> Result<()> {
    let too_large = || Core::TooLarge { rows, dim };
    let n = rows.checked_mul(dim).ok_or_else(too_large)?;
    Ok(values.try_reserve(n).map_err(|_| too_large())?)
}

#[cfg(test)]
#[path = "common_components_tests.rs"]
mod tests;
