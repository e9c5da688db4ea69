//! Samples of sentences that represent a text.

use rand::Rng;
use senv_core::{SentenceEncoder, rng::stream};
use senv_index::diverse_rows;

use super::distinct::Distinct;
use crate::error::Result;

/// The positions of `n` sentences that are unlike each other, in the order of selection.
///
/// `typical`, from 0 to 1, sets how similar each is to the text as a whole. At 0, each next sentence is the farthest
/// from those already chosen ([`senv_index::diverse_rows`] has the equation). Equal sentences count as one, and
/// sentences without a known word are not chosen. `progress` is called with the number of chosen sentences, and `n`.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "The train is late!", "Basil needs sun.", "The late train."];
/// let chosen = senv::jobs::diverse_sample(&english, &sentences, 2, 0.2, |_, _| {})?;
/// assert!(chosen.contains(&2));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`outliers`](crate::jobs::outliers); [`senv_core::Error::InvalidParameter`] if `typical` is outside
/// `[0, 1]`.
pub fn diverse_sample<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    n: usize,
    typical: f32,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<usize>> {
    let distinct = Distinct::of(sentences);
    let vectors = distinct.encode(encoder, sentences)?;
    let rows = diverse_rows(&vectors, n, typical, |done| progress(done, n))?;
    Ok(rows.into_iter().map(|row| distinct.firsts[row]).collect())
}

/// The positions of `n` distinct sentences chosen at random, ascending; the first of equal sentences represents all.
///
/// ```
/// let chosen = senv::jobs::random_sample(&["a", "b", "a", "c"], 2, 1);
/// assert_eq!(chosen.len(), 2);
/// assert_eq!(senv::jobs::random_sample(&["a", "b", "a", "c"], 9, 1), [0, 1, 3]);
/// ```
#[must_use]
pub fn random_sample(sentences: &[impl AsRef<str>], n: usize, seed: u64) -> Vec<usize> {
    let mut firsts = Distinct::of(sentences).firsts;
    let mut stream = stream(seed, "sample", &[]);
    let n = n.min(firsts.len());
    for i in 0..n {
        let left = (firsts.len() - i) as u64;
        firsts.swap(i, i + ((u128::from(stream.next_u64()) * u128::from(left)) >> 64) as usize);
    }
    firsts.truncate(n);
    firsts.sort_unstable();
    firsts
}
