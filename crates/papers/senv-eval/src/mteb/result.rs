//! The result of MTEB's STS protocol: Spearman's ρ of each task, and their mean.

use std::{fmt::Write, path::PathBuf};

use senv_core::{
    SentenceEncoder,
    counts::{grouped, plural},
};
use senv_metrics::Bootstrap;
use serde::Serialize;

use super::{set::MtebStsSet, task::MtebSts};
use crate::{
    error::{Error, Result},
    report::{Align, TextTable, half_width, number},
    sts::{protocol::evaluate_sts, report::notes, result::StsResult},
};

/// Result of a system on one STS task of MTEB.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MtebStsTaskResult {
    /// The task.
    pub task: MtebSts,
    /// The files that its pairs come from.
    pub files: Vec<PathBuf>,
    /// Number of scored pairs.
    pub n_pairs: usize,
    /// Number of pairs that MTEB evaluates.
    pub n_pairs_of_mteb: usize,
    /// Spearman's ρ of the scores with the gold scores of all pairs, times 100; `None` if it is undefined.
    pub spearman_rho_x100: Option<f64>,
    /// Lower and upper end of its 95 % interval; `None` without draws.
    pub interval_x100: Option<(f64, f64)>,
    /// Share of the tokens of all scored sentences that the vocabulary of the system contains, in `[0, 1]`.
    pub known_token_share: Option<f64>,
}

/// Result of a system on the STS tasks of MTEB that are there. Print it with [`MtebStsResult::to_text`] or
/// [`crate::to_json`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MtebStsResult {
    /// Results per task, in MTEB's order.
    pub tasks: Vec<MtebStsTaskResult>,
    /// Plain mean of Spearman's ρ over these tasks, times 100; `None` if one of them is undefined.
    pub mean_spearman_rho_x100: Option<f64>,
    /// Lower and upper end of its 95 % interval; `None` without draws.
    pub mean_interval_x100: Option<(f64, f64)>,
    /// Number of draws of the bootstrap, 0 without intervals.
    pub resamples: usize,
    /// Random seed of the bootstrap.
    pub seed: u64,
    /// The tasks of MTEB that are not there.
    pub missing: Vec<MtebSts>,
    /// How the pairs differ from MTEB's, one line for each task that differs.
    pub differences: Vec<String>,
    /// What was left out or could not be scored, one line for each.
    pub notes: Vec<String>,
}

/// Evaluates an encoder by MTEB's protocol for its seven English STS tasks.
///
/// ```text
/// of a task   ρ of the cosines of all its pairs with their gold scores; the files of a year are one list
/// mean        Σ_t ρ_t / T over the tasks that are there
/// ```
///
/// The mean of all seven tasks is the figure that MTEB's tables and model cards show. It is comparable if
/// [`MtebStsResult::is_as_mteb`].
///
/// # Errors
/// Returns the errors of [`evaluate_sts`].
///
/// # Examples
/// ```
/// # use senv_core::{Coverage, Scratch, SentenceEncoder};
/// # struct Length;
/// # impl SentenceEncoder for Length {
/// #     fn dim(&self) -> usize { 2 }
/// #     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
/// #         let angle = sentence.len() as f32 / 10.0;
/// #         out.copy_from_slice(&[angle.cos(), angle.sin()]);
/// #         Coverage::new(1, 1)
/// #     }
/// # }
/// # let encoder = Length;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sts/2012");
/// # std::fs::create_dir_all(&path)?;
/// # let [one, two] = ["one.tsv", "two.tsv"].map(|name| path.join(name));
/// # std::fs::write(&one, "5\ta\tb\n1\ta\tbbbb\n")?;
/// # std::fs::write(&two, "4\tc\tdd\n3\tc\tddd\n")?;
/// use senv_eval::{MtebStsSet, evaluate_mteb_sts};
/// // sts/2012/one.tsv and sts/2012/two.tsv
/// let set = MtebStsSet::read(&[one, two])?;
/// let result = evaluate_mteb_sts(&encoder, &set, senv_metrics::Bootstrap::default())?;
/// // One list of four pairs. Here the cosine falls with the gold score.
/// assert_eq!((result.tasks[0].task.name(), result.tasks[0].n_pairs), ("STS12", 4));
/// assert!(result.mean_spearman_rho_x100.is_some_and(|rho| (rho - 100.0).abs() < 1e-9));
/// assert_eq!((result.missing.len(), result.is_as_mteb()), (6, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # References
/// Muennighoff et al., MTEB: Massive Text Embedding Benchmark, EACL 2023.
pub fn evaluate_mteb_sts(
    encoder: &dyn SentenceEncoder,
    set: &MtebStsSet,
    bootstrap: Bootstrap,
) -> Result<MtebStsResult> {
    let result = evaluate_sts(encoder, &set.pairs)?;
    MtebStsResult::of(set, &result.with_intervals(&set.pairs, bootstrap)?)
}

