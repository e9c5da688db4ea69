//! The best rows so far: by falling score, equal ones by rising row.

use std::cmp::Ordering;

/// A row and its score: an estimate or a cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) score: f32,
    pub(crate) row: u32,
}

impl Scored {
    /// The better one first.
    #[inline]
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.row.cmp(&other.row))
    }
}

/// Collects the best of the rows that are pushed. Which ones that are does not depend on the order in which they come.
#[derive(Debug, Clone)]
pub(crate) struct Best {
    wanted: usize,
    /// Up to twice as many as wanted, so that most pushes only append.
    rows: Vec<Scored>,
    /// The last of the best when they were last sorted out.
    last: Option<Scored>,
}

/// Rows that are appended at least before the best are sorted out.
const SPARE: usize = 64;

impl Best {
    pub(crate) fn new(wanted: usize) -> Self {
        Self { wanted, rows: Vec::new(), last: None }
    }

    /// The score that a row must reach to be among the best.
    #[inline]
    pub(crate) fn floor(&self) -> f32 {
        self.last.map_or(f32::NEG_INFINITY, |last| last.score)
    }

    /// Whether a row may be among the best.
    #[inline]
    pub(crate) fn wants(&self, scored: &Scored) -> bool {
        self.wanted > 0 && self.last.is_none_or(|last| scored.order(&last) == Ordering::Less)
    }

    #[inline]
    pub(crate) fn push(&mut self, scored: Scored) {
        self.rows.push(scored);
        if self.rows.len() >= self.wanted.saturating_mul(2).saturating_add(SPARE) {
            self.sort_out();
        }
    }

    fn sort_out(&mut self) {
        if self.wanted > 0 && self.rows.len() >= self.wanted {
            self.rows.select_nth_unstable_by(self.wanted - 1, Scored::order);
            self.last = Some(self.rows[self.wanted - 1]);
        }
        self.rows.truncate(self.wanted);
    }

    /// Those of both.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        for scored in other.rows {
            if self.wants(&scored) {
                self.push(scored);
            }
        }
        self
    }

    /// The best, in order.
    pub(crate) fn into_sorted(mut self) -> Vec<Scored> {
        self.sort_out();
        self.rows.sort_unstable_by(Scored::order);
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
