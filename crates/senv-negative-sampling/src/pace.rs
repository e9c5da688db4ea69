//! Chooses how many sentences are computed from the same tables.
//!
//! A row overshoots if several sentences update it without seeing each other's updates. At the learning rates of the
//! papers, the rows of a small vocabulary then grow without bound. So before training, several sentences are planned,
//! the target rows they would update are counted, and steps get as long as collisions allow. That is several sentences
//! for the vocabulary of a real corpus, and one for a toy vocabulary. Only the text and the seed decide.

use std::collections::HashMap;

use senv_core::{
    corpus::BlockBuffer,
    rng::{Stream, stream},
};

use crate::{examples::Examples, noise::Negatives, params::NegativeSamplingParams, plan::Plan};

/// The maximum number of tokens in a step, whose sentences are computed together.
///
/// Measured against the authors' program, which updates one target at a time. On 700,000 tokens, the mean loss of an
/// epoch is below that of single sentences. The difference is 0 to 1 % with 32 tokens, 1 to 3 % with 64, and 4 to 30 %
/// with 256.
const MAX_STEP_TOKENS: usize = 32;

/// The maximum mean number of updates of a target row by the other sentences of a step.
const MAX_COLLISIONS: f64 = 0.5;

/// The number of sentences with examples that are planned to measure it.
const SAMPLE: u64 = 256;

/// The length of steps. A run with the same seed must use the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// A step ends with the sentence that brings it to this many tokens.
    pub(crate) step_tokens: usize,
}

impl Pace {
    /// Whether collisions are rare enough for the longest steps.
    pub(crate) fn is_longest(&self) -> bool {
        self.step_tokens == MAX_STEP_TOKENS
    }

    /// Plans the first sentences of a corpus, read through `read_block`, and measures collisions.
    pub(crate) fn measure<'n, E: Examples>(
        n_blocks: usize,
        mut read_block: impl FnMut(usize, &mut BlockBuffer) -> senv_core::Result<()>,
        examples: &E,
        noise: impl Into<Negatives<'n>>,
        params: &NegativeSamplingParams,
    ) -> senv_core::Result<Self> {
        let (mut buffer, mut plan, mut scratch) = (BlockBuffer::default(), Plan::default(), E::Scratch::default());
        let mut rng: Stream = stream(params.seed, "pace", &[]);
        let mut counts = Counts::default();
        let (noise, n_rows) = (noise.into(), examples.n_target_rows());
        let NegativeSamplingParams { negatives, negatives_shared: sharing, .. } = *params;
        'blocks: for block in 0..n_blocks {
            read_block(block, &mut buffer)?;
            for i in 0..buffer.n_sentences() {
                plan.clear();
                let sentence = buffer.sentence(i);
                examples.plan_in_block(&buffer, i, &mut rng, &mut scratch, &mut plan);
                plan.draw_negatives(negatives, sharing, params.first_lr(), noise, n_rows, &mut rng)?;
                if !plan.is_empty() {
                    counts.add(&plan, sentence.len());
                }
                if counts.sentences == SAMPLE {
                    break 'blocks;
                }
            }
        }
        Ok(counts.pace())
    }
}

/// Counts of target row updates.
#[derive(Debug, Default)]
struct Counts {
    sentences: u64,
    tokens: u64,
    moves: u64,
    /// For each row: the number of updates, and the sum over sentences of the squared number of updates.
    rows: HashMap<u32, (u64, u64)>,
}

impl Counts {
    fn add(&mut self, plan: &Plan, n_tokens: usize) {
        let mut here: HashMap<u32, u64> = HashMap::new();
        for row in plan.moving_rows() {
            *here.entry(row).or_default() += 1;
        }
        for (row, n) in here {
            let (all, squares) = self.rows.entry(row).or_default();
            (*all, *squares) = (*all + n, *squares + n * n);
            self.moves += n;
        }
        self.sentences += 1;
        self.tokens += n_tokens as u64;
    }

