//! `senv tune`: finds the best settings of a grid by the score on a development set.

use std::{fmt, fs, path::PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches, builder::RangedU64ValueParser};
use senv::{
    PairSystem, Start, TrainOptions,
    gradient::ScoredPairs,
    grid_search::{BEST_MODEL, GridOutcome, GridRun, GridSearch, RUN_TABLE, SearchCandidate, SearchGrid},
    system::{StagedPairs, TrainingData},
};
use senv_core::{Error as CoreError, Observer, files::AtomicFile, observer::Stage};
use senv_eval::{Align, TextTable};
use serde_json::json;

use super::train::{HyperArgs, PairFiles, PresetArgs, RecipeChoice, Shown, Stage2Args, read_scored};
use crate::{
    destination::{Content, Destination},
    failure::{Failure, Result},
    interrupt::Interrupt,
    output,
    progress::{TrainingProgress, Unit},
};

/// `senv tune`, with the system and its settings.
#[derive(Debug)]
pub(crate) struct Tune {
    search: Box<dyn RunSearch>,
}

const ABOUT: &str = "Grid search: train with every combination of settings and keep the best model";

const LONG_ABOUT: &str = "Grid search: train with every combination of settings and keep the best model\n\nEach line of the grid file is a \
     setting, an option of `senv train` without its dashes, and the values to try, separated by blanks. A list such as \
     1,2,3 is one value, and # starts a comment.\n\nOptions set what is not in the grid. Combinations run in order, and \
     the last setting changes fastest. Each run adds a line to DIR/results.tsv. The same command continues a stopped \
     search, because it skips finished runs. The best combination then runs with more seeds; senv reports their median \
     and saves the best model of all runs as DIR/best.senv.";

const EXAMPLES: &str = "\
Examples:
  senv tune pp --pairs pairs.tsv --grid grid.txt --select sts-dev.tsv --output search
  senv tune cse --pairs pairs.tsv --init-vectors words.senv --grid grid.txt --select sts-dev.tsv --output search

A grid file:
  margin   = 0.4 0.6 0.8
  l2-words = 1e-5 1e-6
  windows  = 1,2,3 1 2";

/// A search that was parsed.
trait RunSearch: fmt::Debug {
    fn run(&self, threads: usize) -> Result;
}

impl<S: PairSystem + Shown + fmt::Debug> RunSearch for TuneArgs<S> {
    fn run(&self, threads: usize) -> Result {
        self.search.run(&self.preset, &self.params, threads)
    }
}

/// The command for a system, by its name.
struct SystemSearch {
    name: &'static str,
    command: fn() -> Command,
    parse: fn(&ArgMatches) -> std::result::Result<Box<dyn RunSearch>, clap::Error>,
}

impl SystemSearch {
    fn of<S: PairSystem + Shown + fmt::Debug>() -> Self {
        let command = || {
            let name = S::ABOUT.name;
            let command = Command::new(name).about(format!("Search for the best settings of `senv train {name}`"));
            TuneArgs::<S>::augment_args(command).after_help(format!("Example:\n  {}", example(name)))
        };
        Self { name: S::ABOUT.name, command, parse: |matches| Ok(Box::new(TuneArgs::<S>::from_arg_matches(matches)?)) }
    }
}

fn example(system: &str) -> String {
    format!(
        "senv tune {system} --pairs pairs.tsv --init-vectors words.senv --grid grid.txt --select sts-dev.tsv --output search"
    )
}

macro_rules! searches {
    ($($params:ident),+) => { [$(SystemSearch::of::<senv::$params>()),+] };
}

