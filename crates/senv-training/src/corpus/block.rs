//! Blocks of sentences: their boundaries, storage and reading.
//!
//! A block is stored as the length of each sentence, then the ids of all sentences, back to back. The highest bit of a
//! length marks the last sentence of a document.

use senv_base::TokenId;

/// A block ends with the sentence that brings it to this number of tokens.
const TOKENS: usize = 4096;
/// It also ends after this number of sentences, which may be empty.
const SENTENCES: usize = 4096;
/// Marks the length of the last sentence of a document.
pub(super) const DOCUMENT_END: u32 = 1 << 31;

/// The position of a stored block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The first word in the storage.
    pub(super) start: u64,
    pub(super) first_sentence: u64,
    pub(super) first_token: u64,
    pub(super) n_sentences: u32,
    pub(super) n_tokens: u32,
}

/// Divides a run of sentences into blocks.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    lengths: Vec<u32>,
    ids: Vec<u32>,
    /// The complete blocks, as stored.
    pub(super) words: Vec<u32>,
    /// Their positions, relative to the start of the run.
    pub(super) blocks: Vec<Block>,
    /// The sums over the run.
    pub(super) sums: Sums,
}

/// Sums over a run of sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) n_sentences: u64,
    pub(super) n_tokens: u64,
    pub(super) n_documents: u64,
    pub(super) n_with_two: u64,
    /// A hash of the sentences in order. It is a polynomial, so the hashes of two runs give the hash of both.
    pub(super) hash: u64,
}

