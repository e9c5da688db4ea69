//! Stopped runs go on to the same bytes, and so do runs with any number of threads.

use crate::{
    common::{Ended, Folder, signal, wait_for},
    systems::samples,
};

/// Text that takes a second or more to train on.
const LINES: usize = 4000;
const LONG: [&str; 4] = ["--epochs", "40", "--threads", "2"];

#[test]
fn deterministic_training_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::with_text(1500);
    for threads in ["1", "2", "5"] {
        let name = format!("{threads}.senv");
        folder.train("text.txt", &name, &["--threads", threads, "--word-ngrams", "2", "--buckets", "1000"]).ok();
        assert_eq!(folder.read(&name), folder.read("1.senv"), "{threads} threads");
    }
    folder.train("text.txt", "seed.senv", &["--seed", "2", "--word-ngrams", "2", "--buckets", "1000"]).ok();
    assert_ne!(folder.read("seed.senv"), folder.read("1.senv"));
}

#[cfg(unix)]
#[test]
fn a_run_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    let folder = Folder::with_text(LINES);
    let more = [&LONG[..], &["--checkpoint-every", "0.05s"]].concat();
    let mut child = folder.spawn(&Folder::training("text.txt", "m.senv", &more));
    wait_for(&folder, "m.senv.checkpoint", &mut child);
    // As `timeout` does: to the process and, a moment later, to its group.
    signal(&child, 2);
    std::thread::sleep(std::time::Duration::from_millis(20));
    signal(&child, 2);
    let stopped = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("m.senv.checkpoint is written") && stopped.err.contains("--resume"),
        "{}",
        stopped.err
    );
    assert!(!folder.has("m.senv"));
    let info = folder.run(&["info", "m.senv.checkpoint", "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["settings"]["dim"]), (&"checkpoint".into(), &12.into()), "{info}");
    let done = info["done_percent"].as_f64().unwrap();
    assert!(0.0 < done && done < 100.0, "{info}");
    let command = info["command"].as_str().unwrap();
    assert!(command.starts_with("senv train sent2vec --input text.txt --output m.senv --dim 12"), "{command}");
    assert!(info["text"][0].as_str().unwrap().starts_with("text.txt ("), "{info}");
    let shown = folder.run(&["info", "m.senv.checkpoint"]).ok().out;
    assert!(shown.contains(command) && shown.contains("settings.training.epochs"), "{shown}");

    // Other settings or another text are refused before anything is trained, and the checkpoint stays.
    let other = [&more[..], &["--resume", "--seed", "9"]].concat();
    let resume = format!("{command} --resume\n");
    let says = ["m.senv.checkpoint was written with other settings (--seed)", &resume, "--seed 9 --restart"];
    folder.train("text.txt", "m.senv", &other).fails(2, &says);
    folder.write("other.txt", "another text\n".repeat(100));
    let resume = [&LONG[..], &["--resume"]].concat();
    let ended = folder.train("other.txt", "m.senv", &resume);
    assert!(!ended.err.contains("once more at"), "{}", ended.err);
    ended.fails(1, &["another text"]);
    let resumed = folder.train("text.txt", "m.senv", &[&LONG[..], &["--resume"]].concat()).ok();
    assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
    assert!(!folder.has("m.senv.checkpoint"));
    folder.train("text.txt", "whole.senv", &LONG).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}

#[cfg(unix)]
#[test]
fn a_reading_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "sent2vec", "--input", "text.txt", "--output", "m.senv"],
        &["--subsample", "1e-9", "--dim", "2", "--epochs", "1"],
        ("text", &[".ids", ".words"]),
        1_250_000,
    );
}

#[cfg(unix)]
#[test]
fn a_reading_of_neighbours_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "pp", "--neighbours", "text.txt", "--output", "m.senv"],
        &["--dim", "2", "--steps", "5", "--batch", "8", "--no-check"],
        ("text", &[".ids", ".words"]),
        1_250_000,
    );
}

#[cfg(unix)]
#[test]
fn a_reading_of_pairs_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "pp", "--pairs", "text.txt", "--output", "m.senv"],
        &["--dim", "2", "--steps", "5", "--batch", "8", "--no-check"],
        ("pairs", &[".sentences"]),
        400_000,
    );
}

