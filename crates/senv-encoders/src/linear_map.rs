//! A linear map of sentence vectors into another space.
//!
//! Equation: `linear-map`

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, compiled_here, matmul, matmul_into},
    init,
    rng::Stream,
};

use crate::encoder::check_size;

/// A linear map between vectors, with or without a constant. Its tensors are consecutive tensors of a [`Parameters`].
///
/// | name | shape |
/// | --- | --- |
/// | `{name}.w` | `(output, input)` |
/// | `{name}.b` | `(1, output)`; only with a constant |
///
/// ```text
/// (F1)  y_i = W x_i + b            x: shape (n, input), y: (n, output), W: (output, input), b: (output,)
/// (B1)  ∂L/∂x = ∂L/∂y W            ∂L/∂W += (∂L/∂y)ᵀ x            ∂L/∂b += Σ_i ∂L/∂y_i
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::arrays::Parameters;
/// use senv_encoders::LinearMap;
/// let map = LinearMap { input: 2, output: 3, constant: true };
/// let mut parameters = Parameters::<f64>::new();
/// parameters.push("map.w", [3, 2], vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
/// parameters.push("map.b", [1, 3], vec![0.0, 0.0, 10.0])?;
/// assert_eq!(map.forward(&parameters, 0, array![[2.0, 3.0]].view())?, array![[2.0, 3.0, 15.0]]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearMap {
    /// The dimension of the input, above 0.
    pub input: usize,
    /// The dimension of the result, above 0.
    pub output: usize,
    /// Whether a constant b is added.
    pub constant: bool,
}

impl LinearMap {
    /// The number of its tensors.
    #[must_use]
    pub fn n_tensors(&self) -> usize {
        1 + usize::from(self.constant)
    }

