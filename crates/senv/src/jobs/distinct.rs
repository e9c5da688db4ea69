//! The distinct sentences of a text, each encoded once.

use std::collections::HashMap;

use senv_core::{SentenceEncoder, Table, memory::check_memory, text::without_last_emoji};

use crate::error::Result;

/// Sentences encoded per batch.
const CHUNK: usize = 1 << 16;

/// The equal sentences of a text.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// The first position of each distinct sentence, by row.
    pub(crate) firsts: Vec<usize>,
    /// The row of each sentence.
    pub(crate) rows: Vec<u32>,
}

impl Distinct {
    pub(crate) fn of(sentences: &[impl AsRef<str>]) -> Self {
        let (mut known, mut firsts): (HashMap<&str, u32>, Vec<usize>) = (HashMap::new(), Vec::new());
        let mut rows = Vec::with_capacity(sentences.len());
        for (number, sentence) in sentences.iter().enumerate() {
            let row = *known.entry(sentence.as_ref()).or_insert(firsts.len() as u32);
            if row as usize == firsts.len() {
                firsts.push(number);
            }
            rows.push(row);
        }
        Self { firsts, rows }
    }

    /// Like `of`, but a sentence with emoji at its end also equals the same without emoji, though not the same with
    /// others. Equal sentences of different groups are distinct.
    pub(crate) fn but_for_emoji(sentences: &[impl AsRef<str>], group: impl Fn(usize) -> u32) -> Self {
        let (mut known, mut with_emoji) = (HashMap::<(u32, &str), u32>::new(), HashMap::<(u32, &str), u32>::new());
        let (mut firsts, mut rows) = (Vec::new(), Vec::with_capacity(sentences.len()));
        for (number, sentence) in sentences.iter().enumerate() {
            let (sentence, group) = (sentence.as_ref(), group(number));
            let plain = without_last_emoji(sentence);
            let is_plain = plain.len() == sentence.len();
            let other = || if is_plain { with_emoji.get(&(group, plain)) } else { known.get(&(group, plain)) };
            let row = known.get(&(group, sentence)).or_else(other).copied().unwrap_or(firsts.len() as u32);
            if row as usize == firsts.len() {
                firsts.push(number);
            }
            known.entry((group, sentence)).or_insert(row);
            if !is_plain {
                with_emoji.entry((group, plain)).or_insert(row);
            }
            rows.push(row);
        }
        Self { firsts, rows }
    }

    /// The number of sentences equal to each distinct one, itself included.
    pub(crate) fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.firsts.len()];
        self.rows.iter().for_each(|&row| counts[row as usize] += 1);
        counts
    }

    /// The vectors of the distinct sentences.
    pub(crate) fn encode<E: SentenceEncoder + ?Sized>(
        &self,
        encoder: &E,
        sentences: &[impl AsRef<str>],
    ) -> Result<Table> {
        encode_lists(encoder, &[self.texts(sentences)])
    }

    /// The distinct sentences.
    pub(crate) fn texts<'s>(&self, sentences: &'s [impl AsRef<str>]) -> Vec<&'s str> {
        self.firsts.iter().map(|&number| sentences[number].as_ref()).collect()
    }
}

/// The vectors of several lists of sentences, one after another.
pub(crate) fn encode_lists<E: SentenceEncoder + ?Sized>(encoder: &E, lists: &[Vec<&str>]) -> Result<Table> {
    let (n, dim) = (lists.iter().map(Vec::len).sum::<usize>(), encoder.dim());
    check_memory::<f32>(n, dim)?;
    let mut values = Vec::new();
    values.try_reserve_exact(n * dim).map_err(|_| senv_core::Error::TooLarge { rows: n, dim })?;
    for texts in lists.iter().flat_map(|list| list.chunks(CHUNK)) {
        let (vectors, _) = encoder.encode_batch(texts)?;
        values.extend(vectors.iter());
    }
    Ok(Table::from_vec(n, dim, values)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_at_the_end_count_only_against_others() {
        let rows = |sentences: &[&str]| Distinct::but_for_emoji(sentences, |_| 0).rows;
        assert_eq!(rows(&["See you soon", "See you soon 😀", "See you soon 🎉🎉", "See you soon!"]), [0, 0, 0, 1]);
        assert_eq!(rows(&["Shipped 🚀", "Shipped 🙂", "Shipped", "Shipped 🚀"]), [0, 1, 0, 0]);
        assert_eq!(rows(&["😀", "🎉", "It works ❌", "It works"]), [0, 1, 2, 3]);
        let of_groups = Distinct::but_for_emoji(&["Rain.", "Rain. 😀", "Rain."], |number| number as u32 % 2);
        assert_eq!((of_groups.rows, of_groups.firsts), (vec![0, 1, 0], vec![0, 1]));
        assert_eq!(Distinct::of(&["Rain. 😀", "Rain.", "Rain. 😀"]).rows, [0, 1, 0]);
    }
}
