//! Finds the text files of folders.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use senv_core::{
    Error as CoreError,
    text::{TableFormat, is_binary},
};

use crate::error::Result;

/// Endings of the files that are read as lines.
const TEXT: [&str; 4] = ["txt", "text", "md", "markdown"];
/// Endings of tables besides those of [`TableFormat::of_path`].
const TABLES: [&str; 2] = ["parquet", "arrow"];
/// Bytes in which a file that is not text is recognized.
const HEAD: u64 = 4096;

/// Which files of a folder are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FolderContent {
    /// Lines: `.txt`, `.text`, `.md` and `.markdown`, also with `.gz` or `.zst` behind.
    Text,
    /// Tables, of which a column is named: `.csv`, `.tsv`, `.tab`, `.jsonl` and `.ndjson`, also with `.gz` or `.zst`
    /// behind, `.parquet` and `.arrow`.
    Tables,
}

/// Why a file of a folder is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its name does not end as those of the wanted files.
    OtherKind,
    /// It is a table, and no column is named.
    Table,
    /// It has NUL bytes, as UTF-16 has, or its bytes are no text in any encoding.
    Binary,
    /// It cannot be opened, for this reason.
    Unreadable(String),
    /// It is a folder with a collection of sentences.
    Collection,
}

/// A file or folder that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// Its path.
    pub path: PathBuf,
    /// Why it is not read.
    pub reason: SkipReason,
}

/// The text files that paths stand for. A file stands for itself, and a folder for all text files in it and in the
/// folders inside.
///
/// The files of a folder are sorted by name, level by level. Names that start with a dot are left out. Links are
/// followed, each folder once, so a link to an outer folder adds nothing.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name);
/// use senv::jobs::{FolderContent, TextFiles};
/// std::fs::create_dir(at("more"))?;
/// for name in ["b.txt", "a.md", "more/c.txt", "photo.png"] {
///     std::fs::write(at(name), "Rain falls.\n")?;
/// }
/// let found = TextFiles::find(&[folder.path()], FolderContent::Text)?;
/// assert_eq!(found.files, [at("a.md"), at("b.txt"), at("more/c.txt")]);
/// assert_eq!(found.skipped[0].path, at("photo.png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFiles {
    /// The files, in the order of the paths.
    pub files: Vec<PathBuf>,
    /// What is in the folders and not read, except names that start with a dot.
    pub skipped: Vec<SkippedFile>,
}

impl TextFiles {
    /// Finds the files of these paths. `-` is standard input, and a path that does not exist is kept, so that opening
    /// it reports the error.
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] for a folder with a collection, and for one without a file to read;
    /// [`senv_core::Error::Io`] if a given folder cannot be read.
    pub fn find(paths: &[impl AsRef<Path>], content: FolderContent) -> Result<Self> {
        let mut found = Self::default();
        for path in paths.iter().map(AsRef::as_ref) {
            if !path.is_dir() {
                found.files.push(path.to_owned());
                continue;
            }
            let bad = |reason: String| CoreError::BadFile { path: path.to_owned(), reason };
            if is_collection(path) {
                let reason = "it is a collection; give the text that it was made of, or search it with senv search";
                return Err(bad(reason.to_owned()).into());
            }
            let (n_files, n_skipped) = (found.files.len(), found.skipped.len());
            let entries = names(path).map_err(|error| CoreError::io("read", path, error))?;
            let mut seen = HashSet::from([real(path)]);
            // Names are shown without `./`.
            let shown = if path == Path::new(".") { Path::new("") } else { path };
            found.add(shown, entries, content, &mut seen);
            if found.files.len() == n_files {
                return Err(bad(nothing(content, &found.skipped[n_skipped..])).into());
            }
        }
        Ok(found)
    }

    /// Adds the files of a folder with these entries.
    fn add(&mut self, folder: &Path, entries: Vec<OsString>, content: FolderContent, seen: &mut HashSet<PathBuf>) {
        for name in entries {
            let path = folder.join(&name);
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            let reason = match fs::metadata(&path) {
                Err(error) => Some(SkipReason::Unreadable(error.to_string())),
                Ok(file) if file.is_dir() => {
                    if is_collection(&path) {
                        Some(SkipReason::Collection)
                    } else if !seen.insert(real(&path)) {
                        None
                    } else {
                        match names(&path) {
                            Ok(entries) => {
                                self.add(&path, entries, content, seen);
                                None
                            }
                            Err(error) => Some(SkipReason::Unreadable(error.to_string())),
                        }
                    }
                }
                Ok(file) if !file.is_file() => Some(SkipReason::OtherKind),
                Ok(_) => {
                    let reason = reason(&path, content);
                    if reason.is_none() {
                        self.files.push(path.clone());
                    }
                    reason
                }
            };
            self.skipped.extend(reason.map(|reason| SkippedFile { path, reason }));
        }
    }
}

/// Whether a folder is a collection of sentences, made by [`SentenceCollection`](crate::SentenceCollection).
fn is_collection(folder: &Path) -> bool {
    folder.join("manifest").is_file()
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> std::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    names.sort();
    Ok(names)
}

