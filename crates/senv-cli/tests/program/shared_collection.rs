//! Collections that the program and a service, which uses the library, both change and search.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use senv::{
    SentenceCollection,
    collection::{NewSentences, SentenceCollectionParams, SentenceSearch},
};
use serde_json::Value;

use crate::common::Folder;

/// A folder with a small model and a table of sentences.
fn folder() -> Folder {
    let folder = Folder::with_model();
    folder.write("more.txt", "the horse left the stable\nthe bird sat on the bridge\n");
    folder.write("t.tsv", "40\tAda\tthe pepper burnt in the oven\n7\tBob\tthe engine left the station\n");
    folder
}

fn open(folder: &Folder) -> SentenceCollection {
    SentenceCollection::open(folder.path("c")).unwrap()
}

/// The nearest sentence that the program finds.
fn found(folder: &Folder, query: &str) -> Value {
    let answer = folder.run(&["search", "c", "--query", query, "--k", "1", "--json"]).ok().json();
    answer["neighbours"][0].clone()
}

/// The nearest sentence that the library finds, without the cosine.
fn hit(collection: &SentenceCollection, query: &str) -> (u64, String) {
    let hit = collection.search(query, 1).unwrap().remove(0);
    (hit.id.number().unwrap(), hit.text)
}

#[test]
fn a_service_adds_to_a_collection_of_the_program_and_sees_what_the_program_adds() {
    let folder = folder();
    let (horse, bird) = ("the horse left the stable", "the bird sat on the bridge");
    let index = |args: &[&str]| folder.run(&[&["index", "--output", "c"], args].concat());
    index(&["--model", "m.senv", "text.txt"]).ok();
    let mut service = open(&folder);
    assert_eq!(service.rows().columns(), ["text", "file", "line"]);
    assert_eq!(service.add(&[horse, "the cow and the dog"]).unwrap(), [600, 601]);
    // The program finds it; it has an id, but neither file nor line.
    let near = found(&folder, horse);
    assert_eq!(
        (&near["text"], &near["id"], near.get("file"), near.get("line")),
        (&horse.into(), &600.into(), None, None)
    );
    let shown = folder.run(&["search", "c", "--query", horse, "--k", "1"]).ok().out;
    assert!(shown.ends_with(&format!("\t600\t{horse}\n")), "{shown}");
    // Its neighbor is the other one; the line before is of a file.
    let around = folder.run(&["search", "c", "--query", horse, "--k", "1", "--context", "2", "--json"]).ok().json();
    let around = &around["neighbours"][0];
    assert_eq!((around.get("before"), &around["behind"]), (None, &serde_json::json!(["the cow and the dog"])));

    // What the program adds is there after a refresh, and not before.
    index(&["--add", "more.txt"]).ok();
    assert_eq!(service.len(), 602);
    assert!(service.refresh().unwrap() && !service.refresh().unwrap());
    assert_eq!((service.len(), hit(&service, bird)), (604, (603, bird.to_owned())));
    let place = |id, column| service.rows().text(service.rows().position(id).unwrap().unwrap(), column).unwrap();
    assert_eq!(
        [place(603, "file"), place(603, "line"), place(600, "file"), place(600, "line")],
        ["more.txt", "2", "", ""]
    );

    // Replaced by either, deleted by either; a change takes the changes of the other with it.
    folder.write("new.tsv", "601\tthe soup and the bread\n5\tthe cheese and the pepper\n");
    index(&["--replace", "new.tsv", "--column", "id=1", "--column", "text=2"]).ok();
    service.replace(&[(5, "a horse on a bridge"), (602, "the train")]).unwrap();
    index(&["--delete-ids", "600"]).ok();
    service.delete(&[603]).unwrap();
    assert_eq!((service.len(), open(&folder).len()), (602, 602));
    assert_eq!(hit(&service, "the soup and the bread").0, 601);
    assert_eq!(
        (found(&folder, "a horse on a bridge")["id"].as_u64(), found(&folder, horse)["id"] != 600),
        (Some(5), true)
    );
    index(&["--compact"]).ok();
    assert!(service.refresh().unwrap());
    assert_eq!((service.len(), hit(&service, "a horse on a bridge").0), (602, 5));
    // With further columns, sentences need them, from either side.
    let columns = ["--column", "id=1", "--column", "author=2", "--column", "text=3"];
    index(&[&["--model", "m.senv", "t.tsv", "--force"], &columns[..]].concat()).ok();
    let without = service.add(&[horse]).unwrap_err().to_string();
    assert_eq!(without, "the columns given are none, expected author");
    let with = NewSentences::new(vec![horse.into()]).column("author", vec!["Eve".into()]);
    assert_eq!(service.add_sentences(with).unwrap(), [41]);
    let near = found(&folder, horse);
    assert_eq!((&near["columns"]["author"], near.get("file")), (&"Eve".into(), None));
}

