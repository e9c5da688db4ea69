//! The tables of a record as aligned text and as Markdown.

use std::fmt::Write as _;

use super::{
    data::{NEEDS_CLASSIFIER, NEEDS_VECTORS},
    published_rows::{PublishedRow, published_rows},
    record::{BenchRecord, MIN_ITEMS, Missing, NO_DATA, SystemRecord, TaskRecord, TaskResult},
    summary::{BUILT_IN, Cell, Mark, Row, Summary, summarize},
};
use crate::{
    error::Result,
    report::{Align, TOO_FEW, TextTable, half_width},
};

/// Returns the number of decimals of a column or mean: two, or three for values from -1 to 1.
pub(crate) fn digits(summary: &Summary, column: Option<usize>) -> usize {
    if column.is_some_and(|column| summary.columns[column].protocol.factor == 1.0) { 3 } else { 2 }
}

/// Returns the number of decimals of a task.
pub(crate) fn task_digits(task: &TaskRecord) -> usize {
    if task.protocol().is_some_and(|protocol| protocol.factor == 1.0) { 3 } else { 2 }
}

/// Returns the sign of a mark.
pub(crate) fn mark_sign(mark: Option<Mark>) -> &'static str {
    match mark {
        Some(Mark::Above) => "▲",
        Some(Mark::Below) => "▼",
        None => "",
    }
}

/// Formats a value of a table; `-` if there is none.
pub(crate) fn value_text(summary: &Summary, column: Option<usize>, value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.*}", digits(summary, column)))
}

/// Returns the published rows that have the highest value of a column, to fit into a terminal.
fn highest(rows: &[PublishedRow]) -> Vec<&PublishedRow> {
    let n_columns = rows.first().map_or(0, |row| row.values.len());
    let of_column = |column: usize| rows.iter().filter_map(|row| row.values[column]).reduce(f64::max);
    let highest: Vec<Option<f64>> = (0..n_columns).map(of_column).collect();
    let is_highest = |(value, highest): (&Option<f64>, &Option<f64>)| value.is_some() && value == highest;
    rows.iter().filter(|row| row.values.iter().zip(&highest).any(is_highest)).collect()
}

/// Formats what follows a value: half the width of its interval, or that there are too few items, and its mark.
fn after_value(cell: &Cell, digits: usize) -> String {
    let interval = if cell.too_few { format!(" {TOO_FEW}") } else { half_width(cell.interval, digits) };
    interval + mark_sign(cell.mark)
}

/// Explains the signs of a table, one sentence or two each.
pub(crate) fn footnotes(record: &BenchRecord, summary: &Summary) -> Vec<String> {
    let reference = summary.reference.map_or("", |reference| &record.systems[reference].name[..]);
    let mut notes = Vec::new();
    if summary.rows.iter().any(|row| row.cells.iter().any(|cell| cell.interval.is_some())) {
        notes.push(format!(
            "95 % bootstrap intervals ({} draws, seed {}). ▲ and ▼: significantly above or below {reference} (paired \
            bootstrap, p < 0.05 after Holm's correction over the columns).",
            record.resamples, record.seed
        ));
    }
    if summary.rows.iter().any(|row| row.cells.iter().any(|cell| cell.too_few)) {
        notes.push(format!("{TOO_FEW}: fewer than {MIN_ITEMS} items, so no interval and no mark."));
    }
    for reason in [NEEDS_VECTORS, NEEDS_CLASSIFIER] {
        let lacks = |row: &&Row| row.cells.iter().any(|cell| cell.note.as_deref() == Some(reason));
        let names: Vec<&str> =
            summary.rows.iter().filter(lacks).map(|row| &record.systems[row.system].name[..]).collect();
        if !names.is_empty() {
            notes.push(format!("-: {reason} ({}).", names.join(", ")));
        }
    }
    if summary.rows.iter().any(|row| row.mean.value.is_none()) {
        notes.push(match summary.columns.iter().any(|column| column.protocol.in_mean) {
            true => "- as a mean: a column has no number.".to_owned(),
            false => "- as a mean: no column of this table counts in one.".to_owned(),
        });
    }
    if summary.columns.iter().any(|column| column.title.contains(BUILT_IN)) {
        notes.push(format!("{BUILT_IN}: English sentences that are part of senv, not data of the folder."));
    }
    notes
}

