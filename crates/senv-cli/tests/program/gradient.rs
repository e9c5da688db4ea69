//! Systems trained by gradient descent, through the program: from text or pairs to a model in use.

use crate::{
    common::{Ended, Folder, pairs, scored, text},
    running::stopped,
};

/// Small and fast.
const SMALL: [&str; 4] = ["--dim", "12", "--batch", "16"];

fn pp(folder: &Folder, output: &str, more: &[&str]) -> Ended {
    folder.run(&[&["train", "pp", "--pairs", "pairs.tsv", "--output", output], &SMALL[..], more].concat())
}

fn cse(folder: &Folder, output: &str, more: &[&str]) -> Ended {
    let args = ["train", "cse", "--pairs", "pairs.tsv", "--output", output, "--filters", "5"];
    folder.run(&[&args, &SMALL[..], more].concat())
}

fn cosine(folder: &Folder, model: &str, first: &str, second: &str) -> f64 {
    let out = folder.run(&["similarity", "--model", model, first, second, "--json"]).ok();
    out.json()["cosine"].as_f64().unwrap()
}

#[test]
fn siamese_cbow_learns_from_ordered_text() {
    let folder = Folder::new();
    folder.write("text.txt", text(600).replace("number7 ", "\n"));
    folder.write("dev.tsv", scored(30));
    let args = ["train", "siamese-cbow", "--input", "text.txt", "--output", "m.senv", "--min-count", "1", "--json"];
    let ended = folder.run(&[&args, &SMALL[..], &["--negatives", "3", "--dev", "dev.tsv"]].concat()).ok();
    let json = ended.json();
    assert!(json["steps"].as_u64().unwrap() > 10 && json["best"]["validation"].is_f64(), "{json}");
    assert!(ended.err.contains("start at random") && ended.err.contains("best validation"), "{}", ended.err);
    assert_eq!(folder.names(), ["dev.tsv", "m.senv", "text.txt"]);
    let info = folder.run(&["info", "m.senv", "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["parameters"]["negatives"]), (&"siamese-cbow".into(), &3.into()));
    assert!(cosine(&folder, "m.senv", "the cat", "a dog").abs() <= 1.0);
}

#[test]
fn pp_learns_from_every_kind_of_file_and_says_what_it_took() {
    let folder = Folder::with_pairs();
    folder.write("captions.tsv", "1\tA man walks his dog.\n1\tA dog is out with a man.\n2\tOne bird.\n");
    folder.write(
        "nli.tsv",
        "entailment\tThe cat saw the soup\tA cat saw soup\ncontradiction\tThe cat saw the soup\tNo cat saw it\n",
    );
    folder.write("running.txt", "The train left the station.\nIt passed a bridge.\n\nMy soup was cold.\n");
    let more = [
        "--captions",
        "captions.tsv:2.5",
        "--nli",
        "nli.tsv",
        "--neighbours",
        "running.txt:1",
        "--loss",
        "softmax-cosine",
        "--temperature",
        "0.1",
        "--nested",
        "4,12",
        "--steps",
        "60",
        "--decontaminate",
        "test.tsv",
        "--dev",
        "dev.tsv",
        "--json",
    ];
    folder.write("test.tsv", pairs(3));
    let ended = pp(&folder, "m.senv", &more).ok();
    for line in ["captions.tsv: 1 group; left out: 1 without", "nli.tsv: 1 group", "running.txt: 1 group", "held out"] {
        assert!(ended.err.contains(line), "{line} is missing in: {}", ended.err);
    }
    let json = ended.json();
    assert_eq!((&json["steps"], &json["stopped"], &json["words_found"]), (&60.into(), &"finished".into(), &0.into()));
    assert_eq!(json["sources"].as_array().unwrap().len(), 4);
    assert!(json["sources"][0]["contaminated"].as_u64().unwrap() >= 3, "{json}");
    let params = &folder.run(&["info", "m.senv", "--json"]).ok().json()["parameters"];
    let loss = &params["pairs"]["loss"]["softmax-cosine"];
    assert_eq!((&loss["temperature"], &loss["prefixes"][0]["dim"]), (&0.1.into(), &4.into()));
    // Other settings are those of the recipe.
    assert!(params["fit"]["decay"]["linear"].is_object() && params["fit"]["batch"] == 16, "{params}");
    let same = cosine(&folder, "m.senv", "The cat saw the dog.", "There a dog was what one cat saw today.");
    let other = cosine(&folder, "m.senv", "The cat saw the dog.", "There a ticket was what one engine took today.");
    assert!(same > other, "{same} {other}");
}

#[test]
fn words_start_from_any_file_of_vectors() {
    let folder = Folder::with_pairs();
    folder.write("vectors.txt", "cat 1 0 0\ndog 0 1 0\nzebra 0 0 1\n");
    let args = ["train", "pp", "--pairs", "pairs.tsv", "--init-vectors", "vectors.txt", "--updates", "frozen"];
    let ended = folder.run(&[&args[..], &["--epochs", "1", "--output", "m.senv"]].concat()).ok();
    assert!(ended.err.contains("3 of ") && ended.err.contains("vectors.txt"), "{}", ended.err);
    // The zebra is in no pair and stays. Frozen vectors and their dimension equal those of the file.
    assert!(cosine(&folder, "m.senv", "zebra", "zebra") > 0.999);
    assert_eq!(folder.run(&["info", "m.senv", "--json"]).ok().json()["dim"], 3);
    assert_eq!(cosine(&folder, "m.senv", "cat", "dog"), 0.0);
    let dropped = [&args[..], &["--vector-dropout", "0.3", "--epochs", "2", "--output", "d.senv"]].concat();
    folder.run(&dropped).ok();
    assert_eq!(cosine(&folder, "d.senv", "cat", "dog"), 0.0);
    let without = [&args[..], &["--epochs", "1", "--output", "w.senv", "--keep-vector-words", "false"]].concat();
    assert!(folder.run(&without).ok().err.contains("2 of "));
    // A senv model is also a file of vectors.
    let from_model = ["train", "cse", "--pairs", "pairs.tsv", "--init-vectors", "m.senv", "--filters", "4"];
    let ended = folder.run(&[&from_model[..], &["--epochs", "1", "--output", "c.senv"]].concat()).ok();
    assert!(ended.err.contains("words start from m.senv"), "{}", ended.err);
}

#[test]
fn words_start_from_vectors_trained_on_the_same_text() {
    let folder = Folder::with_text(900);
    folder.write("pairs.tsv", crate::common::pairs(120));
    let siamese = ["train", "siamese-cbow", "--input", "text.txt", "--dim", "8", "--min-count", "1"];
    let pairs = ["train", "cse", "--pairs", "pairs.tsv", "--neighbours", "text.txt", "--dim", "8", "--filters", "4"];
    let stages = ["train", "pp", "--pairs", "pairs.tsv", "--stage2", "pairs.tsv", "--dim", "8"];
    for (i, command) in [&siamese[..], &pairs, &stages].iter().enumerate() {
        for (init, name) in [("word2vec", "word2vec"), ("sent2vec", "Sent2Vec")] {
            let run = |output: &str, more: &[&str]| {
                folder.run(&[command, &["--output", output, "--epochs", "1"][..], more].concat()).ok()
            };
            let ended = run("a.senv", &["--init", init, "--threads", "1", "--json"]);
            let says = format!("words start from vectors of {name} trained on the same text");
            assert!(ended.err.contains(&says), "{i}: {}", ended.err);
            let json = if i == 2 { ended.json()["stage1"].clone() } else { ended.json() };
            assert!(json["words"].as_u64().unwrap() > 20, "{json}");
            assert_eq!(json["words_found"], json["words"], "every word has met the text");
            run("b.senv", &["--init", init, "--threads", "2"]);
            assert_eq!(folder.read("a.senv"), folder.read("b.senv"), "{i} {init}");
            run("c.senv", &["--init", "random"]);
            run("d.senv", &[]);
            assert_eq!(folder.read("c.senv"), folder.read("d.senv"), "random is the default");
            assert_ne!(folder.read("a.senv"), folder.read("c.senv"), "{i} {init}");
        }
    }
    let both = ["--init", "word2vec", "--init-vectors", "a.senv", "--output", "e.senv"];
    assert_eq!(folder.run(&[&siamese[..], &both].concat()).code, Some(2));
}

#[test]
fn cse_goes_from_pairs_through_a_second_stage_to_scores() {
    let folder = Folder::with_pairs();
    folder.write("sentences.tsv", pairs(60).replace("today", "this evening"));
    let more = ["--stage2", "sentences.tsv", "--stage2-epochs", "2", "--windows", "1,2", "--activation", "tanh"];
    let ended = cse(&folder, "c.senv", &[&more[..], &["--epochs", "3", "--dev", "dev.tsv", "--json"]].concat()).ok();
    assert!(ended.err.contains("stage 1: trained on") && ended.err.contains("stage 2: trained on"), "{}", ended.err);
    let json = ended.json();
    assert!(json["stage1"]["steps"].as_u64() > json["steps"].as_u64() && json["steps"].as_u64() > Some(1), "{json}");
    assert_eq!(folder.names(), ["c.senv", "dev.tsv", "pairs.tsv", "sentences.tsv"]);
    let params = &folder.run(&["info", "c.senv", "--json"]).ok().json()["parameters"];
    assert_eq!((params["windows"].as_array().unwrap().len(), &params["activation"]), (2, &"tanh".into()));

    folder.write("train.tsv", scored(60));
    let args = ["train", "relatedness", "--model", "c.senv", "--train", "train.tsv", "--dev", "dev.tsv", "--output"];
    let tuned =
        folder.run(&[&args[..], &["r.senv", "--hidden", "8", "--lr", "0.01", "--epochs", "8", "--json"]].concat());
    assert!(tuned.ok().json()["best"]["validation"].as_f64().unwrap() > 0.3);
    let pair = ["The cat saw the dog.", "There a dog was what one cat saw today."];
    let out = folder.run(&["similarity", "--model", "r.senv", pair[0], pair[1]]).ok().out;
    let numbers: Vec<f64> = out.trim().split('\t').map(|x| x.parse().unwrap()).collect();
    assert!(numbers.len() == 2 && (1.0..=5.0).contains(&numbers[1]), "{out}");
    let piped = folder.pipe(&["similarity", "--model", "r.senv"], pair.join("\t") + "\tmore\n").ok().out;
    assert_eq!(piped, format!("{}\t{}\tmore\t{out}", pair[0], pair[1]));
    let json = folder.run(&["similarity", "--model", "r.senv", pair[0], pair[1], "--json"]).ok().json();
    assert!((json["relatedness"].as_f64().unwrap() - numbers[1]).abs() < 1e-5);
    // A model without a head has no score.
    let json = folder.run(&["similarity", "--model", "c.senv", pair[0], pair[1], "--json"]).ok().json();
    assert!(json.get("relatedness").is_none());
}

#[test]
fn training_stops_early_and_says_so() {
    let folder = Folder::with_pairs();
    let more = ["--dev", "dev.tsv", "--validate-every", "2", "--patience", "1", "--epochs", "300", "--json"];
    let ended = pp(&folder, "m.senv", &more).ok();
    assert_eq!(ended.json()["stopped"], "early");
    assert!(ended.err.contains("stopped early at step"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let folder = Folder::with_pairs();
    let args = ["train", "cse", "--pairs", "pairs.tsv", "--filters", "5", "--dev", "dev.tsv", "--output"];
    let command = |output: &'static str, steps: &'static str| {
        let more = ["--steps", steps, "--checkpoint-every", "0.05s", "--threads", "2"];
        [&args[..], &[output], &SMALL, &more].concat()
    };
    let (killed, steps) =
        stopped(&folder, ("m.senv.checkpoint", 9), &["1000", "8000", "64000"], |steps| command("m.senv", steps));
    assert_eq!(killed.code, None);
    assert!(!folder.has("m.senv"));
    let resume = [&command("m.senv", steps)[..], &["--resume"]].concat();
    let other = [&resume[..], &["--seed", "9"]].concat();
    folder.run(&other).fails(2, &["m.senv.checkpoint was written with other settings (--seed)"]);
    // The same settings with changed data, which the trainer detects.
    let text = folder.read("pairs.tsv");
    folder.write("pairs.tsv", pairs(60));
    folder.run(&resume).fails(1, &["cannot resume m.senv.checkpoint", "different settings or data"]);
    folder.write("pairs.tsv", text);
    let begun: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".tmp")).collect();
    let resumed = folder.run(&resume).ok();
    assert!(!resumed.err.contains("from the beginning"), "{}", resumed.err);
    folder.run(&command("whole.senv", steps)).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
    // A checkpoint may have been in progress. Its temporary file is removed at the next checkpoint.
    let mut names = folder.names();
    names.retain(|name| !begun.contains(name));
    assert_eq!(names, ["dev.tsv", "m.senv", "pairs.tsv", "whole.senv"]);
}

#[cfg(unix)]
#[test]
fn a_second_stage_stopped_by_ctrl_c_goes_on_to_the_same_bytes() {
    let folder = Folder::with_pairs();
    folder.write("two.tsv", pairs(50));
    let args = ["train", "pp", "--pairs", "pairs.tsv", "--stage2", "two.tsv", "--output"];
    let command = |output: &'static str, steps: &'static str| {
        [&args[..], &[output], &SMALL, &["--steps", steps, "--checkpoint-every", "0.05s"]].concat()
    };
    // A step of PP is short, and the program checks for a stop five times a second.
    let (stopped, steps) =
        stopped(&folder, ("m.senv.checkpoint.stage2", 2), &["4000", "16000", "64000", "256000"], |steps| {
            command("m.senv", steps)
        });
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(stopped.err.contains("m.senv.checkpoint.stage2 written;"), "{}", stopped.err);
    assert!(folder.has("m.senv.checkpoint.stage1") && !folder.has("m.senv"));
    let resume = [&command("m.senv", steps)[..], &["--resume"]].concat();
    let other = [&resume[..], &["--margin", "0.3"]].concat();
    folder.run(&other).fails(2, &["m.senv.checkpoint was written with other settings (--margin)"]);
    folder.run(&resume).ok();
    folder.run(&command("whole.senv", steps)).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
    assert_eq!(folder.names(), ["dev.tsv", "m.senv", "pairs.tsv", "two.tsv", "whole.senv"]);
}

#[test]
fn rates_at_which_nothing_is_learnt_leave_no_model() {
    let folder = Folder::with_pairs();
    let run =
        |more: &[&str]| folder.run(&[&["train", "pp", "--pairs", "pairs.tsv", "--output", "m.senv"], more].concat());
    for loss in ["margin", "softmax-cosine"] {
        run(&["--loss", loss, "--lr", "1e10"])
            .fails(1, &["the model is not learning: the loss at step ", "at step ", "learning rate ", "--lr"]);
        assert!(!folder.has("m.senv"), "{loss}");
        // A learning rate that is too low does no harm.
        run(&["--loss", loss, "--lr", "1e-9"]).ok();
        run(&["--loss", loss]).ok();
        std::fs::remove_file(folder.path("m.senv")).unwrap();
    }
}

/// A single huge step can reduce a loss of cosines, but then the vectors contain only that step.
#[test]
fn weights_that_outgrow_those_they_began_with_leave_no_model() {
    let folder = crate::systems::samples();
    let train = ["train", "pp", "--pairs", "pairs.tsv", "--loss", "softmax-cosine", "--output", "m.senv", "--lr"];
    let run = |lr: &str| folder.run(&[&train[..], &[lr]].concat());
    run("1e10").fails(1, &["times their initial length", "lost in rounding", "--lr"]);
    assert!(!folder.has("m.senv"));
    run("1e3").ok();
}

#[test]
fn the_rate_follows_the_length_of_initial_vectors_where_only_cosines_count() {
    let folder = Folder::with_pairs();
    let words = ["the", "a", "cat", "dog", "saw", "soup", "train", "bird"];
    let write = |name: &str, scale: f32| {
        let row =
            |w: usize| (0..8).map(|j| format!(" {}", scale * ((w * 7 + j * 3) % 5) as f32 - scale)).collect::<String>();
        let lines: Vec<String> = words.iter().enumerate().map(|(i, word)| format!("{word}{}", row(i))).collect();
        folder.write(name, lines.join("\n"));
    };
    write("short.txt", 0.125);
    write("long.txt", 8.0);
    let train = |vectors: &str, more: &[&str]| {
        let base =
            ["train", "pp", "--pairs", "pairs.tsv", "--loss", "softmax-cosine", "--epochs", "3", "--output", "m.senv"];
        let ended = folder
            .run(&[&base[..], &["--init-vectors", vectors, "--batch", "16", "--temperature", "0.5"], more].concat())
            .ok();
        let info = folder.run(&["info", "m.senv", "--json"]).ok().json();
        let cosine = folder.run(&["similarity", "--model", "m.senv", "the cat", "a dog", "--json"]).ok().json();
        let lr = info["parameters"]["fit"]["lr"].as_f64().unwrap();
        (lr, cosine["cosine"].as_f64().unwrap(), ended.err)
    };
    let ((short_lr, short, said), (long_lr, long, _)) = (train("short.txt", &[]), train("long.txt", &[]));
    assert!((long_lr / short_lr - 64.0).abs() < 1e-3, "{short_lr} {long_lr}");
    assert!((long - short).abs() < 1e-3, "{short} {long}");
    assert!(said.contains("chosen for the length of the initial vectors"), "{said}");
    let (given, other, said) = train("long.txt", &["--lr", "0.3"]);
    assert!(
        given == 0.3 && (other - long).abs() > 1e-3 && !said.contains("chosen for"),
        "{given} {other} {long} {said}"
    );
}
