//! Which start is best for a user's data: random vectors, the English model, or that model trained further.
//!
//! A trial holds out a part of the data and compares the starts on it ([`Trial`]). Its pairs are the user's own pairs,
//! or sentences and the ones after them. For sentences in no order, the pairs are the two halves of each sentence.
//! Halves tell which of two models from English is better. They say nothing about a model trained from scratch, which
//! trains on this very task and is still worse (`docs/experiments/start-from-english.md`). Fine-tuning English beat
//! training from scratch on every such set, so the trial compares it only with English as it is.
//!
//! A model has the terms of the model that it starts from. So English is only tried if its terms are permissive
//! ([`Terms`]): without being asked, training adds no obligation beyond naming sources.

use std::fmt;

use senv_core::{Control, Error as CoreError, KnownWords, Observer, Progress, Terms, text::TextMarks};
use serde::Serialize;

use super::{
    NeighbourRecipe, Recipe,
    trial::{Trial, has_halves},
};
use crate::{
    base::{left_texts, text_sample::TextSample, text_size::TextSize, train_options::TrainOptions},
    check::{SIGNIFICANT, pair_ranks::PairRanks},
    data::PairKind,
    error::{Error, Result},
    model::handle::Model,
};

/// The factor of the higher learning rate that the trial compares with the usual one. The usual rate preserves what
/// English knows. If the data differ from general English, the higher rate learns more from them, and more than
/// training from scratch does (`docs/experiments/start-from-english.md`).
const HIGH_LR: f64 = 4.0;

/// The share of known words from which English text is tried although the model knows fewer words than those of general
/// English (`docs/experiments/start-from-english.md`).
const LEAST_KNOWN: f64 = 0.6;

/// The largest text, in words, on which fine-tuning English was compared with training from scratch
/// (`docs/results.md`).
const COMPARED: u64 = 60_000_000;

/// What a model starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StartKind {
    /// Random vectors.
    Scratch,
    /// No training: the result is the English model as it is.
    English,
    /// The English model, fine-tuned.
    FineTuned,
}

impl fmt::Display for StartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scratch => "from scratch",
            Self::English => "English as it is",
            Self::FineTuned => "fine-tuned from English",
        })
    }
}

/// What training starts from, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StartChoice {
    /// The start.
    pub start: StartKind,
    /// The share of the words of the data that the English model knows, in `[0, 1]`; `None` if there are no words.
    pub known_words: Option<f64>,
    /// The factor on the learning rate of fine-tuning: 1, or 4 if the trial preferred it.
    pub lr_factor: f64,
    /// The figures of the trial; `None` if the language or the size of the text or the terms of the English model
    /// decided, or if there were too few pairs.
    pub trial: Option<StartTrial>,
    /// The terms of the English model, which the result has unless it starts from scratch; `None` if it has none.
    pub terms: Option<String>,
    /// Whether these terms are the reason to start from scratch: they are not permissive.
    pub terms_decided: bool,
}

/// Figures of a trial: the mean reciprocal rank of held-out pairs for each start, in `(0, 1]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StartTrial {
    /// Lines trained on.
    pub lines: usize,
    /// Held-out pairs.
    pub pairs: usize,
    /// What the pairs are, for messages.
    pub of: &'static str,
    /// Trained from scratch; `None` if that cannot be compared.
    pub scratch: Option<f64>,
    /// The English model as it is.
    pub english: f64,
    /// Fine-tuned at the usual learning rate; `None` if training failed.
    pub fine_tuned: Option<f64>,
    /// Fine-tuned at four times that rate; `None` if it was not tried.
    pub fine_tuned_high_lr: Option<f64>,
    /// TF-IDF.
    pub tf_idf: f64,
}

