//! The check of a model: after training, and by `senv info --check`.

use crate::common::{Folder, pairs};

/// Documents of ten sentences, each about one of five things.
fn documents() -> String {
    let sentence = |d: usize, s: usize| {
        let own = (0..5).map(|i| format!("t{}w{}", d % 5, (7 * d + 3 * s + i * i) % 12)).collect::<Vec<_>>();
        format!("the {} and the {}\n", own[..3].join(" "), own[3..].join(" of "))
    };
    (0..40).map(|d| (0..10).map(|s| sentence(d, s)).collect::<String>()).collect::<Vec<_>>().join("\n")
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("text.txt", documents());
    folder
}

#[test]
fn training_ends_with_a_check_that_can_be_switched_off() {
    let folder = folder();
    let ended = folder.train("text.txt", "m.senv", &["--json"]).ok();
    let whole = "which may score lower, with senv info --check";
    for part in [
        "check on 400 sentences of the training text:",
        whole,
        "mean cosine",
        "neighboring sentences",
        "TF-IDF",
        "unknown",
    ] {
        assert!(ended.err.contains(part), "{part:?} is missing in {}", ended.err);
    }
    assert!(
        ended.err.contains("warning: ") && ended.err.contains("words of training text are too few"),
        "{}",
        ended.err
    );
    let check = &ended.json()["check"];
    assert_eq!((&check["sentences"], &check["unknown_words"]), (&400.into(), &0.0.into()), "{check}");
    assert!(check["random"]["mean"].is_number() && check["neighbours"]["pairs"] == 360, "{check}");
    assert_eq!((&check["on_training_text"], &check["neighbours"]["held_out_sentences"]), (&true.into(), &0.into()));
    assert!((check["loss"]["chance"].as_f64().unwrap() - 11.0 * std::f64::consts::LN_2).abs() < 1e-9, "{check}");
    let few = check["warnings"].as_array().unwrap().iter().find(|warning| warning["kind"] == "few-words").unwrap();
    assert!(few["message"].as_str().unwrap().contains("--init-model"), "{few}");

    let ended = folder.train("text.txt", "n.senv", &["--json", "--no-check"]).ok();
    assert!(!ended.err.contains("check on") && !ended.err.contains("warning: "), "{}", ended.err);
    assert!(ended.json().get("check").is_none());
    assert_eq!(folder.read("m.senv"), folder.read("n.senv"));
}

#[test]
fn a_run_that_l1_regularization_keeps_at_the_loss_of_guessing_has_learned_nothing() {
    let folder = Folder::new();
    let text = include_str!("../../../../examples/data/quickstart.txt");
    folder.write("text.txt", text.lines().take(200).collect::<Vec<_>>().join("\n"));
    let small = "--min-count 1 --min-target-count 1 --subsample 1e-2 --buckets 2000 --epochs 5 --json --force";
    let train = |more: &str| {
        let words = format!("train sent2vec --input text.txt --output m.senv --preset books-bi-l1 {small} {more}");
        folder.run(&words.split_whitespace().collect::<Vec<_>>()).ok()
    };
    let guess = 11.0 * std::f64::consts::LN_2;
    for check in ["", "--no-check"] {
        let ended = train(check);
        assert_eq!(ended.err.matches("the model learned nothing").count(), 1, "{}", ended.err);
        assert!(ended.err.contains("(--l1)") && ended.err.contains("(--lr)"), "{}", ended.err);
        let json = ended.json();
        assert!((json["loss"].as_f64().unwrap() / guess - 1.0).abs() < 1e-3, "{json}");
        assert_eq!((&json["learned"], &json["warning"]["kind"]), (&false.into(), &"loss-at-chance".into()), "{json}");
        assert!(json["warning"]["message"].as_str().unwrap().contains("(--l1)"), "{json}");
        for trains in ["--l1 5e-5", "--initial-length 1"] {
            let ended = train(&format!("{trains} {check}"));
            let json = ended.json();
            assert!(!ended.err.contains("the model learned nothing"), "{trains}: {}", ended.err);
            assert!(json["loss"].as_f64().unwrap() < 0.9 * guess, "{trains}: {json}");
            assert_eq!((&json["learned"], json.get("warning")), (&true.into(), None), "{trains}: {json}");
        }
    }
}

