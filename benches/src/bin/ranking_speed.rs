//! Measures paraphrase ranking and, for comparison, the matrix products that it needs. Each of 11,602 vectors of
//! dimension 700, as many as MSRP has sentences, is a query, on one thread and on all.
//!
//! ```text
//! cargo run --release -p senv-benches --bin ranking-speed -- --rounds 5
//! ```
//!
//! Ranking is the complete call of `evaluate_ranking`: it looks up vectors, normalizes them and ranks each query in
//! both pools. It takes turns with only the matrix products, which multiply blocks of rows by all rows. One variant
//! uses ndarray and distributes the blocks among the threads. The other uses `senv_core::arrays::matmul_into`, which
//! ranking calls. The ratio compares ranking with the faster variant in the same round.
//!
//! Results are checked first, and the program fails if one is wrong. It compares the ranks of some queries with a plain
//! loop in f64, and one thread with all threads. Memory must stay below the documented bound, which has no room for a
//! matrix of all scores. Times are printed but not checked.

#![allow(clippy::print_stdout)]
#![forbid(unsafe_code)]

use std::{hint::black_box, time::Instant};

use clap::Parser;
use ndarray::{Array2, ArrayView2, Axis, linalg::general_mat_mul};
use rayon::prelude::*;
use senv_benches::{SEED, peak_of, spread};
use senv_core::{NoObserver, arrays::matmul_into, init, kernels, rng::stream, threads::thread_count};
use senv_eval::{ParaphrasePair, ParaphraseSet, RankingResult, SentenceVectors, evaluate_ranking};

/// Rows per block in the products.
const BLOCK: usize = 256;
/// The largest share of the first sentence in the second sentence of a pair. Cosines then reach .24. Those of unrelated
/// sentences have a standard deviation of .04, so ranks of all sizes occur.
const MOST_SHARED: f32 = 0.25;
/// Approximate number of queries whose ranks are checked.
const CHECKED: usize = 50;
/// Cosines closer than this may be ranked in either order. It is about ten times the accumulated rounding error of f32.
const EPSILON: f64 = 1e-6;

#[derive(Debug, Parser)]
#[command(name = "ranking-speed")]
struct Args {
    /// Paraphrase pairs, of two sentences each.
    #[arg(long, default_value_t = 5801, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Embedding dimension.
    #[arg(long, default_value_t = 700, value_parser = clap::value_parser!(u32).range(1..))]
    dim: u32,
    /// Threads to compare with one thread, at least 2. 0 uses all cores.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Rounds; the median is printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Sentences with random vectors. Sentences 2 i and 2 i + 1 are paraphrases.
struct Data {
    embeddings: SentenceVectors,
    set: ParaphraseSet,
}

impl Data {
    /// The second vector of a pair contains a growing share of the first, and has one of three lengths.
    fn draw(n_pairs: usize, dim: usize) -> Outcome<Self> {
        let mut values = vec![0.0_f32; 2 * n_pairs * dim];
        init::normal(&mut stream(SEED, "ranking speed", &[]), &mut values, 1.0)?;
        for (pair, rows) in values.chunks_exact_mut(2 * dim).enumerate() {
            let (first, second) = rows.split_at_mut(dim);
            kernels::axpy(MOST_SHARED * pair as f32 / n_pairs as f32, first, second);
            kernels::scale((1 + pair % 3) as f32, second);
        }
        let values = Array2::from_shape_vec((2 * n_pairs, dim), values)?;
        let sentence = |number: usize| format!("sentence {number}");
        let pair = |i: usize| {
            let [first, second] = [2 * i, 2 * i + 1].map(sentence);
            ParaphrasePair { is_paraphrase: true, first, second }
        };
        Ok(Self {
            embeddings: SentenceVectors::from_vectors((0..2 * n_pairs).map(sentence), values)?,
            set: ParaphraseSet { path: "random vectors".into(), pairs: (0..n_pairs).map(pair).collect() },
        })
    }

