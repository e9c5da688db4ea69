//! `senv train` without a system: a recipe chosen for the data.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
};

use clap::builder::{PathBufValueParser, TypedValueParser};
use senv::{
    Model, Observer, Recipe, Sent2VecParams, System, Terms, TrainJob, TrainOptions,
    check::{CheckParams, CheckText, LossAgainstChance},
    data::TextSample,
    gradient::Stopped,
    model::{Abilities, SavedModel},
    recipe::{NeighbourRecipe, StartChoice, StartKind},
    train_job::CheckOn,
};
use senv_core::{TextOptions, Tokenizer};
use serde_json::json;

use super::{
    check_args::CheckArgs,
    files::RunFiles,
    job::{Job, before_training},
    notes::Notes,
    outcome::{Outcome, Unlearned},
    run::{Facts, StartFrom},
    system_names,
};
use crate::{
    commands::ENGLISH,
    failure::{Failure, Result},
    folders::{Collections, open_folders},
    output::plural,
    progress::{TrainingProgress, Unit},
    text::{TextArgs, is_dash},
};

/// The value of `--from` that is not a model.
const SCRATCH: &str = "scratch";

/// The arguments of `senv train` without a system: the data and a few options.
#[derive(Debug, clap::Args)]
pub(crate) struct RecipeArgs {
    /// Text, one sentence per line, with a blank line between documents.
    ///
    /// Plain, .gz or .zst; a folder of .txt and .md files; - is standard input.
    #[arg(value_name = "FILE", conflicts_with = "input", value_parser = PathBufValueParser::new().try_map(text_file))]
    paths: Vec<PathBuf>,
    /// The same as FILE.
    #[arg(long, short, value_name = "FILE", num_args = 1.., required_unless_present_any = ["pairs", "paths"],
          help_heading = "Files")]
    input: Vec<PathBuf>,
    /// Pairs with the same meaning: FIRST, SECOND, separated by a tab.
    ///
    /// Use them with text or without.
    #[arg(long, value_name = "FILE", num_args = 1.., group = "quoted", help_heading = "Files")]
    pairs: Vec<PathBuf>,
    /// What to start from [default: the best in a trial on a part of the data]
    ///
    /// scratch means random vectors, english the built-in model; or give any model. The result has the terms of the
    /// model that it starts from (senv info), so the trial includes the built-in model only if its terms are
    /// permissive. The words of a model stay known and start from its vectors, new words start from the words around
    /// them, and text is tokenized as by the model. For text without an order, the halves of its sentences are then
    /// used as pairs.
    #[arg(long, visible_alias = "init-model", value_name = "scratch|english|MODEL", help_heading = "Training")]
    from: Option<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    /// Dimension of the vectors, 1 to 65536 [default: 300; 100 for text without an order]
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<usize>,
    /// Random seed [default: 1]
    #[arg(long, value_name = "N", help_heading = "Training")]
    seed: Option<u64>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    check: CheckArgs,
}

/// Parses the path of a text; refuses a path that looks like the misspelled name of a system.
fn text_file(path: PathBuf) -> std::result::Result<PathBuf, String> {
    let is_word = path.components().count() == 1 && path.extension().is_none() && !is_dash(&path);
    if !is_word || path.exists() {
        return Ok(path);
    }
    let names = system_names();
    match names.iter().find(|name| path.as_os_str() == name.as_str()) {
        Some(name) => {
            Err(format!("no such file; the name of a system comes first: senv train {name}, then all options"))
        }
        None => Err(format!("no such file and no such system; the systems are {}", names.join(", "))),
    }
}

