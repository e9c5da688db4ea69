//! Compares the time to encode a Parquet file with the engine and with `senv::jobs::encode_table` (`senv encode`). They
//! take turns for several rounds.
//!
//! ```sh
//! cargo run --release --example throughput -- 1000000 bbc.txt reuters.txt   # number of rows; lines repeat
//! ```

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use datafusion::{
    arrow::{
        array::{Int64Array, RecordBatch, StringArray},
        datatypes::{DataType, Field, Schema},
    },
    parquet::arrow::ArrowWriter,
};
use senv::jobs::{EncodeTableParams, encode_table};
use senv_core::{TextOptions, text::TableText};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let n_rows: usize = arguments.next().ok_or("throughput ROWS FILE...")?.parse()?;
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let folder = tempfile::tempdir()?;
    let [input, plain, output] = ["in.parquet", "plain.parquet", "out"].map(|name| folder.path().join(name));
    write(&input, &files, n_rows)?;
    // The program is in the parent of the folder of examples.
    let program = env::current_exe()?.ancestors().nth(2).ok_or("no folder of programs")?.join("senv-sql");
    let english = senv::english()?;
    for round in 0..ROUNDS {
        let start = Instant::now();
        let text = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
        let params = EncodeTableParams { text, ..EncodeTableParams::default() };
        encode_table(&english, std::slice::from_ref(&input), &plain, &params, |_| Ok::<_, senv::Error>(()))?;
        let senv = start.elapsed().as_secs_f64();
        let _ = fs::remove_dir_all(&output);
        let start = Instant::now();
        let status = std::process::Command::new(&program)
            .args(["encode", "--input", &input.to_string_lossy(), "--output", &output.to_string_lossy()])
            .status()?;
        let engine = start.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("{}: {status}", program.display()).into());
        }
        println!(
            "round {round}: senv encode {senv:.2} s ({:.0} rows/s), senv-sql encode {engine:.2} s ({:.0} rows/s), share {:.2}",
            n_rows as f64 / senv,
            n_rows as f64 / engine,
            senv / engine
        );
    }
    Ok(())
}

/// Repeats the lines of the files until there are `n_rows`, and writes them as a Parquet file of `id` and `text`.
fn write(path: &Path, files: &[PathBuf], n_rows: usize) -> Result<()> {
    let mut lines = Vec::new();
    for file in files {
        lines.extend(fs::read_to_string(file)?.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    }
    if lines.is_empty() {
        return Err("no lines".into());
    }
    let fields = vec![Field::new("id", DataType::Int64, false), Field::new("text", DataType::Utf8, false)];
    let schema = Arc::new(Schema::new(fields));
    let mut writer = ArrowWriter::try_new(File::create(path)?, schema.clone(), None)?;
    for start in (0..n_rows).step_by(1 << 16) {
        let rows = start..n_rows.min(start + (1 << 16));
        let ids: Int64Array = rows.clone().map(|row| row as i64).collect();
        let texts = StringArray::from_iter_values(rows.map(|row| &lines[row % lines.len()]));
        writer.write(&RecordBatch::try_new(schema.clone(), vec![Arc::new(ids), Arc::new(texts)])?)?;
    }
    writer.close()?;
    Ok(())
}
