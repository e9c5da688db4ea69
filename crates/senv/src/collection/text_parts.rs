//! Reads the sentences of text files, part by part, for a collection.

use std::{
    borrow::Cow,
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use senv_core::{
    Table, TextReader,
    text::{BadRecords, Line, is_blank, on_one_line, sentences},
};
use senv_index::{Collection, Id, IdKind};

use super::{
    SentenceCollection,
    new_sentences::NewSentences,
    text_columns::{Cells, TextColumns, bad_line},
    text_ids::{TextIds, shown},
    text_places::Places,
    text_vectors::Vectors,
};
use crate::error::{Error, Result};

/// Approximate bytes of text per part: 256 MiB.
const PART_BYTES: usize = 256 << 20;

/// What forms a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextDocuments {
    /// A line, or a record of a table, which is split into sentences. Paragraphs in a cell stay separate if the reader
    /// keeps its line ends ([`TableText::line_ends`](senv_core::text::TableText::line_ends)).
    Lines,
    /// A file, whose reader returns sentences.
    Files,
}

/// Sentences of text files for a [`SentenceCollection`], part by part. Each has its file and line in the columns
/// [`SentenceCollection::FILE`] and [`SentenceCollection::LINE`], if the collection has these, and the columns of
/// [`TextColumns`]. Blank lines are skipped.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.tsv"), folder.path().join("my.index"));
/// use senv::{SentenceCollection, collection::{CollectionText, SentenceCollectionParams, TextColumns}};
/// use senv_core::{TextOptions, TextReader};
/// std::fs::write(&text, "Ada\tThe train is late.\nBob\tRain falls.\n")?;
/// let reader = TextReader::open(&[&text], &TextOptions::default())?;
/// let mut text = CollectionText::new(reader, TextColumns::new("2").further("author", "1"));
/// let params = SentenceCollectionParams { columns: text.columns(), ..Default::default() };
/// let collection = SentenceCollection::build(&path, "english", &params, |len| text.next_part(len))?;
/// assert_eq!(collection.rows().text(1, "author")?, "Bob");
/// assert_eq!(collection.rows().text(1, SentenceCollection::LINE)?, "2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CollectionText {
    reader: TextReader,
    columns: TextColumns,
    ids: TextIds,
    /// What to say of ids that are numbers and texts.
    mixed_ids: Option<String>,
    vectors: Option<Vectors>,
    /// Whether they replace existing sentences.
    replace: bool,
    documents: Option<TextDocuments>,
    /// Where records with an id that cannot be used are left out.
    bad_records: Option<BadRecords>,
    /// The current file, if files are documents, and the number of its sentences so far.
    of_file: (PathBuf, u64),
    /// The documents that exist or were read, by two hashes of their names.
    names: HashSet<[u64; 2]>,
    n_documents: u64,
    n: u64,
    n_blank: u64,
    places: Places,
}

impl CollectionText {
    /// Creates the source of sentences from a reader.
    #[must_use]
    pub fn new(reader: TextReader, columns: TextColumns) -> Self {
        Self {
            reader,
            columns,
            ids: TextIds::default(),
            mixed_ids: None,
            vectors: None,
            replace: false,
            documents: None,
            bad_records: None,
            of_file: (PathBuf::new(), 0),
            names: HashSet::new(),
            n_documents: 0,
            n: 0,
            n_blank: 0,
            places: Places::default(),
        }
    }

    /// Takes their vectors from this NumPy matrix, which has a row for each line, including blank ones.
    ///
    /// # Errors
    /// The errors of [`NpyReader::open`](senv_store::NpyReader::open).
    pub fn vectors(mut self, path: &Path) -> Result<Self> {
        self.vectors = Some(Vectors::open(path)?);
        Ok(self)
    }

    /// Takes all ids as texts, even if those of the first part are numbers. By default they decide: if all are whole
    /// numbers below 2^64, without zeros in front, ids are numbers, else texts of 1 to [`Id::MAX_BYTES`] bytes.
    #[must_use]
    pub fn text_ids(mut self) -> Self {
        self.ids.set_kind(IdKind::Texts);
        self
    }

