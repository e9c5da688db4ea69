//! Feeds damaged files to readers. For any bytes, they return a result or an error in reasonable time, without a panic
//! and without memory out of proportion to the file.
//!
//! A loop mutates files of senv and other programs with a fixed seed. It is not guided by coverage, which would need
//! instrumented builds of everything, but it knows the formats. In half of the files, checksums match or are absent,
//! and numbers are replaced by ones that overflow sums. Each reader gets as many files as it reads in a second or two,
//! the same number on every machine; `SENV_FUZZ_TIMES=18` multiplies it. A failure names its round and leaves its file
//! in the folder for temporary files. `SENV_FUZZ_FIRST` starts with that round.

#![allow(clippy::print_stdout)] // reports how much was tested

mod collections;
pub(crate) mod configuration;
mod formats;
mod memory;
mod mutate;
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::LazyLock,
    time::Instant,
};

/// The most memory that a file of a few kilobytes may need at once: buffers, decompressors, the tables of a hashed
/// vocabulary.
const MEMORY: usize = 256 << 20;
/// CPU seconds allowed per file, in a build with checks: five kilobytes can decompress to 74 million empty lines. On
/// systems that only report wall time, the limit is so high that only a hanging reader exceeds it.
const SECONDS: f64 = if cfg!(target_os = "linux") { 40.0 } else { 600.0 };

/// A reader, and files that it can read.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    /// Repairs the checksums of a format that has any.
    mend: fn(&mut [u8]),
    /// The file name. Readers may use its extension.
    file: &'static str,
    /// Number of changed files to read.
    rounds: u64,
}

impl Target {
    /// Reads files with changed bytes. `read` gets the file, and whether it is an unchanged seed.
    fn run(&self, read: impl FnMut(&Path, bool)) {
        self.run_with(mutate::mutated, read);
    }

    /// The same, with other changes.
    fn run_with(&self, mutated: impl Fn(&Self, u64) -> Vec<u8>, read: impl FnMut(&Path, bool)) {
        let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a number"));
        let (first, times) = (number("SENV_FUZZ_FIRST").unwrap_or(0), number("SENV_FUZZ_TIMES").unwrap_or(1));
        let rounds = first..first + self.rounds * times;
        self.read_all(rounds.map(|round| (round, mutated(self, round))), read);
    }

    /// Reads the seeds, then these files with their rounds.
    fn read_all(&self, files: impl Iterator<Item = (u64, Vec<u8>)>, mut read: impl FnMut(&Path, bool)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(self.file);
        for seed in &self.seeds {
            fs::write(&path, seed).unwrap();
            read(&path, true);
        }
        let (mut n, mut longest) = (0, 0.0_f64);
        for (round, bytes) in files {
            // Creates a new file, because a mapped file must not change.
            let _ = fs::remove_file(&path);
            fs::write(&path, &bytes).unwrap();
            let began = seconds();
            memory::start();
            let ended = catch_unwind(AssertUnwindSafe(|| read(&path, false)));
            let (took, largest) = (seconds() - began, memory::largest());
            longest = longest.max(took);
            if ended.is_err() || took > SECONDS || largest > MEMORY + 64 * bytes.len() {
                let kept = std::env::temp_dir().join(format!("senv-fuzz-{}-{round}", self.name));
                fs::write(&kept, &bytes).unwrap();
                let what = if ended.is_err() { "panicked" } else { "took too much" };
                panic!(
                    "{} {what} in round {round}: {took:.2} s, {largest} bytes at a time; see {}",
                    self.name,
                    kept.display()
                );
            }
            n += 1;
        }
        println!("{}: {n} files, {longest:.2} s at most", self.name);
    }
}

/// CPU seconds of this thread, which do not depend on other load. On systems other than Linux, wall seconds since the
/// first call.
fn seconds() -> f64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    let Ok(stat) = fs::read_to_string("/proc/thread-self/stat") else { return FIRST.elapsed().as_secs_f64() };
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // In hundredths of a second, for user and system time.
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
