//! Initialization of parameters: random numbers in arrays and tables, orthogonal matrices, word vectors from a hash.

mod factors;
#[cfg(any(test, not(feature = "ndarray-linalg")))]
mod householder;
#[cfg(feature = "ndarray-linalg")]
mod lapack;
mod orthogonal;
mod random;

use factors::Factors;
#[cfg(not(feature = "ndarray-linalg"))]
pub(crate) use householder::factorize;
#[cfg(feature = "ndarray-linalg")]
pub(crate) use lapack::factorize;
pub use orthogonal::orthogonal;
pub use random::{glorot_uniform, normal, uniform, uniform_rows};
