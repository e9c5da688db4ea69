//! Measures looking up, replacing and deleting rows by their ids, in a collection whose ids are numbers in order,
//! numbers in no order, or UUIDs.
//!
//! ```sh
//! cargo run --release -p senv-index --example id_speed -- FOLDER [ROWS]
//! ```
//!
//! Each collection has `ROWS` rows (1,000,000) of 64 values, in parts of 262,144 rows, with a text each. The columns
//! are the kind of ids, seconds to build, and bytes of the files per row. Then come milliseconds: to open, to look up
//! the first id, to delete one row by its id, and to replace one. The first look-up compares the ids with their
//! checksums, and each change is saved. The rest are microseconds, means of 100,000: to look up an id that exists, one
//! that does not, and to read the id of a position. Times of changes and look-ups are the least of several runs.

#![allow(clippy::print_stdout)]

use std::{env, error::Error, fs, path::Path, time::Instant};

use senv_core::Table;
use senv_index::{Collection, CollectionParams, Id, IndexParams, NewRows, Rescoring};

type Failure = Box<dyn Error + Send + Sync>;

const DIM: usize = 64;
const PART: usize = 262_144;
/// Look-ups per run, and runs.
const N: usize = 100_000;
const ROUNDS: usize = 5;
/// Changes, each of which is a run.
const CHANGES: usize = 20;

/// A number without a visible order (SplitMix64).
fn mixed(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A text in the form of a UUID.
fn uuid(i: u64) -> String {
    let (a, b) = (mixed(2 * i), mixed(2 * i + 1));
    format!("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 48, b & 0xffff_ffff_ffff)
}

fn rows(numbers: std::ops::Range<usize>, id: impl Fn(u64) -> Id) -> Result<NewRows, Failure> {
    let values = numbers.clone().flat_map(|i| (0..DIM).map(move |j| (mixed((i * DIM + j) as u64) >> 40) as f32 - 8e6));
    let table = Table::from_vec(numbers.len(), DIM, values.collect())?;
    let texts =
        numbers.clone().map(|i| format!("Line {i} of a made-up text says {}.", mixed(i as u64) % 1000)).collect();
    Ok(NewRows::new(table).ids(numbers.map(|i| id(i as u64)).collect()).texts(vec![texts]))
}

/// Seconds of some work, and its result.
fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(f64, T), Failure> {
    let clock = Instant::now();
    let result = work()?;
    Ok((clock.elapsed().as_secs_f64(), result))
}

/// The least seconds of several runs, which others on the machine disturb less than the mean.
fn least(n: usize, mut work: impl FnMut(usize) -> Result<(), Failure>) -> Result<f64, Failure> {
    (0..n).try_fold(f64::INFINITY, |least, i| Ok(least.min(timed(|| work(i))?.0)))
}

fn measure(name: &str, folder: &Path, n: usize, id: impl Fn(u64) -> Id + Copy) -> Result<(), Failure> {
    let index = IndexParams { rescoring: Rescoring::F16, ..IndexParams::default() };
    let params = CollectionParams::new(DIM).index(index).column("text");
    let mut start = 0;
    let (built, collection) = timed(|| {
        Collection::build(folder, &params, || {
            let part = start..(start + PART).min(n);
            start = part.end;
            if part.is_empty() { Ok(None) } else { rows(part, id).map(Some) }
        })
    })?;
    let bytes = collection.n_bytes() as f64 / n as f64;
    drop(collection);
    let (opened, mut collection) = timed(|| Ok(Collection::open(folder)?))?;
    let (first, found) = timed(|| Ok(collection.position(id(n as u64 / 2))?))?;
    assert_eq!(found, Some(n / 2));
    let some: Vec<u64> = (0..N as u64).map(|i| mixed(i) % n as u64).collect();
    let ids: Vec<Id> = some.iter().map(|&i| id(i)).collect();
    let others: Vec<Id> = some.iter().map(|&i| id(i + n as u64)).collect();
    let there = least(ROUNDS, |_| {
        ids.iter().zip(&some).try_for_each(|(id, &row)| {
            assert_eq!(collection.position(id)?, Some(row as usize));
            Ok(())
        })
    })?;
    let missing = least(ROUNDS, |_| {
        others.iter().try_for_each(|id| {
            assert_eq!(collection.position(id)?, None);
            Ok(())
        })
    })?;
    let read = least(ROUNDS, |_| {
        ids.iter().zip(&some).try_for_each(|(id, &row)| {
            assert_eq!(collection.id(row as usize)?.as_ref(), Some(id));
            Ok(())
        })
    })?;
    let deleted = least(CHANGES, |i| Ok(collection.delete(&[id(i as u64)])?))?;
    let replaced = least(CHANGES, |i| {
        let row = 100 + i;
        Ok(collection.replace(rows(row..row + 1, id)?)?)
    })?;
    assert_eq!(collection.len(), n - CHANGES);
    let per = |seconds: f64| seconds / N as f64 * 1e6;
    println!(
        "{name}\t{built:.1} s\t{bytes:.0} B\topen {:.2} ms\tfirst {:.1} ms\tdelete {:.1} ms\treplace {:.1} ms\t\
         there {:.2} µs\tmissing {:.2} µs\tread {:.2} µs",
        opened * 1e3,
        first * 1e3,
        deleted * 1e3,
        replaced * 1e3,
        per(there),
        per(missing),
        per(read),
    );
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut args = env::args().skip(1);
    let folder = args.next().ok_or("usage: id_speed FOLDER [ROWS]")?;
    let n: usize = args.next().map_or(Ok(1_000_000), |n| n.parse())?;
    fs::create_dir_all(&folder)?;
    let at = |name: &str| Path::new(&folder).join(name);
    measure("numbers in order", &at("in-order"), n, Id::from)?;
    measure("numbers", &at("numbers"), n, |i| mixed(i).into())?;
    measure("UUIDs", &at("uuids"), n, |i| uuid(i).into())?;
    Ok(())
}
