//! NanoBEIR: thirteen small collections of BEIR, and the mean over those that are there.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use senv_core::Error as CoreError;
use senv_data::RetrievalSet;
use senv_metrics::{Bootstrap, Sample, Statistic, percentile_interval};
use serde::Serialize;

use crate::{
    error::Result,
    ranking::retrieval::{RetrievalMean, RetrievalMethod, RetrievalResult, RetrievalScores},
    report::{Align, TextTable, half_width, number},
    score::with_interval::{mean_draws, mean_of},
};

/// The thirteen collections of NanoBEIR, in their order.
pub const NANO_BEIR: [&str; 13] = [
    "NanoArguAna",
    "NanoClimateFEVER",
    "NanoDBPedia",
    "NanoFEVER",
    "NanoFiQA2018",
    "NanoHotpotQA",
    "NanoMSMARCO",
    "NanoNFCorpus",
    "NanoNQ",
    "NanoQuoraRetrieval",
    "NanoSCIDOCS",
    "NanoSciFact",
    "NanoTouche2020",
];

/// Returns the collection of NanoBEIR that a folder is named after; `None` for other names.
///
/// Letter case, `-` and `_` do not matter. The names of MTEB's tasks, which end in `Retrieval`, are known, too.
///
/// ```
/// use senv_eval::nano_beir_name;
/// assert_eq!(nano_beir_name("data/nano-scifact"), Some("NanoSciFact"));
/// assert_eq!(nano_beir_name("NanoSciFactRetrieval"), Some("NanoSciFact"));
/// assert_eq!(nano_beir_name("scifact"), None);
/// ```
#[must_use]
pub fn nano_beir_name(folder: impl AsRef<Path>) -> Option<&'static str> {
    let plain = |name: &str| {
        let name: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect::<String>().to_lowercase();
        name.strip_suffix("retrieval").map_or(name.clone(), str::to_owned)
    };
    // A folder can be given as `.`.
    let folder = folder.as_ref();
    let real = folder.file_name().is_none().then(|| folder.canonicalize().ok()).flatten();
    let name = plain(&real.as_deref().unwrap_or(folder).file_name()?.to_string_lossy());
    NANO_BEIR.into_iter().find(|known| plain(known) == name)
}

/// Returns the folders with retrieval sets: the folder itself, or, if it has no `corpus.jsonl`, its subfolders that
/// have one. Those of [`NANO_BEIR`] come first and in its order, then others by name.
///
/// If no folder has a `corpus.jsonl`, the folder itself is returned, and [`RetrievalSet::read`] says what is missing.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # for name in ["own", "NanoNQ", "NanoFEVER"] {
/// #     std::fs::create_dir(folder.path().join(name))?;
/// #     std::fs::write(folder.path().join(name).join("corpus.jsonl"), "")?;
/// # }
/// // A folder with the folders NanoFEVER, NanoNQ and own.
/// let folders = senv_eval::retrieval_folders(folder.path())?;
/// assert_eq!(folders, ["NanoFEVER", "NanoNQ", "own"].map(|name| folder.path().join(name)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::Io`] if the folder exists and cannot be read.
pub fn retrieval_folders(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let folder = folder.as_ref();
    let has_corpus = |folder: &Path| {
        let [corpus, ..] = RetrievalSet::files(folder);
        corpus.exists()
    };
    if has_corpus(folder) || !folder.is_dir() {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = fs::read_dir(folder).map_err(|error| CoreError::io("open", folder, error))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| has_corpus(path)).collect();
    let place = |path: &PathBuf| {
        let name = nano_beir_name(path);
        (NANO_BEIR.iter().position(|known| Some(*known) == name).unwrap_or(NANO_BEIR.len()), path.clone())
    };
    folders.sort_by_cached_key(place);
    Ok(if folders.is_empty() { vec![folder.to_owned()] } else { folders })
}

/// The mean nDCG@10 of one ranking method over the collections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NanoBeirMean {
    /// The ranking method.
    pub method: RetrievalMethod,
    /// The mean of the collections' nDCG@10 with equal weights, with its interval.
    pub ndcg_at_10: RetrievalMean,
}

