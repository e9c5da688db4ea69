//! Collections with wrong, damaged or scarce resources have a defined result, and nothing is lost.

use std::{fs, path::Path};

use crate::common::{Folder, text};

fn index(folder: &Folder, input: &str, output: &str, more: &[&str]) -> crate::common::Ended {
    folder.run(&[&["index", "--model", "m.senv", "--input", input, "--output", output], more].concat())
}

/// Every file of a collection with its contents.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn few_equal_and_unknown_sentences_have_a_result() {
    let folder = Folder::with_model();
    let found = |name: &str, query: &str| folder.run(&["search", name, "--query", query, "--k", "3"]).ok();
    folder.write("none.txt", "\n \n");
    index(&folder, "none.txt", "c", &[]).fails(1, &["none.txt contains no text"]);
    assert!(!folder.has("c"));

    folder.write("one.txt", "the cat saw the dog\n");
    index(&folder, "one.txt", "one", &[]).ok();
    assert_eq!(found("one", "the cat").out.lines().count(), 1);
    index(&folder, "none.txt", "one", &["--add"]).fails(1, &["none.txt contains no text"]);
    // A collection is empty after all its sentences were deleted.
    folder.run(&["index", "--output", "one", "--delete-ids", "0"]).ok();
    let empty = found("one", "the cat");
    assert!(empty.out.is_empty() && empty.err.contains("one has no sentences"), "{}", empty.err);
    folder.run(&["index", "--output", "one", "--compact"]).ok();
    assert_eq!(folder.run(&["info", "one", "--json"]).ok().json()["rows"], 0);
    index(&folder, "one.txt", "one", &["--add"]).ok();
    assert!(found("one", "the cat").out.contains("\t1\tone.txt:1\t"));

    folder.write("equal.txt", "the cat saw the dog\n".repeat(20_000));
    index(&folder, "equal.txt", "equal", &[]).ok();
    let equal = found("equal", "the cat saw the dog").out;
    assert_eq!(
        equal,
        "1.0000\t0\tequal.txt:1\tthe cat saw the dog\t(20000 times)\talso equal.txt:2, equal.txt:3, equal.txt:4 and \
         19996 more\n"
    );

    // Sentences without a known word have zero vectors. They cannot be found, and a warning says so.
    folder.write("unknown.txt", "the cat saw the dog\nqqq xxx\nzzz\n");
    let zero = index(&folder, "unknown.txt", "unknown", &[]).ok();
    assert!(zero.err.contains("2 sentences without a known word cannot be found"), "{}", zero.err);
    assert_eq!(found("unknown", "the cat").out.lines().count(), 1);
    let query = found("unknown", "qqq");
    assert!(query.out.is_empty() && query.err.contains("no word of \"qqq\" is known"), "{}", query.err);
    assert_eq!(folder.run(&["info", "unknown", "--json"]).ok().json()["without_vector"], 2);
}

#[test]
fn a_vector_too_short_or_too_long_for_a_direction_is_no_unknown_word_and_one_of_another_dimension_names_its_file() {
    let folder = Folder::new();
    folder.write("v.txt", "cat 1 0\ndog 1e-20 0\nowl 3e38 3e38\n");
    folder.write("text.txt", "cat\ndog\nowl\nqqq\n");
    let index = |more: &[&str]| {
        folder.run(&[&["index", "text.txt", "--model", "v.txt", "--output", "c", "--force"], more].concat())
    };
    let made = index(&[]).ok();
    for says in ["1 sentence without a known word cannot be found", "2 sentences whose vector has no direction"] {
        assert!(made.err.contains(says), "{}", made.err);
    }
    assert_eq!(folder.run(&["info", "c", "--json"]).ok().json()["without_vector"], 3);
    folder.write("w.txt", "cat 1 0 0\ndog 0 1 0\n");
    folder.run(&["encode", "text.txt", "--model", "w.txt", "--output", "w.npy"]).ok();
    index(&["--vectors", "w.npy"]).fails(1, &["w.npy: its vectors have 3 values, but the model's have 2"]);
}

