//! Errors in pairs, scores, vectors and settings are one line that names the fault.

use crate::common::{Ended, Folder, pairs};

fn pp(folder: &Folder, file: &str, more: &[&str]) -> Ended {
    let args = ["train", "pp", "--pairs", file, "--output", "m.senv", "--epochs", "2", "--batch", "16"];
    folder.run(&[&args, more].concat())
}

const DIM: [&str; 2] = ["--dim", "8"];

#[test]
fn pairs_of_another_layout_are_named_by_line() {
    let folder = Folder::new();
    let good = pairs(3);
    for (bad, says) in [
        ("only one column", "1 column; expected 2"),
        ("one\ttwo\tthree", "3 columns; expected 2"),
        ("\tthe second alone", "column 1 is empty"),
        ("the first alone\t ", "column 2 is empty"),
        ("", "1 column; expected 2"),
    ] {
        folder.write("bad.tsv", format!("{good}{bad}\n{good}"));
        pp(&folder, "bad.tsv", &DIM).fails(1, &["bad.tsv:4", says]);
    }
    folder.write("label.tsv", "perhaps\tthe cat sat\tthe cat is\n");
    let nli = ["train", "cse", "--nli", "label.tsv", "--output", "m.senv"];
    folder.run(&nli).fails(1, &["label.tsv:1", "perhaps", "ENTAILMENT"]);
    folder.run(&["train", "pp", "--pairs", "absent.tsv", "--output", "m.senv"]).fails(1, &["cannot open absent.tsv"]);
    assert_eq!(folder.run(&["train", "pp", "--output", "m.senv"]).code, Some(2), "no file of pairs");
    assert!(!folder.has("m.senv"));
}

#[test]
fn equal_sentences_are_left_out_and_nothing_but_them_is_refused() {
    let folder = Folder::with_pairs();
    folder.write("some.tsv", pairs(40) + "The cat sat.\tthe cat sat .\n");
    let ended = pp(&folder, "some.tsv", &DIM).ok();
    assert!(ended.err.contains("left out: 1 with identical sentences"), "{}", ended.err);
    folder.write("equal.tsv", "the cat sat\tthe cat sat\na dog\ta dog\n");
    pp(&folder, "equal.tsv", &DIM).fails(1, &["no training example", "two different sentences"]);
    let neighbours = ["train", "siamese-cbow", "--input", "short.txt", "--output", "m.senv", "--min-count", "1"];
    folder.write("short.txt", "the cat sat\nthe dog sat\n");
    folder.run(&neighbours).fails(1, &["short.txt: no training examples"]);
}

#[test]
fn scored_pairs_are_checked() {
    let folder = Folder::with_pairs();
    folder.write("one.tsv", "3\tthe cat\tthe dog\n");
    pp(&folder, "pairs.tsv", &[&DIM[..], &["--dev", "one.tsv"]].concat()).fails(1, &["one.tsv", "at least two"]);
    folder.write("two.tsv", "3\tthe cat\n4\tthe dog\n");
    pp(&folder, "pairs.tsv", &[&DIM[..], &["--dev", "two.tsv"]].concat()).fails(1, &["two.tsv:1", "2 columns"]);
    pp(&folder, "pairs.tsv", &DIM).ok();
    let tune = |file: &str, more: &[&str]| {
        let args =
            ["train", "relatedness", "--model", "m.senv", "--train", file, "--output", "r.senv", "--epochs", "1"];
        folder.run(&[&args, more].concat())
    };
    folder.write("range.tsv", "3\tthe cat\tthe dog\n0.5\tthe bird\tthe soup\n5\tthe cow\tthe dough\n");
    tune("range.tsv", &["--grid", "1-5"]).fails(1, &["range.tsv:2", "0.5", "1 to 5"]);
    tune("range.tsv", &["--grid", "0-5"]).ok();
    tune("range.tsv", &["--grid", "senteval"]).ok();
    assert_eq!(tune("range.tsv", &["--grid", "3-9"]).code, Some(2));
    // In a part of SICK, labels are not read as sentences.
    folder.write("sick.tsv", "3\tNEUTRAL\tthe cat\tthe dog\n4\tENTAILMENT\tthe bird\tthe soup\n");
    tune("sick.tsv", &["--dev", "sick.tsv"]).ok();
    folder.write("sick.tsv", "3\tNEUTRAL\tthe cat\tthe dog\n6\tENTAILMENT\tthe bird\tthe soup\n");
    tune("sick.tsv", &[]).fails(1, &["sick.tsv:2", "6", "1 to 5"]);
    folder.write("word.tsv", "3\tthe cat\tthe dog\nhigh\ta\tb\n");
    tune("word.tsv", &[]).fails(1, &["word.tsv:2", "high", "not a finite number"]);
}

