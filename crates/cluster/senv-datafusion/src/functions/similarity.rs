//! `similarity(a, b [, model])`: the cosine of two sentences.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::Float32Array,
        datatypes::{DataType, FieldRef},
    },
    common::ScalarValue,
    error::Result,
    logical_expr::{
        ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
        simplify::{ExprSimplifyResult, SimplifyContext},
    },
};
use senv::SentenceEncoder;
use senv_core::kernels;

use super::{
    model::{TextArguments, field},
    text::{Texts, array_of},
};
use crate::{error::external, models::Models};

/// `similarity(a, b [, model])`: the cosine of the embeddings of two sentences, a `Float32` in `[-1, 1]`. It is 0 if
/// one of them has no known token, as in [`senv::Model::similarity`], and null if one is null.
///
/// A constant sentence is encoded once per batch, and so are distinct values of a dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Similarity {
    arguments: TextArguments,
    signature: Signature,
}

impl Similarity {
    /// Creates the function with these models.
    #[must_use]
    pub fn new(models: Models) -> Self {
        let arguments = TextArguments { function: "similarity", texts: &["a", "b"], models };
        Self { arguments, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Similarity {
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
        Ok(DataType::Float32)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.arguments.planned_model(&args)?;
        Ok(field(self.name(), DataType::Float32))
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.arguments.pinned(args, self.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let model = &self.arguments.running_model(&args)?.model;
        let [a_array, b_array] = [array_of(&args.args[0])?, array_of(&args.args[1])?];
        let a = Texts::new(self.name(), "a", &args.args[0], &a_array)?;
        let b = Texts::new(self.name(), "b", &args.args[1], &b_array)?;
        let [u, v] = [&a, &b].map(|texts| model.encode_batch(&texts.distinct));
        let (u, v) = (u.map_err(external)?.0, v.map_err(external)?.0);
        let cosine = |row: usize| {
            let is_null = a.is_null(row) || b.is_null(row);
            let (u, v) = (u.row(a.at(row)), v.row(b.at(row)));
            (!is_null).then(|| kernels::cosine(u.as_slice().unwrap_or_default(), v.as_slice().unwrap_or_default()))
        };
        if let [ColumnarValue::Scalar(_), ColumnarValue::Scalar(_), ..] = args.args[..] {
            return Ok(ColumnarValue::Scalar(ScalarValue::Float32(cosine(0))));
        }
        Ok(ColumnarValue::Array(Arc::new((0..args.number_rows).map(cosine).collect::<Float32Array>())))
    }
}
