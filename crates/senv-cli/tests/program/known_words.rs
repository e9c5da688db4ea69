//! Text that a model does not know. Warnings come before the cosines.

use serde_json::Value;

use crate::common::Folder;

const ENGLISH: [&str; 6] = [
    "The train was late, so we walked home in the rain.",
    "Nobody had an umbrella with them.",
    "A kitten naps on the couch.",
    "The parliament voted on the budget.",
    "He bought a new car last week.",
    "Dark clouds gathered over the hills.",
];
const GERMAN: [&str; 6] = [
    "Der Zug kam zu spät, also gingen wir im Regen nach Hause.",
    "Niemand hatte einen Schirm dabei.",
    "Ein Kätzchen schläft auf dem Sofa.",
    "Das Parlament stimmte über den Haushalt ab.",
    "Letzte Woche kaufte er ein neues Auto.",
    "Dunkle Wolken zogen über den Hügeln auf.",
];
const CHINESE: [&str; 3] = ["火车晚点了,我们冒雨走回家。", "没有人带伞。", "小猫在沙发上睡觉。"];
const CODE: [&str; 6] = [
    "fn look_up(vocab: &HashMap<String, usize>, tok: &str) -> Option<usize> {",
    "let n_rows = cfg.n_rows.unwrap_or_default();",
    "for (idx, row) in rows.iter_mut().enumerate() {",
    "impl<T: Clone> From<Vec<T>> for Matrix2d<T> {",
    "pub(crate) struct ArgMax { n_dim: usize, buf: Vec<f32> }",
    "assert_eq!(vec_sum(&xs), 3.0_f32, \"{xs:?}\");",
];
const WARNING: &str = "% of the words in ";
const BUILT_IN: &str = "the built-in model is for English only";
const IS_CODE: &str = "the text looks like program code";
/// English with words that nobody knows: 6 of 32.
const DOMAIN: [&str; 3] = [
    "The qwzortlin of the patient was raised after the vorplaxine.",
    "We gave the zmbrolium with a brindqate for two days.",
    "In the end the kwarpomax was low, and so was the flozbirt.",
];

fn share(json: &Value) -> f64 {
    json["known_word_share"].as_f64().unwrap_or_else(|| panic!("{json}"))
}

/// Pairs of neighboring sentences after a first cell, repeated several times.
fn pairs(sentences: &[&str], times: usize, before: impl Fn(usize) -> String) -> String {
    let pairs = (0..times * sentences.len()).map(|i| {
        let [first, second] = [i, i + 1 + i / sentences.len()].map(|i| sentences[i % sentences.len()]);
        format!("{}{first}\t{second} {i}\n", before(i))
    });
    pairs.collect()
}

#[test]
fn text_that_the_english_model_does_not_know_is_warned_of_once() {
    let folder = Folder::new();
    for (name, lines) in [("de", &GERMAN[..]), ("zh", &CHINESE), ("code", &CODE), ("en", &ENGLISH)] {
        folder.write(&format!("{name}.txt"), lines.join("\n"));
        folder.write(&format!("{name}.tsv"), pairs(lines, 1, |_| String::new()));
        let (text, tsv) = (format!("{name}.txt"), format!("{name}.tsv"));
        let commands: [&[&str]; 5] = [
            &["encode", &text, "--output", "v.npy", "--force"],
            &["encode", &text],
            &["nearest", &text, "--query", ENGLISH[0]],
            &["similarity", &tsv],
            &["similarity", lines[0], lines[1], "--quiet"],
        ];
        for args in commands {
            let said = folder.run(args).ok().err;
            let expected = usize::from(name != "en");
            let what = if name == "code" { IS_CODE } else { BUILT_IN };
            assert_eq!([what, WARNING].map(|part| said.matches(part).count()), [expected; 2], "{args:?}: {said}");
            if name != "en" {
                assert!(said.contains("(senv train), or use another model (--model)"), "{said}");
            }
        }
    }
}

#[test]
fn english_of_a_special_subject_gets_a_milder_warning_once() {
    let folder = Folder::new();
    folder.write("text.txt", format!("{}\n", DOMAIN.join("\n")).repeat(40));
    folder.write("queries.txt", format!("{}\n", DOMAIN.join("\n")).repeat(40));
    for args in [
        &["encode", "text.txt", "--output", "v.npy", "--force"][..],
        &["nearest", "text.txt", "--queries", "queries.txt"],
        &["index", "text.txt", "--output", "c.index", "--force"],
        &["search", "c.index", "--queries", "queries.txt"],
    ] {
        let said = folder.run(args).ok().err;
        assert_eq!(said.matches("% of the words are unknown; results may be weaker").count(), 1, "{args:?}: {said}");
        assert!(said.contains("warning: 19 % of the words") && said.contains("(senv train)"), "{said}");
        assert!(!said.contains(BUILT_IN) && !said.contains(IS_CODE), "{said}");
    }
}

