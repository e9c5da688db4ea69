//! A collection in a single file for the web page, which `senv index --export-web` writes.

use std::fs;

use senv_core::{
    Scratch, SentenceEncoder,
    files::{WebCollection, WebQuery},
};

use crate::common::{Folder, text};

fn opened(folder: &Folder, name: &str) -> senv_core::Result<WebCollection> {
    let mut file = WebCollection::from_bytes(name, folder.read(name))?;
    while !file.check(1 << 16)? {}
    Ok(file)
}

/// Row and cosine of the nearest sentences, computed as the page does.
fn nearest(file: &WebCollection, query: &str, k: usize) -> Vec<(usize, f32)> {
    let mut vector = vec![0.0; file.dim()];
    // The page searches without word order.
    let english = senv::english().unwrap().with_order_weight(0.0).unwrap();
    english.encode_into(query, &mut Scratch::default(), &mut vector);
    let query = WebQuery::new(&vector, file.dim());
    let mut rows: Vec<(usize, f32)> = (0..file.len()).map(|row| (row, file.cosine(row, &query))).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(k);
    rows
}

#[test]
fn the_page_finds_in_an_exported_collection_what_senv_search_finds() {
    let folder = Folder::new();
    let lines = include_str!("../../../../examples/data/quickstart.txt");
    folder.write("text.txt", format!("{lines}The train is late.\n\nThe train is late.\nThe train is late.\n"));
    let made = folder.run(&["index", "--input", "text.txt", "--output", "c", "--export-web", "c.web"]).ok();
    let first = folder.read("c.web");
    assert!(made.err.contains("exported to c.web"), "{}", made.err);
    // Deleted rows are left out. An existing export is replaced, and the same collection gives the same bytes.
    let id = folder.run(&["search", "c", "--query", "The train is late.", "--k", "1", "--json"]).ok().json();
    let id = id["neighbours"][0]["id"].as_u64().unwrap().to_string();
    folder.run(&["index", "--index", "c", "--delete-ids", &id, "--export-web", "c.web"]).ok();
    let second = folder.read("c.web");
    folder.run(&["index", "--index", "c", "--export-web", "again.web"]).ok();
    assert!(first != second && second == folder.read("again.web"));

    let file = opened(&folder, "c.web").unwrap();
    let rows = folder.run(&["info", "c", "--json"]).ok().json()["rows"].as_u64().unwrap();
    assert!((file.len() as u64) < rows && file.sentences() == rows, "{} of {rows}", file.len());
    let mut n_same = 0;
    let queries =
        ["The bank asks for high interest on a loan.", "a storm", "bread in the oven", "clouds", "The train is late."];
    for query in queries {
        let native = folder.run(&["search", "c", "--query", query, "--k", "10", "--recall", "1", "--json"]).ok().json();
        let native = native["neighbours"].as_array().unwrap();
        let found = nearest(&file, query, 10);
        assert_eq!(native.len(), 10);
        for (hit, &(row, cosine)) in native.iter().zip(&found) {
            let expected = hit["cosine"].as_f64().unwrap() as f32;
            assert!((cosine - expected).abs() < 1e-2, "{query}: {cosine} {hit}");
            if hit["text"] == file.text(row) {
                n_same += 1;
                let line = hit["line"].as_u64().unwrap();
                assert_eq!((hit["id"].to_string(), line), (file.id(row), file.line(row).into()), "{hit}");
                assert_eq!(hit["count"].as_u64(), Some(file.count(row).into()), "{hit}");
            }
        }
        assert_eq!(native[0]["text"], file.text(found[0].0), "{query}");
    }
    // Other hits swap places with a neighbor whose cosine is equal up to rounding.
    assert!(n_same >= 45, "{n_same} of 50 hits at the same place");
}

#[test]
fn what_the_page_cannot_hold_is_refused_before_anything_is_changed() {
    let folder = Folder::with_model();
    let export = ["--export-web", "c.web"];
    let index = ["index", "--model", "m.senv", "--input", "text.txt", "--output", "c"];
    let refused = folder.run(&[&index[..], &export].concat());
    refused.fails(1, &["the web page has only the English model", "m.senv", "the model `english`"]);
    assert!(!folder.has("c") && !folder.has("c.web"));
    folder.run(&index).ok();
    let before = folder.run(&["info", "c", "--json"]).ok().out;
    for change in [&[][..], &["--compact"], &["--delete-ids", "1"], &["--add", "--input", "text.txt"]] {
        folder.run(&[&["index", "--index", "c"], change, &export].concat()).fails(1, &["m.senv", "`english`"]);
    }
    assert_eq!(folder.run(&["info", "c", "--json"]).ok().out, before);
    assert!(!folder.has("c.web"));
    // Other files are not replaced, and no file is written into the folder of the collection.
    for (file, says) in [
        ("text.txt", "text.txt exists and is not a collection for the web page"),
        ("c/c.web", "inside the folder of the collection"),
        ("-", "--export-web -"),
        ("absent/c.web", "absent"),
    ] {
        let ended = folder.run(&["index", "--index", "c", "--export-web", file]);
        assert!(ended.code != Some(0) && ended.err.contains(says), "{file}: {}", ended.err);
    }
    assert_eq!(folder.read("text.txt"), text(600).as_bytes());
    folder.run(&["index", "--index", "nope", "--export-web", "c.web"]).fails(1, &["nope does not exist"]);
}

