//! Text -> vocabulary and token ids, in one pass and bounded memory.

mod block;
mod kept;
mod pass;
mod piece;
mod sentences;
mod sorted_runs;
mod storage;
mod stored_list;
mod translate;

use std::path::{Path, PathBuf};

use block::{Block, BlockWriter, Sums};
use pass::{Counts, PassOutput, pass};
use storage::Storage;
use translate::{Tables, Words};

pub use block::BlockBuffer;
pub use kept::KeptReading;
pub use sentences::{Sentences, SentencesWriter};
pub use stored_list::{StoredList, StoredListWriter};

use crate::ranks::Reduce;
use senv_base::{Error, Observer, Result};
use senv_model::Vocabulary;
use senv_text::{DEFAULT_MAX_LINE_BYTES, InvalidUtf8, Split, TableText, TextOptions, Tokenizer};

/// Bytes of counts of tokens in memory, of all threads together. With what is reserved for more, and to sort them in,
/// they take half a GiB.
const COUNT_BYTES: usize = 200 << 20;

/// How text becomes a [`Corpus`].
///
/// ```
/// use senv_core::{CorpusOptions, Tokenizer};
/// let options = CorpusOptions { tokenizer: Tokenizer::whitespace(), min_count: 2, ..CorpusOptions::default() };
/// assert_eq!(options.threads, 0); // all cores
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusOptions {
    /// Tokenizes sentences; [`Tokenizer::words`] with lower-casing by default.
    pub tokenizer: Tokenizer,
    /// Tokens that occur less often are left out; 5 by default. Ignored where a vocabulary is given.
    pub min_count: u64,
    /// At most this many tokens, the most frequent; no limit by default. Ignored where a vocabulary is given.
    pub max_vocabulary: Option<usize>,
    /// Tokens that stay in the vocabulary whatever their count and the limit, such as the words of a model that is
    /// trained further; one that the text lacks has a count of 0. None by default. Ignored where a vocabulary is given.
    pub keep: Vec<String>,
    /// Whether tokens that are not in the vocabulary keep their place, as the id that is the length of the vocabulary;
    /// they are left out by default.
    pub keep_unknown: bool,
    /// Threads that read; 0 (default) for all cores. The result is always the same.
    pub threads: usize,
    /// What to do with lines that are not UTF-8; an error by default.
    pub invalid_utf8: InvalidUtf8,
    /// The longest accepted line, in bytes, at least 1; 1 MiB by default.
    pub max_line_bytes: usize,
    /// Which fields are the text, of CSV, TSV and JSON lines; none by default: a line is a line.
    pub table: Option<TableText>,
    /// What is cut into sentences; none by default: a line is a sentence.
    pub split: Option<Split>,
    /// Whether a file may become more text than any text does ([`TextOptions::any_expansion`]); not by default.
    pub any_expansion: bool,
    /// Folder of the temporary file, which takes four bytes a token; the system's temporary folder by default. On some
    /// machines that folder is in memory: name another for texts of many gigabytes.
    pub scratch_dir: Option<PathBuf>,
    /// Where a reading that is stopped is kept, and gone on from; nowhere by default. Input that cannot be read again
    /// is not kept. Each rank needs a place of its own.
    pub kept: Option<KeptReading>,
}

impl CorpusOptions {
    /// How lines are read.
    #[must_use]
    pub fn text_options(&self) -> TextOptions {
        let Self { invalid_utf8, max_line_bytes, ref table, split, any_expansion, .. } = *self;
        TextOptions { invalid_utf8, max_line_bytes, table: table.clone(), split, any_expansion, quoted_pairs: false }
    }

    /// The same with lines read so.
    #[must_use]
    pub fn with_text_options(self, text: TextOptions) -> Self {
        let TextOptions { invalid_utf8, max_line_bytes, table, split, any_expansion, quoted_pairs: _ } = text;
        Self { invalid_utf8, max_line_bytes, table, split, any_expansion, ..self }
    }
}

impl Default for CorpusOptions {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::words().lowercase(true),
            min_count: 5,
            max_vocabulary: None,
            keep: Vec::new(),
            keep_unknown: false,
            threads: 0,
            invalid_utf8: InvalidUtf8::default(),
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            table: None,
            split: None,
            any_expansion: false,
            scratch_dir: None,
            kept: None,
        }
    }
}

