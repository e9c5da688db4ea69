//! `senv cluster`: groups of a text about known subjects, and new sentences in existing groups.

use serde_json::Value;

use crate::common::{Folder, text};

/// Sentences about three subjects, and the subject of each.
fn subjects(n: usize) -> (String, Vec<usize>) {
    let text = text(n);
    let words = [["cat", "fur", "stable"], ["bread", "oven", "dough"], ["train", "engine", "track"]];
    let rest = [["dog", "horse", "meadow"], ["soup", "pepper", "kitchen"], ["station", "signal", "ticket"]];
    let last = [["mouse", "bird", "bird"], ["cheese", "spoon", "spoon"], ["carriage", "bridge", "bridge"]];
    let of_line = |line: &str| {
        let has = |subject: usize| {
            words[subject]
                .iter()
                .chain(&rest[subject])
                .chain(&last[subject])
                .filter(|word| line.contains(**word))
                .count()
        };
        (0..3).max_by_key(|&subject| has(subject)).unwrap()
    };
    let subjects = text.lines().map(of_line).collect();
    (text, subjects)
}

/// The share of the sentences that are in a group with a majority of their subject.
fn purity(groups: &[String], subjects: &[usize]) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for (group, subject) in groups.iter().zip(subjects) {
        counts.entry(group).or_insert([0_usize; 3])[*subject] += 1;
    }
    counts.values().map(|counts| counts.iter().max().unwrap()).sum::<usize>() as f64 / subjects.len() as f64
}

fn column(out: &str, i: usize) -> Vec<String> {
    out.lines().map(|line| line.split('\t').nth(i).unwrap().to_owned()).collect()
}

#[test]
fn a_text_on_three_subjects_falls_into_groups_that_are_kept_and_assigned_to() {
    let folder = Folder::new();
    let (text, subjects) = subjects(900);
    folder.write("text.txt", &text);
    let out = folder.run(&["cluster", "text.txt", "--groups", "3", "--members", "--save", "g.senv"]).ok().out;
    let groups = column(&out, 0);
    assert!(purity(&groups, &subjects) > 0.9, "{}", purity(&groups, &subjects));
    let two = folder.run(&["--threads", "2", "cluster", "text.txt", "--groups", "3", "--members"]).ok().out;
    assert_eq!(folder.run(&["--threads", "1", "cluster", "text.txt", "--groups", "3", "--members"]).ok().out, two);
    // The groups with their words and sentences, largest first.
    let shown = folder.run(&["cluster", "text.txt", "--groups", "3", "--json"]).ok().out;
    let shown: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let size = |group: &Value| group["size"].as_u64().unwrap();
    assert!(shown.len() == 3 && shown.is_sorted_by(|a, b| size(a) >= size(b)));
    assert_eq!(shown.iter().map(size).sum::<u64>(), 900);
    for group in &shown {
        assert!(
            group["words"].as_array().unwrap().len() >= 3 && group["sentences"].as_array().unwrap().len() == 3,
            "{group}"
        );
    }
    // Assigning the same text gives the same groups, and a new text is put into the existing groups.
    let assign =
        |text: &str, more: &[&str]| folder.run(&[&["cluster", "--assign", "g.senv", text], more].concat()).ok();
    assert_eq!(column(&assign("text.txt", &["--members"]).out, 0), groups);
    let subject = |subject| &groups[subjects.iter().position(|&of| of == subject).unwrap()];
    folder.write("new.txt", "The engine left the station near the bridge.\nHer dog liked the horse.\n");
    assert_eq!(column(&assign("new.txt", &["--members"]).out, 0), [subject(2).clone(), subject(0).clone()]);
    let of_groups = assign("new.txt", &[]).out;
    assert!(of_groups.contains("1 sentence: ") && of_groups.contains("0 sentences: "), "{of_groups}");
    // Groups of another model, and files without groups.
    folder.train("text.txt", "m.senv", &[]).ok();
    folder
        .run(&["cluster", "--model", "m.senv", "--assign", "g.senv", "new.txt"])
        .fails(2, &["g.senv", "a different model", "--model"]);
    folder.run(&["cluster", "--assign", "m.senv", "new.txt"]).fails(1, &["m.senv", "groups"]);
    folder.run(&["cluster", "--assign", "text.txt", "new.txt"]).fails(1, &["text.txt"]);
    let mut bytes = folder.read("g.senv");
    let middle = bytes.len() - 40;
    bytes[middle] ^= 1;
    folder.write("damaged.senv", bytes);
    folder.run(&["cluster", "--assign", "damaged.senv", "new.txt"]).fails(1, &["damaged.senv"]);
}

