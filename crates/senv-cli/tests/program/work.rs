//! From text to a model and to results, only through the program.

use crate::common::{Folder, text};

#[test]
fn a_model_is_trained_described_and_used() {
    let folder = Folder::with_text(600);
    let trained = folder.train("text.txt", "m.senv", &["--json"]).ok();
    assert_eq!(trained.json()["model"], "m.senv");
    assert!(trained.json()["loss"].as_f64().unwrap() > 0.0);
    assert_eq!(folder.names(), ["m.senv", "text.txt"], "neither checkpoint nor temporary files are left");

    let info = folder.run(&["info", "m.senv", "--json"]).ok().json();
    assert_eq!((info["kind"].as_str(), info["dim"].as_u64()), (Some("sent2vec"), Some(12)));
    assert_eq!(info["file_bytes"].as_u64().unwrap() as usize, folder.read("m.senv").len());
    assert_eq!(info["parameters"]["training"]["epochs"], 13);
    let plain = folder.run(&["info", "m.senv"]).ok().out;
    assert!(plain.lines().any(|line| line.starts_with("kind ") && line.ends_with(" sent2vec")), "{plain}");

    let args = ["similarity", "--model", "m.senv", "The cat saw a dog.", "The dog saw a cat."];
    let cosine: f32 = folder.run(&args).ok().out.trim().parse().unwrap();
    let json = folder.run(&[&args[..], &["--json"]].concat()).ok().json();
    assert!((json["cosine"].as_f64().unwrap() as f32 - cosine).abs() < 1e-6);
    // A model of words ignores their order.
    assert!(cosine > 0.999, "{cosine}");

    let query = text(1);
    let args = ["nearest", "--model", "m.senv", "--input", "text.txt", "--query", query.trim(), "--k", "3", "--json"];
    let nearest = folder.run(&args).ok().json();
    assert_eq!(nearest["neighbours"].as_array().unwrap().len(), 3);
    assert_eq!(nearest["neighbours"][0]["text"], query.trim());
    assert!(nearest["neighbours"][0]["cosine"].as_f64().unwrap() > 0.9999);
    let words = folder.run(&["nearest", "--model", "m.senv", "--query", "cat", "--k", "4"]).ok().out;
    assert_eq!(words.lines().count(), 4);
    assert!(words.lines().all(|line| !line.ends_with("\tcat")), "a word is not its own neighbour: {words}");
}

#[test]
fn a_short_text_brings_a_warning_and_settings_follow_its_size() {
    let folder = Folder::with_text(600);
    let args = ["train", "sent2vec", "--input", "text.txt", "--output", "a.senv"];
    let trained = folder.run(&args).ok();
    assert!(trained.err.contains("thousand words: 60 epochs at a learning rate of 0."), "{}", trained.err);
    assert!(trained.err.contains("words of training text"), "{}", trained.err);
    let epochs =
        |model: &str| folder.run(&["info", model, "--json"]).ok().json()["parameters"]["training"]["epochs"].clone();
    assert_eq!(epochs("a.senv"), 60);
    folder.run(&[&args[..], &["--preset", "paper", "--min-count", "1"]].concat()).ok();
    assert_eq!(epochs("a.senv"), 13);
}

#[test]
fn a_preset_is_what_its_name_says() {
    let folder = Folder::with_text(60);
    let parameters = |system: &str, preset: &str| {
        let args = ["train", system, "--input", "text.txt", "--output", "m.senv", "--force", "--preset", preset];
        folder.run(&[&args[..], &["--min-count", "1", "--epochs", "1", "--no-check"]].concat()).ok();
        folder.run(&["info", "m.senv", "--json"]).ok().json()["parameters"].clone()
    };
    let siamese = parameters("siamese-cbow", "paper");
    assert_eq!((&siamese["fit"]["lr"], &siamese["temperature"]), (&1e-4.into(), &1.0.into()));
    assert!(siamese["fit"]["rule"].to_string().contains("sgd"), "{}", siamese["fit"]["rule"]);
    for (preset, dim, subsample) in [("paper", 300, 1e-5), ("release", 100, 1e-3)] {
        let word2vec = parameters("word2vec", preset);
        assert_eq!((&word2vec["dim"], &word2vec["subsample"]), (&dim.into(), &subsample.into()), "{preset}");
        assert_eq!(word2vec["training"]["lr_floor"], 1e-4, "{preset}");
    }
    // The learning rate of the released Sent2Vec falls to 0, which is not stored.
    assert!(parameters("sent2vec", "paper")["training"].get("lr_floor").is_none());
}

