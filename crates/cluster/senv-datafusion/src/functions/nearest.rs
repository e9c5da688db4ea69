//! `nearest(index, text, k)`: the sentences of a collection nearest to a text, as a table.

use std::sync::Arc;

use datafusion::{
    arrow::datatypes::{DataType, Field, Schema},
    catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider},
    common::{DFSchema, ScalarValue},
    datasource::ViewTable,
    error::{DataFusionError, Result},
    logical_expr::{EmptyRelation, Expr, LogicalPlan, LogicalPlanBuilder, col, lit},
};
use senv::{
    SentenceCollection,
    index::{Id, IdKind},
};

use crate::error;

const NAME: &str = "nearest";

/// `nearest(index, text, k)`: the `k` sentences of a senv collection that are nearest to a text. The result is a table
/// of `id` (`UInt64`, or `Utf8` if the ids of the collection are texts), `cosine` (`Float32`) and `text` (`Utf8`),
/// nearest first. `index` is the folder of the collection, which records where its model is.
///
/// The search runs once, where the query is planned. On a cluster that is the client, and the plan carries the rows.
#[derive(Debug, Default)]
pub struct Nearest {}

impl TableFunctionImpl for Nearest {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let [index, text, k] = args.exprs() else {
            let reason = format!("must be nearest(index, text, k), got {} arguments", args.exprs().len());
            return Err(error::plan(NAME, "list", reason));
        };
        let (index, text) = (constant_text("index", index)?, constant_text("text", text)?);
        let k = match k {
            Expr::Literal(ScalarValue::Int64(Some(k)), _) if *k >= 0 => *k as usize,
            other => return Err(error::plan(NAME, "k", format!("must be a constant of at least 0, got {other}"))),
        };
        let failed = |e: senv::Error| error::plan(NAME, "index", e);
        let collection = SentenceCollection::open(&index).map_err(failed)?;
        let hits = collection.search(&text, k).map_err(failed)?;
        let id = |id: Id| match id {
            Id::Number(id) => lit(id),
            Id::Text(id) => lit(id),
        };
        let rows: Vec<Vec<Expr>> =
            hits.into_iter().map(|hit| vec![id(hit.id), lit(hit.cosine), lit(hit.text)]).collect();
        let id_type = match collection.rows().id_kind() {
            Some(IdKind::Texts) => DataType::Utf8,
            _ => DataType::UInt64,
        };
        Ok(Arc::new(ViewTable::new(table(rows, id_type)?, None)))
    }
}

/// A logical plan of these rows, with ids of this type.
fn table(rows: Vec<Vec<Expr>>, id_type: DataType) -> Result<LogicalPlan> {
    if rows.is_empty() {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        let fields = vec![field("id", id_type), field("cosine", DataType::Float32), field("text", DataType::Utf8)];
        let schema = Arc::new(DFSchema::try_from(Schema::new(fields))?);
        return Ok(LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema }));
    }
    let columns = [("column1", "id"), ("column2", "cosine"), ("column3", "text")];
    LogicalPlanBuilder::values(rows)?.project(columns.map(|(column, name)| col(column).alias(name)))?.build()
}

fn constant_text(argument: &str, given: &Expr) -> Result<String, DataFusionError> {
    let text = if let Expr::Literal(value, _) = given { value.try_as_str().flatten() } else { None };
    text.map(str::to_owned).ok_or_else(|| error::plan(NAME, argument, format!("must be a constant text, got {given}")))
}
