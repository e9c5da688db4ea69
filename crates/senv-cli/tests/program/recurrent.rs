//! The recurrent systems and the related bag-of-words systems, through the program.

use crate::{
    common::{Ended, Folder, text},
    running::stopped,
};

/// Small and fast.
const SMALL: [&str; 6] = ["--dim", "8", "--batch", "16", "--min-count", "1"];

/// Labeled pairs of three kinds.
fn judged(n: usize) -> String {
    let line = |i: usize| match i % 3 {
        0 => format!("entailment\tA cat saw {i} dogs.\tAn animal saw {i} dogs.\n"),
        1 => format!("neutral\tA cat saw {i} dogs.\tThe soup is cold.\n"),
        _ => format!("contradiction\tA cat saw {i} dogs.\tNo cat saw any dog.\n"),
    };
    (0..n).map(line).collect()
}

fn skip_thought(folder: &Folder, output: &str, more: &[&str]) -> Ended {
    let args = ["train", "skip-thought", "--input", "text.txt", "--sentence-dim", "8", "--output", output];
    folder.run(&[&args, &SMALL[..], more].concat())
}

fn kind(folder: &Folder, model: &str) -> serde_json::Value {
    folder.run(&["info", model, "--json"]).ok().json()["kind"].clone()
}

#[track_caller]
fn has_cosine(folder: &Folder, model: &str) {
    let out = folder.run(&["similarity", "--model", model, "the cat", "a dog", "--json"]).ok();
    assert!(out.json()["cosine"].as_f64().unwrap().abs() <= 1.0 + 1e-6);
}

#[test]
fn skip_thoughts_learn_from_ordered_text_in_every_form_of_softmax() {
    let folder = Folder::new();
    folder.write("text.txt", text(200));
    folder.write("dev.txt", text(30));
    for (i, more) in [
        &["--dev", "dev.txt", "--max-tokens", "9", "--long", "drop"][..],
        &["--bi", "--softmax", "sampled", "--samples", "5"],
        &["--softmax", "adaptive", "--cutoffs", "4,9", "--preset", "release", "--max-vocabulary", "12"],
    ]
    .into_iter()
    .enumerate()
    {
        let output = format!("{i}.senv");
        let ended = skip_thought(&folder, &output, &[more, &["--epochs", "2", "--json"]].concat()).ok();
        let json = ended.json();
        assert!(json["steps"].as_u64().unwrap() > 5 && json["loss"].as_f64().unwrap() > 0.0, "{json}");
        assert_eq!(json["best"].is_object(), more.contains(&"--dev"), "{json}");
        assert_eq!(kind(&folder, &output), "skip-thought");
        has_cosine(&folder, &output);
    }
}

#[test]
fn settings_without_a_meaning_are_refused_and_progress_says_what_its_perplexity_is_of() {
    let folder = Folder::with_text(200);
    let fails = |more: &[&str], named: &[&str]| skip_thought(&folder, "m.senv", more).fails(2, named);
    fails(&["--max-vocabulary", "2"], &["max_vocabulary", "at least 3", "2"]);
    fails(&["--softmax", "sampled", "--samples", "0"], &["samples", "at least 1"]);
    // Long enough for a progress report on any machine.
    let more = ["--epochs", "100", "--decay", "halve", "--optimizer", "adam-skip-thoughts"];
    let full = skip_thought(&folder, "m.senv", &more).ok().err;
    assert!(full.contains("  perplexity ") && !full.contains("among samples"), "{full}");
    let sampled = skip_thought(&folder, "m.senv", &[&more[..], &["--softmax", "sampled", "--samples", "5"]].concat());
    let sampled = sampled.ok().err;
    assert!(sampled.contains("  perplexity among samples "), "{sampled}");
    // The learning rate is halved in every epoch, and printed with two digits.
    let epochs = full.lines().filter_map(|line| {
        let epoch: i32 = line.split_once("epoch ")?.1.split_once('/')?.0.parse().ok()?;
        let lr: f64 = line.split_once("  lr ")?.1.split_once(' ')?.0.parse().ok()?;
        Some((epoch, lr))
    });
    let halvings: Vec<(i32, f64)> = epochs.map(|(epoch, lr)| (epoch - 1, (1e-3 / lr).log2())).collect();
    assert!(!halvings.is_empty() && halvings.iter().all(|&(n, got)| (got - f64::from(n)).abs() < 0.1), "{full}");
}

