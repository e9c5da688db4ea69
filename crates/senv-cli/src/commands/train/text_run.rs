//! A run of any system that trains word vectors on running text: text to a model.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use senv::{InitialVectorReport, LossAgainstChance, SavedModel, TextSystem, TrainOptions, Trainer};

use super::{
    check_args::{check_params, checker},
    data_args::{read_scored, start_line, start_of},
    hyper_args::Shown,
    init_args::Shared,
    job::Job,
    outcome::{Beside, Outcome, WriteBeside},
    text_systems::{Common, SystemArgs},
};
use crate::{
    destination::{Content, Destination, is_same},
    failure::{Failure, Result},
    output::plural,
    progress::{TrainingProgress, Unit},
    text::is_dash,
};

/// Trains, writes and checks a model.
pub(crate) fn run<S: TextSystem<Model: SavedModel> + Shown>(args: &SystemArgs<S>, threads: usize) -> Result {
    let none = &[][..];
    let dev = args.validated.as_ref().map_or(none, |validated| &validated.dev.dev);
    if args.validated.is_some() {
        args.given.check_training(!dev.is_empty())?;
    }
    let params = args.params()?;
    let beside = args.documents.as_ref().and_then(|documents| documents.document_vectors.as_deref());
    let beside = beside.map(|path| document_vectors::<S>(&args.common, path)).transpose()?;
    let inputs: Vec<&Path> = args.common.inputs().into_iter().chain(dev.iter().map(PathBuf::as_path)).collect();
    if !S::READS_TREES {
        args.common.note_tables();
    }
    let job = Job::new(&args.common.files, &inputs)?;
    let scored = read_scored(dev)?;
    let mut resolved = params.clone();
    resolved.resolve(args.common.size::<S>());
    let trainer = resolved.common().trainer;
    let unit = match trainer {
        Trainer::NegativeSampling(_) => Unit::Words,
        Trainer::Gradient(_) => Unit::Examples,
    };
    let mut run = TextRun { args, params, threads, dev: S::dev(&scored), document_vectors: beside.is_some() };
    job.run(
        trainer.epochs(),
        unit,
        |progress| Ok(Outcome { beside, ..run.fit(unit, progress)? }),
        |model, path| model.write(path),
    )
}

/// The trained vectors of the lines, written beside the model.
fn document_vectors<S: TextSystem>(common: &Common, path: &Path) -> Result<Beside<S::Model>> {
    let Common { input, files, .. } = common;
    let input = input.paths();
    if let Some(once) = input.iter().find(|path| is_dash(path) || path.metadata().is_ok_and(|file| !file.is_file())) {
        let once = once.display();
        let message =
            format!("--document-vectors reads the text a second time, and {once} cannot be; give it as a file");
        return Err(Failure::Usage(message));
    }
    for (other, what) in [(&files.output, "the model"), (&files.checkpoint(), "the checkpoint")] {
        if is_same(path, other) {
            return Err(Failure::Usage(format!("{what} and --document-vectors need two files")));
        }
    }
    let force = Some(files.force.force);
    Destination { path, option: "--document-vectors", content: Content::Matrix, force }.check(&common.inputs())?;
    let (texts, text) = (input.to_vec(), common.text_options());
    let write: WriteBeside<S::Model> = Box::new(move |model, path| {
        let n = S::write_document_vectors(model, &texts, &text, path)?.unwrap_or(0);
        Ok(format!("{} written ({})", path.display(), plural(n, "vector")))
    });
    Ok(Beside { what: "the matrix of the text's vectors", path: path.to_owned(), write })
}

struct TextRun<'a, S: TextSystem> {
    args: &'a SystemArgs<S>,
    params: S,
    threads: usize,
    dev: Option<S::Dev<'a>>,
    document_vectors: bool,
}

impl<S: TextSystem<Model: SavedModel> + Shown> TextRun<'_, S> {
    fn fit(&mut self, unit: Unit, progress: &TrainingProgress) -> senv::Result<Outcome<S::Model>> {
        let SystemArgs { common, given, validated, .. } = self.args;
        let (model, vectors) = (common.init_model.open()?, common.vectors.open()?);
        if let Some(model) = &model {
            // What a model brings is less than what was given.
            let tokenizer = self.params.common().tokenizer;
            tokenizer.clone_from(model.tokenizer());
            given.set_in(tokenizer)?;
        }
        let start = start_of(model.as_ref(), vectors.as_ref());
        let path = common.init_model.init_model.as_ref().or(common.vectors.init_vectors.as_ref());
        let text = common.corpus_options(self.threads);
        let options = TrainOptions { text, ..common.files.options::<()>(self.threads, progress) };
        let mut data = self.params.read(common.input.paths(), start, &options)?;
        let starts_from_vectors = data.vectors.is_some();
        given.fit_dim(self.params.common().dim, data.vectors.as_ref().map(|vectors| vectors.dim()));
        let sample = common.check.of_corpus(&data.corpus, &data.vocabulary, &check_params(S::INFERS_VECTORS))?;
        let (dim, seed) = {
            let senv::Common { dim, trainer, .. } = self.params.common();
            (*dim, trainer.seed())
        };
        let init = validated.as_ref().map(|validated| validated.init);
        if let Some(init) = init.filter(|init| init.is_trained()) {
            let shared = Shared { tokenizer: &data.tokenizer, dim, seed };
            let vectors = init.train(&data.vocabulary, &data.corpus, &shared, self.threads, progress)?;
            data.vectors = vectors.map(Cow::Owned);
        }
        let found = data.vectors.as_deref().map(|vectors| InitialVectorReport::count(&data.vocabulary, vectors));
        let found = found.unwrap_or(InitialVectorReport { words: data.vocabulary.len(), found: 0 });
        let line = match (path, init) {
            (Some(path), _) => Some(start_line(found, path)),
            (None, init) => init.map(|init| init.line(&common.vectors, found)),
        };
        let options = TrainOptions {
            dev: self.dev.clone(),
            document_vectors: self.document_vectors,
            ..common.files.options(self.threads, progress)
        };
        let trained = self.params.fit_data(&data, &options)?;
        let (loss, mut outcome) = match self.params.common().trainer {
            Trainer::NegativeSampling(training) => {
                let loss = LossAgainstChance::negative_sampling(trained.loss, training.negatives);
                (Some(loss), Outcome::of_text(trained))
            }
            Trainer::Gradient(_) => (None, Outcome::of_gradient_in(unit, trained)),
        };
        outcome.lines.splice(..0, line);
        outcome.check = sample.map(|text| checker(text, &data.tokenizer, loss, starts_from_vectors));
        Ok(outcome)
    }
}
