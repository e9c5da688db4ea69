//! NumPy `.npy` matrices: written as f32, read from floats and bytes of either byte order.

use std::{
    fs::File,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use senv_core::{AtomicFile, Rows, Table};

use crate::{Error, Result, word2vec_binary::le_bytes};

/// How a file starts.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Data start at a multiple of this.
const ALIGNMENT: usize = 64;
/// The longest header.
const MAX_HEADER: usize = 1 << 16;
/// The highest dimension.
const MAX_DIM: usize = 65_536;

/// Writes an f32 matrix row by row; the number of rows is given first and must be kept.
///
/// ```
/// use senv_store::NpyWriter;
/// let mut bytes = Vec::new();
/// let mut writer = NpyWriter::new(&mut bytes, "-", 2, 2)?;
/// writer.write_row(&[1.0, 2.0])?;
/// writer.write_row(&[3.0, 4.0])?;
/// writer.finish()?;
/// assert_eq!(bytes.len(), 128 + 16);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug)]
pub struct NpyWriter<W: Write> {
    writer: W,
    path: PathBuf,
    n_rows: usize,
    dim: usize,
    written: usize,
}

impl<W: Write> NpyWriter<W> {
    /// Starts a matrix of `n_rows` rows of `dim` numbers; `name` stands for the path in errors.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the header cannot be written.
    pub fn new(mut writer: W, name: impl AsRef<Path>, n_rows: usize, dim: usize) -> Result<Self> {
        let path = name.as_ref().to_owned();
        writer.write_all(&header(n_rows, dim)).map_err(|e| senv_core::Error::io("write", &path, e))?;
        Ok(Self { writer, path, n_rows, dim, written: 0 })
    }

    /// Writes the next row.
    ///
    /// # Errors
    /// [`Error::BadWrite`] for a row too many or of another length; [`senv_core::Error::Io`].
    pub fn write_row(&mut self, row: &[f32]) -> Result<()> {
        if row.len() != self.dim || self.written == self.n_rows {
            let what = format!("row {} of {} numbers", self.written + 1, row.len());
            let reason = format!("the matrix has {} rows of {}", self.n_rows, self.dim);
            return Err(Error::BadWrite { path: self.path.clone(), what, reason });
        }
        self.written += 1;
        Ok(self.writer.write_all(&le_bytes(row)).map_err(|e| senv_core::Error::io("write", &self.path, e))?)
    }

    /// Ends the matrix and gives the writer back.
    ///
    /// # Errors
    /// [`Error::BadWrite`] if rows are missing; [`senv_core::Error::Io`] if the rest cannot be written.
    pub fn finish(mut self) -> Result<W> {
        if self.written != self.n_rows {
            let (what, reason) =
                ("the end of the matrix".into(), format!("{} of {} rows are written", self.written, self.n_rows));
            return Err(Error::BadWrite { path: self.path, what, reason });
        }
        self.writer.flush().map_err(|e| senv_core::Error::io("write", &self.path, e))?;
        Ok(self.writer)
    }
}

/// Writes a matrix to a file, which appears whole or not at all.
///
/// # Errors
/// [`senv_core::Error::Io`] if it cannot be written.
pub fn write_npy(path: impl AsRef<Path>, rows: &dyn Rows) -> Result<()> {
    let path = path.as_ref();
    let mut writer = NpyWriter::new(AtomicFile::create(path)?, path, rows.n_rows(), rows.dim())?;
    for i in 0..rows.n_rows() {
        writer.write_row(rows.row(i))?;
    }
    Ok(writer.finish()?.commit()?)
}

fn header(n_rows: usize, dim: usize) -> Vec<u8> {
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {dim}), }}");
    let mut header = [MAGIC.as_slice(), b"\x01\x00\x00\x00", dict.as_bytes()].concat();
    header.resize((header.len() + 1).next_multiple_of(ALIGNMENT) - 1, b' ');
    header.push(b'\n');
    let len = (header.len() - 10) as u16; // below 200, for two numbers of 20 digits
    header[8..10].copy_from_slice(&len.to_le_bytes());
    header
}

