//! The dense table: `n_rows` rows of `dim` values, on the heap, in anonymous pages, or memory-mapped from a file.

use std::{fmt, path::Path, sync::Arc};

use memmap2::MmapMut;
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use senv_base::{Error, Result, Rows, SharedBytes, memory::check_memory};

/// The memory of the values of a [`Table`].
#[derive(Debug, Clone)]
enum Backing {
    /// On the heap.
    Heap(Vec<f32>),
    /// In anonymous pages, zero until first written. Clones share the pages, and a write to shared pages copies them
    /// first: a copy in `clone` would have to panic if memory runs out.
    Pages(Arc<MmapMut>),
    /// In a read-only memory map of a file or in the program itself; clones share it.
    Shared(SharedBytes),
}

/// A dense, row-major table of f32. Rows start `stride >= dim` values apart.
///
/// ```
/// use senv_core::{Rows, Table};
/// let table = Table::from_vec(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(table.row(1), [4.0, 5.0, 6.0]);
/// assert_eq!(table.view().sum(), 21.0); // of ndarray, without a copy; so are both ways between the two
/// let array = table.into_array()?;
/// assert_eq!(Table::from(array).iter().count(), 2);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Table {
    backing: Backing,
    n_rows: usize,
    dim: usize,
    stride: usize,
}

/// Prints its shape, not its values; [`Table::view`] prints some of them.
impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("n_rows", &self.n_rows).field("dim", &self.dim).finish_non_exhaustive()
    }
}

impl Default for Table {
    /// Returns a table without rows.
    fn default() -> Self {
        Self { backing: Backing::Heap(Vec::new()), n_rows: 0, dim: 0, stride: 0 }
    }
}

/// Values per 64-byte cache line. Rows of tables that are trained start on a line.
const LINE: usize = 16;

impl Table {
    /// Creates a table from a vector of exactly `n_rows * dim` values.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the vector has a different length; [`Error::TooLarge`] if the product overflows.
    pub fn from_vec(n_rows: usize, dim: usize, values: Vec<f32>) -> Result<Self> {
        let expected = n_rows.checked_mul(dim).ok_or(Error::TooLarge { rows: n_rows, dim })?;
        if values.len() != expected {
            return Err(Error::ShapeMismatch { what: "table", expected, got: values.len() });
        }
        Ok(Self { backing: Backing::Heap(values), n_rows, dim, stride: dim })
    }

    /// Creates a table of zeros for training. Rows start on cache lines. The system allocates memory on the first
    /// write, in huge pages if it supports them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there is not enough memory.
    pub fn zeros(n_rows: usize, dim: usize) -> Result<Self> {
        let too_large = || Error::TooLarge { rows: n_rows, dim };
        let stride = dim.checked_next_multiple_of(LINE).ok_or_else(too_large)?;
        let bytes = n_rows.checked_mul(stride).and_then(|n| n.checked_mul(4)).ok_or_else(too_large)?;
        let pages = MmapMut::map_anon(bytes.max(1)).map_err(|_| too_large())?;
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Ok(Self { backing: Backing::Pages(Arc::new(pages)), n_rows, dim, stride })
    }

    /// Creates a table from exactly `n_rows * dim` little-endian f32 values, without copying them, so tensors of one
    /// file can share its map. Errors name `path`.
    ///
    /// # Errors
    /// [`Error::BadFile`] if the number of bytes differs or their address is not a multiple of four;
    /// [`Error::TooLarge`] if the size overflows.
    pub fn from_shared(path: &Path, bytes: SharedBytes, n_rows: usize, dim: usize) -> Result<Self> {
        let needed =
            n_rows.checked_mul(dim).and_then(|n| n.checked_mul(4)).ok_or(Error::TooLarge { rows: n_rows, dim })?;
        let bad = |reason: String| Error::BadFile { path: path.to_owned(), reason };
        if cfg!(target_endian = "big") {
            return Err(bad("mapped tables need a little-endian machine".into()));
        }
        if bytes.len() != needed {
            return Err(bad(format!(
                "{n_rows} rows of {dim} values need {needed} bytes, but there are {}",
                bytes.len()
            )));
        }
        if !bytes.is_aligned_to(4) {
            return Err(bad("rows start at a byte that is not a multiple of 4".into()));
        }
        Ok(Self { backing: Backing::Shared(bytes), n_rows, dim, stride: dim })
    }

