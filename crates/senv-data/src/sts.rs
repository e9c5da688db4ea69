//! Reader of semantic textual similarity (STS) tasks.

use std::path::{Path, PathBuf};

use crate::{
    Error, Result, Scale,
    lines::for_each_line,
    objects::{self, Scored},
};

/// A pair of sentences with its gold score.
#[derive(Debug, Clone, PartialEq)]
pub struct StsPair {
    /// The gold score, on the scale of its task.
    pub relatedness: f64,
    /// The first sentence, as in the file.
    pub first: String,
    /// The second sentence.
    pub second: String,
}

/// One task, such as the headlines of 2014: its scored pairs, and the number of those left out.
#[derive(Debug, Clone, PartialEq)]
pub struct StsTask {
    /// The name, from the file name: `headlines` for `sts/2014/headlines.tsv`.
    pub name: String,
    /// The year, if the folder name is one (four digits); means are grouped by year.
    pub year: Option<u16>,
    /// The file.
    pub path: PathBuf,
    /// The scale of the gold scores: [`Scale::STS`] except for SICK.
    pub scale: Scale,
    /// The pairs with a gold score, in file order.
    pub pairs: Vec<StsPair>,
    /// The number of pairs without a gold score, which are dropped.
    pub n_unscored: usize,
    /// The number of empty sentences in the scored pairs; each is embedded as the zero vector.
    pub n_empty_sentences: usize,
}