#[test]
fn a_number_is_suggested_and_close_sentences_are_found_by_a_threshold() {
    let folder = Folder::new();
    let (text, subjects) = subjects(900);
    folder.write("text.txt", &text);
    let ended = folder.run(&["cluster", "text.txt", "--members"]).ok();
    assert!(purity(&column(&ended.out, 0), &subjects) > 0.9 && ended.err.contains("silhouette"), "{}", ended.err);
    let ended = folder.run(&["cluster", "text.txt", "--members", "--threshold", ".8", "--min-size", "4"]).ok();
    let groups = column(&ended.out, 0);
    assert!(groups.iter().any(|group| group == "-") && ended.err.contains("without a group"), "{}", ended.err);
    for (group, cosine) in groups.iter().zip(column(&ended.out, 1)) {
        assert_eq!(group == "-", cosine.parse::<f32>().unwrap() < 0.7999, "{group} {cosine}");
    }
    // The page has a dot on the map for each sentence, all groups, and no links to other files.
    let report = ["cluster", "text.txt", "--groups", "5", "--report", "g.html"];
    folder.run(&report).ok();
    let page = String::from_utf8(folder.read("g.html")).unwrap();
    assert!(page.matches("<circle").count() > 800 && page.matches("<tr id=").count() == 5, "{page}");
    // A click on a dot goes to its group, and one on a group shows its other sentences.
    assert!(page.contains("<a href=\"#group-5\">") && page.contains("<tr id=\"group-5\">"), "{page}");
    assert!(page.matches("<details><summary>50 of ").count() == 5 && page.contains("more</summary>"), "{page}");
    assert!(!page.contains("<script") && !page.contains("src=") && page.contains("</html>"));
    folder.run(&report).ok();
    folder.write("g.html", "a page of somebody");
    folder.run(&report).fails(2, &["g.html exists", "--force"]);
    folder.write("g.senv", "a file of somebody");
    folder.run(&["cluster", "text.txt", "--groups", "5", "--save", "g.senv"]).fails(2, &["g.senv exists", "--force"]);
}

#[test]
fn scarce_and_odd_input_has_a_defined_result() {
    let folder = Folder::new();
    folder.write("empty.txt", "\n \n");
    folder.write("one.txt", "A <b>cat</b>.\n");
    folder.write("equal.txt", "A cat.\n".repeat(3000));
    folder.write("few.txt", "A cat.\nThe train is late.\nRain.\n");
    folder.run(&["cluster", "empty.txt"]).fails(1, &["empty.txt contains no text"]);
    folder.run(&["cluster", "absent.txt"]).fails(1, &["cannot open absent.txt"]);
    for more in [&[][..], &["--groups", "1"], &["--groups", "50"], &["--threshold", "0", "--min-size", "1"]] {
        for (text, most) in [("one.txt", 1), ("equal.txt", 1), ("few.txt", 3)] {
            let ended = folder.run(&[&["cluster", text, "--json", "--report", "g.html"], more].concat()).ok();
            let n = ended.out.lines().count();
            assert!((1..=most).contains(&n), "{text} {more:?}: {n}");
        }
    }
    assert!(folder.run(&["cluster", "one.txt"]).ok().out.contains("A <b>cat</b>."));
    folder.run(&["cluster", "one.txt", "--report", "g.html"]).ok();
    assert!(String::from_utf8(folder.read("g.html")).unwrap().contains("A &lt;b&gt;cat&lt;/b&gt;."));
    let none = folder.run(&["cluster", "few.txt", "--threshold", "1"]).ok();
    assert!(none.out.is_empty() && none.err.contains("lower --threshold"), "{}", none.err);
    folder.run(&["cluster", "few.txt", "--groups", "0"]).fails(2, &["--groups"]);
    folder.run(&["cluster", "few.txt", "--threshold", "2"]).fails(2, &["--threshold"]);
    folder.run(&["cluster", "few.txt", "--groups", "2", "--threshold", ".5"]).fails(2, &["cannot be used with"]);
    folder.run(&["cluster", "few.txt", "--groups", "2", "--save", "few.txt"]).fails(2, &["--save"]);
}

