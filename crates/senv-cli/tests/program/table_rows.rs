//! Results joined with the user's table: columns, whole records, record numbers.

use serde_json::{Value, json};

use crate::common::Folder;

/// A table with a cell of two lines before the records that are looked for.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "id,who,body\nT-1,Ada,\"Rain falls on the\nold mill.\"\nT-2,Bob,The train is late.\nT-3,\"Cy, D\",The train is late today.\n\
         T-4,Eve,My cat sleeps.\n",
    );
    folder.write(
        "t.json",
        json!([
            { "id": 1, "body": "Rain falls." },
            { "id": 2, "body": "The train is late." },
            { "body": "A train is late.", "who": "Ada" },
        ])
        .to_string(),
    );
    folder
}

const TABLE: [&str; 3] = ["t.csv", "--column", "body"];

#[test]
fn columns_are_shown_beside_results_in_the_order_asked_for() {
    let folder = folder();
    let of = |command: &[&str]| {
        let show = ["--show", "who", "--show", "id"];
        folder.run(&[command, &TABLE, &show].concat()).ok().out
    };
    let near = of(&["nearest", "--query", "The train is late.", "--k", "2"]);
    let lines: Vec<Vec<&str>> = near.lines().map(|line| line.split('\t').collect()).collect();
    // The record, not the line, which is one more because of the first cell.
    assert_eq!(lines[0], ["1.0000", "2", "The train is late.", "Bob", "T-2"]);
    assert_eq!(lines[1][1..], ["3", "The train is late today.", "Cy, D", "T-3"]);
    let pair = of(&["mine", "-n", "1"]);
    let cells: Vec<&str> = pair.trim_end().split('\t').skip(1).collect();
    let texts = ["The train is late.", "The train is late today."];
    assert_eq!(cells, [&texts[..], &["2", "3", "Bob", "T-2", "Cy, D", "T-3"]].concat());
    let outliers = of(&["outliers", "-n", "4"]);
    assert!(outliers.lines().any(|line| line.ends_with("\t1\tRain falls on the old mill.\tAda\tT-1")), "{outliers}");
    assert_eq!(of(&["sample", "--random", "9"]).lines().nth(3), Some("My cat sleeps.\tEve\tT-4"));
    let members = of(&["cluster", "--members", "--groups", "2"]);
    assert!(members.lines().last().unwrap().ends_with("\t4\tMy cat sleeps.\tEve\tT-4"), "{members}");
    let report = of(&["dedupe", "--threshold", ".7", "--no-guard", "--report"]);
    assert!(report.contains("\t3\t2\tThe train is late today.\tThe train is late.\tCy, D\tT-3\tBob\tT-2"), "{report}");
    assert_eq!(of(&["dedupe"]).lines().next(), Some("Rain falls on the old mill.\tAda\tT-1"));
    // Sentences of a record share its columns.
    let cut = of(&["sample", "--random", "9", "--split"]);
    assert_eq!(cut.lines().next(), Some("Rain falls on the old mill.\tAda\tT-1"));
}

#[test]
fn a_number_of_a_column_and_a_title_do_not_show_the_columns_of_another_record() {
    let folder = folder();
    folder.write("years.csv", "2020,body\n5,Rain falls.\n7,The train is late.\n");
    for (file, column, show) in [("t.csv", "3", "id"), ("years.csv", "2", "2020")] {
        for command in [
            &["nearest", "--query", "rain"][..],
            &["mine"],
            &["outliers"],
            &["sample", "--random", "2"],
            &["cluster", "--members", "--groups", "2"],
            &["dedupe"],
        ] {
            let arguments = [command, &[file, "--column", column, "--show", show]].concat();
            folder.run(&arguments).fails(2, &[file, "by its title and another by its number", "add --header"]);
        }
        let with_titles = ["dedupe", file, "--column", column, "--show", show, "--header"];
        let first = folder.run(&with_titles).ok().out;
        assert!(first.starts_with("Rain falls") && first.lines().next().unwrap().ends_with(['1', '5']), "{first}");
    }
    let numbers = folder.run(&["dedupe", "t.csv", "--column", "3", "--show", "1", "--no-guard"]).ok().out;
    assert!(numbers.starts_with("body\tid\n"), "{numbers}");
    // The same for the column that groups the records.
    let by = |more: &[&str]| folder.run(&[&["dedupe", "t.csv", "--column", "3", "--by", "who"], more].concat());
    for more in [&["--show", "1"][..], &["--records"]] {
        by(more).fails(2, &["t.csv", "add --header"]);
        let first = by(&[more, &["--header"]].concat()).ok().out;
        assert!(first.contains("T-1") && first.contains("Rain falls"), "{first}");
    }
    assert_eq!(by(&["--show", "id"]).ok().out.lines().next(), Some("Rain falls on the old mill.\tT-1"));
    assert_eq!(by(&[]).ok().out.lines().next(), Some("Rain falls on the old mill."));
}

