//! Collections of sentences: create, search, change and inspect them.

use std::io::{BufRead, BufReader, Write};

use senv::Model;
use senv_index::{Collection, CollectionParams};
use serde_json::Value;

use crate::common::{Folder, text};

const NEWS: &str = "id\tyear\tbody\n7\t1987\tThe cat saw the dog near the meadow.\n4\t1990\tThe soup and the bread burnt in the oven.\n\
                    9\t1987\tA train left the station.\n12\t1990\tThe horse left the stable.\n";

/// The answers of `--json`, one per query.
fn answers(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The ids of an answer.
fn ids(answer: &Value) -> Vec<u64> {
    answer["neighbours"].as_array().unwrap().iter().map(|near| near["id"].as_u64().unwrap()).collect()
}

/// A folder with a model and `c`, a collection of the lines in `text.txt`.
fn with_collection() -> Folder {
    let folder = Folder::with_model();
    folder.run(&["index", "--model", "m.senv", "--input", "text.txt", "--output", "c"]).ok();
    folder
}

#[test]
fn sentences_are_found_with_cosine_id_and_line_as_nearest_finds_them() {
    let folder = with_collection();
    let query = "The cat saw the dog near number 3 meadow.";
    let found = folder.run(&["search", "c", "--query", query, "--k", "5"]).ok().out;
    let nearest = folder.run(&["nearest", "--model", "m.senv", "text.txt", "--query", query, "--k", "5"]).ok().out;
    let lines: Vec<String> = text(600).lines().map(str::to_owned).collect();
    assert_eq!(found.lines().count(), 5);
    for (found, nearest) in found.lines().zip(nearest.lines()) {
        let found: Vec<&str> = found.split('\t').collect();
        let nearest: Vec<&str> = nearest.split('\t').collect();
        let [cosine, id, place, sentence] = found[..4] else { panic!("{found:?}") };
        let line: usize = place.strip_prefix("text.txt:").unwrap().parse().unwrap();
        assert_eq!((lines[line - 1].as_str(), id.parse::<usize>().unwrap() + 1), (sentence, line));
        let cosines = [cosine, nearest[0]].map(|cosine| cosine.parse::<f64>().unwrap());
        // Rows are stored in f16.
        assert!((cosines[0] - cosines[1]).abs() < 2e-4, "{cosines:?}");
        assert_eq!(lines[nearest[1].parse::<usize>().unwrap() - 1], nearest[2]);
    }
    // The same with any number of threads, and with the other spelling of the option.
    for threads in ["1", "3"] {
        let same = ["search", "--index", "c", "--query", query, "--k", "5", "--threads", threads];
        assert_eq!(folder.run(&same).ok().out, found);
    }
    let high = ["search", "c", "--query", query, "--k", "600", "--min-score", ".9", "--json"];
    let high = answers(&folder.run(&high).ok().out).remove(0);
    let high = high["neighbours"].as_array().unwrap();
    assert!(!high.is_empty() && high.len() < 600 && high.iter().all(|near| near["cosine"].as_f64().unwrap() >= 0.9));
}

/// Another digest stands for the built-in model of another release.
#[test]
fn a_collection_of_another_built_in_model_is_indexed_again_or_keeps_its_model() {
    let folder = Folder::with_model();
    let digest = senv::model::model_digest(folder.path("m.senv")).unwrap();
    let dim = Model::open(folder.path("m.senv")).unwrap().dim();
    let params = CollectionParams::new(dim).model(&digest).metadata("model.path", "english").column("text");
    drop(Collection::create(folder.path("old"), &params).unwrap());
    let says =
        ["another built-in English model", "index its sentences again", "give the path of the model (--model FILE)"];
    folder.run(&["search", "old", "--query", "the cat"]).fails(1, &says);
    folder.run(&["index", "--index", "old", "text.txt", "--add"]).fails(1, &says);
    // With the file of the earlier model, and without it once the collection knows where it is.
    folder.run(&["index", "--index", "old", "text.txt", "--add", "--model", "m.senv"]).ok();
    assert_eq!(folder.run(&["search", "old", "--query", "the cat", "--k", "3"]).ok().out.lines().count(), 3);
    folder.run(&["index", "--index", "old", "text.txt", "--force"]).ok();
    let info = folder.run(&["info", "old", "--json"]).ok().json();
    assert_eq!((&info["model"], &info["terms"]), (&"english".into(), &senv_english::TERMS.into()), "{info}");
    let info = folder.run(&["info", "old"]).ok().out;
    assert!(info.lines().any(|line| line.starts_with("terms ") && line.ends_with(senv_english::TERMS)), "{info}");
}

#[test]
fn queries_come_from_arguments_from_files_and_from_standard_input() {
    let folder = with_collection();
    folder.write("q.txt", "the cat\n\nthe oven and the soup\n");
    let search = |more: &[&str]| folder.run(&[&["search", "c", "--k", "2"], more].concat()).ok().out;
    let both = search(&["--query", "the cat", "--query", "the oven and the soup"]);
    assert!(both.starts_with("> the cat\n") && both.contains("\n\n> the oven and the soup\n"), "{both}");
    assert_eq!(search(&["--queries", "q.txt"]), both);
    let pipe =
        |args: &[&str]| folder.pipe(&[&["search", "c", "--k", "2"], args].concat(), folder.read("q.txt")).ok().out;
    assert_eq!(pipe(&["--queries", "-"]), both);
    assert_eq!(pipe(&[]), both);
    // A text after the folder is a query, too.
    assert_eq!(search(&["the cat", "--query", "the oven and the soup"]), both);
    assert_eq!(search(&["the cat"]), search(&["--query", "the cat"]));
    folder.run(&["search", "--index", "c", "folder", "the cat"]).fails(2, &["--index"]);
    // Each line of standard input is answered before the next one arrives.
    let mut child =
        folder.command(&["search", "c", "--k", "1", "--json"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for query in ["the cat", "a train"] {
        writeln!(stdin, "{query}").unwrap();
        let mut answer = String::new();
        out.read_line(&mut answer).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["query"], query);
        // Changes by other processes become visible.
        folder.write("new.txt", "a train a train\n");
        folder.run(&["index", "--add", "--input", "new.txt", "--output", "c"]).ok();
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(
        folder.run(&["search", "c", "--query", "a train", "--k", "1"]).ok().out.split('\t').nth(4),
        Some("(2 times)")
    );
}

#[test]
fn columns_are_kept_shown_and_filtered_by() {
    let folder = Folder::new();
    folder.write("news.tsv", NEWS);
    let index = ["index", "--input", "news.tsv", "--output", "c", "--header"];
    folder.run(&[&index[..], &["--column", "text=body", "--column", "id", "--column", "year=2"]].concat()).ok();
    let answer = |more: &[&str]| {
        answers(
            &folder.run(&[&["search", "c", "--query", "the horse in the stable", "--json"], more].concat()).ok().out,
        )
        .remove(0)
    };
    let all = answer(&[]);
    assert_eq!(ids(&all).len(), 4);
    let first = &all["neighbours"][0];
    assert_eq!((&first["id"], &first["line"], &first["file"]), (&12.into(), &5.into(), &"news.tsv".into()));
    assert_eq!(
        (&first["columns"]["year"], &first["count"], &all["estimated"]),
        (&"1990".into(), &1.into(), &false.into())
    );
    let mut old = ids(&answer(&["--where", "year = 1987"]));
    old.sort_unstable();
    assert_eq!(old, [7, 9]);
    assert_eq!(ids(&answer(&["--where", "year != '1987'", "--where", "line != 5"])), [4]);
    assert_eq!(ids(&answer(&["--where", "text = A train left the station."])), [9]);
    assert!(ids(&answer(&["--where", "year = 2001"])).is_empty());
    assert_eq!(ids(&answer(&["--where", "id == 9"])), [9]);
    assert_eq!(ids(&answer(&["--where", "id != 9", "--where", "year==1987"])), [7]);
    assert!(ids(&answer(&["--where", "id = 99"])).is_empty());
    assert_eq!(ids(&answer(&["--where", "id != 99"])).len(), 4);
    assert_eq!(ids(&answer(&["--where", "year > 1987 and not (id in (4, 5) or line > 99)"])), [12]);
    assert_eq!(ids(&answer(&["--where", "text starts with 'The soup'"])), [4]);
    let shown = folder.run(&["search", "c", "--query", "a train at the station", "--k", "1"]).ok().out;
    assert!(shown.ends_with("\t9\tnews.tsv:4\tA train left the station.\tyear=1987\n"), "{shown}");
    let error = folder.run(&["search", "c", "--query", "a", "--where", "author = Ada"]);
    error.fails(2, &["--where author = ", "no column \"author\"; the columns are id, text, year, file, line"]);
    folder
        .run(&["search", "c", "--query", "a", "--where", "year"])
        .fails(2, &["--where \"year\": expected =, !=", "at the end"]);
    let open = folder.run(&["search", "c", "--query", "a", "--where", "text = 'open"]);
    open.fails(2, &["a second ' that ends the quoted text", "at character 8"]);
    folder
        .run(&["search", "c", "--query", "a", "--where", "year < soon"])
        .fails(2, &["has numbers, and \"soon\" is none"]);
}

#[test]
fn a_collection_is_added_to_replaced_deleted_from_and_compacted() {
    let folder = Folder::with_text(600);
    folder.write("news.tsv", NEWS.split_once('\n').unwrap().1);
    let columns = ["--column", "text=3", "--column", "id=1", "--column", "year=2"];
    let index = |more: &[&str]| folder.run(&[&["index", "--output", "c"], more].concat());
    let made = index(&[&["--verbose", "--input", "news.tsv"], &columns[..]].concat()).ok();
    assert!(made.err.contains("using the built-in English model (change it with --model)"), "{}", made.err);
    let facts = || folder.run(&["info", "c", "--json", "--verify"]).ok().json();
    let search = |query: &str| answers(&folder.run(&["search", "c", "--query", query, "--json"]).ok().out).remove(0);

    folder.write("more.tsv", "20\t2001\tThe signal stopped the engine on the bridge.\n");
    let added = index(&[&["--add", "--input", "more.tsv"], &columns[..]].concat()).ok();
    assert!(added.err.contains("5 sentences in c"), "{}", added.err);
    assert_eq!(ids(&search("an engine on a bridge"))[0], 20);
    index(&[&["--add", "--input", "more.tsv"], &columns[..]].concat())
        .fails(1, &["more.tsv:1: id 20 is already in the collection"]);

    folder.write("new.tsv", "20\t2002\tPepper and cheese in the kitchen.\n30\t2002\tA bird in the meadow.\n");
    index(&[&["--replace", "--input", "new.tsv"], &columns[..]].concat()).ok();
    let kitchen = search("cheese and pepper in a kitchen");
    assert_eq!((ids(&kitchen)[0], &kitchen["neighbours"][0]["columns"]["year"]), (20, &"2002".into()));
    index(&["--replace", "--input", "new.tsv"]).fails(2, &["--column id=N"]);
    index(&["--add", "--lines", "--input", "new.tsv"])
        .fails(2, &["the columns given are none, expected year", "--column NAME=N"]);

    index(&["--delete-ids", "7 4,", "9"]).ok();
    assert!(!ids(&search("the cat saw the dog")).contains(&7));
    let again = index(&["--delete-ids", "7"]).ok();
    assert!(
        again.err.contains("0 sentences deleted") && again.err.contains("no sentence of c has the id 7"),
        "{}",
        again.err
    );
    for (bad, says) in [("x", "\"x\" is not an id"), ("1,-2", "\"-2\" is not an id"), (" ,", "no id given")] {
        index(&["--delete-ids", bad]).fails(2, &[says]);
    }
    let before = facts();
    assert_eq!((&before["rows"], &before["deleted"], &before["segments"]), (&3.into(), &4.into(), &3.into()));
    assert_eq!(before["columns"], serde_json::json!(["text", "year"]));
    let expected = search("a bird in a meadow");
    let small = index(&["--compact"]).ok();
    assert!(small.err.contains("compacted from "), "{}", small.err);
    let after = facts();
    assert_eq!((&after["rows"], &after["deleted"], &after["segments"]), (&3.into(), &0.into(), &1.into()));
    assert_eq!((search("a bird in a meadow"), &after["verified"]), (expected, &"all files, by their checksums".into()));

    // Replacing a collection requires an explicit option.
    index(&["--input", "text.txt"]).fails(2, &["c is already a collection", "--add", "--force"]);
    index(&["--input", "text.txt", "--force"]).ok();
    assert_eq!(facts()["rows"], 600);
}

#[test]
fn equal_sentences_are_shown_once_and_a_line_does_not_find_itself() {
    let folder = Folder::with_model();
    folder.write(
        "t.txt",
        "the cat saw the dog\nthe soup burnt\n\nthe cat saw the dog\nthe dog saw the cat\nthe soup burnt\n",
    );
    folder.run(&["index", "--model", "m.senv", "--input", "t.txt", "--output", "c"]).ok();
    let run = |args: &[&str]| answers(&folder.run(&[&["search", "c", "--json"], args].concat()).ok().out);
    let cat = run(&["--query", "the cat saw the dog"]).remove(0);
    assert_eq!((ids(&cat)[0], &cat["neighbours"][0]["count"]), (0, &2.into()));
    let copy = &cat["neighbours"][0]["copies"][0];
    assert_eq!((&copy["line"], &copy["file"]), (&4.into(), &"t.txt".into()), "{cat}");
    let once = cat["neighbours"].as_array().unwrap().iter().find(|near| near["count"] == 1).unwrap();
    assert!(once.get("copies").is_none(), "{cat}");
    let shown = folder.run(&["search", "c", "--query", "the cat saw the dog"]).ok().out;
    assert!(shown.lines().next().unwrap().ends_with("the cat saw the dog\t(2 times)\talso t.txt:4"), "{shown}");
    let own = run(&["--queries", "t.txt"]);
    assert_eq!(own.len(), 5);
    // Line 1 finds its copy in line 4 but not itself, and line 5 finds only others.
    let near = |answer: &Value| {
        answer["neighbours"]
            .as_array()
            .unwrap()
            .iter()
            .map(|near| (near["line"].as_u64().unwrap(), near["count"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(near(&own[0])[..1], [(4, 1)]);
    assert_eq!(near(&own[1])[0], (6, 1));
    assert!(near(&own[3]).iter().all(|&(line, _)| line != 5), "{}", own[3]);
    assert_eq!(run(&["--queries", "t.txt", "--k", "1"])[3]["neighbours"].as_array().unwrap().len(), 1);
    // A file with the same lines counts as another one.
    folder.write("u.txt", folder.read("t.txt"));
    assert_eq!(near(&run(&["--queries", "u.txt"])[0])[0], (1, 2));
    let others = run(&["--queries", "u.txt", "--no-equal", "--k", "2"]);
    assert!(near(&others[0]).iter().all(|&(line, _)| ![1, 4].contains(&line)), "{}", others[0]);
    assert_eq!(near(&others[0]).len(), 2);
}

#[test]
fn vectors_that_senv_encode_wrote_are_not_made_again() {
    let folder = Folder::with_model();
    folder.write("t.txt", "the cat saw the dog\n\nthe soup burnt in the oven\na train left the station\n");
    folder.run(&["encode", "--model", "m.senv", "t.txt", "--output", "v.npy"]).ok();
    let index = |output: &str, more: &[&str]| {
        folder.run(&[&["index", "--model", "m.senv", "--input", "t.txt", "--output", output], more].concat())
    };
    index("a", &[]).ok();
    index("b", &["--vectors", "v.npy"]).ok();
    let find = |name: &str| folder.run(&["search", name, "--query", "a train", "--json"]).ok().out;
    assert_eq!(find("a"), find("b"));
    // Vectors of another model, in a different order, of other lines, and with NaN. Nothing is left behind.
    folder.train("text.txt", "other.senv", &["--seed", "9"]).ok();
    folder.run(&["encode", "--model", "other.senv", "t.txt", "--output", "other.npy"]).ok();
    index("c", &["--vectors", "other.npy"]).fails(1, &["differs from the model's"]);
    folder.write("t2.txt", "the cat saw the dog\n\nthe soup burnt in the oven\n");
    folder.run(&["encode", "--model", "m.senv", "t2.txt", "--output", "short.npy"]).ok();
    index("c", &["--vectors", "short.npy"]).fails(1, &["short.npy: it has 3 rows, but the text has more lines"]);
    folder
        .run(&["index", "--model", "m.senv", "--input", "t2.txt", "--output", "c", "--vectors", "v.npy"])
        .fails(1, &["it has 4 rows, but the text has 3 lines"]);
    let mut bytes = folder.read("v.npy");
    let at = bytes.len() - 12 * 4;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    folder.write("nan.npy", &bytes);
    index("c", &["--vectors", "nan.npy"]).fails(1, &["nan.npy: row 4 contains NaN"]);
    folder.run(&["encode", "t.txt", "--output", "wide.npy"]).ok();
    index("c", &["--vectors", "wide.npy"]).fails(1, &["514"]);
    assert!(!folder.has("c"));
}

#[test]
fn precision_and_recall_are_kept_and_estimates_are_marked() {
    let folder = Folder::with_model();
    folder.write("many.txt", text(4000));
    for (precision, least) in [("f32", 0.99), ("f16", 0.99), ("int8", 0.99), ("none", 0.0)] {
        let index =
            ["index", "--model", "m.senv", "--input", "many.txt", "--output", precision, "--precision", precision];
        folder.run(&index).ok();
        let facts = folder.run(&["info", precision, "--json"]).ok().json();
        assert_eq!((&facts["precision"], &facts["rows"]), (&precision.into(), &4000.into()));
        let measured = facts["recall"]["measured"].as_f64().unwrap();
        assert!(measured >= least && measured <= 1.0, "{precision}: {measured}");
        let found = folder.run(&["search", precision, "--query", "the cat saw the dog", "--k", "3"]).ok().out;
        assert_eq!(found.starts_with('~'), precision == "none", "{found}");
    }
    folder
        .run(&["index", "--output", "none", "--compact"])
        .fails(2, &["--compact: none was made with --precision none and has no vectors"]);
    let index = ["index", "--model", "m.senv", "--input", "many.txt", "--output", "c", "--recall"];
    for bad in ["0", "1.1", "NaN", "-1"] {
        folder.run(&[&index[..], &[bad]].concat()).code.filter(|&code| code == 2).unwrap();
    }
    folder.run(&[&index[..], &[".9"]].concat()).ok();
    let facts = folder.run(&["info", "c"]).ok().out;
    assert!(facts.contains("recall.wanted        0.9\n"), "{facts}");
    folder.run(&["search", "c", "--query", "a", "--recall", "2"]).fails(2, &["--recall must be above 0"]);
    assert_eq!(
        folder.run(&["search", "f32", "--query", "the cat", "--recall", "1", "--k", "2"]).ok().out.lines().count(),
        2
    );
}