#[test]
fn collections_of_every_kind_are_exported() {
    let folder = Folder::new();
    folder.write("a.txt", "The train is late.\nA storm brings rain.\n");
    folder.write("b.txt", "The bank lends money.\n");
    // Collections without vectors, of several files, with columns, and empty.
    let web = |more: &[&str], name: &str| {
        let (output, file) = (format!("{name}.index"), format!("{name}.web"));
        let ended = folder.run(&[&["index", "--output", &output, "--export-web", &file], more].concat()).ok();
        (opened(&folder, &file).unwrap(), ended.err)
    };
    let (plain, _) = web(&["--input", "a.txt", "--precision", "f32"], "plain");
    assert_eq!((plain.line(1), plain.id(1).as_str(), plain.text(1).as_str()), (2, "1", "A storm brings rain."));
    let (none, _) = web(&["--input", "a.txt", "--precision", "none"], "none");
    for query in ["rain", "a late train"] {
        assert_eq!(nearest(&none, query, 2), nearest(&plain, query, 2), "vectors that are not kept are made again");
    }
    let (both, _) = web(&["--input", "a.txt", "b.txt"], "both");
    assert_eq!((both.len(), both.line(2)), (3, 0), "lines of several files are not told apart");
    folder.write("t.tsv", "18446744073709551610\tThe train is late.\tnews\n");
    let (columns, _) =
        web(&["--input", "t.tsv", "--column", "id=1", "--column", "text=2", "--column", "kind=3"], "columns");
    assert_eq!((columns.id(0).as_str(), columns.text(0).as_str()), ("18446744073709551610", "The train is late."));
    folder.write("ids.tsv", "T-1\tThe train is late.\n007\tA storm brings rain.\nT-9\tThe train is late.\n");
    for precision in ["f16", "none"] {
        let columns = ["--column", "id=1", "--column", "text=2", "--precision", precision];
        let (texts, _) = web(&[&["--input", "ids.tsv", "--force"], &columns[..]].concat(), "texts");
        assert_eq!([texts.id(0), texts.id(1)], ["T-1", "007"]);
        assert_eq!((texts.len(), texts.count(0), texts.line(1)), (2, 2, 2));
    }
    folder.run(&["index", "--index", "both.index", "--delete-ids", "0,1,2", "--export-web", "empty.web"]).ok();
    let empty = opened(&folder, "empty.web").unwrap();
    assert!(empty.is_empty() && empty.sentences() == 0);
}

#[test]
fn a_damaged_collection_is_not_exported() {
    let folder = Folder::new();
    folder.write("text.txt", "The train is late.\nA storm brings rain.\n".repeat(50));
    folder.run(&["index", "--input", "text.txt", "--output", "c", "--export-web", "c.web"]).ok();
    let before = folder.read("c.web");
    let mut segment = folder.read("c/000001.segment");
    let at = segment.windows(19).position(|text| text == b"The train is late.A").unwrap();
    segment[at] ^= 1;
    fs::write(folder.path("c/000001.segment"), segment).unwrap();
    folder.run(&["index", "--index", "c", "--export-web", "c.web"]).fails(1, &["000001.segment", "checksum"]);
    assert_eq!(folder.read("c.web"), before);
}

#[cfg(target_os = "linux")]
#[test]
fn an_export_that_fails_behind_a_change_says_that_the_change_is_made() {
    let folder = Folder::new();
    folder.write("text.txt", text(20));
    folder.write("ids.tsv", "0\tThe train is late.\n");
    let rows = || folder.run(&["info", "c", "--json"]).ok().json()["rows"].as_u64().unwrap();
    for (args, expected) in [
        (&["index", "text.txt"][..], 20),
        (&["index", "text.txt", "--add"], 40),
        (&["index", "ids.tsv", "--replace", "--column", "id=1", "--column", "text=2"], 40),
        (&["index", "--delete-ids", "3"], 39),
        (&["index", "--compact"], 39),
        (&["index", "text.txt", "--force"], 20),
    ] {
        let all = [args, &["--output", "c", "--export-web", "/dev/full"]].concat();
        folder.run(&all).fails(
            3,
            &["the change was made but the export was not written: ", "/dev/full", "do not repeat the change"],
        );
        assert_eq!(rows(), expected, "{args:?}");
    }
    // Nothing is exported if there was no change to make, or the change fails.
    folder.run(&["index", "--output", "c", "--export-web", "/dev/full"]).fails(1, &["/dev/full"]);
    let none = ["index", "--output", "c", "--delete-ids", "999", "--export-web", "/dev/full"];
    let failed = folder.run(&none);
    assert!(!failed.err.contains("the change was made"), "{}", failed.err);
    failed.fails(1, &["has the id 999", "/dev/full"]);
}
