//! Joins the vectors of shards into those of the whole.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use senv_core::files::AtomicFile;
use senv_store::{NpyReader, NpyWriter};

use super::encode_lines::JSON_FRAME;
use crate::error::{Error, Result};

/// Rows of a matrix that are copied at a time.
const ROWS: usize = 1 << 12;

/// Joins files of vectors made from the shards of an input ([`Shard`](senv_core::text::Shard)), in this order, into one
/// file. All files have the same extension, which decides how they are joined:
///
/// * `.npy`: the rows of all matrices under a new header;
/// * `.json`: all arrays in one;
/// * `.parquet`, `.arrow` (feature `arrow`): the rows of all tables, which have the same columns;
/// * `.jsonl`, `.tsv`, `.csv`, `.txt` and others: concatenation, like `cat`.
///
/// The bytes are those of a file made from the whole input; only the division of a table into pages and batches can
/// differ. Memory is a few thousand rows.
///
/// ```
/// use senv_core::Table;
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name);
/// senv_store::write_npy(at("1.npy"), &Table::from_vec(1, 2, vec![1.0, 2.0])?)?;
/// senv_store::write_npy(at("2.npy"), &Table::from_vec(2, 2, vec![3.0, 4.0, 5.0, 6.0])?)?;
/// senv::jobs::join_vectors(&[at("1.npy"), at("2.npy")], at("all.npy"))?;
/// assert_eq!(senv_store::read_npy(at("all.npy"))?.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::BadFile`] if a file has a different format, other columns or another dimension;
/// [`senv_core::Error::Io`]. There is then no output.
pub fn join_vectors(shards: &[impl AsRef<Path>], output: impl AsRef<Path>) -> Result<()> {
    let output = output.as_ref();
    let shards: Vec<&Path> = shards.iter().map(AsRef::as_ref).collect();
    let ending = |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let Some(first) = shards.first() else { return bad(output, "no shards given; name all of them in order".into()) };
    for path in &shards {
        if ending(path) != ending(output) {
            let reason = format!(
                "its format differs from that of {}; join files of the same format, then convert the result",
                output.display()
            );
            return bad(path, reason);
        }
    }
    match ending(output).as_deref() {
        Some("npy") => join_npy(first, &shards, output),
        Some("json") => join_json(&shards, output),
        #[cfg(feature = "arrow")]
        Some("parquet" | "arrow" | "feather" | "ipc") => tables::join(first, &shards, output),
        #[cfg(not(feature = "arrow"))]
        Some("parquet" | "arrow" | "feather" | "ipc") => {
            bad(output, "this build cannot read or write such tables; use a build with the feature `arrow`".into())
        }
        _ => join_text(&shards, output),
    }
}

fn join_npy(first: &Path, shards: &[&Path], output: &Path) -> Result<()> {
    let dim = NpyReader::open(first)?.dim();
    let mut n_rows = 0;
    for path in shards {
        let reader = NpyReader::open(path)?;
        if reader.dim() != dim {
            let reason =
                format!("its rows have {} values, but the rows of {} have {dim}", reader.dim(), first.display());
            return bad(path, reason);
        }
        n_rows += reader.n_rows();
    }
    let mut writer = NpyWriter::new(AtomicFile::create(output)?, output, n_rows, dim)?;
    for path in shards {
        let mut reader = NpyReader::open(path)?;
        loop {
            let rows = reader.read_rows(ROWS)?;
            if senv_core::Rows::n_rows(&rows) == 0 {
                break;
            }
            rows.iter().try_for_each(|row| writer.write_row(row))?;
        }
    }
    Ok(writer.finish()?.commit()?)
}

