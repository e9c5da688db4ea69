use std::{io::Write, path::PathBuf};

use super::*;
use crate::{Split, TableText, TextOptions, TextReader};

/// Lines of 1 to 90,000 bytes: some blocks contain thousands, some start within a line, some have none.
fn text() -> String {
    let mut text = String::from("\u{feff}the first line\r\n");
    for i in 0..9000_usize {
        text.push_str(&format!("line {i}\u{e9}"));
        text.push_str(&"x".repeat(i * i % 61));
        if i % 500 == 0 {
            text.push_str(&"long ".repeat(18_000 * (i / 500 % 4)));
        }
        text.push_str(if i % 7 == 0 { "\r\n" } else { "\n" });
        if i % 11 == 0 {
            text.push_str("\n\u{feff}");
        }
    }
    text.push_str("the end");
    text
}

type Read = Vec<(PathBuf, u64, String, bool)>;

fn read(mut reader: TextReader) -> Result<Read> {
    let mut lines = Vec::new();
    loop {
        let begins = reader.begins_block()?;
        let Some(line) = reader.next_line()? else { return Ok(lines) };
        lines.push((line.path.to_owned(), line.number, line.text.to_owned(), begins));
    }
}

fn check(paths: &[PathBuf], options: &TextOptions) {
    let whole = read(TextReader::open(paths, options).unwrap()).unwrap();
    assert!(whole.iter().filter(|line| line.3).count() >= 3, "{paths:?}");
    for count in [1, 3, 16] {
        let of = |number| {
            let shard = Shard::new(number, count).unwrap();
            read(TextReader::open_shard(paths, options, shard, LineNumbers::Counted).unwrap()).unwrap()
        };
        let shards: Vec<Read> = (1..=count).map(of).collect();
        assert!(shards.concat() == whole, "{paths:?} in {count}");
        assert!(shards[0].len() < whole.len() || count == 1);
        // The first line of a shard starts a block of the whole input.
        assert!(shards.iter().filter_map(|shard| shard.first()).all(|line| line.3));
    }
}

#[test]
fn shards_one_after_the_other_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = text();
    std::fs::write(at("a.txt"), &text).unwrap();
    std::fs::write(at("b.txt"), &text[3..300_000]).unwrap();
    std::fs::write(at("empty.txt"), "").unwrap();
    let file = std::fs::File::create(at("a.txt.gz")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    gz.finish().unwrap();
    let plain = TextOptions::default();
    check(&[at("a.txt")], &plain);
    check(&[at("a.txt.gz")], &plain);
    check(&[at("b.txt"), at("empty.txt"), at("a.txt"), at("a.txt.gz"), at("b.txt")], &plain);
    check(&[at("a.txt"), at("b.txt")], &TextOptions { split: Some(Split::Lines), ..plain.clone() });

    let mut csv = String::from("id,text\n");
    (0..13_000).for_each(|i| csv.push_str(&format!("{i},\"a, b\n{i}\"\n")));
    std::fs::write(at("t.csv"), csv).unwrap();
    let jsonl: String = (0..9_000).map(|i| format!("{{\"text\": \"line {i}\"}}\n")).collect();
    std::fs::write(at("t.jsonl"), jsonl).unwrap();
    let options = TextOptions { table: Some(TableText::column("text")), ..plain };
    check(&[at("t.csv"), at("t.jsonl"), at("t.csv")], &options);
}

#[test]
fn an_error_names_the_line_of_the_file_and_only_its_own_shard_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let mut bytes = b"a line of text that is long enough for more than one block\n".repeat(12_000);
    let at = bytes.len() / 59 / 2 * 59;
    for (byte, numbers) in [0, 0xff]
        .into_iter()
        .flat_map(|byte| [LineNumbers::Counted, LineNumbers::InErrors].map(|numbers| (byte, numbers)))
    {
        bytes[at] = byte;
        std::fs::write(&path, &bytes).unwrap();
        let results: Vec<Result<Read>> = (1..=3)
            .map(|number| {
                let shard = Shard::new(number, 3).unwrap();
                read(TextReader::open_shard(&[&path], &TextOptions::default(), shard, numbers).unwrap())
            })
            .collect();
        let line = at as u64 / 59 + 1;
        let found = match results[1] {
            Err(Error::InvalidUtf8 { line, byte: 1, .. } | Error::NulByte { line, byte: 1, .. }) => line,
            ref other => panic!("{other:?}"),
        };
        assert_eq!(found, line, "{byte} {numbers:?}");
        assert!(results[0].is_ok() && results[2].is_ok());
    }
    let long = TextOptions { max_line_bytes: 20, ..TextOptions::default() };
    let mut reader = TextReader::open_shard(&[&path], &long, Shard::new(3, 3).unwrap(), LineNumbers::InErrors).unwrap();
    assert!(matches!(reader.next_line(), Err(Error::LineTooLong { line, .. }) if line > 4000));
}

#[test]
fn what_can_be_read_once_is_refused_with_a_remedy() {
    let shard = Shard::new(1, 2).unwrap();
    for (path, what) in [("-", "standard input"), ("/dev/null", "a pipe or a device"), ("/tmp", "a folder")] {
        let opened = TextReader::open_shard(&[path], &TextOptions::default(), shard, LineNumbers::Counted);
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(what) && error.contains("write it to a file"), "{error}");
    }
    let opened = TextReader::open_shard(&["absent.txt"], &TextOptions::default(), shard, LineNumbers::Counted);
    assert!(matches!(opened, Err(Error::Io { .. })));
}

#[test]
fn shards_cover_everything_once_and_differ_by_one() {
    for count in [1, 2, 3, 7, 64] {
        for n in [0, 1, 5, 63, 64, 65, 1000, u64::MAX] {
            let mut end = 0;
            for number in 1..=count {
                let range = Shard::new(number, count).unwrap().of(n);
                assert_eq!(range.start, end);
                assert!((n / u64::from(count)..=n.div_ceil(u64::from(count))).contains(&(range.end - range.start)));
                end = range.end;
            }
            assert_eq!(end, n);
        }
        for i in 0..200 {
            assert_eq!((1..=count).filter(|&number| Shard::new(number, count).unwrap().deals(i)).count(), 1);
        }
    }
}

#[test]
fn what_is_no_shard_is_refused() {
    for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/5", "a/b", "1/4294967296", " 1/3"] {
        let error = text.parse::<Shard>().unwrap_err().to_string();
        assert!(error.contains("I/N") && error.contains(text), "{error}");
    }
    assert_eq!("4294967295/4294967295".parse::<Shard>().unwrap().of(u64::MAX).end, u64::MAX);
    assert_eq!("1/1".parse::<Shard>().unwrap().to_string(), "1/1");
}
