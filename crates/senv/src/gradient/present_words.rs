//! The encoder of BOW AE: tanh of the sum of its distinct words.
//!
//! Equation: `bow-autoencoder`
//!
//! ```text
//! (F1)  s = Σ_{w present} W_w + c             W_w, c: shape (dim,); a repeated word counts once
//! (F2)  h = tanh(s)                           0 for a sentence without words
//! (B2)  ∂s = ∂h ∘ (1 − h²)
//! (B1)  ∂c += Σ ∂s,   ∂W_w += ∂s for every word present
//! ```

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch},
    rng::Stream,
};
use senv_encoders::{Average, Encoder, Pooling};

/// Sums words and applies tanh; batches must contain each word of a sentence once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PresentWords {
    sum: Average,
}

impl PresentWords {
    pub(crate) fn new(dim: usize) -> Self {
        Self { sum: Average::new(dim, Pooling::Sum) }
    }
}

fn check<F: Float>(parameters: &Parameters<F>, dim: usize) -> Result<()> {
    let got = if parameters.len() == 1 { parameters[0].values().len() } else { 0 };
    if got == dim { Ok(()) } else { Err(Error::ShapeMismatch { what: "bias of the encoder", expected: dim, got }) }
}

impl<F: Float> Encoder<F> for PresentWords {
    /// h, the sentence vectors.
    type Saved = Array2<F>;

    fn dim(&self) -> usize {
        self.sum.dim
    }

    fn init(&self, _: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        parameters.push_zeros("encoder.bias", [1, self.sum.dim])?;
        Ok(parameters)
    }

    fn forward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Array2<F>)> {
        check(parameters, self.sum.dim)?;
        let (mut h, ()) = self.sum.forward(&Parameters::new(), batch, words)?;
        let rows = h.rows_mut().into_iter().enumerate().filter(|(i, _)| !batch.sentence(*i).is_empty());
        for row in rows.filter_map(|(_, row)| row.into_slice()) {
            F::add_to(parameters[0].values(), row); // (F1)
            F::tanh_in_place(row); // (F2)
        }
        Ok((h.clone(), h))
    }

    fn backward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        h: &Array2<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        check(parameters, self.sum.dim)?;
        check(d_parameters, self.sum.dim)?;
        if h.dim() != d_out.dim() {
            return Err(Error::ShapeMismatch { what: "saved encodings", expected: d_out.len(), got: h.len() });
        }
        let mut d_s = d_out.to_owned();
        d_s.zip_mut_with(h, |d, &h| *d *= F::one() - h * h); // (B2)
        for (i, row) in d_s.rows().into_iter().enumerate().filter(|(i, _)| !batch.sentence(*i).is_empty()) {
            debug_assert!(i < batch.len());
            d_parameters[0].values_mut().iter_mut().zip(row).for_each(|(to, &d)| *to += d); // (B1)
        }
        let mut none = Parameters::new();
        self.sum.backward(&Parameters::new(), batch, words, &(), d_s.view(), d_words, &mut none) // (B1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::{TokenId, gradcheck::max_relative_error, rng::stream};

    #[test]
    fn gradients_match_central_differences() {
        let encoder = PresentWords::new(3);
        let mut batch = TokenBatch::new();
        let sentences =
            [vec![TokenId(0), TokenId(2), TokenId(5)], vec![TokenId(2)], vec![], vec![TokenId(5), TokenId(9)]];
        batch.assign(sentences.iter().map(Vec::as_slice)).unwrap();
        let words = Array2::from_shape_fn((4, 3), |(i, j)| 0.3 * (i as f64 * 1.3 + j as f64 * 0.7).sin());
        let d_out = Array2::from_shape_fn((4, 3), |(i, j)| (i as f64 + 2.0 * j as f64).cos());
        let mut p: Parameters<f64> = encoder.init(&mut stream(1, "encoder", &[])).unwrap();
        p[0].values_mut().copy_from_slice(&[0.2, -0.1, 0.4]);
        let f = |p: &Parameters<f64>, words: ArrayView2<'_, f64>| {
            let (h, _) = encoder.forward(p, &batch, words).unwrap();
            (h * &d_out).sum()
        };
        let (h, saved) = encoder.forward(&p, &batch, words.view()).unwrap();
        assert!(h.row(2).iter().all(|&x| x == 0.0), "a sentence without words");
        let (mut d_words, mut d_p) = (Array2::zeros((4, 3)), p.zeros_like());
        encoder.backward(&p, &batch, words.view(), &saved, d_out.view(), Some(d_words.view_mut()), &mut d_p).unwrap();
        let of_words = |x: &[f64]| f(&p, ArrayView2::from_shape((4, 3), x).unwrap());
        assert!(max_relative_error(of_words, words.as_slice().unwrap(), d_words.as_slice().unwrap()) < 1e-7);
        let of_bias = |x: &[f64]| {
            let mut p = p.clone();
            p[0].values_mut().copy_from_slice(x);
            f(&p, words.view())
        };
        assert!(max_relative_error(of_bias, p[0].values(), d_p[0].values()) < 1e-7);
        let flipped: Vec<f64> = d_p[0].values().iter().map(|d| -d).collect();
        assert!(max_relative_error(of_bias, p[0].values(), &flipped) > 1.9, "a flipped sign");
    }
}
