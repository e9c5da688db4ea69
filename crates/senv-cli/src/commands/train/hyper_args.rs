//! The hyperparameters of a system as arguments: names, help, values and defaults come from their declarations.

use std::marker::PhantomData;

use clap::{
    Arg, ArgMatches, Command, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser, Str, TypedValueParser},
};
use senv::{
    CaptionRepParams, DictRepParams, OrderParams, PThoughtParams, PairSystem, RandomBowParams, RelatednessParams,
    SnliEncoder, SnliParams, StudentParams, TextSystem, data::TextSize,
};
use senv_core::{
    Error as CoreError, NoObserver, Tokenizer,
    hyperparameters::{Hyperparameter, Hyperparameters, Section},
};

use crate::failure::{Failure, Result};

/// Hyperparameters with the defaults that the help shows.
pub(crate) trait Shown: Hyperparameters {
    fn shown() -> Self;
}

macro_rules! shown {
    ($($params:ty => $shown:expr),+ $(,)?) => {
        $(impl Shown for $params {
            fn shown() -> Self {
                $shown
            }
        })+
    };
}
macro_rules! shown_for_medium_text {
    ($($params:ident),+) => { shown!($(senv::$params => for_medium_text()),+); };
}
senv::text_systems!(shown_for_medium_text);

/// The automatic values for a text of a few million words.
fn for_medium_text<S: TextSystem>() -> S {
    let mut params = S::default();
    params.resolve(TextSize::MEDIUM);
    params
}

/// The default settings with the learning rate for a run without initial vectors.
fn from_nothing<S: PairSystem>() -> S {
    let mut params = S::default();
    params.resolve_lr(None, None, &NoObserver);
    params
}

macro_rules! shown_from_nothing {
    ($($params:ident),+) => { shown!($(senv::$params => from_nothing()),+); };
}
senv::pair_systems!(shown_from_nothing);

macro_rules! shown_as_it_is {
    ($($params:ident),+) => { shown!($(senv::$params => Self::default()),+); };
}
senv::running_text_systems!(shown_as_it_is);

shown!(
    SnliParams => Self { encoder: SnliEncoder::rnn(), ..Self::default() },
    PThoughtParams => Self::default(),
    DictRepParams => Self::default(),
    CaptionRepParams => Self::default(),
    StudentParams => {
        let mut params = Self::default();
        params.fit.lr = Some(Self::DEFAULT_LR);
        params
    },
    OrderParams => Self::default(),
    RelatednessParams => Self::default(),
    RandomBowParams => Self::default(),
    // For a converted model.
    Tokenizer => Self::words(),
);

/// The given hyperparameters of `P`, in the order of their declarations.
#[derive(Debug)]
pub(crate) struct HyperArgs<P> {
    given: Vec<(&'static str, String)>,
    of: PhantomData<fn() -> P>,
}

impl<P> Clone for HyperArgs<P> {
    fn clone(&self) -> Self {
        Self { given: self.given.clone(), of: PhantomData }
    }
}

/// The name of the option for a hyperparameter, without dashes.
fn option_of(name: &str) -> String {
    name.replace('_', "-")
}

fn heading(section: Section) -> &'static str {
    match section {
        Section::Training => "Training",
        Section::Text => "Text",
        Section::Validation => "Validation",
        Section::Weights => "Weights",
    }
}

/// Renamed values: the former and the present name.
const RENAMED: &[(&str, &str)] = &[("blank", "whitespace"), ("adam-kiros", "adam-skip-thoughts")];

fn refuse_former(value: String) -> std::result::Result<String, String> {
    match RENAMED.iter().find(|(former, _)| *former == value) {
        Some((former, name)) => Err(format!("{former} is now called {name}")),
        None => Ok(value),
    }
}

