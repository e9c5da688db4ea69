//! Tables as people have them: other delimiters and encodings, arrays, bad records, and tables that are not meant as
//! plain lines.

use serde_json::{Value, json};

use crate::common::{Folder, text};

/// Tickets in several forms, and the same texts as lines.
fn tickets() -> Folder {
    let folder = Folder::new();
    let texts = ["The printer is out of paper; again.", "My password does not work.", "The screen stays black."];
    let (mut semicolons, mut array) = (String::from("id;body\r\n"), Vec::new());
    for (id, text) in (1..).zip(texts) {
        semicolons += &format!("T-{id};\"{text}\"\r\n");
        array.push(json!({ "id": format!("T-{id}"), "post": { "body": text } }));
    }
    folder.write("t.csv", semicolons);
    folder.write("t.json", Value::from(array).to_string());
    folder.write("t.txt", texts.join("\n") + "\n");
    folder
}

#[test]
fn semicolons_and_arrays_are_read_as_their_lines() {
    let folder = tickets();
    let expected = folder.run(&["encode", "t.txt"]).ok().out;
    let ended = folder.run(&["encode", "t.csv", "--column", "body"]).ok();
    assert_eq!(ended.out, expected);
    assert!(ended.err.contains("t.csv: fields are separated by ;, as the first records show"), "{}", ended.err);
    let given = folder.run(&["encode", "t.csv", "--column", "body", "--delimiter", ";"]).ok();
    assert!(given.out == expected && !given.err.contains("separated by"), "{}", given.err);
    assert_eq!(folder.run(&["encode", "t.json", "--column", "post.body"]).ok().out, expected);
    folder.write("tabs.csv", "id\tbody\n1\tRain, then snow.\n2\tSun.\n");
    let ended = folder.run(&["sample", "--random", "9", "tabs.csv", "--column", "body"]).ok();
    assert!(ended.out == "Rain, then snow.\nSun.\n" && ended.err.contains("separated by tab"), "{}", ended.err);
    folder
        .run(&["encode", "t.csv", "--column", "body", "--delimiter", ","])
        .fails(1, &["no column \"body\"", "id;body"]);
    folder.run(&["encode", "t.csv", "--column", "body", "--delimiter", ";;"]).fails(2, &["one ASCII character"]);
    folder.run(&["index", "t.csv", "--column", "text=body", "--column", "ticket=id", "--output", "c"]).ok();
    let hits = folder.run(&["search", "c", "--query", "a black screen", "--k", "1"]).ok().out;
    assert!(hits.contains("The screen stays black.\tticket=T-3"), "{hits}");
}

#[test]
fn a_table_without_a_column_is_refused_with_its_titles_by_every_command() {
    let folder = tickets();
    folder.write("other.txt", "{\"id\":1,\"body\":\"Rain.\"}\n");
    folder.write("t.tsv", "id\tbody\n1\tRain.\n");
    let refused = |arguments: &[&str], says: &[&str]| folder.run(arguments).fails(2, says);
    for command in [
        &["encode"][..],
        &["dedupe"],
        &["outliers"],
        &["cluster"],
        &["sample", "--random", "1"],
        &["mine"],
        &["split"],
        &["nearest", "--query", "rain"],
        &["compare", "t.txt"],
        &["dedupe", "t.txt", "--against"],
        &["mine", "t.txt", "--with"],
        &["nearest", "t.txt", "--queries"],
        &["decode", "--model", "english", "--input"],
        &["train", "--output", "m.senv", "--input"],
        &["train", "sent2vec", "--output", "m.senv", "--input"],
        &["train", "cse", "--output", "m.senv", "--neighbours"],
        &["eval", "sizes", "--text"],
        &["index", "--output", "c", "--input"],
        &["similarity"],
    ] {
        refused(&[command, &["t.csv"]].concat(), &["t.csv is a table (CSV); name the column", "Columns: id, body"]);
    }
    refused(&["dedupe", "t.json"], &["t.json is a JSON array", "--column", "Columns: id, post"]);
    refused(&["dedupe", "t.tsv"], &["t.tsv is a table (TSV)", "Columns: id, body"]);
    refused(&["dedupe", "other.txt"], &["other.txt is JSON lines", "--column and --text-format jsonl", "id, body"]);
    refused(&["compare", "t.txt", "t.csv"], &["--second-column", "--second-lines"]);
    refused(&["nearest", "t.txt", "--queries", "t.csv"], &["--queries-column", "--queries-lines"]);
    refused(&["dedupe", "t.csv", "--lines", "--column", "body"], &["cannot be used with"]);
    assert!(!folder.has("m.senv") && !folder.has("c"));
    // On purpose.
    let lines = folder.run(&["sample", "--random", "9", "t.csv", "--lines"]).ok().out;
    assert_eq!(lines.lines().next(), Some("id;body"));
    folder.run(&["index", "t.csv", "--lines", "--output", "c"]).ok();
    folder.run(&["search", "c", "--queries", "t.csv"]).fails(2, &["--queries-column", "Columns: id, body"]);
    folder.run(&["compare", "t.csv", "t.txt", "--lines"]).ok();
}

