//! Which start is best for a user's own data: nothing, the English model, or that model trained further.
//!
//! Measured on a part of the data that a trial holds out ([`Trial`]): pairs, sentences and their next ones. How well the two halves of a
//! sentence find each other says which of two models from English is better, but nothing of a model from scratch, which trains on just
//! that and is worse all the same (`docs/experiments/start-from-english.md`): for sentences without an order, going on from English was
//! ahead of the text alone on every set that it was measured on, so that only English as it is competes with it.

use std::fmt;

use senv_core::{Control, Error as CoreError, KnownWords, Observer, Progress};
use serde::Serialize;

use super::{
    NeighbourRecipe, Recipe,
    trial::{Trial, has_halves},
};
use crate::{
    base::{text_sample::TextSample, text_size::TextSize, train_options::TrainOptions},
    check::{SIGNIFICANT, partners::Found},
    data::PairKind,
    error::{Error, Result},
    gradient::Stopped,
    model::handle::Model,
};

/// The learning rate for pairs and neighbouring sentences that is tried beside the usual one, which keeps what English knows: where the
/// data are of another kind than general English, a larger one learns more of them than training from scratch does
/// (`docs/experiments/start-from-english.md`).
const FASTER: f64 = 4.0;

/// Words of text up to which going on from English was compared with the text alone (`docs/results.md`).
const COMPARED: u64 = 60_000_000;

/// What a model starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartKind {
    /// Random vectors.
    Scratch,
    /// The English model, which is the result as it is.
    English,
    /// The English model, trained further.
    FromEnglish,
}

impl fmt::Display for StartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scratch => "from scratch",
            Self::English => "English as it is",
            Self::FromEnglish => "from English",
        })
    }
}

/// What training starts from, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartChoice {
    /// The start.
    pub start: StartKind,
    /// Share of the words of the data that the English model knows, in `[0, 1]`; `None` where there are no words.
    pub known_words: Option<f64>,
    /// The learning rate of training from English, as a multiple of the usual one.
    pub rate: f64,
    /// How the starts did on held-out pairs; `None` where the language or the size decides, or too little is there to ask.
    pub trial: Option<StartTrial>,
}

/// How the starts did in a trial: the mean reciprocal rank of the partners of held-out sentences, in `(0, 1]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartTrial {
    /// Lines that were trained on.
    pub lines: usize,
    /// Pairs that were asked.
    pub pairs: usize,
    /// What they are.
    pub of: &'static str,
    /// From scratch; `None` where that cannot be compared.
    pub scratch: Option<f64>,
    /// English as it is.
    pub english: f64,
    /// From English at the usual rate; `None` where training failed.
    pub from_english: Option<f64>,
    /// From English at four times that rate; `None` where it was not tried.
    pub from_english_faster: Option<f64>,
    /// Words that the two sentences share, without vectors.
    pub tf_idf: f64,
}

impl fmt::Display for StartChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start: {}", self.start)?;
        if self.rate != 1.0 {
            write!(f, " at {} times the usual rate", self.rate)?;
        }
        let Some(trial) = &self.trial else {
            return match self.known_words.filter(|_| self.start == StartKind::Scratch) {
                Some(share) => write!(f, "; the English model of senv knows {:.0} % of the words", 100.0 * share),
                None => Ok(()),
            };
        };
        let StartTrial { lines, pairs, of, .. } = trial;
        write!(
            f,
            "; in a trial on {lines} lines, the partner of {pairs} held-out {of} has a mean reciprocal rank of "
        )?;
        if let Some(scratch) = trial.scratch {
            write!(f, "{scratch:.3} from scratch, ")?;
        }
        if let Some(from_english) = trial.from_english {
            write!(f, "{from_english:.3} from English, ")?;
        }
        if let Some(faster) = trial.from_english_faster {
            write!(f, "{faster:.3} from English at {FASTER} times the rate, ")?;
        }
        write!(f, "{:.3} by English as it is, {:.3} by TF-IDF", trial.english, trial.tf_idf)?;
        let others = [trial.scratch, trial.from_english_faster, Some(trial.english)];
        let chosen = trial.from_english.filter(|_| self.start == StartKind::FromEnglish && self.rate == 1.0);
        match chosen {
            Some(chosen) if others.into_iter().flatten().any(|other| other > chosen) => {
                f.write_str("; no other start is ahead by more than chance")
            }
            _ => Ok(()),
        }
    }
}

