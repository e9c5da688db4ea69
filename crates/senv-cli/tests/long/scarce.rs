//! Little memory, few threads, small disks, signals, and two runs that need the same file.
#![cfg(unix)]

use std::{
    fmt::Write as _,
    io::{BufReader, Read, Write},
    process::{Child, Command, Stdio},
};

use crate::{
    common::{Ended, Folder, text},
    running::{feed, has_begun, hear, hold, in_time, is_written, limited, signal, wait_for, wait_until},
};

/// More epochs than any machine finishes; such runs are stopped.
const WITHOUT_END: &str = "10000000";

/// 160 MB of text, a thousand letters per line, compressed to a few hundred kilobytes.
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
    // Thread stacks and the English model alone take a third of this.
    let ended = limited(&folder, "-v 330000", &nearest).ok();
    assert!(ended.out.starts_with("1.0000\t") && ended.out.ends_with("\tthe cat saw the dog\n"), "{}", ended.out);
}

#[test]
fn a_lack_of_memory_is_an_error_and_no_abort() {
    let folder = Folder::with_model();
    large(&folder);
    let queries = ["nearest", "--model", "m.senv", "--input", "text.txt", "--queries", "large.gz", "--threads", "1"];
    limited(&folder, "-v 250000", &queries).fails(1, &["for the lines of a text"]);
    let train =
        ["train", "sent2vec", "--input", "text.txt", "--dim", "60000", "--min-count", "1", "--output", "out.senv"];
    let without_weights =
        [&train[..], &["--epochs", "1", "--weights", "none", "--word-ngrams", "2", "--buckets", "4000"]];
    let without_weights = without_weights.concat();
    limited(&folder, "-v 250000", &without_weights).fails(1, &["does not fit in memory"]);
    limited(&folder, "-v 250000", &train).fails(2, &["dim must be at most 4096 with word weights"]);
    folder.write("more.txt", text(2000));
    for system in ["pv-dbow", "pv-dm"] {
        let train =
            ["train", system, "--input", "more.txt", "--dim", "60000", "--min-count", "1", "--output", "out.senv"];
        let says = ["out of memory: cannot allocate 480000000 bytes for one trained vector per sentence of the text"];
        limited(&folder, "-v 250000", &train).fails(1, &says);
    }
    assert_eq!(folder.names(), ["large.gz", "m.senv", "more.txt", "text.txt"]);
    // The matrices fit, but their gradients or the moments of the optimizer do not.
    let train = ["train", "skip-thought", "--input", "text.txt", "--sentence-dim", "900", "--output", "out.senv"];
    limited(&folder, "-v 210000", &[&train[..], &["--threads", "1"]].concat()).fails(1, &["does not fit in memory"]);
}

/// Limits memory that the process allocates; mapped files do not count.
#[test]
#[cfg(target_os = "linux")]
fn every_system_on_text_is_trained_on_more_text_than_memory() {
    const LIMIT: &str = "-d 70000";
    let folder = Folder::new();
    let (mut file, document) = (std::fs::File::create(folder.path("text.txt")).unwrap(), text(50_000) + "\n");
    while file.metadata().unwrap().len() < 80_000_000 {
        file.write_all(document.as_bytes()).unwrap();
    }
    for system in [
        "sent2vec --epochs 1 --buckets 1000 --no-check",
        "siamese-cbow --steps 5 --no-check",
        "pp --steps 5 --no-check",
        "skip-thought --steps 5 --sentence-dim 8",
        "rnn-ae --steps 5 --hidden 8",
        "sdae --steps 5 --hidden 8",
        "bow-ae --steps 5",
    ] {
        let mut args: Vec<&str> = ["train"].into_iter().chain(system.split(' ')).collect();
        args.push(if system.starts_with("pp") { "--neighbours" } else { "--input" });
        args.extend(["text.txt", "--dim", "8", "--output", "m.senv", "--force", "--threads", "2"]);
        limited(&folder, LIMIT, &args).ok();
        folder.run(&["info", "m.senv"]).ok();
    }
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
}

