//! What all arguments share: a heading, and values of an enum of a library.

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
