//! Documents: `senv split`, `senv index --documents`, and searches by words and by meaning.

use serde_json::{Value, json};

use crate::common::{Ended, Folder};

const ARTICLES: &str = r#"{"url":"a/trains","title":"Trains","body":"The night train to Vienna was late. Mr. Smith missed his flight. Buses ran instead."}
{"url":"a/soup","title":"Soup","body":"Boil the water. Add salt, e.g. from the sea. Stir for 3.5 minutes."}

{"url":"a/empty","title":"Nothing","body":" "}
{"url":"a/rain","title":"Rain","body":"Dark clouds brought a storm. It rained all night. Error 4711 was shown."}
"#;

fn articles() -> Folder {
    let folder = Folder::new();
    folder.write("articles.jsonl", ARTICLES);
    let columns = ["--column", "id=url", "--column", "text=body", "--column", "title"];
    folder.run(&[&["index", "articles.jsonl", "--index", "a.index", "--documents"], &columns[..]].concat()).ok();
    folder
}

fn found(ended: &Ended) -> Vec<Vec<String>> {
    ended.out.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn documents_are_ranked_and_shown_with_their_nearest_sentence() {
    let folder = articles();
    let search = |query, more: &[&str]| folder.run(&[&["search", "a.index", "--query", query], more].concat()).ok();
    let hits = found(&search("cooking with sea salt", &["--k", "2"]));
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0][1..], ["a/soup", "articles.jsonl:2", "Add salt, e.g. from the sea.", "title=Soup"], "{hits:?}");
    // Words that the model does not know.
    for more in [&[][..], &["--rank", "words"], &["--hybrid"]] {
        assert_eq!(found(&search("4711", more))[0][1], "a/rain", "{more:?}");
    }
    // Neither the model nor a document has a word of the query.
    for more in [&[][..], &["--hybrid"]] {
        let ended = search("vrumpf", more);
        assert!(!ended.out.is_empty() && ended.err.contains("no word of \"vrumpf\" is known"), "{}", ended.err);
        assert_eq!(search("4711", more).err, "");
    }
    let none = search("vrumpf", &["--rank", "words"]);
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "warning: nothing has a word of \"vrumpf\"\n"));
    let far = search("rain", &["--min-score", "7"]);
    assert!(far.out.is_empty() && far.err.contains("a cosine is at most 1"), "{}", far.err);
    // Only words, a combination of ranks, and only meaning.
    for more in [&["--weights", "1,0"][..], &["--hybrid", "--join", "reciprocal-ranks", "--weights", "3,1"]] {
        assert_eq!(found(&search("4711", more))[0][1], "a/rain", "{more:?}");
    }
    assert_eq!(found(&search("a delayed railway journey", &["--weights", "0,1"]))[0][1], "a/trains");
    for (more, says) in [
        (&["--rank", "words", "--weights", "1,2"][..], "need a combined ranking"),
        (&["--by", "sentence", "--join", "z-scores"], "need a combined ranking"),
        (&["--weights", "0,0"], "not both 0"),
        (&["--weights", "1"], "two numbers"),
        (&["--weights", "1,-2"], "at least 0 and not both 0"),
    ] {
        folder.run(&[&["search", "a.index", "--query", "rain"], more].concat()).fails(2, &[says]);
    }
    let answer = search("delayed railway journey", &["--json", "--context", "1"]).json();
    let first = &answer["neighbours"][0];
    assert_eq!((&first["document"], &first["line"]), (&json!("a/trains"), &json!(1)));
    assert_eq!(first["text"], "The night train to Vienna was late.");
    assert_eq!((&first["behind"], first.get("before")), (&json!(["Mr. Smith missed his flight."]), None));
    assert_eq!(first["columns"], json!({"title": "Trains"}));
    // The cosine equals that of senv similarity. Collections ignore word order.
    let cosine = folder
        .run(&["similarity", "--order", "0", "delayed railway journey", first["text"].as_str().unwrap()])
        .ok()
        .out;
    let difference = first["cosine"].as_f64().unwrap() - cosine.trim().parse::<f64>().unwrap();
    assert!(difference.abs() < 2e-4, "{difference}");
    // Single sentences with their documents. The context does not go beyond the document.
    let ended = search("It rained all night.", &["--by", "sentence", "--k", "1", "--context", "5"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "\t\t\tDark clouds brought a storm.");
    assert!(
        lines[1].contains("\tIt rained all night.\t") && lines[1].contains("document=a/rain\ttitle=Rain\tplace=2"),
        "{lines:?}"
    );
    assert_eq!(lines[2..], ["\t\t\tError 4711 was shown."]);
    assert!(lines[1].starts_with("> "), "{lines:?}");
    let ended = search("It rained all night.", &["--by", "sentence", "--k", "2", "--context", "1"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.iter().filter(|line| **line == "--").count(), 1, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("> ")).count(), 2, "{lines:?}");
    assert!(lines[0] != "--" && lines.last() != Some(&"--"));
    // Conditions apply to what is ranked.
    let hits = found(&search("rain", &["--where", "title != Rain"]));
    assert!(hits.len() == 2 && hits.iter().all(|hit| hit[1] != "a/rain"), "{hits:?}");
    let ended = search("rain", &["--rank", "meaning", "--min-score", ".99"]);
    assert!(ended.out.is_empty() && !ended.err.is_empty(), "{}", ended.err);
    // The same with any number of threads.
    let threads = |n| folder.run(&["--threads", n, "search", "a.index", "--query", "a storm at night"]).ok().out;
    assert_eq!(threads("1"), threads("2"));
}

