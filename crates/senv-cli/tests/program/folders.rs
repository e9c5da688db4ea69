//! Folders of text in place of files, in every command that reads text.

use crate::common::Folder;

/// A model, and a folder with text in folders, and with other files.
fn with_docs() -> Folder {
    let folder = Folder::with_model();
    std::fs::create_dir_all(folder.path("docs/more/deep")).unwrap();
    folder.write("docs/b.txt", "the cat saw the bread\nthe dog left the station\n");
    folder.write("docs/a.md", "my train passed a bridge\n\nsome rain found the soup\n");
    folder.write("docs/more/deep/c.txt", "the cat saw the bread\n");
    folder.write("docs/.hidden.txt", "a baker liked the bank\n");
    folder.write("docs/photo.png", "x");
    folder.write("docs/table.csv", "id,text\n1,a baker left\n");
    folder
}

const NOTED: [&str; 2] = ["not .txt or .md: docs/photo.png", "a table (--column NAME reads tables): docs/table.csv"];

#[test]
fn lines_are_read_file_by_file_in_sorted_order() {
    let folder = with_docs();
    folder.write("all.txt", "my train passed a bridge\n\nsome rain found the soup\nthe cat saw the bread\nthe dog left the station\nthe cat saw the bread\n");
    for (input, output) in [("docs", "folder.tsv"), ("all.txt", "file.tsv")] {
        let ended = folder.run(&["encode", "--model", "m.senv", input, "--output", output]).ok();
        assert!(input != "docs" || NOTED.iter().all(|part| ended.err.contains(part)), "{}", ended.err);
    }
    assert_eq!(folder.read("folder.tsv"), folder.read("file.tsv"));
    let one = folder.run(&["encode", "--model", "m.senv", "docs", "--output", "vectors/"]).ok();
    assert!(folder.has("vectors/a.md.npy") && folder.has("vectors/c.txt.npy"), "{}", one.err);
}

#[test]
fn results_name_the_file_and_line() {
    let folder = with_docs();
    let pairs = folder.run(&["dedupe", "--model", "m.senv", "docs", "--report"]).ok().out;
    assert!(pairs.contains("docs/more/deep/c.txt:1") && pairs.contains("docs/b.txt:1"), "{pairs}");
    let found = ["nearest", "--model", "m.senv", "docs", "--query", "some rain found the soup", "--k", "1", "--json"];
    let answer = folder.run(&found).ok().json();
    assert_eq!((&answer["neighbours"][0]["file"], &answer["neighbours"][0]["line"]), (&"docs/a.md".into(), &3.into()));
    let compared = folder.run(&["compare", "--model", "m.senv", "docs", "docs/b.txt", "--only", "both"]).ok().out;
    assert!(compared.contains("\tdocs/b.txt:1\t1\t"), "the second text is one file: {compared}");
    folder.run(&["cluster", "--model", "m.senv", "docs"]).ok();
    assert!(folder.run(&["split", "docs"]).ok().out.starts_with("my train passed a bridge\n"));
}

#[test]
fn each_file_of_a_folder_is_a_document_of_an_index() {
    let folder = with_docs();
    let ended = folder.run(&["index", "--model", "m.senv", "docs", "--output", "docs.index"]).ok();
    assert!(
        ended.err.contains("4 sentences of 3 documents") && ended.err.contains("each file of the folder"),
        "{}",
        ended.err
    );
    let search = |collection: &str| {
        let query = ["--query", "some rain found the soup", "--k", "1", "--json"];
        folder.run(&[&["search", collection], &query[..]].concat()).ok().json()
    };
    let found = search("docs.index").to_string();
    assert!(found.contains("docs/a.md") && found.contains("some rain found the soup"), "{found}");
    // The same with the option, and added to.
    folder.run(&["index", "--model", "m.senv", "docs", "--output", "same.index", "--documents"]).ok();
    assert_eq!(search("same.index").to_string(), found);
    std::fs::create_dir(folder.path("new")).unwrap();
    folder.write("new/d.txt", "a baker passed my train\n");
    let added = folder.run(&["index", "new", "--add", "--output", "docs.index"]).ok();
    assert!(added.err.contains("1 document"), "{}", added.err);
    // Lines of a collection of sentences stay lines, and records of tables records.
    folder.run(&["index", "--model", "m.senv", "docs/b.txt", "--output", "lines.index"]).ok();
    let added = folder.run(&["index", "new", "--add", "--output", "lines.index"]).ok();
    assert!(!added.err.contains("document") && added.err.contains("3 sentences in lines.index"), "{}", added.err);
    let table = ["index", "--model", "m.senv", "docs", "--column", "text", "--output", "table.index"];
    assert!(folder.run(&table).ok().err.contains("1 sentence indexed"));
}

#[test]
fn folders_that_are_no_text_are_refused_by_name() {
    let folder = with_docs();
    folder.run(&["index", "--model", "m.senv", "docs/b.txt", "--output", "b.index"]).ok();
    for command in ["encode", "split"] {
        let model: &[&str] = if command == "encode" { &["--model", "m.senv"] } else { &[] };
        folder.run(&[&[command, "b.index"], model].concat()).fails(1, &["b.index", "it is a collection"]);
    }
    // Commands that compare sentences read those of a collection.
    let threshold = ["--threshold", "0.99999"];
    let against = ["dedupe", "--model", "m.senv", "docs", "--against", "b.index"];
    let ended = folder.run(&[&against[..], &threshold].concat()).ok();
    assert_eq!(ended.out, "my train passed a bridge\nsome rain found the soup\n");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let empty = ["dedupe", "--model", "m.senv", "empty"];
    folder.run(&empty).fails(1, &["empty", "no text files", ".txt, .text, .md or .markdown"]);
    std::fs::create_dir(folder.path("tables")).unwrap();
    folder.write("tables/a.csv", "id,text\n1,the cat left\n2,the dog left\n");
    let tables = ["dedupe", "--model", "m.senv", "tables"];
    folder.run(&tables).fails(1, &["tables", "name the column"]);
    assert_eq!(folder.run(&[&tables[..], &["--column", "text"], &threshold].concat()).ok().out.lines().count(), 2);
    folder.run(&["search", "docs", "--query", "a"]).fails(1, &["docs is not a collection"]);
}

#[test]
fn systems_train_on_a_folder_as_on_its_files() {
    let folder = with_docs();
    let train = |input: &[&str], output: &str| {
        let options = ["--dim", "8", "--epochs", "1", "--min-count", "1", "--no-check", "--output", output];
        folder.run(&[&["train", "sent2vec"], input, &options[..]].concat()).ok();
    };
    train(&["docs"], "folder.senv");
    train(&["docs/a.md", "docs/b.txt", "docs/more/deep/c.txt"], "files.senv");
    assert_eq!(folder.read("folder.senv"), folder.read("files.senv"));
}