const HASH_BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Sums {
    /// Adds the sums of the following run.
    pub(super) fn extend(&mut self, next: &Self) {
        let (mut power, mut base, mut n) = (1_u64, HASH_BASE, next.n_sentences);
        while n > 0 {
            if n & 1 == 1 {
                power = power.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            n >>= 1;
        }
        self.hash = self.hash.wrapping_mul(power).wrapping_add(next.hash);
        self.n_sentences += next.n_sentences;
        self.n_tokens += next.n_tokens;
        self.n_documents += next.n_documents;
        self.n_with_two += next.n_with_two;
    }
}

/// The hash of one sentence.
fn hash(ids: &[u32], document_end: bool) -> u64 {
    let mut state = (ids.len() as u64) << 1 | u64::from(document_end);
    for &id in ids {
        state = (state.rotate_left(23) ^ u64::from(id)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    state ^= state >> 32;
    state = state.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    state ^ (state >> 29)
}

impl BlockWriter {
    /// Removes the last run.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.blocks.clear();
        self.sums = Sums::default();
    }

    pub(super) fn push(&mut self, ids: impl IntoIterator<Item = u32>, document_end: bool) {
        let start = self.ids.len();
        self.ids.extend(ids);
        let sentence = &self.ids[start..];
        let mark = if document_end { DOCUMENT_END } else { 0 };
        self.lengths.push(sentence.len() as u32 | mark);
        self.sums.extend(&Sums {
            n_sentences: 1,
            n_tokens: sentence.len() as u64,
            n_documents: u64::from(document_end),
            n_with_two: u64::from(sentence.len() >= 2),
            hash: hash(sentence, document_end),
        });
        if self.ids.len() >= TOKENS || self.lengths.len() >= SENTENCES {
            self.end_block();
        }
    }

    /// Ends the current block, if there is one.
    pub(super) fn end_block(&mut self) {
        if self.lengths.is_empty() {
            return;
        }
        self.blocks.push(Block {
            start: self.words.len() as u64,
            first_sentence: self.sums.n_sentences - self.lengths.len() as u64,
            first_token: self.sums.n_tokens - self.ids.len() as u64,
            n_sentences: self.lengths.len() as u32,
            n_tokens: self.ids.len() as u32,
        });
        self.words.append(&mut self.lengths);
        self.words.append(&mut self.ids);
    }
}

/// A block of sentences in memory, reused from block to block. It allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct BlockBuffer {
    /// As stored; may be longer than the block.
    words: Vec<u32>,
    /// The end of each sentence in `words`.
    ends: Vec<u32>,
    n_tokens: usize,
    first_sentence: u64,
}

impl BlockBuffer {
    /// Makes room for a block and returns it.
    pub(super) fn prepare(&mut self, block: &Block) -> &mut [u32] {
        self.ends.clear();
        self.first_sentence = block.first_sentence;
        self.n_tokens = block.n_tokens as usize;
        let n = block.n_sentences as usize + self.n_tokens;
        if self.words.len() < n {
            self.words.resize(n, 0);
        }
        &mut self.words[..n]
    }

    /// Indexes the sentences of the data just read; false if it is not the block.
    pub(super) fn index(&mut self, block: &Block) -> bool {
        let n = block.n_sentences as usize;
        let total = n as u64 + u64::from(block.n_tokens);
        let mut end = n as u64;
        for &length in &self.words[..n] {
            end += u64::from(length & !DOCUMENT_END);
            if end > total {
                break;
            }
            self.ends.push(end as u32);
        }
        let whole = end == total;
        if !whole {
            self.ends.clear();
            self.n_tokens = 0;
        }
        whole
    }

    /// The number of sentences.
    #[must_use]
    pub fn n_sentences(&self) -> usize {
        self.ends.len()
    }

    /// The number of tokens in all sentences.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// The index in the corpus of the first sentence, counted from 0.
    #[must_use]
    pub fn first_sentence(&self) -> u64 {
        self.first_sentence
    }

    /// Sentence `i` of the block; empty if no token is in the vocabulary.
    ///
    /// # Panics
    /// If `i` is not below [`BlockBuffer::n_sentences`].
    #[inline]
    #[must_use]
    pub fn sentence(&self, i: usize) -> &[TokenId] {
        let start = if i == 0 { self.ends.len() } else { self.ends[i - 1] as usize };
        bytemuck::cast_slice(&self.words[start..self.ends[i] as usize])
    }

    /// Whether sentence `i` of the block is the last of its document.
    ///
    /// # Panics
    /// If `i` is not below [`BlockBuffer::n_sentences`].
    #[must_use]
    pub fn ends_document(&self, i: usize) -> bool {
        self.words[..self.ends.len()][i] & DOCUMENT_END != 0
    }

    /// The tokens of all sentences, back to back.
    #[must_use]
    pub fn tokens(&self) -> &[TokenId] {
        let start = self.ends.len();
        bytemuck::cast_slice(&self.words[start..start + self.n_tokens])
    }

    /// Iterates over the sentences in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[TokenId]> + '_ {
        (0..self.n_sentences()).map(|i| self.sentence(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(sentences: &[Vec<u32>]) -> BlockWriter {
        let mut writer = BlockWriter::default();
        for (i, sentence) in sentences.iter().enumerate() {
            writer.push(sentence.iter().copied(), i % 7 == 0);
        }
        writer.end_block();
        writer
    }

    #[test]
    fn blocks_end_with_enough_tokens_or_sentences() {
        let sentences: Vec<Vec<u32>> = (0..9000).map(|i| vec![i; (i % 5) as usize]).collect();
        let writer = write(&sentences);
        let tokens: Vec<u32> = writer.blocks.iter().map(|block| block.n_tokens).collect();
        assert_eq!(tokens.iter().sum::<u32>(), 18_000);
        assert!(tokens[..4].iter().all(|&n| (4096..4100).contains(&n)), "{tokens:?}");
        let empty = write(&vec![vec![]; 10_000]);
        assert_eq!(empty.blocks.iter().map(|block| block.n_sentences).collect::<Vec<_>>(), [4096, 4096, 1808]);
        assert_eq!(write(&[vec![1; 50_000]]).blocks[0].n_tokens, 50_000);
    }

    #[test]
    fn the_hash_of_two_runs_is_that_of_the_whole_and_sees_every_change() {
        let sentences: Vec<Vec<u32>> = (0..50).map(|i| (0..i % 9).collect()).collect();
        let whole = write(&sentences).sums;
        let (mut first, second) = (write(&sentences[..21]).sums, write(&sentences[21..]).sums);
        first.extend(&second);
        assert_eq!(first, whole);
        for changed in [
            |s: &mut Vec<Vec<u32>>| s.swap(5, 6),
            |s: &mut Vec<Vec<u32>>| s[8].swap(0, 1),
            |s: &mut Vec<Vec<u32>>| s[4][0] = 1,
            |s: &mut Vec<Vec<u32>>| _ = s.pop(),
            |s: &mut Vec<Vec<u32>>| {
                let moved = s[8].pop().unwrap();
                s[9].insert(0, moved);
            },
        ] {
            let mut other = sentences.clone();
            changed(&mut other);
            assert_ne!(write(&other).sums.hash, whole.hash);
        }
    }

    #[test]
    fn a_block_that_does_not_add_up_is_refused() {
        let writer = write(&[vec![1, 2], vec![3]]);
        let mut buffer = BlockBuffer::default();
        buffer.prepare(&writer.blocks[0]).copy_from_slice(&writer.words);
        assert!(buffer.index(&writer.blocks[0]));
        assert_eq!((buffer.sentence(1), buffer.tokens().len()), (&[TokenId(3)][..], 3));
        assert_eq!((buffer.ends_document(0), buffer.ends_document(1)), (true, false));
        for wrong in [0, 1, 3, 1000, u32::MAX] {
            buffer.prepare(&writer.blocks[0]).copy_from_slice(&writer.words);
            buffer.words[0] = wrong;
            assert!(!buffer.index(&writer.blocks[0]));
            assert_eq!((buffer.n_sentences(), buffer.n_tokens()), (0, 0));
        }
    }
}
