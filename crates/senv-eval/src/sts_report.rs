//! The text report of STS, with or without published results.

use std::fmt::Write;

use crate::{Align, Correlations, PublishedSystem, StsResult, StsTaskResult, TextTable, report::number, task_label};

impl StsResult {
    /// The result in aligned columns: one line a task, then every mean under its name.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// The result with two more columns for each published system (see [`crate::published_sts`]).
    ///
    /// A published mean is taken over the same tasks as ours and left out (`-`) where the paper lacks one of them.
    /// Weighted means of published numbers use our pair counts.
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedSystem]) -> String {
        // Our means, then the same means of each paper's values.
        let results: Vec<StsResult> =
            std::iter::once(self.clone()).chain(published.iter().map(|system| self.as_published_by(system))).collect();
        let mut columns: Vec<(String, Align)> = vec![("task".into(), Align::Left), ("pairs".into(), Align::Right)];
        let names = published.iter().map(|system| format!("{}\n", system.system));
        for name in std::iter::once(String::new()).chain(names) {
            columns.push((format!("{name}pearson r x100"), Align::Right));
            columns.push((format!("{name}spearman rho x100"), Align::Right));
        }
        let mut table = TextTable::new(columns);
        let line = |table: &mut TextTable, name: String, n_pairs: usize, of: &dyn Fn(&StsResult) -> Correlations| {
            let numbers = results.iter().map(of);
            let numbers = numbers.flat_map(|c| [number(c.pearson_r_x100, 2), number(c.spearman_rho_x100, 2)]);
            table.row([name, n_pairs.to_string()].into_iter().chain(numbers));
        };
        for (i, task) in self.tasks.iter().enumerate() {
            line(&mut table, task_label(task.year, &task.name), task.n_pairs, &|result| result.tasks[i].correlations);
        }
        table.rule();
        for (i, year) in self.years.iter().enumerate() {
            let name = format!("{} plain mean over {}", year.year, plural(year.n_tasks, "task"));
            line(&mut table, name, year.n_pairs, &|result| result.years[i].plain_mean_over_tasks);
            let name = format!("{} mean weighted by pairs", year.year);
            line(&mut table, name, year.n_pairs, &|result| result.years[i].mean_weighted_by_pairs);
        }
        let (all, n_years) = (&self.overall, self.years.len());
        let name = format!("all plain mean over {}", plural(all.n_tasks, "task"));
        line(&mut table, name, all.n_pairs, &|result| result.overall.plain_mean_over_tasks);
        if all.plain_mean_of_year_means.is_some() {
            let name = format!("all plain mean of {}", plural(n_years, "year mean"));
            line(&mut table, name, all.n_pairs, &|result| result.overall.plain_mean_of_year_means.unwrap_or_default());
        }
        line(&mut table, "all mean weighted by pairs".into(), all.n_pairs, &|result| {
            result.overall.mean_weighted_by_pairs
        });
        let mut text = table.to_string();
        self.tasks.iter().for_each(|task| notes(task, &mut text));
        for system in published {
            let _ = writeln!(text, "{}: {}", system.system, system.source);
        }
        text
    }

    /// Our tasks with a paper's numbers in them; undefined where the paper has none.
    fn as_published_by(&self, system: &PublishedSystem) -> StsResult {
        let theirs = |task: &StsTaskResult| StsTaskResult {
            correlations: system.value(task.year, &task.name).unwrap_or_default(),
            ..task.clone()
        };
        StsResult::of(self.tasks.iter().map(theirs).collect())
    }
}

/// A line for each kind of pair or sentence that was left out or could not be scored.
pub(crate) fn notes(task: &StsTaskResult, text: &mut String) {
    let name = task_label(task.year, &task.name);
    let mut note = |n: usize, what: &str, consequence: &str| {
        if n > 0 {
            let _ = writeln!(text, "{name}: {}{consequence}", plural(n, what));
        }
    };
    note(task.n_unscored, "pair", " without a gold score left out");
    note(task.n_empty_sentences, "empty sentence", "");
    note(task.n_pairs_without_known_token, "pair", " with a sentence of no known token, scored 0");
    let c = task.correlations;
    if c.pearson_r_x100.is_none() || c.spearman_rho_x100.is_none() {
        let _ = writeln!(text, "{name}: correlation undefined (fewer than two pairs, or all scores equal)");
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