/// A text as token ids, in blocks that are read one by one, in any order and from any number of threads.
///
/// A line of text is a sentence, a line without a token ends a document, and so does the end of a file.
/// Sentences keep their order; one whose tokens are all unknown is kept as an empty sentence, so that the index of
/// a sentence is its position in the text.
///
/// More than a million ids are stored in a temporary file. It has no name where the system allows that, so it
/// disappears when the process ends, in whatever way. 40 bytes for every 4,096 tokens stay in memory. The counts of
/// tokens take half a GiB of memory at most: those of a text with more distinct tokens go to a second temporary file,
/// and are as exact. Vocabulary, blocks and ids depend on the text alone, not on the number of threads or on how the
/// file was compressed.
///
/// ```
/// use senv_core::{Corpus, CorpusOptions, NoObserver, corpus::BlockBuffer};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("cats.txt");
/// std::fs::write(&path, "The cat sat.\nThe cat slept.\n\nA dog sat.\n")?;
/// let options = CorpusOptions { min_count: 2, ..CorpusOptions::default() };
/// let (vocabulary, corpus) = Corpus::read(&[path], &options, &NoObserver)?;
/// assert_eq!(vocabulary.iter().map(|(_, token, _)| token).collect::<Vec<_>>(), [".", "cat", "sat", "the"]);
/// assert_eq!((corpus.n_sentences(), corpus.n_documents(), corpus.n_tokens()), (3, 2, 9));
///
/// let mut block = BlockBuffer::default();
/// for i in 0..corpus.n_blocks() {
///     corpus.read_block(i, &mut block)?;
///     for sentence in block.iter() {
///         assert_eq!(vocabulary.token(*sentence.last().expect("not empty")), ".");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Corpus {
    storage: Storage,
    blocks: Vec<Block>,
    sums: Sums,
    n_unknown: u64,
    n_replaced: u64,
}

fn owned(paths: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.as_ref().to_owned()).collect()
}

impl Corpus {
    /// Reads files (plain, gzip, Zstandard; `-` is standard input), counts their tokens and maps them to ids.
    ///
    /// `observer` gets a report ten times a second: `units` are tokens, `done` is 0 where the size of the input is not
    /// known. It also gets a note on lines with replaced bytes and on files without text.
    ///
    /// # Errors
    /// [`Error::EmptyInput`] if there is no token in any file; [`Error::EmptyVocabulary`] if all of them are too
    /// rare; [`Error::Io`], [`Error::InvalidUtf8`] and [`Error::LineTooLong`] for the first line of the text that
    /// is not accepted; [`Error::Interrupted`] if the observer asks to stop; [`Error::InvalidParameter`] for an
    /// option outside its range or no file at all.
    pub fn read(
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, Self)> {
        Self::read_part(paths, options, None, observer)
    }

    /// As [`Corpus::read`], and where the run is one of several ranks, of the corpus the part of this rank: the pieces
    /// of a MiB are dealt out to them in turn. The vocabulary counts the tokens of all, and is that of a run by itself.
    /// If the observer of one of them asks to stop, all of them stop, and each keeps what it has read.
    ///
    /// # Errors
    /// As [`Corpus::read`]; [`Error::Rank`] if another rank has ended; [`Error::InvalidParameter`] if the text has
    /// fewer pieces than there are ranks.
    pub fn read_part(
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        ranks: Option<&dyn Reduce>,
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, Self)> {
        if options.max_vocabulary == Some(0) {
            return Err(Error::InvalidParameter { name: "max_vocabulary", requirement: "at least 1", got: "0".into() });
        }
        Self::read_counting(&owned(paths), options, ranks, COUNT_BYTES, observer)
    }

    /// As [`Corpus::read_part`], with so many bytes of counts in memory.
    fn read_counting(
        paths: &[PathBuf],
        options: &CorpusOptions,
        ranks: Option<&dyn Reduce>,
        count_bytes: usize,
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, Self)> {
        // Ranks hand their counts to each other, which takes them in memory.
        let count_bytes = if ranks.is_some() { usize::MAX } else { count_bytes };
        let (passed, counts) = checked_pass(paths, options, None, ranks, count_bytes, observer)?;
        let CorpusOptions { min_count, max_vocabulary, ref keep, .. } = *options;
        match counts {
            Counts::Memory(builders) => {
                let (vocabulary, tables) = translate::merge(builders, min_count, max_vocabulary, keep, ranks)?;
                let corpus = Self::translated(passed, Tables::Memory(tables), &vocabulary, options)?;
                Ok((vocabulary, corpus))
            }
            Counts::Disk(runs) => {
                let (vocabulary, distinct) = runs.vocabulary(min_count, max_vocabulary, keep, observer)?;
                observer.note(&format!(
                    "{distinct} distinct words were counted on disk; {} are in the vocabulary",
                    vocabulary.len()
                ));
                let corpus = Self::translated(passed, Tables::Disk(&runs), &vocabulary, options)?;
                Ok((vocabulary, corpus))
            }
        }
    }

    /// Reads files with a given vocabulary: to train a model further, or to read other text with it.
    ///
    /// # Errors
    /// As [`Corpus::read`], but that no token needs to be known.
    pub fn with_vocabulary(
        paths: &[impl AsRef<Path>],
        vocabulary: &Vocabulary,
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (passed, _) = checked_pass(&owned(paths), options, Some(vocabulary), None, usize::MAX, observer)?;
        Self::translated(passed, Tables::Final, vocabulary, options)
    }

