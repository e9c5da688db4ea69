//! A trained order part as tables: look-ups instead of products.
//!
//! a, b and f of every word (`order-words`) are rows of one compressed table, three a word, so that a sentence costs one read of each of
//! its words and a few operations a column (`order-passes`). Rows are made in blocks of a fixed number of words: which thread makes
//! a block changes nothing, and rows depend on the parameters and on the features of their word.

use ndarray::ArrayView2;
use senv_core::{
    Error, Result, Table,
    arrays::Parameters,
    static_model::{CompressedRows, RowEncoding},
};

use super::{FIRST_STATE, LENGTH_SLOPE, N_SCALARS, OrderEncoder, length, passes::Pass};
use crate::rows::zeros;

/// Words whose rows are made at a time.
const BLOCK: usize = 1024;

/// The tables of a trained [`OrderEncoder`].
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream, static_model::RowEncoding};
/// use senv_encoders::{Encoder, OrderEncoder, OrderTables};
/// let encoder = OrderEncoder { features: 2, dim: 4 };
/// let parameters = encoder.init(&mut stream(1, "order", &[]))?;
/// let features = [[1.0f32, 0.2], [-0.4, 0.9], [0.3, 0.3]];
/// let tables = OrderTables::new(encoder, &parameters, 3, RowEncoding::F32, |word, out| out.copy_from_slice(&features[word]))?;
/// let (mut out, mut buffer) = ([0.0; 5], Vec::new());
/// tables.encode_into([2, 0, 1], &mut buffer, &mut out);
///
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(2), TokenId(0), TokenId(1)][..]])?;
/// let words = array![[1.0f32, 0.2], [-0.4, 0.9], [0.3, 0.3]];
/// let expected = encoder.forward(&parameters, &batch, words.view())?.0;
/// assert!(out.iter().zip(&expected).all(|(x, e)| (x - e).abs() < 1e-5));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct OrderTables {
    encoder: OrderEncoder,
    /// a, b and f of word i in rows 3i, 3i + 1 and 3i + 2.
    pub(super) rows: CompressedRows,
    /// u of each word.
    lengths: Vec<f32>,
    first_state: Vec<f32>,
    length_slope: f32,
}

impl OrderTables {
    /// The tables of `n_words` words; `features` writes those of a word, as many as `out` has values.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the parameters are not those of the encoder; [`Error::InvalidParameter`] if a value is NaN or
    /// infinite; [`Error::TooLarge`] if memory is lacking.
    pub fn new(
        encoder: OrderEncoder,
        parameters: &Parameters<f32>,
        n_words: usize,
        encoding: RowEncoding,
        features: impl Fn(usize, &mut [f32]),
    ) -> Result<Self> {
        encoder.check_parameters(parameters)?;
        let (n, dim) = (encoder.features, encoder.dim);
        let too_large = || Error::TooLarge { rows: n_words, dim: 3 * dim };
        let row_bytes = encoding.row_bytes(dim).and_then(|bytes| bytes.checked_mul(3)).ok_or_else(too_large)?;
        let (mut bytes, mut scales, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let n_bytes = n_words.checked_mul(row_bytes).ok_or_else(too_large)?;
        bytes.try_reserve_exact(n_bytes).map_err(|_| too_large())?;
        scales.try_reserve_exact(3 * n_words).map_err(|_| too_large())?;
        lengths.try_reserve_exact(n_words).map_err(|_| too_large())?;
        let mut block = zeros::<f32>(BLOCK.min(n_words), n)?;
        for first in (0..n_words).step_by(BLOCK) {
            let words = BLOCK.min(n_words - first);
            let block = &mut block[..words * n];
            block.chunks_exact_mut(n).enumerate().for_each(|(i, out)| features(first + i, out));
            let view = ArrayView2::from_shape((words, n), &*block).map_err(|_| too_large())?;
            let rows = encoder.word_rows(parameters, view)?;
            lengths.extend(rows.scalars.chunks_exact(N_SCALARS).map(|scalars| scalars[2]));
            let rows = CompressedRows::compress(&Table::from_vec(3 * words, dim, rows.rows)?, encoding)?;
            bytes.extend_from_slice(&rows.stored());
            scales.extend_from_slice(rows.scales());
        }
        let rows = CompressedRows::from_parts("order tables".as_ref(), encoding, dim, bytes.into(), scales)?;
        let (first_state, length_slope) =
            (parameters[FIRST_STATE].values().to_vec(), parameters[LENGTH_SLOPE].values()[0]);
        if lengths.iter().chain(&first_state).chain([&length_slope]).any(|x| !x.is_finite()) {
            let (name, requirement) = ("parameters of the order part", "finite");
            return Err(Error::InvalidParameter { name, requirement, got: "NaN or an infinite number".into() });
        }
        Ok(Self { encoder, rows, lengths, first_state, length_slope })
    }

    /// Number of words.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.lengths.len()
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.rows.n_bytes() + 4 * self.lengths.len()
    }

    /// The order part of a sentence of these words, by number: l q / |q|, then l; zeros for a sentence without words. Allocates nothing
    /// once `buffer` has grown.
    ///
    /// # Panics
    /// If there is no word of a number, or `out` has not as many values as the part has columns, and one more.
    pub fn encode_into(&self, words: impl IntoIterator<Item = u32>, buffer: &mut Vec<f32>, out: &mut [f32]) {
        let dim = self.encoder.dim;
        assert_eq!(out.len(), dim + 1, "values of the order part");
        let mut pass = Pass::in_buffer(dim, std::mem::take(buffer));
        let (mut sum_u, mut n) = (0.0, 0);
        let q = &mut out[..dim];
        pass.begin(&self.first_state, q);
        for word in words {
            let word = word as usize;
            n += 1;
            sum_u += self.lengths[word];
            pass.word_with(
                |row| {
                    for (k, out) in row.chunks_exact_mut(dim).enumerate() {
                        self.rows.row_into(3 * word + k, out);
                    }
                },
                q,
            );
        }
        pass.end(&self.first_state, q);
        *buffer = pass.into_buffer();
        if n == 0 {
            return out.fill(0.0);
        }
        let (l, _) = length::length(sum_u, n, self.length_slope);
        length::part(l, out);
    }
}
