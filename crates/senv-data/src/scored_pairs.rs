//! Reader of scored pairs in any layout, for training and model selection.
//!
//! Training compares scores only with each other and takes them on any scale, so a pair without a score is an error
//! here. The readers of published sets, [`StsTask`] and [`SickSet`](crate::SickSet), know the scale and count such
//! pairs.

use std::path::Path;

use crate::{
    Error, Result, StsTask,
    lines::for_each_line,
    sick::{SickLines, is_sick},
    sts::Blank,
};

/// Scored pairs of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPairs {
    /// The file name.
    pub name: String,
    /// Score, first and second sentence.
    pub pairs: Vec<(f64, String, String)>,
}

impl ScoredPairs {
    /// Reads scored pairs in either layout, detected from the first line:
    ///
    /// * Lines of `score<TAB>sentence<TAB>sentence`, without a header; more columns can follow. A score is any finite
    ///   number.
    /// * SICK with or without its header, as in [`SickSet::read`](crate::SickSet::read): scores are 1 to 5, and pairs
    ///   without one are left out.
    ///
    /// UTF-8 and line ends as in [`StsTask::read`]. The file is read once, so it can be a pipe.
    ///
    /// # Errors
    /// [`Error::TooFewColumns`], [`Error::ScoreNotANumber`], [`Error::InvalidUtf8`] and [`Error::LineTooLong`] give the
    /// line; the errors of [`SickSet::read`](crate::SickSet::read); [`Error::TooFewPairs`] below two pairs;
    /// [`Error::Core`] if the file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("dev.tsv");
    /// std::fs::write(&path, "0.9\tA dog runs\tA dog is running\n0.1\tA cat\tSnow falls\n")?;
    /// let dev = senv_data::ScoredPairs::read(&path)?;
    /// assert_eq!(dev.pairs[1], (0.1, "A cat".into(), "Snow falls".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut read = Self { name: path.display().to_string(), pairs: Vec::new() };
        let (mut sick, mut blank) = (None, Blank::default());
        for_each_line(path, |line, text| {
            if line == 1 && is_sick(text) {
                sick = Some(SickLines::new(path));
            }
            match &mut sick {
                Some(sick) => sick.add(path, line, text),
                None if blank.skips(path, line, text, "3 (score, sentence, sentence)")? => Ok(()),
                None => read.add(path, line, text),
            }
        })?;
        if let Some(sick) = sick {
            read = sick.finish()?.task.into();
        }
        if read.pairs.len() < 2 {
            return Err(Error::TooFewPairs { path: path.to_owned(), n: read.pairs.len() });
        }
        Ok(read)
    }

    /// Adds a line of score and sentences.
    fn add(&mut self, path: &Path, line: u64, text: &str) -> Result<()> {
        let mut cells = text.split('\t');
        let (Some(score), Some(first), Some(second)) = (cells.next(), cells.next(), cells.next()) else {
            return Err(Error::TooFewColumns { path: path.to_owned(), line, got: text.split('\t').count() });
        };
        let Some(value) = score.trim().parse().ok().filter(|value: &f64| value.is_finite()) else {
            let got = score.chars().take(40).collect();
            return Err(Error::ScoreNotANumber { path: path.to_owned(), line, got });
        };
        self.pairs.push((value, first.to_owned(), second.to_owned()));
        Ok(())
    }
}

/// The pairs of a task, with the name of its file.
impl From<StsTask> for ScoredPairs {
    fn from(task: StsTask) -> Self {
        let pairs = task.pairs.into_iter().map(|pair| (pair.relatedness, pair.first, pair.second));
        Self { name: task.path.display().to_string(), pairs: pairs.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ScoredPairs> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dev.tsv");
        std::fs::write(&path, text).unwrap();
        ScoredPairs::read(&path)
    }

    #[test]
    fn both_layouts_give_the_same_pairs() {
        let plain = read("4.5\tA dog runs\tA \"dog\n1\tA cat\tSnow\tmore\t\n").unwrap().pairs;
        assert_eq!(plain, [(4.5, "A dog runs".into(), "A \"dog".into()), (1.0, "A cat".to_owned(), "Snow".to_owned())]);
        let header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n";
        for sick in [
            "4.5\tENTAILMENT\tA dog runs\tA \"dog\n\tNEUTRAL\tx\ty\n1\tneutral\tA cat\tSnow\n",
            "\tNEUTRAL\tx\ty\n4.5\tENTAILMENT\tA dog runs\tA \"dog\n1\tneutral\tA cat\tSnow\n",
            &format!("{header}1\tA dog runs\tA \"dog\t4.5\tENTAILMENT\n2\tA cat\tSnow\t1\tNEUTRAL\n"),
        ] {
            assert_eq!(read(sick).unwrap().pairs, plain, "{sick:?}");
        }
        assert_eq!(read("2\ta\tb\r\n1\tc\td\r\n\r\n\n").unwrap().pairs.len(), 2, "empty lines at the end");
        // Any scale, and words that are labels in SICK.
        let other = read("-70\tneutral, he said\tb\n1e3\tentailment\tb\n").unwrap().pairs;
        assert_eq!(other.iter().map(|pair| pair.0).collect::<Vec<_>>(), [-70.0, 1e3]);
    }

    #[test]
    fn bad_lines_are_named_and_one_pair_is_too_few() {
        for (text, expected) in [
            ("1\ta\n", "dev.tsv:1: found 2 columns, expected three"),
            ("1\n", "dev.tsv:1: found 1 column, expected three"),
            ("1\ta\tb\n\n1\ta\tb\n", "dev.tsv:2: found 0 tab-separated columns, expected 3"),
            ("1\ta\tb\nx\tc\td\n", "dev.tsv:2: the score \"x\" is not a finite number"),
            ("1\ta\tb\n\tc\td\n", "dev.tsv:2: the score \"\" is not a finite number"),
            ("inf\ta\tb\n1\ta\tb\n", "dev.tsv:1: the score \"inf\" is not a finite number"),
            ("3\tNEUTRAL\ta\tb\n6\tNEUTRAL\ta\tb\n", "dev.tsv:2: the gold score 6 is outside the scale 1 to 5"),
            ("3\tNEUTRAL\ta\n", "dev.tsv:1: found 3 tab-separated columns, expected 4"),
            ("1\ta\tb\n", "dev.tsv: 1 scored pairs; a correlation needs at least two"),
            ("1\tNEUTRAL\ta\tb\n", "at least two"),
            ("", "at least two"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected:?} is missing in: {error}");
        }
    }
}