#[test]
fn presets_of_papers_are_taken_by_systems_on_pairs_on_text_and_on_scores() {
    let folder = Folder::with_pairs();
    let parameters = |arguments: &str| {
        let words = format!("train {arguments} --preset paper --output m.senv --force --epochs 1 --dim 8");
        let words = words.replace("--dim 8", if arguments.starts_with("relatedness") { "" } else { "--dim 8" });
        folder.run(&words.split_whitespace().collect::<Vec<_>>()).ok();
        folder.run(&["info", "m.senv", "--json"]).ok().json()["parameters"].clone()
    };
    parameters("bow-ae --input pairs.tsv --lines --no-check");
    assert_eq!(parameters("rnn-ae --input pairs.tsv --lines --hidden 8 --no-check")["params"]["fit"]["batch"], 64);
    assert_eq!(parameters("p-thought --pairs pairs.tsv --hidden 8 --no-check")["params"]["fit"]["words"], "frozen");
    for system in ["pp", "cse"] {
        let found = parameters(&format!("{system} --pairs pairs.tsv --no-check"));
        assert_eq!((&found["fit"]["l2_norm"], &found["fit"]["words"]), (&"full".into(), &"dense".into()), "{found}");
        assert!(found["pairs"]["loss"].to_string().contains("FirstElements"), "{found}");
    }
    folder.run(&["train", "cse", "--pairs", "pairs.tsv", "--dim", "8", "--epochs", "1", "--output", "cse.senv"]).ok();
    let found = parameters("relatedness --model cse.senv --train dev.tsv");
    assert!(found.to_string().contains("\"combine\":\"Concat\""), "{found}");
    // An argument changes one of its settings.
    let found = parameters("relatedness --model cse.senv --train dev.tsv --combine product");
    assert!(found.to_string().contains("\"words\":\"dense\"") && !found.to_string().contains("Concat"), "{found}");
}

#[test]
fn without_a_system_the_order_of_the_sentences_chooses_one() {
    let folder = Folder::with_text(10);
    // Documents of eight sentences about one subject each, and the same sentences as one document per line.
    let lines: Vec<String> =
        (0..1200).map(|i| format!("w{} x{} y{} z{}", i / 8, (i / 8) * 7 % 97, i % 13, i * 31 % 17)).collect();
    let ordered: Vec<String> = lines.chunks(8).map(|document| document.join("\n")).collect();
    folder.write("ordered.txt", ordered.join("\n\n"));
    let shuffled: Vec<&str> = (0..1200).map(|i| lines[i * 7 % 1200].as_str()).collect();
    folder.write("shuffled.txt", shuffled.join("\n"));
    let train = |text: &str, output: &str| folder.run(&["train", "--input", text, "--output", output]).ok().err;
    let said = train("ordered.txt", "o.senv");
    assert!(said.contains("closer to the next one") && said.contains("check on"), "{said}");
    let said = train("shuffled.txt", "s.senv");
    assert!(said.contains("Sent2Vec, which does not need sentences in order") && said.contains("check on"), "{said}");
    let kind = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["kind"].clone();
    assert_eq!((kind("o.senv"), kind("s.senv")), ("pp".into(), "sent2vec".into()));
    folder.write("pairs.tsv", "a dog ran\ta dog was running\n".repeat(3) + "the sun is out\tit is sunny\n");
    let args = ["train", "--input", "ordered.txt", "--pairs", "pairs.tsv", "--output", "p.senv", "--seed", "3"];
    assert!(folder.run(&args).ok().err.contains("training paraphrases and consecutive sentences"));
    folder.run(&["train", "--output", "p.senv"]).fails(2, &["--input"]);
    folder.run(&["train", "--input", "ordered.txt"]).fails(2, &["--output"]);
}

