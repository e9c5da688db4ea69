//! The order of the examples.
//!
//! ```text
//! π_p = a permutation of n examples in pass p,                               n ≤ W = 2^22
//! π_p = the blocks of 2^12 examples in random order; every 2^10 of them, a window of W examples, shuffled      n > W
//! ```
//!
//! With more than W examples, those of a window come from 1,024 stretches of the file, of a few hundred kilobytes each.
//! Their order takes 16 MiB, for any number of examples.

use rand::{RngExt, seq::SliceRandom};
use senv_core::rng::stream;
use serde::{Deserialize, Serialize};

use super::Source;

/// A part of a permutation.
struct Window {
    pass: u64,
    /// Its first position in the permutation.
    start: u32,
    examples: Vec<u32>,
}

impl Window {
    /// The part of the permutation of pass `pass` over `n` examples that contains position `at`.
    fn of((window, block): (u32, u32), (seed, source, pass): (u64, u64, u64), n: u32, at: u32) -> Self {
        if n <= window {
            let mut examples: Vec<u32> = (0..n).collect();
            examples.shuffle(&mut stream(seed, "examples", &[source, pass]));
            return Self { pass, start: 0, examples };
        }
        let mut blocks: Vec<u32> = (0..n.div_ceil(block)).collect();
        blocks.shuffle(&mut stream(seed, "blocks", &[source, pass]));
        let examples_of = |&i: &u32| i * block..n.min((i + 1).saturating_mul(block));
        let mut start = 0;
        for (number, blocks) in blocks.chunks((window / block) as usize).enumerate() {
            let end = start + blocks.iter().map(|i| examples_of(i).len() as u32).sum::<u32>();
            if at < end {
                let mut examples: Vec<u32> = blocks.iter().flat_map(examples_of).collect();
                examples.shuffle(&mut stream(seed, "window", &[source, pass, number as u64]));
                return Self { pass, start, examples };
            }
            start = end;
        }
        Self { pass, start, examples: Vec::new() }
    }

    /// The examples starting at position `at` of the permutation, if this window belongs to the pass and contains that
    /// position.
    fn from(&self, pass: u64, at: u32) -> Option<&[u32]> {
        let skipped = at.checked_sub(self.start)? as usize;
        self.examples.get(skipped..).filter(|left| self.pass == pass && !left.is_empty())
    }
}

/// The position in each source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursors(Vec<Cursor>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    /// Completed passes.
    pass: u64,
    /// Examples of this pass already used.
    at: u32,
}

/// The number of examples that are shuffled together, W.
const WINDOW: u32 = 1 << 22;

/// The number of consecutive examples that enter a window together.
const BLOCK: u32 = 1 << 12;

/// The order of the examples: a new permutation of a source in each pass. The last batch of a pass is kept even if it
/// is smaller. The order depends only on the seed and the cursors.
pub(super) struct ExampleOrder {
    sources: Vec<Source>,
    /// Whether sources are drawn by weight; otherwise an epoch passes through each of them once.
    weighted: bool,
    batch: usize,
    seed: u64,
    pub(super) cursors: Cursors,
    /// The current window of each source.
    windows: Vec<Option<Window>>,
    /// Examples per window and per block.
    sizes: (u32, u32),
    /// The order of sources in an epoch, and the number of that epoch.
    plan: Option<(u64, Vec<u32>)>,
}

impl ExampleOrder {
    pub(super) fn new(sources: Vec<Source>, batch: usize, seed: u64) -> Self {
        let weighted = sources.len() > 1 && sources.iter().any(|source| source.weight.is_some());
        let cursors = Cursors(vec![Cursor { pass: 0, at: 0 }; sources.len()]);
        let windows = sources.iter().map(|_| None).collect();
        Self { sources, weighted, batch, seed, cursors, windows, sizes: (WINDOW, BLOCK), plan: None }
    }

    /// Whether these are valid cursors: one per source, each within its examples.
    pub(super) fn accepts(&self, Cursors(cursors): &Cursors) -> bool {
        let is_within =
            |(cursor, source): (&Cursor, &Source)| cursor.at < source.n_examples.max(1) && cursor.pass < u64::MAX;
        cursors.len() == self.sources.len() && cursors.iter().zip(&self.sources).all(is_within)
    }

    /// Steps that see as many examples as exist.
    pub(super) fn steps_an_epoch(&self) -> u64 {
        self.sources.iter().map(|source| self.batches(*source)).sum()
    }

    fn batches(&self, source: Source) -> u64 {
        u64::from(source.n_examples).div_ceil(self.batch as u64)
    }

    /// Returns the source and writes the examples of step `number`; steps must be requested in order.
    pub(super) fn next(&mut self, number: u64, examples: &mut Vec<u32>) -> usize {
        let source = if self.sources.len() == 1 {
            0
        } else if self.weighted {
            self.draw(number)
        } else {
            self.planned(number)
        };
        let Cursor { pass, at } = self.cursors.0[source];
        let n = self.sources[source].n_examples;
        let end = (at as usize + self.batch).min(n as usize) as u32;
        examples.clear();
        while (examples.len() as u32) < end - at {
            let here = at + examples.len() as u32;
            let held = self.windows[source].as_ref().and_then(|window| window.from(pass, here));
            if let Some(left) = held {
                examples.extend_from_slice(&left[..left.len().min((end - here) as usize)]);
            } else {
                self.windows[source] = Some(Window::of(self.sizes, (self.seed, source as u64, pass), n, here));
            }
        }
        self.cursors.0[source] = if end == n { Cursor { pass: pass + 1, at: 0 } } else { Cursor { pass, at: end } };
        source
    }

