//! Times nested cross-validation of logistic regression, with 10 x 10 folds and nine values of C. With `--peer`,
//! scikit-learn runs in turn on the same vectors and outer folds.
//!
//! ```text
//! cargo run --release -p senv-benches --bin probe-speed -- MODEL LABELED_FILE [VECTORS.tsv]
//! cargo run --release -p senv-benches --bin probe-speed -- MODEL LABELED_FILE --threads 1 --rounds 3 --peer python3
//! ```
//!
//! Times are the wall time of `evaluate_classification`, without encoding. The result must be the same with another
//! number of threads. Outer folds, classes and vectors are written for `benches/probe_speed.py`, which runs the same
//! evaluation in scikit-learn. The script can also be run manually; `--peer` names the Python that runs it here. Both
//! accuracies must agree within .002. Ratios are taken within a round.

#![allow(clippy::print_stdout)]
#![forbid(unsafe_code)]

use std::{
    error::Error,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use clap::Parser;
use senv::Model;
use senv_benches::spread;
use senv_core::files::AtomicFile;
use senv_eval::{LabeledSet, ProbeOptions, SentenceVectors, evaluate_classification};

/// The script that runs the same evaluation in scikit-learn.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/probe_speed.py");
/// Allowed difference of the accuracies. Inner folds differ, and may choose different values of C.
const ACCURACY_TOLERANCE: f64 = 0.002;

/// Measures nested cross-validation of logistic regression on the vectors of a model.
#[derive(Debug, Parser)]
#[command(name = "probe-speed")]
struct Args {
    /// The model to encode with.
    model: PathBuf,
    /// Sentences with their classes.
    #[arg(value_name = "LABELED_FILE")]
    labeled: PathBuf,
    /// Output file for outer folds, classes and vectors.
    #[arg(value_name = "VECTORS.tsv")]
    vectors: Option<PathBuf>,
    /// A Python with scikit-learn, to run in turn with senv.
    #[arg(long, value_name = "PYTHON")]
    peer: Option<PathBuf>,
    /// Threads, and jobs of scikit-learn. 0 uses RAYON_NUM_THREADS, or else all cores.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Runs of each; the median is printed.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let args = Args::parse();
    let (model, set) = (Model::open(&args.model)?, LabeledSet::read(&args.labeled)?);
    let embeddings = SentenceVectors::encode(&model, set.sentences.iter().map(|sentence| &sentence.text[..]))?;
    let options = ProbeOptions::default();
    let evaluate = || evaluate_classification(&embeddings, &set, &options);

    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let asked = pool(args.threads)?;
    let threads = asked.current_num_threads();
    let other = pool(if threads == 1 { 2 } else { 1 })?;
    let result = other.install(evaluate)?;

    let folder = tempfile::tempdir()?;
    let for_peer = args.peer.as_ref().map(|_| folder.path().join("vectors.tsv"));
    let vectors = args.vectors.clone().or(for_peer);
    if let Some(path) = &vectors {
        write_vectors(path, &embeddings, &set, &result.fold_of)?;
    }

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        for turn in 0..2 {
            // Both take turns at starting a round.
            if round % 2 == turn {
                let started = Instant::now();
                let again = asked.install(evaluate)?;
                ours.push(started.elapsed().as_secs_f64());
                if again != result {
                    let other = other.current_num_threads();
                    return Err(format!("the predictions on {threads} thread(s) differ from those on {other}").into());
                }
            } else if let (Some(python), Some(path)) = (&args.peer, &vectors) {
                let peer = run_peer(python, path, options.outer_folds, threads)?;
                check_accuracy(result.accuracy, peer.accuracy)?;
                theirs.push(peer);
            }
        }
    }

    let on_threads = format!("on {threads} thread(s), the same predictions as on {}", other.current_num_threads());
    println!("{}{} s {on_threads}", result.to_text(), spread(&ours, 1));
    if let Some(peer) = theirs.first() {
        let seconds: Vec<f64> = theirs.iter().map(|peer| peer.seconds).collect();
        let ratios: Vec<f64> = seconds.iter().zip(&ours).map(|(theirs, ours)| theirs / ours).collect();
        println!("scikit-learn: accuracy {:.4}, {} s in {threads} job(s)", peer.accuracy, spread(&seconds, 1));
        println!("senv is {} times as fast", spread(&ratios, 2));
    }
    Ok(())
}

