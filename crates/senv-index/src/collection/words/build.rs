//! Finds the words of rows.

use std::collections::HashMap;

use rayon::prelude::*;

use super::list::List;
use crate::documents::{Stemming, WordSpace, Words};

/// The fewest rows that a thread takes.
const PIECE: usize = 1024;

/// The words of rows, as a file has them.
#[derive(Debug, Default)]
pub(in crate::collection) struct Postings {
    /// The distinct words by ascending bytes, and the end of each.
    pub(super) text: Vec<u8>,
    pub(super) ends: Vec<u64>,
    /// The list of rows of each, and its end.
    pub(super) lists: Vec<u8>,
    pub(super) list_ends: Vec<u64>,
    /// The number of words of each row.
    pub(super) lengths: Vec<u32>,
}

impl Postings {
    /// The words of texts, one per row. The result does not depend on the number of threads.
    pub(in crate::collection) fn of(texts: &[String], stemming: Stemming) -> Self {
        let words = Words::new(stemming);
        let n = texts.len().div_ceil(rayon::current_num_threads()).max(PIECE);
        Self::of_pieces(texts, &words, n)
    }

    /// As `of`, with so many rows at a time.
    fn of_pieces(texts: &[String], words: &Words, n: usize) -> Self {
        let piece = |(number, texts): (usize, &[String])| Piece::of(texts, number * n, words);
        let pieces: Vec<Piece> = texts.par_chunks(n).enumerate().map(piece).collect();
        let mut all: Vec<(&str, usize, u32)> = Vec::with_capacity(pieces.iter().map(|piece| piece.words.len()).sum());
        for (number, piece) in pieces.iter().enumerate() {
            all.extend(piece.words.iter().map(|(word, &list)| (&**word, number, list)));
        }
        all.par_sort_unstable();
        let mut joined = Self::default();
        for one in all.chunk_by(|a, b| a.0 == b.0) {
            joined.text.extend_from_slice(one[0].0.as_bytes());
            joined.ends.push(joined.text.len() as u64);
            let mut next = 0;
            for &(_, piece, list) in one {
                next = pieces[piece].lists[list as usize].append(next, &mut joined.lists);
            }
            joined.list_ends.push(joined.lists.len() as u64);
        }
        joined.lengths = pieces.into_iter().flat_map(|piece| piece.lengths).collect();
        joined
    }
}

/// The words of consecutive rows.
#[derive(Debug, Default)]
struct Piece {
    words: HashMap<Box<str>, u32>,
    /// The words of tokens: a token is looked up once, and its stem is found once.
    tokens: HashMap<Box<str>, u32>,
    lists: Vec<List>,
    lengths: Vec<u32>,
}

impl Piece {
    fn of(texts: &[String], first: usize, of_text: &Words) -> Self {
        let mut piece = Self::default();
        let Self { words, tokens, lists, lengths } = &mut piece;
        let (stems, mut space) = (of_text.stems(), WordSpace::default());
        let mut number = |word: &str, lists: &mut Vec<List>| match words.get(word) {
            Some(&number) => number,
            None => {
                let number = lists.len() as u32;
                lists.push(List::default());
                words.insert(word.into(), number);
                number
            }
        };
        for (row, text) in (first as u32..).zip(texts) {
            let mut n = 0_u32;
            of_text.for_each_unstemmed(text, &mut space, |token, may_have_stem| {
                let of_token = match &stems {
                    Some(stems) if may_have_stem => match tokens.get(token) {
                        Some(&number) => number,
                        None => {
                            let mut of_token = 0;
                            stems.with_stem(token, &mut |word| of_token = number(word, lists));
                            tokens.insert(token.into(), of_token);
                            of_token
                        }
                    },
                    _ => number(token, lists),
                };
                lists[of_token as usize].count(row);
                n = n.saturating_add(1);
            });
            lengths.push(n);
        }
        lists.iter_mut().for_each(List::close);
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_are_those_of_the_words_of_each_row_however_rows_are_divided() {
        let texts: Vec<String> = (0..300)
            .map(|i| match i % 4 {
                0 => format!("The trains {} and trains of C++ {}", i % 7, i % 11),
                1 => String::new(),
                2 => format!("boxes, a box; naïve ＃{} example.org.", i % 5),
                _ => "猫とtrain".to_owned(),
            })
            .collect();
        for stemming in [Stemming::English, Stemming::None] {
            let words = Words::new(stemming);
            let whole = Postings::of_pieces(&texts, &words, texts.len());
            for n in [1, 7, 100] {
                let other = Postings::of_pieces(&texts, &words, n);
                assert_eq!((&other.text, &other.ends), (&whole.text, &whole.ends));
                assert_eq!((&other.lists, &other.list_ends), (&whole.lists, &whole.list_ends));
                assert_eq!(other.lengths, whole.lengths);
            }
            // Against the words of each row, one after another.
            let mut expected: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
            for (row, text) in texts.iter().enumerate() {
                let mut n = 0;
                words.for_each(text, |word| {
                    n += 1;
                    let rows = expected.entry(word.to_owned()).or_default();
                    match rows.last_mut().filter(|(last, _)| *last == row) {
                        Some((_, count)) => *count += 1,
                        None => rows.push((row, 1)),
                    }
                });
                assert_eq!(whole.lengths[row], n);
            }
            assert_eq!(whole.ends.len(), expected.len());
            let (mut start, mut list_start, mut last) = (0, 0, String::new());
            for (&end, &list_end) in whole.ends.iter().zip(&whole.list_ends) {
                let word = String::from_utf8(whole.text[start..end as usize].to_vec()).unwrap();
                let mut rows = Vec::new();
                let list = &whole.lists[list_start..list_end as usize];
                super::super::list::read(list, texts.len(), |row, n| rows.push((row, n))).unwrap();
                assert_eq!(rows, expected[&word], "{word}");
                assert!(last.as_bytes() < word.as_bytes());
                (start, list_start, last) = (end as usize, list_end as usize, word);
            }
        }
    }
}
