//! `senv-sql`: SQL over sentence embeddings, on one machine or a cluster of Ballista.

#![allow(clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod centroids;
mod cluster;
mod encode;
mod executor;
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
    /// Plan queries and hand out tasks: one process of a cluster. It has no authentication: bind it to a private network.
    Scheduler(scheduler::SchedulerArguments),
    /// Run tasks: any number of processes of a cluster, which see the files under the same paths.
    Executor(executor::ExecutorArguments),
    /// Write a file with embeddings for each Parquet file; finished files are skipped.
    Encode(encode::EncodeArguments),
    /// Make centroids for cell and cells from the vectors of a query.
    Centroids(centroids::CentroidArguments),
}

/// Where models are.
#[derive(Debug, Clone, clap::Args)]
struct ModelArguments {
    /// Folder of models and of centroids; the English model is built in. All processes of a cluster need the same.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

impl ModelArguments {
    fn open(&self) -> Result<Models> {
        self.models.as_ref().map_or_else(Models::english, Models::open)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(16 << 20).build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(e) => Err(e.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("senv-sql: {}", output::message(&e));
            ExitCode::FAILURE
        }
    }
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
