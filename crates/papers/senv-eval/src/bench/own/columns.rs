//! Recognizes scored pairs and labeled text by the titles of columns, or by their contents.

use std::collections::HashSet;

use super::table::{OwnTable, Row};
use crate::published::rows::plain_name;

/// What a table should have, for messages.
pub(super) const EXPECTED: &str = "expected sentence1, sentence2 and score, or text and label";

/// Titles of the columns, in lower case and without other characters than letters and digits. The first one that a
/// table has counts.
const FIRST: &[&str] =
    &["sentence1", "sentencea", "text1", "texta", "first", "firstsentence", "firsttext", "question1", "s1", "a"];
const SECOND: &[&str] =
    &["sentence2", "sentenceb", "text2", "textb", "second", "secondsentence", "secondtext", "question2", "s2", "b"];
const SCORE: &[&str] = &[
    "score",
    "similarity",
    "similarityscore",
    "relatedness",
    "relatednessscore",
    "gold",
    "goldscore",
    "rating",
    "label",
    "isduplicate",
    "isparaphrase",
];
const TEXT: &[&str] = &[
    "text",
    "sentence",
    "content",
    "body",
    "review",
    "utterance",
    "message",
    "document",
    "description",
    "comment",
    "question",
];
const LABEL: &[&str] = &["label", "labels", "class", "category", "intent", "sentiment", "topic", "tag", "target"];

/// The minimum of texts per label, on average, in a table of two columns without titles. Groups of captions and
/// translations have fewer.
const TEXTS_PER_LABEL: usize = 10;
/// The same with titles, and in a file of a part such as `test.tsv`.
const TEXTS_PER_NAMED_LABEL: usize = 2;

/// The columns that are read, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Two texts and a score.
    Pairs { first: usize, second: usize, score: usize },
    /// A text and its label.
    Labels { text: usize, label: usize },
}

/// The columns of a table, and whether its first record has titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) columns: Columns,
    pub(super) has_titles: bool,
}

/// Recognizes the columns of a table. `is_part` is true for a file such as `test.tsv`, and `is_whole` is false if only
/// the first records are known.
///
/// # Errors
/// Why it is neither scored pairs nor labeled text.
pub(super) fn recognize(table: &OwnTable, is_part: bool, is_whole: bool) -> Result<Layout, String> {
    if let Some(titles) = &table.titles {
        let columns = by_titles(titles).ok_or_else(|| unknown(titles, "the fields are"))?;
        check_labels(table, Layout { columns, has_titles: false }, TEXTS_PER_NAMED_LABEL, is_whole)
    } else if let Some(columns) = by_titles(&table.rows[0].cells) {
        check_labels(table, Layout { columns, has_titles: true }, TEXTS_PER_NAMED_LABEL, is_whole)
    } else {
        by_contents(table, is_part, is_whole)
    }
}

/// Recognizes the columns of a test or development file by those of its training file, whose labels are given. Such a
/// file can be of any size. Returns nothing if it does not have them.
pub(super) fn recognize_like(
    table: &OwnTable,
    training: &Layout,
    titles: &[String],
    labels: &[String],
) -> Option<Layout> {
    let is_labels = |columns: &Columns| matches!(columns, Columns::Labels { .. });
    if let Some(titles) = &table.titles {
        return by_titles(titles).filter(is_labels).map(|columns| Layout { columns, has_titles: false });
    }
    let first = &table.rows.first()?.cells;
    if let Some(columns) = by_titles(first).filter(is_labels) {
        return Some(Layout { columns, has_titles: true });
    }
    let Columns::Labels { text, label } = training.columns else { return None };
    let has_titles = training.has_titles && first == titles;
    let rows = &table.rows[usize::from(has_titles)..];
    let of_row = |row: &Row| labels.iter().any(|of| row.cells.get(label).is_some_and(|cell| cell.trim() == of));
    let is_wide = rows.iter().all(|row| row.cells.len() > text.max(label));
    (is_wide && rows.iter().any(of_row)).then_some(Layout { columns: training.columns, has_titles })
}

