//! `senv eval p-coherence`, `ranking` and `soup` through the program.

use std::{collections::BTreeSet, path::PathBuf};

use rand::RngExt;
use senv::{RandomBow, RandomBowParams};
use senv_core::{NoObserver, rng::stream};
use senv_eval::{ParaphrasePair, ParaphraseSet, evaluate_ranking};

use crate::common::Folder;

const CAPTIONS: &str = "\
7\tThe cat saw the dog
8\tA train left the station
7\tThe dog saw the cat
8\tA train found the station
9\tMy soup liked the bread
";

const PAIRS: &str = "\
1\tThe cat saw the dog\tThe dog found the cat
0\tMy soup liked the bread\tA train left the station
1\tA train left the station\tThe engine passed the bridge
";

#[test]
fn captions_are_measured_beside_random_pairs() {
    let folder = Folder::with_model();
    folder.write("captions.tsv", CAPTIONS);
    let eval = |more: &[&str]| folder.run(&[&["eval", "p-coherence", "--model", "m.senv"], more].concat()).ok();
    let json = eval(&["captions.tsv", "--json", "--random-pairs", "500", "--seed", "4"]).json();
    assert_eq!((&json["model"], &json["n_groups"], &json["n_single_groups"]), (&"m.senv".into(), &2.into(), &1.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    // The captions of an image have the same or nearly the same words.
    assert!(number(&json["p_coherence"]) > 0.5, "{json}");
    assert!(number(&json["p_coherence"]) > number(&json["mean_cosine_across_groups"]));
    assert_eq!((&json["random_pairs"]["n_pairs"], &json["random_pairs"]["seed"]), (&500.into(), &4.into()));
    let distance = number(&json["random_pairs"]["mean_cosine"]) - number(&json["mean_cosine_across_groups"]);
    assert!(distance.abs() < 0.1, "{json}");
    assert!(json["published"].is_null());
    let text = eval(&["captions.tsv"]).out;
    assert!(text.contains("10000 random pairs, seed 1") && !text.contains("InferSent"), "{text}");
    let text = eval(&["captions.tsv", "--published"]).out;
    assert!(text.contains("P-thought two-layer bi [1]") && text.contains("5,000 images of COCO"), "{text}");
    folder.write("flickr.token", "7.jpg#0\tThe cat saw the dog\n7.jpg#1\tThe dog saw the cat\n");
    let json = eval(&["flickr.token", "--json"]).json();
    assert!(json["p_coherence"].is_f64() && json["random_pairs"]["mean_cosine"].is_null());
}

/// The captions in the format of COCO: not sorted by image, and with ids in a different order than in the file.
fn coco(captions: &str) -> String {
    let line = |(i, line): (usize, &str)| {
        let (image, caption) = line.split_once('\t').unwrap();
        format!("{{\"image_id\": {image}, \"id\": {}, \"caption\": \"{caption}\\n\"}}", 10 * i + 3)
    };
    let mut annotations: Vec<String> = captions.lines().enumerate().map(line).collect();
    annotations.reverse();
    format!("{{\"images\": [{{\"id\": 7}}], \"annotations\": [{}]}}", annotations.join(", "))
}

#[test]
fn captions_in_json_train_and_evaluate_as_lines_do() {
    let folder = Folder::with_model();
    let lines =
        "7\tThe cat saw the dog\n7\tThe dog saw the cat\n8\tA train left the station\n8\tA train found the station\n";
    let train = ["train", "pp", "--captions", "captions", "--dim", "4", "--epochs", "2", "--batch", "2"];
    let [of_lines, of_json] = [lines.to_owned(), coco(lines)].map(|text| {
        folder.write("captions", text);
        folder.run(&[&train[..], &["--output", "pp.senv"]].concat()).ok();
        let json = folder.run(&["eval", "p-coherence", "--model", "m.senv", "captions", "--json"]).ok().json();
        let model = folder.read("pp.senv");
        std::fs::remove_file(folder.path("pp.senv")).unwrap();
        (json, model)
    });
    assert_eq!(of_lines, of_json);
    // COCO's file holds out one of two images, then both.
    folder.write("held-out.json", coco(&lines[..44]));
    let decontaminate = ["--decontaminate", "held-out.json", "--output", "pp.senv"];
    let left = folder.run(&[&train[..], &decontaminate].concat()).ok();
    assert!(left.err.contains("1 group; left out: 1 held out"), "{}", left.err);
    folder.write("instances.json", "{\"annotations\": [{\"image_id\": 1, \"bbox\": [1]}]}");
    folder
        .run(&["eval", "p-coherence", "--model", "m.senv", "instances.json"])
        .fails(1, &["instances.json: missing field `caption`", "captions_*.json"]);
}

#[test]
fn paraphrases_are_ranked_in_both_layouts() {
    let folder = Folder::with_model();
    folder.write("pairs.tsv", PAIRS);
    let mut published = String::from("\u{feff}Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n");
    for (i, line) in PAIRS.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        published += &format!("{}\t{i}\t{}\t{}\t{}\r\n", cells[0], i + 70, cells[1], cells[2]);
    }
    folder.write("msr.txt", &published);
    let eval = |more: &[&str]| folder.run(&[&["eval", "ranking", "--model", "m.senv"], more].concat()).ok();
    let [short, long] = ["pairs.tsv", "msr.txt"].map(|file| eval(&[file, "--json"]).json());
    for pool in ["distinct", "raw"] {
        assert_eq!(short["ranking"][pool], long["ranking"][pool]);
        assert!(short["ranking"][pool]["mean_rank"].as_f64().unwrap() >= 1.0);
    }
    assert_eq!((&short["ranking"]["distinct"]["n_pool"], &short["ranking"]["raw"]["n_pool"]), (&5.into(), &6.into()));
    assert_eq!(short["zero_shot"]["sets"][0]["average_precision"], long["zero_shot"]["sets"][0]["average_precision"]);
    assert!(short["zero_shot"]["together"].is_null());
    let both = eval(&["pairs.tsv", "msr.txt", "--published", "--svg", "pr.svg"]).out;
    for part in ["distinct strings", "mean rank (MRC)", "BOW autoencoder [1]", "all pairs together", "6 pairs"] {
        assert!(both.contains(part), "{part:?} is missing in:\n{both}");
    }
    assert!(folder.read("pr.svg").starts_with(b"<svg "));
    assert!(!eval(&["pairs.tsv"]).out.contains("autoencoder"));
}

#[test]
fn random_bow_ranks_as_the_sums_of_its_word_vectors_do() {
    // Paraphrases share three of eight words, from a vocabulary of sixty. Some are found immediately, and others are
    // far down.
    let mut rng = stream(5, "sentences", &[]);
    let mut words = |n: usize| -> Vec<String> {
        let letter = |i: u8| char::from(b'a' + i);
        let word = |i: u8| format!("z{}{}", letter(i / 26), letter(i % 26));
        (0..n).map(|_| word(rng.random_range(0..60_u8))).collect()
    };
    let mut sentences: Vec<Vec<String>> = Vec::new();
    for _ in 0..120 {
        let first = words(8);
        let second = [&first[..3], &words(5)[..]].concat();
        sentences.extend([first, second]);
    }
    // Case does not distinguish words, and a punctuation mark is a word.
    let text = |words: &[String]| format!("Z{} .", &words.join(" ")[1..]);
    let texts: Vec<String> = sentences.iter().map(|words| text(words)).collect();
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 240);
    let pair = |two: &[String]| ParaphrasePair { is_paraphrase: true, first: two[0].clone(), second: two[1].clone() };
    let set = ParaphraseSet { path: PathBuf::from("pairs.tsv"), pairs: texts.chunks(2).map(pair).collect() };
    let model = RandomBow::new(RandomBowParams { dim: 100, ..RandomBowParams::default() }).unwrap();
    let result = evaluate_ranking(&model, &[set], &NoObserver).unwrap();

    let of_word = |word: &str| model.encode(&[word]).unwrap().mapv(f64::from).into_iter().collect::<Vec<f64>>();
    let unit = |words: &Vec<String>| {
        let mut sum = of_word(".");
        for word in words {
            sum.iter_mut().zip(of_word(word)).for_each(|(sum, x)| *sum += x);
        }
        let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        sum.iter().map(|x| x / norm).collect::<Vec<f64>>()
    };
    let units: Vec<Vec<f64>> = sentences.iter().map(unit).collect();
    for (query, &rank) in result.ranks.iter().enumerate() {
        let cosine = |other: usize| units[query].iter().zip(&units[other]).map(|(x, y)| x * y).sum::<f64>();
        let others = (0..240).filter(|&other| other != query && other != query ^ 1);
        // The program computes cosines in f32, so nearly equal ones may be ranked in either order.
        let (best, others): (f64, Vec<f64>) = (cosine(query ^ 1), others.map(cosine).collect());
        let nearer = |than: f64| 1 + others.iter().filter(|&&other| other > than).count();
        assert!((nearer(best + 1e-5)..=nearer(best - 1e-5)).contains(&rank), "query {query}: {rank}");
    }
    assert_eq!((result.ranks.len(), result.distinct.n_pool, result.raw.n_pool), (240, 240, 240));
    assert!(result.ranks.contains(&1) && result.ranks.iter().any(|&rank| rank > 10), "{:?}", result.ranks);
    assert_eq!(result.distinct.mean_rank, Some(result.ranks.iter().sum::<usize>() as f64 / 240.0));
}

