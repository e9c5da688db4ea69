//! The tables of a report: one column per headline, one row per system, with intervals, means and marks.

use rayon::prelude::*;
use senv_metrics::{Bootstrap, bootstrap_p, holm, paired_differences, percentile_interval};
use serde::Serialize;

use super::{
    protocol_group::ProtocolGroup,
    protocols::{Protocol, protocols},
    record::BenchRecord,
};
use crate::{
    error::Result,
    score::with_interval::{mean_draws, mean_of},
};

/// Significance level of the marks, after Holm's correction over the columns of a table.
pub(crate) const MARK_LEVEL: f64 = 0.05;

/// A column: the mean over one or more tasks of a protocol.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Column {
    /// Heading of the column.
    pub title: String,
    /// The protocol.
    pub protocol: &'static Protocol,
    /// The keys of its tasks.
    pub tasks: Vec<String>,
    /// Year and name of each task.
    pub task_names: Vec<(Option<u16>, String)>,
    /// Whether the data only have the names of a published set ([`TaskRecord::own`](super::TaskRecord)).
    pub own: bool,
}

/// A significant difference from the value of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mark {
    /// Significantly above.
    Above,
    /// Significantly below.
    Below,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Cell {
    /// The value; `None` if it is undefined.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Whether it has no interval and no mark because a task has fewer than [`MIN_ITEMS`](super::MIN_ITEMS) items.
    pub too_few: bool,
    /// Whether it is the highest in its column.
    pub best: bool,
    /// How it differs from the reference, if significantly.
    pub mark: Option<Mark>,
    /// Why there is no value.
    pub note: Option<String>,
}

/// A row: a system.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The index of the system in the record.
    pub system: usize,
    /// The mean of the columns that count for it; undefined if one of these columns is.
    pub mean: Cell,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

/// The table of one group of protocols.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// The group of protocols.
    pub section: ProtocolGroup,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Rows by descending mean. Those without a mean come last.
    pub rows: Vec<Row>,
    /// The value that guessing reaches in each column.
    pub chance: Vec<f64>,
    /// The index of the system that marks refer to, which is the first of the record.
    pub reference: Option<usize>,
}

/// The value of a cell in each draw.
type Draws = Vec<Option<f64>>;

/// Computes the tables of a record. Groups without a task are left out.
///
/// # Errors
/// [`crate::Error::Metrics`] if scores of the record do not fit its tasks.
pub fn summarize(record: &BenchRecord) -> Result<Vec<Summary>> {
    let all = columns(record);
    let bootstrap = Bootstrap { resamples: record.resamples, seed: record.seed };
    let mut summaries = Vec::new();
    for section in ProtocolGroup::ALL {
        let columns: Vec<Column> = all.iter().filter(|column| column.protocol.section == section).cloned().collect();
        if !columns.is_empty() {
            summaries.push(summary(record, section, columns, bootstrap)?);
        }
    }
    Ok(summaries)
}

/// Returns one column per STS year, one for all word-order templates, and one per task of the others.
fn columns(record: &BenchRecord) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for protocol in protocols() {
        for task in record.tasks.iter().filter(|task| task.protocol == protocol.name) {
            let title = match task.year {
                Some(year) => format!("STS {year}"),
                None => title(protocol, &task.name),
            };
            let title = if task.own { format!("{title} (own)") } else { title };
            let of_protocol = |column: &Column| column.protocol == protocol && column.title == title;
            let place = columns.iter().position(of_protocol).unwrap_or_else(|| {
                let (tasks, task_names, own) = (Vec::new(), Vec::new(), task.own);
                columns.push(Column { title, protocol, tasks, task_names, own });
                columns.len() - 1
            });
            columns[place].tasks.push(task.key.clone());
            columns[place].task_names.push((task.year, task.name.clone()));
        }
    }
    columns
}

/// Ends the heading of sentences that are part of senv.
pub(super) const BUILT_IN: &str = "(built in)";

/// Returns the heading of a task, short enough for a table.
fn title(protocol: &Protocol, task: &str) -> String {
    match protocol.name {
        "stsb" | "stsb-probe" => format!("STSB {task}"),
        "sick" | "sick-probe" => format!("SICK {task}"),
        "sick-entailment" => format!("SICK entailment {task}"),
        "own-entailment" => format!("{task}, own classifier"),
        "detection" => format!("{task} AP"),
        "ranking" => format!("{task} acc@1"),
        "p-coherence" => format!("P-coherence {task}"),
        "order-pairs" => format!("{task} AUC"),
        "order-entailment" => format!("{task} entailment AUC"),
        // All phenomena share one column.
        "order-templates" => format!("Templates {BUILT_IN}"),
        "soup" => format!("Soup AP {BUILT_IN}"),
        _ => task.to_owned(),
    }
}