fn join_json(shards: &[&Path], output: &Path) -> Result<()> {
    let mut file = AtomicFile::create(output)?;
    let mut is_first = true;
    let failed = |e| senv_core::Error::io("write", output, e);
    file.write_all(JSON_FRAME[0]).map_err(failed)?;
    for path in shards {
        let mut rows = rows_of_json(path)?;
        if rows.limit() == 0 {
            continue;
        }
        if !is_first {
            file.write_all(b",").map_err(failed)?;
        }
        is_first = false;
        copy(&mut rows, &mut file, path)?;
    }
    file.write_all(JSON_FRAME[1]).map_err(failed)?;
    Ok(file.commit()?)
}

/// The rows inside the frame of a JSON array.
fn rows_of_json(path: &Path) -> Result<io::Take<File>> {
    let io = |e| senv_core::Error::io("read", path, e);
    let mut file = File::open(path).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let [before, behind] = JSON_FRAME.map(<[u8]>::len);
    let mut ends = vec![0; before + behind];
    if len < ends.len() as u64 {
        return bad(path, "it is not an array of vectors written by `senv encode`".into());
    }
    file.read_exact(&mut ends[..before]).map_err(io)?;
    file.seek(SeekFrom::Start(len - behind as u64)).map_err(io)?;
    file.read_exact(&mut ends[before..]).map_err(io)?;
    if ends != JSON_FRAME.concat() {
        return bad(path, "it is not an array of vectors written by `senv encode`, or is truncated".into());
    }
    file.seek(SeekFrom::Start(before as u64)).map_err(io)?;
    Ok(file.take(len - ends.len() as u64))
}

fn join_text(shards: &[&Path], output: &Path) -> Result<()> {
    let mut file = AtomicFile::create(output)?;
    for path in shards {
        copy(&mut File::open(path).map_err(|e| senv_core::Error::io("open", path, e))?, &mut file, path)?;
    }
    Ok(file.commit()?)
}

fn copy(from: &mut impl Read, to: &mut AtomicFile, path: &Path) -> Result<()> {
    let failed = |e| senv_core::Error::io("copy", path, e);
    io::copy(from, to).map(|_| ()).map_err(|e| failed(e).into())
}

fn bad<T>(path: &Path, reason: String) -> Result<T> {
    Err(Error::from(senv_core::Error::BadFile { path: PathBuf::from(path), reason }))
}

#[cfg(feature = "arrow")]
mod tables {
    use std::path::Path;

    use arrow_array::{
        Array, RecordBatch,
        cast::AsArray,
        types::{Float16Type, Float32Type},
    };
    use arrow_schema::{DataType, Schema};
    use ndarray::Array2;
    use senv_core::text::{ArrowBatches, ArrowFormat};
    use senv_store::{VectorPrecision, VectorTableWriter};

    use super::bad;
    use crate::error::Result;

    /// The vector column of a table written by senv: name, dimension and type.
    fn vectors(path: &Path, schema: &Schema) -> Result<(String, usize, VectorPrecision)> {
        let named = schema.metadata().get(VectorTableWriter::KEY);
        let field = schema.fields().last().filter(|field| Some(field.name()) == named);
        match field.map(|field| field.data_type()) {
            Some(DataType::FixedSizeList(item, size)) => {
                let half = *item.data_type() == DataType::Float16;
                let precision = if half { VectorPrecision::F16 } else { VectorPrecision::F32 };
                Ok((named.cloned().unwrap_or_default(), usize::try_from(*size).unwrap_or(0), precision))
            }
            _ => bad(path, "it is not a table with a vector column written by `senv encode`".into()),
        }
    }

