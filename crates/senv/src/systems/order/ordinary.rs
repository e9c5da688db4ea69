//! Ordinary pairs, whose similarity by the table only is held in place while the order part is trained.
//!
//! Each source gives some pairs. Each first sentence is also paired with the nearest of c other second sentences, c =
//! 4·10^U(0,2), and for half of them with a random one. This gives similarities of all sizes, so a correlation is
//! informative. A step draws groups of such pairs, each from one source, and mixes them into groups of several sources.

use rand::{RngExt, seq::SliceRandom};
use senv_core::{Scratch, TokenId, kernels, rng::stream, static_model::order::OrderWords};

use crate::{
    data::{PairData, PairSource},
    error::Result,
};

/// Pairs taken from each source.
const PAIRS_OF_SOURCE: usize = 3000;
/// Maximum words read per sentence.
const LONGEST: usize = 45;
/// Pairs per group.
pub(super) const GROUP: usize = 20;
/// Groups per step with pairs from a single source.
const SOURCES_OF_STEP: usize = 4;
/// How often a step mixes its pairs into groups of several sources.
const MIXED: usize = 2;

/// A pair of sentences by number, and the table's cosine of their vectors.
#[derive(Debug, Clone, Copy)]
struct OrdinaryPair {
    first: u32,
    second: u32,
    cosine: f32,
}

/// The pairs of all sources.
#[derive(Debug, Default)]
pub(super) struct OrdinaryPairs {
    sentences: Vec<Vec<TokenId>>,
    sources: Vec<Vec<OrdinaryPair>>,
}

/// The pairs of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldPairs {
    /// First and second sentence of each.
    pub(super) pairs: Vec<[u32; 2]>,
    /// The table's cosines of the pairs.
    pub(super) cosines: Vec<f64>,
    /// Groups of pairs.
    pub(super) groups: Vec<Vec<u32>>,
}

impl OrdinaryPairs {
    /// Draws pairs from each source of `data`.
    pub(super) fn new(data: &PairData, words: OrderWords<'_>, seed: u64) -> Result<Self> {
        let mut new = Self::default();
        for (number, pairs) in
            some_pairs(data, words, PAIRS_OF_SOURCE, seed, "order ordinary pairs").into_iter().enumerate()
        {
            let mut rng = stream(seed, "order other sentences", &[number as u64]);
            let start = new.sentences.len() as u32;
            new.sentences.extend(pairs.into_iter().flatten());
            let vectors: Vec<Vec<f32>> =
                new.sentences[start as usize..].iter().map(|sentence| unit_vector(sentence, words)).collect();
            let n = vectors.len() as u32 / 2;
            let pair = |i: u32, j: u32| {
                let (first, second) = (2 * i, 2 * j + 1);
                let cosine = kernels::dot(&vectors[first as usize], &vectors[second as usize]);
                OrdinaryPair { first: start + first, second: start + second, cosine }
            };
            let mut pairs: Vec<OrdinaryPair> = (0..n).map(|i| pair(i, i)).collect();
            for i in 0..n {
                let among = (4.0 * 10f64.powf(rng.random_range(0.0..2.0))) as usize;
                let others = (0..among).map(|_| rng.random_range(0..n)).filter(|&j| j != i).map(|j| pair(i, j));
                let others: Vec<OrdinaryPair> = others.collect();
                pairs.extend(others.iter().copied().max_by(|a, b| a.cosine.total_cmp(&b.cosine)));
                if rng.random_bool(0.5) {
                    pairs.extend(others.first());
                }
            }
            if !pairs.is_empty() {
                new.sources.push(pairs);
            }
        }
        Ok(new)
    }

    /// Whether there is nothing to hold.
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Sentence `i`.
    pub(super) fn sentence(&self, i: u32) -> &[TokenId] {
        &self.sentences[i as usize]
    }

