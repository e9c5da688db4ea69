//! The report of a paper in Markdown.

use std::fmt::Write as _;

use super::{
    grid::{Grid, Whose},
    results::{PaperResult, Results, TableResult},
};

/// What stands above every report.
pub(crate) const READING: &str = "Ours above (or left of) the paper's figure. Data are smaller here than in the papers, as each row says: read which system is ahead, not how far a row is from the paper. Behind a mean over several seeds stand the least and the greatest. `-` is explained below a table.";

/// What is said of figures that mean nothing.
pub(crate) const QUICK: &str =
    "Made with --quick: sizes are cut down to try the commands out, and the figures mean nothing.";

impl PaperResult {
    /// The tables, each with the commands that made it.
    pub(crate) fn to_markdown(&self, results: &Results) -> String {
        let mut out = format!("# {}\n\n{}\n\n{READING}\n", self.title, self.about);
        if results.quick {
            let _ = writeln!(out, "\n**{QUICK}**");
        }
        let _ = writeln!(
            out,
            "\nMade by `senv reproduce {} --data DATA --output OUT` (senv {}). `$DATA` and `$OUT` in the commands are these two folders; seconds are wall time.",
            self.name, results.version
        );
        let mut known: Vec<&str> = Vec::new();
        for table in &self.tables {
            write_table(&mut out, table, &mut known);
        }
        out
    }
}

fn write_table<'a>(out: &mut String, table: &'a TableResult, known: &mut Vec<&'a str>) {
    let grid = Grid::new(table);
    let _ = write!(out, "\n## {}\n\n{}\n\n", table.title, table.about);
    let _ = writeln!(out, "| {} |", grid.head.iter().map(|text| escape(text)).collect::<Vec<_>>().join(" | "));
    let n_text = if grid.head.first().is_some_and(String::is_empty) { 1 } else { 2 };
    let rules: Vec<&str> = (0..grid.head.len()).map(|i| if i < n_text { "---" } else { "---:" }).collect();
    let _ = writeln!(out, "| {} |", rules.join(" | "));
    for (whose, cells) in &grid.rows {
        let cell = |text: &String| match whose {
            Whose::Theirs if !text.is_empty() => format!("*{}*", escape(text)),
            _ => escape(text),
        };
        let _ = writeln!(out, "| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    for note in &grid.notes {
        let _ = writeln!(out, "\n{}", escape(note));
    }
    if let Some(figure) = table.figure {
        let _ = writeln!(out, "\n![{}]({figure})", table.title);
    }
    let new: Vec<_> = table.commands.iter().filter(|command| !known.contains(&&command.command[..])).collect();
    if new.is_empty() {
        return;
    }
    out.push_str("\n```sh\n");
    for command in new {
        let _ = writeln!(out, "{}  # {}", command.command, command.time());
        known.push(&command.command);
    }
    out.push_str("```\n");
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}
