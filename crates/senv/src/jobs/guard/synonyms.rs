//! Words that mean about the same, by their vectors.

use std::fmt;

use senv_core::{Scratch, SentenceEncoder, TokenId, Vocabulary, kernels};

use super::words::{Word, Words};

/// The words whose cosines show how near words are by chance, and the ranks that they are taken from.
const SAMPLE: usize = 400;
const RANKS: std::ops::Range<usize> = 300..10_000;

/// Two words have about the same meaning if they are nearer than this share of pairs of words.
const SHARE: f64 = 0.9985;

/// The minimum sample.
const LEAST: usize = 100;

/// An encoder, and the cosine from which two of its words mean about the same.
pub(super) struct Synonyms<'v> {
    encoder: &'v dyn SentenceEncoder,
    /// Above 1 if there are too few words to tell.
    least: f32,
}

impl fmt::Debug for Synonyms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synonyms").field("least", &self.least).finish_non_exhaustive()
    }
}

impl<'v> Synonyms<'v> {
    /// Measures how near words of the vocabulary are by chance, which differs from model to model.
    pub(super) fn new(encoder: &'v dyn SentenceEncoder, vocabulary: &Vocabulary) -> Self {
        let mut synonyms = Self { encoder, least: f32::INFINITY };
        let ranks = RANKS.start.min(vocabulary.len() / 10)..RANKS.end.min(vocabulary.len());
        let step = (ranks.len() / SAMPLE).max(1);
        let words = ranks.step_by(step).map(|rank| vocabulary.token(TokenId(rank as u32)));
        let words: Vec<&str> = words.filter(|word| word.chars().all(char::is_alphabetic)).take(SAMPLE).collect();
        if words.len() < LEAST {
            return synonyms;
        }
        let vectors = synonyms.vectors(words.into_iter());
        let pairs = |i: usize| vectors[..i].iter().map(move |other| (i, other));
        let mut cosines: Vec<f32> =
            (0..vectors.len()).flat_map(pairs).map(|(i, other)| kernels::cosine(&vectors[i], other)).collect();
        let place = (SHARE * cosines.len() as f64) as usize;
        synonyms.least = *cosines.select_nth_unstable_by(place, f32::total_cmp).1;
        synonyms
    }

    /// Leaves out of the words of two texts those for which the other has one that means about the same. Two words with
    /// capitals may be names, which are near if they are of one kind ("German", "Dutch"), so they stay.
    pub(super) fn retain<'w>(&self, (a, of_a): (&mut Vec<&'w Word>, &Words), (b, of_b): (&mut Vec<&'w Word>, &Words)) {
        if self.least > 1.0 || a.is_empty() || b.is_empty() {
            return;
        }
        let read = |list: &[&'w Word], words: &Words| -> Vec<(bool, Vec<f32>)> {
            let vectors = self.vectors(list.iter().map(|word| words.get(word)));
            list.iter().map(|word| word.is_capital).zip(vectors).collect()
        };
        let (x, y) = (read(a, of_a), read(b, of_b));
        let is_near = |(is_capital, vector): &(bool, Vec<f32>), others: &[(bool, Vec<f32>)]| {
            let is_near = |other: &[f32]| kernels::cosine(vector, other) >= self.least;
            others.iter().any(|(other_is, other)| !(*is_capital && *other_is) && is_near(other))
        };
        let (mut of_x, mut of_y) = (x.iter(), y.iter());
        a.retain(|_| of_x.next().is_some_and(|word| !is_near(word, &y)));
        b.retain(|_| of_y.next().is_some_and(|word| !is_near(word, &x)));
    }

    fn vectors<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<Vec<f32>> {
        let mut scratch = Scratch::default();
        let encode = |word| {
            let mut vector = vec![0.0; self.encoder.dim()];
            // A word that cannot be encoded is near no other.
            if self.encoder.try_encode_into(word, &mut scratch, &mut vector).is_err() {
                vector.fill(0.0);
            }
            vector
        };
        words.map(encode).collect()
    }
}
