//! The pairs of sentences to compare.

use rand::RngExt;
use senv_core::rng::stream;

use super::{text::CheckText, tf_idf_vectors::Pair};

/// The number of random pairs, for which the mean cosine has a standard error below 0.01.
const N_RANDOM: usize = 20_000;

/// Returns independently drawn pairs of random sentences, except neighbors and equal sentences.
pub(super) fn random(text: &CheckText, usable: &[usize], seed: u64) -> Vec<Pair> {
    if usable.len() < 2 {
        return Vec::new();
    }
    let mut rng = stream(seed, "check pairs", &[]);
    let mut any = || usable[rng.random_range(0..usable.len())];
    let pairs = (0..N_RANDOM).map(|_| [any(), any()]);
    pairs.filter(|&[i, j]| i.abs_diff(j) > 1 && text.sentences[i] != text.sentences[j]).collect()
}

/// Returns every sentence with the next of its document, except equal ones.
pub(super) fn neighbours(text: &CheckText, usable: &[usize]) -> Vec<Pair> {
    let follow = usable.windows(2).filter(|pair| pair[0] + 1 == pair[1] && text.goes_on[pair[0]]);
    follow.map(|pair| [pair[0], pair[1]]).filter(|&[i, j]| text.sentences[i] != text.sentences[j]).collect()
}
