//! Measures building and searching an index of the rows of a NumPy file, against an exact search of the same rows.
//!
//! ```sh
//! senv encode --input sentences.txt --output rows.npy
//! senv encode --input others.txt --output queries.npy
//! cargo run --release -p senv-index --example search_speed -- rows.npy queries.npy [NAME=VALUE...]
//! ```
//!
//! | name | meaning | default |
//! | --- | --- | --- |
//! | `threads` | threads for searching and for building | 1 |
//! | `rescoring` | `f32`, `f16`, `int8` or `none` | `f32` |
//! | `rows` | only the first rows | all |
//! | `cells` | numbers of cells, each an index; `auto` | `0,auto` |
//! | `recall` | requested recalls | `.9,.95,.99` |
//! | `batch` | queries per call | `1,8,100,1000` |
//! | `folder` | write a collection there, open it, and search it from the file | |
//!
//! The columns of a search are: cells, requested recall, queries per call, measured recall, and queries per second of
//! CPU time and of wall time.

#![allow(clippy::print_stdout)]

use std::{collections::HashMap, error::Error, fs, time::Instant};

use senv_core::{Rows, Table};
use senv_index::{
    CellCount, Collection, CollectionParams, IndexParams, Neighbour, NewRows, Rescoring, Search, VectorIndex,
};

type Failure = Box<dyn Error + Send + Sync>;

/// Neighbors per query.
const K: usize = 10;
/// Queries of the exact search, one at a time: the first computes the norms that the others read.
const SINGLE: usize = 64;

/// A matrix of f32 as `senv encode` writes it.
fn npy(path: &str, most: usize) -> Result<Table, Failure> {
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

struct Options {
    rows: String,
    queries: String,
    named: HashMap<String, String>,
}

impl Options {
    fn read() -> Result<Self, Failure> {
        let mut args = std::env::args().skip(1);
        let (Some(rows), Some(queries)) = (args.next(), args.next()) else {
            return Err("give rows.npy and queries.npy".into());
        };
        let pair = |arg: String| arg.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let named = args.map(pair).collect::<Option<_>>().ok_or("give NAME=VALUE after the files")?;
        Ok(Self { rows, queries, named })
    }

    fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.named.get(name).map_or(default, String::as_str)
    }

    fn list<T: std::str::FromStr>(&self, name: &str, default: &str) -> Result<Vec<T>, Failure>
    where
        T::Err: Error + Send + Sync + 'static,
    {
        Ok(self.text(name, default).split(',').map(str::parse).collect::<Result<_, _>>()?)
    }

    fn rescoring(&self) -> Result<Rescoring, Failure> {
        Ok(match self.text("rescoring", "f32") {
            "f32" => Rescoring::F32,
            "f16" => Rescoring::F16,
            "int8" => Rescoring::Int8,
            "none" => Rescoring::None,
            other => return Err(format!("no rescoring {other}").into()),
        })
    }

    fn tables(&self) -> Result<(Table, Table), Failure> {
        let most = self.text("rows", "18446744073709551615").parse()?;
        Ok((npy(&self.rows, most)?, npy(&self.queries, usize::MAX)?))
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let (table, queries) = options.tables()?;
    let queries: Vec<&[f32]> = (0..queries.n_rows()).map(|i| Rows::row(&queries, i)).collect();
    let n = queries.len() as f64;
    println!("{} rows of {} dimensions, {n} queries", table.n_rows(), table.dim());
    let mut truth = Vec::new();
    for cells in options.text("cells", "0,auto").split(',') {
        let count = if cells == "auto" { CellCount::Auto } else { CellCount::Exactly(cells.parse()?) };
        let params = IndexParams { rescoring: options.rescoring()?, cells: count, ..Default::default() };
        let copy = table.clone();
        let (c, wall, index) = timed(|| VectorIndex::build(copy, &params));
        let index = index?;
        let cells = index.n_cells();
        println!("build, {cells} cells: {c:.2} s CPU, {wall:.2} s wall; {:?}", index.recall());
        if truth.is_empty() {
            let exact = Search::new(K).recall(1.0);
            let single = SINGLE.min(queries.len());
            let (one, _, result) =
                timed(|| queries[..single].iter().try_for_each(|q| index.search(q, &exact).map(|_| ())));
            result?;
            let (many, wall, found) = timed(|| index.search_batch(&queries, &exact));
            truth = found?;
            println!("exact: {:.1} single, {:.1} batch q/s CPU, {:.1} wall", single as f64 / one, n / many, n / wall);
        }
        for wanted in options.list::<f32>("recall", ".9,.95,.99")? {
            let search = Search::new(K).recall(wanted);
            for batch in options.list::<usize>("batch", "1,8,100,1000")? {
                let batches = || queries.chunks(batch).map(|batch| index.search_batch(batch, &search));
                let (c, wall, found) = timed(|| batches().collect::<Result<Vec<_>, _>>());
                let r = recall(&found?.concat(), &truth);
                println!("{cells}\t{wanted}\t{batch}\t{r:.4}\t{:.0}\t{:.0}", n / c, n / wall);
            }
        }
    }
    Ok(())
}

/// Writes a collection, and searches it from the file.
fn collection(options: &Options, folder: &str) -> Result<(), Failure> {
    let (table, queries) = options.tables()?;
    let n = table.n_rows();
    let index = IndexParams { rescoring: options.rescoring()?, ..Default::default() };
    let params = CollectionParams::new(table.dim()).index(index);
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
        let (_, first, _) = timed(|| opened.search(query, &Search::new(K)));
        let (_, second, found) = timed(|| opened.search(query, &Search::new(K)));
        let ms = [wall, first, second].map(|s| s * 1e3);
        let found = found?.len();
        println!("open {:.2} ms, first search {:.1} ms, second {:.1} ms, {found} found", ms[0], ms[1], ms[2]);
    }
    let mut opened = Collection::open(folder)?;
    let (c, wall, result) = timed(|| opened.verify());
    result?;
    println!("verify {c:.2} s CPU, {wall:.2} s wall");
    let (c, wall, result) = timed(|| opened.delete(&(0..1000).collect::<Vec<u64>>()));
    result?;
    println!("delete 1,000: {c:.3} s CPU, {wall:.3} s wall");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::read()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.text("threads", "1").parse()?).build()?;
    pool.install(|| match options.named.get("folder") {
        Some(folder) => collection(&options, folder),
        None => run(&options),
    })
}
