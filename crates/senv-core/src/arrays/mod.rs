//! Arrays: the table of rows, kernels and matrix products, tensors and how they start.

#[cfg(feature = "train")]
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
