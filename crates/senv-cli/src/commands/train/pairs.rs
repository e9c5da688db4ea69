//! `senv train pp`, `senv train cse` and `senv train gran`: training on pairs, in one stage or two.

use std::path::PathBuf;

use senv::{PairSystem, system::stage_files, train_job::CheckOn};

use super::{
    data_args::read_scored,
    hyper_args::Shown,
    pair_args::PairArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{failure::Result, progress::Unit};

/// Runs a system on pairs.
pub(crate) fn train<S: PairSystem + Shown>(args: &PairArgs<S>, threads: usize) -> Result {
    let PairArgs { run: args, preset, params: given } = args;
    let mut params = args.recipe.params(preset, given)?;
    given.check_training(!args.dev.dev.is_empty())?;
    let group = params.shared().pairs.groups_pairs();
    args.data.check_tables()?;
    let scored = read_scored(&args.dev.dev)?;
    let mut reads = args.data.paths(&args.stage2);
    reads.extend(args.dev.dev.iter().map(PathBuf::as_path));
    let run = TrainingRun {
        reads,
        start: StartFrom::new(Some(&args.init_model), &args.data.vectors),
        init: Some(args.init),
        dev: Some(&scored[..]),
        check: args.check.on(CheckOn::Sample),
        stages: args.stage2.is_given().then(|| stage_files(&args.files.checkpoint())),
        ..TrainingRun::new(&args.files, given, params, Unit::Pairs, threads)
    };
    run.run(|_, _| args.data.files(&args.stage2, group, args.files.scratch_dir()))
}
