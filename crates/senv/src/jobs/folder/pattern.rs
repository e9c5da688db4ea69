//! Expands names with `*` and `?` to files.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use crate::error::Result;

/// The files that a name matches. That is the file itself or, if there is none and the name has `*` (any characters) or
/// `?` (one character), the files with matching names, sorted. Names that start with a dot match only a pattern that
/// does. Shells expand patterns before a program sees them; a quoted pattern also works if the names are too many for a
/// command line.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name);
/// for name in ["b.txt", "a.txt", "a.csv"] {
///     std::fs::write(at(name), "")?;
/// }
/// assert_eq!(senv::jobs::files_of_pattern(at("*.txt"))?, [at("a.txt"), at("b.txt")]);
/// assert!(senv::jobs::files_of_pattern(at("*.parquet")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::BadFile`] if no file matches; [`senv_core::Error::Io`] if a folder cannot be read.
pub fn files_of_pattern(pattern: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let pattern = pattern.as_ref();
    if !is_pattern(&pattern.to_string_lossy()) || pattern.symlink_metadata().is_ok() {
        return Ok(vec![pattern.to_owned()]);
    }
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let Component::Normal(name) = component else {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        };
        let name = name.to_string_lossy();
        // An existing folder is not a pattern either.
        if !is_pattern(&name) || found.iter().all(|folder| folder.join(&*name).exists()) {
            found.iter_mut().for_each(|path| path.push(&*name));
            continue;
        }
        let wanted: Vec<char> = name.chars().collect();
        let mut next = Vec::new();
        for folder in &found {
            let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            if !shown.is_dir() {
                continue;
            }
            for entry in fs::read_dir(shown).map_err(|e| senv_core::Error::io("read", shown, e))? {
                let file = entry.map_err(|e| senv_core::Error::io("read", shown, e))?.file_name();
                // Invalid UTF-8 in a name becomes one replacement character per sequence; reading the file reports the
                // problem.
                let text = file.to_string_lossy();
                if text.starts_with('.') <= name.starts_with('.') && fits(&wanted, &text.chars().collect::<Vec<_>>()) {
                    next.push(folder.join(&file));
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.is_file());
    found.sort();
    if found.is_empty() {
        let reason = "no file matches this pattern (* matches any characters, ? matches one)".into();
        return Err(senv_core::Error::BadFile { path: pattern.to_owned(), reason }.into());
    }
    Ok(found)
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Whether a name matches a pattern. If a star took too little, it takes one more character.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_fit_as_in_a_shell() {
        let fits = |pattern: &str, name: &str| {
            super::fits(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "abc", true),
            ("a*c", "abbc", true),
            ("a*c", "abcb", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*aab", "aaaab", true),
            ("a?c", "aéc", true),
            ("a?c", "ac", false),
            ("", "a", false),
            ("***", "x", true),
            ("part-*.txt", "part-1.txt.gz", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn folders_have_patterns_too_and_a_file_that_is_there_is_no_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["2024/a.txt", "2025/b.txt", "2025/.hidden.txt", "other/c.txt", "2024/sub.txt/d"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "").unwrap();
        }
        assert_eq!(files_of_pattern(at("20??/*.txt")).unwrap(), [at("2024/a.txt"), at("2025/b.txt")]);
        assert_eq!(files_of_pattern(at("2025/.*")).unwrap(), [at("2025/.hidden.txt")]);
        fs::write(at("what?"), "").unwrap();
        assert_eq!(files_of_pattern(at("what?")).unwrap(), [at("what?")]);
        assert_eq!(files_of_pattern("absent.txt").unwrap(), [PathBuf::from("absent.txt")]);
        #[cfg(target_os = "linux")]
        {
            use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
            let odd = at("2025").join(OsStr::from_bytes(b"b\xff.txt"));
            fs::write(&odd, "").unwrap();
            assert_eq!(files_of_pattern(at("2025/*.txt")).unwrap(), [at("2025/b.txt"), odd]);
        }
        fs::create_dir(at("20?4")).unwrap();
        fs::write(at("20?4/e.txt"), "").unwrap();
        assert_eq!(files_of_pattern(at("20?4/*")).unwrap(), [at("20?4/e.txt")]);
        let error = files_of_pattern(at("20??/*.csv")).unwrap_err().to_string();
        assert!(error.contains("no file matches"), "{error}");
    }
}