#[test]
fn every_output_of_encode_holds_the_same_numbers_in_the_order_of_the_input() {
    let folder = Folder::with_model();
    let many = text(3000);
    folder.write("many.txt", &many);
    let encode = ["encode", "--model", "m.senv", "--input", "many.txt", "--output"];
    folder.run(&[&encode[..], &["many.npy"]].concat()).ok();
    folder.run(&[&encode[..], &["many.tsv", "--threads", "1"]].concat()).ok();
    let blanks = folder.run(&[&encode[..], &["-", "--threads", "3"]].concat()).ok();
    assert!(blanks.err.contains("3,000 sentences"), "{}", blanks.err);
    let piped = folder.pipe(&["encode", "--model", "m.senv"], &many).ok();
    assert_eq!(piped.out, blanks.out);

    let npy = folder.read("many.npy");
    assert!(npy.starts_with(b"\x93NUMPY\x01\x00") && String::from_utf8_lossy(&npy[..128]).contains("(3000, 12)"));
    let from_npy: Vec<f32> = npy[128..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let numbers = |text: &str, separator| -> Vec<f32> {
        text.lines().flat_map(|line| line.split(separator).map(|x| x.parse().unwrap())).collect()
    };
    assert_eq!(from_npy.len(), 3000 * 12);
    assert_eq!(numbers(&blanks.out, ' '), from_npy);
    assert_eq!(numbers(&String::from_utf8(folder.read("many.tsv")).unwrap(), '\t'), from_npy);

    // Encoding lines one by one gives the same vectors as encoding them together.
    let line = many.lines().nth(2999).unwrap();
    let one = folder.pipe(&["encode", "--model", "m.senv"], line).ok().out;
    assert_eq!(one, format!("{}\n", blanks.out.lines().nth(2999).unwrap()));
    let short = folder.pipe(&["encode", "--model", "m.senv", "--digits", "2"], line).ok().out;
    assert!(short.split_whitespace().all(|x| x.split_once('.').unwrap().1.len() == 2), "{short}");
}

#[test]
fn sentences_of_unknown_words_are_zero_and_counted() {
    let folder = Folder::with_model();
    let encoded = folder.pipe(&["encode", "--model", "m.senv"], "the cat\n\nqqq zzz\n").ok();
    let rows: Vec<&str> = encoded.out.lines().collect();
    assert_eq!(rows.len(), 3, "a blank line has a row, so that rows and lines agree");
    assert!(rows[1..].iter().all(|row| row.split(' ').all(|x| x.parse::<f32>().unwrap() == 0.0)));
    assert!(encoded.err.contains("2 sentences encoded"), "{}", encoded.err);
    assert!(encoded.err.contains("1 blank line: zero vectors"), "{}", encoded.err);
    assert!(encoded.err.contains("1 sentence without a known word: zero vectors"), "{}", encoded.err);

    let args = ["nearest", "--model", "m.senv", "--input", "text.txt", "--query", "qqq zzz", "--json"];
    let nearest = folder.run(&args).ok();
    assert_eq!(
        (&nearest.json()["known_tokens"], nearest.json()["neighbours"].as_array().unwrap().len()),
        (&0.into(), 0)
    );
    assert!(nearest.err.contains("so it has no neighbors"), "{}", nearest.err);
    let cosine = folder.run(&["similarity", "--model", "m.senv", "qqq", "the cat"]).ok();
    assert_eq!(cosine.out, "0.000000\n");
    assert!(cosine.err.contains("without known words"), "{}", cosine.err);
    assert_eq!(folder.pipe(&["encode", "--model", "m.senv"], "").ok().out, "");
}

#[test]
fn pairs_on_standard_input_get_a_column() {
    let folder = Folder::with_model();
    let pairs = "the cat\tthe dog\nthe soup\tthe train\tmore\n";
    let scored = folder.pipe(&["similarity", "--model", "m.senv"], pairs).ok().out;
    for (line, pair) in scored.lines().zip(pairs.lines()) {
        let (rest, cosine) = line.rsplit_once('\t').unwrap();
        assert_eq!(rest, pair);
        assert!((-1.0..=1.0).contains(&cosine.parse::<f32>().unwrap()));
    }
    assert_eq!(scored.lines().count(), 2);
    let json = folder.pipe(&["similarity", "--model", "m.senv", "--json"], pairs).ok().out;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["first"], &first["known_tokens"][1]), (&"the cat".into(), &2.into()));
    let bad = folder.pipe(&["similarity", "--model", "m.senv"], "the cat\tthe dog\nno tab here\n");
    assert_eq!(bad.fails(1, &["-:2: found no tab"]).out.lines().count(), 1, "what lies before it is written");
}

