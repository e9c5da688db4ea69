//! Finds what one text says that another does not.

use std::collections::HashMap;

use senv_core::SentenceEncoder;
use senv_index::counterparts_where;

use super::{
    distinct::{Distinct, encode_lists},
    guard::{Guard, GuardedTexts},
};
use crate::error::Result;

/// What [`compare`] takes for the same.
#[derive(Debug, Clone, Copy)]
pub struct CompareParams<'a> {
    /// The minimum cosine of a sentence and its counterpart, from -1 to 1.
    pub threshold: f32,
    /// Leaves out near sentences that name different things ([`Guard`]). `None` compares only vectors.
    pub guard: Option<&'a Guard<'a>>,
}

impl CompareParams<'_> {
    /// Compares by vectors alone.
    #[must_use]
    pub fn new(threshold: f32) -> Self {
        Self { threshold, guard: None }
    }
}

/// A sentence of the other text.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Counterpart {
    /// Its position in the other text, from 0.
    pub position: usize,
    /// The cosine of both sentences, in `[-1, 1]`.
    pub cosine: f32,
}

/// For each sentence of two texts, the nearest sentence of the other text, if it is near enough.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The counterpart of each sentence of the first text.
    pub first: Vec<Option<Counterpart>>,
    /// The counterpart of each sentence of the second text.
    pub second: Vec<Option<Counterpart>>,
}

/// Finds the counterpart of each sentence of two texts in the other text. An equal sentence counts with a cosine of 1,
/// even if the encoder knows none of its words. Otherwise the nearest sentence counts that has a cosine of at least the
/// threshold and that the guard allows.
///
/// The search is exact ([`senv_index::counterparts_where`]). Memory is `4 dim` bytes plus about 250 for each distinct
/// sentence of both texts. `progress` is called with the number of distinct sentences of the first text that were
/// compared, and their total.
///
/// ```
/// # #[cfg(feature = "english")] {
/// let english = senv::english()?;
/// let params = senv::jobs::CompareParams::new(0.9);
/// let found = senv::jobs::compare(&english, &["The train is late.", "Rain falls."], &["The train is late!"], &params, |_, _| {})?;
/// assert!(found.first[0].is_some() && found.first[1].is_none());
/// assert_eq!(found.second[0].map(|counterpart| counterpart.position), Some(0));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of [`duplicates`](crate::jobs::duplicates).
pub fn compare<E: SentenceEncoder + ?Sized>(
    encoder: &E,
    first: &[impl AsRef<str>],
    second: &[impl AsRef<str>],
    params: &CompareParams<'_>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Comparison> {
    let of_first = Distinct::of(first);
    let of_second = Distinct::of(second);
    let (texts, other_texts) = (of_first.texts(first), of_second.texts(second));
    let n = texts.len();
    let vectors = encode_lists(encoder, &[texts.clone(), other_texts.clone()])?;
    let guarded = GuardedTexts::new(params.guard, [texts.clone(), other_texts.clone()].concat());
    let is_same = |a, b| guarded.is_same(a, b);
    let near = counterparts_where(&vectors, n, params.threshold, is_same, |done| progress(done, n))?;
    drop(vectors);
    let find = |texts: &[&str], others: &[&str], other_firsts: &[usize], start: usize, others_start: usize| {
        let rows: HashMap<&str, usize> = others.iter().enumerate().map(|(row, &text)| (text, row)).collect();
        let counterpart = |(row, text): (usize, &&str)| {
            let same = rows.get(text).map(|&row| (row, 1.0));
            let found = same.or_else(|| near[start + row].map(|near| (near.row - others_start, near.cosine)));
            found.map(|(row, cosine)| Counterpart { position: other_firsts[row], cosine })
        };
        texts.iter().enumerate().map(counterpart).collect::<Vec<_>>()
    };
    let found = find(&texts, &other_texts, &of_second.firsts, 0, n);
    let other_found = find(&other_texts, &texts, &of_first.firsts, n, 0);
    Ok(Comparison {
        first: of_first.rows.iter().map(|&row| found[row as usize]).collect(),
        second: of_second.rows.iter().map(|&row| other_found[row as usize]).collect(),
    })
}
