//! A user's own data in the bench: what is recognized by its columns, its name, and the notes on other files.

use std::{fmt::Write as _, fs, path::Path};

use senv_core::NoObserver;
use senv_eval::{
    BenchData, BenchOptions, BenchPart, BenchRecord, DataFolder, Error, Scoring, SystemKind, SystemRecord,
    choose_protocols,
};
use senv_metrics::Bootstrap;

const PAIRS: &str = "sentence1,sentence2,score\n\"one, two\",a b,4\nc d,e f,1.5\ng,h,\ni,j,2\n";

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Lines of a label and a text.
fn labeled(n: usize, start: usize) -> String {
    (start..start + n).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{}\tnumber {i}", ["refund", "order"][i % 2]);
        text
    })
}

fn read(folder: &Path) -> BenchData {
    BenchData::read(&DataFolder::open(folder).unwrap(), &choose_protocols(&[], &[]).unwrap()).unwrap()
}

/// The keys of the tasks that read files.
fn keys(data: &BenchData) -> Vec<String> {
    data.tasks.iter().filter(|task| !task.files.is_empty()).map(senv_eval::Task::key).collect()
}

fn notes(data: &BenchData) -> String {
    data.notes.iter().map(|note| note.to_text() + "\n").collect()
}

fn retrieval(folder: &Path, name: &str) {
    write(folder, &format!("{name}/corpus.jsonl"), "{\"_id\":\"d1\",\"text\":\"Rain falls.\\nIt is wet.\"}\n");
    write(folder, &format!("{name}/queries.jsonl"), "{\"_id\":\"q1\",\"text\":\"weather\"}\n");
    write(folder, &format!("{name}/qrels/validation.tsv"), "q\td\tgrade\nq1\td1\t1\nq1\td9\t1\n");
}

#[test]
fn own_data_of_any_name_appear_under_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "tickets.csv", PAIRS);
    write(folder, "more/Typed.txt", "a b\tc d\t0.5\ne f\tg h\t1\n");
    let lines = "{\"text_a\": \"a\\nb\", \"id\": 7, \"text_b\": \"c\", \"similarity\": 3}\n{\"text_b\": \"d\", \"similarity\": \"1\"}\n";
    write(folder, "objects.jsonl", lines);
    // Three lines of a score and two texts, compressed with gzip.
    write(folder, "more/packed.tsv.gz", PACKED);
    write(folder, "kinds.tsv", labeled(40, 0));
    write(folder, "intents/train.tsv", labeled(30, 0));
    write(folder, "intents/test.tsv", labeled(6, 30));
    write(folder, "intents/dev.tsv", labeled(6, 40));
    let messages = labeled(20, 0).replace('\t', ",");
    write(folder, "messages.csv", format!("Category,Message\n{messages},no label\n"));
    retrieval(folder, "answers");
    retrieval(folder, "sets/deeper");
    let data = read(folder);
    let expected = [
        "pairs/more/Typed",
        "pairs/more/packed",
        "pairs/objects",
        "pairs/tickets",
        "labels/intents",
        "labels/kinds",
        "labels/messages",
        "retrieval/answers",
        "retrieval/sets/deeper",
    ];
    assert_eq!(keys(&data), expected);
    let task = |key: &str| data.tasks.iter().find(|task| task.key() == key).unwrap();
    let record = |key: &str| data.records.iter().find(|record| record.key == key).unwrap();
    assert_eq!(record("pairs/tickets").gold, [4.0, 1.5, 2.0]);
    assert_eq!(record("pairs/more/packed").gold, [4.5, 1.0, 3.0]);
    assert_eq!(record("pairs/objects").gold, [3.0, 1.0]);
    assert!(data.sentences().contains(&"one, two") && data.sentences().contains(&"a b"));
    // Documents are encoded on one line, and by sentence.
    let documents = data.sentences_of(BenchPart::Retrieval);
    assert_eq!(documents, ["Rain falls. It is wet.", "Rain falls.", "It is wet.", "weather"]);
    let files = |key: &str| record(key).files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    assert_eq!(files("labels/intents"), ["intents/train.tsv", "intents/test.tsv"]);
    assert_eq!(files("retrieval/answers")[2], "answers/qrels/validation.tsv");
    assert_eq!(task("labels/intents").chance(), 50.0);
    // All relevant documents are one of one, and one that is missing.
    let chance = task("retrieval/answers").chance();
    assert!((chance - 100.0 / (1.0 + 1.0 / 3f64.log2())).abs() < 1e-9, "{chance}");
    for expected in [
        "tickets.csv: left out 1 pair without a score",
        "intents/dev.tsv: not used, because there is a test set",
        "messages.csv: left out 1 record without a text or a label",
        "answers/, sets/deeper/: 1 judgment of missing documents",
    ] {
        assert!(notes(&data).contains(expected), "{expected} is missing in {}", notes(&data));
    }
}

