//! Reader of the STS benchmark.
//!
//! Cer et al., "SemEval-2017 Task 1: Semantic Textual Similarity", 2017, section 8.

use std::path::Path;

use crate::{Result, StsTask};

const EXPECTED: &str =
    "3 (score, sentence, sentence), or 7 or more (genre, file, year, id, score, sentence, sentence, sources)";

impl StsTask {
    /// Reads a set of the STS benchmark in any layout:
    ///
    /// * Lines of `score<TAB>sentence<TAB>sentence`.
    /// * The published `sts-*.csv`, which are separated by tabs: genre, file, year, id, score, sentence, sentence, and
    ///   source columns in some lines.
    /// * MTEB: one object per line with `score`, `sentence1` and `sentence2`.
    ///
    /// Quotes are ordinary characters. UTF-8, line ends and empty scores as in [`StsTask::read`].
    ///
    /// # Errors
    /// The errors of [`StsTask::read`].
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("sts-dev.csv");
    /// std::fs::write(&path, "main-news\theadlines\t2013\t0012\t3.600\t\"Rain\" in May\tMay is wet\n")?;
    /// let task = senv_data::StsTask::read_stsb(&path)?;
    /// assert_eq!((task.pairs[0].relatedness, &task.pairs[0].first[..]), (3.6, "\"Rain\" in May"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_stsb(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_lines(path.as_ref(), EXPECTED, |cells| match *cells {
            [score, first, second] | [_, _, _, _, score, first, second, ..] => Some([score, first, second]),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Scale, StsPair};

    fn read(text: &str) -> Result<StsTask> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sts-dev.csv");
        std::fs::write(&path, text).unwrap();
        StsTask::read_stsb(&path)
    }

    #[test]
    fn both_layouts_give_the_same_pairs() {
        let short = read("5\tA \"plane\tA jet's up\n0\tb\tc\n\td\te\n").unwrap();
        let published = "main-captions\tMSRvid\t2012test\t0024\t5.000\tA \"plane\tA jet's up\n\
            main-news\tx\t2014\t0\t0\tb\tc\tsource one\tsource two\nmain-news\tx\t2014\t0\t\td\te\n";
        let long = read(published).unwrap();
        assert_eq!(short.pairs, long.pairs);
        let object = |score: &str, first: &str, second: &str| {
            let first = serde_json::to_string(first).unwrap();
            format!("{{\"score\": {score}, \"sentence1\": {first}, \"sentence2\": \"{second}\"}}\n")
        };
        let objects = [("5.0", "A \"plane", "A jet's up"), ("0", "b", "c")].map(|(s, a, b)| object(s, a, b)).concat();
        assert_eq!(read(&objects).unwrap().pairs, short.pairs);
        assert_eq!((short.pairs.len(), short.n_unscored, long.n_unscored), (2, 1, 1));
        assert_eq!(
            short.pairs[0],
            StsPair { relatedness: 5.0, first: "A \"plane".into(), second: "A jet's up".into() }
        );
        assert_eq!((long.year, long.scale, &long.name[..]), (None, Scale::STS, "sts-dev"));
    }

    #[test]
    fn every_bad_line_is_named() {
        assert!(matches!(read("1\ta\tb\n2\ta\n"), Err(Error::WrongColumns { line: 2, got: 2, .. })));
        assert!(matches!(read("1\ta\tb\tc\n"), Err(Error::WrongColumns { line: 1, got: 4, .. })));
        assert!(matches!(read("g\tf\t2012\t1\t3\ta\n"), Err(Error::WrongColumns { line: 1, got: 6, .. })));
        assert!(matches!(read("1\ta\tb\n5.5\ta\tb\n"), Err(Error::GoldOutOfRange { line: 2, .. })));
        assert!(matches!(read("g\tf\t2012\t1\t-1\ta\tb\n"), Err(Error::GoldOutOfRange { line: 1, .. })));
        assert!(matches!(read("genre\tf\ty\tid\tscore\ta\tb\n"), Err(Error::GoldNotANumber { line: 1, .. })));
        assert!(matches!(read("\n"), Err(Error::NoScoredPairs { .. })));
    }
}
