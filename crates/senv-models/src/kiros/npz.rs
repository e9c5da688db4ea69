//! Arrays of f32 or f64 out of `.npz` files: zip archives of `.npy` files, stored or deflated.
//!
//! Only what NumPy itself writes is read. Sizes are checked against the file before memory is asked for.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use flate2::{Crc, read::DeflateDecoder};
use senv_core::Error as CoreError;

use crate::{Error, Result};

/// The end record and the longest comment behind it.
const TAIL: u64 = 22 + 65_535;

/// The longest directory, in bytes: tens of thousands of arrays.
const MAX_DIRECTORY: u64 = 1 << 22;

/// The most numbers of an array: 8 GiB of f32.
const MAX_NUMBERS: usize = 1 << 31;

/// An array with one or two axes, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// A file of arrays, opened.
#[derive(Debug)]
pub(super) struct Npz {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    deflated: bool,
    crc: u32,
    packed: u64,
    size: u64,
    /// Where its own header stands.
    at: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Npz {
    /// Opens a file and reads its directory.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| CoreError::io("open", path, e))?;
        let io = |e| CoreError::io("read", path, e);
        let bad = |reason: &str| bad(path, reason.to_owned());
        let len = file.metadata().map_err(io)?.len();
        let tail_at = len.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(tail_at)).map_err(io)?;
        let mut tail = Vec::new();
        (&file).take(TAIL).read_to_end(&mut tail).map_err(io)?;
        let end = tail.windows(4).rposition(|w| w == b"PK\x05\x06");
        let end = end.ok_or_else(|| bad("no zip archive, as .npz files are: its end record is missing"))?;
        let record = &tail[end..];
        let (Some(n), Some(size), Some(at)) = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16)) else {
            return Err(bad("the end record of the archive is cut off"));
        };
        let (size, at) = (u64::from(size), u64::from(at));
        if size > MAX_DIRECTORY || at + size > tail_at + end as u64 {
            return Err(bad("the directory of the archive lies outside the file, or the archive is above 4 GiB"));
        }
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut directory = Vec::new();
        (&file).take(size).read_to_end(&mut directory).map_err(io)?;
        let entries = entries(&directory, n).ok_or_else(|| bad("the directory of the archive is damaged"))?;
        Ok(Self { path: path.to_owned(), file, entries })
    }

    /// The array of this name, which must have the given number of axes.
    pub(super) fn array(&mut self, name: &str, axes: usize) -> Result<Array> {
        let wrong = |reason: String| bad(&self.path, format!("array {name:?}: {reason}"));
        let entry = self.entries.iter().find(|entry| entry.name.strip_suffix(".npy") == Some(name));
        let Some(entry) = entry else {
            let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.trim_end_matches(".npy")).collect();
            return Err(wrong(format!("it is missing; the file has {}", names.join(", "))));
        };
        let io = |e| CoreError::io("read", &self.path, e);
        let len = self.file.metadata().map_err(io)?.len();
        let mut header = [0; 30];
        (&self.file).seek(SeekFrom::Start(entry.at)).map_err(io)?;
        (&self.file).read_exact(&mut header).map_err(io)?;
        let names = u16_at(&header, 26).zip(u16_at(&header, 28)).map(|(name, extra)| (name + extra) as u64);
        let data = names.filter(|_| header.starts_with(b"PK\x03\x04")).map(|names| entry.at + 30 + names);
        let Some(data) = data.filter(|data| data + entry.packed <= len) else {
            return Err(wrong("its place in the archive is damaged".into()));
        };
        if !entry.deflated && entry.packed != entry.size || entry.size > 16 + 8 * MAX_NUMBERS as u64 {
            return Err(wrong(format!("{} bytes in the archive for {}", entry.packed, entry.size)));
        }
        (&self.file).seek(SeekFrom::Start(data)).map_err(io)?;
        let packed = (&self.file).take(entry.packed);
        let mut bytes = Vec::new();
        let read = if entry.deflated {
            DeflateDecoder::new(packed).take(entry.size + 1).read_to_end(&mut bytes)
        } else {
            let mut packed = packed;
            packed.read_to_end(&mut bytes)
        };
        read.map_err(|error| wrong(format!("it cannot be unpacked: {error}")))?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        if bytes.len() as u64 != entry.size || crc.sum() != entry.crc {
            return Err(wrong("it is damaged: its checksum or its length is another".into()));
        }
        let array = parse(&bytes).map_err(wrong)?;
        if array.shape.len() == axes {
            Ok(array)
        } else {
            Err(wrong(format!("{axes} axes expected, it has the shape {:?}", array.shape)))
        }
    }
}