#[test]
fn vectors_are_checked() {
    let folder = Folder::with_pairs();
    folder.write("vectors.txt", "cat 1 0 0\ndog 0 1 0\n");
    let with = |file: &str, more: &[&str]| pp(&folder, "pairs.tsv", &[&["--init-vectors", file], more].concat());
    with("vectors.txt", &["--dim", "4"]).fails(1, &["expected 4", "3", "--dim"]);
    folder.write("nan.txt", "cat 1 0 0\ndog 0 NaN 0\n");
    with("nan.txt", &[]).fails(1, &["nan.txt:2", "\"dog\"", "NaN", "remove it"]);
    // The same if the file itself is the model.
    for command in [
        &["similarity", "--model", "nan.txt", "a cat", "a dog"][..],
        &["encode", "--model", "nan.txt", "--lines", "--input", "pairs.tsv"],
        &["train", "weighted", "--model", "nan.txt", "--lines", "--input", "pairs.tsv", "--output", "m.senv"],
        &["train", "relatedness", "--model", "nan.txt", "--train", "dev.tsv", "--output", "m.senv"],
    ] {
        folder.run(command).fails(1, &["nan.txt:2", "\"dog\"", "NaN", "remove it"]);
    }
    with("absent.txt", &[]).fails(1, &["cannot open absent.txt"]);
    assert!(!folder.has("m.senv"));
}

#[test]
fn settings_out_of_range_are_wrong_usage() {
    let folder = Folder::with_pairs();
    let run = |more: &[&str]| pp(&folder, "pairs.tsv", more);
    run(&["--dim", "0"]).fails(2, &["dim must be"]);
    run(&["--lr", "-1"]).fails(2, &["lr must be"]);
    run(&["--warmup", "1"]).fails(2, &["warmup must be"]);
    run(&["--margin", "3", "--dim", "8"]).fails(2, &["margin"]);
    run(&["--word-dropout", "1"]).fails(2, &["word_dropout must be"]);
    run(&["--init-frequency-weight", "0"]).fails(2, &["init_frequency_weight must be"]);
    run(&["--temperature", "0.1"]).fails(2, &["--temperature 0.1: it belongs to loss = softmax-cosine"]);
    run(&["--loss", "softmax-cosine", "--margin", "0.1"]).fails(2, &["--margin 0.1: it belongs to loss = margin"]);
    run(&["--loss", "softmax-cosine", "--dim", "8", "--nested", "4,9"]).fails(2, &["prefix", "9"]);
    let cse = ["train", "cse", "--pairs", "pairs.tsv", "--output", "m.senv"];
    folder
        .run(&[&cse[..], &["--windows", "1,2,3", "--filters", "4,5"]].concat())
        .fails(2, &["2 numbers for 3 windows"]);
    folder.run(&[&cse[..], &["--windows", "0"]].concat()).fails(2, &["must be"]);
    let gran = |more: &[&str]| {
        let args = ["train", "gran", "--pairs", "pairs.tsv", "--output", "m.senv", "--dim", "8"];
        folder.run(&[&args, more].concat())
    };
    gran(&["--gate", "8"]).fails(2, &["--gate", "8"]);
    gran(&["--encoder", "lstm", "--gate", "2"]).fails(2, &["--gate 2: it belongs to encoder = gran"]);
    gran(&["--gate", "5", "--hidden", "9"]).fails(2, &["hidden size", "gate 5", "9"]);
    gran(&["--hidden", "0"]).fails(2, &["hidden must be"]);
    gran(&["--scramble", "1.1"]).fails(2, &["scramble must be"]);
    gran(&["--preset", "paper", "--recipe", "softmax"]).fails(2, &["--recipe and --preset both"]);
    gran(&["--preset", "paper-lstm-last", "--gate", "2"]).fails(2, &["it belongs to encoder = gran"]);
    let weight = ["train", "pp", "--pairs", "pairs.tsv:-1", "--output", "m.senv"];
    folder.run(&weight).fails(2, &["weight must be", "above 0"]);
    let itself = ["train", "pp", "--pairs", "pairs.tsv", "--output", "pairs.tsv"];
    folder.run(&itself).fails(2, &["give another --output"]);
    assert_eq!(folder.read("pairs.tsv"), pairs(120).as_bytes());
}