/// Writes one line per sentence: outer fold, class and vector.
fn write_vectors(path: &Path, embeddings: &SentenceVectors, set: &LabeledSet, fold_of: &[usize]) -> Outcome {
    AtomicFile::write_with(path, |out| {
        for (sentence, fold) in set.sentences.iter().zip(fold_of) {
            let Ok(number) = embeddings.number(&sentence.text) else { continue };
            write!(out, "{fold}\t{}", sentence.class)?;
            embeddings.vector(number).iter().try_for_each(|x| write!(out, "\t{x}"))?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Measurements of the script.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Peer {
    /// Mean accuracy of the outer folds, in `[0, 1]`.
    accuracy: f64,
    /// Wall time without reading the vectors.
    seconds: f64,
}

/// Runs the script. Jobs are single-threaded processes, among which scikit-learn distributes the inner folds.
fn run_peer(python: &Path, vectors: &Path, outer_folds: usize, jobs: usize) -> Outcome<Peer> {
    let mut command = Command::new(python);
    command.arg(SCRIPT).arg(vectors).args([outer_folds, jobs].map(|n| n.to_string()));
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(threads, "1");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", python.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let status = output.status;
        let python = python.display();
        return Err(format!("{SCRIPT} ended with {status}; does {python} have numpy and scikit-learn?").into());
    }
    read_peer(&text)
        .ok_or_else(|| format!("{SCRIPT} did not print its accuracy and wall time at the end: {text}").into())
}

/// Parses the last line of the form `accuracy 0.6955 (sd 0.0103), 31.1 s CPU time, 31.6 s wall time`.
fn read_peer(output: &str) -> Option<Peer> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("accuracy "))?;
    let accuracy = line.split(' ').next()?.parse().ok()?;
    let seconds = line.strip_suffix(" s wall time")?.rsplit(' ').next()?.parse().ok()?;
    Some(Peer { accuracy, seconds })
}

fn check_accuracy(ours: Option<f64>, theirs: f64) -> Outcome {
    match ours {
        Some(ours) if (ours - theirs).abs() <= ACCURACY_TOLERANCE => Ok(()),
        _ => Err(format!("accuracy {ours:?}, of scikit-learn {theirs}: more than {ACCURACY_TOLERANCE} apart").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_the_script_is_read() {
        let folds = "fold 0: accuracy 0.7000, C = 2, 3.1 s\n";
        let last = "accuracy 0.6955 (sd 0.0103), 31.1 s CPU time, 31.6 s wall time\n";
        assert_eq!(read_peer(&[folds, last].concat()), Some(Peer { accuracy: 0.6955, seconds: 31.6 }));
        assert_eq!(read_peer(folds), None);
        assert_eq!(read_peer("accuracy 0.6955 (sd 0.0103), 31.1 s\n"), None);
        let script = std::fs::read_to_string(SCRIPT).unwrap();
        for part in ["print(f\"accuracy {", "} s wall time\")"] {
            assert!(script.contains(part), "{part} is missing in {SCRIPT}");
        }
    }

    #[test]
    fn accuracies_agree_within_two_tenths_of_a_point() {
        assert!(check_accuracy(Some(0.6952), 0.6955).is_ok());
        assert!(check_accuracy(Some(0.6952), 0.6971).is_ok());
        for theirs in [0.6973, 0.693, f64::NAN] {
            assert!(check_accuracy(Some(0.6952), theirs).is_err(), "{theirs}");
        }
        assert!(check_accuracy(None, 0.5).is_err());
    }

    #[test]
    fn vectors_are_written_with_fold_and_class() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.tsv");
        let sentence = |class, text: &str| senv_eval::LabeledSentence { class, text: text.to_owned() };
        let sentences = vec![sentence(1, "a"), sentence(0, "b")];
        let classes = vec!["no".to_owned(), "yes".to_owned()];
        let set = LabeledSet { path: "set".into(), classes, sentences, n_empty: 0 };
        let embeddings = SentenceVectors::from_vectors(["a", "b"], ndarray::array![[0.5, 2.0], [-1.0, 0.25]]).unwrap();
        write_vectors(&path, &embeddings, &set, &[3, 0]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3\t1\t0.5\t2\n0\t0\t-1\t0.25\n");
    }
}
