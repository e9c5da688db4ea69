//! The manifest of a collection lists what belongs to it. It is replaced atomically, so a reader sees one state or the
//! next.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use senv_core::files::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::{
    Error, IdKind, IndexParams, Result,
    documents::Stemming,
    file::{VERSION, check_version},
};

/// The name of the file.
const NAME: &str = "manifest";
/// The version of a manifest of a collection whose ids are texts, which earlier programs do not know.
const TEXT_ID_VERSION: u32 = VERSION + 1;
/// The version of a manifest of a collection with words, with ids of either kind.
const WORDS_VERSION: u32 = VERSION + 2;
/// The version of what counts as a word.
const ANALYZER: u32 = 1;
/// The maximum size in bytes: several hundred thousand segments.
const MOST: u64 = 1 << 26;
/// The maximum number of changes and files over the life of a collection: out of practical reach, and far from
/// overflow.
const MOST_CHANGES: u64 = 1 << 62;

/// The contents of a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    /// Increases with every change.
    pub(super) generation: u64,
    pub(super) dim: usize,
    /// The digest of the model that made the vectors; empty if unknown.
    pub(super) model: String,
    pub(super) columns: Vec<String>,
    pub(super) params: IndexParams,
    /// The id of the next row added without one.
    pub(super) next_id: u64,
    /// What the ids are; absent for numbers.
    #[serde(default, skip_serializing_if = "IdKind::is_numbers")]
    pub(super) ids: IdKind,
    pub(super) next_file: u64,
    pub(super) segments: Vec<SegmentEntry>,
    /// The file that lists the deleted rows.
    pub(super) deletions: Option<String>,
    /// The checksum of that file's header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deletions_header: Option<String>,
    /// The user's own metadata.
    #[serde(default)]
    pub(super) metadata: BTreeMap<String, String>,
    /// Counts summed over all added rows.
    #[serde(default)]
    pub(super) counts: BTreeMap<String, u64>,
    /// The collection's place in a whole, if it is a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shard: Option<Shard>,
    /// The words of its rows, if it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) words: Option<WordSettings>,
}

/// Which words the rows of a collection have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WordSettings {
    /// The version of what counts as a word.
    version: u32,
    /// The column of the texts.
    pub(super) column: String,
    /// English or none; automatic before the first row, whose part decides.
    pub(super) stemming: Stemming,
    /// The column of the names of documents, if rows are their sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) documents: Option<String>,
}

impl WordSettings {
    pub(super) fn new(column: &str, stemming: Stemming, documents: Option<&str>) -> Self {
        Self { version: ANALYZER, column: column.to_owned(), stemming, documents: documents.map(str::to_owned) }
    }
}

/// A collection's place in a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shard {
    /// Starting at 1.
    pub(super) number: u32,
    pub(super) count: u32,
    /// Whether ids were given instead of derived from positions in the whole.
    pub(super) has_ids: bool,
    /// The generation when the shard was built; a different one shows a later change.
    pub(super) generation: u64,
    /// The digest of the whole input; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<String>,
}

/// A segment of a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SegmentEntry {
    pub(super) file: String,
    pub(super) rows: usize,
    /// The number of deleted rows.
    pub(super) deleted: usize,
    /// The checksum of its header, so no other file is mistaken for it; absent in manifests of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) header: Option<String>,
}