    fn translated(
        output: PassOutput,
        tables: Tables<'_>,
        vocabulary: &Vocabulary,
        options: &CorpusOptions,
    ) -> Result<Self> {
        let PassOutput { pieces, mut storage, n_replaced } = output;
        let words = Words { vocabulary, keeps_unknown: options.keep_unknown };
        let n_threads = senv_base::threads::thread_count(options.threads);
        let (blocks, sums) = translate::translate(&pieces, tables, words, &mut storage, n_threads)?;
        let all: u64 = pieces.iter().map(|piece| piece.n_ids as u64).sum();
        Ok(Self { storage, blocks, sums, n_unknown: all - sums.n_tokens, n_replaced })
    }

    /// A corpus of sentences that are token ids already: one document, in memory.
    #[must_use]
    pub fn from_sentences(sentences: Sentences) -> Self {
        let mut writer = BlockWriter::default();
        let n = sentences.len();
        for (i, sentence) in sentences.iter().enumerate() {
            writer.push(sentence.iter().map(|id| id.0), i + 1 == n);
        }
        writer.end_block();
        let BlockWriter { words, blocks, sums, .. } = writer;
        Self { storage: Storage::Memory(words), blocks, sums, n_unknown: 0, n_replaced: 0 }
    }

    /// Number of sentences, empty ones included.
    #[must_use]
    pub fn n_sentences(&self) -> u64 {
        self.sums.n_sentences
    }

    /// Number of documents.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.sums.n_documents
    }

    /// Number of tokens: those that are in the vocabulary, and all where [`CorpusOptions::keep_unknown`] is set.
    #[must_use]
    pub fn n_tokens(&self) -> u64 {
        self.sums.n_tokens
    }

    /// Number of out-of-vocabulary tokens, which were left out.
    #[must_use]
    pub fn n_unknown(&self) -> u64 {
        self.n_unknown
    }

    /// Number of lines in which invalid bytes were replaced.
    #[must_use]
    pub fn n_replaced(&self) -> u64 {
        self.n_replaced
    }

    /// A hash that identifies the corpus: it depends on every token, on the ends of sentences and on
    /// those of documents.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.sums.hash
    }

    /// Number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of tokens in the blocks before `block`.
    ///
    /// # Panics
    /// If `block` is above [`Corpus::n_blocks`].
    #[must_use]
    pub fn tokens_before(&self, block: usize) -> u64 {
        if block == self.blocks.len() { self.sums.n_tokens } else { self.blocks[block].first_token }
    }

    /// The block that holds a sentence, counted from 0; the number of blocks where there is no such
    /// sentence.
    #[must_use]
    pub fn block_of(&self, sentence: u64) -> usize {
        if sentence >= self.sums.n_sentences {
            return self.blocks.len();
        }
        self.blocks.partition_point(|block| block.first_sentence <= sentence) - 1
    }

    /// The folder of its temporary file, for others that belong to it; `None` where the ids are in memory.
    #[must_use]
    pub fn scratch_dir(&self) -> Option<&Path> {
        Some(self.storage.folder()).filter(|folder| !folder.as_os_str().is_empty())
    }

    /// Reads a block: consecutive sentences, about 4,096 tokens (more only where a sentence is longer).
    ///
    /// # Errors
    /// [`Error::Io`] if the temporary file cannot be read; [`Error::BadFile`] if it does not hold what was written
    /// to it.
    ///
    /// # Panics
    /// If `block` is not below [`Corpus::n_blocks`].
    pub fn read_block(&self, block: usize, into: &mut BlockBuffer) -> Result<()> {
        let block = &self.blocks[block];
        self.storage.read(block.start, into.prepare(block))?;
        if into.index(block) {
            return Ok(());
        }
        Err(Error::BadFile {
            path: self.storage.folder().into(),
            reason: "a temporary file has changed since it was written; check the disk".into(),
        })
    }
}

/// The pass over the text, with the checks before and after.
fn checked_pass(
    paths: &[PathBuf],
    options: &CorpusOptions,
    known: Option<&Vocabulary>,
    ranks: Option<&dyn Reduce>,
    count_bytes: usize,
    observer: &dyn Observer,
) -> Result<(PassOutput, Counts)> {
    if paths.is_empty() {
        return Err(Error::InvalidParameter { name: "paths", requirement: "at least one file", got: "none".into() });
    }
    let (passed, counts) = pass(paths, options, known, ranks, count_bytes, observer)?;
    let mut has_text = vec![false; paths.len()];
    passed.pieces.iter().for_each(|piece| has_text[piece.file] |= piece.n_ids > 0);
    if !has_text.contains(&true) {
        return Err(match ranks {
            Some(ranks) => Error::InvalidParameter {
                name: "number of ranks",
                requirement: "at most one per MiB of text",
                got: ranks.n_ranks().to_string(),
            },
            None => Error::EmptyInput { path: paths[0].clone() },
        });
    }
    for (path, _) in paths.iter().zip(&has_text).filter(|&(_, &has_text)| !has_text && ranks.is_none()) {
        observer.note(&format!("{} contains no text", path.display()));
    }
    if passed.n_replaced > 0 {
        observer.note(&format!("replaced invalid UTF-8 in {} lines", passed.n_replaced));
    }
    Ok((passed, counts))
}

#[cfg(test)]
mod tests;