impl RecipeArgs {
    pub(crate) fn run(mut self, threads: usize) -> Result {
        self.input.append(&mut self.paths);
        open_folders(&mut self.input, self.text.content(), Collections::Refused)?;
        if self.input.iter().any(|path| is_dash(path)) && self.input.len() + self.pairs.len() > 1 {
            return Err(Failure::Usage("standard input (-) cannot be combined with other files".into()));
        }
        let model = self.from.as_ref().filter(|from| from.as_os_str() != SCRATCH);
        let inputs = self.input.iter().chain(&self.pairs).chain(model);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        let job = Job::new(&self.files, &inputs)?;
        self.text.check_tables(&self.input)?;
        let text = self.text.options();
        let notes = Notes::stopped_by(job.interrupt());
        let options = TrainOptions { observer: &notes, text: text.clone(), ..TrainOptions::default() };
        let files: Vec<&PathBuf> = self.input.iter().chain(&self.pairs).collect();
        let sample = TextSample::read_of(&files, &text);
        check_there(&files)?;
        let mut recipe = Recipe::choose_by(&sample, &self.input, &self.pairs, &options)?;
        let mut choice = None;
        match (model, &self.from, self.dim) {
            (Some(path), ..) => {
                let model = Model::open_verified(path)?;
                if let Some(terms) = model.terms() {
                    notes.note(&format!("start: fine-tuned from {} ({})", path.display(), Terms::new(terms).license()));
                }
                recipe.fine_tune_from(&model, &notes)?;
            }
            (None, Some(_), _) => {}
            (None, None, Some(_)) => notes.note("start: from scratch, because --dim is given"),
            (None, None, None) => {
                let (english, share) = (senv::english()?, senv_english::MIN_KNOWN_SHARE);
                let (chosen, why) = recipe.choose_start(&sample, &english, share, &options).map_err(before_training)?;
                recipe = chosen;
                notes.note(&format!("{why} (choose with --from scratch, english or MODEL)"));
                choice = Some(why);
            }
        }
        if let Some(seed) = self.seed {
            recipe.set_seed(seed);
        }
        if let Some(dim) = self.dim {
            recipe.set_dim(dim);
        }
        let save = |model: &Model, path: &Path| model.save(path);
        let run = Run { args: &self, choice, text, threads };
        let ended = match recipe {
            Recipe::Neighbours(recipe) => {
                recipe.params.check()?;
                job.run(Unit::Pairs, |progress| run.on_pairs(&recipe, progress), save)
            }
            Recipe::Words(recipe) => {
                recipe.params.check()?;
                job.run(Unit::Words, |progress| run.on_words(&recipe.params, progress), save)
            }
            Recipe::Unchanged(model) => job.run(Unit::Pairs, |_| run.unchanged(model), save),
        };
        ended.map_err(too_little)
    }
}

/// The error for too little text: no option helps, because the settings are chosen here.
fn too_little(failure: Failure) -> Failure {
    use senv::Error::Core;
    let Failure::Failed(error) = &failure else { return failure };
    let Some(Core(senv_core::Error::EmptyVocabulary { distinct, highest, .. })) = error.downcast_ref() else {
        return failure;
    };
    Failure::Failed(
        format!(
            "the text has {} different words and the most frequent occurs {}, too little to learn from; give more text, or use \
             the built-in English model (senv similarity, senv nearest)",
            distinct,
            plural(*highest, "time"),
        )
        .into(),
    )
}

/// Refuses files that cannot be read, before any note about them.
fn check_there(files: &[&PathBuf]) -> Result {
    for path in files.iter().filter(|path| !is_dash(path)) {
        let file = std::fs::metadata(path).map_err(|error| senv_core::Error::io("open", path, error))?;
        if file.is_file() && file.len() == 0 || is_empty_device(path, &file) {
            return Err(senv_core::Error::EmptyInput { path: path.to_path_buf() }.into());
        }
    }
    Ok(())
}

/// Whether this is /dev/null or a similar device.
fn is_empty_device(path: &Path, metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::{
            fs::File,
            io::{IsTerminal, Read},
            os::unix::fs::FileTypeExt,
        };
        let is_device = metadata.file_type().is_char_device();
        let device = is_device.then(|| File::open(path).ok()).flatten().filter(|device| !device.is_terminal());
        device.is_some_and(|mut device| device.read(&mut [0]).is_ok_and(|n| n == 0))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, metadata);
        false
    }
}

