//! The tables of a run as data: our figures, theirs, and the commands that computed ours.

use std::time::Duration;

use senv_eval::{Curve, DataFile, duration};
use serde::Serialize;
use serde_json::Value;

use super::{
    claim_result::ClaimResult,
    reading::{Figure, read},
};
use crate::{
    paper::{Center, Column, Curves, Drawing, Paper, Row, Source, Table},
    plan::{Plan, stem},
    runner::CommandState,
};

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Results {
    /// The version of senv.
    pub(crate) version: String,
    /// Whether sizes were reduced to test the commands, so that the figures are meaningless.
    pub(crate) quick: bool,
    /// Results per paper.
    pub(crate) papers: Vec<PaperResult>,
}

/// The results of a paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PaperResult {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tables: Vec<TableResult>,
    /// Its claims, with the verdicts.
    pub(crate) claims: Vec<ClaimResult>,
    /// The files that its commands read.
    pub(crate) data: Vec<DataFile>,
    /// The versions of senv that ran the commands.
    pub(crate) versions: Vec<String>,
}

/// The results of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TableResult {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) columns: Vec<ColumnResult>,
    pub(crate) rows: Vec<RowResult>,
    /// The commands, each once, with models before the commands that read them.
    pub(crate) commands: Vec<CommandResult>,
    /// How the figures of several seeds are combined.
    pub(crate) center: Center,
    /// Drawings in the output folder.
    pub(crate) drawings: Vec<DrawingResult>,
}

/// A drawing below a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DrawingResult {
    /// Title of the drawing.
    pub(crate) title: String,
    /// File name in the output folder.
    pub(crate) file: String,
    /// Its curves, if it is plotted from the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) curve: Option<Curve>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ColumnResult {
    pub(crate) title: String,
    /// The path in the JSON of the evaluation.
    pub(crate) path: String,
    pub(crate) digits: usize,
    /// Whether it is used for a mean but not shown.
    pub(crate) is_hidden: bool,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RowResult {
    pub(crate) name: String,
    pub(crate) data: &'static str,
    pub(crate) published_name: String,
    /// Number of models of the row, one per seed. A stopped run may have figures for only some of them.
    pub(crate) n_models: usize,
    /// Whether the training of a model ended at the level of guessing.
    pub(crate) learned_nothing: bool,
    pub(crate) cells: Vec<Cell>,
}

/// Our figures, one per seed, and theirs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Cell {
    pub(crate) ours: Vec<f64>,
    /// Words, if the figure is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
    pub(crate) theirs: Option<f64>,
    /// Why we have no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why_not: Option<String>,
}

/// A command of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CommandResult {
    pub(crate) command: String,
    /// Wall time, if it has run.
    pub(crate) seconds: Option<f64>,
    /// The number of threads requested for that run; 0 for all cores.
    pub(crate) threads: Option<usize>,
    /// Expected seconds on two idle cores.
    pub(crate) expected_seconds: f64,
}

/// The reason for a missing figure if nothing prevents its command from running.
pub(crate) const NOT_RUN: &str = "not run";