impl BenchRecord {
    /// Formats the tables in aligned columns for a terminal. Half the width of the 95 % interval follows each value. Of
    /// the published rows, only those with the highest value of a column are shown.
    ///
    /// # Errors
    /// Returns the errors of [`summarize`].
    pub fn to_text(&self) -> Result<String> {
        let mut text = String::new();
        for summary in summarize(self)? {
            let heading = |title: &str| title.replacen(' ', "\n", 1);
            let columns = summary.columns.iter().map(|column| (heading(&column.title), Align::Right));
            let fixed = [(summary.section.title().to_owned(), Align::Left), ("mean".to_owned(), Align::Right)];
            let mut table = TextTable::new(fixed.into_iter().chain(columns));
            for row in &summary.rows {
                let cell = |column: Option<usize>, cell: &Cell| {
                    let value = value_text(&summary, column, cell.value);
                    value + &after_value(cell, digits(&summary, column))
                };
                let cells = row.cells.iter().enumerate().map(|(i, of)| cell(Some(i), of));
                let name = self.systems[row.system].name.clone();
                table.row([name, cell(None, &row.mean)].into_iter().chain(cells));
            }
            table.rule();
            let chance = summary.chance.iter().enumerate().map(|(i, &x)| value_text(&summary, Some(i), Some(x)));
            table.row(["chance".to_owned(), String::new()].into_iter().chain(chance));
            let published = published_rows(summary.section, &summary.columns);
            let published = highest(&published);
            for row in &published {
                let value = |(i, value): (usize, &Option<f64>)| {
                    value.map_or_else(String::new, |value| value_text(&summary, Some(i), Some(value)))
                };
                let values = row.values.iter().enumerate().map(value);
                table.row([format!("paper: {}", row.system), String::new()].into_iter().chain(values));
            }
            let _ = write!(text, "{table}");
            footnotes(self, &summary).iter().for_each(|note| {
                let _ = writeln!(text, "{note}");
            });
            if !published.is_empty() {
                let _ = writeln!(text, "paper: the highest published values; the HTML page and the Markdown list all.");
            }
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {}", note.to_text());
        }
        // With own data, all published sets that are missing are in one line.
        let has_own = self.tasks.iter().any(|task| task.protocol().is_some_and(|of| of.section.is_own()));
        let is_absent = |missing: &&Missing| has_own && missing.reason.starts_with(NO_DATA);
        let (absent, others): (Vec<&Missing>, Vec<&Missing>) = self.missing.iter().partition(is_absent);
        if !absent.is_empty() {
            let names = absent.iter().map(|missing| &missing.protocol[..]).collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "missing: {names}: {NO_DATA}; `senv eval protocols` lists what they need");
        }
        for missing in others {
            let _ = writeln!(text, "missing: {}: {}", missing.protocol, missing.reason);
        }
        for (system, result) in self.systems.iter().flat_map(|s| s.results.iter().map(move |result| (s, result))) {
            // It is not a failure if a task does not apply to a system.
            let note = result.note.as_deref().filter(|note| ![NEEDS_VECTORS, NEEDS_CLASSIFIER].contains(note));
            if let Some(note) = note {
                let _ = writeln!(text, "no number: {} on {}: {note}", system.name, result.task);
            }
        }
        Ok(text)
    }

    /// Writes the tables as Markdown, with published rows, the data files with their checksums, and the command.
    ///
    /// # Errors
    /// Returns the errors of [`summarize`].
    pub fn to_markdown(&self) -> Result<String> {
        let mut out = String::from("# Bench of sentence embeddings\n");
        for summary in summarize(self)? {
            let _ = writeln!(out, "\n## {}\n\n{}\n", summary.section.title(), summary.section.about());
            let titles: Vec<String> = summary.columns.iter().map(|column| escape(&column.title)).collect();
            let _ = writeln!(out, "| system | mean | {} |", titles.join(" | "));
            let _ = writeln!(out, "| --- | ---: |{}", " ---: |".repeat(titles.len()));
            for row in &summary.rows {
                let cell = |column: Option<usize>, cell: &Cell| {
                    let value = value_text(&summary, column, cell.value);
                    let value = if cell.best { format!("**{value}**") } else { value };
                    value + &after_value(cell, digits(&summary, column))
                };
                let cells: Vec<String> = row.cells.iter().enumerate().map(|(i, of)| cell(Some(i), of)).collect();
                let name = escape(&self.systems[row.system].name);
                let _ = writeln!(out, "| {name} | {} | {} |", cell(None, &row.mean), cells.join(" | "));
            }
            let values = |values: &[Option<f64>]| {
                let cell = |(i, &value): (usize, &Option<f64>)| value_text(&summary, Some(i), value);
                values.iter().enumerate().map(cell).collect::<Vec<_>>().join(" | ")
            };
            let chance: Vec<Option<f64>> = summary.chance.iter().map(|&chance| Some(chance)).collect();
            let _ = writeln!(out, "| *chance* | | {} |", values(&chance));
            for row in published_rows(summary.section, &summary.columns) {
                let (system, source) = (escape(&row.system), escape(&row.source_and_beside()));
                let _ = writeln!(out, "| *{system}* ({source}) | | {} |", values(&row.values));
            }
            let _ = writeln!(out, "\n{}", footnotes(self, &summary).join(" "));
        }
        self.markdown_tasks(&mut out);
        if !self.notes.is_empty() {
            out.push_str("\n## Notes on the data\n\n");
            for note in &self.notes {
                let _ = writeln!(out, "* {}", escape(&note.to_text()));
            }
        }
        if !self.missing.is_empty() {
            out.push_str("\n## Not run\n\n");
            for missing in &self.missing {
                let _ = writeln!(out, "* {}: {}", missing.protocol, escape(&missing.reason));
            }
        }
        out.push_str("\n## How these numbers were made\n\n");
        let _ = writeln!(
            out,
            "senv {}, seed {}, {} draws of the bootstrap:\n\n```text\n{}\n```\n",
            self.version, self.seed, self.resamples, self.command
        );
        out.push_str("| system | SHA-256 | source |\n| --- | --- | --- |\n");
        for system in &self.systems {
            let sum = system.sha256.as_deref().unwrap_or("-");
            let _ = writeln!(out, "| {} | {sum} | {} |", escape(&system.name), escape(&system.source));
        }
        out.push_str("\n| data file | SHA-256 | tasks |\n| --- | --- | --- |\n");
        for (file, tasks) in self.data_files() {
            let _ = writeln!(out, "| {} | {} | {} |", escape(&file.path), file.sha256, escape(&tasks.join(", ")));
        }
        Ok(out)
    }

    /// Writes every task with every system. Half the width of the 95 % interval follows each value.
    fn markdown_tasks(&self, out: &mut String) {
        let names: Vec<String> = self.systems.iter().map(|system| escape(&system.name)).collect();
        let _ = writeln!(out, "\n## Task by task\n\n| task | items | {} |", names.join(" | "));
        let _ = writeln!(out, "| --- | ---: |{}", " ---: |".repeat(names.len()));
        for task in self.own_first() {
            let digits = task_digits(task);
            let cell = |system: &SystemRecord| {
                let result = system.result(&task.key);
                match result.and_then(|result| result.value) {
                    Some(value) => {
                        let too_few = result.is_some_and(TaskResult::is_of_too_few);
                        let interval = result.and_then(|result| result.interval);
                        format!(
                            "{value:.digits$}{}",
                            after_value(&Cell { interval, too_few, ..Cell::default() }, digits)
                        )
                    }
                    None => "-".to_owned(),
                }
            };
            let cells: Vec<String> = self.systems.iter().map(cell).collect();
            let name = escape(&format!("{} {}", task.protocol, task.label()));
            let _ = writeln!(out, "| {name} | {} | {} |", self.n_items(task), cells.join(" | "));
        }
    }
}

/// Escapes text for a cell of a Markdown table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
