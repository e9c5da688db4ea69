//! A separate folder for each test, with the program and some text.

#![allow(dead_code)] // each test file uses its part

use std::{
    io::Write,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

/// The result of a run of the program.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Asserts success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Asserts this exit code, and an error that contains all of these texts.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, says: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        for part in says {
            assert!(self.err.contains(part), "{part:?} is missing in: {}", self.err);
        }
        assert_eq!(self.err.matches("error: ").count(), 1, "{}", self.err);
        self
    }

    /// The result as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder that contains `text.txt`.
    pub(crate) fn with_text(n_lines: usize) -> Self {
        let folder = Self::new();
        folder.write("text.txt", text(n_lines));
        folder
    }

    /// A folder with `text.txt` and a small model trained on it, `m.senv`.
    pub(crate) fn with_model() -> Self {
        let folder = Self::with_text(600);
        folder.train("text.txt", "m.senv", &[]).ok();
        folder
    }

    /// A folder with pairs and scored pairs: `pairs.tsv`, `dev.tsv`.
    pub(crate) fn with_pairs() -> Self {
        let folder = Self::new();
        folder.write("pairs.tsv", pairs(120));
        folder.write("dev.tsv", scored(30));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The rescued file of this name, in a private folder.
    #[track_caller]
    pub(crate) fn rescued(&self, name: &str) -> PathBuf {
        let folders: Vec<String> = self.names().into_iter().filter(|name| name.starts_with("senv-rescued-")).collect();
        assert_eq!(folders.len(), 1, "{:?}", self.names());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(self.path(&folders[0])).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        self.path(&folders[0]).join(name)
    }

    /// The program, to run in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_senv"));
        command.args(args).current_dir(self.0.path()).env("TMPDIR", self.0.path()).env_remove("RUST_BACKTRACE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.command(args).output().unwrap().into()
    }

    /// Runs the program with this standard input.
    pub(crate) fn pipe(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ended {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_owned();
        // The program may end before it has read all input.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output.into()
    }

    /// The arguments that train a small model quickly on `input`.
    pub(crate) fn training<'a>(input: &'a str, output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec!["train", "sent2vec", "--input", input, "--output", output, "--dim", "12"];
        args.extend([
            "--preset",
            "paper",
            "--min-count",
            "1",
            "--min-target-count",
            "1",
            "--subsample",
            "1e-2",
            "--lr",
            "0.05",
        ]);
        args.extend(more);
        args
    }

    pub(crate) fn train(&self, input: &str, output: &str, more: &[&str]) -> Ended {
        self.run(&Self::training(input, output, more))
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }
}

/// Sentences about a few subjects, the same on every call.
pub(crate) fn text(n_lines: usize) -> String {
    const SUBJECTS: [[&str; 8]; 3] = [
        ["cat", "dog", "mouse", "horse", "bird", "meadow", "stable", "fur"],
        ["bread", "soup", "cheese", "pepper", "kitchen", "spoon", "oven", "dough"],
        ["train", "station", "ticket", "track", "signal", "engine", "carriage", "bridge"],
    ];
    const VERBS: [&str; 8] = ["saw", "left", "found", "liked", "passed", "missed", "took", "kept"];
    let mut state = 7_u64;
    let mut draw = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut text = String::new();
    for _ in 0..n_lines {
        let words = &SUBJECTS[draw(3)];
        let names = ["The", "A", "My", "This"];
        let (a, b, c) = (words[draw(8)], words[draw(8)], words[draw(8)]);
        text += &format!("{} {a} {} the {b} near number{} {c}.\n", names[draw(4)], VERBS[draw(8)], draw(200));
    }
    text
}

const THINGS: [[&str; 6]; 3] = [
    ["cat", "dog", "mouse", "horse", "bird", "cow"],
    ["bread", "soup", "cheese", "pepper", "spoon", "dough"],
    ["train", "station", "ticket", "signal", "engine", "bridge"],
];
const DEEDS: [&str; 6] = ["saw", "found", "passed", "missed", "took", "kept"];

/// Two ways to say the same thing, number `i`.
fn ways(i: usize) -> [String; 2] {
    let things = &THINGS[i % 3];
    let (a, b, deed) = (things[i / 3 % 6], things[(i / 18 + i / 3 + 1) % 6], DEEDS[i / 7 % 6]);
    [format!("The {a} {deed} the {b}."), format!("There a {b} was what one {a} {deed} today.")]
}

/// Pairs of sentences with the same meaning, separated by tabs.
pub(crate) fn pairs(n: usize) -> String {
    (0..n).map(|i| ways(i).join("\t") + "\n").collect()
}

/// Pairs with scores from 1 to 5: the same thing said twice, or two different things.
pub(crate) fn scored(n: usize) -> String {
    let line = |i: usize| {
        let [first, second] = ways(i);
        if i.is_multiple_of(2) {
            format!("5\t{first}\t{second}\n")
        } else {
            format!("1.5\t{first}\t{}\n", ways(i + 1)[1])
        }
    };
    (0..n).map(line).collect()
}
