//! Compares near-duplicates found by cells with the exact join: recall of pairs, and CPU seconds of each.
//!
//! ```sh
//! cargo run --release --example near_duplicates -- 0.9 200 2 bbc.txt reuters.txt   # threshold, cells, cells of a row
//! ```

use std::{collections::HashSet, env, fs, sync::Arc};

use datafusion::{
    arrow::{
        array::{AsArray, FixedSizeListArray, Float32Array, Int64Array, RecordBatch},
        datatypes::{DataType, Field, Int64Type},
    },
    datasource::MemTable,
    prelude::{SessionConfig, SessionContext},
};
use senv_datafusion::{Centroids, Models, register};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "near_duplicates THRESHOLD CELLS NEAREST FILE...";
/// Training rows per cell for the centroids.
const SAMPLE: usize = 100;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let threshold: f32 = arguments.next().ok_or(USAGE)?.parse()?;
    let n_cells: usize = arguments.next().ok_or(USAGE)?.parse()?;
    let n: usize = arguments.next().ok_or(USAGE)?.parse()?;
    let mut texts = Vec::new();
    for file in arguments {
        texts.extend(fs::read_to_string(file)?.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    }
    let english = senv::english()?.without_order()?;
    let (dim, vectors) = (english.dim(), english.encode(&texts)?.into_raw_vec_and_offset().0);

    let start = cpu_seconds()?;
    let step = (texts.len() / (SAMPLE * n_cells)).max(1);
    let sample = vectors.chunks_exact(dim).filter(|row| row.iter().any(|&x| x != 0.0)).step_by(step).flatten().copied();
    let centroids = Centroids::train("cells", dim, sample.collect(), n_cells, 1)?;
    println!("{} rows, {} cells; training of the centroids {:.1} CPU s", texts.len(), n_cells, cpu_seconds()? - start);

    // In one process, vectors do not have to move from partial groups to final groups.
    let config = SessionConfig::new().set_bool("datafusion.optimizer.repartition_aggregations", false);
    let context = SessionContext::new_with_config(config);
    register(&context, &Models::english()?.with_centroids(centroids)?)?;
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    let rows = FixedSizeListArray::try_new(item, dim as i32, Arc::new(Float32Array::from(vectors)), None)?;
    let ids: Int64Array = (0..texts.len() as i64).collect();
    let rows = RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("v", Arc::new(rows) as _)])?;
    let batches = (0..rows.num_rows()).step_by(8192).map(|at| rows.slice(at, 8192.min(rows.num_rows() - at))).collect();
    context.register_table("t", Arc::new(MemTable::try_new(rows.schema(), vec![batches])?))?;

    let by_cells = format!(
        "SELECT DISTINCT pair['first'], pair['second']
         FROM (SELECT unnest(near_pairs(id, v, {threshold})) AS pair
               FROM (SELECT id, v, unnest(cells(v, 'cells', {n})) AS cell FROM t) GROUP BY cell)"
    );
    let exact = format!(
        "SELECT pair['first'], pair['second'] FROM (SELECT unnest(near_pairs(id, v, {threshold})) AS pair FROM t)"
    );
    let (found, cells_seconds) = pairs(&context, &by_cells).await?;
    println!("by cells: {} pairs, {cells_seconds:.1} CPU s", found.len());
    let (exact, exact_seconds) = pairs(&context, &exact).await?;
    println!("exact: {} pairs, {exact_seconds:.1} CPU s", exact.len());
    let common = found.intersection(&exact).count();
    println!("recall {:.4}, share of CPU {:.3}", common as f64 / exact.len() as f64, cells_seconds / exact_seconds);
    Ok(())
}

async fn pairs(context: &SessionContext, query: &str) -> Result<(HashSet<(i64, i64)>, f64)> {
    let start = cpu_seconds()?;
    let batches = context.sql(query).await?.collect().await?;
    let seconds = cpu_seconds()? - start;
    let ids = |rows: &RecordBatch, column: usize| rows.column(column).as_primitive::<Int64Type>().values().to_vec();
    Ok((batches.iter().flat_map(|rows| ids(rows, 0).into_iter().zip(ids(rows, 1))).collect(), seconds))
}

/// CPU seconds of this process, all threads together.
fn cpu_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks as f64 / 100.0)
}
