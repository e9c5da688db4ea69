//! DictRep and CaptionRep: training toward given vectors, the reverse dictionary, and errors in their files.

use std::fmt::Write;

use crate::{common::Folder, systems::trained};

/// Word vectors in four directions, with a few words each.
const VECTORS: &str =
    "tap 1 0 0 0\nvalve 0.9 0.1 0 0\nibex 0 1 0 0\ngoat 0.1 0.9 0 0\ntrain 0 0 1 0\nlantern 0 0 0 1\n";

/// Many definitions of a few words, each in its own words.
fn dictionary() -> String {
    let of = [
        ("tap", "lets water out of a pipe"),
        ("valve", "shuts a pipe for water"),
        ("ibex", "a wild animal of the mountains"),
        ("goat", "a horned animal of the farm"),
        ("Train", "wagons that run on rails"),
        ("lantern", "gives light in the dark"),
    ];
    let mut text = String::new();
    for i in 0..20 {
        for (word, definition) in of {
            writeln!(text, "{word}\t{} {definition}", ["it", "what", "a thing that", "this"][i % 4]).unwrap();
        }
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("vectors.txt", VECTORS);
    folder.write("dictionary.tsv", dictionary());
    folder
}

const TRAIN: [&str; 14] = [
    "train",
    "dict-rep",
    "--target-vectors",
    "vectors.txt",
    "--output",
    "dict.senv",
    "--dim",
    "8",
    "--hidden",
    "8",
    "--seed",
    "1",
    "--lr",
    "0.01",
];

fn train<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&TRAIN[..], &["--definitions", file], more].concat()
}

#[test]
fn a_dictionary_is_learned_and_looked_up() {
    let folder = folder();
    for more in [
        &["--epochs", "60", "--held-out", "0"][..],
        &["--epochs", "60", "--held-out", "0", "--encoder", "regress", "--loss", "cosine"],
        &["--epochs", "60", "--held-out", "0", "--encoder", "rnn", "--state-pooling", "mean"],
    ] {
        let trained = folder.run(&train("dictionary.tsv", &[more, &["--force", "--json"]].concat())).ok();
        assert_eq!((&trained.json()["texts"], &trained.json()["targets"]), (&120.into(), &6.into()));
        let define = |definition: &str| {
            let ended = folder.run(&["define", "--model", "dict.senv", "--k", "2", "--json", definition]).ok();
            let found = ended.json();
            assert_eq!(found["words"].as_array().unwrap().len(), 2);
            found["words"][0]["word"].as_str().unwrap().to_owned()
        };
        assert_eq!(define("an animal of the wild mountains"), "ibex", "{more:?}");
        assert_eq!(define("light in the dark"), "lantern", "{more:?}");
        assert_eq!(define("runs on rails"), "train", "{more:?}");
        let result =
            folder.run(&["eval", "dictionary", "--model", "dict.senv", "dictionary.tsv", "--json"]).ok().json();
        assert_eq!(result["n_words"], 6);
        let [seen] = &result["sets"].as_array().unwrap()[..] else { panic!("nothing is held out: {result}") };
        assert_eq!((&seen["name"], &seen["n_definitions"]), (&"seen".into(), &120.into()));
        assert_eq!(seen["median_rank"]["value"], 1.0);
        assert!(seen["accuracy_at_10_x100"]["interval"].is_array() && result["floor"]["sets"].is_array(), "{result}");
    }
    let plain = folder.run(&["define", "--model", "dict.senv", "--k", "1", "light\tin the dark", "zyzzyva"]).ok();
    assert!(plain.out.starts_with("light in the dark\t0.") && plain.out.ends_with("\tlantern\n"), "{}", plain.out);
    assert!(plain.err.contains("no word of \"zyzzyva\" is known to the model"), "{}", plain.err);
}

#[test]
fn held_out_words_are_unseen_and_others_are_looked_up_beside() {
    let folder = folder();
    let trained = folder.run(&train("dictionary.tsv", &["--epochs", "3", "--held-out", "0.4"])).ok();
    assert!(trained.err.contains("holding out 2 of 6 targets, with 40 texts"), "{}", trained.err);
    assert!(trained.err.contains("best validation"), "{}", trained.err);
    let eval = ["eval", "dictionary", "--model", "dict.senv", "dictionary.tsv"];
    let shown = folder.run(&[&eval[..], &["--against", "vectors.txt", "--sample", "10"]].concat()).ok();
    for says in ["seen", "unseen", "mean of the words", "vectors.txt", "ranks among 6 words"] {
        assert!(shown.out.contains(says), "{says}: {}", shown.out);
    }
    folder.write("other.txt", "tap 1 0\nibex 0 1\n");
    let other = [&eval[..], &["--against", "other.txt"]].concat();
    folder.run(&other).fails(2, &["its vectors have 2 dimensions, expected 4"]);
    folder.write("foreign.tsv", "zyzzyva\ta tap\n");
    let foreign = ["eval", "dictionary", "--model", "dict.senv", "foreign.tsv"];
    folder.run(&foreign).fails(1, &["no definitions of these words"]);
}

#[test]
fn given_vectors_that_stay_keep_their_words_known() {
    let folder = folder();
    let fixed = ["--init-vectors", "vectors.txt", "--updates", "frozen", "--epochs", "2", "--held-out", "0"];
    folder.write("of-words.tsv", "tap\ta valve\nibex\tsort of goat\n");
    let args = ["train", "dict-rep", "--target-vectors", "vectors.txt", "--hidden", "8", "--output", "fixed.senv"];
    folder.run(&[&args[..], &["--definitions", "of-words.tsv"], &fixed].concat()).ok();
    let info = folder.run(&["info", "fixed.senv", "--json"]).ok().json();
    // The words of the vectors, whether training read them or not, and no others.
    assert_eq!(info["words"].as_u64().or(info["vocabulary"].as_u64()), Some(6), "{info}");
}

