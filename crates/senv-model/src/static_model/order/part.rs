//! The pass over a sentence: the order part of `senv-encoders` (`order-passes`) with eight-bit rows.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::{
    OrderJoin, OrderWords, UNKNOWN_BUCKETS, part_length, part_of,
    row::OrderRow,
    values::{LIMIT, OrderValues},
};
use crate::{Vocabulary, static_model::RowEncoding};
use senv_base::{Error, Result, TokenId};
use senv_kernels::{
    kernels,
    kernels::{SKIP_BIGRAM_BLOCK as BLOCK, SkipBigramRow, SkipBigramState},
};

/// The number of words per call of the kernel.
const AT_A_TIME: usize = 32;
/// The number of values in a state.
const STATE: usize = 7 * BLOCK;
/// The maximum number of columns, and of random features.
const LARGEST: usize = 65_536;

/// The settings of an order part, as stored in model files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderConfig {
    /// The number of columns of the part, d.
    pub dim: usize,
    /// The number of random features of a word in addition to its row, k.
    pub random_features: usize,
    /// The encoding of the maps.
    pub encoding: RowEncoding,
    /// The weights of the parts.
    pub join: OrderJoin,
    /// The words that mean negation.
    pub negation_words: Vec<String>,
}

/// The order part of a [`StaticEncoder`](crate::StaticEncoder); clones share the computed rows.
#[derive(Debug, Clone)]
pub struct OrderPart {
    pub(super) config: OrderConfig,
    pub(super) values: Arc<OrderValues>,
    /// The negation words, ascending.
    negation: Arc<[TokenId]>,
    /// h_0 in blocks of columns: first the antisymmetric half, then the other.
    first_state: Arc<[[f32; BLOCK]]>,
    /// The rows of the words encountered so far.
    rows: Arc<[OnceLock<OrderRow>]>,
}

