//! `senv-sql`: SQL over sentence embeddings, on one machine or a cluster of Ballista.

#![allow(clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod centroids;
mod cluster;
mod encode;
mod executor;
mod interruption;
mod logging;
mod output;
mod parquet_writing;
mod poison;
mod prompt;
mod query;
mod scheduler;
mod session;
mod slots;
mod tables;
mod unfinished;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use datafusion::error::Result;
use senv_datafusion::Models;

/// SQL over sentence embeddings: embed, similarity, cosine, tokens, coverage, nearest, cell, cells, near_pairs.
#[derive(Debug, Parser)]
#[command(name = "senv-sql", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    query: query::QueryArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plan queries and hand out tasks: one process per cluster. It has no authentication, so bind it to a private
    /// network. Tables on s3:// are planned with the settings of its environment.
    Scheduler(scheduler::SchedulerArguments),
    /// Run tasks. A cluster has any number of these processes, which see the files under the same paths. Each reads
    /// tables on s3:// with the settings of its own environment.
    Executor(executor::ExecutorArguments),
    /// Write a file with embeddings for each Parquet file. Finished files are skipped, and rewritten if the input has
    /// changed. If a file cannot be encoded, an error names it and the other files continue. Input and output are
    /// folders, not s3:// URLs.
    Encode(encode::EncodeArguments),
    /// Train centroids for cell and cells on the vectors of a query.
    Centroids(centroids::CentroidArguments),
}

/// Where the models are.
#[derive(Debug, Clone, clap::Args)]
struct ModelArguments {
    /// Folder of models and centroids, or s3://BUCKET/PREFIX with the settings of the environment (AWS_ACCESS_KEY_ID,
    /// AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP). The English model is built in. All
    /// processes of a cluster need the same models.
    #[arg(long, value_name = "DIR|URL")]
    models: Option<PathBuf>,
}

impl ModelArguments {
    async fn open(&self) -> Result<Models> {
        self.open_until_signal(1).await
    }

    /// Opens the models. If they come from a URL, the process exits at the `n`th signal from then on. Otherwise signals
    /// act as usual.
    async fn open_until_signal(&self, n: usize) -> Result<Models> {
        match self.models.as_ref().map(|path| (path, path.to_str())) {
            None => Models::english(),
            Some((_, Some(url))) if url.contains("://") => {
                let models = interruption::guard(Models::open_url(url)).await;
                interruption::exit_at(n);
                models
            }
            Some((folder, _)) => Models::open(folder),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match on_deep_stacks(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("senv-sql: {}", output::message(&e));
            ExitCode::FAILURE
        }
    }
}

/// Stack size of a thread in bytes; the system allocates only the part in use. Each term joined by OR nests a query one
/// level deeper.
const STACK: usize = 256 << 20;

fn on_deep_stacks(arguments: Arguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build()?;
    let first = std::thread::Builder::new().stack_size(STACK).spawn(move || runtime.block_on(run(arguments)))?;
    first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        None => query::run(&arguments.query).await,
        Some(Command::Scheduler(scheduler)) => scheduler::run(&scheduler).await,
        Some(Command::Executor(executor)) => executor::run(&executor).await,
        Some(Command::Encode(encode)) => encode::run(&encode).await,
        Some(Command::Centroids(centroids)) => centroids::run(&centroids).await,
    }
}