#[test]
fn the_beginning_of_a_text_decides_and_is_measured_before_its_end() {
    let folder = Folder::new();
    let (english, german) =
        (format!("{}\n", ENGLISH.join("\n")).repeat(200), format!("{}\n", GERMAN.join("\n")).repeat(200));
    folder.write("turns.txt", format!("{english}{german}"));
    folder.write("german.txt", format!("{german}{english}"));
    for (name, expected) in [("turns.txt", 0), ("german.txt", 1)] {
        for args in [&["encode", name, "--output", "v.npy", "--force"][..], &["nearest", name, "--query", "rain"]] {
            let said = folder.run(args).ok().err;
            assert_eq!(said.matches("% of the words in 1000 sentences").count(), expected, "{args:?}: {said}");
        }
    }
}

#[test]
fn a_model_of_ones_own_is_held_against_its_own_words() {
    let folder = Folder::with_model();
    let encode = |text: &str| folder.pipe(&["encode", "--model", "m.senv"], text).ok().err;
    let own = String::from_utf8(folder.read("text.txt")).unwrap();
    assert!(!encode(&own).contains(WARNING));
    let other = encode(&GERMAN.join("\n"));
    assert_eq!(other.matches("m.senv: ").count(), 1, "{other}");
    assert!(other.contains("with less than 70 %") && !other.contains(BUILT_IN), "{other}");
}

#[test]
fn the_share_is_in_the_json_of_every_command() {
    let folder = Folder::new();
    folder.write("en.txt", ENGLISH.join("\n"));
    let nearest = folder.run(&["nearest", "en.txt", "--query", "mutex at noon", "--json"]).ok().json();
    assert_eq!((share(&nearest), nearest["text_known_word_share"].as_f64()), (2.0 / 3.0, Some(1.0)), "{nearest}");
    let similarity = folder.run(&["similarity", "a cat", "a mutex, 2", "--json"]).ok().json();
    assert_eq!(similarity["known_word_share"], serde_json::json!([1.0, 0.5]), "{similarity}");

    let gold = |i: usize| ["1", "2", "3", "4", "5"][i % 5];
    let labels = ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"];
    for (lines, knows) in [(&ENGLISH[..], true), (&GERMAN, false)] {
        folder.write("sts.tsv", pairs(lines, 2, |i| format!("{}\t", gold(i))));
        folder.write("sick.tsv", pairs(lines, 2, |i| format!("{}\t{}\t", gold(i), labels[i % 3])));
        folder.write("nli.tsv", pairs(lines, 4, |i| format!("{}\t", labels[i % 3].to_lowercase())));
        folder.write("msrp.tsv", pairs(lines, 8, |i| format!("{}\t", i % 2)));
        let groups = lines.iter().enumerate().map(|(i, line)| format!("{}\t{line}\n{}\t{line} {i}\n", i / 2, i / 2));
        folder.write("groups.tsv", groups.collect::<String>());
        folder.write("classes.tsv", (0..60).map(|i| format!("{}\t{} {i}\n", i % 2, lines[i % 6])).collect::<String>());
        let commands: [&[&str]; 13] = [
            &["sts", "sts.tsv", "--resamples", "0", "--no-floor"],
            &["sts", "sts.tsv", "--resamples", "0", "--no-floor", "--against", "english"],
            &["stsb", "sts.tsv"],
            &["sick", "sick.tsv"],
            &["p-coherence", "groups.tsv"],
            &["ranking", "msrp.tsv"],
            &["soup", "groups.tsv"],
            &["nli", "nli.tsv", "--train", "nli.tsv"],
            &["classify", "classes.tsv", "--folds", "2"],
            &["msrp", "--train", "msrp.tsv", "--hold-out"],
            &["histograms", "--by", "paraphrase", "msrp.tsv"],
            &["map", "groups.tsv", "--perplexity", "3", "--steps", "10"],
            &["latency", "sts.tsv", "--warm-up", "0"],
        ];
        for args in commands {
            let ended = folder.run(&[&["eval"], args, &["--json"]].concat()).ok();
            let models = 1 + usize::from(args.contains(&"--against"));
            assert_eq!(share(&ended.json()) > 0.9, knows, "{args:?}: {}", ended.out);
            assert_eq!(ended.err.matches(WARNING).count(), if knows { 0 } else { models }, "{args:?}: {}", ended.err);
        }
        std::fs::create_dir_all(folder.path("data/sts/2014")).unwrap();
        folder.write("data/sts/2014/images.tsv", folder.read("sts.tsv"));
        let all = ["eval", "all", "--data", "data", "--only", "sts", "--no-baselines", "--json", "all.json", "--force"];
        let ended = folder.run(&all).ok();
        let record: Value = serde_json::from_slice(&folder.read("all.json")).unwrap();
        assert_eq!(share(&record["systems"][0]) > 0.9, knows, "{record}");
        assert_eq!(ended.err.matches(WARNING).count(), usize::from(!knows), "{}", ended.err);
    }
}