    /// Takes ids as this collection has them, to which the sentences are to be added.
    pub fn know_ids_of(&mut self, collection: &Collection) {
        if let Some(kind) = collection.id_kind() {
            self.ids.set_kind(kind);
        }
    }

    /// Says so if some ids are numbers and others not, so that all are texts.
    #[must_use]
    pub fn mixed_ids(&self) -> Option<&str> {
        self.mixed_ids.as_deref()
    }

    /// Marks the sentences as replacements ([`SentenceCollection::replace_parts`]): none may be blank.
    #[must_use]
    pub fn replacing(mut self) -> Self {
        self.replace = true;
        self
    }

    /// Records the document of each sentence and its number in it, from 1 ([`SentenceCollection::DOCUMENT`],
    /// [`SentenceCollection::PLACE`]). A document must not occur twice.
    #[must_use]
    pub fn documents(mut self, documents: TextDocuments) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Leaves out records whose ids are empty, too long, or not numbers where the others are, together with those that
    /// the reader leaves out ([`TableText::bad_records`](senv_core::text::TableText::bad_records)).
    #[must_use]
    pub fn leaving_out(mut self, bad_records: BadRecords) -> Self {
        self.bad_records = Some(bad_records);
        self
    }

    /// Refuses documents that are already in this collection.
    ///
    /// # Errors
    /// Errors of reading the collection.
    pub fn know_documents_of(&mut self, collection: &Collection) -> Result<()> {
        let positions = match collection.document_column() {
            Some(SentenceCollection::DOCUMENT) => collection.document_positions()?,
            _ => (0..collection.n_positions()).filter(|&position| collection.has_row(position)).collect(),
        };
        for position in positions {
            self.names.insert(hashes(&collection.text(position, SentenceCollection::DOCUMENT)?));
        }
        Ok(())
    }