#[test]
fn json_has_the_same_columns_and_the_record() {
    let folder = folder();
    let json = |command: &[&str], more: &[&str]| -> Vec<Value> {
        let out = folder.run(&[command, &["--json"], more].concat()).ok().out;
        assert!(!out.contains("\"id\"") || out.find("\"who\"") < out.find("\"id\""), "{out}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let show = [&TABLE[..], &["--show", "who", "--show", "id"]].concat();
    let near = json(&["nearest", "--query", "late train", "--k", "1"], &show);
    let near = &near[0]["neighbours"][0];
    assert_eq!((&near["record"], &near["line"], &near["columns"]["id"]), (&json!(2), &json!(4), &json!("T-2")));
    let mined = json(&["mine", "-n", "1"], &show);
    assert_eq!(mined[0]["second"]["columns"], json!({ "who": "Cy, D", "id": "T-3" }));
    for command in [&["outliers", "-n", "9"][..], &["sample", "--random", "9"], &["cluster", "--members"], &["dedupe"]]
    {
        let found = json(command, &show);
        let eve = found.iter().find(|found| found["record"] == 4).unwrap();
        assert_eq!(eve["columns"], json!({ "who": "Eve", "id": "T-4" }), "{command:?}");
    }
    // A field that a record lacks is empty.
    let array = ["t.json", "--column", "body", "--show", "who"];
    let found = json(&["sample", "--random", "9"], &array);
    assert_eq!((&found[0]["columns"]["who"], &found[2]["columns"]["who"]), (&json!(""), &json!("Ada")));
    assert_eq!((&found[2]["record"], &found[2]["line"]), (&json!(3), &json!(1)));
    // Plain text has lines alone.
    folder.write("t.txt", "Rain falls.\n");
    assert!(json(&["sample", "--random", "9"], &["t.txt"])[0].get("record").is_none());
}

#[test]
fn whole_records_are_printed_with_figures_before_them() {
    let folder = folder();
    let of = |command: &[&str], more: &[&str]| folder.run(&[command, more, &["--records"]].concat()).ok().out;
    let near = of(&["nearest", "--query", "The train is late.", "--k", "1"], &TABLE);
    assert_eq!(near, "cosine,query,id,who,body\n1.0000,The train is late.,T-2,Bob,The train is late.\n");
    let sample = of(&["sample", "--random", "9"], &TABLE);
    assert_eq!(sample.as_bytes(), folder.read("t.csv"));
    let mined = of(&["mine", "-n", "1"], &TABLE);
    let lines: Vec<&str> = mined.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "pair,score,id,who,body"));
    assert!(lines[1].starts_with("1,0.") && lines[2].ends_with(",T-3,\"Cy, D\",The train is late today."), "{mined}");
    let members = of(&["cluster", "--members", "--groups", "2"], &TABLE);
    assert!(members.starts_with("group,cosine,id,who,body\n") && members.contains(",T-1,Ada,\"Rain falls on the\nold"));
    let outliers = of(&["outliers", "-n", "2"], &["t.json", "--column", "body"]);
    let outliers: Value = serde_json::from_str(&outliers).unwrap();
    assert!(outliers[0]["likeness"].is_number() && outliers[1]["body"].is_string(), "{outliers}");
    let kept = of(&["dedupe"], &["t.json", "--column", "body"]);
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap()[0], json!({ "id": 1, "body": "Rain falls." }));
    let rest = of(&["outliers", "-n", "1", "--drop"], &TABLE);
    assert!(rest.starts_with("id,who,body\n") && rest.lines().count() >= 4, "{rest}");
}