#[test]
fn a_test_file_of_any_size_belongs_to_the_training_file_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let titled =
        |n: usize| format!("text,label\n{}", (0..n).map(|i| format!("number {i},l{}\n", i % 3)).collect::<String>());
    write(folder, "train.csv", titled(60));
    // Each text of a label of its own, which no data set on its own has.
    write(folder, "test.csv", "label,text\nl0,a\nl1,b\nl2,c\nl7,d\n");
    write(folder, "plain_training.tsv", labeled(30, 0));
    write(folder, "plain_validation.tsv", "order\tone text of one label\n");
    // The label is in the second column, and both columns of the test file have only distinct cells.
    let turned: String = (0..30).map(|i| format!("number {i}\t{}\n", ["refund", "order"][i % 2])).collect();
    write(folder, "train/turned.tsv", format!("words\tkind\n{turned}"));
    write(folder, "test/turned.tsv", "words\tkind\nsome words\trefund\nother words\torder\n");
    // Without a training file, the same is no data set.
    write(folder, "alone-test.csv", "label,text\nl0,a\nl1,b\n");
    let data = read(folder);
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let mut expected = vec![format!("labels/{name}"), "labels/plain dev".to_owned(), "labels/turned".to_owned()];
    let mut found = keys(&data);
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{}", notes(&data));
    for expected in [
        "train.csv, test.csv: one set, trained on the first (60 texts) and tested on the second (4 texts); the labels of \
         1 text are not in the first, so they count as wrong",
        "plain_training.tsv, plain_validation.tsv: one set, trained on the first (30 texts) and tested on the second (1 text)\n",
        "train/turned.tsv, test/turned.tsv: one set, trained on the first (30 texts) and tested on the second (2 texts)\n",
        "alone-test.csv: no scores, and fewer than 2 texts per label",
    ] {
        assert!(notes(&data).contains(expected), "{expected} is missing in {}", notes(&data));
    }
    let sentences = data.sentences();
    assert!(sentences.contains(&"some words") && sentences.contains(&"number 29") && !sentences.contains(&"words"));
}

