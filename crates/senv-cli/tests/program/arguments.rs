//! What a command accepts as input, and what it says about it.

use std::{
    fs,
    io::{BufRead, BufReader},
};

use crate::common::{Folder, text};

#[test]
fn files_are_taken_by_position_as_with_input() {
    let folder = Folder::with_model();
    let model = ["--model", "m.senv"];
    let same = |command: &[&str], more: &[&str]| {
        let by_position = folder.run(&[command, &["text.txt"], more].concat()).ok().out;
        let with_option = folder.run(&[command, &["--input", "text.txt"], more].concat()).ok().out;
        assert!(!by_position.is_empty() && by_position == with_option, "{command:?}: {by_position}");
    };
    same(&["encode"], &[&model[..], &["--digits", "3"]].concat());
    same(&["nearest"], &[&model[..], &["--query", "the cat", "--k", "2"]].concat());
    folder.write("pairs.tsv", "the cat\tthe dog\nthe train\tthe station\n");
    let by_position = folder.run(&["similarity", "pairs.tsv", "--model", "m.senv"]).ok().out;
    assert_eq!(by_position, folder.run(&["similarity", "--input", "pairs.tsv", "--model", "m.senv"]).ok().out);
    assert_eq!(by_position.lines().count(), 2);

    let small = ["--dim", "8", "--min-count", "1", "--epochs", "1", "--no-check", "--force", "--output"];
    let weighted = ["--model", "m.senv", "--force", "--output"];
    let systems = [
        (&["train", "word2vec"][..], &small[..]),
        (&["train", "siamese-cbow"], &small),
        (&["train", "bow-ae"], &["--dim", "8", "--epochs", "1", "--force", "--output"]),
        (&["train", "weighted"], &weighted),
        (&["train"], &["--dim", "8", "--no-check", "--force", "--output"]),
    ];
    for (system, more) in systems {
        folder.run(&[system, &["text.txt"], more, &["a.senv"]].concat()).ok();
        folder.run(&[system, &["--input", "text.txt"], more, &["b.senv"]].concat()).ok();
        assert!(folder.read("a.senv") == folder.read("b.senv"), "{system:?}");
        folder.run(&[system, &["text.txt", "--input", "text.txt"], more, &["c.senv"]].concat()).fails(2, &["--input"]);
        folder.run(&[system, more, &["c.senv"]].concat()).fails(2, &["--input <FILE>"]);
    }
    folder.run(&["encode", "text.txt", "--input", "text.txt"]).fails(2, &["--input"]);
    folder.run(&["nearest", "absent.txt", "--query", "a"]).fails(1, &["cannot open absent.txt"]);
}

#[test]
fn a_value_that_is_not_a_number_is_named_with_what_is_expected() {
    let folder = Folder::with_text(5);
    for k in ["1e3", "1,000", "1.5", "ten", ""] {
        let says = format!("invalid value '{k}' for '--k <K>': expected a whole number");
        folder.run(&["nearest", "text.txt", "--query", "a", "--k", k]).fails(2, &[&says, "--help"]);
    }
    let large = ["nearest", "text.txt", "--query", "a", "--k", "99999999999999999999999"];
    folder.run(&large).fails(2, &["the number is too large"]);
    let share = ["search", "text.txt", "a", "--recall", "50%"];
    folder.run(&share).fails(2, &["invalid value '50%' for '--recall <SHARE>': expected a number, such as 0.5"]);
}

#[test]
fn a_file_of_another_kind_is_named() {
    let folder = Folder::with_text(20);
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.run(&["split", "folder"]).fails(1, &["folder: no text files in this folder"]);
    let groups = ["cluster", "--assign", "text.txt", "text.txt"];
    folder.run(&groups).fails(1, &["text.txt: bad safetensors file: it has no header", "another kind of file"]);
    folder.write("titles.csv", "id,text\n");
    folder.run(&["split", "titles.csv", "--column", "text"]).fails(1, &["contains no text", "a table with rows"]);
}

#[test]
fn a_word_that_is_no_file_is_no_input() {
    let folder = Folder::with_text(5);
    for more in [&["--input", "text.txt"][..], &["text.txt"], &[]] {
        let ended = folder.run(&[&["train", "sentvec", "--output", "m.senv"], more].concat());
        ended.fails(2, &["'sentvec'", "no such file and no such system", "sent2vec, word2vec"]);
    }
    folder.run(&["train", "absent.txt", "--output", "m.senv"]).fails(1, &["cannot open absent.txt"]);
    folder.run(&["similarity", "a cat sat"]).fails(2, &["no file of pairs \"a cat sat\"", "second sentence"]);
}

