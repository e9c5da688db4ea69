//! Deletes and swaps words of a sentence, so an encoder learns to be robust to that.
//!
//! Equation: `sentence-corruption`
//!
//! ```text
//! (F1)  each word is deleted with probability p_o; if none would stay, one that is drawn with equal chances stays
//! (F2)  of what is left, (w_1, w_2), (w_3, w_4), … are each swapped with probability p_x
//! ```
//!
//! A word without a right neighbour (the last of an odd number) stays in place: a sentence of one word is never
//! changed.

use rand::{Rng, RngExt};
use senv_core::{TokenId, rng::stream};

/// The probabilities of deleting and swapping words.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Corruption {
    /// p_o, at least 0 and below 1.
    pub(crate) delete: f64,
    /// p_x, from 0 to 1.
    pub(crate) swap: f64,
}

impl Corruption {
    /// Returns a function that corrupts the sentences of a step in turn, given the seed and the number of the step: it
    /// writes the result to `out`. Separate random streams choose which words are deleted and which are swapped.
    pub(crate) fn of_step(self, (seed, number): (u64, u64)) -> impl FnMut(&[TokenId], &mut Vec<TokenId>) {
        let mut deleted = stream(seed, "deleted words", &[number]);
        let mut swapped = stream(seed, "swapped words", &[number]);
        move |sentence, out| {
            keep_words(sentence, self.delete, &mut deleted, out); // (F1)
            swap_bigrams(out, self.swap, &mut swapped); // (F2)
        }
    }
}

/// Word dropout: writes to `out` the words of a sentence that are not deleted. Each is deleted with probability
/// `delete`, at least 0 and below 1; at least one is kept (F1). With a probability of 0, no random number is drawn.
///
/// ```
/// use senv::{gradient::keep_words, parts::core::{TokenId, rng::stream}};
/// let (sentence, mut kept) = ([0, 1, 2, 3].map(TokenId), Vec::new());
/// keep_words(&sentence, 0.5, &mut stream(1, "word dropout", &[0]), &mut kept);
/// assert!((1..=4).contains(&kept.len()));
/// ```
///
/// # Panics
/// If `delete` is not a probability.
pub fn keep_words(sentence: &[TokenId], delete: f64, rng: &mut impl Rng, out: &mut Vec<TokenId>) {
    out.clear();
    out.extend_from_slice(sentence);
    if delete > 0.0 && !sentence.is_empty() {
        out.retain(|_| !rng.random_bool(delete));
        if out.is_empty() {
            out.push(sentence[rng.random_range(0..sentence.len())]);
        }
    }
}

/// (F2) in place.
fn swap_bigrams(tokens: &mut [TokenId], swap: f64, rng: &mut impl Rng) {
    if swap > 0.0 {
        for pair in tokens.chunks_exact_mut(2) {
            if rng.random_bool(swap) {
                pair.swap(0, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(n: u32) -> Vec<TokenId> {
        (0..n).map(TokenId).collect()
    }

    /// The corrupted versions of a sentence in this number of steps.
    fn corrupted(corruption: Corruption, sentence: &[TokenId], steps: u64) -> Vec<Vec<TokenId>> {
        let of_step = |number| {
            let mut out = Vec::new();
            corruption.of_step((3, number))(sentence, &mut out);
            out
        };
        (0..steps).map(of_step).collect()
    }

    #[test]
    fn words_are_deleted_as_often_as_the_probability_says_and_stay_in_order() {
        let sentence = tokens(20);
        let all = corrupted(Corruption { delete: 0.3, swap: 0.0 }, &sentence, 2_000);
        assert!(all.iter().all(|left| left.is_sorted()));
        for word in &sentence {
            let kept = all.iter().filter(|left| left.contains(word)).count() as f64 / 2_000.0;
            // Four standard deviations of a share of 2,000 trials.
            assert!((kept - 0.7).abs() < 4.0 * (0.7_f64 * 0.3 / 2_000.0).sqrt(), "{word:?} {kept}");
        }
    }

    #[test]
    fn bigrams_that_do_not_overlap_are_swapped_as_often_as_the_probability_says() {
        let sentence = tokens(7);
        let all = corrupted(Corruption { delete: 0.0, swap: 0.2 }, &sentence, 2_000);
        for left in [0, 2, 4] {
            let swapped = all.iter().filter(|out| out[left] == sentence[left + 1] && out[left + 1] == sentence[left]);
            let share = swapped.count() as f64 / 2_000.0;
            assert!((share - 0.2).abs() < 4.0 * (0.2_f64 * 0.8 / 2_000.0).sqrt(), "{left} {share}");
        }
        // No word leaves its bigram, and the last of an odd number stays in place.
        for out in &all {
            assert!(out.iter().enumerate().all(|(i, token)| token.index() / 2 == i / 2));
            assert_eq!(out[6], TokenId(6));
        }
        assert_eq!(corrupted(Corruption { delete: 0.0, swap: 1.0 }, &tokens(5), 1), [[1, 0, 3, 2, 4].map(TokenId)]);
    }

    #[test]
    fn one_word_always_stays_and_each_may_be_the_one() {
        let all = corrupted(Corruption { delete: 1.0 - 1e-9, swap: 1.0 }, &tokens(3), 300);
        assert!(all.iter().all(|left| left.len() == 1));
        assert!(tokens(3).iter().all(|word| all.iter().filter(|left| left[0] == *word).count() > 60));
        let one = Corruption { delete: 0.9, swap: 1.0 };
        assert!(corrupted(one, &tokens(1), 100).iter().all(|left| *left == tokens(1)));
        assert!(corrupted(one, &[], 3).iter().all(Vec::is_empty));
    }

    #[test]
    fn without_noise_nothing_changes_and_a_step_is_the_same_again() {
        let sentence = tokens(9);
        assert!(corrupted(Corruption::default(), &sentence, 5).iter().all(|left| *left == sentence));
        let noise = Corruption { delete: 0.4, swap: 0.4 };
        assert_eq!(corrupted(noise, &sentence, 20), corrupted(noise, &sentence, 20));
        assert!(corrupted(noise, &sentence, 20).windows(2).any(|two| two[0] != two[1]));
        // The choice of swapped words does not depend on the deleted ones.
        let only = |delete, swap| corrupted(Corruption { delete, swap }, &sentence, 1).remove(0);
        let deleted = only(0.4, 0.0);
        let mut both = only(0.4, 0.4);
        both.sort_unstable();
        assert_eq!(both, deleted);
    }
}