#[test]
fn a_collection_without_words_is_ranked_from_its_texts_and_says_so() {
    let folder = articles();
    let columns = ["--column", "id=url", "--column", "text=body", "--column", "title"];
    let index = ["index", "articles.jsonl", "--index", "n.index", "--documents", "--no-words"];
    folder.run(&[&index[..], &columns].concat()).ok();
    let info = |name: &str| folder.run(&["info", name, "--json"]).ok().json()["words"].clone();
    assert_eq!((info("n.index"), &info("a.index")["stemming"]), (json!(false), &json!("english")));
    assert!(info("a.index")["bytes"].as_u64().unwrap() > 100);
    for more in
        [&["--rank", "words"][..], &["--hybrid"], &["--by", "sentence", "--hybrid"], &["--where", "title != Soup"]]
    {
        let search = |name| folder.run(&[&["search", name, "--query", "a night of storms 4711"], more].concat()).ok();
        let [with, without] = [search("a.index"), search("n.index")];
        assert!(with.err.is_empty(), "{}", with.err);
        assert!(without.err.contains("n.index has no words, so all sentences were read"), "{}", without.err);
        // The same are found, in the same order.
        let ids = |ended: &Ended| found(ended).into_iter().map(|hit| hit[1].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&with), ids(&without), "{more:?}");
        if more == ["--rank", "words"] {
            assert_eq!(with.out, without.out);
        }
    }
    let by_meaning = folder.run(&["search", "n.index", "--query", "rain", "--by", "sentence"]).ok();
    assert!(by_meaning.err.is_empty(), "{}", by_meaning.err);
    // What was made with words keeps them, and the reverse.
    folder.write("more.jsonl", "{\"url\":\"b/1\",\"title\":\"New\",\"body\":\"Error 4712 is another one.\"}\n");
    for name in ["a.index", "n.index"] {
        let add = ["index", "more.jsonl", "--add", "--documents", "--index", name];
        folder.run(&[&add[..], &columns].concat()).ok();
        folder.run(&["index", "--compact", "--index", name]).ok();
        let hits = found(&folder.run(&["search", name, "--query", "4712", "--rank", "words"]).ok());
        assert_eq!(hits[0][1], "b/1", "{name}");
        folder.run(&["info", "--verify", name]).ok();
    }
    assert_eq!(info("n.index"), json!(false));
    folder.run(&["index", "more.jsonl", "--add", "--no-words", "--index", "a.index"]).fails(2, &["--no-words"]);
}

