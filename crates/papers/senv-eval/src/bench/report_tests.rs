//! Tests the page, the figures and the Markdown of a small record with every kind of figure and names that need
//! escaping.

use super::{figures::drawings, html::REPORT_START, record::RECORD_FORMAT};
use crate::bench::{
    BenchRecord, DataFile, DataNote, Detail, Figure, FigureSeries, Missing, SystemKind, SystemRecord, TaskRecord,
    TaskResult, protocols, summarize,
};
use crate::plot::frame::escape;

const NAME: &str = "a <b> & \"c\" | d";
const ESCAPED: &str = "a &lt;b&gt; &amp; &quot;c&quot; | d";
const ITEMS: u32 = 30;
/// The number of tasks, and how many of them need no vectors.
const TASKS: (usize, usize) = (8, 6);

fn task(protocol: &str, name: &str, year: Option<u16>, gold: fn(u32) -> f64) -> TaskRecord {
    let key = year.map_or_else(|| format!("{protocol}/{name}"), |year| format!("{protocol}/{year}/{name}"));
    let (protocol, name) = (protocol.to_owned(), name.to_owned());
    let takes_scores = protocols().iter().any(|of| of.name == protocol && of.takes_scores);
    // Two tasks share one file.
    let path = if year.is_some() { "sts & more.tsv".to_owned() } else { format!("{name} of {protocol}.tsv") };
    let files = vec![DataFile { path, sha256: "5".repeat(64) }];
    let gold = if takes_scores { (0..ITEMS).map(gold).collect() } else { Vec::new() };
    TaskRecord { key, protocol, name, year, files, gold, chance: 0.0, own: false }
}

fn figure(kind: &str, series: &[(&str, &[(f64, f64)])]) -> Figure {
    let series = series.iter().map(|(name, points)| FigureSeries { name: (*name).to_owned(), points: points.to_vec() });
    let [kind, x_label, y_label] = [kind, "x & its unit", "y < its unit"].map(str::to_owned);
    Figure { kind, x_label, y_label, series: series.collect() }
}

fn result(task: &TaskRecord, figures: Vec<Figure>) -> TaskResult {
    let details = vec![Detail { name: "F1 < 1".to_owned(), value: Some(0.5) }];
    let scores = (0..ITEMS).map(|i| (i * 7 % 10) as f32 / 10.0).collect();
    let (task, value, interval) = (task.key.clone(), Some(50.0), Some((41.25, 58.75)));
    TaskResult { task, value, interval, note: None, details, scores, figures }
}

fn record() -> BenchRecord {
    let tasks = vec![
        task("sts", "images", Some(2014), |i| f64::from(i % 6)),
        task("sts", "news", Some(2014), |i| f64::from(i % 4)),
        task("sick", "test", None, |i| f64::from(1 + i % 5)),
        task("detection", "MSRP test", None, |i| f64::from(i % 2)),
        task("order-templates", "swapped roles", None, f64::from),
        task("order-templates", "negation", None, f64::from),
        task("p-coherence", "COCO", None, f64::from),
        task("msrp", "MSRP test", None, f64::from),
    ];
    assert_eq!(tasks.len(), TASKS.0);
    let of_task = |task: &TaskRecord| match &task.protocol[..] {
        "p-coherence" => vec![figure("map", &[("1", &[(0.0, 1.0), (1.0, 0.5)]), ("2", &[(3.0, 3.0)])])],
        "msrp" => vec![figure("learning-curve", &[("accuracy", &[(10.0, 60.0), (100.0, 70.0)])])],
        _ => Vec::new(),
    };
    let bins: &[(f64, f64)] = &[(-9.0, 2.0), (-5.0, 3.0), (-2.0, 1.0)];
    let norms = [("mean", bins), ("lower quartile", bins), ("upper quartile", bins), ("a/(a+f)", bins)];
    let labels: [(&str, &[(f64, f64)]); 3] =
        [("contradiction", &[(0.1, 0.0), (0.3, 1.0)]), ("neutral", &[(0.3, 2.0)]), ("entailment", &[(0.8, 3.0)])];
    let system = |name: &str, kind| SystemRecord {
        name: name.to_owned(),
        kind,
        source: "models/<a>.senv".to_owned(),
        sha256: Some("7".repeat(64)),
        bytes: Some(7_800_000),
        dim: Some(3),
        known_word_share: None,
        sentences_per_second: Some(1234.0),
        results: tasks.iter().map(|task| result(task, of_task(task))).collect(),
        figures: vec![figure("norms", &norms), figure("label-cosines", &labels)],
    };
    let mut overlap = system("word overlap", SystemKind::Baseline);
    (overlap.sha256, overlap.bytes, overlap.sentences_per_second) = (None, None, None);
    for result in overlap.results.iter_mut().skip(TASKS.1) {
        (result.value, result.interval, result.note) = (None, None, Some("needs <vectors>".to_owned()));
        (result.scores, result.figures) = (Vec::new(), Vec::new());
    }
    let missing = Missing { protocol: "stsb".to_owned(), reason: "a file <gone> & lost".to_owned() };
    let note = DataNote { files: vec!["<my> notes.md".to_owned()], note: "not a table & more".to_owned() };
    BenchRecord {
        senv_bench: RECORD_FORMAT,
        version: "0.1.0".to_owned(),
        command: "senv eval all --data '<my data>'".to_owned(),
        seed: 3,
        resamples: 500,
        tasks: tasks.clone(),
        missing: vec![missing],
        notes: vec![note],
        systems: vec![system(NAME, SystemKind::Model), overlap],
    }
}

