//! Interrupted and resumed readings.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{super::*, files, options};
use crate::ranks::ThreadRank;
use senv_base::{Control, NoObserver, Progress};

/// Stops the reading at the n-th report.
struct StopsAt(AtomicUsize);

impl senv_base::Observer for StopsAt {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn a_reading_that_is_stopped_goes_on_to_the_same_corpus() {
    // Twelve MiB: a dozen pieces, each with a report.
    let line = |i: u64| format!("word{} word{} the end\n", i % 70_001, i * i % 900_007);
    let text: String = (0..440_000).map(line).collect();
    let (folder, paths) = files(&[text.as_bytes(), &text.as_bytes()[..3 << 20]]);
    let (vocabulary, corpus) = Corpus::read(&paths, &options(2, 2), &NoObserver).unwrap();
    let path = folder.path().join("kept");
    let beside = || std::fs::read_dir(folder.path()).unwrap().count() - 2;
    for (threads, count_bytes) in [(1, usize::MAX), (2, 1 << 20)] {
        let kept = KeptReading { path: path.clone(), resume: true, origin: "a test".into() };
        let options = CorpusOptions { kept: Some(kept), ..options(2, threads) };
        let mut stops = 0;
        let (again, resumed) = loop {
            // Each time a little further than before.
            let observer = StopsAt(AtomicUsize::new(stops + 1));
            match Corpus::read_counting(&paths, &options, None, count_bytes, &observer) {
                Ok(read) => break read,
                Err(Error::Interrupted { .. }) => stops += 1,
                Err(error) => panic!("{error}"),
            }
            if beside() > 0 {
                assert_eq!(beside(), 3, "the state, the ids, the words");
                let about = crate::checkpoint::about(&path).unwrap();
                assert!(about.done > 0.0 && about.done <= 1.0 && about.origin == "a test", "{about:?}");
                assert_eq!(crate::checkpoint::kind(&path).unwrap(), KeptReading::KIND);
            }
        };
        assert!(stops > 0, "it was too fast for this test");
        assert_eq!(beside(), 0, "what was kept is removed");
        assert!(again.iter().eq(vocabulary.iter()) && resumed.fingerprint() == corpus.fingerprint());
        assert_eq!(again.corpus_tokens(), vocabulary.corpus_tokens());
        assert_eq!(resumed.n_documents(), corpus.n_documents());
    }
}

#[test]
fn ranks_that_are_stopped_while_they_read_go_on_together() {
    // A dozen pieces per rank.
    let line = |i: u64| format!("word{} word{} the end\n", i % 70_001, i * i % 900_007);
    let text: String = (0..900_000).map(line).collect();
    let (folder, paths) = files(&[text.as_bytes()]);
    let (vocabulary, corpus) = Corpus::read(&paths, &options(2, 2), &NoObserver).unwrap();
    let place = |rank: usize| folder.path().join(format!("kept.{rank}"));
    let on_ranks = |n: usize, resume, observers: [&(dyn senv_base::Observer + Sync); 2]| -> Vec<_> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = ThreadRank::of(n)
                .into_iter()
                .zip(observers)
                .map(|(rank, observer)| {
                    let kept = KeptReading { path: place(rank.rank()), resume, origin: String::new() };
                    let options = CorpusOptions { kept: Some(kept), ..options(2, 1 + rank.rank()) };
                    let paths = &paths;
                    scope.spawn(move || Corpus::read_part(paths, &options, Some(&rank), observer))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    };
    let whole: Vec<_> = on_ranks(2, false, [&NoObserver; 2]).into_iter().map(Result::unwrap).collect();
    assert_eq!(whole.iter().map(|(_, part)| part.n_tokens()).sum::<u64>(), corpus.n_tokens());

    // One rank is asked to stop, early or late, while the other may have read its whole part.
    let (mut stops, mut next) = (0, 1);
    let parts = loop {
        let observer = StopsAt(AtomicUsize::new(next));
        let parts = on_ranks(2, true, if stops % 2 == 0 { [&NoObserver, &observer] } else { [&observer, &NoObserver] });
        if parts.iter().all(Result::is_ok) {
            break parts;
        }
        for part in &parts {
            assert!(matches!(part, Err(Error::Interrupted { .. })), "{:?}", part.as_ref().map(drop));
        }
        stops += 1;
        next += 2;
    };
    assert!(stops > 0, "it was too fast for this test");
    for ((words, part), (_, expected)) in parts.into_iter().map(Result::unwrap).zip(&whole) {
        assert!(words.iter().eq(vocabulary.iter()) && words.corpus_tokens() == vocabulary.corpus_tokens());
        assert_eq!(part.fingerprint(), expected.fingerprint());
    }
    assert!((0..2).all(|rank| !place(rank).exists()), "what was kept is removed");

    // The part of a rank is neither that of another nor the whole text.
    let mut n = 2;
    while !place(0).exists() {
        let observer = StopsAt(AtomicUsize::new(n));
        assert!(on_ranks(2, false, [&observer, &NoObserver])[0].is_err(), "it was too fast for this test");
        n += 1;
    }
    let kept = Some(KeptReading { path: place(0), resume: true, origin: String::new() });
    let alone = Corpus::read(&paths, &CorpusOptions { kept, ..options(2, 1) }, &NoObserver);
    assert!(alone.unwrap_err().to_string().contains("the text has changed"));
}

#[test]
fn a_reading_that_was_kept_of_another_text_is_refused() {
    let text = "the cat sat on the mat\n".repeat(1 << 19);
    let (folder, paths) = files(&[text.as_bytes()]);
    let path = folder.path().join("kept");
    let options = |threads, resume| CorpusOptions {
        kept: Some(KeptReading { path: path.clone(), resume, origin: String::new() }),
        ..options(1, threads)
    };
    // If nothing can be written, the reading is stopped nevertheless.
    let kept = KeptReading { path: folder.path().join("no/folder"), resume: false, origin: String::new() };
    let kept = CorpusOptions { kept: Some(kept), ..options(1, false) };
    let stops = |n: &usize| match Corpus::read(&paths, &kept, &StopsAt(AtomicUsize::new(*n))) {
        Err(Error::Interrupted { .. }) => true,
        Err(error) => panic!("{error}"),
        Ok(_) => false,
    };
    let stopped_at = (1..9).take_while(stops).count();
    assert!(stopped_at > 0, "it was too fast for this test");
    // A user's file is not replaced either.
    let own = folder.path().join("kept.ids");
    std::fs::write(&own, "mine").unwrap();
    for n in 1..=stopped_at {
        let stopped = Corpus::read(&paths, &options(1, false), &StopsAt(AtomicUsize::new(n)));
        assert!(matches!(stopped, Err(Error::Interrupted { .. }) | Ok(_)) && !path.exists());
        assert_eq!(std::fs::read(&own).unwrap(), b"mine");
    }
    std::fs::remove_file(own).unwrap();
    let mut n = 1;
    while !path.exists() {
        let stopped = Corpus::read(&paths, &options(1, false), &StopsAt(AtomicUsize::new(n)));
        assert!(matches!(stopped, Err(Error::Interrupted { .. })), "it was too fast for this test");
        n += 1;
    }
    let tokenizer = Tokenizer::words();
    let other = Corpus::read(&paths, &CorpusOptions { tokenizer, ..options(1, true) }, &NoObserver);
    assert!(other.unwrap_err().to_string().contains("the text has changed"));
    // Files that do not belong to it, or were damaged.
    for name in ["kept.ids", "kept.words"] {
        let file = folder.path().join(name);
        let whole = std::fs::read(&file).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        for bytes in [&whole[..3], &damaged] {
            std::fs::write(&file, bytes).unwrap();
            let refused = Corpus::read(&paths, &options(1, true), &NoObserver);
            assert!(refused.unwrap_err().to_string().contains("do not belong to it"), "{name}");
            assert!(path.exists(), "what was kept stays");
        }
        std::fs::write(&file, whole).unwrap();
    }
    // A new reading is not affected by it.
    let (_, corpus) = Corpus::read(&paths, &options(2, false), &NoObserver).unwrap();
    assert_eq!((corpus.n_sentences(), path.exists()), (1 << 19, false));
}
