//! InfoNCE with in-batch negatives: cross-entropy of a softmax over all cosines of a batch.
//!
//! Equation: `info-nce`

mod nested;

use ndarray::{Array2, ArrayView2, s};
use senv_core::{
    arrays::{Float, compiled_here, matmul, matmul_into},
    hyperparameters::{hyperparameters, named_values},
};
use serde::{Deserialize, Serialize};

use crate::{
    equal_texts::EqualTexts,
    error::{Error, Result, check_range, check_size},
    rows::{flat, flat_mut},
    softmax_row::{softmax_rows, transpose},
    unit::Units,
};

/// The temperature with the best score in our experiments; 0.03 cost 2.5 points.
pub const DEFAULT_TEMPERATURE: f64 = 0.06;

/// The members of a pair that are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum InfoNceDirections {
    /// Predict the second members among all second ones and the first among all first ones, and average; the default.
    #[default]
    Both,
    /// Predict the second members among all second ones.
    Forward,
}

named_values!(InfoNceDirections {
    Both = "both": "The second among all second members, and the first among all first members",
    Forward = "forward": "The second among all second members",
});

/// The first dimensions of all vectors, trained as vectors themselves (Matryoshka).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prefix {
    /// The number of dimensions, at least 1.
    pub dim: usize,
    /// The weight of its loss relative to the weights of the others, above 0.
    pub weight: f64,
}

hyperparameters! {
    /// In-batch softmax over cosines (InfoNCE, multiple negatives ranking), averaged over the pairs.
    ///
    /// ```text
    /// (F1)  S_ij = cos(a_i, v_j) / τ            v = b_0 .. b_(m−1), then hard negatives
    /// (F2)  P_i  = softmax over j of S_ij       Q_j = softmax over i < m of S_ij, j < m
    ///       without entries j ≠ i (Q: i ≠ j) whose text is that of a_i or b_i (Q: of a_j or b_j)
    /// (F3)  L    = −(1/m) Σ_i ln P_ii           both directions: −(1/2m) Σ_i (ln P_ii + ln Q_ii)
    /// (F4)  nested prefixes: Σ_k w_k L(first d_k dimensions) / Σ_k w_k
    /// (B2)  ∂L/∂S = (P − I)/m                   both directions: (P − I + Q − I)/2m
    /// (B1)  ∂L/∂â = ∂L/∂S v̂ / τ,  ∂L/∂v̂ = (∂L/∂S)ᵀ â / τ, then `unit-vector`
    /// ```
    ///
    /// This takes three matrix products per prefix, one forward and two backward. Threads divide the rows, so the
    /// result is bit-identical at any number of threads.
    ///
    /// ```
    /// use ndarray::array;
    /// use senv_losses::{InfoNceDirections, InfoNce, Prefix};
    /// let (a, b) = (array![[2.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0], [0.0, 3.0]]);
    /// let loss = InfoNce { temperature: 1.0, ..InfoNce::default() };
    /// let (value, saved) = loss.forward(a.view(), b.view(), None, &[0, 1, 2, 3])?;
    /// assert!((value - (1.0 + (-1f64).exp()).ln()).abs() < 1e-12); // cosines 1 in the pairs and 0 across
    /// let (d_a, d_b, d_hard) = loss.backward(&saved, 1.0)?;
    /// assert_eq!((d_a.dim(), d_b.dim(), d_hard), ((2, 2), (2, 2), None));
    ///
    /// let nested = InfoNce { prefixes: vec![Prefix { dim: 1, weight: 0.5 }, Prefix { dim: 2, weight: 1.0 }], ..loss };
    /// assert!(nested.forward(a.view(), b.view(), None, &[0, 1, 2, 3])?.0 > value); // one dimension is not enough
    /// # Ok::<(), senv_losses::Error>(())
    /// ```
    ///
    /// # References
    /// A. van den Oord, Y. Li, O. Vinyals: Representation Learning with Contrastive Predictive Coding, 2018, equation
    /// 4; both directions as in A. Radford et al., ICML 2021; prefixes as in A. Kusupati et al.: Matryoshka
    /// Representation Learning, NeurIPS 2022, equation 1.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct InfoNce {
        /// Temperature τ, which divides the cosines (softmax-cosine).
        pub temperature: f64 = DEFAULT_TEMPERATURE => Training[above 0];
        /// Which member of a pair is predicted from which (softmax-cosine).
        pub directions: InfoNceDirections = InfoNceDirections::Both => Training;
        /// Whether sentences with the text of a member of the pair are excluded from its negatives.
        pub exclude_equal_text: bool = true => Training;
        /// Prefixes whose losses are averaged by weight, each with its vectors normalized again; none (default) means
        /// all dimensions.
        pub prefixes: Vec<Prefix> = Vec::new() => group[nested];
    }
}

