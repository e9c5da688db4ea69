//! Whether two paths lead to one file: through other spellings, symbolic links and hard links.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::text::is_dash;

/// Whether two paths lead to one file, or would where it is not there yet.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    a == b || is_same_as(a, b)
}

/// Whether an input is the file that an output names. Devices and pipes are never the same: nothing of them is lost.
pub(super) fn is_same_as(input: &Path, output: &Path) -> bool {
    let (input, output) = (following(input, "/dev/stdin"), following(output, "/dev/stdout"));
    if [&input, &output].into_iter().any(|path| fs::metadata(path).is_ok_and(|file| !file.is_file())) {
        return false;
    }
    let inodes = inode(&input).zip(inode(&output));
    if inodes.is_some_and(|(a, b)| a == b) {
        return true;
    }
    matches!((real(&input), real(&output)), (Some(a), Some(b)) if a == b)
}

/// The path, or for `-` that of the open file it stands for.
fn following(path: &Path, dash: &str) -> PathBuf {
    if is_dash(path) { dash.into() } else { path.to_owned() }
}

/// The path without links; of a file that is not there yet, that of its folder with its name.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    })
}

/// Device and number of an existing file, which hard links share.
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
        assert!(is_same(&at("a"), &at("sub/../a")) && !is_same(&at("a"), &at("b")));
        assert!(is_same(&at("new"), &at("./sub/../new")) && !is_same(&at("new"), &at("newer")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
            fs::hard_link(at("a"), at("hard")).unwrap();
            std::os::unix::fs::symlink(at("sub"), at("way")).unwrap();
            assert!(["link", "hard", "way/../a"].iter().all(|name| is_same(&at(name), &at("a"))));
            assert!(!is_same_as(Path::new("/dev/null"), Path::new("/dev/null")), "nothing is lost there");
        }
    }
}