impl CommandResult {
    /// Formats how long it took, or is expected to take.
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
    /// Returns the mean or the median over the seeds.
    pub(crate) fn center(&self, center: Center) -> Option<f64> {
        let n = self.ours.len();
        match center {
            _ if n == 0 => None,
            Center::Mean => Some(self.ours.iter().sum::<f64>() / n as f64),
            Center::Median => {
                let mut sorted = self.ours.clone();
                sorted.sort_by(f64::total_cmp);
                Some((sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0)
            }
        }
    }
}

/// Formats seconds. An invalid number, which a record edited by hand may contain, is 0.
pub(crate) fn time(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A paper with the steps of its tables.
pub(crate) type Planned = (Paper, Vec<TableSteps>);

/// The steps of a table: per row and model, the evaluations and the training run.
#[derive(Debug)]
pub(crate) struct TableSteps {
    /// For each row and each of its models, the steps of the evaluations, and the step of the training run.
    rows: Vec<Vec<(Vec<usize>, Option<usize>)>>,
    /// For each column, why its data set is missing, if it is.
    missing: Vec<Option<String>>,
}

impl TableSteps {
    /// Plans the steps of a table.
    pub(crate) fn new(plan: &mut Plan, paper: &Paper, table: &Table) -> Self {
        let of_set = |column: &Column| plan.why_not(column.set).filter(|_| !column.set.is_empty());
        let missing = table.columns.iter().map(of_set).collect();
        let mut model = |file: &String| {
            let training = plan.model(paper, file);
            let evaluations = table.evaluations.iter().map(|e| plan.evaluation(paper, e, file)).collect();
            (evaluations, training)
        };
        Self { rows: table.rows.iter().map(|row| row.models.iter().map(&mut model).collect()).collect(), missing }
    }

    /// Returns the steps that have to run.
    pub(crate) fn wanted(&self) -> Vec<usize> {
        let models = self.rows.iter().flatten();
        models.flat_map(|(evaluations, training)| training.iter().chain(evaluations)).copied().collect()
    }

    /// Returns these steps, each once and after the steps that it needs.
    pub(crate) fn in_order(&self, plan: &Plan) -> Vec<usize> {
        let mut order = Vec::new();
        for step in self.wanted() {
            add_with_needs(plan, step, &mut order);
        }
        order
    }

    /// Returns the results of the table so far.
    pub(crate) fn result(&self, plan: &Plan, states: &[CommandState], table: &Table) -> TableResult {
        let row = |(row, models): (&Row, &Vec<_>)| self.row_result(row, models, states, table);
        let rows: Vec<RowResult> = table.rows.iter().zip(&self.rows).map(row).collect();
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
                    is_hidden: column.is_hidden,
                })
                .collect(),
            commands: self.commands(plan, states),
            center: table.center,
            drawings: table.drawings.iter().flat_map(|drawing| drawing_results(drawing, table, &rows)).collect(),
            rows,
        }
    }

    fn row_result(
        &self,
        row: &Row,
        models: &[(Vec<usize>, Option<usize>)],
        states: &[CommandState],
        table: &Table,
    ) -> RowResult {
        let mut cells: Vec<Cell> = Vec::new();
        for (i, (column, missing)) in table.columns.iter().zip(&self.missing).enumerate() {
            let theirs = row.published.get(i).copied().flatten();
            let cell = match (&column.source, missing) {
                (Source::Mean, _) => mean_cell(cells.iter(), theirs),
                (Source::MeanOf(columns), _) => {
                    mean_cell(columns.iter().filter_map(|&column| cells.get(column)), theirs)
                }
                (_, Some(reason)) if !models.is_empty() => {
                    Cell { theirs, why_not: Some(reason.clone()), ..Cell::default() }
                }
                _ => figure_cell(row, models, states, column, theirs),
            };
            cells.push(cell);
        }
        let (name, published_name) = (row.name.clone(), row.published_name.clone());
        let learned_nothing = models.iter().filter_map(|(_, training)| *training).any(|step| match &states[step] {
            CommandState::Done(record) => record.output.get("learned") == Some(&Value::Bool(false)),
            _ => false,
        });
        RowResult { name, data: row.data, published_name, n_models: models.len(), learned_nothing, cells }
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

/// Returns the drawings of a table: files that evaluations wrote for its rows, or curves plotted from its rows.
fn drawing_results(drawing: &Drawing, table: &Table, rows: &[RowResult]) -> Vec<DrawingResult> {
    match drawing {
        Drawing::OfRows(file) => {
            let has_run = |row: &RowResult| row.cells.iter().any(|cell| !cell.ours.is_empty() || cell.words.is_some());
            let rows = table.rows.iter().zip(rows).filter(|(_, result)| has_run(result));
            let of_row = |(row, _): (&Row, _)| {
                let file = file.replace("$STEM", stem(row.models.first()?));
                Some(DrawingResult { title: format!("{}: {}", table.title, row.name), file, curve: None })
            };
            rows.filter_map(of_row).collect()
        }
        Drawing::Curves(curves) => vec![lines(curves, table, rows)],
    }
}

fn lines(curves: &Curves, table: &Table, rows: &[RowResult]) -> DrawingResult {
    let mut curve = Curve::new(curves.x_label, curves.y_label);
    for &column in &curves.columns {
        let points =
            curves.rows.iter().filter_map(|&(x, row)| Some((x, rows[row].cells[column].center(table.center)?)));
        curve.push(&table.columns[column].title, points.collect::<Vec<_>>());
    }
    DrawingResult { title: curves.title.to_owned(), file: curves.file.to_owned(), curve: Some(curve) }
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
        let figure = match (state, &column.source) {
            // `senv combine` prints no time of training.
            (Some(CommandState::Done(record)), Source::Training) if record.output == Value::Null => {
                Some(Err("it joins models that are trained separately".to_owned()))
            }
            _ => state.map(|state| figure_of(state, &path)),
        };
        match figure {
            Some(Ok(Figure::Number(number))) => cell.ours.push(number * column.factor),
            Some(Ok(Figure::Text(words))) => cell.words = Some(words),
            Some(Err(reason)) => cell.why_not = Some(reason),
            None => cell.why_not = Some("nothing was trained".to_owned()),
        }
    }
    cell
}