    /// Draws a source by weight. A source without a weight counts as 1; one without examples is never drawn.
    fn draw(&self, number: u64) -> usize {
        let weight = |source: &Source| if source.n_examples == 0 { 0.0 } else { source.weight.unwrap_or(1.0) };
        let total: f64 = self.sources.iter().map(weight).sum();
        let mut left = stream(self.seed, "source", &[number]).random_range(0.0..1.0) * total;
        let mut chosen = 0;
        for (i, source) in self.sources.iter().enumerate().filter(|(_, source)| weight(source) > 0.0) {
            chosen = i;
            left -= weight(source);
            if left < 0.0 {
                break;
            }
        }
        chosen
    }

    /// The source of a step if each source is passed through once per epoch; the batches of all sources are mixed.
    fn planned(&mut self, number: u64) -> usize {
        let steps = self.steps_an_epoch().max(1);
        let (epoch, place) = (number / steps, (number % steps) as usize);
        if self.plan.as_ref().is_none_or(|(of, _)| *of != epoch) {
            let mut plan = Vec::new();
            for (i, source) in self.sources.iter().enumerate() {
                plan.extend((0..self.batches(*source)).map(|_| i as u32));
            }
            plan.shuffle(&mut stream(self.seed, "sources", &[epoch]));
            self.plan = Some((epoch, plan));
        }
        self.plan.as_ref().map_or(0, |(_, plan)| plan[place] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(order: &mut ExampleOrder, from: u64, steps: u64) -> Vec<(usize, Vec<u32>)> {
        let mut examples = Vec::new();
        (from..from + steps).map(|number| (order.next(number, &mut examples), examples.clone())).collect()
    }

    fn source(n_examples: u32, weight: Option<f64>) -> Source {
        Source { n_examples, weight }
    }

    #[test]
    fn an_epoch_sees_every_example_once_and_the_next_another_order() {
        for sources in [vec![source(10, None)], vec![source(10, None), source(3, None), source(0, None)]] {
            let mut order = ExampleOrder::new(sources.clone(), 4, 7);
            let steps = order.steps_an_epoch();
            let epochs: Vec<_> = (0..3).map(|epoch| walk(&mut order, epoch * steps, steps)).collect();
            for epoch in &epochs {
                for (i, source) in sources.iter().enumerate() {
                    let batches = epoch.iter().filter(|(of, _)| *of == i).map(|(_, examples)| examples);
                    let mut seen: Vec<u32> = batches.flatten().copied().collect();
                    seen.sort_unstable();
                    assert_eq!(seen, (0..source.n_examples).collect::<Vec<_>>());
                }
            }
            assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
        }
    }

    #[test]
    fn beyond_a_window_blocks_are_shuffled_and_then_what_is_in_a_window() {
        let of = |n| {
            let mut order = ExampleOrder::new(vec![source(n, None)], 7, 3);
            order.sizes = (100, 10);
            order
        };
        let mut order = of(1003);
        let steps = order.steps_an_epoch();
        let passes = [0, 1].map(|pass| {
            walk(&mut order, pass * steps, steps).into_iter().flat_map(|(_, examples)| examples).collect::<Vec<u32>>()
        });
        assert!(passes[0] != passes[1]);
        for pass in &passes {
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..1003).collect::<Vec<_>>());
            let mut blocks: Vec<u32> = pass[..100].iter().map(|example| example / 10).collect();
            assert!(blocks.windows(2).any(|two| two[0] != two[1]), "shuffled within the window");
            blocks.sort_unstable();
            blocks.dedup();
            assert!(blocks.len() <= 11, "a window of ten blocks: {blocks:?}");
            assert!(blocks.windows(2).any(|two| two[0] + 1 != two[1]), "blocks in random order");
        }
        // The order is the same after a start at any position, as in a resumed run.
        let mut whole = of(1003);
        let expected = walk(&mut whole, 0, 290);
        let mut again = of(1003);
        walk(&mut again, 0, 101);
        let mut resumed = of(1003);
        resumed.cursors = again.cursors.clone();
        assert_eq!(walk(&mut resumed, 101, 189), expected[101..]);
    }

    #[test]
    fn weights_are_shares_of_the_batches() {
        let mut order = ExampleOrder::new(vec![source(1000, Some(3.0)), source(50, None), source(0, Some(9.0))], 8, 1);
        let of_first = walk(&mut order, 0, 4000).iter().filter(|(of, _)| *of == 0).count();
        assert!((2900..3100).contains(&of_first), "{of_first}");
    }

    #[test]
    fn cursors_are_all_that_is_needed_to_go_on() {
        for weight in [None, Some(2.0)] {
            let sources = vec![source(30, weight), source(11, None)];
            let mut whole = ExampleOrder::new(sources.clone(), 4, 5);
            let expected = walk(&mut whole, 0, 40);
            let mut first = ExampleOrder::new(sources.clone(), 4, 5);
            walk(&mut first, 0, 17);
            let mut second = ExampleOrder::new(sources, 4, 5);
            second.cursors = first.cursors.clone();
            assert_eq!(walk(&mut second, 17, 23), expected[17..]);
        }
    }
}
