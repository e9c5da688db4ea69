//! Removal of temporary texts left behind by killed processes.

use std::{
    fs::{self, File},
    path::Path,
    sync::Once,
};

/// The prefix and suffix of the names of temporary texts, around six letters and digits.
pub(super) const PREFIX: &str = "senv-text-";
pub(super) const SUFFIX: &str = ".txt";

/// Removes the leftover texts in the folder for temporary files, once per process.
pub(crate) fn remove(folder: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| remove_from(folder));
}

/// Removes the texts that no process uses. A text that cannot be removed belongs to another user and stays.
fn remove_from(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let is_ours =
            middle.is_some_and(|middle| middle.len() == 6 && middle.bytes().all(|b| b.is_ascii_alphanumeric()));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) && !is_used(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a process has a text open. Processes of this version lock it, those of earlier versions only have it open.
fn is_used(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return true };
    let Ok(real) = fs::canonicalize(path) else { return true };
    // `is_open` would find this handle, too, so it is closed first.
    let is_unlocked = file.try_lock().is_ok();
    drop(file);
    !is_unlocked || is_open(&real)
}

#[cfg(target_os = "linux")]
fn is_open(path: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    // Folders that cannot be read belong to other users, whose texts cannot be removed.
    let files = processes.flatten().filter_map(|process| fs::read_dir(process.path().join("fd")).ok());
    files.flat_map(Iterator::flatten).any(|file| fs::read_link(file.path()).is_ok_and(|open| open == path))
}

/// It is not known who has the file open, so it counts as open for a week, longer than any run.
#[cfg(not(target_os = "linux"))]
fn is_open(path: &Path) -> bool {
    let age = fs::metadata(path).ok().and_then(|file| file.modified().ok()?.elapsed().ok());
    age.is_none_or(|age| age.as_secs() < 7 * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn texts_that_were_left_behind_go_and_those_in_use_and_all_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let left = ["senv-text-aB3dEf.txt", "senv-text-000000.txt"];
        let kept = ["senv-text-mine.txt", "senv-text-aB3dE-.txt", "senv-text-aB3dEf.csv", "my-senv-text-aB3dEf.txt"];
        let used = ["senv-text-opened.txt", "senv-text-locked.txt"];
        for name in left.iter().chain(&kept).chain(&used) {
            fs::write(at(name), "a secret").unwrap();
        }
        std::os::unix::fs::symlink(at("senv-text-mine.txt"), at("senv-text-linked.txt")).unwrap();
        let (_opened, locked) = (File::open(at(used[0])).unwrap(), File::open(at(used[1])).unwrap());
        locked.lock().unwrap();
        remove_from(folder.path());
        assert!(left.iter().all(|name| !at(name).exists()));
        assert!(kept.iter().chain(&used).all(|name| at(name).exists()));
        assert!(at("senv-text-linked.txt").is_symlink());
    }
}
