//! Zstandard files with any number of frames, based on a decoder of single frames.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The decompressed text of a file.
pub(crate) fn reader(whole: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(ZstdReader::new(BufReader::with_capacity(super::AHEAD_OF_DECODER, whole))))
}

/// Decodes frame after frame, skips skippable ones and verifies checksums.
struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Starts the next frame that has content; returns false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let ahead = self.source.fill_buf()?;
            if ahead.is_empty() {
                return Ok(false);
            }
            // The magic numbers of skippable frames are 0x184D2A50 to 5F, little-endian.
            if ahead[0] & 0xF0 != 0x50 {
                self.decoder.reset(&mut self.source).map_err(invalid)?;
                return Ok(true);
            }
            let mut header = [0; 8];
            self.source.read_exact(&mut header)?;
            if header[1..4] != [0x2A, 0x4D, 0x18] {
                return Err(invalid("not a Zstandard frame or a skippable frame"));
            }
            let length = u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]]));
            if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? != length {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.in_frame {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.in_frame = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)).map_err(invalid)?;
            }
            let n = self.decoder.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            let stored = self.decoder.get_checksum_from_data();
            if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                return Err(invalid("the checksum does not match the text"));
            }
            self.in_frame = false;
        }
        Ok(0)
    }
}
