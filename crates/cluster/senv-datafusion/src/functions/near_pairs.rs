//! `near_pairs(id, vector, threshold)`: aggregates a group into the pairs of rows with similar vectors.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, Float32Array, Int64Array, LargeListArray, ListArray, StructArray},
        buffer::OffsetBuffer,
        datatypes::{DataType, Field, FieldRef, Fields, Float32Type, Int64Type},
    },
    common::ScalarValue,
    error::Result,
    logical_expr::{
        Accumulator, AggregateUDFImpl, ColumnarValue, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
    },
};
use senv_core::Table;
use senv_index::{PairSearch, nearest_pairs};

use super::vectors::{Vectors, vector_argument_type};
use crate::error;

const NAME: &str = "near_pairs";

/// `near_pairs(id, vector, threshold)`: all pairs of rows of a group whose vectors have a cosine of at least
/// `threshold`. The result is a `List<Struct<first, second, cosine>>`, highest cosine first, with the lower id of each
/// pair as `first`. `id` is an integer. Rows that contain a null and vectors of zeros are in no pair.
///
/// It compares the rows of a group exactly and keeps them in memory. Grouping by `cells` finds pairs among all rows
/// without comparing every row with every other.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct NearPairs {
    signature: Signature,
}

impl Default for NearPairs {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

fn pair_fields() -> Fields {
    let id = |name| Field::new(name, DataType::Int64, false);
    vec![id("first"), id("second"), Field::new("cosine", DataType::Float32, false)].into()
}

fn pair_item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Struct(pair_fields()), true))
}

impl AggregateUDFImpl for NearPairs {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [id, vector, threshold] = given else {
            let reason = format!("must be near_pairs(id, vector, threshold), got {} arguments", given.len());
            return Err(error::plan(NAME, "list", reason));
        };
        if !id.is_integer() {
            return Err(error::plan(NAME, "id", format!("must be an integer, got {id}")));
        }
        if !threshold.is_numeric() {
            return Err(error::plan(NAME, "threshold", format!("must be a number, got {threshold}")));
        }
        Ok(vec![DataType::Int64, vector_argument_type(NAME, "vector", vector)?, DataType::Float32])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(pair_item()))
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Rows::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |name: &str, data_type| {
            let name = format!("{}[{name}]", args.name);
            Arc::new(Field::new(name, DataType::LargeList(Arc::new(Field::new_list_field(data_type, true))), true))
        };
        let threshold = Arc::new(Field::new(format!("{}[threshold]", args.name), DataType::Float32, true));
        Ok(vec![list("ids", DataType::Int64), list("values", DataType::Float32), threshold])
    }
}

/// The rows of a group.
#[derive(Debug, Default)]
struct Rows {
    ids: Vec<i64>,
    /// Vectors of the same dimension, one after another.
    values: Vec<f32>,
    threshold: Option<f32>,
}

impl Rows {
    fn push(&mut self, ids: &[i64], values: &[f32]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let dim = values.len() / ids.len();
        let known = self.values.len().checked_div(self.ids.len());
        if let Some(known) = known.filter(|&known| known != dim) {
            let reason = format!("has {dim} values in the row of id {}, but {known} in the previous rows", ids[0]);
            return Err(error::execution(NAME, "vector", reason));
        }
        self.ids.extend_from_slice(ids);
        self.values.extend_from_slice(values);
        Ok(())
    }

    fn set_threshold(&mut self, threshold: f32) -> Result<()> {
        if !(-1.0..=1.0).contains(&threshold) || self.threshold.is_some_and(|known| known != threshold) {
            let reason = format!("must be a number from -1 to 1, got {threshold}");
            return Err(error::execution(NAME, "threshold", reason));
        }
        self.threshold = Some(threshold);
        Ok(())
    }
}

impl Accumulator for Rows {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let (ids, thresholds) = (columns[0].as_primitive::<Int64Type>(), columns[2].as_primitive::<Float32Type>());
        let value = ColumnarValue::Array(columns[1].clone());
        let vectors = Vectors::new(NAME, "vector", &value, &columns[1])?;
        for row in (0..ids.len()).filter(|&row| ids.is_valid(row)) {
            if thresholds.is_valid(row) {
                self.set_threshold(thresholds.value(row))?;
            }
            if let Some(vector) = vectors.get(row) {
                self.push(&[ids.value(row)], vector)?;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (ids, values) = (states[0].as_list::<i64>(), states[1].as_list::<i64>());
        let thresholds = states[2].as_primitive::<Float32Type>();
        for row in (0..ids.len()).filter(|&row| ids.is_valid(row) && values.is_valid(row)) {
            if thresholds.is_valid(row) {
                self.set_threshold(thresholds.value(row))?;
            }
            let (ids, values) = (ids.value(row), values.value(row));
            self.push(ids.as_primitive::<Int64Type>().values(), values.as_primitive::<Float32Type>().values())?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |values: ArrayRef| -> Result<ScalarValue> {
            let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
            let ends = OffsetBuffer::from_lengths([values.len()]);
            Ok(ScalarValue::LargeList(Arc::new(LargeListArray::try_new(item, ends, values, None)?)))
        };
        let ids = list(Arc::new(Int64Array::from(std::mem::take(&mut self.ids))));
        let values = list(Arc::new(Float32Array::from(std::mem::take(&mut self.values))));
        Ok(vec![ids?, values?, ScalarValue::Float32(self.threshold)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (ids, values) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.values));
        let mut pairs = Vec::new();
        if let (Some(dim @ 1..), Some(threshold)) = (values.len().checked_div(ids.len()), self.threshold) {
            let failed = |e: &dyn std::fmt::Display| error::execution(NAME, "vector", e);
            let rows = Table::from_vec(ids.len(), dim, values).map_err(|e| failed(&e))?;
            let search = PairSearch::new(usize::MAX, threshold);
            pairs = nearest_pairs(&rows, &search, |_| {}).map_err(|e| failed(&e))?;
        }
        let id = |row: usize| ids[row];
        let first = pairs.iter().map(|pair| id(pair.first).min(id(pair.second)));
        let second = pairs.iter().map(|pair| id(pair.first).max(id(pair.second)));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(first)),
            Arc::new(Int64Array::from_iter_values(second)),
            Arc::new(Float32Array::from_iter_values(pairs.iter().map(|pair| pair.cosine))),
        ];
        let pairs = StructArray::try_new(pair_fields(), columns, None)?;
        let ends = OffsetBuffer::from_lengths([pairs.len()]);
        Ok(ScalarValue::List(Arc::new(ListArray::try_new(pair_item(), ends, Arc::new(pairs), None)?)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.ids.capacity() * size_of::<i64>() + self.values.capacity() * size_of::<f32>()
    }
}
