//! Augmentation of labelled pairs: words are replaced by others of the same kind, consistently in both sentences.
//!
//! Whether two such sentences are paraphrases depends on the positions of their words, not on which names, numbers and
//! things they mention. With few labelled pairs, an encoder would memorize the words.

use std::collections::HashMap;

use ndarray::Array2;
use rand::{RngExt, seq::IndexedRandom};
use senv_core::{
    Result as CoreResult, TextReader, TokenId,
    arrays::matmul,
    kernels,
    rng::Stream,
    static_model::order::{OrderWords, UNKNOWN_BUCKETS},
};

use crate::{
    data::{PairFiles, PairKind},
    error::Result,
};

/// Lines of running text per file in which capitals are counted.
const LINES: usize = 60_000;
/// Ordinary words among this many of the most frequent ones are never replaced.
const FREQUENT: usize = 200;
/// Names among this many of the most frequent words are never replaced.
const FREQUENT_NAMES: usize = 100;
/// Ordinary words after this rank are never replaced.
const RARE: usize = 30_000;
/// The number of nearest neighbours from which a replacement is drawn.
const NEIGHBOURS: usize = 8;
/// The minimum share of capitalized occurrences, not counting the start of a sentence, for a word to be a name.
const NAME_SHARE: f64 = 0.7;
/// The range of the probability with which each word of a pair is replaced.
const SHARES: [f64; 2] = [0.2, 0.7];

/// The kind of a word, which decides its replacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stays,
    Name,
    Number,
    Year,
    /// Replaced by one of its neighbours.
    Word,
}

/// The kinds of all words, and their possible replacements.
#[derive(Debug)]
pub(super) struct Exchange {
    kinds: Vec<Kind>,
    names: Vec<TokenId>,
    numbers: Vec<TokenId>,
    years: Vec<TokenId>,
    neighbours: HashMap<TokenId, [TokenId; NEIGHBOURS]>,
    /// The share of the pairs that are changed.
    share: f64,
}

/// Counts of words after the start of a sentence, and of their capitalized occurrences.
pub(super) struct Capitals<'w> {
    words: OrderWords<'w>,
    counts: Vec<[u32; 2]>,
    scratch: String,
    lower: String,
}

impl<'w> Capitals<'w> {
    pub(super) fn new(words: OrderWords<'w>) -> Self {
        Self { words, counts: vec![[0; 2]; words.len()], scratch: String::new(), lower: String::new() }
    }

    /// Counts a sentence.
    pub(super) fn add(&mut self, sentence: &str) {
        let Self { words, counts, scratch, lower } = self;
        let vocabulary = words.table.vocabulary();
        let cased = words.table.tokenizer().clone().lowercase(false);
        let mut is_first = true;
        cased.for_each(sentence, scratch, |token| {
            if std::mem::replace(&mut is_first, false) {
                return;
            }
            lower.clear();
            lower.extend(token.chars().flat_map(char::to_lowercase));
            if let Some(id) = vocabulary.id(lower).or_else(|| vocabulary.id(token)) {
                let [n, capitals] = &mut counts[id.index()];
                *n += 1;
                *capitals += u32::from(token.starts_with(char::is_uppercase));
            }
        });
    }

