//! Which pairs of sentences are compared.

use rand::RngExt;
use senv_core::rng::stream;

use super::{text::CheckText, tf_idf_vectors::Pair};

/// Random pairs that are drawn: the mean of their cosines then has a standard error below .01.
const N_RANDOM: usize = 20_000;

/// Pairs of random sentences, drawn anew each time; neighbours and equal sentences are left out.
pub(super) fn random(text: &CheckText, usable: &[usize], seed: u64) -> Vec<Pair> {
    if usable.len() < 2 {
        return Vec::new();
    }
    let mut rng = stream(seed, "check pairs", &[]);
    let mut any = || usable[rng.random_range(0..usable.len())];
    let pairs = (0..N_RANDOM).map(|_| [any(), any()]);
    pairs.filter(|&[i, j]| i.abs_diff(j) > 1 && text.sentences[i] != text.sentences[j]).collect()
}

/// Every sentence and the next of its document; equal ones are left out.
pub(super) fn neighbours(text: &CheckText, usable: &[usize]) -> Vec<Pair> {
    let follow = usable.windows(2).filter(|pair| pair[0] + 1 == pair[1] && text.goes_on[pair[0]]);
    follow.map(|pair| [pair[0], pair[1]]).filter(|&[i, j]| text.sentences[i] != text.sentences[j]).collect()
}