impl StsTask {
    /// Reads a task in any layout; a file named `STS.input.NAME.txt` is read in the original one:
    ///
    /// * Lines of `gold<TAB>sentence<TAB>sentence`, without a header or quoting (a quote is an ordinary character).
    /// * MTEB: one object per line with `score`, `sentence1` and `sentence2`.
    /// * The original SemEval layout: `STS.input.NAME.txt` with two columns (or four, the last two with sources), and
    ///   `STS.gs.NAME.txt` in the same folder with one gold score per line.
    ///
    /// UTF-8 with line ends `\n` or `\r\n`. A byte-order mark, a missing last line end and empty last lines are
    /// accepted. A pair with an empty gold cell has no score: it is dropped and counted.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::GoldNotANumber`], [`Error::GoldOutOfRange`], [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] give the line. [`Error::GoldLineCount`] if the two files of the original layout differ in
    /// length; [`Error::NoScoredPairs`] if nothing is left; [`Error::Core`] if a file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("2014");
    /// # std::fs::create_dir(&folder)?;
    /// let path = folder.join("images.tsv");
    /// std::fs::write(&path, "4.4\tTwo trains on tracks.\tTrains on the tracks.\n\tNobody scored\tthis.\n")?;
    /// let task = senv_data::StsTask::read(&path)?;
    /// assert_eq!((task.name.as_str(), task.year), ("images", Some(2014)));
    /// assert_eq!((task.pairs.len(), task.n_unscored), (1, 1));
    /// assert_eq!(task.pairs[0].relatedness, 4.4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match semeval_gold_path(path) {
            Some(gold) => Self::read_semeval(path, gold),
            None => Self::read_tsv(path),
        }
    }

    /// Reads `gold<TAB>sentence<TAB>sentence` or objects, regardless of the file name.
    ///
    /// # Errors
    /// The errors of [`StsTask::read`].
    pub fn read_tsv(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_lines(path.as_ref(), "3 (gold, sentence, sentence)", |cells| match *cells {
            [gold, first, second] => Some([gold, first, second]),
            _ => None,
        })
    }

    /// Reads objects, or lines in which `cells` finds gold score and sentences; `expected` describes its columns.
    pub(crate) fn read_lines(
        path: &Path,
        expected: &'static str,
        cells: impl for<'t> Fn(&[&'t str]) -> Option<[&'t str; 3]>,
    ) -> Result<Self> {
        let mut task = Self::empty(path, Scale::STS);
        let (mut blank, mut has_objects) = (Blank::default(), false);
        for_each_line(path, |line, text| {
            has_objects |= objects::is_object(line, text);
            if blank.skips(path, line, text, expected)? {
                return Ok(());
            }
            if has_objects {
                return task.push_object(path, line, text);
            }
            let Some([gold, first, second]) = cells(&text.split('\t').collect::<Vec<_>>()) else {
                return Err(wrong_columns(path, line, text, expected));
            };
            task.push(parse_gold(path, line, gold, Scale::STS)?, first, second);
            Ok(())
        })?;
        task.checked()
    }

    /// Reads the original SemEval layout: a file of sentence pairs and a file of gold scores, line by line.
    ///
    /// # Errors
    /// The errors of [`StsTask::read`].
    pub fn read_semeval(input: impl AsRef<Path>, gold: impl AsRef<Path>) -> Result<Self> {
        const EXPECTED: &str = "2 (sentence, sentence), or 4 (with their sources)";
        let (input, gold) = (input.as_ref(), gold.as_ref());
        let mut scores = Vec::new();
        for_each_line(gold, |line, text| {
            scores.push(parse_gold(gold, line, text, Scale::STS)?);
            Ok(())
        })?;
        let mut task = Self::empty(input, Scale::STS);
        let (mut blank, mut n_pairs) = (Blank::default(), 0);
        for_each_line(input, |line, text| {
            if blank.skips(input, line, text, EXPECTED)? {
                return Ok(());
            }
            let columns: Vec<&str> = text.split('\t').take(5).collect();
            let ([first, second] | [first, second, _, _]) = columns[..] else {
                return Err(wrong_columns(input, line, text, EXPECTED));
            };
            // A gold file that is too short is reported below, with both counts.
            task.push(scores.get(n_pairs).copied().flatten(), first, second);
            n_pairs += 1;
            Ok(())
        })?;
        if scores.len() < n_pairs || scores[n_pairs..].iter().any(Option::is_some) {
            return Err(Error::GoldLineCount {
                input: input.to_owned(),
                gold: gold.to_owned(),
                n_pairs: n_pairs as u64,
                n_scores: scores.len() as u64,
            });
        }
        task.checked()
    }

    /// Year and name as in reports: `2014 headlines`, or only the name.
    #[must_use]
    pub fn label(&self) -> String {
        task_label(self.year, &self.name)
    }

    /// The gold scores, pair by pair.
    #[must_use]
    pub fn gold(&self) -> Vec<f64> {
        self.pairs.iter().map(|pair| pair.relatedness).collect()
    }

    /// Creates a task of this file, without pairs.
    pub(crate) fn empty(path: &Path, scale: Scale) -> Self {
        let (name, year) = name_and_year(path);
        Self { name, year, path: path.to_owned(), scale, pairs: Vec::new(), n_unscored: 0, n_empty_sentences: 0 }
    }

    pub(crate) fn push(&mut self, relatedness: Option<f64>, first: &str, second: &str) {
        let Some(relatedness) = relatedness else {
            self.n_unscored += 1;
            return;
        };
        self.n_empty_sentences += [first, second].iter().filter(|s| s.trim().is_empty()).count();
        self.pairs.push(StsPair { relatedness, first: first.to_owned(), second: second.to_owned() });
    }

    /// Adds a pair from MTEB.
    pub(crate) fn push_object(&mut self, path: &Path, line: u64, text: &str) -> Result<()> {
        let object: Scored<'_> = objects::parse(path, line, text, "sentence1, sentence2 and score")?;
        let score = parse_gold(path, line, &objects::cell(&object.score), self.scale)?;
        self.push(score, &object.sentence1, &object.sentence2);
        Ok(())
    }

    pub(crate) fn checked(self) -> Result<Self> {
        if self.pairs.is_empty() {
            return Err(Error::NoScoredPairs { path: self.path, unscored: self.n_unscored });
        }
        Ok(self)
    }
}

/// Year and name of a task in one string: `2014 headlines`, or only the name.
#[must_use]
pub fn task_label(year: Option<u16>, name: &str) -> String {
    year.map_or_else(|| name.to_owned(), |year| format!("{year} {name}"))
}

/// Counts empty lines, which are skipped only at the end of a file.
#[derive(Default)]
pub(crate) struct Blank {
    first: Option<u64>,
}

impl Blank {
    pub(crate) fn skips(&mut self, path: &Path, line: u64, text: &str, expected: &'static str) -> Result<bool> {
        if text.is_empty() {
            self.first.get_or_insert(line);
            return Ok(true);
        }
        match self.first {
            Some(line) => Err(wrong_columns(path, line, "", expected)),
            None => Ok(false),
        }
    }
}

pub(crate) fn wrong_columns(path: &Path, line: u64, text: &str, expected: &'static str) -> Error {
    let got = if text.is_empty() { 0 } else { text.split('\t').count() };
    Error::WrongColumns { path: path.to_owned(), line, got, expected }
}

