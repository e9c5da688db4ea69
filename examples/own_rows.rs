//! Your own row storage in both indices: here rows in a file, each read at its first use.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_rows
//! ```
#![allow(clippy::print_stdout)]
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::{Mutex, OnceLock, PoisonError},
};

use senv::{
    index::{IndexParams, Search, VectorIndex},
    parts::{core::Rows, store::NearestIndex},
};

const DIM: usize = 8;
const N: usize = 1000;

/// Rows of f32, little-endian, one after another.
struct FileRows {
    file: Mutex<File>,
    rows: Vec<OnceLock<[f32; DIM]>>,
}

impl FileRows {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let n = file.metadata()?.len() as usize / (4 * DIM);
        Ok(Self { file: Mutex::new(file), rows: (0..n).map(|_| OnceLock::new()).collect() })
    }

    fn read(&self, i: usize) -> io::Result<[f32; DIM]> {
        let mut bytes = [0; 4 * DIM];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((4 * DIM * i) as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(std::array::from_fn(|j| f32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[4 * j + k]))))
    }
}

impl Rows for FileRows {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn row(&self, i: usize) -> &[f32] {
        // This trait cannot return errors. A row that cannot be read becomes zeros, which have cosine 0 with
        // everything.
        self.rows[i].get_or_init(|| self.read(i).unwrap_or_default())
    }
}

/// Value `j` of row `i`. Each row has a different direction.
fn value(i: usize, j: usize) -> f32 {
    ((i * (j + 1)) as f32 * 0.37).sin()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("own-rows.f32");
    let bytes: Vec<u8> = (0..N).flat_map(|i| (0..DIM).flat_map(move |j| value(i, j).to_le_bytes())).collect();
    std::fs::write(&path, bytes)?;
    let rows = FileRows::open(&path)?;
    let query: Vec<f32> = (0..DIM).map(|j| value(700, j)).collect();

    let index = VectorIndex::build_from(&rows, &IndexParams::default())?; // copies the rows, and quantizes them
    let near = index.search(&query, &Search::new(3))?;
    let exact = NearestIndex::new(rows).nearest(&query, 3)?; // compares all rows without copying
    println!("rows {:?} and {:?}", near.iter().map(|n| n.row).collect::<Vec<_>>(), exact);
    assert_eq!((near[0].row as usize, exact[0].row as usize), (700, 700));
    std::fs::remove_file(&path)?;
    Ok(())
}
