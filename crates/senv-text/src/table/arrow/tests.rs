//! Tests of columns of Parquet and Arrow files as lines.

use std::{fs, path::Path, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    LargeStringArray, ListArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMillisecondArray, types::Int32Type,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{DataType, Field};
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};

use super::*;
use crate::{InvalidUtf8, Split, TableText, TextOptions, TextReader};

const FORMATS: [ArrowFormat; 3] = [ArrowFormat::Parquet, ArrowFormat::File, ArrowFormat::Stream];

/// Writes batches with the same schema; in Parquet, each is a row group.
fn write(path: &Path, format: ArrowFormat, batches: &[RecordBatch]) {
    write_packed(path, format, false, batches);
}

/// Like `write`, optionally compressed.
fn write_packed(path: &Path, format: ArrowFormat, is_packed: bool, batches: &[RecordBatch]) {
    let (file, schema) = (fs::File::create(path).unwrap(), batches[0].schema());
    let compression = is_packed.then_some(CompressionType::LZ4_FRAME);
    let ipc = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    match format {
        ArrowFormat::Parquet => {
            let packed = if is_packed { Compression::SNAPPY } else { Compression::UNCOMPRESSED };
            let properties = WriterProperties::builder().set_compression(packed).build();
            let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
            for batch in batches {
                writer.write(batch).unwrap();
                writer.flush().unwrap();
            }
            writer.close().unwrap();
        }
        ArrowFormat::File => {
            let mut writer = FileWriter::try_new_with_options(file, &schema, ipc).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        ArrowFormat::Stream => {
            let mut writer = StreamWriter::try_new_with_options(file, &schema, ipc).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
}

/// The lines of these columns, or the error message without the name of the file.
fn lines(path: &Path, columns: &[&str], options: TextOptions) -> std::result::Result<Vec<(u64, String)>, String> {
    let columns = columns.iter().flat_map(|column| TableText::column(column).columns).collect();
    let options = TextOptions { table: Some(TableText { columns, ..TableText::column("") }), ..options };
    let shown = |error: Error| error.to_string().replace(&path.display().to_string(), "FILE");
    let mut reader = TextReader::open(&[path], &options).map_err(shown)?;
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().map_err(shown)? {
        lines.push((line.number, line.text.to_owned()));
    }
    Ok(lines)
}

fn texts(path: &Path, columns: &[&str]) -> Vec<String> {
    lines(path, columns, TextOptions::default()).unwrap().into_iter().map(|(_, text)| text).collect()
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true))).unwrap()
}

#[test]
fn text_of_every_layout_and_values_beside_it() {
    let text = [Some("A cat,\r\nwho sat."), None, Some("A dog\tbarks."), Some("")];
    let dictionary: DictionaryArray<Int32Type> = [Some("noun"), Some("verb"), None, Some("noun")].into_iter().collect();
    let inner: ArrayRef = Arc::new(StringArray::from(vec![Some("in"), Some("seen by nobody"), Some("deep"), None]));
    let nullable = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), true));
    let valid = NullBuffer::from(vec![true, false, true, true]);
    let structure = StructArray::new(vec![nullable("y.z", &inner)].into(), vec![inner.clone()], Some(valid));
    let batch = batch(&[
        ("text", Arc::new(StringArray::from(text.to_vec()))),
        ("large", Arc::new(LargeStringArray::from(text.to_vec()))),
        ("view", Arc::new(StringViewArray::from(text.to_vec()))),
        ("bytes", Arc::new(BinaryArray::from(text.iter().map(|cell| cell.map(str::as_bytes)).collect::<Vec<_>>()))),
        ("kind", Arc::new(dictionary)),
        ("n", Arc::new(Int64Array::from(vec![Some(-7), None, Some(0), Some(3)]))),
        ("x", Arc::new(Float64Array::from(vec![0.5, 1.0, -2.25, 1e300]))),
        ("is", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
        ("day", Arc::new(Date32Array::from(vec![0, 19_000, -1, 1]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![0, 1_700_000_000_000, -1, 1]))),
        ("x.y", Arc::new(structure)),
        ("none", Arc::new(NullArray::new(4))),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}"));
        write(&path, format, std::slice::from_ref(&batch));
        assert_eq!(ArrowFormat::of_file(&path), Some(format));
        for column in ["text", "large", "view", "bytes", "2"] {
            assert_eq!(texts(&path, &[column]), ["A cat, who sat.", "", "A dog barks.", ""], "{format:?} {column}");
        }
        assert_eq!(texts(&path, &["kind"]), ["noun", "verb", "", "noun"]);
        assert_eq!(texts(&path, &["x.y.y.z"]), ["in", "", "deep", ""], "{format:?}");
        assert_eq!(texts(&path, &["none"]), ["", "", "", ""]);
        let values = texts(&path, &["kind", "n", "x", "is", "day", "at", "text", "kind"]);
        assert_eq!(values[0], "noun\t-7\t0.5\ttrue\t1970-01-01\t1970-01-01 00:00:00\tA cat, who sat.\tnoun");
        assert!(values[1].starts_with("verb\t\t1\tfalse\t2022-01-08\t2023-11-14 22:13:20\t\tverb"), "{values:?}");
        let error = |columns: &[&str]| lines(&path, columns, TextOptions::default()).unwrap_err();
        assert!(error(&["n"]).ends_with("FILE: column \"n\" has type Int64, expected text"), "{}", error(&["n"]));
        assert!(error(&["text", "x.y"]).contains("column \"x.y\" has type Struct"), "{}", error(&["text", "x.y"]));
        assert!(
            error(&["texts"]).contains("no column \"texts\"; the columns are text, large, view"),
            "{}",
            error(&["texts"])
        );
        assert!(error(&["13"]).contains("no column 13; the 12 columns are text"), "{}", error(&["13"]));
        assert!(error(&["x.y.other"]).contains("no column"), "{}", error(&["x.y.other"]));
    }
}