#[test]
fn a_query_is_a_field_of_the_table_that_was_searched() {
    let folder = Folder::new();
    folder.write("t.csv", "id;body\n1;\"Rain; then \"\"snow\"\".\"\n2;Sun.\n");
    folder.write("t.tsv", "id\tbody\n1\tRain; then \"snow\".\n");
    folder.write("t.jsonl", "{\"id\":1,\"body\":\"Rain; then snow.\"}\n");
    let near = |table: &str| {
        let query = ["--column", "body", "--query", "Rain; then \"snow\".", "--k", "1", "--records"];
        folder.run(&[&["nearest", table], &query[..]].concat()).ok().out
    };
    let text = "Rain; then \"\"snow\"\".";
    assert_eq!(near("t.csv"), format!("cosine;query;id;body\n1.0000;\"{text}\";1;\"{text}\"\n"));
    let text = "Rain; then \"snow\".";
    assert_eq!(near("t.tsv"), format!("cosine\tquery\tid\tbody\n1.0000\t{text}\t1\t{text}\n"));
    let printed = near("t.jsonl");
    let line: Value = serde_json::from_str(printed.trim_end()).unwrap();
    assert_eq!((&line["query"], &line["id"]), (&json!(text), &json!(1)));
    // The records that were printed are searched again.
    folder.write("again.jsonl", &printed);
    let again: Value = serde_json::from_str(near("again.jsonl").trim_end()).unwrap();
    assert_eq!((&again["query"], &again["query_2"]), (&json!(text), &json!(text)));
    assert_eq!((&again["cosine"], &again["cosine_2"]), (&line["cosine"], &line["cosine"]));
    folder.write("again.csv", near("t.csv"));
    assert!(near("again.csv").starts_with("cosine_2;query_2;cosine;query;id;body\n"));
}

#[test]
fn files_whose_records_cannot_follow_each_other_are_refused_before_anything_is_written() {
    let folder = folder();
    folder.write("other.csv", "id,body\nT-9,Fog comes.\n");
    folder.write("semicolon.csv", "id;who;body\nT-9;Ada;Fog comes.\n");
    folder.write("more.csv", "id,who,body\r\nT-9,Ada,Fog comes.\r\n");
    let of = |command: &[&str], second: &str| {
        folder.run(&[command, &["t.csv", second, "--column", "body", "--records"]].concat())
    };
    let titles = "other.csv has the columns id, body, but t.csv has the columns id, who, body; run --records on each";
    for command in [
        &["dedupe"][..],
        &["sample", "--random", "9"],
        &["outliers"],
        &["mine"],
        &["cluster", "--members"],
        &["nearest", "--query", "fog"],
    ] {
        let ended = of(command, "other.csv").fails(2, &[titles]);
        assert_eq!(ended.out, "", "{command:?}");
    }
    of(&["dedupe"], "semicolon.csv").fails(2, &["semicolon.csv has the columns id, who, body, separated by ';', but"]);
    of(&["dedupe"], "t.json").fails(2, &["t.json has a JSON array, but t.csv has the columns"]);
    assert!(of(&["dedupe"], "more.csv").ok().out.ends_with("T-9,Ada,Fog comes.\r\n"));
}

#[test]
fn what_cannot_be_joined_is_said() {
    let folder = folder();
    folder.write("t.txt", "Rain falls.\n");
    for (arguments, said) in [
        (&["outliers", "t.txt", "--show", "id"][..], "--show needs a table"),
        (&["sample", "--random", "1", "t.txt", "--records"], "--records needs a table"),
        (&["nearest", "t.csv", "--column", "body", "--query", "x", "--records", "--json"], "cannot be used with"),
        (&["cluster", "t.csv", "--column", "body", "--show", "id"], "--members"),
        (&["mine", "t.csv", "--column", "body", "--show", "id", "--records"], "cannot be used with"),
    ] {
        folder.run(arguments).fails(2, &[said]);
    }
    folder.pipe(&["outliers", "--column", "body", "--show", "id"], "id,body\n1,a\n").fails(2, &["give it as a file"]);
    folder
        .run(&["outliers", "t.csv", "--column", "body", "--show", "no"])
        .fails(1, &["no column \"no\"; the columns are id, who, body"]);
}

#[test]
fn search_shows_the_columns_of_a_collection_in_the_order_in_which_they_were_given() {
    let folder = folder();
    let columns = ["--column", "text=body", "--column", "who", "--column", "ticket=id"];
    folder.run(&[&["index", "t.csv", "--output", "c"], &columns[..]].concat()).ok();
    let search = ["search", "c", "--query", "My cat sleeps.", "--k", "1"];
    let found = folder.run(&search).ok().out;
    assert!(found.ends_with("\tMy cat sleeps.\twho=Eve\tticket=T-4\n"), "{found}");
    let json = folder.run(&[&search[..], &["--json"]].concat()).ok().out;
    assert!(json.contains("\"columns\":{\"who\":\"Eve\",\"ticket\":\"T-4\"}"), "{json}");
}
