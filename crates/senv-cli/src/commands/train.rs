//! `senv train`: text to a model.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use clap::Subcommand;
use senv_core::{AtomicFile, Observer};
use senv_models::{PvDbow, Sent2Vec, Trained, Word2Vec};
use serde_json::json;

pub(crate) use super::train_args::with_defaults;
use super::train_args::{Common, PvDbowArgs, Sent2VecArgs, Word2VecArgs};
use crate::{
    commands::file_name,
    failure::{Failure, Result},
    interrupt::Interrupt,
    output::{self, duration, plural, short},
    progress::TrainingProgress,
    text::is_dash,
};

/// Learn vectors from text.
#[derive(Debug, clap::Args)]
pub(crate) struct Train {
    #[command(subcommand)]
    system: System,
}

#[derive(Debug, Subcommand)]
enum System {
    /// Sent2Vec: words and n-grams that predict the other words of their sentence.
    #[command(after_help = "\
Examples:
  senv train sent2vec --input text.txt --output model.senv
  senv train sent2vec --input a.gz b.zst --output model.senv --dim 300 --word-ngrams 2 --epochs 10
  senv train sent2vec --input wiki.txt --output wiki.senv --preset wiki-bi --checkpoint-every 2h

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Sent2vec(Sent2VecArgs),
    /// word2vec: word vectors; a sentence is the mean of its words.
    #[command(after_help = "\
Example:
  senv train word2vec --input text.txt --output words.senv --architecture skip-gram --window 10

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Word2vec(Word2VecArgs),
    /// PV-DBOW: a vector for each sentence that predicts its words; new sentences are fitted.
    #[command(after_help = "\
Example:
  senv train pv-dbow --input text.txt --output model.senv

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    PvDbow(PvDbowArgs),
}

impl Train {
    pub(crate) fn run(self, threads: usize) -> Result {
        match self.system {
            System::Sent2vec(args) => {
                let params = args.params(threads);
                let job = Job::new(&args.common, params.training.epochs)?;
                job.run(
                    |observer| params.fit_files(&job.common.input, &job.common.corpus_options(threads), observer),
                    |model: &Sent2Vec, path| model.save(path),
                )
            }
            System::Word2vec(args) => {
                let params = args.params(threads);
                let job = Job::new(&args.common, params.training.epochs)?;
                job.run(
                    |observer| params.fit_files(&job.common.input, &job.common.corpus_options(threads), observer),
                    |model: &Word2Vec, path| model.save(path),
                )
            }
            System::PvDbow(args) => {
                let params = args.params(threads);
                let job = Job::new(&args.common, params.training.epochs)?;
                job.run(
                    |observer| params.fit_files(&job.common.input, &job.common.corpus_options(threads), observer),
                    |model: &PvDbow, path| model.save(path),
                )
            }
        }
    }
}

/// Known words of a text below which a hint is given: some five thousand sentences.
const SHORT_TEXT: u64 = 100_000;

/// Epochs that are enough for a short text.
const MANY_EPOCHS: u32 = 20;

/// A run from the first check to the file.
struct Job<'a> {
    common: &'a Common,
    epochs: u32,
    checkpoint: PathBuf,
    /// The checkpoint that was there before, by its time.
    before: Option<SystemTime>,
}

impl<'a> Job<'a> {
    /// Checks what can be checked before hours of work.
    fn new(common: &'a Common, epochs: u32) -> Result<Self> {
        let checkpoint = common.checkpoint();
        if common.resume && common.input.iter().any(|path| is_dash(path)) {
            let message =
                "--resume needs the text once more, and standard input cannot be read again; give it as a file";
            return Err(Failure::Usage(message.into()));
        }
        for path in [&common.output, &checkpoint] {
            if common.input.iter().any(|input| same_file(input, path)) {
                return Err(Failure::Usage(format!("{} is the text itself; give another --output", path.display())));
            }
            check_writable(path)?;
        }
        if same_file(&common.output, &checkpoint) || common.output == checkpoint {
            return Err(Failure::Usage("the model and its checkpoint need two files".into()));
        }
        let before = modified(&checkpoint);
        match (common.resume, before.is_some()) {
            (true, false) => {
                output::note(&format!("there is no checkpoint {} yet: starting anew", checkpoint.display()))
            }
            (false, true) => output::warn(&format!(
                "{} was left by an earlier run and will be replaced; --resume would go on from it",
                checkpoint.display()
            )),
            _ => {}
        }
        Ok(Self { common, epochs, checkpoint, before })
    }

