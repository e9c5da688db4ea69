//! The report of all papers as one page.

use std::{fmt::Write as _, fs, path::Path};

use senv_eval::{escape_html, html_page};

use super::{
    markdown::{QUICK, READING},
    report_table::{ReportTable, Whose},
    results::{Results, TableResult},
};

impl Results {
    /// Writes the page with its drawings. It loads nothing from elsewhere.
    pub(crate) fn to_html(&self, folder: &Path) -> String {
        let mut out = String::from("<h1>The papers' tables next to ours</h1>\n");
        let _ = writeln!(out, "<p>{}</p>", escape_html(READING));
        if self.quick {
            let _ = writeln!(out, "<p><b>{QUICK}</b></p>");
        }
        let _ = writeln!(out, "<p class=\"soft\">senv {}</p>", escape_html(&self.version));
        for paper in &self.papers {
            let _ = writeln!(out, "<h2>{}</h2>\n<p>{}</p>", escape_html(paper.title), escape_html(paper.about));
            for table in &paper.tables {
                write_table(&mut out, table, folder);
            }
        }
        html_page("The papers' tables", &out)
    }
}

fn write_table(out: &mut String, table: &TableResult, folder: &Path) {
    let report_table = ReportTable::new(table);
    let _ = writeln!(out, "<h3>{}</h3>\n<p>{}</p>", escape_html(table.title), escape_html(table.about));
    out.push_str("<div class=\"box\" tabindex=\"0\"><table>\n<thead><tr>");
    for text in &report_table.head {
        let _ = write!(out, "<th>{}</th>", escape_html(text));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (whose, cells) in &report_table.rows {
        let class = if *whose == Whose::Theirs { "pub" } else { "given" };
        let _ = write!(out, "<tr class=\"{class}\">");
        for (i, text) in cells.iter().enumerate() {
            let tag = if i == 0 { "th" } else { "td" };
            let _ = write!(out, "<{tag}>{}</{tag}>", escape_html(text));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    for note in &report_table.notes {
        let _ = writeln!(out, "<p class=\"legend\">{}</p>", escape_html(note));
    }
    for drawing in &table.drawings {
        let Ok(svg) = fs::read_to_string(folder.join(&drawing.file)) else { continue };
        let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
        let title = escape_html(&drawing.title);
        let svg = svg.replacen("<svg", &format!("<svg role=\"img\" aria-label=\"{title}\""), 1);
        let _ = writeln!(out, "<figure><div class=\"draw\">{svg}</div><figcaption>{title}</figcaption></figure>");
    }
    out.push_str("<details><summary>Commands</summary><pre>");
    for command in &table.commands {
        let _ = writeln!(out, "{}  # {}", escape_html(&command.command), command.time());
    }
    out.push_str("</pre></details>\n");
}
