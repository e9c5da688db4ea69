//! The inner loops of `senv-core`, over rows as tables store them: aligned to cache lines, and padded to a multiple of
//! 16 values.
//!
//! `cargo bench -p senv-benches --bench kernels`. Throughput counts the bytes that vector kernels read and write, and
//! the multiply-adds of products. Names contain the dimension and where the rows are: 64 rows fit in the second-level
//! cache, and 65,536 rows exceed the last level.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use rand::RngExt;
use senv_benches::{SEED, numbers};
use senv_core::{
    Rows, Table,
    arrays::matmul_into,
    kernels::{self, SharedTable},
    rng::stream,
};

const DIMS: [usize; 3] = [100, 300, 700];
/// Targets and negatives of a product: the words kept in one or a few sentences, and ten negatives.
const M: usize = 16;
const N: usize = 10;

fn table(n_rows: usize, dim: usize) -> Table {
    let mut table = Table::zeros(n_rows, dim).expect("memory");
    let values = numbers(dim, "row");
    for i in 0..n_rows {
        table.row_mut(i).copy_from_slice(&values);
    }
    table
}

fn vectors(c: &mut Criterion) {
    for dim in DIMS {
        let mut rows = table(2, dim);
        let expected: f64 = rows.row(0).iter().map(|&x| f64::from(x).powi(2)).sum();
        let got = f64::from(kernels::dot(rows.row(0), rows.row(1)));
        assert!((got - expected).abs() < 1e-5 * expected);

        let mut group = c.benchmark_group("dot");
        group.throughput(Throughput::Bytes(2 * 4 * dim as u64));
        group.bench_with_input(BenchmarkId::from_parameter(dim), &rows, |b, rows| {
            b.iter(|| kernels::dot(black_box(rows.row(0)), black_box(rows.row(1))));
        });
        group.finish();

        let x = rows.row(0).to_vec();
        let y = rows.row_mut(1);
        let mut group = c.benchmark_group("axpy");
        group.throughput(Throughput::Bytes(3 * 4 * dim as u64));
        // A factor too small to affect the sum, so values stay finite however often it runs.
        group.bench_function(BenchmarkId::from_parameter(dim), |b| {
            b.iter(|| kernels::axpy(black_box(1e-30), black_box(&x), y));
        });
        group.finish();
        assert_eq!(y, x);
    }
}

fn shared_rows(c: &mut Criterion) {
    const VISITS: usize = 1024;
    for n_rows in [64, 65_536] {
        for dim in DIMS {
            let mut table = table(n_rows, dim);
            let mut rng = stream(SEED, "rows visited", &[n_rows as u64]);
            let visits: Vec<usize> = (0..VISITS).map(|_| rng.random_range(0..n_rows)).collect();
            let shared = SharedTable::new(&mut table);
            let mut sum = vec![0.0; shared.stride()];
            shared.add_row(0, 2.0, &mut sum);
            assert_eq!(sum[0], 2.0 * numbers(dim, "row")[0]);
            let id = || BenchmarkId::new(format!("{n_rows} rows"), dim);

            let mut group = c.benchmark_group("SharedTable::add_row");
            group.throughput(Throughput::Bytes((VISITS * 4 * dim) as u64));
            group.bench_function(id(), |b| {
                b.iter(|| {
                    for (i, &row) in visits.iter().enumerate() {
                        shared.prefetch_row(visits[(i + 4) % VISITS]);
                        shared.add_row(row, black_box(1e-30), &mut sum);
                    }
                });
            });
            group.finish();

            let mut group = c.benchmark_group("SharedTable::add_to_row");
            group.throughput(Throughput::Bytes((VISITS * 2 * 4 * dim) as u64));
            group.bench_function(id(), |b| {
                b.iter(|| {
                    for (i, &row) in visits.iter().enumerate() {
                        shared.prefetch_row(visits[(i + 4) % VISITS]);
                        shared.add_to_row(row, black_box(1e-30), &sum);
                    }
                });
            });
            group.finish();
        }
    }
}

fn products(c: &mut Criterion) {
    for dim in DIMS {
        let stride = dim.next_multiple_of(16);
        let (a, b) = (table(M, dim), table(N, dim));
        let mut out = vec![0.0; M * N];
        kernels::scores(a.values(), M, b.values(), N, stride, &mut out);
        assert!(out.iter().all(|&s| s == out[0]) && (out[0] - kernels::dot(a.row(0), b.row(0))).abs() < 1e-3);
        let id = || BenchmarkId::new(format!("{M}x{N}"), dim);
        let work = Throughput::Elements((M * N * dim) as u64);

        let mut group = c.benchmark_group("scores");
        group.throughput(work.clone());
        group.bench_function(id(), |bencher| {
            bencher.iter(|| kernels::scores(black_box(a.values()), M, black_box(b.values()), N, stride, &mut out));
        });
        group.finish();

        let factors = vec![1e-30; M * N];
        let mut sums = table(M, dim);
        let mut group = c.benchmark_group("add_product");
        group.throughput(work);
        group.bench_function(id(), |bencher| {
            bencher.iter(|| {
                kernels::add_product(black_box(&factors), N, 1, M, N, black_box(b.values()), stride, sums.values_mut());
            });
        });
        group.finish();
        assert_eq!(sums.row(M - 1), a.row(M - 1));
    }
}

/// Products of states with the matrix of a GRU of 2400 units on one thread, as a transposed view and as a transposed
/// copy.
fn states_with_a_matrix(c: &mut Criterion) {
    let (rows, k) = (7200, 2400);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let mut rng = stream(SEED, "states", &[]);
    let mut matrix = |n: usize, dim: usize| Array2::from_shape_simple_fn((n, dim), || rng.random_range(-0.5f32..0.5));
    let u = matrix(rows, k);
    let turned = u.t().as_standard_layout().into_owned();
    for n in [2, 8, 16, 32, 64, 128] {
        let states = matrix(n, k);
        let mut out = Array2::zeros((n, rows));
        let mut product = |b| pool.install(|| matmul_into(1.0, states.view(), b, 0.0, out.view_mut())).expect("shapes");
        let mut group = c.benchmark_group("states");
        group.throughput(Throughput::Elements((n * rows * k) as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("transposed view", n), |bencher| bencher.iter(|| product(u.t())));
        group.bench_function(BenchmarkId::new("transposed copy", n), |bencher| bencher.iter(|| product(turned.view())));
        group.finish();
        product(u.t());
        let expected = kernels::dot(states.row(n - 1), u.row(9));
        assert!((out[(n - 1, 9)] - expected).abs() < 1e-3, "{} {expected}", out[(n - 1, 9)]);
    }
}

criterion_group!(benches, vectors, shared_rows, products, states_with_a_matrix);
criterion_main!(benches);
