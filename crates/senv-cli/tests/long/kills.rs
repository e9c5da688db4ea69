//! Workers that are killed at their work, twenty times, lose no row.

use std::{fs, path::Path, process::Child};

use crate::{
    common::{Ended, Folder},
    many_files::{count, encode, folder, outputs, worker},
    running::wait_until,
};

/// Entries of a folder that may not be there yet, or not any more.
fn entries(folder: &Path) -> Vec<fs::DirEntry> {
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |entries| entries.flatten().collect())
}

/// Where a worker can be met at its work.
#[derive(Debug, Clone, Copy)]
enum At {
    /// It has claimed a file.
    Claim,
    /// It has begun an output.
    Begin,
    /// It has written a part of an output.
    Write,
    /// Some files have got their outputs, by it or another, since it was looked for.
    Outputs(usize),
}

impl At {
    /// Whether this worker is there, in a folder that had so many outputs in all when it was looked for.
    fn is_met(self, folder: &Folder, worker: &Child, n_before: usize) -> bool {
        // The names of workers hold their numbers.
        let number = format!("-{}-", worker.id());
        let unfinished = || {
            entries(&folder.path("out/_senv/unfinished"))
                .into_iter()
                .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.contains(&number)))
        };
        let has_bytes = |file: &fs::DirEntry| file.metadata().is_ok_and(|file| file.len() > 0);
        match self {
            Self::Claim => entries(&folder.path("claims"))
                .iter()
                .any(|claim| fs::read_to_string(claim.path()).is_ok_and(|holder| holder.contains(&number))),
            Self::Begin => unfinished().next().is_some(),
            Self::Write => unfinished().any(|made| entries(&made.path()).iter().any(has_bytes)),
            Self::Outputs(n) => n_outputs(folder) >= n_before + n,
        }
    }
}

fn n_outputs(folder: &Folder) -> usize {
    entries(&folder.path("out")).iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).count()
}

/// Twenty times a worker is killed, wherever it is at its work, and another one started.
#[cfg(unix)]
#[test]
fn after_twenty_kills_each_row_is_there_once() {
    const KILLS: usize = 20;
    const FILES: usize = 24;
    let folder = folder(FILES, 4000);
    encode(&folder, "alone/", &[]).ok();
    let mut workers: Vec<Child> = (0..3).map(|_| worker(&folder, "1")).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut kills = 0;
    for attempt in 0.. {
        if kills == KILLS {
            break;
        }
        assert!(attempt < 20 * KILLS, "{kills} of {attempt} workers were met at their work");
        // There is always some left to do.
        for _ in FILES / 2..n_outputs(&folder) {
            fs::remove_file(folder.path(&format!("out/{:03}.txt.tsv", draw(FILES)))).ok();
        }
        let at = [At::Claim, At::Begin, At::Write, At::Outputs(1), At::Outputs(2)][draw(5)];
        let (victim, n_before) = (&mut workers[draw(3)], n_outputs(&folder));
        let mut has_ended = false;
        wait_until("a worker is at work, or at its end", || {
            has_ended = victim.try_wait().unwrap().is_some();
            has_ended || at.is_met(&folder, victim, n_before)
        });
        victim.kill().unwrap();
        let code = victim.wait().unwrap().code();
        // One that has ended has not been killed.
        kills += usize::from(code.is_none());
        let ended = std::mem::replace(victim, worker(&folder, "1"));
        if code.is_some() {
            Ended::from(ended.wait_with_output().unwrap()).ok();
        }
    }
    for worker in workers {
        Ended::from(worker.wait_with_output().unwrap()).ok();
    }
    // What was taken away after others had seen it.
    Ended::from(worker(&folder, "1").wait_with_output().unwrap()).ok();
    assert!(outputs(&folder.path("out")) == outputs(&folder.path("alone")));
    assert_eq!(outputs(&folder.path("out")).len(), FILES);
    assert_eq!((count(&folder.path("claims")), count(&folder.path("out/_senv/unfinished"))), (0, 0));
    // Complete by its manifest, too.
    assert!(encode(&folder, "out/", &["--check-hashes"]).ok().err.contains("0 new files"));
}
