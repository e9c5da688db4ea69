//! Groups in a file: kind `groups` of `docs/format.md`.

use std::path::Path;

use senv_core::{Error as CoreError, ModelFile, ModelWriter, Rows, kernels};
use serde::{Deserialize, Serialize};

use super::{Group, TextGroups};
use crate::error::{Error, Result};

/// The version of its layout.
const VERSION: u32 = 1;
/// The digest of the model.
const MODEL: &str = "groups.model";

#[derive(Serialize, Deserialize)]
struct Config {
    version: u32,
    min_cosine: f32,
    groups: Vec<Group>,
}

impl TextGroups {
    /// The kind of the file.
    pub const KIND: &'static str = "groups";

    /// Writes the groups to a file, replacing an existing one. `model` is the digest of the model of the vectors
    /// ([`model_digest`](crate::model::model_digest)).
    ///
    /// # Errors
    /// [`senv_core::Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>, model: &str) -> Result<()> {
        let config = Config { version: VERSION, min_cosine: self.min_cosine, groups: self.groups.clone() };
        let config =
            serde_json::to_string(&config).map_err(|error| CoreError::io("write", path.as_ref(), error.into()))?;
        let writer =
            ModelWriter::new(Self::KIND).config(&config).metadata(MODEL, model).table("centroids", &self.centroids);
        Ok(writer.save(path)?)
    }

    /// Opens a file of groups. Returns the groups and the digest of the model of their vectors.
    ///
    /// ```
    /// # #[cfg(feature = "english")] {
    /// use senv::jobs::{GroupBy, GroupParams, TextGroups};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("groups.senv");
    /// let english = senv::english()?;
    /// let params = GroupParams { by: GroupBy::Count(2), ..GroupParams::default() };
    /// let sentences = ["The train is late.", "Rain falls.", "A late train.", "Rain and wind."];
    /// let (groups, _) = senv::jobs::group_sentences(&english, &sentences, &params, |_| {})?;
    /// groups.save(&path, "digest of the model")?;
    /// let (opened, model) = TextGroups::open(&path)?;
    /// assert_eq!((opened.groups, model.as_str()), (groups.groups, "digest of the model"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::WrongKind`] if it is another senv file; [`senv_core::Error::NewerVersion`];
    /// [`Error::BadModel`] or [`senv_core::Error::Checksum`] if it is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, String)> {
        let path = path.as_ref();
        let file = ModelFile::open(path)?;
        file.expect_kind(Self::KIND)?;
        file.verify()?;
        let bad = |reason: String| Error::BadModel { path: path.to_owned(), reason };
        let config: serde_json::Value = serde_json::from_str(file.config().unwrap_or_default())
            .map_err(|error| bad(format!("cannot parse the configuration: {error}")))?;
        let version = config["version"].as_u64().unwrap_or(0);
        if version > u64::from(VERSION) {
            let (path, found) = (path.to_owned(), version.to_string());
            return Err(CoreError::NewerVersion { path, found, supported: VERSION }.into());
        }
        let Config { min_cosine, groups, .. } =
            serde_json::from_value(config).map_err(|error| bad(format!("cannot parse the configuration: {error}")))?;
        let centroids = file.table("centroids")?;
        if centroids.n_rows() != groups.len() {
            return Err(bad(format!("{} groups but {} centroids", groups.len(), centroids.n_rows())));
        }
        let is_unit = |row: &[f32]| (kernels::norm(row) - 1.0).abs() < 1e-3;
        if let Some(group) = (0..groups.len()).find(|&group| !is_unit(centroids.row(group))) {
            return Err(bad(format!("centroid {group} does not have length 1")));
        }
        let model = file.required(MODEL)?.to_owned();
        Ok((Self { groups, centroids, min_cosine }, model))
    }
}