    fn run<M>(
        &self,
        fit: impl FnOnce(&dyn Observer) -> senv_models::Result<Trained<M>>,
        save: impl Fn(&M, &Path) -> senv_models::Result<()>,
    ) -> Result {
        let interrupt = Interrupt::install()?;
        let progress = TrainingProgress::new(self.epochs, interrupt);
        let trained = fit(&progress);
        progress.finish();
        let trained = match trained {
            Err(senv_models::Error::Core(senv_core::Error::Interrupted { action })) => {
                output::warn(&format!("stopped while {action}: nothing is trained in this run, nothing is written"));
                return Err(Failure::Interrupted);
            }
            trained => trained?,
        };
        if trained.interrupted {
            return Err(self.interrupted(progress.done()));
        }
        let output = &self.common.output;
        if let Err(error) = save(&trained.model, output) {
            return Err(self.rescue(error, |path| save(&trained.model, path)));
        }
        // Only what belongs to this run: it was resumed from here, or has written it.
        let now = modified(&self.checkpoint);
        if now.is_some() && (self.common.resume || now != self.before) {
            fs::remove_file(&self.checkpoint).map_err(|e| senv_core::Error::io("remove", &self.checkpoint, e))?;
        }
        self.tell(&trained)
    }

    fn tell<M>(&self, trained: &Trained<M>) -> Result {
        let output = &self.common.output;
        let bytes = fs::metadata(output).map_or(0, |file| file.len());
        let (words, time) = (plural(trained.tokens, "word"), duration(trained.training));
        let (rate, loss) = (short(trained.tokens_per_second()), trained.loss);
        output::note(&format!("trained on {words} in {time} ({rate} words/s), loss {loss:.3}"));
        output::note(&format!("{} written ({})", output.display(), output::bytes(bytes)));
        if self.is_short(trained.tokens) {
            output::note("hint: on a text as short as this, more --epochs and a lower --min-count help");
        }
        if self.common.json {
            output::print_json(&json!({
                "model": output.display().to_string(),
                "model_bytes": bytes,
                "tokens": trained.tokens,
                "loss": trained.loss,
                "training_seconds": trained.training.as_secs_f64(),
                "tokens_per_second": trained.tokens_per_second(),
            }))?;
        }
        Ok(())
    }

    /// Whether the text is so short that the usual settings leave much of it unused, and they were left as they are.
    fn is_short(&self, tokens: u64) -> bool {
        let usual = self.epochs < MANY_EPOCHS || self.common.min_count.is_none();
        usual && !self.common.resume && tokens / u64::from(self.epochs.max(1)) < SHORT_TEXT
    }

    fn interrupted(&self, done: f64) -> Failure {
        let how = if self.common.input.iter().any(|path| is_dash(path)) {
            "write the text to a file, then the same command with that --input and --resume goes on from there"
        } else {
            "the same command with --resume goes on from there"
        };
        let checkpoint = self.checkpoint.display();
        output::warn(&format!("stopped at {:.1} %; {checkpoint} is written: {how}", 100.0 * done));
        Failure::Interrupted
    }

    /// The model could not be written where it should be: hours of work go to the first place that takes them.
    fn rescue(&self, error: senv_models::Error, save: impl Fn(&Path) -> senv_models::Result<()>) -> Failure {
        output::warn(&format!("{} is not written; trying elsewhere", self.common.output.display()));
        let name = format!("{}.rescued", file_name(&self.common.output));
        let beside = self.checkpoint.parent().map(Path::to_owned);
        let folders = [std::env::current_dir().ok(), Some(std::env::temp_dir()), beside];
        let rescued = folders.into_iter().flatten().map(|folder| folder.join(&name)).find(|path| save(path).is_ok());
        let kept = modified(&self.checkpoint).map(|_| self.checkpoint.display());
        match (rescued, kept) {
            (Some(path), _) => output::warn(&format!("the model is saved as {} instead: move it", path.display())),
            (None, Some(checkpoint)) => output::warn(&format!(
                "the model is lost, the checkpoint {checkpoint} is kept: make room and use --resume"
            )),
            (None, None) => output::warn("the model is lost: no folder took it"),
        }
        error.into()
    }
}

/// Fails if a file cannot be written to where it should appear; nothing is left behind.
fn check_writable(path: &Path) -> Result {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let reason = format!("there is no folder {}; create it or give another name", folder.display());
        return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
    }
    match fs::metadata(path) {
        // Devices and pipes are not opened twice.
        Ok(file) if !file.is_file() && !file.is_dir() => Ok(()),
        _ => {
            // Dropped, it takes its temporary file with it.
            AtomicFile::create(path)?;
            Ok(())
        }
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}
