mod kept;

use std::{
    io::Write,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;
use senv_base::{Control, NoObserver, Progress, TokenId};

/// A folder with these files.
fn files(contents: &[&[u8]]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..contents.len()).map(|i| folder.path().join(format!("{i}.txt"))).collect();
    for (path, content) in paths.iter().zip(contents) {
        std::fs::write(path, content).unwrap();
    }
    (folder, paths)
}

fn options(min_count: u64, threads: usize) -> CorpusOptions {
    CorpusOptions { tokenizer: Tokenizer::whitespace(), min_count, threads, ..CorpusOptions::default() }
}

/// Every sentence as text, with a bar after the last of a document.
fn sentences(vocabulary: &Vocabulary, corpus: &Corpus) -> Vec<String> {
    let mut out = Vec::new();
    let mut block = BlockBuffer::default();
    for i in 0..corpus.n_blocks() {
        corpus.read_block(i, &mut block).unwrap();
        assert_eq!(block.first_sentence(), out.len() as u64);
        assert_eq!(block.iter().flatten().collect::<Vec<_>>(), block.tokens().iter().collect::<Vec<_>>());
        assert_eq!(block.n_tokens(), block.tokens().len());
        assert_eq!(corpus.tokens_before(i) + block.n_tokens() as u64, corpus.tokens_before(i + 1));
        for s in 0..block.n_sentences() {
            assert_eq!(corpus.block_of(out.len() as u64), i);
            let word = |&id: &TokenId| if id.index() == vocabulary.len() { "?" } else { vocabulary.token(id) };
            let words: Vec<&str> = block.sentence(s).iter().map(word).collect();
            out.push(words.join(" ") + if block.ends_document(s) { "|" } else { "" });
        }
    }
    assert_eq!(out.len() as u64, corpus.n_sentences());
    assert_eq!(corpus.block_of(corpus.n_sentences()), corpus.n_blocks());
    out
}

fn read(contents: &[&[u8]], options: &CorpusOptions) -> Vec<String> {
    let (_folder, paths) = files(contents);
    let (vocabulary, corpus) = Corpus::read(&paths, options, &NoObserver).unwrap();
    sentences(&vocabulary, &corpus)
}

#[test]
fn sentences_and_documents_keep_their_order() {
    let text = b"\xEF\xBB\xBF\n\r\na b\r\nrare\nb a\n \t\n\nb b a\n\n";
    assert_eq!(read(&[text], &options(2, 1)), ["a b", "", "b a|", "b b a|"]);
    assert_eq!(read(&[b"a\nb", b"", b"c\n", b"\n\nd"], &options(1, 2)), ["a", "b|", "c|", "d|"]);
    let (_folder, paths) = files(&[text]);
    let (vocabulary, corpus) = Corpus::read(&paths, &options(2, 1), &NoObserver).unwrap();
    assert_eq!((corpus.n_sentences(), corpus.n_documents(), corpus.n_tokens()), (4, 2, 7));
    assert_eq!((corpus.n_unknown(), corpus.sums.n_with_two, corpus.n_replaced()), (1, 3, 0));
    assert_eq!((vocabulary.corpus_tokens(), vocabulary.text()), (8, "ba"));
}

/// Some megabytes with sentences of every length, blank lines at the ends of pieces, and rare words.
fn large() -> Vec<u8> {
    let mut text = String::new();
    let mut state = 1_u64;
    for i in 0..60_000_u64 {
        for _ in 0..(i * i) % 53 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let rank = (1.0 / ((state >> 40) as f64 / 16_777_216.0 + 1e-5)) as u64 + state % 7;
            text += &format!("word{rank} ");
        }
        text += if i % 5 == 0 { "end.\r\n" } else { "end.\n" };
        if i % 41 == 0 {
            text += &"\n".repeat((i % 97) as usize);
        }
    }
    text += &"\n".repeat(3 << 20);
    text += "the end";
    text.into_bytes()
}

