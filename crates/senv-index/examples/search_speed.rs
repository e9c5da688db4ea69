//! Measures building and searching an index of the rows of a NumPy file, against an exact search of the same rows.
//!
//! ```sh
//! senv encode --input sentences.txt --output rows.npy
//! senv encode --input others.txt --output queries.npy
//! cargo run --release -p senv-index --example search_speed -- rows.npy queries.npy [threads] [rescoring] [rows] [folder]
//! ```
//!
//! With a folder the index is also written there as a collection, opened and searched from the file.

#![allow(clippy::print_stdout)]

use std::{error::Error, fs, time::Instant};

use senv_core::{Rows, Table};
use senv_index::{
    CellCount, Collection, CollectionParams, IndexParams, Neighbour, NewRows, Rescoring, Search, VectorIndex,
};

/// A matrix of f32 as `senv encode` writes it.
fn npy(path: &str, most: usize) -> Result<Table, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let text = String::from_utf8_lossy(&bytes[10..10 + header]).into_owned();
    let shape = text.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).ok_or("no shape")?;
    let shape: Vec<usize> = shape.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>()?;
    let n = shape[0].min(most);
    let values = bytes[10 + header..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Ok(Table::from_vec(n, shape[1], values.take(n * shape[1]).collect())?)
}

/// Seconds of CPU time of this process.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// CPU and wall seconds of some work, and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, f64, T) {
    let (start, clock) = (cpu(), Instant::now());
    let result = work();
    (cpu() - start, clock.elapsed().as_secs_f64(), result)
}

fn recall(found: &[Vec<Neighbour>], truth: &[Vec<Neighbour>]) -> f64 {
    let hits = |(found, truth): (&Vec<Neighbour>, &Vec<Neighbour>)| {
        truth.iter().filter(|near| found.iter().any(|other| other.row == near.row)).count()
    };
    let total: usize = truth.iter().map(Vec::len).sum();
    found.iter().zip(truth).map(hits).sum::<usize>() as f64 / total.max(1) as f64
}

fn run(rows: &str, queries: &str, rescoring: Rescoring, most: usize) -> Result<(), Box<dyn Error>> {
    let (table, queries) = (npy(rows, most)?, npy(queries, usize::MAX)?);
    let queries: Vec<&[f32]> = (0..queries.n_rows()).map(|i| Rows::row(&queries, i)).collect();
    println!("{} rows of {} dimensions, {} queries", table.n_rows(), table.dim(), queries.len());
    let k = 10;
    for cells in [CellCount::Exactly(0), CellCount::Auto] {
        let params = IndexParams { rescoring, cells, ..Default::default() };
        let copy = table.clone();
        let (c, wall, index) = timed(|| VectorIndex::build(copy, &params));
        let index = index?;
        println!("build, {} cells: {c:.2} s CPU, {wall:.2} s wall; {:?}", index.n_cells(), index.recall());
        let few = &queries[..queries.len().min(64)];
        let exact = Search::new(k).recall(1.0);
        let (one, _, _) = timed(|| few[..16].iter().try_for_each(|q| index.search(q, &exact).map(|_| ())));
        let (many, wall, truth) = timed(|| index.search_batch(&queries, &exact));
        let truth = truth?;
        let n = queries.len() as f64;
        println!("  exact: {:.1} single, {:.1} batch q/s CPU, {:.1} wall", 16.0 / one, n / many, n / wall);
        for wanted in [0.9, 0.95, 0.99] {
            let search = Search::new(k).recall(wanted);
            let (c, wall, found) =
                timed(|| queries.iter().map(|q| index.search(q, &search)).collect::<Result<Vec<_>, _>>());
            let r = recall(&found?, &truth);
            println!("  single, recall {wanted}: {:.0} q/s CPU, {:.0} wall, recall {r:.4}", n / c, n / wall);
            for batch in [8, 100, 1000] {
                let batches = || queries.chunks(batch).map(|batch| index.search_batch(batch, &search));
                let (c, wall, found) = timed(|| batches().collect::<Result<Vec<_>, _>>());
                let r = recall(&found?.concat(), &truth);
                println!("  batch {batch}, recall {wanted}: {:.0} q/s CPU, {:.0} wall, recall {r:.4}", n / c, n / wall);
            }
        }
    }
    Ok(())
}

/// Writes a collection, and searches it from the file.
fn collection(
    rows: &str,
    queries: &str,
    rescoring: Rescoring,
    most: usize,
    folder: &str,
) -> Result<(), Box<dyn Error>> {
    let (table, queries) = (npy(rows, most)?, npy(queries, usize::MAX)?);
    let n = table.n_rows();
    let params = CollectionParams::new(table.dim()).index(IndexParams { rescoring, ..Default::default() });
    let mut collection = Collection::create(folder, &params)?;
    let (c, wall, added) = timed(|| collection.add(NewRows::new(table)));
    added?;
    let bytes: u64 = fs::read_dir(folder)?.flatten().filter_map(|entry| entry.metadata().ok()).map(|m| m.len()).sum();
    println!("collection, build and write: {c:.2} s CPU, {wall:.2} s wall; {:.1} bytes a row", bytes as f64 / n as f64);
    drop(collection);
    for _ in 0..3 {
        let (_, wall, opened) = timed(|| Collection::open(folder));
        let opened = opened?;
        let query = Rows::row(&queries, 0);
        let (_, first, _) = timed(|| opened.search(query, &Search::new(10)));
        let (_, second, found) = timed(|| opened.search(query, &Search::new(10)));
        let ms = [wall, first, second].map(|s| s * 1e3);
        println!(
            "  open {:.2} ms, first search {:.1} ms, second {:.1} ms, {} found",
            ms[0],
            ms[1],
            ms[2],
            found?.len()
        );
    }
    let mut opened = Collection::open(folder)?;
    let (c, wall, result) = timed(|| opened.verify());
    result?;
    println!("  verify {c:.2} s CPU, {wall:.2} s wall");
    let (c, wall, result) = timed(|| opened.delete(&(0..1000).collect::<Vec<u64>>()));
    result?;
    println!("  delete 1,000: {c:.3} s CPU, {wall:.3} s wall");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(rows), Some(queries)) = (args.first(), args.get(1)) else {
        return Err("give rows.npy and queries.npy".into());
    };
    let threads = args.get(2).map_or(Ok(1), |n| n.parse())?;
    let rescoring = match args.get(3).map(String::as_str) {
        None | Some("f32") => Rescoring::F32,
        Some("f16") => Rescoring::F16,
        Some("int8") => Rescoring::Int8,
        _ => Rescoring::None,
    };
    let most = args.get(4).map_or(Ok(usize::MAX), |n| n.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let done = pool.install(|| match args.get(5) {
        Some(folder) => collection(rows, queries, rescoring, most, folder).map_err(|error| error.to_string()),
        None => run(rows, queries, rescoring, most).map_err(|error| error.to_string()),
    });
    Ok(done?)
}
