//! Reader of classified sentences: MR, CR, SUBJ and MPQA (sentiment, subjectivity), TREC (question types).
//!
//! These are the classification sets of Conneau and Kiela, "SentEval", LREC 2018.

use std::path::{Path, PathBuf};

use crate::{
    Error, Result,
    lines::{for_each_line, for_each_line_or_latin1},
    objects::{self, LabeledText},
    sts::{Blank, wrong_columns},
};

const EXPECTED: &str = "2 (label and sentence), or LABEL:FINE and the sentence as in TREC";

/// SentEval's files with one class each: the extensions, which are the names of the classes.
const FILES_OF_A_CLASS: [[&str; 2]; 2] = [["neg", "pos"], ["subjective", "objective"]];

/// A sentence and its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledSentence {
    /// The class, an index into [`LabeledSet::classes`].
    pub class: usize,
    /// The sentence, as in the file.
    pub text: String,
}

/// A set of classified sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabeledSet {
    /// The file that was opened, even if the set has several.
    pub path: PathBuf,
    /// The names of the classes, in alphabetical order.
    pub classes: Vec<String>,
    /// The sentences, in the order of the files.
    pub sentences: Vec<LabeledSentence>,
    /// Sentences without text; each is embedded as the zero vector.
    pub n_empty: usize,
}

impl LabeledSet {
    /// Reads a set in any layout, detected from the file name and the first line:
    ///
    /// * Lines of `label<TAB>sentence`, without a header.
    /// * A file with the extension `.pos` or `.neg` (`.objective` or `.subjective`), with its counterpart in the same
    ///   folder and one sentence per line, like SentEval's MR, CR, MPQA and SUBJ.
    /// * TREC: `LABEL:FINE sentence`, where LABEL is the class.
    /// * MTEB: one object per line with `text` and `label`, a number or a name.
    ///
    /// SentEval's and TREC's own files can be in ISO 8859-1, as published: their lines that are not UTF-8 are read as
    /// ISO 8859-1. A sentence after its label can be empty (MPQA has some). Empty lines are skipped in files of one
    /// class, and at the end of others.
    ///
    /// # Errors
    /// [`Error::WrongColumns`], [`Error::BadObject`], [`Error::EmptyCell`] (no label), [`Error::InvalidUtf8`] and
    /// [`Error::LineTooLong`] give the line; [`Error::NoSentences`]; [`Error::Core`] if a file cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("TREC_10.label");
    /// std::fs::write(&path, "NUM:dist How far is it ?\nLOC:city Where ?\n")?;
    /// let set = senv_data::LabeledSet::read(&path)?;
    /// assert_eq!((&set.classes[1][..], set.sentences[0].class), ("NUM", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match files_of_classes(path) {
            Some(files) => Self::read_classes(path, &files),
            None => Self::read_lines(path),
        }
    }

    /// Creates a set from pairs of a class name and a sentence. `path` is the file that they are from.
    ///
    /// # Errors
    /// [`Error::NoSentences`] without a sentence.
    ///
    /// # Examples
    /// ```
    /// let texts = vec![("refund".to_owned(), "Where is my money?".to_owned())];
    /// let set = senv_data::LabeledSet::from_texts("tickets.csv", texts)?;
    /// assert_eq!((&set.classes[0][..], set.sentences[0].class), ("refund", 0));
    /// # Ok::<(), senv_data::Error>(())
    /// ```
    pub fn from_texts(path: impl AsRef<Path>, sentences: Vec<(String, String)>) -> Result<Self> {
        Self::new(path.as_ref(), sentences)
    }

    fn new(path: &Path, sentences: Vec<(String, String)>) -> Result<Self> {
        if sentences.is_empty() {
            let expected = "lines of label and sentence, separated by a tab";
            return Err(Error::NoSentences { path: path.to_owned(), expected });
        }
        let mut classes: Vec<String> = sentences.iter().map(|(label, _)| label.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let class = |label: String| classes.binary_search(&label).unwrap_or_default();
        let sentences: Vec<LabeledSentence> =
            sentences.into_iter().map(|(label, text)| LabeledSentence { class: class(label), text }).collect();
        let n_empty = sentences.iter().filter(|sentence| sentence.text.trim().is_empty()).count();
        Ok(Self { path: path.to_owned(), classes, sentences, n_empty })
    }

    fn read_classes(path: &Path, files: &[(&str, PathBuf)]) -> Result<Self> {
        let mut sentences = Vec::new();
        for (label, file) in files {
            for_each_line_or_latin1(file, |_, text| {
                if !text.trim().is_empty() {
                    sentences.push(((*label).to_owned(), text.to_owned()));
                }
                Ok(())
            })?;
        }
        Self::new(path, sentences)
    }

    fn read_lines(path: &Path) -> Result<Self> {
        let mut sentences = Vec::new();
        let (mut blank, mut has_objects) = (Blank::default(), false);
        let each = |line: u64, text: &str| -> Result<()> {
            has_objects |= objects::is_object(line, text);
            if blank.skips(path, line, text, EXPECTED)? {
                return Ok(());
            }
            let (label, sentence) = if has_objects {
                let object: LabeledText<'_> = objects::parse(path, line, text, "text and label")?;
                (objects::cell(&object.label).into_owned(), object.text.into_owned())
            } else {
                let (label, sentence) = cells(text).ok_or_else(|| wrong_columns(path, line, text, EXPECTED))?;
                (label.to_owned(), sentence.to_owned())
            };
            if label.is_empty() {
                return Err(Error::EmptyCell { path: path.to_owned(), line, what: "label" });
            }
            sentences.push((label, sentence));
            Ok(())
        };
        // TREC's own files.
        if path.extension().is_some_and(|ending| ending == "label") {
            for_each_line_or_latin1(path, each)?;
        } else {
            for_each_line(path, each)?;
        }
        Self::new(path, sentences)
    }
}

