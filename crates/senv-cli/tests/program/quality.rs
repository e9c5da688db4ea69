//! The main task on the sample text, compared with human judgment: it is not enough that commands run.

use senv::{Model, Terms};
use senv_store::Embeddings;
use serde_json::Value;

use crate::{
    common::Folder,
    systems::{SYSTEMS, samples},
};

fn pearson(result: &Value) -> f64 {
    result["overall"]["plain_mean_over_tasks"]["pearson_r_x100"].as_f64().unwrap()
}

#[test]
fn a_model_of_the_sample_text_ranks_sentences_better_than_what_needs_no_training() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");
    let (text, pairs) = (format!("{data}quickstart.txt"), format!("{data}sts-sample.tsv"));
    let folder = Folder::with_text(1);
    folder.run(&["train", "--input", &text, "--from", "scratch", "--output", "m.senv"]).ok();
    let judged = folder.run(&["eval", "sts", "--model", "m.senv", &pairs, "--json"]).ok().json();
    let floor = judged["floor"].as_array().unwrap();
    assert_eq!(floor.len(), 4);
    for system in floor {
        assert!(pearson(&judged) > pearson(system) + 2.0, "{}: {}", system["system"], pearson(system));
    }
    let nearest = |query: &str| {
        let args = ["nearest", "--model", "m.senv", "--input", &text, "--query", query, "--k", "5"];
        folder.run(&args).ok().out
    };
    let trains = nearest("The train is late.");
    let about =
        trains.lines().filter(|line| ["train", "passengers", "express", "delay"].iter().any(|w| line.contains(w)));
    assert_eq!(about.count(), 5, "{trains}");
    let similarity = |a: &str, b: &str| -> f64 {
        folder.run(&["similarity", "--model", "m.senv", a, b]).ok().out.trim().parse().unwrap()
    };
    let near = similarity("Rain is coming.", "A storm brings rain.");
    let far = similarity("Rain is coming.", "The bread went into the oven.");
    assert!(near > far + 0.2, "{near} {far}");
}

/// English text fine-tunes the English model: by default if the terms of that model are permissive, and in any case if
/// it is asked for. The output names the terms. Other text is trained from scratch.
#[test]
fn the_best_start_is_taken_and_carries_its_terms() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");
    let (text, pairs) = (format!("{data}quickstart.txt"), format!("{data}sts-sample.tsv"));
    let folder = Folder::new();
    let judge = |model: &str| {
        pearson(&folder.run(&["eval", "sts", "--model", model, &pairs, "--json", "--no-floor"]).ok().json())
    };
    let terms_of = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["terms"].clone();
    let (terms, license) = (senv_english::TERMS, Terms::new(senv_english::TERMS).license());
    let ended = folder.run(&["train", &text, "--output", "m.senv", "--json"]).ok();
    let start = &ended.json()["start"];
    assert!(start["known_words"].as_f64().unwrap() > 0.95 && start["terms"] == terms, "{start}");
    assert!(ended.err.contains("(choose with --from scratch, english or MODEL)"), "{}", ended.err);
    if Terms::new(terms).is_permissive() {
        assert_eq!((&start["start"], &start["terms_decided"]), (&"fine-tuned".into(), &false.into()), "{start}");
        let trial = &start["trial"];
        let [scratch, fine_tuned] = ["scratch", "fine_tuned"].map(|name| trial[name].as_f64().unwrap());
        assert!(fine_tuned > scratch && scratch > trial["tf_idf"].as_f64().unwrap() / 2.0, "{trial}");
        assert!(ended.err.contains(&format!("start: fine-tuned from English ({license})")), "{}", ended.err);
        assert_eq!(terms_of("m.senv"), terms);
    } else {
        assert_eq!((&start["start"], &start["terms_decided"]), (&"scratch".into(), &true.into()), "{start}");
        let said = format!("start: from scratch; senv's English model is under {license}");
        assert!(start["trial"].is_null() && ended.err.contains(&said), "{}", ended.err);
        assert!(terms_of("m.senv").is_null());
    }

    // Asked for, the English model is the start, and models made from it inherit the terms.
    let said = folder.run(&["train", &text, "--from", "english", "--output", "tuned.senv"]).ok().err;
    assert!(said.contains(&format!("start: fine-tuned from english ({license})")) && said.contains(terms), "{said}");
    assert_eq!(terms_of("tuned.senv"), terms);
    assert!(judge("tuned.senv") > judge("english") - 2.0);
    folder.run(&["compress", "--model", "tuned.senv", "--output", "small.senv"]).ok();
    assert_eq!(terms_of("small.senv"), terms);

    // Models trained from scratch have none.
    let said = folder.run(&["train", &text, "--from", "scratch", "--output", "own.senv"]).ok().err;
    assert!(!said.contains("start:") && !said.contains(license), "{said}");
    assert!(terms_of("own.senv").is_null());
    let said = folder.run(&["train", &text, "--dim", "20", "--output", "own.senv"]).ok().err;
    assert!(said.contains("from scratch, because --dim is given"), "{said}");
    folder.run(&["train", &text, "--from", "nowhere", "--output", "x.senv"]).fails(1, &["nowhere"]);

    // A language that the English model does not know, and made-up words.
    let german = "Der Zug kam zu spät, also gingen wir im Regen nach Hause.\nNiemand hatte einen Schirm dabei.\n\n";
    let made_up = |line: usize| (0..8).map(|i| format!("zq{}xk ", (line * 7 + i * i) % 90)).collect::<String>() + "\n";
    for other in [german.repeat(60), (0..200).map(made_up).collect()] {
        folder.write("other.txt", other);
        let ended = folder.run(&["train", "other.txt", "--output", "other.senv", "--json"]).ok();
        assert_eq!(ended.json()["start"]["start"], "scratch", "{}", ended.err);
        let why = "start: from scratch; senv's English model knows ";
        assert!(ended.err.contains(why) && terms_of("other.senv").is_null(), "{}", ended.err);
    }
}

