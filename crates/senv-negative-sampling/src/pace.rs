//! How many sentences may be computed at the same tables.
//!
//! A row that several sentences move at once, none of them seeing the others, overshoots; at the learning rates of the
//! papers the rows of a small vocabulary then grow without end. So before training begins some sentences are planned,
//! the target rows they would move are counted, and steps and rounds are made as long as collisions allow: a few
//! sentences and sixteen steps for the vocabulary of a real corpus, one sentence for that of a toy. The text and the
//! seed alone decide.

use std::collections::HashMap;

use senv_core::{BlockBuffer, Stream, stream};

use crate::{examples::Examples, noise::Noise, params::Params, plan::Plan};

/// Most tokens of a step: sentences computed together, by one thread.
const MAX_STEP_TOKENS: usize = 64;

/// Most steps of a round: what the deterministic schedule computes side by side.
const MAX_ROUND_STEPS: usize = 16;

/// How often, in the mean, a target row may be moved by the other sentences that are computed at the same tables.
const MAX_COLLISIONS: f64 = 0.5;

/// Sentences with examples that are planned to find out.
const SAMPLE: u64 = 256;

/// Lengths of steps and rounds. Part of what a seed means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// A step ends with the sentence that brings it to this many tokens.
    pub(crate) step_tokens: usize,
    /// Steps of a round.
    pub(crate) round_steps: usize,
    /// Whether even one sentence moves the same row several times.
    pub(crate) damped: bool,
}

impl Pace {
    /// Whether collisions are rare enough for the longest rounds.
    pub(crate) fn is_longest(&self) -> bool {
        self.round_steps == MAX_ROUND_STEPS
    }

    /// Plans the first sentences of a corpus, read through `read_block`, and measures.
    pub(crate) fn measure<E: Examples>(
        n_blocks: usize,
        mut read_block: impl FnMut(usize, &mut BlockBuffer) -> senv_core::Result<()>,
        examples: &E,
        noise: &Noise,
        params: &Params,
    ) -> senv_core::Result<Self> {
        let (mut buffer, mut plan, mut scratch) = (BlockBuffer::default(), Plan::default(), E::Scratch::default());
        let mut rng: Stream = stream(params.seed, "pace", &[]);
        let mut counts = Counts::default();
        'blocks: for block in 0..n_blocks {
            read_block(block, &mut buffer)?;
            for i in 0..buffer.n_sentences() {
                plan.clear();
                let sentence = buffer.sentence(i);
                examples.plan(sentence, buffer.first_sentence() + i as u64, &mut rng, &mut scratch, &mut plan);
                plan.draw_negatives(params.negatives, params.negatives_shared, noise, &mut rng);
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

/// Moves of target rows.
#[derive(Debug, Default)]
struct Counts {
    sentences: u64,
    tokens: u64,
    moves: u64,
    /// For each row its moves, and the squares of its moves in each sentence, summed.
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
            return Pace { step_tokens: 1, round_steps: 1, damped: true };
        }
        let moves = self.moves.max(1) as f64;
        let pairs: u64 = self.rows.values().map(|&(all, squares)| all * all - squares).sum();
        // Moves of the same row by one other sentence, and by the same sentence again.
        let across = pairs as f64 / (moves * (self.sentences - 1) as f64);
        let within = self.rows.values().map(|&(_, squares)| squares).sum::<u64>() as f64 / moves - 1.0;
        let sentences = 1.0 + MAX_COLLISIONS / across.max(1e-9);
        let mean_tokens = self.tokens as f64 / self.sentences as f64;
        let step = (sentences * mean_tokens / 2.0).min(MAX_STEP_TOKENS as f64);
        // A step of `step` tokens holds half a sentence more than that, in the mean.
        let per_step = step / mean_tokens + 0.5;
        Pace {
            step_tokens: if sentences < 2.0 { 1 } else { step.max(1.0) as usize },
            round_steps: ((sentences / per_step) as usize).clamp(1, MAX_ROUND_STEPS),
            damped: within > MAX_COLLISIONS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::RowId;

    /// Sentences of `n_targets` targets out of `n_rows` rows, ten negatives each.
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
            plan.draw_negatives(10, crate::NegativeSharing::Sentence, &noise, &mut rng);
            counts.add(&plan, 20);
        }
        counts.pace()
    }

    #[test]
    fn a_large_vocabulary_gets_long_rounds_and_a_toy_one_sentence() {
        assert_eq!(
            pace(100_000, 5),
            Pace { step_tokens: MAX_STEP_TOKENS, round_steps: MAX_ROUND_STEPS, damped: false }
        );
        assert_eq!(pace(20, 12), Pace { step_tokens: 1, round_steps: 1, damped: true });
        let between = pace(1000, 5);
        assert!(between.round_steps > 1 && between.round_steps < 16, "{between:?}");
    }
}
