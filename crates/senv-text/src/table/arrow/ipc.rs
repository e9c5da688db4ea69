//! Reads record batches from Arrow IPC.
//!
//! A stream is a sequence of messages. A file has a footer with the position of each message, and what is between them
//! is unspecified (Polars writes no stream there). Every length is checked against the file size before it is used,
//! because the readers of `arrow-ipc` allocate memory first.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{
    Block, Message, RecordBatch as Header,
    convert::fb_to_schema,
    reader::{FileDecoder, StreamDecoder, read_footer_length},
    root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, SchemaRef};

/// The bytes after the footer: its length and a mark.
const TRAILER: u64 = 10;
/// Ends a stream; each message starts with its first four bytes.
const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

type Result<T> = std::result::Result<T, ArrowError>;

fn damaged(reason: &str) -> ArrowError {
    ArrowError::IpcError(reason.into())
}

/// The record batches of an Arrow file.
pub(super) struct FileBatches {
    file: BufReader<File>,
    size: u64,
    decoder: FileDecoder,
    blocks: VecDeque<Block>,
}

impl FileBatches {
    /// Opens a file and reads its schema and dictionaries.
    pub(super) fn open(mut file: File) -> Result<(Self, SchemaRef)> {
        let size = file.seek(SeekFrom::End(0))?;
        let cut = || damaged("the end marker is missing");
        let mut trailer = [0; TRAILER as usize];
        let end = size.checked_sub(TRAILER).ok_or_else(cut)?;
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut trailer)?;
        let length = read_footer_length(trailer).map_err(|_| cut())? as u64;
        let start = end.checked_sub(length).ok_or_else(|| damaged("its footer is longer than the file"))?;
        let mut file = BufReader::new(file);
        file.seek(SeekFrom::Start(start))?;
        let bytes = read(&mut file, length, Vec::new())?;
        let footer = root_as_footer(&bytes).map_err(|error| damaged(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        let schema = Arc::new(fb_to_schema(schema));
        let decoder = FileDecoder::new(schema.clone(), footer.version());
        let blocks = footer.recordBatches().iter().flatten().copied().collect();
        let mut batches = Self { file, size, decoder, blocks };
        for block in footer.dictionaries().iter().flatten() {
            let message = batches.read(block)?;
            batches.decoder.read_dictionary(block, &message)?;
        }
        Ok((batches, schema))
    }

    /// Restricts reading to these columns.
    pub(super) fn with_columns(self, roots: Vec<usize>) -> Self {
        Self { decoder: self.decoder.with_projection(roots), ..self }
    }

    /// Reads a message and checks its lengths.
    fn read(&mut self, block: &Block) -> Result<Buffer> {
        let outside = || damaged("a message is outside the file");
        let part = |n: i64| u64::try_from(n).map_err(|_| outside());
        let (offset, header, body) =
            (part(block.offset())?, part(block.metaDataLength().into())?, part(block.bodyLength())?);
        let n = header.checked_add(body).ok_or_else(outside)?;
        if offset.checked_add(n).is_none_or(|end| end > self.size) {
            return Err(outside());
        }
        self.file.seek(SeekFrom::Start(offset))?;
        let bytes = read(&mut self.file, n, Vec::new())?;
        let (header, body) = bytes.split_at(header as usize);
        let start = if header.starts_with(&END[..4]) { 8 } else { 4 };
        let message = header.get(start..).ok_or_else(outside)?;
        let message = root_as_message(message).map_err(|error| damaged(&error.to_string()))?;
        check_sizes(body, &compressed(&message))?;
        Ok(bytes.into())
    }
}

impl Iterator for FileBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = self.blocks.pop_front()?;
        let message = self.read(&block);
        message.and_then(|message| self.decoder.read_record_batch(&block, &message)).transpose()
    }
}

/// The record batches of an Arrow stream.
pub(super) struct StreamBatches {
    file: BufReader<File>,
    /// The remaining bytes.
    left: u64,
    decoder: StreamDecoder,
    /// The part of the current message that the decoder has not consumed.
    message: Buffer,
    is_done: bool,
    /// The columns to keep; `None` keeps all.
    pub(super) roots: Option<Vec<usize>>,
}