#[test]
fn the_program_adds_to_and_changes_and_searches_a_collection_of_a_service() {
    let folder = folder();
    let params = SentenceCollectionParams { columns: vec!["author".into()], ..Default::default() };
    let mut service = SentenceCollection::create_with(folder.path("c"), folder.path("m.senv"), &params).unwrap();
    let two = NewSentences::new(vec!["the cat saw the dog".into(), "the soup burnt".into()]);
    service.add_sentences(two.ids(vec![3, 4]).column("author", vec!["Eve".into(), "Ada".into()])).unwrap();
    let index = |args: &[&str]| folder.run(&[&["index", "--output", "c"], args].concat());
    let columns = ["--column", "id=1", "--column", "author=2", "--column", "text=3"];
    index(&[&["--add", "t.tsv"], &columns[..]].concat()).ok();
    // There is no column for its file and line.
    let near = found(&folder, "the engine left the station");
    assert_eq!(
        (near["id"].as_u64(), &near["columns"], near.get("file")),
        (Some(7), &serde_json::json!({"author": "Bob"}), None)
    );
    index(&["--add", "more.txt"]).fails(2, &["the columns given are none, expected author"]);
    folder.write("new.tsv", "3\tEve\tthe horse in the stable\n");
    index(&[&["--replace", "new.tsv"], &columns[..]].concat()).ok();
    index(&["--delete-ids", "40"]).ok();
    index(&["--delete-where", "author = Ada"]).ok();
    index(&["--compact"]).ok();
    let info = folder.run(&["info", "c", "--verify", "--json"]).ok().json();
    assert_eq!((&info["rows"], &info["columns"]), (&2.into(), &serde_json::json!(["text", "author"])));
    let some = folder.run(&["search", "c", "--query", "the horse", "--where", "author = Bob", "--json"]).ok().json();
    assert_eq!(some["neighbours"].as_array().unwrap().len(), 1);
    let words = folder.run(&["search", "c", "--query", "stable", "--hybrid", "--k", "1"]).ok().out;
    assert!(words.contains("\t3\tthe horse in the stable\tauthor=Eve"), "{words}");
    assert!(service.refresh().unwrap());
    let all = service.search_batch(&["the horse"], &SentenceSearch::new(9)).unwrap().remove(0);
    let mut ids: Vec<u64> = all.iter().filter_map(|hit| hit.id.number()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [3, 7]);

    // The plainest collection, without ids or columns of its own.
    let folder = self::folder();
    let mut service = SentenceCollection::create(folder.path("c"), folder.path("m.senv")).unwrap();
    service.add(&["the cat saw the dog"]).unwrap();
    folder.run(&["index", "--add", "more.txt", "--output", "c"]).ok();
    assert!(service.refresh().unwrap());
    assert_eq!(hit(&service, "the bird sat on the bridge"), (2, "the bird sat on the bridge".to_owned()));
    assert_eq!(found(&folder, "the cat saw the dog")["id"].as_u64(), Some(0));
    // One that is asked for a column of that name gets one.
    let given = NewSentences::new(vec!["the dog".into()]).column("file", vec!["x".into()]);
    let refused = service.add_sentences(given).unwrap_err().to_string();
    assert_eq!(refused, "the columns given are file, expected none");
}

#[test]
fn a_service_sees_nothing_of_a_killed_addition_and_all_of_what_replaces_the_collection() {
    let folder = folder();
    let index = |args: &[&str]| folder.run(&[&["index", "--output", "c"], args].concat());
    index(&["--model", "m.senv", "text.txt"]).ok();
    let mut service = open(&folder);
    let horse = "the horse left the stable";

    // It holds the lock and has read sentences; then it is killed, and leaves a part of what it has written.
    let mut writer = folder.command(&["index", "--output", "c", "--add", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = writer.stdin.take().unwrap();
    input.write_all(format!("{horse}\n").repeat(1000).as_bytes()).unwrap();
    input.flush().unwrap();
    // The lock names its process.
    let is_locked =
        || fs::read_to_string(folder.path("c/.manifest.lock")).is_ok_and(|by| by.trim() == writer.id().to_string());
    while !is_locked() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    folder.write("c/000002.segment", folder.read("c/000001.segment"));
    assert!(!service.refresh().unwrap() && service.len() == 600);
    assert_ne!(found(&folder, horse)["text"], horse);
    assert_eq!(service.add(&[horse]).unwrap(), [600]);
    assert_eq!((found(&folder, horse)["id"].as_u64(), open(&folder).len()), (Some(600), 601));
    open(&folder).rows().verify().unwrap();

    // A second service, in another process, answers each query at once.
    let mut other = folder.command(&["search", "c", "--k", "1"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut queries = other.stdin.take().unwrap();
    let mut answers = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut ask = |query: &str| {
        writeln!(queries, "{query}").unwrap();
        queries.flush().unwrap();
        answers.find(|line| line.contains('\t')).unwrap()
    };
    assert!(ask(horse).ends_with(&format!("\t600\t{horse}")));
    service.replace(&[(600, "the cow and the dog")]).unwrap();
    assert!(!ask(horse).ends_with(horse));

    // The folder gets the whole of two shards, with texts as ids.
    folder.write("ids.tsv", format!("T-1\t{horse}\nT-2\tthe soup burnt in the oven\n"));
    for (shard, output) in [("1/2", "s1"), ("2/2", "s2")] {
        let columns = ["--column", "id=1", "--column", "text=2", "--model", "m.senv"];
        folder.run(&[&["index", "ids.tsv", "--shard", shard, "--output", output], &columns[..]].concat()).ok();
    }
    folder.run(&["join", "s1", "s2", "--output", "c", "--force"]).ok();
    assert!(ask(horse).contains("\tT-1\tids.tsv:1\t"));
    assert!(service.refresh().unwrap() && service.len() == 2);
    assert_eq!(service.search(horse, 1).unwrap()[0].id, "T-1");
    service.replace(&[("T-1", "the cow and the dog")]).unwrap();
    assert!(!ask(horse).ends_with(horse));
    drop(queries);
    assert!(other.wait().unwrap().success());
}