/// The saved state for [`InfoNce::backward`]: for each prefix the unit vectors and ∂L/∂S, a matrix of `m (m + h)`
/// values.
#[derive(Debug, Clone)]
pub struct InfoNceSaved<F> {
    dim: usize,
    n_hard: Option<usize>,
    levels: Vec<Level<F>>,
}

/// The saved state of one prefix.
#[derive(Debug, Clone)]
struct Level<F> {
    anchors: Units<F>,
    /// The second members, then the hard negatives.
    candidates: Units<F>,
    d_scores: Array2<F>,
}

/// The gradients with respect to `a`, `b` and the hard negatives.
pub type InfoNceGradients<F> = (Array2<F>, Array2<F>, Option<Array2<F>>);

impl InfoNce {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `a`, `b` | first and second members of the pairs | `(m, dim)` |
    /// | `hard` | further negatives for every first member, any number | `(h, dim)` |
    /// | `texts` | an id for each of a_0, b_0, a_1, b_1, ..., then for each hard negative: equal ids, equal texts; not read unless `exclude_equal_text` | `(2m + h,)` |
    ///
    /// One pair without hard negatives has loss 0. A zero vector has cosine 0 with every vector. The loss is NaN if any
    /// vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without pairs; [`senv_core::Error::ShapeMismatch`] if the shapes of the arguments do not
    /// match; [`senv_core::Error::InvalidParameter`] if a temperature or weight is not above 0, or a prefix is longer
    /// than the vectors; [`senv_core::Error::TooLarge`] if the scores do not fit in memory.
    pub fn forward<F: Float>(
        &self,
        a: ArrayView2<'_, F>,
        b: ArrayView2<'_, F>,
        hard: Option<ArrayView2<'_, F>>,
        texts: &[u32],
    ) -> Result<(f64, InfoNceSaved<F>)> {
        compiled_here!(self, |this: &'a InfoNce,
                              a: ArrayView2<'a, F>,
                              b: ArrayView2<'a, F>,
                              hard: Option<ArrayView2<'a, F>>,
                              texts: &'a [u32]|
         -> Result<(f64, InfoNceSaved<F>)> {
            let (m, dim) = a.dim();
            let n_hard = hard.map(|hard| hard.nrows());
            check_size("rows of second members of pairs", m, b.nrows())?;
            check_size("columns of second members of pairs", dim, b.ncols())?;
            check_size("columns of hard negatives", dim, hard.map_or(dim, |hard| hard.ncols()))?;
            let prefixes = this.check(dim)?;
            if m == 0 {
                return Err(Error::EmptyBatch);
            }
            let n_candidates = m + n_hard.unwrap_or(0);
            let excluded = if this.exclude_equal_text {
                check_size("numbers of texts", m + n_candidates, texts.len())?;
                EqualTexts::of_pairs(texts, m)
            } else {
                EqualTexts::none(m)
            };
            let total: f64 = prefixes.iter().map(|prefix| prefix.weight).sum();
            let mut levels = Vec::with_capacity(prefixes.len());
            let mut value = 0.0;
            for Prefix { dim, weight } in prefixes {
                let candidate = |k: usize| match (&hard, k.checked_sub(m)) {
                    (Some(hard), Some(k)) => hard.slice_move(s![k, ..dim]),
                    _ => b.slice_move(s![k, ..dim]),
                };
                let anchors = Units::new(a.slice_move(s![.., ..dim]));
                let candidates = Units::gather(n_candidates, dim, candidate);
                let share = weight / total;
                let (loss, d_scores) = this.level(anchors.view(), candidates.view(), &excluded, share)?;
                value += share * loss; // (F4)
                levels.push(Level { anchors, candidates, d_scores });
            }
            Ok((value, InfoNceSaved { dim, n_hard, levels }))
        })
    }

