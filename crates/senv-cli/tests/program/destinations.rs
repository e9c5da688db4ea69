//! Commands do not overwrite inputs or files of other programs.

use std::fs;

use crate::common::{Folder, pairs, text};

const READ: &str = "is also an input";

/// Runs a command that must be refused, and checks that the file is unchanged.
#[track_caller]
fn refused(folder: &Folder, args: &[&str], file: &str, says: &[&str]) {
    let before = folder.read(file);
    folder.run(args).fails(2, &[&[file], says].concat());
    assert!(folder.read(file) == before, "{file} is another one: {args:?}");
}

#[test]
fn an_output_that_is_an_input_is_refused_by_every_command_even_with_force() {
    let folder = Folder::with_model();
    folder.write("pairs.tsv", pairs(30));
    folder.write("scored.tsv", crate::common::scored(30));
    folder.write("grid.txt", "margin = 0.2 0.4\n");
    folder.run(&["convert", "m.senv", "w.npy"]).ok();
    fs::create_dir(folder.path("out")).unwrap();
    fs::copy(folder.path("m.senv"), folder.path("m")).unwrap();
    fs::copy(folder.path("m.senv"), folder.path("out/best.senv")).unwrap();
    let commands: &[(&[&str], &str)] = &[
        (&["encode", "--model", "m.senv", "--input", "text.txt", "--output", "text.txt"], "text.txt"),
        (&["encode", "--model", "m", "--input", "text.txt", "--output", "m"], "m"),
        (&["convert", "m.senv", "m.senv"], "m.senv"),
        (&["convert", "w.npy", "w.words.txt", "--to", "glove-text"], "w.words.txt"),
        (&["combine", "--model", "m.senv", "--with", "n.senv", "--output", "m.senv"], "m.senv"),
        (&["expand-vocabulary", "--model", "m.senv", "--vectors", "w.npy", "--output", "w.npy"], "w.npy"),
        (&["eval", "norms", "--model", "m.senv", "--svg", "m.senv"], "m.senv"),
        (&["train", "sent2vec", "--input", "text.txt", "--output", "text.txt"], "text.txt"),
        (&["train", "weighted", "--model", "m.senv", "--input", "text.txt", "--output", "m.senv"], "m.senv"),
        (&["train", "weighted", "--model", "m.senv", "--input", "text.txt", "--output", "text.txt"], "text.txt"),
        (&["train", "siamese-cbow", "--input", "text.txt", "--init-vectors", "m.senv", "--output", "m.senv"], "m.senv"),
        (&["train", "pp", "--pairs", "pairs.tsv:2", "--output", "pairs.tsv"], "pairs.tsv"),
        (&["train", "relatedness", "--model", "m.senv", "--train", "scored.tsv", "--output", "m.senv"], "m.senv"),
        (&["train", "snli", "--train", "pairs.tsv", "--encoder", "m.senv", "--output", "m.senv"], "m.senv"),
        (&["train", "sent2vec", "--input", "text.txt", "--output", "o.senv", "--checkpoint", "text.txt"], "text.txt"),
    ];
    for (args, file) in commands {
        refused(&folder, &[args, &["--force"][..]].concat(), file, &[READ, "give another"]);
    }
    let search = ["tune", "pp", "--pairs", "pairs.tsv", "--init-vectors", "out/best.senv", "--grid", "grid.txt"];
    let search = [&search[..], &["--select", "scored.tsv", "--output", "out"]].concat();
    refused(&folder, &search, "out/best.senv", &[READ, "another --output"]);
    // The second stage writes two more files.
    let stages = ["train", "pp", "--pairs", "pairs.tsv", "--stage2", "c.stage1", "--output", "o.senv"];
    folder.write("c.stage1", pairs(10));
    refused(&folder, &[&stages[..], &["--checkpoint", "c"]].concat(), "c.stage1", &[READ, "another --checkpoint"]);
    assert!(!folder.has("o.senv"));
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_links_and_other_spellings() {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("sub")).unwrap();
    std::os::unix::fs::symlink(folder.path("text.txt"), folder.path("soft.txt")).unwrap();
    fs::hard_link(folder.path("text.txt"), folder.path("hard.txt")).unwrap();
    for output in ["soft.txt", "hard.txt", "sub/../text.txt", "./text.txt"] {
        let args = ["encode", "--model", "m.senv", "--input", "text.txt", "--force", "--output", output];
        folder.run(&args).fails(2, &[output, "is the same file as the input text.txt"]);
        assert_eq!(folder.read("text.txt"), text(600).as_bytes(), "{output}");
    }
    folder.train("text.txt", "m.senv", &["--checkpoint", "sub/../m.senv"]).fails(2, &["different files"]);
    // A shell can connect standard input and output with files, too.
    let open = || fs::File::open(folder.path("text.txt")).unwrap();
    let ended =
        folder.command(&["encode", "--model", "m.senv", "--output", "text.txt", "--force"]).stdin(open()).output();
    crate::common::Ended::from(ended.unwrap()).fails(2, &["text.txt is the file that standard input is read from"]);
    for command in [&["encode"][..], &["similarity"], &["nearest", "--query", "the cat"]] {
        let to = fs::File::options().append(true).open(folder.path("text.txt")).unwrap();
        let args = [command, &["--model", "m.senv", "--input", "text.txt"]].concat();
        let ended = folder.command(&args).stdout(to).output().unwrap();
        crate::common::Ended::from(ended).fails(2, &["standard output is the same file as the input text.txt"]);
        assert_eq!(folder.read("text.txt"), text(600).as_bytes(), "{command:?}");
    }
}

