//! Detects whether two paths lead to one file: through different spellings, symbolic links or hard links.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whether two paths lead to one file, or would if it existed. Devices and pipes are never the same, because writing to
/// them replaces nothing.
///
/// ```
/// use senv_core::files::is_same_file;
/// assert!(is_same_file("Cargo.toml".as_ref(), "src/../Cargo.toml".as_ref()));
/// ```
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    if [a, b].into_iter().any(|path| fs::metadata(path).is_ok_and(|file| !file.is_file())) {
        return false;
    }
    let inodes = inode(a).zip(inode(b));
    if inodes.is_some_and(|(a, b)| a == b) {
        return true;
    }
    matches!((real(a), real(b)), (Some(a), Some(b)) if a == b)
}

/// The path without links; for a file that does not exist yet, the real path of its folder with the file name.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// The device and inode number of an existing file, which hard links share.
#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_known_by_all_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "text").unwrap();
        fs::write(at("b"), "text").unwrap();
        fs::create_dir(at("sub")).unwrap();
        assert!(is_same_file(&at("a"), &at("sub/../a")) && !is_same_file(&at("a"), &at("b")));
        assert!(is_same_file(&at("new"), &at("./sub/../new")) && !is_same_file(&at("new"), &at("newer")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
            fs::hard_link(at("a"), at("hard")).unwrap();
            std::os::unix::fs::symlink(at("sub"), at("way")).unwrap();
            assert!(["link", "hard", "way/../a"].iter().all(|name| is_same_file(&at(name), &at("a"))));
            assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")), "nothing is lost there");
        }
    }
}
