//! Training on pairs in one stage or two.

use std::path::{Path, PathBuf};

use senv_core::{files::Destination, observer::Stage};

use super::{
    pair_system::{PairModel, PairSystem},
    staged_pairs::StagedPairs,
    start::Start,
};
use crate::{
    base::train_options::TrainOptions,
    data::{PairData, PairFiles, PairOptions},
    error::{Error, Result},
    gradient::scored_pairs::ScoredPairs,
    model::{handle::Model, saved::SavedModel, trained::Trained},
    start::initial::InitialVectorReport,
};

/// Reads files of pairs for a system, and sets parameters that follow from them and from the start
/// ([`PairSystem::prepare`]).
pub(crate) fn read_pairs<'a, S: PairSystem>(
    system: &mut S,
    files: &PairFiles,
    start: Start<'a>,
    options: &TrainOptions<'_, &[ScoredPairs]>,
) -> Result<StagedPairs<'a>> {
    let mut inputs = files.inputs.clone();
    inputs.extend(files.second.iter().flat_map(|second| second.inputs.iter().cloned()));
    let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
    system.prepare(start, &paths, options.observer);
    let kept = options.kept_reading();
    let mut reading = PairOptions { threads: options.threads, kept, ..files.options.clone() };
    reading.tokenizer.clone_from(system.common().tokenizer);
    let vectors = start.vectors()?;
    let keeps = start.model().is_some() || reading.keep_vector_words;
    if let Some(vectors) = vectors.as_ref().filter(|_| keeps) {
        reading.keep.extend(vectors.vocabulary().iter().map(|(_, word, _)| word.to_owned()));
    }
    let mut first = PairData::read(&inputs, &reading, options.observer)?;
    let second = files.second.as_ref().map(|stage| -> Result<_> {
        let at = files.inputs.len();
        let mut data = PairData::new(first.vocabulary.clone(), first.sources.split_off(at));
        data.reports = first.reports.split_off(at);
        check_there(&first)?;
        check_there(&data)?;
        Ok((data, stage.clone()))
    });
    let second = second.transpose()?;
    Ok(StagedPairs { first, second, start, vectors })
}

/// Refuses a stage without a pair.
fn check_there(data: &PairData) -> Result<()> {
    if data.sources.iter().any(|source| source.n_groups() > 0) {
        return Ok(());
    }
    Err(Error::NoExamplesIn { paths: data.reports.iter().map(|report| report.path.clone()).collect() })
}

/// Returns the two files next to the checkpoint of a run in two stages. They are the model of the first stage, from
/// which a resumed run continues, and the checkpoint of the second.
#[must_use]
pub fn stage_files(checkpoint: &Path) -> [PathBuf; 2] {
    [".stage1", ".stage2"].map(|suffix| {
        let mut name = checkpoint.to_owned();
        name.as_mut_os_string().push(suffix);
        name
    })
}

/// Trains in one stage, or in two: the second starts from the best weights of the first. If the first stage does not
/// finish, its model is the result.
pub(crate) fn fit_stages<S: PairSystem>(
    system: &S,
    data: &StagedPairs<'_>,
    options: &TrainOptions<'_, &[ScoredPairs]>,
) -> Result<Trained<S::Model>> {
    let mut system = system.clone();
    // A resumed run compares settings with those of the first stage.
    system.resolve_lr(data.vectors.as_deref().or(options.vectors), data.start.model(), options.observer);
    let Some((second, stage)) = &data.second else { return fit_first(&system, data, options) };
    let files = options.checkpoint.as_ref().map(|plan| stage_files(&plan.path));
    let kept = files.as_ref().map(|[model, _]| model);
    let resumes = options.checkpoint.as_ref().is_some_and(|plan| plan.resume);
    let (first, report) = match kept.filter(|model| resumes && model.exists()) {
        Some(path) => (first_stage_of(&system, path)?, None),
        None => {
            options.observer.stage(&Stage::named("stage 1/2"));
            let trained = fit_first(&system, data, options)?;
            if !trained.stopped.is_complete() {
                return Ok(trained);
            }
            if let Some(path) = kept {
                trained.model.write(Destination::File(path))?;
            }
            let (model, report) = trained.take_model();
            (model, Some(Box::new(report)))
        }
    };
    options.observer.stage(&Stage::named("stage 2/2"));
    // Use what the first stage chose by its data.
    let mut system = first.params().clone();
    let fit = system.shared().fit;
    fit.epochs = stage.epochs.or(fit.epochs);
    fit.lr = stage.lr.or(fit.lr);
    let mut options = options.clone();
    if let (Some(plan), Some([_, checkpoint])) = (&mut options.checkpoint, files) {
        plan.path = checkpoint;
    }
    let trained = system.fit_from(second, Some(&first), &options)?;
    Ok(Trained { first_stage: report, ..trained })
}

/// Trains the first stage. From a model, its words keep their vectors, and new words start from what the model makes of
/// them and of the words around them ([`PairData::vectors_from`]).
fn fit_first<S: PairSystem>(
    system: &S,
    data: &StagedPairs<'_>,
    options: &TrainOptions<'_, &[ScoredPairs]>,
) -> Result<Trained<S::Model>> {
    let Some(model) = data.start.model() else {
        return system.fit_from(&data.first, None, &Start::options(data.vectors.as_deref(), options));
    };
    let vectors = data.first.vectors_from(model)?;
    let mut trained = system.fit_from(&data.first, None, &Start::options(Some(&vectors), options))?;
    trained.initial = InitialVectorReport::of_model(&data.first.vocabulary, model);
    Ok(trained)
}

/// Returns the model of the first stage of an earlier run, if it was made with these settings.
fn first_stage_of<S: PairSystem>(system: &S, path: &Path) -> Result<S::Model> {
    let other = |what: &str| Error::CheckpointMismatch { path: path.to_owned(), what: what.into() };
    let model = Model::open(path)?;
    let model = model.downcast_ref::<S::Model>().cloned().ok_or_else(|| other("a model of a different kind"))?;
    let text = |params: &S| serde_json::to_value(params).ok();
    if text(model.params()) == text(system) { Ok(model) } else { Err(other("different settings of the first stage")) }
}
