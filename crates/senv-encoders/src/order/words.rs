//! The contributions of a batch's words to the order part, with gradients.
//!
//! Equation: `order-word-gradients`
//!
//! ```text
//! (F1)  [A e; B e; F e] = Mᵀ e            e: shape (n,), the fixed features of a word;  M: shape (n, 3d)
//! (F2)  [s_a; s_b; u] = Sᵀ e + s_0         S: shape (n, 3)
//! (F3)  a = A e σ(s_a)      b = B e σ(s_b)      f = σ(F e + f_0)
//! (B3)  ∂(A e) = ∂a σ(s_a)    ∂s_a = (∂a·a) (1 − σ(s_a))     b likewise     ∂(F e) = ∂f f (1 − f)
//! (B2)  ∂S += e [∂s_a, ∂s_b, ∂u]    ∂s_0 += [∂s_a, ∂s_b, ∂u]    ∂f_0 += ∂(F e)
//! (B1)  ∂M += e [∂(A e), ∂(B e), ∂(F e)]    ∂e += M [∂(A e); ∂(B e); ∂(F e)] + S [∂s_a; ∂s_b; ∂u]
//! ```
//!
//! (F1) to (F3) are `order-words`, computed here for many words together by matrix products.

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, Parameters, matmul_into},
};

use super::{F_BIAS, MAPS, OrderEncoder, SCALAR_BIAS, SCALARS};
use crate::rows::{AT_A_TIME, matrix, row, zeros};

/// The number of scalars of a word: s_a, s_b, u.
pub(super) const N_SCALARS: usize = 3;

/// a, b and f of each word, concatenated in a row of 3d values, and their scalars.
#[derive(Debug, Clone)]
pub(super) struct WordRows<F> {
    pub(super) rows: Vec<F>,
    /// σ(s_a), σ(s_b) and u of each word.
    pub(super) scalars: Vec<F>,
}

impl OrderEncoder {
    /// (F1) to (F3) for words with these features.
    pub(super) fn word_rows<F: Float>(
        &self,
        parameters: &Parameters<F>,
        features: ArrayView2<'_, F>,
    ) -> Result<WordRows<F>> {
        let (n, dim, width) = (features.nrows(), self.dim, 3 * self.dim);
        let mut rows = zeros(n, width)?;
        let mut scalars = zeros(n, N_SCALARS)?;
        let view = |values, columns| ArrayViewMut2::from_shape((n, columns), values);
        if let (Ok(rows), Ok(scalars)) = (view(&mut rows, width), view(&mut scalars, N_SCALARS)) {
            matmul_into(F::one(), features, parameters[MAPS].view(), F::zero(), rows)?; // (F1)
            matmul_into(F::one(), features, parameters[SCALARS].view(), F::zero(), scalars)?;
        }
        let (scalar_bias, f_bias) = (parameters[SCALAR_BIAS].values(), parameters[F_BIAS].values());
        let both = rows.par_chunks_mut(AT_A_TIME * width).zip(scalars.par_chunks_mut(AT_A_TIME * N_SCALARS));
        both.for_each(|(rows, scalars)| {
            for (row, scalars) in rows.chunks_exact_mut(width).zip(scalars.chunks_exact_mut(N_SCALARS)) {
                F::add_to(scalar_bias, scalars); // (F2)
                F::sigmoid_in_place(&mut scalars[..2]);
                let (a, rest) = row.split_at_mut(dim);
                let (b, f) = rest.split_at_mut(dim);
                F::scale(scalars[0], a); // (F3)
                F::scale(scalars[1], b);
                F::add_to(f_bias, f);
                F::sigmoid_in_place(f);
            }
        });
        Ok(WordRows { rows, scalars })
    }

    /// (B3) to (B1): `d_rows` has the gradients of a, b and f, `d_u` that of u, for each word. Without `d_features` the
    /// gradients of the features are not computed.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn word_rows_backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        features: ArrayView2<'_, F>,
        words: &WordRows<F>,
        mut d_rows: Vec<F>,
        d_u: &[F],
        d_features: Option<ArrayViewMut2<'_, F>>,
        d: &mut Parameters<F>,
    ) -> Result<()> {
        let (n, dim, width) = (features.nrows(), self.dim, 3 * self.dim);
        let mut d_scalars = zeros(n, N_SCALARS)?;
        let both = d_rows.par_chunks_mut(AT_A_TIME * width).zip(d_scalars.par_chunks_mut(AT_A_TIME * N_SCALARS));
        both.enumerate().for_each(|(chunk, (d_rows, d_scalars))| {
            let each = d_rows.chunks_exact_mut(width).zip(d_scalars.chunks_exact_mut(N_SCALARS));
            for (i, (d_row, d_scalars)) in each.enumerate() {
                let i = chunk * AT_A_TIME + i;
                let (word, gates) = (row(&words.rows, width, i), row(&words.scalars, N_SCALARS, i));
                for (k, &gate) in gates[..2].iter().enumerate() {
                    let d_part = &mut d_row[k * dim..][..dim];
                    d_scalars[k] = F::dot(d_part, &word[k * dim..][..dim]) * (F::one() - gate); // (B3)
                    F::scale(gate, d_part);
                }
                d_scalars[2] = d_u[i];
                let d_f = &mut d_row[2 * dim..];
                d_f.iter_mut().zip(&word[2 * dim..]).for_each(|(d, &f)| *d *= f * (F::one() - f));
            }
        });
        // (B2)
        for d_scalars in d_scalars.chunks_exact(N_SCALARS) {
            F::add_to(d_scalars, d[SCALAR_BIAS].values_mut());
        }
        for d_row in d_rows.chunks_exact(width) {
            F::add_to(&d_row[2 * dim..], d[F_BIAS].values_mut());
        }
        // (B1)
        let (d_rows, d_scalars) = (matrix(n, width, d_rows)?, matrix(n, N_SCALARS, d_scalars)?);
        matmul_into(F::one(), features.t(), d_rows.view(), F::one(), d[MAPS].view_mut())?;
        matmul_into(F::one(), features.t(), d_scalars.view(), F::one(), d[SCALARS].view_mut())?;
        if let Some(mut d_features) = d_features {
            matmul_into(
                F::one(),
                d_rows.view(),
                parameters[MAPS].view().reversed_axes(),
                F::one(),
                d_features.view_mut(),
            )?;
            matmul_into(F::one(), d_scalars.view(), parameters[SCALARS].view().reversed_axes(), F::one(), d_features)?;
        }
        Ok(())
    }
}
