//! `senv-sql encode`: writes one file with vectors per input file, on this machine or on a cluster.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use datafusion::{
    common::ScalarValue,
    dataframe::DataFrameWriteOptions,
    error::{DataFusionError, Result},
    execution::FunctionRegistry,
    logical_expr::{Expr, ident},
    prelude::{ParquetReadOptions, SessionContext},
};
use senv::jobs::FileState;
use senv_datafusion::Models;
use tokio::{
    sync::Semaphore,
    task::{JoinSet, spawn_blocking},
    time::sleep,
};

use crate::{
    ModelArguments,
    cluster::{Address, failed},
    output::message,
    parquet_writing::{Description, Origin, describe, options},
    poison, session,
    tables::{file_url, files},
    unfinished,
};

/// Attempts per file while the cluster responds.
const ATTEMPTS: usize = 3;
/// Time between two checks for a scheduler that does not respond.
const PAUSE: Duration = Duration::from_millis(500);

/// Options of encoding.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EncodeArguments {
    /// Parquet files: a file, a folder, or a pattern with `*` in its last part. URLs (s3://) are not supported.
    #[arg(long, value_name = "FILES")]
    input: String,
    /// The column of text.
    #[arg(long, default_value = "text", value_name = "NAME")]
    column: String,
    /// Output folder. Each output file has the name and all columns of its input, followed by the vectors.
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// The model, by name or digest. Default: the English model, or the only one there is.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The name of the column of vectors.
    #[arg(long, default_value = "vector", value_name = "NAME")]
    vector_column: String,
    #[command(flatten)]
    models: ModelArguments,
    /// The scheduler of a cluster, whose executors see input and output under the same paths. Default: run in this
    /// process.
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<Address>,
    /// Files encoded at the same time. Default: 2 in this process, 16 on a cluster.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds to wait for a scheduler that does not respond.
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    patience: u64,
}

/// What all files of a run share.
struct EncodeJob {
    arguments: EncodeArguments,
    models: Models,
    origin: Origin,
    dim: usize,
    output: PathBuf,
    /// Set when an existing output file comes from another model or column, or was not written by this command.
    is_foreign: AtomicBool,
}

pub(crate) async fn run(arguments: &EncodeArguments) -> Result<()> {
    let output = arguments.output.to_string_lossy();
    if let Some(url) = [arguments.input.as_str(), output.as_ref()].into_iter().find(|path| path.contains("://")) {
        return Err(failed(format!(
            "{url}: encode reads and writes files only; on a cluster, use folders that all processes share"
        )));
    }
    let models = arguments.models.open().await?;
    let model = models.find("embed", arguments.model.as_deref())?;
    let origin = Origin {
        model: format!("{}@{}", model.name, model.digest),
        column: arguments.column.clone(),
        vectors: arguments.vector_column.clone(),
    };
    let dim = model.model.dim();
    fs::create_dir_all(&arguments.output)?;
    let output = fs::canonicalize(&arguments.output)?;
    let job = Arc::new(EncodeJob {
        arguments: arguments.clone(),
        models: models.clone(),
        origin,
        dim,
        output,
        is_foreign: AtomicBool::new(false),
    });
    let inputs = files(&arguments.input)?;
    let at_once = arguments.jobs.unwrap_or(if arguments.cluster.is_some() { 16 } else { 2 }).max(1);
    let (slots, mut tasks) = (Arc::new(Semaphore::new(at_once)), JoinSet::new());
    let n_inputs = inputs.len();
    let names = inputs.iter().map(|input| input.file_name().unwrap_or_default().to_string_lossy().into_owned());
    unfinished::remove_left(&job.output, &names.collect::<Vec<_>>());
    for input in inputs {
        let (job, slots) = (job.clone(), slots.clone());
        tasks.spawn(async move {
            let _slot = slots.acquire().await.map_err(failed)?;
            job.file(&input).await
        });
    }
    let (mut rows, mut skipped, mut n_failed) = (0, 0, 0);
    while let Some(done) = tasks.join_next().await {
        match done.map_err(failed)? {
            Ok(Some(n)) => rows += n,
            Ok(None) => skipped += 1,
            // If the other files are not encoded either, they leave only unfinished files with hidden names.
            Err(error) if n_inputs == 1 || !job.goes_on() => return Err(error),
            Err(error) => {
                eprintln!("senv-sql: {}", message(&error));
                n_failed += 1;
            }
        }
    }
    let written = n_inputs - skipped - n_failed;
    eprintln!("senv-sql: {rows} rows in {written} files; {skipped} files were already finished");
    if n_failed > 0 {
        return Err(failed(format!(
            "{n_failed} of {n_inputs} files could not be encoded; the same command retries only those"
        )));
    }
    Ok(())
}

/// Runs a blocking read of a file outside the runtime's threads. Errors name the file.
async fn look_at<T: Send + 'static>(
    path: &Path,
    look: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let own = path.to_owned();
    let found = spawn_blocking(move || look(&own)).await.map_err(failed)?;
    found.map_err(|error| failed(format!("{}: {error}", path.display())))
}

impl EncodeJob {
    /// Whether to continue with the other files after one failed. The scheduler, if any, must respond, and the output
    /// folder must not contain files of another origin.
    fn goes_on(&self) -> bool {
        !self.is_foreign.load(Ordering::Relaxed) && self.arguments.cluster.as_ref().is_none_or(Address::answers)
    }

