//! `senv-sql encode` and queries in a single process.

use std::{fs, fs::File, path::Path, sync::Arc, time::UNIX_EPOCH};

use datafusion::{
    arrow::array::{AsArray, RecordBatch},
    parquet::{
        arrow::arrow_reader::ParquetRecordBatchReaderBuilder,
        data_type::{ByteArray, ByteArrayType, Int64Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::parser::parse_message_type,
    },
};
use senv::jobs::{EncodeTableParams, encode_table};
use senv_core::{TextOptions, text::TableText};

use crate::{
    processes::{failure, finished, run, stdout},
    support::{sentences, vectors, write_parquet},
};

/// All rows of a Parquet file.
pub(crate) fn read(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    datafusion::arrow::compute::concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// Creates a folder of files of sentences, each with a null and an empty sentence.
pub(crate) fn inputs(folder: &Path, n_files: usize, n_rows: usize) {
    fs::create_dir_all(folder).unwrap();
    let texts = sentences(n_files * n_rows);
    for (number, part) in texts.chunks(n_rows).enumerate() {
        let mut part: Vec<_> = part.iter().map(|text| Some(text.as_str())).collect();
        (part[1], part[2]) = (None, Some(""));
        write_parquet(&folder.join(format!("{number:02}.parquet")), (number * n_rows) as i64, &part, 500);
    }
}

/// Writes a file whose text column contains arbitrary bytes.
pub(crate) fn write_bytes(path: &Path, values: &[&[u8]]) {
    let schema = "message rows { REQUIRED INT64 id; REQUIRED BYTE_ARRAY text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let ids: Vec<i64> = (0..values.len() as i64).collect();
    column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<ByteArray> = values.iter().map(|value| value.to_vec().into()).collect();
    column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn encode_writes_the_vectors_of_senv_and_keeps_rows_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    inputs(&input, 3, 1200);
    let pattern = format!("{}/*.parquet", input.display());
    let arguments = ["encode", "--input", &pattern, "--output", output.to_str().unwrap()];
    stdout(&arguments);
    assert_eq!(finished(&output).len(), 3);
    assert_eq!(fs::read_dir(&output).unwrap().count(), 3);
    let english = senv::english().unwrap();
    for path in finished(&output) {
        let (found, given) = (read(&path), read(&input.join(path.file_name().unwrap())));
        assert_eq!(found.project(&[0, 1]).unwrap().columns(), given.columns());
        assert_eq!(found.schema().field(1).data_type(), given.schema().field(1).data_type());
        let texts = given.column(1).as_string::<i32>();
        let expected: Vec<_> = texts.iter().map(|text| text.map(|text| english.encode_one(text).to_vec())).collect();
        assert!(vectors(found.column(2)) == expected, "{}", path.display());
    }
    // A second run finds everything finished, but not for another column or model.
    let again = || String::from_utf8_lossy(&run(&arguments).stderr).into_owned();
    let finished_before = "0 rows in 0 files; 3 files were already finished";
    assert!(again().contains(finished_before));
    // A new modification time changes nothing. Other bytes do, even with the same number of rows.
    let changed = input.join("01.parquet");
    File::options().append(true).open(&changed).unwrap().set_modified(UNIX_EPOCH).unwrap();
    assert!(again().contains(finished_before));
    let before = fs::read(output.join("01.parquet")).unwrap();
    write_parquet(&changed, 1200, &vec![Some("another sentence"); 1200], 500);
    let said = again();
    assert!(said.contains("01.parquet: its input has changed; writing it again"), "{said}");
    assert!(said.contains("1200 rows in 1 files; 2 files were already finished"), "{said}");
    assert_ne!(fs::read(output.join("01.parquet")).unwrap(), before);
    assert!(again().contains(finished_before));
    for other in [["--column", "id"], ["--vector-column", "v"]] {
        let message = failure(&[&arguments[..], &other].concat());
        assert!(message.contains("move the file away"), "{message}");
    }
    // The column of vectors must not replace another column.
    let message = failure(&[&arguments[..3], &["--output", "elsewhere", "--vector-column", "text"]].concat());
    assert!(message.contains("already has a column text; choose another name with --vector-column"), "{message}");
}

#[cfg(unix)]
#[test]
fn encode_takes_names_as_they_are_and_links_by_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let [input, other, output] = ["in", "other", "out"].map(|name| folder.path().join(name));
    fs::create_dir(&input).unwrap();
    // As a pattern, the first name would match the second.
    let names = ["a[1].parquet", "a1.parquet", "a b%20?.parquet"];
    for (i, name) in names.iter().enumerate() {
        write_parquet(&input.join(name), i as i64, &[Some(*name)], 10);
        fs::create_dir_all(other.join(name)).unwrap();
        let target = other.join(name).join("data.parquet");
        write_parquet(&target, i as i64, &[Some(*name)], 10);
        std::os::unix::fs::symlink(target, input.join(format!("link {i}.parquet"))).unwrap();
    }
    stdout(&["encode", "--input", input.to_str().unwrap(), "--output", output.to_str().unwrap()]);
    assert_eq!(finished(&output).len(), 6);
    let first = |path: &Path| read(path).column(0).as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0);
    for (i, name) in names.iter().enumerate() {
        assert_eq!((first(&output.join(name)), first(&output.join(format!("link {i}.parquet")))), (i as i64, i as i64));
    }
    let message = failure(&["encode", "--input", output.to_str().unwrap(), "--output", output.to_str().unwrap()]);
    assert!(message.contains("input and output are the same file"), "{message}");
}

