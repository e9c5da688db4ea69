//! Hidden files that vectors are written to until the output is complete.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// End of their names. A store that writes in pieces appends `#` and a number.
const ENDING: &str = ".part";
/// Age without a write after which a file counts as abandoned. Other processes may be encoding into the same folder.
const LEFT_FOR: Duration = Duration::from_secs(3600);

/// Where this attempt at `name` is written. A task of the previous attempt may still be writing, so each attempt has
/// its own file.
pub(crate) fn path(folder: &Path, name: &str, attempt: usize) -> PathBuf {
    folder.join(format!(".{name}.{}-{attempt}{ENDING}", std::process::id()))
}

/// Removes abandoned unfinished files of the given outputs from a folder.
pub(crate) fn remove_left(folder: &Path, names: &[String]) {
    let is_old = |file: &fs::DirEntry| {
        let written = file.metadata().ok().filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        written.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|ago| ago >= LEFT_FOR)
    };
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_part = file.file_name().to_str().and_then(name_of).is_some_and(|name| names.iter().any(|n| n == name));
        if is_part && is_old(&file) {
            // A file that cannot be removed only takes up space, and is tried again next time.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// The name of the output that an unfinished file belongs to.
fn name_of(part: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, piece) = part.strip_prefix('.')?.rsplit_once(ENDING)?;
    let (name, attempt) = rest.rsplit_once('.')?;
    let (process, attempt) = attempt.split_once('-')?;
    let is_piece = piece.is_empty() || piece.strip_prefix('#').is_some_and(is_number);
    (is_piece && is_number(process) && is_number(attempt)).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn only_old_parts_of_the_same_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names = [".a.parquet.7-1.part", ".a.parquet.7-2.part#1", ".b.parquet.7-1.part", ".a.parquet.x-1.part"];
        let others = ["a.parquet", ".a.parquet.part", ".a.parquet.8-1.part"];
        for name in names.iter().chain(&others) {
            let file = File::create(folder.path().join(name)).unwrap();
            if *name != ".a.parquet.8-1.part" {
                file.set_modified(SystemTime::now() - 2 * LEFT_FOR).unwrap();
            }
        }
        remove_left(folder.path(), &["a.parquet".to_owned()]);
        let left = names[2..].iter().chain(&others);
        assert!(left.clone().all(|name| folder.path().join(name).exists()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), left.count());
        assert_eq!(path(Path::new(""), "a", 3).to_str().and_then(name_of), Some("a"));
    }
}