    /// Counts the first lines of the files of this kind; each tab-separated cell counts as a sentence.
    pub(super) fn add_files(&mut self, files: &PairFiles, kind: PairKind) -> CoreResult<()> {
        for input in files.inputs.iter().filter(|input| input.kind == kind) {
            let mut lines = TextReader::open(&[&input.path], &files.options.text)?;
            let mut n = 0;
            while let Some(line) = lines.next_line()? {
                line.text.split('\t').for_each(|cell| self.add(cell));
                n += 1;
                if n == LINES {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Exchange {
    /// Determines the kinds of words from their form, their rank and these counts, and finds neighbours for the words
    /// among `used`.
    pub(super) fn new<'s>(
        capitals: &Capitals<'_>,
        used: impl Iterator<Item = &'s Vec<TokenId>>,
        share: f64,
    ) -> Result<Self> {
        let words = capitals.words;
        let vocabulary = words.table.vocabulary();
        let kind = |id: TokenId, token: &str| {
            let (rank, [n, upper]) = (id.index(), capitals.counts[id.index()]);
            let numeric = |c: char| c.is_ascii_digit() || ".,:".contains(c);
            if is_year(token) {
                Kind::Year
            } else if token.chars().all(numeric) && token.contains(|c: char| c.is_ascii_digit()) {
                Kind::Number
            } else if rank > FREQUENT_NAMES && f64::from(upper) > NAME_SHARE * f64::from(n.max(3)) {
                Kind::Name
            } else if rank > FREQUENT && rank < RARE && token.len() > 3 && token.chars().all(char::is_alphabetic) {
                Kind::Word
            } else {
                Kind::Stays
            }
        };
        let mut kinds: Vec<Kind> = vocabulary.iter().map(|(id, token, _)| kind(id, token)).collect();
        kinds.resize(vocabulary.len() + UNKNOWN_BUCKETS, Kind::Name);
        let of = |kind| {
            let ids = kinds.iter().enumerate().filter(move |(_, k)| **k == kind);
            ids.map(|(i, _)| TokenId(i as u32)).collect::<Vec<_>>()
        };
        let (names, numbers, years) = (of(Kind::Name), of(Kind::Number), of(Kind::Year));
        let neighbours = neighbours(words, &of(Kind::Word), used, &kinds)?;
        Ok(Self { names, numbers, years, neighbours, kinds, share })
    }

    /// The kind of a word.
    pub(super) fn kind(&self, token: TokenId) -> Kind {
        self.kinds[token.index()]
    }

    /// Writes the changed pair to `out`, or a copy of it.
    pub(super) fn apply(&self, rng: &mut Stream, pair: [&[TokenId]; 2], out: [&mut Vec<TokenId>; 2]) {
        let [first, second] = out;
        first.clear();
        second.clear();
        if !rng.random_bool(self.share) {
            first.extend_from_slice(pair[0]);
            second.extend_from_slice(pair[1]);
            return;
        }
        let share = rng.random_range(SHARES[0]..SHARES[1]);
        let mut of_word: HashMap<TokenId, TokenId> = HashMap::new();
        for (tokens, out) in pair.into_iter().zip([first, second]) {
            // Draws in word order, so the result depends only on the pair and the generator.
            out.extend(
                tokens.iter().map(|&token| *of_word.entry(token).or_insert_with(|| self.draw(rng, token, share))),
            );
        }
    }

    fn draw(&self, rng: &mut Stream, token: TokenId, share: f64) -> TokenId {
        let kind = self.kinds[token.index()];
        if kind == Kind::Stays || !rng.random_bool(share) {
            return token;
        }
        let neighbours = self.neighbours.get(&token).map_or(&[][..], |neighbours| &neighbours[..]);
        let pool = match kind {
            Kind::Name => &self.names[..],
            Kind::Number => &self.numbers,
            Kind::Year => &self.years,
            Kind::Word | Kind::Stays => neighbours,
        };
        pool.choose(rng).copied().unwrap_or(token)
    }
}

/// Whether a token is a year from 1500 to 2099.
fn is_year(token: &str) -> bool {
    token.len() == 4 && token.bytes().all(|c| c.is_ascii_digit()) && ("1500".."2100").contains(&token)
}

/// The nearest `candidates` of each word that occurs.
fn neighbours<'s>(
    words: OrderWords<'_>,
    candidates: &[TokenId],
    used: impl Iterator<Item = &'s Vec<TokenId>>,
    kinds: &[Kind],
) -> Result<HashMap<TokenId, [TokenId; NEIGHBOURS]>> {
    let mut asked: Vec<TokenId> = used.flatten().copied().filter(|token| kinds[token.index()] == Kind::Word).collect();
    asked.sort_unstable();
    asked.dedup();
    if candidates.len() <= NEIGHBOURS {
        return Ok(HashMap::new());
    }
    let dim = words.table.rows().dim();
    let units = |tokens: &[TokenId]| {
        let mut rows = Array2::<f32>::zeros((tokens.len(), dim));
        for (token, mut row) in tokens.iter().zip(rows.rows_mut()) {
            if let Some(row) = row.as_slice_mut() {
                words.table.rows().row_into(token.index(), row);
                kernels::l2_normalize(row);
            }
        }
        rows
    };
    let all = units(candidates);
    let mut nearest = HashMap::with_capacity(asked.len());
    for asked in asked.chunks(512) {
        let scores = matmul(units(asked).view(), all.t())?;
        for (&token, scores) in asked.iter().zip(scores.rows()) {
            let mut order: Vec<u32> =
                (0..candidates.len() as u32).filter(|&i| candidates[i as usize] != token).collect();
            let higher = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
            order.select_nth_unstable_by(NEIGHBOURS - 1, higher);
            order[..NEIGHBOURS].sort_unstable_by(higher);
            nearest.insert(token, std::array::from_fn(|k| candidates[order[k] as usize]));
        }
    }
    Ok(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_told_from_numbers() {
        assert!(["1500", "1999", "2024", "2099"].iter().all(|year| is_year(year)));
        assert!(["1499", "2100", "199", "19999", "19a0", ""].iter().all(|other| !is_year(other)));
    }
}
