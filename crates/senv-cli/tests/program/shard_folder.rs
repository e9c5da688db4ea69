//! Many files into one folder. Complete outputs are skipped. For killed or slow workers, see `long::kills`.

use std::fs;

use crate::many_files::{count, encode, folder, outputs};

#[test]
fn each_file_gets_one_of_its_own_and_only_what_changed_is_made_again() {
    let folder = folder(6, 200);
    let first = encode(&folder, "out/", &[]).ok();
    assert!(
        first.err.contains("6 new files in out/") && first.err.contains("1,200 sentences encoded"),
        "{}",
        first.err
    );
    folder.run(&["encode", "--model", "m.senv", "data/002.txt", "--output", "alone.tsv"]).ok();
    assert!(folder.read("out/002.txt.tsv") == folder.read("alone.tsv"));
    let manifest: serde_json::Value = serde_json::from_slice(&folder.read("out/_senv/files/002.txt.tsv.json")).unwrap();
    assert_eq!((manifest["rows"].as_u64(), manifest["input"]["path"].as_str()), (Some(200), Some("data/002.txt")));
    let hash = |name: &str| {
        use sha2::Digest;
        sha2::Sha256::digest(folder.read(name)).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(manifest["output"]["sha256"].as_str().unwrap(), hash("alone.tsv"));
    assert_eq!(manifest["input"]["sha256"].as_str().unwrap(), hash("data/002.txt"));

    let again = encode(&folder, "out/", &[]).ok();
    assert!(again.err.contains("0 new files") && again.err.contains("6 files already complete"), "{}", again.err);
    folder.write("data/001.txt", "the cat saw a dog\n");
    folder.write("data/006.txt", "one more\n");
    fs::remove_file(folder.path("out/003.txt.tsv")).unwrap();
    folder.write("out/004.txt.tsv", "cut");
    let again = encode(&folder, "out/", &["--check-hashes"]).ok();
    for says in
        ["4 new files", "001.txt: encoding again: its input has changed", "004.txt: encoding again: it is incomplete"]
    {
        assert!(again.err.contains(says), "{says}: {}", again.err);
    }
    assert_eq!(outputs(&folder.path("out")).len(), 7);

    // Another model or other settings.
    folder.train("text.txt", "m.senv", &["--seed", "5"]).ok();
    encode(&folder, "out/", &[]).fails(1, &["the model was", "was created with different settings", "--force"]);
    encode(&folder, "out/", &["--force"]).ok();
    encode(&folder, "out/", &["--digits", "3"]).fails(1, &["--digits was not given, now 3"]);
    assert!(encode(&folder, "out/", &[]).ok().err.contains("0 new files"));
}

#[test]
fn what_does_not_become_a_folder_is_refused_with_a_remedy() {
    let folder = folder(3, 20);
    let run = |args: &[&str]| folder.run(&[&["encode", "--model", "m.senv"], args].concat());
    run(&["data/*.csv", "--output", "out/"]).fails(1, &["data/*.csv", "no file matches"]);
    run(&["data/000.txt", "--output", "o.npy", "--claims", "c"])
        .fails(2, &["--claims needs a folder", "end the name of a folder with /"]);
    run(&["data/000.txt", "--output", "out/", "--claim-timeout", "3"]).fails(2, &["--claims"]);
    folder.pipe(&["encode", "--model", "m.senv", "--output", "out/"], "a\n").fails(2, &["standard input has no name"]);
    run(&["data/000.txt", "./data/000.txt", "--output", "out/"]).fails(1, &["rename one of them"]);
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/000.txt.npy", "mine");
    run(&["data/000.txt", "--output", "mine"]).fails(1, &["was not written by senv", "--force"]);
    // An error names a failed file and its line, and the other files are encoded.
    folder.write("data/001.txt", b"good\ncaf\xe9\n");
    encode(&folder, "out/", &[])
        .fails(1, &["2 new files", "data/001.txt:2:", "--invalid-utf8 replace", "1 file failed"]);
    folder.write("data/002.txt", b"caf\xe9\n");
    encode(&folder, "out/", &[]).fails(1, &["data/001.txt failed:", "data/002.txt:1:", "2 files failed"]);
    assert_eq!(count(&folder.path("out/_senv/unfinished")), 0);
}
