//! Checksums of tensors and of the header.

use rayon::prelude::*;

use super::KEY_HEADER_CRC;

/// Bytes per thread and step of a checksum.
pub(crate) const PIECE: usize = 1 << 20;

/// The CRC-32 of bytes; uses all threads if there are many.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    if bytes.len() <= PIECE {
        return crc32fast::hash(bytes);
    }
    let pieces: Vec<crc32fast::Hasher> = bytes
        .par_chunks(PIECE)
        .map(|piece| {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(piece);
            hasher
        })
        .collect();
    combine(pieces)
}

/// The checksum of adjacent pieces.
pub(crate) fn combine(pieces: Vec<crc32fast::Hasher>) -> u32 {
    let mut all = crc32fast::Hasher::new();
    for piece in &pieces {
        all.combine(piece);
    }
    all.finalize()
}

/// The checksum of the length word and the header, with the checksum itself as eight zeros.
pub(crate) fn header_crc(header: &[u8], recorded: u32) -> u32 {
    let digits = format!("\"{KEY_HEADER_CRC}\":\"{recorded:08x}\"");
    let mut hasher = crc32fast::Hasher::new();
    match memchr::memmem::find(header, digits.as_bytes()) {
        Some(at) => {
            let at = at + digits.len() - 9;
            hasher.update(&header[..at]);
            hasher.update(b"00000000");
            hasher.update(&header[at + 8..]);
        }
        // Another program has rewritten it with different white space, and should have dropped the key.
        None => hasher.update(header),
    }
    hasher.finalize()
}
