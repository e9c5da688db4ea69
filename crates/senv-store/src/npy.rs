//! NumPy `.npy` matrices: written as f32, read from floats and bytes in either byte order.

use std::{
    fs::File,
    io::{BufReader, Chain, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use senv_core::{Rows, Table, files::AtomicFile};

use crate::{
    Error, Result,
    npy_header::{Head, MAGIC, MAX_HEADER, mark_as_padding},
    word2vec_binary::le_bytes,
};

/// The alignment of the data.
const ALIGNMENT: usize = 64;
/// The highest dimension.
const MAX_DIM: usize = 65_536;

/// Writes an f32 matrix row by row; the number of rows is fixed at the start.
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
pub struct NpyWriter<W> {
    writer: W,
    path: PathBuf,
    n_rows: usize,
    dim: usize,
    written: usize,
}

impl<W: Write> NpyWriter<W> {
    /// Starts a matrix of `n_rows` rows of dimension `dim`; `name` replaces the path in errors.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the header cannot be written.
    pub fn new(writer: W, name: impl AsRef<Path>, n_rows: usize, dim: usize) -> Result<Self> {
        Self::start(writer, name.as_ref(), n_rows, dim, &[])
    }

    /// Like [`NpyWriter::new`], with a number stored in the padding of the header, for example a checksum of what
    /// belongs to the matrix; 0 stores none. [`read_npy_marked`] returns it.
    ///
    /// # Errors
    /// The errors of [`NpyWriter::new`].
    pub fn marked(writer: W, name: impl AsRef<Path>, n_rows: usize, dim: usize, mark: u32) -> Result<Self> {
        Self::start(writer, name.as_ref(), n_rows, dim, &mark_as_padding(mark))
    }

    fn start(mut writer: W, path: &Path, n_rows: usize, dim: usize, padding: &[u8]) -> Result<Self> {
        let path = path.to_owned();
        writer.write_all(&header(n_rows, dim, padding)).map_err(|e| senv_core::Error::io("write", &path, e))?;
        Ok(Self { writer, path, n_rows, dim, written: 0 })
    }

    /// Writes the next row.
    ///
    /// # Errors
    /// [`senv_core::Error::BadWrite`] if there is a row too many, or one of a different length;
    /// [`senv_core::Error::Io`].
    pub fn write_row(&mut self, row: &[f32]) -> Result<()> {
        if row.len() != self.dim || self.written == self.n_rows {
            let what = format!("row {} of {} numbers", self.written + 1, row.len());
            let reason = format!("the matrix has {} rows of {}", self.n_rows, self.dim);
            return Err(senv_core::Error::BadWrite { path: self.path.clone(), what, reason }.into());
        }
        self.written += 1;
        Ok(self.writer.write_all(&le_bytes(row)).map_err(|e| senv_core::Error::io("write", &self.path, e))?)
    }

    /// Ends the matrix and returns the writer.
    ///
    /// # Errors
    /// [`senv_core::Error::BadWrite`] if rows are missing; [`senv_core::Error::Io`] if the rest cannot be written.
    pub fn finish(mut self) -> Result<W> {
        if self.written != self.n_rows {
            let (what, reason) =
                ("the end of the matrix".into(), format!("{} of {} rows were written", self.written, self.n_rows));
            return Err(senv_core::Error::BadWrite { path: self.path, what, reason }.into());
        }
        self.writer.flush().map_err(|e| senv_core::Error::io("write", &self.path, e))?;
        Ok(self.writer)
    }
}

/// Writes a matrix to a file, by atomic replacement.
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

fn header(n_rows: usize, dim: usize, padding: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {dim}), }}");
    let mut header = [MAGIC.as_slice(), b"\x01\x00\x00\x00", dict.as_bytes(), padding].concat();
    header.resize((header.len() + 1).next_multiple_of(ALIGNMENT) - 1, b' ');
    header.push(b'\n');
    let len = (header.len() - 10) as u16; // below 200, for two numbers of 20 digits
    header[8..10].copy_from_slice(&len.to_le_bytes());
    header
}