impl MtebStsResult {
    /// Summarizes a result on the pairs of the set ([`MtebStsSet::pairs`]), for scores from any source.
    ///
    /// # Errors
    /// [`Error::DifferentPairs`] if the result is for other pairs.
    pub fn of(set: &MtebStsSet, result: &StsResult) -> Result<Self> {
        let sizes = |names: Vec<(&str, usize)>| {
            let texts = names.iter().map(|(name, n)| format!("{name} with {n} pairs"));
            texts.collect::<Vec<_>>().join(", ")
        };
        let ours: Vec<(&str, usize)> = set.pairs.iter().map(|task| (&task.name[..], task.pairs.len())).collect();
        let theirs: Vec<(&str, usize)> = result.tasks.iter().map(|task| (&task.name[..], task.n_pairs)).collect();
        if ours != theirs {
            return Err(Error::DifferentPairs { first: sizes(ours), second: sizes(theirs) });
        }
        let intervals = result.intervals.as_ref();
        let tasks = set.tasks.iter().zip(&set.files).zip(&result.tasks).enumerate().map(|(i, ((&task, files), of))| {
            MtebStsTaskResult {
                task,
                files: files.clone(),
                n_pairs: of.n_pairs,
                n_pairs_of_mteb: task.n_pairs(),
                spearman_rho_x100: of.correlations.spearman_rho_x100,
                interval_x100: intervals.and_then(|all| all.tasks.get(i)?.correlations.spearman_rho_x100),
                known_token_share: of.known_token_share,
            }
        });
        let mut left_out = String::new();
        result.tasks.iter().for_each(|task| notes(task, &mut left_out));
        let mut result = Self {
            tasks: tasks.collect(),
            mean_spearman_rho_x100: result.overall.plain_mean_over_tasks.spearman_rho_x100,
            mean_interval_x100: intervals.and_then(|all| all.overall.plain_mean_over_tasks.spearman_rho_x100),
            resamples: intervals.map_or(0, |all| all.resamples),
            seed: intervals.map_or(Bootstrap::default().seed, |all| all.seed),
            missing: set.missing(),
            differences: Vec::new(),
            notes: left_out.lines().map(str::to_owned).collect(),
        };
        result.differences = result.tasks.iter().filter_map(MtebStsTaskResult::difference).collect();
        let names: Vec<String> = set.left_out.iter().map(|file| file.display().to_string()).collect();
        if !names.is_empty() {
            result.notes.push(format!("left out: {}; MTEB takes the test part of the STS benchmark", names.join(", ")));
        }
        Ok(result)
    }

    /// Whether all seven tasks are there with as many pairs as in MTEB, so that the mean is comparable.
    #[must_use]
    pub fn is_as_mteb(&self) -> bool {
        self.missing.is_empty() && self.differences.is_empty()
    }

    /// Formats one line per task and the mean in aligned columns, with half of each 95 % interval, and below them what
    /// differs from MTEB.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut table = TextTable::new([
            ("task of MTEB", Align::Left),
            ("pairs", Align::Right),
            ("in MTEB", Align::Right),
            ("spearman rho x100", Align::Right),
        ]);
        let cell = |value, interval| number(value, 2) + &half_width(interval, 2);
        for task in &self.tasks {
            let rho = cell(task.spearman_rho_x100, task.interval_x100);
            table.row([task.task.name().to_owned(), task.n_pairs.to_string(), task.n_pairs_of_mteb.to_string(), rho]);
        }
        table.rule();
        let mean = cell(self.mean_spearman_rho_x100, self.mean_interval_x100);
        let name = format!("mean of {} of {}", self.tasks.len(), MtebSts::ALL.len());
        table.row([name, String::new(), String::new(), mean]);
        let mut text = table.to_string();
        if self.resamples > 0 {
            let how = format!("bootstrap over the pairs, {} draws, seed {}", self.resamples, self.seed);
            let _ = writeln!(text, "± half of the 95 % interval: {how}");
        }
        if !self.missing.is_empty() {
            let names: Vec<&str> = self.missing.iter().map(|task| task.name()).collect();
            let _ = writeln!(text, "missing: {}", names.join(", "));
        }
        for line in self.differences.iter().chain(&self.notes) {
            let _ = writeln!(text, "{line}");
        }
        if !self.is_as_mteb() {
            text.push_str("compare this mean only with means of the same files, not with MTEB's\n");
        }
        text
    }
}

impl MtebStsTaskResult {
    /// Says how the pairs differ from MTEB's; `None` if there are as many.
    fn difference(&self) -> Option<String> {
        let expected = self.n_pairs_of_mteb;
        if self.n_pairs == expected {
            return None;
        }
        let name_of = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = self.files.iter().map(name_of).collect();
        let is_smt = |name: &String| name.to_lowercase().trim_start_matches("sts.input.").starts_with("smt.");
        let which = match self.task {
            MtebSts::StsBenchmark => " of the test part",
            MtebSts::SickR => " of the training, trial and test parts",
            MtebSts::Sts13 if names.iter().any(is_smt) => ", without SMT",
            _ => "",
        };
        let here = match self.task {
            MtebSts::StsBenchmark => format!(" of {}", names.join(", ")),
            _ => String::new(),
        };
        let (name, n) = (self.task.name(), plural(self.n_pairs as u64, "pair"));
        Some(format!("{name}: {n}{here}; MTEB has {}{which}", grouped(expected as u64)))
    }
}
