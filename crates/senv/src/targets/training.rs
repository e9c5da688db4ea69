//! Training of a model on texts with targets.

use rand::seq::SliceRandom;
use senv_core::{Error as CoreError, Vocabulary, rng::stream, words::VocabularyBuilder};
use senv_store::Embeddings;

use super::{
    TargetModel, TargetParams, TargetSystem, TextTargets,
    model::{TargetConfig, TargetWords},
    net::Net,
    objective::{Texts, TowardTargets},
};
use crate::{
    base::{file, train_options::TrainOptions},
    data::reading::{END, Reading, UNKNOWN},
    error::{Error, Result},
    gradient::{Weights, WordUpdates, copy_table, fit},
    model::trained::Trained,
    sequence::{LongSentences, assemble},
    start::initial,
    system::start::Start,
};

/// The number of texts by which the tokenizer is chosen.
const BEGINNING: usize = 5000;

/// Trains toward the targets of `set`. A share of the targets is held out with all their texts, and the weights that
/// rank them best are kept.
pub(crate) fn fit_targets<S: TargetSystem>(
    system: &S,
    set: &TextTargets,
    start: Start<'_>,
    options: &TrainOptions<'_, ()>,
) -> Result<Trained<TargetModel<S>>> {
    let mut system = system.clone();
    system.settings().check()?;
    let (vectors, observer) = (start.vectors()?, options.observer);
    let options = Start::options(vectors.as_deref(), options);
    let vectors = options.vectors;
    let beginning = || set.texts.iter().take(BEGINNING).map(|(_, text)| &text[..]);
    let tokenizer = start.tokenizer(&system.settings().tokenizer, |given| given.fitted_to_text(beginning(), observer));
    system.settings_mut().tokenizer = tokenizer;
    let params = system.settings();
    let seed = params.fit.seed;
    let is_held_out = hold_out(set.n_targets(), params.held_out, seed);
    let vocabulary = vocabulary(params, set, &is_held_out, vectors)?.with_terms(set.terms.as_deref());
    let vocabulary = vocabulary.with_terms_of(vectors.map(Embeddings::vocabulary));
    let special = |token| params.special_tokens.then_some(token);
    let reading = Reading {
        tokenizer: params.tokenizer.clone(),
        max_tokens: params.max_tokens,
        unknown: special(UNKNOWN),
        end: special(END),
    };
    let (words, found) = params.initial.rows(&vocabulary, params.dim, vectors, seed)?;

    let (mut train, mut held_out) = (Texts::default(), Texts::default());
    let (mut scratch, mut tokens, mut n_long, mut n_unknown) = (String::new(), Vec::new(), 0, 0_usize);
    for (target, text) in &set.texts {
        let coverage = reading.read_to_train(&vocabulary, text, &mut scratch, &mut tokens);
        n_long += usize::from(coverage.unread > 0);
        if tokens.is_empty() {
            n_unknown += 1;
            continue;
        }
        let part = if is_held_out[*target as usize] { &mut held_out } else { &mut train };
        part.tokens.push(tokens.iter().copied());
        part.targets.push(*target);
    }
    if n_unknown > 0 {
        observer.note(&format!("skipped {n_unknown} of {} texts without a known word", set.n_texts()));
    }
    LongSentences::Cut.report((n_long, train.targets.len()), "texts", params.max_tokens, observer)?;
    if train.targets.is_empty() {
        return Err(Error::NoExamples { kind: S::KIND });
    }
    u32::try_from(train.targets.len()).map_err(|_| CoreError::TooLarge { rows: train.targets.len(), dim: 1 })?;
    if !held_out.targets.is_empty() {
        let (n, all) = (is_held_out.iter().filter(|held| **held).count(), set.n_targets());
        observer.note(&format!("holding out {n} of {all} targets, with {} texts", held_out.targets.len()));
    }

    let target_dim = set.targets.dim();
    let net = Net::new(params, target_dim)?;
    let weights = Weights { words, parameters: net.init(seed)?.into() };
    let config = TargetConfig { params: system.clone(), target_dim, reading };
    let identity =
        format!("{} {} {}", file::to_json(&config)?, set.fingerprint(), initial::vectors_fingerprint(vectors));
    let (loss, ranking) = (params.loss, params.ranking.clone());
    let mut objective =
        TowardTargets { kind: S::KIND, net, loss, ranking, train, held_out, targets: &set.targets, identity };
    let fitted = fit(&mut objective, || Ok(weights), &params.fit, &options.run())?;
    let targets = match &set.words {
        Some(words) => {
            let vectors = Embeddings::new(words.clone(), copy_table(&set.targets)?)?;
            Some(TargetWords { vectors, is_held_out })
        }
        None => None,
    };
    Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
        TargetModel::new(config, vocabulary, words, file::exactly(parameters), targets)
    })
}

/// Returns whether each target is held out: a random share of them, but never all.
fn hold_out(n: usize, share: f64, seed: u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut stream(seed, "held-out targets", &[]));
    let mut held_out = vec![false; n];
    let n_held_out = ((n as f64 * share) as usize).min(n.saturating_sub(1));
    order[..n_held_out].iter().for_each(|&target| held_out[target] = true);
    held_out
}

/// Returns the words to read: those of the training texts. With frozen vectors, exactly their words are known, because
/// no others would get a meaning.
fn vocabulary(
    params: &TargetParams,
    set: &TextTargets,
    is_held_out: &[bool],
    vectors: Option<&Embeddings>,
) -> Result<Vocabulary> {
    let mut builder = VocabularyBuilder::default();
    let (mut scratch, mut n_texts) = (String::new(), 0);
    for (_, text) in set.texts.iter().filter(|(target, _)| !is_held_out[*target as usize]) {
        n_texts += 1;
        params.tokenizer.for_each(text, &mut scratch, |token| {
            builder.add(token);
        });
    }
    let fixed = vectors.filter(|_| params.fit.words == WordUpdates::Frozen);
    let mut all = builder.finish(if fixed.is_some() { 1 } else { params.min_count })?;
    if let Some(vectors) = fixed {
        let read =
            all.iter().filter(|(_, token, _)| vectors.get(token).is_some()).map(|(_, token, count)| (token, count));
        let unread = vectors.iter().filter(|(word, _)| all.id(word).is_none()).map(|(word, _)| (word, 0));
        all = Vocabulary::from_counts(read.chain(unread), all.corpus_tokens())?;
    }
    if params.special_tokens {
        return Ok(assemble(&all, 0, n_texts, params.max_vocabulary, 0, |_| true)?.0);
    }
    let Some(limit) = params.max_vocabulary.filter(|&limit| limit < all.len()) else { return Ok(all) };
    Ok(Vocabulary::from_counts(all.iter().take(limit).map(|(_, token, count)| (token, count)), all.corpus_tokens())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_targets_is_held_out_and_never_all() {
        let n = |n, share| hold_out(n, share, 1).into_iter().filter(|held| *held).count();
        assert_eq!((n(100, 0.1), n(9, 0.1), n(3, 0.0), n(2, 0.99), n(1, 0.99)), (10, 0, 0, 1, 0));
        assert_ne!(hold_out(100, 0.1, 1), hold_out(100, 0.1, 2));
    }
}