/// Reads a matrix (`f2`, `f4`, `f8`, `i1`, `u1` in either byte order, row- or column-major) as f32 into memory. It is
/// not memory-mapped, because other programs modify such files in place (`numpy.memmap`). A vector becomes one column.
///
/// # Errors
/// [`Error::BadNpy`] if it is not a matrix of these types, or its length does not match its shape;
/// [`senv_core::Error::Io`] if it cannot be read.
pub fn read_npy(path: impl AsRef<Path>) -> Result<Table> {
    Ok(read_npy_marked(path)?.0)
}

/// Like [`read_npy`], with the number that [`NpyWriter::marked`] stored in the header; `None` for files of other
/// programs.
///
/// # Errors
/// The errors of [`read_npy`].
pub fn read_npy_marked(path: impl AsRef<Path>) -> Result<(Table, Option<u32>)> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
    let len = file.metadata().map_err(|e| senv_core::Error::io("read", path, e))?.len();
    let (head, start) = Head::read(&file, len, path)?;
    Ok((head.numbers(start.chain(&file), path)?, head.mark))
}

/// Like [`read_npy`], from a stream of `len` bytes, such as an entry of an archive, which is read to its end; `name`
/// replaces the path in errors.
///
/// ```
/// use senv_store::{NpyWriter, read_npy_stream};
/// let mut bytes = Vec::new();
/// let mut writer = NpyWriter::new(&mut bytes, "-", 1, 2)?;
/// writer.write_row(&[1.0, 2.0])?;
/// writer.finish()?;
/// let table = read_npy_stream(&bytes[..], bytes.len() as u64, "memory")?;
/// assert_eq!((table.n_rows(), table.dim(), table.values()), (1, 2, &[1.0, 2.0][..]));
/// assert!(read_npy_stream(&bytes[..bytes.len() - 1], bytes.len() as u64, "cut").is_err());
/// # Ok::<(), senv_store::Error>(())
/// ```
///
/// # Errors
/// The errors of [`read_npy`], and any error at the end of the stream.
pub fn read_npy_stream(mut source: impl Read, len: u64, name: impl AsRef<Path>) -> Result<Table> {
    let name = name.as_ref();
    let (head, start) = Head::read(&mut source, len, name)?;
    head.numbers(start.chain(source), name)
}

/// Reads a matrix row by row; memory is that of the rows requested at a time.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("rows.npy");
/// # let table = senv_core::Table::from_vec(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// # senv_store::write_npy(&path, &table)?;
/// use senv_store::NpyReader;
/// let mut reader = NpyReader::open(&path)?;
/// assert_eq!((reader.n_rows(), reader.dim()), (3, 2));
/// assert_eq!(reader.read_rows(2)?.values(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(reader.read_rows(2)?.values(), [5.0, 6.0]);
/// assert_eq!(reader.read_rows(2)?.n_rows(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpyReader {
    head: Head,
    path: PathBuf,
    source: Source,
    next: usize,
}

enum Source {
    Rows(BufReader<Chain<Cursor<Vec<u8>>, File>>),
    /// A matrix in column order, which is read as a whole.
    Whole(Table),
}

impl std::fmt::Debug for NpyReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NpyReader").field("path", &self.path).field("next", &self.next).finish_non_exhaustive()
    }
}