/// The path without links, by which a folder is known.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Why a file is not read; `None` if it is.
fn reason(path: &Path, content: FolderContent) -> Option<SkipReason> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let ends = |ends: &[&str]| name.rsplit_once('.').is_some_and(|(_, ending)| ends.contains(&ending));
    let is_table = TableFormat::of_path(path).is_some() || ends(&TABLES);
    let is_wanted = match content {
        FolderContent::Text if is_table => return Some(SkipReason::Table),
        FolderContent::Text => ends(&TEXT),
        FolderContent::Tables => is_table,
    };
    if !is_wanted {
        return Some(SkipReason::OtherKind);
    }
    let mut head = Vec::new();
    match File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)) {
        Err(error) => Some(SkipReason::Unreadable(error.to_string())),
        Ok(_) => (!ends(&TABLES) && is_not_text(&head)).then_some(SkipReason::Binary),
    }
}

/// Whether the first bytes of a file are not of text, plain or compressed.
fn is_not_text(head: &[u8]) -> bool {
    let is_packed = head.starts_with(&[0x1F, 0x8B]) || head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]);
    !is_packed && (head.contains(&0) || is_binary(head))
}

/// Says what was looked for in a folder.
fn nothing(content: FolderContent, skipped: &[SkippedFile]) -> String {
    let (what, endings) = match content {
        FolderContent::Text => ("text files", ".txt, .text, .md or .markdown"),
        FolderContent::Tables => ("tables", ".csv, .tsv, .tab, .jsonl, .ndjson or .json"),
    };
    let is_table = skipped.iter().any(|skipped| skipped.reason == SkipReason::Table);
    let remedy = if is_table { "; for its tables, name the column of the text" } else { "" };
    format!(
        "no {what} in this folder and those inside it; looked for names that end in {endings}, also before .gz or \
        .zst; other files: {}{remedy}",
        skipped.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The files inside a folder, with `/` between the parts.
    fn inside(folder: &Path, paths: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
        paths.iter().map(name).collect()
    }

    fn found(folder: &Path, content: FolderContent) -> (Vec<String>, Vec<(String, SkipReason)>) {
        let found = TextFiles::find(&[folder], content).unwrap();
        let skipped = found
            .skipped
            .iter()
            .map(|skipped| (inside(folder, std::slice::from_ref(&skipped.path)).remove(0), skipped.reason.clone()));
        (inside(folder, &found.files), skipped.collect())
    }

    #[test]
    fn text_files_are_sorted_level_by_level_and_all_others_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for name in ["b/2.md", "b/1.TXT", "c.txt", "a/deep/er/x.txt.gz", "b.text", "a/.hidden.txt", ".git/notes.txt"] {
            write(folder, name, "Rain falls.\n");
        }
        write(folder, "z.csv.gz", "id,text\n");
        write(folder, "photo.png", "x");
        write(folder, "utf16.txt", b"a\0b\0");
        write(folder, "noise.txt", (0..200_u32).map(|i| (i * 37 % 255 + 1) as u8).collect::<Vec<_>>());
        write(folder, "b/index/manifest", "x");
        write(folder, "b/index/inner.txt", "x");
        let (files, skipped) = found(folder, FolderContent::Text);
        assert_eq!(files, ["a/deep/er/x.txt.gz", "b/1.TXT", "b/2.md", "b.text", "c.txt"]);
        let expected = [
            ("b/index", SkipReason::Collection),
            ("noise.txt", SkipReason::Binary),
            ("photo.png", SkipReason::OtherKind),
            ("utf16.txt", SkipReason::Binary),
            ("z.csv.gz", SkipReason::Table),
        ];
        assert_eq!(skipped, expected.map(|(name, reason)| (name.to_owned(), reason)));
        let (tables, skipped) = found(folder, FolderContent::Tables);
        assert_eq!((tables, skipped.len()), (vec!["z.csv.gz".to_owned()], 9));
    }

    #[test]
    fn files_and_standard_input_stand_for_themselves() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "docs/a.txt", "x");
        let docs = folder.path().join("docs");
        let paths = [Path::new("-"), Path::new("absent.csv"), &docs];
        let found = TextFiles::find(&paths, FolderContent::Text).unwrap();
        assert_eq!(found.files, [PathBuf::from("-"), PathBuf::from("absent.csv"), docs.join("a.txt")]);
    }

    #[test]
    fn collections_and_folders_without_text_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str, says: &[&str]| {
            let path = folder.path().join(name);
            let error = TextFiles::find(&[&path], FolderContent::Text).unwrap_err().to_string();
            assert!(says.iter().chain(&[name]).all(|part| error.contains(part)), "{error}");
        };
        write(folder.path(), "text.index/manifest", "x");
        refused("text.index", &["it is a collection", "senv search"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        refused("empty", &["no text files", ".txt, .text, .md or .markdown", "other files: 0"]);
        write(folder.path(), "tables/a.csv", "id,text\n");
        refused("tables", &["other files: 1; for its tables, name the column"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once_and_broken_ones_are_named() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "docs/a.txt", "x");
        write(folder, "docs/in/b.txt", "x");
        write(folder, "outside/c.txt", "x");
        let docs = folder.join("docs");
        symlink(&docs, docs.join("in/loop")).unwrap();
        symlink(folder.join("outside"), docs.join("other")).unwrap();
        symlink(folder.join("outside"), docs.join("twice")).unwrap();
        symlink(folder.join("outside/c.txt"), docs.join("z.txt")).unwrap();
        symlink(folder.join("gone.txt"), docs.join("broken.txt")).unwrap();
        let (files, skipped) = found(&docs, FolderContent::Text);
        assert_eq!(files, ["a.txt", "in/b.txt", "other/c.txt", "z.txt"]);
        assert!(matches!(&skipped[..], [(name, SkipReason::Unreadable(_))] if name == "broken.txt"), "{skipped:?}");
    }
}