#[cfg(unix)]
#[test]
fn nearest_searches_what_is_piped_in() {
    let folder = Folder::with_model();
    let nearest = ["nearest", "--model", "m.senv", "--query", "cat", "--k", "1"];
    let lines = "the cat saw the dog\nthe train left the station\n";
    let words = folder.run(&nearest).ok().out;
    let piped = folder.pipe(&nearest, lines).ok();
    assert!(piped.out.ends_with("\tthe cat saw the dog\n"), "{}", piped.out);
    assert!(piped.err.contains("standard input") && piped.err.contains("--words"), "{}", piped.err);
    folder.write("lines.txt", lines);
    let file = fs::File::open(folder.path("lines.txt")).unwrap();
    let ended = folder.command(&nearest).stdin(file).output().unwrap();
    assert_eq!(crate::common::Ended::from(ended).ok().out, piped.out);

    assert_eq!(folder.pipe(&[&nearest[..], &["--words"]].concat(), lines).ok().out, words);
    let queries = ["nearest", "--model", "m.senv", "--queries", "-", "--k", "1"];
    assert_eq!(folder.pipe(&queries, "cat\n").ok().out, words);
    folder.pipe(&nearest, "").fails(1, &["- contains no text", "--words"]);
    folder.run(&[&nearest[..], &["--words", "--input", "lines.txt"]].concat()).fails(2, &["--words"]);
}

#[test]
fn nearest_without_a_query_names_both_ways_to_give_one() {
    let folder = Folder::with_text(5);
    folder.run(&["nearest", "-i", "text.txt"]).fails(2, &["--query <TEXT>", "--queries <FILE>"]);
}

#[test]
fn commands_that_have_no_use_for_the_english_model_ask_for_one() {
    let folder = Folder::new();
    for command in [
        &["decode", "a cat"][..],
        &["combine", "--with", "x.senv", "--output", "y.senv"],
        &["compress", "--output", "y.senv"],
        &["expand-vocabulary", "--vectors", "x.txt", "--output", "y.senv"],
    ] {
        folder.run(command).fails(2, &["required", "--model <FILE>"]);
        let help = folder.run(&[command[0], "--help"]).ok().out;
        assert!(!help.contains("default: english") && !help.contains("english is built in"), "{help}");
    }
    folder.run(&["compress", "--model", "english", "--output", "x.senv"]).fails(1, &["--max-vocabulary"]);
    let fewer_words = ["compress", "--model", "english", "--max-vocabulary", "20000", "--output", "x.senv"];
    assert!(folder.run(&fewer_words).ok().err.contains("20,000 words of 514 dimensions"));
    assert!(folder.read("x.senv").len() < 4_000_000);
}

#[test]
fn decode_says_that_a_file_is_taken_for_a_sentence() {
    let folder = Folder::with_text(40);
    let small = ["--dim", "4", "--hidden", "4", "--epochs", "1", "--output", "ae.senv"];
    folder.run(&[&["train", "rnn-ae", "text.txt"], &small[..]].concat()).ok();
    let said = folder.run(&["decode", "--model", "ae.senv", "text.txt"]).ok().err;
    assert!(said.contains("--input text.txt"), "{said}");
    let said = folder.run(&["decode", "--model", "ae.senv", "the cat"]).ok().err;
    assert!(!said.contains("--input"), "{said}");
}

#[test]
fn convert_knows_the_model_in_the_program() {
    let folder = Folder::new();
    folder.run(&["convert", "english", "words.txt", "--to", "word2vec-text"]).ok();
    let words = String::from_utf8(folder.read("words.txt")).unwrap();
    assert!(words.starts_with("50000 256\n") && words.lines().count() == 50_001);
    // A file of that name needs a path, as everywhere.
    folder.write("english", "2 1\na 1\nb 2\n");
    folder.run(&["convert", "./english", "few.txt", "--to", "word2vec-text"]).ok();
    assert!(folder.read("few.txt") == b"2 1\na 1.0\nb 2.0\n");
    folder.run(&["convert", "english", "words2.txt", "--to", "word2vec-text"]).ok();
    assert!(folder.read("words2.txt") == words.as_bytes());
}