/// Reads a matrix as f32; a vector becomes one column. Little-endian f32 in row order is mapped and not read, the
/// rest (`f2`, `f8`, `i1`, `u1`, big-endian, column order) is converted.
///
/// # Errors
/// [`Error::BadNpy`] if it is no matrix of these types, or not as long as its shape says;
/// [`senv_core::Error::Io`] if it cannot be read.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Table> {
    let path = path.as_ref();
    let bad = |reason: String| Error::BadNpy { path: path.to_owned(), reason };
    let io = |e| senv_core::Error::io("read", path, e);
    let file = File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
    let len = file.metadata().map_err(io)?.len();
    let mut start = Vec::new();
    (&file).take(12 + MAX_HEADER as u64).read_to_end(&mut start).map_err(io)?;
    let head = Head::parse(&start).map_err(bad)?;

    let too_large = || bad(format!("the shape ({}, {}) overflows", head.rows, head.columns));
    let n = head.rows.checked_mul(head.columns).ok_or_else(too_large)?;
    let bytes = n.checked_mul(head.kind.width()).ok_or_else(too_large)?;
    let data = len.saturating_sub(head.data as u64);
    if data != bytes as u64 {
        let (rows, columns) = (head.rows, head.columns);
        return Err(bad(format!("the shape ({rows}, {columns}) needs {bytes} bytes of data, the file holds {data}")));
    }
    if head.columns > MAX_DIM {
        return Err(bad(format!("a row has {} numbers, the limit is {MAX_DIM}", head.columns)));
    }
    if head.columns == 0 && head.rows > 0 {
        return Err(bad("the rows hold no numbers".into()));
    }
    let in_place =
        head.kind == Kind::F4 && !head.big_endian && (!head.columns_first || head.rows <= 1 || head.columns == 1);
    if in_place && head.data % 4 == 0 && cfg!(target_endian = "little") && bytes > 0 {
        return Ok(Table::map_file(path, &file, head.data, head.rows, head.columns)?);
    }

    let mut values = Vec::new();
    values.try_reserve_exact(n).map_err(|_| senv_core::Error::TooLarge { rows: head.rows, dim: head.columns })?;
    // From the bytes that were read already on to the rest of the file.
    let mut source = start[head.data.min(start.len())..].chain(&file);
    let mut buffer = vec![0; 8 << 10];
    while values.len() < n {
        let take = ((n - values.len()) * head.kind.width()).min(buffer.len());
        source.read_exact(&mut buffer[..take]).map_err(io)?;
        let number = |bytes: &[u8]| head.kind.number(bytes, head.big_endian);
        values.extend(buffer[..take].chunks_exact(head.kind.width()).map(number));
    }
    if head.columns_first {
        let columns = values;
        values = (0..n).map(|i| columns[(i % head.columns) * head.rows + i / head.columns]).collect();
    }
    Ok(Table::from_vec(head.rows, head.columns, values)?)
}

/// The types that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F2,
    F4,
    F8,
    I1,
    U1,
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Self::F2 => 2,
            Self::F4 => 4,
            Self::F8 => 8,
            Self::I1 | Self::U1 => 1,
        }
    }

    fn number(self, bytes: &[u8], big_endian: bool) -> f32 {
        let mut le = [0; 8];
        let le = &mut le[..bytes.len()];
        le.copy_from_slice(bytes);
        if big_endian {
            le.reverse();
        }
        match *le {
            [a] if self == Self::I1 => f32::from(a as i8),
            [a] => f32::from(a),
            [a, b] => half(u16::from_le_bytes([a, b])),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
            _ => f32::NAN, // no type has this width
        }
    }
}

/// An f16 as f32, exactly: 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction as f32 * (-24f32).exp2(),
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// What the header says.
#[derive(Debug)]
struct Head {
    kind: Kind,
    big_endian: bool,
    columns_first: bool,
    rows: usize,
    columns: usize,
    /// First byte of the data.
    data: usize,
}

impl Head {
    fn parse(file: &[u8]) -> Result<Self, String> {
        let cut = || "the file ends inside the header".to_owned();
        if !file.starts_with(MAGIC) {
            return Err("no NumPy matrix: the file does not start with \\x93NUMPY".into());
        }
        let (len, start) = match file.get(6..8).ok_or_else(cut)? {
            [1, _] => (file.get(8..10).ok_or_else(cut)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)), 10),
            [2 | 3, _] => (file.get(8..12).ok_or_else(cut)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)), 12),
            [major, minor] => return Err(format!("version {major}.{minor} of the format, expected 1.0 to 3.0")),
            _ => return Err(cut()),
        };
        if len > MAX_HEADER {
            return Err(format!("a header of {len} bytes, the limit is {MAX_HEADER}"));
        }
        let text = file.get(start..start + len).ok_or_else(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| "the header is not UTF-8".to_owned())?;
        Dict { rest: text }.head(start + len)
    }
}

