//! Converts Arrow arrays to cells of text.

use std::fmt::Display;

use arrow_array::{
    Array, ArrayRef, BinaryViewArray, PrimitiveArray,
    cast::AsArray,
    downcast_integer_array, downcast_temporal_array, make_array,
    types::{ArrowTemporalType, Float16Type, Float32Type, Float64Type},
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use arrow_select::take::take;

/// The cells of a column as bytes of text.
#[derive(Debug)]
pub struct Cells(BinaryViewArray);

impl Cells {
    /// The cells of a text column: strings in any layout, binary values, dictionaries of both, and columns of only
    /// nulls. `None` for other types.
    #[must_use]
    pub fn of_text(array: &ArrayRef) -> Option<Self> {
        Some(Self(match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().iter().collect(),
            DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
            DataType::Utf8View => array.as_string_view().clone().to_binary_view(),
            DataType::Binary => array.as_binary::<i32>().iter().collect(),
            DataType::LargeBinary => array.as_binary::<i64>().iter().collect(),
            DataType::BinaryView => array.as_binary_view().clone(),
            DataType::Null => std::iter::repeat_n(None::<&[u8]>, array.len()).collect(),
            DataType::Dictionary(..) => return Self::of_text(&unpacked(array)?),
            _ => return None,
        }))
    }

    /// Like [`Cells::of_text`], but also converts numbers, Booleans, dates and times to text. `None` for other types.
    #[must_use]
    pub fn of_values(array: &ArrayRef) -> Option<Self> {
        if let Some(cells) = Self::of_text(array) {
            return Some(cells);
        }
        let array = array.as_ref();
        downcast_integer_array!(
            array => Some(shown(array.iter())),
            DataType::Float16 => Some(shown(array.as_primitive::<Float16Type>().iter())),
            DataType::Float32 => Some(shown(array.as_primitive::<Float32Type>().iter())),
            DataType::Float64 => Some(shown(array.as_primitive::<Float64Type>().iter())),
            DataType::Boolean => Some(shown(array.as_boolean().iter())),
            DataType::Dictionary(..) => Self::of_values(&unpacked(&make_array(array.to_data()))?),
            DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..) => {
                downcast_temporal_array!(array => Some(of_times(array)), _ => None)
            }
            _ => None
        )
    }

    /// The bytes of a cell; `None` if it is null. They may not be UTF-8 if the column is binary.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Replaces dictionary keys by their values.
fn unpacked(array: &ArrayRef) -> Option<ArrayRef> {
    let dictionary = array.as_any_dictionary_opt()?;
    take(dictionary.values(), dictionary.keys(), None).ok()
}

fn shown<T: Display>(values: impl Iterator<Item = Option<T>>) -> Cells {
    Cells(values.map(|value| value.map(|value| value.to_string())).collect())
}

fn of_times<T: ArrowTemporalType>(array: &PrimitiveArray<T>) -> Cells
where
    i64: From<T::Native>,
{
    let value = |row| match array.data_type() {
        DataType::Date32 | DataType::Date64 => array.value_as_date(row).map(|date| date.to_string()),
        DataType::Time32(_) | DataType::Time64(_) => array.value_as_time(row).map(|time| time.to_string()),
        _ => array.value_as_datetime(row).map(|time| time.to_string()),
    };
    Cells((0..array.len()).map(|row| array.is_valid(row).then(|| value(row)).flatten()).collect())
}

/// The column with this name, or, for names joined by dots, a nested field.
pub(super) fn find(fields: &Fields, name: &str) -> Option<(usize, Vec<usize>)> {
    if let Some((root, _)) = fields.find(name) {
        return Some((root, Vec::new()));
    }
    name.match_indices('.').find_map(|(dot, _)| {
        let (root, field) = fields.find(&name[..dot])?;
        let DataType::Struct(within) = field.data_type() else { return None };
        let (first, rest) = find(within, &name[dot + 1..])?;
        Some((root, std::iter::once(first).chain(rest).collect()))
    })
}

/// The name of a field in a column.
pub(super) fn name(column: &Field, fields: &[usize]) -> String {
    match (fields.split_first(), column.data_type()) {
        (Some((&first, rest)), DataType::Struct(within)) => format!("{}.{}", column.name(), name(&within[first], rest)),
        _ => column.name().clone(),
    }
}

/// A nested field of a column of structures; null structures have null fields.
pub(super) fn field(array: &ArrayRef, fields: &[usize]) -> ArrayRef {
    let Some((&first, rest)) = fields.split_first() else { return array.clone() };
    let parent = array.as_struct();
    let child = parent.column(first);
    let nulls = NullBuffer::union(parent.nulls(), child.logical_nulls().as_ref());
    let with_nulls = match (parent.nulls(), child.data_type()) {
        // These store their nulls elsewhere, and have no visible text in a null structure.
        (None, _) | (_, DataType::Null | DataType::Dictionary(..)) => child.clone(),
        (Some(_), _) => {
            let data = child.to_data().into_builder().nulls(nulls);
            data.build().map_or_else(|_| child.clone(), make_array)
        }
    };
    field(&with_nulls, rest)
}