#[test]
fn training_on_pairs_alone_says_nothing_of_a_text() {
    let folder = Folder::with_pairs();
    let train = |more: &[&str]| {
        let args = ["train", "--pairs", "pairs.tsv", "--dim", "8", "--no-check", "--force", "--output", "m.senv"];
        folder.run(&[&args, more].concat())
    };
    let said = train(&[]).ok().err;
    assert!(said.contains("training paraphrases to be closer than other sentences (PP"), "{said}");
    assert!(!said.contains("text"), "{said}");
    folder.write("lines.txt", "one two\nthree four\nfive six\n");
    assert!(
        train(&["--input", "lines.txt"])
            .ok()
            .err
            .contains("the text is not in order and is not used; to use it, train on it alone first")
    );
    folder.write("empty.txt", "");
    train(&["--input", "empty.txt"]).fails(1, &["empty.txt contains no text"]);
}

#[test]
fn a_text_of_nothing_has_no_size() {
    let folder = Folder::new();
    folder.write("empty.txt", "");
    for system in [&["train"][..], &["train", "sent2vec"]] {
        let ended = folder.run(&[system, &["--input", "empty.txt", "--output", "m.senv"]].concat());
        assert!(!ended.err.contains("about"), "{}", ended.err);
        ended.fails(1, &["empty.txt contains no text"]);
    }
    folder.write("few.txt", "the cat sat\nthe cat ran\n".repeat(3));
    let said = folder.run(&["train", "few.txt", "--dim", "4", "--output", "m.senv"]).ok().err;
    assert!(said.contains("about 12 words"), "{said}");
}

#[test]
fn a_longer_text_is_not_trained_on_as_a_whole() {
    let folder = Folder::new();
    let with_documents: String = text(32_000).lines().enumerate().fold(String::new(), |all, (i, line)| {
        let end = if i % 50 == 49 { "\n" } else { "" };
        all + line + &format!(" subject{}\n", i / 50) + end
    });
    folder.write("long.txt", with_documents);
    let train = ["train", "--input", "-", "--dim", "4", "--threads", "1", "--output", "m.senv"];
    let input = fs::File::open(folder.path("long.txt")).unwrap();
    let mut child = folder.command(&train).stdin(input).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    // The training itself would take long.
    let found = said.find(|line| line.contains("320 sentences held out of training"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(found.is_some_and(|line| line.contains("--no-check")));
}

#[test]
fn an_optional_value_may_stand_behind_its_option() {
    let folder = Folder::new();
    folder.write("a.txt", "The train is late.\nThe train is late!\nRain falls.\nRain falls on the mill.\n");
    let of = |args: &[&str]| folder.run(args).ok().out;
    let groups = of(&["dedupe", "a.txt", "--report=groups"]);
    assert!(groups.starts_with("2\t1\tThe train is late.\n"), "{groups}");
    assert_eq!(of(&["dedupe", "--report", "groups", "a.txt"]), groups);
    assert_eq!(of(&["dedupe", "--report", "a.txt"]), of(&["dedupe", "--report=pairs", "a.txt"]));
    assert_eq!(of(&["mine", "--margin", "2", "a.txt"]), of(&["mine", "--margin=2", "a.txt"]));
    assert_eq!(of(&["mine", "--margin", "a.txt"]), of(&["mine", "a.txt", "--margin"]));
    assert_eq!(of(&["dedupe", "--split", "lines", "a.txt"]), of(&["dedupe", "--split=lines", "a.txt"]));
    // A file of that name is meant.
    folder.write("groups", "Rain falls.\n");
    let pairs = of(&["dedupe", "a.txt", "--report", "groups"]);
    assert!(pairs.contains("\tgroups:1\ta.txt:3\t"), "{pairs}");
}

#[test]
fn outliers_that_are_the_whole_text_are_warned_of() {
    let folder = Folder::new();
    folder.write("a.txt", "The train is late.\nRain falls.\nMy cat sleeps.\n");
    let drop = |more: &[&str]| folder.run(&[&["outliers", "a.txt", "--drop"], more].concat()).ok();
    let ended = drop(&[]);
    assert!(ended.out.is_empty() && ended.err.contains("nothing is left: -n 20 drops every sentence"), "{}", ended.err);
    let ended = drop(&["-n", "1"]);
    assert!(ended.out.lines().count() == 2 && !ended.err.contains("nothing is left"), "{}", ended.err);
}