fn bad(path: &Path, reason: String) -> Error {
    Error::BadWeights { path: path.to_owned(), reason }
}

/// The directory of an archive; nothing if it is damaged.
fn entries(mut rest: &[u8], n: usize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    for _ in 0..n {
        let method = u16_at(rest, 10)?;
        let names = [u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?];
        let name = std::str::from_utf8(rest.get(46..46 + names[0])?).ok()?;
        if !rest.starts_with(b"PK\x01\x02") || !matches!(method, 0 | 8) {
            return None;
        }
        entries.push(Entry {
            name: name.to_owned(),
            deflated: method == 8,
            crc: u32_at(rest, 16)?,
            packed: u64::from(u32_at(rest, 20)?),
            size: u64::from(u32_at(rest, 24)?),
            at: u64::from(u32_at(rest, 42)?),
        });
        rest = rest.get(46 + names.iter().sum::<usize>()..)?;
    }
    Some(entries)
}

/// The array in the bytes of a `.npy` file.
fn parse(bytes: &[u8]) -> Result<Array, String> {
    let cut = || "it ends inside its header".to_owned();
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("it is no NumPy array".into());
    }
    let (start, len) = match bytes.get(6).ok_or_else(cut)? {
        1 => (10, u16_at(bytes, 8).ok_or_else(cut)?),
        _ => (12, u32_at(bytes, 8).ok_or_else(cut)? as usize),
    };
    let header = bytes.get(start..).and_then(|rest| rest.get(..len)).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not UTF-8".to_owned())?;
    let after = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let kind = after("descr").and_then(|rest| rest.strip_prefix('\'')?.split_once('\'')).map(|(kind, _)| kind);
    let width = match kind {
        Some("<f4") => 4,
        Some("<f8") => 8,
        _ => return Err(format!("its numbers are of type {}, expected <f4 or <f8", kind.unwrap_or("unknown"))),
    };
    let order = after("fortran_order").ok_or("its header does not say in which order its numbers lie")?;
    let columns_first = order.starts_with("True");
    let shape = after("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
    let shape: Option<Vec<usize>> = shape.and_then(|(axes, _)| {
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        axes.map(|axis| axis.parse().ok()).collect()
    });
    let shape = shape.ok_or("its header has no shape")?;
    let n = shape.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis)).filter(|&n| n <= MAX_NUMBERS);
    let data = &bytes[start + len..];
    if n.and_then(|n| n.checked_mul(width)) != Some(data.len()) {
        return Err(format!("the shape {shape:?} does not fit {} bytes", data.len()));
    }
    let number = |x: &[u8]| match *x {
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
        _ => f32::NAN, // no type has this width
    };
    let at = |i: usize| number(&data[i * width..][..width]);
    let values: Vec<f32> = match shape[..] {
        [rows, columns] if columns_first => (0..rows * columns).map(|i| at(i % columns * rows + i / columns)).collect(),
        [_, _, _, ..] if columns_first => return Err(format!("it lies column by column in the shape {shape:?}")),
        _ => data.chunks_exact(width).map(number).collect(),
    };
    if values.iter().all(|x| x.is_finite()) {
        Ok(Array { shape, values })
    } else {
        Err("it has a number that is not finite".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of an array as NumPy writes it.
    fn npy(order: &str, shape: &str, values: &[f32]) -> Vec<u8> {
        let header = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        file
    }

    #[test]
    fn arrays_that_lie_column_by_column_are_turned() {
        let rows = parse(&npy("False", "(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        let columns = parse(&npy("True", "(2, 3)", &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])).unwrap();
        assert_eq!((&rows.shape[..], &rows), (&[2, 3][..], &columns));
        let vector = parse(&npy("True", "(3,)", &[1.0, 2.0, 3.0])).unwrap();
        assert_eq!((&vector.shape[..], &vector.values[..]), (&[3][..], &[1.0, 2.0, 3.0][..]));
        assert_eq!(parse(&npy("True", "(0, 3)", &[])).unwrap().values, [0.0; 0]);
        assert!(parse(&npy("True", "(1, 1, 1)", &[1.0])).unwrap_err().contains("[1, 1, 1]"));
        assert!(parse(&npy("True", "(2, 3)", &[1.0; 5])).unwrap_err().contains("20 bytes"));
    }
}