#[test]
fn too_few_items_have_no_interval_and_no_mark() {
    let of = |n: usize| {
        let folder = tempfile::tempdir().unwrap();
        let titles = "score\ttext1\ttext2\n".to_owned();
        write(folder.path(), "mine.tsv", scored(n + 6).lines().skip(6).fold(titles, |text, line| text + line + "\n"));
        let data = read(folder.path());
        let mut record = record(folder.path(), &data);
        // A second system, to be marked: the same scores, turned around.
        let mut second = record.systems[0].clone();
        second.name = "turned".into();
        let result = second.results.iter_mut().find(|result| result.task == "pairs/mine").unwrap();
        result.scores.iter_mut().for_each(|score| *score = -*score);
        record.systems.push(second);
        let result = record.systems[0].result("pairs/mine").unwrap();
        let both = [&record.systems[0], &record.systems[1]].map(|system| (&record, system));
        let difference = senv_eval::compare_systems(both[0], both[1], Bootstrap { resamples: 500, seed: 1 }).unwrap();
        let row = difference.tasks.iter().find(|row| row.task == "pairs/mine").unwrap();
        let has = [result.interval.is_some(), row.interval.is_some(), row.p_bootstrap.is_some()];
        assert!(has.iter().all(|&of| of == has[0]), "{n}: {has:?}");
        (has[0], record, difference)
    };
    for n in [2, senv_eval::MIN_ITEMS - 1] {
        let (has, record, difference) = of(n);
        let (text, compared) = (record.to_text().unwrap(), difference.to_text());
        let own = text.split("\n\n").next().unwrap();
        assert!(!has && own.starts_with("Own scored pairs"), "{own}");
        assert_eq!(own.matches("too few\n").count() + own.matches("too few  ").count(), 4, "{own}");
        assert!(own.contains("too few: fewer than 20 items, so no interval and no mark"), "{own}");
        let marks = own.lines().filter(|line| line.starts_with("turned") && line.contains(['▲', '▼', '±'])).count();
        assert_eq!(marks, 0, "{own}");
        assert!(!own.contains("95 %"), "nothing to explain: {own}");
        assert!(compared.contains("too few: fewer than 20 items, so no interval and no test"), "{compared}");
        assert!(record.to_html().unwrap().contains("<span class=\"pm\">too few</span>"));
        assert!(record.to_markdown().unwrap().contains(" too few |"));
    }
    let (has, record, difference) = of(senv_eval::MIN_ITEMS);
    let text = record.to_text().unwrap();
    let own = text.split("\n\n").next().unwrap();
    assert!(has && !own.contains("too few") && own.contains(" ±"), "{own}");
    assert!(!difference.to_text().contains("too few"));
}

#[test]
fn tables_of_own_data_come_first_and_signs_have_their_reasons() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mine.tsv", scored(40));
    write(folder.path(), "kinds.tsv", labeled(40, 0));
    write(folder.path(), "sts/2014/images.tsv", scored(750));
    let data = read(folder.path());
    let record = record(folder.path(), &data);
    let text = record.to_text().unwrap();
    let tables: Vec<&str> = text.split("\n\n").collect();
    let starts = ["Own scored pairs", "Own labeled text", "", "Paraphrases and captions", "", ""];
    for (table, start) in tables.iter().zip(starts) {
        assert!(table.trim_start().starts_with(start) || table.contains(start), "{start} is not in {table}");
    }
    assert!(tables[1].contains("-: needs sentence vectors (lengths)"), "{}", tables[1]);
    assert!(tables[3].contains("(built in): English sentences that are part of senv"), "{}", tables[3]);
    assert!(tables[3].contains("- as a mean: no column of this table counts in one"), "{}", tables[3]);
    let page = record.to_html().unwrap();
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is missing"));
    assert!(place("<h2>Own scored pairs</h2>") < place("<h2>Similarity</h2>"));
    assert!(place(">pairs mine<") < place(">sts 2014 images<"));
}

#[test]
fn files_that_are_not_recognized_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "tickets.csv", PAIRS);
    write(folder, "README.md", "about\n");
    write(folder, ".hidden.csv", "a\n");
    for name in ["a.docx", "b.pdf", "c.bin", "d.png"] {
        write(folder, name, "x");
    }
    write(folder, "empty.csv", "");
    write(folder, "table.csv", "id,subject,owner,state\n1,a,b,c\n");
    write(folder, "captions.tsv", (0..40).map(|i| format!("{}\tcaption {i}\n", i / 4)).collect::<String>());
    write(folder, "scores.csv", "text1,text2,score\na,b,1\nc,d,high\n");
    write(folder, "equal.tsv", "1\ta\tb\n1\tc\td\n");
    write(folder, "broken.jsonl", "{\"text\": \"a\", \"label\": 1}\nno object\n");
    write(folder, "latin.tsv", b"1\tcaf\xe9\tb\n2\ta\tc\n");
    write(folder, "half/corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"Rain falls.\"}\n");
    write(folder, "one/two/three.tsv", "1\ta\tb\n2\tc\td\n");
    write(folder, "one/two/four.tsv", "1\ta\tb\n2\tc\td\n");
    let data = read(folder);
    assert_eq!(keys(&data), ["pairs/tickets"]);
    for expected in [
        "a.docx, b.pdf, c.bin and 2 more: not a table; own data are .tsv, .csv and .jsonl",
        "empty.csv: no records",
        "table.csv: the first line names no known columns: id, subject, owner, state; expected sentence1",
        "captions.tsv: no scores, and fewer than 10 texts per label on average",
        "scores.csv: line 3: the score \"high\" is not a number",
        "equal.tsv: all 2 scores are equal",
        "broken.jsonl: line 2",
        "latin.tsv: line 1",
        "half/: cannot open",
        "one/two/: too deep; give the folder above it as --data",
    ] {
        assert!(notes(&data).contains(expected), "{expected} is missing in {}", notes(&data));
    }
    assert!(!notes(&data).contains("hidden") && notes(&data).matches("one/two").count() == 1, "{}", notes(&data));
    // Protocols of published sets say nothing of them.
    let chosen = choose_protocols(&["soup".to_owned()], &[]).unwrap();
    assert!(BenchData::read(&DataFolder::open(folder).unwrap(), &chosen).unwrap().notes.is_empty());
}