#[test]
fn the_result_is_that_of_a_simple_reading_for_any_number_of_threads_and_any_compression() {
    let text = large();
    assert!(text.len() > 8 << 20, "several pieces");
    let mut builder = senv_model::words::VocabularyBuilder::default();
    let mut expected: Vec<Vec<&str>> = Vec::new();
    let mut ends = std::collections::HashSet::new();
    for line in std::str::from_utf8(&text).unwrap().split('\n') {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            ends.insert(expected.len());
        } else {
            words.iter().for_each(|word| _ = builder.add(word));
            expected.push(words);
        }
    }
    ends.insert(expected.len());
    let vocabulary = builder.finish(3).unwrap();
    let known: Vec<String> = expected
        .iter()
        .enumerate()
        .map(|(i, words)| {
            let kept: Vec<&str> = words.iter().copied().filter(|word| vocabulary.id(word).is_some()).collect();
            kept.join(" ") + if ends.contains(&(i + 1)) { "|" } else { "" }
        })
        .collect();

    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&text).unwrap();
    let zst = compress_to_vec(&text[..], CompressionLevel::Fastest);
    let (_folder, paths) = files(&[&text, &gz.finish().unwrap(), &zst]);
    let mut first: Option<(u64, Vec<Block>)> = None;
    for (file, threads) in [(0, 1), (0, 2), (0, 5), (1, 3), (2, 2), (0, 0)] {
        let (read, corpus) = Corpus::read(&paths[file..=file], &options(3, threads), &NoObserver).unwrap();
        assert!(matches!(corpus.storage, Storage::File(_)));
        assert!(read.iter().eq(vocabulary.iter()) && read.corpus_tokens() == vocabulary.corpus_tokens());
        assert!(sentences(&read, &corpus) == known, "file {file}, {threads} threads");
        assert_eq!(corpus.n_unknown(), vocabulary.corpus_tokens() - corpus.n_tokens());
        let same: Vec<Block> = corpus.blocks.iter().map(|block| Block { start: 0, ..*block }).collect();
        match &first {
            None => first = Some((corpus.fingerprint(), same)),
            Some((fingerprint, blocks)) => {
                assert_eq!(corpus.fingerprint(), *fingerprint);
                assert!(same == *blocks, "blocks depend on the text alone");
            }
        }
        let again = Corpus::with_vocabulary(&paths[file..=file], &vocabulary, &options(9, threads), &NoObserver);
        assert_eq!(again.unwrap().fingerprint(), corpus.fingerprint());
    }
}

