//! [`InfoNce::prefixes`](super::InfoNce::prefixes) as a hyperparameter: a list of dimensions with equal weights.

use senv_core::{
    Result,
    hyperparameters::{Hyperparameter, Section, set_value},
};

use super::Prefix;

const DOC: &[&str] = &[
    "Dimensions to which vectors can be truncated; the loss is the mean over the truncated vectors",
    "(softmax-cosine).",
];

pub(super) fn hyperparameters(prefixes: &[Prefix]) -> Vec<Hyperparameter> {
    let dims: Vec<usize> = prefixes.iter().map(|prefix| prefix.dim).collect();
    vec![Hyperparameter::of("nested", DOC, Section::Training, None, &dims)]
}

pub(super) fn set(prefixes: &mut Vec<Prefix>, name: &str, text: &str) -> Result<bool> {
    if name != "nested" {
        return Ok(false);
    }
    let mut dims: Vec<usize> = Vec::new();
    set_value(&mut dims, name, text)?;
    *prefixes = dims.into_iter().map(|dim| Prefix { dim, weight: 1.0 }).collect();
    Ok(true)
}

/// The loss checks prefixes against the dimension of its vectors.
pub(super) fn check_ranges(_: &[Prefix]) -> Result<()> {
    Ok(())
}
