//! Chooses negatives among the other pairs of a batch.
//!
//! Equation: `hardest-negatives`

use ndarray::{Array2, ArrayView2, s};
use rand::RngExt;
use rayon::prelude::*;
use senv_core::{
    arrays::{Float, matmul, matmul_into},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    rows::{ROWS_A_THREAD, row},
    unit::Units,
};

/// The members of other pairs that can be negatives.
///
/// ```text
/// t(a_i) = argmax_{t ∈ C(a_i)} cos(a_i, t)        t(b_i) = argmax_{t ∈ C(b_i)} cos(b_i, t)
/// C      = candidates of pairs other than i whose text is neither that of a_i nor that of b_i
/// ```
///
/// Among equal cosines the first is chosen. The choice has no gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NegativeCandidates {
    /// Both members, as in the authors' release; the default.
    #[default]
    BothSides,
    /// First members for first members, second members for second members.
    SameSide,
    /// Only first members, as in the formula of the CSE paper, read literally.
    FirstElements,
}

named_values!(NegativeCandidates {
    BothSides = "both-sides": "Both members of the other pairs, as in the released code",
    SameSide = "same-side": "First members for a first member, second members for a second member",
    FirstElements = "first-elements": "Only first members, as printed in the CSE paper",
});

/// How to choose a negative among the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Selection {
    /// The candidate with the largest cosine; the default.
    #[default]
    Max,
    /// With probability 1/2 like `Max`, otherwise like `Random`.
    Mix,
    /// A random candidate, all equally likely.
    Random,
}

named_values!(Selection {
    Max = "max": "The candidate with the largest cosine",
    Mix = "mix": "The hardest or a random candidate, with equal probability",
    Random = "random": "A random candidate",
});

/// Selects negatives among the allowed candidates.
pub(crate) struct NegativeSelector<'a> {
    pub(crate) candidates: NegativeCandidates,
    pub(crate) selection: Selection,
    /// Ids of the texts in interleaved order; `None` if equal texts count as different.
    pub(crate) texts: Option<&'a [u32]>,
}