#[test]
fn a_run_by_gradient_that_moves_nothing_has_learned_nothing() {
    let folder = Folder::new();
    folder.write("text.txt", documents());
    let words = "train rnn-ae --input text.txt --output m.senv --dim 12 --hidden 8 --epochs 20 --json --force";
    let train = |more: &[&str]| folder.run(&[&words.split(' ').collect::<Vec<_>>(), more].concat()).ok();
    for check in [&[][..], &["--no-check"]] {
        let ended = train(&[&["--lr", "1e-9"], check].concat());
        assert_eq!(ended.err.matches("the model learned nothing").count(), 1, "{}", ended.err);
        assert!(ended.err.contains("(--lr)") && !ended.err.contains("--l1"), "{}", ended.err);
        assert_eq!(ended.json()["learned"], false);
        let ended = train(&[&["--lr", "1e-2"], check].concat());
        assert!(!ended.err.contains("the model learned nothing"), "{}", ended.err);
        assert_eq!(ended.json()["learned"], true);
    }
}

#[test]
fn every_system_on_text_is_checked_and_text_from_a_pipe_too() {
    let folder = folder();
    let small = ["--dim", "12", "--min-count", "1", "--epochs", "1"];
    for system in ["word2vec", "pv-dbow", "pv-dm", "siamese-cbow"] {
        let subsample = if system == "siamese-cbow" { &[][..] } else { &["--subsample", "1"] };
        let args = [&["train", system, "--input", "text.txt", "--output", "m.senv"], &small[..], subsample].concat();
        let ended = folder.run(&args).ok();
        assert!(ended.err.contains("check on 400 sentences"), "{system}: {}", ended.err);
    }
    let args = [&["train", "pp", "--neighbours", "text.txt", "--output", "m.senv"], &small[..]].concat();
    assert!(folder.run(&args).ok().err.contains("check on 400 sentences"));
    let ended = folder.pipe(&Folder::training("-", "m.senv", &[]), documents()).ok();
    assert!(ended.err.contains("check on 400 sentences"), "{}", ended.err);
}

#[test]
fn models_of_pairs_labels_and_targets_are_checked_on_their_sentences_and_few_are_warned_of() {
    let folder = Folder::with_pairs();
    let labelled: String =
        pairs(120).lines().enumerate().map(|(i, l)| format!("{}\t{l}\n", ["entailment", "neutral"][i % 2])).collect();
    folder.write("labelled.tsv", labelled);
    for (system, small) in [
        ("pp --pairs pairs.tsv", "--dim 12 --epochs 1"),
        ("cse --pairs pairs.tsv", "--dim 12 --epochs 1"),
        ("p-thought --pairs pairs.tsv", "--dim 12 --hidden 8 --epochs 1"),
        ("snli --train labelled.tsv", "--dim 12 --epochs 1"),
        ("skip-thought --input pairs.tsv --lines", "--dim 12 --sentence-dim 8 --epochs 1"),
        ("bow-ae --input pairs.tsv --lines", "--dim 12 --epochs 1"),
    ] {
        let words = format!("train {system} {small} --output m.senv --force");
        let args: Vec<&str> = words.split(' ').collect();
        let ended = folder.run(&args).ok();
        assert!(ended.err.contains("check on"), "{system}: {}", ended.err);
        assert!(ended.err.contains("warning: ") && ended.err.contains("give more text"), "{system}: {}", ended.err);
        let ended = folder.run(&[&args[..], &["--no-check"]].concat()).ok();
        assert!(!ended.err.contains("check on"), "{system}: {}", ended.err);
    }
}

#[test]
fn vectors_of_one_direction_are_warned_of_by_info() {
    let folder = folder();
    let words: String = (0..60).map(|i| format!("t{}w{} 1 {}\n", i / 12, i % 12, 0.01 * f64::from(i))).collect();
    folder.write("one.txt", words + "the 1 0.1\nand 1 0.2\nof 1 0.3\n");
    let ended = folder.run(&["info", "--check", "one.txt", "--text", "text.txt"]).ok();
    assert!(ended.out.contains("check on 400 sentences of the text:"), "{}", ended.out);
    assert!(!ended.out.contains("may score lower"), "{}", ended.out);
    assert!(
        ended.err.contains("warning: ") && ended.err.contains("point in nearly the same direction"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("senv train weighted --scheme sif"), "{}", ended.err);

    let ended = folder.run(&["info", "one.txt", "--check", "--text", "text.txt", "--json"]).ok();
    let check = &ended.json()["check"];
    assert_eq!(check["warnings"][0]["kind"], "one-direction", "{check}");
    assert!(check["random"]["mean"].as_f64().unwrap() > 0.9 && check["training_words"].is_null(), "{check}");
    folder.run(&["info", "one.txt", "--check"]).fails(2, &["--text"]);
    folder.run(&["info", "one.txt", "--check", "--text", "no.txt"]).fails(1, &["no.txt"]);
}
