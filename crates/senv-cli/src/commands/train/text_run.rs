//! `senv train` of the systems that learn from words in their sentence: text to a model.

use std::path::{Path, PathBuf};

use senv_core::{Corpus, CorpusOptions, Observer, SentenceEncoder, Tokenizer, Vocabulary};
use senv_models::{
    Found, LossAgainstChance, Params, PvDbow, PvDbowParams, Sent2Vec, Sent2VecParams, Trained, Word2Vec, Word2VecParams,
};
use senv_store::Embeddings;

use super::{
    check_args::{check_params, checker},
    data_args::start_line,
    init_model::words_of,
    job::Job,
    outcome::Outcome,
    text_systems::Common,
};
use crate::{
    failure::Result,
    output,
    progress::{TrainingProgress, Unit},
};

/// A system that learns from words in their sentence, as the program sees it.
pub(crate) trait TextSystem {
    type Model: SentenceEncoder;
    /// Whether each new sentence is fitted, which takes a hundred times as long as an average.
    const FITS_SENTENCES: bool;

    fn check(&self) -> senv_models::Result<()>;

    /// What every such system has.
    fn parts(&mut self) -> Parts<'_>;

    fn fit(
        &self,
        words: Vocabulary,
        corpus: &Corpus,
        start: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> senv_models::Result<Trained<Self::Model>>;

    fn save(model: &Self::Model, path: &Path) -> senv_models::Result<()>;
}

/// The parameters that the systems share.
pub(crate) struct Parts<'a> {
    dim: &'a mut usize,
    tokenizer: &'a mut Tokenizer,
    min_count: u64,
    training: &'a Params,
}

macro_rules! text_system {
    ($params:ty => $model:ty, $fits:literal) => {
        impl TextSystem for $params {
            type Model = $model;
            const FITS_SENTENCES: bool = $fits;

            fn check(&self) -> senv_models::Result<()> {
                self.check()
            }

            fn parts(&mut self) -> Parts<'_> {
                let Self { dim, tokenizer, min_count, training, .. } = self;
                Parts { dim, tokenizer, min_count: *min_count, training }
            }

            fn fit(
                &self,
                words: Vocabulary,
                corpus: &Corpus,
                start: Option<&Embeddings>,
                observer: &dyn Observer,
            ) -> senv_models::Result<Trained<$model>> {
                self.fit_from(words, corpus, start, observer)
            }

            fn save(model: &$model, path: &Path) -> senv_models::Result<()> {
                model.save(path)
            }
        }
    };
}

text_system!(Sent2VecParams => Sent2Vec, false);
text_system!(Word2VecParams => Word2Vec, false);
text_system!(PvDbowParams => PvDbow, true);

/// Trains, writes and checks a model.
pub(crate) fn train<S: TextSystem>(common: &Common, mut params: S, threads: usize) -> Result {
    let starts = common.vectors.init_vectors.iter().chain(&common.init_model.init_model);
    let inputs: Vec<&Path> = common.input.iter().chain(starts).map(PathBuf::as_path).collect();
    let job = Job::new(&common.files, &inputs)?;
    let parts = params.parts();
    let epochs = parts.training.epochs;
    output::note(&format!(
        "about {}: {epochs} epochs at a learning rate of {}, words that occur {} times or more",
        common.size(),
        parts.training.lr,
        parts.min_count
    ));
    job.run(Some(epochs), Unit::Words, |progress| fit(common, &mut params, threads, progress), S::save)
}

fn fit<S: TextSystem>(
    common: &Common,
    params: &mut S,
    threads: usize,
    progress: &TrainingProgress,
) -> senv_models::Result<Outcome<S::Model>> {
    let mut options = common.corpus_options(threads);
    let model = common.init_model.open(progress)?;
    let parts = params.parts();
    if let Some(model) = &model {
        options.keep = words_of(&model.vectors);
        if let Some(tokenizer) = &model.tokenizer {
            *parts.tokenizer = tokenizer.clone();
            common.tokenizer(parts.tokenizer);
        }
    }
    if model.is_none() {
        common.fit_tokenizer(parts.tokenizer, progress);
    }
    let path = model.as_ref().map(|model| model.path).or(common.vectors.init_vectors.as_deref());
    let start = match model {
        Some(model) => Some(model.vectors),
        None => common.vectors.open()?,
    };
    *parts.dim = common.dim.or(start.as_ref().map(Embeddings::dim)).unwrap_or(*parts.dim);
    let (tokenizer, negatives) = (parts.tokenizer.clone(), parts.training.negatives);
    let options = CorpusOptions { tokenizer: tokenizer.clone(), min_count: parts.min_count, ..options };
    params.check()?;

    let (vocabulary, corpus) = Corpus::read(&common.input, &options, progress)?;
    let line = start.as_ref().zip(path).map(|(start, path)| start_line(Found::count(&vocabulary, start), path));
    let sample = common.check.of_corpus(&corpus, &vocabulary, &check_params(S::FITS_SENTENCES))?;
    let trained = params.fit(vocabulary, &corpus, start.as_ref(), progress)?;
    let loss = LossAgainstChance::negative_sampling(trained.loss, negatives);
    let mut outcome = Outcome::of_text(trained);
    outcome.lines.splice(..0, line);
    outcome.check = sample.map(|text| checker(text, &tokenizer, Some(loss), start.is_some()));
    Ok(outcome)
}
