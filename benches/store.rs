//! Nearest rows and model files: `senv-store`.
//!
//! `cargo bench -p senv-benches --bench store`. There are 100,000 rows of 100 values, and throughput counts the rows
//! compared. The file is in the page cache, so the benchmark times the work of opening, not the disk.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rayon::ThreadPoolBuilder;
use senv_benches::{Text, numbers};
use senv_core::{Rows, Table};
use senv_store::{ModelFile, ModelWriter, NearestIndex};

const N_ROWS: usize = 100_000;
const DIM: usize = 100;
const K: usize = 10;

fn table(n_rows: usize) -> Table {
    Table::from_vec(n_rows, DIM, numbers(n_rows * DIM, "rows")).expect("numbers for every row")
}

fn nearest(c: &mut Criterion) {
    let table = table(N_ROWS);
    let mut group = c.benchmark_group(format!("nearest {K} of {N_ROWS}x{DIM}"));
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let index = pool.install(|| NearestIndex::new(&table));
        for n_queries in [1, 64] {
            let queries: Vec<&[f32]> = (0..n_queries).map(|i| table.row(i)).collect();
            let search = || pool.install(|| index.nearest_batch(black_box(&queries), K).expect("finite queries"));
            let found = search();
            assert!(found.iter().enumerate().all(|(i, rows)| rows.len() == K && rows[0].row == i));
            group.throughput(Throughput::Elements((n_queries * N_ROWS) as u64));
            group.bench_function(BenchmarkId::new(format!("{n_queries} queries"), format!("{threads} threads")), |b| {
                b.iter(search);
            });
        }
        group.throughput(Throughput::Elements(N_ROWS as u64));
        group.bench_function(BenchmarkId::new("index", format!("{threads} threads")), |b| {
            b.iter(|| pool.install(|| NearestIndex::new(black_box(&table))));
        });
    }
    group.finish();
}

fn opening(c: &mut Criterion) {
    let text = Text::new().expect("a vocabulary");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("open a model: vocabulary, rows, the first row");
    for n_rows in [text.vocabulary.len(), 10 * text.vocabulary.len()] {
        let path = folder.path().join(format!("{n_rows}.safetensors"));
        let table = table(n_rows);
        let writer = ModelWriter::new("bench").vocabulary(&text.vocabulary).table("rows", &table);
        writer.save(&path).expect("room for the model");
        let open = || {
            let file = ModelFile::open(&path).expect("a sound file");
            let (vocabulary, rows) = (file.vocabulary().expect("its words"), file.table("rows").expect("its rows"));
            (vocabulary.len(), rows.row(n_rows - 1)[0])
        };
        assert_eq!(open(), (text.vocabulary.len(), table.row(n_rows - 1)[0]));
        let megabytes = n_rows * DIM * 4 / 1_000_000;
        group.bench_function(
            BenchmarkId::new(format!("{} words", text.vocabulary.len()), format!("{megabytes} MB")),
            |b| {
                b.iter(open);
            },
        );
    }
    group.finish();
}

criterion_group!(benches, nearest, opening);
criterion_main!(benches);
