//! Runs the release, and times it from outside by its output on standard error.
//!
//! The release prints the vocabulary once that is counted, its progress every 100 words, and a line end after training.
//! Then it would save the model. Standard error goes to a file whose size is checked every two milliseconds, so reading
//! its 15 MB per run takes no time from the program. The program is killed after training, because saving would write
//! gigabytes that nobody reads.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use senv_benches::peak_of;

use crate::{
    Result,
    run::{Case, Measurement, Settings, Workload},
};

const POLL: Duration = Duration::from_millis(2);
/// Twenty-five times the delay of a check.
const SHORTEST: Duration = Duration::from_millis(50);

/// A process that is killed when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Trains with the program at `path`. `goal` counts the words and lines of the text. In an epoch, the release processes
/// this number of known words, and reads the text more than once if necessary.
pub(crate) fn run(workload: &Workload, path: &Path, goal: u64) -> Result<Measurement> {
    let folder = tempfile::tempdir()?;
    let log_path = folder.path().join("stderr");
    let mut command = command(workload, path, &folder.path().join("model"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log_path)?);
    let log = File::open(&log_path)?;
    let told = |problem: &str| {
        let log = fs::read(&log_path).unwrap_or_default();
        let end = String::from_utf8_lossy(&log[log.len().saturating_sub(300)..]).into_owned();
        format!("{} {problem}; it last wrote: {end}", path.display())
    };

    let began = Instant::now();
    let mut running = Running(command.spawn().map_err(|e| format!("{}: {e}", path.display()))?);
    let process = running.0.id().to_string();
    let (mut counted, mut first, mut last) = (None, None, None);
    let (mut size, mut peak) = (0, None);
    loop {
        sleep(POLL);
        let ended = running.0.try_wait()?;
        let now = Instant::now();
        let grown = log.metadata()?.len();
        if grown > size {
            size = grown;
            if first.is_none() {
                let written = String::from_utf8_lossy(&fs::read(&log_path)?).into_owned();
                if written.contains("Number of labels") {
                    counted = counted.or(Some(now));
                }
                first = progress(&written).map(|done| (now, done));
            }
            last = first.map(|_| now);
        }
        if first.is_some() && ends_with_newline(&log)? {
            peak = peak_of(&process).or(peak);
            break;
        }
        if let Some(status) = ended {
            return Err(told(&format!("ended with {status} before training was over")).into());
        }
    }
    drop(running);

    let (Some(counted), Some((first, done)), Some(last)) = (counted, first, last) else {
        return Err(told("did not report its progress as the release does").into());
    };
    let training = last - first;
    if training < SHORTEST {
        return Err(told("trained too briefly to be timed from its output; give it more text").into());
    }
    let log = String::from_utf8_lossy(&fs::read(&log_path)?).into_owned();
    let n_words =
        number_after(&log, "Number of words:").ok_or_else(|| told("did not print the number of words"))? as u64;
    let end = log.rsplit('\r').next().unwrap_or_default();
    let buckets = if workload.case.word_ngrams == 1 { 1 } else { u64::from(workload.settings.buckets) };
    Ok(Measurement {
        // With several threads, others may have started before the one that reports.
        words: ((goal * u64::from(workload.settings.epochs)) as f64 * (1.0 - done)) as u64,
        training_seconds: training.as_secs_f64(),
        vocabulary_seconds: (counted - began).as_secs_f64(),
        start_seconds: (first - counted).as_secs_f64(),
        peak_bytes: peak,
        // One unused bucket for characters; both tables contain the words.
        table_bytes: (2 * n_words + buckets + 1) * workload.case.dim as u64 * 4,
        loss: number_after(end, "loss:"),
        stated_words_per_cpu_second: number_after(end, "words/sec/thread:"),
    })
}

/// The program and its arguments. `-bucket` must follow `-wordNgrams`, which sets it too.
fn command(workload: &Workload, path: &Path, model: &Path) -> Command {
    let Case { dim, word_ngrams, threads } = workload.case;
    let Settings { lr, negatives, subsample, epochs, min_count, min_target_count, buckets, dropout } =
        workload.settings;
    let mut command = Command::new(path);
    command.arg("sent2vec").arg("-input").arg(&workload.text).arg("-output").arg(model);
    let mut set = |name: &str, value: String| _ = command.args([name, &value]);
    set("-dim", dim.to_string());
    set("-epoch", epochs.to_string());
    set("-lr", lr.to_string());
    set("-neg", negatives.to_string());
    set("-minCount", min_count.to_string());
    set("-minCountLabel", min_target_count.to_string());
    set("-t", subsample.to_string());
    set("-thread", threads.to_string());
    set("-wordNgrams", word_ngrams.to_string());
    // Without n-grams, the release would still draw tokens to drop, for nothing.
    set("-dropoutK", if word_ngrams == 1 { 0 } else { dropout }.to_string());
    if word_ngrams > 1 {
        set("-bucket", buckets.to_string());
    }
    command
}

fn ends_with_newline(mut log: &File) -> Result<bool> {
    let mut byte = [0];
    log.seek(SeekFrom::End(-1))?;
    Ok(log.read(&mut byte)? == 1 && byte == *b"\n")
}

/// The share of training done, in `[0, 1]`, from the last complete report.
fn progress(log: &str) -> Option<f64> {
    let reports = log.rsplit("Progress:").take(log.matches("Progress:").count());
    let percent = reports.filter_map(|report| report.split_once('%')).next()?.0;
    Some(percent.trim().parse::<f64>().ok()? / 100.0)
}

/// The number that follows a name.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let (_, rest) = text.split_once(name)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\rRead 0M words\nNumber of words:  4081\nNumber of labels: 0\n\
        \rProgress: 0.0%  words/sec/thread: 16  lr: 0.200000  loss: 7.6  eta: 0h0m \
        \rProgress: 37.5%  words/sec/thread: 926017  lr: 0.125000  loss: 3.718000  eta: 0h0m ";

    #[test]
    fn numbers_are_read_from_what_the_release_writes() {
        assert_eq!(number_after(LOG, "Number of words:"), Some(4081.0));
        let last = LOG.rsplit('\r').next().unwrap();
        assert_eq!(number_after(last, "words/sec/thread:"), Some(926_017.0));
        assert_eq!(number_after(last, "loss:"), Some(3.718));
        assert_eq!(number_after(LOG, "speed:"), None);
    }

    #[test]
    fn progress_is_that_of_the_last_report_that_is_complete() {
        assert_eq!(progress(LOG), Some(0.375));
        assert_eq!(progress(&LOG[..LOG.rfind('%').unwrap()]), Some(0.0));
        assert_eq!(progress(&LOG[..LOG.find("Progress").unwrap()]), None);
    }
}
