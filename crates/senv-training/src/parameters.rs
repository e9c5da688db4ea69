//! The dense parameters of an encoder or a head: named tensors in a fixed order.

use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use senv_base::{Error, Result, memory::check_memory};
use senv_kernels::Float;

/// A named tensor, row-major.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "F: Float", try_from = "Stored<F>")]
pub struct Tensor<F> {
    name: String,
    shape: [usize; 2],
    values: Vec<F>,
}

/// A tensor as stored, before its length is checked.
#[derive(Deserialize)]
#[serde(bound = "F: Float")]
struct Stored<F> {
    name: String,
    shape: [usize; 2],
    values: Vec<F>,
}

impl<F> TryFrom<Stored<F>> for Tensor<F> {
    type Error = String;

    fn try_from(Stored { name, shape, values }: Stored<F>) -> Result<Self, String> {
        let [rows, columns] = shape;
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(format!("tensor {name:?} of {rows} rows of {columns} has {} values", values.len()));
        }
        Ok(Self { name, shape, values })
    }
}

impl<F: Float> Tensor<F> {
    /// The name, unique in its [`Parameters`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The numbers of rows and columns; a vector is one row.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// The values, row by row.
    #[must_use]
    pub fn values(&self) -> &[F] {
        &self.values
    }

    /// The values, mutable.
    pub fn values_mut(&mut self) -> &mut [F] {
        &mut self.values
    }

    /// The values as a matrix.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, F> {
        // The length is checked when a tensor is created, and never changes.
        ArrayView2::from_shape(self.shape, &self.values).unwrap_or_else(|_| unreachable!("as long as its shape"))
    }

    /// The values as a mutable matrix.
    pub fn view_mut(&mut self) -> ArrayViewMut2<'_, F> {
        ArrayViewMut2::from_shape(self.shape, &mut self.values).unwrap_or_else(|_| unreachable!("as long as its shape"))
    }
}

/// Named tensors in a fixed order: the trained parameters of an encoder or a head, a gradient with the same shapes, or
/// a moment of an optimizer. Encoders refer to tensors by position, files by name.
///
/// ```
/// use senv_core::arrays::Parameters;
/// let mut parameters = Parameters::<f32>::new();
/// let filter = parameters.push("filter", [2, 3], vec![0.5; 6])?;
/// parameters.push("bias", [1, 2], vec![0.0; 2])?;
/// assert_eq!(parameters[filter].view()[(1, 2)], 0.5);
/// assert_eq!(parameters.zeros_like().n_values(), 8);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "F: Float")]
pub struct Parameters<F> {
    tensors: Vec<Tensor<F>>,
}

impl<F: Float> Parameters<F> {
    /// Creates an empty list of tensors.
    #[must_use]
    pub fn new() -> Self {
        Self { tensors: Vec::new() }
    }

    /// Appends a tensor of `shape` rows and columns and returns its position.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the number of values does not fit the shape; [`Error::InvalidParameter`] if the name
    /// is taken.
    pub fn push(&mut self, name: impl Into<String>, shape: [usize; 2], values: Vec<F>) -> Result<usize> {
        let name = name.into();
        let expected = shape[0].checked_mul(shape[1]).ok_or(Error::TooLarge { rows: shape[0], dim: shape[1] })?;
        if values.len() != expected {
            return Err(Error::ShapeMismatch { what: "values of a tensor", expected, got: values.len() });
        }
        if self.place(&name).is_some() {
            return Err(Error::InvalidParameter { name: "tensor", requirement: "an unused name", got: name });
        }
        self.tensors.push(Tensor { name, shape, values });
        Ok(self.tensors.len() - 1)
    }

    /// Appends a tensor of zeros and returns its position.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the tensor does not fit in memory; [`Error::InvalidParameter`] if the name is taken.
    pub fn push_zeros(&mut self, name: impl Into<String>, shape: [usize; 2]) -> Result<usize> {
        let n = check_memory::<F>(shape[0], shape[1])?;
        self.push(name, shape, vec![F::zero(); n])
    }