    /// Returns the rows as an ndarray matrix without copying them.
    #[must_use]
    pub fn view(&self) -> ArrayView2<'_, f32> {
        let shape = (self.n_rows, self.dim);
        let view = match self.n_rows * self.dim {
            0 => ArrayView2::from_shape(shape, &[]),
            _ => ArrayView2::from_shape(shape.strides((self.stride, 1)), self.values()),
        };
        match view {
            Ok(view) => view,
            Err(_) => unreachable!("the values hold all rows at this stride"),
        }
    }

    /// Converts the rows into an ndarray matrix. Copies them unless they are on the heap without padding, as
    /// [`Table::from_vec`] and encoders create them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the copy does not fit in memory.
    pub fn into_array(self) -> Result<Array2<f32>> {
        let (n_rows, dim) = (self.n_rows, self.dim);
        let values = match self.backing {
            Backing::Heap(values) if self.stride == dim => values,
            _ => {
                check_memory::<f32>(n_rows, dim)?;
                self.iter().flatten().copied().collect()
            }
        };
        Array2::from_shape_vec((n_rows, dim), values).map_err(|_| Error::TooLarge { rows: n_rows, dim })
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of values per row, without padding.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of values from the start of a row to the start of the next.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All values, `stride` per row, including padding.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        let n = self.n_rows * self.stride;
        match &self.backing {
            Backing::Heap(values) => values,
            Backing::Pages(pages) => &bytemuck::cast_slice(&pages[..n * 4])[..n],
            Backing::Shared(bytes) => bytemuck::cast_slice(bytes),
        }
    }

    /// All values, mutable. A table that is memory-mapped or shares its memory with a clone is first copied to the
    /// heap.
    pub fn values_mut(&mut self) -> &mut [f32] {
        let is_own = match &mut self.backing {
            Backing::Heap(_) => true,
            Backing::Pages(pages) => Arc::get_mut(pages).is_some(),
            Backing::Shared(_) => false,
        };
        if !is_own {
            self.backing = Backing::Heap(self.values().to_vec());
        }
        let n = self.n_rows * self.stride;
        match &mut self.backing {
            Backing::Heap(values) => values,
            Backing::Pages(pages) => match Arc::get_mut(pages) {
                Some(pages) => bytemuck::cast_slice_mut(&mut pages[..n * 4]),
                None => unreachable!("replaced by the heap above"),
            },
            Backing::Shared(_) => unreachable!("replaced by the heap above"),
        }
    }

    /// Allocates the memory of all rows now, on the threads of the current rayon pool, instead of at the first write to
    /// each page. A page fault during training costs more than the step that needs the page.
    pub fn touch(&mut self) {
        use rayon::prelude::*;
        if let Backing::Pages(_) = self.backing {
            // One write per 4 KiB; the values do not change.
            self.values_mut().par_chunks_mut(1 << 20).for_each(|chunk| {
                for i in (0..chunk.len()).step_by(1024) {
                    chunk[i] = std::hint::black_box(chunk[i]);
                }
            });
        }
    }

    /// Row `i`, mutable.
    ///
    /// # Panics
    /// If `i` is not below [`Table::n_rows`].
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        let (stride, dim) = (self.stride, self.dim);
        &mut self.values_mut()[i * stride..][..dim]
    }

    /// Iterates over the rows in order.
    #[must_use]
    pub fn iter(&self) -> TableRows<'_> {
        TableRows { table: self, left: 0..self.n_rows }
    }

    /// Whether the table is memory-mapped from a file or part of the program.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        matches!(self.backing, Backing::Shared(_))
    }
}

/// Does not copy if the rows are contiguous, as they are unless a matrix was transposed or sliced.
impl From<Array2<f32>> for Table {
    fn from(matrix: Array2<f32>) -> Self {
        let (n_rows, dim) = matrix.dim();
        let values = match matrix.is_standard_layout() {
            true => {
                let (mut values, first) = matrix.into_raw_vec_and_offset();
                let first = first.unwrap_or(0);
                if first > 0 {
                    values.drain(..first);
                }
                values.truncate(n_rows * dim);
                values
            }
            false => matrix.iter().copied().collect(),
        };
        Self { backing: Backing::Heap(values), n_rows, dim, stride: dim }
    }
}

impl<'t> IntoIterator for &'t Table {
    type Item = &'t [f32];
    type IntoIter = TableRows<'t>;

    fn into_iter(self) -> TableRows<'t> {
        self.iter()
    }
}

/// Iterator over the rows of a [`Table`].
#[derive(Debug, Clone)]
pub struct TableRows<'t> {
    table: &'t Table,
    left: std::ops::Range<usize>,
}

impl<'t> Iterator for TableRows<'t> {
    type Item = &'t [f32];

