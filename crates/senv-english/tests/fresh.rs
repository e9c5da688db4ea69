//! What a fresh process spends until it has its first vector: time on the processor, and memory. A binary of its own:
//! its code counts, and that of other tests would too.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)] // how the fresh process answers

use std::{env, fs, process::Command};

/// Tells the test that it is the fresh process.
const CHILD: &str = "SENV_FRESH_PROCESS";

/// Nanoseconds that this thread ran on a processor: what others do on the machine at the same time does not count.
fn nanoseconds() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// Peak resident memory of this process so far, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    1024 * line.trim().strip_suffix("kB").unwrap().trim().parse::<usize>().unwrap()
}

#[test]
fn the_first_vector_takes_milliseconds_and_twice_the_file_at_most() {
    if env::var_os(CHILD).is_some() {
        let (before, bytes) = (nanoseconds(), peak());
        let english = senv_english::model().unwrap();
        let vector = english.encode(&["He bought a new car."]).unwrap();
        assert!(vector.iter().any(|&x| x != 0.0));
        println!("spent {} {} {}", nanoseconds() - before, peak() - bytes, peak());
        return;
    }
    let file = senv_english::BYTES.len();
    let mut least = usize::MAX;
    for _ in 0..5 {
        let output = Command::new(env::current_exe().unwrap())
            .args(["the_first_vector_takes_milliseconds_and_twice_the_file_at_most", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| Some(line.split_once("spent ")?.1));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let &[spent, grown, whole] = &numbers[..] else { panic!("{line}") };
        assert!(grown < 2 * file, "{grown} bytes more than before the model of {file}");
        assert!(whole < 2 * file, "{whole} bytes in all, of a file of {file}");
        least = least.min(spent);
    }
    // It takes 10 to 20 ms on an idle processor. Other programs on the same processor can double that.
    assert!(least < 60_000_000, "{least} ns on the processor");
}