#[test]
fn blocks_can_be_read_in_any_order_by_many_threads() {
    let text = large();
    let (_folder, paths) = files(&[&text]);
    let (vocabulary, corpus) = Corpus::read(&paths, &options(1, 2), &NoObserver).unwrap();
    let all = sentences(&vocabulary, &corpus);
    let seen = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (corpus, vocabulary, all, seen) = (&corpus, &vocabulary, &all, &seen);
            scope.spawn(move || {
                let mut block = BlockBuffer::default();
                for i in (0..corpus.n_blocks()).rev().filter(|i| i % 4 == thread) {
                    corpus.read_block(i, &mut block).unwrap();
                    for (s, sentence) in block.iter().enumerate() {
                        let words: Vec<&str> = sentence.iter().map(|&id| vocabulary.token(id)).collect();
                        assert_eq!(all[block.first_sentence() as usize + s].trim_end_matches('|'), words.join(" "));
                        seen.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(seen.into_inner() as u64, corpus.n_sentences());
}

#[test]
fn numbered_sentences_make_a_corpus_of_one_document() {
    let mut numbered = Sentences::new();
    numbered.push([TokenId(1), TokenId(0)]);
    numbered.push([]);
    numbered.push([TokenId(1)]);
    let corpus = Corpus::from_sentences(numbered);
    let vocabulary = Vocabulary::from_counts([("a", 1), ("b", 2)], 3).unwrap();
    assert_eq!(sentences(&vocabulary, &corpus), ["b a", "", "b|"]);
    let (_folder, paths) = files(&[b"b a\nx\nb"]);
    let read = Corpus::with_vocabulary(&paths, &vocabulary, &options(5, 1), &NoObserver).unwrap();
    assert_eq!((read.fingerprint(), read.n_unknown()), (corpus.fingerprint(), 1));
    let empty = Corpus::from_sentences(Sentences::new());
    assert_eq!((empty.n_blocks(), empty.n_sentences(), empty.n_documents(), empty.tokens_before(0)), (0, 0, 0, 0));
}

#[test]
fn what_cannot_be_read_is_named() {
    let (folder, paths) = files(&[b"", b"\n \n\r\n", b"a b\n\xFFc\n", b"a\n"]);
    let missing = folder.path().join("missing");
    let error = |paths: &[PathBuf], options: &CorpusOptions| match Corpus::read(paths, options, &NoObserver) {
        Ok(_) => panic!("{paths:?} were read"),
        Err(error) => error,
    };
    assert!(matches!(error(&paths[..2], &options(1, 2)), Error::EmptyInput { path } if path == paths[0]));
    assert!(matches!(error(&paths[1..2], &options(1, 1)), Error::EmptyInput { path } if path == paths[1]));
    assert!(matches!(error(&[], &options(1, 1)), Error::InvalidParameter { name: "paths", .. }));
    assert!(
        matches!(error(&[paths[3].clone(), missing.clone()], &options(1, 1)), Error::Io { path, .. } if path == missing)
    );
    let invalid = error(&paths[2..], &options(1, 2));
    assert!(matches!(&invalid, Error::InvalidUtf8 { path, line: 2, byte: 1, .. } if *path == paths[2]), "{invalid}");
    let rare = error(&paths[3..], &options(2, 1));
    assert!(matches!(rare, Error::EmptyVocabulary { min_count: 2, distinct: 1, highest: 1 }), "{rare}");
    let none = CorpusOptions { max_vocabulary: Some(0), ..options(1, 1) };
    assert!(matches!(error(&paths[3..], &none), Error::InvalidParameter { name: "max_vocabulary", .. }));
    let short = CorpusOptions { max_line_bytes: 2, ..options(1, 1) };
    assert!(matches!(error(&paths[2..], &short), Error::LineTooLong { line: 1, limit: 2, .. }));
    let scratch_dir = Some(missing.clone());
    let (_large, text) = files(&[&large()]);
    let error = error(&text, &CorpusOptions { scratch_dir, ..options(1, 2) });
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
}

#[test]
fn words_to_keep_are_known_whatever_their_count_with_any_number_of_threads() {
    let (_folder, paths) = files(&[b"a b a rare\n\na other\n"]);
    for threads in [1, 3] {
        let keep = ["rare", "new", "a", "new"].map(String::from).to_vec();
        let options = CorpusOptions { keep, max_vocabulary: Some(1), ..options(2, threads) };
        let (vocabulary, corpus) = Corpus::read(&paths, &options, &NoObserver).unwrap();
        let words: Vec<(&str, u64)> = vocabulary.iter().map(|(_, token, count)| (token, count)).collect();
        assert_eq!(words, [("a", 3), ("rare", 1), ("new", 0)]);
        assert_eq!((vocabulary.corpus_tokens(), corpus.n_unknown()), (6, 2));
        assert_eq!(sentences(&vocabulary, &corpus), ["a a rare|", "a|"]);
    }
}

#[test]
fn invalid_bytes_are_replaced_where_that_is_asked_for() {
    let replace = CorpusOptions { invalid_utf8: InvalidUtf8::Replace, ..options(1, 1) };
    assert_eq!(read(&[b"a \xFF\nb\xC3 c\nd"], &replace), ["a \u{FFFD}", "b\u{FFFD} c", "d|"]);
}

/// Stores the notes; stops the work after a number of reports.
struct Notes(Mutex<Vec<String>>, AtomicUsize);

impl Observer for Notes {
    fn progress(&self, progress: &Progress) -> Control {
        assert!((0.0..=1.0).contains(&progress.done));
        if self.1.fetch_sub(1, Ordering::Relaxed) == 1 { Control::Stop } else { Control::Continue }
    }

    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.into());
    }
}

#[test]
fn the_observer_hears_of_odd_input_and_can_stop_the_reading() {
    let (_folder, paths) = files(&[b"a\xFF\nb", b"\n"]);
    let notes = Notes(Mutex::default(), AtomicUsize::new(usize::MAX));
    let replace = CorpusOptions { invalid_utf8: InvalidUtf8::Replace, ..options(1, 1) };
    let (_, corpus) = Corpus::read(&paths, &replace, &notes).unwrap();
    assert_eq!(corpus.n_replaced(), 1);
    let notes = notes.0.into_inner().unwrap();
    assert!(
        notes.len() == 2 && notes[0].contains("1.txt contains no text") && notes[1].contains("1 lines"),
        "{notes:?}"
    );

    // Hours of text, until the observer stops the reading.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.gz");
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&b"one sentence again and again\n".repeat(1 << 16)).unwrap();
    std::fs::write(&path, gz.finish().unwrap()).unwrap();
    let impatient = Notes(Mutex::default(), AtomicUsize::new(2));
    let stopped = Corpus::read(&vec![path; 100_000], &options(1, 2), &impatient);
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_come_back(
        lines in prop::collection::vec("[ab]{0,2}( [abc]{1,2}){0,3}", 0..40),
        threads in 1_usize..4,
    ) {
        let text = lines.join("\n");
        let (_folder, paths) = files(&[text.as_bytes()]);
        let result = Corpus::read(&paths, &options(1, threads), &NoObserver);
        let expected: Vec<String> =
            lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        match result {
            Err(Error::EmptyInput { .. }) => prop_assert!(expected.iter().all(String::is_empty)),
            Err(error) => prop_assert!(false, "{}", error),
            Ok((vocabulary, corpus)) => {
                let back: Vec<String> =
                    sentences(&vocabulary, &corpus).iter().map(|s| s.trim_end_matches('|').to_owned()).collect();
                let expected: Vec<String> = expected.into_iter().filter(|line| !line.is_empty()).collect();
                prop_assert_eq!(back, expected);
            }
        }
    }
}

#[test]
fn a_corpus_is_read_from_a_table_as_from_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, table) = (folder.path().join("a.txt"), folder.path().join("a.csv.gz"));
    let sentence = |i: usize| format!("word{} word{} comma", i % 7, i % 11);
    std::fs::write(&plain, (0..20_000).map(|i| sentence(i) + "\n").collect::<String>()).unwrap();
    let mut packed = GzEncoder::new(std::fs::File::create(&table).unwrap(), Compression::fast());
    packed.write_all(b"n,text\n").unwrap();
    for i in 0..20_000 {
        writeln!(packed, "{i},\"{}\"", sentence(i).replace(' ', "\n")).unwrap();
    }
    packed.finish().unwrap();
    let options = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let (words, corpus) = Corpus::read(&[plain], &options, &NoObserver).unwrap();
    for threads in [1, 3] {
        let options = CorpusOptions { table: Some(TableText::column("text")), threads, ..options.clone() };
        let (same_words, same) = Corpus::read(std::slice::from_ref(&table), &options, &NoObserver).unwrap();
        assert_eq!((same.n_tokens(), same.n_sentences()), (corpus.n_tokens(), corpus.n_sentences()));
        assert_eq!(same_words.len(), words.len());
    }
}

