//! Baselines without training on the same pairs, which a model should beat.

use std::collections::HashSet;

use senv_core::{Corpus, Sentences, Tokenizer, Vocabulary, words::VocabularyBuilder};
use senv_eval::{Align, PairScorer, StsResult, StsTask, TextTable, WordOverlap, evaluate_sts, evaluate_sts_scorer};
use serde::Serialize;

use crate::{
    average::{encoder::AverageEncoder, weight_scheme::WeightScheme},
    data::tf_idf::{TfIdf, TfIdfParams},
    error::Result,
    model::handle::Model,
};

/// Word overlap, TF-IDF and averages of random vectors over the words of some sentences.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::{eval::PairScorer, evaluation::Untrained};
/// let sentences = ["The train is late.", "The late train is here.", "Rain falls."];
/// let untrained = Untrained::beside(&senv::english()?, &sentences)?;
/// let overlap = untrained.overlap().score_batch(&[(sentences[0], sentences[1]), (sentences[0], sentences[2])])?;
/// assert!(overlap[0] > overlap[1]);
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug)]
pub struct Untrained {
    tokenizer: Tokenizer,
    words: TfIdf,
    /// Averages of random word vectors.
    pub random: AverageEncoder,
    /// The same with SIF weights; `None` without a known word, when there is nothing to weight.
    pub weighted: Option<AverageEncoder>,
}

impl Untrained {
    /// Builds baselines for the words of `sentences`. Document frequencies and common components are counted on
    /// `counted`, which are some or all of these sentences. Random vectors have the dimension `dim` and are weighted by
    /// `counts` if there are any.
    ///
    /// # Errors
    /// The errors of [`AverageEncoder::random`].
    pub fn new(
        tokenizer: &Tokenizer,
        counts: Option<&Vocabulary>,
        dim: usize,
        sentences: &[&str],
        counted: &[&str],
        seed: u64,
    ) -> Result<Self> {
        let (judged, corpus) = read(tokenizer, sentences, counted)?;
        let counts = counts.filter(|vocabulary| vocabulary.counts().iter().any(|&count| count > 0));
        let random = AverageEncoder::random(tokenizer, counts.unwrap_or(&judged), sentences, dim, seed)?;
        let weighted = random.clone().weighted_on(Some(WeightScheme::SIF), counted, seed).ok();
        let words = TfIdfParams { tokenizer: tokenizer.clone(), ..TfIdfParams::default() }.fit(judged, &corpus)?;
        Ok(Self { tokenizer: tokenizer.clone(), words, random, weighted })
    }

    /// Builds baselines with the tokenizer, counts and dimension of a model, counted on these sentences.
    ///
    /// # Errors
    /// The errors of [`Untrained::new`].
    pub fn beside(model: &Model, sentences: &[&str]) -> Result<Self> {
        Self::new(model.tokenizer(), Some(model.vocabulary()), model.dim(), sentences, sentences, 1)
    }

    /// Returns a scorer by word overlap: shared words divided by all words of a pair.
    #[must_use]
    pub fn overlap(&self) -> impl PairScorer + '_ {
        let words = |sentence: &str| self.tokenizer.tokens(sentence);
        let overlap = move |a: &str, b: &str| WordOverlap::of(words(a), words(b)).jaccard();
        move |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| overlap(a, b)).collect())
    }

    /// Returns a scorer by cosines of TF-IDF vectors.
    #[must_use]
    pub fn tf_idf(&self) -> impl PairScorer + '_ {
        |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| self.words.similarity(a, b)).collect())
    }
}

/// The STS result of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UntrainedSts {
    /// Its name.
    pub system: &'static str,
    /// The result.
    #[serde(flatten)]
    pub result: StsResult,
}

impl UntrainedSts {
    /// Evaluates all baselines for comparison with a model.
    ///
    /// # Errors
    /// The errors of [`evaluate_sts`].
    pub fn evaluate(model: &Model, tasks: &[StsTask]) -> Result<Vec<Self>> {
        let pairs = tasks.iter().flat_map(|task| &task.pairs);
        let sentences: Vec<&str> = pairs.flat_map(|pair| [&pair.first[..], &pair.second[..]]).collect();
        let floor = Untrained::beside(model, &sentences)?;
        let mut systems = vec![
            ("word overlap", evaluate_sts_scorer(&floor.overlap(), tasks)?),
            ("TF-IDF", evaluate_sts_scorer(&floor.tf_idf(), tasks)?),
            ("random vectors", evaluate_sts(&floor.random, tasks)?),
        ];
        if let Some(weighted) = &floor.weighted {
            systems.push(("random vectors, SIF", evaluate_sts(weighted, tasks)?));
        }
        Ok(systems.into_iter().map(|(system, result)| Self { system, result }).collect())
    }

    /// Formats the means over the tasks of the model and of the baselines in aligned columns.
    #[must_use]
    pub fn to_text(untrained: &[Self], model: &str, result: &StsResult) -> String {
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
        untrained.iter().for_each(|of| line(&mut table, of.system, &of.result));
        table.rule();
        line(&mut table, model, result);
        table.to_string()
    }
}

/// Returns the counted sentences as a corpus over the words of all. A word that occurs in none of them counts once.
fn read(tokenizer: &Tokenizer, sentences: &[&str], counted: &[&str]) -> Result<(Vocabulary, Corpus)> {
    let mut builder = VocabularyBuilder::default();
    let (mut scratch, mut known) = (String::new(), HashSet::new());
    for sentence in counted {
        tokenizer.for_each(sentence, &mut scratch, |token| {
            builder.add(token);
            if !known.contains(token) {
                known.insert(token.to_owned());
            }
        });
    }
    for sentence in sentences {
        tokenizer.for_each(sentence, &mut scratch, |token| {
            if known.insert(token.to_owned()) {
                builder.add(token);
            }
        });
    }
    let vocabulary = builder.finish(1)?;
    let (mut coded, mut tokens) = (Sentences::new(), Vec::new());
    for sentence in counted {
        vocabulary.known_tokens(tokenizer, sentence, &mut scratch, &mut tokens);
        coded.push(tokens.iter().copied());
    }
    Ok((vocabulary, Corpus::from_sentences(coded)))
}
