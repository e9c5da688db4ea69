//! The report of a paper in Markdown.

use std::fmt::Write as _;

use super::{
    report_table::{ReportTable, Whose},
    results::{PaperResult, Results, TableResult},
};

/// The introduction of every report.
pub(crate) const READING: &str = "Our figures are above (or left of) the paper's. The data here are smaller than in \
    the papers, as each row says, so compare which system is ahead, not the distance to the paper. For several seeds a \
    cell shows the mean (or the median, if the table says so), followed by the smallest and largest figure. Means of \
    the paper's figures are computed here over the tasks that we have. `-` is explained below the table.";

/// The warning for figures that are meaningless.
pub(crate) const QUICK: &str =
    "Made with --quick: sizes are reduced to test the commands, so the figures mean nothing.";

impl PaperResult {
    /// Writes the tables, each with the commands that computed it.
    pub(crate) fn to_markdown(&self, results: &Results) -> String {
        let mut out = format!("# {}\n\n{}\n\n{READING}\n", self.title, self.about);
        if results.quick {
            let _ = writeln!(out, "\n**{QUICK}**");
        }
        let _ = writeln!(
            out,
            "\nMade by `senv reproduce {} --data DATA --output OUT` (senv {}). `$DATA` and `$OUT` in the commands are \
            these two folders; seconds are wall time.",
            self.name, results.version
        );
        let mut known: Vec<&str> = Vec::new();
        for table in &self.tables {
            write_table(&mut out, table, &mut known);
        }
        self.write_data(&mut out);
        out
    }

    /// Lists the files that the commands read, so that they can be compared with another copy of the data.
    fn write_data(&self, out: &mut String) {
        if self.data.is_empty() {
            return;
        }
        let versions = match &self.versions[..] {
            [] => String::new(),
            versions => format!(", by senv {}", versions.join(" and ")),
        };
        let _ = writeln!(
            out,
            "\n## Data\n\nThe files that were read{versions}, with 16 digits of the \
            SHA-256.\n\n```text"
        );
        for file in &self.data {
            let _ = writeln!(out, "{}  {}", file.sha256.get(..16).unwrap_or(&file.sha256), file.path);
        }
        out.push_str("```\n");
    }
}

fn write_table<'a>(out: &mut String, table: &'a TableResult, known: &mut Vec<&'a str>) {
    let report_table = ReportTable::new(table);
    let _ = write!(out, "\n## {}\n\n{}\n\n", table.title, table.about);
    let _ = writeln!(out, "| {} |", report_table.head.iter().map(|text| escape(text)).collect::<Vec<_>>().join(" | "));
    let n_text = if report_table.head.first().is_some_and(String::is_empty) { 1 } else { 2 };
    let rules: Vec<&str> = (0..report_table.head.len()).map(|i| if i < n_text { "---" } else { "---:" }).collect();
    let _ = writeln!(out, "| {} |", rules.join(" | "));
    for (whose, cells) in &report_table.rows {
        let cell = |text: &String| match whose {
            Whose::Theirs if !text.is_empty() => format!("*{}*", escape(text)),
            _ => escape(text),
        };
        let _ = writeln!(out, "| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    for note in &report_table.notes {
        let _ = writeln!(out, "\n{}", escape(note));
    }
    for drawing in &table.drawings {
        let _ = writeln!(out, "\n![{}]({})", drawing.title, drawing.file);
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

/// Escapes text for a cell of a table.
pub(super) fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use senv_eval::DataFile;

    use super::*;

    #[test]
    fn the_data_stand_at_the_end_with_the_start_of_their_checksums() {
        let data = vec![DataFile { path: "mr/all.tsv".to_owned(), sha256: "0123456789abcdef0123".to_owned() }];
        let versions = vec!["0.1.0".to_owned()];
        let paper =
            PaperResult { name: "p", title: "t", about: "a", tables: Vec::new(), claims: Vec::new(), data, versions };
        let results = Results { version: "0.1.0".to_owned(), quick: false, papers: Vec::new() };
        let report = paper.to_markdown(&results);
        assert!(report.ends_with("```text\n0123456789abcdef  mr/all.tsv\n```\n"), "{report}");
        assert!(report.contains("\n## Data\n\nThe files that were read, by senv 0.1.0, "), "{report}");
        let without = PaperResult { data: Vec::new(), ..paper };
        assert!(!without.to_markdown(&results).contains("## Data"));
    }
}
