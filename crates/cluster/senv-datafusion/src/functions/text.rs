//! Text of a column or a constant, as slices of the buffers that Arrow holds.

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray},
        buffer::NullBuffer,
        datatypes::DataType,
    },
    common::cast::{as_large_string_array, as_string_array, as_string_view_array},
    error::Result,
    logical_expr::ColumnarValue,
};

use crate::error;

/// The longest sentence, in bytes, as in files of text. A longer one is a file or a table that lost its line ends, and
/// is refused.
pub const MAX_SENTENCE_BYTES: usize = senv_core::text::DEFAULT_MAX_LINE_BYTES;

/// Text of an argument: distinct texts, and which of them each row has.
pub(crate) struct Texts<'a> {
    /// Nulls are empty.
    pub(crate) distinct: Vec<&'a str>,
    row_texts: RowTexts,
    /// Of the rows.
    pub(crate) nulls: Option<NullBuffer>,
}

/// Which of the texts each row has.
enum RowTexts {
    /// Each row has the text of its own number.
    Row,
    /// All rows have the first one.
    First,
    /// Of a dictionary.
    Keys(Vec<usize>),
}

impl<'a> Texts<'a> {
    /// Reads the text of an argument. [`text_type`] has checked its type; `array` holds its rows ([`array_of`]).
    pub(crate) fn new(function: &str, argument: &str, value: &ColumnarValue, array: &'a ArrayRef) -> Result<Self> {
        let constant = matches!(value, ColumnarValue::Scalar(_));
        let nulls = array.logical_nulls();
        let texts = match array.data_type() {
            DataType::Dictionary(..) => Self::of_dictionary(array, nulls)?,
            _ => Self { distinct: slices(array)?, row_texts: RowTexts::Row, nulls },
        };
        if let Some((row, text)) = texts.distinct.iter().enumerate().find(|(_, text)| text.len() > MAX_SENTENCE_BYTES) {
            let start: String = text.chars().take(40).collect();
            let reason = format!(
                "a sentence of {} bytes, longer than {MAX_SENTENCE_BYTES}, number {row} of the batch: {start:?}...",
                text.len()
            );
            return Err(error::execution(function, argument, reason));
        }
        Ok(if constant { Self { row_texts: RowTexts::First, ..texts } } else { texts })
    }

    fn of_dictionary(array: &'a ArrayRef, nulls: Option<NullBuffer>) -> Result<Self> {
        let dictionary = array.as_any_dictionary();
        let values = slices(dictionary.values())?;
        if values.is_empty() {
            return Ok(Self { distinct: vec![""; array.len()], row_texts: RowTexts::Row, nulls });
        }
        let keys = dictionary.normalized_keys();
        // A slice of a few rows may have the dictionary of a whole column.
        if values.len() > keys.len() {
            let distinct = keys.iter().map(|&key| values[key]).collect();
            return Ok(Self { distinct, row_texts: RowTexts::Row, nulls });
        }
        Ok(Self { distinct: values, row_texts: RowTexts::Keys(keys), nulls })
    }

    /// Which of the distinct texts a row has.
    pub(crate) fn at(&self, row: usize) -> usize {
        match &self.row_texts {
            RowTexts::Row => row,
            RowTexts::First => 0,
            RowTexts::Keys(keys) => keys[row],
        }
    }

    /// Whether each row has the text of its own number.
    pub(crate) fn is_by_row(&self) -> bool {
        matches!(self.row_texts, RowTexts::Row)
    }

    /// Whether a row is null.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        let row = if matches!(self.row_texts, RowTexts::First) { 0 } else { row };
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// What an argument holds: the column, or an array of the one value of a constant.
pub(crate) fn array_of(value: &ColumnarValue) -> Result<ArrayRef> {
    match value {
        ColumnarValue::Array(array) => Ok(array.clone()),
        ColumnarValue::Scalar(scalar) => scalar.to_array(),
    }
}

/// The type under which a function takes an argument of text.
pub(crate) fn text_type(function: &str, argument: &str, given: &DataType) -> Result<DataType> {
    let is_text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match given {
        DataType::Null => Ok(DataType::Utf8),
        DataType::Dictionary(_, values) if is_text(values) => Ok(given.clone()),
        DataType::Dictionary(_, values) if **values == DataType::Null => Ok(DataType::Utf8),
        given if is_text(given) => Ok(given.clone()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Err(error::plan(
            function,
            argument,
            format!("must be text, got {given}; use arrow_cast({argument}, 'Utf8')"),
        )),
        given => Err(error::plan(function, argument, format!("must be text, got {given}"))),
    }
}

/// The texts of an array, without a copy; nulls are empty.
fn slices(array: &ArrayRef) -> Result<Vec<&str>> {
    Ok(match array.data_type() {
        DataType::LargeUtf8 => as_large_string_array(array)?.iter().map(Option::unwrap_or_default).collect(),
        DataType::Utf8View => as_string_view_array(array)?.iter().map(Option::unwrap_or_default).collect(),
        _ => as_string_array(array)?.iter().map(Option::unwrap_or_default).collect(),
    })
}
