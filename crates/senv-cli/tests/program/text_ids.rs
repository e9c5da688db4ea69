//! Collections whose ids are texts: ticket numbers, UUIDs and others.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Ended, Folder};

const TICKETS: &str = "ticket,subject\nT-1,The cat saw the dog.\nT-2,The soup burnt in the oven.\n\
                       550e8400-e29b-41d4-a716-446655440000,A train left the station.\n";
const COLUMNS: [&str; 4] = ["--column", "id=ticket", "--column", "text=subject"];

/// A folder with a model and `c`, a collection of the tickets.
fn with_tickets() -> Folder {
    let folder = Folder::with_model();
    folder.write("t.csv", TICKETS);
    index(&folder, "t.csv", &["--model", "m.senv"]).ok();
    folder
}

fn index(folder: &Folder, input: &str, more: &[&str]) -> Ended {
    folder.run(&[&["index", input, "--output", "c"], &COLUMNS[..], more].concat())
}

/// The ids that a query finds, in order.
fn ids(folder: &Folder, query: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["search", "c", "--query", query, "--json"], more].concat();
    let answer = folder.run(&args).ok().json();
    answer["neighbours"].as_array().unwrap().iter().map(|near| near["id"].clone()).collect()
}

#[test]
fn text_ids_are_strings_in_json_and_number_ids_are_numbers() {
    let folder = with_tickets();
    assert_eq!(ids(&folder, "the soup in the oven", &["--k", "1"]), [json!("T-2")]);
    let shown = folder.run(&["search", "c", "--query", "a train in the station", "--k", "1"]).ok().out;
    assert!(shown.contains("\t550e8400-e29b-41d4-a716-446655440000\tt.csv:4\tA train left the station."), "{shown}");
    // Copies have theirs, too.
    folder.write("more.csv", "ticket,subject\nT-9,The cat saw the dog.\n");
    index(&folder, "more.csv", &["--add"]).ok();
    let answer = folder.run(&["search", "c", "--query", "the cat saw the dog", "--json"]).ok().json();
    let first = &answer["neighbours"][0];
    assert_eq!((&first["id"], &first["copies"][0]["id"]), (&json!("T-1"), &json!("T-9")));
    let words = folder.run(&["search", "c", "--query", "soup", "--hybrid", "--k", "1", "--json"]).ok().json();
    assert_eq!(words["neighbours"][0]["id"], "T-2");
    // Numbers, and numbers that were asked for as texts.
    folder.write("n.csv", "ticket,subject\n70,The cat saw the dog.\n5,The soup burnt in the oven.\n");
    let made = index(&folder, "n.csv", &["--model", "m.senv", "--force"]).ok();
    assert!(!made.err.contains("texts"), "{}", made.err);
    assert_eq!(ids(&folder, "the soup", &["--k", "1"]), [json!(5)]);
    index(&folder, "n.csv", &["--model", "m.senv", "--force", "--text-ids"]).ok();
    assert_eq!(ids(&folder, "the soup", &["--k", "1"]), [json!("5")]);
    assert_eq!(folder.run(&["info", "c", "--json"]).ok().json()["ids"], "texts");
    // One that is not a number makes texts of all, and that is said. Zeros in front are kept.
    folder.write("m.csv", "ticket,subject\n70,The cat saw the dog.\n007,The soup burnt in the oven.\n");
    let made = index(&folder, "m.csv", &["--model", "m.senv", "--force"]).ok();
    assert!(made.err.contains("m.csv:3: the id is \"007\", so all ids are texts"), "{}", made.err);
    assert_eq!(ids(&folder, "the soup", &["--k", "1"]), [json!("007")]);
    assert!(ids(&folder, "the soup", &["--where", "id = 7"]).is_empty());
}

