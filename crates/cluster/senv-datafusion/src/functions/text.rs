//! Text of a column or constant, as slices of Arrow's buffers.

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

/// The longest sentence in bytes, the same limit as for files of text. Longer text is rejected, because it usually
/// comes from a file that lost its line ends.
pub const MAX_SENTENCE_BYTES: usize = senv_core::text::DEFAULT_MAX_LINE_BYTES;

/// The text of an argument: distinct texts, and the text of each row.
pub(crate) struct Texts<'a> {
    /// Null texts are empty here.
    pub(crate) distinct: Vec<&'a str>,
    row_texts: RowTexts,
    /// Null rows.
    pub(crate) nulls: Option<NullBuffer>,
}

/// Maps rows to distinct texts.
enum RowTexts {
    /// Row `i` has text `i`.
    Row,
    /// All rows have the first text.
    First,
    /// Keys of a dictionary.
    Keys(Vec<usize>),
}

impl<'a> Texts<'a> {
    /// Reads the text of an argument. [`text_type`] has checked its type, and `array` contains its rows ([`array_of`]).
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
        // A slice of a few rows may refer to the dictionary of a whole column.
        if values.len() > keys.len() {
            let distinct = keys.iter().map(|&key| values[key]).collect();
            return Ok(Self { distinct, row_texts: RowTexts::Row, nulls });
        }
        Ok(Self { distinct: values, row_texts: RowTexts::Keys(keys), nulls })
    }

    /// The index of a row's text among the distinct texts.
    pub(crate) fn at(&self, row: usize) -> usize {
        match &self.row_texts {
            RowTexts::Row => row,
            RowTexts::First => 0,
            RowTexts::Keys(keys) => keys[row],
        }
    }

    /// Whether row `i` has text `i`.
    pub(crate) fn is_by_row(&self) -> bool {
        matches!(self.row_texts, RowTexts::Row)
    }

    /// Whether a row is null.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        let row = if matches!(self.row_texts, RowTexts::First) { 0 } else { row };
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// The rows of an argument: its column, or an array with the single value of a constant.
pub(crate) fn array_of(value: &ColumnarValue) -> Result<ArrayRef> {
    match value {
        ColumnarValue::Array(array) => Ok(array.clone()),
        ColumnarValue::Scalar(scalar) => scalar.to_array(),
    }
}

/// The type to which a text argument is coerced.
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

/// The texts of an array without copying. Null texts are empty.
fn slices(array: &ArrayRef) -> Result<Vec<&str>> {
    Ok(match array.data_type() {
        DataType::LargeUtf8 => as_large_string_array(array)?.iter().map(Option::unwrap_or_default).collect(),
        DataType::Utf8View => as_string_view_array(array)?.iter().map(Option::unwrap_or_default).collect(),
        _ => as_string_array(array)?.iter().map(Option::unwrap_or_default).collect(),
    })
}