    /// Draws the pairs of a step: groups from one source each, then mixed groups.
    pub(super) fn draw(&self, seed: u64, step: u64, held: &mut HeldPairs) {
        let HeldPairs { pairs, cosines, groups } = held;
        pairs.clear();
        cosines.clear();
        groups.clear();
        if self.is_empty() {
            return;
        }
        let mut rng = stream(seed, "order held pairs", &[step]);
        let mut sources: Vec<usize> = (0..self.sources.len()).collect();
        sources.shuffle(&mut rng);
        for i in 0..SOURCES_OF_STEP {
            // Sources repeat if there are fewer.
            let source = &self.sources[sources[i % sources.len()]];
            groups.push((0..GROUP).map(|k| (i * GROUP + k) as u32).collect());
            for _ in 0..GROUP {
                let OrdinaryPair { first, second, cosine } = source[rng.random_range(0..source.len())];
                pairs.push([first, second]);
                cosines.push(f64::from(cosine));
            }
        }
        for _ in 0..MIXED {
            let mut all: Vec<u32> = (0..pairs.len() as u32).collect();
            all.shuffle(&mut rng);
            groups.extend(all.chunks(GROUP).map(<[u32]>::to_vec));
        }
    }

    /// Adds the pairs to a fingerprint.
    pub(super) fn fingerprint(
        &self,
        sum: crate::base::fingerprint::Fingerprint,
    ) -> crate::base::fingerprint::Fingerprint {
        let words = self.sentences.iter().flat_map(|sentence| {
            std::iter::once(sentence.len() as u64).chain(sentence.iter().map(|token| u64::from(token.0)))
        });
        let pairs = self.sources.iter().flatten();
        let pairs = pairs.map(|pair| u64::from(pair.first) << 32 | u64::from(pair.second));
        sum.numbers(words).numbers(pairs)
    }
}

/// Up to `n` pairs of each source, drawn from its groups, without pairs that have an empty sentence.
pub(super) fn some_pairs(
    data: &PairData,
    words: OrderWords<'_>,
    n: usize,
    seed: u64,
    name: &str,
) -> Vec<Vec<[Vec<TokenId>; 2]>> {
    let mut scratch = Scratch::default();
    // The data were tokenized with the table's tokenizer; an unknown token can replace several words.
    let mut of_token = |token: &str| match words.table.vocabulary().id(token) {
        Some(id) => vec![id],
        None => words.tokens(token, usize::MAX, &mut scratch),
    };
    let known: Vec<Vec<TokenId>> = data.vocabulary.iter().map(|(_, token, _)| of_token(token)).collect();
    let of_source = |(number, source): (usize, &PairSource)| {
        let mut rng = stream(seed, name, &[number as u64]);
        let mut groups: Vec<u32> = (0..source.n_groups() as u32).collect();
        let (some, _) = groups.partial_shuffle(&mut rng, n);
        let read = |sentence: u32| -> Vec<TokenId> {
            let tokens = source.sentence(sentence).iter().flat_map(|token| &known[token.index()]);
            tokens.copied().take(LONGEST).collect()
        };
        let pair = |&mut group: &mut u32| {
            let pair = source.draw(group, &mut rng);
            [read(pair.first), read(pair.second)]
        };
        some.iter_mut().map(pair).filter(|pair| pair.iter().all(|sentence| !sentence.is_empty())).collect()
    };
    data.sources.iter().enumerate().map(of_source).collect()
}

/// The vector of a sentence from the rows of the table, of length 1. A bucket has a vector of its features, as long as
/// the table's vectors of unknown words.
pub(super) fn unit_vector(sentence: &[TokenId], words: OrderWords<'_>) -> Vec<f32> {
    let (table, dim) = (words.table, words.table.rows().dim());
    let mut out = vec![0.0; dim];
    let length = table.unknown_word_length().unwrap_or(0.0);
    for token in sentence {
        match token.index().checked_sub(table.vocabulary().len()) {
            None => table.rows().add_row(token.index(), 1.0, &mut out),
            Some(bucket) => {
                senv_core::words::add_signs(
                    &format!("bucket {bucket}"),
                    senv_core::words::unknown_word_value(length, dim),
                    &mut out,
                );
            }
        }
    }
    kernels::l2_normalize(&mut out);
    out
}
