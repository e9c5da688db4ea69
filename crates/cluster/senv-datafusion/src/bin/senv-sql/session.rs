//! Sessions: in this process, or on a cluster.

use std::sync::Arc;

use ballista::prelude::SessionContextExt;
use ballista_core::extension::SessionConfigExt;
use datafusion::{
    error::Result,
    execution::{SessionStateBuilder, runtime_env::RuntimeEnvBuilder},
    prelude::{SessionConfig, SessionContext},
};
use senv_datafusion::{Models, ObjectStores, register};

use crate::cluster::Address;

/// A session with all functions and with tables of object stores.
pub(crate) async fn open(models: &Models, cluster: Option<&Address>, config: SessionConfig) -> Result<SessionContext> {
    let stores = Arc::new(ObjectStores::default());
    let environment = RuntimeEnvBuilder::new().with_object_store_registry(stores).build_arc()?;
    let context = match cluster {
        None => SessionContext::new_with_config_rt(config, environment),
        Some(address) => {
            // The adaptive planner of Ballista 55.0 loses track of a stage when its executor is lost ("Can't find
            // active stage"), and the query never ends.
            let config = config.upgrade_for_ballista().with_ballista_adaptive_query_planner(false);
            let state = SessionStateBuilder::new().with_config(config).with_runtime_env(environment);
            let state = state.with_default_features().build();
            SessionContext::remote_with_state(&address.url(), state).await?
        }
    };
    // Register after the upgrade, because the upgrade replaces registered functions with Ballista's own.
    register(&context, models)?;
    Ok(context)
}

/// Settings for queries. Text columns keep the type that they have in the file, so output has that type, too.
pub(crate) fn settings() -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(true);
    config.options_mut().execution.parquet.schema_force_view_types = false;
    config
}
