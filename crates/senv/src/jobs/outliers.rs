//! Sentences that are unlike all others.

use senv_core::SentenceEncoder;
use senv_index::for_nearest_others;

use super::distinct::Distinct;
use crate::error::Result;

/// How much each sentence is like others: the mean of its cosines with the `k` nearest other sentences, in `[-1, 1]`.
/// Outliers are those of the lowest.
///
/// Equal sentences count as one. A sentence without a known word has no vector and gets 0, as does one that has no
/// other beside it. Up to some thousand sentences all are compared, and so are unknown words alone, whose vectors are
/// signs; of more, 99 in 100 of the nearest are found ([`for_nearest_others`]). Takes `4.6 dim` bytes, and some 100
/// more, for each distinct sentence. `progress` is called with the number of distinct sentences that were looked up,
/// and of all of them.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "The bus is late.", "A train arrives.", "Basil needs sun and water."];
/// let likeness = senv::jobs::outliers(&english, &sentences, 2, |_, _| {})?;
/// assert!(likeness[3] < likeness[0] && likeness[3] < likeness[1]);
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// [`senv_index::Error::NonFinite`] if the encoder gives a vector that is not finite; [`senv_core::Error::TooLarge`] if
/// the vectors do not fit into memory.
pub fn outliers<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    k: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<f32>> {
    let distinct = Distinct::of(sentences);
    let vectors = distinct.encode(encoder, sentences)?;
    let n = vectors.n_rows();
    let mut means = Vec::with_capacity(n);
    for_nearest_others(vectors, k, |_, near| {
        // From 0 and not from -0, as an empty sum begins.
        means.push(near.iter().fold(0.0, |sum, near| sum + near.cosine) / near.len().max(1) as f32);
        progress(means.len(), n);
        Ok(())
    })?;
    Ok(distinct.rows.iter().map(|&row| means[row as usize]).collect())
}
