//! The files after a failing disk, a kill, or a replacement by somebody else.

use std::fs;

use crate::{common::Folder, fault, running::wait_until};

#[test]
fn a_folder_that_is_not_written_to_the_disk_is_no_change_that_was_not_made() {
    if let Some(in_doubt) = fault::check("sync", false) {
        // In each command, at least the last sync, that of the output folder, leaves the result in doubt.
        assert!(in_doubt >= 13, "{in_doubt}");
    }
}

#[test]
fn a_signal_leaves_what_was_there_or_what_was_asked_for_and_says_which() {
    let wanted = ["index --add", "join s1 s2 --output c --force", "convert other.vec"];
    if let Some((interrupted, ended)) =
        fault::check_interrupts(|args| wanted.iter().any(|start| args.starts_with(start)))
    {
        assert!(interrupted >= 20 && ended >= 6, "{interrupted} {ended}");
    }
}

#[test]
fn a_join_that_fails_leaves_no_part_of_a_segment_and_no_folder() {
    fault::check_errors(&[], "all", "join s1 s2 --output c.new", |folder, ended, at| {
        assert!(matches!(ended.code, Some(0 | 1 | 3)), "{at}");
        assert_eq!(folder.has("c.new"), ended.code != Some(1), "{at}");
    });
}

#[test]
fn a_collection_with_text_ids_has_its_state_before_a_change_or_after_it_whatever_call_fails() {
    let make = "index ids.tsv --column text=2 --column id=1 --text-ids --output t";
    // The sentences are the ids of the new ones.
    let args = "index --add ids.tsv --column text=2 --column id=2 --output t";
    let (before, after) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let tested = fault::check_errors(&[make], "all", args, |folder, ended, at| {
        let rows = folder.run(&["info", "t", "--verify", "--json"]).ok().json()["rows"].as_u64().unwrap();
        let state = match ended.code {
            Some(1) => &before,
            Some(0 | 3) => &after,
            _ => panic!("{at}"),
        };
        assert_eq!(rows, if ended.code == Some(1) { 20 } else { 40 }, "{at}");
        state.set(state.get() + 1);
        folder.run(&["index", "--delete-ids", "7", "--output", "t"]).ok();
    });
    assert!(tested.is_none() || before.get() > 3 && after.get() > 0, "{} {}", before.get(), after.get());
}

#[test]
fn a_claim_is_given_back_whatever_call_fails() {
    let args = "encode --model m.senv a.txt --output out/ --claims claims";
    fault::check_errors(&[], "all", args, |folder, ended, at| {
        let left = fs::read_dir(folder.path("claims")).map_or(0, Iterator::count);
        assert!(ended.code != Some(1) || left == 0, "{left}: {at}");
    });
}

#[test]
fn groups_are_shown_although_their_files_are_in_doubt_and_what_is_written_before_an_error_is_said() {
    let args = "cluster a.txt --groups 2 --save g.senv --report g.html --quiet";
    let in_doubt = std::cell::Cell::new(0);
    let tested = fault::check_errors(&[], "sync", args, |folder, ended, at| match ended.code {
        Some(3) => {
            in_doubt.set(in_doubt.get() + 1);
            assert!(folder.has("g.senv") && folder.has("g.html") && ended.out.starts_with("1  "), "{at}");
            assert!(ended.err.contains("a power failure may still lose it"), "{at}");
        }
        Some(1) => {
            assert!(ended.out.is_empty() && !folder.has("g.html"), "{at}");
            assert_eq!(ended.err.contains("; g.senv was already written"), folder.has("g.senv"), "{at}");
        }
        _ => panic!("{at}"),
    });
    assert!(tested.is_none() || in_doubt.get() == 2, "{}", in_doubt.get());
}

#[test]
fn an_export_behind_a_change_in_doubt_is_written_and_one_that_fails_does_not_undo_the_change() {
    let make = "index a.txt --output e --export-web e.web";
    let args = "index --add b.txt --output e --export-web e.web";
    let in_doubt = std::cell::Cell::new(0);
    let tested = fault::check_errors(&[make], "sync", args, |folder, ended, at| {
        let rows = folder.run(&["info", "e", "--json"]).ok().json()["rows"].as_u64().unwrap();
        let web = senv_core::files::WebCollection::from_bytes("e.web", folder.read("e.web")).unwrap();
        match ended.code {
            Some(1) => assert!(rows == 60 && !ended.err.contains("the change was made"), "{at}"),
            Some(3) if ended.err.contains("the export was not written") => {
                assert!(rows == 150 && ended.err.contains("do not repeat the change"), "{at}");
            }
            // The state is in doubt, but the export matches the change in both cases.
            Some(3) => {
                in_doubt.set(in_doubt.get() + 1);
                assert!(rows == 150 && web.sentences() == 150, "{at}");
            }
            _ => panic!("{at}"),
        }
    });
    assert!(tested.is_none() || in_doubt.get() == 2, "{}", in_doubt.get());
}

#[test]
fn a_collection_without_some_of_its_files_says_which_and_how_to_begin_again() {
    let folder = Folder::with_model();
    let make = ["index", "text.txt", "--model", "m.senv", "--output", "c"];
    folder.run(&make).ok();
    fs::remove_file(folder.path("c/000001.segment")).unwrap();
    let says = ["c: the collection is missing files: 000001.segment;", "rebuild", "--force)"];
    folder.run(&["search", "c", "--query", "the cat"]).fails(1, &says);
    folder.run(&["index", "--add", "text.txt", "--output", "c"]).fails(1, &says);
    folder.run(&[&make[..], &["--force"]].concat()).ok();
    folder.run(&["search", "c", "--query", "the cat"]).ok();
}