#[test]
#[cfg(unix)]
fn a_name_forges_no_line_of_an_answer() {
    let folder = Folder::with_model();
    let name = "a\t9\n1.0000\t7\tforged";
    folder.write(name, "the cat saw the dog\nthe train left the station\n");
    folder.write("b.txt", "the bird\n");
    let shown = "a\\t9\\n1.0000\\t7\\tforged:1\t";
    folder.run(&["index", name, "b.txt", "--model", "m.senv", "--output", "c"]).ok();
    for args in [
        &["search", "--index", "c", "--k", "2", "--query", "the cat saw the dog"][..],
        &["nearest", "--model", "m.senv", "--query", "the cat saw the dog", name, "b.txt", "--k", "2"],
        &["cluster", "--model", "m.senv", "--members", "--groups", "2", name, "b.txt"],
        &["outliers", "--model", "m.senv", name, "b.txt"],
    ] {
        let out = folder.run(args).ok().out;
        assert!(out.contains(shown) && !out.lines().any(|line| line.contains("\t7\tforged")), "{args:?}: {out}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let folder = Folder::with_model();
    folder.write("t.tsv", "1\tthe cat saw the dog\n2\tthe soup burnt\n");
    let columns = ["--column", "id=1", "--column", "text=2"];
    index(&folder, "t.tsv", "c", &columns).ok();
    let before = content(&folder.path("c"));
    let add = |name: &str, text: &str| {
        folder.write(name, text);
        index(&folder, name, "c", &[&["--add"], &columns[..]].concat())
    };
    add("twice.tsv", "8\ta train\n8\ta horse\n").fails(1, &["twice.tsv:2: duplicate id 8, also used in line 1"]);
    add("there.tsv", "8\ta train\n2\ta horse\n")
        .fails(1, &["there.tsv:2: id 2 is already in the collection", "--replace"]);
    add("word.tsv", "8\ta train\nnine\ta horse\n").fails(1, &["word.tsv:2: the id is \"nine\""]);
    add("short.tsv", "8\ta train\n9 a horse\n")
        .fails(1, &["short.tsv:2: the record has 1 column, so there is no column 2"]);
    folder.write("bad.tsv", b"8\ta caf\xe9\n");
    index(&folder, "bad.tsv", "c", &[&["--add"], &columns[..]].concat()).fails(1, &["bad.tsv:1"]);
    assert_eq!(content(&folder.path("c")), before);
    assert_eq!(content(&folder.path("c")), before);

    for (args, says) in [
        (&["--column", "a=2"][..], "no column for the text"),
        (&["--column", "text=0"], "NAME=N"),
        (&["--header"], "--header needs columns"),
    ] {
        index(&folder, "t.tsv", "d", args).fails(2, &[says]);
    }
    for args in
        [&["--add", "--compact"][..], &["--add", "--force"], &["--add", "--precision", "f32"], &["--compact", "t.tsv"]]
    {
        assert_eq!(folder.run(&[&["index", "--output", "c"], args].concat()).code, Some(2), "{args:?}");
    }
    index(&folder, "t.tsv", "m.senv", &[]).fails(2, &["m.senv is a file"]);
    fs::create_dir(folder.path("full")).unwrap();
    folder.write("full/diary.txt", "mine");
    index(&folder, "t.tsv", "full", &[]).fails(2, &["full contains other files (diary.txt)"]);
    index(&folder, "t.tsv", "full", &["--force"]).fails(2, &["full contains other files"]);
    index(&folder, "t.tsv", "nowhere", &["--add"]).fails(1, &["nowhere does not exist; a collection is a folder"]);
    folder.run(&["search", "full", "--query", "a"]).fails(1, &["full is not a collection"]);
    folder.run(&["search", "c"]).fails(2, &["no query"]);
    folder.write("blank.txt", "\n");
    folder.run(&["search", "c", "--queries", "blank.txt"]).fails(1, &["blank.txt contains no text"]);
    assert!(!folder.has("d") && !folder.has("nowhere"));
}

#[test]
fn queries_longer_than_the_limit_are_refused() {
    let folder = Folder::with_model();
    index(&folder, "text.txt", "c", &[]).ok();
    let long = "cat ".repeat(100);
    folder.write("long.txt", format!("the dog\n{long}\n"));
    let search = ["search", "c", "--max-line-bytes", "300"];
    let over = "the line is longer than 300 bytes";
    folder.run(&[&search[..], &["--query", &long]].concat()).fails(1, &["--query:1", over]);
    folder.run(&[&search[..], &["--queries", "long.txt"]].concat()).fails(1, &["long.txt:2", over]);
    let piped = folder.pipe(&search, folder.read("long.txt"));
    assert!(piped.out.starts_with("> the dog\n"), "what came before is answered: {}", piped.out);
    piped.fails(1, &["-:2", over]);
}

#[test]
fn a_model_that_is_gone_moved_or_another_is_told() {
    let folder = Folder::with_model();
    index(&folder, "text.txt", "c", &[]).ok();
    let search = |more: &[&str]| folder.run(&[&["search", "c", "--query", "the cat", "--k", "1"], more].concat());
    let found = search(&[]).ok().out;
    fs::create_dir(folder.path("models")).unwrap();
    fs::rename(folder.path("m.senv"), folder.path("models/old.senv")).unwrap();
    search(&[]).fails(1, &["c: its model", "m.senv no longer exists; give the path of the model (--model FILE)"]);
    assert_eq!(search(&["--model", "models/old.senv"]).ok().out, found);
    search(&[]).fails(1, &["no longer exists"]);
    // An addition keeps the new location.
    folder.write("few.txt", "bread and cheese and pepper\n");
    let add = ["index", "--add", "--input", "few.txt", "--output", "c", "--model", "models/old.senv"];
    folder.run(&add).ok();
    assert_eq!(search(&[]).ok().out, found);
    fs::remove_file(folder.path("models/old.senv")).unwrap();
    search(&["--model", "absent.senv"]).fails(1, &["absent.senv"]);
    search(&["--model", "english"]).fails(1, &["the collection was made with a different model than english"]);
    folder.train("text.txt", "m.senv", &["--seed", "9"]).ok();
    search(&[]).fails(1, &["c: its model", "models/old.senv no longer exists"]);
    search(&["--model", "m.senv"])
        .fails(1, &["c: the collection was made with a different model than m.senv", "(--model FILE)"]);
    let add = ["index", "--add", "--input", "text.txt", "--output", "c", "--model", "m.senv"];
    folder.run(&add).fails(1, &["a different model"]);
    // Commands that do not need the model still work.
    folder.run(&["index", "--output", "c", "--delete-ids", "3"]).ok();
    assert_eq!(folder.run(&["info", "c", "--json"]).ok().json()["rows"], 600);
}

#[test]
fn damage_is_found_when_it_is_read_and_by_verify() {
    let folder = Folder::with_model();
    folder.write("t.txt", text(40));
    index(&folder, "t.txt", "c", &[]).ok();
    folder.run(&["index", "--output", "c", "--delete-ids", "5"]).ok();
    let files = content(&folder.path("c"));
    assert_eq!(files.len(), 3);
    let refused = |what: &str| {
        let verify = folder.run(&["info", "c", "--verify"]);
        assert_eq!(verify.code, Some(1), "{what}: {}", verify.out);
        verify.fails(1, &["c/"]);
        // A search may not need the damaged part. In any case it ends with an error or a result.
        let search = folder.run(&["search", "c", "--query", "the cat saw the dog"]);
        assert!(matches!(search.code, Some(0 | 1)), "{what}: {:?} {}", search.code, search.err);
    };
    for (name, bytes) in &files {
        let path = folder.path("c").join(name);
        for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..end]).unwrap();
            refused(&format!("{name} cut at {end}"));
        }
        for i in (0..8).map(|i| i * (bytes.len() - 1) / 7) {
            let mut changed = bytes.clone();
            changed[i] ^= 0x41;
            fs::write(&path, &changed).unwrap();
            refused(&format!("byte {i} of {name}"));
        }
        fs::remove_file(&path).unwrap();
        let gone = folder.run(&["search", "c", "--query", "the cat"]);
        gone.fails(1, &[if name == "manifest" { "is not a collection" } else { name }]);
        fs::write(&path, bytes).unwrap();
    }
    folder.run(&["info", "c", "--verify"]).ok();
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_loses_nothing() {
    use crate::running::limited;
    let folder = Folder::with_model();
    folder.write("few.txt", text(30));
    index(&folder, "few.txt", "c", &[]).ok();
    let before = content(&folder.path("c"));
    // Files above 16 KiB do not fit.
    let add = limited(&folder, "-f 16", &["index", "--add", "--input", "text.txt", "--output", "c"]);
    add.fails(1, &["cannot write", "File too large"]);
    assert_eq!(content(&folder.path("c")), before);
    let new = ["index", "--model", "m.senv", "--input", "text.txt", "--output", "new"];
    limited(&folder, "-f 16", &new).fails(1, &["cannot write"]);
    assert!(!folder.has("new"));
    limited(&folder, "-f 16", &["index", "--input", "text.txt", "--output", "c", "--force"])
        .fails(1, &["cannot write"]);
    assert_eq!(content(&folder.path("c")), before);
    folder.run(&["info", "c", "--verify"]).ok();
}

