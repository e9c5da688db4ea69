//! What all arguments share: a heading, values of an enum of a library, and the error for what is not a number.

use std::{
    error::Error as _,
    num::{IntErrorKind, ParseFloatError, ParseIntError},
};

use clap::error::{ContextKind, ErrorKind};

/// The heading of the options that every command has.
pub(crate) const GLOBAL: &str = "Global options";

/// An argument that becomes an enum of a library with the same variants; their doc comments are the help.
macro_rules! argument_of {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident for $target:ty { $($(#[$about:meta])* $variant:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
        $visibility enum $name {
            $($(#[$about])* $variant),*
        }

        impl From<$name> for $target {
            fn from(argument: $name) -> Self {
                match argument {
                    $($name::$variant => Self::$variant),*
                }
            }
        }
    };
}

pub(crate) use argument_of;

/// Replaces the error for a value that is not a number by one that says what is expected, in the colors of `command`.
pub(crate) fn with_expected_number(error: clap::Error, command: &clap::Command) -> clap::Error {
    let source = error.source();
    let expected = match source.and_then(|source| source.downcast_ref::<ParseIntError>()) {
        Some(bad) if *bad.kind() == IntErrorKind::PosOverflow => "the number is too large",
        Some(_) => "expected a whole number, such as 10 or 1000",
        None if source.is_some_and(|source| source.is::<ParseFloatError>()) => "expected a number, such as 0.5",
        None => return error,
    };
    let [argument, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue]
        .map(|kind| error.get(kind).map(ToString::to_string).unwrap_or_default());
    clap::Error::raw(
        ErrorKind::ValueValidation,
        format!("invalid value '{value}' for '{argument}': {expected}\n\nFor more information, try '--help'.\n"),
    )
    .with_cmd(command)
}
