//! `senv tune`: the best settings of a grid, by the score on a development set.

mod grid;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Subcommand, builder::RangedU64ValueParser};
use senv_core::{AtomicFile, Error as CoreError, Observer};
use senv_eval::{Align, TextTable};
use senv_models::{CseParams, Error, FitParams, PairSystem, PpParams, SavedModel, ScoredPairs, Stopped, Trained};
use serde_json::json;

use self::{
    grid::Grid,
    table::{Row, RunTable, median},
};
use super::train::{HyperArgs, Loaded, PairFiles, RecipeChoice, Shown, Stage2Args, read_scored, source_line};
use crate::{
    destination::{Content, Destination},
    failure::{Failure, Result},
    interrupt::Interrupt,
    output,
    progress::{TrainingProgress, Unit},
};

/// Try every combination of settings of a grid and keep the best model.
///
/// The grid file has a setting a line, an option of `senv train` without its dashes, and the values to try, separated by
/// blanks; a list such as 1,2,3 is one value; # begins a comment.
///
/// Settings that the grid does not have are those given as options. Combinations are run in order, the last setting moving
/// fastest; each gives a line of DIR/results.tsv and is passed over when the same command is called again, so a search
/// that was stopped goes on. The best combination is then run with further seeds; their median is reported, and the best
/// model of all runs is DIR/best.senv.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tune {
    #[command(subcommand)]
    system: System,
}

const EXAMPLES: &str = "\
A grid file:
  margin   = 0.4 0.6 0.8
  l2-words = 1e-5 1e-6
  windows  = 1,2,3 1 2

Example:
  senv tune cse --pairs pairs.tsv --init-vectors words.senv --grid grid.txt --select sts-dev.tsv --output search";

#[derive(Debug, Subcommand)]
enum System {
    /// PP: settings of `senv train pp`.
    #[command(after_help = "\
Example:
  senv tune pp --pairs pairs.tsv --init-vectors words.senv --grid grid.txt --select sts-dev.tsv --output search")]
    Pp(Box<TuneArgs<PpParams>>),
    /// CSE: settings of `senv train cse`.
    #[command(after_help = "\
Example:
  senv tune cse --pairs pairs.tsv --init-vectors words.senv --grid grid.txt --select sts-dev.tsv --output search")]
    Cse(Box<TuneArgs<CseParams>>),
}

/// A search over hyperparameters of one system.
#[derive(Debug, clap::Args)]
struct TuneArgs<S: Shown> {
    #[command(flatten)]
    search: Search,
    #[command(flatten)]
    params: HyperArgs<S>,
}

/// Arguments of the search itself.
#[derive(Debug, clap::Args)]
struct Search {
    #[command(flatten)]
    data: PairFiles,
    #[command(flatten)]
    stage2: Stage2Args,
    #[command(flatten)]
    recipe: RecipeChoice,
    /// The settings and their values.
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    grid: PathBuf,
    /// Scored pairs, SCORE, FIRST, SECOND, separated by tabs: the mean correlation over these files is the score of a
    /// run.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Search")]
    select: Vec<PathBuf>,
    /// Runs of the best combination, each with a seed of its own, counted from --seed.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = RangedU64ValueParser::<u64>::new().range(1..=1000),
          help_heading = "Search")]
    seeds: u64,
    /// The folder for results.tsv and best.senv; made if it is not there.
    #[arg(long, short, value_name = "DIR", help_heading = "Search")]
    output: PathBuf,
    /// Write what came of it as JSON to standard output.
    #[arg(long, help_heading = "Search")]
    json: bool,
}

impl Tune {
    pub(crate) fn run(self, threads: usize) -> Result {
        match self.system {
            System::Pp(args) => args.search.run(&args.params, threads),
            System::Cse(args) => args.search.run(&args.params, threads),
        }
    }
}

/// The largest grid: at a minute a run, a week.
const MAX_COMBINATIONS: usize = 10_000;

/// A combination of the grid, ready to run.
struct Plan<S> {
    values: Vec<String>,
    params: S,
}

