//! `senv-sql centroids`.

use std::path::PathBuf;

use datafusion::{
    arrow::{
        array::{Array, AsArray},
        datatypes::Float32Type,
    },
    error::Result,
};
use senv_datafusion::Centroids;

use crate::{ModelArguments, cluster::failed, query, session, tables::TableArgument};

/// Options of the training of centroids.
#[derive(Debug, clap::Args)]
pub(crate) struct CentroidArguments {
    /// A query whose first column is a vector, such as "SELECT embed(text) FROM t ORDER BY random() LIMIT 100000". A
    /// sample of 100 rows per cell is enough.
    query: String,
    /// A table: its name and a file (Parquet, CSV, JSON lines), a folder or a pattern with `*`. An object or folder in
    /// a bucket, s3://BUCKET/PATH, uses the same settings as --models.
    #[arg(long = "table", value_name = "NAME=FILE")]
    tables: Vec<TableArgument>,
    #[command(flatten)]
    models: ModelArguments,
    /// Number of cells; about .7 times the square root of the number of rows, which is 700 for a million.
    #[arg(long, value_name = "N")]
    cells: usize,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output file NAME.centroids, usually in the folder of models.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(arguments: &CentroidArguments) -> Result<()> {
    let name = arguments.output.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".centroids").ok_or_else(|| failed("--output: the name must end in .centroids"))?;
    if arguments.output.exists() && !arguments.force {
        return Err(failed(format!("{} exists; use --force to overwrite it", arguments.output.display())));
    }
    let context = session::open(&arguments.models.open().await?, None, session::settings()).await?;
    for table in &arguments.tables {
        table.register(&context).await?;
    }
    let (mut vectors, mut dim) = (Vec::new(), 0);
    for rows in query::rows(&context, &arguments.query, &arguments.tables).await? {
        let column = rows.columns().first().and_then(|column| column.as_fixed_size_list_opt());
        let column = column.ok_or_else(|| failed("the first column of the query is not a vector of fixed size"))?;
        dim = column.value_length() as usize;
        for row in (0..column.len()).filter(|&row| column.is_valid(row)) {
            let vector = column.value(row);
            let vector =
                vector.as_primitive_opt::<Float32Type>().ok_or_else(|| failed("the vectors are not Float32"))?;
            vectors.extend_from_slice(vector.values());
        }
    }
    // Rows arrive in an order that depends on the threads. Sorting makes the choice of the seed reproducible.
    let mut rows: Vec<&[f32]> = vectors.chunks_exact(dim.max(1)).collect();
    rows.sort_unstable_by(|a, b| a.iter().map(|x| x.to_bits()).cmp(b.iter().map(|x| x.to_bits())));
    let centroids = Centroids::train(name, dim, rows.concat(), arguments.cells, arguments.seed)?;
    centroids.save(&arguments.output)?;
    eprintln!("senv-sql: {} cells, digest {}", centroids.n_cells(), centroids.digest());
    Ok(())
}