    /// Encodes a file and returns its number of rows, or `None` if it was already finished.
    async fn file(&self, input: &Path) -> Result<Option<i64>> {
        // A symbolic link keeps its own name.
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let input = look_at(input, |path| fs::canonicalize(path)).await?;
        let output = self.output.join(&name);
        if output == input {
            return Err(failed(format!("{}: input and output are the same file", input.display())));
        }
        let n_rows = describe(&input)?.n_rows;
        if output.exists() {
            let (written, done) = self.check_origin(&output, n_rows)?;
            // If only the modification time changed, the contents are compared.
            if written == n_rows && look_at(&input, move |path| done.still_holds(path, false)).await? {
                return Ok(None);
            }
            eprintln!("senv-sql: {}: its input has changed; writing it again", output.display());
        }
        // Store the name without its folder: the file may be handed on.
        let state = FileState { path: name.clone(), ..look_at(&input, FileState::of).await? };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let part = unfinished::path(&self.output, &name, attempt);
            let result = self.write(&input, &state, &part).await.and_then(|()| {
                let written = describe(&part)?.n_rows;
                let is_complete = written == n_rows;
                is_complete.then_some(()).ok_or_else(|| failed(format!("{written} of {n_rows} rows were written")))
            });
            let now = state.clone();
            if !look_at(&input, move |path| now.is_untouched(path)).await? {
                let _ = fs::remove_file(&part);
                let input = input.display();
                return Err(failed(format!(
                    "{input} changed while it was read; run the command again when the file is complete"
                )));
            }
            let Err(error) = result else {
                fs::rename(&part, &output)?;
                eprintln!("senv-sql: {}: {n_rows} rows", output.display());
                return Ok(Some(n_rows));
            };
            let _ = fs::remove_file(&part);
            self.judge(&input, error, attempt).await?;
        }
    }

    /// Waits until another attempt makes sense, or returns the error if none does.
    async fn judge(&self, input: &Path, error: DataFusionError, attempt: usize) -> Result<()> {
        if poison::may_be_the_cause(&error)
            && let Some(poison) = poison::find(input, Some(&self.arguments.column))?
        {
            return Err(failed(poison));
        }
        let failed_for_good = || failed(format!("{}: {}", input.display(), message(&error)));
        let Some(cluster) = &self.arguments.cluster else { return Err(failed_for_good()) };
        if cluster.answers() {
            // A value that a function refused once will be refused again.
            let is_refused = error.to_string().contains(": argument ");
            return if is_refused || attempt >= ATTEMPTS { Err(failed_for_good()) } else { Ok(()) };
        }
        eprintln!("senv-sql: {}: the scheduler does not answer; waiting", input.display());
        let start = Instant::now();
        while !cluster.answers() {
            if start.elapsed().as_secs() >= self.arguments.patience {
                return Err(failed_for_good());
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Checks that an existing output file was written by this command. Returns its rows and the state of its input.
    fn check_origin(&self, output: &Path, n_rows: i64) -> Result<(i64, FileState)> {
        let Description { n_rows: written, origin, input } = describe(output)?;
        let found = match origin.zip(input) {
            Some((origin, input)) if origin == self.origin => return Ok((written, input)),
            Some((origin, _)) => origin.to_string(),
            None => "no record of their origin".to_owned(),
        };
        self.is_foreign.store(true, Ordering::Relaxed);
        Err(failed(format!(
            "{} has {written} rows and {found}, but this run would write {n_rows} rows by {}; move the file away",
            output.display(),
            self.origin
        )))
    }

    /// Runs the query that writes one output file.
    async fn write(&self, input: &Path, state: &FileState, output: &Path) -> Result<()> {
        let context = self.session().await?;
        let ending = input.extension().unwrap_or_default().to_string_lossy();
        let read = ParquetReadOptions::default().file_extension(&ending);
        let frame = context.read_parquet(file_url(input)?, read).await?;
        if !frame.schema().has_column_with_unqualified_name(&self.arguments.column) {
            let column = &self.arguments.column;
            return Err(failed(format!("embed: argument text: {} has no column {column}", input.display())));
        }
        let vectors = &self.origin.vectors;
        if frame.schema().has_column_with_unqualified_name(vectors) {
            return Err(failed(format!(
                "embed: argument text: {} already has a column {vectors}; choose another name with --vector-column",
                input.display()
            )));
        }
        let model = Expr::Literal(ScalarValue::Utf8(Some(self.origin.model.clone())), None);
        let vector = context.udf("embed")?.call(vec![ident(&self.arguments.column), model]);
        let frame = frame.with_column(vectors, vector)?;
        let single = DataFrameWriteOptions::new().with_single_file_output(true);
        let options = options(&self.origin, state, self.dim)?;
        frame.write_parquet(&file_url(output)?, single, Some(options)).await?;
        Ok(())
    }

    /// A session that keeps the order of rows, because a file is a single partition.
    async fn session(&self) -> Result<SessionContext> {
        let config = session::settings().with_target_partitions(1).with_repartition_file_scans(false);
        session::open(&self.models, self.arguments.cluster.as_ref(), config).await
    }
}
