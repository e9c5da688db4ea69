//! Sentences of a batch that repeat a text of a pair and so cannot be its negatives.

/// For every pair, the members of other pairs and the hard negatives with the same text as one of its members.
#[derive(Debug)]
pub(crate) struct EqualTexts {
    candidates: Ragged,
    anchors: Ragged,
}

/// Lists of indices, concatenated.
#[derive(Debug)]
struct Ragged {
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

impl Ragged {
    fn of(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }
}

impl EqualTexts {
    /// No repetition among `m` pairs.
    pub(crate) fn none(m: usize) -> Self {
        let empty = || Ragged { ends: vec![0; m], numbers: vec![] };
        Self { candidates: empty(), anchors: empty() }
    }

    /// Repetitions among `m` pairs in interleaved order, followed by hard negatives.
    pub(crate) fn of_pairs(texts: &[u32], m: usize) -> Self {
        let mut order: Vec<u32> = (0..texts.len() as u32).collect();
        order.sort_unstable_by_key(|&k| (texts[k as usize], k));
        let Self { mut candidates, mut anchors } = Self::none(m);
        for i in 0..m {
            let own = [texts[2 * i], texts[2 * i + 1]];
            for &text in if own[0] == own[1] { &own[..1] } else { &own } {
                let first = order.partition_point(|&k| texts[k as usize] < text);
                for k in order[first..].iter().map(|&k| k as usize).take_while(|&k| texts[k] == text) {
                    match k {
                        k if k >= 2 * m => candidates.numbers.push((k - m) as u32),
                        k if k / 2 == i => {}
                        k if k % 2 == 1 => candidates.numbers.push((k / 2) as u32),
                        k => anchors.numbers.push((k / 2) as u32),
                    }
                }
            }
            candidates.ends[i] = candidates.numbers.len();
            anchors.ends[i] = anchors.numbers.len();
        }
        Self { candidates, anchors }
    }

    /// The columns that must not be negatives of the first member of pair `i`: second members of other pairs, then hard
    /// negatives.
    pub(crate) fn candidates(&self, i: usize) -> &[u32] {
        self.candidates.of(i)
    }

    /// The first members of other pairs that must not be negatives of the second member of pair `i`.
    pub(crate) fn anchors(&self, i: usize) -> &[u32] {
        self.anchors.of(i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_by_hand() {
        //           a0 b0 a1 b1 a2 b2 hard
        let texts = [5, 7, 7, 5, 9, 9, 7, 8];
        let equal = EqualTexts::of_pairs(&texts, 3);
        let sorted = |numbers: &[u32]| {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!([0, 1, 2].map(|i| sorted(equal.candidates(i))), [vec![1, 3], vec![0, 3], vec![]]);
        assert_eq!([0, 1, 2].map(|i| sorted(equal.anchors(i))), [vec![1], vec![0], vec![]]);
        assert!(EqualTexts::none(2).candidates(1).is_empty());
    }
}