    /// The number of its values, as a float to avoid overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        (self.input as f64 + f64::from(u8::from(self.constant))) * self.output as f64
    }

    /// Appends its initial tensors: an orthogonal W if it is square, otherwise N(0, 0.01²); b = 0.
    ///
    /// # Errors
    /// The errors of [`push_zeros`](Self::push_zeros).
    pub fn push<F: Float>(&self, name: &str, rng: &mut Stream, parameters: &mut Parameters<F>) -> Result<()> {
        let Self { input, output, .. } = *self;
        let place = self.push_zeros(name, parameters)?;
        let values = parameters[place].values_mut();
        if input == output { init::orthogonal(rng, values, output, input) } else { init::normal(rng, values, 0.01) }
    }

    /// Appends its tensors, filled with zeros, and returns the index of the first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a dimension is 0; [`Error::TooLarge`] if memory is insufficient.
    pub fn push_zeros<F: Float>(&self, name: &str, parameters: &mut Parameters<F>) -> Result<usize> {
        let Self { input, output, constant } = *self;
        if input == 0 || output == 0 {
            let got = format!("{input} to {output}");
            return Err(Error::InvalidParameter { name: "dimensions of a map", requirement: "above 0", got });
        }
        let place = parameters.push_zeros(format!("{name}.w"), [output, input])?;
        if constant {
            parameters.push_zeros(format!("{name}.b"), [1, output])?;
        }
        Ok(place)
    }

    /// Returns an error unless tensor `first` and, with a constant, the next have its shapes.
    fn check<F: Float>(&self, parameters: &Parameters<F>, first: usize) -> Result<()> {
        check_size("tensors of a map", first + self.n_tensors(), parameters.len().min(first + self.n_tensors()))?;
        check_size("rows of matrix of a map", self.output, parameters[first].shape()[0])?;
        check_size("columns of matrix of a map", self.input, parameters[first].shape()[1])?;
        if self.constant {
            check_size("constant of a map", self.output, parameters[first + 1].values().len())?;
        }
        Ok(())
    }

    /// Maps vectors, to shape `(n, output)`; the tensors are `first` and, with a constant, the next.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if vectors or tensors do not match; [`Error::TooLarge`] if memory is insufficient.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        x: ArrayView2<'_, F>,
    ) -> Result<Array2<F>> {
        compiled_here!(self, |this: &'a LinearMap,
                              parameters: &'a Parameters<F>,
                              first: usize,
                              x: ArrayView2<'a, F>|
         -> Result<Array2<F>> {
            this.check(parameters, first)?;
            check_size("columns of vectors of a map", this.input, x.ncols())?;
            let mut y = matmul(x, parameters[first].view().t())?; // (F1)
            if this.constant {
                let constant = parameters[first + 1].values();
                y.rows_mut().into_iter().filter_map(|row| row.into_slice()).for_each(|row| F::add_to(constant, row));
            }
            Ok(y)
        })
    }

    /// The gradient with respect to `x`, given `d_y`; adds those of the tensors to `d_parameters`.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    pub fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        x: ArrayView2<'_, F>,
        d_y: ArrayView2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<Array2<F>> {
        compiled_here!(self, |this: &'a LinearMap,
                              parameters: &'a Parameters<F>,
                              first: usize,
                              x: ArrayView2<'a, F>,
                              d_y: ArrayView2<'a, F>,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<Array2<F>> {
            this.check(parameters, first)?;
            this.check(d_parameters, first)?;
            check_size("columns of vectors of a map", this.input, x.ncols())?;
            check_size("rows of gradient of a map", x.nrows(), d_y.nrows())?;
            check_size("columns of gradient of a map", this.output, d_y.ncols())?;
            matmul_into(F::one(), d_y.t(), x, F::one(), d_parameters[first].view_mut())?; // (B1)
            if this.constant {
                let d_constant = d_parameters[first + 1].values_mut();
                d_y.rows().into_iter().for_each(|row| d_constant.iter_mut().zip(row).for_each(|(to, &d)| *to += d));
            }
            matmul(d_y, parameters[first].view()) // (B1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::matrix_of;
    use ndarray::ArrayView2;
    use senv_core::{gradcheck::max_relative_error, rng::stream};

    /// A map after another tensor, with a constant other than 0.
    fn parameters(map: LinearMap) -> Parameters<f64> {
        let mut parameters = Parameters::new();
        parameters.push("before", [1, 1], vec![7.0]).unwrap();
        map.push("map", &mut stream(1, "map", &[]), &mut parameters).unwrap();
        for place in 1..parameters.len() {
            for (i, x) in parameters[place].values_mut().iter_mut().enumerate() {
                *x += 0.3 * (i as f64 + place as f64).sin();
            }
        }
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        for map in [
            LinearMap { input: 3, output: 4, constant: true },
            LinearMap { input: 4, output: 4, constant: true },
            LinearMap { input: 4, output: 2, constant: false },
        ] {
            let (p, x) = (parameters(map), matrix_of::<f64>(5, map.input, 1));
            let d_y = matrix_of::<f64>(5, map.output, 2);
            let f = |p: &Parameters<f64>, x: ArrayView2<'_, f64>| (map.forward(p, 1, x).unwrap() * &d_y).sum();
            let mut d_p = p.zeros_like();
            let d_x = map.backward(&p, 1, x.view(), d_y.view(), &mut d_p).unwrap();
            let of_x = |values: &[f64]| f(&p, ArrayView2::from_shape(x.raw_dim(), values).unwrap());
            assert!(max_relative_error(of_x, x.as_slice().unwrap(), d_x.as_slice().unwrap()) < 1e-7);
            assert_eq!(d_p[0].values(), [0.0]);
            for place in 1..p.len() {
                let of_tensor = |values: &[f64]| {
                    let mut p = p.clone();
                    p[place].values_mut().copy_from_slice(values);
                    f(&p, x.view())
                };
                assert!(max_relative_error(of_tensor, p[place].values(), d_p[place].values()) < 1e-7, "{map:?}");
                let flipped: Vec<f64> = d_p[place].values().iter().map(|d| -d).collect();
                assert!(max_relative_error(of_tensor, p[place].values(), &flipped) > 1.9, "a flipped sign");
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits_and_gradients_are_added() {
        let map = LinearMap { input: 70, output: 90, constant: true };
        let p = parameters(map).cast::<f32>();
        let (x, d_y) = (matrix_of::<f32>(300, 70, 1), matrix_of::<f32>(300, 90, 2));
        let at = |threads, times| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut d_p = p.zeros_like();
                let mut d_x = Array2::zeros((0, 0));
                for _ in 0..times {
                    d_x = map.backward(&p, 1, x.view(), d_y.view(), &mut d_p).unwrap();
                }
                (map.forward(&p, 1, x.view()).unwrap(), d_x, d_p)
            })
        };
        let one = at(1, 1);
        assert!(one == at(2, 1) && one == at(5, 1));
        let twice = at(2, 2).2;
        let halves = |place: usize| one.2[place].values().iter().zip(twice[place].values());
        assert!((1..3).all(|place| halves(place).all(|(a, b)| (2.0 * a - b).abs() <= 1e-3 * (1.0 + b.abs()))));
    }

    #[test]
    fn a_square_map_begins_orthogonal_and_any_other_near_0() {
        let begun = |input, output| {
            let map = LinearMap { input, output, constant: true };
            let mut parameters = Parameters::<f64>::new();
            map.push("map", &mut stream(1, "map", &[]), &mut parameters).unwrap();
            assert_eq!(map.n_tensors(), parameters.len());
            assert_eq!(map.n_values(), parameters.iter().map(|tensor| tensor.values().len()).sum::<usize>() as f64);
            assert!(parameters[1].values().iter().all(|&b| b == 0.0));
            parameters
        };
        let square = begun(30, 30);
        let gram = square[0].view().dot(&square[0].view().t());
        assert!((&gram - &Array2::<f64>::eye(30)).iter().all(|x| x.abs() < 1e-12));
        let wide = begun(60, 40);
        let values = wide[0].values();
        let deviation = (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt();
        // With 2,400 values, it is within 1/√4,800 of itself, times four.
        assert!((deviation / 0.01 - 1.0).abs() < 0.06, "{deviation}");
        let plain = LinearMap { input: 3, output: 4, constant: false };
        assert_eq!((plain.n_tensors(), plain.n_values()), (1, 12.0));
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let map = LinearMap { input: 2, output: 3, constant: true };
        let p = parameters(map);
        let x = matrix_of::<f64>(4, 2, 1);
        assert!(map.forward(&p, 1, x.view()).is_ok());
        for first in [0, 2, 3, 4] {
            let result = map.forward(&p, first, x.view());
            assert!(matches!(result, Err(Error::ShapeMismatch { .. })), "{first}");
        }
        assert!(map.forward(&p, 1, matrix_of::<f64>(4, 3, 1).view()).is_err());
        let backward = |rows, columns| {
            map.backward(&p, 1, x.view(), matrix_of::<f64>(rows, columns, 1).view(), &mut p.zeros_like()).map(drop)
        };
        assert!(backward(4, 3).is_ok() && backward(3, 3).is_err() && backward(4, 2).is_err());
        let none = LinearMap { input: 0, output: 3, constant: false };
        assert!(none.push("map", &mut stream(1, "map", &[]), &mut Parameters::<f64>::new()).is_err());
    }
}
