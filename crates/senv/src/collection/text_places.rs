//! Where the sentences of text files stand.

use std::path::{Path, PathBuf};

use senv_core::text::Line;

/// The positions of sentences with ids; runs of consecutive lines in a file need no memory per sentence.
#[derive(Default)]
pub(super) struct Places {
    files: Vec<PathBuf>,
    /// The first sentence of each run, its file, and its line.
    runs: Vec<(u64, usize, u64)>,
}

impl Places {
    pub(super) fn push(&mut self, row: u64, line: &Line<'_>) {
        if self.files.last().is_none_or(|file| file != line.path) {
            self.files.push(line.path.to_owned());
        }
        let file = self.files.len() - 1;
        let goes_on =
            self.runs.last().is_some_and(|&(first, of, number)| of == file && number + (row - first) == line.number);
        if !goes_on {
            self.runs.push((row, file, line.number));
        }
    }

    /// File and line of a sentence.
    pub(super) fn of(&self, row: u64) -> Option<(&Path, u64)> {
        let run = self.runs.partition_point(|&(first, ..)| first <= row).checked_sub(1)?;
        let (first, file, number) = self.runs[run];
        Some((&self.files[file], number + (row - first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_sentence_is_found_again() {
        let mut places = Places::default();
        for (row, (file, number)) in
            [("a", 1), ("a", 2), ("a", 4), ("a", 5), ("b", 6), ("b", 7)].into_iter().enumerate()
        {
            places.push(row as u64, &Line { text: "", path: Path::new(file), number, record: None });
        }
        assert_eq!(places.runs.len(), 3);
        let of = |row| places.of(row).map(|(path, line)| (path.to_str().unwrap(), line)).unwrap();
        assert_eq!(
            [of(0), of(1), of(2), of(3), of(4), of(5)],
            [("a", 1), ("a", 2), ("a", 4), ("a", 5), ("b", 6), ("b", 7)]
        );
        assert!(Places::default().of(0).is_none());
    }
}
