//! Numbers of sentences; equal sentences share one.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use senv_core::{Error, Result, TokenId, corpus::SentencesWriter};

/// The numbers of earlier sentences, in 25 bytes of memory per place. A sentence is identified by 128 bits of two
/// hashes with random keys per run, so its tokens do not have to stay in memory. The probability that two of four
/// million sentences collide is below 10^-25.
pub(super) struct Numbers {
    known: HashTable<Known>,
    /// The maximum number of distinct sentences to remember.
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

    /// Returns the number of an equal earlier sentence. Otherwise assigns the next number and writes the sentence.
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

    /// Whether it remembers the maximum number of sentences.
    pub(super) fn are_many(&self) -> bool {
        self.known.len() >= self.most
    }

    /// Forgets earlier sentences, so later ones never equal them.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