    /// The position of the tensor with this name.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        self.tensors.iter().position(|tensor| tensor.name == name)
    }

    /// The number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The number of values in all tensors.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.values.len()).sum()
    }

    /// Iterates over the tensors in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Tensor<F>> {
        self.tensors.iter()
    }

    /// Iterates over the tensors in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Tensor<F>> {
        self.tensors.iter_mut()
    }

    /// Zeros with the same names and shapes: a gradient before it is computed.
    #[must_use]
    pub fn zeros_like(&self) -> Self {
        let zeros = |tensor: &Tensor<F>| Tensor {
            name: tensor.name.clone(),
            shape: tensor.shape,
            values: vec![F::zero(); tensor.values.len()],
        };
        Self { tensors: self.tensors.iter().map(zeros).collect() }
    }

    /// Like [`zeros_like`](Self::zeros_like), but returns an error if memory runs out.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if they do not fit in memory.
    pub fn try_zeros_like(&self) -> Result<Self> {
        self.tensors.iter().try_fold(Self::new(), |mut all, tensor| {
            all.push_zeros(tensor.name.clone(), tensor.shape)?;
            Ok(all)
        })
    }

    /// Sets every value.
    pub fn fill(&mut self, value: F) {
        self.tensors.iter_mut().for_each(|tensor| tensor.values.fill(value));
    }

    /// Converts the values to another precision.
    #[must_use]
    pub fn cast<G: Float>(&self) -> Parameters<G> {
        let cast = |tensor: &Tensor<F>| Tensor {
            name: tensor.name.clone(),
            shape: tensor.shape,
            values: tensor.values.iter().map(|x| G::of(x.wide())).collect(),
        };
        Parameters { tensors: self.tensors.iter().map(cast).collect() }
    }

    /// Checks that names and shapes match `expected`, for parameters from a file.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] or [`Error::InvalidParameter`], naming the first difference.
    pub fn expect_form_of<G: Float>(&self, expected: &Parameters<G>) -> Result<()> {
        let (n, got) = (expected.len(), self.len());
        if n != got {
            return Err(Error::ShapeMismatch { what: "tensors", expected: n, got });
        }
        for (want, have) in expected.iter().zip(self.iter()) {
            if want.name != have.name {
                let got = format!("{} instead of {}", have.name, want.name);
                return Err(Error::InvalidParameter { name: "tensor", requirement: "the expected name", got });
            }
            for (expected, got) in want.shape.into_iter().zip(have.shape) {
                if expected != got {
                    return Err(Error::ShapeMismatch { what: "side of a tensor", expected, got });
                }
            }
        }
        Ok(())
    }
}

impl<F> std::ops::Index<usize> for Parameters<F> {
    type Output = Tensor<F>;

    fn index(&self, place: usize) -> &Tensor<F> {
        &self.tensors[place]
    }
}

impl<F> std::ops::IndexMut<usize> for Parameters<F> {
    fn index_mut(&mut self, place: usize) -> &mut Tensor<F> {
        &mut self.tensors[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_shapes_kept() {
        let mut p = Parameters::<f64>::new();
        assert_eq!(p.push("w", [2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap(), 0);
        assert!(p.push("w", [1, 1], vec![0.0]).is_err());
        assert!(p.push("b", [1, 2], vec![0.0]).is_err());
        assert!(p.push("b", [usize::MAX, 2], vec![]).is_err());
        assert_eq!(p.push("b", [1, 2], vec![5.0, 6.0]).unwrap(), 1);
        p[0].view_mut()[(1, 0)] = 9.0;
        assert_eq!(p[0].values(), [1.0, 2.0, 9.0, 4.0]);
        let mut narrow = p.cast::<f32>();
        assert_eq!(narrow[1].values(), [5.0f32, 6.0]);
        narrow.fill(0.0);
        assert_eq!(narrow, p.zeros_like().cast());
        assert!(narrow.expect_form_of(&p).is_ok());
        let mut other = Parameters::<f32>::new();
        assert!(other.expect_form_of(&p).is_err());
        other.push("w", [1, 4], vec![0.0; 4]).unwrap();
        other.push("b", [1, 2], vec![0.0; 2]).unwrap();
        assert!(matches!(other.expect_form_of(&p), Err(Error::ShapeMismatch { expected: 2, got: 1, .. })));
        let mut other = Parameters::<f32>::new();
        other.push("v", [2, 2], vec![0.0; 4]).unwrap();
        other.push("b", [1, 2], vec![0.0; 2]).unwrap();
        assert!(matches!(other.expect_form_of(&p), Err(Error::InvalidParameter { .. })));
    }
}