fn argument(parameter: &Hyperparameter) -> Arg {
    let help = parameter.help();
    // The first sentence is enough for `-h`.
    let short = help.split_once(". ").map_or(&*help, |(first, _)| first);
    let default = parameter.value.as_ref().map_or_else(String::new, |value| {
        // The default of the library does not suit every script.
        let besides = if parameter.name == "tokenizer" { "; unicode for text in scripts without spaces" } else { "" };
        format!(" [default: {value}{besides}]")
    });
    let arg = Arg::new(parameter.name)
        .long(Str::from(option_of(parameter.name)))
        .help(format!("{short}{default}"))
        .long_help(format!("{help}{default}"))
        .help_heading(heading(parameter.section))
        .value_name(parameter.placeholder);
    let check = parameter.check;
    let value = move |text: &str| check(text).map(|()| text.to_owned());
    match parameter.placeholder {
        _ if !parameter.choices.is_empty() => {
            let names = parameter.choices.iter().map(|choice| {
                let former = RENAMED.iter().find(|(_, name)| *name == choice.name).map(|(former, _)| *former);
                PossibleValue::new(choice.name).help(choice.help).aliases(former)
            });
            arg.value_parser(PossibleValuesParser::new(names).try_map(refuse_former))
        }
        "BOOL" => arg.value_parser(value).num_args(0..=1).default_missing_value("true"),
        _ => arg.value_parser(value).allow_negative_numbers(true),
    }
}

