//! Tables: `NAME=FILE`, where `FILE` may be a file, a folder, a pattern with `*` or a URL of an object store.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use datafusion::{
    error::Result,
    prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext},
};
use senv_datafusion::ObjectStores;
use url::Url;

use crate::{cluster::failed, output::message};

/// File extensions of text files.
const CSV: &str = "csv";
const JSON: [&str; 3] = ["jsonl", "ndjson", "json"];

/// A table of a query.
#[derive(Debug, Clone)]
pub(crate) struct TableArgument {
    pub(crate) name: String,
    pub(crate) files: String,
}

impl FromStr for TableArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, files) = text.split_once('=').ok_or("must be NAME=FILE")?;
        if name.is_empty() || files.is_empty() {
            return Err("must be NAME=FILE".into());
        }
        Ok(Self { name: name.to_owned(), files: files.to_owned() })
    }
}

impl TableArgument {
    /// Whether the rows are lines of local text files.
    pub(crate) fn is_text(&self) -> bool {
        let first = files(&self.files).ok().and_then(|files| files.into_iter().next());
        let ending = first.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ending == CSV || JSON.contains(&ending))
    }

    /// Registers the table. The extension of its first file says whether it is Parquet, CSV or JSON lines.
    pub(crate) async fn register(&self, context: &SessionContext) -> Result<()> {
        let (first, location) = self.locate().await?;
        let (name, ending) = (self.name.as_str(), first.extension().unwrap_or_default().to_string_lossy().to_string());
        let registered = match ending.as_str() {
            CSV => context.register_csv(name, location, CsvReadOptions::new()).await,
            ending if JSON.contains(&ending) => {
                let options = JsonReadOptions::default().file_extension(ending);
                context.register_json(name, location, options).await
            }
            ending => {
                let options = ParquetReadOptions::default().file_extension(ending);
                context.register_parquet(name, location, options).await
            }
        };
        // The text readers do not name the file in their errors.
        registered.map_err(|error| failed(format!("{}: {}", self.files, message(&error))))
    }

    /// The first file, and the location under which DataFusion finds all of them.
    async fn locate(&self) -> Result<(PathBuf, String)> {
        if !self.files.contains("://") {
            let first = files(&self.files)?.into_iter().next().unwrap_or_default();
            // All processes of a cluster see the files, under the same absolute path.
            return Ok((first, absolute(&self.files)?));
        }
        let first = ObjectStores::default().list(&self.files).await?.into_iter().next().unwrap_or_default();
        let location = if first == self.files { self.files.clone() } else { as_folder(&self.files) };
        Ok((first.into(), location))
    }
}

/// The files of a table in alphabetical order: one file, all files of a folder, or all that match a pattern
/// ([`senv::jobs::files_of_pattern`]).
pub(crate) fn files(pattern: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(pattern);
    let wanted = if path.is_dir() { path.join("*") } else { path.to_owned() };
    let found = senv::jobs::files_of_pattern(wanted).map_err(failed)?;
    if found.iter().all(|path| path.is_file()) { Ok(found) } else { Err(failed(format!("{pattern}: no such file"))) }
}

/// The URL of a file or folder. DataFusion takes it literally, while `[`, `*` and `?` in a path would form a pattern.
pub(crate) fn file_url(path: &Path) -> Result<String> {
    let url = if path.is_dir() { Url::from_directory_path(path) } else { Url::from_file_path(path) };
    Ok(url.map_err(|()| failed(format!("{} is not an absolute path", path.display())))?.to_string())
}

/// Makes a pattern absolute.
fn absolute(pattern: &str) -> Result<String> {
    let path = Path::new(pattern);
    if path.exists() {
        return file_url(&fs::canonicalize(path)?);
    }
    let (folder, name) = split(path);
    // DataFusion treats the whole path as a pattern.
    let is_other = |c: &char| matches!(c, '[' | '?') || *c == '*' && folder.to_string_lossy().contains('*');
    if let Some(other) = pattern.chars().find(is_other) {
        return Err(failed(format!(
            "{pattern}: a pattern cannot contain {other:?}; name the file, or only its folder"
        )));
    }
    Ok(fs::canonicalize(folder)?.join(name).to_string_lossy().into_owned())
}

/// Appends a slash, which marks a folder for DataFusion.
fn as_folder(path: &str) -> String {
    format!("{}/", path.trim_end_matches('/'))
}

fn split(path: &Path) -> (&Path, String) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (folder, path.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_name_and_files() {
        let table: TableArgument = "t=a=b.parquet".parse().unwrap();
        assert_eq!((table.name.as_str(), table.files.as_str()), ("t", "a=b.parquet"));
        assert!(["t", "=a", "t="].iter().all(|text| text.parse::<TableArgument>().is_err()));
    }
}