impl Manifest {
    pub(super) fn new(dim: usize, model: &str, columns: &[String], params: &IndexParams) -> Self {
        let (version, columns, params) = (VERSION, columns.to_vec(), params.clone());
        let model = model.to_owned();
        let (metadata, counts) = Default::default();
        Self {
            version,
            generation: 0,
            dim,
            model,
            columns,
            params,
            next_id: 0,
            ids: IdKind::Numbers,
            next_file: 1,
            segments: Vec::new(),
            deletions: None,
            deletions_header: None,
            metadata,
            counts,
            shard: None,
            words: None,
        }
    }

    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// Reads the manifest from a folder.
    ///
    /// # Errors
    /// [`Error::NotACollection`] if it does not exist; [`Error::Damaged`] if its checksum does not match or it
    /// contradicts itself.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = Self::path(folder);
        let io = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                Error::NotACollection { path: folder.to_owned() }
            }
            _ => senv_core::Error::io("read", &path, e).into(),
        };
        let damaged = |reason: String| Error::Damaged { path: path.clone(), what: "the manifest".into(), reason };
        let metadata = fs::metadata(&path).map_err(io)?;
        if !metadata.is_file() {
            return Err(senv_core::Error::not_a_file(&path, &metadata).into());
        }
        let size = metadata.len();
        if size > MOST {
            return Err(damaged(format!("it has {size} bytes, expected at most {MOST}")));
        }
        let text = fs::read(&path).map_err(io)?;
        // The first line has the JSON, the second its checksum.
        let line = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
        let (json, rest) = text.split_at(line);
        if rest != check_line(json).as_bytes() {
            return Err(damaged("it does not end with its checksum".into()));
        }
        let version = |value: &serde_json::Value| value.get("version").and_then(serde_json::Value::as_u64);
        let value: serde_json::Value = serde_json::from_slice(json).map_err(|e| damaged(e.to_string()))?;
        if let Some(found) = version(&value) {
            check_version(&path, found, WORDS_VERSION)?;
        }
        check_analyzer(&path, &value)?;
        let manifest: Self = serde_json::from_value(value).map_err(|e| damaged(e.to_string()))?;
        manifest.check().map_err(damaged)?;
        Ok(manifest)
    }

    /// What the ids are; `None` if there never were any.
    pub(super) fn id_kind(&self) -> Option<IdKind> {
        let has_ids = self.next_id > 0 || !self.segments.is_empty() || self.ids == IdKind::Texts;
        has_ids.then_some(self.ids)
    }

    /// Sets what the ids are, which the version says too.
    pub(super) fn set_id_kind(&mut self, ids: IdKind) {
        self.ids = ids;
        self.version = self.own_version();
    }

    /// Sets which words its rows have, which the version says too.
    pub(super) fn set_words(&mut self, words: WordSettings) {
        self.words = Some(words);
        self.version = self.own_version();
    }

    /// The version that has what it contains.
    fn own_version(&self) -> u32 {
        match self.ids {
            _ if self.words.is_some() => WORDS_VERSION,
            IdKind::Texts => TEXT_ID_VERSION,
            IdKind::Numbers => VERSION,
        }
    }

    /// Describes the first inconsistency.
    fn check(&self) -> Result<(), String> {
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase() || b == b'.')
        };
        if let Some(name) = self.files().find(|name| !is_name(name) || name.starts_with('.')) {
            return Err(format!("{name:?} is not a valid file name in a collection"));
        }
        if self.version != self.own_version() {
            return Err(format!("version {} does not have such ids or words", self.version));
        }
        if let Some(words) = &self.words {
            let mut columns = [&words.column].into_iter().chain(&words.documents);
            if let Some(name) = columns.find(|name| !self.columns.contains(name)) {
                return Err(format!("it has words of a column {name:?} but no such column"));
            }
            if words.stemming == Stemming::Automatic && !self.segments.is_empty() {
                return Err("it does not say whether its words are stems".into());
            }
        }
        for (what, number) in [("change", self.generation), ("file", self.next_file)] {
            if number > MOST_CHANGES {
                return Err(format!("the {what} number {number} is too large"));
            }
        }
        if let Some(Shard { number, count, .. }) =
            self.shard.as_ref().filter(|shard| !(1..=shard.count).contains(&shard.number))
        {
            return Err(format!("there is no shard {number} of {count}"));
        }
        match self.segments.iter().find(|segment| segment.deleted > segment.rows) {
            Some(segment) => {
                Err(format!("{} of {} rows of {} are deleted", segment.deleted, segment.rows, segment.file))
            }
            None => Ok(()),
        }
    }

    /// Replaces the manifest in a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = Self::path(folder);
        let text = self.text().map_err(|e| senv_core::Error::BadWrite {
            path: path.clone(),
            what: "the manifest".into(),
            reason: e.to_string(),
        })?;
        Ok(AtomicFile::write_with(&path, |file| file.write_all(text.as_bytes()))?)
    }

    /// The contents of the file.
    fn text(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{json}{}", check_line(json.as_bytes())))
    }

    /// The size of the file in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        self.text().map_or(0, |text| text.len() as u64)
    }

    /// The names of the collection's files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map(|segment| &segment.file).chain(&self.deletions).map(String::as_str)
    }
}

/// Refuses words that another version of senv has made.
fn check_analyzer(path: &Path, manifest: &serde_json::Value) -> Result<()> {
    let Some(words) = manifest.get("words").filter(|words| words.is_object()) else { return Ok(()) };
    let (version, stemming) = (words.get("version"), words.get("stemming"));
    let is_known = stemming.is_some_and(|stemming| serde_json::from_value::<Stemming>(stemming.clone()).is_ok());
    if is_known && version.and_then(serde_json::Value::as_u64) == Some(ANALYZER.into()) {
        return Ok(());
    }
    let shown = |value: Option<&serde_json::Value>| value.map_or_else(|| "none".to_owned(), ToString::to_string);
    let found = format!("version {} with stemming {}", shown(version), shown(stemming));
    Err(Error::OtherWords { path: path.to_owned(), found, supported: ANALYZER })
}

