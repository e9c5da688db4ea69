//! The tables of a run as data: ours beside theirs, and what made each figure.

use std::time::Duration;

use senv_eval::{DataFile, duration};
use serde::Serialize;
use serde_json::Value;

use super::reading::{Figure, read};
use crate::{
    paper::{Column, Paper, Row, Source, Table},
    plan::Plan,
    runner::CommandState,
};

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Results {
    /// The version of senv.
    pub(crate) version: String,
    /// Whether sizes were cut down to try the commands out; then the figures mean nothing.
    pub(crate) quick: bool,
    /// The papers.
    pub(crate) papers: Vec<PaperResult>,
}

/// The tables of a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PaperResult {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tables: Vec<TableResult>,
    /// The files that its commands read.
    pub(crate) data: Vec<DataFile>,
    /// The versions of senv that ran them.
    pub(crate) versions: Vec<String>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TableResult {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) columns: Vec<ColumnResult>,
    pub(crate) rows: Vec<RowResult>,
    /// The commands, each once, models before what is read from them.
    pub(crate) commands: Vec<CommandResult>,
    /// A drawing in the folder of the run.
    pub(crate) figure: Option<&'static str>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ColumnResult {
    pub(crate) title: String,
    /// The path in the JSON of the evaluation.
    pub(crate) path: String,
    pub(crate) digits: usize,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RowResult {
    pub(crate) name: String,
    pub(crate) data: &'static str,
    pub(crate) published_name: String,
    /// Models of the row, one a seed; a stopped run may have figures of some of them.
    pub(crate) n_models: usize,
    pub(crate) cells: Vec<Cell>,
}

/// A figure of ours, one a seed, and theirs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Cell {
    pub(crate) ours: Vec<f64>,
    /// Words where the figure is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
    pub(crate) theirs: Option<f64>,
    /// Why there is nothing of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why_not: Option<String>,
}

/// A command of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CommandResult {
    pub(crate) command: String,
    /// Wall time, where it has run.
    pub(crate) seconds: Option<f64>,
    /// The threads that were asked for then; 0 for all cores.
    pub(crate) threads: Option<usize>,
    /// Seconds that are expected on two quiet cores.
    pub(crate) expected_seconds: f64,
}

/// Why there is no figure where nothing speaks against it.
pub(crate) const NOT_RUN: &str = "not run";

impl CommandResult {
    /// How long it took, or will take.
    pub(crate) fn time(&self) -> String {
        match (self.seconds, self.threads) {
            (None, _) => format!("{NOT_RUN}, about {}", time(self.expected_seconds)),
            (Some(seconds), Some(1)) => format!("{}, 1 thread", time(seconds)),
            (Some(seconds), Some(threads @ 2..)) => format!("{}, {threads} threads", time(seconds)),
            (Some(seconds), _) => time(seconds),
        }
    }
}

impl Cell {
    /// The mean over the seeds.
    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.ours.is_empty()).then(|| self.ours.iter().sum::<f64>() / self.ours.len() as f64)
    }
}