impl Recipe {
    /// Chooses what training starts from: where `english`, an English model, knows the words, a trial on a part of the data says
    /// whether it is gone on from ([`Recipe::fine_tune_from`]), taken as it is ([`Recipe::Unchanged`]), or left alone. Data in another
    /// language, and texts of more than 60 million words, are trained on from scratch.
    ///
    /// ```no_run
    /// use senv::{Recipe, TextSample, TrainOptions};
    /// let (pairs, options) = (["pairs.tsv"], TrainOptions::default());
    /// let (sample, no_text) = (TextSample::read(&pairs), [] as [&str; 0]);
    /// let recipe = Recipe::choose_by(&sample, &no_text, &pairs, &options)?;
    /// let (recipe, choice) = recipe.choose_start(&sample, &senv::english()?, senv::MIN_KNOWN_SHARE_ENGLISH, &options)?;
    /// println!("{choice}");
    /// recipe.fit(&no_text, &options)?.save("mine.senv")?;
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Recipe::fit`]; [`senv_core::Error::Interrupted`] if the observer stops the trial.
    pub fn choose_start(
        mut self,
        sample: &TextSample,
        english: &Model,
        min_known_share: f64,
        options: &TrainOptions<'_>,
    ) -> Result<(Self, StartChoice)> {
        let known_words = english.known_words(sample.lines().take(KnownWords::SAMPLE)).share();
        let choice = |(start, rate), trial| StartChoice { start, known_words, rate, trial };
        const SCRATCH: (StartKind, f64) = (StartKind::Scratch, 1.0);
        let is_known = known_words.is_some_and(|share| share >= min_known_share);
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
        // Of data that are too few to ask English knows more than they could teach.
        let trial = Trial::new(&recipe.files)?;
        let tried = trial.map(|trial| try_starts(recipe, &trial, english, options)).transpose()?;
        let chosen = tried.as_ref().map_or((StartKind::FromEnglish, 1.0), |(chosen, _)| *chosen);
        match chosen.0 {
            StartKind::Scratch => {}
            StartKind::English => self = Self::Unchanged(english.clone()),
            StartKind::FromEnglish => {
                self.train_halves(options.observer);
                if let Self::Neighbours(recipe) = &mut self {
                    recipe.fine_tune_from(english, &Quiet(options.observer))?;
                    recipe.multiply_rate(chosen.1);
                }
            }
        }
        Ok((self, choice(chosen, tried.map(|(_, trial)| trial))))
    }

    /// What would train pairs, neighbours or halves.
    fn neighbours(&self) -> Option<&NeighbourRecipe> {
        match self {
            Self::Neighbours(recipe) => Some(recipe),
            Self::Words(words) => Some(&words.halves),
            Self::Unchanged(_) => None,
        }
    }
}

/// Trains on the part of the trial from both starts, and asks.
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
    let asked = |recipe: &NeighbourRecipe| -> Result<Option<Found>> {
        let trained = match recipe.read(&options).and_then(|data| recipe.fit_on(&data, &options)) {
            Ok(trained) if trained.stopped == Stopped::Interrupted => {
                return Err(CoreError::Interrupted { action: ACTION }.into());
            }
            Ok(trained) => trained,
            // What cannot be trained is no candidate; if it was the only one, the run itself says why.
            Err(Error::Core(error)) => return Err(error.into()),
            Err(_) => return Ok(None),
        };
        Ok(Some(trial.ask(&trained.model)?))
    };
    // Of halves nothing would follow, neither of a start that trains on them alone nor of a rate.
    let is_judged = trial.kind != PairKind::Halves;
    let scratch = if is_judged { asked(&recipe)? } else { None };
    let mut tuned = recipe.clone();
    tuned.fine_tune_from(english, &quiet)?;
    let from_english = asked(&tuned)?;
    tuned.multiply_rate(FASTER);
    let faster = if is_judged { asked(&tuned)? } else { None };
    let english = trial.ask(english)?;
    let chosen = best(scratch.as_ref(), &english, from_english.as_ref(), faster.as_ref());
    let outcome = StartTrial {
        lines: trial.n_lines,
        pairs: trial.n_asked(),
        of: trial.name(),
        scratch: scratch.map(|found| found.mrr()),
        english: english.mrr(),
        from_english: from_english.map(|found| found.mrr()),
        from_english_faster: faster.map(|found| found.mrr()),
        tf_idf: trial.tf_idf()?.mrr(),
    };
    Ok((chosen, outcome))
}

/// Going on from English at the usual rate, unless something else is ahead by more than chance makes likely; the start and the multiple of
/// the rate.
fn best(
    scratch: Option<&Found>,
    english: &Found,
    from_english: Option<&Found>,
    faster: Option<&Found>,
) -> (StartKind, f64) {
    let is_ahead = |found: &Found, of: Option<&Found>| of.is_none_or(|of| found.ahead_of(of) > SIGNIFICANT);
    let mut best = from_english.map(|found| ((StartKind::FromEnglish, 1.0), found));
    let others = [
        faster.map(|found| ((StartKind::FromEnglish, FASTER), found)),
        Some(((StartKind::English, 1.0), english)),
        scratch.map(|found| ((StartKind::Scratch, 1.0), found)),
    ];
    for other in others.into_iter().flatten() {
        if is_ahead(other.1, best.map(|(_, found)| found)) {
            best = Some(other);
        }
    }
    best.map_or((StartKind::English, 1.0), |(chosen, _)| chosen)
}

/// What a trial does, for a message.
const ACTION: &str = "trying what to start from";

/// Hears nothing of a trial, and may stop it.
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

    fn found(ranks: &[f64]) -> Found {
        Found { reciprocal_ranks: ranks.repeat(20), auc: 0.5 }
    }

    #[test]
    fn another_start_has_to_be_clearly_ahead() {
        let (low, middle, high) = (found(&[0.1, 0.2, 0.5]), found(&[0.3, 0.3, 0.5]), found(&[0.5, 0.4, 1.0]));
        let nearly = found(&[0.3, 0.31, 0.49]);
        let of = |scratch, english, from, faster| best(scratch, english, from, faster);
        assert_eq!(of(Some(&high), &low, Some(&middle), None), (StartKind::Scratch, 1.0));
        assert_eq!(of(Some(&high), &low, Some(&low), Some(&high)), (StartKind::FromEnglish, FASTER));
        assert_eq!(of(Some(&low), &low, Some(&middle), Some(&nearly)), (StartKind::FromEnglish, 1.0));
        assert_eq!(of(Some(&middle), &high, Some(&low), Some(&middle)), (StartKind::English, 1.0));
        assert_eq!(of(Some(&nearly), &low, Some(&middle), None), (StartKind::FromEnglish, 1.0));
        assert_eq!(of(None, &nearly, Some(&middle), None), (StartKind::FromEnglish, 1.0));
        assert_eq!(of(None, &high, Some(&middle), None), (StartKind::English, 1.0));
        assert_eq!(of(None, &low, None, None), (StartKind::English, 1.0));
    }
}