/// The gold score of a cell; `None` if it is empty.
pub(crate) fn parse_gold(path: &Path, line: u64, cell: &str, scale: Scale) -> Result<Option<f64>> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Ok(None);
    }
    let value = cell.parse().ok().filter(|value: &f64| value.is_finite());
    let Some(value) = value else {
        let got = cell.chars().take(40).collect();
        return Err(Error::GoldNotANumber { path: path.to_owned(), line, got, scale });
    };
    if !scale.contains(value) {
        return Err(Error::GoldOutOfRange { path: path.to_owned(), line, got: value, scale });
    }
    Ok(Some(value))
}

/// Returns `.../STS.gs.NAME.txt` for `.../STS.input.NAME.txt` (the prefix can contain a year:
/// `STS2016.input.NAME.txt`).
fn semeval_gold_path(path: &Path) -> Option<PathBuf> {
    let (prefix, rest) = path.file_name()?.to_str()?.split_once(".input.")?;
    (prefix.starts_with("STS") && rest.ends_with(".txt")).then(|| path.with_file_name(format!("{prefix}.gs.{rest}")))
}

/// The name and year of a task, from its file and folder.
fn name_and_year(path: &Path) -> (String, Option<u16>) {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| year(folder.to_str()?));
    match stem.split_once(".input.") {
        Some((prefix, rest)) if semeval_gold_path(path).is_some() => {
            // Tasks that were unknown to the 2012 participants have names like "surprise.OnWN".
            let name = rest.strip_prefix("surprise.").unwrap_or(rest);
            (name.to_owned(), folder.or_else(|| year(prefix.strip_prefix("STS")?)))
        }
        _ => (stem, folder),
    }
}

