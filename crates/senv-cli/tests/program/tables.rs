//! CSV, TSV and JSON lines as text.

use serde_json::{Value, json};

use crate::common::{Folder, text};

/// The same sentences as plain text, CSV, TSV and JSON lines.
fn folder(n: usize) -> Folder {
    let folder = Folder::new();
    let text = text(n);
    let (mut csv, mut tsv, mut jsonl) = (String::from("id,text,year\r\n"), String::from("id\ttext\n"), String::new());
    for (i, line) in text.lines().enumerate() {
        csv += &format!("{},\"{}\",{}\r\n", i + 5, line.replacen(" the ", " the\n", 1), 1990 + i % 9);
        tsv += &format!("{}\t{line}\n", i + 5);
        jsonl += &format!("{}\n", json!({ "id": i + 5, "a": { "text": line }, "year": (1990 + i % 9).to_string() }));
    }
    folder.write("text.txt", &text);
    folder.write("text.csv", csv);
    folder.write("text.tsv", tsv);
    folder.write("text.jsonl", &jsonl);
    folder.write("other.txt", jsonl);
    folder
}

const TABLES: [&[&str]; 6] = [
    &["text.csv", "--column", "text"],
    &["text.csv", "--column", "2", "--header"],
    &["text.tsv", "--column", "text"],
    &["text.jsonl", "--column", "a.text"],
    &["other.txt", "--field", "a.text"],
    &["other.txt", "--column", "a.text", "--text-format", "jsonl"],
];

#[test]
fn commands_read_a_column_as_they_read_its_lines() {
    let folder = folder(300);
    for command in
        [&["encode"][..], &["dedupe"], &["outliers"], &["cluster", "--groups", "4"], &["sample", "--random", "9"]]
    {
        let out = |more: &[&str]| folder.run(&[command, more].concat()).ok().out;
        let expected = out(&["text.txt"]);
        for table in TABLES {
            let mut found = out(table);
            if command == ["outliers"] {
                // The line numbers are those of the table.
                let sentences = |out: &str| -> String {
                    out.lines().map(|line| line.rsplit('\t').next().unwrap().to_owned() + "\n").collect()
                };
                (found, _) = (sentences(&found), ());
                assert_eq!(found, sentences(&expected), "{table:?}");
                continue;
            }
            assert_eq!(found, expected, "{command:?} {table:?}");
        }
    }
    let query = ["nearest", "--query", "The horse saw the meadow.", "--k", "3", "--json"];
    let near =
        |more: &[&str]| -> Value { serde_json::from_str(&folder.run(&[&query[..], more].concat()).ok().out).unwrap() };
    let (plain, table) = (near(&["text.txt"]), near(TABLES[0]));
    for i in 0..3 {
        let [plain, table] = [&plain, &table].map(|found| &found["neighbours"][i]);
        assert_eq!(plain["text"], table["text"]);
        // The table has a header, and two lines per record.
        assert_eq!(table["line"].as_u64().unwrap(), 2 * plain["line"].as_u64().unwrap());
    }
}

#[test]
fn models_are_trained_on_a_column_to_the_same_bits() {
    let folder = folder(400);
    let train = |input: &[&str]| {
        folder
            .run(&[&["train", "sent2vec", "--output", "m.senv", "--force", "--dim", "8", "--input"], input].concat())
            .ok();
        folder.read("m.senv")
    };
    let expected = train(&["text.txt"]);
    for table in TABLES {
        assert!(train(table) == expected, "{table:?}");
    }
    // The recipe, with pairs that are not tables.
    folder.write("pairs.tsv", crate::common::pairs(40));
    let recipe = |input: &[&str]| {
        let command = ["train", "--pairs", "pairs.tsv", "--output", "r.senv", "--force", "--no-check", "--input"];
        folder.run(&[&command, input].concat()).ok();
        folder.read("r.senv")
    };
    let expected = recipe(&["text.txt"]);
    assert!(recipe(TABLES[0]) == expected && recipe(TABLES[3]) == expected);
}

#[test]
fn a_collection_takes_columns_of_csv_and_json_lines() {
    let folder = folder(120);
    let index = |name: &str, more: &[&str]| {
        folder.run(&[&["index", "--output", name, "--input"], more].concat()).ok();
        folder
            .run(&[
                "search",
                name,
                "--query",
                "The horse saw the meadow.",
                "--k",
                "5",
                "--json",
                "--where",
                "year=1993",
            ])
            .ok()
            .out
    };
    let csv = index("a.index", &["text.csv", "--header", "--column", "text", "--column", "id", "--column", "year"]);
    let json = index("b.index", &["text.jsonl", "--column", "text=a.text", "--column", "id", "--column", "year"]);
    let facts = |out: &str| -> Vec<Value> {
        let found: Value = serde_json::from_str(out).unwrap();
        let hits = found["neighbours"].as_array().or_else(|| found["hits"].as_array()).expect("hits").clone();
        hits.into_iter().map(|hit| json!([hit["text"], hit["id"], hit["year"], hit["cosine"]])).collect()
    };
    assert_eq!(facts(&csv), facts(&json));
    assert!(facts(&csv).len() == 5, "{csv}");
    // A title implies a header, as in the other commands.
    let by_title = index("c.index", &["text.csv", "--column", "text", "--column", "id", "--column", "year"]);
    assert_eq!(facts(&by_title), facts(&csv));
}

#[test]
fn broken_tables_name_file_and_line() {
    let folder = folder(3);
    folder
        .run(&["dedupe", "text.csv", "--column", "words"])
        .fails(1, &["text.csv:1: no column \"words\"", "id, text, year"]);
    folder.run(&["dedupe", "text.csv", "--column", "9"]).fails(1, &["text.csv:1: the record has 3 columns"]);
    folder
        .run(&["encode", "text.jsonl", "--field", "text"])
        .fails(1, &["text.jsonl:1: no field \"text\"; the fields are a, id, year"]);
    folder.run(&["encode", "text.jsonl", "--field", "id"]).fails(1, &["text.jsonl:1: field \"id\" is a number"]);
    folder.write("open.csv", "text\nfine\n\"open\nand so on\n");
    folder.run(&["encode", "open.csv", "--column", "text"]).fails(1, &["open.csv:3: the quote that opens here"]);
    folder.write("broken.jsonl", "{\"text\":\"a\"}\n{\"text\":\n");
    folder
        .run(&["train", "--input", "broken.jsonl", "--column", "text", "--output", "m.senv"])
        .fails(1, &["broken.jsonl:2: not a JSON object"]);
    folder.write("empty.csv", "id,text\n");
    folder.run(&["dedupe", "empty.csv", "--column", "text"]).fails(1, &["empty.csv contains no text"]);
    folder.run(&["dedupe", "text.csv", "--column", "text", "--field", "x"]).fails(2, &["cannot be used with"]);
    folder.run(&["dedupe", "text.csv", "--header"]).fails(2, &["--column"]);
    folder.run(&["dedupe", "text.jsonl", "--column", "2"]).fails(1, &["text.jsonl:1: no field \"2\""]);
}
