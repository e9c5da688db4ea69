//! The best rows so far, ordered by descending score, then by ascending row.

use std::cmp::Ordering;

/// A row with a score: an estimate or a cosine.
pub(crate) trait Ranked: Copy {
    fn scored(&self) -> Scored;

    /// Orders the better one first.
    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        let (a, b) = (self.scored(), other.scored());
        b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) score: f32,
    pub(crate) row: u32,
}

impl Ranked for Scored {
    #[inline]
    fn scored(&self) -> Scored {
        *self
    }
}

/// Collects the best of the items pushed, regardless of the order of the pushes.
#[derive(Debug, Clone)]
pub(crate) struct Best<T> {
    wanted: usize,
    /// The lowest score to accept.
    least: f32,
    /// Up to twice the wanted number, so most pushes only append.
    rows: Vec<T>,
    /// The worst of the best items at the last selection.
    last: Option<T>,
}

/// The minimum number of rows appended between selections.
const SPARE: usize = 64;

impl<T: Ranked> Best<T> {
    pub(crate) fn new(wanted: usize) -> Self {
        Self::above(wanted, f32::NEG_INFINITY)
    }

    /// Accepts only items with a score of at least `least`.
    pub(crate) fn above(wanted: usize, least: f32) -> Self {
        Self { wanted, least, rows: Vec::new(), last: None }
    }

    /// Selects the best, then returns the score that a row must reach to join them, as far as is known.
    pub(crate) fn settled_floor(&mut self) -> f32 {
        self.sort_out();
        self.floor()
    }

    /// Whether the wanted number has been reached.
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.wanted
    }

    /// The score that a row must reach to be among the best.
    #[inline]
    pub(crate) fn floor(&self) -> f32 {
        self.last.map_or(self.least, |last| last.scored().score)
    }

    /// Whether a row can be among the best.
    #[inline]
    pub(crate) fn wants(&self, ranked: &T) -> bool {
        let reaches = |last: T| ranked.order(&last) == Ordering::Less;
        self.wanted > 0 && self.last.map_or_else(|| ranked.scored().score >= self.least, reaches)
    }

    #[inline]
    pub(crate) fn push(&mut self, ranked: T) {
        self.rows.push(ranked);
        if self.rows.len() >= self.wanted.saturating_mul(2).saturating_add(SPARE) {
            self.sort_out();
        }
    }

    fn sort_out(&mut self) {
        if self.wanted > 0 && self.rows.len() >= self.wanted {
            self.rows.select_nth_unstable_by(self.wanted - 1, T::order);
            self.last = Some(self.rows[self.wanted - 1]);
        }
        self.rows.truncate(self.wanted);
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for ranked in other.rows {
            if self.wants(&ranked) {
                self.push(ranked);
            }
        }
        self
    }

    /// The best, in no particular order.
    pub(crate) fn into_rows(mut self) -> Vec<T> {
        self.sort_out();
        self.rows
    }

    /// The best, in order.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        let mut rows = self.into_rows();
        rows.sort_unstable_by(T::order);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_the_least_score_is_not_wanted() {
        let scored = |score| Scored { score, row: 1 };
        let mut best = Best::above(2, 0.5);
        assert_eq!(best.floor(), 0.5);
        assert!(best.wants(&scored(0.5)) && !best.wants(&scored(0.4)) && !best.wants(&scored(f32::NAN)));
        best.push(scored(0.5));
        assert!(!best.is_full());
        assert_eq!(best.settled_floor(), 0.5);
        best.push(scored(0.7));
        best.push(scored(0.6));
        assert!(best.is_full());
        assert_eq!(best.settled_floor(), 0.6);
        assert_eq!(best.into_sorted(), [scored(0.7), scored(0.6)]);
    }

    #[test]
    fn the_best_are_those_of_a_sorted_list_in_any_order_of_coming_and_any_division() {
        // Many equal scores.
        let all: Vec<Scored> =
            (0..1000_u32).map(|row| Scored { score: ((row * 37) % 50) as f32 - 25.0, row }).collect();
        let mut sorted = all.clone();
        sorted.sort_by(Scored::order);
        for wanted in [0, 1, 3, 70, 999, 1000, 2000] {
            for step in [1, 3, 7, 333] {
                let mut parts = vec![Best::new(wanted); 3];
                for i in 0..1000 {
                    let scored = all[i * step % 1000];
                    // Steps that divide 1000 repeat rows; only the others name each once.
                    let part = &mut parts[i % 3];
                    if part.wants(&scored) {
                        part.push(scored);
                    }
                }
                let best = parts.into_iter().reduce(Best::merge).unwrap().into_sorted();
                assert_eq!(best, sorted[..wanted.min(1000)], "{wanted}, {step}");
            }
        }
    }
}
