//! A table as rows of text, shared by Markdown and the HTML page.

use super::results::{Cell, ColumnResult, NOT_RUN, RowResult, TableResult};

/// Number of columns above which a table is transposed to fit a page.
const WIDE: usize = 8;

/// Whose figures a row contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Ours,
    Theirs,
    /// Ours and theirs together, in a transposed table.
    Both,
}

/// A table as rows of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportTable {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<(Whose, Vec<String>)>,
    /// Notes on missing figures, with the reasons.
    pub(crate) notes: Vec<String>,
}

impl ReportTable {
    /// Creates the rows of a table, with theirs below ours. A wide table is transposed, with ours and theirs side by
    /// side.
    pub(crate) fn new(table: &TableResult) -> Self {
        let shown = shown(table);
        let mut report_table = if shown.columns.len() > WIDE { transposed(&shown) } else { upright(&shown) };
        report_table.notes = notes(table);
        report_table
    }
}

/// Returns the table without its hidden columns.
fn shown(table: &TableResult) -> TableResult {
    let mut shown = table.clone();
    let is_shown: Vec<bool> = table.columns.iter().map(|column| !column.is_hidden).collect();
    let keep = |place: usize| is_shown.get(place).copied().unwrap_or(true);
    let mut place = 0..;
    shown.columns.retain(|_| place.next().is_some_and(keep));
    for row in &mut shown.rows {
        let mut place = 0..;
        row.cells.retain(|_| place.next().is_some_and(keep));
    }
    shown
}

fn upright(table: &TableResult) -> ReportTable {
    let titles = table.columns.iter().map(|column| column.title.clone());
    let head = ["system".to_owned(), "data".to_owned()].into_iter().chain(titles).collect();
    let mut rows = Vec::new();
    for row in &table.rows {
        let cells = row.cells.iter().zip(&table.columns);
        if row.n_models > 0 {
            let ours = cells.clone().map(|(cell, column)| ours(table, row, cell, column));
            rows.push((Whose::Ours, [row.name.clone(), row.data.to_owned()].into_iter().chain(ours).collect()));
        }
        if has_theirs(row) {
            let theirs = cells.map(|(cell, column)| theirs(cell, column));
            let name = format!("paper: {}", row.published_name);
            rows.push((Whose::Theirs, [name, String::new()].into_iter().chain(theirs).collect()));
        }
    }
    ReportTable { head, rows, notes: Vec::new() }
}

fn transposed(table: &TableResult) -> ReportTable {
    let mut head = vec![String::new()];
    for row in &table.rows {
        if row.n_models > 0 {
            head.push(if row.data.is_empty() { row.name.clone() } else { format!("{} ({})", row.name, row.data) });
        }
        if has_theirs(row) {
            head.push(format!("paper: {}", row.published_name));
        }
    }
    let line = |(i, column): (usize, &ColumnResult)| {
        let mut line = vec![column.title.clone()];
        for row in &table.rows {
            if row.n_models > 0 {
                line.push(ours(table, row, &row.cells[i], column));
            }
            if has_theirs(row) {
                line.push(theirs(&row.cells[i], column));
            }
        }
        (Whose::Both, line)
    };
    ReportTable { head, rows: table.columns.iter().enumerate().map(line).collect(), notes: Vec::new() }
}

fn has_theirs(row: &RowResult) -> bool {
    row.cells.iter().any(|cell| cell.theirs.is_some())
}

/// Formats our figure: the value, or for several seeds the mean or median with the minimum and the maximum.
fn ours(table: &TableResult, row: &RowResult, cell: &Cell, column: &ColumnResult) -> String {
    if let Some(words) = &cell.words {
        return words.clone();
    }
    let Some(center) = cell.center(table.center) else { return "-".to_owned() };
    let print = |x: f64| number(x, column.digits);
    let n = cell.ours.len();
    let some = if n < row.n_models { format!(" ({n} of {})", row.n_models) } else { String::new() };
    if n == 1 {
        return print(center) + &some;
    }
    let least = cell.ours.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = cell.ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} [{}, {}]{some}", print(center), print(least), print(greatest))
}

fn theirs(cell: &Cell, column: &ColumnResult) -> String {
    cell.theirs.map_or_else(String::new, |value| number(value, column.digits))
}

/// Formats a number with this many decimals, or as a power of ten if it would be rounded to 0.
fn number(x: f64, digits: usize) -> String {
    let is_lost = x != 0.0 && x.abs() < 0.5 * 10_f64.powi(-i32::try_from(digits).unwrap_or(0));
    if is_lost { format!("{x:.0e}") } else { format!("{x:.digits$}") }
}

