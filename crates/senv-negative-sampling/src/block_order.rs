//! The order in which an epoch reads the blocks of the text.
//!
//! The learning rate falls to 0, so text read last is learned least. If several collections are concatenated, that is
//! the last of them. A shuffled order spreads every collection over the whole run. It depends only on the seed and the
//! epoch, so it is the same at any number of threads and after resuming.

use std::sync::{Arc, Mutex, PoisonError};

use rand::seq::SliceRandom;
use senv_core::{Corpus, hyperparameters::named_values, rng::stream};
use serde::{Deserialize, Serialize};

/// The order in which an epoch reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TextOrder {
    /// From the first line to the last, as in the releases.
    #[default]
    Given,
    /// In blocks of several hundred neighboring lines, in a new random order for each epoch.
    Shuffled,
}

named_values!(TextOrder {
    Given = "given": "From the first line to the last, as in the released code",
    Shuffled = "shuffled": "Blocks of a few hundred lines, in a new random order in each epoch",
});

impl TextOrder {
    /// Whether this is the value of configurations that omit it.
    pub(crate) fn is_given(&self) -> bool {
        *self == Self::Given
    }
}

/// The maximum number of neighboring blocks kept together: 64 blocks are a MiB of token ids, which any disk reads at
/// full speed.
const MAX_RUN: usize = 64;

/// The minimum number of runs of blocks before a run gets longer than one block.
const MIN_RUNS: usize = 4096;

#[derive(Debug)]
pub(crate) struct EpochOrder {
    epoch: u64,
    /// The blocks in order, with the number of tokens before each; `None` for text order.
    blocks: Option<Vec<(u32, u64)>>,
}

impl EpochOrder {
    fn new(corpus: &Corpus, order: TextOrder, seed: u64, epoch: u64) -> Self {
        let blocks = (order == TextOrder::Shuffled).then(|| {
            let mut before = 0;
            let place = |block: u32| {
                let place = (block, before);
                before += corpus.tokens_before(block as usize + 1) - corpus.tokens_before(block as usize);
                place
            };
            shuffled(corpus.n_blocks(), seed, epoch).map(place).collect()
        });
        Self { epoch, blocks }
    }

    /// The block at position `place` of the epoch, and the number of tokens before it.
    pub(crate) fn block(&self, corpus: &Corpus, place: usize) -> (usize, u64) {
        match &self.blocks {
            Some(blocks) => (blocks[place].0 as usize, blocks[place].1),
            None => (place, corpus.tokens_before(place)),
        }
    }
}

/// The numbers below `n_blocks` in the order of an epoch.
fn shuffled(n_blocks: usize, seed: u64, epoch: u64) -> impl Iterator<Item = u32> {
    let run = (n_blocks / MIN_RUNS).clamp(1, MAX_RUN);
    let mut runs: Vec<u32> = (0..n_blocks.div_ceil(run) as u32).collect();
    runs.shuffle(&mut stream(seed, "order of the text", &[epoch]));
    runs.into_iter().flat_map(move |number| {
        let start = number as usize * run;
        start as u32..(start + run).min(n_blocks) as u32
    })
}

/// The order of the current epoch, computed by the first thread that needs it.
#[derive(Debug, Default)]
pub(crate) struct PresentOrder(Mutex<Option<Arc<EpochOrder>>>);

impl PresentOrder {
    pub(crate) fn of(&self, corpus: &Corpus, order: TextOrder, seed: u64, epoch: u64) -> Arc<EpochOrder> {
        let mut present = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*present {
            Some(known) if known.epoch == epoch => known.clone(),
            // A slow thread can need the previous epoch: then both are computed again, which takes milliseconds.
            _ => present.insert(Arc::new(EpochOrder::new(corpus, order, seed, epoch))).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::{Sentences, TokenId};

    #[test]
    fn every_block_comes_once_in_an_epoch_and_in_another_order_in_the_next() {
        for n_blocks in [0, 1, 2, 7, MIN_RUNS, 2 * MIN_RUNS + 3, 100 * MIN_RUNS + 17] {
            let order: Vec<u32> = shuffled(n_blocks, 1, 0).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..n_blocks as u32), "{n_blocks} blocks");
            if n_blocks > 2 {
                assert_ne!(order, sorted);
                assert_ne!(order, shuffled(n_blocks, 1, 1).collect::<Vec<_>>(), "another epoch");
                assert_ne!(order, shuffled(n_blocks, 2, 0).collect::<Vec<_>>(), "another seed");
            }
        }
    }

    #[test]
    fn an_epoch_has_one_order_however_often_it_is_asked_for() {
        // Several blocks of different lengths.
        let sentence = |n: usize| (0..n).map(|i| TokenId(i as u32 % 7)).collect::<Vec<_>>();
        let mut sentences = Sentences::new();
        (0..12_000).for_each(|i| sentences.push(sentence(1 + i % 13 + i / 3000)));
        let corpus = Corpus::from_sentences(sentences);
        assert!(corpus.n_blocks() > 8, "{}", corpus.n_blocks());
        let present = PresentOrder::default();
        let of = |epoch| present.of(&corpus, TextOrder::Shuffled, 1, epoch);
        let (first, again) = (of(0), of(0));
        assert!(Arc::ptr_eq(&first, &again), "made once");
        let blocks = |order: &EpochOrder| (0..corpus.n_blocks()).map(|i| order.block(&corpus, i)).collect::<Vec<_>>();
        let (second, back) = (of(1), of(0));
        assert_ne!(blocks(&first), blocks(&second));
        assert_eq!(blocks(&first), blocks(&back));
        // The tokens before a block are those of the blocks already read.
        for order in [&first, &second] {
            let mut before = 0;
            for (block, tokens) in blocks(order) {
                assert_eq!(tokens, before);
                before += corpus.tokens_before(block + 1) - corpus.tokens_before(block);
            }
            assert_eq!(before, corpus.n_tokens());
        }
        let given = present.of(&corpus, TextOrder::Given, 1, 2);
        assert!(blocks(&given).into_iter().eq((0..corpus.n_blocks()).map(|i| (i, corpus.tokens_before(i)))));
    }

    #[test]
    fn blocks_of_a_long_text_stay_together_in_runs_of_a_mebibyte() {
        let order: Vec<u32> = shuffled(100 * MIN_RUNS, 1, 0).collect();
        let neighbours = order.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(neighbours >= order.len() / MAX_RUN * (MAX_RUN - 1), "{neighbours}");
    }

    #[test]
    fn the_collections_of_a_text_are_dealt_out_over_the_epoch() {
        // Two collections of 500 blocks: the mean position of the second is 749.5 in text order.
        let places =
            |epoch| shuffled(1000, 3, epoch).zip(0..).filter(|(block, _)| *block >= 500).map(|(_, place)| place);
        for epoch in 0..5 {
            let mean = places(epoch).sum::<u32>() as f64 / 500.0;
            // The standard deviation of the mean is 9.
            assert!((450.0..550.0).contains(&mean), "{mean}");
        }
    }
}
