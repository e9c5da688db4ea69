//! Queries of a collection: options that leave out results, and the reasons for an empty result.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, text};

fn answers(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Line numbers and counts of the neighbors.
fn near(answer: &Value) -> Vec<(u64, u64)> {
    let neighbours = answer["neighbours"].as_array().unwrap().iter();
    neighbours.map(|near| (near["line"].as_u64().unwrap(), near["count"].as_u64().unwrap())).collect()
}

#[cfg(unix)]
#[test]
fn a_line_does_not_find_itself_by_whatever_spelling_of_its_file() {
    let folder = Folder::with_model();
    folder.write("t.txt", "the cat saw the dog\nthe soup burnt\nthe cat saw the dog\n");
    fs::create_dir(folder.path("sub")).unwrap();
    std::os::unix::fs::symlink("t.txt", folder.path("link.txt")).unwrap();
    let absolute = folder.path("t.txt").display().to_string();
    for (name, given) in [("a", "t.txt"), ("b", "./t.txt"), ("c", absolute.as_str()), ("d", "link.txt")] {
        folder.run(&["index", "--model", "m.senv", "--input", given, "--output", name]).ok();
        for queries in ["t.txt", "./sub/../t.txt", "link.txt", absolute.as_str()] {
            let found = folder.run(&["search", name, "--json", "--queries", queries]).ok().out;
            assert_eq!(near(&answers(&found)[0])[0], (3, 1), "{given} {queries}");
        }
        // Another file with the same text.
        fs::copy(folder.path("t.txt"), folder.path("sub/t.txt")).unwrap();
        let found = folder.run(&["search", name, "--json", "--queries", "sub/t.txt"]).ok().out;
        assert_eq!(near(&answers(&found)[0])[0], (1, 2), "{given}");
    }
}

#[test]
fn why_nothing_was_found_is_said() {
    let folder = Folder::with_model();
    folder.write("t.txt", "the cat saw the dog\nthe soup burnt\n");
    folder.run(&["index", "--model", "m.senv", "--input", "t.txt", "--output", "c"]).ok();
    let search = |args: &[&str]| {
        let ended = folder.run(&[&["search", "c"], args].concat()).ok();
        assert!(ended.out.lines().all(|line| line.is_empty() || line.starts_with("> ")), "{}", ended.out);
        ended.err
    };
    let far = search(&["--query", "the cat", "--min-score", "2"]);
    assert!(far.contains("no sentence has cosine 2 or above with \"the cat\" (--min-score)"), "{far}");
    for (condition, shown) in [("line = 7", "line = 7"), ("file=='u.txt'", "file = u.txt"), ("id = 5", "id = 5")] {
        let none = search(&["--query", "the cat", "--query", "the soup", "--where", condition]);
        assert_eq!(none.trim_end(), format!("warning: no sentence meets --where {shown}"), "once for all queries");
    }
    let both = search(&["--query", "the cat", "--where", "line = 1", "--where", "id = 1"]);
    assert!(both.contains("no sentence meets --where line = 1 and id = 1"), "{both}");
    folder.write("one.txt", "the soup burnt\n");
    folder.run(&["index", "--model", "m.senv", "--input", "one.txt", "--output", "one"]).ok();
    let equal = folder.run(&["search", "one", "--query", "the soup burnt", "--no-equal"]).ok();
    assert!(equal.out.is_empty() && equal.err.contains("found only sentences equal to"), "{}", equal.err);
    // For many queries, only their number.
    folder.write("q.txt", "the cat saw the dog\nthe dog\nqqq\n");
    let many = folder.run(&["search", "c", "--queries", "q.txt", "--min-score", "1.5"]).ok();
    assert!(many.err.contains("nothing was found for 2 of 3 queries"), "{}", many.err);
    assert_eq!(many.err.matches("warning").count(), 2, "the third has no known word: {}", many.err);
    let word = folder.run(&["search", "c", "--query", "a", "--where", "id = first"]);
    word.fails(2, &["--where id = first: an id of this collection is an integer"]);
    // The same option and message in `senv nearest`.
    let nearest = ["nearest", "--model", "m.senv", "t.txt", "--query", "the cat saw the dog"];
    let all = folder.run(&nearest).ok();
    assert_eq!(all.out.lines().count(), 2);
    let some = folder.run(&[&nearest[..], &["--min-score", ".99"]].concat()).ok();
    assert_eq!((some.out.lines().count(), some.err.as_str()), (1, ""));
    let none = folder.run(&[&nearest[..], &["--min-score", "2", "--json"]].concat()).ok();
    assert!(none.out.contains("\"neighbours\":[]"), "{}", none.out);
    assert!(none.err.contains("no sentence has cosine 2 or above with"), "{}", none.err);
    folder.run(&[&nearest[..], &["--min-score", "NaN"]].concat()).fails(2, &["--min-score must be a number"]);
}

#[test]
fn a_file_is_met_by_its_path_as_it_was_given_and_by_its_name() {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/one.txt", "the cat saw the dog\n");
    folder.write("two.txt", "the dog saw the cat\n");
    let index = ["index", "--model", "m.senv", "--input", "sub/one.txt", "./two.txt", "--output", "c"];
    folder.run(&index).ok();
    let found = |condition: &str| {
        let ended = folder.run(&["search", "c", "--query", "the cat", "--json", "--where", condition]).ok();
        answers(&ended.out)[0]["neighbours"].as_array().unwrap().len()
    };
    let counts = ["sub/one.txt", "one.txt", "./two.txt", "two.txt", "./sub/one.txt", "ne.txt", "sub/two.txt"]
        .map(|name| found(&format!("file = {name}")));
    assert_eq!(counts, [1, 1, 1, 1, 0, 0, 0]);
    assert_eq!([found("file != one.txt"), found("file != three.txt")], [1, 2]);
}

#[test]
fn blanks_around_cells_do_not_count() {
    let folder = Folder::with_model();
    folder.write("t.tsv", "  the cat saw the dog \t 1987 \t 4\nthe soup burnt\t1990\t5 \n");
    let columns = ["--column", "text=1", "--column", "year=2", "--column", "id=3"];
    folder.run(&[&["index", "--model", "m.senv", "--input", "t.tsv", "--output", "c"], &columns[..]].concat()).ok();
    let found = folder.run(&["search", "c", "--query", "the cat saw the dog", "--where", "year = 1987"]).ok().out;
    assert_eq!(found, "1.0000\t4\tt.tsv:1\tthe cat saw the dog\tyear=1987\n");
}

#[test]
fn queries_in_another_language_than_the_models_are_warned_of() {
    let folder = Folder::new();
    folder.write("t.txt", "The bank raises its rates.\nThe train is late.\n");
    folder.run(&["index", "t.txt", "--output", "c"]).ok();
    let warned = |query: &str| {
        let [search, nearest] = [&["search", "c"][..], &["nearest", "t.txt"]]
            .map(|args| folder.run(&[args, &["--query", query]].concat()).ok());
        assert_eq!(search.err.is_empty(), nearest.err.is_empty(), "{} {}", search.err, nearest.err);
        search.err
    };
    let few = warned("Die Bank erhöht den Zinssatz.");
    assert!(
        few.contains("the model (English only) does not know \"erhöht\" and \"Zinssatz\"; neighbors of the query are"),
        "{few}"
    );
    for foreign in ["Wann fährt der nächste Zug nach Hamburg?", "Bitte geben Sie einen gültigen Wert ein."] {
        assert!(warned(foreign).contains("(English only) does not know"), "{foreign}");
    }
    for english in [
        "The bank raises the rate.",
        "kubernetes deployment failed",
        "Zoë met Müller in a café in Łódź.",
        "rising petrol prices",
    ] {
        assert_eq!(warned(english), "", "{english}");
    }
    // One warning per file.
    folder.write(
        "q.txt",
        "Wann fährt der nächste Zug nach Hamburg?\nBitte geben Sie einen gültigen Wert ein.\n".repeat(10),
    );
    for args in [&["search", "c"][..], &["nearest", "t.txt"]] {
        let many = folder.run(&[args, &["--queries", "q.txt"]].concat()).ok();
        assert_eq!(many.err.matches("warning").count(), 1, "{}", many.err);
        assert!(many.err.contains("% of the words in 20 sentences;"), "{}", many.err);
    }
}

/// Short queries in other languages. Those without a word of grammar, and most of whose words English has, too, are
/// missed, such as `retard de livraison`.
const FOREIGN: [&str; 30] = [
    "Rechnung bezahlen bitte",
    "Kündigung Vertrag Frist",
    "Passwort vergessen",
    "Lieferung kommt nicht an",
    "Termin verschieben",
    "factura no recibida",
    "olvidé mi contraseña",
    "cancelar el pedido",
    "dónde está mi paquete",
    "cambiar la dirección",
    "mot de passe oublié",
    "où est mon colis",
    "facture non reçue",
    "livraison en retard",
    "problème de connexion",
    "fattura non arrivata",
    "annullare ordine",
    "ritardo consegna",
    "dove si trova il pacco",
    "cambiare indirizzo",
    "zapomniałem hasła",
    "anulować zamówienie",
    "faktura nie dotarła",
    "gdzie jest paczka",
    "zmiana adresu dostawy",
    "şifremi unuttum",
    "siparişi iptal et",
    "fatura gelmedi",
    "kargom nerede",
    "giriş sorunu",
];

/// Queries of one to four common words.
const COMMON: [&str; 50] = [
    "refund",
    "password",
    "delivery",
    "invoice",
    "train",
    "weather",
    "login error",
    "lost package",
    "late train",
    "broken screen",
    "cancel order",
    "change address",
    "red car",
    "phone battery",
    "tax return",
    "cheap flights",
    "open account",
    "credit card",
    "cats and dogs",
    "how to pay",
    "can't log in",
    "where is it",
    "rain in spring",
    "printer does not work",
    "refund not received",
    "my order is late",
    "change my password",
    "app keeps crashing",
    "update billing details",
    "wrong item delivered",
    "cancel my subscription",
    "email not sent",
    "slow internet connection",
    "battery drains quickly",
    "screen is black",
    "forgot user name",
    "two factor login",
    "download the invoice",
    "shipping to Canada",
    "hotel near London",
    "best pizza in town",
    "learn to swim",
    "fix a flat tire",
    "noisy neighbors upstairs",
    "job interview questions",
    "symptoms of flu",
    "history of Rome",
    "price of gold today",
    "meeting on Monday",
    "La Paz hotels",
];

#[test]
fn short_queries_in_another_language_name_their_unknown_words_and_common_english_ones_do_not() {
    let folder = Folder::new();
    folder.write("t.txt", "The bank raises its rates.\nThe train is late.\n");
    folder.write("d.txt", "The bank raises its rates.\n\nThe train is late.\n");
    folder.run(&["index", "t.txt", "--output", "c"]).ok();
    folder.run(&["index", "d.txt", "--documents", "--output", "d"]).ok();
    for (queries, is_warned) in [(&FOREIGN[..], true), (&COMMON, false)] {
        for query in queries {
            for args in [&["search", "c"][..], &["search", "d"], &["nearest", "t.txt"]] {
                let said = folder.run(&[args, &["--query", query]].concat()).ok().err;
                let names = said.contains("does not know \"") || said.contains("no word of \"");
                assert_eq!(names, is_warned, "{args:?} {query}: {said}");
            }
        }
    }
    // What words find does not depend on the model.
    folder.write("e.txt", "Please pay the bill, that is the Rechnung.\n\nThe train is late.\n");
    folder.run(&["index", "e.txt", "--documents", "--output", "e"]).ok();
    assert_eq!(folder.run(&["search", "e", "--query", "Rechnung bezahlen bitte"]).ok().err, "");
    let many = folder.run(&["nearest", "t.txt", "--query", "ala bila cila dila eila fila gila"]).ok().err;
    assert!(many.contains("\"fila\" and 1 more word; neighbors of the query are unreliable"), "{many}");
    // Unknown words of English are named, too.
    let words = folder.run(&["nearest", "t.txt", "--query", "kubernetes deployment rollback"]).ok().err;
    assert!(words.contains("does not know \"kubernetes\" and \"rollback\"; "), "{words}");
}

#[test]
fn equal_sentences_are_one_hit_among_many_queries() {
    let folder = Folder::with_model();
    folder.write("t.txt", text(50).repeat(3));
    folder.run(&["index", "--model", "m.senv", "--input", "t.txt", "--output", "c"]).ok();
    let found = folder.run(&["search", "c", "--queries", "t.txt", "--k", "1", "--json"]).ok().out;
    let counts: Vec<u64> = answers(&found).iter().map(|answer| near(answer)[0].1).collect();
    // Each sentence has two equal ones.
    assert_eq!(counts, vec![2; 150]);
}

#[test]
fn nearest_shows_equal_sentences_once_as_search_does() {
    let folder = Folder::with_model();
    let one = "the cat saw the dog\nthe soup burnt\nthe cat saw the dog\n";
    folder.write("t.txt", one);
    folder.write("u.txt", "the cat saw the dog\nthe train left\n");
    let nearest = |args: &[&str]| folder.run(&[&["nearest", "--model", "m.senv"], args].concat()).ok();
    let query = ["--query", "the cat saw the dog"];
    let found = nearest(&[&["t.txt"], &query[..]].concat()).out;
    assert_eq!(found.lines().next().unwrap(), "1.0000\t1\tthe cat saw the dog\t(2 times)");
    assert_eq!(found.lines().count(), 2, "{found}");
    let of_two = nearest(&[&["t.txt", "u.txt", "--k", "1"], &query[..]].concat()).out;
    assert_eq!(of_two, "1.0000\tt.txt:1\tthe cat saw the dog\t(3 times)\n");
    // The same answers as in a collection.
    folder.write("long.txt", text(300) + one + &text(120) + &text(50));
    folder.write("q.txt", text(60) + "the cat saw the dog\nthe soup burnt\n");
    folder.run(&["index", "--model", "m.senv", "--input", "long.txt", "--output", "c", "--precision", "f32"]).ok();
    for more in [&[][..], &["--no-equal"], &["--min-score", ".7"]] {
        let asked = ["--queries", "q.txt", "--json", "--k", "3"];
        let found = nearest(&[&["long.txt"], &asked[..], more].concat()).out;
        let searched = folder.run(&[&["search", "c", "--recall", "1"], &asked[..], more].concat()).ok().out;
        let facts = |out: &str| -> Vec<Vec<Value>> {
            let of = |near: &Value| serde_json::json!([near["text"], near["line"], near["count"]]);
            answers(out)
                .iter()
                .map(|answer| answer["neighbours"].as_array().unwrap().iter().map(of).collect())
                .collect()
        };
        assert_eq!(facts(&found).len(), 62);
        for (nearest, search) in facts(&found).iter().zip(facts(&searched)) {
            assert!(nearest.len() <= 3 && nearest.len() == search.len());
            // The cosines of sentences with equal words are equal except for the last bit.
            let sorted = |hits: &[Value]| {
                let mut hits: Vec<String> = hits.iter().map(Value::to_string).collect();
                hits.sort();
                hits
            };
            assert!(nearest.first() == search.first() || sorted(nearest) == sorted(&search), "{nearest:?} {search:?}");
        }
    }
    let none = nearest(&[&["u.txt", "--no-equal", "--k", "1"], &query[..]].concat());
    assert_eq!(none.out.lines().count(), 1);
    folder.write("one.txt", "the soup burnt\n");
    let none = nearest(&["one.txt", "--query", "the soup burnt", "--no-equal"]);
    assert!(none.out.is_empty() && none.err.contains("found only sentences equal to"), "{}", none.err);
}

#[test]
fn nearest_does_not_find_the_line_that_a_query_is() {
    let folder = Folder::with_model();
    folder.write("t.txt", "the cat saw the dog\nthe soup burnt\nthe cat saw the dog\n");
    folder.write("u.txt", "the cat saw the dog\n");
    let nearest = |args: &[&str]| {
        let ended = folder.run(&[&["nearest", "--model", "m.senv", "--json"], args].concat()).ok();
        answers(&ended.out).iter().map(near).collect::<Vec<_>>()
    };
    for queries in ["t.txt", "./t.txt"] {
        let found = nearest(&["t.txt", "--queries", queries, "--k", "1"]);
        assert_eq!([&found[0], &found[2]], [&[(3, 1)], &[(1, 1)]], "the other line of the same text");
        assert_eq!(found[1].len(), 1);
        assert_ne!(found[1][0].0, 2, "{found:?}");
    }
    assert_eq!(nearest(&["t.txt", "--queries", "u.txt", "--k", "1"]), [[(1, 2)]], "another file of the same text");
    assert_eq!(nearest(&["t.txt", "u.txt", "--queries", "u.txt", "--k", "1"]), [[(1, 2)]]);
    assert_eq!(nearest(&["t.txt", "--query", "the cat saw the dog", "--k", "1"]), [[(1, 2)]]);
}

/// Quotes, brackets and operators of query languages.
#[test]
fn signs_in_queries_are_text() {
    let folder = Folder::new();
    folder.write("t.csv", "id,my text\n1,C++ (2020) AND OR NOT\n2,\"title:foo* ~bar^2 [x TO y]\"\n");
    folder.run(&["index", "t.csv", "--column", "text=my text", "--column", "id", "--output", "c"]).ok();
    for query in ["title:foo AND (", "\"", "*", "a OR", "[x TO", "\\", "~^", "'", "--x", ""] {
        for rank in ["meaning", "words", "hybrid"] {
            let query = format!("--query={query}");
            let found = folder.run(&["search", "c", &query, "--rank", rank, "-k", "9", "--json"]).ok();
            assert!(near(&answers(&found.out)[0]).len() <= 2, "{query} {rank}: {}", found.out);
        }
    }
    let by_words = folder.run(&["search", "c", "--query", "[x TO", "--rank", "words", "--json"]).ok().out;
    assert_eq!(near(&answers(&by_words)[0]), [(3, 1)]);
}

#[test]
fn conditions_are_met_by_empty_values_and_by_any_script() {
    let folder = Folder::new();
    folder.write("t.csv", "id,text,tag\n1,Rain falls.,Zürich\n2,It rains.,\n3,Snow falls.,東京\n");
    let columns = ["--column", "text", "--column", "id", "--column", "tag"];
    folder.run(&[&["index", "t.csv", "--output", "c"], &columns[..]].concat()).ok();
    for (condition, lines) in [
        ("tag = Zürich", &[2][..]),
        ("tag = 東京", &[4]),
        ("tag =", &[3]),
        ("tag = ''", &[3]),
        ("tag !=", &[2, 4]),
        ("tag = zürich", &[]),
        ("tag = absent", &[]),
    ] {
        let found = folder.run(&["search", "c", "--query", "rain", "--where", condition, "--json"]).ok().out;
        let mut found: Vec<u64> = near(&answers(&found)[0]).into_iter().map(|(line, _)| line).collect();
        found.sort_unstable();
        assert_eq!(found, lines, "{condition}");
    }
}
