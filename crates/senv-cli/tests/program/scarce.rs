//! Little memory, few threads, small disks, signals, and two runs that want the same file.
#![cfg(unix)]

use std::{
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

use crate::common::{Ended, Folder, signal, text, wait_for};

/// Runs the program with a limit of the shell: `-v` KiB of memory, `-f` blocks of a file.
fn limited(folder: &Folder, limit: &str, args: &[&str]) -> Ended {
    let mut command = Command::new("bash");
    let script = format!("ulimit -c 0; ulimit {limit} && exec \"$@\"");
    command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_senv")]).args(args);
    command.current_dir(folder.path("")).env("TMPDIR", folder.path("")).env_remove("RUST_BACKTRACE");
    // Otherwise each thread takes 64 MiB of addresses for memory that it may never need.
    command.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).output().unwrap().into()
}

/// 160 MB of text, a thousand letters a line, in some hundred kilobytes.
fn large(folder: &Folder) {
    let lines = text(20).replace('\n', " ");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..160_000_000 / lines.len() {
        gzip.write_all(lines.as_bytes()).unwrap();
        gzip.write_all(b"\n").unwrap();
    }
    gzip.write_all(b"the cat saw the dog\n").unwrap();
    folder.write("large.gz", gzip.finish().unwrap());
}

#[test]
fn nearest_holds_a_part_of_the_text_and_finds_what_is_in_any_part() {
    let folder = Folder::with_model();
    large(&folder);
    let nearest = [
        "nearest",
        "--model",
        "m.senv",
        "--input",
        "large.gz",
        "--query",
        "the cat saw the dog",
        "--k",
        "1",
        "--threads",
        "2",
    ];
    // The program by itself takes a third of this: stacks of threads, the English model.
    let ended = limited(&folder, "-v 330000", &nearest).ok();
    assert!(ended.out.starts_with("1.0000\tthe cat saw the dog"), "{}", ended.out);
}

#[test]
fn a_lack_of_memory_is_an_error_and_no_abort() {
    let folder = Folder::with_model();
    large(&folder);
    let queries = ["nearest", "--model", "m.senv", "--input", "text.txt", "--queries", "large.gz", "--threads", "1"];
    limited(&folder, "-v 250000", &queries).fails(1, &["no memory for the lines of a text"]);
    let train =
        ["train", "sent2vec", "--input", "text.txt", "--dim", "60000", "--min-count", "1", "--output", "out.senv"];
    limited(&folder, "-v 250000", &train).fails(1, &["does not fit into memory"]);
    assert_eq!(folder.names(), ["large.gz", "m.senv", "text.txt"]);
    // The matrices fit, their gradients or the moments of the optimizer do not.
    let train = ["train", "skip-thought", "--input", "text.txt", "--sentence-dim", "900", "--output", "out.senv"];
    limited(&folder, "-v 210000", &[&train[..], &["--threads", "1"]].concat()).fails(1, &["does not fit into memory"]);
}

#[test]
fn threads_that_the_system_refuses_are_done_without() {
    let folder = Folder::with_model();
    let encode = ["encode", "--model", "m.senv", "--input", "text.txt", "--threads", "1000"];
    let all = folder.run(&encode).ok();
    // A thousand stacks of 2 MiB do not fit.
    let ended = limited(&folder, "-v 1000000", &encode).ok();
    assert!(ended.err.contains("refuses to start 1000 threads; going on with"), "{}", ended.err);
    assert_eq!(ended.out, all.out);
    let train = Folder::training("text.txt", "few.senv", &["--threads", "1000"]);
    limited(&folder, "-v 1000000", &train).ok();
    assert_eq!(folder.read("few.senv"), folder.read("m.senv"));
}

#[test]
fn signals_that_end_a_command_leave_no_temporary_file() {
    let folder = Folder::with_model();
    folder.write("many.txt", text(2_000_000));
    for number in [2, 15] {
        let mut child = folder.spawn(&["encode", "--model", "m.senv", "--input", "many.txt", "--output", "v.npy"]);
        while folder.names().len() < 4 {
            assert!(child.try_wait().unwrap().is_none(), "it ended before the signal");
            std::thread::sleep(Duration::from_millis(2));
        }
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.names(), ["m.senv", "many.txt", "text.txt"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_under_nohup_survives_its_terminal() {
    let folder = Folder::with_model();
    folder.write("many.txt", text(100_000));
    let command = format!(
        "trap '' HUP; exec {} encode --model m.senv --input many.txt --output v.npy",
        env!("CARGO_BIN_EXE_senv")
    );
    let mut child =
        std::process::Command::new("sh").args(["-c", &command]).current_dir(folder.path("")).spawn().unwrap();
    while folder.names().len() < 4 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the signal");
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, 1);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(folder.has("v.npy"));
}

#[test]
fn a_file_that_grows_beyond_the_limit_is_an_error_of_writing() {
    let folder = Folder::with_model();
    folder.write("many.txt", text(20_000));
    let encode = ["encode", "--model", "m.senv", "--input", "many.txt", "--output", "v.npy"];
    limited(&folder, "-f 100", &encode).fails(1, &["cannot write v.npy", "File too large"]);
    assert_eq!(folder.names(), ["m.senv", "many.txt", "text.txt"]);
}

#[test]
fn a_second_run_that_would_write_the_same_files_is_refused() {
    let folder = Folder::with_text(4000);
    let long = ["--epochs", "400", "--checkpoint-every", "0.05s", "--threads", "1"];
    let mut first = folder.spawn(&Folder::training("text.txt", "m.senv", &long));
    wait_for(&folder, "m.senv.checkpoint", &mut first);
    let says = ["m.senv: another process is writing it"];
    folder.train("text.txt", "m.senv", &["--epochs", "1"]).fails(1, &says);
    let other_name = ["--epochs", "1", "--checkpoint", "m.senv.checkpoint"];
    folder.train("text.txt", "n.senv", &other_name).fails(1, &["m.senv.checkpoint: another process is writing it"]);
    signal(&first, 15);
    assert_eq!(Ended::from(first.wait_with_output().unwrap()).code, Some(130));
    assert_eq!(folder.names(), ["m.senv.checkpoint", "text.txt"], "nothing but the checkpoint is left");
    folder.train("text.txt", "m.senv", &[&long[..2], &["--resume", "--threads", "1"]].concat()).ok();
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
}

/// Eight million different words, 80 MB of them; whichever table of the vocabulary has to grow first.
#[test]
fn a_vocabulary_beyond_the_memory_is_an_error_and_no_abort() {
    let folder = Folder::new();
    let mut text = Vec::new();
    for i in 0..8_000_000_u32 {
        write!(text, "{:x}{}", i.wrapping_mul(2_654_435_761), if i % 16 == 15 { "\n" } else { " " }).unwrap();
    }
    folder.write("words.txt", text);
    let train = ["train", "sent2vec", "--input", "words.txt", "--min-count", "1", "--output", "out.senv", "--threads"];
    for (threads, limit) in [("1", "-v 300000"), ("1", "-v 500000"), ("2", "-v 600000")] {
        let ended = limited(&folder, limit, &[&train[..], &[threads]].concat());
        ended.fails(1, &["no memory for a vocabulary"]);
    }
    assert_eq!(folder.names(), ["words.txt"]);
}
