//! Which examples each step sees.

use rand::{RngExt, seq::SliceRandom};
use senv_core::rng::stream;
use serde::{Deserialize, Serialize};

use super::Source;

/// How far each source has been walked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursors(Vec<Cursor>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    /// Passes behind.
    pass: u64,
    /// Examples of this pass behind.
    at: u32,
}

/// The order of the examples: a fresh permutation of a source each time it is walked through, the last batch of a pass
/// kept although smaller. All of it follows from the seed and the cursors.
pub(super) struct Order {
    sources: Vec<Source>,
    /// Whether sources are drawn by weight; otherwise an epoch walks through each of them once.
    weighted: bool,
    batch: usize,
    seed: u64,
    pub(super) cursors: Cursors,
    /// Of each source, the permutation and the pass that it is of.
    permutations: Vec<Option<(u64, Vec<u32>)>>,
    /// The sources of an epoch in order, and the epoch that it is of.
    plan: Option<(u64, Vec<u32>)>,
}

impl Order {
    pub(super) fn new(sources: Vec<Source>, batch: usize, seed: u64) -> Self {
        let weighted = sources.len() > 1 && sources.iter().any(|source| source.weight.is_some());
        let cursors = Cursors(vec![Cursor { pass: 0, at: 0 }; sources.len()]);
        let permutations = sources.iter().map(|_| None).collect();
        Self { sources, weighted, batch, seed, cursors, permutations, plan: None }
    }

    /// Whether a run can stand there: one cursor a source, each within its examples.
    pub(super) fn accepts(&self, Cursors(cursors): &Cursors) -> bool {
        let is_within =
            |(cursor, source): (&Cursor, &Source)| cursor.at < source.n_examples.max(1) && cursor.pass < u64::MAX;
        cursors.len() == self.sources.len() && cursors.iter().zip(&self.sources).all(is_within)
    }

    /// Steps that see as many examples as there are.
    pub(super) fn steps_an_epoch(&self) -> u64 {
        self.sources.iter().map(|source| self.batches(*source)).sum()
    }

    fn batches(&self, source: Source) -> u64 {
        u64::from(source.n_examples).div_ceil(self.batch as u64)
    }

    /// The source and the examples of step `number`; steps are asked for in order.
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
        let permutation = &mut self.permutations[source];
        if permutation.as_ref().is_none_or(|(of, _)| *of != pass) {
            let mut order: Vec<u32> = (0..n).collect();
            order.shuffle(&mut stream(self.seed, "examples", &[source as u64, pass]));
            *permutation = Some((pass, order));
        }
        let end = (at as usize + self.batch).min(n as usize);
        examples.clear();
        if let Some((_, order)) = permutation {
            examples.extend_from_slice(&order[at as usize..end]);
        }
        self.cursors.0[source] =
            if end == n as usize { Cursor { pass: pass + 1, at: 0 } } else { Cursor { pass, at: end as u32 } };
        source
    }

    /// A source by weight; one without a weight counts 1, one without examples never comes.
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

    /// The source of a step where each is walked through once an epoch, batches of all of them mixed.
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

    fn walk(order: &mut Order, from: u64, steps: u64) -> Vec<(usize, Vec<u32>)> {
        let mut examples = Vec::new();
        (from..from + steps).map(|number| (order.next(number, &mut examples), examples.clone())).collect()
    }

    fn source(n_examples: u32, weight: Option<f64>) -> Source {
        Source { n_examples, weight }
    }

    #[test]
    fn an_epoch_sees_every_example_once_and_the_next_another_order() {
        for sources in [vec![source(10, None)], vec![source(10, None), source(3, None), source(0, None)]] {
            let mut order = Order::new(sources.clone(), 4, 7);
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
    fn weights_are_shares_of_the_batches() {
        let mut order = Order::new(vec![source(1000, Some(3.0)), source(50, None), source(0, Some(9.0))], 8, 1);
        let of_first = walk(&mut order, 0, 4000).iter().filter(|(of, _)| *of == 0).count();
        assert!((2900..3100).contains(&of_first), "{of_first}");
    }

    #[test]
    fn cursors_are_all_that_is_needed_to_go_on() {
        for weight in [None, Some(2.0)] {
            let sources = vec![source(30, weight), source(11, None)];
            let mut whole = Order::new(sources.clone(), 4, 5);
            let expected = walk(&mut whole, 0, 40);
            let mut first = Order::new(sources.clone(), 4, 5);
            walk(&mut first, 0, 17);
            let mut second = Order::new(sources, 4, 5);
            second.cursors = first.cursors.clone();
            assert_eq!(walk(&mut second, 17, 23), expected[17..]);
        }
    }
}