fn check_line(json: &[u8]) -> String {
    format!("\n{:08x}\n", crc32fast::hash(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Manifest {
        let mut manifest = Manifest::new(3, "abc", &["text".into()], &IndexParams { seed: 9, ..Default::default() });
        manifest.segments.push(SegmentEntry {
            file: "000001.segment".into(),
            rows: 7,
            deleted: 2,
            header: Some("0a".into()),
        });
        (manifest.deletions, manifest.deletions_header) = (Some("000002.deletions".into()), Some("1b".into()));
        (manifest.generation, manifest.next_id, manifest.next_file) = (4, 5, 6);
        manifest.metadata.insert("origin".into(), "x".into());
        manifest.counts.insert("tokens".into(), 8);
        manifest.shard = Some(Shard { number: 2, count: 3, has_ids: true, generation: 4, input: Some("5c".into()) });
        manifest
    }

    fn with_words() -> Manifest {
        let mut manifest = example();
        manifest.columns.push("document".into());
        manifest.set_words(WordSettings::new("text", Stemming::English, Some("document")));
        manifest
    }

    #[test]
    fn every_field_comes_back_and_every_changed_byte_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::NotACollection { .. })));
        example().write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), example());
        let mut of_texts = example();
        of_texts.set_id_kind(IdKind::Texts);
        of_texts.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), of_texts);
        // Programs that know number ids alone refuse the version; with numbers, nothing has changed for them.
        assert!(of_texts.text().unwrap().starts_with("{\"version\":3,"));
        let of_numbers = example().text().unwrap();
        assert!(of_numbers.starts_with("{\"version\":2,") && !of_numbers.contains("\"ids\""));
        assert!(!of_numbers.contains("\"words\""));
        for ids in [IdKind::Numbers, IdKind::Texts] {
            let mut of_words = with_words();
            of_words.set_id_kind(ids);
            of_words.write(folder.path()).unwrap();
            assert_eq!(Manifest::read(folder.path()).unwrap(), of_words);
            assert!(of_words.text().unwrap().starts_with("{\"version\":4,"));
        }
        example().write(folder.path()).unwrap();
        let path = Manifest::path(folder.path());
        let bytes = fs::read(&path).unwrap();
        for i in 0..bytes.len() {
            for changed in [bytes[i] ^ 1, b'\n', 0xff].into_iter().filter(|&byte| byte != bytes[i]) {
                let mut bytes = bytes.clone();
                bytes[i] = changed;
                fs::write(&path, bytes).unwrap();
                assert!(matches!(Manifest::read(folder.path()), Err(Error::Damaged { .. })), "byte {i}");
            }
            fs::write(&path, &bytes[..i]).unwrap();
            assert!(matches!(Manifest::read(folder.path()), Err(Error::Damaged { .. })), "cut at {i}");
        }
    }

    #[test]
    fn a_manifest_of_another_version_or_with_foreign_names_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let read = |change: &dyn Fn(&mut Manifest)| {
            let mut manifest = example();
            change(&mut manifest);
            manifest.write(folder.path()).unwrap();
            Manifest::read(folder.path()).unwrap_err()
        };
        let error = read(&|manifest| manifest.version = VERSION - 1);
        assert!(matches!(error, Error::OldVersion { found: 1, supported: 2, .. }), "{error}");
        assert!(error.to_string().contains("rebuild the index"), "{error}");
        let error = read(&|manifest| manifest.version = VERSION + 3);
        assert!(matches!(error, Error::Core(senv_core::Error::NewerVersion { .. })), "{error}");
        // Ids that the version does not have.
        assert!(matches!(read(&|manifest| manifest.version = TEXT_ID_VERSION), Error::Damaged { .. }));
        assert!(matches!(read(&|manifest| manifest.ids = IdKind::Texts), Error::Damaged { .. }));
        // Words that the version does not have, or the reverse; of a missing column; undecided.
        assert!(matches!(read(&|manifest| manifest.version = WORDS_VERSION), Error::Damaged { .. }));
        let words = |change: &dyn Fn(&mut Manifest)| {
            read(&|manifest| {
                *manifest = with_words();
                change(manifest);
            })
        };
        assert!(matches!(words(&|manifest| manifest.version = VERSION), Error::Damaged { .. }));
        assert!(matches!(words(&|manifest| manifest.columns.truncate(1)), Error::Damaged { .. }));
        let automatic = WordSettings::new("text", Stemming::Automatic, None);
        assert!(matches!(words(&|manifest| manifest.words = Some(automatic.clone())), Error::Damaged { .. }));
        let other = WordSettings { version: 2, ..WordSettings::new("text", Stemming::None, None) };
        let error = words(&|manifest| manifest.words = Some(other.clone()));
        assert!(matches!(error, Error::OtherWords { supported: 1, .. }), "{error}");
        let says = error.to_string();
        assert!(says.contains("version 2 with stemming \"none\"") && says.contains("senv index"), "{says}");
        for name in ["../passwords", "", ".hidden", "a/b"] {
            let error = read(&|manifest| manifest.segments[0].file = name.into());
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
        assert!(matches!(read(&|manifest| manifest.segments[0].deleted = 8), Error::Damaged { .. }));
        let shard = |number| Some(Shard { number, count: 3, has_ids: false, generation: 1, input: None });
        for number in [0, 4] {
            assert!(matches!(read(&|manifest| manifest.shard = shard(number)), Error::Damaged { .. }));
        }
        assert!(matches!(read(&|manifest| manifest.generation = u64::MAX), Error::Damaged { .. }));
        assert!(matches!(read(&|manifest| manifest.next_file = u64::MAX), Error::Damaged { .. }));
    }
}
