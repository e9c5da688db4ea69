//! Norms of word embeddings against word frequencies, as in Figure 1 of the Sent2Vec paper.
//!
//! Equation: `norm-frequency-profile`
//!
//! ```text
//! x_w = ln f_w              f_w: relative frequency of word w in the corpus, in (0, 1]
//! y_w = |v_w|               L2 norm of its embedding
//! bin of w = floor((x_w − min x) / (max x − min x) · n_bins), the last bin closed
//! overlay  = `sif-weight` at the middle of a bin, a / (a + f)
//! ```
//!
//! A model that averages words learns frequency weights as norms. The paper finds an inverted U, with small norms for
//! frequent words (which carry little meaning) and for rare ones (which have few updates). In contrast, a / (a + f)
//! lowers only frequent words.

use senv_core::words::{DEFAULT_SIF_A, sif_weight};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    report::{Align, TextTable, number},
};

/// Default number of bins: 50.
pub const DEFAULT_BINS: usize = 50;

/// Default number of words listed at each end: ten, as in Kenter et al. 2016.
pub(crate) const DEFAULT_EXTREMES: usize = 10;

/// Options of [`norm_profile`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormOptions {
    /// Number of bins over ln f, in `1..=10_000`; [`DEFAULT_BINS`] by default.
    pub n_bins: usize,
    /// The `a` of the overlay, above 0; by default 10⁻³, as in Arora et al. 2017.
    pub a: f64,
    /// Number of words listed with the lowest and the highest norms; ten by default, as in Kenter et al. 2016.
    pub n_extremes: usize,
}

impl Default for NormOptions {
    fn default() -> Self {
        Self { n_bins: DEFAULT_BINS, a: DEFAULT_SIF_A, n_extremes: DEFAULT_EXTREMES }
    }
}

/// The words of one bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NormBin {
    /// Lower edge, the natural logarithm of a relative frequency.
    pub ln_frequency_from: f64,
    /// Upper edge. It belongs to the next bin, or to this one if it is the last.
    pub ln_frequency_to: f64,
    /// Number of words in the bin. Without one, the statistics are `None`.
    pub n_words: usize,
    /// Mean norm.
    pub mean: Option<f64>,
    /// First quartile of the norms (with linear interpolation).
    pub lower_quartile: Option<f64>,
    /// Median of the norms.
    pub median: Option<f64>,
    /// Third quartile of the norms.
    pub upper_quartile: Option<f64>,
    /// a / (a + f) at the center of the bin.
    pub sif_weight: f64,
}

/// A word and its norm.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WordNorm {
    /// The word.
    pub word: String,
    /// Its relative frequency in the corpus.
    pub frequency: f64,
    /// The L2 norm of its embedding.
    pub norm: f64,
}

/// Norms against frequencies. Print it with [`NormProfile::to_text`], [`crate::to_json`] or [`NormProfile::to_svg`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NormProfile {
    /// Number of words in the bins.
    pub n_words: usize,
    /// Number of words of frequency 0 (never seen in the corpus). They are left out.
    pub n_without_frequency: usize,
    /// The `a` of the overlay.
    pub a: f64,
    /// The bins, from rare to frequent words.
    pub bins: Vec<NormBin>,
    /// Words with the lowest norms, lowest first. Ties keep the order given.
    pub lowest: Vec<WordNorm>,
    /// Words with the highest norms, highest first. Ties keep the order given.
    pub highest: Vec<WordNorm>,
}