/// The grammar of the header: a Python dict of three keys, nothing evaluated.
struct Dict<'a> {
    rest: &'a str,
}

impl<'a> Dict<'a> {
    fn head(mut self, data: usize) -> Result<Head, String> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.found("}") {
            let key = self.string()?;
            self.expect(":")?;
            let twice = match key {
                "descr" => {
                    descr.replace(self.string().map_err(|e| format!("{e}; structured types are not read"))?).is_some()
                }
                "fortran_order" => order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(format!("unknown header key {key:?}")),
            };
            if twice {
                return Err(format!("header key {key:?} stands twice"));
            }
            if !self.found(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim_ascii().is_empty() {
            return Err(format!("{:?} follows the header", self.shown()));
        }
        let missing = |key: &str| format!("the header lacks {key:?}");
        let descr = descr.ok_or_else(|| missing("descr"))?;
        let columns_first = order.ok_or_else(|| missing("fortran_order"))?;
        let (rows, columns) = shape.ok_or_else(|| missing("shape"))?;
        let (order, kind) = descr.split_at_checked(1).unwrap_or(("", descr));
        let kind = match kind {
            "f2" => Kind::F2,
            "f4" => Kind::F4,
            "f8" => Kind::F8,
            "i1" => Kind::I1,
            "u1" => Kind::U1,
            _ => {
                return Err(format!(
                    "numbers of type {descr:?}, expected f4 (or f2, f8, i1, u1): save them with astype('float32')"
                ));
            }
        };
        let big_endian = match order {
            "<" | "=" | "|" => false,
            ">" => true,
            _ => return Err(format!("numbers of type {descr:?}, expected '<f4' or the like")),
        };
        Ok(Head { kind, big_endian, columns_first, rows, columns, data })
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn shown(&self) -> String {
        self.rest.chars().take(20).collect()
    }

    fn found(&mut self, mark: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.found(mark) {
            Ok(())
        } else {
            Err(format!("{mark:?} is missing before {:?} in the header", self.shown()))
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.skip();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let inner = quote.and_then(|quote| self.rest[1..].split_once(quote));
        let Some((text, rest)) = inner else {
            return Err(format!("a quoted text is missing before {:?} in the header", self.shown()));
        };
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        match (self.found("True"), self.found("False")) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(format!("True or False is missing before {:?} in the header", self.shown())),
        }
    }

    /// `(rows, columns)` or `(rows,)`; Python 2 wrote `10L`.
    fn shape(&mut self) -> Result<(usize, usize), String> {
        self.expect("(")?;
        let mut axes = Vec::new();
        while !self.found(")") {
            self.skip();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let digits = &self.rest[..end];
            let axis: usize =
                digits.parse().map_err(|_| format!("{digits:?} before {:?} is no size of an axis", self.shown()))?;
            self.rest = &self.rest[end..];
            self.found("L");
            axes.push(axis);
            if axes.len() > 2 {
                return Err("more than two axes, expected a matrix".into());
            }
            if !self.found(",") {
                self.expect(")")?;
                break;
            }
        }
        match axes[..] {
            [rows, columns] => Ok((rows, columns)),
            [rows] => Ok((rows, 1)),
            _ => Err("no axis, expected a matrix".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn every_half_is_read_exactly() {
        // Worked by hand: 1, -2, the largest, the smallest normal and subnormal one, the infinities, minus zero.
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).to_bits() == 0x8000_0000);
        // (−1)^s · 2^(e − 15) · (1 + f / 1024), or 2^−14 · f / 1024.
        for bits in 0..0x7c00u16 {
            let (e, f) = (i32::from(bits >> 10), f64::from(bits & 0x3ff));
            let expected = if e == 0 { f / 1024.0 * 2f64.powi(-14) } else { (1.0 + f / 1024.0) * 2f64.powi(e - 15) };
            assert_eq!(f64::from(half(bits)), expected);
            assert_eq!(half(bits | 0x8000).to_bits(), half(bits).to_bits() | 1 << 31);
        }
    }
}
