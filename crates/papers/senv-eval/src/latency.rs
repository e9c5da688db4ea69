//! Latency: the time to score one pair.
//!
//! One thread scores one pair at a time: it tokenizes and embeds both sentences and computes the cosine. Loading the
//! model and reading the pairs are not timed. Kenter, Borisov and de Rijke (Siamese CBOW, ACL 2016) measure the same
//! over 17,608 pairs: 7.7 s for Siamese CBOW, 7.0 s for word2vec averages, 98,804 s for skip-thought.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use senv_core::{Scratch, SentenceEncoder, kernels};
use serde::Serialize;

use crate::error::{Error, Result};

/// Default number of untimed warm-up pairs: 100.
pub const DEFAULT_WARM_UP: usize = 100;

/// Time per pair, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Latency {
    /// Number of timed pairs.
    pub n_pairs: usize,
    /// Number of untimed warm-up pairs before them.
    pub n_warm_up: usize,
    /// Time for all pairs.
    pub total_seconds: f64,
    /// Total time divided by the number of pairs.
    pub mean_seconds: f64,
    /// Median time.
    pub median_seconds: f64,
    /// 99th percentile (nearest rank).
    pub p99_seconds: f64,
    /// Time of the slowest pair.
    pub max_seconds: f64,
}

/// Times an encoder on every pair, in the calling thread.
///
/// First scores `n_warm_up` pairs untimed, cycling through `pairs`. [`DEFAULT_WARM_UP`] is usual; 0 measures a cold
/// start. The system's monotonic clock is read once per pair, so the times add up to the total. A reading takes about
/// 30 ns and is part of each time.
///
/// # Errors
/// [`Error::NothingToDo`] if `pairs` is empty.
///
/// # Examples
/// ```
/// # use senv_core::{Coverage, Scratch, SentenceEncoder};
/// # struct Lengths;
/// # impl SentenceEncoder for Lengths {
/// #     fn dim(&self) -> usize { 1 }
/// #     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
/// #         out[0] = sentence.len() as f32;
/// #         Coverage::new(1, 1)
/// #     }
/// # }
/// # let encoder = Lengths;
/// let latency = senv_eval::measure_latency(&encoder, &[("a cat", "the cat"), ("a dog", "a cat")], 10)?;
/// assert_eq!((latency.n_pairs, latency.n_warm_up), (2, 10));
/// assert!(latency.median_seconds <= latency.p99_seconds);
/// # Ok::<(), senv_eval::Error>(())
/// ```
pub fn measure_latency(encoder: &dyn SentenceEncoder, pairs: &[(&str, &str)], n_warm_up: usize) -> Result<Latency> {
    let start = Instant::now();
    measure_with(encoder, pairs, n_warm_up, || start.elapsed())
}

fn measure_with(
    encoder: &dyn SentenceEncoder,
    pairs: &[(&str, &str)],
    n_warm_up: usize,
    mut clock: impl FnMut() -> Duration,
) -> Result<Latency> {
    if pairs.is_empty() {
        return Err(Error::NothingToDo { what: "sentence pairs to time" });
    }
    let dim = encoder.dim();
    let mut scratch = Scratch::default();
    let mut vectors = vec![0.0; 2 * dim];
    let (u, v) = vectors.split_at_mut(dim);
    let mut similarity = |&(a, b): &(&str, &str)| {
        encoder.encode_into(a, &mut scratch, u);
        encoder.encode_into(b, &mut scratch, v);
        black_box(kernels::cosine(u, v));
    };
    pairs.iter().cycle().take(n_warm_up).for_each(&mut similarity);
    let mut times = Vec::with_capacity(pairs.len());
    let start = clock();
    let mut before = start;
    for pair in pairs {
        similarity(pair);
        let now = clock();
        times.push(now.saturating_sub(before));
        before = now;
    }
    let total = before.saturating_sub(start);
    times.sort_unstable();
    let n = times.len();
    let median = (times[(n - 1) / 2] + times[n / 2]) / 2;
    Ok(Latency {
        n_pairs: n,
        n_warm_up,
        total_seconds: total.as_secs_f64(),
        mean_seconds: total.as_secs_f64() / n as f64,
        median_seconds: median.as_secs_f64(),
        p99_seconds: times[(99 * n).div_ceil(100) - 1].as_secs_f64(),
        max_seconds: times[n - 1].as_secs_f64(),
    })
}