impl Args for Tune {
    fn augment_args(command: Command) -> Command {
        let searches = senv::pair_systems!(searches);
        command
            .about(ABOUT)
            .long_about(LONG_ABOUT)
            .subcommands(searches.iter().map(|search| (search.command)()))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand_value_name("SYSTEM")
            .after_help(EXAMPLES)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Tune {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, matches)| {
            let searches = senv::pair_systems!(searches);
            searches.into_iter().find(|search| search.name == name).map(|search| (search.parse)(matches))
        });
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        Ok(Self { search: found.ok_or_else(missing)?? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A search over hyperparameters of one system.
#[derive(Debug, clap::Args)]
struct TuneArgs<S: senv::System + Shown> {
    #[command(flatten)]
    search: Search,
    #[command(flatten)]
    preset: PresetArgs<S>,
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
    /// Grid file: settings and their values.
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    grid: PathBuf,
    /// Scored pairs that select the best run: SCORE, FIRST, SECOND, separated by tabs.
    ///
    /// The score of a run is its mean correlation over these files.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Search")]
    select: Vec<PathBuf>,
    /// Number of runs of the best combination, each with a different seed, starting at --seed.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = RangedU64ValueParser::<u64>::new().range(1..=1000),
          help_heading = "Search")]
    seeds: u64,
    /// Folder for results.tsv and best.senv; created if needed.
    #[arg(long, short, value_name = "DIR", help_heading = "Search")]
    output: PathBuf,
    /// Print the result as JSON.
    #[arg(long, help_heading = "Search")]
    json: bool,
}

impl Tune {
    pub(crate) fn run(self, threads: usize) -> Result {
        self.search.run(threads)
    }
}

/// The largest grid: a week at one minute per run.
const MAX_COMBINATIONS: usize = 10_000;

impl Search {
    fn run<S: PairSystem + Shown>(&self, preset: &PresetArgs<S>, base: &HyperArgs<S>, threads: usize) -> Result {
        let grid = SearchGrid::read(&self.grid)?;
        if grid.n_combinations() > MAX_COMBINATIONS {
            let n = grid.n_combinations();
            return Err(Failure::Usage(format!(
                "the grid has {n} combinations; at most {MAX_COMBINATIONS} are allowed"
            )));
        }
        let combinations = grid.combinations();
        // All combinations are checked before the first run.
        let settings =
            combinations.iter().map(|values| with_values(base, &grid, values)).collect::<Result<Vec<_>>>()?;
        let params = |given: &HyperArgs<S>, of_vectors| -> Result<S> {
            given.check_training(true)?;
            let mut params = self.recipe.params(preset, given)?;
            let parts = params.shared();
            given.fit_dim(parts.dim, of_vectors);
            Ok(params)
        };
        settings.iter().try_for_each(|given| params(given, None).map(drop))?;
        let select = read_scored(&self.select)?;
        fs::create_dir_all(&self.output).map_err(|e| CoreError::io("create", &self.output, e))?;
        self.check_output()?;

        let progress = TrainingProgress::new(Unit::Pairs, Interrupt::install());
        let mut first = params(base, None)?;
        let vectors = self.data.vectors.open()?;
        let start = vectors.as_ref().map_or(Start::Random, Start::Vectors);
        let files = self.data.files(&self.stage2, first.shared().pairs.groups_pairs(), None)?;
        let reading = TrainOptions { threads, observer: &progress, ..TrainOptions::default() };
        let loaded = match first.read_input(&files, start, &reading) {
            Err(senv::Error::Core(CoreError::Interrupted { .. })) => return Err(Failure::Interrupted),
            loaded => loaded?,
        };
        loaded.reports().iter().for_each(|report| progress.note(&report.to_string()));
        let of_vectors = loaded.start_dim();
        let tokenizer = first.shared().tokenizer.clone();
        let params = |given: &HyperArgs<S>, of_vectors| -> Result<S> {
            let mut params = params(given, of_vectors)?;
            *params.shared().tokenizer = tokenizer.clone();
            Ok(params)
        };
        let base_params = params(base, of_vectors)?;
        self.check_same_search(&base_params, &loaded, &select)?;
        let candidate = |(values, given): (&Vec<String>, &HyperArgs<S>)| {
            Ok(SearchCandidate { values: values.clone(), params: params(given, of_vectors)? })
        };
        let candidates = combinations.iter().zip(&settings).map(candidate).collect::<Result<Vec<_>>>()?;
        let folder = Some(self.output.clone());
        let search = GridSearch { names: grid.names(), candidates, seeds: self.seeds, folder };
        let options = TrainOptions { threads, observer: &progress, dev: Some(&select[..]), ..TrainOptions::default() };
        let found = search.run(
            |params, name| {
                progress.stage(&Stage::named(name));
                params.fit_on(&loaded, &options)
            },
            &progress,
        );
        progress.finish();
        match found {
            Err(senv::Error::Core(CoreError::Interrupted { .. })) => {
                output::warn("stopped; run the same command to continue");
                Err(Failure::Interrupted)
            }
            found => self.tell(&search.names, &search.candidates, &found?),
        }
    }