#[test]
fn rows_are_numbered_through_all_batches_in_pieces_of_any_size() {
    let rows = |range: std::ops::Range<u64>| {
        let text: ArrayRef =
            Arc::new(StringArray::from_iter_values(range.map(|i| format!("Sentence {i}. Two of {i}."))));
        batch(&[("n", Arc::new(Int32Array::from(vec![1; text.len()]))), ("text", text)])
    };
    let batches = [rows(0..3000), rows(3000..3000), rows(3000..3001), rows(3001..10_000)];
    let expected: Vec<(u64, String)> = (0..10_000).map(|i| (i + 1, format!("Sentence {i}. Two of {i}."))).collect();
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}"));
        write(&path, format, &batches);
        assert!(lines(&path, &["text"], TextOptions::default()).unwrap() == expected);
        let split = TextOptions { split: Some(Split::Paragraphs), ..TextOptions::default() };
        let sentences = lines(&path, &["text"], split).unwrap();
        assert_eq!(sentences.len(), 20_000);
        assert_eq!(sentences[19_999], (10_000, "Two of 9999.".to_owned()));
        // Training reads larger blocks on several threads.
        let options = senv_core::CorpusOptions {
            table: Some(senv_core::text::TableText::column("text")),
            min_count: 1,
            ..senv_core::CorpusOptions::default()
        };
        let (_, corpus) =
            senv_core::Corpus::read(std::slice::from_ref(&path), &options, &senv_core::NoObserver).unwrap();
        assert_eq!(corpus.n_sentences(), 10_000);
    }
}

#[test]
fn limits_policies_and_files_that_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let latin = batch(&[("text", Arc::new(BinaryArray::from(vec![&b"fine"[..], b"caf\xe9"])))]);
    for format in FORMATS {
        let path = folder.path().join(format!("{format:?}"));
        write(&path, format, std::slice::from_ref(&latin));
        let with = |invalid_utf8| lines(&path, &["text"], TextOptions { invalid_utf8, ..TextOptions::default() });
        assert!(
            with(InvalidUtf8::Error)
                .unwrap_err()
                .starts_with("FILE:2: byte 4 of the cell in column \"text\" is not valid UTF-8")
        );
        assert_eq!(with(InvalidUtf8::Windows1252).unwrap()[1], (2, "café".into()));
        assert_eq!(with(InvalidUtf8::Replace).unwrap()[1], (2, "caf\u{fffd}".into()));
        let short = TextOptions { max_line_bytes: 3, ..TextOptions::default() };
        assert!(lines(&path, &["text"], short).unwrap_err().starts_with("FILE:1: the line is longer than 3 bytes"));
        // Truncated anywhere, the file gives an error.
        let bytes = fs::read(&path).unwrap();
        let cut = folder.path().join("cut");
        for n in (16..bytes.len() - 8).step_by(7) {
            fs::write(&cut, &bytes[..n]).unwrap();
            match lines(&cut, &["text"], TextOptions { invalid_utf8: InvalidUtf8::Replace, ..TextOptions::default() }) {
                Err(error) => assert!(error.starts_with("FILE: it is damaged or not a supported "), "{error}"),
                // A stream may end between two batches.
                Ok(lines) => assert!(format == ArrowFormat::Stream && lines.len() <= 2, "{format:?} cut to {n}"),
            }
        }
        // As plain text, and through a pipe.
        let plain =
            TextReader::open(&[&path], &TextOptions::default()).and_then(|mut reader| reader.next_line().map(|_| ()));
        let plain = plain.unwrap_err();
        assert_eq!(plain.remedies(), [senv_base::Remedy::NameColumn], "{plain}");
        let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
        let pipe = TextReader::from_reader("-", std::io::Cursor::new(bytes), &options);
        let pipe = pipe.and_then(|mut reader| reader.next_line().map(|_| ())).unwrap_err().to_string();
        assert!(pipe.ends_with("give it as an uncompressed file, not through a pipe"), "{pipe}");
    }
    let error = ArrowBatches::open(folder.path().join("nothing"), None).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    let text = folder.path().join("text");
    fs::write(&text, "PAR1 is a mark").unwrap();
    let error = ArrowBatches::open(&text, None).unwrap_err().to_string();
    assert!(error.ends_with("it does not start like a Parquet or Arrow file"), "{error}");
}

