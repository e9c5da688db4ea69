//! Parquet and Arrow, which a program with the feature `arrow` reads and writes. `.ci/parts` builds and tests such a
//! program, and `.ci/tables` reads its output with other programs.

use std::fs;

use senv_core::text::{ArrowBatches, Cells, TableColumn};

use crate::common::Folder;

const TEXT: &str = "A cat sleeps on the sofa.\n\nThe train to Vienna is late.\nxqzzt\n\"A storm, they said,\" brings rain.\n\
                    A cat sleeps on a sofa.\n";

/// A folder with the text, plain and as two tables with a column of vectors.
fn tables() -> Folder {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    for output in ["t.parquet", "t.arrow"] {
        let ended = folder.run(&["encode", "text.txt", "--output", output]).ok();
        assert!(ended.err.contains("1 blank line: zero vectors"), "{}", ended.err);
    }
    folder
}

fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
    let mut batches = ArrowBatches::open(folder.path(file), None).unwrap();
    let place = batches.place(&TableColumn::Name(name.into())).unwrap();
    let mut all = Vec::new();
    while let Some(batch) = batches.next_batch().unwrap() {
        let cells = Cells::of_values(&place.of(&batch)).unwrap();
        all.extend((0..cells.len()).map(|row| String::from_utf8_lossy(cells.get(row).unwrap_or(b"null")).into_owned()));
    }
    all
}

#[test]
fn a_column_of_text_becomes_a_column_of_vectors_beside_all_others() {
    let folder = tables();
    folder.run(&["encode", "text.txt", "--output", "text.npy"]).ok();
    for table in ["t.parquet", "t.arrow"] {
        assert_eq!(column(&folder, table, "line"), ["1", "2", "3", "4", "5", "6"]);
        assert_eq!(column(&folder, table, "text"), TEXT.lines().collect::<Vec<_>>());
        folder.run(&["encode", table, "--column", "text", "--output", "rows.npy", "--force"]).ok();
        assert_eq!(fs::read(folder.path("rows.npy")).unwrap(), fs::read(folder.path("text.npy")).unwrap());
        // A table with vectors can be encoded again, but its column of vectors is not replaced.
        let again = ["encode", table, "--column", "text", "--output", "again.parquet", "--precision", "f16"];
        folder.run(&again).fails(1, &["the table already has a column \"vector\""]);
        folder.run(&[&again[..], &["--vector-column", "half"]].concat()).ok();
        let batches = ArrowBatches::open(folder.path("again.parquet"), None).unwrap();
        let fields: Vec<String> =
            batches.schema().fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type())).collect();
        assert_eq!(fields[..2], ["line: Int64", "text: Utf8"]);
        assert!(fields[2].starts_with("vector: FixedSizeList") && fields[2].contains("Float32"), "{fields:?}");
        assert!(fields[3].starts_with("half: FixedSizeList") && fields[3].contains("Float16"), "{fields:?}");
        assert_eq!((fields.len(), batches.n_rows()), (4, Some(6)));
        assert_eq!(column(&folder, "again.parquet", "text"), TEXT.lines().collect::<Vec<_>>());
    }
    // For several files, the file of each line is recorded; each sentence is a row.
    folder.run(&["encode", "text.txt", "text.txt", "--output", "two.arrow"]).ok();
    assert_eq!(column(&folder, "two.arrow", "file"), ["text.txt"; 12]);
    folder.write("long.txt", "One sentence. And another one.\n");
    folder.run(&["encode", "long.txt", "--split", "--output", "split.parquet"]).ok();
    assert_eq!(column(&folder, "split.parquet", "text"), ["One sentence.", "And another one."]);
}

#[test]
fn every_job_reads_a_column_as_it_reads_lines() {
    let folder = tables();
    let of_text = |arguments: &[&str]| folder.run(arguments).ok().out;
    for table in ["t.parquet", "t.arrow"] {
        let of_table = |arguments: &[&str]| folder.run(&[arguments, &["--column", "text"]].concat()).ok().out;
        for job in [
            &["dedupe", "--threshold", ".8"][..],
            &["mine", "--no-score"],
            &["outliers"],
            &["cluster", "--groups", "2"],
        ] {
            let [of_text, of_table] = [of_text(&[job, &["text.txt"]].concat()), of_table(&[job, &[table]].concat())];
            assert_eq!(of_text, of_table, "{job:?}");
        }
        let settings = ["--min-count", "1", "--min-target-count", "1", "--dim", "8", "--output", "m.senv"];
        let train = |input: &[&str]| {
            folder.run(&[&["train", "sent2vec", "--input"], input, &settings[..]].concat()).ok();
            let vectors = folder.run(&["encode", "--model", "m.senv", "text.txt"]).ok().out;
            fs::remove_file(folder.path("m.senv")).unwrap();
            vectors
        };
        assert_eq!(train(&["text.txt"]), train(&[table, "--column", "text"]));
        let index = ["index", table, "--column", "text", "--column", "id=line", "--output", "t.index", "--force"];
        folder.run(&index).ok();
        let hits = folder.run(&["search", "t.index", "--query", "a railway journey", "--k", "1"]).ok().out;
        assert!(hits.contains(&format!("\t3\t{table}:3\tThe train to Vienna is late.")), "{hits}");
        let records = folder.run(&["dedupe", table, "--column", "text", "--records"]);
        records.fails(2, &["is not text"]);
    }
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_left_behind() {
    let folder = tables();
    let whole = fs::read(folder.path("t.parquet")).unwrap();
    fs::write(folder.path("cut.parquet"), &whole[..whole.len() - 9]).unwrap();
    for (arguments, message) in [
        (&["t.parquet", "--column", "line"][..], "t.parquet: column \"line\" has type Int64, expected text"),
        (&["t.parquet", "--column", "vector"], "t.parquet: column \"vector\" has type FixedSizeList"),
        (&["t.parquet", "--column", "body"], "t.parquet: no column \"body\"; the columns are line, text, vector"),
        (&["cut.parquet", "--column", "text"], "cut.parquet: it is damaged or not a supported Parquet"),
    ] {
        for output in ["out.npy", "out.parquet"] {
            folder
                .run(&[&["encode", "--output", output, "--vector-column", "v"], arguments].concat())
                .fails(1, &[message]);
            assert!(!folder.path(output).exists());
        }
    }
    for table in ["t.parquet", "t.arrow"] {
        let refused = format!("{table} is a Parquet or Arrow file; name the column of the text with --column");
        folder.run(&["encode", table]).fails(2, &[&refused, "Columns: line, text, vector"]);
    }
    let shown = folder.run(&["outliers", "t.parquet", "--column", "text", "--show", "line", "-n", "1"]).ok().out;
    let cells: Vec<&str> = shown.trim_end().split('\t').collect();
    assert_eq!((cells.len(), cells[1]), (4, cells[3]), "{shown}");
    folder.write("other.parquet", "no table of ours");
    let other = folder.run(&["encode", "text.txt", "--output", "other.parquet"]);
    other.fails(2, &["other.parquet exists and is not a table of vectors written by senv"]);
    folder.run(&["encode", "text.txt", "--output", "out.arrow", "--digits", "3"]).fails(2, &["--digits is for text"]);
}
