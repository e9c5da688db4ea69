//! The file that says what is tried: settings and their values.

use std::path::Path;

use senv_core::{TextOptions, TextReader};

use crate::{
    commands::train::{HyperArgs, Shown},
    failure::{Failure, Result},
};

/// Settings in the order of the file, each with the values to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid(Vec<(String, Vec<String>)>);

impl Grid {
    /// Reads `name = value value ...`, a setting a line; `#` begins a comment.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let mut reader = TextReader::open(&[path], &TextOptions::default())?;
        let mut settings: Vec<(String, Vec<String>)> = Vec::new();
        while let Some(line) = reader.next_line()? {
            let text = line.text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let bad = |reason: &str| Failure::Usage(format!("{}:{}: {reason}", path.display(), line.number));
            let expected = "expected a setting and its values, as in: margin = 0.4 0.6";
            let (name, values) = text.split_once('=').ok_or_else(|| bad(expected))?;
            let name = name.trim().trim_start_matches("--");
            // A list is one value, as in 1,2,3; a comma before a blank separates like the blank.
            let values: Vec<String> =
                values.split_whitespace().map(|value| value.trim_end_matches(',').to_owned()).collect();
            if name.is_empty() || values.is_empty() {
                return Err(bad(expected));
            }
            if name == "seed" {
                return Err(bad("the seed is no setting; --seeds says how many are tried"));
            }
            if settings.iter().any(|(known, _)| known == name) {
                return Err(bad(&format!("{name} is there twice")));
            }
            settings.push((name.to_owned(), values));
        }
        if settings.is_empty() {
            return Err(Failure::Usage(format!(
                "{}: no setting in it, expected lines as: margin = 0.4 0.6",
                path.display()
            )));
        }
        Ok(Self(settings))
    }

    /// The names, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// How many combinations of values there are.
    pub(super) fn n_combinations(&self) -> usize {
        self.0.iter().fold(1_usize, |n, (_, values)| n.saturating_mul(values.len()))
    }

    /// Every combination of values, the last setting moving fastest.
    pub(super) fn combinations(&self) -> Vec<Vec<String>> {
        self.0.iter().fold(vec![Vec::new()], |combinations, (_, values)| {
            let longer = |one: &Vec<String>, value: &String| one.iter().chain([value]).cloned().collect();
            combinations.iter().flat_map(|one| values.iter().map(move |value| longer(one, value))).collect()
        })
    }

    /// The hyperparameters of the command line with these values instead.
    pub(super) fn hyperparameters<P: Shown>(&self, base: &HyperArgs<P>, values: &[String]) -> Result<HyperArgs<P>> {
        let with = |given: HyperArgs<P>, ((name, _), value): (&(String, _), &String)| given.with(name, value);
        self.0.iter().zip(values).try_fold(base.clone(), with).map_err(|failure| match failure {
            Failure::Usage(message) => Failure::Usage(format!("the grid: {message}")),
            failure => failure,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use senv_models::CseParams;

    use super::*;

    fn read(text: &str) -> Result<Grid> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Grid::read(file.path())
    }

    /// The hyperparameters of CSE that a command line gives.
    fn given(arguments: &[&str]) -> HyperArgs<CseParams> {
        let command = HyperArgs::<CseParams>::augment_args(clap::Command::new("cse").no_binary_name(true));
        HyperArgs::from_arg_matches(&command.get_matches_from(arguments)).unwrap()
    }

    fn params(given: &HyperArgs<CseParams>) -> CseParams {
        let mut params = CseParams::default();
        given.apply(&mut params).unwrap();
        params
    }

    #[test]
    fn every_combination_comes_in_order_and_changes_what_was_given() {
        let grid = read("# what is tried\nmargin = 0.4, 0.6\n\n--windows=1,2,3 2 # sizes\n").unwrap();
        assert_eq!(grid.names(), ["margin", "windows"]);
        let combinations = grid.combinations();
        assert_eq!(combinations, [["0.4", "1,2,3"], ["0.4", "2"], ["0.6", "1,2,3"], ["0.6", "2"]]);
        let base = given(&["--margin=1", "--windows=9", "--batch=7"]);
        let settings = grid.hyperparameters(&base, &combinations[2]).unwrap();
        assert_eq!(params(&settings), params(&given(&["--batch=7", "--windows=1,2,3", "--margin=0.6"])));
    }

    #[test]
    fn bad_grids_are_named() {
        let message = |result: Result<Grid>| match result.unwrap_err() {
            Failure::Usage(message) => message,
            other => panic!("{other:?}"),
        };
        for (text, expected) in [
            ("", "no setting"),
            ("margin\n", ":1:"),
            ("margin = 1\nbatch =\n", ":2:"),
            ("seed = 1 2\n", "--seeds"),
            ("margin = 1\nmargin = 2\n", "twice"),
        ] {
            let message = message(read(text));
            assert!(message.contains(expected), "{message}");
        }
        let base = given(&[]);
        let grid = read("colour = red\n").unwrap();
        let Err(Failure::Usage(text)) = grid.hyperparameters(&base, &["red".into()]) else { panic!() };
        assert!(text.contains("--colour"), "{text}");
        let grid = read("margin = 0.4,0.6\n").unwrap();
        let Err(Failure::Usage(text)) = grid.hyperparameters(&base, &["0.4,0.6".into()]) else { panic!() };
        assert!(text.contains("0.4,0.6") && text.contains("--margin"), "{text}");
    }
}
