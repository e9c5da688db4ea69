//! Typical tasks on the sample text: runs every command on the page of the guide, and checks the output.

use std::path::Path;

use crate::common::Folder;

fn sample() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let text = std::fs::read_to_string(data.join("quickstart.txt")).unwrap();
    folder.write("text.txt", &text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    folder.write("half.txt", lines[..1200].join("\n"));
    // Five sentences per document, and the same as a table.
    let documents: Vec<String> = lines.chunks(5).map(|lines| lines.join(" ")).collect();
    folder.write("documents.txt", documents.join("\n"));
    let rows: Vec<String> = lines.iter().enumerate().map(|(i, line)| format!("{i},{},\"{line}\"", i % 7)).collect();
    folder.write("t.csv", format!("id,part,text\n{}\n", rows.join("\n")));
    folder
}

fn lines(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    folder.run(arguments).ok().out.lines().map(str::to_owned).collect()
}

#[test]
fn every_job_has_a_sensible_answer_on_the_sample_text() {
    let folder = sample();
    let all = lines(&folder, &["split", "--by", "lines", "documents.txt"]);
    let own = String::from_utf8(folder.read("text.txt")).unwrap();
    let n = own.lines().filter(|line| !line.is_empty()).count();
    // Splitting the joined text returns the sentences, except a few that a quote or a lower-case letter joins.
    let same = all.iter().filter(|line| own.contains(line.as_str())).count();
    assert!(same * 100 >= n * 99, "{same} of {n}");

    let kept = lines(&folder, &["dedupe", "text.txt", "--threshold", ".8"]);
    let mut dropped = lines(&folder, &["dedupe", "text.txt", "--threshold", ".8", "--report"]);
    // Near sentences that are kept follow, with the words that keep them apart.
    let apart = dropped.split_off(dropped.iter().position(|line| line.contains("\tkept: ")).unwrap_or(dropped.len()));
    assert!(!apart.is_empty() && apart.iter().all(|line| line.contains("\tkept: ")), "{apart:?}");
    assert_eq!(kept.len() + dropped.len(), n);
    let by_cosine = lines(&folder, &["dedupe", "text.txt", "--threshold", ".8", "--no-guard", "--report"]);
    assert_eq!(by_cosine.len(), dropped.len() + apart.len());
    assert!(by_cosine.len() > 10 && !dropped.is_empty());
    assert!(dropped.iter().all(|line| line[..6].parse::<f32>().unwrap() >= 0.8));
    let half = lines(&folder, &["dedupe", "text.txt", "--to", "50%"]);
    assert!(half.len() <= n / 2 && half.len() > n * 2 / 5, "{} of {n}", half.len());
    let records =
        lines(&folder, &["dedupe", "t.csv", "--column", "text", "--by", "part", "--threshold", ".8", "--records"]);
    assert!(records.len() > kept.len() && records[0] == "id,part,text", "{} {}", records.len(), kept.len());

    let marks = lines(&folder, &["compare", "text.txt", "half.txt"]);
    assert!(marks.iter().filter(|line| line.starts_with('=')).count() >= 1200);
    let mined = lines(&folder, &["mine", "text.txt", "-n", "50"]);
    let cosines: Vec<f32> = mined.iter().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert!(cosines.len() == 50 && cosines.is_sorted_by(|a, b| a >= b) && cosines[49] > 0.7, "{cosines:?}");
    let pairs = folder.run(&["mine", "text.txt", "-n", "300", "--no-score"]).ok().out;
    folder.pipe(&["train", "--pairs", "-", "--input", "text.txt", "--output", "pairs.senv"], pairs).ok();
    folder.run(&["similarity", "--model", "pairs.senv", "The ship sailed.", "A boat left."]).ok();

    assert_eq!(lines(&folder, &["outliers", "text.txt", "-n", "5"]).len(), 5);
    let chosen = lines(&folder, &["sample", "--diverse", "30", "text.txt"]);
    // They differ from each other: none is dropped at a threshold that drops many.
    folder.write("chosen.txt", chosen.join("\n"));
    assert_eq!(lines(&folder, &["dedupe", "chosen.txt", "--threshold", ".6"]).len(), 30);

    folder.run(&["cluster", "text.txt", "--groups", "12", "--save", "groups.senv", "--report", "groups.html"]).ok();
    assert!(folder.read("groups.html").len() > 10_000);
    let members = lines(&folder, &["cluster", "--assign", "groups.senv", "half.txt", "--members"]);
    assert_eq!(members.len(), 1200);

    folder.run(&["index", "documents.txt", "--index", "d.index", "--documents"]).ok();
    let found = lines(&folder, &["search", "d.index", "--query", "a ship in the harbour", "--k", "3"]);
    assert!(
        found.len() == 3 && found.iter().all(|line| line.contains("ship") || line.contains("harbour")),
        "{found:?}"
    );
    // The documents in the format of BEIR. Each query is a sentence of its document, which must be ranked first.
    let documents = String::from_utf8(folder.read("documents.txt")).unwrap();
    let documents: Vec<&str> = documents.lines().take(200).collect();
    let json =
        |id: usize, text: &str| serde_json::json!({ "_id": id.to_string(), "title": "", "text": text }).to_string();
    let corpus: Vec<String> = documents.iter().enumerate().map(|(id, text)| json(id, text)).collect();
    let first = |text: &str| text.split(". ").next().unwrap().to_owned();
    let queries: Vec<String> = (0..20).map(|id| json(id, &first(documents[id]))).collect();
    let judged: Vec<String> = (0..20).map(|id| format!("{id}\t{id}\t1")).collect();
    std::fs::create_dir_all(folder.path("beir/qrels")).unwrap();
    folder.write("beir/corpus.jsonl", corpus.join("\n"));
    folder.write("beir/queries.jsonl", queries.join("\n"));
    folder.write("beir/qrels/test.tsv", format!("query-id\tcorpus-id\tscore\n{}\n", judged.join("\n")));
    let scores = folder.run(&["eval", "retrieval", "beir", "--json"]).ok().json();
    let scores = &scores["sets"][0]["scores"];
    let best = scores.as_array().unwrap().last().unwrap();
    assert_eq!(best["method"], "hybrid");
    assert!(best["mrr"]["value_x100"].as_f64().unwrap() > 95.0, "{best}");
}
