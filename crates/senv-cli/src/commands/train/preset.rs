//! Named presets of settings.

use clap::{
    Arg, ArgMatches, Args, Command, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser},
};
use senv::{System, system::NamedSettings};

/// The name of the argument.
const PRESET: &str = "preset";

/// `--preset`, for a system with named settings.
#[derive(Debug)]
pub(crate) struct PresetArgs<S: System>(Option<NamedSettings<S>>);

impl<S: System> Clone for PresetArgs<S> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<S: System> PresetArgs<S> {
    /// The named settings, or the default ones.
    pub(crate) fn settings(&self) -> S {
        self.0.map_or_else(S::default, |named| (named.settings)())
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }
}

impl<S: System> Args for PresetArgs<S> {
    fn augment_args(command: Command) -> Command {
        if S::NAMED_SETTINGS.is_empty() {
            return command;
        }
        let names = S::NAMED_SETTINGS.iter().map(|named| PossibleValue::new(named.name).help(named.help));
        let preset = Arg::new(PRESET)
            .long(PRESET)
            .value_name("NAME")
            .help(S::ABOUT.preset)
            .help_heading("Training")
            .value_parser(PossibleValuesParser::new(names));
        command.arg(preset)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: System> FromArgMatches for PresetArgs<S> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let name = if S::NAMED_SETTINGS.is_empty() { None } else { matches.get_one::<String>(PRESET) };
        Ok(Self(name.and_then(|name| S::NAMED_SETTINGS.iter().find(|named| named.name == name).copied())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
