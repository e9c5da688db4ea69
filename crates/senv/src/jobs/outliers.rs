//! Finds sentences that are unlike all others.

use senv_core::SentenceEncoder;
use senv_index::for_nearest_others;

use super::distinct::Distinct;
use crate::error::Result;

/// The typicality of each sentence: the mean of its cosines with the `k` nearest other sentences, in `[-1, 1]`.
/// Outliers have the lowest values.
///
/// Equal sentences count as one. A sentence gets 0 if it has no known word, and therefore no vector, or if there is no
/// other sentence. Up to 5,000 distinct sentences ([`COMPARED_UP_TO`](senv_index::COMPARED_UP_TO)), all are compared,
/// as are sentences of unknown words only, whose vectors are random signs. Above that, 99 in 100 of the nearest are
/// found ([`for_nearest_others`]). Memory is `4.6 dim` bytes plus about 100 for each distinct sentence. `progress` is
/// called with the number of distinct sentences looked up, and their total.
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
/// the vectors do not fit in memory.
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
        // Starts at 0, because an empty `sum()` is -0.
        means.push(near.iter().fold(0.0, |sum, near| sum + near.cosine) / near.len().max(1) as f32);
        progress(means.len(), n);
        Ok(())
    })?;
    Ok(distinct.rows.iter().map(|&row| means[row as usize]).collect())
}
