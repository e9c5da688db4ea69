//! Hyperparameters, each declared once with name, type, default, range and help.
//!
//! [`hyperparameters!`](crate::hyperparameters!) declares a struct of them. That one declaration gives the struct, its
//! `Default`, the range checks, a program's arguments with their help, the grid of a grid search and a listing of
//! values. A new hyperparameter is one new line.
//!
//! ```
//! use senv_core::hyperparameters::{Hyperparameters, hyperparameters};
//!
//! hyperparameters! {
//!     /// How the model is trained.
//!     #[derive(Debug, Clone, PartialEq)]
//!     pub struct Params {
//!         /// Passes over the text.
//!         pub epochs: u32 = 5 => Training[at_least 1];
//!         /// Learning rate.
//!         pub lr: f64 = 0.1 => Training[above 0];
//!     }
//! }
//!
//! let mut params = Params::default();
//! assert!(params.set("epochs", "20")?);
//! assert!(params.check_ranges().is_ok());
//! assert!(!params.set("color", "red")?, "there is no such hyperparameter");
//! let [epochs, lr] = &params.hyperparameters()[..] else { unreachable!() };
//! assert_eq!((epochs.name, epochs.help().as_str()), ("epochs", "Passes over the text, at least 1"));
//! assert_eq!((epochs.value.as_deref(), lr.value.as_deref()), (Some("20"), Some("0.1")));
//! params.lr = 0.0;
//! assert_eq!(params.check_ranges().unwrap_err().to_string(), "lr must be finite and above 0, got 0");
//! # Ok::<(), senv_core::Error>(())
//! ```

mod declare;
mod groups;
mod range;
mod value;

pub use crate::{hyperparameters, named_values};
pub use range::Range;
pub use value::{Choice, HyperparameterValue, expected_one_of};

use senv_base::{Error, Result};

/// The heading of a hyperparameter.
///
/// Exhaustive on purpose: a program needs a heading for each variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The system and its training.
    Training,
    /// The processing of the text.
    Text,
    /// Validation of the model, and early stopping.
    Validation,
    /// The weights of words after training.
    Weights,
}

/// The declaration of a hyperparameter, with its value in one struct.
#[derive(Debug, Clone)]
pub struct Hyperparameter {
    /// The name, like that of a field: `l2_words`.
    pub name: &'static str,
    /// The lines of the doc comment.
    pub doc: &'static [&'static str],
    /// The heading it belongs to.
    pub section: Section,
    /// The accepted values; `None` if the type accepts any.
    pub range: Option<Range>,
    /// The placeholder of a value in help: `N` for an integer, `X` for a number, `NAME` for one of several names.
    pub placeholder: &'static str,
    /// The names, if the value is one of several names.
    pub choices: &'static [Choice],
    /// The value; `None` if it is absent, for example a limit that is off.
    pub value: Option<String>,
    /// Whether the hyperparameter has an effect. False if it belongs to a variant that is not selected, like a
    /// temperature of another loss. Then its value is the default of that variant.
    pub applies: bool,
    /// Checks that a text is a value of the type; the error is the reason.
    pub check: fn(&str) -> std::result::Result<(), String>,
}

impl Hyperparameter {
    /// Declares a hyperparameter of type `T`.
    #[must_use]
    pub fn of<T: HyperparameterValue>(
        name: &'static str,
        doc: &'static [&'static str],
        section: Section,
        range: Option<Range>,
        value: &T,
    ) -> Self {
        Self {
            name,
            doc,
            section,
            range,
            placeholder: T::PLACEHOLDER,
            choices: T::CHOICES,
            value: value.print(),
            applies: true,
            check: |text| T::parse(text).map(drop),
        }
    }

    /// The first paragraph of the doc comment without its final period, followed by the range.
    #[must_use]
    pub fn help(&self) -> String {
        let lines: Vec<&str> = self.doc.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
        let mut help = lines.join(" ").trim_end_matches('.').replace('`', "");
        if let Some(range) = self.range {
            help += ", ";
            help += range.text;
        }
        help
    }
}

/// Combines the hyperparameters of the selected variant with those of others, which do not apply. If several have the
/// same name, the first is kept.
#[must_use]
pub fn variants(
    active: Vec<Hyperparameter>,
    others: impl IntoIterator<Item = Vec<Hyperparameter>>,
) -> Vec<Hyperparameter> {
    others.into_iter().flatten().fold(active, |mut all, other| {
        if all.iter().all(|known| known.name != other.name) {
            all.push(Hyperparameter { applies: false, ..other });
        }
        all
    })
}

/// A struct of hyperparameters.
pub trait Hyperparameters {
    /// All hyperparameters with their values, in the order in which to set several of them.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;

    /// Sets a hyperparameter from a text; returns `false` if there is none with this name. Does not check ranges.
    ///
    /// # Errors
    /// [`Error::BadHyperparameter`] if the text is not a valid value, or the hyperparameter belongs to a variant that
    /// is not selected, like a temperature of another loss.
    fn set(&mut self, name: &str, text: &str) -> Result<bool>;

    /// Checks every declared range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the first hyperparameter that is out of range.
    fn check_ranges(&self) -> Result<()>;
}

/// Sets a hyperparameter from a text.
///
/// # Errors
/// [`Error::BadHyperparameter`] if the text is not a valid value.
pub fn set_value<T: HyperparameterValue>(place: &mut T, name: &str, text: &str) -> Result<()> {
    let bad = |reason| Error::BadHyperparameter { name: name.to_owned(), value: text.to_owned(), reason };
    *place = T::parse(text).map_err(bad)?;
    Ok(())
}

/// The error that names the variant to which a hyperparameter belongs.
#[must_use]
pub fn belongs_to(name: &str, text: &str, owner: &str) -> Error {
    Error::BadHyperparameter { name: name.to_owned(), value: text.to_owned(), reason: format!("it belongs to {owner}") }
}

/// Checks one range.
///
/// # Errors
/// [`Error::InvalidParameter`] if the value is out of range.
pub fn check_range<T: HyperparameterValue>(value: &T, name: &'static str, range: Range) -> Result<()> {
    match value.number() {
        Some(number) if !range.contains(number) => {
            let got = value.print().unwrap_or_else(|| number.to_string());
            Err(Error::InvalidParameter { name, requirement: range.text, got })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
