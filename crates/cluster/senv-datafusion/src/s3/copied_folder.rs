//! Copies the objects under a prefix to a temporary folder, from which models are opened.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Component, Path as LocalPath, PathBuf},
};

use datafusion::error::{DataFusionError, Result};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, path::Path};
use tempfile::TempDir;

use super::{configuration, error, open, parse};

/// Bytes per request, and concurrent requests. Their product bounds the memory in use.
const PIECE_BYTES: u64 = 8 << 20;
const REQUESTS: usize = 4;
/// Maximum depth of folders. A model may be a folder that contains folders.
const DEPTH: usize = 3;

/// Whether to skip an object directly under the prefix, by its name.
type LeftOut = fn(&str) -> bool;

/// Copies the objects under `s3://BUCKET/PREFIX` to a temporary folder, except those whose names are left out.
pub(crate) async fn copy_folder(text: &str, is_left_out: LeftOut) -> Result<TempDir> {
    tokio::runtime::Handle::try_current().map_err(|e| configuration(text, e))?;
    let (url, prefix) = parse(text)?;
    copy(open(&url)?.as_ref(), &prefix, text, is_left_out).await
}

/// An object, and its path in the folder.
type Copied = (PathBuf, ObjectMeta);

async fn copy(store: &dyn ObjectStore, prefix: &Path, url: &str, is_left_out: LeftOut) -> Result<TempDir> {
    let objects = objects(store, prefix, url, is_left_out).await?;
    let folder = tempfile::Builder::new().prefix("senv-models-").tempdir()?;
    let n_bytes = objects.iter().map(|(_, object)| object.size).sum();
    check_room(folder.path(), url, objects.len(), n_bytes)?;
    for (path, object) in &objects {
        let path = folder.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| unwritable(&e, parent, url))?;
        }
        copy_object(store, object, &path, url).await?;
    }
    Ok(folder)
}

/// Lists the objects under a prefix.
async fn objects(store: &dyn ObjectStore, prefix: &Path, url: &str, is_left_out: LeftOut) -> Result<Vec<Copied>> {
    let (mut found, mut is_empty) = (Vec::new(), true);
    let mut folders = vec![(prefix.clone(), PathBuf::new())];
    while let Some((folder, local)) = folders.pop() {
        let listed = store.list_with_delimiter(Some(&folder)).await.map_err(|e| error::explained(url, &e))?;
        let depth = local.components().count();
        for object in listed.objects {
            // Some programs mark a folder with an object of the same name.
            let Some(name) = object.location.filename().filter(|_| object.location != folder) else { continue };
            is_empty = false;
            if depth > 0 || !is_left_out(name) {
                found.push((local.join(file_name(name, url)?), object));
            }
        }
        for folder in listed.common_prefixes {
            let Some(name) = folder.filename() else { continue };
            is_empty = false;
            if depth < DEPTH && (depth > 0 || !is_left_out(name)) {
                let local = local.join(file_name(name, url)?);
                folders.push((folder, local));
            }
        }
    }
    if is_empty {
        return Err(configuration(url, "it is empty; give the folder with the models"));
    }
    Ok(found)
}

/// The name of an object as a file name.
fn file_name<'a>(name: &'a str, url: &str) -> Result<&'a str> {
    let is_name = LocalPath::new(name).components().eq([Component::Normal(name.as_ref())]);
    is_name.then_some(name).ok_or_else(|| {
        configuration(
            url,
            format!(
                "{name:?} is not a valid file name here; rename \
        it"
            ),
        )
    })
}

/// Copies an object in pieces, a few at the same time.
async fn copy_object(store: &dyn ObjectStore, object: &ObjectMeta, path: &LocalPath, url: &str) -> Result<()> {
    let mut file = File::create_new(path).map_err(|e| unwritable(&e, path, url))?;
    let size = object.size;
    let n_pieces = size.div_ceil(PIECE_BYTES);
    let pieces = (0..n_pieces).map(|piece| piece * PIECE_BYTES..size.min((piece + 1) * PIECE_BYTES));
    let read = |range: std::ops::Range<u64>| async move {
        let expected = range.end - range.start;
        // All pieces must belong to the version that was listed.
        let if_match = object.e_tag.clone();
        let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() };
        let result = async { store.get_opts(&object.location, options).await?.bytes().await };
        let bytes = result.await.map_err(|e| match e {
            object_store::Error::Precondition { .. } | object_store::Error::NotFound { .. } => changed(object, url),
            e => error::explained(url, &e),
        })?;
        if bytes.len() as u64 == expected { Ok(bytes) } else { Err(changed(object, url)) }
    };
    let mut pieces = stream::iter(pieces.map(read)).buffered(REQUESTS);
    while let Some(bytes) = pieces.try_next().await? {
        file.write_all(&bytes).map_err(|e| unwritable(&e, path, url))?;
    }
    Ok(())
}

fn changed(object: &ObjectMeta, url: &str) -> DataFusionError {
    DataFusionError::Execution(format!("{url}: {} changed while it was read; try again", object.location))
}