/// Trains on so many lines of eight words, which take more than a second to read and little to train on, and stops while they are read;
/// before that come the kind of what is kept, and the ends of the names beside it.
#[cfg(unix)]
fn reading_goes_on(training: &[&str], more: &[&str], (kind, beside): (&str, &[&str]), n_lines: u32) {
    let folder = Folder::new();
    let line = |i: u32| format!("the cat {} sat\ton the mat {}\n", i % 997, i % 8999);
    folder.write("text.txt", (0..n_lines).map(line).collect::<String>());
    let resume = [training, more, &["--resume"]].concat();
    let checkpoint = "m.senv.checkpoint";
    let beside: Vec<String> = beside.iter().map(|end| format!("{checkpoint}{end}")).collect();
    let mut err = String::new();
    for wait in 1.. {
        let child = folder.spawn(&resume);
        std::thread::sleep(std::time::Duration::from_millis(100 * wait));
        signal(&child, 2);
        let stopped = Ended::from(child.wait_with_output().unwrap());
        if stopped.code.is_none() {
            // On a busy machine the signal comes before the program has begun to hear of signals.
            continue;
        }
        assert_eq!(stopped.code, Some(130), "it was read before it was stopped: {}", stopped.err);
        if folder.has(checkpoint) {
            err = stopped.err;
            break;
        }
        assert!(stopped.err.contains("nothing is written"), "{}", stopped.err);
    }
    assert!(err.contains("% of the text; m.senv.checkpoint is kept: the same command with --resume"), "{err}");
    assert!(beside.iter().all(|name| folder.has(name)), "{:?}", folder.names());
    let info = folder.run(&["info", checkpoint, "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["of"]), (&"checkpoint".into(), &kind.into()), "{info}");
    folder.run(&[training, more].concat()).fails(2, &["% of its text read) and is not overwritten", "--resume\n"]);

    let resumed = folder.run(&resume).ok();
    assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
    let whole = [training, more].concat();
    let whole: Vec<&str> = whole.iter().map(|&word| if word == "m.senv" { "whole.senv" } else { word }).collect();
    folder.run(&whole).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    let folder = Folder::with_text(LINES);
    let more = [&LONG[..], &["--checkpoint-every", "0.05s", "--checkpoint", "c"]].concat();
    let mut child = folder.spawn(&Folder::training("text.txt", "m.senv", &more));
    wait_for(&folder, "c", &mut child);
    signal(&child, 9);
    assert_eq!(child.wait_with_output().unwrap().status.code(), None);
    assert!(!folder.has("m.senv"));
    folder.train("text.txt", "m.senv", &[&LONG[..], &["--resume", "--checkpoint", "c"]].concat()).ok();
    folder.train("text.txt", "whole.senv", &LONG).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
    assert_eq!(folder.names(), ["m.senv", "text.txt", "whole.senv"]);
}

/// One system of each kind of training loop and data.
#[cfg(unix)]
#[test]
fn every_kind_of_data_is_resumed_to_the_same_bytes() {
    let folder = samples();
    folder.run(&["train", "word2vec", "text.txt", "--dim", "24", "--epochs", "1", "--output", "words.senv"]).ok();
    let definitions = "--definitions definitions.tsv --target-vectors words.senv --dim 12 --hidden 16";
    for arguments in [
        "pv-dm --input text.txt --dim 16 --epochs 60",
        "c-phrase --input trees.txt --dim 16 --epochs 5",
        &format!("dict-rep {definitions} --epochs 1000 --held-out 0"),
        "caption-rep --captions captions.tsv --stand-in words.senv --dim 12 --epochs 1000 --held-out 0",
        "gran --pairs pairs.tsv --dim 12 --hidden 12 --epochs 50",
        "snli --preset infersent --train labelled.tsv --init-vectors words.senv --sentence-dim 12 --hidden 12 --epochs 50",
    ] {
        let train: Vec<&str> = ["train"].into_iter().chain(arguments.split(' ')).collect();
        let stopped = [&train[..], &["--output", "m.senv", "--checkpoint-every", "0.02s", "--force"]].concat();
        let mut child = folder.spawn(&stopped);
        wait_for(&folder, "m.senv.checkpoint", &mut child);
        signal(&child, 9);
        assert_eq!(child.wait_with_output().unwrap().status.code(), None, "{arguments}: it was over already");
        let resumed = folder.run(&[&train[..], &["--output", "m.senv", "--resume", "--force"]].concat()).ok();
        assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
        folder.run(&[&train[..], &["--output", "whole.senv", "--force"]].concat()).ok();
        assert_eq!(folder.read("m.senv"), folder.read("whole.senv"), "{arguments}");
    }
}

#[test]
fn the_checkpoint_of_an_earlier_run_is_replaced_only_when_that_is_asked_for() {
    let folder = Folder::with_text(300);
    let other = senv_core::Table::zeros(1, 1).unwrap();
    let checkpoint = folder.path("m.senv.checkpoint");
    senv_core::checkpoint::save(&checkpoint, "sent2vec", &1_u32, &[("source", &other)]).unwrap();
    let before = folder.read("m.senv.checkpoint");
    let command = Folder::training("text.txt", "m.senv", &["--epochs", "1"]).join(" ");
    let choices = [format!("  senv {command} --resume\n"), format!("  senv {command} --restart\n")];
    let says = ["m.senv.checkpoint was left by an earlier run (0.0 % done)", &choices[0], &choices[1]];
    folder.train("text.txt", "m.senv", &["--epochs", "1"]).fails(2, &says);
    folder.train("text.txt", "m.senv", &["--epochs", "1", "--force"]).fails(2, &says[..1]);
    assert_eq!((folder.read("m.senv.checkpoint"), folder.has("m.senv")), (before, false));
    folder.train("text.txt", "m.senv", &["--restart", "--resume"]).fails(2, &["cannot be used with"]);
    // Too short a run to write one of its own.
    let ended = folder.train("text.txt", "m.senv", &["--epochs", "1", "--restart"]).ok();
    assert!(ended.err.contains("m.senv.checkpoint was left by an earlier run and is replaced"), "{}", ended.err);
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
    // Any other file is somebody's work.
    folder.write("notes.txt", "mine");
    let to_notes = ["--epochs", "1", "--checkpoint", "notes.txt"];
    folder
        .train("text.txt", "n.senv", &to_notes)
        .fails(2, &["notes.txt is there and is no checkpoint", "--checkpoint"]);
    assert_eq!(folder.read("notes.txt"), b"mine");
}

#[test]
fn resuming_without_a_checkpoint_starts_anew() {
    let folder = Folder::with_text(300);
    let resumed = folder.train("text.txt", "m.senv", &["--resume", "--quiet"]).ok();
    let says = "there is no checkpoint m.senv.checkpoint: training starts from the beginning";
    assert!(resumed.err.contains(says), "{}", resumed.err);
    folder.train("text.txt", "whole.senv", &[]).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}
