//! Runs the program under `mpirun`. Processes write the same bytes as threads, and resume after one of them was killed.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use senv::{Sent2VecParams, TextSystem, TrainOptions, forms::NegativeSamplingParams};
use senv_core::ranks::ThreadRank;

/// Writes some MiB of sentences about ten subjects.
fn write_text(path: &Path) {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::new();
    while text.len() < 4 << 20 {
        let subject = below(10);
        (0..8).for_each(|_| write!(text, "s{subject}w{} ", below(40) * below(40) / 20).unwrap());
        text.push('\n');
    }
    fs::write(path, text).unwrap();
}

fn mpirun(ranks: usize, args: &[&str], input: &Path, output: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string(), env!("CARGO_BIN_EXE_senv-mpi")]);
    command.args(["sent2vec", "--dim", "16", "--epochs", "4", "--lr", "0.3"]).args(args);
    command.arg("--input").arg(input).arg("--output").arg(output);
    // Loopback only.
    command.env("OMPI_MCA_btl", "self,vader,tcp").env("OMPI_MCA_btl_tcp_if_include", "lo");
    command
}

fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("mpirun is there");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Trains the same model with three threads.
fn of_threads(text: &Path, model: &Path) {
    let training = NegativeSamplingParams { epochs: Some(4), lr: Some(0.3), ..NegativeSamplingParams::default() };
    let params = Sent2VecParams { dim: 16, training, ..Sent2VecParams::default() };
    std::thread::scope(|scope| {
        for (i, rank) in ThreadRank::of(3).into_iter().enumerate() {
            let params = &params;
            scope.spawn(move || {
                let options = TrainOptions { threads: 1, ranks: Some(&rank), ..TrainOptions::default() };
                let trained = params.fit_files(text, &options).unwrap();
                if i == 0 {
                    trained.model.save(model).unwrap();
                }
            });
        }
    });
}

/// Waits for a file while the run lasts.
fn wait_for(path: &Path, child: &mut Child) {
    let started = Instant::now();
    while !path.exists() && child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn processes_make_the_bytes_of_threads_also_after_one_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (text, threads) = (path("text.txt"), path("threads.senv"));
    write_text(&text);
    of_threads(&text, &threads);

    let whole = path("whole.senv");
    let (done, said) = run(&mut mpirun(3, &[], &text, &whole));
    assert!(done, "{said}");
    assert!(said.contains("rank 0 of 3 synchronized") && said.contains("MB sent"), "{said}");
    assert!(fs::read(&whole).unwrap() == fs::read(&threads).unwrap(), "a model of processes is that of threads");
    let left: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 3, "{left:?}");

    // One rank is killed, and MPI ends the others.
    let killed = path("killed.senv");
    let mut child = mpirun(3, &["--checkpoint-every", "0"], &text, &killed).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&path("killed.senv.checkpoint.2-of-3.previous"), &mut child);
    let ranks = Command::new("pgrep").args(["-f", killed.to_str().unwrap()]).output().unwrap().stdout;
    let ranks = String::from_utf8(ranks).unwrap();
    // mpirun itself also has the path among its arguments.
    let rank = ranks.lines().filter(|id| **id != child.id().to_string()).nth(1).expect("a rank");
    assert!(Command::new("kill").args(["-9", rank]).status().unwrap().success());
    assert!(!child.wait().unwrap().success() && !killed.exists());

    let (done, said) = run(&mut mpirun(3, &[], &text, &killed));
    assert!(!done && said.contains("continue with --resume"), "{said}");
    let (done, said) = run(&mut mpirun(3, &["--resume"], &text, &killed));
    assert!(done, "{said}");
    assert!(fs::read(&killed).unwrap() == fs::read(&threads).unwrap(), "the same after a rank was killed");
}

#[test]
fn what_is_wrong_ends_all_ranks_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let (text, output) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
    let (done, said) = run(&mut mpirun(2, &[], &text, &output));
    assert!(!done && said.contains("text.txt"), "{said}");
    fs::write(&text, "the cat sat on the mat\n".repeat(1000)).unwrap();
    let (done, said) = run(&mut mpirun(2, &[], &text, &output));
    assert!(!done && said.contains("at most one per MiB of text"), "{said}");
    assert!(!output.exists());
    let (done, said) = run(&mut mpirun(2, &[], &text, &folder.path().join("none/model.senv")));
    assert!(!done && said.contains("for the model does not exist"), "{said}");
}