#[test]
fn a_file_that_senv_has_not_written_takes_force() {
    let folder = Folder::with_model();
    folder.write("notes.txt", "mine\n");
    let is_mine = ["notes.txt exists and", "--force"];
    let commands: &[&[&str]] = &[
        &["encode", "--model", "m.senv", "--input", "text.txt", "--output", "notes.txt"],
        &["convert", "m.senv", "notes.txt"],
        &["convert", "m.senv", "notes.txt", "--to", "senv"],
        &["convert", "m.senv", "notes.txt", "--to", "npy"],
        &["eval", "norms", "--model", "m.senv", "--svg", "notes.txt"],
        &["train", "sent2vec", "--input", "text.txt", "--output", "notes.txt", "--epochs", "1", "--min-count", "1"],
        &["train", "weighted", "--model", "m.senv", "--input", "text.txt", "--output", "notes.txt"],
    ];
    for args in commands {
        refused(&folder, args, "notes.txt", &is_mine);
    }
    for args in commands {
        folder.write("notes.txt", "mine\n");
        folder.run(&[args, &["--force"][..]].concat()).ok();
        assert_ne!(folder.read("notes.txt"), b"mine\n", "{args:?}");
    }
    // A model does not replace vectors, and vectors do not replace a model.
    folder.train("text.txt", "other.senv", &["--seed", "2"]).ok();
    let encode = ["encode", "--model", "m.senv", "--input", "text.txt", "--output"];
    folder.run(&[&encode[..], &["v.npy"]].concat()).ok();
    folder.train("text.txt", "v.npy", &[]).fails(2, &["v.npy exists and is not a senv model"]);
    fs::rename(folder.path("other.senv"), folder.path("other.txt")).unwrap();
    folder.run(&[&encode[..], &["other.txt"]].concat()).fails(2, &["other.txt exists and was not written by senv"]);
    // Root can read any file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::copy(folder.path("m.senv"), folder.path("closed.senv")).unwrap();
        fs::set_permissions(folder.path("closed.senv"), fs::Permissions::from_mode(0o0)).unwrap();
        if fs::File::open(folder.path("closed.senv")).is_err() {
            folder.train("text.txt", "closed.senv", &[]).fails(1, &["cannot open closed.senv: Permission denied"]);
        }
    }
    // Collections for the web page and groups are files of senv, but not models.
    folder.run(&["index", "text.txt", "--output", "c", "--export-web", "c.web"]).ok();
    folder.run(&["cluster", "text.txt", "--groups", "2", "--save", "g.senv"]).ok();
    for name in ["c.web", "g.senv"] {
        let before = folder.read(name);
        folder.train("text.txt", name, &[]).fails(2, &[&format!("{name} exists and is not a senv model"), "--force"]);
        assert!(folder.read(name) == before, "{name}");
    }
    // Even --force does not let a checkpoint replace another file, because the checkpoint is removed in the end.
    folder.write("notes.txt", "mine\n");
    let to_notes = ["--checkpoint", "notes.txt", "--force"];
    folder
        .train("text.txt", "n.senv", &to_notes)
        .fails(2, &["notes.txt exists and is not a senv checkpoint; give another"]);
}

#[test]
fn what_senv_has_written_is_replaced_without_a_word_of_force() {
    let folder = Folder::with_model();
    let other = |name: &str| folder.train("text.txt", name, &["--seed", "3"]).ok();
    other("n.senv");
    for name in ["v.npy", "v.tsv", "v.csv", "v.json", "v.jsonl", "v.txt", "v"] {
        let encode = |model: &str, more: &[&str]| {
            let args = ["encode", "--model", model, "--input", "text.txt", "--output", name];
            folder.run(&[&args[..], more].concat()).ok();
            folder.read(name)
        };
        let first = encode("m.senv", &[]);
        assert_ne!(encode("n.senv", &[]), first, "{name}");
        if name != "v.npy" {
            assert_ne!(encode("n.senv", &["--digits", "4"]), encode("m.senv", &[]));
        }
        assert_eq!(encode("m.senv", &[]), first, "{name}");
    }
    for (from, to) in [("m.senv", "w.npy"), ("n.senv", "w.npy"), ("m.senv", "w.senv"), ("n.senv", "w.senv")] {
        folder.run(&["convert", from, to]).ok();
    }
    for _ in 0..2 {
        folder.run(&["eval", "norms", "--model", "m.senv", "--svg", "n.svg"]).ok();
        other("m.senv");
    }
    // The word list no longer belongs to the matrix.
    folder.write("w.words.txt", "my own list\n");
    refused(&folder, &["convert", "m.senv", "w.npy"], "w.words.txt", &["not the word list of that matrix"]);
    // An empty file, such as one made by mktemp, can be replaced.
    for (args, name) in [(&["convert", "m.senv", "e.txt"][..], "e.txt"), (&["convert", "m.senv", "e.senv"], "e.senv")] {
        folder.write(name, "");
        folder.run(args).ok();
        assert!(!folder.read(name).is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_to() {
    let folder = Folder::with_model();
    let encode = ["encode", "--model", "m.senv", "--input", "text.txt", "--output"];
    folder.run(&[&encode[..], &["/dev/null"]].concat()).ok();
    folder.train("text.txt", "/dev/null", &["--checkpoint", "c"]).ok();
    assert_eq!(folder.run(&[&encode[..], &["/dev/stdout"]].concat()).ok().out.lines().count(), 600);
    // Standard output is appended to a file if the shell opened it that way.
    folder.write("log.txt", "before\n");
    let log = fs::File::options().append(true).open(folder.path("log.txt")).unwrap();
    let ended = folder.command(&[&encode[..], &["/dev/stdout"]].concat()).stdout(log).status().unwrap();
    assert!(ended.success() && folder.read("log.txt").starts_with(b"before\n"));
}
