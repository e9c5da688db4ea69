//! `senv-sql scheduler`.

use std::sync::Arc;

use ballista_core::serde::protobuf::{CancelJobParams, scheduler_grpc_client::SchedulerGrpcClient};
use ballista_scheduler::{cluster::BallistaCluster, config::SchedulerConfig, scheduler_process::start_server};
use datafusion::error::Result;
use senv_datafusion::session_builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{ModelArguments, cluster::failed, logging, slots::Slots};

/// Seconds between two checks for lost executors.
const LOOK_SECONDS: u64 = 2;

/// Options of the scheduler.
#[derive(Debug, clap::Args)]
pub(crate) struct SchedulerArguments {
    #[command(flatten)]
    models: ModelArguments,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on.
    #[arg(long, default_value_t = 50050)]
    port: u16,
    /// Seconds without a heartbeat after which an executor counts as lost and its tasks run elsewhere. Executors send
    /// one every 4 seconds.
    #[arg(long, default_value_t = 12, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(11..))]
    executor_timeout: u64,
}

pub(crate) async fn run(arguments: &SchedulerArguments) -> Result<()> {
    let (sender, jobs) = unbounded_channel();
    logging::start(Some(sender));
    let models = arguments.models.open().await?;
    let config = SchedulerConfig {
        external_host: arguments.host.clone(),
        bind_host: arguments.host.clone(),
        bind_port: arguments.port,
        executor_timeout_seconds: arguments.executor_timeout,
        expire_dead_executor_interval_seconds: LOOK_SECONDS,
        no_executors_grace_period_seconds: 20 * arguments.executor_timeout,
        override_session_builder: Some(session_builder(&models)),
        ..SchedulerConfig::default()
    };
    let address = format!("{}:{}", arguments.host, arguments.port);
    let address = address.parse().map_err(|e| failed(format!("{address}: {e}; give a numeric address")))?;
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
    let slots = Arc::new(Slots::new(cluster.cluster_state()));
    let cluster = BallistaCluster::new(slots.clone(), cluster.job_state());
    tokio::spawn(cancel(jobs, slots, format!("http://{}:{}", arguments.host, arguments.port)));
    eprintln!("senv-sql: scheduler on {address}");
    start_server(cluster, address, Arc::new(config)).await.map_err(failed)
}

/// Cancels jobs in which a stage restarts although some of its tasks were done. Ballista 55.0 keeps the rows of these
/// tasks together with those of the second attempt, so the result would contain them twice. The client retries instead.
async fn cancel(mut jobs: UnboundedReceiver<String>, slots: Arc<Slots>, url: String) {
    while let Some(job_id) = jobs.recv().await {
        eprintln!("senv-sql: job {job_id} lost a stage with its executor and was canceled");
        // This must happen before the client retries, because slots are only checked then.
        if let Err(e) = slots.give_back().await {
            eprintln!("senv-sql: cannot release executor slots: {e}");
        }
        let cancelled = match SchedulerGrpcClient::connect(url.clone()).await {
            Ok(mut scheduler) => {
                scheduler.cancel_job(CancelJobParams { job_id }).await.map(|_| ()).map_err(|e| e.to_string())
            }
            Err(e) => Err(e.to_string()),
        };
        if let Err(e) = cancelled {
            // No answer is better than a wrong one.
            eprintln!("senv-sql: stopping the scheduler because the job cannot be canceled: {e}");
            std::process::exit(1);
        }
    }
}
