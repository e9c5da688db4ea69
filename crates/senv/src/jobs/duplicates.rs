//! Finds sentences that repeat an earlier one.

use std::{borrow::Cow, cmp::Reverse};

use senv_core::{Error::InvalidParameter, Rows, SentenceEncoder, Table};
use senv_index::{Duplicate, duplicates_where};

use super::{
    distinct::Distinct,
    guard::{Guard, GuardedTexts},
};
use crate::error::Result;

/// The steps by which a threshold is lowered, and the parts of a step in which it is then refined, to three decimals.
const STEP: f32 = 0.05;
const PARTS: u32 = 50;

/// What [`duplicates`] compares.
#[derive(Debug, Clone, Copy)]
pub struct DuplicateParams<'a> {
    /// The minimum cosine at which a sentence repeats another, from -1 to 1.
    pub threshold: f32,
    /// The number of sentences at the beginning that are always kept: a text that the others are compared with.
    pub n_fixed: usize,
    /// A group number for each sentence: only sentences of the same group are compared. `None` compares all.
    pub groups: Option<&'a [u32]>,
    /// If true, keeps the sentence with the most characters among near ones, and the first of equally long ones;
    /// otherwise keeps the first. Fixed sentences are not affected.
    pub keeps_longest: bool,
    /// Keeps near sentences that name different things apart ([`Guard`]). `None` compares only vectors.
    pub guard: Option<&'a Guard<'a>>,
}

impl DuplicateParams<'_> {
    /// Compares all sentences with each other, without a guard.
    #[must_use]
    pub fn new(threshold: f32) -> Self {
        Self { threshold, n_fixed: 0, groups: None, keeps_longest: false, guard: None }
    }
}

/// Which sentences repeat others.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct FoundDuplicates {
    /// What each sentence repeats, or `None` if it is kept.
    pub repeated: Vec<Option<Duplicate>>,
    /// For each kept sentence that the guard keeps apart from near ones: the first of these.
    pub kept_apart: Vec<Option<Duplicate>>,
    /// The threshold of the result: that of the parameters, unless a number of sentences was asked for.
    pub threshold: f32,
}

/// Processes sentences in order and drops each that repeats a kept one.
///
/// A sentence repeats an equal one, with a cosine of 1 even if the encoder knows none of its words. Emoji at the end of
/// only one of them do not count. It also repeats one whose vector has a cosine of at least the threshold, unless the
/// guard says that both name different things. If it repeats several, the first is returned. A sentence that is only
/// near a dropped one is kept.
///
/// The search is exact: the result is that of comparing all pairs ([`senv_index::duplicates_where`]). Memory is `4 dim`
/// bytes plus about 250 for each distinct sentence. `progress` is called with the number of distinct sentences done,
/// and their total.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls.", "The train is late!", "Rain falls."];
/// let guard = senv::jobs::Guard::of_model(&english, &sentences);
/// let params = senv::jobs::DuplicateParams { guard: Some(&guard), ..senv::jobs::DuplicateParams::new(0.9) };
/// let found = senv::jobs::duplicates(&english, &sentences, &params, |_, _| {})?.repeated;
/// let kept: Vec<&str> = sentences.iter().zip(&found).filter(|(_, of)| of.is_none()).map(|(text, _)| *text).collect();
/// assert_eq!(kept, ["The train is late.", "Rain falls."]);
/// assert_eq!(found[2].map(|duplicate| duplicate.of), Some(0));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`senv_index::duplicates`]; [`senv_core::Error::TooLarge`] if the vectors do not fit in memory;
/// [`senv_core::Error::InvalidParameter`] if the number of groups differs from that of the sentences.
pub fn duplicates<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    params: &DuplicateParams<'_>,
    progress: impl FnMut(usize, usize),
) -> Result<FoundDuplicates> {
    let encoded = Encoded::new(encoder, sentences, params)?;
    Ok(encoded.of_sentences(&encoded.duplicates(params.threshold, progress)?, params.threshold))
}