/// The mean over the collections of NanoBEIR that are there. Print it with [`NanoBeirResult::to_text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NanoBeirResult {
    /// The collections that are there, in NanoBEIR's order.
    pub collections: Vec<&'static str>,
    /// The collections that are not there.
    pub missing: Vec<&'static str>,
    /// Means per ranking method.
    pub means: Vec<NanoBeirMean>,
    /// The results of the collections.
    #[serde(skip)]
    results: Vec<RetrievalResult>,
}

impl NanoBeirResult {
    /// Computes the means over those results whose folders are named after collections of NanoBEIR; `None` without one.
    /// Of several folders with the same name the first counts.
    ///
    /// The mean of all thirteen is the figure of model cards. Such figures of vectors compare with the method
    /// [`RetrievalMethod::Documents`].
    ///
    /// # Errors
    /// [`crate::Error::Metrics`] if a score is not finite.
    pub fn of(results: &[RetrievalResult], bootstrap: Bootstrap) -> Result<Option<Self>> {
        let find = |name: &&'static str| {
            let result = results.iter().find(|result| nano_beir_name(&result.path) == Some(*name));
            result.map(|result| (*name, result.clone()))
        };
        let (collections, found): (Vec<&'static str>, Vec<RetrievalResult>) = NANO_BEIR.iter().filter_map(find).unzip();
        if collections.is_empty() {
            return Ok(None);
        }
        let missing = NANO_BEIR.into_iter().filter(|name| !collections.contains(name)).collect();
        let means = RetrievalMethod::ALL.into_iter().map(|method| mean(method, &found, bootstrap));
        Ok(Some(Self { collections, missing, means: means.collect::<Result<_>>()?, results: found }))
    }

    /// Formats the nDCG@10 of each collection and the mean in aligned columns, and below them what is missing.
    #[must_use]
    pub fn to_text(&self) -> String {
        let title = |method| self.results.first().map_or("", |result| result.title_of(method));
        let methods = RetrievalMethod::ALL.map(|method| (title(method), Align::Right));
        let mut table = TextTable::new(std::iter::once(("NanoBEIR, nDCG@10", Align::Left)).chain(methods));
        let cell = |mean: RetrievalMean| number(Some(mean.value_x100), 1) + &half_width(mean.interval_x100, 1);
        for (name, result) in self.collections.iter().zip(&self.results) {
            let cells = RetrievalMethod::ALL.map(|method| scores(result, method).map(|of| cell(of.ndcg_at_10)));
            table.row(std::iter::once((*name).to_owned()).chain(cells.map(Option::unwrap_or_default)));
        }
        table.rule();
        let name = format!("mean of {} of {}", self.collections.len(), NANO_BEIR.len());
        table.row(std::iter::once(name).chain(self.means.iter().map(|mean| cell(mean.ndcg_at_10))));
        let mut text = table.to_string();
        if !self.missing.is_empty() {
            let _ = writeln!(text, "missing: {}", self.missing.join(", "));
        }
        text
    }
}

fn scores(result: &RetrievalResult, method: RetrievalMethod) -> Option<&RetrievalScores> {
    result.scores.iter().find(|scores| scores.method == method)
}

/// Computes the mean of a method over collections, with equal weights. Each collection is drawn by itself.
fn mean(method: RetrievalMethod, results: &[RetrievalResult], bootstrap: Bootstrap) -> Result<NanoBeirMean> {
    let (mut values, mut draws) = (Vec::new(), Vec::new());
    for result in results {
        let of_queries = scores(result, method).map_or(&[][..], |scores| &scores.ndcg_of_queries);
        let sample = Sample::new(Statistic::Mean, &[], of_queries)?;
        values.push(sample.value());
        draws.push(bootstrap.replicates(&result.path.display().to_string(), &sample));
    }
    let x100 = |value: f64| 100.0 * value;
    let draws = mean_draws(draws.iter().map(Vec::as_slice), bootstrap.resamples);
    let interval = percentile_interval(&draws).map(|ends| (x100(ends.low), x100(ends.high)));
    let value_x100 = x100(mean_of(values.into_iter()).unwrap_or(0.0));
    Ok(NanoBeirMean { method, ndcg_at_10: RetrievalMean { value_x100, interval_x100: interval } })
}
