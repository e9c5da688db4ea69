//! A hash that identifies the data of a run, to refuse resuming a checkpoint with other data.

use senv_core::{Sentences, Table, Vocabulary, arrays::Parameters};

/// A sum over numbers that depends on each of them and on their order. It protects against mistakes, not against
/// malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    pub(crate) fn number(mut self, x: u64) -> Self {
        self.0 = (self.0 ^ x).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        self.0 ^= self.0 >> 32;
        self
    }

    pub(crate) fn numbers(self, xs: impl IntoIterator<Item = u64>) -> Self {
        xs.into_iter().fold(self, Self::number)
    }

    pub(crate) fn scores(self, scores: &[f64]) -> Self {
        self.number(scores.len() as u64).numbers(scores.iter().map(|score| score.to_bits()))
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.number(text.len() as u64).numbers(text.bytes().map(u64::from))
    }

    pub(crate) fn sentences(self, sentences: &Sentences) -> Self {
        sentences.iter().fold(self.number(sentences.len() as u64), |sum, sentence| {
            sum.number(sentence.len() as u64).numbers(sentence.iter().map(|token| u64::from(token.0)))
        })
    }

    pub(crate) fn vocabulary(self, vocabulary: &Vocabulary) -> Self {
        self.text(vocabulary.text()).numbers(vocabulary.offsets().iter().map(|&offset| u64::from(offset)))
    }

    pub(crate) fn table(self, table: &Table) -> Self {
        let rows = self.number(table.n_rows() as u64).number(table.dim() as u64);
        rows.numbers(table.iter().flatten().map(|x| u64::from(x.to_bits())))
    }

    pub(crate) fn parameters(self, parameters: &Parameters<f32>) -> Self {
        parameters.iter().fold(self, |sum, tensor| {
            sum.text(tensor.name()).numbers(tensor.values().iter().map(|x| u64::from(x.to_bits())))
        })
    }

    /// Returns the number as hexadecimal text.
    pub(crate) fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::TokenId;

    #[test]
    fn order_lengths_and_signs_count() {
        let of = |lists: &[&[u32]]| {
            let mut sentences = Sentences::new();
            lists.iter().for_each(|list| sentences.push(list.iter().map(|&id| TokenId(id))));
            Fingerprint::new().sentences(&sentences)
        };
        let all = [of(&[&[1, 2], &[3]]), of(&[&[1], &[2, 3]]), of(&[&[3], &[1, 2]]), of(&[&[2, 1], &[3]]), of(&[])];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
        assert_ne!(Fingerprint::new().scores(&[1.0, -0.0]), Fingerprint::new().scores(&[1.0, 0.0]));
        assert_ne!(Fingerprint::new().text("ab").text("c"), Fingerprint::new().text("a").text("bc"));
    }
}
