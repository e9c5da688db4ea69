//! One sentence typed in different ways: the normalization of trained models, and of models that get it later.

use crate::common::{Folder, pairs, text};

/// The sentence, and the same sentence in other typings.
const PLAIN: &str = "The door wasn't open - it rained.";
const TYPED: [&str; 7] = [
    "The door wasn’t open – it rained.",
    "The door wasn`t open — it rained…",
    "The door wasnt open -- it rained...",
    "The\u{A0}door wasn´t op\u{200B}en - it rained.",
    "\u{FEFF}The do\u{AD}or wasnʼt open − it rained.",
    "Ｔｈｅ ｄｏｏｒ ｗａｓｎ＇ｔ ｏｐｅｎ － ｉｔ ｒａｉｎｅｄ．",
    "The  door  wasn't open---it rained. ",
];

/// The version of the format that a model file states.
fn version(folder: &Folder, model: &str) -> char {
    let bytes = folder.read(model);
    let key = b"\"senv.format_version\":\"";
    let at = bytes.windows(key.len()).position(|part| part == key).unwrap();
    char::from(bytes[at + key.len()])
}

fn cosine(folder: &Folder, model: &str, first: &str, second: &str) -> f32 {
    folder.run(&["similarity", "--model", model, first, second]).ok().out.trim().parse().unwrap()
}

#[test]
fn a_start_model_gives_its_rule_unless_one_is_given() {
    let folder = Folder::new();
    folder.write("a.txt", text(400) + &format!("{PLAIN}\n").repeat(20));
    folder.write("p.tsv", pairs(60) + &format!("{PLAIN}\t{PLAIN}\n").repeat(20));
    let old =
        ["train", "sent2vec", "--input", "a.txt", "--dim", "8", "--epochs", "1", "--no-check", "--min-count", "1"];
    for rule in ["typing", "none"] {
        folder.run(&[&old[..], &["--output", &format!("{rule}.senv"), "--normalize", rule]].concat()).ok();
    }
    let systems = [["sent2vec", "--input", "a.txt"], ["fast-sent", "--input", "a.txt"], ["pp", "--pairs", "p.tsv"]];
    for (start, given, expected) in [
        ("typing", None, "typing"),
        ("none", None, "none"),
        ("typing", Some("none"), "none"),
        ("none", Some("typing"), "typing"),
    ] {
        for system in systems {
            let rule = given.map_or(Vec::new(), |rule| vec!["--normalize", rule]);
            let start = format!("{start}.senv");
            let args = [&["train"][..], &system, &["--init-model", &start, "--epochs", "1", "--no-check"], &rule];
            folder.run(&[&args.concat()[..], &["--output", "m.senv", "--force"]].concat()).ok();
            let is_same = cosine(&folder, "m.senv", PLAIN, TYPED[0]) > 0.9999;
            assert_eq!(is_same, expected == "typing", "{system:?} from {start} with {given:?}");
        }
    }
}

#[test]
fn models_are_trained_to_read_every_typing_unless_asked_otherwise() {
    let folder = Folder::new();
    let told = format!("{}{}", text(600), format!("{PLAIN}\nThe doors were open, and it didn't rain.\n").repeat(30));
    folder.write("text.txt", told);
    let train = |output: &str, more: &[&str]| {
        let args = ["train", "sent2vec", "--input", "text.txt", "--output", output, "--no-check"];
        let small = ["--dim", "8", "--epochs", "1", "--min-count", "1"];
        folder.run(&[&args[..], &small, more].concat())
    };
    train("typed.senv", &[]).ok();
    assert_eq!(version(&folder, "typed.senv"), '2');
    for typed in TYPED {
        assert!(cosine(&folder, "typed.senv", PLAIN, typed) > 0.9999, "{typed}");
    }
    assert!(cosine(&folder, "typed.senv", PLAIN, "The door was open.") < 0.99);
    train("raw.senv", &["--normalize", "none"]).ok();
    assert_eq!(version(&folder, "raw.senv"), '1', "earlier programs open it");
    assert!(cosine(&folder, "raw.senv", PLAIN, TYPED[0]) < 0.99);
    // Settings of papers leave text as it is.
    train("release.senv", &["--preset", "release"]).ok();
    assert_eq!(version(&folder, "release.senv"), '1');
    train("x.senv", &["--normalize", "nfc"]).fails(2, &["--normalize", "typing"]);
}

#[test]
fn a_model_gets_the_normalization_later_and_loses_it_again() {
    let folder = Folder::new();
    let compress = |model: &str, rule: &str, output: &str| {
        folder.run(&["compress", "--model", model, "--normalize", rule, "--output", output])
    };
    let (typed, none) = (cosine_of_english(&folder, "typing"), cosine_of_english(&folder, "none"));
    assert!(typed > 0.9999 && none < 0.99, "{typed} {none}");
    // Vectors from elsewhere, without the rule.
    folder.write("glove.vec", "5 3\nthe 1 0 0\ndoor 0 1 0\nwas 0 0 1\nn't 1 1 0\nopen 0 1 1\n");
    compress("glove.vec", "typing", "glove.senv").ok();
    assert_eq!(version(&folder, "glove.senv"), '2');
    assert!(cosine(&folder, "glove.senv", "the door wasn't open", "the door wasn’t open…") > 0.9999);
    compress("glove.senv", "none", "raw.senv").ok();
    assert_eq!(version(&folder, "raw.senv"), '1');
    assert!(cosine(&folder, "raw.senv", "the door wasn't open", "the door wasn’t open") < 0.99);
    compress("raw.senv", "none", "same.senv").fails(1, &["already compressed", "--normalize"]);
}

/// The cosine of one sentence in two typings, by the English model with a rule.
fn cosine_of_english(folder: &Folder, rule: &str) -> f32 {
    let output = format!("english-{rule}.senv");
    let words = ["--max-vocabulary", "20000", "--normalize", rule];
    folder.run(&[&["compress", "--model", "english", "--output", &output][..], &words].concat()).ok();
    cosine(folder, &output, "The door wasn't open.", "The door wasn’t open…")
}

#[test]
fn models_side_by_side_have_one_rule() {
    let folder = Folder::new();
    folder.write("pairs.tsv", pairs(60));
    for rule in ["typing", "none"] {
        let output = format!("{rule}.senv");
        let args = ["train", "pp", "--pairs", "pairs.tsv", "--dim", "8", "--epochs", "1", "--no-check"];
        folder.run(&[&args[..], &["--normalize", rule, "--output", &output]].concat()).ok();
    }
    let both = ["compress", "--model", "typing.senv", "--with", "none.senv", "--output", "both.senv"];
    folder.run(&both).fails(1, &["tokenize text differently", "--normalize"]);
    folder.run(&[&both[..], &["--normalize", "typing"]].concat()).ok();
    assert_eq!(version(&folder, "both.senv"), '2');
}
