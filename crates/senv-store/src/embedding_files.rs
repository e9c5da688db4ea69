//! Files of embeddings: one entry point for all formats.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
};

use senv_core::{
    Rows, Table, Tokenizer, Vocabulary,
    files::{AtomicFile, Destination},
};
use serde::{Deserialize, Serialize};

use crate::{
    Embeddings, Error, Format, LoadReport, ModelFile, ModelWriter, NonFinite, ReadOptions, Result,
    byte_window::ByteWindow, detect, finalfusion, license_file, text_read, text_write, word2vec_binary,
};

/// The kind of a model file that contains only embeddings.
const KIND: &str = "embeddings";
/// The name of the rows tensor.
const ROWS: &str = "rows";

/// The content of a model file in addition to words and rows.
#[derive(Default, Serialize, Deserialize)]
struct Config {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<Tokenizer>,
}

impl Embeddings {
    /// Opens a file of any [`Format`], detected from its content. A senv model is memory-mapped, so it opens in
    /// milliseconds at any size; other formats, plain or gzip, are read into memory. These take their terms of use from
    /// the file beside them ([`Embeddings::license_of`]), if there is one.
    ///
    /// # Errors
    /// The errors of [`Embeddings::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::read(path, &ReadOptions::default())?.0)
    }

    /// Like [`Embeddings::open`], with policies and limits, and a report.
    ///
    /// # Errors
    /// [`Error`], with the position in the file; [`Error::UnknownFormat`] if no format matches.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<(Self, LoadReport)> {
        let path = path.as_ref();
        let mut input = ByteWindow::open(path, options)?;
        let format = match options.format {
            Some(format) => format,
            None => detect::detect(&mut input)?,
        };
        if format == Format::Safetensors {
            drop(input);
            let embeddings = Self::from_model(path, options)?;
            let mut report = LoadReport::new(format);
            report.rows = embeddings.len() as u64;
            return Ok((embeddings, report));
        }
        let (embeddings, report) = read_rows(input, format, options)?;
        Ok((embeddings.with_terms(license_file::terms_of(path).as_deref()), report))
    }

    /// Like [`Embeddings::read`], from a stream such as standard input; `name` replaces the path in errors.
    ///
    /// # Errors
    /// The errors of [`Embeddings::read`]; [`Error::UnknownFormat`] for a senv model, which can only be memory-mapped
    /// from a file.
    pub fn read_from(
        reader: impl Read + 'static,
        name: impl AsRef<Path>,
        options: &ReadOptions,
    ) -> Result<(Self, LoadReport)> {
        let mut input = ByteWindow::from_reader(name.as_ref(), reader, options)?;
        let format = match options.format {
            Some(format) => format,
            None => detect::detect(&mut input)?,
        };
        read_rows(input, format, options)
    }

    /// The words and rows of an open model file of kind `embeddings`; rows are memory-mapped.
    ///
    /// # Errors
    /// [`Error`] if it is of a different kind or damaged.
    pub fn from_model_file(model: &ModelFile) -> Result<Self> {
        model.expect_kind(KIND)?;
        model.expect_known_tokenizer()?;
        let config: Config = match model.config() {
            Some(config) => serde_json::from_str(config).map_err(|error| {
                let (path, reason) = (model.path().to_owned(), format!("bad configuration: {error}"));
                senv_core::Error::BadFile { path, reason }
            })?,
            None => Config::default(),
        };
        Ok(Self::new(model.vocabulary()?, model.table(ROWS)?)?.with_tokenizer(config.tokenizer))
    }

    fn from_model(path: &Path, options: &ReadOptions) -> Result<Self> {
        let file = ModelFile::open(path)?;
        if options.verify {
            file.verify()?;
        }
        let embeddings = Self::from_model_file(&file)?;
        crate::collect::limit(path, "the dimension", embeddings.dim() as u64, options.max_dim as u64)?;
        crate::collect::limit(path, "the number of rows", embeddings.len() as u64, options.max_rows)?;
        if options.non_finite == NonFinite::Error {
            embeddings.check_finite(path)?;
        }
        embeddings.with_first(options.first_rows)
    }

    /// Keeps only the first rows.
    fn with_first(self, n: u64) -> Result<Self> {
        if n >= self.len() as u64 {
            return Ok(self);
        }
        let n = n as usize;
        let mut table = Table::zeros(n, self.dim())?;
        (0..n).for_each(|i| table.row_mut(i).copy_from_slice(self.table().row(i)));
        let words = self.vocabulary().iter().take(n).map(|(_, word, count)| (word, count));
        let vocabulary = Vocabulary::from_counts(words, self.vocabulary().corpus_tokens())?;
        let vocabulary = vocabulary.with_terms_of(Some(self.vocabulary()));
        Ok(Self::new(vocabulary, table)?.with_tokenizer(self.tokenizer().cloned()))
    }

    /// Writes a senv model file, which [`Embeddings::open`] memory-maps.
    ///
    /// # Errors
    /// The errors of [`Embeddings::write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write(path, Format::Safetensors, NonFinite::Error)
    }

    /// Writes a senv model file to a destination.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with [`NonFinite::Error`] and a NaN or infinite value; [`senv_core::Error::Io`] if it
    /// cannot be written.
    pub fn write_model(&self, to: Destination<'_>, non_finite: NonFinite) -> Result<()> {
        if non_finite == NonFinite::Error {
            self.check_finite(to.path())?;
        }
        let writer = ModelWriter::new(KIND).vocabulary(self.vocabulary()).table(ROWS, self.table());
        let config = self.tokenizer().map(|tokenizer| Config { tokenizer: Some(tokenizer.clone()) });
        let config = config.as_ref().and_then(|config| serde_json::to_string(config).ok());
        Ok(config.iter().fold(writer, |writer, config| writer.config(config)).write(to)?)
    }

    /// Writes the embeddings in a format, by atomic replacement. Values are read back bit for bit (NaN as some NaN).
    ///
    /// If they have terms of use ([`Vocabulary::terms`]), a format of another program gets them in a file beside it
    /// ([`Embeddings::license_of`]). If they have none, such a file of an earlier output is removed.
    ///
    /// # Errors
    /// * [`Error::NonFinite`] with [`NonFinite::Error`] and a NaN or infinite value.
    /// * [`Error::UnwritableWord`] if a word is empty or has a space or line end, in formats other than
    ///   [`Format::Safetensors`].
    /// * [`senv_core::Error::BadWrite`] for [`Format::Finalfusion`].
    /// * [`senv_core::Error::Io`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, format: Format, non_finite: NonFinite) -> Result<()> {
        let path = path.as_ref();
        if format == Format::Safetensors {
            return self.write_model(Destination::File(path), non_finite);
        }
        if non_finite == NonFinite::Error {
            self.check_finite(path)?;
        }
        refuse_finalfusion(path, format)?;
        self.check_words(path, format)?;
        let mut file = AtomicFile::create(path)?;
        self.write_rows(&mut file, format).map_err(|error| file.error(error))?;
        license_file::commit([file], path, self.vocabulary().terms())
    }

    /// The path of the file with the terms of use of word vectors in a format of another program, or of a matrix:
    /// `cats.vec.license` for `cats.vec`. It names the license as the REUSE specification does.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("cats.vec");
    /// use senv_core::{Table, Vocabulary};
    /// use senv_store::{Embeddings, Format, NonFinite};
    /// let vocabulary = Vocabulary::from_counts([("cat", 3)], 3)?.with_terms(Some("CC BY 4.0: by a cat"));
    /// Embeddings::new(vocabulary, Table::from_vec(1, 1, vec![1.0])?)?.write(&path, Format::FastTextVec, NonFinite::Error)?;
    /// let license = std::fs::read_to_string(Embeddings::license_of(&path))?;
    /// assert_eq!(license, "SPDX-License-Identifier: CC-BY-4.0\n\nTerms of use: CC BY 4.0: by a cat\n");
    /// assert_eq!(Embeddings::open(&path)?.vocabulary().terms(), Some("CC BY 4.0: by a cat"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn license_of(path: &Path) -> PathBuf {
        license_file::path_of(path)
    }

    /// Whether a file of the name [`Embeddings::license_of`] was written by senv, so that it can be replaced.
    #[must_use]
    pub fn is_own_license(path: &Path) -> bool {
        license_file::is_ours_at(path)
    }

    /// Like [`Embeddings::write`], to a stream such as standard output; `name` replaces the path in errors. A stream
    /// has no place for terms of use.
    ///
    /// ```
    /// use senv_core::{Table, Vocabulary};
    /// use senv_store::{Embeddings, Format, NonFinite};
    /// let vocabulary = Vocabulary::from_counts([("cat", 3)], 3)?;
    /// let embeddings = Embeddings::new(vocabulary, Table::from_vec(1, 2, vec![1.0, -0.5])?)?;
    /// let mut out = Vec::new();
    /// embeddings.write_to(&mut out, "-", Format::GloveText, NonFinite::Error)?;
    /// assert_eq!(out, b"cat 1.0 -0.5\n");
    /// # Ok::<(), senv_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Embeddings::write`]; [`senv_core::Error::BadWrite`] for [`Format::Safetensors`], which is
    /// memory-mapped from a file.
    pub fn write_to(
        &self,
        out: &mut impl Write,
        name: impl AsRef<Path>,
        format: Format,
        non_finite: NonFinite,
    ) -> Result<()> {
        let name = name.as_ref();
        if non_finite == NonFinite::Error {
            self.check_finite(name)?;
        }
        refuse_finalfusion(name, format)?;
        if format == Format::Safetensors {
            let (what, reason) = (
                "a senv model".into(),
                "a senv model is memory-mapped from a file; write it to a \
                file"
                    .into(),
            );
            return Err(senv_core::Error::BadWrite { path: name.to_owned(), what, reason }.into());
        }
        self.check_words(name, format)?;
        Ok(self.write_rows(out, format).map_err(|error| senv_core::Error::io("write", name, error))?)
    }

    fn write_rows(&self, out: &mut impl Write, format: Format) -> std::io::Result<()> {
        match format {
            Format::Word2vecBinary => word2vec_binary::write(self, out),
            _ => text_write::write(self, out, format),
        }
    }

    /// Returns an error for words that the formats of other programs cannot store.
    fn check_words(&self, path: &Path, format: Format) -> Result<()> {
        for (_, word, _) in self.vocabulary().iter() {
            // A byte-order mark at the start of the file would be skipped when reading.
            if word.is_empty() || word.contains([' ', '\u{feff}']) || word.contains(|c: char| c.is_ascii_control()) {
                return Err(Error::UnwritableWord { path: path.to_owned(), word: word.to_owned(), format });
            }
        }
        Ok(())
    }
}

fn refuse_finalfusion(path: &Path, format: Format) -> Result<()> {
    if format != Format::Finalfusion {
        return Ok(());
    }
    let (what, reason) = ("finalfusion".into(), "this format can only be read; write word2vec binary".into());
    Err(senv_core::Error::BadWrite { path: path.to_owned(), what, reason }.into())
}

fn read_rows(input: ByteWindow, format: Format, options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    match format {
        Format::Word2vecBinary => word2vec_binary::read(input, options),
        Format::Finalfusion => {
            let (embeddings, mut report) = finalfusion::read(input, options)?;
            let embeddings = embeddings.with_first(options.first_rows)?;
            report.rows = report.rows.min(options.first_rows);
            Ok((embeddings, report))
        }
        Format::Safetensors => {
            let found = "this is a senv model in a stream or compressed, which cannot be memory-mapped: give the \
                uncompressed file";
            Err(Error::UnknownFormat { path: input.path().to_owned(), found })
        }
        _ => text_read::read(input, format, options),
    }
}
