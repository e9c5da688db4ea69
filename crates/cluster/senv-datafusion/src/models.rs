//! The models and centroids available to functions. They are loaded once and shared by all queries of a process.

use std::{
    fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::error::{DataFusionError, Result};
use senv::Model;

use crate::{
    cells::Centroids,
    error::{self, external},
    object_stores::is_url,
};

/// The name of the built-in model.
pub const ENGLISH: &str = "english";
/// Minimum number of digits of a digest that identify a model.
const MIN_DIGITS: usize = 8;
/// The suffix of files of centroids.
const CENTROIDS: &str = ".centroids";

/// A model with its name and its digest.
#[derive(Debug, Clone)]
pub struct NamedModel {
    /// The name that queries use: the file name without the extension.
    pub name: String,
    /// The digest of [`senv::model::model_digest`] in hexadecimal digits.
    pub digest: String,
    /// The model.
    pub model: Model,
}

/// Models by name and by digest, and centroids by name. Clones share the data.
///
/// A query names a model as `english`, by the first eight or more digits of its digest, or by both:
/// `english@4c60256fa412f6f9`. Planning a query replaces the name by the last form. A process that has another model
/// under this name then rejects the query.
#[derive(Debug, Clone, Default)]
pub struct Models(Arc<Named>);

#[derive(Debug, Clone, Default)]
struct Named {
    models: Vec<NamedModel>,
    centroids: Vec<Centroids>,
}

impl Models {
    /// Only the English model.
    ///
    /// # Errors
    /// None for the built-in model.
    pub fn english() -> Result<Self> {
        let model = senv::english().map_err(external)?;
        Self::default().with_model(ENGLISH, senv_english::DIGEST, model)
    }

    /// The English model and the models of a folder: every file and folder that [`senv::open`] reads, in alphabetical
    /// order. A model has the name of its file without the extension. Files `NAME.centroids` are centroids of cells
    /// ([`Centroids`]). Files are skipped if their name begins with a dot or ends in `.md`, `.txt` or `.json`. A model
    /// named `english` replaces the built-in one.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read, or two models or centroids have the same name.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let cannot = |e: std::io::Error| DataFusionError::Execution(format!("{}: {e}", folder.display()));
        let paths = fs::read_dir(folder).map_err(cannot)?.map(|entry| Ok(entry.map_err(cannot)?.path()));
        let mut paths: Vec<PathBuf> = paths.collect::<Result<_>>()?;
        paths.sort();
        let mut models = Self::default();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if is_left_out(&name) {
                continue;
            }
            models = match name.strip_suffix(CENTROIDS) {
                Some(name) => models.with_centroids(Centroids::open(name, &path)?)?,
                None => {
                    let digest = senv::model::model_digest(&path).map_err(external)?;
                    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    models.with_model(&name, &digest, senv::open(&path).map_err(external)?)?
                }
            };
        }
        if models.0.models.iter().any(|model| model.name == ENGLISH) {
            return Ok(models);
        }
        models.with_model(ENGLISH, senv_english::DIGEST, senv::english().map_err(external)?)
    }

    /// Opens the models of a folder ([`Models::open`]) or, with the feature `s3`, those under `s3://BUCKET/PREFIX`.
    /// Objects directly under the prefix count as files of a folder, and deeper ones as files of models that are
    /// folders. The objects are copied in pieces of 8 MiB to a temporary folder (in `TMPDIR`) and opened from there.
    /// The folder is removed before this returns, and the models keep what they still need.
    ///
    /// The settings are the usual environment variables: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`,
    /// `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`.
    ///
    /// ```no_run
    /// # use senv_datafusion::Models;
    /// # #[tokio::main]
    /// # async fn main() -> datafusion::error::Result<()> {
    /// let models = Models::open_url("s3://bucket/models").await?;
    /// # let _ = models;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Models::open`]. For a URL, each error names the URL and what to do. Opening a URL also fails
    /// * if the scheme is not `s3://`,
    /// * if there is no such bucket or nothing under the prefix,
    /// * if credentials are missing or refused, or the server does not respond within some seconds,
    /// * if the disk has too little space,
    /// * outside a Tokio runtime.
    pub async fn open_url(location: &str) -> Result<Self> {
        if !is_url(location) {
            return Self::open(location);
        }
        #[cfg(feature = "s3")]
        return Self::open_copied(location).await;
        #[cfg(not(feature = "s3"))]
        Err(crate::object_stores::not_built(location))
    }

    /// Opens a bucket through a temporary folder. Errors name the URL instead, because the user does not know the
    /// folder.
    #[cfg(feature = "s3")]
    async fn open_copied(url: &str) -> Result<Self> {
        let folder = crate::s3::copy_folder(url, is_left_out).await?;
        let url = url.trim_end_matches('/').to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let path = folder.path();
            let named = |e: DataFusionError| {
                let message = e.find_root().strip_backtrace().replace(&path.display().to_string(), &url);
                DataFusionError::Execution(message)
            };
            // Mapped files stay available until the process ends.
            Self::open(path).map_err(named)
        });
        opened.await.map_err(external)?
    }

    /// Adds a model.
    ///
    /// # Errors
    /// If the name is already taken or empty, or contains an `@`.
    pub fn with_model(mut self, name: &str, digest: &str, model: Model) -> Result<Self> {
        check_name(name, self.0.models.iter().map(|model| model.name.as_str()))?;
        let model = NamedModel { name: name.to_owned(), digest: digest.to_owned(), model };
        Arc::make_mut(&mut self.0).models.push(model);
        Ok(self)
    }

    /// Adds centroids of cells.
    ///
    /// # Errors
    /// If the name is already taken or empty, or contains an `@`.
    pub fn with_centroids(mut self, centroids: Centroids) -> Result<Self> {
        check_name(centroids.name(), self.0.centroids.iter().map(Centroids::name))?;
        Arc::make_mut(&mut self.0).centroids.push(centroids);
        Ok(self)
    }

    /// All models, in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> &[NamedModel] {
        &self.0.models
    }

    /// Finds a model by name, digest or both. Without a name, returns the only model, or else the one named `english`.
    ///
    /// # Errors
    /// If there is no such model, or its digest differs from the one that the query was planned with. The error names
    /// `function` and its argument `model`.
    pub fn find(&self, function: &str, wanted: Option<&str>) -> Result<&NamedModel> {
        let models = self.all();
        let Some(wanted) = wanted else {
            let english = || models.iter().find(|model| model.name == ENGLISH);
            let one = if let [one] = models { Some(one) } else { english() };
            return one.ok_or_else(|| error::plan(function, "model", format!("name one of {}", self.names())));
        };
        if let Some((name, digest)) = wanted.split_once('@') {
            return find_digest(function, "model", wanted, models, |model| (&model.name, &model.digest), name, digest);
        }
        let is_digest = |model: &&NamedModel| wanted.len() >= MIN_DIGITS && model.digest.starts_with(wanted);
        let found = models.iter().find(|model| model.name == wanted).or_else(|| models.iter().find(is_digest));
        found.ok_or_else(|| {
            error::plan(function, "model", format!("no model {wanted:?}; the models are {}", self.names()))
        })
    }

    /// Finds centroids by name, or by name and digest.
    ///
    /// # Errors
    /// The same as for [`Models::find`], for the argument `centroids`.
    pub fn find_centroids(&self, function: &str, wanted: &str) -> Result<&Centroids> {
        let all = &self.0.centroids;
        if let Some((name, digest)) = wanted.split_once('@') {
            return find_digest(function, "centroids", wanted, all, |one| (one.name(), one.digest()), name, digest);
        }
        let names = || all.iter().map(Centroids::name).collect::<Vec<_>>().join(", ");
        let none =
            || error::plan(function, "centroids", format!("no centroids {wanted:?}; available are [{}]", names()));
        all.iter().find(|centroids| centroids.name() == wanted).ok_or_else(none)
    }

    fn names(&self) -> String {
        let name = |model: &NamedModel| format!("{:?} ({})", model.name, model.digest);
        self.all().iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The names and digests, by which two sets of models are compared.
    fn identity(&self) -> impl Iterator<Item = (&str, &str)> {
        let models = self.0.models.iter().map(|model| (model.name.as_str(), model.digest.as_str()));
        models.chain(self.0.centroids.iter().map(|centroids| (centroids.name(), centroids.digest())))
    }
}

