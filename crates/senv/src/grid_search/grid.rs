//! The hyperparameters to search, and their values.

use std::path::{Path, PathBuf};

use senv_core::{TextOptions, TextReader, hyperparameters::Hyperparameters};

use crate::error::{Error, Result};

/// Hyperparameters in order, each with the values to try.
///
/// ```
/// use senv::{CseParams, grid_search::SearchGrid};
/// let grid = SearchGrid::new([("margin", vec!["0.4", "0.6"]), ("batch", vec!["100"])])?;
/// assert_eq!(grid.combinations(), [["0.4", "100"], ["0.6", "100"]]);
/// let candidates = grid.candidates(&CseParams::default())?;
/// assert_eq!(candidates[1].params.fit.batch, 100);
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchGrid(Vec<(String, Vec<String>)>);

/// A combination of values, and the hyperparameters with these values.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchCandidate<S> {
    /// One value for each name of the grid.
    pub values: Vec<String>,
    /// The hyperparameters with these values.
    pub params: S,
}

impl SearchGrid {
    /// Creates a grid from names and the values of each, as a program would read them.
    ///
    /// # Errors
    /// [`Error::BadGrid`] without a name, for a name without a value, for a repeated name, and for the seed, which the
    /// search varies itself.
    pub fn new<N: Into<String>, V: Into<String>>(
        settings: impl IntoIterator<Item = (N, impl IntoIterator<Item = V>)>,
    ) -> Result<Self> {
        let mut grid = Self(Vec::new());
        for (name, values) in settings {
            let values: Vec<String> = values.into_iter().map(Into::into).collect();
            grid.push(name.into(), values).map_err(|reason| Error::BadGrid { place: String::new(), reason })?;
        }
        if grid.0.is_empty() {
            return Err(Error::BadGrid { place: String::new(), reason: "the grid has no hyperparameters".into() });
        }
        Ok(grid)
    }

    /// Reads `name = value value ...`, one hyperparameter per line; `#` starts a comment.
    ///
    /// # Errors
    /// [`Error::BadGrid`] naming file and line; [`senv_core::Error::Io`] if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path: PathBuf = path.as_ref().to_owned();
        let mut reader = TextReader::open(&[&path], &TextOptions::default())?;
        let mut grid = Self(Vec::new());
        while let Some(line) = reader.next_line()? {
            let text = line.text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let place = format!("{}:{}: ", path.display(), line.number);
            let (name, values) = text.split_once('=').unwrap_or((text, ""));
            // A list such as 1,2,3 is one value. A comma before a space separates values like the space.
            let values = values.split_whitespace().map(|value| value.trim_end_matches(',').to_owned()).collect();
            let name = name.trim().trim_start_matches("--").to_owned();
            grid.push(name, values).map_err(|reason| Error::BadGrid { place, reason })?;
        }
        if grid.0.is_empty() {
            let reason = "the grid has no hyperparameters; expected lines such as margin = 0.4 0.6".into();
            return Err(Error::BadGrid { place: format!("{}: ", path.display()), reason });
        }
        Ok(grid)
    }

    fn push(&mut self, name: String, values: Vec<String>) -> std::result::Result<(), String> {
        if name.is_empty() || values.is_empty() {
            return Err("expected a hyperparameter and its values, such as margin = 0.4 0.6".into());
        }
        if name == "seed" {
            return Err("the seed cannot be searched; use several seeds with the best values".into());
        }
        if self.0.iter().any(|(known, _)| *known == name) {
            return Err(format!("duplicate hyperparameter {name}"));
        }
        self.0.push((name, values));
        Ok(())
    }

    /// Returns the names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns the number of combinations of values.
    #[must_use]
    pub fn n_combinations(&self) -> usize {
        self.0.iter().fold(1_usize, |n, (_, values)| n.saturating_mul(values.len()))
    }

    /// Returns every combination of values; the last name varies fastest.
    #[must_use]
    pub fn combinations(&self) -> Vec<Vec<String>> {
        self.0.iter().fold(vec![Vec::new()], |combinations, (_, values)| {
            let longer = |one: &Vec<String>, value: &String| one.iter().chain([value]).cloned().collect();
            combinations.iter().flat_map(|one| values.iter().map(move |value| longer(one, value))).collect()
        })
    }

    /// Returns `base` with every combination of values.
    ///
    /// # Errors
    /// [`Error::BadGrid`] for a name that is not one of its hyperparameters; [`senv_core::Error::BadHyperparameter`]
    /// for an invalid value.
    pub fn candidates<S: Hyperparameters + Clone>(&self, base: &S) -> Result<Vec<SearchCandidate<S>>> {
        let candidate = |values: Vec<String>| {
            let mut params = base.clone();
            for ((name, _), value) in self.0.iter().zip(&values) {
                if !params.set(&name.replace('-', "_"), value)? {
                    let reason = format!("unknown hyperparameter {name}");
                    return Err(Error::BadGrid { place: String::new(), reason });
                }
            }
            Ok(SearchCandidate { values, params })
        };
        self.combinations().into_iter().map(candidate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CseParams;

    fn read(text: &str) -> Result<SearchGrid> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        SearchGrid::read(file.path())
    }

    #[test]
    fn every_combination_comes_in_order() {
        let grid = read("# what is tried\nmargin = 0.4, 0.6\n\n--windows=1,2,3 2 # sizes\n").unwrap();
        assert_eq!((grid.names(), grid.n_combinations()), (vec!["margin".to_owned(), "windows".to_owned()], 4));
        let combinations = [["0.4", "1,2,3"], ["0.4", "2"], ["0.6", "1,2,3"], ["0.6", "2"]];
        assert_eq!(grid.combinations(), combinations);
        let candidates = grid.candidates(&CseParams::default()).unwrap();
        assert_eq!(candidates.len(), 4);
        assert_ne!(candidates[1].params, candidates[2].params);
        assert_eq!(SearchGrid::new([("margin", ["0.4", "0.6"]), ("windows", ["1,2,3", "2"])]).unwrap(), grid);
    }

    #[test]
    fn bad_grids_are_named() {
        for (text, expected) in [
            ("", "no hyperparameters"),
            ("margin\n", ":1:"),
            ("margin = 1\nbatch =\n", ":2:"),
            ("seed = 1 2\n", "several seeds"),
            ("margin = 1\nmargin = 2\n", "duplicate hyperparameter margin"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        for (text, expected) in [("colour = red\n", "colour"), ("margin = 0.4,0.6\n", "0.4,0.6")] {
            let message = read(text).unwrap().candidates(&CseParams::default()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
