//! Many files into a folder: what is complete is passed over, and workers that die or are slow do no harm.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{Ended, Folder, text};

/// A folder with a small model and some files of text in `data`.
fn folder(n_files: usize, n_lines: usize) -> Folder {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("data")).unwrap();
    let all = text(n_files * n_lines);
    let lines: Vec<&str> = all.lines().collect();
    for (i, lines) in lines.chunks(n_lines).enumerate() {
        folder.write(&format!("data/{i:03}.txt"), lines.join("\n") + "\n");
    }
    folder
}

fn encode(folder: &Folder, output: &str, more: &[&str]) -> Ended {
    let args = ["encode", "--model", "m.senv", "--input", "data/*.txt", "--output", output, "--output-format", "tsv"];
    folder.run(&[&args[..], more].concat())
}

/// Names and bytes of all outputs.
fn outputs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn each_file_gets_one_of_its_own_and_only_what_changed_is_made_again() {
    let folder = folder(6, 200);
    let first = encode(&folder, "out/", &[]).ok();
    assert!(
        first.err.contains("6 new files in out/") && first.err.contains("1,200 sentences encoded"),
        "{}",
        first.err
    );
    folder.run(&["encode", "--model", "m.senv", "data/002.txt", "--output", "alone.tsv"]).ok();
    assert!(folder.read("out/002.txt.tsv") == folder.read("alone.tsv"));
    let manifest: serde_json::Value = serde_json::from_slice(&folder.read("out/_senv/files/002.txt.tsv.json")).unwrap();
    assert_eq!((manifest["rows"].as_u64(), manifest["input"]["path"].as_str()), (Some(200), Some("data/002.txt")));
    let hash = |name: &str| {
        use sha2::Digest;
        sha2::Sha256::digest(folder.read(name)).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(manifest["output"]["sha256"].as_str().unwrap(), hash("alone.tsv"));
    assert_eq!(manifest["input"]["sha256"].as_str().unwrap(), hash("data/002.txt"));

    let again = encode(&folder, "out/", &[]).ok();
    assert!(again.err.contains("0 new files") && again.err.contains("6 files complete"), "{}", again.err);
    folder.write("data/001.txt", "the cat saw a dog\n");
    folder.write("data/006.txt", "one more\n");
    fs::remove_file(folder.path("out/003.txt.tsv")).unwrap();
    folder.write("out/004.txt.tsv", "cut");
    let again = encode(&folder, "out/", &["--check-hashes"]).ok();
    for says in [
        "4 new files",
        "001.txt: its output is made again: its input has changed",
        "004.txt: its output is made again: it is not what",
    ] {
        assert!(again.err.contains(says), "{says}: {}", again.err);
    }
    assert_eq!(outputs(&folder.path("out")).len(), 7);

    // Another model, or other settings.
    folder.train("text.txt", "m.senv", &["--seed", "5"]).ok();
    encode(&folder, "out/", &[]).fails(1, &["the model was", "would mix both", "--force"]);
    encode(&folder, "out/", &["--force"]).ok();
    encode(&folder, "out/", &["--digits", "3"]).fails(1, &["--digits was not given, and is 3"]);
    assert!(encode(&folder, "out/", &[]).ok().err.contains("0 new files"));
}

#[test]
fn what_does_not_become_a_folder_is_refused_with_a_remedy() {
    let folder = folder(3, 20);
    let run = |args: &[&str]| folder.run(&[&["encode", "--model", "m.senv"], args].concat());
    run(&["data/*.csv", "--output", "out/"]).fails(1, &["data/*.csv", "no file fits"]);
    run(&["data/000.txt", "--output", "o.npy", "--claims", "c"])
        .fails(2, &["--claims is for a folder", "end the name of a folder with /"]);
    run(&["data/000.txt", "--output", "out/", "--claim-timeout", "3"]).fails(2, &["--claims"]);
    folder.pipe(&["encode", "--model", "m.senv", "--output", "out/"], "a\n").fails(2, &["standard input has no name"]);
    run(&["data/000.txt", "./data/000.txt", "--output", "out/"]).fails(1, &["rename one of them"]);
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/000.txt.npy", "mine");
    run(&["data/000.txt", "--output", "mine"]).fails(1, &["nothing is noted", "--force"]);
    // A file that fails is named with its line, and does not hold up the others.
    folder.write("data/001.txt", b"good\ncaf\xe9\n");
    encode(&folder, "out/", &[])
        .fails(1, &["2 new files", "data/001.txt:2:", "--invalid-utf8 replace", "1 file failed"]);
    folder.write("data/002.txt", b"caf\xe9\n");
    encode(&folder, "out/", &[]).fails(1, &["data/001.txt failed:", "data/002.txt:1:", "2 files failed"]);
    assert_eq!(count(&folder.path("out/_senv/unfinished")), 0);
}

fn worker(folder: &Folder, timeout: &str) -> Child {
    let args = ["encode", "--model", "m.senv", "--input", "data/*.txt", "--output", "out/", "--output-format", "tsv"];
    let claims = ["--claims", "claims", "--claim-timeout", timeout, "--threads", "1"];
    folder.command(&[&args[..], &claims].concat()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until(what: &str, is_there: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what} for two minutes");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Twenty times a worker is killed at a random moment and another one started.
#[cfg(unix)]
#[test]
fn after_twenty_kills_each_row_is_there_once() {
    const KILLS: usize = 20;
    let folder = folder(48, 4000);
    encode(&folder, "alone/", &[]).ok();
    let mut workers: Vec<Child> = (0..3).map(|_| worker(&folder, "1")).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ u64::from(std::process::id());
    let mut draw = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut kills = 0;
    while kills < KILLS {
        thread::sleep(Duration::from_millis(30 + draw(250)));
        let victim = &mut workers[draw(3) as usize];
        // One that has ended has not been killed: it is made to start anew.
        if victim.try_wait().unwrap().is_none() {
            victim.kill().unwrap();
            kills += 1;
        } else {
            fs::remove_file(folder.path(&format!("out/{:03}.txt.tsv", draw(48)))).ok();
        }
        victim.wait().unwrap();
        *victim = worker(&folder, "1");
    }
    for worker in workers {
        Ended::from(worker.wait_with_output().unwrap()).ok();
    }
    assert!(outputs(&folder.path("out")) == outputs(&folder.path("alone")));
    assert_eq!(outputs(&folder.path("out")).len(), 48);
    assert_eq!((count(&folder.path("claims")), count(&folder.path("out/_senv/unfinished"))), (0, 0));
    // Complete by its manifest, too.
    assert!(encode(&folder, "out/", &["--check-hashes"]).ok().err.contains("0 new files"));
}

#[cfg(unix)]
#[test]
fn a_worker_that_was_stopped_is_replaced_and_discards_its_work() {
    use crate::common::signal;
    let folder = folder(2, 60_000);
    encode(&folder, "alone/", &[]).ok();
    let slow = worker(&folder, "1");
    wait_until("no work was begun", || {
        let unfinished = fs::read_dir(folder.path("out/_senv/unfinished"));
        unfinished.is_ok_and(|mut entries| entries.next().is_some())
    });
    signal(&slow, 19);
    let other = Ended::from(worker(&folder, "1").wait_with_output().unwrap()).ok();
    assert!(other.err.contains("taken over from"), "{}", other.err);
    let done = outputs(&folder.path("out"));
    signal(&slow, 18);
    let slow = Ended::from(slow.wait_with_output().unwrap());
    // What it was writing is gone; either it finds out by that, or by its claim.
    assert!(slow.err.contains("taken this file over") || slow.code == Some(0), "{}", slow.err);
    assert!(outputs(&folder.path("out")) == done && done == outputs(&folder.path("alone")));
    assert_eq!((count(&folder.path("claims")), count(&folder.path("out/_senv/unfinished"))), (0, 0));
}
