//! Reports: text in aligned columns, JSON, and readable times.

use std::time::Duration;

use serde::Serialize;

/// The alignment of a cell in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table of text cells, printed in aligned columns two spaces apart. Headings may have several lines. A cell longer
/// than 1,000 characters is cut, and control characters in it become spaces.
///
/// ```
/// use senv_eval::{Align, TextTable};
/// let mut table = TextTable::new([("task", Align::Left), ("r", Align::Right)]);
/// table.row(["images", "81.6"]);
/// table.rule();
/// table.row(["mean", "7.25"]);
/// assert_eq!(table.to_string(), "task       r\n------------\nimages  81.6\n------------\nmean    7.25\n");
/// ```
#[derive(Debug, Clone)]
pub struct TextTable {
    header: Vec<String>,
    align: Vec<Align>,
    /// `None` is a rule across the table.
    rows: Vec<Option<Vec<String>>>,
}

impl TextTable {
    /// Creates a table with these columns and no rows.
    #[must_use]
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let heading = |name: S| name.into().split('\n').map(shown).collect::<Vec<_>>().join("\n");
        let (header, align) = columns.into_iter().map(|(name, align)| (heading(name), align)).unzip();
        Self { header, align, rows: vec![None] }
    }

    /// Appends a row; missing cells are empty, and cells past the last column are dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(|cell| shown(&cell.into())).collect();
        cells.resize(self.header.len(), String::new());
        self.rows.push(Some(cells));
    }

    /// Appends a rule across the table.
    pub fn rule(&mut self) {
        self.rows.push(None);
    }
}

impl std::fmt::Display for TextTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let height = self.header.iter().map(|cell| cell.split('\n').count()).max().unwrap_or(0);
        // Headings are aligned at the bottom: shorter ones are padded above.
        let header: Vec<Vec<String>> = (0..height)
            .map(|line| {
                let part = |cell: &String| {
                    let lines: Vec<&str> = cell.split('\n').collect();
                    (line + lines.len()).checked_sub(height).map_or_else(String::new, |i| lines[i].to_owned())
                };
                self.header.iter().map(part).collect()
            })
            .collect();
        let mut widths = vec![0; self.header.len()];
        for row in header.iter().chain(self.rows.iter().flatten()) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        for row in header.iter().map(Some).chain(self.rows.iter().map(Option::as_ref)) {
            let Some(row) = row else {
                writeln!(f, "{}", "-".repeat(total))?;
                continue;
            };
            let mut line = String::new();
            for ((cell, &width), align) in row.iter().zip(&widths).zip(&self.align) {
                match align {
                    Align::Left => line += &format!("{cell:<width$}  "),
                    Align::Right => line += &format!("{cell:>width$}  "),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Maximum number of characters in a cell. It limits column widths, because a formatter accepts at most 65,535.
const MOST_CHARACTERS: usize = 1000;

/// Returns a cell as it is printed on one line of a table.
fn shown(cell: &str) -> String {
    let mut characters = cell.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    if characters.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// Formats a number with the given decimals, `-` if it is undefined.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// Formats the interval of a number with this many decimals as two numbers.
pub(crate) fn interval_text(interval: Option<(f64, f64)>, decimals: usize) -> Option<String> {
    interval.map(|(low, high)| format!("{low:.decimals$} to {high:.decimals$}"))
}

/// Formats half the width of the interval of a number with this many decimals, as ` ±1.5`. Empty without an interval.
pub(crate) fn half_width(interval: Option<(f64, f64)>, decimals: usize) -> String {
    let half = interval.map(|(low, high)| (high - low) / 2.0);
    let decimals = if decimals == 3 { 3 } else { 1 };
    half.map_or_else(String::new, |half| format!(" ±{half:.decimals$}"))
}

/// Shown for the interval of too few items.
pub(crate) const TOO_FEW: &str = "too few";

/// Writes any result of this crate as indented JSON, with keys in the order of its fields and undefined numbers as
/// `null`.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Result {
///     pearson_r_x100: Option<f64>,
/// }
/// let json = senv_eval::to_json(&Result { pearson_r_x100: None });
/// assert_eq!(json, "{\n  \"pearson_r_x100\": null\n}");
/// ```
///
/// # Panics
/// Never for the results of this crate. Panics for a type whose keys are not strings, or that fails to serialize.
#[must_use]
pub fn to_json<T: Serialize + ?Sized>(result: &T) -> String {
    serde_json::to_string_pretty(result).expect("the results of this crate serialize")
}

/// Formats a time for people, in seconds, minutes or hours.
///
/// ```
/// use std::time::Duration;
///
/// let text = |seconds: f64| senv_eval::duration(Duration::from_secs_f64(seconds));
/// assert_eq!([text(9.32), text(245.0), text(7445.0)], ["9.3 s", "4:05 min", "2:04:05 h"]);
/// ```
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_in_characters() {
        let mut table = TextTable::new([("a", Align::Left), ("number", Align::Right), ("c", Align::Left)]);
        table.row(["straße", "1", "x"]);
        table.row(["b"]);
        table.row(["", "2", "y", "dropped"]);
        let expected = "a       number  c\n-----------------\nstraße       1  x\nb\n             2  y\n";
        assert_eq!(table.to_string(), expected);
        let table = TextTable::new([("long name\nr", Align::Right), ("task", Align::Left)]);
        assert_eq!(table.to_string(), "long name\n        r  task\n---------------\n");
    }

    #[test]
    fn cells_of_any_length_and_of_line_ends_are_cells_of_a_line() {
        let longest = "ß".repeat(MOST_CHARACTERS);
        let long = "ß".repeat(65_540);
        let mut table = TextTable::new([(&long[..], Align::Right), ("r", Align::Left)]);
        table.row([&long[..], "1"]);
        table.row([&longest[..], "a\nb\tc\x1b[2J"]);
        let text = table.to_string();
        let cut = format!("{}…", &longest[..2 * MOST_CHARACTERS - 2]);
        let expected = [&format!("{cut}  r")[..], "-", &format!("{cut}  1"), &format!("{longest}  a b c [2J")];
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!([lines[0], &lines[1][..1], lines[2], lines[3]], expected);
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn undefined_numbers_are_dashes() {
        assert_eq!(number(None, 2), "-");
        assert_eq!(number(Some(1.005), 1), "1.0");
    }

    #[test]
    fn intervals_are_two_ends_or_half_their_width() {
        assert_eq!(interval_text(Some((60.5, 63.25)), 2).as_deref(), Some("60.50 to 63.25"));
        assert_eq!([half_width(Some((60.0, 63.0)), 2), half_width(Some((0.25, 0.5)), 3)], [" ±1.5", " ±0.125"]);
        assert_eq!((interval_text(None, 2), half_width(None, 2)), (None, String::new()));
    }
}
