//! The functions in a session, and on the processes of a cluster.

use std::sync::Arc;

use ballista_core::{registry::BallistaFunctionRegistry, utils::default_session_builder};
use datafusion::{
    error::Result,
    execution::{FunctionRegistry, SessionState, SessionStateBuilder, runtime_env::RuntimeEnvBuilder},
    logical_expr::{AggregateUDF, ScalarUDF},
    prelude::{SessionConfig, SessionContext},
};

use crate::{
    functions::{
        cell::Cell,
        cosine::Cosine,
        embed::Embed,
        near_pairs::NearPairs,
        nearest::Nearest,
        similarity::Similarity,
        tokens::{Coverage, Tokens},
    },
    models::Models,
    object_stores::ObjectStores,
};

/// What builds a session of a scheduler, as Ballista wants it.
pub type SessionBuilder = Arc<dyn Fn(SessionConfig) -> Result<SessionState> + Send + Sync>;

/// Registers all functions in a session. On a client of a cluster it comes behind `SessionContext::remote_with_state`,
/// which drops what was registered before.
///
/// # Errors
/// None of these functions.
pub fn register(context: &SessionContext, models: &Models) -> Result<()> {
    scalars(models).into_iter().for_each(|function| context.register_udf(function));
    aggregates().into_iter().for_each(|function| context.register_udaf(function));
    context.register_udtf("nearest", Arc::new(Nearest::default()));
    Ok(())
}

/// All functions for an executor of Ballista: `override_function_registry` of its configuration.
#[must_use]
pub fn function_registry(models: &Models) -> Arc<BallistaFunctionRegistry> {
    let mut registry = BallistaFunctionRegistry::default();
    let scalars = scalars(models).into_iter().map(|function| (function.name().to_owned(), Arc::new(function)));
    registry.scalar_functions.extend(scalars);
    let aggregates = aggregates().into_iter().map(|function| (function.name().to_owned(), Arc::new(function)));
    registry.aggregate_functions.extend(aggregates);
    Arc::new(registry)
}

/// All functions, and tables of object stores ([`ObjectStores`]), for a scheduler of Ballista:
/// `override_session_builder` of its configuration.
#[must_use]
pub fn session_builder(models: &Models) -> SessionBuilder {
    let models = models.clone();
    // Of all sessions, so that a bucket has one set of connections.
    let stores = Arc::new(ObjectStores::default());
    Arc::new(move |config| {
        let environment = RuntimeEnvBuilder::new().with_object_store_registry(stores.clone()).build_arc()?;
        let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?);
        let mut state = state.with_runtime_env(environment).build();
        for function in scalars(&models) {
            state.register_udf(Arc::new(function))?;
        }
        for function in aggregates() {
            state.register_udaf(Arc::new(function))?;
        }
        Ok(state)
    })
}

fn scalars(models: &Models) -> [ScalarUDF; 7] {
    [
        Embed::new(models.clone()).into(),
        Similarity::new(models.clone()).into(),
        Tokens::new(models.clone()).into(),
        Coverage::new(models.clone()).into(),
        Cosine::default().into(),
        Cell::new(models.clone()).into(),
        Cell::several(models.clone()).into(),
    ]
}

fn aggregates() -> [AggregateUDF; 1] {
    [NearPairs::default().into()]
}