#[test]
fn a_second_input_has_its_own_column() {
    let folder = tickets();
    folder.write("more.jsonl", "{\"q\":\"My password does not work.\"}\n{\"q\":\"It rains.\"}\n");
    let compared = |arguments: &[&str]| {
        let out = folder.run(&[&["compare"], arguments].concat()).ok().out;
        out.lines().map(|line| line.chars().next().unwrap()).collect::<String>()
    };
    assert_eq!(compared(&["t.csv", "t.txt", "--column", "body", "--second-lines"]), "===");
    assert_eq!(compared(&["t.txt", "t.csv", "--second-column", "body"]), "===");
    assert_eq!(compared(&["t.csv", "more.jsonl", "--column", "body", "--second-column", "q"]), "<=<>");
    assert_eq!(compared(&["t.csv", "t.csv", "--column", "body"]), "===");
    let dedupe = ["dedupe", "t.csv", "--column", "body", "--against"];
    let kept = |more: &[&str]| folder.run(&[&dedupe, more].concat()).ok().out;
    assert_eq!(kept(&["more.jsonl", "--against-column", "q"]).lines().count(), 2);
    assert_eq!(kept(&["t.txt", "--against-lines"]), "");
    let mine = ["mine", "t.txt", "--with", "t.json", "--with-column", "post.body", "--min-score", ".99", "--once"];
    let pairs = folder.run(&mine).ok().out;
    assert_eq!(pairs.lines().count(), 3, "{pairs}");
    let near = ["nearest", "t.txt", "--queries", "more.jsonl", "--queries-column", "q", "--k", "1", "--json"];
    let near = folder.run(&near).ok().out;
    let first: Value = serde_json::from_str(near.lines().next().unwrap()).unwrap();
    assert_eq!((near.lines().count(), &first["neighbours"][0]["line"]), (2, &json!(2)));
    folder.run(&["index", "t.txt", "--output", "c"]).ok();
    let found = folder.run(&["search", "c", "--queries", "more.jsonl", "--queries-column", "q", "--k", "1"]).ok().out;
    assert!(found.contains("> My password does not work.\n") && found.contains("\t1\tt.txt:2\t"), "{found}");
    // A record of the searched table does not find itself.
    let own = ["nearest", "t.csv", "--column", "body", "--queries", "t.csv", "--queries-column", "body", "--json"];
    for answer in folder.run(&own).ok().out.lines() {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["neighbours"].as_array().unwrap().len(), 2, "{answer}");
    }
    folder.write("pairs.csv", "first,second,n\nA cat.,A cat.,1\n\"A dog, old.\",\"A dog, old.\",2\n");
    let similar = folder.run(&["similarity", "pairs.csv", "--column", "first", "--column", "second"]).ok().out;
    let without_cosine = |line: &str| line.rsplit_once('\t').unwrap().0.to_owned();
    let pairs: Vec<String> = similar.lines().map(without_cosine).collect();
    assert_eq!(pairs, ["A cat.\tA cat.", "A dog, old.\tA dog, old."]);
    folder.run(&["similarity", "pairs.csv", "--column", "first"]).fails(2, &["--column FIRST --column SECOND"]);
}

