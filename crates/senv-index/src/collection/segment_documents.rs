//! The documents of the rows of a segment: rows with the same text in a column are one document.

use std::{collections::HashMap, path::Path};

use rayon::prelude::*;
use senv_core::{ModelFile, Rows, Table};

use super::row_ids::id_hash;
use crate::{
    Result,
    checks::Checked,
    file::{Tensors, checked, damaged, shaped},
    values::{Values, tensor},
};

const OF_ROWS: &str = "documents.of_rows";
const FIRST_ROWS: &str = "documents.first_rows";
const HASHES: &str = "documents.hashes";
const NORMS: &str = "documents.norms";
const ROW_NORMS: &str = "documents.row_norms";

/// The documents of rows, as a file has them. They are numbered in the order of their first rows.
#[derive(Debug)]
pub(super) struct RowDocuments {
    of_rows: Vec<u32>,
    first_rows: Vec<u32>,
    hashes: Vec<u64>,
    norms: Vec<f32>,
    row_norms: Vec<f32>,
}

impl RowDocuments {
    /// The documents of rows with these names and vectors.
    pub(super) fn of(names: &[String], vectors: &Table) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let (mut of_rows, mut first_rows) = (Vec::with_capacity(names.len()), Vec::new());
        for (row, name) in (0_u32..).zip(names) {
            of_rows.push(*numbers.entry(name).or_insert_with(|| {
                first_rows.push(row);
                first_rows.len() as u32 - 1
            }));
        }
        let hashes = first_rows.iter().map(|&row| id_hash(names[row as usize].as_bytes())).collect();
        let grouped = Grouped::of(first_rows.len(), names.len(), |row| of_rows[row]);
        let norm = |document: usize| {
            let mut sum = vec![0.0; vectors.dim()];
            for &row in grouped.rows(document) {
                sum.iter_mut().zip(vectors.row(row as usize)).for_each(|(sum, &x)| *sum += f64::from(x));
            }
            norm(sum.into_iter())
        };
        let norms = (0..first_rows.len()).into_par_iter().with_min_len(64).map(norm).collect();
        let row_norm = |row: usize| self::norm(vectors.row(row).iter().copied().map(f64::from));
        let row_norms = (0..names.len()).into_par_iter().with_min_len(1024).map(row_norm).collect();
        Self { of_rows, first_rows, hashes, norms, row_norms }
    }

    /// Adds them to a file.
    pub(super) fn write(&self, to: &mut Tensors) {
        to.add_checked(OF_ROWS, tensor("U32", &self.of_rows));
        to.add_checked(FIRST_ROWS, tensor("U32", &self.first_rows));
        to.add_checked(HASHES, tensor("U64", &self.hashes));
        to.add_checked(NORMS, tensor("F32", &self.norms));
        to.add_checked(ROW_NORMS, tensor("F32", &self.row_norms));
    }
}

/// The length of a vector; the largest number if it overflows.
pub(super) fn norm(values: impl Iterator<Item = f64>) -> f32 {
    (values.map(|x| x * x).sum::<f64>().sqrt() as f32).min(f32::MAX)
}