/// Some pairs are held out, and the model is compared with a count of common words.
#[test]
fn pairs_are_checked_on_some_that_training_has_not_seen() {
    let folder = Folder::new();
    // Each pair has its own words, in different forms. The first three letters show which sentences belong together.
    let word = |i: usize| format!("{}{}{}", ["ba", "ko", "mi", "tu"][i % 4], i / 4, ["ra", "lo"][i % 2]);
    let pair = |i: usize| format!("{} {} sat\t{}s {} lay\n", word(i), word(i + 1), word(i), word(i + 1));
    folder.write("pairs.tsv", (0..2500).map(pair).collect::<String>());
    let train = ["train", "--pairs", "pairs.tsv", "--output", "m.senv", "--json"];
    let ended = folder.run(&train).ok();
    assert!(ended.err.contains("200 pairs held out of training for the check"), "{}", ended.err);
    let check = ended.json()["check"]["pairs"].clone();
    assert_eq!(check["pairs"], 200, "{check}");
    let [mrr, tf_idf] = ["mrr", "tf_idf_mrr"].map(|name| check[name].as_f64().unwrap());
    assert!(mrr > 0.0 && tf_idf > 0.5, "{check}");
    let warned = ended.err.contains("shared words alone (TF-IDF) find the partner better");
    assert_eq!(warned, check["tf_idf_ahead"].as_f64().unwrap() > 2.0, "{}", ended.err);
    let unchecked = folder.run(&[&train[..], &["--no-check", "--force"]].concat()).ok();
    assert!(!unchecked.err.contains("held out") && unchecked.json()["check"].is_null(), "{}", unchecked.err);
}

