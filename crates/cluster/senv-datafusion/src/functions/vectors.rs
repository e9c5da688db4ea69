//! Vectors of a column or constant, as slices of Arrow's buffers.

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, Float32Array},
        buffer::NullBuffer,
        datatypes::{DataType, Field, Float32Type},
    },
    error::Result,
    logical_expr::ColumnarValue,
};

use crate::error;

/// The vectors of an argument.
pub(crate) struct Vectors<'a> {
    values: &'a [f32],
    ends: Ends<'a>,
    /// Null values inside vectors. A vector with a null value counts as null.
    value_nulls: Option<NullBuffer>,
    nulls: Option<NullBuffer>,
    constant: bool,
}

enum Ends<'a> {
    Fixed(usize),
    List(&'a [i32]),
    LargeList(&'a [i64]),
}

impl<'a> Vectors<'a> {
    /// Reads the vectors of an argument. [`vector_argument_type`] has chosen its type, and `array` contains its rows.
    pub(crate) fn new(function: &str, argument: &str, value: &ColumnarValue, array: &'a ArrayRef) -> Result<Self> {
        let (items, ends): (&ArrayRef, Ends<'a>) = match array.data_type() {
            DataType::FixedSizeList(_, size) => (array.as_fixed_size_list().values(), Ends::Fixed(*size as usize)),
            DataType::List(_) => (array.as_list::<i32>().values(), Ends::List(array.as_list::<i32>().value_offsets())),
            DataType::LargeList(_) => {
                (array.as_list::<i64>().values(), Ends::LargeList(array.as_list::<i64>().value_offsets()))
            }
            other => {
                return Err(error::execution(function, argument, format!("must be a list of numbers, got {other}")));
            }
        };
        let items: &Float32Array = items.as_primitive_opt::<Float32Type>().ok_or_else(|| {
            error::execution(function, argument, format!("must hold Float32, got {}", items.data_type()))
        })?;
        let value_nulls = items.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
        let constant = matches!(value, ColumnarValue::Scalar(_));
        Ok(Self { values: items.values(), ends, value_nulls, nulls: array.logical_nulls(), constant })
    }

    /// The vector of a row, or `None` if the vector or one of its values is null.
    pub(crate) fn get(&self, row: usize) -> Option<&'a [f32]> {
        let row = if self.constant { 0 } else { row };
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let (start, end) = match &self.ends {
            Ends::Fixed(dim) => (row * dim, (row + 1) * dim),
            Ends::List(ends) => (ends[row] as usize, ends[row + 1] as usize),
            Ends::LargeList(ends) => (ends[row] as usize, ends[row + 1] as usize),
        };
        let has_null = |nulls: &NullBuffer| (start..end).any(|i| nulls.is_null(i));
        (!self.value_nulls.as_ref().is_some_and(has_null)).then(|| &self.values[start..end])
    }
}

/// The type to which a vector argument is coerced: the same kind of list, with `Float32` values.
pub(crate) fn vector_argument_type(function: &str, argument: &str, given: &DataType) -> Result<DataType> {
    let number = |item: &Field| item.data_type().is_numeric() || item.data_type().is_null();
    let item = || std::sync::Arc::new(Field::new_list_field(DataType::Float32, true));
    match given {
        DataType::Null => Ok(DataType::List(item())),
        DataType::FixedSizeList(given, size) if number(given) => Ok(DataType::FixedSizeList(item(), *size)),
        DataType::List(given) if number(given) => Ok(DataType::List(item())),
        DataType::LargeList(given) if number(given) => Ok(DataType::LargeList(item())),
        given => Err(error::plan(function, argument, format!("must be a list of numbers, got {given}"))),
    }
}