/// A number of seconds in words; 0 of what is none, as a record that was changed by hand may have.
pub(crate) fn time(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A paper with the steps of its tables.
pub(crate) type Planned = (Paper, Vec<TableSteps>);

/// The steps of a table: those of a row, a model after the other, and the training of each.
#[derive(Debug)]
pub(crate) struct TableSteps {
    /// For each row and each of its models the steps of the evaluations, and that of the training.
    rows: Vec<Vec<(Vec<usize>, Option<usize>)>>,
}

impl TableSteps {
    /// Plans a table.
    pub(crate) fn new(plan: &mut Plan, paper: &Paper, table: &Table) -> Self {
        let mut model = |file: &String| {
            let training = plan.model(paper, file);
            let evaluations = table.evaluations.iter().map(|e| plan.evaluation(paper, e, file)).collect();
            (evaluations, training)
        };
        Self { rows: table.rows.iter().map(|row| row.models.iter().map(&mut model).collect()).collect() }
    }

    /// What has to run.
    pub(crate) fn wanted(&self) -> Vec<usize> {
        let models = self.rows.iter().flatten();
        models.flat_map(|(evaluations, training)| training.iter().chain(evaluations)).copied().collect()
    }

    /// The same with what it needs before it, each step once.
    pub(crate) fn in_order(&self, plan: &Plan) -> Vec<usize> {
        let mut order = Vec::new();
        for step in self.wanted() {
            add_with_needs(plan, step, &mut order);
        }
        order
    }

    /// The table as far as it has run.
    pub(crate) fn result(&self, plan: &Plan, states: &[CommandState], table: &Table) -> TableResult {
        let rows = table.rows.iter().zip(&self.rows).map(|(row, models)| row_result(row, models, states, table));
        TableResult {
            title: table.title,
            about: table.about,
            columns: table
                .columns
                .iter()
                .map(|column| ColumnResult {
                    title: column.title.clone(),
                    path: column.path.clone(),
                    digits: column.digits,
                })
                .collect(),
            rows: rows.collect(),
            commands: self.commands(plan, states),
            figure: table.figure,
        }
    }

    fn commands(&self, plan: &Plan, states: &[CommandState]) -> Vec<CommandResult> {
        let command = |step: usize| {
            let record = match &states[step] {
                CommandState::Done(record) => Some(record),
                _ => None,
            };
            let (seconds, threads) = (record.map(|record| record.seconds), record.map(|record| record.threads));
            let step = &plan.steps[step];
            CommandResult { command: step.shown.clone(), seconds, threads, expected_seconds: step.seconds }
        };
        self.in_order(plan).into_iter().map(command).collect()
    }
}

fn add_with_needs(plan: &Plan, step: usize, order: &mut Vec<usize>) {
    if order.contains(&step) {
        return;
    }
    for &needed in &plan.steps[step].needs {
        add_with_needs(plan, needed, order);
    }
    order.push(step);
}

fn row_result(row: &Row, models: &[(Vec<usize>, Option<usize>)], states: &[CommandState], table: &Table) -> RowResult {
    let mut cells: Vec<Cell> = Vec::new();
    for (i, column) in table.columns.iter().enumerate() {
        let cell = match column.source {
            Source::Mean => mean_cell(&cells),
            _ => figure_cell(row, models, states, column, row.published.get(i).copied().flatten()),
        };
        cells.push(cell);
    }
    let (name, published_name) = (row.name.clone(), row.published_name.clone());
    RowResult { name, data: row.data, published_name, n_models: models.len(), cells }
}

fn figure_cell(
    row: &Row,
    models: &[(Vec<usize>, Option<usize>)],
    states: &[CommandState],
    column: &Column,
    theirs: Option<f64>,
) -> Cell {
    let mut cell = Cell { theirs, ..Cell::default() };
    let path = column.path.replace("$KEY", row.key);
    for (evaluations, training) in models {
        let step = match column.source {
            Source::Evaluation(i) => evaluations.get(i).copied(),
            _ => *training,
        };
        let state = step.map(|step| &states[step]);
        match state.map(|state| figure_of(state, &path)) {
            Some(Ok(Figure::Number(number))) => cell.ours.push(number * column.factor),
            Some(Ok(Figure::Text(words))) => cell.words = Some(words),
            Some(Err(reason)) => cell.why_not = Some(reason),
            None => cell.why_not = Some("nothing is trained".to_owned()),
        }
    }
    cell
}

fn figure_of(state: &CommandState, path: &str) -> Result<Figure, String> {
    match state {
        CommandState::Open => Err(NOT_RUN.to_owned()),
        CommandState::Not(reason) => Err(reason.clone()),
        CommandState::Done(record) if record.output == Value::Null => Err("it prints nothing".to_owned()),
        CommandState::Done(record) => read(&record.output, path).ok_or_else(|| "not in these data".to_owned()),
    }
}

/// The mean over the columns that ours has, and of theirs over the same columns.
fn mean_cell(cells: &[Cell]) -> Cell {
    let n_seeds = cells.iter().map(|cell| cell.ours.len()).max().unwrap_or(0);
    let has = |cell: &&Cell| n_seeds > 0 && cell.ours.len() == n_seeds;
    let both: Vec<&Cell> = cells.iter().filter(has).collect();
    if both.is_empty() {
        return Cell::default();
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let ours = (0..n_seeds).map(|seed| mean(both.iter().map(|cell| cell.ours[seed]).collect())).collect();
    let theirs: Option<Vec<f64>> = both.iter().map(|cell| cell.theirs).collect();
    Cell { ours, theirs: theirs.map(mean), ..Cell::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(ours: &[f64], theirs: Option<f64>) -> Cell {
        Cell { ours: ours.to_vec(), theirs, ..Cell::default() }
    }

    #[test]
    fn a_command_has_its_time_and_its_threads() {
        let command = |seconds, threads| {
            CommandResult { command: String::new(), seconds, threads, expected_seconds: 245.0 }.time()
        };
        assert_eq!(command(None, None), "not run, about 4:05 min");
        assert_eq!(command(Some(9.32), Some(0)), "9.3 s");
        assert_eq!(command(Some(9.32), Some(1)), "9.3 s, 1 thread");
        assert_eq!(command(Some(9.32), Some(2)), "9.3 s, 2 threads");
        // Of records that nobody wrote.
        assert_eq!(command(Some(-1.0), Some(0)), "0.0 s");
        assert_eq!(command(Some(1e300), Some(0)), "0.0 s");
    }

    #[test]
    fn a_mean_is_over_the_columns_that_we_have() {
        let cells = [cell(&[1.0, 3.0], Some(10.0)), cell(&[], Some(99.0)), cell(&[2.0, 5.0], Some(20.0))];
        let mean = mean_cell(&cells);
        assert_eq!((mean.ours, mean.theirs), (vec![1.5, 4.0], Some(15.0)));
        // A column that the paper lacks leaves no mean of theirs over the same columns.
        let mean = mean_cell(&[cell(&[1.0], Some(10.0)), cell(&[3.0], None)]);
        assert_eq!((mean.ours, mean.theirs), (vec![2.0], None));
        assert_eq!(mean_cell(&[cell(&[], Some(1.0))]), Cell::default());
    }
}
