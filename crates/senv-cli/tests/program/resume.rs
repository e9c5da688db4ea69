//! Stopped runs resume and end with the same bytes, for any number of threads.

use std::{
    io::{BufReader, Read},
    thread,
    time::{Duration, Instant},
};

use crate::{
    common::{Ended, Folder},
    running::{bytes_read, hold, in_time, is_written, listen, signal, stopped, wait_until},
    systems::samples,
};

const LINES: usize = 4000;
/// Numbers of epochs to try until a run is long enough to be stopped.
const EPOCHS: [&str; 4] = ["10", "80", "640", "5120"];

fn training(output: &'static str, epochs: &'static str, more: &[&'static str]) -> Vec<&'static str> {
    Folder::training("text.txt", output, &[&["--epochs", epochs, "--threads", "2"], more].concat())
}

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
    let every = ["--checkpoint-every", "0.05s"];
    let (stopped, epochs) =
        in_time(&folder, &EPOCHS, |epochs| asked_twice(&folder, &training("m.senv", epochs, &every)));
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(stopped.err.contains("m.senv.checkpoint written;") && stopped.err.contains("--resume"), "{}", stopped.err);
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

    // Other settings or another text are rejected before training, and the checkpoint stays.
    let other = training("m.senv", epochs, &["--checkpoint-every", "0.05s", "--resume", "--seed", "9"]);
    let resume = format!("{command} --resume\n");
    let says = ["m.senv.checkpoint was written with other settings (--seed)", &resume, "--seed 9 --restart"];
    folder.run(&other).fails(2, &says);
    folder.write("other.txt", "another text\n".repeat(100));
    let ended = folder.train("other.txt", "m.senv", &["--epochs", epochs, "--threads", "2", "--resume"]);
    assert!(!ended.err.contains("trying again at"), "{}", ended.err);
    ended.fails(1, &["another text"]);
    let resumed = folder.run(&training("m.senv", epochs, &["--resume"])).ok();
    assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
    assert!(!folder.has("m.senv.checkpoint"));
    folder.run(&training("whole.senv", epochs, &[])).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}

/// Asks a run twice to stop, as `timeout` does: first the process, and a moment later its group. Returns `None` if the
/// run was already over.
#[cfg(unix)]
fn asked_twice(folder: &Folder, args: &[&str]) -> Option<Ended> {
    // Two requests further apart end a run immediately.
    const ONE_REQUEST: Duration = Duration::from_millis(500);
    for _ in 0..20 {
        let mut child = folder.spawn(args);
        if !is_written(folder, "m.senv.checkpoint", &mut child) {
            return None;
        }
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let asked = Instant::now();
        signal(&child, 2);
        let (mut err, _) = listen(&mut said, "press Ctrl-C again");
        hold(&child);
        let goes_on = child.try_wait().unwrap().is_none();
        if goes_on {
            signal(&child, 2);
            signal(&child, "CONT");
        }
        said.read_to_string(&mut err).unwrap();
        let code = child.wait().unwrap().code();
        if code == Some(0) {
            return None;
        }
        let is_written = err.contains("m.senv.checkpoint written;");
        if goes_on && (is_written || asked.elapsed() < ONE_REQUEST) {
            return Some(Ended { code, out: String::new(), err });
        }
        // The first signal ended it, or the second one came late.
        std::fs::remove_file(folder.path("m.senv.checkpoint")).unwrap();
    }
    panic!("twenty times the second signal came too late");
}

#[cfg(unix)]
#[test]
fn a_reading_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "sent2vec", "--input", "text.txt", "--output", "m.senv"],
        &["--subsample", "1e-9", "--dim", "2", "--epochs", "1"],
        ("text", &[".ids", ".words"]),
        (1, 1_250_000),
    );
}

#[cfg(unix)]
#[test]
fn a_reading_of_neighbours_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "pp", "--neighbours", "text.txt", "--output", "m.senv"],
        &["--dim", "2", "--steps", "5", "--batch", "8", "--no-check"],
        ("text", &[".ids", ".words"]),
        (1, 1_250_000),
    );
}

#[cfg(unix)]
#[test]
fn a_reading_of_pairs_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    reading_goes_on(
        &["train", "pp", "--pairs", "text.txt", "--output", "m.senv"],
        &["--dim", "2", "--steps", "5", "--batch", "8", "--no-check"],
        ("pairs", &[".sentences"]),
        (5, 80_000),
    );
}