impl OrderPart {
    /// Creates the part for a table of these words whose rows have `table_dim` values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a setting or value is out of range; [`Error::ShapeMismatch`] if numbers do not
    /// fit each other; [`Error::TooLarge`] if memory runs out.
    pub(crate) fn new(
        config: OrderConfig,
        values: OrderValues,
        vocabulary: &Vocabulary,
        table_dim: usize,
    ) -> Result<Self> {
        let (d, k) = (config.dim, config.random_features);
        let range = |name, requirement, got: String| Err(Error::InvalidParameter { name, requirement, got });
        if !(1..=LARGEST).contains(&d) {
            return range("columns of the order part", "from 1 to 65536", d.to_string());
        }
        if k > LARGEST {
            return range("random features of the order part", "at most 65536", k.to_string());
        }
        check_join(config.join)?;
        let n = table_dim.saturating_add(k);
        let OrderValues { maps, scalars, f_bias, first_state, .. } = &values;
        for (what, expected, got) in [
            ("rows of the maps of the order part", n, maps.n_rows()),
            ("columns of the maps of the order part", 3 * d, maps.dim()),
            ("scalars of the order part", n.saturating_mul(3), scalars.len()),
            ("biases of the order part", d, f_bias.len()),
            ("first state of the order part", d, first_state.len()),
        ] {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        values.check()?;
        let too_large = |_| Error::TooLarge { rows: vocabulary.len(), dim: 3 * d };
        let halves = [&first_state[..d / 2], &first_state[d / 2..]];
        let blocks = halves.into_iter().flat_map(|half| half.chunks(BLOCK)).map(|columns| {
            let mut block = [0.0; BLOCK];
            block[..columns.len()].copy_from_slice(columns);
            block
        });
        let n_words = vocabulary.len() + UNKNOWN_BUCKETS;
        let mut rows = Vec::new();
        rows.try_reserve_exact(n_words).map_err(too_large)?;
        rows.resize_with(n_words, OnceLock::new);
        let mut negation: Vec<TokenId> = config.negation_words.iter().filter_map(|word| vocabulary.id(word)).collect();
        negation.sort_unstable();
        negation.dedup();
        let first_state = blocks.collect();
        Ok(Self { config, values: Arc::new(values), negation: negation.into(), first_state, rows: rows.into() })
    }

    /// The same part for the table with another vocabulary.
    pub(crate) fn of_words(&self, vocabulary: &Vocabulary, table_dim: usize) -> Result<Self> {
        Self::new(self.config.clone(), (*self.values).clone(), vocabulary, table_dim)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &OrderConfig {
        &self.config
    }

    /// The trained numbers.
    #[must_use]
    pub fn values(&self) -> &OrderValues {
        &self.values
    }

    /// The weights of the parts.
    #[must_use]
    pub fn join(&self) -> OrderJoin {
        self.config.join
    }

    /// Returns the part with other weights.
    pub(crate) fn with_join(mut self, join: OrderJoin) -> Result<Self> {
        check_join(join)?;
        self.config.join = join;
        Ok(self)
    }

    /// Returns the part with its maps in another encoding. Its rows are computed again.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if memory runs out.
    pub(crate) fn with_encoding(
        &self,
        encoding: RowEncoding,
        vocabulary: &Vocabulary,
        table_dim: usize,
    ) -> Result<Self> {
        let maps = crate::static_model::CompressedRows::compress(&self.values.maps.decoded()?, encoding)?;
        let values = OrderValues { maps, ..(*self.values).clone() };
        Self::new(OrderConfig { encoding, ..self.config.clone() }, values, vocabulary, table_dim)
    }

    /// The number of values that the part adds to a vector: its columns, the constant one, and that of negation.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.config.dim + OrderJoin::EXTRA
    }

    /// The number of rows computed so far, and their bytes.
    #[must_use]
    pub fn rows_made(&self) -> (usize, usize) {
        let made = self.rows.iter().filter_map(OnceLock::get);
        made.fold((0, 0), |(n, bytes), row| (n + 1, bytes + row.n_bytes()))
    }

    /// Whether a sentence with these words is negated.
    pub(crate) fn is_negated(&self, tokens: &[TokenId]) -> bool {
        tokens.iter().any(|token| self.negation.binary_search(token).is_ok())
    }

    /// Computes the part for a sentence with these words: l q / |q|, then l. `out` has one value more than there are
    /// columns; it is zero for a sentence without words. Once `buffer` has grown, allocates only rows of words not
    /// encountered before.
    ///
    /// # Panics
    /// If a word does not exist, or `out` has a different length.
    pub(crate) fn encode_into(
        &self,
        words: OrderWords<'_>,
        tokens: &[TokenId],
        buffer: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let (dim, half) = (self.config.dim, self.config.dim / 2);
        assert_eq!(out.len(), dim + 1, "values of the order part");
        let n = tokens.len();
        if n == 0 {
            return out.fill(0.0);
        }
        let antisymmetric = half.div_ceil(BLOCK);
        let (blocks, near) = (self.first_state.len(), dim - half);
        buffer.resize(blocks * STATE + 2 * near, 0.0);
        let (states, rest) = buffer.split_at_mut(blocks * STATE);
        let states: &mut [SkipBigramState] = bytemuck::cast_slice_mut(states);
        let (mean_f, shares) = rest.split_at_mut(near);
        for (state, first) in states.iter_mut().zip(&*self.first_state) {
            *state = [[0.0; BLOCK]; 7];
            state[0] = *first;
        }
        let mut sum_u = 0.0;
        for tokens in tokens.chunks(AT_A_TIME) {
            let mut rows = [SkipBigramRow::default(); AT_A_TIME];
            for (place, &token) in rows.iter_mut().zip(tokens) {
                let row = self.row(words, token);
                sum_u += row.length;
                *place = row.for_kernel();
            }
            kernels::skip_bigrams(&rows[..tokens.len()], antisymmetric, states);
        }

        // `order-passes` (F3).
        let (first, second) = states.split_at(antisymmetric);
        let (of_order, of_nearness) = out[..dim].split_at_mut(half);
        for ((q_out, state), h0) in of_order.chunks_mut(BLOCK).zip(first).zip(&*self.first_state) {
            let [_, g, q, ..] = state;
            (0..q_out.len()).for_each(|j| q_out[j] = q[j] - h0[j] * g[j]);
        }
        let count = 1.0 / n as f32;
        for (mean_f, state) in mean_f.chunks_mut(BLOCK).zip(second) {
            (0..mean_f.len()).for_each(|j| mean_f[j] = count * state[6][j]);
        }
        kernels::mean_shares(mean_f, n, shares);
        let of_blocks = second.iter().zip(&self.first_state[antisymmetric..]);
        for ((q_out, shares), (state, h0)) in of_nearness.chunks_mut(BLOCK).zip(shares.chunks(BLOCK)).zip(of_blocks) {
            let [_, g, q, sum_a, sum_b, sum_ab, _] = state;
            for j in 0..q_out.len() {
                q_out[j] = q[j] + h0[j] * g[j] - shares[j] * (sum_a[j] * sum_b[j] - sum_ab[j]);
            }
        }
        let (l, _) = part_length(sum_u, n, self.values.length_slope);
        part_of(l, out);
    }

    /// Returns the row of a word, and computes it on first use.
    #[inline]
    fn row(&self, words: OrderWords<'_>, token: TokenId) -> &OrderRow {
        self.rows[token.index()].get_or_init(|| {
            let mut features = vec![0.0; words.n_features()];
            words.features(token.index(), &mut features);
            OrderRow::new(&self.values, &features)
        })
    }
}

/// Rejects weights out of range.
fn check_join(OrderJoin { kappa, gamma, negation }: OrderJoin) -> Result<()> {
    match [kappa, gamma, negation].into_iter().find(|x| !(0.0..=f64::from(LIMIT)).contains(x)) {
        None => Ok(()),
        Some(x) => {
            let (name, requirement) = ("weight of the order part", "from 0 to 1e6");
            Err(Error::InvalidParameter { name, requirement, got: x.to_string() })
        }
    }
}
