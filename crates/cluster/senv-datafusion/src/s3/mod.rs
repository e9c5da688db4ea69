//! Opens buckets named by `s3://BUCKET/PATH`.

mod copied_folder;
mod error;

use std::{sync::Arc, time::Duration};

use datafusion::{
    error::{DataFusionError, Result},
    execution::object_store::ObjectStoreRegistry,
};
use futures::TryStreamExt;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    path::Path,
};
use url::Url;

pub(crate) use copied_folder::copy_folder;

/// Maximum number of retries of a request, and the time after which no more are made. An unreachable server is reported
/// within seconds.
const RETRIES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(15);
/// Pauses between retries: the first and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// The store of the bucket in a URL, with the settings of the environment.
///
/// # Errors
/// If the URL does not name a bucket, or the settings contradict each other.
pub(crate) fn open(url: &Url) -> Result<Arc<dyn ObjectStore>> {
    let bucket = url.host_str().unwrap_or_default();
    let retry = RetryConfig {
        backoff: BackoffConfig { init_backoff: PAUSES[0], max_backoff: PAUSES[1], base: 2.0 },
        max_retries: RETRIES,
        retry_timeout: PATIENCE,
    };
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    let setting = |key: AmazonS3ConfigKey| builder.get_config_value(&key).unwrap_or_default();
    let endpoint = error::endpoint(&builder);
    let allows_http = setting(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
    if endpoint.starts_with("http://")
        && !["1", "true", "on", "yes", "y"].contains(&allows_http.to_ascii_lowercase().as_str())
    {
        return Err(configuration(url, format!("{endpoint} does not use TLS; to allow this, set AWS_ALLOW_HTTP=true")));
    }
    Ok(Arc::new(builder.build().map_err(|e| configuration(url, e))?))
}

/// See [`crate::ObjectStores::list`].
pub(crate) async fn list(stores: &dyn ObjectStoreRegistry, text: &str) -> Result<Vec<String>> {
    let (url, path) = parse(text)?;
    if path.as_ref().contains('*') {
        return Err(configuration(
            text,
            "patterns with * work only for local files; give an object or a folder of \
            objects",
        ));
    }
    let store = stores.get_store(&url)?;
    let objects: Vec<_> = store.list(Some(&path)).try_collect().await.map_err(|e| error::explained(text, &e))?;
    let shown = |path: &Path| path.filename().is_some_and(|name| !name.starts_with(['.', '_']));
    let is_part = |object: &ObjectMeta| object.location != path && shown(&object.location);
    let mut found: Vec<_> = objects.into_iter().filter(is_part).collect();
    if found.is_empty() {
        // Check after listing, because the listing explains an empty result.
        let nothing = || configuration(text, "no such object or folder of objects");
        if text.ends_with('/') || path.as_ref().is_empty() {
            return Err(nothing());
        }
        return match store.head(&path).await {
            Ok(_) => Ok(vec![text.to_owned()]),
            Err(object_store::Error::NotFound { .. }) => Err(nothing()),
            Err(e) => Err(error::explained(text, &e)),
        };
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    let of_object = |path: &Path| {
        let mut url = url.clone();
        url.set_path(path.as_ref());
        url.into()
    };
    Ok(found.iter().map(|object| of_object(&object.location)).collect())
}

/// Splits a text into the URL and the path in the bucket.
fn parse(text: &str) -> Result<(Url, Path)> {
    let url = Url::parse(text).map_err(|e| configuration(text, format!("{e}; give s3://BUCKET/PATH")))?;
    if url.scheme() != "s3" {
        return Err(configuration(text, "give s3://BUCKET/PATH or a folder; other object stores are not supported"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(configuration(text, "the bucket is missing; give s3://BUCKET/PATH"));
    }
    if url.query().is_some() || url.fragment().is_some() || url.port().is_some() || !url.username().is_empty() {
        return Err(configuration(
            text,
            "expected only s3://BUCKET/PATH; settings come from environment variables \
            (AWS_...)",
        ));
    }
    let path = Path::from_url_path(url.path()).map_err(|e| configuration(text, e))?;
    Ok((url, path))
}

/// An error in what the user specified.
fn configuration(url: impl std::fmt::Display, reason: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Configuration(error::without_users(&format!("{url}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_bucket_and_a_path() {
        for (text, bucket, path) in [
            ("s3://a-b.c/m/n/", "a-b.c", "m/n"),
            ("s3://bucket", "bucket", ""),
            ("s3://bucket/", "bucket", ""),
            ("s3://bucket/a b/%C3%A4", "bucket", "a b/ä"),
        ] {
            let (url, found) = parse(text).unwrap();
            assert_eq!((url.host_str(), found.as_ref()), (Some(bucket), path), "{text}");
        }
    }

    #[test]
    fn a_url_of_something_else_says_what_to_give() {
        for (text, part) in [
            ("s3://", "the bucket is missing"),
            ("s3:///models", "the bucket is missing"),
            ("gs://bucket/models", "other object stores are not supported"),
            ("s3://bucket/models?region=x", "settings come from environment variables"),
            ("s3://key:secret@bucket/models", "settings come from environment variables"),
            ("s3://bucket//models", "s3://bucket//models"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