#[test]
fn autoencoders_learn_from_text() {
    let folder = Folder::with_text(200);
    let run = |system: &str, output: &str, more: &[&str]| {
        let args = ["train", system, "--input", "text.txt", "--output", output, "--epochs", "2"];
        folder.run(&[&args, &SMALL[..], more].concat()).ok();
        has_cosine(&folder, output);
    };
    run("rnn-ae", "r.senv", &["--hidden", "6", "--style", "torch"]);
    run("bow-ae", "b.senv", &[]);
    run("bow-ae", "t.senv", &["--reconstruction", "tree"]);
    folder.write("text.txt", "one two three four\none two\n".repeat(5));
    let args = ["train", "bow-ae", "--input", "text.txt", "--output", "l.senv", "--max-tokens", "3", "--epochs", "1"];
    let long = |what: &str| folder.run(&[&args[..], &SMALL, &["--long", what]].concat()).ok().err;
    assert!(long("drop").contains("5 sentences of more than 3 tokens were left out"));
    assert!(long("cut").contains("5 sentences of more than 3 tokens were cut"));
    assert_eq!([kind(&folder, "r.senv"), kind(&folder, "b.senv")], ["rnn-ae", "bow-ae"]);
}

#[test]
fn p_thought_learns_from_captions_and_pairs() {
    let folder = Folder::with_pairs();
    folder.write("captions.tsv", "1\tA man walks.\n1\tA man is out.\n1\tSomebody walks.\n2\tOne bird.\n2\tA bird.\n");
    let args = ["train", "p-thought", "--captions", "captions.tsv", "--pairs", "pairs.tsv", "--hidden", "4"];
    for structure in ["one-bi", "two-forward", "two-bi", "two-interleaved"] {
        let output = format!("{structure}.senv");
        let more = ["--structure", structure, "--alpha", "3", "--epochs", "1", "--dev-pairs", "pairs.tsv", "--json"];
        let ended = folder.run(&[&args, &SMALL[..], &more, &["--output", &output]].concat()).ok();
        assert!(ended.json()["best"]["validation"].as_f64().unwrap() < 0.0, "a loss, negated");
        assert!(ended.err.contains("captions.tsv: 2 groups"), "{}", ended.err);
        has_cosine(&folder, &output);
    }
    folder.run(&["train", "p-thought", "--output", "m.senv"]).fails(2, &["--captions"]);
    let none = [&args, &SMALL[..], &["--alpha", "0", "--output", "m.senv"]].concat();
    folder.run(&none).fails(2, &["alpha"]);
}

