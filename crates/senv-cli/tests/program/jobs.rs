//! `senv compare`, `mine`, `outliers` and `sample` on texts with obvious answers.

use serde_json::Value;

use crate::common::Folder;

const TEXT: &str = "\
The train to London is late.
The soup needs more salt.

Dark clouds gathered over the hills.
The train to London is late again today.
The soup needs more pepper.
The soup needs more salt.
qzxjk
";

const OTHER: &str = "\
The soup needs more salt!
qzxjk
The committee voted on the budget.
";

fn rows(out: &str) -> Vec<Vec<String>> {
    out.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn what_is_in_both_texts_and_in_one_alone_is_told_apart() {
    let folder = Folder::new();
    folder.write("a.txt", TEXT);
    folder.write("b.txt", OTHER);
    let ended = folder.run(&["compare", "a.txt", "b.txt"]).ok();
    assert!(
        ended.err.contains(
            "first: 7 sentences, 3 also in the second, 4 not; second: 3 sentences, 2 also in the first, 1 not"
        )
    );
    let all = rows(&ended.out);
    let marks: String = all.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(marks, "<=<<<==>");
    assert_eq!(all[1][2..], ["2", "1", "The soup needs more salt.", "The soup needs more salt!"]);
    assert_eq!(all[6], ["=", "1.0000", "8", "2", "qzxjk", "qzxjk"]);
    assert_eq!(all[7], [">", "-", "-", "3", "-", "The committee voted on the budget."]);
    let only = |which| rows(&folder.run(&["compare", "a.txt", "b.txt", "--only", which]).ok().out).len();
    assert_eq!([only("first"), only("second"), only("both")], [4, 1, 3]);
    let out = folder.run(&["compare", "a.txt", "b.txt", "--only", "both", "--json"]).ok().out;
    let row: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&row["in"], &row["first"]["line"], &row["second"]["line"]), (&"both".into(), &2.into(), &1.into()));
    // The cosine equals that of senv similarity.
    let cosine = folder.run(&["similarity", &all[1][4], &all[1][5]]).ok().out;
    let [ours, other] = [all[1][1].as_str(), cosine.trim()].map(|cosine| cosine.parse::<f32>().unwrap());
    assert!((ours - other).abs() <= 0.00006, "{ours} {other}");
}

#[test]
fn pairs_are_mined_best_first_and_are_what_training_takes() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let ended = folder.run(&["mine", "text.txt", "--min-score", ".5"]).ok();
    let found = rows(&ended.out);
    assert_eq!(found.len(), 2, "{}", ended.out);
    assert!(found.iter().any(|row| row[1..] == ["The soup needs more salt.", "The soup needs more pepper."]));
    assert!(found[0][0].parse::<f32>().unwrap() >= found[1][0].parse().unwrap());
    let one = folder.run(&["mine", "text.txt", "--min-score", ".5", "-n", "1", "--margin", "2"]).ok();
    assert_eq!(one.out.lines().count(), 1);
    assert!(one.err.contains("the best pair with cosine 0.5 or above (-n for more)"), "{}", one.err);
    folder.write("b.txt", OTHER);
    let out = folder.run(&["mine", "text.txt", "--with", "b.txt", "--json", "--once"]).ok().out;
    let pair: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&pair["first"]["line"], &pair["second"]["line"]), (&8.into(), &2.into()));
    // The output can be piped into training. A tab in a sentence would look like a third column.
    let noun = |i: usize| ["train", "bus", "tram", "ferry", "plane"][i % 5];
    let sentence =
        |i: usize| format!("the {} to town {}\tis {} today", noun(i), i / 5 % 4, ["late", "full", "slow"][i / 20]);
    folder.write("long.txt", (0..60).map(|i| sentence(i) + "\n").collect::<String>());
    let mined = ["mine", "long.txt", "--max-score", ".99", "--no-score", "-n", "50"];
    let pairs = folder.run(&mined).ok().out;
    assert!(pairs.lines().count() == 50 && pairs.lines().all(|line| line.matches('\t').count() == 1), "{pairs}");
    folder.pipe(&["train", "--pairs", "-", "--output", "my.senv"], &pairs).ok();
    // The same with any number of threads.
    let threads = |n| folder.run(&["--threads", n, "mine", "long.txt", "--margin", "--once"]).ok().out;
    assert_eq!(threads("1"), threads("2"));
}

