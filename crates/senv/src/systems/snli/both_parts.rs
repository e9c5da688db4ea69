//! Fine-tuning of a Skip-thought model with one part or two.

use std::path::Path;

use senv_core::observer::Stage;

use super::{NliPairs, Snli, SnliParams};
use crate::{
    base::train_options::TrainOptions,
    error::{Error, Result},
    model::trained::Trained,
    system::pair_stages::stage_files,
    systems::skip_thought::SkipThought,
};

impl SnliParams {
    /// Fine-tunes a Skip-thought model. Both parts of a combined model are tuned in turn, each with its own classifier.
    /// The result is a Skip-thought model again.
    ///
    /// With a checkpoint, the first part is saved next to it when it is complete
    /// ([`stage_files`](crate::system::stage_files)), and a resumed run continues from there.
    ///
    /// # Errors
    /// The errors of [`SnliParams::fit_skip_thought`]; [`Error::CheckpointMismatch`] if the saved part was tuned with
    /// other settings.
    pub fn tune_both_parts(
        &self,
        base: &SkipThought,
        train: &NliPairs,
        options: &TrainOptions<'_, &NliPairs>,
    ) -> Result<Trained<SkipThought>> {
        let files = options.checkpoint.as_ref().map(|plan| stage_files(&plan.path));
        let resumes = options.checkpoint.as_ref().is_some_and(|plan| plan.resume);
        let kept = files.as_ref().map(|[model, _]| model);
        let (first, report) = match kept.filter(|path| resumes && path.exists()) {
            Some(path) => (self.first_part_of(path)?, None),
            None => {
                options.observer.stage(&Stage::named("part 1/2"));
                let so_far = |snli: &Snli| base.with_tuned(0, snli);
                let tuned =
                    self.fit_skip_thought(base, 0, train, options).map_err(|error| unfinished(error, so_far))?;
                if !tuned.stopped.is_complete() {
                    let (snli, report) = tuned.take_model();
                    let model = base.with_tuned(0, &snli)?;
                    return Ok(report.map(|()| model));
                }
                if let Some(path) = kept {
                    tuned.model.save(path)?;
                }
                let (snli, report) = tuned.take_model();
                (snli, Some(Box::new(report)))
            }
        };
        options.observer.stage(&Stage::named("part 2/2"));
        let mut options = options.clone();
        if let (Some(plan), Some([_, checkpoint])) = (&mut options.checkpoint, files) {
            plan.path = checkpoint;
        }
        let so_far = |snli: &Snli| base.with_tuned(0, &first)?.with_tuned(1, snli);
        let tuned = self.fit_skip_thought(base, 1, train, &options).map_err(|error| unfinished(error, so_far))?;
        let (second, rest) = tuned.take_model();
        let model = base.with_tuned(0, &first)?.with_tuned(1, &second)?;
        Ok(Trained { first_stage: report, ..rest.map(|()| model) })
    }

    fn first_part_of(&self, path: &Path) -> Result<Snli> {
        let first = Snli::open(path)?;
        let text = |params: &Self| serde_json::to_value(params).ok();
        if text(&first.config().params) == text(self) {
            return Ok(first);
        }
        Err(Error::CheckpointMismatch { path: path.to_owned(), what: "different settings of the first part".into() })
    }
}

/// Converts the error of an interrupted part into one with the whole model.
fn unfinished(error: Error, whole: impl FnOnce(&Snli) -> Result<SkipThought>) -> Error {
    match error.unfinished().and_then(|model| model.downcast_ref()).map(whole) {
        Some(Ok(whole)) => Error::stopped(whole),
        Some(Err(error)) => error,
        None => error,
    }
}
