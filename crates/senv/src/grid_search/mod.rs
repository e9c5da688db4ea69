//! Grid search: trains every combination of listed hyperparameter values and keeps the best by validation.
//!
//! The best combination is then trained with further seeds, to know the spread of its score. In a folder the search
//! keeps its table (`results.tsv`) and the best model (`best.senv`), and resumes there after a stop.

mod grid;
mod table;

use std::{path::PathBuf, time::Instant};

use senv_core::{Error as CoreError, Observer, files::Destination, hyperparameters::Hyperparameters};

pub use grid::{SearchCandidate, SearchGrid};
pub use table::GridRun;
use table::{RunTable, median};

use crate::{
    error::{Error, Result},
    model::{saved::SavedModel, trained::Trained},
};

/// The name of the best model in the folder of a search.
pub const BEST_MODEL: &str = "best.senv";
/// The name of the table of all runs in that folder.
pub const RUN_TABLE: &str = "results.tsv";

/// A search over some combinations of hyperparameters.
///
/// ```
/// use senv_core::NoObserver;
/// use senv::{CseParams, PairSystem, TrainOptions, data::{PairData, PairInput, PairKind}, gradient::ScoredPairs, grid_search::{GridSearch, SearchGrid}};
/// # let folder = tempfile::tempdir()?;
/// # let write = |name: &str, text: String| { let path = folder.path().join(name); std::fs::write(&path, text).map(|()| path) };
/// # let pairs = write("pairs.tsv", "a cat sat\tthe cat was sitting\na dog ran\tthe dog was running\n".repeat(5))?;
/// # let scored = write("dev.tsv", "5\ta cat sat\tthe cat was sitting\n1\ta cat sat\ta dog ran\n2\ta dog\ta cat\n".into())?;
/// let input = PairInput { path: pairs, kind: PairKind::Pairs, weight: None };
/// let data = PairData::read(&[input], &Default::default(), &NoObserver)?;
/// let dev = [ScoredPairs::read(scored)?];
///
/// let mut base = CseParams { dim: 4, ..CseParams::default() };
/// base.fit.epochs = Some(2);
/// let grid = SearchGrid::new([("lr", ["0.01", "0.1"]), ("margin", ["0.4", "0.6"])])?;
/// let search = GridSearch { names: grid.names(), candidates: grid.candidates(&base)?, seeds: 3, folder: None };
/// let options = TrainOptions { dev: Some(&dev[..]), ..TrainOptions::default() };
/// let found = search.run(|params, _| params.fit(&data, &options), &NoObserver)?;
/// assert_eq!((found.runs.len(), found.scores.len()), (2 * 2 + 2, 3));
/// println!("{:?}: median {:.3}", search.candidates[found.best].values, found.median());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GridSearch<S> {
    /// The names of the hyperparameters to search; [`SearchGrid::names`].
    pub names: Vec<String>,
    /// The combinations to try; [`SearchGrid::candidates`].
    pub candidates: Vec<SearchCandidate<S>>,
    /// How many seeds the best combination is trained with in total: its own and those after it; at least 1.
    pub seeds: u64,
    /// The folder of the search, which must exist; `None` to keep nothing.
    pub folder: Option<PathBuf>,
}

/// The result of a grid search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GridOutcome {
    /// The index of the best candidate, by its score with its own seed.
    pub best: usize,
    /// The scores of that candidate, one per seed.
    pub scores: Vec<f64>,
    /// Every run, in the order of execution. A score is NaN if training failed before any validation.
    pub runs: Vec<GridRun>,
}

impl GridOutcome {
    /// Returns the median of the scores of the best candidate.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(&self.scores)
    }
}

