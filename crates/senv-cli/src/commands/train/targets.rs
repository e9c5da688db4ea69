//! `senv train dict-rep` and `senv train caption-rep`: texts towards given vectors.

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use senv::{
    CaptionRepParams, DictRepParams, Model, System,
    targets::{TargetModel, TargetSystem, TextTargets},
    train_job::CheckOn,
};
use senv_core::Observer;
use senv_data::{Definitions, SentenceGroups};
use senv_store::read_npy;
use serde_json::json;

use super::{
    check_args::CheckArgs,
    data_args::{VectorArgs, finite},
    files::RunFiles,
    hyper_args::{HyperArgs, Shown},
    preset::PresetArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{
    failure::Result,
    progress::{TrainingProgress, Unit},
};

/// What both systems take besides their texts and targets.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TargetArgs<S: System + Shown> {
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    preset: PresetArgs<S>,
    #[command(flatten)]
    params: HyperArgs<S>,
    #[command(flatten)]
    check: CheckArgs,
}

/// Arguments of DictRep.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DictRepArgs {
    /// Dictionaries: WORD, DEFINITION, separated by a tab; a word may have several.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    definitions: Vec<PathBuf>,
    /// The vectors of the words that are defined, brought to length 1: a model of senv, word2vec text or binary, GloVe,
    /// fastText .vec or .bin; english is the model that is part of senv. Words that it lacks are left out.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    target_vectors: PathBuf,
    #[command(flatten)]
    common: TargetArgs<DictRepParams>,
}

/// Arguments of CaptionRep.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new("targets").args(["image_vectors", "stand_in"]).required(true))]
pub(crate) struct CaptionRepArgs {
    /// Captions: IMAGE, CAPTION, separated by a tab; or COCO's captions_train2014.json and its like.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    captions: Vec<PathBuf>,
    /// Matrix of image vectors, .npy: a row for each image, in the order in which the images first occur.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    image_vectors: Option<PathBuf>,
    /// Where there are no image vectors: the mean of the vectors that this model gives to every second caption of an
    /// image is its target, and the other captions are trained on. The targets are text and no images.
    #[arg(long, value_name = "MODEL", help_heading = "Files")]
    stand_in: Option<PathBuf>,
    #[command(flatten)]
    common: TargetArgs<CaptionRepParams>,
}

impl<S> TargetArgs<S>
where
    S: for<'d> System<Input = TextTargets, Dev<'d> = (), Model = TargetModel<S>> + TargetSystem + Shown,
{
    /// Trains from the first check to the file; `read` gives the texts with their targets.
    fn train(
        &self,
        reads: Vec<&Path>,
        threads: usize,
        read: impl FnOnce(&TrainingProgress) -> senv::Result<TextTargets>,
    ) -> Result {
        let mut params = self.preset.settings();
        self.params.apply(&mut params)?;
        self.params.check_training(params.settings().held_out > 0.0)?;
        let run = TrainingRun {
            reads,
            start: StartFrom::new(None, &self.vectors),
            check: self.check.on(CheckOn::Sample),
            ..TrainingRun::new(&self.files, &self.params, params, Unit::Examples, threads)
        };
        run.run(|progress, facts| {
            let pairs = read(progress)?;
            progress.note(&format!("{} texts with {} targets", pairs.n_texts(), pairs.n_targets()));
            facts.insert("texts".into(), json!(pairs.n_texts()));
            facts.insert("targets".into(), json!(pairs.n_targets()));
            Ok(pairs)
        })
    }
}

impl DictRepArgs {
    pub(crate) fn train(&self, threads: usize) -> Result {
        let inputs: Vec<&Path> = self.definitions.iter().chain([&self.target_vectors]).map(PathBuf::as_path).collect();
        self.common.train(inputs, threads, |progress| {
            let sets = self.definitions.iter().map(Definitions::read).collect::<senv_data::Result<Vec<_>>>()?;
            let vectors = finite(Model::open_verified(&self.target_vectors)?.to_embeddings()?, &self.target_vectors)?;
            TextTargets::definitions(&sets, &vectors, progress)
        })
    }
}

impl CaptionRepArgs {
    pub(crate) fn train(&self, threads: usize) -> Result {
        let targets = self.image_vectors.iter().chain(&self.stand_in);
        let inputs: Vec<&Path> = self.captions.iter().chain(targets).map(PathBuf::as_path).collect();
        self.common.train(inputs, threads, |progress| {
            let sets = self.captions.iter().map(SentenceGroups::read).collect::<senv_data::Result<Vec<_>>>()?;
            match (&self.image_vectors, &self.stand_in) {
                (Some(path), _) => TextTargets::captions(&sets, &read_npy(path)?, path),
                (None, Some(path)) => {
                    progress.note(
                        "the targets stand in for image vectors: means of other captions by a model of text, not of images",
                    );
                    let model = Model::open(path)?;
                    let targets = TextTargets::stand_in(CaptionRepParams::KIND, &sets, &model, progress)?;
                    Ok(targets.with_terms(model.terms()))
                }
                // One of them is required.
                (None, None) => Ok(TextTargets::captions(&sets, &senv_core::Table::zeros(0, 1)?, "-")?),
            }
        })
    }
}