impl NegativeSelector<'_> {
    /// The index of the first candidate of `anchor`, and the step from one to the next.
    fn numbers(&self, anchor: usize) -> (usize, usize) {
        match self.candidates {
            NegativeCandidates::BothSides => (0, 1),
            NegativeCandidates::SameSide => (anchor % 2, 2),
            NegativeCandidates::FirstElements => (0, 2),
        }
    }

    /// Whether `other` is in another pair, and its text differs from those of both members of the pair of `anchor`.
    fn allows(&self, anchor: usize, other: usize) -> bool {
        let equal = |texts: &[u32]| texts[other] == texts[anchor] || texts[other] == texts[anchor ^ 1];
        other / 2 != anchor / 2 && !self.texts.is_some_and(equal)
    }

    /// The candidate with the largest score, the first among equals. NaN is chosen rather than ignored.
    fn hardest<F: Float>(&self, anchor: usize, scores: &[F]) -> Option<u32> {
        let (first, step) = self.numbers(anchor);
        let mut best: Option<(usize, F)> = None;
        for (column, &score) in scores.iter().enumerate() {
            let other = first + column * step;
            if best.is_none_or(|(_, highest)| score > highest) && self.allows(anchor, other) {
                best = Some((other, score));
            }
        }
        best.map(|(other, _)| other as u32)
    }

    /// A random candidate.
    fn random(&self, anchor: usize, n: usize, rng: &mut Stream) -> Option<u32> {
        let (first, step) = self.numbers(anchor);
        let all = || (first..n).step_by(step).filter(|&other| self.allows(anchor, other));
        let count = all().count();
        if count == 0 {
            return None;
        }
        all().nth(rng.random_range(0..count)).map(|other| other as u32)
    }

    /// The negative of every member, in interleaved order: indices in the same order, `None` if there is no candidate.
    pub(crate) fn choose<F: Float>(&self, units: &Units<F>, rng: &mut Stream) -> Result<Vec<Option<u32>>> {
        let n = units.view().nrows();
        if self.selection == Selection::Random {
            return Ok((0..n).map(|anchor| self.random(anchor, n, rng)).collect());
        }
        let scores = self.scores(units.view())?;
        let hardest = |anchor: usize| self.hardest(anchor, row(&scores, anchor));
        if self.selection == Selection::Max {
            return Ok((0..n).into_par_iter().with_min_len(ROWS_A_THREAD).map(hardest).collect());
        }
        let choose = |anchor: usize| {
            if rng.random() { self.random(anchor, n, rng) } else { hardest(anchor) }
        };
        Ok((0..n).map(choose).collect())
    }

    /// The cosines of every member with all indices in [`numbers`](Self::numbers).
    fn scores<F: Float>(&self, units: ArrayView2<'_, F>) -> Result<Array2<F>> {
        let side = |side: usize| units.slice_move(s![side..;2, ..]);
        Ok(match self.candidates {
            NegativeCandidates::BothSides => matmul(units, units.t())?,
            NegativeCandidates::FirstElements => matmul(units, side(0).t())?,
            NegativeCandidates::SameSide => {
                let mut scores = Array2::zeros((units.nrows(), units.nrows() / 2));
                for i in [0, 1] {
                    matmul_into(F::one(), side(i), side(i).t(), F::zero(), scores.slice_mut(s![i..;2, ..]))?;
                }
                scores
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::matrix;
    use senv_core::rng::stream;

    const TEXTS: [u32; 8] = [0, 1, 2, 3, 0, 4, 5, 1]; // a2 repeats a0, b3 repeats b0.

    fn rule(candidates: NegativeCandidates, selection: Selection, exclude: bool) -> NegativeSelector<'static> {
        NegativeSelector { candidates, selection, texts: exclude.then_some(&TEXTS) }
    }

    #[test]
    fn random_choice_is_uniform_over_the_candidates_alone() {
        let units = Units::new(matrix::<f64>(8, 3, 1).view());
        let allowed: [(NegativeCandidates, bool, &[u32]); 4] = [
            (NegativeCandidates::BothSides, true, &[2, 3, 5, 6]),
            (NegativeCandidates::BothSides, false, &[2, 3, 4, 5, 6, 7]),
            (NegativeCandidates::SameSide, true, &[3, 5]),
            (NegativeCandidates::FirstElements, true, &[2, 6]),
        ];
        for (candidates, exclude, allowed) in allowed {
            let mut counts = [0_u32; 8];
            let mut rng = stream(3, "uniform", &[]);
            let n = 4000;
            for _ in 0..n {
                // The anchor is b0, whose pair has the texts 0 and 1.
                let all = rule(candidates, Selection::Random, exclude).choose(&units, &mut rng).unwrap();
                counts[all[1].unwrap() as usize] += 1;
            }
            let expected = f64::from(n) / allowed.len() as f64;
            let squares = |&k: &u32| (f64::from(counts[k as usize]) - expected).powi(2) / expected;
            let chi: f64 = allowed.iter().map(squares).sum();
            assert!(chi < 20.5, "{candidates:?}: {counts:?}"); // p = 0.001 at 5 degrees of freedom.
            assert_eq!(
                allowed.iter().map(|&k| counts[k as usize]).sum::<u32>(),
                n as u32,
                "{candidates:?}: {counts:?}"
            );
        }
    }

    #[test]
    fn mix_takes_the_hardest_half_of_the_time() {
        let units = Units::new(matrix::<f64>(8, 3, 1).view());
        let mut rng = stream(4, "mix", &[]);
        let hardest = rule(NegativeCandidates::BothSides, Selection::Max, true).choose(&units, &mut rng).unwrap();
        let mix = rule(NegativeCandidates::BothSides, Selection::Mix, true);
        let same = |_| usize::from(mix.choose(&units, &mut rng).unwrap()[1] == hardest[1]);
        let share = (0..4000).map(same).sum::<usize>() as f64 / 4000.0;
        assert!((share - (0.5 + 0.5 / 4.0)).abs() < 0.03, "{share}"); // A random one of four is the hardest too.
    }

    #[test]
    fn ties_take_the_first_and_nan_is_not_overlooked() {
        let rule = rule(NegativeCandidates::BothSides, Selection::Max, false);
        assert_eq!(rule.hardest(2, &[0.5, 0.5, 9.0, 9.0, 0.5]), Some(0));
        assert_eq!(rule.hardest(2, &[f64::NAN, 0.5, 9.0, 9.0, 0.7]), Some(0));
        assert_eq!(rule.hardest(0, &[1.0, 1.0]), None);
    }

    #[test]
    fn the_hardest_is_the_candidate_of_the_largest_cosine_on_the_sides_that_are_asked_for() {
        let units = Units::new(matrix::<f64>(8, 3, 1).view());
        for candidates in
            [NegativeCandidates::BothSides, NegativeCandidates::SameSide, NegativeCandidates::FirstElements]
        {
            for exclude in [false, true] {
                let may = |anchor: usize, other: usize| {
                    let side = match candidates {
                        NegativeCandidates::BothSides => true,
                        NegativeCandidates::SameSide => other % 2 == anchor % 2,
                        NegativeCandidates::FirstElements => other.is_multiple_of(2),
                    };
                    let of_pair = |text: u32| text == TEXTS[anchor] || text == TEXTS[anchor ^ 1];
                    side && other / 2 != anchor / 2 && !(exclude && of_pair(TEXTS[other]))
                };
                let hardest = |anchor: usize| {
                    let by_cosine =
                        |&a: &usize, &b: &usize| units.cosine(anchor, a).total_cmp(&units.cosine(anchor, b));
                    (0..8).filter(|&other| may(anchor, other)).max_by(by_cosine).map(|other| other as u32)
                };
                let chosen = rule(candidates, Selection::Max, exclude).choose(&units, &mut stream(1, "", &[])).unwrap();
                assert_eq!(chosen, (0..8).map(hardest).collect::<Vec<_>>(), "{candidates:?} {exclude}");
            }
        }
    }
}