#[test]
fn a_folder_of_nothing_known_says_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "notes.md", "a\n");
    let opened = DataFolder::open(folder.path()).unwrap();
    let error = BenchData::read(&opened, &choose_protocols(&[], &[]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::NoDataSets { .. }));
    let error = error.to_string();
    for expected in
        ["no data sets in the folder", "sentence1, sentence2 and score", "corpus.jsonl", "notes.md: not a table"]
    {
        assert!(error.contains(expected), "{expected} is missing in {error}");
    }
}

#[test]
fn two_files_of_one_name_keep_their_extensions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.csv", PAIRS);
    write(folder.path(), "a.tsv", "1\ta\tb\n2\tc\td\n");
    write(folder.path(), "b.tsv", "1\ta\tb\n2\tc\td\n");
    assert_eq!(keys(&read(folder.path())), ["pairs/a.csv", "pairs/a.tsv", "pairs/b"]);
}

#[test]
fn a_folder_can_itself_be_a_retrieval_set() {
    let folder = tempfile::tempdir().unwrap();
    retrieval(folder.path(), "mine");
    let data = read(&folder.path().join("mine"));
    assert_eq!(keys(&data), ["retrieval/mine"]);
}

/// Data of a published layout, and the tables of a system whose scores are the lengths of the sentences.
fn record(folder: &Path, data: &BenchData) -> BenchRecord {
    let scorer = |pairs: &[(&str, &str)]| {
        Ok(pairs.iter().map(|(a, b)| -(a.len().abs_diff(b.len()) as f64)).collect::<Vec<f64>>())
    };
    let (options, bootstrap) = (BenchOptions { seed: 1 }, Bootstrap { resamples: 500, seed: 1 });
    let results = data.run(&Scoring::Pairs(&scorer), &options, bootstrap, &NoObserver, |_| true).unwrap();
    let system = SystemRecord {
        name: "lengths".into(),
        kind: SystemKind::Baseline,
        source: folder.display().to_string(),
        sha256: None,
        bytes: None,
        dim: None,
        known_word_share: None,
        sentences_per_second: None,
        results,
        figures: Vec::new(),
    };
    data.record("test".into(), &options, bootstrap, vec![system]).unwrap()
}

/// Scored pairs of sentences of different lengths.
fn scored(n: usize) -> String {
    (0..n).map(|i| format!("{}\t{}\t{}\n", i % 6, "a".repeat(1 + i % 7), "b".repeat(1 + i % 5))).collect()
}