impl fmt::Display for StartChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start: {}", self.start)?;
        let license = self.terms.as_deref().map(|terms| Terms::new(terms).license());
        if let Some(license) = license.filter(|_| self.start != StartKind::Scratch) {
            write!(f, " ({license})")?;
        }
        if self.terms_decided {
            let license = license.unwrap_or_default();
            return write!(
                f,
                "; senv's English model is under {license}, and a model that starts from it would be, too"
            );
        }
        if self.lr_factor != 1.0 {
            write!(f, " at {} times the usual learning rate", self.lr_factor)?;
        }
        let Some(trial) = &self.trial else {
            return match self.known_words.filter(|_| self.start == StartKind::Scratch) {
                Some(share) => write!(f, "; senv's English model knows {:.0} % of the words", 100.0 * share),
                None if self.start == StartKind::FineTuned => f.write_str(", without a trial"),
                None => Ok(()),
            };
        };
        let StartTrial { lines, pairs, of, .. } = trial;
        write!(f, "; in a trial on {lines} lines, the mean reciprocal rank of {pairs} held-out {of} is ")?;
        if let Some(scratch) = trial.scratch {
            write!(f, "{scratch:.3} from scratch, ")?;
        }
        if let Some(fine_tuned) = trial.fine_tuned {
            write!(f, "{fine_tuned:.3} fine-tuned from English, ")?;
        }
        if let Some(high_lr) = trial.fine_tuned_high_lr {
            write!(f, "{high_lr:.3} at {HIGH_LR} times the learning rate, ")?;
        }
        write!(f, "{:.3} with English as it is, {:.3} by TF-IDF", trial.english, trial.tf_idf)?;
        let others = [trial.scratch, trial.fine_tuned_high_lr, Some(trial.english)];
        let chosen = trial.fine_tuned.filter(|_| self.start == StartKind::FineTuned && self.lr_factor == 1.0);
        match chosen {
            Some(chosen) if others.into_iter().flatten().any(|other| other > chosen) => {
                f.write_str("; no other start is significantly better")
            }
            _ => Ok(()),
        }
    }
}

