//! From a table with an order part to a small one: rows and maps are stored in few bits, and the part then reads the
//! compressed rows.

use senv_core::{
    StaticEncoder,
    static_model::{CompressedRows, RowEncoding, order::OrderPart},
};

use super::table::CompressParams;
use crate::error::Result;

/// How the maps of an order part are stored in small tables. Four bits would save a tenth of a megabyte.
const MAPS: RowEncoding = RowEncoding::Int8;

impl CompressParams {
    /// Whether the rows keep their dimensions and axes, which an order part requires.
    pub(super) fn keeps_axes(&self, n_others: usize) -> bool {
        n_others == 0 && self.dim.is_none() && self.principal.is_none() && self.whitening == 0.0
    }

    /// Whether the rows of a small table stay unchanged, as rows with fewer bits than requested do.
    pub(super) fn keeps_rows(&self, table: &StaticEncoder) -> bool {
        self.keeps_axes(0) && self.unknown_length == 1.0 && has_few_bits(table, self.encoding)
    }

    /// Compresses a model with an order part. Rows with fewer bits than requested stay unchanged.
    pub(super) fn compress_with_order(&self, table: &StaticEncoder, part: &OrderPart) -> Result<StaticEncoder> {
        let rows = if has_few_bits(table, self.encoding) {
            table.rows().clone()
        } else {
            CompressedRows::compress(&table.rows().decoded()?, self.encoding)?
        };
        let before = table.rows().mean_length();
        let change = if before > 0.0 { rows.mean_length() / before } else { 1.0 };
        let length = table.unknown_word_length().map(|length| self.unknown_length as f32 * change * length);
        let small = StaticEncoder::new(table.tokenizer().clone(), table.vocabulary().clone(), rows, length)?;
        let small = small.with_order(part.config().clone(), part.values().clone())?.with_order_encoding(MAPS)?;
        let small = match self.max_vocabulary {
            Some(n) => small.truncate_vocabulary(n)?,
            None => small,
        };
        Ok(small.with_source(table.source()))
    }
}

/// Whether the rows have no more bits than requested.
fn has_few_bits(table: &StaticEncoder, asked: RowEncoding) -> bool {
    table.encoding().row_bytes(2) <= asked.row_bytes(2)
}
