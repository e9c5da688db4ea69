//! `senv train pv-dbow --document-vectors`, and the benchmark on its output.

use crate::common::Folder;

const TRAIN: [&str; 10] =
    ["train", "pv-dbow", "--output", "m.senv", "--dim", "8", "--min-count", "1", "--no-check", "--document-vectors"];

#[test]
fn the_vectors_of_the_lines_serve_the_bench() {
    let folder = Folder::new();
    let ways =
        ["the cat saw the dog", "a dog was seen by the cat", "one train left the station", "trains leave a station"];
    let lines: String = (0..40).map(|i| format!("{}\t{} number{i}\n", i / 4 % 2, ways[i / 2 % 4])).collect();
    std::fs::create_dir_all(folder.path("data/coco")).unwrap();
    folder.write("data/coco/captions.tsv", &lines);
    let captions: String = lines.lines().map(|line| format!("{}\n", line.split_once('\t').unwrap().1)).collect();
    folder.write("captions.txt", format!("{captions}\n"));
    let ended = folder.run(&[&TRAIN[..], &["captions.npy", "--input", "captions.txt"]].concat()).ok();
    assert!(ended.err.contains("captions.npy written (41 vectors)"), "{}", ended.err);
    let bench = ["eval", "all", "--data", "data", "--only", "p-coherence", "--no-baselines", "--json", "out.json"];
    folder.run(&[&bench[..], &["--vectors", "captions.npy", "--sentences", "captions.txt"]].concat()).ok();
    let record: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert!(record["systems"][0]["results"][0]["value"].is_f64(), "{record}");
    // The option does not change the model. A second run replaces both files.
    let both = ["m.senv", "captions.npy"].map(|name| folder.read(name));
    folder.run(&[&TRAIN[..9], &["--input", "captions.txt"]].concat()).ok();
    assert_eq!(folder.read("m.senv"), both[0]);
    folder.write("captions.npy", &folder.read("captions.npy")[..200]);
    folder.run(&[&TRAIN[..], &["captions.npy", "--input", "captions.txt"]].concat()).ok();
    assert_eq!(["m.senv", "captions.npy"].map(|name| folder.read(name)), both);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work_or_saved_elsewhere() {
    let folder = Folder::with_text(50);
    let run = |more: &[&str]| folder.run(&[&TRAIN[..], more].concat());
    run(&["v.npy", "--input", "-"]).fails(2, &["--document-vectors", "twice"]);
    run(&["v.npy", "--input", "/dev/null"]).fails(2, &["--document-vectors", "/dev/null can be read only once"]);
    folder.write("start.vec", "the 1 2 3 4 5 6 7 8\n");
    let start = ["start.vec", "--input", "text.txt", "--init-vectors", "start.vec", "--force"];
    run(&start).fails(2, &["start.vec is also an input"]);
    std::fs::remove_file(folder.path("start.vec")).unwrap();
    run(&["m.senv", "--input", "text.txt"]).fails(2, &["the model and --document-vectors must be different files"]);
    run(&["text.txt", "--input", "text.txt"]).fails(2, &["text.txt is also an input"]);
    folder.write("mine.npy", "mine");
    run(&["mine.npy", "--input", "text.txt"]).fails(2, &["mine.npy exists", "--document-vectors"]);
    assert_eq!(folder.names(), ["mine.npy", "text.txt"]);
    let full = run(&["/dev/full", "--input", "text.txt"]);
    full.fails(1, &["cannot write /dev/full", "the matrix of the text's vectors is saved as", "senv-rescued-"]);
    run(&["v.npy", "--input", "text.txt"]).ok();
    assert_eq!(std::fs::read(folder.rescued("full")).unwrap(), folder.read("v.npy"));
}

#[test]
fn pv_dm_has_them_too_however_its_vectors_are_combined() {
    let folder = Folder::with_text(50);
    for (combine, more) in [("mean", &["--whole-gradient"][..]), ("sum", &[]), ("concat", &["--window", "2"])] {
        let args = ["train", "pv-dm", "--input", "text.txt", "--output", "m.senv", "--dim", "8", "--min-count", "1"];
        let files = ["--no-check", "--force", "--document-vectors", "v.npy", "--combine", combine];
        let ended = folder.run(&[&args[..], &files[..], more].concat()).ok();
        assert!(ended.err.contains("v.npy written ("), "{combine}: {}", ended.err);
        let info = folder.run(&["info", "m.senv", "--json"]).ok().json();
        assert_eq!((&info["kind"], &info["hyperparameters"]["combine"]), (&"pv-dm".into(), &combine.into()), "{info}");
        // A line of one word has a vector, the same on every call.
        let rows = [0; 2].map(|_| folder.pipe(&["encode", "--model", "m.senv", "--quiet"], "the\n").ok().out);
        assert!(rows[0] == rows[1] && rows[0].split(' ').any(|x| x.trim() != "0"), "{rows:?}");
    }
}
