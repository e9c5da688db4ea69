//! `cosine(v, w)`: the cosine of two vectors.

use std::sync::Arc;

use datafusion::{
    arrow::{array::Float32Array, datatypes::DataType},
    common::ScalarValue,
    error::Result,
    logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility},
};
use senv_core::kernels;

use super::{
    text::array_of,
    vectors::{Vectors, vector_argument_type},
};
use crate::error;

/// Vectors with a norm below this count as zero.
const TINY: f32 = 1e-12;

/// `cosine(v, w)`: the cosine of two vectors, a `Float32` in `[-1, 1]`. It is null if a vector is null, contains a
/// null, or has a norm below 1e-12. It equals DataFusion's `1 - cosine_distance(v, w)` up to rounding of `Float32`, and
/// does not copy the values.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Cosine {
    signature: Signature,
}

impl Default for Cosine {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Cosine {
    fn name(&self) -> &str {
        "cosine"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [v, w] = given else {
            return Err(error::plan(
                self.name(),
                "list",
                format!("must be cosine(v, w), got {} arguments", given.len()),
            ));
        };
        let [v, w] = [vector_argument_type(self.name(), "v", v)?, vector_argument_type(self.name(), "w", w)?];
        if let (DataType::FixedSizeList(_, v), DataType::FixedSizeList(_, w)) = (&v, &w)
            && v != w
        {
            return Err(error::plan(self.name(), "w", format!("has {w} values per vector, but v has {v}")));
        }
        Ok(vec![v, w])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float32)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [v_array, w_array] = [array_of(&args.args[0])?, array_of(&args.args[1])?];
        let v = Vectors::new(self.name(), "v", &args.args[0], &v_array)?;
        let w = Vectors::new(self.name(), "w", &args.args[1], &w_array)?;
        let cosine = |row: usize| {
            let (Some(v), Some(w)) = (v.get(row), w.get(row)) else { return Ok(None) };
            if v.len() != w.len() {
                let reason = format!("has {} values in row {row} of the batch, but v has {}", w.len(), v.len());
                return Err(error::execution(self.name(), "w", reason));
            }
            let cosine = kernels::cosine(v, w);
            // The kernel also returns zero for a zero vector. This is rare enough to compute the norms only then.
            Ok((cosine != 0.0 || kernels::norm(v) >= TINY && kernels::norm(w) >= TINY).then_some(cosine))
        };
        if let [ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)] = args.args[..] {
            return Ok(ColumnarValue::Scalar(ScalarValue::Float32(cosine(0)?)));
        }
        Ok(ColumnarValue::Array(Arc::new((0..args.number_rows).map(cosine).collect::<Result<Float32Array>>()?)))
    }
}