#[test]
fn bad_records_are_left_out_counted_and_listed() {
    let folder = Folder::new();
    folder.write("bad.csv", "id,body\n1,Rain falls.\n2\n3,\"The sun\n4,\"It\" snows\n5,Fog comes.\n");
    let run = |n: &str, more: &[&str]| {
        folder.run(&[&["sample", "--random", "9", "bad.csv", "--column", "body", "--skip-bad", n], more].concat())
    };
    let ended = run("3", &[]).ok();
    assert_eq!(ended.out, "Rain falls.\nFog comes.\n");
    for said in ["left out 3 bad records", "bad.csv:3: the record has 1 column", "bad.csv:5: text follows"] {
        assert!(ended.err.contains(said), "{}", ended.err);
    }
    let out = run("3", &["--json"]).ok().out;
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["bad_records"], &last["first_bad_records"][0]["line"]), (&json!(3), &json!(3)));
    assert_eq!(last["first_bad_records"][0]["file"], "bad.csv");
    run("2", &[]).fails(1, &["bad.csv:5: text follows the closing quote"]);
    let index = ["index", "bad.csv", "--column", "text=body", "--output", "c"];
    folder.run(&index).fails(1, &["bad.csv:3"]);
    let ended = folder.run(&[&index[..], &["--skip-bad", "9"]].concat()).ok();
    assert!(ended.err.contains("left out 3 bad records") && ended.err.contains("2 sentences"), "{}", ended.err);
    folder.run(&["sample", "--random", "9", "bad.csv", "--lines", "--skip-bad", "9"]).fails(2, &["--column"]);
    // Text that is read several times is counted once.
    let mut csv = String::from("body\n\"a\"b\n");
    text(300).lines().for_each(|line| csv += &format!("{line}\n"));
    folder.write("train.csv", csv);
    let train = ["train", "sent2vec", "--output", "m.senv", "--dim", "8", "--input", "train.csv", "--column", "body"];
    let ended = folder.run(&[&train[..], &["--skip-bad", "1"]].concat()).ok();
    assert!(ended.err.contains("left out 1 bad record\n"), "{}", ended.err);
}

#[test]
fn a_file_of_semicolons_is_recognized_with_a_stray_one_and_with_titles_alone() {
    let folder = Folder::new();
    folder.write("stray.csv", "id;body\n1;Rain falls; it is wet.\n2;The sun shines.\n");
    let sample = |file: &str, more: &[&str]| {
        folder.run(&[&["sample", "--random", "9", file, "--column", "2", "--header"], more].concat())
    };
    sample("stray.csv", &[]).fails(1, &["stray.csv:2: the record has 3 columns, but the first record has 2"]);
    assert_eq!(sample("stray.csv", &["--skip-bad", "1"]).ok().out, "The sun shines.\n");
    folder.write("titles.csv", "id;body\n");
    folder
        .run(&["sample", "--random", "9", "titles.csv", "--column", "body"])
        .fails(1, &["titles.csv: fields are separated by ;", "titles.csv contains no text"]);
    // Another line before the titles.
    folder.write("above.csv", "Tickets of May\nid;body\n1;Rain falls.\n2;The sun shines.\n");
    let lines = folder.run(&["sample", "--random", "9", "above.csv", "--column", "1"]).ok();
    let said = "above.csv: each line is read as one field, but ; seems to separate fields; --delimiter ';' does that";
    assert!(lines.err.contains(said), "{}", lines.err);
    let index = ["index", "above.csv", "--column", "text=1", "--output", "c"];
    assert!(folder.run(&index).ok().err.contains(said));
}

#[test]
fn records_without_text_are_counted_and_the_first_are_named() {
    let folder = Folder::new();
    folder.write("t.jsonl", "{\"body\":\"Rain falls.\"}\n{\"id\":2}\n{\"body\":null}\n{\"body\":\"\"}\n{\"id\":5}\n");
    folder.write("t.csv", "id,body\n1,Rain falls.\n2,\n");
    let said = "4 records have no text in the column: t.jsonl:2, t.jsonl:3, t.jsonl:4 and 1 more\n";
    for command in [
        &["sample", "--random", "9"][..],
        &["dedupe"],
        &["dedupe", "--records"],
        &["nearest", "--query", "rain"],
        &["encode"],
        &["split"],
    ] {
        let ended = folder.run(&[command, &["t.jsonl", "--column", "body"]].concat()).ok();
        assert!(ended.err.contains(said), "{command:?}: {}", ended.err);
    }
    let index = ["index", "t.jsonl", "--column", "text=body", "--output", "c"];
    assert!(folder.run(&index).ok().err.contains(said));
    let ended = folder.run(&["dedupe", "t.csv", "--column", "body"]).ok();
    assert!(ended.err.contains("1 record has no text in the column: t.csv:3\n"), "{}", ended.err);
}