    fn pace(&self) -> Pace {
        if self.sentences < 2 {
            return Pace { step_tokens: 1 };
        }
        // Updates of the same row by another sentence.
        let pairs: u64 = self.rows.values().map(|&(all, squares)| all * all - squares).sum();
        let across = pairs as f64 / (self.moves.max(1) as f64 * (self.sentences - 1) as f64);
        let sentences = 1.0 + MAX_COLLISIONS / across.max(1e-9);
        let mean_tokens = self.tokens as f64 / self.sentences as f64;
        let step = (sentences * mean_tokens / 2.0).min(MAX_STEP_TOKENS as f64);
        Pace { step_tokens: if sentences < 2.0 { 1 } else { step.max(1.0) as usize } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;
    use senv_core::{Corpus, RowId, Sentences, TokenId};

    /// Sentences with `n_targets` targets each, out of `n_rows` rows, with ten negatives per target.
    fn pace(n_rows: u32, n_targets: u32) -> Pace {
        let noise = Noise::new(&vec![1; n_rows as usize], 0.5).unwrap();
        let mut rng = stream(1, "pace", &[]);
        let mut counts = Counts::default();
        for sentence in 0..SAMPLE as u32 {
            let mut plan = Plan::default();
            plan.open_group([RowId(0), RowId(1)]);
            for t in 0..n_targets {
                plan.push_target(RowId((sentence * 31 + t * 7) % n_rows), true);
            }
            plan.draw_negatives(10, crate::NegativeSharing::Sentence, 0.1, &noise, usize::MAX, &mut rng).unwrap();
            counts.add(&plan, 20);
        }
        counts.pace()
    }

    #[test]
    fn a_large_vocabulary_gets_long_steps_and_a_toy_one_sentence() {
        assert!(pace(100_000, 5).is_longest());
        let toy = pace(20, 12);
        assert_eq!((toy, toy.is_longest()), (Pace { step_tokens: 1 }, false));
    }

    #[test]
    fn a_step_is_as_long_as_its_sentences_may_collide() {
        // 11 sentences of 10 tokens and 100 updates, of which 20^2 - 150 = 250 pairs meet. An update meets 0.25 of
        // another sentence. So 3 sentences meet 0.5 times, and half of their 30 tokens make a step.
        let counts = Counts { sentences: 11, tokens: 110, moves: 100, rows: HashMap::from([(0, (20, 150))]) };
        assert_eq!(counts.pace(), Pace { step_tokens: 15 });
        // Twice as many pairs give 2 sentences.
        let counts = Counts { rows: HashMap::from([(0, (20, 150)), (7, (30, 650))]), ..counts };
        assert_eq!(counts.pace(), Pace { step_tokens: 10 });
        // One more pair gives less than 2.
        let counts = Counts { rows: HashMap::from([(0, (20, 150)), (7, (30, 649))]), ..counts };
        assert_eq!(counts.pace(), Pace { step_tokens: 1 });
    }

    #[test]
    fn one_sentence_says_nothing_of_collisions_and_two_do() {
        let mut counts = Counts::default();
        assert_eq!(counts.pace(), Pace { step_tokens: 1 });
        for (sentence, steps) in [(0, 1), (1, MAX_STEP_TOKENS)] {
            let mut plan = Plan::default();
            plan.open_group([RowId(0)]);
            plan.push_target(RowId(sentence), true);
            counts.add(&plan, 20);
            assert_eq!(counts.pace(), Pace { step_tokens: steps }, "{} sentences", sentence + 1);
        }
    }

    /// A sentence predicts its words, unless it begins with 0.
    struct Few;

    impl Examples for Few {
        type Scratch = ();

        fn n_source_rows(&self) -> usize {
            100
        }

        fn n_target_rows(&self) -> usize {
            100
        }

        fn plan(&self, sentence: &[TokenId], _: u64, _: &mut Stream, (): &mut (), plan: &mut Plan) {
            if sentence[0].0 != 0 {
                plan.open_group([RowId(sentence[0].0)]);
                sentence.iter().for_each(|token| plan.push_target(RowId(token.0), true));
            }
        }
    }

    #[test]
    fn the_first_sentences_with_examples_decide() {
        // Every second sentence has none.
        let mut sentences = Sentences::new();
        (0..20_000_u32).for_each(|i| {
            sentences.push((0..5).map(|k| TokenId(if i % 2 == 0 { 0 } else { 1 + (i * 7 + k * 13) % 99 })))
        });
        let corpus = Corpus::from_sentences(sentences);
        let noise = Noise::new(&[1; 100], 0.5).unwrap();
        let params = NegativeSamplingParams::default();
        let measured = |n_blocks| {
            let mut read = Vec::new();
            let read_block = |block, buffer: &mut BlockBuffer| {
                read.push(block);
                corpus.read_block(block, buffer)
            };
            let pace = Pace::measure(n_blocks, read_block, &Few, &noise, &params).unwrap();
            (pace, read)
        };
        let mut buffer = BlockBuffer::default();
        let (mut n_sentences, mut needed) = (0, 0);
        while n_sentences < 2 * SAMPLE as usize {
            corpus.read_block(needed, &mut buffer).unwrap();
            (n_sentences, needed) = (n_sentences + buffer.n_sentences(), needed + 1);
        }
        assert!(needed < corpus.n_blocks(), "{needed}");
        let (pace, read) = measured(corpus.n_blocks());
        assert!(read.into_iter().eq(0..needed), "no more than the sample is read");
        assert!(pace.step_tokens > 1 && !pace.is_longest(), "{pace:?}");
        // Sentences without examples count neither as sentences nor by their words.
        let mut without = Sentences::new();
        (0..20_000_u32)
            .filter(|i| i % 2 == 1)
            .for_each(|i| without.push((0..5).map(|k| TokenId(1 + (i * 7 + k * 13) % 99))));
        let without = Corpus::from_sentences(without);
        let read_block = |block, buffer: &mut BlockBuffer| without.read_block(block, buffer);
        assert_eq!(Pace::measure(without.n_blocks(), read_block, &Few, &noise, &params).unwrap(), pace);
    }
}