#[test]
fn models_are_judged() {
    let folder = Folder::with_model();
    folder.train("text.txt", "other.senv", &["--seed", "2"]).ok();
    std::fs::create_dir(folder.path("2014")).unwrap();
    folder.write(
        "2014/headlines.tsv",
        "5\tthe cat saw the dog\tthe dog saw the cat\n3\tthe cat liked fur\tthe dog liked bread\n1\tthe soup\tthe train\n0\tthe oven\tthe horse\n",
    );
    let sts = ["eval", "sts", "--model", "m.senv", "2014/headlines.tsv"];
    let result = folder.run(&[&sts[..], &["--json", "--against", "other.senv", "--published"]].concat()).ok().json();
    assert_eq!((&result["tasks"][0]["name"], &result["tasks"][0]["n_pairs"]), (&"headlines".into(), &4.into()));
    assert!(result["tasks"][0]["pearson_r_x100"].is_number());
    assert_eq!(result["against"]["model"], "other.senv");
    assert!(result["against"]["comparison"]["tasks"][0].is_object());
    assert!(!result["published"].as_array().unwrap().is_empty());
    let table = folder.run(&[&sts[..], &["--published"]].concat()).ok().out;
    assert!(table.contains("pearson r x100") && table.contains("2014 headlines"), "{table}");

    let norms = folder.run(&["eval", "norms", "--model", "m.senv", "--svg", "norms.svg", "--json"]).ok().json();
    assert!(norms["n_words"].as_u64().unwrap() > 100);
    assert!(folder.read("norms.svg").starts_with(b"<svg"));
    let latency = ["eval", "latency", "--model", "m.senv", "2014/headlines.tsv", "--json", "--warm-up", "3"];
    assert_eq!(folder.run(&latency).ok().json()["n_pairs"], 4);
}

#[test]
fn the_other_systems_train_and_encode() {
    let folder = Folder::with_text(300);
    for (name, more) in [("word2vec", &["--architecture", "skip-gram", "--window", "2"][..]), ("pv-dbow", &[])] {
        let args = ["train", name, "--input", "text.txt", "--output", "m.senv", "--dim", "8", "--min-count", "1"];
        folder.run(&[&args[..], &["--epochs", "1", "--subsample", "1e-2", "-q"], more].concat()).ok();
        assert_eq!(folder.run(&["info", "m.senv", "--json"]).ok().json()["kind"], name);
        let row = folder.pipe(&["encode", "--model", "m.senv", "--quiet"], "the cat saw the dog\n").ok().out;
        assert_eq!(row.split(' ').count(), 8);
    }
}

