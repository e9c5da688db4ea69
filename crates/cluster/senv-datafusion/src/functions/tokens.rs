//! `tokens(text [, model])` and `coverage(text [, model])`: the tokens of a text, and the share that the model knows.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{ArrayRef, Float32Array, ListBuilder, StringBuilder, UInt64Array},
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
use senv::{Model, SentenceEncoder};

use super::{
    model::{TextArguments, field},
    text::{Texts, array_of},
};
use crate::{error::external, models::Models};

/// `tokens(text [, model])`: the tokens of each text as the model's tokenizer splits it, a `List<Utf8>`. Null texts
/// give null, and texts without tokens give an empty list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tokens {
    arguments: TextArguments,
    signature: Signature,
}

/// `coverage(text [, model])`: the share of the tokens of each text that the model knows, a `Float32` from 0 to 1. It
/// is null for null texts and for texts without tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Coverage {
    arguments: TextArguments,
    signature: Signature,
}

/// A function of one text, computed for all distinct texts.
trait OfTexts {
    fn arguments(&self) -> &TextArguments;

    fn compute(&self, model: &Model, texts: &[&str]) -> Result<ArrayRef>;

    fn invoke(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = self.arguments();
        let model = &arguments.running_model(args)?.model;
        let array = array_of(&args.args[0])?;
        let texts = Texts::new(arguments.function, "text", &args.args[0], &array)?;
        let values = self.compute(model, &texts.distinct)?;
        if texts.is_by_row() && texts.nulls.is_none() {
            return Ok(ColumnarValue::Array(values));
        }
        let rows = (0..array.len()).map(|row| (!texts.is_null(row)).then(|| texts.at(row) as u64));
        let values = take(&values, &UInt64Array::from_iter(rows), None)?;
        Ok(match args.args[0] {
            ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?),
            ColumnarValue::Array(_) => ColumnarValue::Array(values),
        })
    }
}

impl OfTexts for Tokens {
    fn arguments(&self) -> &TextArguments {
        &self.arguments
    }

    fn compute(&self, model: &Model, texts: &[&str]) -> Result<ArrayRef> {
        let (mut lists, mut scratch) = (ListBuilder::new(StringBuilder::new()), String::new());
        for text in texts {
            model.tokenizer().for_each(text, &mut scratch, |token| lists.values().append_value(token));
            lists.append(true);
        }
        Ok(Arc::new(lists.finish()))
    }
}

impl OfTexts for Coverage {
    fn arguments(&self) -> &TextArguments {
        &self.arguments
    }

    fn compute(&self, model: &Model, texts: &[&str]) -> Result<ArrayRef> {
        let coverage = model.encode_batch(texts).map_err(external)?.1;
        let share = |of: senv::Coverage| (of.tokens > 0).then(|| of.known as f32 / of.tokens as f32);
        Ok(Arc::new(coverage.into_iter().map(share).collect::<Float32Array>()))
    }
}

macro_rules! function_of_texts {
    ($function:ty, $name:literal, $type:expr) => {
        impl $function {
            /// Creates the function with these models.
            #[must_use]
            pub fn new(models: Models) -> Self {
                let arguments = TextArguments { function: $name, texts: &["text"], models };
                Self { arguments, signature: Signature::user_defined(Volatility::Immutable) }
            }
        }

        impl ScalarUDFImpl for $function {
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
                Ok($type)
            }

            fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
                self.arguments.planned_model(&args)?;
                Ok(field($name, $type))
            }

            fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
                self.arguments.pinned(args, self.clone())
            }

            fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
                self.invoke(&args)
            }
        }
    };
}

function_of_texts!(Tokens, "tokens", DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))));
function_of_texts!(Coverage, "coverage", DataType::Float32);
