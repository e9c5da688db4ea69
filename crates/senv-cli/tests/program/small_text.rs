//! Every system on texts of a few sentences. It trains, or names a remedy, and every option in a message exists.

use crate::common::{Ended, Folder};

/// The systems with their inputs, and with settings that make large ones fast.
const SYSTEMS: &[&str] = &[
    "word2vec --input text.txt",
    "sent2vec --input text.txt",
    "pv-dbow --input text.txt",
    "pv-dm --input text.txt",
    "fast-sent --input text.txt",
    "siamese-cbow --input text.txt",
    "c-phrase --input trees.txt",
    "skip-thought --input text.txt --dim 8 --sentence-dim 8",
    "rnn-ae --input text.txt --dim 8 --hidden 8",
    "sdae --input text.txt --dim 8 --hidden 8",
    "bow-ae --input text.txt --dim 8",
    "pp --pairs pairs.tsv",
    "cse --pairs pairs.tsv --dim 8",
    "gran --pairs pairs.tsv --dim 8 --hidden 8",
    "p-thought --pairs pairs.tsv --dim 8 --hidden 8",
    "snli --train labelled.tsv --dim 8 --hidden 8",
    "dict-rep --definitions definitions.tsv --target-vectors words.senv --hidden 8",
    "caption-rep --captions captions.tsv --stand-in words.senv --dim 8 --hidden 8",
    "order --init-model words.senv --train different.tsv --pairs pairs.tsv --gate scored.tsv --dim 8",
    "relatedness --model words.senv --train scored.tsv",
    "weighted --model words.senv --input text.txt",
];

/// Different sentences of four to six words from a small vocabulary.
fn sentences(n: usize) -> Vec<String> {
    const WHO: [&str; 7] = ["the cat", "a dog", "my old friend", "the train", "a bird", "our boat", "the teacher"];
    const DOES: [&str; 5] = ["sees", "likes", "follows", "leaves", "needs"];
    const WHAT: [&str; 6] = ["the house", "a tree", "some bread", "the garden", "a song", "the sea"];
    (0..n).map(|i| format!("{} {} {}", WHO[i % 7], DOES[(i / 2) % 5], WHAT[(i / 3) % 6])).collect()
}

/// The long options in a text.
fn options(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut found: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "(),;\"'".contains(c))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.split(|c: char| !is_part(c)).next().unwrap_or(word))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Asserts that the run succeeded or named a remedy, and that the system has every named option.
#[track_caller]
fn helps(folder: &Folder, system: &str, ended: &Ended, n: usize) {
    let Ended { code, err, .. } = ended;
    let told = err.contains("give more text") || err.contains("lower the minimum count");
    assert!(*code == Some(0) || told, "{system} on {n} lines: {err}");
    assert!(!err.contains("the model is not learning"), "{system} on {n} lines: {err}");
    let help = folder.run(&["train", system, "--help"]).ok().out;
    let has = |option: &&str| help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n"));
    for option in options(err) {
        assert!(has(&option), "{system} on {n} lines has no {option}: {err}");
    }
}

/// Writes the inputs of [`SYSTEMS`] with `n` sentences.
fn write_inputs(folder: &Folder, n: usize) {
    let lines = sentences(n);
    let of_lines = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
        (0..n).map(|i| line(i, &lines[i], &lines[(i + 1) % n]) + "\n").collect()
    };
    let tree = |line: &str| line.split(' ').map(|word| format!("(W {word})")).collect::<String>();
    let labels = ["entailment", "neutral", "contradiction"];
    for (name, content) in [
        ("text.txt", of_lines(&|_, a, _| a.to_owned())),
        ("trees.txt", of_lines(&|_, a, _| format!("(S {})", tree(a)))),
        ("pairs.tsv", of_lines(&|_, a, b| format!("{a}\t{b}"))),
        ("labelled.tsv", of_lines(&|i, a, b| format!("{}\t{a}\t{b}", labels[i % 3]))),
        ("definitions.tsv", of_lines(&|_, a, b| format!("{}\t{b}", a.rsplit(' ').next().unwrap_or(a)))),
        ("captions.tsv", of_lines(&|i, a, b| format!("{i}\t{a}\n{i}\t{b}"))),
        ("different.tsv", of_lines(&|i, a, b| format!("{}\t{a}\t{b}", i % 2))),
        ("scored.tsv", of_lines(&|i, a, b| format!("{}\t{a}\t{b}", 1 + i % 5))),
    ] {
        folder.write(name, content);
    }
}

#[test]
fn every_system_trains_on_small_text_or_names_an_option_that_helps() {
    let folder = Folder::new();
    write_inputs(&folder, 500);
    folder
        .run(&["train", "word2vec", "--input", "text.txt", "--dim", "8", "--weights", "sif", "--output", "words.senv"])
        .ok();
    for n in [3, 10, 100, 500] {
        write_inputs(&folder, n);
        for system in SYSTEMS {
            let args: Vec<&str> = system.split(' ').collect();
            let ended = folder.run(&[&["train"], &args[..], &["--output", "m.senv", "--force"]].concat());
            helps(&folder, args[0], &ended, n);
            assert!(n < 100 || ended.code == Some(0), "{system} on {n} lines: {}", ended.err);
        }
    }
}