    fn next(&mut self) -> Option<&'t [f32]> {
        self.left.next().map(|i| self.table.row(i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for TableRows<'_> {}

impl Rows for Table {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn dim(&self) -> usize {
        self.dim
    }

    #[inline]
    fn row(&self, i: usize) -> &[f32] {
        &self.values()[i * self.stride..][..self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_trained_table_start_on_cache_lines() {
        let mut table = Table::zeros(3, 17).unwrap();
        assert_eq!(table.stride(), 32);
        table.row_mut(2).fill(1.5);
        assert_eq!(table.row(2), [1.5; 17]);
        assert_eq!(table.row(1), [0.0; 17]);
        assert_eq!(table.values().as_ptr() as usize % 64, 0);
        assert_eq!(table.clone().row(2), table.row(2));
        table.touch();
        assert_eq!((table.row(2), table.row(0)), ([1.5; 17].as_slice(), [0.0; 17].as_slice()));
    }

    #[test]
    fn a_table_of_shared_bytes_reads_them_and_copies_on_write() {
        static VALUES: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
        let bytes = SharedBytes::from(bytemuck::cast_slice::<f32, u8>(&VALUES));
        let of = |bytes: SharedBytes, rows| Table::from_shared(Path::new("a"), bytes, rows, 2);
        let mut table = of(bytes.clone(), 2).unwrap();
        assert!(table.is_mapped());
        assert_eq!(table.row(1), [3.0, 4.0]);
        table.row_mut(0)[0] = 9.0;
        assert!(!table.is_mapped());
        assert_eq!((table.row(0), VALUES[0]), ([9.0, 2.0].as_slice(), 1.0));
        assert!(matches!(of(bytes.clone(), 3), Err(Error::BadFile { .. })));
        assert!(matches!(of(bytes.slice(1..9), 1), Err(Error::BadFile { .. })), "at an odd byte");
        assert!(matches!(of(bytes, usize::MAX), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn clones_share_memory_until_one_is_written_to() {
        let mut table = Table::zeros(3, 17).unwrap();
        table.row_mut(1).fill(2.5);
        let mut clone = table.clone();
        assert_eq!(clone.values().as_ptr(), table.values().as_ptr(), "no memory is taken, so none can be lacking");
        clone.row_mut(1)[0] = 7.0;
        assert_eq!((table.row(1)[0], clone.row(1)[0], clone.row(1)[16]), (2.5, 7.0, 2.5));
        assert_eq!(clone.stride(), table.stride());
        let before = table.values().as_ptr();
        table.row_mut(0).fill(1.0);
        assert_eq!(table.values().as_ptr(), before, "what is no longer shared is written in place");
        assert_eq!(clone.row(0), [0.0; 17]);
    }

    #[test]
    fn matrices_of_ndarray_become_tables_and_back_without_a_copy() {
        let matrix = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let start = matrix.as_ptr();
        let table = Table::from(matrix.clone());
        assert_eq!(table.view(), matrix);
        let table = Table::from(matrix);
        assert_eq!(table.values().as_ptr(), start);
        let back = table.into_array().unwrap();
        assert_eq!((back.as_ptr(), back[[1, 2]]), (start, 6.0));
        for slice in [back.clone().reversed_axes(), back.slice_move(ndarray::s![1.., 1..])] {
            let table = Table::from(slice.clone());
            assert_eq!(table.view(), slice, "other layouts are copied");
            assert_eq!(table.values().len(), slice.len());
        }
        assert_eq!(Table::from(Array2::zeros((3, 0))).iter().len(), 3);
        assert_eq!(Table::from(Array2::zeros((0, 3))).view().dim(), (0, 3));
    }

    #[test]
    fn padded_rows_are_seen_without_their_padding() {
        let mut table = Table::zeros(2, 17).unwrap();
        table.row_mut(1).fill(2.0);
        assert_eq!((table.view().dim(), table.view().sum()), ((2, 17), 34.0));
        assert_eq!((&table).into_iter().map(|row| row.len()).sum::<usize>(), 34);
        assert_eq!(table.into_array().unwrap().row(1).to_vec(), [2.0; 17]);
        assert_eq!(Table::zeros(0, 17).unwrap().view().dim(), (0, 17));
    }

    #[test]
    fn sizes_that_cannot_be_had_are_errors() {
        assert!(matches!(Table::zeros(usize::MAX, 2), Err(Error::TooLarge { .. })));
        assert!(matches!(Table::zeros(0, usize::MAX), Err(Error::TooLarge { .. })));
        assert!(matches!(Table::zeros(1 << 50, 1 << 10), Err(Error::TooLarge { .. })));
        assert!(Table::from_vec(2, 2, vec![0.0; 3]).is_err());
        assert!(Table::zeros(0, 4).unwrap().values().is_empty());
    }
}