/// Numbers from 0, in ascending order within each group.
#[derive(Debug, Clone)]
pub(super) struct Grouped {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Grouped {
    /// Groups the numbers below `n` whose group is below `n_groups`; others are left out.
    pub(super) fn of(n_groups: usize, n: usize, group: impl Fn(usize) -> u32) -> Self {
        let mut starts = vec![0_u32; n_groups + 1];
        for number in 0..n {
            if let Some(count) = starts[1..].get_mut(group(number) as usize) {
                *count += 1;
            }
        }
        for i in 0..n_groups {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; starts[n_groups] as usize];
        for number in 0..n {
            if let Some(next) = next[..n_groups].get_mut(group(number) as usize) {
                numbers[*next as usize] = number as u32;
                *next += 1;
            }
        }
        Self { starts, numbers }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The numbers of a group.
    #[inline]
    pub(super) fn rows(&self, group: usize) -> &[u32] {
        &self.numbers[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

/// The documents of the rows of a mapped segment.
#[derive(Debug)]
pub(super) struct SegmentDocuments {
    of_rows: Values<u32>,
    first_rows: Values<u32>,
    hashes: Values<u64>,
    norms: Values<f32>,
    row_norms: Values<f32>,
    checks: Box<[Checked; 5]>,
}

/// What a segment says of its documents, compared with its checksums.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentTables<'a> {
    /// The document of each row.
    pub(super) of_rows: &'a [u32],
    /// The first row of each document.
    pub(super) first_rows: &'a [u32],
    /// The hash of the name of each.
    pub(super) hashes: &'a [u64],
    /// The length of the sum of the vectors of each.
    pub(super) norms: &'a [f32],
    /// The length of the vector of each row.
    pub(super) row_norms: &'a [f32],
}

impl SegmentDocuments {
    /// Reads the documents of so many rows.
    pub(super) fn open(file: &ModelFile, path: &Path, rows: usize) -> Result<Self> {
        let documents = file.raw(FIRST_ROWS)?.shape.first().copied().unwrap_or(0);
        let of_rows = shaped(file, path, OF_ROWS, "U32", &[rows])?;
        let first_rows = shaped(file, path, FIRST_ROWS, "U32", &[documents])?;
        let hashes = shaped(file, path, HASHES, "U64", &[documents])?;
        let norms = shaped(file, path, NORMS, "F32", &[documents])?;
        let row_norms = shaped(file, path, ROW_NORMS, "F32", &[rows])?;
        let checks = Box::new([
            checked(file, path, OF_ROWS, &of_rows)?,
            checked(file, path, FIRST_ROWS, &first_rows)?,
            checked(file, path, HASHES, &hashes)?,
            checked(file, path, NORMS, &norms)?,
            checked(file, path, ROW_NORMS, &row_norms)?,
        ]);
        Ok(Self {
            of_rows: Values::from_file(path, OF_ROWS, of_rows.bytes)?,
            first_rows: Values::from_file(path, FIRST_ROWS, first_rows.bytes)?,
            hashes: Values::from_file(path, HASHES, hashes.bytes)?,
            norms: Values::from_file(path, NORMS, norms.bytes)?,
            row_norms: Values::from_file(path, ROW_NORMS, row_norms.bytes)?,
            checks,
        })
    }

    /// All of it, after comparing it with the checksums and with itself.
    pub(super) fn tables(&self, path: &Path) -> Result<DocumentTables<'_>> {
        self.checks.iter().try_for_each(Checked::all)?;
        let tables = DocumentTables {
            of_rows: self.of_rows.as_slice(),
            first_rows: self.first_rows.as_slice(),
            hashes: self.hashes.as_slice(),
            norms: self.norms.as_slice(),
            row_norms: self.row_norms.as_slice(),
        };
        let (rows, documents) = (tables.of_rows.len(), tables.first_rows.len());
        if let Some(document) = tables.of_rows.iter().find(|&&document| document as usize >= documents) {
            return Err(damaged(path, OF_ROWS, format!("a row is of document {document} of {documents}")));
        }
        let is_first = |(row, document): (&u32, u32)| tables.of_rows.get(*row as usize) == Some(&document);
        if !tables.first_rows.iter().zip(0..).all(is_first) {
            return Err(damaged(path, FIRST_ROWS, format!("a document does not have its first row, of {rows}")));
        }
        for (name, norms) in [(NORMS, tables.norms), (ROW_NORMS, tables.row_norms)] {
            if let Some(norm) = norms.iter().find(|&&norm| !(norm.is_finite() && norm >= 0.0)) {
                return Err(damaged(path, name, format!("a length is {norm}")));
            }
        }
        Ok(tables)
    }

    /// Compares everything with its checksums, and with the names of the documents of its rows.
    pub(super) fn verify(&self, path: &Path, name: impl Fn(usize) -> Result<String>) -> Result<()> {
        let tables = self.tables(path)?;
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (row, &document) in tables.of_rows.iter().enumerate() {
            let (name, next) = (name(row)?, numbers.len() as u32);
            let is_new = tables.first_rows[document as usize] as usize == row;
            let fits = match numbers.get(&name) {
                Some(&number) => number == document && !is_new,
                None => is_new && document == next && tables.hashes[document as usize] == id_hash(name.as_bytes()),
            };
            if !fits {
                return Err(damaged(path, OF_ROWS, format!("the document of row {row} does not fit its name")));
            }
            numbers.entry(name).or_insert(document);
        }
        if numbers.len() != tables.first_rows.len() {
            return Err(damaged(path, FIRST_ROWS, "a document has no row".into()));
        }
        Ok(())
    }

    /// The bytes that it takes in the file.
    pub(super) fn n_bytes(&self) -> u64 {
        8 * self.of_rows.as_slice().len() as u64 + 16 * self.first_rows.as_slice().len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_name_are_one_document_and_its_length_is_that_of_their_sum() {
        let names = ["b", "a", "b", "c"].map(String::from);
        let vectors = Table::from_vec(4, 2, vec![1.0, 0.0, 0.0, 2.0, 2.0, 4.0, 0.0, 0.0]).unwrap();
        let documents = RowDocuments::of(&names, &vectors);
        assert_eq!((&documents.of_rows[..], &documents.first_rows[..]), (&[0, 1, 0, 2][..], &[0, 1, 3][..]));
        // |(3, 4)|, |(0, 2)|, 0.
        assert_eq!(documents.norms, [5.0, 2.0, 0.0]);
        assert_eq!(documents.row_norms, [1.0, 2.0, 20_f32.sqrt(), 0.0]);
        assert_eq!(documents.hashes[1], id_hash(b"a"));
        assert_eq!(norm([1e300, 1.0].into_iter()), f32::MAX);
        let grouped = Grouped::of(2, 5, |number| [1, 7, 0, 1, u32::MAX][number]);
        assert_eq!((grouped.len(), grouped.rows(0), grouped.rows(1)), (2, &[2][..], &[0, 3][..]));
    }
}
