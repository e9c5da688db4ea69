//! Searches the rows of a NumPy file with `senv-index` and with `turbovec`, which take turns in one process.
//!
//! ```sh
//! senv encode --input sentences.txt --output rows.npy
//! senv encode --input others.txt --output queries.npy
//! cargo run --release --manifest-path crates/peers/against-turbovec/Cargo.toml -- rows.npy queries.npy [NAME=VALUE...]
//! ```
//!
//! | name | meaning | default |
//! | --- | --- | --- |
//! | `threads` | threads for searching and for building | 1 |
//! | `rows` | use only the first rows | all |
//! | `bits` | bits per value in turbovec | 4 |
//! | `candidates` | rows that turbovec returns; their cosines are then computed from the rows of the file | 30 |
//! | `recall` | recall requested from senv-index | .99 |
//! | `batch` | queries per call | `1,8,100,1000` |
//! | `rounds` | rounds, in which both take turns; medians are printed | 5 |
//!
//! Recall is the share of the ten nearest rows that a search finds. Queries per second are per CPU second (user and
//! system). Both indexes are built in turn, as often as they are searched.

use std::{collections::HashMap, error::Error, fs, hint::black_box};

use senv_core::{Rows, Table, kernels};
use senv_index::{CellCount, IndexParams, Search, VectorIndex};
use turbovec::TurboQuantIndex;

type Failure = Box<dyn Error + Send + Sync>;

/// Neighbors per query.
const K: usize = 10;

/// A matrix of f32, as `senv encode` writes it.
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

/// CPU seconds of this process.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu();
    let result = work();
    (cpu() - start, result)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn recall(found: &[Vec<usize>], truth: &[Vec<usize>]) -> f64 {
    let hits = |(found, truth): (&Vec<usize>, &Vec<usize>)| truth.iter().filter(|row| found.contains(row)).count();
    found.iter().zip(truth).map(hits).sum::<usize>() as f64 / (truth.len() * K) as f64
}

/// The input for both programs.
struct Task<'a> {
    unit: &'a Table,
    queries: Vec<&'a [f32]>,
    candidates: usize,
    recall: f32,
}

impl Task<'_> {
    fn ours(&self, index: &VectorIndex, batch: usize) -> Result<Vec<Vec<usize>>, Failure> {
        let search = Search::new(K).recall(self.recall);
        let mut all = Vec::new();
        for queries in self.queries.chunks(batch) {
            let found = index.search_batch(queries, &search)?;
            all.extend(found.iter().map(|found| found.iter().map(|near| near.row).collect::<Vec<_>>()));
        }
        Ok(all)
    }

    fn theirs(&self, index: &TurboQuantIndex, batch: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for queries in self.queries.chunks(batch) {
            let found = index.search(&queries.concat(), self.candidates);
            for (query, rows) in queries.iter().zip(found.indices.chunks(found.k.max(1))) {
                let cosine = |&row: &i64| (kernels::dot(query, self.unit.row(row as usize)), row as usize);
                let mut scored: Vec<(f32, usize)> = rows.iter().map(cosine).collect();
                scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                all.push(scored.into_iter().take(K).map(|(_, row)| row).collect());
            }
        }
        all
    }
}

fn run(rows: &str, queries: &str, named: &HashMap<String, String>) -> Result<(), Failure> {
    let text = |name: &str, default: &'static str| named.get(name).map_or(default, String::as_str).to_owned();
    let rounds: usize = text("rounds", "5").parse::<usize>()?.max(1);
    let mut table = npy(rows, text("rows", "18446744073709551615").parse()?)?;
    for row in 0..table.n_rows() {
        kernels::l2_normalize(table.row_mut(row));
    }
    let queries = npy(queries, usize::MAX)?;
    let task = Task {
        unit: &table,
        queries: (0..queries.n_rows()).map(|i| Rows::row(&queries, i)).collect(),
        candidates: text("candidates", "30").parse()?,
        recall: text("recall", ".99").parse()?,
    };
    let (bits, n) = (text("bits", "4").parse()?, task.queries.len() as f64);
    let params = IndexParams { cells: CellCount::Exactly(0), ..Default::default() };
    let values: Vec<f32> = table.iter().flatten().copied().collect();
    let (mut our_builds, mut their_builds) = (Vec::new(), Vec::new());
    let mut both = None;
    for _ in 0..rounds.min(3) {
        drop(both.take());
        let copy = table.clone();
        let (c, ours) = timed(|| VectorIndex::build(copy, &params));
        our_builds.push(c);
        let (c, theirs) = timed(|| -> Result<TurboQuantIndex, Failure> {
            let mut index = TurboQuantIndex::new(table.dim(), bits)?;
            index.add(&values);
            // Preparation during its first search counts as part of the build.
            black_box(index.search(task.queries[0], K));
            Ok(index)
        });
        their_builds.push(c);
        both = Some((ours?, theirs?));
    }
    let Some((ours, theirs)) = both else { return Ok(()) };
    let truth: Vec<Vec<usize>> = ours
        .search_batch(&task.queries, &Search::new(K).recall(1.0))?
        .iter()
        .map(|found| found.iter().map(|near| near.row).collect())
        .collect();
    println!("{} rows of {} dimensions, {n} queries", table.n_rows(), table.dim());
    println!("build, s CPU: {:.2} senv-index, {:.2} turbovec", median(&mut our_builds), median(&mut their_builds));
    println!("batch\trecall\tq/s\tturbovec: recall\tq/s\tratio");
    for batch in text("batch", "1,8,100,1000").split(',') {
        let batch = batch.parse()?;
        let (mut our_times, mut their_times, mut recalls) = (Vec::new(), Vec::new(), (0.0, 0.0));
        for _ in 0..rounds {
            let (c, found) = timed(|| task.ours(&ours, batch));
            our_times.push(c);
            recalls.0 = recall(&found?, &truth);
            let (c, found) = timed(|| task.theirs(&theirs, batch));
            their_times.push(c);
            recalls.1 = recall(&found, &truth);
        }
        let (a, b) = (n / median(&mut our_times), n / median(&mut their_times));
        println!("{batch}\t{:.4}\t{a:.0}\t{:.4}\t{b:.0}\t{:.2}", recalls.0, recalls.1, a / b);
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let (Some(rows), Some(queries)) = (args.next(), args.next()) else {
        return Err("give rows.npy and queries.npy".into());
    };
    let pair = |arg: String| arg.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let named: HashMap<String, String> =
        args.map(pair).collect::<Option<_>>().ok_or("give NAME=VALUE after the files")?;
    let threads = named.get("threads").map_or(Ok(1), |n| n.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    run(&rows, &queries, &named)
}