#[test]
fn tickets_are_added_replaced_deleted_and_filtered_by_their_ids() {
    let folder = with_tickets();
    folder.write("new.csv", "ticket,subject\nT-2,The bird sat on the bridge.\n17,The horse left the stable.\n");
    let refused = index(&folder, "new.csv", &["--add"]);
    refused.fails(1, &["new.csv:2: id \"T-2\" is already in the collection", "with --replace instead of --add"]);
    index(&folder, "new.csv", &["--replace"]).ok();
    assert_eq!(ids(&folder, "The bird sat on the bridge.", &["--k", "1"]), [json!("T-2")]);
    assert_eq!(ids(&folder, "The horse left the stable.", &["--k", "1"]), [json!("17")]);
    assert_eq!(ids(&folder, "the cat", &["--where", "id = T-1"]), [json!("T-1")]);
    assert_eq!(ids(&folder, "the cat", &["--where", "id == '17'"]), [json!("17")]);
    assert_eq!(ids(&folder, "the cat", &["--where", "id != T-1"]).len(), 3);
    assert_eq!(ids(&folder, "the cat", &["--where", "id != T-1", "--where", "id != 17"]).len(), 2);
    let run = |args: &[&str]| folder.run(&[&["index", "--output", "c"], args].concat());
    run(&["--delete-ids", "17,T-1"]).ok();
    // The program names ids that no sentence has and deletes the others. A second run changes nothing and succeeds.
    let deleted = run(&["--delete-ids", "T-2", "T-7,T-7", "a b"]).ok().err;
    assert!(deleted.contains("1 sentence deleted, 1 remain"), "{deleted}");
    assert!(deleted.contains(r#"no sentence of c has the ids "T-7", "a", "b""#), "{deleted}");
    let before = folder.read("c/manifest");
    let many = (10..18).map(|i| format!("T-{i}")).collect::<Vec<_>>().join(",");
    let deleted = run(&["--delete-ids", "T-2", &many]).ok().err;
    assert!(deleted.contains(r#""T-2", "T-10", "T-11", "T-12", "T-13" and 4 more"#), "{deleted}");
    let deleted = run(&["--delete-where", "id = T-2"]).ok().err;
    assert!(deleted.contains(r#"no sentence of c meets --delete-where "id = T-2""#), "{deleted}");
    assert!(deleted.contains("0 sentences deleted, 1 remain"), "{deleted}");
    assert_eq!(folder.read("c/manifest"), before);
    run(&["--compact"]).ok();
    assert_eq!(ids(&folder, "the cat", &[]).len(), 1);
    // Ids with a blank and a comma.
    folder.write("odd.csv", "ticket,subject\n\"a, b\",The cat saw the dog.\n\"a, c\",The soup.\na,The bird.\n");
    index(&folder, "odd.csv", &["--add"]).ok();
    run(&["--delete-where", "id = a, b"]).ok();
    let deleted = run(&["--delete-ids", "a, b", "a, c"]).ok().err;
    assert!(deleted.contains("2 sentences deleted") && deleted.contains(r#"has the id "b""#), "{deleted}");
    assert_eq!(folder.run(&["info", "c", "--verify", "--json"]).ok().json()["rows"], 1);
    for (more, says) in [(&[][..], "--text-ids needs the ids"), (&["--documents"], "--text-ids is for sentences")] {
        let args = ["index", "t.csv", "--output", "new", "--column", "text=subject", "--text-ids"];
        folder.run(&[&args[..], more].concat()).fails(2, &[says]);
    }
    // Sentences without an id have no next one.
    folder.write("plain.txt", "the cat\n");
    run(&["--add", "plain.txt"]).fails(2, &["the ids of c are texts", "--column id=N"]);
    // Where ids are numbers, a text is none.
    folder.write("n.csv", "ticket,subject\n70,The cat saw the dog.\n");
    index(&folder, "n.csv", &["--model", "m.senv", "--force"]).ok();
    run(&["--delete-ids", "T-1"]).fails(2, &["\"T-1\" is not an id of c; expected whole numbers"]);
    index(&folder, "t.csv", &["--add"]).fails(1, &["t.csv:2: the id is \"T-1\", expected an integer from 0 to"]);
    let condition = ["search", "c", "--query", "a", "--where", "id = T-1"];
    folder.run(&condition).fails(2, &["an id of this collection is an integer"]);
}

#[test]
fn records_whose_ids_cannot_be_used_are_left_out_with_the_bad_ones() {
    let folder = with_tickets();
    let long = "x".repeat(1025);
    folder.write("odd.csv", format!("ticket,subject\n,The bird sang.\nT-8,The horse left.\n{long},The sun.\nT-9\n"));
    folder.write("empty.csv", "ticket,subject\n,The bird sang.\n");
    index(&folder, "empty.csv", &["--add"]).fails(1, &["empty.csv:2: the id is empty; give each record an id"]);
    let more = ["--add", "--skip-bad", "2"];
    index(&folder, "odd.csv", &more).fails(1, &["odd.csv:4: the id has 1025 bytes, expected at most 1024"]);
    let said = index(&folder, "odd.csv", &["--add", "--skip-bad", "3"]).ok().err;
    for part in
        ["left out 3 bad records", "odd.csv:2: the id is empty", "odd.csv:4: the id has 1025 bytes", "odd.csv:5: "]
    {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
    assert_eq!(ids(&folder, "The horse left.", &["--k", "1"]), [json!("T-8")]);
    assert_eq!(folder.run(&["info", "c", "--json"]).ok().json()["rows"], 4);
    // Where ids are numbers, a text is none.
    folder.write("n.csv", "ticket,subject\n70,The cat saw the dog.\n");
    index(&folder, "n.csv", &["--model", "m.senv", "--force"]).ok();
    folder.write("mixed.csv", "ticket,subject\nT-1,The bird sang.\n71,The horse left.\n");
    let said = index(&folder, "mixed.csv", &["--add", "--skip-bad", "9"]).ok().err;
    assert!(said.contains("mixed.csv:2: the id is \"T-1\", expected an integer"), "{said}");
}

#[test]
fn columns_are_shown_in_the_order_in_which_they_were_asked_for() {
    let folder = Folder::with_model();
    folder.write("t.csv", "a,z,subject,ticket,m\n1,2,The cat saw the dog.,T-1,3\n");
    let columns =
        ["--column", "z", "--column", "m", "--column", "text=subject", "--column", "a", "--column", "id=ticket"];
    folder.run(&[&["index", "t.csv", "--output", "c", "--model", "m.senv"], &columns[..]].concat()).ok();
    let shown = folder.run(&["search", "c", "the cat"]).ok().out;
    assert!(shown.ends_with("\tT-1\tt.csv:2\tThe cat saw the dog.\tz=2\tm=3\ta=1\n"), "{shown}");
    let json = folder.run(&["search", "c", "the cat", "--json"]).ok().out;
    assert!(json.contains(r#""columns":{"z":"2","m":"3","a":"1"}"#), "{json}");
    for option in [&["search", "c", "the cat", "--where"][..], &["index", "--output", "c", "--delete-where"]] {
        let refused = folder.run(&[option, &["b = 1"]].concat());
        refused.fails(2, &["no column \"b\"; the columns are id, text, z, m, a, file, line", option[option.len() - 1]]);
    }
}

#[test]
fn ids_that_cannot_be_are_refused_with_their_line_and_control_characters_are_escaped() {
    let folder = with_tickets();
    let before = folder.read("c/manifest");
    let long = format!("ticket,subject\nT-5,The cat.\n{},The dog.\n", "x".repeat(1025));
    for (records, says) in [
        ("ticket,subject\nT-5,The cat.\nT-5,The dog.\n", "bad.csv:3: duplicate id \"T-5\", also used in line 2"),
        ("ticket,subject\nT-5,The cat.\n,The dog.\n", "bad.csv:3: the id is empty"),
        (&long, "bad.csv:3: the id has 1025 bytes, expected at most 1024"),
    ] {
        folder.write("bad.csv", records);
        index(&folder, "bad.csv", &["--add"]).fails(1, &[says]);
        folder
            .run(&[&["index", "bad.csv", "--output", "new", "--model", "m.senv"], &COLUMNS[..]].concat())
            .fails(1, &[says]);
        assert!(!folder.has("new"));
    }
    folder.write("blank.csv", "ticket,subject\nT-1,\n");
    index(&folder, "blank.csv", &["--replace"]).fails(1, &["the new sentence of id \"T-1\" is blank"]);
    assert_eq!(folder.read("c/manifest"), before);
    let record = json!({ "ticket": "x\u{1b}[31my", "subject": "the horse left the stable" });
    folder.write("odd.jsonl", format!("{record}\n"));
    index(&folder, "odd.jsonl", &["--add"]).ok();
    assert_eq!(ids(&folder, "the horse left the stable", &["--k", "1"]).len(), 1);
    let shown = folder.run(&["search", "c", "--query", "the horse left the stable", "--k", "1"]).ok().out;
    assert!(shown.contains("\tx\\u{1b}[31my\todd.jsonl:1\t"), "{shown:?}");
}

#[test]
fn shards_with_text_ids_join_to_the_bytes_of_a_collection_made_in_one_run() {
    let folder = Folder::with_model();
    let records: String = (0..40).map(|i| format!("T-{},The cat saw the dog number {i}.\n", 1000 - 7 * i)).collect();
    folder.write("t.csv", format!("ticket,subject\n{records}"));
    index(&folder, "t.csv", &["--model", "m.senv"]).ok();
    for number in ["1", "2"] {
        let (shard, output) = (format!("{number}/2"), format!("s{number}"));
        let args = ["index", "t.csv", "--model", "m.senv", "--shard", &shard, "--output", &output];
        folder.run(&[&args[..], &COLUMNS].concat()).ok();
    }
    folder.run(&["join", "s2", "s1", "--output", "joined"]).ok();
    let mut names: Vec<_> = fs::read_dir(folder.path("c")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() > 1);
    for name in names {
        let name = name.to_str().unwrap();
        assert!(folder.read(&format!("c/{name}")) == folder.read(&format!("joined/{name}")), "{name}");
    }
}
