//! Keeps training data away from test data.

use std::{
    collections::HashSet,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufReader, Read},
    path::Path,
};

use senv_core::{Error as CoreError, TextOptions, text::TextBytes};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::Result;

/// The maximum size of a JSON file, in bytes after decompression: 1 GiB, more than twice SNLI's training set. A
/// compressed file can decompress to much more.
const MAX_JSON_BYTES: u64 = 1 << 30;

/// The minimum number of words of a sentence to compare; shorter ones are often equal by chance.
const MIN_WORDS: usize = 4;

/// Sentences of development and test sets, which training must not see. They are compared in lower case, by letters and
/// digits only, if they have at least four words.
///
/// ```
/// use senv::data::HeldOut;
/// let mut held_out = HeldOut::default();
/// held_out.add("A man plays the guitar.");
/// assert!(held_out.contains("a man plays the \"guitar\""));
/// assert!(!held_out.contains("A man plays a guitar."));
/// ```
#[derive(Debug, Clone, Default)]
pub struct HeldOut(HashSet<String>);

impl HeldOut {
    /// Reads every cell of tab-separated files, and every string of files that begin with `{`. Those have one JSON
    /// object per line (`.jsonl`), or one for the whole file like COCO. Texts of fewer than four words are ignored.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if a file cannot be read; [`senv_core::Error::BadFile`] if it begins like JSON but is
    /// not, or has more than 1 GiB of it.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        let mut held_out = Self::default();
        for path in paths {
            let mut bytes = TextBytes::open(path)?;
            if bytes.is_json_object()? {
                held_out.add_json(path.as_ref(), bytes)?;
                continue;
            }
            let mut reader = bytes.into_lines(&TextOptions::default())?;
            while let Some(line) = reader.next_line()? {
                line.text.split('\t').for_each(|cell| held_out.add(cell));
            }
        }
        Ok(held_out)
    }

    fn add_json(&mut self, path: &Path, mut bytes: TextBytes) -> Result<()> {
        let mut limited = bytes.by_ref().take(MAX_JSON_BYTES + 1);
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(&mut limited));
        let parsed = loop {
            match Strings(self).deserialize(&mut json) {
                Ok(()) => match json.end() {
                    Ok(()) => break Ok(()),
                    Err(error) if error.is_io() => break Err(error),
                    // Another value follows.
                    Err(_) => {}
                },
                Err(error) => break Err(error),
            }
        };
        let bad = |reason| CoreError::BadFile { path: path.to_owned(), reason };
        if limited.limit() == 0 {
            return Err(bad(format!("the JSON is longer than {MAX_JSON_BYTES} bytes")).into());
        }
        parsed.map_err(|error| match error.io_error_kind() {
            Some(_) => bytes.error(error.into()).into(),
            None => bad(format!("it starts with {{ but is not JSON: {error}")).into(),
        })
    }

    /// Adds a sentence.
    pub fn add(&mut self, sentence: &str) {
        self.0.extend(key(sentence));
    }

    /// Returns a number that depends on every sentence.
    pub(super) fn fingerprint(&self) -> u64 {
        let hash = |sentence: &String| {
            let mut hasher = DefaultHasher::new();
            sentence.hash(&mut hasher);
            hasher.finish()
        };
        // The order does not matter.
        self.0.iter().map(hash).fold(self.0.len() as u64, u64::wrapping_add)
    }

    /// Whether it contains a sentence.
    #[must_use]
    pub fn contains(&self, sentence: &str) -> bool {
        !self.0.is_empty() && key(sentence).is_some_and(|key| self.0.contains(&key))
    }

    /// Returns the number of distinct sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is held out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns letters and digits in lower case; `None` for fewer than four words.
fn key(sentence: &str) -> Option<String> {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    sentence.split_whitespace().filter(is_word).nth(MIN_WORDS - 1)?;
    Some(sentence.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect())
}

/// Collects every string of a JSON value at any depth, but not the names of its members.
struct Strings<'h>(&'h mut HeldOut);

impl<'de> DeserializeSeed<'de> for Strings<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strings<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<(), E> {
        self.0.add(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(Strings(self.0))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> std::result::Result<(), A::Error> {
        while values.next_element_seed(Strings(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_files_are_held_out_and_short_ones_are_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "2.5\tThe cat sat down .\tIt is\n0\tÉté à la plage\tx\n").unwrap();
        let held_out = HeldOut::read(&[file.path()]).unwrap();
        assert_eq!(held_out.len(), 2);
        assert!(held_out.contains("the CAT sat down") && held_out.contains("été à la plage!"));
        assert!(!held_out.contains("It is") && !held_out.contains(""));
        assert!(HeldOut::read::<&str>(&[]).unwrap().is_empty());
        assert!(HeldOut::read(&["no/such/file"]).is_err());
    }

    #[test]
    fn strings_of_json_are_held_out_by_line_and_by_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            HeldOut::read(&[file.path()]).map_err(|error| error.to_string())
        };
        let lines = "{\"sentence1\": \"A cat sat \\\"down\\\".\", \"score\": 2.5, \"more\": [null, true, -1, \"one two three four\"]}\n\
                     {\"sentence2\": \"Été à la plage\", \"member of four words\": 1}\n";
        let found = read(lines).unwrap();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(["a cat sat down", "One, two, three, four!", "été à la plage"].iter().all(|s| found.contains(s)));
        let coco = "\u{feff}{\"annotations\": [{\"image_id\": 7, \"caption\": \"A dog runs fast\"}]}";
        assert!(read(coco).unwrap().contains("a dog runs fast"));
        for broken in ["{\"a\": \"b\"", "{\"a\": \"b\"}\n{\"a\" 1}", "{not json}"] {
            let error = read(broken).unwrap_err();
            assert!(error.contains("is not JSON") && error.contains("line "), "{error}");
        }
    }
}
