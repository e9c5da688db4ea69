//! Workers that are killed or paused while they work. No row is lost or written twice.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
};

use crate::{
    common::{Ended, Folder},
    many_files::{count, encode, folder, outputs},
    running::{has_begun, hold, signal, wait_until},
};

fn worker(folder: &Folder, timeout: &str) -> Child {
    let args = ["encode", "--model", "m.senv", "--input", "data/*.txt", "--output", "out/", "--output-format", "tsv"];
    let claims = ["--claims", "claims", "--claim-timeout", timeout, "--threads", "1"];
    folder.command(&[&args[..], &claims].concat()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Entries of a folder that may not exist yet or no longer.
fn entries(folder: &Path) -> Vec<fs::DirEntry> {
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |entries| entries.flatten().collect())
}

/// A point in a worker's work.
#[derive(Debug, Clone, Copy)]
enum At {
    /// It has claimed a file.
    Claim,
    /// It has started an output.
    Begin,
    /// It has written a part of an output.
    Write,
    /// This many outputs exist, from this worker and others.
    Outputs(usize),
}

impl At {
    fn is_met(self, folder: &Folder, worker: &Child) -> bool {
        // The names of workers contain their process ids.
        let number = format!("-{}-", worker.id());
        let is_own = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.contains(&number));
        let begun = || entries(&folder.path("out/_senv/unfinished")).into_iter().filter(is_own);
        let is_holder =
            |claim: &fs::DirEntry| fs::read_to_string(claim.path()).is_ok_and(|text| text.contains(&number));
        match self {
            Self::Claim => entries(&folder.path("claims")).iter().any(is_holder),
            Self::Begin => begun().next().is_some(),
            Self::Write => begun().any(|made| has_begun(worker, &made.path())),
            Self::Outputs(n) => n_outputs(folder) >= n,
        }
    }
}

fn n_outputs(folder: &Folder) -> usize {
    entries(&folder.path("out")).iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).count()
}

/// Kills a worker twenty times at random points and starts another one. Starts over if all work was done before that.
#[test]
fn after_twenty_kills_each_row_is_there_once() {
    const KILLS: usize = 20;
    const FILES: usize = 24;
    let folder = folder(FILES, 4000);
    encode(&folder, "alone/", &[]).ok();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut kills = 0;
    for round in 0.. {
        assert!(round < 40, "{kills} workers were met at their work in {round} rounds");
        let mut workers: Vec<Child> = (0..3).map(|_| worker(&folder, "1")).collect();
        while kills < KILLS {
            let n = n_outputs(&folder);
            let at = [At::Claim, At::Begin, At::Write, At::Outputs(n + 1), At::Outputs(n + 2)][draw(5)];
            let victim = &mut workers[draw(3)];
            let mut has_ended = false;
            wait_until("a worker is at work, or at its end", || {
                has_ended = victim.try_wait().unwrap().is_some();
                has_ended || at.is_met(&folder, victim)
            });
            victim.kill().unwrap();
            // A worker that already ended was not killed, and had nothing left to do.
            if victim.wait().unwrap().code().is_some() {
                break;
            }
            kills += 1;
            *victim = worker(&folder, "1");
        }
        for worker in workers {
            Ended::from(worker.wait_with_output().unwrap()).ok();
        }
        // One more worker, in case the last one was killed.
        Ended::from(worker(&folder, "1").wait_with_output().unwrap()).ok();
        assert!(outputs(&folder.path("out")) == outputs(&folder.path("alone")));
        assert_eq!(outputs(&folder.path("out")).len(), FILES);
        assert_eq!((count(&folder.path("claims")), count(&folder.path("out/_senv/unfinished"))), (0, 0));
        // The manifest also says that it is complete.
        assert!(encode(&folder, "out/", &["--check-hashes"]).ok().err.contains("0 new files"));
        if kills == KILLS {
            return;
        }
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
}

#[test]
fn a_worker_that_was_stopped_is_replaced_and_discards_its_work() {
    let folder = folder(2, 60_000);
    encode(&folder, "alone/", &[]).ok();
    // Pauses a worker while it writes. A worker that has already finished its file does not count.
    let slow = (0..20).find_map(|_| {
        let mut slow = worker(&folder, "1");
        let is_at_work = |slow: &Child| At::Write.is_met(&folder, slow);
        let mut has_ended = false;
        wait_until("a worker writes, or is at its end", || {
            has_ended = slow.try_wait().unwrap().is_some();
            has_ended || is_at_work(&slow)
        });
        if !has_ended {
            hold(&slow);
            if is_at_work(&slow) {
                return Some(slow);
            }
            slow.kill().unwrap();
            slow.wait().unwrap();
        }
        for name in ["out", "claims"] {
            fs::remove_dir_all(folder.path(name)).unwrap();
        }
        None
    });
    let slow = slow.expect("twenty workers were too fast to be held");
    let other = Ended::from(worker(&folder, "1").wait_with_output().unwrap()).ok();
    assert!(other.err.contains("taken over from"), "{}", other.err);
    let done = outputs(&folder.path("out"));
    signal(&slow, "CONT");
    let slow = Ended::from(slow.wait_with_output().unwrap());
    // Its partial output is gone. The worker notices this or the loss of its claim.
    assert!(slow.err.contains("took over this file") || slow.code == Some(0), "{}", slow.err);
    assert!(outputs(&folder.path("out")) == done && done == outputs(&folder.path("alone")));
    assert_eq!((count(&folder.path("claims")), count(&folder.path("out/_senv/unfinished"))), (0, 0));
}