impl<S: Hyperparameters + Clone> GridSearch<S> {
    /// Trains every candidate by `train`, which gets the hyperparameters and the name of the run, and then the best
    /// with further seeds. Runs that diverge count as the worst. The observer receives every score.
    ///
    /// # Errors
    /// [`CoreError::Interrupted`] if a run was stopped. [`CoreError::InvalidParameter`] without a candidate or a seed,
    /// or if candidates do not have a seed. [`Error::NothingLearned`] if every run diverged. The errors of `train` and
    /// of the files in the folder.
    pub fn run<M: SavedModel>(
        &self,
        mut train: impl FnMut(&S, &str) -> Result<Trained<M>>,
        observer: &dyn Observer,
    ) -> Result<GridOutcome> {
        let bad = |name, requirement, got: usize| {
            Err(CoreError::InvalidParameter { name, requirement, got: got.to_string() }.into())
        };
        if self.candidates.is_empty() {
            return bad("candidates", "at least one", 0);
        }
        if self.seeds == 0 {
            return bad("seeds", "at least 1", 0);
        }
        let mut table = RunTable::open(self.folder.as_ref().map(|folder| folder.join(RUN_TABLE)), &self.names)?;
        for (i, candidate) in self.candidates.iter().enumerate() {
            let name = format!("run {}/{}", i + 1, self.candidates.len());
            self.run_once(&mut table, candidate, seed_of(&candidate.params)?, &name, &mut train, observer)?;
        }
        let values = table.best().map(|run| run.values.clone()).ok_or(Error::NothingLearned)?;
        let best = self.candidates.iter().position(|candidate| candidate.values == values).unwrap_or_default();
        let first = seed_of(&self.candidates[best].params)?;
        let mut scores = Vec::new();
        for i in 0..self.seeds {
            let (seed, name) = (first.wrapping_add(i), format!("seed {}/{}", i + 1, self.seeds));
            scores.push(self.run_once(&mut table, &self.candidates[best], seed, &name, &mut train, observer)?);
        }
        Ok(GridOutcome { best, scores, runs: table.into_rows() })
    }

    /// Returns the score of a candidate with a seed, from the table, or from a run that is then added to it.
    fn run_once<M: SavedModel>(
        &self,
        table: &mut RunTable,
        candidate: &SearchCandidate<S>,
        seed: u64,
        name: &str,
        train: &mut impl FnMut(&S, &str) -> Result<Trained<M>>,
        observer: &dyn Observer,
    ) -> Result<f64> {
        let values = &candidate.values;
        if let Some(run) = table.find(seed, values) {
            return Ok(run.score);
        }
        let what: Vec<String> = self.names.iter().zip(values).map(|(name, value)| format!("{name} {value}")).collect();
        let mut params = candidate.params.clone();
        params.set("seed", &seed.to_string())?;
        let began = Instant::now();
        let (score, step) = match train(&params, &format!("{name}  {}", what.join("  "))) {
            Err(error) if error.is_interrupted() => {
                return Err(CoreError::Interrupted { action: "the grid search" }.into());
            }
            Err(error) => (f64::NAN, error.failed_at().ok_or(error)?),
            Ok(trained) => {
                let (step, score) = trained.best.unwrap_or((trained.steps, f64::NAN));
                if let Some(folder) =
                    self.folder.as_ref().filter(|_| table.best().is_none_or(|best| score > best.score))
                {
                    // Saved before the line is written: a model without a line is trained again, but a line without a
                    // model is not.
                    trained.model.write(Destination::File(&folder.join(BEST_MODEL))).map_err(Error::of_step)?;
                }
                (score, step)
            }
        };
        observer.note(&format!("{name}: {}: {score:.4}", what.join(", ")));
        let seconds = began.elapsed().as_secs_f64();
        table.push(GridRun { seed, values: values.clone(), score, step, seconds })?;
        Ok(score)
    }
}

/// Returns the seed among hyperparameters.
fn seed_of(params: &impl Hyperparameters) -> Result<u64> {
    let seed = params.hyperparameters().into_iter().find(|parameter| parameter.name == "seed");
    let seed = seed.and_then(|seed| seed.value?.parse().ok());
    let requirement = "a hyperparameter of the system";
    Ok(seed.ok_or(CoreError::InvalidParameter { name: "seed", requirement, got: "none".into() })?)
}