    /// The columns of a collection of these sentences.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let own = [SentenceCollection::FILE, SentenceCollection::LINE];
        let mut columns: Vec<&str> = self.columns.names().chain(own).collect();
        if self.documents.is_some() {
            columns.extend((!self.names_documents()).then_some(SentenceCollection::DOCUMENT));
            columns.push(SentenceCollection::PLACE);
        }
        columns.into_iter().map(str::to_owned).collect()
    }

    /// Whether a column has the names of documents.
    fn names_documents(&self) -> bool {
        self.columns.names().any(|name| name == SentenceCollection::DOCUMENT)
    }

    /// Records the name of a document that starts on this line; refuses one that exists.
    fn begin_document(names: &mut HashSet<[u64; 2]>, name: &str, path: &Path, number: u64) -> Result<()> {
        if is_blank(name) {
            return Err(bad_line(path, number, "the document has no name: its id is blank"));
        }
        if names.insert(hashes(name)) {
            return Ok(());
        }
        let reason = format!(
            "the document {name} is already in the collection, or appears twice in the input; delete it from the \
            collection with --delete-where 'document = {name}'"
        );
        Err(bad_line(path, number, reason))
    }

    /// Documents read so far.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.n_documents
    }

    /// Sentences read so far.
    #[must_use]
    pub fn n_sentences(&self) -> u64 {
        self.n
    }

    /// Skipped lines that have columns but a blank sentence.
    #[must_use]
    pub fn n_blank(&self) -> u64 {
        self.n_blank
    }

    /// Converts [`senv_index::Error::GivenTwice`] and [`senv_index::Error::RepeatedId`], which have sentence numbers,
    /// to an error with their lines.
    #[must_use]
    pub fn repeated_id(&self, error: &senv_index::Error) -> Option<Error> {
        match error {
            senv_index::Error::GivenTwice { id, first, second } => {
                let ((file, line), (path, number)) = (self.places.of(*first as u64)?, self.places.of(*second as u64)?);
                let other = if file == path { format!("line {line}") } else { format!("{}:{line}", file.display()) };
                let id = id.quoted();
                Some(bad_line(path, number, format!("duplicate id {id}, also used in {other}; leave one of them out")))
            }
            senv_index::Error::RepeatedId { id, row } => {
                let (path, number) = self.places.of(*row as u64)?;
                let id = id.quoted();
                let reason = format!(
                    "id {id} is already in the collection; replace existing sentences with --replace instead of --add, \
                    or leave the line out"
                );
                Some(bad_line(path, number, reason))
            }
            _ => None,
        }
    }

    /// Converts [`senv_core::Error::ShapeMismatch`] of vectors with another dimension to an error with their file.
    #[must_use]
    pub fn of_other_dim(&self, error: &senv_index::Error) -> Option<Error> {
        let (
            &senv_index::Error::Core(senv_core::Error::ShapeMismatch { what: "vectors", expected, got }),
            Some(vectors),
        ) = (error, &self.vectors)
        else {
            return None;
        };
        let reason = format!(
            "its vectors have {got} values, but the model's have {expected}; give the output of `senv encode` with \
            this model"
        );
        Some(senv_core::Error::BadFile { path: vectors.path.clone(), reason }.into())
    }

    /// The next part, with at most `most` sentences; `None` at the end.
    ///
    /// # Errors
    /// Errors of reading. [`senv_core::Error::BadTable`], with the line, if a column is missing, or a document has no
    /// name or already exists. The same if an id is empty, too long, or not a number where the others are.
    /// [`senv_core::Error::BadFile`] if there are not as many vectors as lines.
    pub fn next_part(&mut self, most: usize) -> Result<Option<NewSentences>> {
        let (mut texts, mut ids, mut files, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let names: Vec<String> = self.columns.names().map(str::to_owned).collect();
        let has_names = self.names_documents();
        let mut further = vec![Vec::new(); names.len()];
        let (mut documents, mut places) = (Vec::new(), Vec::new());
        let (mut values, mut n_bytes) = (Vec::new(), 0);
        while texts.len() < most && n_bytes < PART_BYTES {
            let Some(line) = self.reader.next_line()? else { break };
            if self.columns.is_header(line.text, line.number, line.path)? {
                continue;
            }
            let vector = self.vectors.as_mut().map(Vectors::next).transpose()?;
            // A line without columns ends a document and is not a sentence.
            if is_blank(line.text) {
                continue;
            }
            let Cells { text, id, further: kept } = self.columns.cells(line.text, line.number, line.path)?;
            if is_blank(text) {
                if let Some(id) = id.filter(|_| self.replace) {
                    let id = shown(id);
                    let reason =
                        format!("the new sentence of id {id} is blank; to delete the row, use --delete-ids {id}");
                    return Err(bad_line(line.path, line.number, reason));
                }
                self.n_blank += 1;
                continue;
            }
            if let Some(id) = id
                && let Err(error) = self.ids.check(id, line.path, line.number)
            {
                match &self.bad_records {
                    Some(bad) => bad_record(bad, &line, error)?,
                    None => return Err(error),
                }
                continue;
            }
            if let Some(vector) = vector {
                let finite = vector.iter().all(|x| x.is_finite());
                if !finite && let Some(vectors) = &self.vectors {
                    let row = vectors.n_lines;
                    let reason = format!("row {row} contains NaN or an infinite value; encode its text again");
                    return Err(senv_core::Error::BadFile { path: vectors.path.clone(), reason }.into());
                }
                values.extend(vector);
            }
            n_bytes += line.text.len();
            let (path, number) = (line.path.display().to_string(), line.number.to_string());
            let cut: Vec<Cow<'_, str>> = match self.documents {
                None => vec![text.into()],
                Some(TextDocuments::Files) => {
                    if self.of_file.0 != line.path {
                        Self::begin_document(&mut self.names, &path, line.path, line.number)?;
                        self.n_documents += 1;
                        self.of_file = (line.path.to_owned(), 0);
                    }
                    self.of_file.1 += 1;
                    documents.push(path.clone());
                    places.push(self.of_file.1.to_string());
                    vec![text.into()]
                }
                Some(TextDocuments::Lines) => {
                    let cut = match line.record {
                        Some(_) => sentences_of_cell(text).into_iter().map(Cow::Owned).collect(),
                        None => sentences(text).into_iter().map(Cow::Borrowed).collect::<Vec<_>>(),
                    };
                    let given = names.iter().position(|name| name == SentenceCollection::DOCUMENT).map(|at| kept[at]);
                    let name = given.map_or_else(|| format!("{path}:{number}"), str::to_owned);
                    Self::begin_document(&mut self.names, &name, line.path, line.number)?;
                    self.n_documents += 1;
                    if !has_names {
                        documents.extend(cut.iter().map(|_| format!("{path}:{number}")));
                    }
                    places.extend((1..=cut.len()).map(|place| place.to_string()));
                    cut
                }
            };
            texts.extend(cut.iter().map(|sentence| sentence.clone().into_owned()));
            if let Some(id) = id {
                self.places.push(self.n + ids.len() as u64, &line);
                ids.push(id.to_owned());
            }
            for (column, cell) in further.iter_mut().zip(kept) {
                column.extend(cut.iter().map(|_| cell.to_owned()));
            }
            files.extend(cut.iter().map(|_| path.clone()));
            numbers.extend(cut.iter().map(|_| number.clone()));
        }
        if texts.is_empty() {
            return self.vectors.as_mut().map_or(Ok(()), Vectors::end).map(|()| None);
        }
        let ids = self.ids_of(ids);
        self.n += texts.len() as u64;
        let (rows, has_ids) = (texts.len(), self.columns.has_ids());
        let mut part = NewSentences::new(texts).read_from(files, numbers);
        if self.documents.is_some() {
            part = part.column(SentenceCollection::PLACE, places);
            if !has_names {
                part = part.column(SentenceCollection::DOCUMENT, documents);
            }
        }
        for (name, column) in names.iter().zip(further) {
            part = part.column(name, column);
        }
        if has_ids {
            part = part.ids(ids);
        }
        if let Some(vectors) = &self.vectors {
            part = part.vectors(Table::from_vec(rows, vectors.reader.dim(), values)?);
        }
        Ok(Some(part))
    }
}

