//! What a terminal shows of foreign text, names and arguments. It must not contain control sequences, or anything that
//! looks like a line of the program.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::OpenOptionsExt,
};

use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use crate::common::{Ended, Folder};

/// Terminal control sequences (colors, a title, one-byte CSI) and characters that change the text direction.
const EVIL: &str = "x\x1b[31mRED\x1b]0;title\x07\u{9b}2J\u{202e}\u{2066}\u{200e}\u{61c}\u{2028}\u{7f}y";
/// How it is shown.
const SHOWN: &str = "x�[31mRED�]0;title��2J������y";

/// Everything that a terminal receives from a command on standard output and standard error.
fn on_terminal(folder: &Folder, args: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let no_controlling = OFlags::NOCTTY.bits() as i32;
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(name).unwrap();
    let mut command = folder.command(args);
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    // Closes the last handles of the other end of the terminal.
    drop(command);
    let (mut file, mut shown) = (File::from(master), Vec::new());
    let mut piece = [0; 4096];
    // When the other end is closed, Linux returns an error.
    while let Ok(n @ 1..) = file.read(&mut piece) {
        shown.extend_from_slice(&piece[..n]);
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

/// Asserts that there are no control sequences except the colors of the program.
#[track_caller]
fn assert_harmless(shown: &str) {
    assert!(!shown.contains("\x1b[31mRED"), "{shown:?}");
    let mut parts = shown.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.fold(first, |rest, part| {
        let end = part
            .find('m')
            .filter(|&end| part[..end].trim_start_matches('[').bytes().all(|b| b.is_ascii_digit() || b == b';'));
        rest + &part[end.unwrap_or_else(|| panic!("no color: {part:?} of {shown:?}")) + 1..]
    });
    let is_bad = |c: char| {
        let is_direction =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_direction || c.is_control() && !matches!(c, '\r' | '\n' | '\t')
    };
    assert!(!rest.contains(is_bad), "{rest:?}");
}

#[test]
fn arguments_that_are_refused_reach_a_terminal_without_what_it_obeys() {
    let folder = Folder::with_text(3);
    let (option, long) = (format!("--bad{EVIL}"), format!("--digits={EVIL}"));
    for args in [
        &[EVIL][..],
        &["encode", "text.txt", "--digits", EVIL],
        &["encode", "text.txt", &long],
        &["encode", &option],
        &["index", "text.txt", "--output", "c", "--shard", EVIL],
        &["cluster", "text.txt", "--threshold", EVIL],
        &["encode", EVIL],
        &["search", EVIL, "--query", EVIL],
    ] {
        let shown = on_terminal(&folder, args);
        assert_harmless(&shown);
        assert!(shown.contains(SHOWN) && shown.contains("\x1b["), "{args:?}: {shown:?}");
    }
}

#[test]
fn sentences_and_titles_reach_a_terminal_without_what_it_obeys_and_a_file_as_they_are() {
    let folder = Folder::new();
    folder.write("text.txt", format!("{EVIL} the cat saw the dog\n"));
    folder.write("table.csv", format!("text,{EVIL}\nthe cat saw the dog {EVIL},{EVIL}\n"));
    let column = format!("kept={EVIL}");
    folder.run(&["index", "table.csv", "--output", "c", "--column", "text", "--column", &column]).ok();
    folder.run(&["index", "table.csv", "--output", "titles", "--column", "text", "--column", EVIL]).ok();
    for args in [
        &["split", "text.txt", "--quiet"][..],
        &["search", "c", "--query", "the cat", "--quiet"],
        &["search", "titles", "--query", "the cat", "--quiet"],
        &["search", "titles", "--query", "the cat", "--json", "--quiet"],
        &["info", "titles"],
        &["cluster", "text.txt", "--members", "--quiet"],
    ] {
        let shown = on_terminal(&folder, args);
        assert!(!shown.contains('\x1b'), "{args:?}: {shown:?}");
        assert_harmless(&shown);
        assert!(shown.contains("RED"), "{args:?}: {shown:?}");
    }
    // A Unicode line separator ends a sentence.
    let shown = on_terminal(&folder, &["split", "text.txt", "--quiet"]);
    assert_eq!(shown.replace("\r\n", "\n"), "x�[31mRED�]0;title��2J����\n�y the cat saw the dog\n");
    let (first, second) = EVIL.split_once('\u{2028}').unwrap();
    assert_eq!(folder.run(&["split", "text.txt"]).ok().out, format!("{first}\n{second} the cat saw the dog\n"));
}

#[test]
fn a_name_with_line_ends_makes_no_second_line_of_a_message() {
    let folder = Folder::new();
    let name = "a\nerror: forged\r.txt";
    folder.write(name, "the cat saw the dog\n");
    let made = |args: &[&str]| Ended::from(folder.command(args).output().unwrap());
    for args in [
        &["info", name][..],
        &["encode", name, "--output", "out/"],
        &["encode", "--model", name, name],
        &["search", name, "--query", "x"],
        &["index", name, "--output", name],
        &["join", name, name, "--output", "b.npy"],
        &["convert", name, "b.vec"],
        &["convert", name, "b.vec", "--to", name],
        &["similarity", "--model", name, "a", "b"],
        &["train", "pp", name, "--output", "m.senv"],
        &["eval", "sts", name],
        &[name],
    ] {
        let ended = made(args);
        let forged = ended.err.split(['\n', '\r']).any(|line| line.starts_with("error: forged"));
        assert!(
            !forged && !ended.err.contains('\r') && ended.err.contains("a\\nerror: forged\\r"),
            "{args:?}: {}",
            ended.err
        );
    }
}