    pub(super) fn join(first: &Path, shards: &[&Path], output: &Path) -> Result<()> {
        let schema = ArrowBatches::open(first, None)?.schema().clone();
        let (name, dim, precision) = vectors(first, &schema)?;
        let n = schema.fields().len() - 1;
        let columns = Schema::new_with_metadata(schema.fields()[..n].to_vec(), {
            let mut metadata = schema.metadata().clone();
            metadata.remove(VectorTableWriter::KEY);
            metadata
        });
        let is_parquet = output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
        let format = if is_parquet { ArrowFormat::Parquet } else { ArrowFormat::File };
        let mut writer = VectorTableWriter::create(output, format, &columns, &name, dim, precision)?;
        for path in shards {
            let mut batches = ArrowBatches::open(path, None)?;
            if batches.schema().fields() != schema.fields() {
                return bad(
                    path,
                    format!("its columns differ from those of {}; join shards of the same table", first.display()),
                );
            }
            while let Some(batch) = batches.next_batch()? {
                let rows = batch.project(&(0..n).collect::<Vec<_>>());
                let (Ok(rows), Some(vectors)) = (rows, values(&batch, dim)) else {
                    return bad(path, "its vector column has rows without a vector; encode it again".into());
                };
                writer.write(&rows, vectors.view())?;
            }
        }
        Ok(writer.finish()?)
    }

    /// The vectors of a batch; `None` if some are missing.
    fn values(batch: &RecordBatch, dim: usize) -> Option<Array2<f32>> {
        let list = batch.columns().last()?.as_fixed_size_list_opt()?;
        let items = list.values().slice(list.value_offset(0) as usize, list.len() * dim);
        if list.null_count() + items.null_count() > 0 {
            return None;
        }
        let values: Vec<f32> = match items.data_type() {
            DataType::Float16 => items.as_primitive::<Float16Type>().values().iter().map(|x| x.to_f32()).collect(),
            _ => items.as_primitive_opt::<Float32Type>()?.values().to_vec(),
        };
        Array2::from_shape_vec((list.len(), dim), values).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn arrays_become_one_and_what_is_no_array_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("1.json"), "[\n[1,2],\n[3,4]\n]\n").unwrap();
        fs::write(at("2.json"), "[\n]\n").unwrap();
        fs::write(at("3.json"), "[\n[5,6]\n]\n").unwrap();
        join_vectors(&[at("1.json"), at("2.json"), at("3.json"), at("2.json")], at("all.json")).unwrap();
        assert_eq!(fs::read_to_string(at("all.json")).unwrap(), "[\n[1,2],\n[3,4],\n[5,6]\n]\n");
        join_vectors(&[at("2.json"), at("2.json")], at("none.json")).unwrap();
        assert_eq!(fs::read_to_string(at("none.json")).unwrap(), "[\n]\n");
        for text in ["", "[", "[\n[1,2]\n", "{\n[1]\n]\n"] {
            fs::write(at("bad.json"), text).unwrap();
            let error = join_vectors(&[at("1.json"), at("bad.json")], at("no.json")).unwrap_err().to_string();
            assert!(error.contains("bad.json") && !at("no.json").exists(), "{error}");
        }
    }

    #[test]
    fn matrices_of_other_dimensions_and_other_formats_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, dim| {
            senv_store::write_npy(at(name), &senv_core::Table::from_vec(2, dim, vec![1.0; 2 * dim]).unwrap()).unwrap();
        };
        write("2.npy", 2);
        write("3.npy", 3);
        let none: [PathBuf; 0] = [];
        for (shards, output, says) in [
            (&[at("2.npy"), at("3.npy")][..], "all.npy", "3 values"),
            (&[at("2.npy")], "all.tsv", "its format differs"),
            (&[at("2.npy"), at("absent.npy")], "all.npy", "absent.npy"),
            (&none, "all.npy", "no shard"),
        ] {
            let error = join_vectors(shards, at(output)).unwrap_err().to_string();
            assert!(error.contains(says) && !at(output).exists(), "{error}");
        }
        fs::write(at("1.tsv"), "1\t2\n").unwrap();
        fs::write(at("2.tsv"), "3\t4\n").unwrap();
        join_vectors(&[at("1.tsv"), at("2.tsv")], at("all.tsv")).unwrap();
        assert_eq!(fs::read_to_string(at("all.tsv")).unwrap(), "1\t2\n3\t4\n");
    }
}