/// Computes the profile of `(word, relative frequency, embedding)`. Norms are summed in f64.
///
/// If all words have the same frequency, there is one bin. Pass the embeddings of words only, not those of n-grams.
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] for options out of range; [`Error::BadFrequency`] for a frequency outside
/// `[0, 1]`; [`Error::NotFinite`] for an embedding with NaN or infinity, with its word; [`Error::NothingToDo`] if no
/// word has a frequency above 0.
///
/// # Examples
/// ```
/// use senv_eval::{NormOptions, norm_profile};
/// let words = [("the", 0.1, &[3.0, 4.0][..]), ("cat", 0.001, &[8.0, 6.0]), ("dog", 0.001, &[0.0, 8.0])];
/// let profile = norm_profile(words, &NormOptions { n_bins: 2, ..NormOptions::default() })?;
/// assert_eq!((profile.bins[0].mean, profile.bins[1].mean), (Some(9.0), Some(5.0)));
/// assert_eq!((&profile.lowest[0].word[..], &profile.highest[0].word[..]), ("the", "cat"));
/// # Ok::<(), senv_eval::Error>(())
/// ```
///
/// # References
/// Pagliardini, Gupta and Jaggi, NAACL 2018, Figure 1; Arora, Liang and Ma, ICLR 2017; Kenter, Borisov and de Rijke,
/// ACL 2016, section 4.4 (words of extreme norm).
pub fn norm_profile<'a>(
    words: impl IntoIterator<Item = (&'a str, f64, &'a [f32])>,
    options: &NormOptions,
) -> Result<NormProfile> {
    let invalid = |name, requirement, got: String| senv_core::Error::InvalidParameter { name, requirement, got };
    if !(1..=10_000).contains(&options.n_bins) {
        return Err(invalid("n_bins", "from 1 to 10000", options.n_bins.to_string()).into());
    }
    if !(options.a.is_finite() && options.a > 0.0) {
        return Err(invalid("a", "above 0 and finite", options.a.to_string()).into());
    }
    let mut n_without_frequency = 0;
    let mut norms: Vec<(&str, f64, f64)> = Vec::new();
    for (word, frequency, row) in words {
        if !(0.0..=1.0).contains(&frequency) {
            return Err(Error::BadFrequency { word: word.to_owned(), got: frequency });
        }
        let norm = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        if !norm.is_finite() {
            return Err(Error::NotFinite { what: format!("the embedding of {word}", word = senv_core::quoted(word)) });
        }
        if frequency == 0.0 {
            n_without_frequency += 1;
        } else {
            norms.push((word, frequency, norm));
        }
    }
    let (low, high) = norms
        .iter()
        .map(|&(_, f, _)| f.ln())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if norms.is_empty() {
        return Err(Error::NothingToDo { what: "words with a frequency above 0" });
    }
    let n_bins = if high > low { options.n_bins } else { 1 };
    let mut members = vec![Vec::new(); n_bins];
    for &(_, frequency, norm) in &norms {
        let place = if high > low { (frequency.ln() - low) / (high - low) * n_bins as f64 } else { 0.0 };
        members[(place as usize).min(n_bins - 1)].push(norm);
    }
    let width = (high - low) / n_bins as f64;
    let bins =
        members.iter_mut().enumerate().map(|(i, norms)| bin(low + width * i as f64, width, norms, options.a)).collect();
    let extremes = |order: fn(f64, f64) -> std::cmp::Ordering| -> Vec<WordNorm> {
        let mut sorted: Vec<usize> = (0..norms.len()).collect();
        sorted.sort_by(|&i, &j| order(norms[i].2, norms[j].2));
        let word = |&i: &usize| WordNorm { word: norms[i].0.to_owned(), frequency: norms[i].1, norm: norms[i].2 };
        sorted.iter().take(options.n_extremes).map(word).collect()
    };
    let (lowest, highest) = (extremes(|a, b| a.total_cmp(&b)), extremes(|a, b| b.total_cmp(&a)));
    Ok(NormProfile { n_words: norms.len(), n_without_frequency, a: options.a, bins, lowest, highest })
}

fn bin(from: f64, width: f64, norms: &mut [f64], a: f64) -> NormBin {
    norms.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| {
        let place = q * norms.len().checked_sub(1)? as f64;
        let (below, share) = (norms[place as usize], place.fract());
        let above = norms[place.ceil() as usize];
        Some(below + share * (above - below))
    };
    let f = (from + width / 2.0).exp();
    NormBin {
        ln_frequency_from: from,
        ln_frequency_to: from + width,
        n_words: norms.len(),
        mean: (!norms.is_empty()).then(|| norms.iter().sum::<f64>() / norms.len() as f64),
        lower_quartile: quantile(0.25),
        median: quantile(0.5),
        upper_quartile: quantile(0.75),
        sif_weight: sif_weight(a, f),
    }
}

