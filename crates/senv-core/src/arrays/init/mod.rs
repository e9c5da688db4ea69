//! Initialization of parameters: random numbers in arrays and tables, orthogonal matrices, vectors of words by a hash.

#[cfg(feature = "train")]
mod factors;
#[cfg(all(feature = "train", any(test, not(feature = "ndarray-linalg"))))]
mod householder;
#[cfg(feature = "ndarray-linalg")]
mod lapack;
#[cfg(feature = "train")]
mod orthogonal;
#[cfg(feature = "train")]
mod random;
mod signs;

#[cfg(feature = "train")]
use factors::Factors;
#[cfg(all(feature = "train", not(feature = "ndarray-linalg")))]
pub(crate) use householder::factorize;
#[cfg(feature = "ndarray-linalg")]
pub(crate) use lapack::factorize;
#[cfg(feature = "train")]
pub use orthogonal::orthogonal;
#[cfg(feature = "train")]
pub use random::{glorot_uniform, normal, uniform, uniform_rows};
pub use signs::add_signs;