#[test]
fn quality_against_size_is_drawn_for_two_models_or_more_with_a_size() {
    let mut record = record();
    assert_eq!(record.quality_against_size().unwrap(), None, "the second system has no file");
    record.systems[1].bytes = Some(100_000_000);
    let svg = record.quality_against_size().unwrap().expect("both have a size");
    for expected in ["7.8 MB", "100.0 MB", "size of the model's file, MB", "mean of the similarity tasks"] {
        assert!(svg.contains(expected), "{expected} is not in {svg}");
    }
    let drawn = drawings(&record, &summarize(&record).unwrap()).unwrap();
    assert_eq!(drawn.iter().filter(|drawing| drawing.title == "Quality against size").count(), 1);
}

#[test]
fn a_record_without_sizes_is_read_and_has_no_drawing_of_them() {
    let mut record = record();
    record.systems[1].bytes = Some(100_000_000);
    let json = record.to_json();
    assert_eq!(BenchRecord::from_json(&json).unwrap(), record);
    let older = json.replace("\"bytes\":7800000,", "").replace("\"bytes\":100000000,", "");
    let older = BenchRecord::from_json(&older).unwrap();
    assert!(older.systems.iter().all(|system| system.bytes.is_none()));
    assert!(older.to_html().is_ok_and(|page| !page.contains("Quality against size")));
    record.systems[0].bytes = None;
    assert!(!record.to_json().contains("7800000") && record.quality_against_size().unwrap().is_none());
}

#[test]
fn drawings_have_stable_file_names_and_files_have_their_titles() {
    let mut record = record();
    record.systems[1].bytes = Some(100_000_000);
    let drawn = record.drawings().unwrap();
    let names: Vec<&str> = drawn.iter().map(|drawing| &drawing.name[..]).collect();
    let expected = [
        "means-similarity",
        "means-paraphrases-and-captions",
        "means-word-order",
        "means-trained-on-the-vectors",
        "sts-tasks",
        "word-order-tasks",
        "quality-speed",
        "quality-size",
        "precision-recall-msrp-test",
        "scores-a-b-c-d-sick-test",
        "scores-word-overlap-sick-test",
        "scores-a-b-c-d-detection-msrp-test",
        "scores-word-overlap-detection-msrp-test",
        "learning-curve-msrp",
        "captions-a-b-c-d",
        "norms-a-b-c-d",
        "cosines-by-label-a-b-c-d",
    ];
    assert_eq!(names, expected);
    for (drawing, again) in drawn.iter().zip(record.drawings().unwrap()) {
        let file = drawing.to_file();
        assert_eq!(file, again.to_file());
        assert!(file.contains(&format!("<title>{}</title>", escape(&drawing.title))), "{file}");
        // The file is readable on a page of any color.
        assert!(file.contains("class=\"title\"") && file.contains("height=\"100%\" fill=\"white\"/>"), "{file}");
    }
    let size = drawn.iter().find(|drawing| drawing.name == "quality-size").unwrap();
    assert_eq!(record.quality_against_size().unwrap(), Some(size.to_file()));
}

#[test]
fn every_kind_of_figure_is_drawn_with_titles_on_both_axes() {
    let record = record();
    let drawn = drawings(&record, &summarize(&record).unwrap()).unwrap();
    let titles: Vec<&str> = drawn.iter().map(|drawing| &drawing.title[..]).collect();
    let expected = [
        "Similarity: means",
        "Paraphrases and captions: means",
        "Word order: means",
        "Trained on the vectors: means",
        "STS, task by task",
        "Word order, phenomenon by phenomenon",
        "Quality against speed",
        "Paraphrase detection without training, MSRP test",
        "Scores of a <b>",
        "Scores of word overlap on SICK pairs, test",
        "Scores of a <b>",
        "Scores of word overlap on MSRP pairs, MSRP test",
        "Accuracy against training data, MSRP",
        "Captions on a plane, a <b>",
        "Norms of words, a <b>",
        "Cosines by label, a <b>",
    ];
    assert_eq!(titles.len(), expected.len(), "{titles:#?}");
    for (title, expected) in titles.iter().zip(expected) {
        assert!(title.starts_with(expected), "{title} instead of {expected}");
    }
    for drawing in &drawn {
        let (title, svg) = (&drawing.title, &drawing.svg);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !drawing.about.is_empty(), "{title}");
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{title}");
        assert!(["<circle", "<polyline", "fill-opacity"].iter().any(|mark| svg.contains(mark)), "{title} is empty");
        assert!(!svg.contains("<b>"), "{title}: a name is not escaped");
        for axis in ["x", "y"] {
            let titles: Vec<&str> =
                svg.lines().filter(|line| line.contains(&format!("class=\"{axis}-title\""))).collect();
            assert!(titles.len() == 1 && !titles[0].contains("></text>"), "{title}, {axis}: {titles:?}");
        }
    }
    assert!(drawn[6].svg.contains("1234 sentences per second"));
}