#[test]
fn a_word_that_is_hashed_has_no_neighbours() {
    let folder = Folder::new();
    let refused = folder.run(&["nearest", "--query", "mutex", "--words"]);
    assert_eq!(refused.fails(1, &["no word of \"mutex\" is known to the model", "senv train", "--model"]).out, "");
    folder
        .run(&["nearest", "--query", "mutex", "--query", "互斥锁", "--words", "--json"])
        .fails(1, &["mutex", "1 other"]);

    // With several queries, a warning names the unknown one, and the others are answered.
    let some = folder.run(&["nearest", "--query", "mutex", "--query", "doctor", "--k", "1", "--json", "--words"]).ok();
    let [mutex, doctor] = [0, 1].map(|i| serde_json::from_str::<Value>(some.out.lines().nth(i).unwrap()).unwrap());
    assert_eq!((share(&mutex), mutex["neighbours"].as_array().unwrap().len()), (0.0, 0), "{mutex}");
    assert_eq!((share(&doctor), doctor["neighbours"].as_array().unwrap().len()), (1.0, 1), "{doctor}");
    assert_eq!(some.err.matches("no word of \"mutex\" is known").count(), 1, "{}", some.err);

    // An inflected form of a known word is known. Next to a known word, an unknown one is left out.
    let forms = folder.run(&["nearest", "--query", "trotted", "--k", "1", "--words"]).ok().out;
    assert!(forms.ends_with("\ttrot\n"), "{forms}");
    let nearest = |query: &str| folder.run(&["nearest", "--query", query, "--k", "3", "--words"]).ok().out;
    assert_eq!(nearest("doctor mutex").lines().nth(1), nearest("doctor").lines().next());
}

#[test]
fn a_query_without_a_known_word_is_warned_of() {
    let folder = Folder::new();
    folder.write("en.txt", ENGLISH.join("\n"));
    let search = |query: &str| folder.run(&["nearest", "en.txt", "--query", query, "--k", "1"]).ok();
    let unknown = search("mutex 3.");
    assert_eq!(unknown.err.matches("no word of \"mutex 3.\" is known to the model").count(), 1, "{}", unknown.err);
    assert_eq!(unknown.out.lines().count(), 1, "{}", unknown.out);
    assert_eq!(search("the mutex").err, "");
}

#[test]
fn a_collection_says_how_much_of_its_text_the_model_knows() {
    let folder = Folder::new();
    folder.write("en.txt", ENGLISH.join("\n"));
    folder.write("de.txt", GERMAN.join("\n"));
    let index = |args: &[&str]| folder.run(&[&["index", "--output", "text.index"], args].concat()).ok().err;
    let english = index(&["en.txt"]);
    assert!(!english.contains(WARNING), "{english}");
    let info = || folder.run(&["info", "text.index", "--json"]).ok().json();
    let before = info()["known_words"].as_f64().unwrap();
    assert!(before > 0.9, "{before}");
    let german = index(&["--add", "de.txt"]);
    assert!(german.contains(BUILT_IN) && german.contains(WARNING), "{german}");
    assert!(info()["known_words"].as_f64().unwrap() < before - 0.2);
    let found = folder.run(&["search", "text.index", "--query", "mutex 3.", "--query", "a train", "--json"]).ok();
    assert_eq!(found.err.matches("no word of \"mutex 3.\" is known to the model").count(), 1, "{}", found.err);
    let shares: Vec<f64> = found.out.lines().map(|line| share(&serde_json::from_str(line).unwrap())).collect();
    assert_eq!(shares, [0.0, 1.0]);
}
