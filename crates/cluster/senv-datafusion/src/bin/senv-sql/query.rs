//! `senv-sql "SELECT ..."`, and the prompt if there is no query.

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

/// Attempts at a query whose job was cancelled, and the words with which Ballista reports that.
const ATTEMPTS: usize = 4;
const CANCELLED: &str = "failed: Cancelled";

/// Options of a query.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArguments {
    /// The query. Default: open a prompt.
    query: Option<String>,
    /// A table: its name and a file (Parquet, CSV, JSON lines), a folder or a pattern with `*`. An object or folder in
    /// a bucket, s3://BUCKET/PATH, uses the same settings as --models.
    #[arg(long = "table", value_name = "NAME=FILE")]
    pub(crate) tables: Vec<TableArgument>,
    #[command(flatten)]
    pub(crate) models: ModelArguments,
    /// The scheduler of a cluster. Default: run in this process.
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<Address>,
    /// Output format.
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

/// The rows of a query. If a text makes it fail, the error names the file and the row.
pub(crate) async fn rows(context: &SessionContext, query: &str, tables: &[TableArgument]) -> Result<Vec<RecordBatch>> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let frame = context.sql(query).await?;
        let schema = frame.schema().inner().clone();
        match frame.collect().await {
            // An empty table still has columns.
            Ok(rows) if rows.is_empty() => return Ok(vec![RecordBatch::new_empty(schema)]),
            Ok(rows) => return Ok(rows),
            // Cancelled by the scheduler, which lost an executor.
            Err(e) if e.to_string().contains(CANCELLED) && attempt < ATTEMPTS => {}
            Err(e) => return Err(explained(e, tables)),
        }
    }
}

/// Adds the file and the fault to an error that a row of a file caused. Arrow's text readers do not name the file.
fn explained(error: DataFusionError, tables: &[TableArgument]) -> DataFusionError {
    let message = output::message(&error);
    let is_of_text = matches!(error.find_root(), DataFusionError::ArrowError(reason, _) if match &**reason {
        ArrowError::CsvError(_) | ArrowError::JsonError(_) => true,
        // Casts in a query cause such errors, too, but have no line number.
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
