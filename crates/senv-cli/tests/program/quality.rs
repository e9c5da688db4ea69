//! The main job on the sample text, judged by what people say: commands that run are not enough.

use crate::common::Folder;
use serde_json::Value;

fn pearson(result: &Value) -> f64 {
    result["overall"]["plain_mean_over_tasks"]["pearson_r_x100"].as_f64().unwrap()
}

#[test]
fn a_model_of_the_sample_text_ranks_sentences_better_than_what_needs_no_training() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");
    let (text, pairs) = (format!("{data}quickstart.txt"), format!("{data}sts-sample.tsv"));
    let folder = Folder::with_text(1);
    folder.run(&["train", "--input", &text, "--output", "m.senv"]).ok();
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

/// On a text of its own, English keeps what it knows and learns the words that it lacks.
#[test]
fn text_in_order_goes_on_from_the_english_model() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");
    let (sample, pairs) = (format!("{data}quickstart.txt"), format!("{data}sts-sample.tsv"));
    let folder = Folder::new();
    let renamed = std::fs::read_to_string(&sample).unwrap().replace("train", "zugzwang");
    folder.write("text.txt", &renamed);
    let train = ["train", "--input", "text.txt", "--output", "m.senv"];
    let said = folder.run(&[&train[..], &["--init-model", "english"]].concat()).ok().err;
    assert!(said.contains("vectors that are trained already") && said.contains("words start from english"), "{said}");
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
    assert!(said.contains("n-grams of the model are left behind"), "{said}");

    // Of sentences without an order the halves are trained.
    let lines: Vec<&str> = renamed.lines().filter(|line| !line.is_empty()).collect();
    let shuffled: Vec<&str> = (0..lines.len()).map(|i| lines[i * 997 % lines.len()]).collect();
    folder.write("shuffled.txt", shuffled.join("\n"));
    let args = ["train", "--input", "shuffled.txt", "--init-model", "english", "--output", "s.senv"];
    let said = folder.run(&args).ok().err;
    assert!(said.contains("halves of a sentence") && said.contains("words start from english"), "{said}");
    let (own, halves) = (pearson(&judge("m.senv")), pearson(&judge("s.senv")));
    assert!(halves > english - 3.0, "{halves} after {english}; in order {own}");
}
