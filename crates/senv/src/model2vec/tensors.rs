//! The tensors of a safetensors file, in the types that these models use.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use senv_core::{Error, Table, memory::check_memory};

use crate::error::Result;

/// A file in memory.
pub(super) struct Tensors {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Tensors {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        let tensors = Self { path: path.to_owned(), bytes };
        tensors.read()?;
        Ok(tensors)
    }

    fn read(&self) -> Result<SafeTensors<'_>> {
        Ok(SafeTensors::deserialize(&self.bytes)
            .map_err(|error| self.bad(format!("not a safetensors file: {error}")))?)
    }

    fn bad(&self, reason: String) -> Error {
        Error::BadFile { path: self.path.clone(), reason }
    }

    /// Returns the matrix with the first of these names that exists.
    pub(super) fn table(&self, names: &[&str]) -> Result<Table> {
        let tensors = self.read()?;
        let Some(view) = names.iter().find_map(|name| tensors.tensor(name).ok()) else {
            let there = tensors.names().join(", ");
            return Err(self.bad(format!("no tensor {}; the tensors are {there}", names.join(" or "))).into());
        };
        let &[n_rows, dim] = view.shape() else {
            return Err(self
                .bad(format!("{} has shape {:?}, expected rows and columns", names[0], view.shape()))
                .into());
        };
        if dim == 0 {
            return Err(self.bad(format!("{} has no columns", names[0])).into());
        }
        check_memory::<f32>(n_rows, dim)?;
        Ok(Table::from_vec(n_rows, dim, self.values(names[0], &view)?)?)
    }

    /// Returns a list of numbers, if it exists.
    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<f32>>> {
        let tensors = self.read()?;
        let Ok(view) = tensors.tensor(name) else { return Ok(None) };
        Ok(Some(self.values(name, &view)?))
    }

    /// Returns a list of integers, if it exists.
    pub(super) fn integers(&self, name: &str) -> Result<Option<Vec<u32>>> {
        let tensors = self.read()?;
        let Ok(view) = tensors.tensor(name) else { return Ok(None) };
        let data = view.data();
        let numbers: Option<Vec<u32>> = match view.dtype() {
            Dtype::I64 | Dtype::U64 => {
                let numbers = data.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
                numbers.map(|number| u32::try_from(number).ok()).collect()
            }
            Dtype::I32 | Dtype::U32 => {
                let numbers = data.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes));
                numbers.map(|number| u32::try_from(number).ok()).collect()
            }
            other => return Err(self.bad(format!("{name} has type {other:?}, expected integers")).into()),
        };
        numbers.map(Some).ok_or_else(|| self.bad(format!("{name} contains a number that is not a row")).into())
    }

    fn values(&self, name: &str, view: &TensorView<'_>) -> Result<Vec<f32>> {
        let data = view.data();
        let chunks2 = || data.as_chunks::<2>().0.iter();
        Ok(match view.dtype() {
            Dtype::F32 => data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F64 => data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
            Dtype::F16 => chunks2().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            Dtype::BF16 => chunks2().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
            Dtype::I8 => data.iter().map(|&byte| f32::from(byte as i8)).collect(),
            other => return Err(self.bad(format!("{name} has type {other:?}, which senv does not read")).into()),
        })
    }
}
