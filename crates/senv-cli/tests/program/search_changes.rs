//! Changes of a collection while other processes create, change or read it, and skipped input.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, text};

fn index(folder: &Folder, input: &str, output: &str, more: &[&str]) -> crate::common::Ended {
    folder.run(&[&["index", "--model", "m.senv", "--input", input, "--output", output], more].concat())
}

fn rows(folder: &Folder, name: &str) -> u64 {
    folder.run(&["info", name, "--verify", "--json"]).ok().json()["rows"].as_u64().unwrap()
}

/// Names of the files of a collection.
fn names(folder: &Folder, name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(name)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn info_verifies_while_another_process_changes_the_collection() {
    let folder = Folder::with_model();
    folder.write("few.txt", text(40));
    index(&folder, "few.txt", "c", &[]).ok();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..12 {
                index(&folder, "few.txt", "c", &["--add"]).ok();
                folder.run(&["index", "--output", "c", "--compact"]).ok();
            }
        });
        while !writer.is_finished() {
            assert_eq!(rows(&folder, "c") % 40, 0);
        }
    });
    assert_eq!(rows(&folder, "c"), 520);
}

#[test]
fn blank_sentences_are_passed_over_and_said_but_never_put_in_the_place_of_others() {
    let folder = Folder::with_model();
    let columns = ["--column", "id=1", "--column", "text=2"];
    folder.write("t.tsv", "1\tthe cat saw the dog\n2\t \n\n3\tthe soup burnt\n");
    let made = index(&folder, "t.tsv", "c", &columns).ok();
    assert!(made.err.contains("1 record has no text in the column: t.tsv:2"), "{}", made.err);
    assert_eq!(rows(&folder, "c"), 2);
    folder.write("new.tsv", "3\ta train\n1\t\n");
    let replace = index(&folder, "new.tsv", "c", &[&["--replace"], &columns[..]].concat());
    replace.fails(1, &["new.tsv:2: the new sentence of id 1 is blank; to delete the row, use --delete-ids 1"]);
    let found = folder.run(&["search", "c", "--query", "the cat saw the dog", "--k", "1"]).ok().out;
    assert!(found.contains("\t1\tt.tsv:1\tthe cat"), "{found}");
    assert!(!folder.run(&["search", "c", "--query", "a train"]).ok().out.contains("a train"));
}

#[test]
fn an_id_that_is_given_twice_is_told_with_both_lines() {
    let folder = Folder::with_model();
    let columns = ["--column", "id=1", "--column", "text=2"];
    folder.write("a.tsv", "1\tthe cat\n\n\n2\tthe dog\n");
    folder.write("b.tsv", "3\tthe soup\n\n2\tthe oven\n");
    let both = ["index", "--model", "m.senv", "--input", "a.tsv", "b.tsv", "--output", "c"];
    let refused = folder.run(&[&both[..], &columns].concat());
    refused.fails(1, &["b.tsv:3: duplicate id 2, also used in a.tsv:4"]);
    assert!(!folder.has("c"));
    index(&folder, "a.tsv", "c", &columns).ok();
    index(&folder, "b.tsv", "c", &[&["--add"], &columns[..]].concat())
        .fails(1, &["b.tsv:3: id 2 is already in the collection"]);
}

#[test]
fn ids_end_with_a_message() {
    let folder = Folder::with_model();
    folder.write("t.tsv", format!("{}\tthe cat\n", u64::MAX - 1));
    index(&folder, "t.tsv", "c", &["--column", "id=1", "--column", "text=2"]).ok();
    folder.write("more.txt", "the dog\n");
    let more = index(&folder, "more.txt", "c", &["--add"]);
    more.fails(
        1,
        &["not enough ids left: the next one is 18446744073709551615 and the largest is 18446744073709551615"],
    );
}

