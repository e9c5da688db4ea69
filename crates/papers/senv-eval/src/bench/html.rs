//! The report as one self-contained HTML page. It is readable on a phone, in dark mode, and without scripts.

use std::fmt::Write as _;

use super::{
    figures::drawings,
    page::{escape_html as escape, frame},
    published_rows::published_rows,
    record::{BenchRecord, SystemKind, SystemRecord, TaskRecord, TaskResult},
    summary::{Cell, Summary, summarize},
    tables::{digits, footnotes, mark_sign, task_digits, value_text},
};
use crate::{
    error::Result,
    report::{TOO_FEW, interval_text},
};

/// The first bytes of every report, by which it is recognized.
pub const REPORT_START: &str = "<!DOCTYPE html>\n<!-- senv bench -->\n";

/// Formats an interval, or says that there are too few items for one.
fn shown_interval(interval: Option<(f64, f64)>, too_few: bool, digits: usize) -> Option<String> {
    if too_few { Some(TOO_FEW.to_owned()) } else { interval_text(interval, digits) }
}

impl BenchRecord {
    /// Writes the report as a page with tables, figures and the origin of each number. It loads nothing from elsewhere.
    ///
    /// # Errors
    /// Returns the errors of [`summarize`].
    pub fn to_html(&self) -> Result<String> {
        let summaries = summarize(self)?;
        let mut out = String::from("<h1>Bench of sentence embeddings</h1>\n");
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(&self.overview()));
        self.cards(&mut out, &summaries);
        for summary in &summaries {
            self.section(&mut out, summary);
        }
        out.push_str("<h2>Figures</h2>\n<div class=\"plots\">\n");
        for drawing in drawings(self, &summaries)? {
            let (title, about, svg) = (escape(&drawing.title), escape(&drawing.about), &drawing.svg);
            // Labels the image for screen readers.
            let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1);
            let _ = writeln!(
                out,
                "<figure><h3>{title}</h3><div class=\"draw\">{svg}</div><figcaption>{about}</figcaption></figure>"
            );
        }
        out.push_str("</div>\n");
        self.tasks_table(&mut out);
        self.notes_list(&mut out);
        self.missing_list(&mut out);
        self.provenance(&mut out);
        Ok(frame(REPORT_START, "Bench of sentence embeddings", &out))
    }

    fn overview(&self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let protocols: std::collections::BTreeSet<_> = self.tasks.iter().map(|task| &task.protocol).collect();
        format!(
            "{} on {} of {}. Every headline number has a 95 % interval; hover over one to see how it was made, or \
            read “How these numbers were made” at the end.",
            count(self.systems.len(), "system"),
            count(self.tasks.len(), "task"),
            count(protocols.len(), "protocol"),
        )
    }

    /// Writes the best system of each table.
    fn cards(&self, out: &mut String, summaries: &[Summary]) {
        out.push_str("<div class=\"cards\">\n");
        for summary in summaries {
            let Some(best) = summary.rows.first().filter(|row| row.mean.value.is_some()) else { continue };
            let value = value_text(summary, None, best.mean.value);
            let name = escape(&self.systems[best.system].name);
            let _ = writeln!(
                out,
                "<div class=\"card\">{}<b>{value}</b><span class=\"soft\">{name} has the highest mean</span></div>",
                summary.section.title()
            );
        }
        out.push_str("</div>\n");
    }

    fn section(&self, out: &mut String, summary: &Summary) {
        let section = summary.section;
        let _ = writeln!(out, "<h2>{}</h2>\n<p>{}</p>", section.title(), escape(section.about()));
        out.push_str("<div class=\"box\" tabindex=\"0\"><table>\n<thead><tr><th>system</th><th>mean</th>");
        for column in &summary.columns {
            let title = format!("{}: {}, {}", column.protocol.title, column.protocol.metric, column.protocol.paper);
            let _ = write!(out, "<th title=\"{}\">{}</th>", escape(&title), escape(&column.title));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &summary.rows {
            let system = &self.systems[row.system];
            let given = matches!(system.kind, SystemKind::Model | SystemKind::Vectors);
            let class = if given { "given" } else { "plain" };
            let _ = write!(
                out,
                "<tr class=\"{class}\"><th title=\"{}\">{}</th>",
                escape(&system.source),
                escape(&system.name)
            );
            self.cell(out, summary, None, &row.mean, system);
            row.cells.iter().enumerate().for_each(|(i, cell)| self.cell(out, summary, Some(i), cell, system));
            out.push_str("</tr>\n");
        }
        let grey = |out: &mut String, name: &str, title: &str, values: &[Option<f64>]| {
            let _ = write!(out, "<tr class=\"pub\"><th title=\"{}\">{}</th><td></td>", escape(title), escape(name));
            for (i, &value) in values.iter().enumerate() {
                let text = if value.is_some() { value_text(summary, Some(i), value) } else { String::new() };
                let _ = write!(out, "<td>{text}</td>");
            }
            out.push_str("</tr>\n");
        };
        let chance: Vec<Option<f64>> = summary.chance.iter().map(|&chance| Some(chance)).collect();
        grey(out, "chance", "score of guessing", &chance);
        out.push_str("</tbody></table></div>\n");
        let _ = writeln!(out, "<p class=\"legend\">{}</p>", escape(&footnotes(self, summary).join(" ")));
        let published = published_rows(section, &summary.columns);
        if !published.is_empty() {
            let _ = writeln!(
                out,
                "<details><summary>Published results ({} systems)</summary>\n<p class=\"soft\">As printed. Papers may \
                use other parts of a data set, so compare how systems rank within a paper, not exact values.</p>\n<div \
                class=\"box\" tabindex=\"0\"><table>\n<thead><tr><th>system</th><th>source</th>",
                published.len()
            );
            summary.columns.iter().for_each(|column| {
                let _ = write!(out, "<th>{}</th>", escape(&column.title));
            });
            out.push_str("</tr></thead>\n<tbody>\n");
            for row in &published {
                let (system, source) = (escape(&row.system), escape(&row.source_and_beside()));
                let _ = write!(out, "<tr class=\"pub\"><th>{system}</th><td>{source}</td>");
                for (i, &value) in row.values.iter().enumerate() {
                    let text = if value.is_some() { value_text(summary, Some(i), value) } else { String::new() };
                    let _ = write!(out, "<td>{text}</td>");
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody></table></div></details>\n");
        }
    }

    fn cell(&self, out: &mut String, summary: &Summary, column: Option<usize>, cell: &Cell, system: &SystemRecord) {
        let value = value_text(summary, column, cell.value);
        let Some(_) = cell.value else {
            let note = cell.note.as_deref().unwrap_or("a column of this mean has no value");
            let _ = write!(out, "<td title=\"{}\">-</td>", escape(note));
            return;
        };
        let class = if cell.best { " class=\"best\"" } else { "" };
        let sign = mark_sign(cell.mark);
        let mark = match sign {
            "▲" => " <span class=\"up\">▲</span>",
            "▼" => " <span class=\"down\">▼</span>",
            _ => "",
        };
        let interval = shown_interval(cell.interval, cell.too_few, digits(summary, column));
        let keys: &[String] = column.map_or(&[], |column| &summary.columns[column].tasks);
        let tasks = self.tasks.iter().filter(|task| keys.contains(&task.key));
        let title = self.made_by(system, interval.as_deref(), tasks);
        let interval = interval.map_or_else(String::new, |text| format!("<span class=\"pm\">{text}</span>"));
        let _ = write!(out, "<td{class} title=\"{}\">{value}{mark}{interval}</td>", escape(&title));
    }

    /// Describes the origin of a number of these tasks, on a few lines.
    fn made_by<'a>(
        &self,
        system: &SystemRecord,
        interval: Option<&str>,
        tasks: impl Iterator<Item = &'a TaskRecord>,
    ) -> String {
        let mut text = system.name.clone();
        if let Some(sum) = &system.sha256 {
            let _ = write!(text, " (SHA-256 {sum:.16})");
        }
        if let Some(interval) = interval {
            let _ = match interval {
                TOO_FEW => write!(text, "\n{TOO_FEW} items for an interval"),
                _ => write!(text, "\n95 % interval {interval}"),
            };
        }
        for file in tasks.flat_map(|task| &task.files) {
            let _ = write!(text, "\n{} {:.16}", file.path, file.sha256);
        }
        let _ = write!(text, "\nseed {}, senv {}\n{}", self.seed, self.version, self.command);
        text
    }

    /// Writes every task with every system, and the measurements in addition to the headline.
    fn tasks_table(&self, out: &mut String) {
        out.push_str(
            "<h2>Task by task</h2>\n<p>All headline numbers with their 95 % intervals, and further \
            measurements.</p>\n<div class=\"box\" tabindex=\"0\"><table>\n<thead><tr><th>task</th><th>items</th>",
        );
        self.systems.iter().for_each(|system| {
            let _ = write!(out, "<th>{}</th>", escape(&system.name));
        });
        out.push_str("</tr></thead>\n<tbody>\n");
        for task in self.own_first() {
            let _ = write!(
                out,
                "<tr class=\"given\"><th>{} {}</th><td>{}</td>",
                escape(&task.protocol),
                escape(&task.label()),
                self.n_items(task)
            );
            let results = self.systems.iter().filter_map(|system| system.result(&task.key));
            let best = results.filter_map(|result| result.value).reduce(f64::max);
            self.systems.iter().for_each(|system| self.task_cell(out, task, system, best));
            out.push_str("</tr>\n");
            self.details_of(out, task);
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// Writes the value of a task with its interval.
    fn task_cell(&self, out: &mut String, task: &TaskRecord, system: &SystemRecord, best: Option<f64>) {
        let result = system.result(&task.key);
        let Some((value, interval)) = result.and_then(|result| Some((result.value?, result.interval))) else {
            let note = result.and_then(|result| result.note.as_deref()).unwrap_or("not run");
            let _ = write!(out, "<td title=\"{}\">-</td>", escape(note));
            return;
        };
        let (digits, class) = (task_digits(task), if Some(value) == best { " class=\"best\"" } else { "" });
        let interval = shown_interval(interval, result.is_some_and(TaskResult::is_of_too_few), digits);
        let title = self.made_by(system, interval.as_deref(), std::iter::once(task));
        let interval = interval.map_or_else(String::new, |text| format!("<span class=\"pm\">{text}</span>"));
        let _ = write!(out, "<td{class} title=\"{}\">{value:.digits$}{interval}</td>", escape(&title));
    }

    fn details_of(&self, out: &mut String, task: &TaskRecord) {
        let mut names: Vec<&str> = Vec::new();
        let details =
            |system: &SystemRecord| system.result(&task.key).map_or(&[][..], |result| &result.details).to_vec();
        for detail in self.systems.iter().filter_map(|system| system.result(&task.key)).flat_map(|r| &r.details) {
            if !names.contains(&&detail.name[..]) {
                names.push(&detail.name);
            }
        }
        for name in names {
            let _ = write!(out, "<tr class=\"pub\"><th>&nbsp;&nbsp;{}</th><td></td>", escape(name));
            for system in &self.systems {
                let value = details(system).into_iter().find(|detail| detail.name == name).and_then(|d| d.value);
                let text = value.map_or_else(String::new, |value| match value {
                    v if v.fract() == 0.0 && v.abs() < 1e9 => format!("{v:.0}"),
                    v if v.abs() < 10.0 => format!("{v:.3}"),
                    v => format!("{v:.2}"),
                });
                let _ = write!(out, "<td>{text}</td>");
            }
            out.push_str("</tr>\n");
        }
    }

    fn notes_list(&self, out: &mut String) {
        if self.notes.is_empty() {
            return;
        }
        out.push_str("<h2>Notes on the data</h2>\n<div class=\"box\" tabindex=\"0\"><table class=\"wide\">\n<thead><tr><th>files</th><th>note</th></tr></thead>\n<tbody>\n");
        for note in &self.notes {
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td style=\"white-space:normal\">{}</td></tr>",
                escape(&note.files.join(", ")),
                escape(&note.note)
            );
        }
        out.push_str("</tbody></table></div>\n");
    }

    fn missing_list(&self, out: &mut String) {
        if self.missing.is_empty() {
            return;
        }
        out.push_str("<h2>Not run</h2>\n<div class=\"box\" tabindex=\"0\"><table class=\"wide\">\n<thead><tr><th>protocol</th><th>why</th></tr></thead>\n<tbody>\n");
        for missing in &self.missing {
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td style=\"white-space:normal\">{}</td></tr>",
                escape(&missing.protocol),
                escape(&missing.reason)
            );
        }
        out.push_str("</tbody></table></div>\n");
    }

    /// Lists the origin of the numbers, for screens without a pointer.
    fn provenance(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "<h2>How these numbers were made</h2>\n<pre>{}</pre>\n<p class=\"soft\">senv {}, seed {}, {} draws of the bootstrap.</p>\n<div class=\"box\" tabindex=\"0\"><table class=\"wide\">\n<thead><tr><th>system</th><th>SHA-256</th><th>source</th><th>dimension</th><th>sentences/s</th></tr></thead>\n<tbody>",
            escape(&self.command),
            escape(&self.version),
            self.seed,
            self.resamples
        );
        for system in &self.systems {
            let dim = system.dim.map_or_else(|| "-".to_owned(), |dim| dim.to_string());
            let rate = system.sentences_per_second.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
            let sum = system.sha256.as_deref().unwrap_or("-");
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td><code>{}</code></td><td>{}</td><td>{dim}</td><td>{rate}</td></tr>",
                escape(&system.name),
                escape(sum),
                escape(&system.source)
            );
        }
        out.push_str("</tbody></table></div>\n<div class=\"box\" tabindex=\"0\"><table class=\"wide\">\n<thead><tr><th>data file</th><th>SHA-256</th><th>tasks</th></tr></thead>\n<tbody>\n");
        for (file, tasks) in self.data_files() {
            let _ = writeln!(
                out,
                "<tr><th>{}</th><td><code>{}</code></td><td style=\"white-space:normal\">{}</td></tr>",
                escape(&file.path),
                escape(&file.sha256),
                escape(&tasks.join(", "))
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
}
