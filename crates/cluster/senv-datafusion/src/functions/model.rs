//! Shared handling of arguments for functions of text: one or two texts, then an optional name of a model.

use datafusion::{
    arrow::datatypes::{DataType, FieldRef},
    common::ScalarValue,
    error::Result,
    logical_expr::{
        ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
        simplify::ExprSimplifyResult,
    },
};

use super::text::text_type;
use crate::{
    error,
    models::{Models, NamedModel},
};

/// The signature of a function: the names of its text arguments, and the models to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TextArguments {
    pub(crate) function: &'static str,
    pub(crate) texts: &'static [&'static str],
    pub(crate) models: Models,
}

impl TextArguments {
    /// Coerces the types of arguments.
    pub(crate) fn coerce(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let n = self.texts.len();
        if given.len() != n && given.len() != n + 1 {
            let wanted = format!("{}({} [, model])", self.function, self.texts.join(", "));
            return Err(error::plan(self.function, "list", format!("must be {wanted}, got {} arguments", given.len())));
        }
        let texts = self.texts.iter().zip(given).map(|(name, given)| text_type(self.function, name, given));
        let mut types: Vec<DataType> = texts.collect::<Result<_>>()?;
        if let Some(model) = given.get(n) {
            text_type(self.function, "model", model)?;
            types.push(DataType::Utf8);
        }
        Ok(types)
    }

    /// The model, when a query is planned.
    pub(crate) fn planned_model(&self, args: &ReturnFieldArgs<'_>) -> Result<&NamedModel> {
        match args.scalar_arguments.get(self.texts.len()) {
            None => self.models.find(self.function, None),
            Some(Some(name)) => self.model(name),
            Some(None) => Err(self.not_constant()),
        }
    }

    /// The model, when a query runs.
    pub(crate) fn running_model(&self, args: &ScalarFunctionArgs) -> Result<&NamedModel> {
        match args.args.get(self.texts.len()) {
            None => self.models.find(self.function, None),
            Some(ColumnarValue::Scalar(name)) => self.model(name),
            Some(ColumnarValue::Array(_)) => Err(self.not_constant()),
        }
    }

    /// Appends the digest of the model to the arguments of a call, unless it is already there. The plan carries it to
    /// other processes, which must have the same model.
    pub(crate) fn pinned(
        &self,
        mut args: Vec<Expr>,
        function: impl ScalarUDFImpl + 'static,
    ) -> Result<ExprSimplifyResult> {
        let name = match args.get(self.texts.len()) {
            None => None,
            Some(Expr::Literal(name, _)) => name.try_as_str().flatten().map(str::to_owned),
            Some(_) => return Ok(ExprSimplifyResult::Original(args)),
        };
        let model = self.models.find(self.function, name.as_deref())?;
        let pinned = format!("{}@{}", model.name, model.digest);
        if name.as_ref() == Some(&pinned) || args.len() > self.texts.len() && name.is_none() {
            return Ok(ExprSimplifyResult::Original(args));
        }
        args.truncate(self.texts.len());
        args.push(Expr::Literal(ScalarValue::Utf8(Some(pinned)), None));
        Ok(ExprSimplifyResult::Simplified(ScalarUDF::new_from_impl(function).call(args)))
    }

    fn model(&self, name: &ScalarValue) -> Result<&NamedModel> {
        match name.try_as_str() {
            Some(Some(name)) => self.models.find(self.function, Some(name)),
            _ => Err(error::plan(self.function, "model", "must be a name, got NULL")),
        }
    }

    fn not_constant(&self) -> datafusion::error::DataFusionError {
        error::plan(self.function, "model", "must be a constant, as in embed(text, 'english'), not a column")
    }
}

/// A nullable field of this type.
pub(crate) fn field(name: &str, data_type: DataType) -> FieldRef {
    std::sync::Arc::new(datafusion::arrow::datatypes::Field::new(name, data_type, true))
}