#[test]
fn soup_is_built_in_and_other_groups_are_read() {
    let folder = Folder::with_model();
    let eval = |more: &[&str]| folder.run(&[&["eval", "soup", "--model", "m.senv"], more].concat()).ok();
    let text = eval(&["--published"]).out;
    assert!(text.contains("My soup is not hot anymore") && text.contains("SNLI RNN [1]"), "{text}");
    let json = eval(&["--json"]).json();
    assert_eq!(json["references"].as_array().unwrap().len(), 6);
    assert_eq!(json["references"][0]["ranked"].as_array().unwrap().len(), 5);
    folder.write("groups.tsv", CAPTIONS);
    let json = eval(&["groups.tsv", "--json"]).json();
    assert_eq!(json["references"].as_array().unwrap().len(), 5);
    assert!(json["references"][4]["average_precision"].is_null(), "alone in its group");
    assert!(json["mean_average_precision"].as_f64().unwrap() > 0.5);
}

#[test]
fn a_bad_line_is_named_with_file_and_number() {
    let folder = Folder::with_model();
    let fails = |what: &str, text: &str, says: &[&str]| {
        folder.write("bad.tsv", text);
        folder.run(&["eval", what, "--model", "m.senv", "bad.tsv"]).fails(1, says);
    };
    for what in ["p-coherence", "soup"] {
        fails(what, "1\ta\n1 b\n", &["bad.tsv:2", "expected 2 (group, sentence)", "single tab"]);
        fails(what, "1\ta\n\tb\n", &["bad.tsv:2", "the group is empty", "delete the line"]);
        fails(what, "1\ta\n2\tb\n", &["bad.tsv", "none of the 2 groups has two sentences", "the same group name"]);
        fails(what, "", &["bad.tsv", "lines of group and sentence"]);
    }
    fails("soup", "1\ta\n1\tb\n", &["two or more"]);
    fails("ranking", "1\ta\tb\n7\ta\tb\n", &["bad.tsv:2", "\"7\" is neither 0 nor 1"]);
    fails("ranking", "1\ta\n", &["bad.tsv:1", "expected 3"]);
    fails("ranking", "", &["bad.tsv contains no pair", "0 or 1 and two sentences"]);
    fails("ranking", "0\ta\tb\n", &["no pairs of paraphrases (label 1)"]);
    for what in ["p-coherence", "ranking", "soup"] {
        folder.run(&["eval", what, "--model", "m.senv", "absent.tsv"]).fails(1, &["cannot open absent.tsv"]);
        assert!(folder.run(&["eval", what, "--help"]).ok().out.contains("Examples:"));
    }
    for what in ["p-coherence", "ranking"] {
        assert_eq!(folder.run(&["eval", what, "--model", "m.senv"]).code, Some(2));
    }
    let args = ["eval", "p-coherence", "--model", "m.senv", "bad.tsv", "--random-pairs", "-1"];
    assert_eq!(folder.run(&args).code, Some(2));
}
