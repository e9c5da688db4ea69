//! Sentences that say what an earlier one says.

use senv_core::SentenceEncoder;
use senv_index::Duplicate;

use super::distinct::Distinct;
use crate::error::Result;

/// Goes through sentences in order and drops each that repeats one that was kept: for each what it repeats, or `None` if it is
/// kept.
///
/// A sentence is repeated by one of the same text, with a cosine of 1 whatever the encoder knows of it, and by one whose vector has a
/// cosine of at least `threshold` with its vector; of several that it repeats, the first is named. A sentence that is near to a
/// dropped one alone is kept. The first `n_fixed` sentences are kept whatever they are: a text that others are compared
/// against.
///
/// Nothing is missed: the answer is that of comparing all pairs ([`senv_index::duplicates`]). Takes `4 dim` bytes, and some 250 more,
/// for each distinct sentence. `progress` is called with the number of distinct sentences that are settled, and of all of them.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls.", "The train is late!", "Rain falls."];
/// let found = senv::duplicates(&english, &sentences, 0, 0.9, |_, _| {})?;
/// let kept: Vec<&str> = sentences.iter().zip(&found).filter(|(_, of)| of.is_none()).map(|(text, _)| *text).collect();
/// assert_eq!(kept, ["The train is late.", "Rain falls."]);
/// assert_eq!(found[2].map(|duplicate| duplicate.of), Some(0));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// As [`senv_index::duplicates`]; [`senv_core::Error::TooLarge`] if the vectors do not fit into memory.
pub fn duplicates<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    n_fixed: usize,
    threshold: f32,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Option<Duplicate>>> {
    let distinct = Distinct::of(sentences);
    let firsts = &distinct.firsts;
    let n_fixed_rows = firsts.partition_point(|&number| number < n_fixed);
    let vectors = distinct.encode(encoder, sentences)?;
    let n = firsts.len();
    let near = senv_index::duplicates(&vectors, n_fixed_rows, threshold, |done| progress(done, n))?;
    let of_sentence = |(number, &row): (usize, &u32)| {
        let (row, number_of) = (row as usize, firsts[row as usize]);
        match near[row] {
            // What repeats a text whose first place was dropped repeats what that one does.
            Some(Duplicate { of, cosine }) if number >= n_fixed => Some(Duplicate { of: firsts[of], cosine }),
            _ if number_of == number || number < n_fixed => None,
            _ => Some(Duplicate { of: number_of, cosine: 1.0 }),
        }
    };
    Ok(distinct.rows.iter().enumerate().map(of_sentence).collect())
}

#[cfg(test)]
mod tests {
    use senv_core::{Coverage, Scratch};

    use super::*;

    /// Counts of the letters a, b and c.
    struct Letters;

    impl SentenceEncoder for Letters {
        fn dim(&self) -> usize {
            3
        }

        fn encode_into(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            for (value, letter) in out.iter_mut().zip(["a", "b", "c"]) {
                *value = sentence.matches(letter).count() as f32;
            }
            Coverage::default()
        }
    }

    #[test]
    fn equal_texts_repeat_what_the_first_of_them_repeats() {
        let sentences = ["aab", "c", "baa", "baa", "x", "y", "x", "c", "abc"];
        let of = |n_fixed, threshold| {
            let found = duplicates(&Letters, &sentences, n_fixed, threshold, |_, _| {}).unwrap();
            found.iter().map(|duplicate| duplicate.map(|duplicate| duplicate.of)).collect::<Vec<_>>()
        };
        // x and y have no vector, but x is there twice.
        let expected = [None, None, Some(0), Some(0), None, None, Some(4), Some(1), None];
        assert_eq!(of(0, 0.95), expected);
        // "abc" has a cosine of .58 with "c", and of .77 with "aab": the first that is near enough is named.
        assert_eq!(of(0, 0.5)[8], Some(0));
        // Fixed ones are kept, though one of them repeats another.
        assert_eq!(of(4, 0.95), [None, None, None, None, None, None, Some(4), Some(1), None]);
    }
}
