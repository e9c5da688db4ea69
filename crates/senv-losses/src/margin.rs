//! Margin loss: a pair must be closer than the hardest negative of the batch, by a margin.
//!
//! Equation: `margin-loss`

use ndarray::{Array2, ArrayView2, s};
use senv_core::{
    arrays::{Float, compiled_here},
    hyperparameters::hyperparameters,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, check_range, check_size},
    hard_negatives::{NegativeCandidates, NegativeSelector, Selection},
    rows::row_mut,
    unit::Units,
};

/// The margin of the PP release for phrases.
pub const DEFAULT_MARGIN: f64 = 0.4;

hyperparameters! {
    /// Margin loss over a batch of pairs, averaged over the pairs.
    ///
    /// ```text
    /// (F1)  c_i = cos(a_i, b_i)                              a, b: shape (m, dim); pairs i = 0 .. m
    /// (F2)  h_i = max(0, δ − c_i + cos(a_i, t(a_i)))         t: the negatives of `hardest-negatives`
    ///       g_i = max(0, δ − c_i + cos(b_i, t(b_i)))         0 without a candidate
    /// (F3)  L   = (1/m) Σ_i (h_i + g_i)
    /// (B2)  ∂L/∂cos(a_i, t(a_i)) = [h_i > 0]/m               ∂L/∂cos(b_i, t(b_i)) = [g_i > 0]/m
    /// (B1)  ∂L/∂c_i = −([h_i > 0] + [g_i > 0])/m
    /// ```
    ///
    /// Gradients pass through each cosine by `unit-vector`, into the negatives as well. On the kink, h = 0, the
    /// gradient is 0.
    ///
    /// ```
    /// use ndarray::array;
    /// use senv_core::rng::stream;
    /// use senv_losses::MarginLoss;
    /// // Two pairs at right angles; the second members are rotated by 60 degrees toward the other pair.
    /// let a = array![[1.0, 0.0], [0.0, 1.0]];
    /// let (cos60, sin60) = (0.5, 0.75f64.sqrt());
    /// let b = array![[cos60, sin60], [sin60, cos60]];
    /// let loss = MarginLoss { margin: 0.5, ..MarginLoss::default() };
    /// let (value, saved) = loss.forward(a.view(), b.view(), &[0, 1, 2, 3], &mut stream(1, "negatives", &[]))?;
    /// // a: 0.5 − 0.5 + cos 30°, with the other second member; b: the same, with the other's second or first member.
    /// assert!((value - 2.0 * sin60).abs() < 1e-12);
    /// assert_eq!(saved.n_active(), 4);
    /// let (d_a, d_b) = loss.backward(&saved, 1.0);
    /// assert_eq!((d_a.dim(), d_b.dim()), ((2, 2), (2, 2)));
    /// # Ok::<(), senv_losses::Error>(())
    /// ```
    ///
    /// # References
    /// J. Wieting, M. Bansal, K. Gimpel, K. Livescu: Towards Universal Paraphrastic Sentence Embeddings, ICLR 2016,
    /// section 3.2. Where its release and the formula of the CSE paper differ: see [`NegativeCandidates`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct MarginLoss {
        /// Margin δ by which the cosine of a pair must exceed that with a negative (margin).
        pub margin: f64 = DEFAULT_MARGIN => Training[from 0 to 2];
        /// Which sentences of other pairs can be negatives (margin).
        pub candidates: NegativeCandidates = NegativeCandidates::default() => Training;
        /// How a negative is chosen among them (margin).
        pub selection as negatives_selection: Selection = Selection::default() => Training;
        /// Whether sentences with the text of a member of the pair are excluded from its negatives.
        ///
        /// The release has no such rule, so a repeated phrase is a negative of itself.
        pub exclude_equal_text: bool = true => Training;
    }
}

/// The saved state for [`MarginLoss::backward`]: the unit vectors, the negatives, and the active hinges.
#[derive(Debug, Clone)]
pub struct MarginSaved<F> {
    /// a_0, b_0, a_1, b_1, ...
    units: Units<F>,
    negatives: Vec<Option<u32>>,
    active: Vec<bool>,
}

