//! Hyperparameters, each declared once: name, type, default, range and help.
//!
//! [`hyperparameters!`](crate::hyperparameters!) makes a struct of them. The struct, its `Default`, the check of
//! ranges, the arguments of a program with their help, the grid of a grid search and a listing of values all come from
//! that one declaration; a new hyperparameter is one new line.
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

/// The heading under which a hyperparameter stands.
///
/// Exhaustive on purpose: a program has a heading for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The system and its training.
    Training,
    /// What becomes of the text.
    Text,
    /// When the model is validated, and when training ends early.
    Validation,
    /// The weights of words once they are trained.
    Weights,
}

/// The declaration of a hyperparameter, and its value in one struct.
#[derive(Debug, Clone)]
pub struct Hyperparameter {
    /// Its name, as of a field: `l2_words`.
    pub name: &'static str,
    /// Lines of its doc comment.
    pub doc: &'static [&'static str],
    /// Where it stands.
    pub section: Section,
    /// What its values may be; `None` where the type says it all.
    pub range: Option<Range>,
    /// Stands for a value in help: `N` for a whole number, `X` for a number, `NAME` for one of a few names.
    pub placeholder: &'static str,
    /// The names, where it is one of a few.
    pub choices: &'static [Choice],
    /// Its value; `None` where it has none, as a limit that is off.
    pub value: Option<String>,
    /// Whether it acts: not if it belongs to another variant than the one that is set, as a temperature to another
    /// loss. Then its value is the default of that variant.
    pub applies: bool,
    /// Whether a text is a value of its type, with the reason where it is not.
    pub check: fn(&str) -> std::result::Result<(), String>,
}

impl Hyperparameter {
    /// The declaration of a hyperparameter of type `T`.
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

    /// The first paragraph of its doc comment without the period at its end, and its range.
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

/// The hyperparameters of the variant that is set, and those of others, which do not apply. Of several with one name
/// the first counts.
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
    /// All of them with their values, in the order in which several are set.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;

    /// Sets one to the value that a text stands for; `false` if there is none of this name. Ranges are not checked.
    ///
    /// # Errors
    /// [`Error::BadHyperparameter`] if the text is no such value, or the hyperparameter belongs to another variant than
    /// the one that is set, as a temperature to another loss.
    fn set(&mut self, name: &str, text: &str) -> Result<bool>;

    /// Checks every declared range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the first hyperparameter that is out of range.
    fn check_ranges(&self) -> Result<()>;
}

/// Sets a hyperparameter to the value that a text stands for.
///
/// # Errors
/// [`Error::BadHyperparameter`] if the text is no such value.
pub fn set_value<T: HyperparameterValue>(place: &mut T, name: &str, text: &str) -> Result<()> {
    let bad = |reason| Error::BadHyperparameter { name: name.to_owned(), value: text.to_owned(), reason };
    *place = T::parse(text).map_err(bad)?;
    Ok(())
}

/// An error that says to which variant a hyperparameter belongs.
#[must_use]
pub fn belongs_to(name: &str, text: &str, owner: &str) -> Error {
    Error::BadHyperparameter { name: name.to_owned(), value: text.to_owned(), reason: format!("it belongs to {owner}") }
}

/// Checks one range.
///
/// # Errors
/// [`Error::InvalidParameter`] if the value is outside.
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