/// The sentences of a cell whose line ends were kept, each on one line.
fn sentences_of_cell(cell: &str) -> Vec<String> {
    let text = cell.replace('\u{b}', "\n");
    sentences(&text).into_iter().map(|sentence| on_one_line(sentence).into_owned()).collect()
}

impl CollectionText {
    /// The ids of the next sentences.
    fn ids_of(&mut self, cells: Vec<String>) -> Vec<Id> {
        let (ids, odd) = self.ids.read(cells);
        if let Some(((path, line), id)) = odd.and_then(|odd| Some((self.places.of(self.n + odd as u64)?, &ids[odd]))) {
            let (path, id) = (path.display(), id.quoted());
            self.mixed_ids =
                Some(format!("{path}:{line}: the id is {id}, so all ids are texts, also those that are numbers"));
        }
        ids
    }
}

/// Leaves out the record of a line because of this error.
fn bad_record(bad: &BadRecords, line: &Line<'_>, error: Error) -> Result<()> {
    match error {
        Error::Core(error) => Ok(bad.leave_out(line.path, line.record.unwrap_or(line.number), error)?),
        error => Err(error),
    }
}

/// Two hashes of a name, which make a collision practically impossible.
fn hashes(name: &str) -> [u64; 2] {
    [0_u8, 1].map(|seed| {
        let mut hasher = DefaultHasher::new();
        (seed, name).hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_of_a_cell_are_not_joined() {
        let cell = "The old\u{b}mill stands\u{b}\u{b}Rain falls. It is late";
        assert_eq!(sentences_of_cell(cell), ["The old mill stands", "Rain falls.", "It is late"]);
    }
}