/// Trains on `n_lines` lines that repeat eight words `times` times, and stops the run while it reads, which takes
/// nearly all of its time. `kind` is the kind of the kept file, and `beside` has the extensions of the files next to
/// it.
#[cfg(unix)]
fn reading_goes_on(training: &[&str], more: &[&str], (kind, beside): (&str, &[&str]), (times, n_lines): (usize, u32)) {
    let folder = Folder::new();
    let line = |i: u32| {
        let [first, second] = [format!("the cat {} sat ", i % 997), format!("on the mat {} ", i % 8999)];
        format!("{}\t{}\n", first.repeat(times), second.repeat(times))
    };
    let write = |n_lines| folder.write("text.txt", (0..n_lines).map(line).collect::<String>());
    write(n_lines);
    let resume = [training, more, &["--resume"]].concat();
    let checkpoint = "m.senv.checkpoint";
    let beside: Vec<String> = beside.iter().map(|end| format!("{checkpoint}{end}")).collect();
    // Reading a million words is worth keeping. If the system does not report how much was read, the signal comes later
    // and later. If everything was read before the signal came, the text gets longer.
    let enough = (0..150_000 / times as u32).map(|i| line(i).len() as u64).sum();
    let (mut n_lines, mut later) = (n_lines, Duration::ZERO);
    let err = (0..16).find_map(|_| {
        let mut child = folder.spawn(&resume);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        // The first report announces the reading, and the next one stops it.
        let (mut rest, is_reading) = listen(&mut said, "reading  ");
        if is_reading {
            wait_until("a million words are read", || bytes_read(&child).is_none_or(|bytes| bytes >= enough));
            thread::sleep(later);
            signal(&child, 2);
        }
        said.read_to_string(&mut rest).unwrap();
        let code = child.wait().unwrap().code();
        // A fast machine has read everything before the signal arrives. It may then be making tables, training, or
        // done.
        if code == Some(0) || !rest.contains("% of the text") && !rest.contains("stopped while reading") {
            n_lines *= 2;
            write(n_lines);
            for name in folder.names().iter().filter(|name| *name != "text.txt") {
                std::fs::remove_file(folder.path(name)).unwrap();
            }
            return None;
        }
        assert_eq!(code, Some(130), "{rest}");
        if folder.has(checkpoint) {
            return Some(rest);
        }
        assert!(rest.contains("nothing was trained or written"), "{rest}");
        later = later * 2 + Duration::from_millis(50);
        None
    });
    let err = err.expect("sixteen readings were stopped too early or too late");
    assert!(err.contains("% of the text; m.senv.checkpoint is kept, run the same command with --resume"), "{err}");
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
    let (killed, epochs) = stopped(&folder, ("c", 9), &EPOCHS, |epochs| {
        training("m.senv", epochs, &["--checkpoint-every", "0.05s", "--checkpoint", "c"])
    });
    assert_eq!(killed.code, None);
    assert!(!folder.has("m.senv"));
    // A checkpoint may have been in progress. Its temporary file is removed at the next checkpoint.
    let begun: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".tmp")).collect();
    folder.run(&training("m.senv", epochs, &["--resume", "--checkpoint", "c"])).ok();
    folder.run(&training("whole.senv", epochs, &[])).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
    let mut names = folder.names();
    names.retain(|name| !begun.contains(name));
    assert_eq!(names, ["m.senv", "text.txt", "whole.senv"]);
}

/// One system for each kind of training loop and data.
#[cfg(unix)]
#[test]
fn every_kind_of_data_is_resumed_to_the_same_bytes() {
    let folder = samples();
    folder.run(&["train", "word2vec", "text.txt", "--dim", "24", "--epochs", "1", "--output", "words.senv"]).ok();
    let definitions = "--definitions definitions.tsv --target-vectors words.senv --dim 12 --hidden 16";
    for (arguments, epochs) in [
        ("pv-dm --input text.txt --dim 16", ["10", "80", "640", "5120"]),
        ("c-phrase --input trees.txt --dim 16", ["1", "8", "64", "512"]),
        (&format!("dict-rep {definitions} --held-out 0"), ["100", "800", "6400", "51200"]),
        (
            "caption-rep --captions captions.tsv --stand-in words.senv --dim 12 --held-out 0",
            ["100", "800", "6400", "51200"],
        ),
        (
            "student --texts sentences.txt --text-vectors sentences.npy --pairs pairs.tsv --dim 12 --batch 32",
            ["100", "800", "6400", "51200"],
        ),
        ("gran --pairs pairs.tsv --dim 12 --hidden 12", ["5", "40", "320", "2560"]),
        (
            "snli --preset infersent --train labelled.tsv --init-vectors words.senv --sentence-dim 12 --hidden 12",
            ["5", "40", "320", "2560"],
        ),
    ] {
        let train = |epochs, more: &[&'static str]| -> Vec<&str> {
            ["train"]
                .into_iter()
                .chain(arguments.split(' '))
                .chain(["--epochs", epochs])
                .chain(more.iter().copied())
                .collect()
        };
        let (killed, epochs) = stopped(&folder, ("m.senv.checkpoint", 9), &epochs, |epochs| {
            train(epochs, &["--output", "m.senv", "--checkpoint-every", "0.02s"])
        });
        assert_eq!(killed.code, None, "{arguments}: {}", killed.err);
        let resumed = folder.run(&train(epochs, &["--output", "m.senv", "--resume"])).ok();
        assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
        folder.run(&train(epochs, &["--output", "whole.senv"])).ok();
        assert_eq!(folder.read("m.senv"), folder.read("whole.senv"), "{arguments}");
        for name in ["m.senv", "whole.senv"] {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
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
    // The run is too short to write its own checkpoint.
    let ended = folder.train("text.txt", "m.senv", &["--epochs", "1", "--restart"]).ok();
    assert!(ended.err.contains("replacing m.senv.checkpoint of an earlier run"), "{}", ended.err);
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
    // Any other file may be somebody's work.
    folder.write("notes.txt", "mine");
    let to_notes = ["--epochs", "1", "--checkpoint", "notes.txt"];
    folder
        .train("text.txt", "n.senv", &to_notes)
        .fails(2, &["notes.txt exists and is not a senv checkpoint", "--checkpoint"]);
    assert_eq!(folder.read("notes.txt"), b"mine");
}

#[test]
fn resuming_without_a_checkpoint_starts_anew() {
    let folder = Folder::with_text(300);
    let resumed = folder.train("text.txt", "m.senv", &["--resume", "--quiet"]).ok();
    let says = "there is no checkpoint m.senv.checkpoint; training starts from the beginning";
    assert!(resumed.err.contains(says), "{}", resumed.err);
    folder.train("text.txt", "whole.senv", &[]).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}