    fn rank(&self) -> senv_eval::Result<RankingResult> {
        evaluate_ranking(&self.embeddings, std::slice::from_ref(&self.set), &NoObserver)
    }
}

/// The timed operations.
#[derive(Debug, Clone, Copy)]
enum Timed {
    Ranking,
    Ndarray,
    Matmul,
}

const TIMED: [Timed; 3] = [Timed::Ranking, Timed::Ndarray, Timed::Matmul];

impl Timed {
    fn run(self, data: &Data) -> senv_eval::Result<()> {
        match self {
            Self::Ranking => drop(black_box(data.rank()?)),
            Self::Ndarray => by_ndarray(data.embeddings.values()),
            Self::Matmul => by_matmul(data.embeddings.values())?,
        }
        Ok(())
    }
}

/// The product of all rows with all rows by ndarray. It is single-threaded, so each thread takes blocks.
fn by_ndarray(values: ArrayView2<'_, f32>) {
    let n = values.nrows();
    values.axis_chunks_iter(Axis(0), BLOCK).into_par_iter().for_each_init(
        || Array2::<f32>::zeros((BLOCK, n)),
        |scores, rows| {
            let mut block = scores.slice_axis_mut(Axis(0), (..rows.nrows()).into());
            general_mat_mul(1.0, &rows, &values.t(), 0.0, &mut block);
            black_box(scores);
        },
    );
}

/// The same product by `matmul_into`, which distributes each block among the threads.
fn by_matmul(values: ArrayView2<'_, f32>) -> senv_core::Result<()> {
    let mut scores = Array2::<f32>::zeros((BLOCK, values.nrows()));
    for rows in values.axis_chunks_iter(Axis(0), BLOCK) {
        let block = scores.slice_axis_mut(Axis(0), (..rows.nrows()).into());
        matmul_into(1.0, rows, values.t(), 0.0, block)?;
        black_box(&scores);
    }
    Ok(())
}

/// The number of ranks checked, and how many of them could have only one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checked {
    queries: usize,
    exact: usize,
}

/// Compares the ranks of some queries with a plain loop in f64. A rank is correct if moving the score of its paraphrase
/// by at most [`EPSILON`] can produce it.
fn check_ranks(values: ArrayView2<'_, f32>, ranks: &[usize]) -> Outcome<Checked> {
    let n = values.nrows();
    if ranks.len() != n {
        return Err(format!("{} ranks of {n} queries", ranks.len()).into());
    }
    let dot = |i: usize, j: usize| -> f64 {
        let (x, y) = (values.row(i), values.row(j));
        x.iter().zip(y.iter()).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
    };
    let norms: Vec<f64> = (0..n).map(|i| dot(i, i).sqrt()).collect();
    let mut checked = Checked { queries: 0, exact: 0 };
    // An odd step alternates between first and second sentences of pairs.
    for query in (0..n).step_by(n.div_ceil(CHECKED) | 1) {
        let paraphrase = query ^ 1;
        let cosine = |other: usize| dot(query, other) / (norms[query] * norms[other]);
        let bar = cosine(paraphrase);
        let others: Vec<f64> = (0..n).filter(|&i| i != query && i != paraphrase).map(cosine).collect();
        let rank = |bar: f64| 1 + others.iter().filter(|&&score| score > bar).count();
        let (least, greatest, got) = (rank(bar + EPSILON), rank(bar - EPSILON), ranks[query]);
        if !(least..=greatest).contains(&got) {
            return Err(
                format!("sentence {query}: rank {got}, but {least} to {greatest} by a plain loop in f64").into()
            );
        }
        checked.queries += 1;
        checked.exact += usize::from(least == greatest);
    }
    if 2 * checked.exact < checked.queries {
        return Err(format!("near ties make the ranks of most queries uncertain: {checked:?}").into());
    }
    Ok(checked)
}