#[test]
fn snli_models_learn_from_judged_pairs_anew_and_from_skip_thoughts() {
    let folder = Folder::with_text(120);
    let long = "neutral\tA cat saw a cat. A cat saw dogs.\tA cat.\n";
    folder.write("train.tsv", judged(90) + long + "-\tNobody\tagreed.\n");
    folder.write("dev.tsv", judged(30) + long);
    let run = |encoder: &str, output: &str, more: &[&str]| {
        let args = ["train", "snli", "--train", "train.tsv", "--dev", "dev.tsv", "--encoder", encoder, "--hidden", "7"];
        folder.run(&[&args, more, &["--output", output, "--json"]].concat())
    };
    let bow = run("bow", "bow.senv", &["--dim", "8", "--lr", "0.01", "--epochs", "20"]).ok();
    assert!(bow.json()["best"]["validation"].as_f64().unwrap() > 0.6, "{}", bow.out);
    assert!(bow.err.contains("1 pair without a label"), "{}", bow.err);
    let form = ["--sentence-dim", "5", "--layers", "2", "--topology", "separate"];
    run("rnn", "rnn.senv", &[&["--dim", "8", "--epochs", "2"], &form[..]].concat()).ok();
    skip_thought(&folder, "uni.senv", &["--epochs", "1"]).ok();
    run("uni.senv", "tuned.senv", &["--epochs", "2"]).ok();
    for model in ["bow.senv", "rnn.senv", "tuned.senv"] {
        assert_eq!(kind(&folder, model), "snli");
        has_cosine(&folder, model);
    }
    let limited = ["--max-vocabulary", "6", "--max-tokens", "5", "--long", "drop", "--epochs", "1", "--dim", "4"];
    // The known words are the most frequent ones: a, cat, dogs, saw, the full stop and one more.
    let ended = run("bow", "few.senv", &limited).ok();
    assert_eq!(folder.run(&["info", "few.senv", "--json"]).ok().json()["words"], 6);
    for name in ["", "held-out "] {
        let note = format!("1 {name}pairs with a sentence of more than 5 tokens were left out");
        assert!(ended.err.contains(&note), "{}", ended.err);
    }
    let none = ["--max-tokens", "1", "--long", "drop", "--dim", "4"];
    run("bow", "m.senv", &none).fails(1, &["all 91 pairs with a sentence of more than 1 tokens", "--long cut"]);
    run("uni.senv", "m.senv", &["--max-vocabulary", "9"]).fails(2, &["--max-vocabulary", "has its own words"]);
    run("bow", "m.senv", &["--layers", "2"]).fails(2, &["--layers", "encoder = rnn"]);
    run("uni.senv", "m.senv", &["--layers", "2"]).fails(2, &["--layers", "keeps its form"]);
    run("uni.senv", "m.senv", &["--preset", "infersent"]).fails(2, &["--preset", "keeps its form"]);
    run("rnn", "m.senv", &["--pooling", "max"]).fails(2, &["--pooling", "encoder = lstm"]);
    run("uni.senv", "m.senv", &["--dim", "9"]).fails(2, &["--dim", "has its own words"]);
    run("bow.senv", "m.senv", &[]).fails(2, &["bow.senv", "Skip-thought"]);
    folder.write("train.tsv", "maybe\ta\tb\n");
    run("bow", "m.senv", &[]).fails(1, &["train.tsv:1", "maybe"]);
    assert!(!folder.has("m.senv"));
}

#[test]
fn what_the_recurrent_systems_cannot_learn_from_is_named() {
    let folder = Folder::new();
    folder.write("text.txt", "One line.\nAnother line.\n\nAnd two.\nMore lines.\n");
    skip_thought(&folder, "m.senv", &[]).fails(1, &["text.txt: no training examples", "need three per document"]);
    folder.write("text.txt", text(40));
    let odd = ["train", "skip-thought", "--input", "text.txt", "--output", "m.senv", "--bi", "--sentence-dim", "7"];
    folder.run(&odd).fails(2, &["sentence_dim", "even"]);
    skip_thought(&folder, "m.senv", &["--samples", "3"]).fails(2, &["--samples 3: it belongs to softmax = sampled"]);
    let long = skip_thought(&folder, "m.senv", &["--epochs", "1", "--max-tokens", "3"]).ok();
    assert!(long.err.contains("sentences of more than 3 tokens were cut"), "{}", long.err);
}

#[test]
fn an_exploding_gradient_stops_the_run_and_the_best_model_is_kept() {
    let folder = Folder::with_text(200);
    folder.write("dev.txt", text(30));
    // States saturate at any learning rate, but the projections before the rarer words do not.
    let args =
        ["train", "rnn-ae", "--input", "text.txt", "--hidden", "6", "--softmax", "adaptive", "--cutoffs", "9,20"];
    let wild = ["--epochs", "3", "--clip", "5", "--lr", "1e12", "--output", "m.senv"];
    let run = |more: &[&str]| folder.run(&[&args, &SMALL[..], &wild, more].concat());
    let told = ["gradient exploded at step 1", "its norm is ", "--lr"];
    run(&[]).fails(1, &told);
    assert!(!folder.has("m.senv"), "nothing is known to be good");
    let ended = run(&["--dev", "dev.txt", "--validate-every", "1", "--json"]);
    let ended = ended.fails(1, &[&told[..], &["m.senv is the best model before"]].concat());
    let json = ended.json();
    assert_eq!((&json["stopped"], json["best"]["step"].as_u64()), (&"exploded".into(), Some(1)), "{json}");
    has_cosine(&folder, "m.senv");
}

