//! `senv nearest` by words, and by words and meaning.

use crate::common::{Ended, Folder};

const LINES: &str = "\
The printer in room 4 shows error E-4711.
The train to the city was an hour late.
The printer in room 9 shows error E-4712.
Clouds brought rain and a cold wind.

The train to the city was an hour late.
Add salt to the soup before you serve it.
The parcel 0815 never arrived at my house.
";

fn columns(ended: &Ended, n: usize) -> Vec<String> {
    ended.out.lines().map(|line| line.split('\t').nth(n).unwrap_or_default().to_owned()).collect()
}

#[test]
fn nearest_ranks_lines_as_search_ranks_sentences() {
    let folder = Folder::new();
    // Equal lines count as one here, and each by itself in a collection.
    let once = LINES.replacen("The train to the city was an hour late.\n", "", 1);
    folder.write("t.txt", once);
    folder.run(&["index", "t.txt", "--output", "c"]).ok();
    for query in ["error E-4712", "a delayed railway journey", "0815", "salty soup in the rain"] {
        for rank in ["words", "hybrid"] {
            let args = ["--query", query, "--rank", rank, "--k", "4"];
            let nearest = folder.run(&[&["nearest", "t.txt"], &args[..]].concat()).ok();
            let search = folder.run(&[&["search", "c"], &args[..]].concat()).ok();
            let texts = |ended: &Ended, n| -> Vec<String> {
                columns(ended, n)
                    .into_iter()
                    .map(|text| text.split(" (").next().unwrap_or_default().to_owned())
                    .collect()
            };
            assert_eq!(texts(&nearest, 2), texts(&search, 3), "{query} {rank}");
            // A collection stores vectors in fewer bits, and among six sentences a deviation is small.
            let scores =
                |ended: &Ended| -> Vec<f64> { columns(ended, 0).iter().map(|score| score.parse().unwrap()).collect() };
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.2;
            assert!(scores(&nearest).iter().zip(&scores(&search)).all(is_near), "scores of {query} by {rank}");
        }
    }
}

#[test]
fn words_that_the_model_does_not_know_are_found_without_a_warning() {
    let folder = Folder::new();
    folder.write("t.txt", LINES);
    for more in ["--hybrid", "--rank=words"] {
        let found = folder.run(&["nearest", "t.txt", "--query", "0815", more, "--k", "1"]).ok();
        assert_eq!((columns(&found, 1), &*found.err), (vec!["8".to_owned()], ""), "{more}");
    }
    let unknown = folder.run(&["nearest", "t.txt", "--query", "vrumpf", "--hybrid"]).ok();
    assert!(unknown.err.contains("no word of \"vrumpf\" is known"), "{}", unknown.err);
    let none = folder.run(&["nearest", "t.txt", "--query", "vrumpf", "--rank", "words"]).ok();
    assert!(none.out.is_empty(), "{}", none.out);
}

#[test]
fn ranked_lines_have_places_counts_and_the_least_cosine() {
    let folder = Folder::new();
    folder.write("t.txt", LINES);
    let query = ["nearest", "t.txt", "--query", "the train was late", "--hybrid"];
    let found = folder.run(&[&query[..], &["--k", "1", "--json"]].concat()).ok().json();
    let near = &found["neighbours"][0];
    assert_eq!((near["line"].as_u64(), near["count"].as_u64()), (Some(2), Some(2)), "{near}");
    // A line does not find itself, and the next takes its place.
    let own = folder.run(&["nearest", "t.txt", "--queries", "t.txt", "--hybrid", "--k", "1", "--json"]).ok().out;
    let first: serde_json::Value = serde_json::from_str(own.lines().next().unwrap()).unwrap();
    assert_eq!(first["neighbours"][0]["line"].as_u64(), Some(3), "{first}");
    // The least cosine, of which the score is independent.
    let all = folder.run(&[&query[..], &["--json"]].concat()).ok().json();
    let cosines: Vec<f64> =
        all["neighbours"].as_array().unwrap().iter().map(|near| near["cosine"].as_f64().unwrap()).collect();
    let least = cosines.iter().copied().fold(f64::INFINITY, f64::min) + 0.01;
    let near = folder.run(&[&query[..], &["--min-score", &least.to_string()]].concat()).ok();
    assert_eq!(near.out.lines().count(), cosines.iter().filter(|&&cosine| cosine >= least).count(), "{}", near.out);
    assert!(near.out.lines().count() < cosines.len() && all["neighbours"][0]["score"].as_f64().is_some());
    folder.run(&["nearest", "--words", "--query", "train", "--hybrid"]).fails(2, &["--words", "--hybrid"]);
    folder.run(&[&query[..], &["--rank", "words"]].concat()).fails(2, &["--hybrid", "--rank"]);
}
