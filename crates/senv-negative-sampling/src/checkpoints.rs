//! Saves the state of a run, and resumes from it.
//!
//! Each of several ranks has its own checkpoint, and also stores the last tables that were the same on all ranks. All
//! ranks write at the same meeting, but a rank can be killed when only some have written. So each rank also keeps the
//! previous checkpoint, and all resume from the last meeting that every rank has.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use senv_core::{
    Corpus, RunOptions, Table,
    checkpoint::{self, About, CheckpointPlan},
    ranks::{self, Reduce},
};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, params::NegativeSamplingParams, run::Tally, synchronisation::met, tables::Tables};

/// The kind of a checkpoint file.
const CHECKPOINT_KIND: &str = "senv-negative-sampling";

/// Settings that a resumed run must share, and its position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrainingState {
    /// Settings of the model and the trainer, as JSON.
    settings: String,
    /// Fingerprint of the text.
    corpus: u64,
    pub(crate) next_unit: u64,
    pub(crate) tokens: u64,
    pub(crate) loss: f64,
    pub(crate) targets: u64,
}

impl TrainingState {
    /// The state of a new run.
    pub(crate) fn new(settings: &str, corpus: &Corpus) -> Self {
        let (settings, corpus) = (settings.to_owned(), corpus.fingerprint());
        Self { settings, corpus, next_unit: 0, tokens: 0, loss: 0.0, targets: 0 }
    }

    /// Advances by finished work.
    pub(crate) fn advance(&mut self, next_unit: u64, done: &Tally) {
        self.next_unit = next_unit;
        self.tokens = self.tokens.saturating_add(done.tokens);
        self.loss += done.loss;
        self.targets = self.targets.saturating_add(done.targets);
    }

    /// Whether a run on this corpus can be at this position. Larger sums could overflow later.
    fn is_possible(&self, corpus: &Corpus, params: &NegativeSamplingParams) -> bool {
        let epochs = u64::from(params.n_epochs());
        let whole = |n: u64| n.saturating_mul(epochs);
        let is_sum = self.loss.is_finite() && self.loss >= 0.0 && self.targets <= u64::MAX / 2;
        self.next_unit <= whole(corpus.n_blocks() as u64) && self.tokens <= whole(corpus.n_tokens()) && is_sum
    }
}

/// The position from which a run resumes.
#[derive(Debug)]
pub(crate) struct ResumePoint {
    pub(crate) state: TrainingState,
    pub(crate) tables: Tables,
    /// The last tables that were the same on all ranks; `None` without ranks.
    pub(crate) before: Option<Tables>,
}

impl ResumePoint {
    /// Writes the checkpoint.
    pub(crate) fn save(
        &self,
        plan: &CheckpointPlan,
        n_units: u64,
        before: Option<&Tables>,
        options: &RunOptions<'_>,
    ) -> Result<(), senv_core::Error> {
        let Self { state, tables, .. } = self;
        let mut sections = vec![("source", &tables.source), ("target", &tables.target)];
        if let Some(before) = before {
            sections.extend([("source before", &before.source), ("target before", &before.target)]);
            let previous = previous(&plan.path);
            match fs::rename(&plan.path, &previous) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(senv_core::Error::io("rename", &plan.path, error));
                }
                _ => {}
            }
        }
        let done = state.next_unit as f64 / n_units.max(1) as f64;
        let about = About { done, settings: state.settings.clone(), origin: options.origin.to_owned() };
        checkpoint::save_with(&plan.path, CHECKPOINT_KIND, &about, state, &sections)
    }
}

/// The path of the previous checkpoint of a rank, given the current `path`.
fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".previous");
    name.into()
}

/// The resume point of a run with the same settings and text; `None` if there is none yet.
pub(crate) fn resume(
    plan: &CheckpointPlan,
    fresh: &TrainingState,
    corpus: &Corpus,
    params: &NegativeSamplingParams,
    ranks: Option<(&dyn Reduce, u64)>,
) -> Result<Option<ResumePoint>> {
    let load = |path: &Path| load(path, fresh, corpus, params, ranks.is_some());
    let newest = load(&plan.path)?;
    let Some((ranks, n_meetings)) = ranks else { return Ok(newest) };
    let n_units = corpus.n_blocks() as u64 * u64::from(params.n_epochs());
    let meetings =
        |point: &Option<ResumePoint>| point.as_ref().map_or(0, |p| met(n_units, n_meetings, p.state.next_unit));
    let own = meetings(&newest);
    let of_ranks = ranks::gather(ranks, &own.to_le_bytes())?;
    let common = of_ranks.iter().map(|n| n.as_slice().try_into().map_or(0, u64::from_le_bytes)).min().unwrap_or(0);
    if own == common || common == 0 {
        return Ok(newest.filter(|_| own == common));
    }
    drop(newest);
    let previous = previous(&plan.path);
    match load(&previous)? {
        Some(point) if met(n_units, n_meetings, point.state.next_unit) == common => Ok(Some(point)),
        _ => Err(Error::CheckpointMismatch { path: previous, what: "position in the run of all ranks" }),
    }
}

/// The contents of a checkpoint, or `None` if it does not exist.
fn load(
    path: &Path,
    expected: &TrainingState,
    corpus: &Corpus,
    params: &NegativeSamplingParams,
    has_ranks: bool,
) -> Result<Option<ResumePoint>> {
    let (state, sections) = match checkpoint::load::<TrainingState>(path, CHECKPOINT_KIND) {
        Ok(loaded) => loaded,
        Err(senv_core::Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mismatch = |what| Error::CheckpointMismatch { path: path.to_owned(), what };
    // The text first: settings that adapt to its size differ with it.
    if state.corpus != expected.corpus {
        return Err(mismatch("text"));
    }
    if state.settings != expected.settings {
        return Err(mismatch("set of parameters"));
    }
    if !state.is_possible(corpus, params) {
        return Err(mismatch("position in the run"));
    }
    let mut sections = sections.into_iter();
    let mut table = |name: &str| sections.next().filter(|(section, _)| section == name).map(|(_, table)| table);
    let mut pair = |source, target| Some(Tables { source: table(source)?, target: table(target)? });
    let tables = pair("source", "target").ok_or(mismatch("pair of tables"))?;
    let before = if has_ranks { pair("source before", "target before") } else { None };
    let same = |a: &Table, b: &Table| (a.n_rows(), a.dim()) == (b.n_rows(), b.dim());
    let fits = match &before {
        Some(before) => same(&before.source, &tables.source) && same(&before.target, &tables.target),
        None => !has_ranks,
    };
    if !fits || sections.next().is_some() {
        return Err(mismatch("number of ranks"));
    }
    Ok(Some(ResumePoint { state, tables, before }))
}