/// Fine-tuned on a text, the English model keeps its knowledge and learns the words that it lacks.
#[test]
fn a_model_fine_tuned_on_text_in_order_knows_its_words() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");
    let (sample, pairs) = (format!("{data}quickstart.txt"), format!("{data}sts-sample.tsv"));
    let folder = Folder::new();
    let renamed = std::fs::read_to_string(&sample).unwrap().replace("train", "zugzwang");
    folder.write("text.txt", &renamed);
    let train = ["train", "--input", "text.txt", "--output", "m.senv"];
    let said = folder.run(&[&train[..], &["--init-model", "english"]].concat()).ok().err;
    assert!(said.contains("vectors that are already trained") && said.contains("words start from english"), "{said}");
    let judge =
        |model: &str| folder.run(&["eval", "sts", "--model", model, &pairs, "--json", "--no-floor"]).ok().json();
    let (english, own) = (pearson(&judge("english")), pearson(&judge("m.senv")));
    assert!(own > english - 2.0, "{own} after {english}");
    let nearest = folder.run(&["nearest", "--model", "m.senv", "--query", "zugzwang", "--k", "10"]).ok().out;
    let about = ["train", "station", "platform", "railway", "passenger", "late", "express", "timetable"];
    assert!(about.iter().any(|word| nearest.contains(word)), "{nearest}");

    let bigrams = ["train", "sent2vec", "--word-ngrams", "2", "--epochs", "1", "--no-check", "--output", "bi.senv"];
    folder.run(&[&bigrams[..], &["--input", "text.txt"]].concat()).ok();
    let said = folder.run(&["train", "--input", "text.txt", "--init-model", "bi.senv", "--output", "b.senv"]).ok().err;
    assert!(said.contains("n-grams of the model are not used"), "{said}");

    // If sentences are not in order, their halves are trained.
    let lines: Vec<&str> = renamed.lines().filter(|line| !line.is_empty()).collect();
    let shuffled: Vec<&str> = (0..lines.len()).map(|i| lines[i * 997 % lines.len()]).collect();
    folder.write("shuffled.txt", shuffled.join("\n"));
    let args = ["train", "--input", "shuffled.txt", "--init-model", "english", "--output", "s.senv"];
    let said = folder.run(&args).ok().err;
    assert!(said.contains("two halves of each") && said.contains("words start from english"), "{said}");
    let (own, halves) = (pearson(&judge("m.senv")), pearson(&judge("s.senv")));
    assert!(halves > english - 3.0, "{halves} after {english}; in order {own}");
}

/// If a system starts from vectors with license terms, its model has them, and so does any model that starts from that
/// one.
#[test]
fn every_system_passes_on_the_terms_of_the_vectors_it_starts_from() {
    const TERMS: &str = "Terms of the words.";
    let folder = samples();
    let train = |arguments: &str, output: &str| {
        let mut command = vec!["train"];
        command.extend(arguments.split(' '));
        folder.run(&[&command[..], &["--output", output, "--quiet"]].concat()).ok();
        Model::open(folder.path(output)).unwrap()
    };
    let words = train("word2vec --input text.txt --dim 24 --epochs 1", "plain.senv");
    assert_eq!(words.terms(), None);
    let vectors = words.to_embeddings().unwrap();
    let vocabulary = vectors.vocabulary().clone().with_terms(Some(TERMS));
    Embeddings::new(vocabulary, vectors.table().clone()).unwrap().save(folder.path("word2vec.senv")).unwrap();

    let from_words = SYSTEMS.iter().filter(|(_, arguments)| arguments.contains("word2vec.senv")).copied();
    let given = [
        ("sent2vec", "sent2vec --input text.txt --init-vectors word2vec.senv --epochs 1"),
        ("pv-dm", "pv-dm --input text.txt --init-vectors word2vec.senv --epochs 1"),
        ("c-phrase", "c-phrase --input trees.txt --init-vectors word2vec.senv --epochs 1"),
        ("siamese-cbow", "siamese-cbow --input text.txt --init-vectors word2vec.senv --epochs 1"),
        ("bow-ae", "bow-ae --input text.txt --init-vectors word2vec.senv --epochs 1"),
        (
            "skip-thought",
            "skip-thought --input text.txt --init-vectors word2vec.senv --sentence-dim 12 --softmax sampled --epochs 1",
        ),
        ("from-model", "--input text.txt --from word2vec.senv"),
        ("weighted", "weighted --model word2vec.senv --input text.txt"),
        ("relatedness", "relatedness --model cse.senv --train scored.tsv --epochs 1"),
        ("from-siamese-cbow", "pp --pairs pairs.tsv --init-model siamese-cbow.senv --epochs 1"),
    ];
    let mut n = 0;
    for (name, arguments) in from_words.chain(given) {
        let model = train(arguments, &format!("{name}.senv"));
        assert_eq!(model.terms(), Some(TERMS), "{name}");
        n += 1;
    }
    assert!(n > 18, "{n}");
}
