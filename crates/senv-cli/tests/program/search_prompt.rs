//! The prompt of `senv search` on a terminal, which `script` (of util-linux) provides.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)] // reports that the test was skipped

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use crate::{common::Folder, running::wait_in};

/// Whether the required version of `script` is installed.
fn has_script() -> bool {
    let version = Command::new("script").arg("--version").stdin(Stdio::null()).output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"))
}

#[test]
fn a_terminal_has_a_prompt_with_history_that_errors_and_ctrl_c_do_not_end() {
    if !has_script() {
        println!("left out: there is no script of util-linux to make a terminal with");
        return;
    }
    let folder = Folder::with_model();
    folder.write("t.txt", "the cat saw the dog\nthe bread and the soup\n");
    folder.run(&["index", "--model", "m.senv", "--input", "t.txt", "--output", "c"]).ok();
    let program = format!("'{}' search c --k 1 --max-line-bytes 60", env!("CARGO_BIN_EXE_senv"));
    let mut child = Command::new("script")
        .args(["-qec", &program, "/dev/null"])
        .current_dir(folder.path(""))
        .env("HOME", folder.path(""))
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let said = Arc::new(Mutex::new(String::new()));
    let reader = std::thread::spawn({
        let said = Arc::clone(&said);
        move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut bytes) {
                said.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        }
    });
    let mut wait_for = |part: &str, times: usize| {
        let what = format!("{part:?} {times} times");
        wait_in(&mut child, &what, || said.lock().unwrap().matches(part).count() >= times);
    };
    // The program writes this to the terminal before each prompt, to receive single keys.
    let reads_keys = "\x1b[?2004h";
    let cat = "1.0000\t0\tt.txt:1\tthe cat saw the dog";
    let long = format!("{}\r", "the cat ".repeat(10));
    // The input, the expected output, and how often the output must have appeared by then.
    let steps = [
        ("the cat saw the dog\r", cat, 1),
        ("the bread and the soup\r", "1.0000\t1\tt.txt:2\t", 1),
        // Up twice: the first query.
        ("\x1b[A\x1b[A\r", cat, 2),
        // An error and an abandoned line do not end the prompt.
        (long.as_str(), "(--max-line-bytes)", 1),
        ("the dog\x03", reads_keys, 6),
        ("the cat saw the dog\r", cat, 3),
    ];
    for (i, (typed, part, times)) in steps.into_iter().enumerate() {
        wait_for(reads_keys, i + 1);
        stdin.write_all(typed.as_bytes()).unwrap();
        wait_for(part, times);
    }
    wait_for(reads_keys, steps.len() + 1);
    stdin.write_all(b"\x04").unwrap();
    assert!(child.wait().unwrap().success());
    reader.join().unwrap();
    let said = said.lock().unwrap();
    assert!(said.contains("one query per line; arrow keys recall earlier ones; Ctrl-D quits"), "{said}");
    assert!(String::from_utf8(folder.read(".senv_history")).unwrap().contains("the bread and the soup"));
}
