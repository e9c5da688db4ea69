//! Numbers of sentences, equal ones being one.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use senv_core::{Error, Result, TokenId, corpus::SentencesWriter};

/// The numbers of the sentences that came before, in 25 bytes of memory a place. A sentence is known by 128 bits of two
/// hashes whose keys are drawn anew for each run, so that its tokens need not stay in memory: among four million that
/// two of them agree by chance has a probability below 10^-25.
pub(super) struct Numbers {
    known: HashTable<Known>,
    /// Distinct sentences that are remembered at most.
    most: usize,
    hashes: [RandomState; 2],
}

#[derive(Clone, Copy)]
struct Known {
    hashes: [u64; 2],
    number: u32,
}

impl Numbers {
    pub(super) fn new(most: usize) -> Self {
        Self { known: HashTable::new(), most, hashes: Default::default() }
    }

    /// The number of a sentence: that of an equal one, or the next; then it is written, too.
    pub(super) fn of(&mut self, tokens: &[TokenId], sentences: &mut SentencesWriter) -> Result<u32> {
        let hashes = self.hashes.each_ref().map(|hash| hash.hash_one(tokens));
        if let Some(known) = self.known.find(hashes[0], |known| known.hashes == hashes) {
            return Ok(known.number);
        }
        let number = u32::try_from(sentences.len()).map_err(|_| Error::TooLarge { rows: sentences.len(), dim: 1 })?;
        sentences.push(tokens.iter().copied())?;
        self.known.insert_unique(hashes[0], Known { hashes, number }, |known| known.hashes[0]);
        Ok(number)
    }

    /// Whether it remembers as many as it may.
    pub(super) fn are_many(&self) -> bool {
        self.known.len() >= self.most
    }

    /// Sentences from here on equal none of those before.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
