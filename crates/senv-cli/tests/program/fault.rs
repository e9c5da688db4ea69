//! Runs the program with a failing disk: each system call that changes a file fails in turn.
//!
//! `data/fault.c` makes the calls fail. The tests need a C compiler, as does linking any Rust program on Linux, and the
//! permission to trace their own processes. Without one of these, they print a message and pass.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::common::{Ended, Folder, text};

/// A command that creates or changes one output, with the states of the output before and after.
struct Case {
    /// The output, or the first of several files, whose names all begin with it.
    output: &'static str,
    /// Whether the output exists before.
    is_change: bool,
    args: &'static str,
}

const CASES: [Case; 13] = [
    Case { output: "c.new", is_change: false, args: "index b.txt --output c.new" },
    Case { output: "c", is_change: true, args: "index b.txt --output c --force" },
    Case { output: "c", is_change: true, args: "index --add b.txt --output c" },
    Case { output: "c", is_change: true, args: "index --replace --column text=2 --column id=1 ids.tsv --output c" },
    Case { output: "c", is_change: true, args: "index --delete-ids 1,2 --output c" },
    Case { output: "c", is_change: true, args: "index --compact --output c" },
    Case { output: "c.new", is_change: false, args: "join s1 s2 --output c.new" },
    Case { output: "c", is_change: true, args: "join s1 s2 --output c --force" },
    Case { output: "n.senv", is_change: false, args: "train sent2vec a.txt --dim 4 --output n.senv" },
    Case { output: "m.senv", is_change: true, args: "train sent2vec b.txt --dim 4 --output m.senv --force" },
    Case { output: "v.npy", is_change: true, args: "encode --model m.senv b.txt --output v.npy --force" },
    Case { output: "w.npy", is_change: false, args: "convert m.senv w.npy" },
    Case { output: "out", is_change: false, args: "encode --model m.senv a.txt b.txt --output out/" },
];

/// The state of an output as readers see it, or `None` if it does not exist.
fn state(folder: &Folder, case: &Case) -> Option<String> {
    let path = folder.path(case.output);
    if path.join("manifest").exists() {
        let all = ["search", case.output, "--query", "the cat saw the dog", "--k", "1000", "--json"];
        return Some(folder.run(&all).ok().out);
    }
    if !path.is_dir() {
        let words = fs::read(path.with_extension("words.txt")).unwrap_or_default();
        return fs::read(path).ok().map(|bytes| format!("{bytes:?} {words:?}"));
    }
    // A folder of outputs: the complete ones. Only outputs have names without a leading dot or underscore.
    let mut names: Vec<PathBuf> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "npy") && path.is_file());
    names.sort();
    (!names.is_empty()).then(|| names.iter().map(|path| format!("{path:?} {:?}", fs::read(path).unwrap())).collect())
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
}

/// The files at the start of every case.
fn samples() -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", text(60));
    folder.write("b.txt", text(90).to_uppercase());
    let lines = text(20);
    folder.write(
        "ids.tsv",
        lines.lines().enumerate().map(|(i, line)| format!("{i}\t{line} again\n")).collect::<String>(),
    );
    for args in [
        "train sent2vec a.txt --dim 4 --output m.senv",
        "encode --model m.senv a.txt --output v.npy",
        "index a.txt --output c",
        "index b.txt --shard 1/2 --output s1",
        "index b.txt --shard 2/2 --output s2",
    ] {
        folder.run(&args.split(' ').collect::<Vec<_>>()).ok();
    }
    folder
}

/// The program that makes calls fail, or `None` if it cannot be built or is not permitted.
fn tool(folder: &Folder) -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/data/fault.c");
    let tool = folder.path("fault");
    let is_made =
        Command::new("cc").arg("-O1").arg("-o").arg(&tool).arg(source).status().is_ok_and(|ended| ended.success());
    let may_trace =
        || Command::new(&tool).args(["0", "sync", "/", "/dev/null", "/bin/true"]).status().unwrap().success();
    (is_made && may_trace()).then_some(tool)
}