impl Search {
    fn run<S: PairSystem + Shown>(&self, base: &HyperArgs<S>, threads: usize) -> Result {
        let grid = Grid::read(&self.grid)?;
        if grid.n_combinations() > MAX_COMBINATIONS {
            let n = grid.n_combinations();
            return Err(Failure::Usage(format!("a grid of {n} combinations; at most {MAX_COMBINATIONS} are tried")));
        }
        let combinations = grid.combinations();
        // Whatever is wrong with a combination is said before the first is run.
        let settings =
            combinations.iter().map(|values| grid.hyperparameters(base, values)).collect::<Result<Vec<_>>>()?;
        let params = |given: &HyperArgs<S>, of_vectors| -> Result<S> {
            given.check_training(true)?;
            let mut params = self.recipe.params(given)?;
            let parts = params.shared();
            given.fit_dim(parts.dim, of_vectors);
            parts.fit.threads = threads;
            Ok(params)
        };
        settings.iter().try_for_each(|given| params(given, None).map(drop))?;
        let select = read_scored(&self.select)?;
        fs::create_dir_all(&self.output).map_err(|e| CoreError::io("create", &self.output, e))?;
        self.check_output()?;
        let mut table = RunTable::open(self.output.join("results.tsv"), &grid.names())?;

        let progress = TrainingProgress::new(None, Unit::Pairs, Interrupt::install());
        let mut first = params(base, None)?;
        let parts = first.shared();
        let group = parts.pairs.groups_pairs();
        base.fit_tokenizer(parts.tokenizer, &self.data.sources(&self.stage2.stage2), &progress);
        let loaded = match self.data.load(&self.stage2.stage2, parts.tokenizer, group, threads, &progress) {
            Err(senv_models::Error::Core(CoreError::Interrupted { .. })) => return Err(Failure::Interrupted),
            loaded => loaded?,
        };
        let second = loaded.second.iter().flat_map(|data| &data.reports);
        loaded.first.reports.iter().chain(second).for_each(|report| progress.note(&source_line(report)));
        let of_vectors = loaded.vectors.as_ref().map(senv_store::Embeddings::dim);
        let tokenizer = first.shared().tokenizer.clone();
        let params = |given: &HyperArgs<S>, of_vectors| -> Result<S> {
            let mut params = params(given, of_vectors)?;
            *params.shared().tokenizer = tokenizer.clone();
            Ok(params)
        };
        let base_params = params(base, of_vectors)?;
        self.check_same_search(&base_params, &loaded, &select)?;
        let plan = |(values, given): (&Vec<String>, &HyperArgs<S>)| {
            Ok(Plan { values: values.clone(), params: params(given, of_vectors)? })
        };
        let plans = combinations.iter().zip(&settings).map(plan).collect::<Result<Vec<_>>>()?;

        let mut runner =
            Runner { search: self, loaded: &loaded, select: &select, progress: &progress, table: &mut table };
        let names = grid.names();
        for (i, plan) in plans.iter().enumerate() {
            runner.run_once(plan, seed_of(&plan.params), &format!("run {}/{}", i + 1, plans.len()), &names)?;
        }
        let Some(best) = runner.table.best().cloned() else {
            return Err(Failure::Usage("every run ended with a loss that is no number; try lower rates".into()));
        };
        let plan = plans.iter().find(|plan| plan.values == best.values).unwrap_or(&plans[0]);
        let first_seed = seed_of(&plan.params);
        let mut scores = Vec::new();
        for i in 0..self.seeds {
            let stage = format!("seed {}/{}", i + 1, self.seeds);
            scores.push(runner.run_once(plan, first_seed.wrapping_add(i), &stage, &names)?);
        }
        progress.finish();
        self.tell(&names, &plan.values, &scores, &table)
    }

    /// Fails where a file of the folder is one of those that are read, or is no model where the best one goes.
    fn check_output(&self) -> Result {
        let mut inputs = self.data.paths(&self.stage2.stage2);
        inputs.extend(self.select.iter().chain([&self.grid]).map(PathBuf::as_path));
        for (name, content) in
            [("best.senv", Content::Model), ("results.tsv", Content::Search), ("settings.json", Content::Search)]
        {
            let path = self.output.join(name);
            Destination { path: &path, option: "--output", content, force: None }.check(&inputs)?;
        }
        Ok(())
    }

    /// Fails if the folder holds a search over other data or from other settings.
    fn check_same_search<S: PairSystem + Shown>(&self, params: &S, loaded: &Loaded, scored: &[ScoredPairs]) -> Result {
        let path = self.output.join("settings.json");
        let select: Vec<String> = self.select.iter().map(|path| path.display().to_string()).collect();
        let mut same = json!({
            "files": self.data.names(&self.stage2.stage2),
            "pairs": loaded.first.fingerprint(),
            "vectors": senv_models::vectors_fingerprint(loaded.vectors.as_ref()),
            "select": select,
            "scored": scored.iter().map(ScoredPairs::fingerprint).collect::<Vec<_>>(),
            "settings": params,
        });
        if let Some(second) = &loaded.second {
            let Stage2Args { stage2_epochs: epochs, stage2_lr: lr, .. } = &self.stage2;
            same["stage2"] = json!({ "pairs": second.fingerprint(), "epochs": epochs, "lr": lr });
        }
        let text = senv_eval::to_json(&same);
        match fs::read_to_string(&path) {
            Ok(before) if before == text => Ok(()),
            Ok(_) => {
                let reason =
                    "the search of this folder had other settings or other files; give another --output".into();
                Err(CoreError::BadFile { path, reason }.into())
            }
            Err(_) => Ok(AtomicFile::write_with(&path, |file| std::io::Write::write_all(file, text.as_bytes()))?),
        }
    }