fn by_titles(titles: &[String]) -> Option<Columns> {
    let titles: Vec<String> = titles.iter().map(|title| plain_name(title)).collect();
    let find = |names: &[&str]| names.iter().find_map(|name| titles.iter().position(|title| title == name));
    if let (Some(first), Some(second), Some(score)) = (find(FIRST), find(SECOND), find(SCORE)) {
        return Some(Columns::Pairs { first, second, score });
    }
    let (text, label) = (find(TEXT)?, find(LABEL)?);
    Some(Columns::Labels { text, label })
}

fn unknown(titles: &[String], what: &str) -> String {
    let shown: Vec<String> = titles.iter().take(6).map(|title| title.chars().take(24).collect()).collect();
    let more = if titles.len() > shown.len() { ", ..." } else { "" };
    format!("{what} {}{more}; {EXPECTED}", shown.join(", "))
}

/// Recognizes two columns of which one repeats, or three of which one has numbers.
fn by_contents(table: &OwnTable, is_part: bool, is_whole: bool) -> Result<Layout, String> {
    let rows = &table.rows;
    let n = rows[0].cells.len();
    if n == 1 {
        return Err(format!("one column; {EXPECTED}"));
    }
    if n > 3 {
        return Err(unknown(&rows[0].cells, "the first line names no known columns:"));
    }
    if let Some(row) = rows.iter().find(|row| row.cells.len() != n) {
        let (line, got) = (row.line, row.cells.len());
        return Err(format!(
            "line {line} has {got} columns, and the first has {n}; name the columns in the first line"
        ));
    }
    if n == 3 {
        return pairs_by_contents(table);
    }
    let distinct = [0, 1].map(|column| rows.iter().map(|row| row.cells[column].trim()).collect::<HashSet<_>>().len());
    let label = usize::from(distinct[1] < distinct[0]);
    let layout = Layout { columns: Columns::Labels { text: 1 - label, label }, has_titles: false };
    let of_label = |row: usize| rows[row].cells[label].trim();
    // A label that only the first line has is a title.
    let has_titles = rows.len() > 2 && (1..rows.len()).all(|row| of_label(row) != of_label(0));
    let per_label = if is_part { TEXTS_PER_NAMED_LABEL } else { TEXTS_PER_LABEL };
    check_labels(table, Layout { has_titles, ..layout }, per_label, is_whole)
}

fn pairs_by_contents(table: &OwnTable) -> Result<Layout, String> {
    let number = |row: usize, column: usize| score_of(&table.rows[row].cells[column]);
    let n = table.rows.len();
    let is_numeric =
        |column: &usize| n > 1 && (1..n).all(|row| number(row, *column).is_some_and(|score| score.is_some()));
    let columns: Vec<usize> = (0..3).filter(is_numeric).collect();
    let score = match columns[..] {
        [score] => score,
        [] => return Err(format!("three columns, and none has a number in each line; {EXPECTED}")),
        _ => return Err("more than one column of numbers; name the columns in the first line".to_owned()),
    };
    let follows = |row: usize| {
        let values = [row, row + 1].map(|row| number(row, score).flatten());
        matches!(values, [Some(a), Some(b)] if b == a + 1.0)
    };
    if n > 3 && (1..n - 1).all(follows) {
        return Err("the numbers count the lines, so they are no scores; name the columns in the first line".to_owned());
    }
    let [first, second] = [[1, 2], [0, 2], [0, 1]][score];
    let has_titles = number(0, score).is_none();
    Ok(Layout { columns: Columns::Pairs { first, second, score }, has_titles })
}

/// Returns the score of a cell: `None` if it is not a number, and `Some(None)` if it is empty.
pub(super) fn score_of(cell: &str) -> Option<Option<f64>> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Some(None);
    }
    cell.parse().ok().filter(|score: &f64| score.is_finite()).map(Some)
}