#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_or_interrupted_leaves_the_last_state_and_the_next_one_cleans_up() {
    use std::sync::atomic::Ordering;

    use crate::running::{AT_INPUT, feed, signal, wait_in};
    let folder = Folder::with_model();
    index(&folder, "text.txt", "c", &[]).ok();
    let rows = || folder.run(&["info", "c", "--verify", "--json"]).ok().json()["rows"].as_u64().unwrap();
    // While it reads from an endless pipe, it holds the lock, which contains its process id.
    let start = |args: &[&str], name: &str| {
        let mut child = folder.command(args).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (feeder, fed) = feed(&mut child);
        let (lock, number) = (folder.path(&format!("{name}/.manifest.lock")), child.id().to_string());
        wait_in(&mut child, "it reads, and holds the lock", || {
            fed.load(Ordering::Relaxed) > AT_INPUT && fs::read_to_string(&lock).is_ok_and(|holder| holder == number)
        });
        (child, feeder)
    };
    for (number, code) in [(9, None), (2, Some(130))] {
        let (mut child, feeder) = start(&["index", "--add", "--input", "-", "--output", "c"], "c");
        let second = folder.run(&["index", "--output", "c", "--delete-ids", "0"]);
        second.fails(1, &["another process (", &child.id().to_string()]);
        assert_eq!(rows(), 600, "a reader goes on");
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), code);
        feeder.join().unwrap();
        assert_eq!(rows(), 600);
    }
    folder.run(&["index", "--output", "c", "--delete-ids", "0"]).ok();
    let names: Vec<String> = content(&folder.path("c")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 3, "{names:?}");

    // A new collection is removed after Ctrl-C, and the leftovers of a kill do no harm.
    let new = ["index", "--model", "m.senv", "--input", "-", "--output", "new"];
    for number in [2, 9] {
        let (mut child, feeder) = start(&new, "new");
        signal(&child, number);
        child.wait().unwrap();
        feeder.join().unwrap();
        assert_eq!(folder.has("new"), number == 9);
        let none = folder.run(&["search", "new", "--query", "a"]);
        none.fails(1, &["new"]);
    }
    index(&folder, "text.txt", "new", &[]).ok();
    folder.run(&["info", "new", "--verify"]).ok();
}

#[test]
fn a_folder_or_a_file_named_english_is_not_taken_for_the_model_of_a_collection() {
    let folder = Folder::new();
    folder.write("text.txt", "A kitten naps on the couch.\nThe parliament voted.\n");
    std::fs::create_dir(folder.path("english")).unwrap();
    folder.run(&["index", "text.txt", "--output", "text.index"]).ok();
    let search = || folder.run(&["search", "text.index", "--query", "a kitten", "--k", "1"]).ok().out;
    let found = search();
    assert!(found.contains("kitten"), "{found}");
    std::fs::remove_dir(folder.path("english")).unwrap();
    folder.write("english", "no model");
    assert_eq!(search(), found);
}