#[test]
fn bad_dictionaries_are_named_by_line() {
    let folder = folder();
    let fails = |text: &str, code, says: &[&str]| {
        folder.write("bad.tsv", text);
        folder.run(&train("bad.tsv", &[])).fails(code, says);
    };
    fails("tap\tlets water out\ntap lets water out\n", 1, &["bad.tsv:2", "1 tab-separated columns, expected 2"]);
    fails("tap\tlets water out\nibex\t \n", 1, &["bad.tsv:2", "the definition is empty"]);
    fails("\tlets water out\n", 1, &["bad.tsv:1", "the word is empty"]);
    fails("zyzzyva\tlets water out\n", 1, &["none of its words has a target vector"]);
    // A definition of only rare words is left out. A training set of only such definitions is empty.
    let rare = "tap\twater water\nibex\tunheard\n";
    folder.write("rare.tsv", rare);
    let ended = folder.run(&train("rare.tsv", &["--min-count", "2", "--held-out", "0", "--epochs", "1"])).ok();
    assert!(ended.err.contains("skipped 1 of 2 texts without a known word"), "{}", ended.err);
    folder.write("mixed.tsv", "tap\tlets water out\nzyzzyva\ta word\n");
    let mixed = train("mixed.tsv", &["--held-out", "0", "--epochs", "1", "--force"]);
    let ended = folder.run(&mixed).ok();
    assert!(ended.err.contains("skipped 1 of 2 definitions whose words have no vector"), "{}", ended.err);
    let eval = ["eval", "dictionary", "--model", "dict.senv", "bad.tsv"];
    folder.write("bad.tsv", "tap a\n");
    folder.run(&eval).fails(1, &["bad.tsv:1"]);
}

#[test]
fn models_that_know_no_definitions_are_refused_with_the_remedy() {
    let folder = folder();
    folder.write("text.txt", "a b c d\n");
    for command in [
        &["define", "--model", "english", "a tap"][..],
        &["eval", "dictionary", "--model", "english", "dictionary.tsv"],
    ] {
        folder.run(command).fails(1, &["cannot find words by their definitions", "senv train dict-rep"]);
    }
}

/// A NumPy matrix.
fn npy(rows: usize, values: &[f32]) -> Vec<u8> {
    let columns = values.len() / rows;
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    values.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

#[test]
fn captions_go_to_image_vectors_and_matrices_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let captions: String = (0..12)
        .flat_map(|i| {
            let what = ["a dog in the grass", "a train at the station", "soup in a bowl"][i % 3];
            [format!("{i}\t{what} once\n"), format!("{i}\tthere is {what}\n")]
        })
        .collect();
    folder.write("captions.tsv", captions);
    let matrix = |rows: usize| -> Vec<f32> {
        (0..rows).flat_map(|i| [0, 1, 2].map(|j| f32::from(u8::from(i % 3 == j)))).collect()
    };
    let train = |file: &str| {
        let args =
            ["train", "caption-rep", "--captions", "captions.tsv", "--output", "c.senv", "--dim", "8", "--hidden", "8"];
        folder.run(
            &[
                &args[..],
                &[
                    "--loss",
                    "cosine",
                    "--held-out",
                    "0",
                    "--lr",
                    "0.01",
                    "--epochs",
                    "200",
                    "--force",
                    "--image-vectors",
                    file,
                ],
            ]
            .concat(),
        )
    };
    folder.write("images.npy", npy(12, &matrix(12)));
    train("images.npy").ok();
    let similarity = |a: &str, b: &str| {
        let ended = folder.run(&["similarity", "--model", "c.senv", a, b]).ok();
        ended.out.split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    assert!(similarity("a dog in the grass", "there is grass") > similarity("a dog in the grass", "the station") + 0.3);
    folder.run(&["define", "--model", "c.senv", "a dog"]).fails(1, &["a caption-rep model cannot find words"]);

    folder.write("short.npy", npy(11, &matrix(11)));
    train("short.npy").fails(1, &["short.npy", "it has 11 rows, but the captions are of 12 images"]);
    let mut bad = matrix(12);
    bad[7] = f32::INFINITY;
    folder.write("bad.npy", npy(12, &bad));
    train("bad.npy").fails(1, &["bad.npy"]);
    let neither = ["train", "caption-rep", "--captions", "captions.tsv", "--output", "d.senv"];
    assert_eq!(folder.run(&neither).code, Some(2), "no targets");
}

#[test]
fn damaged_words_of_a_dictionary_are_refused() {
    let (folder, whole) = (Folder::new(), &trained("dict-rep").model);
    // Changes one byte at a time, about every hundredth byte after the header. No changed file passes a full check.
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    for place in (header..whole.len()).step_by((whole.len() - header) / 25) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x41;
        folder.write("damaged.senv", bytes);
        let ended = folder.run(&["define", "--model", "damaged.senv", "--verify", "the train"]);
        assert_eq!(ended.code, Some(1), "byte {place}: {}", ended.err);
        assert!(ended.err.contains("damaged.senv") && !ended.err.contains("panicked"), "byte {place}: {}", ended.err);
    }
}