/// Checks that labels repeat.
fn check_labels(table: &OwnTable, layout: Layout, per_label: usize, is_whole: bool) -> Result<Layout, String> {
    let Columns::Labels { label, .. } = layout.columns else { return Ok(layout) };
    let rows = &table.rows[usize::from(layout.has_titles)..];
    let labels = rows.iter().filter_map(|row| row.cells.get(label)).map(|cell| cell.trim());
    let labels: HashSet<&str> = labels.filter(|label| !label.is_empty()).collect();
    let n = labels.len();
    // Of a file that is sorted by label, the first records can have a single one.
    if n < 2 && is_whole {
        return Err(format!("{}; give at least two different labels", if n == 0 { "no label" } else { "one label" }));
    }
    let per_label = if is_whole { per_label } else { TEXTS_PER_NAMED_LABEL };
    if n * per_label > rows.len() {
        return Err(format!(
            "no scores, and fewer than {per_label} texts per label on average; pairs need a third column with their \
            scores"
        ));
    }
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> OwnTable {
        let row =
            |(i, line): (usize, &str)| Row { line: i as u64 + 1, cells: line.split('|').map(str::to_owned).collect() };
        OwnTable { titles: None, rows: text.lines().enumerate().map(row).collect() }
    }

    fn columns(text: &str) -> Result<(Columns, bool), String> {
        recognize(&table(text), false, true).map(|layout| (layout.columns, layout.has_titles))
    }

    #[test]
    fn titles_name_columns_in_any_order_and_spelling() {
        let pairs = |first, second, score| Ok((Columns::Pairs { first, second, score }, true));
        assert_eq!(columns("id|Sentence 1|sentence_2|Score\n1|a|b|3\n2|c|d|4"), pairs(1, 2, 3));
        assert_eq!(columns("similarity|text_a|text_b\n3|a|b"), pairs(1, 2, 0));
        // A label of two texts is a score.
        assert_eq!(columns("question1|question2|is_duplicate\na|b|0\nc|d|1"), pairs(0, 1, 2));
        let text = "id|Category|Body\n1|x|a\n2|x|b\n3|y|c\n4|y|d";
        assert_eq!(columns(text), Ok((Columns::Labels { text: 2, label: 1 }, true)));
        let error = columns("id|subject|owner|state\n1|a|b|c").unwrap_err();
        assert_eq!(error, format!("the first line names no known columns: id, subject, owner, state; {EXPECTED}"));
    }

    #[test]
    fn three_columns_are_scored_pairs_if_one_has_numbers() {
        let pairs = |first, second, score, titles| Ok((Columns::Pairs { first, second, score }, titles));
        assert_eq!(columns("3.5|a b|c d\n1|e|f\n1|g|h"), pairs(1, 2, 0, false));
        assert_eq!(columns("a b|c d|0.5\ne|f|1e-3"), pairs(0, 1, 2, false));
        assert_eq!(columns("links|rechts|wert\na|b|2\nc|d|7"), pairs(0, 1, 2, true));
        for (text, expected) in [
            ("yes|a|b\nno|c|d", "none has a number in each line"),
            ("1|a|2\n2|c|3", "more than one column of numbers"),
            ("4|a|x\n5|b|y\n6|c|x\n7|d|y", "count the lines"),
            ("1|a|b\n2|c\n", "line 2 has 2 columns, and the first has 3"),
            ("3|a|inf\nnan|b|c", "none has a number"),
            ("a\nb", "one column"),
        ] {
            let error = columns(text).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn two_columns_are_labeled_text_if_one_repeats() {
        let lines = |n: usize, label: fn(usize) -> String| -> String {
            (0..n).map(|i| format!("{}|text {i}\n", label(i))).collect()
        };
        let labels = |text, label, titles| Ok((Columns::Labels { text, label }, titles));
        let text = lines(20, |i| ["x", "y"][i % 2].to_owned());
        assert_eq!(columns(&text), labels(1, 0, false));
        assert_eq!(columns(&format!("kind|message\n{text}")), labels(1, 0, true));
        let turned: String = (0..20).map(|i| format!("text {i}|{}\n", i % 2)).collect();
        assert_eq!(columns(&turned), labels(0, 1, false));
        let groups = lines(100, |i| (i / 5).to_string());
        assert!(columns(&groups).unwrap_err().starts_with("no scores, and fewer than 10 texts per label"));
        assert!(recognize(&table(&groups), true, true).is_ok(), "a test set may be small");
        assert!(columns(&lines(20, |_| "x".to_owned())).unwrap_err().starts_with("one label"));
        assert!(recognize(&table(&lines(20, |_| "x".to_owned())), false, false).is_ok(), "sorted by label");
        assert!(
            recognize(&table(&lines(20, |i| i.to_string())), false, false).is_err(),
            "pairs of texts are left early"
        );
    }
}