/// Like [`duplicates`], but lowers the threshold from that of `params` until at most `n` sentences, not counting the
/// fixed ones, are kept: a threshold 0.001 higher would keep more. The threshold of the result is -1 if none is low
/// enough.
///
/// Compares all pairs about six to ten times; `progress` restarts each time.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let sentences = ["The train is late.", "Rain falls.", "The bus is late.", "It rains."];
/// let params = senv::jobs::DuplicateParams::new(0.9);
/// let found = senv::jobs::duplicates_to(&senv::english()?, &sentences, &params, 3, |_, _| {})?;
/// assert!(found.threshold < 0.9);
/// assert_eq!(found.repeated.iter().filter(|of| of.is_none()).count(), 3);
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`].
pub fn duplicates_to<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    sentences: &[impl AsRef<str>],
    params: &DuplicateParams<'_>,
    n: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<FoundDuplicates> {
    let encoded = Encoded::new(encoder, sentences, params)?;
    let mut at = |threshold: f32| encoded.duplicates(threshold, &mut progress);
    let is_enough = |found: &Of| found.repeated[params.n_fixed..].iter().filter(|of| of.is_none()).count() <= n;
    let mut threshold = params.threshold;
    let mut found = at(threshold)?;
    let mut above = threshold;
    while !is_enough(&found) && threshold > -1.0 {
        above = threshold;
        threshold = ((threshold - STEP) * 1000.0).round().max(-1000.0) / 1000.0;
        found = at(threshold)?;
    }
    if is_enough(&found) && above > threshold {
        // Parts of the last step: `low` is low enough, `high` is not.
        let (mut low, mut high) = (0, PARTS);
        let step = (above - threshold) / PARTS as f32;
        let lowest = threshold;
        while high - low > 1 {
            let middle = (low + high) / 2;
            let tried = ((lowest + step * middle as f32) * 1000.0).round() / 1000.0;
            let of_tried = at(tried)?;
            if is_enough(&of_tried) {
                (low, threshold, found) = (middle, tried, of_tried);
            } else {
                high = middle;
            }
        }
    }
    Ok(encoded.of_sentences(&found, threshold))
}

/// What rows or sentences repeat, and what they are kept apart from.
struct Of {
    repeated: Vec<Option<Duplicate>>,
    apart: Vec<Option<Duplicate>>,
}

/// Sentences in the order of processing, with the vectors of the distinct ones.
struct Encoded<'a> {
    /// The original position of each sentence.
    order: Vec<usize>,
    /// The group of each, if there are groups.
    groups: Option<Vec<u32>>,
    n_fixed: usize,
    distinct: Distinct,
    vectors: Table,
    texts: GuardedTexts<'a>,
}

impl<'a> Encoded<'a> {
    fn new<E: SentenceEncoder + ?Sized>(
        encoder: &E,
        sentences: &'a [impl AsRef<str>],
        params: &DuplicateParams<'a>,
    ) -> Result<Self> {
        if let Some(groups) = params.groups.filter(|groups| groups.len() != sentences.len()) {
            let (name, requirement) = ("groups", "one number per sentence");
            let got = format!("{} for {} sentences", groups.len(), sentences.len());
            return Err(InvalidParameter { name, requirement, got }.into());
        }
        let n_fixed = params.n_fixed;
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        if params.keeps_longest {
            order[n_fixed..].sort_by_cached_key(|&number| Reverse(sentences[number].as_ref().chars().count()));
        }
        let sentences: Vec<&'a str> = order.iter().map(|&number| sentences[number].as_ref()).collect();
        let groups: Option<Vec<u32>> = params.groups.map(|groups| order.iter().map(|&number| groups[number]).collect());
        let distinct = Distinct::but_for_emoji(&sentences, |place| groups.as_ref().map_or(0, |groups| groups[place]));
        let vectors = distinct.encode(encoder, &sentences)?;
        let texts = GuardedTexts::new(params.guard, distinct.firsts.iter().map(|&place| sentences[place]).collect());
        Ok(Self { order, groups, n_fixed, distinct, vectors, texts })
    }

    /// The results by original position, from those in processing order.
    fn of_sentences(&self, found: &Of, threshold: f32) -> FoundDuplicates {
        let by_position = |found: &[Option<Duplicate>]| {
            let mut of_sentences = vec![None; found.len()];
            for (&number, found) in self.order.iter().zip(found) {
                of_sentences[number] = found.map(|Duplicate { of, cosine }| Duplicate { of: self.order[of], cosine });
            }
            of_sentences
        };
        FoundDuplicates { repeated: by_position(&found.repeated), kept_apart: by_position(&found.apart), threshold }
    }

    fn duplicates(&self, threshold: f32, progress: impl FnMut(usize, usize)) -> Result<Of> {
        let Of { repeated: near, apart } = self.near_rows(threshold, progress)?;
        let (firsts, n_fixed) = (&self.distinct.firsts, self.n_fixed);
        let of_sentence = |(number, &row): (usize, &u32)| {
            let (row, number_of) = (row as usize, firsts[row as usize]);
            match near[row] {
                // A copy of a dropped sentence repeats what the dropped sentence repeats.
                Some(Duplicate { of, cosine }) if number >= n_fixed => Some(Duplicate { of: firsts[of], cosine }),
                _ if number_of == number || number < n_fixed => None,
                _ => Some(Duplicate { of: number_of, cosine: 1.0 }),
            }
        };
        let repeated = self.distinct.rows.iter().enumerate().map(of_sentence).collect();
        // Copies of a kept sentence are dropped, so only the first is kept apart from others.
        let mut of_places = vec![None; self.distinct.rows.len()];
        for (&place, other) in firsts.iter().zip(apart) {
            of_places[place] = other.map(|Duplicate { of, cosine }| Duplicate { of: firsts[of], cosine });
        }
        Ok(Of { repeated, apart: of_places })
    }

    /// What the distinct sentences repeat among each other.
    fn near_rows(&self, threshold: f32, mut progress: impl FnMut(usize, usize)) -> Result<Of> {
        let (n, firsts) = (self.distinct.firsts.len(), &self.distinct.firsts);
        let n_fixed = |rows: &[u32]| rows.partition_point(|&row| firsts[row as usize] < self.n_fixed);
        let mut rows: Vec<u32> = (0..n as u32).collect();
        let Some(groups) = &self.groups else {
            let is_same = |a, b| self.texts.is_same(a, b);
            let found = duplicates_where(&self.vectors, n_fixed(&rows), threshold, is_same, |done| progress(done, n))?;
            return Ok(Of { repeated: found.repeated, apart: found.apart });
        };
        let group = |row: u32| groups[firsts[row as usize]];
        rows.sort_by_key(|&row| group(row));
        let (mut near, mut n_done) = (Of { repeated: vec![None; n], apart: vec![None; n] }, 0);
        for rows in rows.chunk_by(|&a, &b| group(a) == group(b)) {
            let is_same = |a: usize, b: usize| self.texts.is_same(rows[a] as usize, rows[b] as usize);
            let of_group = duplicates_where(&*self.rows(rows)?, n_fixed(rows), threshold, is_same, |done| {
                progress(n_done + done, n);
            })?;
            let of_all = |of: Duplicate| Duplicate { of: rows[of.of] as usize, ..of };
            for (i, &row) in rows.iter().enumerate() {
                near.repeated[row as usize] = of_group.repeated[i].map(of_all);
                near.apart[row as usize] = of_group.apart[i].map(of_all);
            }
            n_done += rows.len();
        }
        Ok(near)
    }

    /// The vectors of some distinct sentences.
    fn rows(&self, rows: &[u32]) -> Result<Cow<'_, Table>> {
        if rows.len() == self.vectors.n_rows() {
            return Ok(Cow::Borrowed(&self.vectors));
        }
        let dim = self.vectors.dim();
        let values = rows.iter().flat_map(|&row| self.vectors.row(row as usize)[..dim].iter().copied()).collect();
        Ok(Cow::Owned(Table::from_vec(rows.len(), dim, values)?))
    }
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

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            for (value, letter) in out.iter_mut().zip(["a", "b", "c"]) {
                *value = sentence.matches(letter).count() as f32;
            }
            Coverage::default()
        }
    }

    fn places(found: &[Option<Duplicate>]) -> Vec<Option<usize>> {
        found.iter().map(|duplicate| duplicate.map(|duplicate| duplicate.of)).collect()
    }

    #[test]
    fn equal_texts_repeat_what_the_first_of_them_repeats() {
        let sentences = ["aab", "c", "baa", "baa", "x", "y", "x", "c", "abc"];
        let of = |n_fixed, threshold| {
            let params = DuplicateParams { n_fixed, ..DuplicateParams::new(threshold) };
            places(&duplicates(&Letters, &sentences, &params, |_, _| {}).unwrap().repeated)
        };
        // x and y have no vector, but x occurs twice.
        let expected = [None, None, Some(0), Some(0), None, None, Some(4), Some(1), None];
        assert_eq!(of(0, 0.95), expected);
        // "abc" has a cosine of 0.58 with "c", and of 0.77 with "aab": the first that is near enough is returned.
        assert_eq!(of(0, 0.5)[8], Some(0));
        // Fixed ones are kept, although one of them repeats another.
        assert_eq!(of(4, 0.95), [None, None, None, None, None, None, Some(4), Some(1), None]);
    }

    #[test]
    fn the_longest_of_near_duplicates_is_kept_but_for_fixed_ones() {
        let sentences = ["ab", "aab", "aabaab", "c"];
        let of = |n_fixed, keeps_longest| {
            let params = DuplicateParams { n_fixed, keeps_longest, ..DuplicateParams::new(0.9) };
            places(&duplicates(&Letters, &sentences, &params, |_, _| {}).unwrap().repeated)
        };
        assert_eq!(of(0, true), [Some(2), Some(2), None, None]);
        assert_eq!(of(0, false), [None, Some(0), Some(0), None]);
        assert_eq!(of(1, true), [None, Some(0), Some(0), None]);
    }

    #[test]
    fn sentences_of_two_groups_are_not_compared() {
        let sentences = ["c", "aab", "aab", "baa", "x", "x", "c", "aab"];
        let groups = [7, 7, 2, 2, 2, 7, 7, 7];
        let of = |n_fixed| {
            let params = DuplicateParams { n_fixed, groups: Some(&groups), ..DuplicateParams::new(0.9) };
            places(&duplicates(&Letters, &sentences, &params, |_, _| {}).unwrap().repeated)
        };
        assert_eq!(of(0), [None, None, None, Some(2), None, None, Some(0), Some(1)]);
        assert_eq!(of(7), [None, None, None, None, None, None, None, Some(1)]);
        let params = DuplicateParams { groups: Some(&groups[1..]), ..DuplicateParams::new(0.9) };
        assert!(duplicates(&Letters, &sentences, &params, |_, _| {}).is_err());
    }

    #[test]
    fn the_threshold_is_the_highest_that_leaves_so_many() {
        // cos: aab ab 0.949, aab aabc 0.913, aabc c 0.408, aab c 0.
        let sentences = ["c", "aab", "ab", "aabc", "y"];
        let to = |n| {
            let found = duplicates_to(&Letters, &sentences, &DuplicateParams::new(0.97), n, |_, _| {}).unwrap();
            ((found.threshold * 1000.0).round() as i32, found.repeated.iter().filter(|of| of.is_none()).count())
        };
        assert_eq!(to(5), (970, 5));
        assert_eq!(to(4), (948, 4));
        assert_eq!(to(3), (912, 3));
        // c repeats neither "aab" nor "ab", except at 0.
        assert_eq!(to(2), (0, 2));
        // y has no vector, and is kept at any threshold.
        assert_eq!(to(1), (-1000, 2));
    }
}