    /// Fails if a file of the folder is an input, or if the file for the best model is not a model.
    fn check_output(&self) -> Result {
        self.data.check_tables()?;
        let mut inputs = self.data.paths(&self.stage2);
        let others = self.select.iter().chain([&self.grid]).chain(&self.data.vectors.init_vectors);
        inputs.extend(others.map(PathBuf::as_path));
        for (name, content) in
            [(BEST_MODEL, Content::Model), (RUN_TABLE, Content::Search), ("settings.json", Content::Search)]
        {
            let path = self.output.join(name);
            Destination { path: &path, option: "--output", content, force: None }.check(&inputs)?;
        }
        Ok(())
    }

    /// Fails if the folder has a search with other data or settings.
    fn check_same_search<S: PairSystem + Shown>(
        &self,
        params: &S,
        loaded: &StagedPairs<'_>,
        scored: &[ScoredPairs],
    ) -> Result {
        let path = self.output.join("settings.json");
        let select: Vec<String> = self.select.iter().map(|path| path.display().to_string()).collect();
        let mut same = json!({
            "files": self.data.names(&self.stage2),
            "pairs": loaded.first.fingerprint(),
            "vectors": senv::system::vectors_fingerprint(loaded.vectors.as_deref()),
            "select": select,
            "scored": scored.iter().map(senv::gradient::scored_pairs_fingerprint).collect::<Vec<_>>(),
            "settings": params,
        });
        if let Some((second, _)) = &loaded.second {
            let Stage2Args { stage2_epochs: epochs, stage2_lr: lr, .. } = &self.stage2;
            same["stage2"] = json!({ "pairs": second.fingerprint(), "epochs": epochs, "lr": lr });
        }
        let text = senv_eval::to_json(&same);
        match fs::read_to_string(&path) {
            Ok(before) if before == text => Ok(()),
            Ok(_) => {
                let reason =
                    "the search in this folder has other settings or other files; give another --output".into();
                Err(CoreError::BadFile { path, reason }.into())
            }
            Err(_) => {
                let written = AtomicFile::write_with(&path, |file| std::io::Write::write_all(file, text.as_bytes()));
                Ok(written.map_err(CoreError::of_step)?)
            }
        }
    }

    fn tell<S>(&self, names: &[String], candidates: &[SearchCandidate<S>], found: &GridOutcome) -> Result {
        let model = self.output.join(BEST_MODEL);
        let (best, middle, n) = (&candidates[found.best].values, found.median(), found.scores.len());
        if self.json {
            let settings: serde_json::Map<_, _> =
                names.iter().cloned().zip(best.iter().map(|value| json!(value))).collect();
            return output::print_json(&json!({
                "best": settings,
                "median": middle,
                "scores": found.scores,
                "runs": found.runs,
                "model": model.display().to_string(),
            }));
        }
        let columns = names.iter().map(|name| (name.clone(), Align::Left));
        let columns = columns.chain([("seed".into(), Align::Right), ("score".into(), Align::Right)]);
        let mut text = TextTable::new(columns.collect::<Vec<_>>());
        let mut runs: Vec<&GridRun> = found.runs.iter().collect();
        runs.sort_by(|a, b| a.score.is_nan().cmp(&b.score.is_nan()).then(b.score.total_cmp(&a.score)));
        for run in runs {
            let cells = run.values.iter().cloned().chain([run.seed.to_string(), format!("{:.4}", run.score)]);
            text.row(cells.collect::<Vec<_>>());
        }
        let settings: Vec<String> = names.iter().zip(best).map(|(name, value)| format!("--{name} {value}")).collect();
        output::print(&format!("{text}\nbest: {}, median of {n} seeds {middle:.4}", settings.join(" ")))?;
        output::note(&format!("{} is the best model of all runs", model.display()));
        Ok(())
    }
}

/// The hyperparameters of the command line with these values, so a recipe that depends on given values sees them.
fn with_values<S: Shown>(base: &HyperArgs<S>, grid: &SearchGrid, values: &[String]) -> Result<HyperArgs<S>> {
    let with = |given: HyperArgs<S>, (name, value): (&String, &String)| given.with(name, value);
    grid.names().iter().zip(values).try_fold(base.clone(), with).map_err(|failure| match failure {
        Failure::Usage(message) => Failure::Usage(format!("in the grid: {message}")),
        failure => failure,
    })
}