    /// The checked prefixes; all dimensions if none is given.
    fn check(&self, dim: usize) -> Result<Vec<Prefix>> {
        let above_zero = |x: f64| x.is_finite() && x > 0.0;
        check_range("temperature", "above 0", self.temperature, above_zero(self.temperature))?;
        for prefix in &self.prefixes {
            let requirement = "from 1 to the dimension of the vectors";
            check_range("prefix", requirement, prefix.dim as f64, (1..=dim).contains(&prefix.dim))?;
            check_range("weight of a prefix", "above 0", prefix.weight, above_zero(prefix.weight))?;
        }
        let all = || vec![Prefix { dim, weight: 1.0 }];
        Ok(if self.prefixes.is_empty() { all() } else { self.prefixes.clone() })
    }

    /// The loss of one prefix, and the gradient of `share` times it with respect to the cosines.
    fn level<F: Float>(
        &self,
        anchors: ArrayView2<'_, F>,
        candidates: ArrayView2<'_, F>,
        excluded: &EqualTexts,
        share: f64,
    ) -> Result<(f64, Array2<F>)> {
        let (m, n) = (anchors.nrows(), candidates.nrows());
        let mut scores = Array2::zeros((m, n));
        matmul_into(F::of(1.0 / self.temperature), anchors, candidates.t(), F::zero(), scores.view_mut())?; // (F1)
        let weight = if self.directions == InfoNceDirections::Both { 0.5 } else { 1.0 } / m as f64;
        let c = share * weight / self.temperature;
        let mut back = match self.directions {
            InfoNceDirections::Both => {
                let mut back = Array2::zeros((m, m));
                transpose(flat(&scores), n, flat_mut(&mut back), m, m, |back, score| *back = score);
                Some(back)
            }
            InfoNceDirections::Forward => None,
        };
        let mut sum = softmax_rows(flat_mut(&mut scores), n, |i| excluded.candidates(i), c); // (F2), (B2)
        if let Some(back) = &mut back {
            sum += softmax_rows(flat_mut(back), m, |i| excluded.anchors(i), c);
            transpose(flat(back), m, flat_mut(&mut scores), n, m, |score, back| *score += back);
        }
        Ok((sum * weight, scores)) // (F3)
    }