#[test]
fn a_group_is_what_is_close_to_its_center() {
    let folder = Folder::new();
    // At 0°, 20°, 40° and 60°: neighbors have a cosine of .94, others at most .77.
    folder.write("chain.vec", "a 1 0\nb .9396926 .3420201\nc .7660444 .6427876\nd .5 .8660254\n");
    folder.write("chain.txt", "a\nb\nc\nd\n");
    let cluster = ["cluster", "chain.txt", "--model", "chain.vec", "--threshold", ".9", "--members", "--min-size"];
    let groups = |min_size| column(&folder.run(&[&cluster[..], &[min_size]].concat()).ok().out, 0);
    assert_eq!(groups("2"), ["1", "1", "1", "-"]);
    assert_eq!(groups("1"), ["1", "1", "1", "2"]);
    let help = folder.run(&["cluster", "--help"]).ok().out;
    assert!(help.contains("close to members of a group, but not to its center"), "{help}");
}

#[test]
fn equal_sentences_count_by_their_number_for_the_smallest_group() {
    let folder = Folder::new();
    folder.write("text.txt", "The printer is out of paper.\n".repeat(30) + "Rain falls.\n");
    let cluster = |min_size| {
        let args = ["cluster", "text.txt", "--threshold", ".8", "--members", "--min-size", min_size];
        column(&folder.run(&args).ok().out, 0)
    };
    assert_eq!(cluster("31"), vec!["-"; 31]);
    assert_eq!(cluster("30"), [vec!["1"; 30], vec!["-"]].concat());
    assert_eq!(cluster("1"), [vec!["1"; 30], vec!["2"]].concat());
    let help = folder.run(&["cluster", "--help"]).ok().out;
    assert!(help.contains("Smallest group with --threshold, in sentences; equal lines count"), "{help}");
}

#[test]
fn equal_sentences_count_by_their_number_in_every_method() {
    let folder = Folder::new();
    let printers = ["The printer has no paper.", "The printer is broken.", "My printer does not print."];
    let rain = ["Rain falls on the hills.", "Heavy rain came with wind.", "It rained in the mountains."];
    let text = |times: usize| {
        format!("{}\n", [&printers[..], &rain].concat().join("\n")) + &"Rain fell all day.\n".repeat(times)
    };
    folder.write("once.txt", text(1));
    folder.write("many.txt", text(30));
    let cosine = |file: &str| {
        let members = folder.run(&["cluster", file, "--groups", "2", "--members"]).ok().out;
        let last = members.lines().last().unwrap().split('\t').nth(1).unwrap().parse::<f64>().unwrap();
        (last, column(&members, 0))
    };
    let ((once, _), (many, groups)) = (cosine("once.txt"), cosine("many.txt"));
    assert!(many > 0.99 && once < 0.95, "30 lines draw the center to them: {once} {many}");
    assert_eq!(groups, [vec!["2"; 3], vec!["1"; 33]].concat());
    for method in [&["--groups", "2"][..], &[]] {
        let out = folder.run(&[&["cluster", "many.txt", "--words", "2"], method].concat()).ok().out;
        assert!(out.starts_with("1  33 sentences: ") || out.starts_with("1  30 sentences: "), "{out}");
        assert!(out.lines().next().unwrap().contains("day"), "the words of 30 lines: {out}");
    }
    let help = folder.run(&["cluster", "--help"]).ok().out;
    assert!(help.contains("equal lines are in one group and have the weight of their number"), "{help}");
}

#[test]
fn labels_are_whole_words_in_the_form_that_is_written_most_often() {
    let folder = Folder::new();
    let lines = [
        "We met in the caf\u{e9} for a coffee.",
        "Another cafe\u{301} has better coffee.",
        "They can't open the caf\u{e9} today, and they can’t close it.",
        "The iPhone bat\u{200b}tery is empty.",
        "A new battery for the iPhone.",
        "Charge the iPhone battery at night.",
    ];
    folder.write("text.txt", lines.join("\n"));
    let out = folder.run(&["cluster", "text.txt", "--groups", "2", "--sentences", "0", "--words", "20"]).ok().out;
    let words: Vec<&str> = out.lines().flat_map(|line| line.rsplit(": ").next().unwrap().split(' ')).collect();
    for word in ["caf\u{e9}", "coffee", "iPhone", "battery"] {
        assert_eq!(words.iter().filter(|of| **of == word).count(), 1, "{word}: {out}");
    }
    assert!(!words.iter().any(|word| ["ca", "cafe\u{301}", "iphone", "bat", "tery"].contains(word)), "{out}");
}