#[test]
fn documents_are_added_and_not_mixed_with_sentences() {
    let folder = articles();
    folder.write("more.csv", "url,body,title\na/herbs,\"Garlic helps.\nSo does thyme.\",Soup\nb/new,Cats purr.,Cats\n");
    let columns = ["--column", "id=url", "--column", "text=body", "--column", "title", "--header"];
    let add = ["index", "more.csv", "--index", "a.index", "--add"];
    folder.run(&[&add[..], &columns].concat()).fails(2, &["a.index has documents", "--documents"]);
    folder.run(&[&add[..], &["--documents"], &columns].concat()).ok();
    let hits = found(&folder.run(&["search", "a.index", "--query", "thyme and garlic", "--rank", "meaning"]).ok());
    assert!(hits[0][1] == "a/herbs" && hits[0][2].starts_with("more.csv:2"), "{hits:?}");
    let hits = found(&folder.run(&["search", "a.index", "--query", "a purring cat"]).ok());
    assert_eq!((hits[0][1].as_str(), hits.len()), ("b/new", 5));
    folder.write("text.txt", "One sentence here.\nAnother one there.\n");
    folder.run(&["index", "text.txt", "--index", "s.index"]).ok();
    folder
        .run(&["index", "text.txt", "--index", "s.index", "--add", "--documents"])
        .fails(2, &["s.index has sentences"]);
    folder.run(&["search", "s.index", "--query", "one", "--by", "document"]).fails(2, &["senv index --documents"]);
    // Sentences by words and meaning. Equal sentences appear once.
    folder.run(&["index", "text.txt", "text.txt", "--index", "twice.index"]).ok();
    let hits = found(&folder.run(&["search", "twice.index", "--query", "another", "--hybrid", "--k", "5"]).ok());
    assert!(hits.len() == 2 && hits[0][3] == "Another one there." && hits[0][4] == "(2 times)", "{hits:?}");
}

/// A document can be in a collection only once, so it is deleted before it is added again.
#[test]
fn documents_are_replaced_by_deleting_them_first() {
    let folder = articles();
    let add = ["index", "--add", "--documents", "--index", "a.index", "--column", "id=url", "--column", "text=body"];
    let add = [&add[..], &["--column", "title", "new.jsonl"]].concat();
    folder.write("new.jsonl", "{\"url\":\"a/rain\",\"title\":\"Rain\",\"body\":\"Snow fell on the hills.\"}\n");
    folder.run(&add).fails(1, &["new.jsonl:1: the document a/rain", "--delete-where 'document = a/rain'"]);
    let delete = |value: &str| folder.run(&["index", "--index", "a.index", "--delete-where", value]);
    let said = delete("document = a/rain").ok().err;
    assert!(said.contains("3 sentences deleted"), "{said}");
    let again = delete("document = a/rain").ok().err;
    assert!(again.contains("no sentence of a.index meets --delete-where \"document = a/rain\""), "{again}");
    delete("place").fails(2, &["place", "expected"]);
    folder.run(&add).ok();
    let hits = found(&folder.run(&["search", "a.index", "--query", "snowy hills", "--k", "1"]).ok());
    assert_eq!(hits[0][1], "a/rain");
    for (twice, says) in [("a/x", "a/x"), (" ", "no name")] {
        let line = format!("{{\"url\":\"{twice}\",\"title\":\"T\",\"body\":\"A cat sat.\"}}\n");
        folder.write("new.jsonl", line.repeat(2));
        folder.run(&add).fails(1, &["new.jsonl", says]);
    }
}

/// A search within one document, and in a collection of one. No document stands out there, but it is found.
#[test]
fn one_document_is_found_by_every_ranking() {
    let folder = articles();
    for rank in ["hybrid", "words", "meaning"] {
        let args = ["search", "a.index", "--query", "late train", "--where", "document = a/trains", "--rank", rank];
        let hits = found(&folder.run(&args).ok());
        assert_eq!(hits.len(), 1, "{rank}");
        assert_eq!(hits[0][1], "a/trains", "{rank}");
    }
}

#[test]
fn identical_documents_are_all_found_with_one_score() {
    let folder = Folder::new();
    let lines = [(1, "Rain falls. It is wet."), (2, "Rain falls. It is wet."), (3, "The sun shines.")];
    let lines = lines.map(|(id, body)| json!({ "id": id, "body": body }).to_string() + "\n").concat();
    folder.write("d.jsonl", lines);
    let index = ["index", "d.jsonl", "--documents", "--column", "text=body", "--column", "id", "--output", "d"];
    folder.run(&index).ok();
    for rank in ["hybrid", "words", "meaning"] {
        let hits = found(&folder.run(&["search", "d", "--query", "wet rain", "--rank", rank, "-k", "2"]).ok());
        assert_eq!([&hits[0][1], &hits[1][1]], ["1", "2"], "{rank}");
        assert_eq!(hits[0][0], hits[1][0], "{rank}");
    }
}