    /// The gradients `(d_a, d_b, d_hard)`, of the shapes of `a`, `b` and `hard`, given `d_loss` = the derivative of the
    /// objective with respect to this loss.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the gradients do not fit in memory.
    pub fn backward<F: Float>(&self, saved: &InfoNceSaved<F>, d_loss: f64) -> Result<InfoNceGradients<F>> {
        compiled_here!(self, |this: &'a InfoNce,
                              saved: &'a InfoNceSaved<F>,
                              d_loss: f64|
         -> Result<InfoNceGradients<F>> {
            let m = saved.levels.first().map_or(0, |level| level.anchors.view().nrows());
            let mut d_a = Array2::zeros((m, saved.dim));
            let mut d_b = Array2::zeros((m, saved.dim));
            let mut d_hard = saved.n_hard.map(|h| Array2::zeros((h, saved.dim)));
            for Level { anchors, candidates, d_scores } in &saved.levels {
                let dim = anchors.view().ncols();
                let d_anchors = anchors.backward(matmul(d_scores.view(), candidates.view())?); // (B1)
                let d_candidates = candidates.backward(matmul(d_scores.t(), anchors.view())?);
                let c = F::of(d_loss);
                d_a.slice_mut(s![.., ..dim]).scaled_add(c, &d_anchors);
                d_b.slice_mut(s![.., ..dim]).scaled_add(c, &d_candidates.slice(s![..m, ..]));
                if let Some(d_hard) = &mut d_hard {
                    d_hard.slice_mut(s![.., ..dim]).scaled_add(c, &d_candidates.slice(s![m.., ..]));
                }
            }
            Ok((d_a, d_b, d_hard))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use senv_core::hyperparameters::Hyperparameters;

    const TEXTS: [u32; 11] = [0, 1, 2, 3, 0, 4, 5, 3, 1, 6, 7]; // a2 repeats a0, b3 repeats b1, the first hard one b0.

    fn losses() -> impl Iterator<Item = InfoNce> {
        let prefixes = [vec![], vec![Prefix { dim: 2, weight: 0.5 }, Prefix { dim: 5, weight: 1.0 }]];
        prefixes.into_iter().flat_map(|prefixes| {
            [(InfoNceDirections::Both, true), (InfoNceDirections::Both, false), (InfoNceDirections::Forward, true)].map(
                |(directions, exclude_equal_text)| InfoNce {
                    temperature: 0.4,
                    directions,
                    exclude_equal_text,
                    prefixes: prefixes.clone(),
                },
            )
        })
    }

    #[test]
    fn gradients_match_central_differences() {
        let (a, b, hard) = (matrix::<f64>(4, 5, 1), matrix::<f64>(4, 5, 2), matrix::<f64>(3, 5, 3));
        let d_loss = 2.5;
        for loss in losses() {
            let forward =
                |a: View<'_>, b: View<'_>, hard: View<'_>| d_loss * loss.forward(a, b, Some(hard), &TEXTS).unwrap().0;
            let saved = loss.forward(a.view(), b.view(), Some(hard.view()), &TEXTS).unwrap().1;
            let (d_a, d_b, d_hard) = loss.backward(&saved, d_loss).unwrap();
            let d_hard = d_hard.unwrap();
            assert!(worst(|a| forward(a, b.view(), hard.view()), &a, &d_a) < 1e-7, "{loss:?} a");
            assert!(worst(|b| forward(a.view(), b, hard.view()), &b, &d_b) < 1e-7, "{loss:?} b");
            assert!(worst(|hard| forward(a.view(), b.view(), hard), &hard, &d_hard) < 1e-7, "{loss:?} hard");
            assert!(worst(|b| forward(a.view(), b, hard.view()), &b, &-d_b) > 1.9, "a flipped sign");
        }
    }

    /// The definition, entry by entry.
    fn by_definition(loss: &InfoNce, a: &Array2<f64>, b: &Array2<f64>, hard: &Array2<f64>, dim: usize) -> f64 {
        let m = a.nrows();
        let cosine = |x: ndarray::ArrayView1<'_, f64>, y: ndarray::ArrayView1<'_, f64>| {
            let (x, y) = (x.slice(s![..dim]), y.slice(s![..dim]));
            x.dot(&y) / (x.dot(&x) * y.dot(&y)).sqrt()
        };
        let mut sum = 0.0;
        for i in 0..m {
            let own = (TEXTS[2 * i], TEXTS[2 * i + 1]);
            let kept = |text: u32| !loss.exclude_equal_text || (text != own.0 && text != own.1);
            let e = |x, y| (cosine(x, y) / loss.temperature).exp();
            let mut denominators = [0.0; 2];
            for j in 0..m {
                if j == i || kept(TEXTS[2 * j + 1]) {
                    denominators[0] += e(a.row(i), b.row(j));
                }
                if j == i || kept(TEXTS[2 * j]) {
                    denominators[1] += e(a.row(j), b.row(i));
                }
            }
            for (j, v) in hard.rows().into_iter().enumerate() {
                if kept(TEXTS[2 * m + j]) {
                    denominators[0] += e(a.row(i), v);
                }
            }
            let each = denominators.map(|d| -(e(a.row(i), b.row(i)) / d).ln());
            sum += if loss.directions == InfoNceDirections::Both { 0.5 * (each[0] + each[1]) } else { each[0] };
        }
        sum / m as f64
    }

    #[test]
    fn the_value_is_that_of_the_definition() {
        let (a, b, hard) = (matrix::<f64>(4, 5, 1), matrix::<f64>(4, 5, 2), matrix::<f64>(3, 5, 3));
        let mut values = vec![];
        for loss in losses() {
            let (value, _) = loss.forward(a.view(), b.view(), Some(hard.view()), &TEXTS).unwrap();
            let of = |dim| by_definition(&loss, &a, &b, &hard, dim);
            let expected = if loss.prefixes.is_empty() { of(5) } else { (0.5 * of(2) + of(5)) / 1.5 };
            assert!((value - expected).abs() < 1e-12, "{loss:?}: {value} for {expected}");
            assert!(values.iter().all(|&other: &f64| (other - value).abs() > 1e-6), "each option changes the value");
            values.push(value);
        }
    }

    #[test]
    fn prefixes_are_a_list_of_dimensions_that_count_the_same() {
        let mut loss = InfoNce::default();
        let nested = |loss: &InfoNce| {
            let all = loss.hyperparameters();
            let names: Vec<&str> = all.iter().map(|one| one.name).collect();
            assert_eq!(names, ["temperature", "directions", "exclude_equal_text", "nested"]);
            all[3].value.clone()
        };
        assert_eq!(nested(&loss), None, "none by default");
        assert!(loss.set("nested", "2,5").unwrap() && !loss.set("nest", "3").unwrap());
        assert_eq!(loss.prefixes, [2, 5].map(|dim| Prefix { dim, weight: 1.0 }));
        assert_eq!(nested(&loss).as_deref(), Some("2,5"));
        assert!(loss.set("nested", "2,x").is_err() && loss.check_ranges().is_ok());
    }

    #[test]
    fn nothing_to_tell_apart() {
        let (a, b) = (matrix::<f64>(3, 5, 1), matrix::<f64>(3, 5, 2));
        let loss = InfoNce::default();
        for (m, texts) in [(1, &[0, 1][..]), (3, &[0, 1, 1, 0, 0, 1])] {
            let (a, b) = (a.slice(s![..m, ..]), b.slice(s![..m, ..]));
            let (value, saved) = loss.forward(a, b, None, texts).unwrap();
            assert_eq!(value, 0.0);
            assert!(loss.backward(&saved, 1.0).unwrap().0.iter().all(|&d| d == 0.0));
        }
        // An empty list of hard negatives equals no list.
        let texts = [0, 1, 2, 3, 4, 5];
        let (with, saved) = loss.forward(a.view(), b.view(), Some(a.slice(s![..0, ..])), &texts).unwrap();
        assert_eq!(with, loss.forward(a.view(), b.view(), None, &texts).unwrap().0);
        assert_eq!(loss.backward(&saved, 1.0).unwrap().2.unwrap().dim(), (0, 5));
    }

    #[test]
    fn bad_batches_and_numbers() {
        let x = matrix::<f64>(2, 3, 1);
        let good = InfoNce::default();
        let texts = [0, 1, 2, 3];
        let mismatch = |result: Result<_>| matches!(result, Err(Error::Core(senv_core::Error::ShapeMismatch { .. })));
        assert!(mismatch(good.forward(x.view(), x.slice(s![..1, ..]), None, &texts)));
        assert!(mismatch(good.forward(x.view(), x.slice(s![.., ..2]), None, &texts)));
        assert!(mismatch(good.forward(x.view(), x.view(), Some(x.slice(s![.., ..2])), &[0; 6])));
        assert!(mismatch(good.forward(x.view(), x.view(), Some(x.view()), &texts)));
        let none = x.slice(s![..0, ..]);
        assert!(matches!(good.forward(none, none, None, &[]), Err(Error::EmptyBatch)));
        let refused = |loss: InfoNce| {
            let result = loss.forward(x.view(), x.view(), None, &texts);
            matches!(result, Err(Error::Core(senv_core::Error::InvalidParameter { .. })))
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(InfoNce { temperature: bad, ..good.clone() }));
            assert!(refused(InfoNce { prefixes: vec![Prefix { dim: 3, weight: bad }], ..good.clone() }));
        }
        for (dim, bad) in [(0, true), (1, false), (3, false), (4, true)] {
            assert_eq!(refused(InfoNce { prefixes: vec![Prefix { dim, weight: 1.0 }], ..good.clone() }), bad);
        }
        let mut nan = x.clone();
        nan[(1, 1)] = f64::NAN;
        assert!(good.forward(x.view(), nan.view(), None, &texts).unwrap().0.is_nan());
    }
}
