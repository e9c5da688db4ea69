//! `senv-sql "SELECT ..."`, and the prompt without a query.

use datafusion::{
    arrow::{array::RecordBatch, error::ArrowError},
    error::{DataFusionError, Result},
    prelude::SessionContext,
};

use crate::{
    ModelArguments,
    cluster::{Address, failed},
    output::{self, Format},
    poison, prompt, session,
    tables::{TableArgument, files},
};

/// Times that a query is tried whose job was cancelled, and how Ballista says so.
const ATTEMPTS: usize = 4;
const CANCELLED: &str = "failed: Cancelled";

/// Options of a query.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArguments {
    /// The query; a prompt without one.
    query: Option<String>,
    /// A table: its name, and a file (Parquet, CSV, JSON lines), a folder, a pattern with `*`, or an object or a folder
    /// of them at s3://BUCKET/PATH (settings as for --models).
    #[arg(long = "table", value_name = "NAME=FILE")]
    pub(crate) tables: Vec<TableArgument>,
    #[command(flatten)]
    pub(crate) models: ModelArguments,
    /// The scheduler of a cluster; this process by default.
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<Address>,
    /// How rows are printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) async fn run(arguments: &QueryArguments) -> Result<()> {
    let models = arguments.models.open().await?;
    let context = session::open(&models, arguments.cluster.as_ref(), session::settings()).await?;
    for table in &arguments.tables {
        table.register(&context).await?;
    }
    match &arguments.query {
        Some(query) => output::print(&rows(&context, query, &arguments.tables).await?, arguments.format),
        None => prompt::run(&context, &arguments.tables, arguments.format).await,
    }
}

/// The rows of a query. If it fails because of a text, the error names the file and the row.
pub(crate) async fn rows(context: &SessionContext, query: &str, tables: &[TableArgument]) -> Result<Vec<RecordBatch>> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let frame = context.sql(query).await?;
        let schema = frame.schema().inner().clone();
        match frame.collect().await {
            // A table of no rows has columns all the same.
            Ok(rows) if rows.is_empty() => return Ok(vec![RecordBatch::new_empty(schema)]),
            Ok(rows) => return Ok(rows),
            // By the scheduler, which lost an executor.
            Err(e) if e.to_string().contains(CANCELLED) && attempt < ATTEMPTS => {}
            Err(e) => return Err(explained(e, tables)),
        }
    }
}

/// The error with what is wrong in a file, if something is; one of Arrow's readers of text names no file.
fn explained(error: DataFusionError, tables: &[TableArgument]) -> DataFusionError {
    let message = output::message(&error);
    let is_of_text = matches!(error.find_root(), DataFusionError::ArrowError(reason, _) if match &**reason {
        ArrowError::CsvError(_) | ArrowError::JsonError(_) => true,
        // Casts of a query make such errors, too, which are of no line.
        ArrowError::ParseError(reason) => reason.contains("at line"),
        _ => false,
    });
    let texts = tables.iter().filter(|table| is_of_text && table.is_text()).map(|table| table.files.as_str());
    let texts = texts.collect::<Vec<_>>().join(", ");
    if !texts.is_empty() {
        return failed(format!("{texts}: {message}"));
    }
    if !poison::may_be_the_cause(&error) {
        return error;
    }
    let paths = tables.iter().filter_map(|table| files(&table.files).ok()).flatten();
    match paths.filter_map(|path| poison::find(&path, None).ok().flatten()).next() {
        Some(poison) => failed(format!("{poison} ({message})")),
        None => error,
    }
}