#[test]
fn a_loss_that_stays_above_that_of_a_guess_stops_the_run_and_the_best_model_is_kept() {
    let folder = Folder::with_text(200);
    folder.write("dev.txt", text(30));
    let args = ["train", "rnn-ae", "--input", "text.txt", "--hidden", "6", "--softmax", "full", "--output", "m.senv"];
    let wild = |more: &[&str]| folder.run(&[&args, &SMALL[..], &["--lr", "1e6", "--steps"], more].concat());
    let says = [
        "the model is not learning: the loss at step ",
        "at step ",
        "a guess",
        "learning rate 1.000e6",
        "a lower learning rate (--lr)",
    ];
    wild(&["3000"]).fails(1, &says);
    assert!(!folder.has("m.senv"), "nothing is known to be good");
    // A run too short to be stopped early is checked at its end.
    wild(&["20"]).fails(1, &says);
    let ended = wild(&["3000", "--dev", "dev.txt", "--validate-every", "1", "--json"]);
    let ended = ended.fails(1, &[&says[..], &["m.senv is the best model before"]].concat());
    let json = ended.json();
    assert_eq!(json["stopped"], "not-learning");
    assert!(json["steps"].as_u64().unwrap() < 3000 && json["best"]["step"].as_u64().unwrap() < 100, "{json}");
    has_cosine(&folder, "m.senv");
}

#[cfg(unix)]
#[test]
fn a_killed_run_of_skip_thoughts_goes_on_to_the_same_bytes() {
    let folder = Folder::with_text(300);
    let args = ["train", "skip-thought", "--input", "text.txt", "--sentence-dim", "8", "--output"];
    let command = |output: &'static str, steps: &'static str| {
        let more = ["--steps", steps, "--checkpoint-every", "0.05s", "--threads", "2", "--softmax", "sampled"];
        [&args[..], &[output], &SMALL, &more].concat()
    };
    let (killed, steps) =
        stopped(&folder, ("m.senv.checkpoint", 9), &["60", "480", "3840", "30720"], |steps| command("m.senv", steps));
    assert_eq!(killed.code, None);
    folder.run(&[&command("m.senv", steps)[..], &["--resume"]].concat()).ok();
    folder.run(&command("whole.senv", steps)).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
}

#[cfg(unix)]
#[test]
fn tuning_both_parts_stopped_in_the_second_goes_on_to_the_same_bytes() {
    let folder = Folder::with_text(60);
    folder.write("train.tsv", judged(90));
    skip_thought(&folder, "uni.senv", &["--epochs", "1"]).ok();
    skip_thought(&folder, "bi.senv", &["--epochs", "1", "--bi"]).ok();
    folder.run(&["combine", "--model", "uni.senv", "--with", "bi.senv", "--output", "both.senv"]).ok();
    let args = ["train", "snli", "--train", "train.tsv", "--encoder", "both.senv", "--output"];
    let command = |output: &'static str, steps: &'static str| {
        let more = ["--checkpoint-every", "0.05s", "--batch", "8", "--hidden", "5", "--threads", "2"];
        [&args[..], &[output, "--steps", steps], &more].concat()
    };
    let (stopped, steps) =
        stopped(&folder, ("m.senv.checkpoint.stage2", 2), &["500", "2000", "8000", "32000"], |steps| {
            command("m.senv", steps)
        });
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(folder.has("m.senv.checkpoint.stage1") && !folder.has("m.senv"));
    folder.run(&[&command("m.senv", steps)[..], &["--resume"]].concat()).ok();
    folder.run(&command("whole.senv", steps)).ok();
    assert_eq!(folder.read("m.senv"), folder.read("whole.senv"));
    assert_eq!(kind(&folder, "m.senv"), "skip-thought");
    assert!(!folder.names().iter().any(|name| name.contains("checkpoint")));
}