/// Runs a command with a fault at call `number`. Returns `None` if the command makes fewer calls.
fn faulty(folder: &Folder, tool: &Path, number: &str, which: &str, args: &[&str]) -> Option<Ended> {
    let report = folder.path("report");
    let mut command = Command::new(tool);
    command.args([number, which]).arg(fs::canonicalize(folder.path("")).unwrap()).arg(&report);
    command.arg(env!("CARGO_BIN_EXE_senv")).args(args);
    command.current_dir(folder.path("")).env("TMPDIR", folder.path("")).stdin(std::process::Stdio::null());
    let ended = Ended::from(command.output().unwrap());
    let is_met = report.exists();
    if is_met {
        fs::remove_file(report).unwrap();
    }
    is_met.then_some(ended)
}

/// The names of the files in a folder and in its subfolders.
fn listing(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            names.extend(listing(&entry.path()).into_iter().map(|within| format!("{name}/{within}")));
        }
        names.push(name);
    }
    names.sort();
    names
}

/// Interrupts each of these commands before each of its calls. A command that reports an interruption must have changed
/// and left nothing, and one that has done its work must say so. Returns how many runs were interrupted and how many
/// completed, or `None` if nothing was tested.
#[expect(clippy::print_stderr)]
pub(crate) fn check_interrupts(is_wanted: impl Fn(&str) -> bool) -> Option<(usize, usize)> {
    let folder = samples();
    // A pair of files that is replaced.
    folder.run(&["convert", "m.senv", "w.npy"]).ok();
    folder.run(&["convert", "m.senv", "words.vec"]).ok();
    let Some(tool) = tool(&folder) else {
        eprintln!("not tested: signals at a call need Linux on x86-64, cc, and the right to trace a process");
        return None;
    };
    let (before, saved) = (folder.names(), Folder::new());
    before.iter().for_each(|name| copy(&folder.path(name), &saved.path(name)));
    let (mut n_interrupted, mut n_ended) = (0, 0);
    let pair = Case { output: "w.npy", is_change: true, args: "convert other.vec w.npy --force" };
    let other = String::from_utf8(folder.read("words.vec")).unwrap().replace("cat", "tac");
    folder.write("other.vec", &other);
    saved.write("other.vec", &other);
    let before = [before, vec!["other.vec".into()]].concat();
    let cases = CASES.iter().filter(|case| !["out", "n.senv", "m.senv", "w.npy"].contains(&case.output)).chain([&pair]);
    for case in cases.filter(|case| is_wanted(case.args)) {
        let args: Vec<&str> = case.args.split(' ').collect();
        let restore = || {
            folder.names().iter().for_each(|name| remove(&folder.path(name)));
            before.iter().for_each(|name| copy(&saved.path(name), &folder.path(name)));
        };
        let (old, files) = (state(&folder, case), listing(&folder.path("")));
        folder.run(&args).ok();
        let new = state(&folder, case);
        // Compaction changes files but not rows.
        assert!(new.is_some() && (new != old || case.args.contains("--compact")), "{}", case.args);
        restore();
        for number in 0.. {
            let shown = format!("{number}!");
            let ended = faulty(&folder, &tool, &shown, "all", &args);
            let Some(ended) = ended else { break };
            let now = state(&folder, case);
            let at = format!("{}: signal {shown}, exit code {:?}: {}", case.args, ended.code, ended.err);
            match ended.code {
                Some(130) => {
                    n_interrupted += 1;
                    assert!(now == old, "{at}");
                    assert_eq!(listing(&folder.path("")), files, "{at}");
                }
                Some(0) => {
                    n_ended += 1;
                    assert!(now == new, "{at}");
                    assert!(
                        !listing(&folder.path("")).iter().any(|name| name.ends_with(".tmp") || name.ends_with(".lock")),
                        "{at}"
                    );
                }
                _ => panic!("{at}"),
            }
            restore();
        }
        restore();
    }
    Some((n_interrupted, n_ended))
}