impl NormProfile {
    /// Formats the bins and the words of extreme norm in aligned columns.
    #[must_use]
    pub fn to_text(&self) -> String {
        let right = |name: &str| (name.to_owned(), Align::Right);
        let mut table = TextTable::new([
            right("ln f from"),
            right("to"),
            right("words"),
            right("mean norm"),
            right("lower quartile"),
            right("median"),
            right("upper quartile"),
            right("a/(a+f)"),
        ]);
        for bin in &self.bins {
            table.row([
                format!("{:.3}", bin.ln_frequency_from),
                format!("{:.3}", bin.ln_frequency_to),
                bin.n_words.to_string(),
                number(bin.mean, 4),
                number(bin.lower_quartile, 4),
                number(bin.median, 4),
                number(bin.upper_quartile, 4),
                format!("{:.4}", bin.sif_weight),
            ]);
        }
        let mut extremes = TextTable::new([
            ("lowest norm", Align::Left),
            ("norm", Align::Right),
            ("highest norm", Align::Left),
            ("norm", Align::Right),
        ]);
        for (low, high) in self.lowest.iter().zip(&self.highest) {
            extremes.row([
                low.word.clone(),
                format!("{:.4}", low.norm),
                high.word.clone(),
                format!("{:.4}", high.norm),
            ]);
        }
        format!("{} words, a = {}\n{table}\n{extremes}", self.n_words, self.a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies e⁻⁴, e⁻³, ..., e⁰, with words of the given norms at each.
    fn profile(norms: [&[f32]; 5], n_bins: usize) -> NormProfile {
        let rows: Vec<(String, f64, [f32; 2])> = norms
            .iter()
            .enumerate()
            .flat_map(|(i, norms)| {
                norms.iter().map(move |&norm| (format!("{i}-{norm}"), (i as f64 - 4.0).exp(), [norm, 0.0]))
            })
            .collect();
        let words = rows.iter().map(|(word, frequency, row)| (&word[..], *frequency, &row[..]));
        norm_profile(words, &NormOptions { n_bins, n_extremes: 2, ..NormOptions::default() }).unwrap()
    }

    #[test]
    fn bins_hold_mean_and_quartiles_worked_out_by_hand() {
        // ln f from -4 to 0 in two bins: [-4, -2) and [-2, 0].
        let got = profile([&[1.0, 2.0], &[4.0], &[10.0], &[], &[30.0]], 2);
        let [rare, frequent] = &got.bins[..] else { panic!("two bins") };
        assert_eq!((rare.n_words, frequent.n_words), (3, 2));
        assert!((rare.ln_frequency_from + 4.0).abs() < 1e-12 && (rare.ln_frequency_to + 2.0).abs() < 1e-12);
        assert!((frequent.ln_frequency_to).abs() < 1e-12);
        // 1, 2, 4: quartiles at positions 0.5, 1, 1.5. 10, 30: at 0.25, 0.5, 0.75.
        assert_eq!((rare.lower_quartile, rare.median, rare.upper_quartile), (Some(1.5), Some(2.0), Some(3.0)));
        assert_eq!(frequent.mean, Some(20.0));
        assert_eq!(
            (frequent.lower_quartile, frequent.median, frequent.upper_quartile),
            (Some(15.0), Some(20.0), Some(25.0))
        );
        assert!((rare.mean.unwrap() - 7.0 / 3.0).abs() < 1e-12);
        // The center of the frequent bin is ln f = -1: 0.001 / (0.001 + 0.36788) = 0.0027109.
        assert!((frequent.sif_weight - 0.002_710_9).abs() < 1e-7, "{}", frequent.sif_weight);
        let names = |words: &[WordNorm]| words.iter().map(|w| w.word.clone()).collect::<Vec<_>>();
        assert_eq!(names(&got.lowest), ["0-1", "0-2"]);
        assert_eq!(names(&got.highest), ["4-30", "2-10"]);
    }

    #[test]
    fn empty_bins_have_no_statistics_and_text_shows_dashes() {
        let got = profile([&[1.0], &[], &[], &[], &[2.0]], 4);
        assert_eq!(got.bins.iter().map(|bin| bin.n_words).collect::<Vec<_>>(), [1, 0, 0, 1]);
        assert_eq!((got.bins[1].mean, got.bins[1].median), (None, None));
        let text = got.to_text();
        let empty = |line: &str| line.split_whitespace().skip(2).take(5).eq(["0", "-", "-", "-", "-"]);
        assert_eq!(text.lines().filter(|line| empty(line)).count(), 2, "{text}");
    }

    #[test]
    fn one_frequency_makes_one_bin_and_unseen_words_are_counted() {
        let words = [("a", 0.5, &[1.0][..]), ("b", 0.5, &[3.0]), ("c", 0.0, &[9.0])];
        let got = norm_profile(words, &NormOptions::default()).unwrap();
        assert_eq!((got.bins.len(), got.bins[0].mean, got.n_words, got.n_without_frequency), (1, Some(2.0), 2, 1));
        // Ten of each are requested and only two exist; equal norms keep their order.
        let even = norm_profile([("a", 0.5, &[1.0][..]), ("b", 0.2, &[-1.0])], &NormOptions::default()).unwrap();
        assert_eq!((&even.lowest[0].word[..], &even.highest[0].word[..], even.highest.len()), ("a", "a", 2));
    }

    #[test]
    fn bad_input_is_named() {
        let of = |frequency: f64, x: f32| norm_profile([("w", frequency, &[x][..])], &NormOptions::default());
        assert!(of(1.0, 1.0).is_ok());
        for frequency in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(of(frequency, 1.0), Err(Error::BadFrequency { .. })), "{frequency}");
        }
        assert!(of(0.1, f32::NAN).unwrap_err().to_string().starts_with("the embedding of \"w\" is not finite"));
        assert!(matches!(of(0.0, 1.0), Err(Error::NothingToDo { .. })));
        let with =
            |n_bins, a| norm_profile([("w", 0.1, &[1.0][..])], &NormOptions { n_bins, a, ..NormOptions::default() });
        assert!(with(1, 1e-9).is_ok() && with(10_000, 1.0).is_ok());
        for (n_bins, a) in [(0, 1.0), (10_001, 1.0), (1, 0.0), (1, f64::NAN), (1, f64::INFINITY)] {
            assert!(matches!(with(n_bins, a), Err(Error::Core(senv_core::Error::InvalidParameter { .. }))));
        }
    }
}