#[test]
fn files_are_documents_of_their_paragraphs() {
    let folder = Folder::new();
    folder.write("one.txt", "A cat sat\non the mat. It slept.\n\nA title\n\nThe end.\n");
    folder.write("two.txt", "Rain fell on the hills. The river\nrose.\n");
    folder.run(&["index", "one.txt", "two.txt", "--index", "b.index", "--documents=files"]).ok();
    let hits = found(&folder.run(&["search", "b.index", "--query", "a rising river"]).ok());
    assert_eq!(hits[0][1..], ["two.txt", "two.txt:1", "The river rose."]);
    let out =
        folder.run(&["search", "b.index", "--query", "a cat", "--by", "sentence", "--k", "1", "--json"]).ok().json();
    let first = &out["neighbours"][0];
    assert_eq!((&first["text"], &first["line"]), (&json!("A cat sat on the mat."), &json!(1)));
    assert_eq!(first["columns"], json!({"document": "one.txt", "place": "1"}));
    folder.write("t.csv", "text\nA cat.\n");
    let arguments = ["index", "t.csv", "--index", "c.index", "--documents=files", "--header", "--column", "text"];
    folder.run(&arguments).fails(2, &["--documents=files is for plain text"]);
}

#[test]
fn a_text_is_cut_into_sentences() {
    let folder = Folder::new();
    folder.write(
        "a.txt",
        "\n\nMr. J. Smith left\nat 3.50 p.m. \"Why?\" he asked. Nobody\n knew.\n\n\n\nA title\r\n\r\n我来了。你呢？",
    );
    let expected = "Mr. J. Smith left at 3.50 p.m. \"Why?\" he asked.\nNobody  knew.\n\nA title\n\n我来了。\n你呢？\n";
    let out = folder.run(&["split", "a.txt"]).ok().out;
    assert_eq!(out.replace("p.m.\n", "p.m. "), expected);
    let lines: Vec<Value> = folder
        .run(&["split", "a.txt", "--json"])
        .ok()
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((&lines.last().unwrap()["line"], &lines.last().unwrap()["text"]), (&json!(11), &json!("你呢？")));
    let by_lines = folder.pipe(&["split", "--by", "lines"], "One. Two\nthree.\n").ok().out;
    assert_eq!(by_lines, "One.\nTwo\nthree.\n");
    folder.write("t.csv", "id,text\n1,\"One. Two.\"\n2,Three.\n");
    assert_eq!(folder.run(&["split", "t.csv", "--column", "text"]).ok().out, "One.\nTwo.\nThree.\n");
    // Splitting works wherever text is read.
    let out = folder.run(&["dedupe", "t.csv", "--column", "text", "--split", "--json"]).ok().out;
    assert_eq!(out.lines().count(), 3);
    assert!(out.contains("{\"line\":2,\"record\":1,\"text\":\"Two.\"}"), "{out}");
    folder.write("prose.txt", "The cat sat on\nthe mat. A dog barked at\nit. Rain fell. ".repeat(300));
    folder.run(&["split", "prose.txt"]).ok();
    let sentences = folder.run(&["split", "prose.txt"]).ok().out;
    folder.write("sentences.txt", &sentences);
    let train = |input, output, more: &[&str]| {
        let arguments = ["train", "sent2vec", "--input", input, "--output", output, "--threads", "1", "--epochs", "2"];
        folder.run(&[&arguments[..], more].concat()).ok();
        folder.run(&["encode", "--model", output, "--input", "sentences.txt", "--output", "v.npy", "--force"]).ok();
        folder.read("v.npy")
    };
    assert_eq!(train("prose.txt", "a.senv", &["--split"]), train("sentences.txt", "b.senv", &[]));
    folder.pipe(&["split"], "\n \n").fails(1, &["contains no text"]);
}