#[test]
fn encode_agrees_with_the_table_that_senv_encode_writes() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output, plain] = ["in.parquet", "out", "plain.parquet"].map(|name| folder.path().join(name));
    let texts = sentences(2000);
    write_parquet(&input, 0, &texts.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>(), 700);
    stdout(&["encode", "--input", input.to_str().unwrap(), "--output", output.to_str().unwrap()]);
    let text = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let params = EncodeTableParams { text, ..EncodeTableParams::default() };
    encode_table(
        &senv::english().unwrap(),
        std::slice::from_ref(&input),
        &plain,
        &params,
        |_| Ok::<_, senv::Error>(()),
    )
    .unwrap();
    let (found, plain) = (read(&output.join("in.parquet")), read(&plain));
    assert!(vectors(found.column(2)) == vectors(plain.column(2)));
}

#[test]
fn a_poisoned_row_is_an_error_with_file_and_row() {
    let folder = tempfile::tempdir().unwrap();
    let [bad, long] = ["bad.parquet", "long.parquet"].map(|name| folder.path().join(name));
    let output = folder.path().join("out");
    write_bytes(&bad, &[b"rain", b"", b"wind \xff\xfe", b"sun"]);
    let sentence = "rain ".repeat(2 << 20);
    write_bytes(&long, &[b"rain", sentence.as_bytes()]);
    for (path, parts) in [(&bad, ["row 3", "not UTF-8, starting at byte 5"]), (&long, ["row 2", "10485760 bytes"])] {
        let path = path.to_str().unwrap();
        let table = format!("t={path}");
        let encode = failure(&["encode", "--input", path, "--output", output.to_str().unwrap()]);
        let query = failure(&["SELECT max(embed(text)[1]) FROM t", "--table", &table]);
        for message in [encode, query] {
            assert!(message.contains(path) && parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
    assert_eq!(fs::read_dir(&output).unwrap().count(), 0);
}

#[test]
fn the_files_that_are_sound_are_encoded_beside_one_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in", "out"].map(|name| folder.path().join(name));
    inputs(&input, 4, 10);
    fs::write(input.join("00.parquet"), "no Parquet").unwrap();
    write_bytes(&input.join("02.parquet"), &[b"rain", b"wind \xff"]);
    let arguments = ["encode", "--input", input.to_str().unwrap(), "--output", output.to_str().unwrap(), "--jobs", "1"];
    let message = failure(&arguments);
    let parts = ["00.parquet: ", "02.parquet: row 2", "20 rows in 2 files", "2 of 4 files could not be encoded"];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    assert_eq!(finished(&output), ["01.parquet", "03.parquet"].map(|name| output.join(name)));
    // After a repair, these files are encoded.
    inputs(&input, 4, 10);
    stdout(&arguments);
    assert_eq!(finished(&output).len(), 4);
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let numbers_and_a_letter = format!("id\n{}x\n", "1\n".repeat(5000));
    let files = [
        ("cut.csv", "id,text\n1,rain\n2,wind,sun\n"),
        ("wrong.jsonl", "{\"text\":\"rain\"}\n{\"text\":\n"),
        ("late.csv", numbers_and_a_letter.as_str()),
    ];
    let [cut, wrong, late] = files.map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        format!("t={}", path.display())
    });
    fs::create_dir(folder.path().join("a[1]")).unwrap();
    let in_brackets = format!("t={}/a[1]/*.parquet", folder.path().display());
    write_parquet(&folder.path().join("a[1]/in.parquet"), 0, &[Some("rain")], 10);
    let path = folder.path().join("in.parquet");
    write_parquet(&path, 0, &[Some("rain")], 10);
    let (path, folder) = (path.to_str().unwrap(), folder.path().to_str().unwrap());
    for (arguments, part) in [
        (vec!["encode", "--input", path, "--output", "out", "--column", "body"], "no column body"),
        (vec!["encode", "--input", path, "--output", folder], "input and output are the same file"),
        (vec!["encode", "--input", "absent*.parquet", "--output", "out"], "no file matches"),
        (vec!["encode", "--input", path, "--output", "out", "--model", "french"], "no model \"french\""),
        (vec!["SELECT embed(body) FROM t", "--table", "t=absent.parquet"], "no such file"),
        (vec!["SELECT 1", "--models", "absent"], "absent"),
        (vec!["SELECT text FROM t", "--table", &cut], "cut.csv: "),
        (vec!["SELECT text FROM t", "--table", &wrong], "wrong.jsonl: "),
        (vec!["SELECT sum(id) FROM t", "--table", &late], "late.csv: "),
        (vec!["SELECT 1", "--table", &in_brackets], "name the file, or only its folder"),
    ] {
        let message = failure(&arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
    let _ = fs::remove_dir("out");
}

#[test]
fn a_query_of_three_thousand_terms_is_answered() {
    let terms = vec!["a = 3"; 3000].join(" OR ");
    let csv = stdout(&[&format!("SELECT count(*) AS n FROM (VALUES (3)) t(a) WHERE {terms}"), "--format", "csv"]);
    assert_eq!(csv, "n\n1\n");
}

#[test]
fn a_query_prints_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_parquet(&path, 7, &[Some("rain"), None], 10);
    let table = format!("t={}", path.display());
    let json = stdout(&["SELECT id, coverage(text) AS c FROM t ORDER BY id", "--table", &table, "--format", "json"]);
    assert_eq!(json, "{\"id\":7,\"c\":1.0}\n{\"id\":8}\n");
    let csv = stdout(&["SELECT count(*) AS n FROM t", "--table", &table, "--format", "csv"]);
    assert_eq!(csv, "n\n2\n");
}