#[test]
fn published_figures_are_only_below_sets_of_the_published_size() {
    let of = |n: usize, name: &str| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), name, scored(n));
        let data = read(folder.path());
        let record = record(folder.path(), &data);
        (record.to_text().unwrap(), record.to_html().unwrap(), notes(&data))
    };
    let (text, page, said) = of(750, "sts/2014/images.tsv");
    assert!(text.contains("STS\n") || text.contains("STS"), "{text}");
    assert!(text.contains("paper: ") && !text.contains("(own)") && said.is_empty(), "{text}{said}");
    assert!(page.contains("<th>STS 2014</th>"));
    for name in ["sts/2014/images.tsv", "sts12/images.tsv", "sts/2014/mine.tsv"] {
        let (text, page, said) = of(60, name);
        let year = if name.contains("14") { 2014 } else { 2012 };
        let similarity = text.split("\n\n").next().unwrap();
        assert!(similarity.contains("(own)") && !similarity.contains("paper: "), "{name}: {similarity}");
        assert!(page.contains(&format!(">STS {year} (own)</th>")), "{name}");
        assert!(said.contains("not the published set of sts"), "{name}: {said}");
    }
    // Own data in another task of the year leave the published figures of the real one.
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sts/2014/images.tsv", scored(750));
    write(folder.path(), "sts/2014/mine.tsv", scored(60));
    let data = read(folder.path());
    let text = record(folder.path(), &data).to_text().unwrap();
    let similarity = text.split("\n\n").next().unwrap();
    assert!(similarity.contains("(own)") && similarity.contains("paper: "), "{similarity}");
}

#[test]
fn own_data_change_no_task_of_a_published_set() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sts/2014/images.tsv", scored(750));
    write(folder.path(), "sts/2012-train/MSRpar.tsv", scored(50));
    write(folder.path(), "sick/trial.tsv", "4.5\tENTAILMENT\ta\tb\n1\tCONTRADICTION\tc\td\n");
    let before = read(folder.path());
    assert!(before.records.iter().all(|record| !["pairs", "labels"].contains(&&record.protocol[..])));
    let counted = before.counted_sentences(BenchPart::Published).len();
    write(folder.path(), "mine/tickets.csv", PAIRS);
    retrieval(folder.path(), "answers");
    let after = read(folder.path());
    assert_eq!(after.records[..before.records.len()], before.records[..]);
    assert_eq!(after.records.len(), before.records.len() + 2);
    assert_eq!(after.counted_sentences(BenchPart::Published).len(), counted);
    let [before, after] = [&before, &after].map(|data| record(folder.path(), data));
    let results = |record: &BenchRecord| record.systems[0].results.clone();
    assert_eq!(results(&after)[..results(&before).len()], results(&before)[..]);
}

#[test]
fn records_keep_notes_and_are_read_without_them() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tickets.csv", PAIRS);
    write(folder.path(), "sts12/images.tsv", scored(60));
    write(folder.path(), "x.bin", "x");
    let data = read(folder.path());
    let record = record(folder.path(), &data);
    let json = record.to_json();
    assert_eq!(BenchRecord::from_json(&json).unwrap(), record);
    assert!(json.contains("\"own\":true") && json.contains("x.bin"));
    let text = record.to_text().unwrap();
    assert_eq!(text.matches("missing: ").count(), 5, "four years of STS, and all others in one line: {text}");
    for made in [text, record.to_markdown().unwrap(), record.to_html().unwrap()] {
        assert!(made.contains("x.bin") && made.contains("Own") && made.contains("tickets"), "{made}");
    }
    let start = json.find("\"notes\":[").unwrap();
    let end = start + json[start..].find("],\"systems\"").unwrap() + 2;
    let older = format!("{}{}", &json[..start], &json[end..]).replace(",\"own\":true", "");
    let older = BenchRecord::from_json(&older).unwrap();
    assert!(older.notes.is_empty() && older.tasks.iter().all(|task| !task.own));
}

const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\xd1\x33\xe5\xcc\xcf\x4b\x55\x48\xcb\x2c\xce\xe0\x2c\
    \x29\xcf\x07\x33\xb8\x0c\x39\x8b\x52\x53\x20\x62\x49\x39\xa5\xa9\x0a\xc5\xd9\x95\x5c\xc6\x9c\x89\x0a\x49\x9c\x49\x0a\xc9\x5c\
    \x00\x94\x66\x55\x54\x34\x00\x00\x00";