fn unwritable(e: &io::Error, path: &LocalPath, url: &str) -> DataFusionError {
    let remedy = if e.kind() == ErrorKind::StorageFull { "; set TMPDIR to a folder with more space" } else { "" };
    DataFusionError::Execution(format!("cannot copy {url} to {}: {e}{remedy}", path.display()))
}

/// Checks that the file system of a folder has room for `n_bytes`.
#[cfg(unix)]
fn check_room(folder: &LocalPath, url: &str, n_objects: usize, n_bytes: u64) -> Result<()> {
    let system = rustix::fs::statvfs(folder).map_err(|e| unwritable(&e.into(), folder, url))?;
    let room = system.f_bavail.saturating_mul(system.f_frsize);
    if n_bytes <= room {
        return Ok(());
    }
    let folder = folder.parent().unwrap_or(folder).display();
    Err(DataFusionError::Execution(format!(
        "{url}: {n_objects} objects of {n_bytes} bytes do not fit in {folder}, which has {room} free; set TMPDIR to a \
        folder with more space"
    )))
}

#[cfg(not(unix))]
fn check_room(_: &LocalPath, _: &str, _: usize, _: u64) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use object_store::{ObjectStoreExt, memory::InMemory};

    use super::*;

    const URL: &str = "s3://bucket/m";

    async fn store(objects: &[(&str, Vec<u8>)]) -> InMemory {
        let store = InMemory::new();
        for (path, bytes) in objects {
            store.put(&Path::parse(path).unwrap(), bytes.clone().into()).await.unwrap();
        }
        store
    }

    fn is_hidden_or_text(name: &str) -> bool {
        name.starts_with('.') || name.ends_with(".md")
    }

    fn text(error: &DataFusionError) -> String {
        error.strip_backtrace()
    }

    #[tokio::test]
    async fn objects_become_the_files_of_a_folder() {
        // Three pieces, the last of them short.
        let large: Vec<u8> = (0..2 * PIECE_BYTES + 12_345).map(|i| (i % 251) as u8).collect();
        let store = store(&[
            ("m/large.senv", large.clone()),
            ("m/empty.senv", vec![]),
            ("m/folder/config.json", b"{}".to_vec()),
            ("m/folder/0_StaticEmbedding/tokenizer.json", b"[]".to_vec()),
            ("m/README.md", b"left out".to_vec()),
            ("m/.hidden/a", b"left out".to_vec()),
            ("m/a/b/c/d/deep", b"left out".to_vec()),
            ("other/b.senv", b"of another folder".to_vec()),
            ("m2/c.senv", b"of a folder whose name begins so".to_vec()),
        ])
        .await;
        let folder = copy(&store, &Path::from("m"), URL, is_hidden_or_text).await.unwrap();
        let read = |path: &str| fs::read(folder.path().join(path)).unwrap();
        assert!(read("large.senv") == large);
        assert_eq!(read("empty.senv"), b"");
        assert_eq!(read("folder/config.json"), b"{}");
        assert_eq!(read("folder/0_StaticEmbedding/tokenizer.json"), b"[]");
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["empty.senv", "folder", "large.senv"]);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn nothing_under_a_prefix_is_an_error_and_text_alone_is_none() {
        let store = store(&[("m/README.md", b"text".to_vec())]).await;
        assert_eq!(
            fs::read_dir(copy(&store, &Path::from("m"), URL, is_hidden_or_text).await.unwrap().path()).unwrap().count(),
            0
        );
        let error = text(&copy(&store, &Path::from("n"), "s3://bucket/n", is_hidden_or_text).await.unwrap_err());
        assert!(error.contains("s3://bucket/n: it is empty"), "{error}");
    }

    #[tokio::test]
    async fn an_object_that_changes_while_it_is_read_is_an_error() {
        let store = store(&[("m/a.senv", vec![1; 100])]).await;
        let (_, listed) = objects(&store, &Path::from("m"), URL, is_hidden_or_text).await.unwrap().remove(0);
        store.put(&listed.location, vec![2; 100].into()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = copy_object(&store, &listed, &folder.path().join("a"), URL).await.unwrap_err();
        assert!(text(&error).contains("s3://bucket/m: m/a.senv changed while it was read"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn objects_that_do_not_fit_on_the_disk_are_not_fetched() {
        let folder = tempfile::tempdir().unwrap();
        check_room(folder.path(), URL, 1, 0).unwrap();
        let error = text(&check_room(folder.path(), URL, 3, u64::MAX).unwrap_err());
        let parts = ["s3://bucket/m: 3 objects of 18446744073709551615 bytes do not fit", "TMPDIR"];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }

    #[test]
    fn names_that_would_leave_the_folder_are_refused() {
        for name in ["..", ".", "", "a/b", "/a"] {
            assert!(file_name(name, URL).is_err(), "{name}");
        }
        assert_eq!(file_name("a b.senv", URL).unwrap(), "a b.senv");
    }
}