fn summary(
    record: &BenchRecord,
    section: ProtocolGroup,
    columns: Vec<Column>,
    bootstrap: Bootstrap,
) -> Result<Summary> {
    let n = record.systems.len();
    // Compute the draws of every system in every column.
    let places: Vec<(usize, usize)> = (0..n).flat_map(|s| (0..columns.len()).map(move |c| (s, c))).collect();
    let computed = places
        .par_iter()
        .map(|&(system, column)| cell(record, system, &columns[column], bootstrap))
        .collect::<Result<Vec<(Cell, Draws)>>>()?;
    let at = |system: usize, column: usize| &computed[system * columns.len() + column];
    let in_mean: Vec<usize> = (0..columns.len()).filter(|&c| columns[c].protocol.in_mean).collect();
    let means: Vec<(Cell, Draws)> = (0..n)
        .map(|system| {
            let parts: Vec<&(Cell, Draws)> = in_mean.iter().map(|&column| at(system, column)).collect();
            let value = mean_of(parts.iter().map(|part| part.0.value));
            let draws = mean_draws(parts.iter().map(|part| &part.1[..]), record.resamples);
            let interval = value.and_then(|_| percentile_interval(&draws)).map(|i| (i.low, i.high));
            let too_few = value.is_some() && parts.iter().any(|part| part.0.too_few);
            (Cell { value, interval, too_few, ..Cell::default() }, draws)
        })
        .collect();
    let mut rows: Vec<Row> = (0..n)
        .map(|system| Row {
            system,
            mean: means[system].0.clone(),
            cells: (0..columns.len()).map(|column| at(system, column).0.clone()).collect(),
        })
        .collect();
    let reference = (n > 0).then_some(0);
    if let Some(reference) = reference {
        for row in rows.iter_mut().filter(|row| row.system != reference) {
            let system = row.system;
            mark(row, |column| match column {
                Some(column) => (&at(system, column).1, &at(reference, column).1),
                None => (&means[system].1, &means[reference].1),
            })?;
        }
    }
    // Columns outside the mean, such as P-coherence, have no best value because more is not always better.
    for column in in_mean.iter().copied().map(Some).chain([None]) {
        set_best(&mut rows, column);
    }
    // Equal means, and systems without one, keep the order given.
    rows.sort_by(|a, b| {
        b.mean.value.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.mean.value.unwrap_or(f64::NEG_INFINITY))
    });
    let chance = columns.iter().map(|column| {
        let of = record.tasks.iter().filter(|task| column.tasks.contains(&task.key)).map(|task| Some(task.chance));
        mean_of(of).unwrap_or(0.0)
    });
    let chance = chance.collect();
    Ok(Summary { section, columns, rows, chance, reference })
}

/// Computes the mean of the tasks of a column, and its draws.
fn cell(record: &BenchRecord, system: usize, column: &Column, bootstrap: Bootstrap) -> Result<(Cell, Draws)> {
    let system = &record.systems[system];
    let (mut values, mut draws, mut note, mut too_few) = (Vec::new(), Vec::new(), None, false);
    for key in &column.tasks {
        let task = record.tasks.iter().find(|task| &task.key == key);
        let (Some(task), Some(result)) = (task, system.result(key)) else {
            values.push(None);
            continue;
        };
        note = note.or_else(|| result.note.clone());
        values.push(result.value);
        let factor = column.protocol.factor;
        too_few |= result.is_of_too_few();
        draws.push(task.draws(result, bootstrap)?.into_iter().map(|x| x.map(|x| factor * x)).collect::<Draws>());
    }
    let value = mean_of(values.into_iter());
    let draws = mean_draws(draws.iter().map(|draws| &draws[..]), record.resamples);
    let interval = value.and_then(|_| percentile_interval(&draws)).map(|i| (i.low, i.high));
    let (note, too_few) = (note.filter(|_| value.is_none()), too_few && value.is_some());
    Ok((Cell { value, interval, too_few, note, ..Cell::default() }, draws))
}

/// Marks the cells of a row, and its mean, that differ from the reference. `draws` returns the draws of both in a
/// column, or those of their means for `None`.
fn mark<'a>(row: &mut Row, draws: impl Fn(Option<usize>) -> (&'a Draws, &'a Draws)) -> Result<()> {
    let p_of = |column| -> Result<Option<(f64, f64)>> {
        let (of_row, of_reference) = draws(column);
        let differences = paired_differences(of_row, of_reference)?;
        let defined: Vec<f64> = differences.iter().flatten().copied().collect();
        Ok(bootstrap_p(&differences).zip(senv_metrics::mean(&defined)))
    };
    let tests: Vec<Option<(f64, f64)>> = (0..row.cells.len()).map(|c| p_of(Some(c))).collect::<Result<_>>()?;
    let corrected = holm(&tests.iter().flatten().map(|test| test.0).collect::<Vec<_>>())?;
    let defined = row.cells.iter_mut().zip(&tests).filter_map(|(cell, test)| Some((cell, (*test)?.1)));
    for ((cell, difference), p) in defined.zip(corrected) {
        cell.mark = direction(p, difference);
    }
    row.mean.mark = p_of(None)?.and_then(|(p, difference)| direction(p, difference));
    Ok(())
}

fn direction(p: f64, difference: f64) -> Option<Mark> {
    (p < MARK_LEVEL).then_some(if difference > 0.0 { Mark::Above } else { Mark::Below })
}

/// Marks the highest value of a column, or of the means, as best, including ties.
fn set_best(rows: &mut [Row], column: Option<usize>) {
    fn of(row: &mut Row, column: Option<usize>) -> &mut Cell {
        match column {
            Some(column) => &mut row.cells[column],
            None => &mut row.mean,
        }
    }
    let best = rows.iter_mut().filter_map(|row| of(row, column).value).reduce(f64::max);
    for row in rows.iter_mut() {
        let cell = of(row, column);
        cell.best = cell.value.is_some() && cell.value == best;
    }
}