impl NpyReader {
    /// Opens a file.
    ///
    /// # Errors
    /// The errors of [`read_npy`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?;
        let len = file.metadata().map_err(|e| senv_core::Error::io("read", path, e))?.len();
        let (head, start) = Head::read(&file, len, path)?;
        let source = match head.columns_first {
            true => Source::Whole(head.numbers(start.chain(&file), path)?),
            false => Source::Rows(BufReader::with_capacity(1 << 18, start.chain(file))),
        };
        Ok(Self { head, path: path.to_owned(), source, next: 0 })
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.head.rows
    }

    /// Values per row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.head.columns
    }

    /// Reads the next `n` rows, or fewer at the end.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the file cannot be read, or has become shorter; [`senv_core::Error::TooLarge`].
    pub fn read_rows(&mut self, n: usize) -> Result<Table> {
        let (rows, dim) = (n.min(self.n_rows() - self.next), self.dim());
        let mut values = Vec::new();
        values.try_reserve_exact(rows * dim).map_err(|_| senv_core::Error::TooLarge { rows, dim })?;
        match &mut self.source {
            Source::Whole(table) => {
                (self.next..self.next + rows).for_each(|row| values.extend_from_slice(table.row(row)))
            }
            Source::Rows(source) => {
                let mut bytes = vec![0; dim * self.head.kind.width()];
                for _ in 0..rows {
                    source.read_exact(&mut bytes).map_err(|e| senv_core::Error::io("read", &self.path, e))?;
                    let numbers = bytes.chunks_exact(self.head.kind.width());
                    values.extend(numbers.map(|bytes| self.head.kind.number(bytes, self.head.big_endian)));
                }
            }
        }
        self.next += rows;
        Ok(Table::from_vec(rows, dim, values)?)
    }
}

impl Head {
    /// Reads the header of a file of `len` bytes. Also returns the data read so far.
    fn read(source: impl Read, len: u64, path: &Path) -> Result<(Self, Cursor<Vec<u8>>)> {
        let bad = |reason: String| Error::BadNpy { path: path.to_owned(), reason };
        let mut start = Vec::new();
        let read = source.take(12 + MAX_HEADER as u64).read_to_end(&mut start);
        read.map_err(|e| senv_core::Error::io("read", path, e))?;
        let head = Self::parse(&start).map_err(bad)?;
        let Self { rows, columns, .. } = head;
        let n = rows.checked_mul(columns).and_then(|n| n.checked_mul(head.kind.width()));
        let bytes = n.ok_or_else(|| bad(format!("the shape ({rows}, {columns}) overflows")))?;
        let data = len.saturating_sub(head.data as u64);
        if data != bytes as u64 {
            let reason = format!("the shape ({rows}, {columns}) needs {bytes} bytes of data, but the file has {data}");
            return Err(bad(reason));
        }
        if columns > MAX_DIM {
            return Err(bad(format!("a row has {columns} numbers, the limit is {MAX_DIM}")));
        }
        if columns == 0 && rows > 0 {
            return Err(bad("the rows have no numbers".into()));
        }
        let mut start = Cursor::new(start);
        start.set_position(head.data as u64);
        Ok((head, start))
    }

    /// The values, row by row, from a source that contains nothing else.
    fn numbers(&self, mut source: impl Read, path: &Path) -> Result<Table> {
        let io = |e| senv_core::Error::io("read", path, e);
        let (n, width) = (self.rows * self.columns, self.kind.width());
        let mut values = Vec::new();
        values.try_reserve_exact(n).map_err(|_| senv_core::Error::TooLarge { rows: self.rows, dim: self.columns })?;
        let mut buffer = vec![0; 8 << 10];
        while values.len() < n {
            let take = ((n - values.len()) * width).min(buffer.len());
            source.read_exact(&mut buffer[..take]).map_err(io)?;
            values.extend(buffer[..take].chunks_exact(width).map(|bytes| self.kind.number(bytes, self.big_endian)));
        }
        // An archive compares its checksum at the end.
        if source.read(&mut buffer[..1]).map_err(io)? > 0 {
            let reason = "there is more data than declared".into();
            return Err(Error::BadNpy { path: path.to_owned(), reason });
        }
        if self.columns_first {
            let columns = values;
            values = (0..n).map(|i| columns[(i % self.columns) * self.rows + i / self.columns]).collect();
        }
        Ok(Table::from_vec(self.rows, self.columns, values)?)
    }
}
