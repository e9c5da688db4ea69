//! `senv train dict-rep` and `senv train caption-rep`: training texts toward given vectors.

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

/// The arguments of both systems besides texts and targets.
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
    /// Dictionaries: WORD, DEFINITION, separated by a tab; a word can have several.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    definitions: Vec<PathBuf>,
    /// Vectors of the defined words; english is built in.
    ///
    /// A senv model, word2vec text or binary, GloVe, fastText .vec or .bin. Vectors are normalized to length 1, and
    /// words without one are left out.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    target_vectors: PathBuf,
    #[command(flatten)]
    common: TargetArgs<DictRepParams>,
}

/// Arguments of CaptionRep.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new("targets").args(["image_vectors", "stand_in"]).required(true))]
pub(crate) struct CaptionRepArgs {
    /// Captions: IMAGE, CAPTION, separated by a tab; or a COCO file such as captions_train2014.json.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    captions: Vec<PathBuf>,
    /// Image vectors: a .npy matrix with one row per image, in the order of first occurrence.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    image_vectors: Option<PathBuf>,
    /// Model that makes targets from captions if there are no image vectors.
    ///
    /// The target of an image is the mean vector of every second caption, and the other captions are trained on. The
    /// targets are from text, not from images.
    #[arg(long, value_name = "MODEL", help_heading = "Files")]
    stand_in: Option<PathBuf>,
    #[command(flatten)]
    common: TargetArgs<CaptionRepParams>,
}

impl<S> TargetArgs<S>
where
    S: for<'d> System<Input = TextTargets, Dev<'d> = (), Model = TargetModel<S>> + TargetSystem + Shown,
{
    /// Runs from the first check to the written model; `read` returns the texts with their targets.
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
                    progress.note("the targets are means of other captions from a text model, not image vectors");
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