/// A run with chosen settings.
struct Run<'a> {
    args: &'a RecipeArgs,
    choice: Option<StartChoice>,
    text: TextOptions,
    threads: usize,
}

impl Run<'_> {
    fn on_pairs(&self, recipe: &NeighbourRecipe, progress: &TrainingProgress) -> senv::Result<Outcome<Model>> {
        let options: TrainOptions<'_> = self.args.files.options(self.threads, progress);
        let check = self.args.check.on(CheckOn::HeldOut);
        let job = TrainJob {
            start: recipe.start(),
            check,
            options: options.with_dev(None),
            ..TrainJob::new(recipe.params.clone(), &recipe.files)
        };
        let mut outcome = job.run()?;
        let from = match &self.choice {
            Some(StartChoice { start: StartKind::FineTuned, .. }) => Some(Path::new(ENGLISH)),
            _ => self.args.from.as_deref().filter(|from| from.as_os_str() != SCRATCH),
        };
        if outcome.sample.is_none() && check != CheckOn::Nothing {
            // Halves of sentences are not running text: the text itself is read again.
            let starts_from_vectors = from.is_some();
            let (model, loss) = (&outcome.trained.model, outcome.trained.against_chance);
            outcome.sample =
                self.sample_of_text(model.tokenizer(), &SavedModel::abilities(model), starts_from_vectors, loss);
        }
        let start = StartFrom { model: from, vectors: None };
        let line = from.and_then(|_| start.line(None, outcome.trained.initial, Unit::Pairs));
        let mut outcome = Outcome::of_job(Unit::Pairs, outcome.map(Model::from));
        outcome.lines.splice(..0, line);
        Ok(self.with_choice(outcome))
    }

    fn on_words(&self, params: &Sent2VecParams, progress: &TrainingProgress) -> senv::Result<Outcome<Model>> {
        let options = TrainOptions { text: self.text.clone(), ..self.args.files.options(self.threads, progress) };
        let check = self.args.check.on(CheckOn::Sample);
        let job = TrainJob { check, options, ..TrainJob::new(params.clone(), &self.args.input[..]) };
        Ok(self.with_choice(Outcome::of_job(Unit::Words, job.run()?.map(Model::from))))
    }

    fn unchanged(&self, model: Model) -> senv::Result<Outcome<Model>> {
        let sample = self.sample_of_text(model.tokenizer(), &model.abilities(), true, None);
        let lines = vec!["nothing trained: the built-in English model is written unchanged".to_owned()];
        let (stopped, facts) = (Stopped::Finished, Facts::new());
        Ok(self.with_choice(Outcome {
            model,
            stopped,
            lines,
            unlearned: Unlearned::default(),
            sample,
            beside: None,
            facts,
        }))
    }

    /// A sample of the text; `None` if it cannot be read again, or without a check.
    fn sample_of_text(
        &self,
        tokenizer: &Tokenizer,
        abilities: &Abilities<'_>,
        starts_from_vectors: bool,
        loss: Option<LossAgainstChance>,
    ) -> Option<(CheckText, CheckParams)> {
        let files = &self.args.input;
        let is_file = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file());
        let is_checked = self.args.check.on(CheckOn::Sample) == CheckOn::Sample;
        if !is_checked || files.is_empty() || !files.iter().all(is_file) {
            return None;
        }
        let params = CheckParams {
            tokenizer: tokenizer.clone(),
            loss,
            starts_from_vectors,
            on_training_text: true,
            weights_may_help: abilities.average.is_some_and(|average| average.weighting().is_none()),
            ..CheckParams::default()
        };
        // Errors of reading are reported elsewhere.
        let text = CheckText::read(files, &self.text, &CheckParams::default()).ok()?;
        Some((text, params))
    }

    fn with_choice(&self, mut outcome: Outcome<Model>) -> Outcome<Model> {
        outcome.facts.extend(self.choice.as_ref().map(|choice| ("start".to_owned(), json!(choice))));
        outcome
    }
}
