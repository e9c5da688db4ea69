//! What takes no training, on the same pairs: a model has to be above it.

use senv_core::{Corpus, SentenceEncoder, Sentences, Tokenizer, Vocabulary, VocabularyBuilder};
use senv_eval::{Align, StsResult, StsTask, TextTable, WordOverlap, evaluate_sts, evaluate_sts_scorer};
use senv_models::{AverageEncoder, Model, TfIdfParams, WeightScheme};
use serde::Serialize;

use crate::failure::Result;

/// Seed of the random vectors.
const SEED: u64 = 1;

/// One system of the floor.
#[derive(Debug, Serialize)]
pub(super) struct FloorSystem {
    system: &'static str,
    #[serde(flatten)]
    result: StsResult,
}

/// Word overlap, TF-IDF and averages of random vectors, with the tokenizer, the dimension and the counts of `model`;
/// counts of the sentences that are judged where it has none.
pub(super) fn floor(model: &Model, tasks: &[StsTask]) -> Result<Vec<FloorSystem>> {
    let tokenizer = model.tokenizer();
    let pairs = tasks.iter().flat_map(|task| &task.pairs);
    let sentences: Vec<&str> = pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]).collect();
    let (judged, corpus) = read(tokenizer, &sentences)?;
    let has_counts = model.vocabulary().counts().iter().any(|&count| count > 0);
    let vocabulary = if has_counts { model.vocabulary() } else { &judged };
    let random = AverageEncoder::random(tokenizer, vocabulary, &sentences, model.dim(), SEED)?;
    let weighted = random.clone().weighted_on(Some(WeightScheme::SIF), &sentences, SEED);
    let words = TfIdfParams { tokenizer: tokenizer.clone(), ..TfIdfParams::default() }.fit(judged, &corpus)?;

    let overlap = |a: &str, b: &str| WordOverlap::of(tokenizer.tokens(a), tokenizer.tokens(b)).jaccard();
    let overlap = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| overlap(a, b)).collect());
    let tf_idf = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| words.similarity(a, b)).collect());
    let mut systems = vec![
        ("word overlap", evaluate_sts_scorer(&overlap, tasks)?),
        ("TF-IDF", evaluate_sts_scorer(&tf_idf, tasks)?),
        ("random vectors", evaluate_sts(&random, tasks)?),
    ];
    // Without a known word there is nothing to weight.
    if let Ok(weighted) = weighted {
        systems.push(("random vectors, SIF", evaluate_sts(&weighted, tasks)?));
    }
    Ok(systems.into_iter().map(|(system, result)| FloorSystem { system, result }).collect())
}

/// The sentences as a corpus over their own words.
fn read(tokenizer: &Tokenizer, sentences: &[&str]) -> Result<(Vocabulary, Corpus)> {
    let mut builder = VocabularyBuilder::default();
    let mut scratch = String::new();
    for sentence in sentences {
        tokenizer.for_each(sentence, &mut scratch, |token| {
            builder.add(token);
        });
    }
    let vocabulary = builder.finish(1)?;
    let (mut coded, mut tokens) = (Sentences::new(), Vec::new());
    for sentence in sentences {
        vocabulary.known_tokens(tokenizer, sentence, &mut scratch, &mut tokens);
        coded.push(tokens.iter().copied());
    }
    Ok((vocabulary, Corpus::from_sentences(coded)))
}

/// The means over the tasks of the model and of what takes no training, in aligned columns.
pub(super) fn to_text(name: &str, result: &StsResult, floor: &[FloorSystem]) -> String {
    let columns = [
        ("without training", Align::Left),
        ("mean pearson r x100", Align::Right),
        ("mean spearman rho x100", Align::Right),
    ];
    let mut table = TextTable::new(columns);
    let line = |table: &mut TextTable, name: &str, result: &StsResult| {
        let mean = result.overall.plain_mean_over_tasks;
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        table.row([name.to_owned(), cell(mean.pearson_r_x100), cell(mean.spearman_rho_x100)]);
    };
    floor.iter().for_each(|of| line(&mut table, of.system, &of.result));
    table.rule();
    line(&mut table, name, result);
    table.to_string()
}