/// Models of every system with a length limit, trained on sentences of at most 2 or 3 words.
fn limited_models(folder: &Folder) -> Vec<String> {
    let lines = ["the cat saw a dog and dogs", "a dog and dogs saw the house", "the house saw a cat and a dog"];
    folder.write("text.txt", (lines.join("\n") + "\n").repeat(20));
    let [first, second, third] = lines;
    folder.write("pairs.tsv", format!("{first}\t{second}\n{second}\t{third}\n"));
    folder.write("labelled.tsv", format!("entailment\t{first}\t{second}\nneutral\t{second}\t{third}\n"));
    folder.write("scored.tsv", format!("4.5\t{first}\t{second}\n1.5\t{second}\t{third}\n"));
    let systems = [
        ("skip-thought", "skip-thought --input text.txt --sentence-dim 8 --max-tokens 3 --dim 8"),
        ("rnn-ae", "rnn-ae --input text.txt --hidden 6 --max-tokens 3 --dim 8"),
        ("sdae", "sdae --input text.txt --hidden 6 --max-tokens 3 --dim 8"),
        ("bow-ae", "bow-ae --input text.txt --max-tokens 3 --min-count 1 --dim 8"),
        ("p-thought", "p-thought --pairs pairs.tsv --hidden 6 --max-tokens 3 --dim 8"),
        ("snli", "snli --train labelled.tsv --encoder rnn --sentence-dim 6 --max-tokens 2 --dim 8"),
        ("relatedness", "relatedness --model skip-thought.senv --train scored.tsv"),
    ];
    for (name, arguments) in systems {
        let output = format!("{name}.senv");
        let more = ["--epochs", "1", "--output", &output, "--quiet"];
        folder.run(&[&["train"], &arguments.split(' ').collect::<Vec<_>>()[..], &more].concat()).ok();
    }
    systems.map(|(name, _)| format!("{name}.senv")).into()
}

#[test]
fn a_limit_of_training_does_not_cut_what_is_encoded() {
    let folder = Folder::new();
    let start = "the cat saw a dog and ".repeat(5) + "the cat saw";
    let lines = ["dogs", "a house", ""].map(|end| format!("{start} {end}"));
    folder.write("long.txt", lines.join("\n"));
    for model in limited_models(&folder) {
        let out = folder.run(&["encode", "--model", &model, "--input", "long.txt"]).ok();
        let vectors: Vec<&str> = out.out.lines().collect();
        assert_eq!(vectors.len(), 3);
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            assert_ne!(vectors[i], vectors[j], "{model}: lines {i} and {j}");
        }
        assert!(!out.err.contains("warning"), "{model}: {}", out.err);
        let one = folder.run(&["similarity", "--model", &model, &lines[0], &lines[1], "--json"]).ok().json();
        assert!(one["cosine"].as_f64().unwrap() < 1.0, "{model}: {one}");
    }
}

#[test]
fn a_line_that_is_longer_than_memory_allows_for_is_cut_and_that_is_said() {
    let folder = Folder::with_text(60);
    skip_thought(&folder, "m.senv", &["--epochs", "1"]).ok();
    let [whole, long, longer] = [10_000, 10_001, 10_900].map(|n| "cat ".repeat(n));
    folder.write("whole.txt", format!("{whole}\n"));
    folder.write("long.txt", format!("{long}\na cat\n{longer}\n"));
    folder.write("pairs.tsv", format!("a cat\t{long}\n"));
    folder.write("scored.tsv", format!("3\ta cat\t{long}\n2\ta dog\ta cat\n1\tthe cat\ta dog\n"));
    let says = |n: &str, tokens: &str| format!("{n} too long for the recurrent model, which ignored the last {tokens}");
    let both = says("2 sentences", "901 tokens");
    for (command, says) in [
        (&["encode", "--input", "long.txt"][..], both.as_str()),
        (&["encode", "--input", "long.txt", "--output", "v.npy"], &both),
        (&["nearest", "--input", "long.txt", "--query", "a cat"], &both),
        // The line including its first cell, and the query.
        (&["nearest", "--lines", "--input", "pairs.tsv", "--query", &long], &says("2 sentences", "4 tokens")),
        (&["similarity", "a cat", &longer], &says("1 sentence", "900 tokens")),
        (&["similarity", "--input", "pairs.tsv"], &says("1 sentence", "1 token")),
        (&["decode", "--input", "long.txt", "--beam", "1", "--longest", "2"], &both),
        (
            &["decode", "--between", "1", "a cat", &long, "--beam", "1", "--longest", "2"],
            &says("1 sentence", "1 token"),
        ),
    ] {
        let ended = folder.run(&[command, &["--model", "m.senv"]].concat()).ok();
        assert!(ended.err.contains(says), "{command:?}: {}", ended.err);
    }
    let ended = folder.run(&["encode", "--input", "whole.txt", "--model", "m.senv"]).ok();
    assert!(!ended.err.contains("too long"), "{}", ended.err);
    // If a sentence was not completely read, its figures would be wrong.
    let sts = ["eval", "sts", "--model", "m.senv", "scored.tsv", "--no-floor", "--resamples", "0"];
    folder.run(&sts).fails(1, &["of 10001 tokens is too long for the encoder, which did not read the last 1"]);
}
