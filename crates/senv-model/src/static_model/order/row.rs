//! The row of a word in the order part, with eight bits per value.
//!
//! Equation: `order-words`
//!
//! ```text
//! (F1)  [A e; B e; F e] = Mᵀ e            e: shape (n,), the fixed features of a word;  M: shape (n, 3d)
//! (F2)  [s_a; s_b; u] = Sᵀ e + s_0         S: shape (n, 3)
//! (F3)  a = A e σ(s_a)      b = B e σ(s_b)      f = σ(F e + f_0)
//! ```
//!
//! a opens a skip-bigram, b closes it, and f is the share of what was opened before that a word between them lets pass.
//! u contributes to the length (`order-length`). All of these depend only on the word. They are computed on first use
//! and kept as codes, with a scale for a and one for b (`row-quantization`); f is stored in steps of 1/255.

use super::values::OrderValues;
use crate::static_model::{RowEncoding, compress::compress_row};
use senv_kernels::{
    kernels,
    kernels::{SKIP_BIGRAM_BLOCK as BLOCK, SKIP_BIGRAM_BYTES, SkipBigramRow},
};

/// The row of a word.
#[derive(Debug, Clone)]
pub(super) struct OrderRow {
    codes: Box<[[u8; SKIP_BIGRAM_BYTES]]>,
    scales: [f32; 2],
    /// u.
    pub(super) length: f32,
}

impl OrderRow {
    /// Computes (F1) to (F3) for a word with these features.
    pub(super) fn new(values: &OrderValues, features: &[f32]) -> Self {
        let dim = values.f_bias.len();
        let mut row = vec![0.0; 3 * dim];
        let mut scalars = values.scalar_bias;
        for (i, (&e, of_feature)) in features.iter().zip(values.scalars.as_chunks::<3>().0).enumerate() {
            values.maps.add_row(i, e, &mut row); // (F1)
            scalars.iter_mut().zip(of_feature).for_each(|(sum, s)| *sum += e * s); // (F2)
        }
        kernels::sigmoid_in_place(&mut scalars[..2]);
        let (a, rest) = row.split_at_mut(dim);
        let (b, f) = rest.split_at_mut(dim);
        kernels::scale(scalars[0], a); // (F3)
        kernels::scale(scalars[1], b);
        kernels::add(&values.f_bias, f);
        kernels::sigmoid_in_place(f);

        let (mut of_a, mut of_b, mut buffer) = (vec![0; dim], vec![0; dim], Vec::new());
        let scales =
            [(&*a, &mut of_a), (&*b, &mut of_b)].map(|(x, out)| compress_row(x, RowEncoding::Int8, &mut buffer, out));
        let of_f: Vec<u8> = f.iter().map(|f| (255.0 * f).round() as u8).collect();
        let halves = [0..dim / 2, dim / 2..dim];
        let codes = halves.into_iter().flat_map(|half| {
            let [a, b, f] = [&of_a, &of_b, &of_f].map(|codes| codes[half.clone()].chunks(BLOCK));
            a.zip(b).zip(f).map(|((a, b), f)| {
                let mut block = [0; SKIP_BIGRAM_BYTES];
                for (place, codes) in block.chunks_exact_mut(BLOCK).zip([a, b, f]) {
                    place[..codes.len()].copy_from_slice(codes);
                }
                block
            })
        });
        Self { codes: codes.collect(), scales, length: scalars[2] }
    }

    /// The row in the form of the kernel.
    #[inline]
    pub(super) fn for_kernel(&self) -> SkipBigramRow<'_> {
        SkipBigramRow { codes: &self.codes, scales: self.scales }
    }

    /// The size of the row in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        size_of_val(&*self.codes) + size_of::<Self>()
    }
}