#[test]
fn the_page_is_whole_escaped_and_loads_nothing() {
    let page = record().to_html().unwrap();
    assert!(page.starts_with(REPORT_START) && page.ends_with("</html>\n"));
    for outside in ["src=", "<script", "<link rel=\"stylesheet", "@import", "url(", "http-equiv", "https://"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("href=").count(), page.matches("href=\"data:,\"").count());
    // The only address is the SVG namespace.
    assert_eq!(page.matches("http://").count(), page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    for raw in ["<b>&", "<b> &", "a <b>", "<a>.senv", "<my data>", "<gone>", "<vectors>", "F1 < 1", "sts & more"] {
        assert!(!page.contains(raw), "{raw} is not escaped");
    }
    for part in [ESCAPED, "models/&lt;a&gt;.senv", "&lt;my data&gt;", "&lt;gone&gt; &amp; lost", "&lt;vectors&gt;"] {
        assert!(page.contains(part), "{part} is missing");
    }
    for (open, closed) in [("<table", "</table>"), ("<tr", "</tr>"), ("<figure>", "</figure>"), ("<svg ", "</svg>")] {
        assert_eq!(page.matches(open).count(), page.matches(closed).count(), "{open}");
    }
    assert_eq!(page.matches("<svg ").count(), page.matches("role=\"img\" aria-label=").count());
}

#[test]
fn every_number_of_a_task_has_its_interval_and_what_made_it() {
    let page = record().to_html().unwrap();
    let tasks = page.split("<h2>Task by task</h2>").nth(1).unwrap().split("<h2>").next().unwrap();
    let n_numbers = TASKS.0 + TASKS.1;
    // P-coherence has three decimals.
    let intervals = ["41.25 to 58.75", "41.250 to 58.750"].map(|ends| format!("<span class=\"pm\">{ends}</span>"));
    assert_eq!(intervals.map(|interval| tasks.matches(&interval).count()).iter().sum::<usize>(), n_numbers);
    let cells: Vec<&str> = tasks.split("<td").filter(|cell| cell.contains("class=\"pm\"")).collect();
    assert_eq!(cells.len(), n_numbers);
    for cell in cells {
        assert!(cell.contains("95 % interval 41.25") && cell.contains(&"5".repeat(16)), "{cell}");
        assert!(cell.contains("seed 3, senv 0.1.0 senv eval all --data '&lt;my data&gt;'"), "{cell}");
    }
    assert_eq!(tasks.matches("<td title=\"needs &lt;vectors&gt;\">-</td>").count(), TASKS.0 - TASKS.1);
    let made = page.split("<h2>How these numbers were made</h2>").nth(1).unwrap();
    let (of_model, of_data) = ("7".repeat(64), "5".repeat(64));
    for part in ["senv 0.1.0, seed 3, 500 draws", &of_model[..]] {
        assert!(made.contains(part), "{part} is missing in {made}");
    }
    // There are seven files: one has two tasks.
    assert_eq!(made.matches(&of_data[..]).count(), TASKS.0 - 1);
    assert!(made.contains("sts/2014/images, sts/2014/news"), "{made}");
}

#[test]
fn the_markdown_has_the_same_in_whole_tables() {
    let record = record();
    let text = record.to_markdown().unwrap();
    assert!(text.contains("| sts 2014 images | 30 | 50.00 ±8.8 | 50.00 ±8.8 |"), "{text}");
    assert!(text.contains("| msrp MSRP test | 30 | 50.00 ±8.8 | - |"), "{text}");
    assert!(text.contains("| p-coherence COCO | 30 | 50.000 ±8.750 | - |"), "{text}");
    let in_table = |line: &str| line.starts_with('|') && line.contains("\"c\" | d");
    assert!(text.contains("a <b> & \"c\" \\| d") && !text.lines().any(in_table), "{text}");
    assert!(text.contains(&"7".repeat(64)) && text.contains("seed 3, 500 draws"), "{text}");
    // Each row of a table has as many cells as its heading.
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    for table in text.split("\n\n").filter(|part| part.starts_with("| ")) {
        let n = table.lines().next().map(cells);
        assert!(table.lines().all(|line| Some(cells(line)) == n), "{table}");
    }
}

#[test]
fn a_record_without_a_system_is_a_page_without_numbers() {
    let record = BenchRecord { systems: Vec::new(), ..record() };
    let page = record.to_html().unwrap();
    assert!(page.contains("0 systems on 8 tasks") && !page.contains("class=\"pm\""));
    assert!(record.to_markdown().is_ok() && record.to_text().is_ok());
}