impl PartialEq for Models {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.identity().eq(other.identity())
    }
}

impl Eq for Models {}

impl Hash for Models {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().for_each(|one| one.hash(state));
    }
}

/// Whether to skip a file in a folder of models, because it is hidden or a text file.
pub(crate) fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || [".md", ".txt", ".json"].iter().any(|end| name.ends_with(end))
}

fn check_name<'a>(name: &str, mut others: impl Iterator<Item = &'a str>) -> Result<()> {
    if name.is_empty() || name.contains('@') {
        return Err(DataFusionError::Configuration(format!("bad name {name:?}: it is empty or contains @")));
    }
    if others.any(|other| other == name) {
        return Err(DataFusionError::Configuration(format!("two files are named {name:?}; rename one")));
    }
    Ok(())
}

/// Finds an item by digest. The name is only for the message.
fn find_digest<'a, T>(
    function: &str,
    argument: &str,
    wanted: &str,
    all: &'a [T],
    identity: impl Fn(&'a T) -> (&'a str, &'a str),
    name: &str,
    digest: &str,
) -> Result<&'a T> {
    let is_digest = |one: &&'a T| digest.len() >= MIN_DIGITS && identity(one).1.starts_with(digest);
    let found = all.iter().find(|one| identity(one).0 == name && is_digest(one)).or_else(|| all.iter().find(is_digest));
    found.ok_or_else(|| {
        let here = all.iter().map(identity).find(|one| one.0 == name);
        let here = here.map_or_else(|| "is not here".to_owned(), |one| format!("has digest {} here", one.1));
        error::plan(
            function,
            argument,
            format!("the query needs {wanted}, but {name} {here}; give all processes the same files"),
        )
    })
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_name_by_digest_and_by_both() {
        let models = Models::english().unwrap();
        let digest = senv_english::DIGEST;
        for wanted in [ENGLISH, digest, &digest[..8], &format!("{ENGLISH}@{digest}"), &format!("other@{digest}")] {
            assert_eq!(models.find("embed", Some(wanted)).unwrap().digest, digest, "{wanted}");
        }
        assert_eq!(models.find("embed", None).unwrap().name, ENGLISH);
    }

    #[test]
    fn errors_name_the_function_the_argument_and_both_digests() {
        let models = Models::english().unwrap();
        let error = models.find("embed", Some("english@0123456789abcdef")).unwrap_err().to_string();
        let parts = ["embed", "argument model", "0123456789abcdef", senv_english::DIGEST];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        let error = models.find("tokens", Some("french")).unwrap_err().to_string();
        assert!(error.contains("tokens: argument model: no model \"french\""), "{error}");
        assert!(models.find("embed", Some("5a45133")).is_err()); // seven digits
    }

    #[test]
    fn two_models_of_one_name_are_an_error() {
        let models = Models::english().unwrap();
        let model = models.find("embed", None).unwrap().model.clone();
        assert!(models.clone().with_model(ENGLISH, "00", model.clone()).is_err());
        assert!(models.with_model("a@b", "00", model).is_err());
    }
}