impl Recipe {
    /// Chooses what training starts from. If `english`, an English model, knows the words, a trial on part of the data
    /// decides. It knows them if it knows the share `min_known_share`, or 60 % of a text that has no more function
    /// words of other languages than of English. The trial fine-tunes the model ([`Recipe::fine_tune_from`]), keeps it
    /// as it is ([`Recipe::Unchanged`]), or trains from scratch. Data in another language and texts of more than 60
    /// million words are trained from scratch. So are all data if the model has terms that are not permissive
    /// ([`Terms::is_permissive`]), because the result would have them; [`Recipe::fine_tune_from`] starts from any
    /// model.
    ///
    /// ```no_run
    /// use senv::{Recipe, TrainOptions, data::TextSample};
    /// let (pairs, options) = (["pairs.tsv"], TrainOptions::default());
    /// let (sample, no_text) = (TextSample::read(&pairs), [] as [&str; 0]);
    /// let recipe = Recipe::choose_by(&sample, &no_text, &pairs, &options)?;
    /// let (recipe, choice) = recipe.choose_start(&sample, &senv::english()?, senv::MIN_KNOWN_SHARE_ENGLISH, &options)?;
    /// println!("{choice}");
    /// recipe.fit(&options)?.save("mine.senv")?;
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Recipe::fit`]; [`senv_core::Error::Interrupted`] if the observer stops the trial.
    pub fn choose_start(
        mut self,
        sample: &TextSample,
        english: &Model,
        min_known_share: f64,
        options: &TrainOptions<'_>,
    ) -> Result<(Self, StartChoice)> {
        // A killed run may have left the texts of its trial.
        left_texts::remove(&std::env::temp_dir());
        let known_words = english.known_words(sample.lines().take(KnownWords::SAMPLE)).share();
        let terms = english.terms().map(str::to_owned);
        let choice = |(start, lr_factor), trial| {
            let terms = terms.clone();
            StartChoice { start, known_words, lr_factor, trial, terms, terms_decided: false }
        };
        const SCRATCH: (StartKind, f64) = (StartKind::Scratch, 1.0);
        let is_known = known_words.is_some_and(|share| {
            share >= min_known_share || share >= LEAST_KNOWN && looks_english(sample.lines().take(KnownWords::SAMPLE))
        });
        let Some(recipe) = self.neighbours().filter(|_| is_known) else {
            return Ok((self, choice(SCRATCH, None)));
        };
        let learns_from_pairs = recipe.files.inputs.iter().any(|input| input.kind == PairKind::Pairs);
        if !learns_from_pairs && sample.size().words > COMPARED {
            return Ok((self, choice(SCRATCH, None)));
        }
        let halves = recipe.files.inputs.iter().all(|input| input.kind == PairKind::Halves);
        if halves && !sample.lines().any(has_halves) {
            return Ok((self, choice(SCRATCH, None)));
        }
        if !may_start_from(english) {
            return Ok((self, StartChoice { terms_decided: true, ..choice(SCRATCH, None) }));
        }
        // Data too few for a trial teach less than English knows, so English is fine-tuned.
        let tried = match Trial::new(&recipe.files)? {
            Ok(trial) => {
                options.observer.note("comparing ways to start, on a part of the data");
                Some(try_starts(recipe, &trial, english, options)?)
            }
            Err(too_few) => {
                options.observer.note(&too_few.to_string());
                None
            }
        };
        let chosen = tried.as_ref().map_or((StartKind::FineTuned, 1.0), |(chosen, _)| *chosen);
        match chosen.0 {
            StartKind::Scratch => {}
            StartKind::English => self = Self::Unchanged(english.clone()),
            StartKind::FineTuned => {
                self.train_halves(options.observer);
                if let Self::Neighbours(recipe) = &mut self {
                    recipe.fine_tune_from(english, &Quiet(options.observer))?;
                    recipe.scale_lr(chosen.1);
                }
            }
        }
        Ok((self, choice(chosen, tried.map(|(_, trial)| trial))))
    }

    /// Returns the recipe for pairs, neighbors or halves of sentences.
    fn neighbours(&self) -> Option<&NeighbourRecipe> {
        match self {
            Self::Neighbours(recipe) => Some(recipe),
            Self::Words(words) => Some(&words.halves),
            Self::Unchanged(_) => None,
        }
    }
}

/// Whether training may start from a model without being asked to: its terms are permissive, or it has none.
fn may_start_from(model: &Model) -> bool {
    model.terms().is_none_or(|terms| Terms::new(terms).is_permissive())
}

/// Whether these lines have no fewer function words of English than of other languages. Lists of names have neither.
fn looks_english<'s>(lines: impl Iterator<Item = &'s str>) -> bool {
    let mut marks = TextMarks::default();
    lines.for_each(|line| marks.add(line));
    marks.looks_english()
}

/// Trains on the training part of a trial from each start and ranks its held-out pairs.
fn try_starts(
    recipe: &NeighbourRecipe,
    trial: &Trial,
    english: &Model,
    options: &TrainOptions<'_>,
) -> Result<((StartKind, f64), StartTrial)> {
    let quiet = Quiet(options.observer);
    let options = TrainOptions { observer: &quiet, threads: options.threads, ..TrainOptions::default() };
    let inputs = trial.inputs();
    let size = TextSize::of_files(&inputs.iter().map(|input| &input.path).collect::<Vec<_>>());
    let recipe = NeighbourRecipe::new(inputs, size, recipe.files.options.tokenizer.clone(), Trial::reading());
    let ranks = |recipe: &NeighbourRecipe| -> Result<Option<PairRanks>> {
        let trained = match recipe.read(&options).and_then(|data| recipe.fit_on(&data, &options)) {
            Ok(trained) => trained,
            Err(error) if error.is_interrupted() => return Err(CoreError::Interrupted { action: ACTION }.into()),
            // A start that cannot be trained is not a candidate. If it was the only one, the run itself reports why.
            Err(Error::Core(error)) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        Ok(Some(trial.ranks_by(&trained.model)?))
    };
    // Halves say nothing about training from scratch or about the learning rate.
    let is_compared = trial.kind != PairKind::Halves;
    let scratch = if is_compared { ranks(&recipe)? } else { None };
    let mut tuned = recipe.clone();
    tuned.fine_tune_from(english, &quiet)?;
    let fine_tuned = ranks(&tuned)?;
    tuned.scale_lr(HIGH_LR);
    let high_lr = if is_compared { ranks(&tuned)? } else { None };
    let english = trial.ranks_by(english)?;
    let chosen = best(scratch.as_ref(), &english, fine_tuned.as_ref(), high_lr.as_ref());
    let outcome = StartTrial {
        lines: trial.n_lines,
        pairs: trial.n_held_out(),
        of: trial.name(),
        scratch: scratch.map(|ranks| ranks.mrr()),
        english: english.mrr(),
        fine_tuned: fine_tuned.map(|ranks| ranks.mrr()),
        fine_tuned_high_lr: high_lr.map(|ranks| ranks.mrr()),
        tf_idf: trial.tf_idf()?.mrr(),
    };
    Ok((chosen, outcome))
}

/// Returns the start and the factor of the learning rate: fine-tuning at the usual rate, unless another start is ahead
/// by two standard errors.
fn best(
    scratch: Option<&PairRanks>,
    english: &PairRanks,
    fine_tuned: Option<&PairRanks>,
    high_lr: Option<&PairRanks>,
) -> (StartKind, f64) {
    let is_ahead = |ranks: &PairRanks, of: Option<&PairRanks>| of.is_none_or(|of| ranks.ahead_of(of) > SIGNIFICANT);
    let mut best = fine_tuned.map(|ranks| ((StartKind::FineTuned, 1.0), ranks));
    let others = [
        high_lr.map(|ranks| ((StartKind::FineTuned, HIGH_LR), ranks)),
        Some(((StartKind::English, 1.0), english)),
        scratch.map(|ranks| ((StartKind::Scratch, 1.0), ranks)),
    ];
    for other in others.into_iter().flatten() {
        if is_ahead(other.1, best.map(|(_, ranks)| ranks)) {
            best = Some(other);
        }
    }
    best.map_or((StartKind::English, 1.0), |(chosen, _)| chosen)
}

/// The name of a trial in messages.
const ACTION: &str = "comparing ways to start";

/// Stops a trial when its observer stops, and passes nothing else on.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.stops() { Control::Stop } else { Control::Continue }
    }

    fn stops(&self) -> bool {
        self.0.stops()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranks: &[f64]) -> PairRanks {
        PairRanks { reciprocal: ranks.repeat(20), auc: 0.5 }
    }

    #[test]
    fn another_start_has_to_be_clearly_ahead() {
        let (low, middle, high) = (of(&[0.1, 0.2, 0.5]), of(&[0.3, 0.3, 0.5]), of(&[0.5, 0.4, 1.0]));
        let nearly = of(&[0.3, 0.31, 0.49]);
        assert_eq!(best(Some(&high), &low, Some(&middle), None), (StartKind::Scratch, 1.0));
        assert_eq!(best(Some(&high), &low, Some(&low), Some(&high)), (StartKind::FineTuned, HIGH_LR));
        assert_eq!(best(Some(&low), &low, Some(&middle), Some(&nearly)), (StartKind::FineTuned, 1.0));
        assert_eq!(best(Some(&middle), &high, Some(&low), Some(&middle)), (StartKind::English, 1.0));
        assert_eq!(best(Some(&nearly), &low, Some(&middle), None), (StartKind::FineTuned, 1.0));
        assert_eq!(best(None, &nearly, Some(&middle), None), (StartKind::FineTuned, 1.0));
        assert_eq!(best(None, &high, Some(&middle), None), (StartKind::English, 1.0));
        assert_eq!(best(None, &low, None, None), (StartKind::English, 1.0));
    }
}
