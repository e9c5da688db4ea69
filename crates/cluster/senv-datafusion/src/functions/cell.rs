//! `cell(vector, centroids)` and `cells(vector, centroids, n)`: the nearest centroids of a vector.

use std::sync::Arc;

use datafusion::{
    arrow::{
        array::{Array, ArrayRef, ListBuilder, UInt32Builder},
        datatypes::{DataType, Field},
    },
    common::ScalarValue,
    error::Result,
    logical_expr::{
        ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
        simplify::{ExprSimplifyResult, SimplifyContext},
    },
};

use super::{
    text::{array_of, text_type},
    vectors::{Vectors, vector_argument_type},
};
use crate::{cells::Centroids, error, models::Models};

/// Rows compared with the centroids at a time. The centroids are then read from memory once for all of them.
const TOGETHER: usize = 64;

/// `cell(vector, centroids)`: the number of the nearest centroid, a `UInt32`; null where the vector is null or zero.
///
/// `cells(vector, centroids, n)`: the numbers of the `n` nearest centroids, nearest first, a `List<UInt32>`. With two
/// cells per vector, two vectors with a high cosine share a cell even on opposite sides of a border.
///
/// `centroids` is the name of a file `NAME.centroids` in the folder of models ([`Centroids`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cell {
    several: bool,
    models: Models,
    signature: Signature,
}

impl Cell {
    /// Creates `cell` with the centroids of `models`.
    #[must_use]
    pub fn new(models: Models) -> Self {
        Self { several: false, models, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// Creates `cells` with the centroids of `models`.
    #[must_use]
    pub fn several(models: Models) -> Self {
        Self { several: true, ..Self::new(models) }
    }

    /// Returns the vector unless it is zero.
    fn checked<'a>(&self, vector: &'a [f32], row: usize, centroids: &Centroids) -> Result<Option<&'a [f32]>> {
        if vector.len() != centroids.dim() {
            let reason =
                format!("has {} values, but centroids {} have {}", vector.len(), centroids.name(), centroids.dim());
            return Err(error::execution(self.name(), "vector", reason));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(error::execution(self.name(), "vector", format!("row {row} of the batch is not finite")));
        }
        Ok(vector.iter().any(|&x| x != 0.0).then_some(vector))
    }

    /// The number of cells per row that the call asks for.
    fn n(&self, args: &ScalarFunctionArgs) -> Result<usize> {
        match args.args.get(2) {
            None => Ok(1),
            Some(ColumnarValue::Scalar(ScalarValue::Int64(Some(n)))) if *n >= 1 => Ok(*n as usize),
            Some(_) => Err(error::execution(self.name(), "n", "must be a constant of at least 1")),
        }
    }

    fn centroids(&self, name: &ColumnarValue) -> Result<&Centroids> {
        let name = if let ColumnarValue::Scalar(name) = name { name.try_as_str().flatten() } else { None };
        let name = name.ok_or_else(|| error::execution(self.name(), "centroids", "must be a constant name"))?;
        self.models.find_centroids(self.name(), name)
    }
}

impl ScalarUDFImpl for Cell {
    fn name(&self) -> &str {
        if self.several { "cells" } else { "cell" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        if given.len() != 2 + usize::from(self.several) {
            let wanted = if self.several { "cells(vector, centroids, n)" } else { "cell(vector, centroids)" };
            return Err(error::plan(self.name(), "list", format!("must be {wanted}, got {} arguments", given.len())));
        }
        text_type(self.name(), "centroids", &given[1])?;
        let mut types = vec![vector_argument_type(self.name(), "vector", &given[0])?, DataType::Utf8];
        if let Some(n) = given.get(2) {
            if !n.is_integer() {
                return Err(error::plan(self.name(), "n", format!("must be an integer, got {n}")));
            }
            types.push(DataType::Int64);
        }
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        let list = || DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)));
        Ok(if self.several { list() } else { DataType::UInt32 })
    }

    fn simplify(&self, mut args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let Some(Expr::Literal(name, _)) = args.get(1) else { return Ok(ExprSimplifyResult::Original(args)) };
        let Some(name) = name.try_as_str().flatten() else { return Ok(ExprSimplifyResult::Original(args)) };
        let centroids = self.models.find_centroids(self.name(), name)?;
        let pinned = format!("{}@{}", centroids.name(), centroids.digest());
        if name == pinned {
            return Ok(ExprSimplifyResult::Original(args));
        }
        args[1] = Expr::Literal(ScalarValue::Utf8(Some(pinned)), None);
        Ok(ExprSimplifyResult::Simplified(ScalarUDF::new_from_impl(self.clone()).call(args)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (centroids, n) = (self.centroids(&args.args[1])?, self.n(&args)?);
        let array = array_of(&args.args[0])?;
        let vectors = Vectors::new(self.name(), "vector", &args.args[0], &array)?;
        let rows = array.len();
        let each = n.min(centroids.n_cells());
        let mut result = Lists::new(self.several, rows);
        let (mut values, mut scores, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        let mut has_direction = Vec::new();
        for start in (0..rows).step_by(TOGETHER) {
            values.clear();
            has_direction.clear();
            for row in start..rows.min(start + TOGETHER) {
                let vector = vectors.get(row).map_or(Ok(None), |vector| self.checked(vector, row, centroids))?;
                values.extend_from_slice(vector.unwrap_or_default());
                has_direction.push(vector.is_some());
            }
            centroids.nearest(&values, each, &mut scores, &mut cells);
            let mut cells = cells.chunks_exact(each);
            has_direction.iter().for_each(|&has| result.push(if has { cells.next() } else { None }));
        }
        let result = result.finish();
        Ok(match args.args[0] {
            ColumnarValue::Scalar(_) => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            ColumnarValue::Array(_) => ColumnarValue::Array(result),
        })
    }
}

/// Builds the result: one cell per row, or several.
enum Lists {
    One(UInt32Builder),
    Several(ListBuilder<UInt32Builder>),
}

impl Lists {
    fn new(several: bool, n: usize) -> Self {
        match several {
            true => Self::Several(ListBuilder::with_capacity(UInt32Builder::new(), n)),
            false => Self::One(UInt32Builder::with_capacity(n)),
        }
    }

    /// Appends the cells of the next row, or null for `None`.
    fn push(&mut self, cells: Option<&[u32]>) {
        match self {
            Self::One(builder) => builder.append_option(cells.map(|cells| cells[0])),
            Self::Several(builder) => {
                builder.values().append_slice(cells.unwrap_or_default());
                builder.append(cells.is_some());
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::One(mut builder) => Arc::new(builder.finish()),
            Self::Several(mut builder) => Arc::new(builder.finish()),
        }
    }
}