#[test]
fn changed_bytes_are_an_error_or_other_text_and_nothing_worse() {
    let folder = tempfile::tempdir().unwrap();
    let dictionary: DictionaryArray<Int32Type> =
        (0..40).map(|i| Some(if i % 3 == 0 { "fizz" } else { "buzz" })).collect();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>((0..40).map(|i| Some(vec![Some(i)])));
    let text = StringArray::from_iter_values((0..40).map(|i| format!("Sentence number {i}.")));
    let batch = batch(&[("text", Arc::new(text)), ("kind", Arc::new(dictionary)), ("list", Arc::new(list))]);
    assert_eq!(
        batch.schema().field(1).data_type(),
        &DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
    );
    let mut state = 7_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % n
    };
    for format in FORMATS {
        let path = folder.path().join("a");
        let whole = [false, true].map(|is_packed| {
            write_packed(&path, format, is_packed, &[batch.clone(), batch.clone()]);
            assert_eq!(texts(&path, &["text", "kind"])[79], "Sentence number 39.\tfizz");
            fs::read(&path).unwrap()
        });
        for i in 0..300 {
            let mut changed = whole[i % 2].clone();
            for _ in 0..1 + below(4) {
                let at = below(changed.len());
                changed[at] = [0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ (1 << below(8)) as u8][below(6)];
            }
            fs::write(&path, changed).unwrap();
            let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, ..TextOptions::default() };
            let _ = lines(&path, &["text", "kind"], options.clone());
            if let Ok(mut batches) = ArrowBatches::open(&path, None) {
                while let Ok(Some(_)) = batches.next_batch() {}
            }
        }
    }
}

#[test]
fn rows_that_become_more_than_text_are_refused_unless_any_expansion_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let text = |text: &str, n| -> ArrayRef { Arc::new(StringArray::from(vec![text; n])) };
    let sentence = "a sentence that is the same as all others, ".repeat(10);
    for (case, (cell, n)) in [(&sentence[..], 50_000), ("a", 1_100_000)].into_iter().enumerate() {
        let path = folder.path().join(format!("{case}.parquet"));
        let batch = RecordBatch::try_from_iter([("text", text(cell, n))]).unwrap();
        write_packed(&path, ArrowFormat::Parquet, true, &[batch]);
        let error = lines(&path, &["text"], TextOptions::default()).unwrap_err();
        assert!(error.starts_with("FILE: ") && error.contains("not plausible for text"), "{error}");
        let any = TextOptions { any_expansion: true, ..TextOptions::default() };
        assert_eq!(lines(&path, &["text"], any).unwrap().len(), n);
    }
    // Like a column with few distinct texts.
    let path = folder.path().join("labels.parquet");
    let labels = || (0..500_000).map(|i: usize| ["good", "bad", "neither"][i * i % 3]);
    let batch = RecordBatch::try_from_iter([("text", Arc::new(StringArray::from_iter_values(labels())) as ArrayRef)]);
    write_packed(&path, ArrowFormat::Parquet, true, &[batch.unwrap()]);
    assert_eq!(lines(&path, &["text"], TextOptions::default()).unwrap().len(), 500_000);
}
