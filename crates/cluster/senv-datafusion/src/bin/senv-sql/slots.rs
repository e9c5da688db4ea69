//! Counts the slots of the executors that are taken.
//!
//! Ballista 55.0 releases the slots of a task when the executor reports its end and the scheduler still knows the task.
//! When a stage restarts, its tasks are forgotten and their slots stay taken forever. After the loss of an executor,
//! all remaining slots could be taken, and nothing would run. [`Slots`] also counts the slots, and can release all of
//! them at once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use ballista_core::{
    JobId,
    error::Result,
    serde::{
        protobuf::ExecutorHeartbeat,
        scheduler::{ExecutorData, ExecutorMetadata},
    },
};
use ballista_scheduler::{
    cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot},
    config::TaskDistributionPolicy,
    state::task_manager::JobInfoCache,
};

/// The state of a cluster, with a count of the slots that are taken.
pub(crate) struct Slots {
    cluster: Arc<dyn ClusterState>,
    taken: Mutex<HashMap<String, u32>>,
}

impl Slots {
    pub(crate) fn new(cluster: Arc<dyn ClusterState>) -> Self {
        Self { cluster, taken: Mutex::default() }
    }

    /// Releases all slots. Tasks that are still running keep theirs busy for a while, and new tasks wait at their
    /// executors.
    pub(crate) async fn give_back(&self) -> Result<()> {
        let all: Vec<ExecutorSlot> = self.with_taken(|taken| taken.drain().collect());
        self.cluster.unbind_tasks(all).await
    }

    fn with_taken<T>(&self, f: impl FnOnce(&mut HashMap<String, u32>) -> T) -> T {
        f(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl ClusterState for Slots {
    async fn init(&self) -> Result<()> {
        self.cluster.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        let tasks = self.cluster.bind_schedulable_tasks(distribution, active_jobs, executors).await?;
        self.with_taken(|taken| {
            for (executor, task) in &tasks {
                *taken.entry(executor.clone()).or_default() += task.vcores_consumed;
            }
        });
        Ok(tasks)
    }

    /// Releases only slots that are taken.
    async fn unbind_tasks(&self, executor_slots: Vec<ExecutorSlot>) -> Result<()> {
        let given_back = self.with_taken(|taken| {
            let take = |(executor, n): ExecutorSlot| {
                let left = taken.get_mut(&executor)?;
                let n = n.min(*left);
                *left -= n;
                Some((executor, n))
            };
            executor_slots.into_iter().filter_map(take).collect()
        });
        self.cluster.unbind_tasks(given_back).await
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, spec: ExecutorData) -> Result<()> {
        self.cluster.register_executor(metadata, spec).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.cluster.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor_id: &str) -> Result<ExecutorMetadata> {
        self.cluster.get_executor_metadata(executor_id).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.cluster.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.cluster.save_executor_heartbeat(heartbeat).await
    }

    async fn remove_executor(&self, executor_id: &str) -> Result<()> {
        self.with_taken(|taken| taken.remove(executor_id));
        self.cluster.remove_executor(executor_id).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.cluster.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor_id: &str) -> Option<ExecutorHeartbeat> {
        self.cluster.get_executor_heartbeat(executor_id)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.cluster.cluster_state_events().await
    }
}