/// Makes each call of a command fail that creates an output, and checks the files after the error.
#[allow(dead_code, reason = "the long tests do not use it")]
#[expect(clippy::print_stderr)]
pub(crate) fn check_errors(
    prepare: &[&str],
    which: &str,
    args: &str,
    look: impl Fn(&Folder, &Ended, &str),
) -> Option<()> {
    let folder = samples();
    prepare.iter().for_each(|args| drop(folder.run(&args.split(' ').collect::<Vec<_>>()).ok()));
    let Some(tool) = tool(&folder) else {
        eprintln!("not tested: faults need Linux on x86-64, cc, and the right to trace a process");
        return None;
    };
    let (before, saved) = (folder.names(), Folder::new());
    before.iter().for_each(|name| copy(&folder.path(name), &saved.path(name)));
    for number in 0.. {
        let shown = number.to_string();
        let Some(ended) = faulty(&folder, &tool, &shown, which, &args.split(' ').collect::<Vec<_>>()) else { break };
        look(&folder, &ended, &format!("{args}: fault {shown}, exit code {:?}: {}", ended.code, ended.err));
        folder.names().iter().for_each(|name| remove(&folder.path(name)));
        before.iter().for_each(|name| copy(&saved.path(name), &folder.path(name)));
    }
    Some(())
}

/// Makes each of these calls of each command fail, alone (`goes_on` false) or with all later ones. A command that
/// reports success must have done its work, and one that reports failure must have changed nothing. After a single
/// fault, the command can be repeated. Returns how often the result was in doubt, or `None` if nothing was tested.
#[expect(clippy::print_stderr)]
pub(crate) fn check(which: &str, goes_on: bool) -> Option<usize> {
    let folder = samples();
    let Some(tool) = tool(&folder) else {
        eprintln!("not tested: faults need Linux on x86-64, cc, and the right to trace a process");
        return None;
    };
    let before = folder.names();
    let saved = Folder::new();
    before.iter().for_each(|name| copy(&folder.path(name), &saved.path(name)));
    let restore = || {
        folder.names().iter().filter(|name| !before.contains(name)).for_each(|name| remove(&folder.path(name)));
        for name in ["c", "m.senv", "v.npy"] {
            if folder.has(name) {
                remove(&folder.path(name));
            }
            copy(&saved.path(name), &folder.path(name));
        }
    };
    let mut in_doubt = 0;
    for case in &CASES {
        let args: Vec<&str> = case.args.split(' ').collect();
        let old = state(&folder, case);
        assert_eq!(old.is_some(), case.is_change, "{}", case.args);
        folder.run(&args).ok();
        let new = state(&folder, case);
        assert!(new.is_some(), "{}", case.args);
        restore();
        for number in 0.. {
            let shown = if goes_on { format!("{number}+") } else { number.to_string() };
            let Some(ended) = faulty(&folder, &tool, &shown, which, &args) else {
                restore();
                break;
            };
            let now = state(&folder, case);
            let at = format!("{}: fault {shown}, exit code {:?}: {}", case.args, ended.code, ended.err);
            let is_folder = case.output == "out";
            match ended.code {
                Some(0) => assert!(now == new, "{at}"),
                Some(1) => {
                    assert!(ended.err.contains("error: "), "{at}");
                    // In a folder of outputs, those that succeeded remain. Of two files that belong together, the first
                    // cannot be restored if the second could not be renamed permanently.
                    let is_pair = goes_on && case.output == "w.npy" && ended.err.contains("w.words.txt");
                    let says_which =
                        is_pair && ended.err.contains("w.npy was already replaced and could not be restored: ");
                    assert!(now == old || is_folder || says_which, "{at}");
                    if !goes_on && case.output == "c.new" {
                        assert!(!folder.has("c.new"), "{at}");
                    }
                    if !goes_on {
                        folder.run(&args).ok();
                        assert!(state(&folder, case) == new, "a second time after {at}");
                    }
                }
                Some(3) => {
                    in_doubt += 1;
                    assert!(now == new && ended.err.contains("a power failure may still lose it"), "{at}");
                    assert!(!folder.names().iter().any(|name| name.contains("rescued")), "a second copy: {at}");
                }
                _ => panic!("{at}"),
            }
            restore();
        }
    }
    Some(in_doubt)
}