#[test]
fn unknown_tokens_keep_their_place_where_that_is_asked_for() {
    let (_folder, paths) = files(&[b"a x b\ny\n\nb a z a\n"]);
    for threads in [1, 3] {
        let options = CorpusOptions { keep_unknown: true, ..options(2, threads) };
        let (vocabulary, corpus) = Corpus::read(&paths, &options, &NoObserver).unwrap();
        let again = Corpus::with_vocabulary(&paths, &vocabulary, &options, &NoObserver).unwrap();
        for corpus in [corpus, again] {
            assert_eq!(sentences(&vocabulary, &corpus), ["a ? b", "?|", "b a ? a|"]);
            assert_eq!((corpus.n_tokens(), corpus.n_unknown(), corpus.n_documents()), (8, 0, 2));
        }
    }
}

#[test]
fn counts_on_the_disk_are_those_in_memory() {
    // Three MiB, for which every thread writes its counts to disk several times.
    let mut text = String::new();
    for i in 0..400_000_u64 {
        let word = i.wrapping_mul(i) % 90_007;
        let end = if i % 9 == 8 { "\n" } else { " " };
        text += &format!("w{word}{end}");
    }
    let (_folder, paths) = files(&[text.as_bytes(), b"one more file\n", &text.as_bytes()[..1 << 20]]);
    let noted = Mutex::new(Vec::new());
    let observer = Noted(&noted);
    for (min_count, max_vocabulary, keep) in
        [(1, None, vec![]), (9, None, vec!["w1", "never"]), (1, Some(500), vec!["more"]), (12, Some(7), vec![])]
    {
        let keep: Vec<String> = keep.into_iter().map(String::from).collect();
        let options = |threads| CorpusOptions {
            max_vocabulary,
            keep: keep.clone(),
            keep_unknown: min_count == 9,
            ..options(min_count, threads)
        };
        let (vocabulary, corpus) = Corpus::read(&paths, &options(2), &NoObserver).unwrap();
        for (threads, count_bytes) in [(1, 1 << 20), (3, 1 << 20), (2, 0), (1, 64 << 10)] {
            let (small, on_disk) =
                Corpus::read_counting(&paths, &options(threads), None, count_bytes, &observer).unwrap();
            assert!(small.iter().eq(vocabulary.iter()), "{threads} threads, {count_bytes} bytes");
            assert_eq!(small.corpus_tokens(), vocabulary.corpus_tokens());
            assert_eq!(on_disk.fingerprint(), corpus.fingerprint());
            assert_eq!((on_disk.n_tokens(), on_disk.n_unknown()), (corpus.n_tokens(), corpus.n_unknown()));
            assert_eq!(sentences(&small, &on_disk), sentences(&vocabulary, &corpus));
            assert!(noted.lock().unwrap().pop().unwrap().contains("distinct words were counted on disk"));
        }
    }
    let rare = |count_bytes| Corpus::read_counting(&paths, &options(9_999, 2), None, count_bytes, &observer);
    assert_eq!(rare(1 << 20).unwrap_err().to_string(), rare(usize::MAX).unwrap_err().to_string());
}

/// Stores the notes.
struct Noted<'a>(&'a Mutex<Vec<String>>);

impl senv_base::Observer for Noted<'_> {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}