#[test]
fn settings_without_effect_are_wrong_usage() {
    let folder = Folder::with_pairs();
    let cse = ["train", "cse", "--pairs", "pairs.tsv", "--output", "m.senv", "--dim", "8"];
    let neighbours = ["train", "siamese-cbow", "--input", "pairs.tsv", "--output", "m.senv"];
    let tuned = ["train", "relatedness", "--model", "m.txt", "--train", "dev.tsv", "--output", "m.senv"];
    for command in [&cse[..], &neighbours, &tuned] {
        for option in ["--patience", "--validate-every"] {
            folder.run(&[command, &[option, "1"]].concat()).fails(2, &[option, "add --dev"]);
        }
        folder.run(&[command, &["--epochs", "2", "--steps", "9"]].concat()).fails(2, &["--epochs", "--steps"]);
    }
    let stages = ["--stage2", "pairs.tsv", "--stage2-epochs", "2", "--steps", "9"];
    folder.run(&[&cse[..], &stages].concat()).fails(2, &["--stage2-epochs", "--steps"]);
    let weighted = ["train", "weighted", "--model", "m.txt", "--input", "pairs.tsv", "--output", "m.senv"];
    let run = |more: &[&str]| folder.run(&[&weighted[..], more].concat());
    run(&["--scheme", "usif", "--a", "0.1"]).fails(2, &["--a needs --scheme sif"]);
    run(&["--mean-length", "9"]).fails(2, &["--mean-length needs --scheme usif"]);
    folder
        .run(&["train", "pp", "--pairs", "pairs.tsv:abc", "--output", "m.senv"])
        .fails(2, &["\"abc\"", "pairs.tsv:2.5"]);
    assert!(!folder.has("m.senv"));
}

#[test]
fn files_with_nothing_in_them_are_named() {
    let folder = Folder::with_model();
    folder.write("empty.txt", "");
    let nothing = "empty.txt: no training examples";
    for (kind, says) in
        [("--pairs", nothing), ("--captions", nothing), ("--nli", "empty.txt contains no pair; give lines")]
    {
        let args = ["train", "pp", kind, "empty.txt", "--output", "n.senv"];
        folder.run(&args).fails(1, &[says]);
    }
    let weighted = ["train", "weighted", "--model", "m.senv", "--input", "empty.txt", "--output", "n.senv"];
    folder.run(&weighted).fails(1, &["empty.txt contains no text"]);
    assert!(!folder.has("n.senv"));
}

#[test]
fn a_dev_set_that_gives_no_correlation_chooses_nothing() {
    let folder = Folder::with_pairs();
    // The same pair twice: both cosines are equal in any model.
    folder.write("equal.tsv", "1\tthe cat saw\tthe dog\n5\tthe cat saw\tthe dog\n");
    let ended = pp(&folder, "pairs.tsv", &[&DIM[..], &["--dev", "equal.tsv", "--json"]].concat()).ok();
    for says in ["no validation score", "no validation gave a score; the last weights are kept"] {
        assert!(ended.err.contains(says), "{}", ended.err);
    }
    assert!(ended.json()["best"].is_null());
    let history = ended.json()["history"].clone();
    assert!(history.as_array().unwrap().iter().all(|validation| validation[1].is_null()), "{history}");
    let last = folder.read("m.senv");
    pp(&folder, "pairs.tsv", &DIM).ok();
    assert_eq!(folder.read("m.senv"), last);
}

#[test]
fn a_loss_that_is_no_number_names_step_and_rate_and_keeps_the_best_model() {
    let folder = Folder::with_pairs();
    let wild = ["--dim", "8", "--lr", "1e30", "--optimizer", "sgd", "--clip", "inf"];
    pp(&folder, "pairs.tsv", &wild).fails(1, &["not a number at step", "1.000e30", "--lr", "--clip"]);
    assert!(!folder.has("m.senv"));
    // The learning rate rises, so that the first validations come before the loss becomes NaN.
    let climbing = ["--warmup", "0.99", "--epochs", "40", "--dev", "dev.tsv", "--validate-every", "1"];
    let args = ["train", "pp", "--pairs", "pairs.tsv", "--output", "m.senv", "--batch", "16", "--json"];
    let ended = folder.run(&[&args[..], &wild, &climbing].concat());
    let ended = ended.fails(1, &["not a number at step", "m.senv is the best model before"]);
    let json = ended.json();
    assert_eq!(json["stopped"], "diverged");
    assert!(json["best"]["step"].as_u64().unwrap() >= 1, "{json}");
    folder.run(&["similarity", "--model", "m.senv", "the cat", "the dog"]).ok();
}