#[test]
fn a_file_that_is_given_twice_is_noted_once() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("docs")).unwrap();
    folder.write("docs/a.txt", "Rain falls.\nThe sun shines.\n");
    let said = |arguments: &[&str]| {
        let err = folder.run(arguments).ok().err;
        err.matches("is given more than once, and is read each time").count()
    };
    assert_eq!(said(&["dedupe", "docs/a.txt", "docs/../docs/a.txt", "docs/a.txt"]), 1);
    assert_eq!(said(&["dedupe", "docs", "docs/a.txt"]), 1);
    assert_eq!(said(&["dedupe", "docs/a.txt", "--against", "docs/a.txt"]), 1);
    assert_eq!(said(&["index", "docs/a.txt", "docs/a.txt", "--output", "c"]), 1);
    assert_eq!(said(&["nearest", "docs/a.txt", "--queries", "docs/a.txt"]), 0);
    assert_eq!(said(&["compare", "docs/a.txt", "docs/a.txt"]), 0);
    assert_eq!(said(&["dedupe", "docs"]), 0);
    assert_eq!(said(&["nearest", "docs/a.txt", "--query", "Rain.", "--query", "Rain."]), 0);
    folder.write("p.tsv", "Rain falls.\tIt rains.\n");
    let train = ["train", "pp", "--pairs", "p.tsv", "p.tsv:2", "--output", "no/folder/m.senv"];
    let err = folder.run(&train).err;
    assert!(err.contains("p.tsv is given more than once"), "{err}");
}

#[test]
fn a_binary_file_is_named_as_one() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("docs")).unwrap();
    let noise: Vec<u8> = (0..3000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    folder.write("docs/noise.txt", noise);
    folder.write("docs/a.txt", "Rain falls.\n");
    let ended = folder.run(&["dedupe", "docs"]).ok();
    assert!(ended.err.contains("left out 1 file, binary, not text: docs/noise.txt"), "{}", ended.err);
    let ended = folder.run(&["dedupe", "docs/noise.txt"]).fails(1, &["docs/noise.txt is a binary file, not text"]);
    assert!(!ended.err.contains("carriage"), "{}", ended.err);
    let table = ["dedupe", "docs/noise.txt", "--column", "1"];
    folder.run(&table).fails(1, &["docs/noise.txt is a binary file, not text"]);
}

#[test]
fn windows_1252_is_named_in_the_error_and_read() {
    let folder = Folder::new();
    folder.write("w.csv", b"id;gr\xf6\xdfe\n1;Der B\xe4r schl\xe4ft.\n2;\x84Nein\x93, sagt er.\n");
    let sample = ["sample", "--random", "9", "w.csv", "--column", "2", "--header"];
    folder.run(&sample).fails(
        1,
        &["w.csv:2: byte 6 of the cell in column \"2\"", "--invalid-utf8 windows-1252", "--invalid-utf8 replace"],
    );
    for policy in ["windows-1252", "latin1"] {
        let out = folder.run(&[&sample[..], &["--invalid-utf8", policy]].concat()).ok().out;
        assert_eq!(out, "Der Bär schläft.\n„Nein“, sagt er.\n");
    }
    let by_title = ["sample", "--random", "1", "w.csv", "--column", "größe", "--invalid-utf8", "windows-1252"];
    folder.run(&by_title).ok();
    folder.run(&by_title[..6]).fails(1, &["no column \"größe\"", "which are not UTF-8 (--invalid-utf8 windows-1252"]);
    folder.run(&["dedupe", "w.csv", "--invalid-utf8", "windows-1252"]).fails(2, &["Columns: id, größe"]);
}

#[test]
fn paragraphs_of_a_cell_are_not_glued_together() {
    let folder = Folder::new();
    folder.write("p.csv", "id,body\n1,\"The old\nmill stands\n\nRain falls\"\n2,It is late\n");
    let split = folder.run(&["split", "p.csv", "--column", "body"]).ok().out;
    assert_eq!(split, "The old mill stands\n\nRain falls\nIt is late\n");
    let kept = folder.run(&["dedupe", "p.csv", "--column", "body", "--split"]).ok().out;
    assert_eq!(kept, "The old mill stands\nRain falls\nIt is late\n");
    let index = ["index", "p.csv", "--documents", "--column", "text=body", "--column", "id", "--output", "c"];
    folder.run(&index).ok();
    let search = ["search", "c", "--query", "falling rain", "--by", "sentence", "--rank", "meaning", "--k", "1"];
    let found = folder.run(&search).ok().out;
    assert!(found.contains("\tRain falls"), "{found}");
}