/// Compares the memory of a ranking with the bound of `evaluate_ranking`: the vectors and 64 MiB of scores. Queries,
/// threads and packed products get another 32 MiB.
fn check_memory(n: usize, dim: usize, bytes: u64) -> Outcome {
    let (vectors, all_scores) = (4 * (n * dim) as u64, 4 * (n * n) as u64);
    let bound = vectors + (96 << 20);
    let mb = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "peak memory of ranking {:.0} MB, bound {:.0}; all scores at once would be {:.0}",
        mb(bytes),
        mb(bound),
        mb(all_scores)
    );
    if bytes > bound { Err("more memory than the bound".into()) } else { Ok(()) }
}

fn main() -> Outcome {
    let args = Args::parse();
    let (n, dim, rounds) = (2 * args.pairs as usize, args.dim as usize, args.rounds as usize);
    let data = Data::draw(args.pairs as usize, dim)?;
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, all) = (pool(1)?, pool(thread_count(args.threads).max(2))?);

    let before = peak_of("self");
    let result = all.install(|| data.rank())?;
    if let (Some(before), Some(after)) = (before, peak_of("self")) {
        check_memory(n, dim, after - before)?;
    }
    if one.install(|| data.rank())? != result {
        return Err(format!("the ranks on one thread differ from those on {}", all.current_num_threads()).into());
    }
    let Checked { queries, exact } = check_ranks(data.embeddings.values(), &result.ranks)?;
    println!("same ranks on one thread, and for {queries} queries by a plain loop in f64 ({exact} without near ties)");
    print!("{}", result.to_text());

    let operations = 2.0 * (n * n * dim) as f64;
    println!("\n{n} queries x {n} sentences x {dim}: {:.1} G multiply-adds", operations / 2e9);
    println!("medians of {rounds} rounds [min, max]; rates in GFLOP/s (a multiply-add is 2)\n");
    println!("| threads | ranking, s | ranking | ndarray | `matmul_into` | ranking / the faster product |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for pool in [&one, &all] {
        let mut rates: [Vec<f64>; 3] = Default::default();
        for round in 0..rounds {
            for turn in 0..TIMED.len() {
                let timed = (round + turn) % TIMED.len();
                let started = Instant::now();
                pool.install(|| TIMED[timed].run(&data))?;
                rates[timed].push(operations / 1e9 / started.elapsed().as_secs_f64());
            }
        }
        let [ranking, ndarray, matmul] = &rates;
        let seconds: Vec<f64> = ranking.iter().map(|rate| operations / 1e9 / rate).collect();
        let products = ndarray.iter().zip(matmul).map(|(a, b)| a.max(*b));
        let ratios: Vec<f64> = ranking.iter().zip(products).map(|(rate, product)| rate / product).collect();
        let [rates_1, rates_2, rates_3] = [ranking, ndarray, matmul].map(|rates| spread(rates, 1));
        let (seconds, ratios) = (spread(&seconds, 2), spread(&ratios, 2));
        let threads = pool.current_num_threads();
        println!("| {threads} | {seconds} | {rates_1} | {rates_2} | {rates_3} | {ratios} |");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_pass_the_check_and_other_ranks_fail_it() {
        let data = Data::draw(150, 400).unwrap();
        let values = data.embeddings.values();
        let mut ranks = data.rank().unwrap().ranks;
        assert!(ranks.contains(&1) && ranks.iter().any(|&rank| rank > 100), "ranks of all sizes");
        let checked = check_ranks(values, &ranks).unwrap();
        assert!(checked.queries >= 40 && 2 * checked.exact > checked.queries, "{checked:?}");

        ranks[0] += 3;
        assert!(check_ranks(values, &ranks).unwrap_err().to_string().starts_with("sentence 0: rank "));
        assert!(check_ranks(values, &ranks[1..]).is_err());
    }

    #[test]
    fn memory_for_all_scores_is_refused() {
        let (n, dim) = (11_602, 700);
        assert!(check_memory(n, dim, 4 * (n * dim) as u64 + (64 << 20)).is_ok());
        assert!(check_memory(n, dim, 4 * (n * n) as u64).is_err());
    }
}
