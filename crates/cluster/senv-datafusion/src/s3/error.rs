//! Errors of object stores, with remedies.

use std::{error::Error, iter::successors};

use datafusion::error::DataFusionError;
use object_store::{
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    client::{HttpError, HttpErrorKind},
};

/// Variables to set on a machine outside Amazon's cloud.
const KEYS: &str = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

/// Converts an error of a store to one of DataFusion that names the URL, the failure and the remedy.
pub(super) fn explained(url: &str, error: &object_store::Error) -> DataFusionError {
    let first: &(dyn Error + 'static) = error;
    let causes: Vec<_> = successors(Some(first), |&cause| cause.source()).collect();
    let text = error.to_string();
    let root = causes.last().map_or_else(|| text.clone(), ToString::to_string);
    let http = causes.iter().find_map(|cause| cause.downcast_ref::<HttpError>()).map(HttpError::kind);
    let endpoint = endpoint(&AmazonS3Builder::from_env());
    let code = between(&text, "<Code>", "</Code>").unwrap_or_default();
    let has_status = |status: &str| text.contains(&format!("status code: {status}"));
    // Machines in Amazon's cloud get their credentials from these paths.
    let of_metadata = ["/latest/api/token", "/latest/meta-data/"].iter().any(|path| text.contains(path));
    let reason = if of_metadata && !has_keys() {
        format!("no credentials; set {KEYS}, or AWS_SKIP_SIGNATURE=true for a public bucket")
    } else if code == "NoSuchBucket" || code.is_empty() && has_status("404") {
        format!("no such bucket at {endpoint}; check its name, AWS_ENDPOINT_URL and AWS_REGION")
    } else if code == "AuthorizationHeaderMalformed" || has_status("301") || text.contains("redirect without LOCATION")
    {
        format!("the bucket is not in the region of {endpoint}; set AWS_REGION to the region of the bucket")
    } else if ["401", "403"].into_iter().any(has_status) {
        let code = if code.is_empty() { "access denied" } else { code };
        format!(
            "the server rejected the credentials ({code}); check {KEYS} and their permission to list and read the \
            bucket"
        )
    } else if matches!(http, Some(HttpErrorKind::Connect | HttpErrorKind::Timeout)) {
        format!("no answer from {endpoint} ({root}); check AWS_ENDPOINT_URL and the network")
    } else {
        root
    };
    DataFusionError::Execution(without_users(&format!("{url}: {reason}")))
}

/// Removes users and passwords from the URLs in a message: everything between `://` and the last `@` of a word.
pub(super) fn without_users(message: &str) -> String {
    let mut parts = message.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`')).unwrap_or(rest.len());
        let start = rest[..end].rfind('@').map_or(0, |at| at + 1);
        shown.push_str("://");
        shown.push_str(&rest[start..]);
    }
    shown
}

/// The server that the environment names.
pub(super) fn endpoint(builder: &AmazonS3Builder) -> String {
    let keys = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let given = keys.iter().find_map(|key| builder.get_config_value(key));
    let region = || builder.get_config_value(&AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".to_owned());
    given.unwrap_or_else(|| format!("https://s3.{}.amazonaws.com", region()))
}

fn has_keys() -> bool {
    AmazonS3Builder::from_env().get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_some()
}

/// The text between the first occurrences of two delimiters.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_no_password_of_a_url() {
        for (message, shown) in [
            ("no answer from http://me:secret@host:9000 (dns): check", "no answer from http://host:9000 (dns): check"),
            (
                "s3://bucket/a: https://me:sec@ret/x@host does not use TLS",
                "s3://bucket/a: https://host does not use TLS",
            ),
            ("url \"http://secret@host/\" and mail to me@host", "url \"http://host/\" and mail to me@host"),
            ("no URL", "no URL"),
        ] {
            assert_eq!(without_users(message), shown);
        }
    }
}
