//! The table of the runs of a search, kept in a file so a second call resumes from it.

use std::{fs, io::Write, path::PathBuf};

use senv_core::{Error as CoreError, files::AtomicFile};
use serde::Serialize;

use crate::error::Result;

/// The columns after the seed and the settings.
const RESULTS: [&str; 3] = ["score", "step", "seconds"];

/// A finished run of a grid search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GridRun {
    /// Its random seed.
    pub seed: u64,
    /// One value for each name of the grid.
    pub values: Vec<String>,
    /// The score; NaN for a run whose loss was NaN or infinite before the first validation.
    pub score: f64,
    /// The step of that score.
    pub step: u64,
    /// The duration of the run.
    pub seconds: f64,
}

/// All finished runs, as stored in the file.
pub(super) struct RunTable {
    /// `None` for a table in memory only.
    path: Option<PathBuf>,
    header: String,
    rows: Vec<GridRun>,
}

impl RunTable {
    /// Opens or creates the table.
    pub(super) fn open(path: Option<PathBuf>, names: &[String]) -> Result<Self> {
        let columns: Vec<&str> =
            std::iter::once("seed").chain(names.iter().map(String::as_str)).chain(RESULTS).collect();
        let header = columns.join("\t");
        let text = match path.as_ref().filter(|path| path.exists()) {
            Some(path) => fs::read_to_string(path).map_err(|e| CoreError::io("read", path, e))?,
            None => String::new(),
        };
        let bad = |what: &str| CoreError::BadFile {
            path: path.clone().unwrap_or_default(),
            reason: format!("{what}; remove the file, or use another folder"),
        };
        let mut lines = text.lines();
        if lines.next().is_some_and(|first| first != header) {
            return Err(bad("the table belongs to another grid").into());
        }
        let row = |(i, line)| parse(line, names.len()).ok_or_else(|| bad(&format!("line {} is not a run", i + 2)));
        let rows = lines.enumerate().map(row).collect::<std::result::Result<_, _>>()?;
        Ok(Self { path, header, rows })
    }

    /// Returns the run with this seed and these values, if it is finished.
    pub(super) fn find(&self, seed: u64, values: &[String]) -> Option<&GridRun> {
        self.rows.iter().find(|row| row.seed == seed && row.values == values)
    }

    /// Returns the best run so far, the first of equal ones.
    pub(super) fn best(&self) -> Option<&GridRun> {
        self.rows.iter().filter(|row| !row.score.is_nan()).fold(None, |best: Option<&GridRun>, row| match best {
            Some(best) if best.score >= row.score => Some(best),
            _ => Some(row),
        })
    }

    /// Adds a run to the file.
    pub(super) fn push(&mut self, row: GridRun) -> Result<()> {
        self.rows.push(row);
        let Some(path) = &self.path else { return Ok(()) };
        AtomicFile::write_with(path, |file| {
            writeln!(file, "{}", self.header)?;
            self.rows.iter().try_for_each(|row| {
                writeln!(
                    file,
                    "{}\t{}\t{}\t{}\t{:.1}",
                    row.seed,
                    row.values.join("\t"),
                    row.score,
                    row.step,
                    row.seconds
                )
            })
        })
        .map_err(CoreError::of_step)?;
        Ok(())
    }

    pub(super) fn into_rows(self) -> Vec<GridRun> {
        self.rows
    }
}

fn parse(line: &str, n_values: usize) -> Option<GridRun> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [seed, values @ .., score, step, seconds] = cells.as_slice() else { return None };
    (values.len() == n_values).then_some(())?;
    Some(GridRun {
        seed: seed.parse().ok()?,
        values: values.iter().map(|&value| value.to_owned()).collect(),
        score: score.parse().ok()?,
        step: step.parse().ok()?,
        seconds: seconds.parse().ok()?,
    })
}

/// Returns the median of some scores; NaN counts as the worst.
pub(super) fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.is_nan().cmp(&a.is_nan()).then(a.total_cmp(b)));
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, half) if n % 2 == 1 => sorted[half],
        (_, half) => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_other_tables_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.tsv");
        let names = ["margin".to_owned(), "batch".to_owned()];
        let row = |seed, score| GridRun { seed, values: vec!["0.4".into(), "8".into()], score, step: 3, seconds: 1.5 };
        let mut table = RunTable::open(Some(path.clone()), &names).unwrap();
        assert!(table.best().is_none());
        for (seed, score) in [(1, f64::NAN), (2, 0.1 + 0.2), (3, 0.25), (4, 0.1 + 0.2)] {
            table.push(row(seed, score)).unwrap();
        }
        let again = RunTable::open(Some(path.clone()), &names).unwrap();
        assert_eq!(again.rows[1..], table.rows[1..]);
        assert!(again.find(1, &row(1, 0.0).values).unwrap().score.is_nan());
        assert!(again.find(9, &row(1, 0.0).values).is_none() && again.find(1, &names).is_none());
        assert_eq!(again.best().unwrap().seed, 2);
        assert!(RunTable::open(Some(path.clone()), &names[..1]).is_err());
        fs::write(&path, "seed\tmargin\tbatch\tscore\tstep\tseconds\n1\t0.4\t8\n").unwrap();
        assert!(RunTable::open(Some(path), &names).is_err());
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[1.0, f64::NAN, 2.0]), 1.0);
        assert!(median(&[]).is_nan());
    }
}