#[cfg(unix)]
#[test]
fn a_signal_ends_what_waits_for_input_and_leaves_no_file() {
    use std::io::{BufRead, BufReader, Write};

    #[cfg(target_os = "linux")]
    use crate::running::has_signal;
    use crate::running::{signal, wait_in};
    let folder = Folder::with_model();
    index(&folder, "text.txt", "c", &[]).ok();
    let before = names(&folder, "c");
    // A reader that waits for queries: before the first one, in the middle of it, and after it.
    for (number, asks) in [(15, ""), (2, ""), (15, "half"), (2, "half"), (15, "one"), (2, "one")] {
        let mut child = folder.command(&["search", "c"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        match asks {
            // Only Linux reports whether a process handles signals.
            #[cfg(target_os = "linux")]
            "" => {
                let process = child.id();
                wait_in(&mut child, "it handles signals", || has_signal(process, "SigCgt", number));
            }
            // This is more than a pipe can hold, so it is being read.
            "half" => stdin.write_all("the cat ".repeat(1 << 15).as_bytes()).unwrap(),
            _ => {
                writeln!(stdin, "the cat").unwrap();
                BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
            }
        }
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(128 + number));
    }
    // A writer that has written a part, 256 MiB of text, and waits for more.
    for (number, args, name) in [
        (15, &["index", "--add", "--input", "-", "--output", "c"][..], "c"),
        (2, &["index", "--model", "m.senv", "--input", "-", "--output", "new"], "new"),
        (15, &["index", "--input", "-", "--output", "c", "--force", "--model", "m.senv"], "c"),
    ] {
        let mut child = folder.command(args).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // One long word takes less time than many short ones.
        let long = format!("the cat saw the dog {}\n", "x".repeat(100_000));
        for _ in 0..2800 {
            stdin.write_all(long.as_bytes()).unwrap();
        }
        // The first part is complete when it has its name.
        let is_part = |file: &String| {
            file.ends_with(".segment") && !(name == "c" && before.contains(file)) && !file.starts_with('.')
        };
        wait_in(&mut child, "a part", || folder.has(name) && names(&folder, name).iter().any(is_part));
        signal(&child, number);
        let ended: crate::common::Ended = child.wait_with_output().unwrap().into();
        assert_eq!(ended.code, Some(128 + number));
        assert!(ended.err.contains("stopped on request while indexing; nothing was written"), "{}", ended.err);
        drop(stdin);
        assert_eq!(names(&folder, "c"), before);
    }
    assert!(!folder.has("new"));
    assert_eq!(rows(&folder, "c"), 600);
}

#[test]
fn a_file_that_only_has_the_name_of_a_segment_stays() {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("c")).unwrap();
    folder.write("c/000001.segment", "mine");
    folder.write("c/123456.segment", "mine, too");
    index(&folder, "text.txt", "c", &[]).ok();
    folder.run(&["index", "--output", "c", "--delete-ids", "5"]).ok();
    folder.run(&["index", "--output", "c", "--compact"]).ok();
    assert_eq!(rows(&folder, "c"), 599);
    assert_eq!(
        [folder.read("c/000001.segment"), folder.read("c/123456.segment")],
        [b"mine".to_vec(), b"mine, too".to_vec()]
    );
}

#[test]
fn a_collection_of_many_parts_is_warned_of() {
    let folder = Folder::with_model();
    folder.write("one.txt", "the cat saw the dog\n");
    let none = ["--precision", "none"];
    index(&folder, "one.txt", "c", &none).ok();
    // Parts of a collection without vectors cannot be merged. The manifest names its one part several times.
    let manifest = String::from_utf8(folder.read("c/manifest")).unwrap();
    let mut json: Value = serde_json::from_str(manifest.lines().next().unwrap()).unwrap();
    let segment = json["segments"][0].clone();
    json["segments"] = vec![segment; 1000].into();
    let json = json.to_string();
    let mut sum = flate2::Crc::new();
    sum.update(json.as_bytes());
    folder.write("c/manifest", format!("{json}\n{:08x}\n", sum.sum()));
    folder.write("two.txt", "the dog saw the cat\n");
    let added = index(&folder, "two.txt", "c", &["--add"]).ok();
    assert!(added.err.contains("c has 1,001 parts, which slows down searches; with --precision none"), "{}", added.err);
}