impl<F> MarginSaved<F> {
    /// The number of active hinges, those above 0; the others have no gradient. Divided by [`n_hinges`](Self::n_hinges)
    /// it is the active hinge fraction.
    #[must_use]
    pub fn n_active(&self) -> usize {
        self.active.iter().filter(|&&active| active).count()
    }

    /// The number of hinges: two per pair.
    #[must_use]
    pub fn n_hinges(&self) -> usize {
        self.active.len()
    }

    /// The negatives of a_0, b_0, a_1, b_1, ... as indices in the same order; `None` if there was no candidate.
    #[must_use]
    pub fn negatives(&self) -> &[Option<u32>] {
        &self.negatives
    }
}

impl MarginLoss {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `a`, `b` | first and second members of the pairs | `(m, dim)` |
    /// | `texts` | an id for each of a_0, b_0, a_1, b_1, ...: equal ids, equal texts; not read unless `exclude_equal_text` | `(2m,)` |
    /// | `rng` | for `Mix` and `Random` | |
    ///
    /// Without a candidate, as in a batch of one pair, a hinge is 0. A zero vector has cosine 0 with every vector. The
    /// loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without pairs; [`senv_core::Error::ShapeMismatch`] if the shapes of `a`, `b` and `texts`
    /// do not match; [`senv_core::Error::InvalidParameter`] if the margin is outside `[0, 2]`.
    pub fn forward<F: Float>(
        &self,
        a: ArrayView2<'_, F>,
        b: ArrayView2<'_, F>,
        texts: &[u32],
        rng: &mut Stream,
    ) -> Result<(f64, MarginSaved<F>)> {
        compiled_here!(self, |this: &'a MarginLoss,
                              a: ArrayView2<'a, F>,
                              b: ArrayView2<'a, F>,
                              texts: &'a [u32],
                              rng: &'a mut Stream|
         -> Result<(f64, MarginSaved<F>)> {
            let (m, dim) = a.dim();
            check_range("margin", "from 0 to 2", this.margin, (0.0..=2.0).contains(&this.margin))?;
            check_size("rows of second members of pairs", m, b.nrows())?;
            check_size("columns of second members of pairs", dim, b.ncols())?;
            if this.exclude_equal_text {
                check_size("numbers of texts", 2 * m, texts.len())?;
            }
            if m == 0 {
                return Err(Error::EmptyBatch);
            }
            let member = |k: usize| if k % 2 == 1 { b.row(k / 2) } else { a.row(k / 2) };
            let units = Units::gather(2 * m, dim, member);
            let (candidates, selection) = (this.candidates, this.selection);
            let rule = NegativeSelector { candidates, selection, texts: this.exclude_equal_text.then_some(texts) };
            let negatives = rule.choose(&units, rng)?;
            let mut active = vec![false; 2 * m];
            let mut sum = 0.0;
            for (anchor, negative) in negatives.iter().enumerate() {
                let cosine = units.cosine(anchor, anchor ^ 1); // (F1)
                let Some(negative) = *negative else {
                    if cosine.is_nan() {
                        sum = cosine; // Keeps a NaN of the pair.
                    }
                    continue;
                };
                let hinge = this.margin - cosine + units.cosine(anchor, negative as usize); // (F2)
                active[anchor] = hinge > 0.0;
                if active[anchor] || hinge.is_nan() {
                    sum += hinge; // (F3)
                }
            }
            Ok((sum / m as f64, MarginSaved { units, negatives, active }))
        })
    }