#[test]
fn word_vectors_come_through_every_format_unchanged() {
    let folder = Folder::with_model();
    let convert = |from: &str, to: &str, more: &[&str]| folder.run(&[&["convert", from, to], more].concat());
    convert("m.senv", "first.txt", &[]).ok();
    for name in ["a.vec", "a.w2v", "a.bin", "a.txt", "a.npy", "a.senv", "a.safetensors"] {
        convert("m.senv", name, &[]).ok();
        convert(name, "back.txt", &["--force"]).ok();
        assert_eq!(folder.read("back.txt"), folder.read("first.txt"), "{name}");
    }
    assert!(folder.has("a.words.txt"));
    convert("a.bin", "odd", &[]).fails(2, &["--to"]);
    convert("a.bin", "odd", &["--to", "word2vec-text"]).ok();
    assert_eq!(folder.read("odd"), folder.read("a.w2v"));
    // Word vectors encode like a model.
    let row = folder.pipe(&["encode", "--model", "a.vec"], "the cat").ok().out;
    assert_eq!(row, folder.pipe(&["encode", "--model", "m.senv"], "the cat").ok().out);
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly() {
    let folder = Folder::with_model();
    folder.write("many.txt", text(20_000));
    let mut child = folder.spawn(&["encode", "--model", "m.senv", "--input", "many.txt"]);
    drop(child.stdout.take());
    let ended = crate::common::Ended::from(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn help_and_completions_go_to_standard_output() {
    let folder = Folder::new();
    for command in ["train", "encode", "similarity", "nearest", "eval", "info", "convert", "completions"] {
        let help = folder.run(&[command, "--help"]).ok();
        assert!(help.out.contains("Usage:") && help.err.is_empty(), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(folder.run(&["completions", shell]).ok().out.contains("senv"));
    }
    assert!(folder.run(&["--version"]).ok().out.starts_with("senv "));
}

/// Chinese and Japanese lines without spaces.
fn unspaced_text() -> String {
    let lines =
        ["猫坐在垫子上。", "狗躺在地毯上。", "小镇下雨了。", "山上下雪了。", "列車は駅に着く。", "コーヒーが好きだ。"];
    lines.map(|line| format!("{line}\n")).concat().repeat(40)
}

#[test]
fn text_without_spaces_is_tokenized_by_characters_unless_another_tokenizer_is_asked_for() {
    let folder = Folder::new();
    folder.write("text.txt", unspaced_text());
    let rule = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["parameters"]["tokenizer"].clone();
    let expected = serde_json::json!({ "rule": "unicode", "lowercase": true, "normalization": "typing" });
    for (system, output) in
        [("sent2vec", "s.senv"), ("word2vec", "w.senv"), ("pv-dbow", "p.senv"), ("siamese-cbow", "c.senv")]
    {
        let args = [
            "train",
            system,
            "--input",
            "text.txt",
            "--output",
            output,
            "--dim",
            "8",
            "--min-count",
            "1",
            "--epochs",
            "1",
        ];
        let trained = folder.run(&args).ok();
        assert!(trained.err.contains("tokenizer is unicode"), "{system}: {}", trained.err);
        assert_eq!(rule(output), expected, "{system}");
    }
    let similar = ["similarity", "--model", "s.senv", "猫在垫子上", "垫子上在猫"];
    let cosine: f32 = folder.run(&similar).ok().out.trim().parse().unwrap();
    assert!(cosine > 0.999, "the same characters in a different order: {cosine}");
    // The part of standard input that was inspected is also used for training: the rows are the same.
    let piped = folder.pipe(&Folder::training("-", "piped.senv", &[]), unspaced_text()).ok();
    assert!(piped.err.contains("tokenizer is unicode"), "{}", piped.err);
    folder.train("text.txt", "read.senv", &[]).ok();
    assert!(folder.read("piped.senv") == folder.read("read.senv"));
    // If `words` is requested, or the text has spaces, it stays.
    assert!(!folder.train("text.txt", "x.senv", &["--tokenizer", "words"]).ok().err.contains("unicode"));
    assert_eq!(rule("x.senv")["rule"], "words");
    folder.write("english.txt", text(600));
    assert!(!folder.train("english.txt", "e.senv", &[]).ok().err.contains("unicode"));
    assert_eq!(rule("e.senv")["rule"], "words");
    folder.train("english.txt", "u.senv", &["--tokenizer", "unicode", "--lowercase", "false"]).ok();
    // By settings of a paper, text is not normalized.
    assert_eq!(rule("u.senv"), serde_json::json!({ "rule": "unicode", "lowercase": false }));
}

#[test]
fn pairs_without_spaces_are_tokenized_by_characters() {
    let folder = Folder::new();
    folder.write("pairs.tsv", "猫坐在垫子上\t垫子上有猫\n小镇下雨了\t雨下在小镇\n狗躺在地毯上\t地毯上有狗\n".repeat(5));
    let args = ["train", "pp", "--pairs", "pairs.tsv", "--output", "pp.senv", "--dim", "8", "--epochs", "1"];
    assert!(folder.run(&args).ok().err.contains("tokenizer is unicode"));
    let info = folder.run(&["info", "pp.senv", "--json"]).ok().json();
    assert_eq!(info["parameters"]["tokenizer"]["rule"], "unicode");
}

/// Standard output is closed, as by `>&-` in a shell, or full.
#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_no_success() {
    let folder = Folder::with_model();
    let program = env!("CARGO_BIN_EXE_senv");
    let run = |to: &str, args: &str| -> crate::common::Ended {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec {program} {args} {to}")]).current_dir(folder.path(""));
        shell.output().unwrap().into()
    };
    let commands = [
        "encode --model m.senv --input text.txt",
        "similarity a b",
        "--help",
        "train pp --help",
        "--version",
        "info m.senv",
        "completions bash",
        "nearest --input text.txt --query cat",
        "convert m.senv - --to glove-text",
    ];
    for command in commands {
        run(">&-", command).fails(1, &["cannot write to standard output: it is closed"]);
        run(">/dev/full", command).fails(1, &["cannot write to standard output: No space left"]);
        run(">/dev/null", command).ok();
    }
    // Commands without results need no output.
    run(">&-", "encode --model m.senv --input text.txt --output v.npy").ok();
}