/// Lists each reason once, with the columns it applies to, or with the rows that lack all figures for this reason only.
fn notes(table: &TableResult) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &table.rows {
        let why_nots = || row.cells.iter().filter_map(|cell| cell.why_not.as_deref());
        let is_empty = row.cells.iter().all(|cell| cell.ours.is_empty() && cell.words.is_none());
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            let Some(reason) = cell.why_not.as_deref() else { continue };
            let is_whole_row = reason == NOT_RUN || is_empty && why_nots().all(|other| other == reason);
            let place = if is_whole_row { &row.name[..] } else { &column.title };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, places)) if places.contains(&place) => {}
                Some((_, places)) => places.push(place),
                None => reasons.push((reason, vec![place])),
            }
        }
    }
    let is_all = |places: &[&str]| table.rows.iter().all(|row| places.contains(&&row.name[..]));
    let note = |(reason, places): &(&str, Vec<&str>)| {
        let places = if is_all(places) { "all rows".to_owned() } else { places.join("; ") };
        format!("{places}: {reason}")
    };
    let guessing = table.rows.iter().filter(|row| row.learned_nothing).map(|row| {
        format!("{}: nothing was learned; the loss of a training run ends within 0.1 % of that of guessing", row.name)
    });
    reasons.iter().map(note).chain(guessing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Center;

    /// Index of the hidden column.
    const HIDDEN: usize = 20;

    fn table(n_columns: usize, cell: &Cell) -> TableResult {
        let column =
            |i: usize| ColumnResult { title: format!("c{i}"), path: String::new(), digits: 1, is_hidden: i == HIDDEN };
        let row = |name: &str| RowResult {
            name: name.to_owned(),
            data: "1 M words",
            published_name: "theirs".to_owned(),
            n_models: cell.ours.len().max(1),
            learned_nothing: false,
            cells: vec![cell.clone(); n_columns],
        };
        TableResult {
            title: "t",
            about: "",
            columns: (0..n_columns).map(column).collect(),
            rows: vec![row("a")],
            commands: Vec::new(),
            center: Center::Mean,
            drawings: Vec::new(),
        }
    }

    #[test]
    fn theirs_stand_below_ours_or_beside_them() {
        let cell = Cell { ours: vec![1.0, 2.0], theirs: Some(3.0), ..Cell::default() };
        let report_table = ReportTable::new(&table(1, &cell));
        assert_eq!(report_table.head, ["system", "data", "c0"]);
        assert_eq!(report_table.rows[0].1, ["a", "1 M words", "1.5 [1.0, 2.0]"]);
        assert_eq!(report_table.rows[1].1, ["paper: theirs", "", "3.0"]);
        let report_table = ReportTable::new(&table(9, &cell));
        assert_eq!(report_table.head, ["", "a (1 M words)", "paper: theirs"]);
        assert_eq!(report_table.rows.len(), 9);
        assert_eq!(report_table.rows[8].1, ["c8", "1.5 [1.0, 2.0]", "3.0"]);
        let report_table = ReportTable::new(&table(22, &cell));
        let titles: Vec<&str> = report_table.rows.iter().map(|row| &row.1[0][..]).collect();
        assert_eq!(titles[18..], ["c18", "c19", "c21"]);
    }

    #[test]
    fn published_figures_stand_alone_and_a_median_is_no_mean() {
        let cell = Cell { ours: vec![1.0, 2.0, 9.0], theirs: Some(3.0), ..Cell::default() };
        let alone = Cell { ours: Vec::new(), ..cell.clone() };
        for n_columns in [1, 9] {
            let mut table = table(n_columns, &cell);
            table.center = Center::Median;
            let published = RowResult { n_models: 0, cells: vec![alone.clone(); n_columns], ..table.rows[0].clone() };
            table.rows.push(published);
            let report_table = ReportTable::new(&table);
            let expected: &[&str] = if n_columns == 1 {
                &["a", "1 M words", "2.0 [1.0, 9.0]", "paper: theirs", "", "3.0", "paper: theirs", "", "3.0"]
            } else {
                &["c0", "2.0 [1.0, 9.0]", "3.0", "3.0"]
            };
            let found: Vec<&String> = report_table.rows.iter().flat_map(|(_, cells)| cells).collect();
            assert_eq!(found[..expected.len()], *expected);
            assert!(report_table.notes.is_empty());
        }
    }

    #[test]
    fn seeds_that_have_not_run_are_told() {
        let cell = Cell { ours: vec![1.0, 2.0], why_not: Some(NOT_RUN.to_owned()), ..Cell::default() };
        let mut table = table(1, &cell);
        table.rows[0].n_models = 3;
        let report_table = ReportTable::new(&table);
        assert_eq!(report_table.rows[0].1[2], "1.5 [1.0, 2.0] (2 of 3)");
        assert_eq!(report_table.notes, ["all rows: not run"]);
    }

    #[test]
    fn what_is_not_there_is_said_once() {
        let cell = Cell { why_not: Some("no data: x".into()), ..Cell::default() };
        let report_table = ReportTable::new(&table(3, &cell));
        assert_eq!(report_table.notes, ["all rows: no data: x"]);
        assert_eq!(report_table.rows.len(), 1);
        assert_eq!(report_table.rows[0].1[2], "-");
    }

    #[test]
    fn a_reason_is_that_of_the_column_where_the_row_has_figures() {
        let figure = Cell { ours: vec![1.0], ..Cell::default() };
        let mut table = table(3, &figure);
        table.rows.push(RowResult { name: "b".to_owned(), ..table.rows[0].clone() });
        table.rows[0].cells[2] = Cell { why_not: Some("no data: x".into()), ..Cell::default() };
        table.rows[1].cells = vec![Cell { why_not: Some("not run".into()), ..Cell::default() }; 3];
        assert_eq!(ReportTable::new(&table).notes, ["c2: no data: x", "b: not run"]);
    }

    #[test]
    fn a_row_at_the_level_of_guessing_says_so() {
        let mut table = table(1, &Cell { ours: vec![1.0], ..Cell::default() });
        table.rows[0].learned_nothing = true;
        let notes = ReportTable::new(&table).notes;
        assert!(notes.len() == 1 && notes[0].starts_with("a: nothing was learned"), "{notes:?}");
    }

    #[test]
    fn small_numbers_are_not_printed_as_zero() {
        assert_eq!(
            [number(0.0, 1), number(1e-7, 2), number(0.05, 1), number(-2.345, 2)],
            ["0.0", "1e-7", "0.1", "-2.35"]
        );
    }
}