    fn tell(&self, names: &[String], best: &[String], scores: &[f64], table: &RunTable) -> Result {
        let model = self.output.join("best.senv");
        let (middle, n) = (median(scores), scores.len());
        if self.json {
            let settings: serde_json::Map<_, _> =
                names.iter().cloned().zip(best.iter().map(|value| json!(value))).collect();
            return output::print_json(&json!({
                "best": settings,
                "median": middle,
                "scores": scores,
                "runs": table.rows(),
                "model": model.display().to_string(),
            }));
        }
        let columns = names.iter().map(|name| (name.clone(), Align::Left));
        let columns = columns.chain([("seed".into(), Align::Right), ("score".into(), Align::Right)]);
        let mut text = TextTable::new(columns.collect::<Vec<_>>());
        let mut rows: Vec<&Row> = table.rows().iter().collect();
        rows.sort_by(|a, b| a.score.is_nan().cmp(&b.score.is_nan()).then(b.score.total_cmp(&a.score)));
        for row in rows {
            let cells = row.values.iter().cloned().chain([row.seed.to_string(), format!("{:.4}", row.score)]);
            text.row(cells.collect::<Vec<_>>());
        }
        let settings: Vec<String> = names.iter().zip(best).map(|(name, value)| format!("--{name} {value}")).collect();
        output::print(&format!("{text}\nbest: {}, median of {n} seeds {middle:.4}", settings.join(" ")))?;
        output::note(&format!("{} is the best model of all runs", model.display()));
        Ok(())
    }
}

fn seed_of<S: PairSystem + Shown>(params: &S) -> u64 {
    params.clone().shared().fit.seed
}

/// What every run of a search needs.
struct Runner<'a> {
    search: &'a Search,
    loaded: &'a Loaded,
    select: &'a [ScoredPairs],
    progress: &'a TrainingProgress,
    table: &'a mut RunTable,
}

impl Runner<'_> {
    /// The score of a combination with a seed: of the table, or of a run that then stands there.
    fn run_once<S: PairSystem + Shown>(
        &mut self,
        plan: &Plan<S>,
        seed: u64,
        stage: &str,
        names: &[String],
    ) -> Result<f64> {
        if let Some(row) = self.table.find(seed, &plan.values) {
            return Ok(row.score);
        }
        let what: Vec<String> = names.iter().zip(&plan.values).map(|(name, value)| format!("{name} {value}")).collect();
        self.progress.stage(format!("{stage}  {}", what.join("  ")));
        let mut params = plan.params.clone();
        params.shared().fit.seed = seed;
        let began = Instant::now();
        let (score, step) = match self.train(&params) {
            Err(
                Error::Diverged { step, .. }
                | Error::NotLearning { step, .. }
                | Error::Outgrown { step, .. }
                | Error::ExplodingGradient { step, .. },
            ) => (f64::NAN, step),
            Ok(trained) if trained.stopped == Stopped::Interrupted => {
                self.progress.finish();
                output::warn("stopped: the same command goes on with the run that was under way");
                return Err(Failure::Interrupted);
            }
            trained => {
                let trained = trained?;
                let (step, score) = trained.best.unwrap_or((trained.steps, f64::NAN));
                if self.table.best().is_none_or(|best| score > best.score) {
                    // Before the line is written: a model without a line is made once more, a line without one is not.
                    trained.model.write(&self.model())?;
                }
                (score, step)
            }
        };
        self.progress.note(&format!("{stage}: {}: {score:.4}", what.join(", ")));
        self.table.push(Row {
            seed,
            values: plan.values.clone(),
            score,
            step,
            seconds: began.elapsed().as_secs_f64(),
        })?;
        Ok(score)
    }

    /// One stage, or two; the second goes on from the best weights of the first.
    fn train<S: PairSystem + Shown>(&self, params: &S) -> senv_models::Result<Trained<S::Model>> {
        let (data, vectors) = (&self.loaded.first, self.loaded.vectors.as_ref());
        match &self.loaded.second {
            None => params.fit_from(data, vectors, None, self.select, self.progress),
            Some(second) => {
                let stage2 = |fit: &mut FitParams| self.search.stage2.apply(fit);
                params.fit_two_stages((data, second), stage2, vectors, self.select, self.progress)
            }
        }
    }

    fn model(&self) -> PathBuf {
        let folder: &Path = &self.search.output;
        folder.join("best.senv")
    }
}
