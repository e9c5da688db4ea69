//! Registers the functions in a session and in the processes of a cluster.

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

/// A function that builds sessions of a scheduler, in the form that Ballista expects.
pub type SessionBuilder = Arc<dyn Fn(SessionConfig) -> Result<SessionState> + Send + Sync>;

/// Registers all functions in a session. On a client of a cluster, call this after `SessionContext::remote_with_state`,
/// which drops all earlier registrations.
///
/// # Errors
/// None for these functions.
pub fn register(context: &SessionContext, models: &Models) -> Result<()> {
    scalars(models).into_iter().for_each(|function| context.register_udf(function));
    aggregates().into_iter().for_each(|function| context.register_udaf(function));
    context.register_udtf("nearest", Arc::new(Nearest::default()));
    Ok(())
}

/// All functions for a Ballista executor, for the field `override_function_registry` of its configuration.
#[must_use]
pub fn function_registry(models: &Models) -> Arc<BallistaFunctionRegistry> {
    let mut registry = BallistaFunctionRegistry::default();
    let scalars = scalars(models).into_iter().map(|function| (function.name().to_owned(), Arc::new(function)));
    registry.scalar_functions.extend(scalars);
    let aggregates = aggregates().into_iter().map(|function| (function.name().to_owned(), Arc::new(function)));
    registry.aggregate_functions.extend(aggregates);
    Arc::new(registry)
}

/// All functions and the tables of object stores ([`ObjectStores`]) for a Ballista scheduler, for the field
/// `override_session_builder` of its configuration.
#[must_use]
pub fn session_builder(models: &Models) -> SessionBuilder {
    let models = models.clone();
    // All sessions share it, so each bucket has a single set of connections.
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
