//! `senv train` of the systems that train on words in their sentences: text to a model.

use senv::{InitialVectorReport, LossAgainstChance, PvDbow, SavedModel, TextSystem, TrainOptions};
use senv_core::{Corpus, CorpusOptions, hyperparameters::Hyperparameters};
use senv_store::Embeddings;

use super::{
    check_args::{check_params, checker},
    data_args::{start_line, words_of},
    hyper_args::HyperArgs,
    job::Job,
    outcome::{Beside, Outcome, WriteBeside},
    text_systems::{Common, PvDbowArgs},
};
use crate::{
    destination::{Content, Destination, is_same},
    failure::{Failure, Result},
    output::{self, plural},
    progress::{TrainingProgress, Unit},
    text::is_dash,
};

/// Trains, writes and checks a model.
pub(crate) fn train<S>(common: &Common, given: &HyperArgs<S>, params: S, threads: usize) -> Result
where
    S: TextSystem<Model: SavedModel> + Hyperparameters,
{
    run(common, given, params, threads, None)
}

/// The same for PV-DBOW, which can write the trained vectors of the lines to a file.
pub(crate) fn train_pv_dbow(args: &PvDbowArgs, threads: usize) -> Result {
    let Some(path) = &args.document_vectors else {
        return train(&args.common, &args.params, args.params()?, threads);
    };
    let Common { input, files, .. } = &args.common;
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
    Destination { path, option: "--document-vectors", content: Content::Matrix, force }.check(&args.common.inputs())?;
    let (texts, text) = (input.to_vec(), args.common.text_options());
    let write: WriteBeside<PvDbow> = Box::new(move |model, path| {
        let n = model.write_document_vectors(&texts, &text, path)?;
        Ok(format!("{} written ({})", path.display(), plural(n as u64, "vector")))
    });
    let beside = Beside { what: "the matrix of the text's vectors", path: path.clone(), write };
    run(&args.common, &args.params, args.params()?, threads, Some(beside))
}

fn run<S>(
    common: &Common,
    given: &HyperArgs<S>,
    mut params: S,
    threads: usize,
    beside: Option<Beside<S::Model>>,
) -> Result
where
    S: TextSystem<Model: SavedModel> + Hyperparameters,
{
    let job = Job::new(&common.files, &common.inputs())?;
    let parts = params.shared();
    let epochs = parts.training.epochs;
    // A file without text is an error at once.
    if common.size().words > 0 {
        output::note(&format!(
            "about {}: {} at a learning rate of {}, words that occur {} or more",
            common.size(),
            plural(u64::from(epochs), "epoch"),
            parts.training.lr,
            plural(*parts.min_count, "time"),
        ));
    }
    job.run(
        Some(epochs),
        Unit::Words,
        |progress| {
            let document_vectors = beside.is_some();
            let outcome = fit(common, given, &mut params, threads, document_vectors, progress)?;
            Ok(Outcome { beside, ..outcome })
        },
        |model, path| model.write(path),
    )
}

fn fit<S: TextSystem + Hyperparameters>(
    common: &Common,
    given: &HyperArgs<S>,
    params: &mut S,
    threads: usize,
    document_vectors: bool,
    progress: &TrainingProgress,
) -> senv::Result<Outcome<S::Model>> {
    let mut options = common.corpus_options(threads);
    let model = common.init_model.open(progress)?;
    let parts = params.shared();
    if let Some(model) = &model {
        options.keep = words_of(&model.vectors);
        if let Some(tokenizer) = &model.tokenizer {
            *parts.tokenizer = tokenizer.clone();
            given.set_in(parts.tokenizer)?;
        }
    }
    if model.is_none() {
        given.fit_tokenizer(parts.tokenizer, common.input.paths(), progress);
    }
    let path = model.as_ref().map(|model| model.path).or(common.vectors.init_vectors.as_deref());
    let start = match model {
        Some(model) => Some(model.vectors),
        None => common.vectors.open()?,
    };
    given.fit_dim(parts.dim, start.as_ref().map(Embeddings::dim));
    let (tokenizer, negatives) = (parts.tokenizer.clone(), parts.training.negatives);
    let options = CorpusOptions { tokenizer: tokenizer.clone(), min_count: *parts.min_count, ..options };
    params.check()?;

    let (vocabulary, corpus) = Corpus::read(common.input.paths(), &options, progress)?;
    let line =
        start.as_ref().zip(path).map(|(start, path)| start_line(InitialVectorReport::count(&vocabulary, start), path));
    let sample = common.check.of_corpus(&corpus, &vocabulary, &check_params(S::INFERS_VECTORS))?;
    let options = TrainOptions { vectors: start.as_ref(), document_vectors, ..common.files.options(threads, progress) };
    let trained = if given.is_given("lr") {
        params.fit(vocabulary, &corpus, &options)?
    } else {
        params.fit_with_lr_backoff(&vocabulary, &corpus, &options)?
    };
    let loss = LossAgainstChance::negative_sampling(trained.loss, negatives);
    let mut outcome = Outcome::of_text(trained);
    outcome.lines.splice(..0, line);
    outcome.check = sample.map(|text| checker(text, &tokenizer, Some(loss), start.is_some()));
    Ok(outcome)
}