/// As many different sentences of 40 words as fill 80 MB.
#[cfg(target_os = "linux")]
fn distinct_sentences(mut each: impl FnMut(&str)) {
    let (mut state, mut sentence) = (1_u64, String::new());
    for _ in 0..400_000 {
        sentence.clear();
        for _ in 0..40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(sentence, "w{:03} ", state >> 56).unwrap();
        }
        each(sentence.trim());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn pairs_captions_and_entailments_are_trained_on_where_they_do_not_fit_into_memory() {
    const LIMIT: &str = "-d 75000";
    let folder = Folder::new();
    let mut files = ["pairs.tsv", "captions.tsv", "nli.tsv"]
        .map(|name| std::io::BufWriter::new(std::fs::File::create(folder.path(name)).unwrap()));
    let mut n = 0;
    distinct_sentences(|sentence| {
        let [pairs, captions, nli] = &mut files;
        let (end, label) = if n % 2 == 0 { ("\t", "entailment\t") } else { ("\n", "") };
        write!(pairs, "{sentence}{end}").unwrap();
        writeln!(captions, "image{}\t{sentence}", n / 2).unwrap();
        write!(nli, "{label}{sentence}{end}").unwrap();
        n += 1;
    });
    drop(files);
    for (option, file) in [("--pairs", "pairs.tsv"), ("--captions", "captions.tsv"), ("--nli", "nli.tsv")] {
        assert!(std::fs::metadata(folder.path(file)).unwrap().len() > 75_000 << 10, "{file}");
        let args = ["train", "pp", option, file, "--steps", "5", "--dim", "8", "--threads", "2", "--force"];
        limited(&folder, LIMIT, &[&args[..], &["--output", "m.senv"]].concat()).ok();
    }
    folder.run(&["info", "m.senv"]).ok();
    assert_eq!(folder.names(), ["captions.tsv", "m.senv", "nli.tsv", "pairs.tsv"]);
}

/// Any allocation may fail first: a table, a list of lines, or a word of a few bytes, for which the standard library
/// aborts.
#[test]
fn commands_that_run_out_of_memory_anywhere_end_with_an_error() {
    let folder = Folder::with_model();
    let pairs = (0..100_000).map(|i| format!("{}\tthe cat saw {i} dogs\tthe dog saw {i} cats\n", i % 6));
    folder.write("sts.tsv", pairs.collect::<String>());
    let starts = |limit: &u32| limited(&folder, &format!("-v {limit}000"), &["--version"]).code == Some(0);
    let least = (20..160).step_by(4).find(starts).unwrap() + 4;
    let mut refused = 0;
    // Threads may be refused, too. Five are too many for some of these limits, but one is enough.
    for (command, threads) in [
        (&["eval", "sts", "--model", "m.senv", "sts.tsv", "--no-floor", "--resamples", "10"][..], "2"),
        (&["train", "rnn-ae", "text.txt", "--output", "out.senv", "--steps", "1", "--hidden", "600", "--force"], "2"),
        (&["train", "text.txt", "--output", "out.senv", "--force"], "2"),
        (&["train", "siamese-cbow", "text.txt", "--output", "out.senv", "--dim", "8", "--epochs", "1", "--force"], "5"),
    ] {
        for limit in (least..least + 40).step_by(4).chain((least + 40..=least + 160).step_by(20)) {
            let ended = limited(&folder, &format!("-v {limit}000"), &[command, &["--threads", threads]].concat());
            let said = ["error: ", "memory allocation of "].iter().any(|part| ended.err.contains(part));
            let code = ended.code;
            assert!(code == Some(0) || code == Some(1) && said, "{command:?} {limit}: {code:?} {}", ended.err);
            refused += usize::from(code == Some(1));
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn threads_that_the_system_refuses_are_done_without() {
    let folder = Folder::with_model();
    let encode = ["encode", "--model", "m.senv", "--input", "text.txt", "--threads", "1000"];
    let all = folder.run(&encode).ok();
    // A thousand stacks of 2 MiB do not fit.
    let ended = limited(&folder, "-v 1000000", &encode).ok();
    assert!(ended.err.contains("refuses to start 1000 threads; using"), "{}", ended.err);
    assert_eq!(ended.out, all.out);
    let train = Folder::training("text.txt", "few.senv", &["--threads", "1000"]);
    limited(&folder, "-v 1000000", &train).ok();
    assert_eq!(folder.read("few.senv"), folder.read("m.senv"));
}

/// Whether this process ignores a signal. Its child processes inherit this.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    crate::running::has_signal("self", "SigIgn", signal)
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_: i32) -> bool {
    false
}

/// Waits until a run has written a part of its output file.
fn wait_for_some(folder: &Folder, child: &mut Child) {
    wait_until("it writes", || {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended before it wrote");
        has_begun(child, &folder.path(""))
    });
}

#[test]
fn signals_that_end_a_command_leave_no_temporary_file() {
    let folder = Folder::with_model();
    let encode = ["encode", "--model", "m.senv", "--input", "-", "--output", "v.npy"];
    for number in [2, 15, 1] {
        // Under nohup, the tests inherit ignored signals.
        if is_ignored(number) {
            continue;
        }
        let mut child = folder.command(&encode).stdin(Stdio::piped()).spawn().unwrap();
        // It does not end without a signal.
        let (feeder, _) = feed(&mut child);
        wait_for_some(&folder, &mut child);
        signal(&child, number);
        let ended = Ended::from(child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(128 + number), "{}", ended.err);
        feeder.join().unwrap();
        assert_eq!(folder.names(), ["m.senv", "text.txt"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_under_nohup_survives_its_terminal() {
    let folder = Folder::with_model();
    let command =
        format!("trap '' HUP; exec {} encode --model m.senv --input - --output v.npy", env!("CARGO_BIN_EXE_senv"));
    let mut command_of_shell = Command::new("sh");
    let mut child =
        command_of_shell.args(["-c", &command]).current_dir(folder.path("")).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines = text(50_000);
    stdin.write_all(lines.as_bytes()).unwrap();
    wait_for_some(&folder, &mut child);
    signal(&child, 1);
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.read("v.npy").len(), 128 + 100_000 * 12 * 4);
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
    let training = |epochs, more: &[&'static str]| {
        Folder::training("text.txt", "m.senv", &[&["--epochs", epochs, "--threads", "1"], more].concat())
    };
    let (_, epochs) = in_time(&folder, &["10", "80", "640", "5120"], |epochs| {
        let mut first = folder.spawn(&training(epochs, &["--checkpoint-every", "0.05s"]));
        if !is_written(&folder, "m.senv.checkpoint", &mut first) {
            return None;
        }
        // The paused run holds its locks and cannot finish.
        hold(&first);
        if folder.has("m.senv") || !folder.has("m.senv.checkpoint") {
            signal(&first, 9);
            first.wait().unwrap();
            return None;
        }
        let says = ["m.senv: another process"];
        folder.train("text.txt", "m.senv", &["--epochs", "1"]).fails(1, &says);
        let other_name = ["--epochs", "1", "--checkpoint", "m.senv.checkpoint"];
        folder.train("text.txt", "n.senv", &other_name).fails(1, &["m.senv.checkpoint: another process"]);
        // The lock also works under another name of the file.
        std::os::unix::fs::symlink("m.senv", folder.path("link.senv")).unwrap();
        let by_link = ["--epochs", "1", "--checkpoint", "c"];
        folder.train("text.txt", "link.senv", &by_link).fails(1, &["link.senv: another process"]);
        std::fs::remove_file(folder.path("link.senv")).unwrap();
        signal(&first, 15);
        signal(&first, "CONT");
        let ended = Ended::from(first.wait_with_output().unwrap());
        if ended.code == Some(0) {
            return None;
        }
        assert_eq!(ended.code, Some(143), "{}", ended.err);
        Some(())
    });
    assert_eq!(folder.names(), ["m.senv.checkpoint", "text.txt"], "only the checkpoint is left");
    folder.run(&training(epochs, &["--resume"])).ok();
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
}

/// Writing to `/dev/full` fails like writing to a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_stopped_while_the_disk_is_full_saves_its_model_elsewhere() {
    let folder = Folder::with_text(4000);
    let stopped = |args: &[&str]| {
        let mut child = folder.spawn(args);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        hear(&mut said, "could not write a checkpoint, training continues: cannot write /dev/full");
        signal(&child, 2);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
        for part in
            ["press Ctrl-C again", "the checkpoint could not be written", "the partly trained model is saved as"]
        {
            assert!(rest.contains(part), "{part}: {rest}");
        }
        assert!(rest.contains("error: cannot write /dev/full: No space left"), "{rest}");
    };
    let full = ["--checkpoint", "/dev/full", "--checkpoint-every", "0.05s", "--threads", "1"];
    stopped(&Folder::training("text.txt", "m.senv", &[&["--epochs", WITHOUT_END], &full[..]].concat()));
    let model = folder.rescued("m.senv");
    let info = folder.run(&["info", model.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!(info["kind"], "sent2vec");
    assert!(!folder.has("m.senv"));

    // The same for a system trained by gradient descent.
    std::fs::remove_dir_all(model.parent().unwrap()).unwrap();
    let siamese =
        ["train", "siamese-cbow", "--input", "text.txt", "--output", "s.senv", "--dim", "8", "--epochs", WITHOUT_END];
    stopped(&[&siamese[..], &full].concat());
    let model = folder.rescued("s.senv");
    assert_eq!(folder.run(&["info", model.to_str().unwrap(), "--json"]).ok().json()["kind"], "siamese-cbow");
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_is_rescued_past_links_that_others_have_left() {
    let folder = Folder::with_text(100);
    for name in ["full.rescued", "senv-rescued-full"] {
        std::os::unix::fs::symlink("target", folder.path(name)).unwrap();
    }
    folder.train("text.txt", "/dev/full", &["--checkpoint", "c"]).fails(1, &["No space left", "saved as"]);
    assert!(!folder.has("target"));
    std::fs::remove_file(folder.path("senv-rescued-full")).unwrap();
    assert!(folder.rescued("full").is_file());
}

#[test]
fn a_run_that_waits_for_standard_input_answers_the_first_ctrl_c() {
    let folder = Folder::with_model();
    let weighted =
        ["train", "weighted", "--model", "m.senv", "--input", "-", "--output", "w.senv", "--components", "0"];
    folder.run(&weighted[..8]).fails(2, &["the text is read twice", "--components 0"]);
    let training = Folder::training("-", "n.senv", &[]);
    for (args, signals) in [(&training[..], &[2][..]), (&weighted[..], &[2]), (&weighted[..], &[15])] {
        let mut child = folder.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text(3000).as_bytes()).unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        // More text than a pipe can hold was read, so the run has started.
        stdin.write_all(text(3000).as_bytes()).unwrap();
        signal(&child, signals[0]);
        hear(&mut said, "press Ctrl-C again");
        drop(stdin);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + signals[0]), "{args:?}: {rest}");
        assert!(rest.contains("stopped") && !rest.contains("error:"), "{rest}");
    }
    assert_eq!(folder.names(), ["m.senv", "text.txt"]);
}

#[test]
fn a_matrix_and_its_words_are_replaced_together_or_not_at_all() {
    let folder = Folder::new();
    let words = |first: char, length: usize| -> String {
        (0..10).map(|i| format!("{}{i} 1 {i}\n", first.to_string().repeat(length))).collect()
    };
    folder.write("old.txt", words('o', 1));
    folder.write("new.txt", words('n', 2000));
    folder.run(&["convert", "old.txt", "w.npy"]).ok();
    let before = ["w.npy", "w.words.txt"].map(|name| folder.read(name));
    // The matrix is below the limit, but its words are not.
    limited(&folder, "-f 8", &["convert", "new.txt", "w.npy"])
        .fails(1, &["cannot write w.words.txt", "File too large"]);
    assert_eq!(["w.npy", "w.words.txt"].map(|name| folder.read(name)), before);
    assert_eq!(folder.names(), ["new.txt", "old.txt", "w.npy", "w.words.txt"]);

    folder.run(&["convert", "new.txt", "w.npy"]).ok();
    folder.run(&["convert", "w.npy", "back.txt"]).ok();
    assert_eq!(folder.read("back.txt").split(|&b| b == b' ').next(), Some(format!("{}0", "n".repeat(2000)).as_bytes()));
    // As many words, but different ones.
    folder.write("w.words.txt", &before[1]);
    let says = ["w.words.txt: these words do not belong to the matrix", "10 rows of w.npy"];
    folder.run(&["convert", "w.npy", "again.txt"]).fails(1, &says);
}

/// Blank lines, which expand to 100 bytes and more per compressed byte.
#[test]
fn compressed_text_that_no_text_becomes_is_encoded_where_any_expansion_is_accepted_alone() {
    let folder = Folder::with_model();
    let gzip = |lines: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(lines).unwrap();
        gzip.finish().unwrap()
    };
    folder.write("blank.gz", gzip(&vec![b'\n'; 1_000_000]));
    let encode = ["encode", "--model", "m.senv", "--output", "v.npy", "--input"];
    let says = ["blank.gz: ", "not plausible for text", "accept any expansion (--any-expansion)"];
    folder.run(&[&encode[..], &["blank.gz"]].concat()).fails(1, &says);
    // The same after a file with another ratio.
    folder.run(&[&encode[..], &["text.txt", "blank.gz"]].concat()).fails(1, &says);
    assert_eq!(folder.names(), ["blank.gz", "m.senv", "text.txt"]);
    folder.run(&[&encode[..], &["blank.gz", "--any-expansion"]].concat()).ok();
    assert_eq!(folder.read("v.npy").len(), 128 + 48_000_000);
    // Text that compresses well, and uncompressed blank lines.
    folder.write("same.gz", gzip(text(200).repeat(200).as_bytes()));
    folder.write("blank.txt", vec![b'\n'; 100_000]);
    folder.run(&[&encode[..], &["same.gz", "blank.txt"]].concat()).ok();
}

#[test]
fn text_that_changes_while_it_is_trained_on_is_warned_of() {
    let folder = Folder::with_text(4000);
    let long = ["--epochs", WITHOUT_END, "--checkpoint-every", "0.05s", "--threads", "1"];
    let mut child = folder.spawn(&Folder::training("text.txt", "m.senv", &long));
    wait_for(&folder, "m.senv.checkpoint", &mut child);
    std::fs::OpenOptions::new().append(true).open(folder.path("text.txt")).unwrap().write_all(b"more\n").unwrap();
    signal(&child, 2);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("text.txt changed during training (it had "), "{}", ended.err);
    let whole = folder.train("text.txt", "n.senv", &[]).ok();
    assert!(!whole.err.contains("changed during training"), "{}", whole.err);
}

/// Four million different words in 36 MB. Any table of the vocabulary may be the first to grow.
#[test]
fn a_vocabulary_beyond_the_memory_is_an_error_and_no_abort() {
    let folder = Folder::new();
    let mut text = Vec::new();
    for i in 0..4_000_000_u32 {
        write!(text, "{:x}{}", i.wrapping_mul(2_654_435_761), if i % 16 == 15 { "\n" } else { " " }).unwrap();
    }
    folder.write("words.txt", text);
    let train = ["train", "sent2vec", "--input", "words.txt", "--min-count", "1", "--output", "out.senv", "--threads"];
    for (threads, limit) in [("1", "-v 200000"), ("1", "-v 265000"), ("1", "-v 300000"), ("2", "-v 330000")] {
        let ended = limited(&folder, limit, &[&train[..], &[threads]].concat());
        ended.fails(1, &["for a vocabulary"]);
    }
    assert_eq!(folder.names(), ["words.txt"]);
}