impl<P: Shown> clap::Args for HyperArgs<P> {
    fn augment_args(command: Command) -> Command {
        command.args(P::shown().hyperparameters().iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Shown> FromArgMatches for HyperArgs<P> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let value = |parameter: Hyperparameter| {
            matches.get_one::<String>(parameter.name).map(|value| (parameter.name, value.clone()))
        };
        let given = P::shown().hyperparameters().into_iter().filter_map(value).collect();
        Ok(Self { given, of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<P: Shown> HyperArgs<P> {
    /// These hyperparameters with another value for one, by the name of its option.
    pub(crate) fn with(&self, option: &str, value: &str) -> Result<Self> {
        let name = option.replace('-', "_");
        let all = P::shown().hyperparameters();
        let Some(parameter) = all.iter().find(|parameter| parameter.name == name) else {
            return Err(Failure::Usage(format!("there is no option --{option}")));
        };
        (parameter.check)(value).map_err(|reason| Failure::Usage(format!("--{option} {value}: {reason}")))?;
        let given = |name| self.given.iter().find(|(given, _)| *given == name).map(|(_, text)| text.clone());
        let given = all.iter().filter_map(|known| {
            let text = if known.name == name { Some(value.to_owned()) } else { given(known.name) };
            Some((known.name, text?))
        });
        Ok(Self { given: given.collect(), of: PhantomData })
    }
}

impl<P> HyperArgs<P> {
    /// Sets the given values that `params` has, and checks ranges.
    pub(crate) fn apply(&self, params: &mut impl Hyperparameters) -> Result {
        let set = self.set_in(params).and_then(|()| params.check_ranges());
        set.map_err(|error| match error {
            CoreError::BadHyperparameter { name, value, reason } => {
                Failure::Usage(format!("--{} {value}: {reason}", option_of(&name)))
            }
            error => error.into(),
        })
    }

    /// The same as [`HyperArgs::apply`] after training has started.
    pub(crate) fn set_in(&self, params: &mut impl Hyperparameters) -> senv_core::Result<()> {
        self.given.iter().try_for_each(|(name, text)| params.set(name, text).map(drop))
    }

    /// The given text for a hyperparameter.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, text)| text.as_str())
    }

    /// Whether a hyperparameter was given.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The option of the first of these that was given.
    pub(crate) fn first_given(&self, names: &[&str]) -> Option<String> {
        names.iter().find(|name| self.is_given(name)).map(|name| format!("--{}", option_of(name)))
    }

    /// Refuses options without effect: early stopping and a validation interval without validation, and epochs together
    /// with steps.
    pub(crate) fn check_training(&self, validates: bool) -> Result {
        if let Some(option) = self.first_given(&["validate_every", "patience"]).filter(|_| !validates) {
            let message = format!("{option} has no effect without validation; add --dev, or leave it out");
            return Err(Failure::Usage(message));
        }
        if self.is_given("epochs") && self.is_given("steps") {
            return Err(Failure::Usage("--epochs and --steps both set how long to train; give one of them".into()));
        }
        Ok(())
    }

    /// The dimension: the given one, or that of initial vectors.
    pub(crate) fn fit_dim(&self, dim: &mut usize, of_vectors: Option<usize>) {
        if let Some(of_vectors) = of_vectors.filter(|_| !self.is_given("dim")) {
            *dim = of_vectors;
        }
    }
}

#[cfg(test)]
mod tests {
    use senv::{CseParams, PvDbowParams, Sent2VecParams, Word2VecParams, gradient::PairLoss};

    use super::*;
    use crate::help::long_command;

    #[test]
    fn the_command_line_is_consistent_and_its_help_shows_the_defaults_of_the_library() {
        long_command().debug_assert();
        let mut command = long_command();
        command.build();
        let mut help = |command_name: &str, system: &str| {
            let train = command.find_subcommand_mut(command_name).unwrap();
            let help = train.find_subcommand_mut(system).unwrap().render_long_help().to_string();
            // Without line breaks.
            help.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let has = |help: &str, defaults: &[&str]| {
            for default in defaults {
                let default = format!("[default: {default}]");
                assert!(help.contains(&default), "{default} is missing:\n{help}");
            }
        };
        for (system, lr) in [
            ("sent2vec", for_medium_text::<Sent2VecParams>().training.first_lr()),
            ("word2vec", for_medium_text::<Word2VecParams>().training.first_lr()),
            ("pv-dbow", for_medium_text::<PvDbowParams>().training.first_lr()),
        ] {
            has(
                &help("train", system),
                &[&lr.to_string(), "words; unicode for text in scripts without spaces", "deterministic"],
            );
        }
        for (system, weights) in [("sent2vec", "usif"), ("word2vec", "usif"), ("siamese-cbow", "sif"), ("pp", "none")] {
            has(&help("train", system), &[weights, "0.001"]);
        }
        assert!(matches!(CseParams::default().pairs.loss, PairLoss::Margin(_)));
        let shared = ["margin", "0.4", "both-sides", "max", "0.06", "constant", "sparse", "1e-6", "half", "300", "1"];
        for command in ["train", "tune"] {
            has(&help(command, "cse"), &shared);
            has(&help(command, "cse"), &["adam", "1,2,3", "100", "linear", "per-filter", "0.001", "128"]);
            has(&help(command, "gran"), &["margin", "both-sides", "300", "adam", "gran", "0.4", "0.5", "100", "0.001"]);
            has(&help(command, "pp"), &shared);
            has(&help(command, "pp"), &["adam-folded", "0.005"]);
        }
        has(&help("train", "siamese-cbow"), &["0.001", "2", "50", "linear", "10", "1"]);
        has(&help("train", "relatedness"), &["50", "1-5", "product", "kl", "universal", "32"]);
        has(&help("train", "skip-thought"), &["620", "2400", "paper", "20000", "30", "cut", "full", "10", "128", "1"]);
        has(&help("train", "rnn-ae"), &["620", "2400", "paper", "64"]);
        has(&help("train", "bow-ae"), &["620", "full", "5", "200", "cut"]);
        has(&help("train", "snli"), &["bow, unless --preset names another", "620", "512", "100", "cut", "3", "20"]);
        has(&help("train", "dict-rep"), &["bow", "256", "512", "last", "ranking", "0.1", "100", "64", "2"]);
        has(&help("train", "caption-rep"), &["bow", "256", "512", "ranking"]);
        has(&help("train", "p-thought"), &["one-bi", "300", "1200", "2", "sampled", "frozen"]);
    }
}