impl Latency {
    /// Formats the times on a few lines.
    #[must_use]
    pub fn to_text(&self) -> String {
        let micro = |seconds: f64| format!("{:.2} us", 1e6 * seconds);
        format!(
            "{} pairs, one thread, one pair at a time, after {} warm-up pairs\ntotal   {:.6} s\nmean    {}\nmedian  \
            {}\np99     {}\nmax     {}\n",
            self.n_pairs,
            self.n_warm_up,
            self.total_seconds,
            micro(self.mean_seconds),
            micro(self.median_seconds),
            micro(self.p99_seconds),
            micro(self.max_seconds),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::Coverage;
    use std::sync::Mutex;

    /// Records the sentences it encodes.
    struct Listener(Mutex<Vec<String>>);

    impl SentenceEncoder for Listener {
        fn dim(&self) -> usize {
            2
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            self.0.lock().unwrap().push(sentence.to_owned());
            out.fill(1.0);
            Coverage::new(1, 1)
        }
    }

    /// A clock that advances by the next of these steps, in milliseconds, at each reading.
    fn clock(steps: &[u64]) -> impl FnMut() -> Duration + use<'_> {
        let (mut now, mut steps) = (Duration::from_secs(5), steps.iter().copied());
        let mut first = true;
        move || {
            if !std::mem::take(&mut first) {
                now += Duration::from_millis(steps.next().expect("one reading per pair"));
            }
            now
        }
    }

    #[test]
    fn the_statistics_are_those_of_the_times() {
        let encoder = Listener(Mutex::default());
        let got = measure_with(&encoder, &[("a", "b"); 4], 0, clock(&[4, 1, 10, 2])).unwrap();
        let seconds = [got.total_seconds, got.mean_seconds, got.median_seconds, got.p99_seconds, got.max_seconds];
        // Sorted 1, 2, 4, 10: sum 17, mean 4.25, median (2 + 4) / 2, rank ceil(3.96) = 4 of 4.
        for (got, expected) in seconds.iter().zip([0.017, 0.00425, 0.003, 0.010, 0.010]) {
            assert!((got - expected).abs() < 1e-12, "{seconds:?}");
        }
        let steps: Vec<u64> = (1..=200).rev().collect();
        let got = measure_with(&encoder, &vec![("a", "b"); 200], 0, clock(&steps)).unwrap();
        // Rank ceil(0.99 * 200) = 198; the middle two of 1..=200 are 100 and 101.
        assert!((got.p99_seconds - 0.198).abs() < 1e-12 && (got.median_seconds - 0.1005).abs() < 1e-12);
        assert_eq!(got.max_seconds, 0.2);
    }

    #[test]
    fn the_warm_up_goes_round_the_pairs_and_is_not_timed() {
        let encoder = Listener(Mutex::default());
        let got = measure_with(&encoder, &[("a", "b"), ("c", "d")], 3, clock(&[1, 2])).unwrap();
        assert_eq!((got.n_pairs, got.n_warm_up, got.total_seconds), (2, 3, 0.003));
        assert_eq!(encoder.0.lock().unwrap().concat(), "abcdababcd");
        assert!(
            got.to_text().starts_with("2 pairs, one thread, one pair at a time, after 3 warm-up pairs"),
            "{}",
            got.to_text()
        );
        assert!(matches!(measure_latency(&encoder, &[], 3), Err(Error::NothingToDo { .. })));
    }
}