#[cfg(unix)]
#[test]
fn what_lies_in_the_place_of_a_lock_is_refused_and_stays() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with_model();
    folder.write("precious", "dear diary");
    folder.run(&["index", "text.txt", "--model", "m.senv", "--output", "c"]).ok();
    folder.run(&["encode", "--model", "m.senv", "text.txt", "--output", "out/"]).ok();
    let train = Folder::training("text.txt", "n.senv", &[]);
    for (lock, args) in [
        ("c/.manifest.lock", &["index", "--add", "text.txt", "--output", "c"][..]),
        ("c/.manifest.lock", &["index", "--delete-ids", "1", "--output", "c"]),
        (".n.senv.lock", &train),
        (".n.senv.checkpoint.lock", &train),
        ("out/_senv/.folder.lock", &["encode", "--model", "m.senv", "text.txt", "--output", "out/"]),
    ] {
        symlink(folder.path("precious"), folder.path(lock)).unwrap();
        let name = lock.rsplit('/').next().unwrap();
        folder.run(args).fails(1, &[name, "is not one (it is a link", "remove it"]);
        assert!(folder.path(lock).is_symlink() && folder.read("precious") == b"dear diary", "{lock}");
        fs::remove_file(folder.path(lock)).unwrap();
        folder.run(args).ok();
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_that_a_collection_names_is_not_waited_for() {
    let folder = Folder::with_model();
    folder.run(&["index", "text.txt", "--model", "m.senv", "--output", "c"]).ok();
    for path in ["m.senv", "c/manifest", "c/000001.segment"] {
        fs::rename(folder.path(path), folder.path("saved")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.path(path)).status().unwrap();
        assert!(made.success());
        for args in [
            &["search", "c", "--query", "the cat"][..],
            &["index", "--add", "text.txt", "--output", "c"],
            &["search", "c", "--model", "m.senv", "--query", "the cat"],
        ] {
            let mut child = folder.spawn(args);
            let mut code = None;
            wait_until("the program refuses a pipe", || {
                code = child.try_wait().unwrap();
                code.is_some()
            });
            let ended = crate::common::Ended::from(child.wait_with_output().unwrap());
            ended.fails(1, &[path, "pipe or device"]);
        }
        fs::rename(folder.path("saved"), folder.path(path)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_checkpoint_is_not_waited_for() {
    let folder = Folder::with_text(100);
    let made = std::process::Command::new("mkfifo").arg(folder.path("m.senv.checkpoint")).status().unwrap();
    assert!(made.success());
    for more in [&[][..], &["--resume"], &["--restart"]] {
        let mut child = folder.spawn(&Folder::training("text.txt", "m.senv", more));
        wait_until("the program refuses a pipe", || child.try_wait().unwrap().is_some());
        let ended = crate::common::Ended::from(child.wait_with_output().unwrap());
        ended.fails(1, &["m.senv.checkpoint: a checkpoint cannot be a pipe", "--checkpoint"]);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_model_that_info_waits_for() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path("m.senv")).status().unwrap();
    assert!(made.success());
    for more in [&[][..], &["--verify"]] {
        let mut child = folder.spawn(&[&["info", "m.senv"], more].concat());
        wait_until("the program refuses a pipe", || child.try_wait().unwrap().is_some());
        crate::common::Ended::from(child.wait_with_output().unwrap()).fails(1, &["m.senv", "pipe or device"]);
    }
}

#[cfg(unix)]
#[test]
fn files_have_the_permissions_that_the_umask_asks_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_model();
    for (umask, expected) in [("077", 0o600), ("027", 0o640), ("022", 0o644)] {
        let script = format!("umask {umask} && exec \"$@\"");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_senv"), "encode", "--model", "m.senv", "text.txt"]);
        let output = format!("out{umask}/");
        assert!(
            command.args(["--output", &output, "--quiet"]).current_dir(folder.path("")).status().unwrap().success()
        );
        for name in ["_senv/settings.json", "_senv/files/text.txt.npy.json", "text.txt.npy"] {
            let mode = fs::metadata(folder.path(&format!("{output}{name}"))).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{name} with umask {umask}: {mode:o}");
        }
    }
}

/// A plain training tries a part of this text. Its sentences are in unnamed files, and old ones are removed.
#[cfg(target_os = "linux")]
#[test]
fn a_plain_training_leaves_no_text_in_the_folder_for_temporary_files() {
    let folder = Folder::with_text(4000);
    fs::create_dir(folder.path("tmp")).unwrap();
    folder.write("tmp/senv-text-aB3dEf.txt", "what a killed run has left");
    let mut command = folder.command(&["train", "text.txt", "--output", "m.senv"]);
    let mut child = command.env("TMPDIR", folder.path("tmp")).spawn().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    wait_until("the run ends", || {
        seen.extend(fs::read_dir(folder.path("tmp")).unwrap().flatten().map(|entry| entry.file_name()));
        child.try_wait().unwrap().is_some()
    });
    crate::common::Ended::from(child.wait_with_output().unwrap()).ok();
    seen.remove(std::ffi::OsStr::new("senv-text-aB3dEf.txt"));
    assert!(seen.is_empty(), "{seen:?}");
    assert_eq!(fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
    assert_eq!(folder.names(), ["m.senv", "text.txt", "tmp"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_writer_left_of_the_settings_of_a_folder_goes() {
    let folder = Folder::with_model();
    let encode = ["encode", "--model", "m.senv", "text.txt", "--output", "out/"];
    folder.run(&encode).ok();
    for name in [".settings.aB3dEf.tmp", ".settings.json.aB3dEf.tmp"] {
        folder.write(&format!("out/_senv/{name}"), "{");
    }
    folder.run(&encode).ok();
    let mut names: Vec<_> = fs::read_dir(folder.path("out/_senv")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["files", "settings.json", "unfinished"]);
}