/// Parses a name of exactly four digits as a year.
fn year(name: &str) -> Option<u16> {
    (name.len() == 4 && name.bytes().all(|b| b.is_ascii_digit())).then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with these files.
    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn read(text: &str) -> Result<StsTask> {
        let folder = folder(&[("task.tsv", text.as_bytes())]);
        StsTask::read(folder.path().join("task.tsv"))
    }

    #[test]
    fn a_task_is_read_whatever_its_line_ends() {
        let plain = "5\tA \"b\t c\n\tx\ty\n0.5\t\td\n";
        let task = read(plain).unwrap();
        assert_eq!(task.pairs.len(), 2);
        assert_eq!(task.pairs[0], StsPair { relatedness: 5.0, first: "A \"b".into(), second: " c".into() });
        assert_eq!((task.n_unscored, task.n_empty_sentences, task.year), (1, 1, None));
        let pairs = task.pairs;
        for text in [
            plain.replace('\n', "\r\n"),
            format!("\u{feff}{plain}"),
            plain.trim_end().to_owned(),
            format!("{plain}\n\r\n\n"),
        ] {
            assert_eq!(read(&text).unwrap().pairs, pairs, "{text:?}");
        }
    }

    #[test]
    fn name_and_year_come_from_the_path() {
        let of = |path: &str| name_and_year(Path::new(path));
        assert_eq!(of("sts/2014/deft-news.tsv"), ("deft-news".into(), Some(2014)));
        assert_eq!(of("sts/2012-train/MSRvid.tsv"), ("MSRvid".into(), None));
        assert_eq!(of("OnWN.tsv"), ("OnWN".into(), None));
        assert_eq!(of("2012/STS.input.surprise.OnWN.txt"), ("OnWN".into(), Some(2012)));
        assert_eq!(of("x/STS2016.input.plagiarism.txt"), ("plagiarism".into(), Some(2016)));
        assert_eq!(of("x/notes.input.y.txt"), ("notes.input.y".into(), None));
    }

    #[test]
    fn the_original_layout_is_joined_line_by_line() {
        let folder = folder(&[
            ("2013/STS.input.FNWN.txt", b"a\tb\nc\td\tsource\tsource\ne\tf\n"),
            ("2013/STS.gs.FNWN.txt", b"1.5\n\n4\n"),
            ("last/STS.input.x.txt", b"a\tb\nc\td\n\n"),
            ("last/STS.gs.x.txt", b"1\n\n\n\n"),
        ]);
        let task = StsTask::read(folder.path().join("2013/STS.input.FNWN.txt")).unwrap();
        assert_eq!((task.label(), task.n_unscored), ("2013 FNWN".to_owned(), 1));
        let seen: Vec<_> = task.pairs.iter().map(|p| (p.relatedness, &p.first[..], &p.second[..])).collect();
        assert_eq!(seen, [(1.5, "a", "b"), (4.0, "e", "f")]);
        let task = StsTask::read(folder.path().join("last/STS.input.x.txt")).unwrap();
        assert_eq!((task.pairs.len(), task.n_unscored), (1, 1));
    }

    #[test]
    fn files_of_the_original_layout_must_match() {
        let folder = folder(&[
            ("STS.input.short.txt", b"a\tb\nc\td\n"),
            ("STS.gs.short.txt", b"1\n"),
            ("STS.input.long.txt", b"a\tb\n"),
            ("STS.gs.long.txt", b"1\n\n2\n"),
            ("STS.input.three.txt", b"a\tb\tc\n"),
            ("STS.gs.three.txt", b"1\n"),
            ("STS.input.alone.txt", b"a\tb\n"),
        ]);
        let read = |name: &str| StsTask::read(folder.path().join(format!("STS.input.{name}.txt"))).unwrap_err();
        assert!(matches!(read("short"), Error::GoldLineCount { n_pairs: 2, n_scores: 1, .. }));
        assert!(matches!(read("long"), Error::GoldLineCount { n_pairs: 1, n_scores: 3, .. }));
        assert!(matches!(read("three"), Error::WrongColumns { line: 1, got: 3, .. }));
        assert!(matches!(read("alone"), Error::Core(senv_core::Error::Io { action: "open", .. })));
    }

    #[test]
    fn the_objects_of_mteb_are_read() {
        let object = |score: &str| format!("{{\"sentence2\": \"b\\t\", \"score\": {score}, \"sentence1\": \"a\"}}\n");
        let task = read(&[object("4.5"), object("\"2\""), object("null")].concat()).unwrap();
        let seen: Vec<_> = task.pairs.iter().map(|p| (p.relatedness, &p.first[..], &p.second[..])).collect();
        assert_eq!((seen, task.n_unscored), (vec![(4.5, "a", "b\t"), (2.0, "a", "b\t")], 1));
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(message(&object("7")).contains("task.tsv:1: the gold score 7 is outside the scale 0 to 5"));
        assert!(message(&object("true")).contains("the gold score \"true\" is not a number"));
        let missing = message("{\"sentence1\": \"a\", \"score\": 1}\n");
        assert!(missing.contains("missing field `sentence2`") && missing.contains("give an object with sentence1"));
    }

    #[test]
    fn every_bad_line_is_named_with_its_number_and_the_way_out() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        let two = message("1\ta\tb\n2\tonly\n");
        assert!(two.contains("task.tsv:2: found 2 tab-separated columns, expected 3"), "{two}");
        assert!(matches!(read("1\ta\tb\tc\n"), Err(Error::WrongColumns { line: 1, got: 4, .. })));
        assert!(matches!(read("1\ta\tb\n\n2\tc\td\n"), Err(Error::WrongColumns { line: 2, got: 0, .. })));
        let word = message("1\ta\tb\nscore\ta\tb\n");
        assert!(word.contains("task.tsv:2: the gold score \"score\" is not a number"), "{word}");
        for cell in ["nan", "inf", "1,5", "4.0x"] {
            assert!(matches!(read(&format!("{cell}\ta\tb\n")), Err(Error::GoldNotANumber { line: 1, .. })), "{cell}");
        }
        for cell in ["-0.001", "5.001"] {
            assert!(matches!(read(&format!("{cell}\ta\tb\n")), Err(Error::GoldOutOfRange { line: 1, .. })), "{cell}");
        }
        for cell in ["0", "5", "-0", " 2.5 "] {
            assert!(read(&format!("{cell}\ta\tb\n")).is_ok(), "{cell}");
        }
    }

    #[test]
    fn a_file_without_scored_pairs_is_refused() {
        assert!(matches!(read(""), Err(Error::NoScoredPairs { unscored: 0, .. })));
        assert!(matches!(read("\n\n"), Err(Error::NoScoredPairs { unscored: 0, .. })));
        assert!(matches!(read("\ta\tb\n \tc\td\n"), Err(Error::NoScoredPairs { unscored: 2, .. })));
    }
}
