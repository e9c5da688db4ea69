//! Tests of the workspace as a whole.

mod columns;
mod equation_index;
mod errors;
mod imports;
mod manifests;
mod packages;
mod pages;
mod workspace;
