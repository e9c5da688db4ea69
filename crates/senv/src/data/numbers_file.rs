//! Sentences and groups as 32-bit words in a file: lists, each preceded by its length.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use senv_core::{Error as CoreError, Result as CoreResult, TokenId, corpus::StoredListWriter, files::AtomicFile};

use super::{
    source::{AnchoredWriter, Groups, Lists, ListsWriter},
    taken::Taken,
};

/// The number of words read or written at a time.
const AT_A_TIME: usize = 1 << 16;

/// Writes such a file, which appears when it is complete.
pub(super) struct NumbersWriter {
    file: AtomicFile,
    checksum: crc32fast::Hasher,
    n: u64,
}

impl NumbersWriter {
    pub(super) fn create(path: &Path) -> CoreResult<Self> {
        Ok(Self { file: AtomicFile::create(path)?, checksum: crc32fast::Hasher::new(), n: 0 })
    }

    pub(super) fn put(&mut self, numbers: &[u32]) -> CoreResult<()> {
        for numbers in numbers.chunks(AT_A_TIME) {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            self.checksum.update(&bytes);
            self.file.write_all(&bytes).map_err(|e| self.file.error(e))?;
        }
        self.n += numbers.len() as u64;
        Ok(())
    }

    /// Writes a list after its length. Lists have up to 2^32 values, because sentences have 32-bit numbers.
    pub(super) fn list(&mut self, list: &[u32]) -> CoreResult<()> {
        let n = u32::try_from(list.len()).map_err(|_| CoreError::TooLarge { rows: list.len(), dim: 1 })?;
        self.put(&[n])?;
        self.put(list)
    }

    pub(super) fn sentences<'a>(&mut self, sentences: impl ExactSizeIterator<Item = &'a [TokenId]>) -> CoreResult<()> {
        self.put(&[sentences.len() as u32])?;
        let mut ids = Vec::new();
        for sentence in sentences {
            ids.clear();
            ids.extend(sentence.iter().map(|token| token.0));
            self.list(&ids)?;
        }
        Ok(())
    }

    pub(super) fn lists(&mut self, lists: &Lists) -> CoreResult<()> {
        self.put(&[lists.len() as u32])?;
        (0..lists.len()).try_for_each(|i| self.list(lists.get(i)))
    }

    /// Writes anchored groups, and nothing for other kinds.
    pub(super) fn anchored(&mut self, groups: &Groups) -> CoreResult<()> {
        if let Groups::Anchored { anchors, entailed, contradicted } = groups {
            self.list(anchors)?;
            self.lists(entailed)?;
            self.lists(contradicted)?;
        }
        Ok(())
    }

    /// Completes the file and returns the number of words and their CRC-32.
    pub(super) fn commit(self) -> CoreResult<(u64, u32)> {
        self.file.commit()?;
        Ok((self.n, self.checksum.finalize()))
    }
}

/// Reads such a file, whose checksum was verified.
pub(super) struct NumbersReader {
    path: PathBuf,
    file: BufReader<File>,
    left: u64,
    bytes: Vec<u8>,
    numbers: Vec<u32>,
}

impl NumbersReader {
    pub(super) fn open(path: &Path, n: u64, checksum: u32) -> CoreResult<Self> {
        let failed = |e| CoreError::io("read", path, e);
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        let file = BufReader::with_capacity(4 * AT_A_TIME, file);
        let mut numbers = Self { path: path.to_owned(), file, left: n, bytes: Vec::new(), numbers: Vec::new() };
        let mut sum = crc32fast::Hasher::new();
        let mut buffer = vec![0; 4 * AT_A_TIME];
        let mut left = bytes;
        while left > 0 {
            let some = &mut buffer[..left.min(4 * AT_A_TIME as u64) as usize];
            numbers.file.read_exact(some).map_err(failed)?;
            sum.update(some);
            left -= some.len() as u64;
        }
        if n.checked_mul(4) != Some(bytes) || sum.finalize() != checksum {
            return Err(numbers.damaged());
        }
        numbers.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(numbers)
    }

    fn damaged(&self) -> CoreError {
        let reason = "it is damaged or does not belong to the file stored with it; start over".to_owned();
        CoreError::BadFile { path: self.path.clone(), reason }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Passes the next `n` words to `each`, in parts.
    fn take(&mut self, n: u64, mut each: impl FnMut(&[u32]) -> CoreResult<()>) -> CoreResult<()> {
        self.left = self.left.checked_sub(n).ok_or_else(|| self.damaged())?;
        let mut left = n;
        while left > 0 {
            let some = left.min(AT_A_TIME as u64);
            self.bytes.resize(4 * some as usize, 0);
            self.file.read_exact(&mut self.bytes).map_err(|e| CoreError::io("read", &self.path, e))?;
            self.numbers.clear();
            self.numbers.extend(self.bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)));
            each(&self.numbers)?;
            left -= some;
        }
        Ok(())
    }

    fn next(&mut self) -> CoreResult<u32> {
        let mut number = 0;
        self.take(1, |numbers| {
            number = numbers[0];
            Ok(())
        })?;
        Ok(number)
    }

    /// Reads a list of any length.
    pub(super) fn list(&mut self, folder: Option<&Path>) -> CoreResult<StoredListWriter<u32>> {
        let n = self.next()?;
        let mut list = StoredListWriter::new(folder);
        self.take(u64::from(n), |numbers| list.extend(numbers.iter().copied()))?;
        Ok(list)
    }

    /// Passes lists to `each` that fit into memory one by one: sentences and groups.
    pub(super) fn each_list(&mut self, mut each: impl FnMut(&[u32]) -> CoreResult<()>) -> CoreResult<()> {
        let mut list = Vec::new();
        for _ in 0..self.next()? {
            list.clear();
            let n = self.next()?;
            self.take(u64::from(n), |numbers| {
                list.extend_from_slice(numbers);
                Ok(())
            })?;
            each(&list)?;
        }
        Ok(())
    }

    pub(super) fn lists(&mut self, folder: Option<&Path>) -> CoreResult<ListsWriter> {
        let mut lists = ListsWriter::new(folder);
        self.each_list(|list| lists.push(list.iter().copied()))?;
        Ok(lists)
    }

    pub(super) fn anchored(&mut self, folder: Option<&Path>) -> CoreResult<AnchoredWriter> {
        Ok(AnchoredWriter {
            anchors: self.list(folder)?,
            entailed: self.lists(folder)?,
            contradicted: self.lists(folder)?,
        })
    }

    /// Reads sentences. Those starting at number `start` are recognized when they occur again.
    pub(super) fn sentences(&mut self, taken: &mut Taken, start: usize) -> CoreResult<()> {
        let mut tokens = Vec::new();
        self.each_list(|ids| {
            tokens.clear();
            tokens.extend(ids.iter().map(|&id| TokenId(id)));
            if taken.sentences.len() < start {
                taken.sentences.push(tokens.iter().copied())
            } else {
                taken.number_of(&tokens).map(drop)
            }
        })
    }
}
