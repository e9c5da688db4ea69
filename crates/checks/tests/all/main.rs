//! Tests of the workspace as a whole.

mod equation_index;
mod errors;
mod imports;
mod manifests;
mod workspace;
