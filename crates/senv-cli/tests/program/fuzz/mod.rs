//! Readers fed with damaged files: whatever the bytes, there is a result or an error in good time, and neither a panic nor
//! memory out of proportion to the file.
//!
//! A loop of mutations with a fixed seed over files as senv and others write them. It is not guided by coverage, which
//! takes instrumented builds of everything; instead it knows the formats: checksums are made to fit, or to be absent, in
//! half of the files, and numbers are replaced by those at which sums overflow. A second for each reader is part of
//! `cargo test`; `SENV_FUZZ_SECONDS=18` gives each one more. A failure names its round, and leaves its file in the folder for
//! temporary files; `SENV_FUZZ_FIRST` begins with that round.

#![allow(clippy::print_stdout)] // tests have no other way to tell how much they did

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
    time::{Duration, Instant},
};

/// Memory at a time that a file of a few kilobytes may need: buffers, decompressors, the tables of a hashed vocabulary.
const MEMORY: usize = 256 << 20;
/// Time that one file may take, in a build with checks on a busy machine: five kilobytes can be 74 million empty lines once decompressed.
const TIME: Duration = Duration::from_secs(40);

/// A reader, and files that it can read.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    /// Makes the checksums of a format fit, where it has some.
    mend: fn(&mut [u8]),
    /// How the file is called; readers may go by its ending.
    file: &'static str,
}

impl Target {
    /// Reads files with changed bytes until the time is up. `read` gets the file, and whether it is a seed as it was.
    fn run(&self, read: impl FnMut(&Path, bool)) {
        self.run_with(mutate::mutated, read);
    }

    /// The same with other changes.
    fn run_with(&self, mutated: impl Fn(&Self, u64) -> Vec<u8>, read: impl FnMut(&Path, bool)) {
        let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect("a number"));
        let first = number("SENV_FUZZ_FIRST").unwrap_or(0);
        let end = Instant::now() + Duration::from_secs(number("SENV_FUZZ_SECONDS").unwrap_or(1));
        // However slow the machine is, some are read.
        let rounds = (first..).take_while(|&round| Instant::now() < end || round < first + 20);
        self.read_all(rounds.map(|round| (round, mutated(self, round))), read);
    }

    /// Reads the seeds, then these files, each with its round.
    fn read_all(&self, files: impl Iterator<Item = (u64, Vec<u8>)>, mut read: impl FnMut(&Path, bool)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(self.file);
        for seed in &self.seeds {
            fs::write(&path, seed).unwrap();
            read(&path, true);
        }
        let mut n = 0;
        for (round, bytes) in files {
            // A new file: one that is mapped must not change.
            let _ = fs::remove_file(&path);
            fs::write(&path, &bytes).unwrap();
            let began = Instant::now();
            memory::start();
            let ended = catch_unwind(AssertUnwindSafe(|| read(&path, false)));
            let (took, largest) = (began.elapsed(), memory::largest());
            if ended.is_err() || took > TIME || largest > MEMORY + 64 * bytes.len() {
                let kept = std::env::temp_dir().join(format!("senv-fuzz-{}-{round}", self.name));
                fs::write(&kept, &bytes).unwrap();
                let what = if ended.is_err() { "panicked" } else { "took too much" };
                panic!(
                    "{} {what} in round {round}: {took:?}, {largest} bytes at a time; see {}",
                    self.name,
                    kept.display()
                );
            }
            n += 1;
        }
        println!("{}: {n} files", self.name);
    }
}
