//! `senv-sql executor`.

use std::{path::PathBuf, sync::Arc, thread};

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::{error::Result, execution::runtime_env::RuntimeEnvBuilder, prelude::SessionConfig};
use senv_datafusion::{ObjectStores, function_registry};

use crate::{
    ModelArguments,
    cluster::{Address, failed, free_port},
    logging,
};

/// Seconds that an executor waits for its scheduler at startup.
const PATIENCE_SECONDS: u16 = 120;

/// Seconds between heartbeats. Ballista's default of 60 would need a timeout of minutes.
const HEARTBEAT_SECONDS: u64 = 4;

/// Options of an executor.
#[derive(Debug, clap::Args)]
pub(crate) struct ExecutorArguments {
    #[command(flatten)]
    models: ModelArguments,
    /// The scheduler.
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
    scheduler: Address,
    /// Address to listen on. Other executors use it to fetch the results of this process's tasks.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on. Default: any free port.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Tasks at the same time, and threads that encode. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    threads: Option<u64>,
    /// Folder for results that later tasks need. Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,
}

pub(crate) async fn run(arguments: &ExecutorArguments) -> Result<()> {
    logging::start(None);
    // Once it runs, Ballista handles the first signal and shuts down in order.
    let models = arguments.models.open_until_signal(2).await?;
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or_else(cores, |n| n as usize);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(failed)?;
    let port = if arguments.port == 0 { free_port(&arguments.host)? } else { arguments.port };
    let temporary = if arguments.work_dir.is_none() { Some(tempfile::tempdir()?) } else { None };
    let work_dir = arguments.work_dir.as_deref().or(temporary.as_ref().map(tempfile::TempDir::path));
    eprintln!("senv-sql: executor on {}:{port}, {threads} threads", arguments.host);
    // Spill files go to the folder that Ballista would choose.
    let spilled = work_dir.map(PathBuf::from).unwrap_or_default();
    let stores = Arc::new(ObjectStores::default());
    let environment = move |_: &SessionConfig| {
        let builder = RuntimeEnvBuilder::new().with_temp_file_path(spilled.clone());
        builder.with_object_store_registry(stores.clone()).build_arc()
    };
    let config = ExecutorProcessConfig {
        bind_host: arguments.host.clone(),
        external_host: Some(arguments.host.clone()),
        port,
        grpc_port: free_port(&arguments.host)?,
        scheduler_host: arguments.scheduler.host.clone(),
        scheduler_port: arguments.scheduler.port,
        scheduler_connect_timeout_seconds: PATIENCE_SECONDS,
        vcores: threads,
        executor_heartbeat_interval_seconds: HEARTBEAT_SECONDS,
        work_dir: work_dir.map(|path| path.to_string_lossy().into_owned()),
        // Leftovers of a job are removed after an hour.
        job_data_ttl_seconds: 3600,
        job_data_clean_up_interval_seconds: 600,
        override_function_registry: Some(function_registry(&models)),
        override_runtime_producer: Some(Arc::new(environment)),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await.map_err(failed)
}