    /// The gradients `(d_a, d_b)`, shape `(m, dim)` each, given `d_loss` = the derivative of the objective with respect
    /// to this loss.
    #[must_use]
    pub fn backward<F: Float>(&self, saved: &MarginSaved<F>, d_loss: f64) -> (Array2<F>, Array2<F>) {
        compiled_here!(self, |this: &'a MarginLoss, saved: &'a MarginSaved<F>, d_loss: f64| -> (Array2<F>, Array2<F>) {
            let units = &saved.units;
            let mut d_units = units.zeros();
            let c = F::of(d_loss / (saved.active.len() / 2) as f64);
            let mut add = |c: F, i: usize, j: usize| {
                F::axpy(c, units.row(j), row_mut(&mut d_units, i));
                F::axpy(c, units.row(i), row_mut(&mut d_units, j));
            };
            for (anchor, negative) in saved.negatives.iter().enumerate() {
                if let (true, Some(negative)) = (saved.active[anchor], *negative) {
                    add(c, anchor, negative as usize); // (B2)
                    add(-c, anchor, anchor ^ 1); // (B1)
                }
            }
            let d = units.backward(d_units);
            (d.slice(s![0..;2, ..]).to_owned(), d.slice(s![1..;2, ..]).to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use ndarray::array;
    use senv_core::rng::stream;

    #[test]
    fn gradients_match_central_differences() {
        let a = matrix::<f64>(4, 5, 1);
        let b = &a + matrix::<f64>(4, 5, 2) * 0.8;
        let (texts, d_loss) = ([0, 1, 2, 3, 0, 4, 5, 6], 2.5);
        for candidates in
            [NegativeCandidates::BothSides, NegativeCandidates::SameSide, NegativeCandidates::FirstElements]
        {
            for selection in [Selection::Max, Selection::Mix, Selection::Random] {
                let loss = MarginLoss { margin: 0.6, candidates, selection, exclude_equal_text: true };
                let forward =
                    |a: View<'_>, b: View<'_>| loss.forward(a, b, &texts, &mut stream(9, "check", &[])).unwrap();
                let saved = forward(a.view(), b.view()).1;
                let (d_a, d_b) = loss.backward(&saved, d_loss);
                assert!((1..8).contains(&saved.n_active()), "open and closed hinges: {}", saved.n_active());
                let (f, g) =
                    (|a: View<'_>| d_loss * forward(a, b.view()).0, |b: View<'_>| d_loss * forward(a.view(), b).0);
                assert!(worst(f, &a, &d_a) < 1e-7, "{candidates:?} {selection:?} a: {}", worst(f, &a, &d_a));
                assert!(worst(g, &b, &d_b) < 1e-7, "{candidates:?} {selection:?} b: {}", worst(g, &b, &d_b));
                assert!(worst(f, &a, &-d_a) > 1.9, "a flipped sign");
            }
        }
    }

    #[test]
    fn hinges_open_strictly_above_the_kink() {
        // Cosines are 1 in the pairs and 0 across: the hinges are δ − 1 exactly.
        let x = array![[1.0, 0.0], [0.0, 2.0]];
        for (margin, active) in [(0.75, 0), (1.0, 0), (1.25, 4)] {
            let loss = MarginLoss { margin, ..MarginLoss::default() };
            let (value, saved) = loss.forward(x.view(), x.view(), &[0, 1, 2, 3], &mut stream(1, "", &[])).unwrap();
            assert_eq!((value, saved.n_active(), saved.n_hinges()), (2.0 * (margin - 1.0).max(0.0), active, 4));
            let (d_a, _) = loss.backward(&saved, 1.0);
            assert_eq!(d_a.iter().any(|&d| d != 0.0), active > 0);
        }
    }

    #[test]
    fn the_negatives_are_those_of_every_member_in_turn() {
        // Both members of a pair are equal; the second pair is nearest to the first and the third.
        let x = array![[1.0, 0.0], [1.0, 1.0], [0.1, 1.0]];
        let loss = MarginLoss { candidates: NegativeCandidates::SameSide, ..MarginLoss::default() };
        let saved = loss.forward(x.view(), x.view(), &[0, 1, 2, 3, 4, 5], &mut stream(1, "", &[])).unwrap().1;
        assert_eq!(saved.negatives(), [Some(2), Some(3), Some(4), Some(5), Some(2), Some(3)]);
    }

    #[test]
    fn batches_without_candidates() {
        let loss = MarginLoss::default();
        let (a, b) = (matrix::<f32>(3, 2, 1), matrix::<f32>(3, 2, 2));
        // Several pairs of the same two texts, then a single pair.
        for (m, texts) in [(3, &[0, 1, 0, 1, 0, 1][..]), (1, &[0, 1])] {
            let (a, b) = (a.slice(s![..m, ..]), b.slice(s![..m, ..]));
            let (value, saved) = loss.forward(a, b, texts, &mut stream(1, "", &[])).unwrap();
            assert_eq!((value, saved.n_active()), (0.0, 0));
            assert!(saved.negatives().iter().all(Option::is_none));
            assert!(loss.backward(&saved, 1.0).0.iter().all(|&d| d == 0.0));
        }
    }

    #[test]
    fn a_pair_without_candidates_adds_nothing_to_the_others_unless_it_is_nan() {
        // Candidates are on the same side, so two pairs whose second members share a text have none there.
        let loss = |a: View<'_>, b: View<'_>, texts: &[u32]| {
            let loss = MarginLoss { candidates: NegativeCandidates::SameSide, ..MarginLoss::default() };
            loss.forward(a, b, texts, &mut stream(1, "", &[])).unwrap().0
        };
        let x = array![[1.0, 0.0], [0.0, 1.0]];
        let y = array![[0.0, 1.0], [1.0, 0.0]];
        // Cosines are 0 in the pairs and across the sides, so every existing hinge is δ.
        let (all, none) = (loss(x.view(), y.view(), &[0, 1, 2, 3]), loss(x.view(), y.view(), &[0, 1, 0, 1]));
        assert_eq!((all, none), (2.0 * DEFAULT_MARGIN, 0.0));
        let first_alone = loss(x.view(), y.view(), &[0, 1, 2, 1]);
        assert_eq!(first_alone, DEFAULT_MARGIN, "b_1 and b_2 have none; what a_1 and a_2 gave stays");
        // A zero vector has cosine 0, without a division.
        let zero = Array2::zeros((2, 2));
        assert_eq!(loss(zero.view(), y.view(), &[0, 1, 0, 1]), 0.0);
        let nan = array![[f64::NAN, 0.0], [0.0, 1.0]];
        assert!(loss(nan.view(), y.view(), &[0, 1, 0, 1]).is_nan(), "a NaN is not lost with its pair");
    }

    #[test]
    fn bad_batches_and_numbers() {
        let mut rng = stream(1, "", &[]);
        let x = matrix::<f64>(2, 3, 1);
        let mut forward = |loss: &MarginLoss, b: View<'_>, texts: &[u32]| {
            loss.forward(x.view(), b, texts, &mut rng).map(|(value, _)| value)
        };
        let loss = MarginLoss::default();
        let mismatch = |result| matches!(result, Err(Error::Core(senv_core::Error::ShapeMismatch { .. })));
        assert!(mismatch(forward(&loss, x.slice(s![..1, ..]), &[0; 4])));
        assert!(mismatch(forward(&loss, x.slice(s![.., ..2]), &[0; 4])));
        assert!(mismatch(forward(&loss, x.view(), &[0; 3])));
        assert!(forward(&MarginLoss { exclude_equal_text: false, ..loss.clone() }, x.view(), &[]).is_ok());
        for (margin, good) in [(0.0, true), (2.0, true), (-0.1, false), (2.1, false), (f64::NAN, false)] {
            let result = forward(&MarginLoss { margin, ..loss.clone() }, x.view(), &[0, 1, 2, 3]);
            assert_eq!(result.is_ok(), good, "{margin}");
        }
        let mut nan = x.clone();
        nan[(1, 1)] = f64::NAN;
        assert!(forward(&loss, nan.view(), &[0, 1, 2, 3]).unwrap().is_nan());
        let none = Array2::<f64>::zeros((0, 3));
        assert!(matches!(loss.forward(none.view(), none.view(), &[], &mut rng), Err(Error::EmptyBatch)));
    }
}