fn figure_of(state: &CommandState, path: &str) -> Result<Figure, String> {
    match state {
        CommandState::Open => Err(NOT_RUN.to_owned()),
        CommandState::Not(reason) => Err(reason.clone()),
        CommandState::Done(record) if record.output == Value::Null => Err("the command printed no figures".to_owned()),
        CommandState::Done(record) => read(&record.output, path).ok_or_else(|| "not in these data".to_owned()),
    }
}

/// Computes the mean over the cells for which we have figures, and the mean of theirs over the same cells. If we have
/// none, theirs is over all cells they have. A mean printed in the paper replaces the computed one.
fn mean_cell<'a>(cells: impl Iterator<Item = &'a Cell>, printed: Option<f64>) -> Cell {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let cells: Vec<&Cell> = cells.collect();
    if cells.iter().any(|cell| cell.why_not.as_deref() == Some(NOT_RUN)) {
        // A mean over other columns could not be compared with the means of other rows.
        return Cell { theirs: printed, why_not: Some(NOT_RUN.to_owned()), ..Cell::default() };
    }
    let n_seeds = cells.iter().map(|cell| cell.ours.len()).max().unwrap_or(0);
    if n_seeds == 0 {
        let theirs: Vec<f64> = cells.iter().filter_map(|cell| cell.theirs).collect();
        let theirs = printed.or_else(|| (!theirs.is_empty()).then(|| mean(&theirs)));
        return Cell { theirs, ..Cell::default() };
    }
    let both: Vec<&Cell> = cells.into_iter().filter(|cell| cell.ours.len() == n_seeds).collect();
    let of_seed = |seed: usize| mean(&both.iter().map(|cell| cell.ours[seed]).collect::<Vec<_>>());
    let theirs: Option<Vec<f64>> = both.iter().map(|cell| cell.theirs).collect();
    Cell {
        ours: (0..n_seeds).map(of_seed).collect(),
        theirs: printed.or_else(|| theirs.map(|theirs| mean(&theirs))),
        ..Cell::default()
    }
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
        // Records may contain invalid times.
        assert_eq!(command(Some(-1.0), Some(0)), "0.0 s");
        assert_eq!(command(Some(1e300), Some(0)), "0.0 s");
    }

    #[test]
    fn a_mean_is_over_the_columns_that_we_have() {
        let mean_cell = |cells: &[Cell]| super::mean_cell(cells.iter(), None);
        let cells = [cell(&[1.0, 3.0], Some(10.0)), cell(&[], Some(99.0)), cell(&[2.0, 5.0], Some(20.0))];
        assert_eq!(mean_cell(&cells), cell(&[1.5, 4.0], Some(15.0)));
        assert_eq!(super::mean_cell(cells.iter(), Some(7.0)), cell(&[1.5, 4.0], Some(7.0)));
        // If the paper lacks a column, there is no mean of theirs over the same columns.
        assert_eq!(mean_cell(&[cell(&[1.0], Some(10.0)), cell(&[3.0], None)]), cell(&[2.0], None));
        let not_run = Cell { why_not: Some(NOT_RUN.to_owned()), ..Cell::default() };
        let half_run = Cell { why_not: Some(NOT_RUN.to_owned()), ..cell(&[1.0], Some(10.0)) };
        for open in [&not_run, &half_run] {
            assert_eq!(mean_cell(&[cell(&[1.0, 3.0], Some(10.0)), open.clone()]), not_run);
        }
        // Only published figures.
        assert_eq!(mean_cell(&[cell(&[], Some(1.0)), cell(&[], None), cell(&[], Some(2.0))]), cell(&[], Some(1.5)));
        assert_eq!(mean_cell(&[]), Cell::default());
    }
}
