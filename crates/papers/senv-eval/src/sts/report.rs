//! The text report of STS, with or without published results.

use senv_data::task_label;
use std::fmt::Write;

use crate::{
    published::rows::PublishedSystem,
    report::{Align, TextTable, half_width, number},
    score::correlations::Correlations,
    sts::result::{CorrelationIntervals, StsIntervals, StsResult, StsTaskResult},
};

impl StsResult {
    /// Formats the result in aligned columns: one line per task, then every mean under its name. Half the width of the
    /// 95 % interval follows each number that has one.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats the result with two more columns for each published system (see [`crate::published_sts`]).
    ///
    /// A published mean is taken over the same tasks as ours. It is left out (`-`) if the paper lacks one of them.
    /// Weighted means of published numbers use our pair counts.
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedSystem]) -> String {
        // Our means, followed by the same means of each paper's values.
        let results: Vec<StsResult> =
            std::iter::once(self.clone()).chain(published.iter().map(|system| self.as_published_by(system))).collect();
        let mut columns: Vec<(String, Align)> = vec![("task".into(), Align::Left), ("pairs".into(), Align::Right)];
        let names = published.iter().map(|system| format!("{}\n", system.system));
        for name in std::iter::once(String::new()).chain(names) {
            columns.push((format!("{name}pearson r x100"), Align::Right));
            columns.push((format!("{name}spearman rho x100"), Align::Right));
        }
        let mut table = TextTable::new(columns);
        let line = |table: &mut TextTable,
                    (name, n_pairs): (String, usize),
                    interval: Option<CorrelationIntervals>,
                    of: &dyn Fn(&StsResult) -> Correlations| {
            let mut cells = vec![name, n_pairs.to_string()];
            for (i, result) in results.iter().enumerate() {
                // Ours come first; only they have intervals.
                let (c, interval) = (of(result), interval.filter(|_| i == 0).unwrap_or_default());
                cells.push(number(c.pearson_r_x100, 2) + &half_width(interval.pearson_r_x100, 2));
                cells.push(number(c.spearman_rho_x100, 2) + &half_width(interval.spearman_rho_x100, 2));
            }
            table.row(cells);
        };
        let intervals = self.intervals.as_ref();
        for (i, task) in self.tasks.iter().enumerate() {
            let interval = intervals.and_then(|of| of.tasks.get(i)).map(|of| of.correlations);
            let name = task_label(task.year, &task.name);
            line(&mut table, (name, task.n_pairs), interval, &|result| result.tasks[i].correlations);
        }
        table.rule();
        for (i, year) in self.years.iter().enumerate() {
            let interval = intervals.and_then(|of| of.years.get(i));
            let name = format!("{} plain mean over {}", year.year, plural(year.n_tasks, "task"));
            let of_plain = interval.map(|of| of.plain_mean_over_tasks);
            line(&mut table, (name, year.n_pairs), of_plain, &|result| result.years[i].plain_mean_over_tasks);
            let name = format!("{} mean weighted by pairs", year.year);
            let of_weighted = interval.map(|of| of.mean_weighted_by_pairs);
            line(&mut table, (name, year.n_pairs), of_weighted, &|result| result.years[i].mean_weighted_by_pairs);
        }
        let (all, n_years, interval) = (&self.overall, self.years.len(), intervals.map(|of| &of.overall));
        let name = format!("all plain mean over {}", plural(all.n_tasks, "task"));
        let of_plain = interval.map(|of| of.plain_mean_over_tasks);
        line(&mut table, (name, all.n_pairs), of_plain, &|result| result.overall.plain_mean_over_tasks);
        if all.plain_mean_of_year_means.is_some() {
            let name = format!("all plain mean of {}", plural(n_years, "year mean"));
            let of_years = interval.and_then(|of| of.plain_mean_of_year_means);
            line(&mut table, (name, all.n_pairs), of_years, &|result| {
                result.overall.plain_mean_of_year_means.unwrap_or_default()
            });
        }
        let name = "all mean weighted by pairs".to_owned();
        let of_weighted = interval.map(|of| of.mean_weighted_by_pairs);
        line(&mut table, (name, all.n_pairs), of_weighted, &|result| result.overall.mean_weighted_by_pairs);
        let mut text = table.to_string();
        if let Some(StsIntervals { resamples, seed, .. }) = intervals {
            let how = format!("bootstrap over the pairs, {resamples} draws, seed {seed}");
            let _ = writeln!(text, "± half of the 95 % interval: {how}");
        }
        self.tasks.iter().for_each(|task| notes(task, &mut text));
        for system in published {
            let _ = writeln!(text, "{}: {}", system.system, system.source);
        }
        text
    }

    /// Our tasks with a paper's numbers in place of ours; undefined where the paper has none.
    fn as_published_by(&self, system: &PublishedSystem) -> StsResult {
        let theirs = |task: &StsTaskResult| StsTaskResult {
            correlations: system.value(task.year, &task.name).unwrap_or_default(),
            ..task.clone()
        };
        StsResult::of(self.tasks.iter().map(theirs).collect())
    }
}

/// Adds a line for each kind of pair or sentence that was left out or could not be scored.
pub(crate) fn notes(task: &StsTaskResult, text: &mut String) {
    let name = task_label(task.year, &task.name);
    let mut note = |n: usize, what: &str, consequence: &str| {
        if n > 0 {
            let _ = writeln!(text, "{name}: {}{consequence}", plural(n, what));
        }
    };
    note(task.n_unscored, "pair", " without a gold score, skipped");
    note(task.n_empty_sentences, "empty sentence", "");
    note(task.n_pairs_without_known_token, "pair", " with a sentence without known tokens, scored 0");
    let c = task.correlations;
    if c.pearson_r_x100.is_none() || c.spearman_rho_x100.is_none() {
        let _ = writeln!(text, "{name}: correlation undefined (fewer than two pairs, or all scores equal)");
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