#[test]
fn outliers_and_samples_are_distinct_sentences() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let ended = folder.run(&["outliers", "text.txt", "-n", "3", "-k", "2"]).ok();
    let found = rows(&ended.out);
    assert_eq!(found[0][1..], ["8", "qzxjk"]);
    assert!(found[0][0].parse::<f32>().unwrap() < 0.2, "{found:?}");
    assert_eq!(found[1][2], "Dark clouds gathered over the hills.");
    let left = folder.run(&["outliers", "text.txt", "-n", "2", "-k", "2", "--drop"]).ok();
    assert_eq!(left.out.lines().count(), 5);
    assert!(left.out.matches("more salt.").count() == 2 && left.err.contains("5 left"), "{}", left.err);
    let none = folder.run(&["outliers", "text.txt", "--max-score", "-0.9", "--json"]).ok();
    assert_eq!(none.out, "");
    let sample = |more: &[&str]| folder.run(&[&["sample", "text.txt"], more].concat()).ok();
    let four = sample(&["--diverse", "4"]).out;
    for word in ["train", "soup", "clouds"] {
        assert!(four.contains(word), "{four}");
    }
    // A smaller sample is the start of a larger one.
    assert!(four.starts_with(&sample(&["--diverse", "3"]).out));
    let all = sample(&["--diverse", "99"]);
    assert!(all.out.lines().count() == 6 && all.err.contains("all distinct sentences"), "{}", all.err);
    let random = sample(&["--random", "3", "--seed", "5"]).out;
    assert_eq!(random, sample(&["--random", "3", "--seed", "5"]).out);
    assert_eq!(random.lines().count(), 3);
    assert!((0..20).any(|seed| sample(&["--random", "3", "--seed", &seed.to_string()]).out != random));
}

#[test]
fn scarce_and_odd_input_has_a_defined_result() {
    let folder = Folder::new();
    folder.write("empty.txt", "\n \n");
    folder.write("one.txt", "A cat.\n");
    folder.write("equal.txt", "A cat.\n".repeat(3000));
    folder.write("unknown.txt", "qzxjk\nzzxqj\n");
    for command in [&["compare", "one.txt", "empty.txt"][..], &["mine", "empty.txt"], &["outliers", "empty.txt"]] {
        folder.run(command).fails(1, &["empty.txt contains no text"]);
    }
    folder.run(&["sample", "--diverse", "3", "absent.txt"]).fails(1, &["cannot open absent.txt"]);
    for text in ["one.txt", "equal.txt", "unknown.txt"] {
        for more in [&[][..], &["--margin"], &["--min-score", "0.9"], &["-n", "0"], &["--min-score", "1", "--once"]] {
            assert_eq!(folder.run(&[&["mine", text], more].concat()).ok().out, "");
        }
        for threshold in ["0", "-1"] {
            let found = folder.run(&["mine", text, "--min-score", threshold]).ok().out.lines().count();
            assert!(found == 0 || text == "unknown.txt", "{text}: {found}");
        }
        let n = if text == "unknown.txt" { 2 } else { 1 };
        assert_eq!(folder.run(&["outliers", text]).ok().out.lines().count(), n);
        assert_eq!(folder.run(&["sample", text, "--random", "9"]).ok().out.lines().count(), n);
        assert_eq!(folder.run(&["sample", text, "--diverse", "9"]).ok().out.lines().count(), n);
        let both = folder.run(&["compare", text, "equal.txt", "--threshold", "1", "--only", "both"]).ok().out;
        let expected = [("one.txt", 1), ("equal.txt", 3000), ("unknown.txt", 0)];
        assert!(expected.contains(&(text, both.lines().count())), "{text}: {both}");
    }
    // A single sentence has similarity 0, without a minus sign.
    let alone = folder.run(&["outliers", "equal.txt"]).ok();
    assert!(alone.out == "0.0000\t1\tA cat.\n" && alone.err.contains("similarity 0.00"), "{} {}", alone.out, alone.err);
    // One sentence has no groups. A note says why there are fewer groups than requested.
    let cluster = |more: &[&str]| folder.run(&[&["cluster", "equal.txt"], more].concat()).ok();
    let (suggested, asked) = (cluster(&[]), cluster(&["--groups", "5"]));
    assert!(suggested.out.starts_with("1  3,000 sentences\n     A cat.\n"), "{}", suggested.out);
    assert!(suggested.err.contains("1 distinct sentence, too few for groups"), "{}", suggested.err);
    assert!(asked.err.contains("only one distinct sentence, so one group"), "{}", asked.err);
    folder.run(&["compare", "-", "-"]).fails(2, &["standard input can be read only once"]);
    folder.run(&["mine", "-", "--with", "-"]).fails(2, &["standard input can be read only once"]);
    folder.run(&["mine", "one.txt", "--max-score", ".5"]).fails(2, &["--max-score is lower than --min-score"]);
    folder.run(&["mine", "one.txt", "--margin", "0"]).fails(2, &["--margin"]);
    folder.run(&["sample", "one.txt"]).fails(2, &["--diverse", "--random"]);
    folder.run(&["sample", "one.txt", "--diverse", "2", "--typical", "1.5"]).fails(2, &["--typical"]);
}
