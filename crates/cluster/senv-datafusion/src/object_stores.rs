//! The object stores that a session reads tables from.

use std::sync::Arc;

use datafusion::{
    error::Result,
    execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry},
    object_store::ObjectStore,
};
use url::Url;

/// The URL scheme that [`ObjectStores`] opens automatically.
const S3: &str = "s3";

/// The object stores of a session, for tables of `s3://BUCKET/...`. The store of a bucket is opened when a query first
/// needs it. Its settings are the environment variables of the process: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
/// `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP` and the others of
/// [`AmazonS3Builder::from_env`](datafusion::object_store). Local files and every other registered store work as well.
///
/// On a cluster the client, the scheduler and the executors each need these settings in their own environment. Without
/// the feature `s3`, a table of `s3://` is an error.
///
/// ```
/// use std::sync::Arc;
///
/// use datafusion::{
///     execution::runtime_env::RuntimeEnvBuilder,
///     prelude::{SessionConfig, SessionContext},
/// };
/// use senv_datafusion::ObjectStores;
///
/// # fn main() -> datafusion::error::Result<()> {
/// let stores = Arc::new(ObjectStores::default());
/// let environment = RuntimeEnvBuilder::new().with_object_store_registry(stores).build_arc()?;
/// let context = SessionContext::new_with_config_rt(SessionConfig::new(), environment);
/// # let _ = context;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct ObjectStores(DefaultObjectStoreRegistry);

impl ObjectStores {
    /// Lists the URLs of the objects of a table `s3://BUCKET/PATH`, in alphabetical order. These are all objects under
    /// it as a folder, except those whose names begin with a dot or an underscore. If there are none, it is the object
    /// of that name.
    ///
    /// # Errors
    /// If the URL does not have the form `s3://BUCKET/PATH`, there is no such object or folder, or the server cannot be
    /// reached or refuses. Each error names the URL and what to do.
    pub async fn list(&self, url: &str) -> Result<Vec<String>> {
        #[cfg(feature = "s3")]
        return crate::s3::list(self, url).await;
        #[cfg(not(feature = "s3"))]
        Err(not_built(url))
    }
}

impl ObjectStoreRegistry for ObjectStores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.0.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let known = self.0.get_store(url);
        if known.is_ok() || url.scheme() != S3 {
            return known;
        }
        #[cfg(feature = "s3")]
        {
            let store = crate::s3::open(url)?;
            self.0.register_store(url, store.clone());
            Ok(store)
        }
        #[cfg(not(feature = "s3"))]
        Err(not_built(url))
    }
}

/// Whether a text is a URL rather than a path of the file system.
pub(crate) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    // A single letter is a drive.
    scheme.is_some_and(|scheme| scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The error for a URL if the crate was built without the feature.
#[cfg(not(feature = "s3"))]
pub(crate) fn not_built(url: impl std::fmt::Display) -> datafusion::error::DataFusionError {
    datafusion::error::DataFusionError::Configuration(format!("{url}: object stores need a build with the feature s3"))
}
