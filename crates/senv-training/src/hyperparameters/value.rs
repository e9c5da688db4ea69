//! Values of hyperparameters as text.

/// One of the names that a hyperparameter can have as its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// Its meaning.
    pub help: &'static str,
}

/// A type of hyperparameters: numbers, Booleans, names, lists, and optional values of these types.
pub trait HyperparameterValue: Sized {
    /// The placeholder of a value in help.
    const PLACEHOLDER: &'static str;

    /// The names, if the value is one of several names.
    const CHOICES: &'static [Choice] = &[];

    /// Parses a value.
    ///
    /// # Errors
    /// The reason why the text is not valid.
    fn parse(text: &str) -> Result<Self, String>;

    /// Formats a value; `None` if it is absent.
    fn print(&self) -> Option<String>;

    /// The number whose range is checked, if the value is a number.
    fn number(&self) -> Option<f64> {
        None
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl HyperparameterValue for $type {
            const PLACEHOLDER: &'static str = "N";

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: std::num::ParseIntError| error.to_string())
            }

            fn print(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )+};
}
whole_numbers!(u32, u64, usize);

macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl HyperparameterValue for $type {
            const PLACEHOLDER: &'static str = "X";

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: std::num::ParseFloatError| error.to_string())
            }

            /// Very small numbers are printed like 1e-6.
            fn print(&self) -> Option<String> {
                let is_tiny = *self != 0.0 && self.abs() < 1e-4;
                Some(if is_tiny { format!("{self:e}") } else { format!("{self}") })
            }

            fn number(&self) -> Option<f64> {
                Some(f64::from(*self))
            }
        }
    )+};
}
numbers!(f32, f64);

impl HyperparameterValue for bool {
    const PLACEHOLDER: &'static str = "BOOL";

    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err("expected true or false".into()),
        }
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: HyperparameterValue> HyperparameterValue for Option<T> {
    const PLACEHOLDER: &'static str = T::PLACEHOLDER;
    const CHOICES: &'static [Choice] = T::CHOICES;

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn print(&self) -> Option<String> {
        self.as_ref()?.print()
    }

    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
}

/// A list, separated by commas.
impl HyperparameterValue for Vec<usize> {
    const PLACEHOLDER: &'static str = "N,N";

    fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(|part| usize::parse(part.trim())).collect()
    }

    fn print(&self) -> Option<String> {
        let numbers: Vec<String> = self.iter().map(ToString::to_string).collect();
        (!numbers.is_empty()).then(|| numbers.join(","))
    }
}

/// Names the variants of an enum as values of a hyperparameter, with the meaning of each.
///
/// ```
/// use senv_core::hyperparameters::{HyperparameterValue, named_values};
/// #[derive(Debug, PartialEq)]
/// enum Pooling {
///     Mean,
///     Sum,
/// }
/// named_values!(Pooling { Mean = "mean": "the mean of the words", Sum = "sum": "their sum" });
/// assert_eq!(Pooling::parse("sum"), Ok(Pooling::Sum));
/// assert_eq!(Pooling::Mean.print().as_deref(), Some("mean"));
/// assert!(Pooling::parse("max").unwrap_err().contains("mean, sum"));
/// ```
#[macro_export]
macro_rules! named_values {
    ($type:ty { $($variant:ident = $name:literal : $help:literal),+ $(,)? }) => {
        impl $crate::hyperparameters::HyperparameterValue for $type {
            const PLACEHOLDER: &'static str = "NAME";
            const CHOICES: &'static [$crate::hyperparameters::Choice] =
                &[$($crate::hyperparameters::Choice { name: $name, help: $help }),+];

            fn parse(text: &str) -> ::std::result::Result<Self, ::std::string::String> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err($crate::hyperparameters::expected_one_of(Self::CHOICES)),
                }
            }

            fn print(&self) -> ::std::option::Option<::std::string::String> {
                ::std::option::Option::Some(match self { $(Self::$variant => $name),+ }.into())
            }
        }
    };
}

/// Lists the valid names.
#[must_use]
pub fn expected_one_of(choices: &[Choice]) -> String {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    format!("expected one of {}", names.join(", "))
}
