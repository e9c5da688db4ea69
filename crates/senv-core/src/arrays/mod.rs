//! Arrays: the table of rows, kernels and matrix products, tensors and how they start.

mod compiled_here;
pub(crate) mod float;
#[cfg(feature = "train")]
pub mod gradcheck;
pub mod init;
pub mod kernels;
#[cfg(feature = "train")]
pub(crate) mod least_squares;
pub mod math;
#[cfg(feature = "train")]
pub(crate) mod matmul;
#[cfg(feature = "train")]
pub(crate) mod parameters;
pub(crate) mod table;
#[cfg(feature = "train")]
pub(crate) mod token_batch;

pub use crate::compiled_here;
pub use float::{Float, Work};
#[cfg(feature = "train")]
pub use least_squares::{LinearMap, least_squares};
#[cfg(feature = "train")]
pub use matmul::{matmul, matmul_into};
#[cfg(feature = "train")]
pub use parameters::{Parameters, Tensor};
#[cfg(feature = "train")]
pub use token_batch::{Occurrence, TokenBatch};
