//! Converts text to a vocabulary and token ids, in one pass and bounded memory.

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

/// The maximum bytes of token counts in memory, over all threads. With reserved space and memory for sorting, they take
/// half a GiB.
const COUNT_BYTES: usize = 200 << 20;

/// The options for reading a [`Corpus`] from text.
///
/// ```
/// use senv_core::{CorpusOptions, Tokenizer};
/// let options = CorpusOptions { tokenizer: Tokenizer::whitespace(), min_count: 2, ..CorpusOptions::default() };
/// assert_eq!(options.threads, 0); // all cores
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusOptions {
    /// The tokenizer; [`Tokenizer::words`] with lower-casing by default.
    pub tokenizer: Tokenizer,
    /// Tokens that occur less often are left out; 5 by default. Ignored if a vocabulary is given.
    pub min_count: u64,
    /// The maximum number of tokens; the most frequent are kept. No limit by default. Ignored if a vocabulary is given.
    pub max_vocabulary: Option<usize>,
    /// Tokens that stay in the vocabulary regardless of their count and the limit, such as the words of a model that is
    /// trained further. A token that is not in the text has a count of 0. None by default. Ignored if a vocabulary is
    /// given.
    pub keep: Vec<String>,
    /// Whether out-of-vocabulary tokens are kept; their id is then the length of the vocabulary. They are left out by
    /// default.
    pub keep_unknown: bool,
    /// The number of threads that read; 0 (default) for all cores. It does not affect the result.
    pub threads: usize,
    /// How lines that are not UTF-8 are handled; an error by default.
    pub invalid_utf8: InvalidUtf8,
    /// The maximum line length in bytes, at least 1; 1 MiB by default.
    pub max_line_bytes: usize,
    /// The fields of CSV, TSV and JSON lines that contain the text; by default none, and files are plain lines.
    pub table: Option<TableText>,
    /// How text is split into sentences; by default each line is a sentence.
    pub split: Option<Split>,
    /// Whether a file may expand to more text than is plausible ([`TextOptions::any_expansion`]); false by default.
    pub any_expansion: bool,
    /// The folder of the temporary file, which takes four bytes per token; the system's temporary folder by default. On
    /// some machines that folder is in memory: choose another for texts of many gigabytes.
    pub scratch_dir: Option<PathBuf>,
    /// Where an interrupted reading is stored and resumed; nowhere by default. Input that cannot be read again is not
    /// stored. Each rank needs its own path.
    pub kept: Option<KeptReading>,
}

impl CorpusOptions {
    /// Returns the options for reading lines.
    #[must_use]
    pub fn text_options(&self) -> TextOptions {
        let Self { invalid_utf8, max_line_bytes, ref table, split, any_expansion, .. } = *self;
        TextOptions { invalid_utf8, max_line_bytes, table: table.clone(), split, any_expansion, quoted_pairs: false }
    }

    /// Returns these options with other options for reading lines.
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

/// A text as token ids, in blocks that can be read separately, in any order and from any number of threads.
///
/// A line of text is a sentence. A line without tokens ends a document, and so does the end of a file. Sentences keep
/// their order. A sentence with only unknown tokens is kept as an empty sentence, so the index of a sentence is its
/// position in the text.
///
/// More than a million ids are stored in a temporary file. If the system allows, that file has no name, so it
/// disappears when the process ends for any reason. 40 bytes per 4,096 tokens stay in memory. The counts of tokens take
/// at most half a GiB of memory. Texts with more distinct tokens use a second temporary file, with exact counts too.
/// Vocabulary, blocks and ids depend only on the text, not on the number of threads or the compression of the files.
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
    /// `observer` receives up to ten reports per second: `units` counts tokens, and `done` is 0 if the size of the
    /// input is unknown. It also receives notes on lines with replaced bytes and on files without text.
    ///
    /// # Errors
    /// [`Error::EmptyInput`] if no file contains a token; [`Error::EmptyVocabulary`] if all tokens are too rare.
    /// [`Error::Io`], [`Error::InvalidUtf8`] and [`Error::LineTooLong`] for the first line that is not accepted.
    /// [`Error::Interrupted`] if the observer asks to stop; [`Error::InvalidParameter`] if an option is out of range or
    /// there are no files.
    pub fn read(
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, Self)> {
        Self::read_part(paths, options, None, observer)
    }

    /// Like [`Corpus::read`]. If the run is one of several ranks, reads the part of this rank: pieces of 1 MiB are
    /// dealt to the ranks in turn. The vocabulary counts the tokens of all ranks and equals that of a single run. If
    /// the observer of one rank asks to stop, all ranks stop, and each stores what it has read.
    ///
    /// # Errors
    /// The errors of [`Corpus::read`]; [`Error::Rank`] if another rank has ended; [`Error::InvalidParameter`] if the
    /// text has fewer pieces than there are ranks.
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

    /// Like [`Corpus::read_part`], with `count_bytes` bytes of counts in memory.
    fn read_counting(
        paths: &[PathBuf],
        options: &CorpusOptions,
        ranks: Option<&dyn Reduce>,
        count_bytes: usize,
        observer: &dyn Observer,
    ) -> Result<(Vocabulary, Self)> {
        // Ranks send their counts to each other, which needs them in memory.
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

    /// Reads files with a given vocabulary, to train a model further or to read other text with it.
    ///
    /// # Errors
    /// The errors of [`Corpus::read`], except that all tokens may be unknown.
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

    /// Creates a corpus from sentences that are already token ids: one document, in memory.
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

    /// The number of sentences, including empty ones.
    #[must_use]
    pub fn n_sentences(&self) -> u64 {
        self.sums.n_sentences
    }

    /// The number of documents.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.sums.n_documents
    }

    /// The number of tokens in the vocabulary, or of all tokens with [`CorpusOptions::keep_unknown`].
    #[must_use]
    pub fn n_tokens(&self) -> u64 {
        self.sums.n_tokens
    }

    /// The number of out-of-vocabulary tokens, which were left out.
    #[must_use]
    pub fn n_unknown(&self) -> u64 {
        self.n_unknown
    }

    /// The number of lines in which invalid bytes were replaced.
    #[must_use]
    pub fn n_replaced(&self) -> u64 {
        self.n_replaced
    }

    /// A hash that identifies the corpus: it depends on every token and on the ends of sentences and documents.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.sums.hash
    }

    /// The number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The number of tokens in the blocks before `block`.
    ///
    /// # Panics
    /// If `block` is above [`Corpus::n_blocks`].
    #[must_use]
    pub fn tokens_before(&self, block: usize) -> u64 {
        if block == self.blocks.len() { self.sums.n_tokens } else { self.blocks[block].first_token }
    }

    /// The block that contains a sentence, counted from 0; the number of blocks if the sentence does not exist.
    #[must_use]
    pub fn block_of(&self, sentence: u64) -> usize {
        if sentence >= self.sums.n_sentences {
            return self.blocks.len();
        }
        self.blocks.partition_point(|block| block.first_sentence <= sentence) - 1
    }

    /// The folder of the temporary file, for other files that belong to it; `None` if the ids are in memory.
    #[must_use]
    pub fn scratch_dir(&self) -> Option<&Path> {
        Some(self.storage.folder()).filter(|folder| !folder.as_os_str().is_empty())
    }

    /// Reads a block: consecutive sentences with about 4,096 tokens (more only if a sentence is longer).
    ///
    /// # Errors
    /// [`Error::Io`] if the temporary file cannot be read; [`Error::BadFile`] if its content has changed.
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

/// Runs the pass over the text, with the checks before and after it.
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
