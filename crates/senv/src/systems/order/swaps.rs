//! Labelled pairs made from paraphrases by swapping two words in one sentence.
//!
//! A pair (s, s′) gives two labelled ones, (s, s′) with 1 and (s, s″) with 0. s″ is s′ with two words of one kind
//! (names, numbers, years, other words) swapped. Each of the two occurs once in s and once in s′. A word that is not
//! among the most frequent must be between them: "Anna and Bert" are the same people as "Bert and Anna". A pair without
//! such words gives only the first one. If s = s′, s′ loses a fifth of its words at random, because equal vectors teach
//! nothing.

use rand::{RngExt, seq::IndexedRandom};
use senv_core::{TokenId, rng::stream};

use super::exchange::{Exchange, Kind};

/// Words this frequent, such as "and", do not separate two words enough for a swap.
const CONNECTING: usize = 50;
/// The share of words dropped from the second of two equal sentences.
const DROPPED: f64 = 0.2;

/// The labelled pairs made from `pairs`, in order.
pub(super) fn labelled_swaps(
    pairs: Vec<[Vec<TokenId>; 2]>,
    exchange: &Exchange,
    seed: u64,
) -> impl Iterator<Item = ([Vec<TokenId>; 2], bool)> {
    pairs.into_iter().enumerate().flat_map(move |(number, mut pair)| {
        let [first, second] = &mut pair;
        if first == second && second.len() > 2 {
            let mut rng = stream(seed, "order dropped words", &[number as u64]);
            second.retain(|_| !rng.random_bool(DROPPED));
            if second.is_empty() {
                second.clone_from(first);
            }
        }
        let swapped = swapped(&pair, exchange, seed, number as u64).map(|second| ([pair[0].clone(), second], false));
        [(pair, true)].into_iter().chain(swapped)
    })
}

/// The second sentence after a swap, if a swap is possible.
fn swapped([first, second]: &[Vec<TokenId>; 2], exchange: &Exchange, seed: u64, number: u64) -> Option<Vec<TokenId>> {
    let once = |sentence: &[TokenId], token: &TokenId| sentence.iter().filter(|other| *other == token).count() == 1;
    let is_common = |&i: &usize| once(second, &second[i]) && once(first, &second[i]);
    let places: Vec<usize> = (0..second.len()).filter(is_common).collect();
    let kind = |i: usize| exchange.kind(second[i]);
    let mut candidates = Vec::new();
    for (k, &i) in places.iter().enumerate() {
        for &j in &places[k + 1..] {
            let is_apart = second[i + 1..j].iter().any(|token| token.index() >= CONNECTING);
            if is_apart && kind(i) == kind(j) && kind(i) != Kind::Stays {
                candidates.push([i, j]);
            }
        }
    }
    let mut rng = stream(seed, "order swaps", &[number]);
    // Names say most about who does what to whom.
    let of_names: Vec<[usize; 2]> = candidates.iter().copied().filter(|&[i, _]| kind(i) == Kind::Name).collect();
    let from = if of_names.is_empty() || rng.random_bool(0.5) { &candidates } else { &of_names };
    let &[i, j] = from.choose(&mut rng)?;
    let mut changed = second.clone();
    changed.swap(i, j);
    Some(changed)
}

#[cfg(test)]
mod tests {
    use senv_core::{
        Scratch, StaticEncoder, Table, Tokenizer, Vocabulary,
        static_model::{CompressedRows, RowEncoding, order::OrderWords},
    };

    use super::*;
    use crate::systems::order::exchange::Capitals;

    #[test]
    fn names_change_places_where_something_stands_between_them() {
        // 250 frequent words first: only rarer words are names or take part in swaps.
        let mut words: Vec<String> = ["und", "der"].map(str::to_owned).to_vec();
        words.extend((0..248).map(|i| format!("f{i}")));
        words.extend(["anna", "bert", "hilft", "sieht", "morgen", "1812"].map(str::to_owned));
        let vocabulary =
            Vocabulary::from_counts(words.iter().map(String::as_str).zip((1..=words.len() as u64).rev()), 40_000)
                .unwrap();
        let rows = CompressedRows::compress(&Table::zeros(words.len(), 4).unwrap(), RowEncoding::F32).unwrap();
        let table = StaticEncoder::new(Tokenizer::words().lowercase(true), vocabulary, rows, None).unwrap();
        let words = OrderWords { table: &table, random: 4 };
        let mut capitals = Capitals::new(words);
        (0..5).for_each(|_| capitals.add("Dort hilft Anna dem Bert"));
        let exchange = Exchange::new(&capitals, [].into_iter(), 0.5).unwrap();
        let mut scratch = Scratch::default();
        let mut swaps = |a: &str, b: &str| {
            let pair = [a, b].map(|text| words.tokens(text, 99, &mut scratch));
            let spelled = |sentence: &[TokenId]| {
                sentence.iter().map(|&id| table.vocabulary().token(id)).collect::<Vec<_>>().join(" ")
            };
            let labelled = labelled_swaps(vec![pair], &exchange, 1);
            labelled.map(|([a, b], label)| (spelled(&a), spelled(&b), label)).collect::<Vec<_>>()
        };
        let owned = |pairs: &[(&str, &str, bool)]| {
            pairs.iter().map(|&(a, b, label)| (a.to_owned(), b.to_owned(), label)).collect::<Vec<_>>()
        };
        assert_eq!(
            swaps("Anna hilft Bert", "Anna sieht Bert"),
            owned(&[("anna hilft bert", "anna sieht bert", true), ("anna hilft bert", "bert sieht anna", false)])
        );
        for (a, b) in [("Anna und Bert", "Bert und Anna"), ("Anna hilft 1812", "Anna sieht 1812"), ("Anna", "Anna")] {
            let pairs = swaps(a, b);
            assert!(matches!(&pairs[..], [(_, _, true)]), "{pairs:?}");
        }
        // A name that occurs twice in one of them is ambiguous.
        assert_eq!(swaps("Anna hilft Bert hilft Anna", "Anna hilft Bert").len(), 1);
    }
}
