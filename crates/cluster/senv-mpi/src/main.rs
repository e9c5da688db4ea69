//! `senv-mpi`: trains a model on several machines. The program parses arguments and prints; the libraries do the rest.

mod args;
mod progress;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::ArgMatches;
use senv::{
    CheckpointPlan, FastSentParams, Sent2VecParams, TextSystem, TrainJob, TrainOptions, Word2VecParams,
    model::SavedModel, train_job::CheckOn,
};
use senv_core::{files::Destination, ranks::Reduce};
use senv_mpi::MpiRank;

use self::{args::system, progress::Shown};

/// Exit status after an interruption by the user.
const INTERRUPTED: u8 = 130;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let commands = [system::<Sent2VecParams>(), system::<Word2VecParams>(), system::<FastSentParams>()];
    // Parse before MPI starts: help needs no other process.
    let matches = args::program().subcommands(commands).get_matches();
    let Some(universe) = mpi::initialize() else {
        eprintln!("error: MPI could not be initialized");
        return ExitCode::FAILURE;
    };
    let rank = MpiRank::new(mpi::traits::Communicator::duplicate(&universe.world()));
    let done = match matches.subcommand() {
        Some(("sent2vec", args)) => train::<Sent2VecParams>(args, &rank),
        Some(("word2vec", args)) => train::<Word2VecParams>(args, &rank),
        Some(("fast-sent", args)) => train::<FastSentParams>(args, &rank),
        _ => Err("no such system".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            eprintln!("error: rank {}: {error}", rank.rank());
            rank.abort(1)
        }
    }
}

/// Trains, and writes the model on rank 0. Returns false if the user stopped the run.
fn train<S: TextSystem<Model: SavedModel>>(args: &ArgMatches, rank: &MpiRank) -> Result<bool> {
    let params = args::params::<S>(args)?;
    params.check()?;
    let path = |name: &str| args.get_one::<PathBuf>(name);
    let output = path("output").ok_or("--output is missing")?;
    let input: Vec<PathBuf> = args.get_many("input").into_iter().flatten().cloned().collect();
    let resume = args.get_flag("resume");
    let checkpoint = path("checkpoint").cloned().unwrap_or_else(|| with_suffix(output, ".checkpoint"));
    let checkpoint = with_suffix(&checkpoint, &format!(".{}-of-{}", rank.rank() + 1, rank.n_ranks()));
    if checkpoint.exists() && !resume && !args.get_flag("restart") {
        let path = checkpoint.display();
        return Err(format!(
            "{path} is left from an earlier run; continue with --resume, or start over with --restart"
        )
        .into());
    }
    // Otherwise hours of training would end with this error.
    if let Some(folder) = output.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(format!("the folder {} for the model does not exist", folder.display()).into());
    }
    if rank.rank() == 0 && output.exists() && !args.get_flag("force") {
        return Err(format!("{} exists; use --force to overwrite it", output.display()).into());
    }
    let shown = Shown::new(rank.rank() == 0)?;
    let options = TrainOptions {
        threads: args.get_one::<usize>("threads").copied().unwrap_or(1),
        checkpoint: Some(CheckpointPlan {
            path: checkpoint.clone(),
            every: args.get_one("checkpoint_every").copied(),
            resume,
        }),
        observer: &shown,
        ranks: Some(rank),
        text: args::text(args),
        scratch_dir: path("scratch").cloned(),
        ..TrainOptions::default()
    };
    let checks = rank.rank() == 0 && !args.get_flag("no_check");
    let check = if checks { CheckOn::Sample } else { CheckOn::Nothing };
    let job = TrainJob { check, options, ..TrainJob::new(params, &input[..]) };
    let outcome = match job.run() {
        Err(senv::Error::Core(senv_core::Error::Interrupted { action })) => {
            let kept = if checkpoint.exists() {
                "to continue, run the same command with --resume"
            } else {
                "nothing was trained in this run"
            };
            shown.say(&format!("stopped while {action}; {kept}"));
            return Ok(false);
        }
        Err(senv::Error::Stopped { .. }) => {
            shown.say("stopped; to continue from the checkpoints, run the same command with --resume");
            return Ok(false);
        }
        done => done?,
    };
    let trained = &outcome.trained;
    if rank.rank() == 0 {
        trained.model.write(Destination::File(output))?;
        shown.say(&format!("{} written", output.display()));
        if let Some(check) = outcome.check() {
            check?.warnings.iter().for_each(|warning| shown.say(&format!("warning: {warning}")));
        }
    }
    for path in [checkpoint.clone(), with_suffix(&checkpoint, ".previous")] {
        if path.exists() {
            fs::remove_file(&path)?;
        }
    }
    Ok(true)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
