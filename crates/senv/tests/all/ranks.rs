//! Training on several ranks, which are threads here. Trainer, text and checkpoints are the same as with MPI.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use senv::{
    CheckpointPlan, PvDbowParams, Sent2Vec, Sent2VecParams, TextSystem, TrainOptions, Trained, Word2VecParams,
    forms::NegativeSamplingParams, model::SavedModel,
};
use senv_core::{Control, NoObserver, Observer, Progress, Rows, ranks::ThreadRank};

/// Writes `mib` MiB of sentences about ten subjects, each with its own words. Words are long, so training on them is
/// fast.
fn write_text(path: &Path, mib: usize) {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::new();
    while text.len() < mib << 20 {
        let subject = below(10);
        for _ in 0..8 {
            // Frequent words of all subjects, and rare ones of one subject.
            match below(3) {
                0 => write!(text, "a_frequent_word_{} ", below(5)).unwrap(),
                _ => write!(text, "a_word_of_s{subject}_w{} ", below(40) * below(40) / 20).unwrap(),
            }
        }
        text.push('\n');
    }
    fs::write(path, text).unwrap();
}

fn params() -> Sent2VecParams {
    let training = NegativeSamplingParams { epochs: Some(3), lr: Some(0.3), ..NegativeSamplingParams::default() };
    Sent2VecParams { dim: 16, subsample: Some(f64::INFINITY), training, ..Sent2VecParams::default() }
}

/// The results of `n` ranks. `work` gets the options and the number of a rank.
fn on_ranks<T: Send>(n: usize, work: impl Fn(TrainOptions<'_>, usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let ranks = ThreadRank::of(n).into_iter().enumerate();
        let threads: Vec<_> = ranks
            .map(|(i, rank)| {
                scope.spawn(move || work(TrainOptions { threads: 1, ranks: Some(&rank), ..TrainOptions::default() }, i))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn rows(trained: &Trained<Sent2Vec>) -> Vec<u32> {
    let rows = trained.model.rows().unwrap();
    (0..rows.n_rows()).flat_map(|i| rows.row(i).iter().map(|x| x.to_bits())).collect()
}

#[test]
fn ranks_make_one_model_whatever_the_clock_and_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.txt");
    write_text(&text, 4);
    let params = params();
    let alone = params.fit_files([&text], &TrainOptions::default()).unwrap();

    let one = on_ranks(1, |options, _| params.fit_files([&text], &options).unwrap());
    assert_eq!(rows(&one[0]), rows(&alone), "one rank is a run by itself");

    let three = on_ranks(3, |options, _| params.fit_files([&text], &options).unwrap());
    let again = on_ranks(3, |options, i| {
        let options = TrainOptions { threads: 1 + i, ..options };
        params.fit_files([&text], &options).unwrap()
    });
    let bits = rows(&three[0]);
    assert!(three.iter().chain(&again).all(|trained| rows(trained) == bits));
    assert_ne!(bits, rows(&alone));
    // All ranks count the whole text, and report the same loss.
    let words = |trained: &Trained<Sent2Vec>| trained.model.vocabulary().counts().to_vec();
    assert!(three.iter().all(|trained| words(trained) == words(&alone) && trained.loss == three[0].loss));
    assert!((three[0].loss / alone.loss - 1.0).abs() < 0.2, "{} {}", three[0].loss, alone.loss);

    // Words of the same subject are similar and others are not, as after training on one rank.
    let cosine = |trained: &Trained<Sent2Vec>, a: &str, b: &str| {
        let vectors = trained.model.encode(&[a, b]).unwrap();
        let (a, b) = (vectors.row(0), vectors.row(1));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    for trained in [&alone, &three[0]] {
        let two = |subject, a, b| format!("a_word_of_s{subject}_w{a} a_word_of_s{subject}_w{b}");
        let [one, same, other] = [two(1, 5, 9), two(1, 11, 12), two(2, 11, 12)];
        let (near, far) = (cosine(trained, &one, &same), cosine(trained, &one, &other));
        assert!(near > far + 0.3, "{near} {far}");
    }
}

/// Asks to stop after this rank has written a number of checkpoints.
struct StopAfter(AtomicU32);

impl Observer for StopAfter {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.load(Ordering::Relaxed) == 0 { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&self, _: Result<&Path, &senv_core::Error>) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    }
}

#[test]
fn ranks_go_on_together_from_the_last_meeting_that_all_have() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.txt");
    write_text(&text, 3);
    let params = params();
    let whole = on_ranks(2, |options, _| params.fit_files([&text], &options).unwrap());
    let path = |i: usize| folder.path().join(format!("checkpoint.{i}"));
    let plan = |i, every, resume| Some(CheckpointPlan { path: path(i), every, resume });

    // One rank asks to stop, and both do.
    let stopped = on_ranks(2, |options, i| {
        // The last checkpoint and the previous one.
        let stop = StopAfter(AtomicU32::new(2));
        let observer: &dyn Observer = if i == 1 { &stop } else { &NoObserver };
        let every = Some(Duration::ZERO);
        params.fit_files([&text], &TrainOptions { checkpoint: plan(i, every, false), observer, ..options })
    });
    assert!(stopped.iter().all(|trained| trained.as_ref().is_err_and(|error| error.is_interrupted())));
    let resume = |options: TrainOptions<'_>, i| {
        params.fit_files([&text], &TrainOptions { checkpoint: plan(i, None, true), ..options })
    };
    let before: Vec<Vec<u8>> = (0..2).map(|i| fs::read(path(i)).unwrap()).collect();
    assert!(on_ranks(2, resume).iter().all(|trained| rows(trained.as_ref().unwrap()) == rows(&whole[0])));

    // A rank that was killed while writing has only the previous checkpoint.
    fs::remove_file(path(1)).unwrap();
    fs::rename(previous(&path(1)), path(1)).unwrap();
    assert!(on_ranks(2, resume).iter().all(|trained| rows(trained.as_ref().unwrap()) == rows(&whole[0])));

    // If one rank has no checkpoint, all start over. A checkpoint of another run is rejected.
    fs::remove_file(path(1)).unwrap();
    fs::write(path(0), &before[0]).unwrap();
    assert!(on_ranks(2, resume).iter().all(|trained| rows(trained.as_ref().unwrap()) == rows(&whole[0])));
    fs::write(path(1), &before[0]).unwrap();
    let errors: Vec<String> = on_ranks(2, resume).into_iter().map(|trained| trained.unwrap_err().to_string()).collect();
    assert!(errors[1].contains("another text") || errors[1].contains("text"), "{errors:?}");
}

fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".previous");
    name.into()
}

#[test]
fn what_ranks_cannot_train_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.txt");
    fs::write(&text, "the cat sat on the mat\n".repeat(100)).unwrap();
    let errors = on_ranks(2, |options, _| params().fit_files([&text], &options).unwrap_err().to_string());
    assert!(errors.iter().any(|error| error.contains("at most one per MiB of text")), "{errors:?}");
    let errors =
        on_ranks(1, |options, _| PvDbowParams::default().fit_files([&text], &options).unwrap_err().to_string());
    assert!(errors[0].contains("several processes"), "{errors:?}");
    let two = on_ranks(1, |options, _| {
        let training = NegativeSamplingParams { epochs: Some(1), ..NegativeSamplingParams::default() };
        Word2VecParams { dim: 8, training, ..Word2VecParams::default() }.fit_files([&text], &options).is_ok()
    });
    assert!(two[0]);
}
