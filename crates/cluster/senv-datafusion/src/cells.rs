//! Centroids that divide vectors into cells, shared by all processes of a query.

use std::{fs::File, path::Path, sync::Arc};

use datafusion::{
    arrow::{
        array::{Array, AsArray, FixedSizeListArray, Float32Array, RecordBatch},
        datatypes::{DataType, Field, Float32Type, Schema},
    },
    error::{DataFusionError, Result},
    parquet::arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
};
use senv_core::{Table, kernels};
use senv_index::{KMeansParams, k_means};

use crate::error::external;

/// The column in a file of centroids.
const COLUMN: &str = "centroid";
/// Maximum number of k-means rounds.
const ROUNDS: usize = 20;

/// Centroids of cells, as unit vectors. A vector belongs to the cell of the centroid with the highest cosine. Clones
/// share the data.
///
/// On disk, they are a Parquet file with one column `centroid` of fixed-size lists of `Float32`.
#[derive(Debug, Clone)]
pub struct Centroids(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    digest: String,
    dim: usize,
    /// The centroids, one after another.
    values: Vec<f32>,
}

impl Centroids {
    /// Creates centroids from vectors of `dim` values each, stored one after another, and scales them to unit length.
    ///
    /// # Errors
    /// If there are no vectors, the last one is incomplete, or one is zero.
    pub fn new(name: &str, dim: usize, mut values: Vec<f32>) -> Result<Self> {
        let bad = |reason: &str| DataFusionError::Execution(format!("centroids {name}: {reason}"));
        if dim == 0 || values.is_empty() || !values.len().is_multiple_of(dim) {
            return Err(bad("no vectors, or the last one is incomplete"));
        }
        for row in values.chunks_exact_mut(dim) {
            let norm = kernels::l2_normalize(row);
            if !(norm.is_finite() && norm >= 1e-12) {
                return Err(bad("a vector is zero or not finite"));
            }
        }
        // FNV-1a of the values. It detects files that were mixed up; it is not secure.
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).chain(dim.to_le_bytes());
        let digest =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Ok(Self(Arc::new(Inner { name: name.to_owned(), digest: format!("{digest:016x}"), dim, values })))
    }

    /// Trains `n_cells` centroids on vectors of `dim` values each, by spherical k-means of at most 20 rounds. A hundred
    /// vectors per centroid are enough.
    ///
    /// # Errors
    /// The errors of [`Centroids::new`] and [`k_means`].
    pub fn train(name: &str, dim: usize, vectors: Vec<f32>, n_cells: usize, seed: u64) -> Result<Self> {
        let rows = Table::from_vec(vectors.len() / dim.max(1), dim, vectors).map_err(external)?;
        let params = KMeansParams { seed, starts: Some(1), rounds: ROUNDS, ..KMeansParams::new(n_cells) };
        let centroids = k_means(&rows, &params, |_| {}).map_err(external)?.centroids;
        Self::new(name, dim, centroids.iter().flat_map(|row| row[..dim].to_vec()).collect())
    }

    /// Reads centroids from a file.
    ///
    /// # Errors
    /// If the file cannot be read or does not contain centroids; the errors of [`Centroids::new`].
    pub fn open(name: &str, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bad = |reason: String| DataFusionError::Execution(format!("{}: {reason}", path.display()));
        let file = File::open(path).map_err(|e| bad(e.to_string()))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| bad(e.to_string()))?;
        let (mut values, mut dim) = (Vec::new(), 0);
        for batch in reader.build().map_err(|e| bad(e.to_string()))? {
            let batch = batch.map_err(|e| bad(e.to_string()))?;
            let column = batch.column_by_name(COLUMN).and_then(|column| column.as_fixed_size_list_opt());
            let column = column.ok_or_else(|| bad(format!("no column {COLUMN} of fixed-size lists")))?;
            let items = column.values().as_primitive_opt::<Float32Type>().filter(|items| items.null_count() == 0);
            values.extend_from_slice(items.ok_or_else(|| bad("the lists are not Float32".into()))?.values());
            dim = column.value_length() as usize;
        }
        Self::new(name, dim, values)
    }

    /// Writes the centroids to a file for [`Centroids::open`] and [`crate::Models::open`]. Its name ends in
    /// `.centroids`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let item = Arc::new(Field::new_list_field(DataType::Float32, false));
        let values = Arc::new(Float32Array::from(self.0.values.clone()));
        let column = FixedSizeListArray::try_new(item, self.0.dim as i32, values, None)?;
        let schema = Schema::new(vec![Field::new(COLUMN, column.data_type().clone(), false)]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(column)])?;
        let file = File::create(path.as_ref())?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(())
    }

    /// The name that queries use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A digest of the values, 16 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.0.digest
    }

    /// The dimension of the centroids.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.0.dim
    }

    /// Number of cells.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.0.values.len() / self.0.dim
    }

    /// The cells of the `n` nearest centroids of each vector, nearest first. Ties go to the lower number. Vectors are
    /// stored one after another.
    pub(crate) fn nearest(&self, vectors: &[f32], n: usize, scores: &mut Vec<f32>, cells: &mut Vec<u32>) {
        let (n_vectors, n_cells) = (vectors.len() / self.0.dim, self.n_cells());
        scores.resize(n_vectors * n_cells, 0.0);
        kernels::scores(vectors, n_vectors, &self.0.values, n_cells, self.0.dim, scores);
        cells.clear();
        let mut best: Vec<(f32, u32)> = Vec::new();
        for scores in scores.chunks_exact(n_cells) {
            best.clear();
            for (cell, &score) in (0..).zip(scores) {
                if best.len() < n || best.last().is_some_and(|worst| score > worst.0) {
                    best.truncate(n - 1);
                    best.insert(best.partition_point(|better| better.0 >= score), (score, cell));
                }
            }
            cells.extend(best.iter().map(|best| best.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_centroids_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.centroids");
        let centroids = Centroids::new("two", 2, vec![2.0, 0.0, 0.0, 0.5]).unwrap();
        centroids.save(&path).unwrap();
        let read = Centroids::open("two", &path).unwrap();
        assert_eq!((read.digest(), read.dim(), read.n_cells()), (centroids.digest(), 2, 2));
        let other = Centroids::new("two", 2, vec![2.0, 0.1, 0.0, 0.5]).unwrap();
        assert_ne!(other.digest(), centroids.digest());
    }

    #[test]
    fn cells_are_those_of_the_nearest_centroids() {
        let centroids = Centroids::new("three", 2, vec![1.0, 0.0, 0.0, 1.0, -1.0, 0.0]).unwrap();
        let (mut scores, mut cells) = (Vec::new(), Vec::new());
        let vectors = [0.2, 3.0, -1.0, 0.1, 1.0, 1.0];
        for (n, nearest) in [(1, &[1, 2, 0][..]), (2, &[1, 0, 2, 1, 0, 1]), (5, &[1, 0, 2, 2, 1, 0, 0, 1, 2])] {
            centroids.nearest(&vectors, n, &mut scores, &mut cells);
            assert_eq!(cells, nearest, "{n}");
        }
        centroids.nearest(&[], 2, &mut scores, &mut cells);
        assert!(cells.is_empty());
    }

    #[test]
    fn vectors_without_a_direction_are_no_centroids() {
        for values in [vec![], vec![1.0], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            assert!(Centroids::new("bad", 2, values.clone()).is_err(), "{values:?}");
        }
    }
}