impl StreamBatches {
    /// Opens a stream and reads its schema.
    pub(super) fn open(mut file: File) -> Result<(Self, SchemaRef)> {
        let left = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let (decoder, message) = (StreamDecoder::new(), Buffer::from([0_u8; 0]));
        let mut batches = Self { file: BufReader::new(file), left, decoder, message, is_done: false, roots: None };
        let (message, start) = batches.next_message()?.ok_or_else(|| damaged("it has no schema"))?;
        let first = root_as_message(&message[start..]).map_err(|error| damaged(&error.to_string()))?;
        let schema = first.header_as_schema().ok_or_else(|| damaged("it does not start with a schema"))?;
        let schema = Arc::new(fb_to_schema(schema));
        batches.message = message.into();
        Ok((batches, schema))
    }

    /// The bytes of the next message and the start of its header; `None` at the end.
    fn next_message(&mut self) -> Result<Option<(Vec<u8>, usize)>> {
        if self.left < 4 {
            return Ok(None);
        }
        let mut bytes = self.read(4, Vec::new())?;
        if bytes == END[..4] {
            bytes = self.read(4, bytes)?;
        }
        let start = bytes.len();
        let size = bytes[start - 4..].try_into().map_or(0, u32::from_le_bytes);
        if size == 0 {
            return Ok(None);
        }
        let bytes = self.read(u64::from(size), bytes)?;
        let end = bytes.len();
        let message = root_as_message(&bytes[start..]).map_err(|error| damaged(&error.to_string()))?;
        let length = u64::try_from(message.bodyLength()).map_err(|_| damaged("a length is negative"))?;
        let buffers = compressed(&message);
        let bytes = self.read(length, bytes)?;
        check_sizes(&bytes[end..], &buffers)?;
        Ok(Some((bytes, start)))
    }

    /// Appends exactly `n` bytes, or fails.
    fn read(&mut self, n: u64, bytes: Vec<u8>) -> Result<Vec<u8>> {
        self.left = self.left.checked_sub(n).ok_or_else(|| damaged("it is truncated"))?;
        read(&mut self.file, n, bytes)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if !self.message.is_empty() {
                if let Some(batch) = self.decoder.decode(&mut self.message)? {
                    let Some(roots) = &self.roots else { return Ok(Some(batch)) };
                    return batch.project(roots).map(Some);
                }
                continue;
            }
            if self.is_done {
                return Ok(None);
            }
            // The decoder consumes a message without a body when the next one arrives.
            self.message = match self.next_message()? {
                Some((message, _)) => message.into(),
                None => {
                    self.is_done = true;
                    Buffer::from(END)
                }
            };
        }
    }
}

impl Iterator for StreamBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// Appends exactly `n` bytes of a file.
fn read(file: &mut BufReader<File>, n: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let n = usize::try_from(n).map_err(|_| damaged("a message does not fit in memory"))?;
    bytes.try_reserve_exact(n).map_err(|_| damaged("a message does not fit in memory"))?;
    let start = bytes.len();
    bytes.resize(start + n, 0);
    file.read_exact(&mut bytes[start..])?;
    Ok(bytes)
}

/// The positions and lengths of the compressed buffers in the body of a message.
fn compressed(message: &Message<'_>) -> Vec<(i64, i64)> {
    let batch: Option<Header<'_>> = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Vec::new() };
    batch.buffers().iter().flatten().map(|buffer| (buffer.offset(), buffer.length())).collect()
}

/// Checks that there is memory for the compressed buffers.
fn check_sizes(body: &[u8], buffers: &[(i64, i64)]) -> Result<()> {
    for &(offset, length) in buffers.iter().filter(|(_, length)| *length > 0) {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let prefix = body.get(start..).and_then(|rest| rest.first_chunk()).copied();
        let size = prefix.map(i64::from_le_bytes).ok_or_else(|| damaged("a buffer is outside its message"))?;
        // -1 stands for a buffer that is not compressed.
        let Ok(size) = usize::try_from(size) else { continue };
        if Vec::<u8>::new().try_reserve_exact(size).is_err() {
            return Err(damaged(&format!("{length} bytes expand to {size}, which do not fit in memory")));
        }
    }
    Ok(())
}
