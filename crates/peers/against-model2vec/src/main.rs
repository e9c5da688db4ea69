//! Encodes the lines of a text with a Model2Vec folder, by senv and by `model2vec-rs`, which take turns in one process.
//! `benches/model2vec_peers.py` creates the folders, runs this program, and measures the Python package for comparison.
//!
//! ```sh
//! cargo run --release --manifest-path crates/peers/against-model2vec/Cargo.toml -- FOLDER TEXT [THREADS] [ROUNDS]
//! ```
//!
//! Prints the median CPU seconds of each (user and system) and the largest difference of a value. Both encode batches
//! of 1,024 lines and drop the results, so neither needs memory for all vectors. The time to open the folder is not
//! counted.

use std::{error::Error, fs, process::ExitCode};

use model2vec_rs::model::StaticModel;
use senv::{Model2Vec, SentenceEncoder};

type Failure = Box<dyn Error + Send + Sync>;

/// Sentences per batch, the default of model2vec-rs.
const BATCH: usize = 1024;

/// CPU seconds of this process.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu();
    let result = work();
    (cpu() - start, result)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Median seconds of each, the largest difference of a value, and the number of lines that differ by more than
/// rounding.
fn compare(folder: &str, lines: &[String], rounds: usize) -> Result<(f64, f64, f32, usize), Failure> {
    let ours = Model2Vec::open(folder)?;
    let theirs = StaticModel::from_pretrained(folder, None, None, None)?;
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let encode = |batch: &[&str]| SentenceEncoder::encode_batch(&ours, batch);
    let peer = |batch: &[String]| theirs.encode_with_args(batch, Some(512), BATCH);
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (seconds, result) = timed(|| texts.chunks(BATCH).try_for_each(|batch| encode(batch).map(drop)));
        result?;
        of_ours.push(seconds);
        of_theirs.push(timed(|| lines.chunks(BATCH).for_each(|batch| drop(peer(batch)))).0);
    }
    let (mut largest, mut differ) = (0.0_f32, 0);
    for (texts, lines) in texts.chunks(BATCH).zip(lines.chunks(BATCH)) {
        for (a, b) in encode(texts)?.0.rows().into_iter().zip(peer(lines)) {
            let difference = a.iter().zip(b).fold(0.0_f32, |most, (x, y)| most.max((x - y).abs()));
            largest = largest.max(difference);
            differ += usize::from(difference > 1e-5);
        }
    }
    Ok((median(&mut of_ours), median(&mut of_theirs), largest, differ))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, text, more @ ..] = &arguments[..] else {
        return Err("expected FOLDER TEXT [THREADS] [ROUNDS]".into());
    };
    let number = |i: usize, default| more.get(i).map_or(Ok(default), |n| n.parse());
    let (threads, rounds) = (number(0, 1)?, number(1, 5)?);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let lines: Vec<String> = fs::read_to_string(text)?.lines().map(str::to_owned).collect();
    let (ours, theirs, largest, differ) = compare(folder, &lines, rounds.max(1))?;
    println!(
        "senv\t{ours:.2}\nmodel2vec-rs\t{theirs:.2}\nlargest difference\t{largest:e}\nlines that differ\t{differ}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv::{Model, Tokenizer, Vocabulary, average::AverageEncoder, write_model2vec};

    #[test]
    fn both_read_a_folder_that_senv_wrote_alike() {
        let folder = std::env::temp_dir().join(format!("against-model2vec-{}", std::process::id()));
        let words = ["cat", "dog", "sat", "mat"];
        let vocabulary = Vocabulary::from_counts(words.map(|word| (word, 1)), 4).unwrap();
        let model: Model = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &words, 8, 1).unwrap().into();
        write_model2vec(&model, &folder).unwrap();
        let lines = ["cat sat", "a dog", "mat", ""].map(str::to_owned);
        let (.., largest, differ) = compare(folder.to_str().unwrap(), &lines, 1).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(largest < 1e-6 && differ == 0, "{largest} {differ}");
    }
}
