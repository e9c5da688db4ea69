//! `embed(text [, model])`: the embedding of each sentence.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, FixedSizeListArray, Float32Array, UInt64Array},
        compute::take,
        datatypes::{DataType, Field, FieldRef},
    },
    common::ScalarValue,
    error::Result,
    logical_expr::{
        ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
        simplify::{ExprSimplifyResult, SimplifyContext},
    },
};
use senv::SentenceEncoder;

use super::{
    model::{TextArguments, field},
    text::{Texts, array_of},
};
use crate::{
    error::{self, external},
    models::Models,
};

/// `embed(text [, model])`: the embedding of each sentence, a `FixedSizeList<Float32>` with the dimension of the model.
/// Null texts give null, and sentences without a known token give zeros.
///
/// Distinct values of a dictionary are encoded once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Embed {
    arguments: TextArguments,
    signature: Signature,
}

impl Embed {
    /// Creates the function with these models.
    #[must_use]
    pub fn new(models: Models) -> Self {
        let arguments = TextArguments { function: "embed", texts: &["text"], models };
        Self { arguments, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Embed {
    fn name(&self) -> &str {
        self.arguments.function
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.arguments.coerce(given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Err(error::plan(self.name(), "model", "determines the dimension, so the types are not enough"))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(field(self.name(), vector_type(self.name(), self.arguments.planned_model(&args)?.model.dim())?))
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.arguments.pinned(args, self.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let model = &self.arguments.running_model(&args)?.model;
        let array = array_of(&args.args[0])?;
        let texts = Texts::new(self.name(), "text", &args.args[0], &array)?;
        let vectors = model.encode_batch(&texts.distinct).map_err(external)?.0;
        let nulls = if texts.is_by_row() { texts.nulls.clone() } else { None };
        let vectors = vector_array(self.name(), model.dim(), vectors.into_raw_vec_and_offset().0, nulls)?;
        if let ColumnarValue::Scalar(_) = args.args[0] {
            let is_null = texts.is_null(0);
            let one = if is_null {
                ScalarValue::try_new_null(vectors.data_type())
            } else {
                ScalarValue::try_from_array(&vectors, 0)
            };
            return Ok(ColumnarValue::Scalar(one?));
        }
        if texts.is_by_row() {
            return Ok(ColumnarValue::Array(vectors));
        }
        let rows = (0..array.len()).map(|row| (!texts.is_null(row)).then(|| texts.at(row) as u64));
        Ok(ColumnarValue::Array(take(&vectors, &UInt64Array::from_iter(rows), None)?))
    }
}

/// The Arrow type of vectors of a dimension.
pub(crate) fn vector_type(function: &str, dim: usize) -> Result<DataType> {
    let size =
        i32::try_from(dim).map_err(|_| error::plan(function, "model", format!("has {dim} values per vector")))?;
    Ok(DataType::FixedSizeList(Arc::new(Field::new_list_field(DataType::Float32, true)), size))
}

/// Wraps vectors, stored one after another, in an array without copying values.
pub(crate) fn vector_array(
    function: &str,
    dim: usize,
    values: Vec<f32>,
    nulls: Option<datafusion::arrow::buffer::NullBuffer>,
) -> Result<ArrayRef> {
    let DataType::FixedSizeList(item, size) = vector_type(function, dim)? else {
        return Err(error::execution(function, "model", "does not have a fixed dimension"));
    };
    Ok(Arc::new(FixedSizeListArray::try_new(item, size, Arc::new(Float32Array::from(values)), nulls)?))
}