/// The label and the sentence of a line.
fn cells(text: &str) -> Option<(&str, &str)> {
    if let Some((label, sentence)) = text.split_once('\t') {
        return (!sentence.contains('\t')).then_some((label.trim(), sentence));
    }
    let (labels, sentence) = text.split_once(' ')?;
    let (label, fine) = labels.split_once(':')?;
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric());
    (is_label(label) && is_label(fine)).then_some((label, sentence))
}

/// The files of one class each that belong to this one, with their classes; `None` if it is not such a file.
fn files_of_classes(path: &Path) -> Option<Vec<(&'static str, PathBuf)>> {
    let ending = path.extension()?.to_str()?;
    let classes = FILES_OF_A_CLASS.into_iter().find(|classes| classes.contains(&ending))?;
    Some(classes.map(|class| (class, path.with_extension(class))).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<LabeledSet> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        LabeledSet::read(folder.path().join(name))
    }

    fn parts(set: &LabeledSet) -> Vec<(&str, &str)> {
        set.sentences.iter().map(|s| (&set.classes[s.class][..], &s.text[..])).collect()
    }

    #[test]
    fn all_layouts_give_labels_and_sentences() {
        let tabs = read("all.tsv", "1\tgood \"film\n0\tbad\n1\t\n\n").unwrap();
        assert_eq!(parts(&tabs), [("1", "good \"film"), ("0", "bad"), ("1", "")]);
        assert_eq!((tabs.classes.len(), tabs.n_empty), (2, 1));
        let trec = read("train_5500.label", "DESC:manner How did it : go ?\nENTY:cremat What film ?\n").unwrap();
        assert_eq!(parts(&trec), [("DESC", "How did it : go ?"), ("ENTY", "What film ?")]);
        let mteb = read(
            "test.jsonl",
            "{\"id\": 3, \"text\": \"good \\\"film\", \"label\": 1}\n{\"text\": \"bad\", \"label\": \"no\"}\n",
        );
        assert_eq!(parts(&mteb.unwrap()), [("1", "good \"film"), ("no", "bad")]);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("rt-polarity.pos"), "good\tfilm\r\n\r\ngreat\r\n").unwrap();
        std::fs::write(path("rt-polarity.neg"), "bad").unwrap();
        for name in ["rt-polarity.pos", "rt-polarity.neg"] {
            let set = LabeledSet::read(path(name)).unwrap();
            assert_eq!(parts(&set), [("neg", "bad"), ("pos", "good\tfilm"), ("pos", "great")]);
        }
        std::fs::write(path("custrev.pos"), b"caf\xe9\n").unwrap();
        std::fs::write(path("custrev.neg"), "café\n").unwrap();
        let latin = LabeledSet::read(path("custrev.pos")).unwrap();
        assert_eq!(parts(&latin), [("neg", "café"), ("pos", "café")]);
        std::fs::write(path("TREC_10.label"), b"LOC:city Where is S\xe3o Paulo ?\n").unwrap();
        let latin = LabeledSet::read(path("TREC_10.label")).unwrap();
        assert_eq!(parts(&latin), [("LOC", "Where is São Paulo ?")]);
        std::fs::write(path("all.tsv"), b"1\tcaf\xe9\n").unwrap();
        assert!(matches!(LabeledSet::read(path("all.tsv")), Err(Error::InvalidUtf8 { line: 1, .. })));
        std::fs::write(path("subj.objective"), "fact").unwrap();
        let missing = LabeledSet::read(path("subj.objective")).unwrap_err().to_string();
        assert!(missing.contains("subj.subjective"), "{missing}");
    }

    #[test]
    fn every_bad_line_is_named() {
        let fails = |text: &str, says: &str| {
            let message = read("all.tsv", text).unwrap_err().to_string();
            assert!(message.contains(says), "{says:?} is missing in: {message}");
        };
        fails("1\ta\nb\n", "all.tsv:2: found 1 tab-separated columns, expected 2 (label and sentence)");
        fails("1\ta\tb\n", "all.tsv:1: found 3");
        fails("1\ta\n\n1\tb\n", "all.tsv:2: found 0");
        fails("1\ta\n \tb\n", "all.tsv:2: the label is empty");
        fails("see: this line\n", "all.tsv:1: found 1");
        fails(
            "{\"text\": \"a\"}\n",
            "all.tsv:1: missing field `label` at column 13; give an object with text and label",
        );
        fails("{\"text\": \"a\", \"label\": null}\n", "all.tsv:1: the label is empty");
        fails("", "contains no sentence; give lines of label and sentence");
    }
}