#[test]
fn word_vectors_are_trained_on_nine_short_lines_with_the_default_subsampling() {
    let folder = Folder::new();
    folder.write("text.txt", sentences(9).join("\n"));
    let train = ["train", "word2vec", "--input", "text.txt", "--min-count", "1", "--dim", "8", "--output", "m.senv"];
    let trained = folder.run(&train).ok();
    assert!(!trained.err.contains("the model learned nothing"), "{}", trained.err);
    let info = folder.run(&["info", "m.senv", "--json"]).ok().json();
    let threshold = info["parameters"]["subsample"].as_f64().unwrap();
    assert!(threshold == 0.1, "1 / words, and the next power of ten: {threshold}");
}

#[test]
fn what_subsampling_leaves_nothing_of_names_subsampling_and_what_no_word_can_be_a_target_of_names_that() {
    let folder = Folder::new();
    folder.write("text.txt", sentences(9).join("\n"));
    let run = |more: &[&str]| {
        let train = ["train", "sent2vec", "--input", "text.txt", "--output", "m.senv", "--force", "--min-count", "1"];
        folder.run(&[&train[..], more].concat())
    };
    run(&["--subsample", "1e-12", "--min-target-count", "1"]).fails(1, &["subsampling skipped", "--subsample"]);
    run(&["--min-target-count", "1000"]).fails(1, &["no token can be a target", "--min-target-count"]);
    let words = ["train", "word2vec", "--input", "text.txt", "--output", "m.senv", "--subsample", "1e-12"];
    let ended = folder.run(&words).fails(1, &["subsampling skipped", "--subsample"]);
    assert!(!ended.err.contains("--min-target-count"), "{}", ended.err);
}

#[test]
fn a_few_steps_above_a_guess_are_noted_as_too_few() {
    let folder = Folder::new();
    folder.write("text.txt", sentences(10).join("\n"));
    let train =
        ["train", "sdae", "--input", "text.txt", "--dim", "8", "--hidden", "8", "--output", "m.senv", "--force"];
    for (steps, lr, note) in
        [("1", "1e-9", Some("1 step is too few")), ("4", "1e-9", Some("4 steps are too few")), ("40", "1e-2", None)]
    {
        let ended = folder.run(&[&train[..], &["--steps", steps, "--lr", lr]].concat()).ok();
        assert_eq!(
            note.is_some(),
            ended.err.contains("step is too few") || ended.err.contains("steps are too few"),
            "{steps} steps: {}",
            ended.err
        );
        assert!(
            ended.err.contains(note.unwrap_or("")) && !ended.err.contains("the model is not learning"),
            "{}",
            ended.err
        );
    }
}

#[test]
fn weights_of_one_sentence_leave_its_own_direction_in() {
    let folder = Folder::new();
    folder.write("text.txt", sentences(60).join("\n"));
    folder.write("one.txt", "the cat sees the house\n");
    folder.write("other.txt", "zyx qrst\n");
    folder.run(&["train", "word2vec", "--input", "text.txt", "--dim", "4", "--output", "words.senv"]).ok();
    for (scheme, says) in [("sif", "0 common components"), ("usif", "0 common components")] {
        let weighted =
            ["train", "weighted", "--model", "words.senv", "--scheme", scheme, "--output", "w.senv", "--force"];
        let ended = folder.run(&[&weighted[..], &["--input", "one.txt"]].concat()).ok();
        assert!(ended.err.contains(says), "{scheme}: {}", ended.err);
        let vector = folder.run(&["encode", "--model", "w.senv", "--input", "one.txt", "--output", "-"]).ok().out;
        let largest = vector.split_whitespace().filter_map(|x| x.parse::<f64>().ok()).fold(0.0, |a, x| x.abs().max(a));
        assert!(largest > 1e-3, "{scheme}: no rounding, {vector}");
        let ended = folder.run(&[&weighted[..], &["--input", "other.txt"]].concat());
        assert_ne!(ended.code, Some(0), "{}", ended.err);
        assert!(!ended.err.contains("sentence vectors"), "{}", ended.err);
    }
    let weighted =
        ["train", "weighted", "--model", "words.senv", "--input", "text.txt", "--output", "w.senv", "--force"];
    let ended = folder.run(&[&weighted[..], &["--scheme", "usif"]].concat()).ok();
    assert!(ended.err.contains("3 common components instead of 5"), "{}", ended.err);
    let ended = folder.run(&[&weighted[..], &["--components", "4"]].concat());
    ended.fails(2, &["--components must be below 4, the dimension of words.senv"]);
}

#[test]
fn lone_carriage_returns_and_lines_of_many_sentences_are_noted() {
    let folder = Folder::new();
    let lines = sentences(3000);
    folder.write("returns.txt", lines.join("\r"));
    folder.write("long.txt", format!("{}\na short line\n", lines.join(". ")));
    let encode = |input: &str, more: &[&str]| {
        folder.run(&[&["encode", "--input", input, "--output", "v.npy", "--force"], more].concat()).ok().err
    };
    assert!(encode("returns.txt", &[]).contains("returns.txt has lone carriage returns instead of line ends"));
    assert!(encode("long.txt", &[]).contains("long.txt:1: a line of "));
    assert!(!encode("long.txt", &["--split"]).contains("is read as one sentence"));
    assert!(!folder.run(&["split", "long.txt"]).ok().err.contains("is read as one sentence"));
}

#[test]
fn words_are_searched_with_a_note_where_no_text_was_given() {
    let folder = Folder::new();
    let ended = folder.run(&["nearest", "--query", "train", "--k", "2"]).ok();
    assert!(ended.err.contains("searching the words of the model"), "{}", ended.err);
    let ended = folder.run(&["nearest", "--words", "--query", "train", "--k", "2"]).ok();
    assert!(!ended.err.contains("no text given"), "{}", ended.err);
    folder.pipe(&["nearest", "--query", "train"], "").fails(1, &["contains no text"]);
}
