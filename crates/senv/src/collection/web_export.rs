//! Exports a collection to one file for the web page, which contains the English model.

use std::path::Path;

use senv_core::{
    SentenceEncoder,
    files::{WebCollectionWriter, WebId, WebSentence},
};
use senv_index::{Collection, Id};

use super::{SentenceCollection, new_sentences::TEXT};
use crate::error::{Error, Result};

/// Sentences encoded per batch if a collection stores no vectors.
const CHUNK: usize = 1024;

/// The result of [`SentenceCollection::export_web`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebExport {
    /// Number of sentences, counting repetitions.
    pub sentences: u64,
    /// Number of distinct sentences: rows of the file.
    pub distinct: usize,
    /// Approximate size of the file in bytes.
    pub bytes: usize,
}

impl SentenceCollection {
    /// Writes the sentences that are not deleted, with their vectors in int8, to one file for the web page of senv
    /// (`senv-web`), replacing an existing file. Equal sentences are one row with their count. Line numbers are kept if
    /// all sentences come from one file. The metadata have the terms of use of the model.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (path, file) = (folder.path().join("my.index"), folder.path().join("my.web"));
    /// let mut collection = senv::SentenceCollection::create(&path, "english")?;
    /// collection.add(&["The train is late.", "A storm brings rain.", "The train is late."])?;
    /// let written = collection.export_web(&file)?;
    /// assert_eq!((written.sentences, written.distinct), (3, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// * [`Error::NotForWeb`] if the model is not the English one, which the page contains.
    /// * [`Error::OrderNotForWeb`] if the collection uses an order part.
    /// * [`senv_core::Error::BadHyperparameter`] if the sentences exceed the limit of a page (2 GiB).
    /// * Errors of reading the collection and of writing the file.
    pub fn export_web(&self, path: impl AsRef<Path>) -> Result<WebExport> {
        Self::check_for_web(&self.rows)?;
        let writer = WebCollectionWriter::new(self.rows.dim(), self.rows.model())?;
        let mut writer = writer.with_terms(self.whole.terms());
        let line_of = self.lines_of_one_file()?;
        let mut without_vector = Vec::new();
        for position in 0..self.rows.n_positions() {
            let Some(id) = self.rows.id(position)? else { continue };
            let text = self.rows.text(position, TEXT)?;
            let line = if line_of { self.rows.text(position, "line")?.parse().unwrap_or(0) } else { 0 };
            match self.rows.vector(position)? {
                Some(vector) => writer.push(&WebSentence { text: &text, vector: &vector, id: web_id(&id), line })?,
                None => {
                    without_vector.push((id, line, text));
                    if without_vector.len() == CHUNK {
                        self.push_encoded(&mut writer, &mut without_vector)?;
                    }
                }
            }
        }
        self.push_encoded(&mut writer, &mut without_vector)?;
        let (sentences, distinct, bytes) = (writer.sentences(), writer.len(), writer.n_bytes());
        writer.save(path)?;
        Ok(WebExport { sentences, distinct, bytes })
    }

    /// Checks that the web page has the model of a collection.
    ///
    /// # Errors
    /// [`Error::NotForWeb`]; [`Error::OrderNotForWeb`].
    pub fn check_for_web(rows: &Collection) -> Result<()> {
        if Self::order_weight(rows).is_some_and(|weight| weight != 0.0) {
            return Err(Error::OrderNotForWeb);
        }
        check_digest(rows.model(), Self::model_path(rows).unwrap_or(Path::new("")))
    }

    /// Checks that the web page has a model, before a collection is made with it.
    ///
    /// # Errors
    /// [`Error::NotForWeb`]; [`senv_core::Error::Io`] if the model cannot be read.
    pub fn check_model_for_web(model: impl AsRef<Path>) -> Result<()> {
        let model = model.as_ref();
        check_digest(&crate::model::model_digest(model)?, model)
    }

    /// Whether there are line numbers, all of one file.
    fn lines_of_one_file(&self) -> Result<bool> {
        let has = |name: &str| self.rows.columns().iter().any(|column| column == name);
        if !has("line") {
            return Ok(false);
        }
        if !has("file") {
            return Ok(true);
        }
        let mut first: Option<String> = None;
        for position in 0..self.rows.n_positions() {
            if !self.rows.has_row(position) {
                continue;
            }
            let file = self.rows.text(position, "file")?;
            match &first {
                // A sentence that does not come from a file has no line.
                _ if file.is_empty() => {}
                Some(first) if *first != file => return Ok(false),
                Some(_) => {}
                None => first = Some(file),
            }
        }
        Ok(true)
    }

    /// Encodes sentences and adds them to the file.
    fn push_encoded(&self, writer: &mut WebCollectionWriter, sentences: &mut Vec<(Id, u32, String)>) -> Result<()> {
        let texts: Vec<&str> = sentences.iter().map(|(.., text)| text.as_str()).collect();
        let (vectors, _) = self.model.encode_batch(&texts)?;
        for ((id, line, text), vector) in sentences.iter().zip(vectors.rows()) {
            let vector = vector.to_slice().unwrap_or_default();
            writer.push(&WebSentence { text, vector, id: web_id(id), line: *line })?;
        }
        sentences.clear();
        Ok(())
    }
}

fn web_id(id: &Id) -> WebId<'_> {
    match id {
        Id::Number(number) => (*number).into(),
        Id::Text(text) => text.as_str().into(),
    }
}

fn check_digest(digest: &str, model: &Path) -> Result<()> {
    if digest == senv_english::DIGEST { Ok(()) } else { Err(Error::NotForWeb { model: model.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_the_english_model_is_that_of_its_file() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv-english/data/english.senv");
        assert_eq!(crate::model::model_digest(file).unwrap(), senv_english::DIGEST);
    }
}
