//! The text report of relatedness, with or without published results.

use senv_data::task_label;
use std::fmt::Write;

use crate::{
    published::rows::PublishedRelatedness,
    report::{Align, TextTable, number},
    score::correlations::Correlations,
    sts::{relatedness::RelatednessResult, report::notes},
};

impl RelatednessResult {
    /// Formats the result in aligned columns: one line per file, then all pairs together.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_text_beside(&[])
    }

    /// Formats the result, followed by one line per published system (see [`crate::published_sick`] and
    /// [`crate::published_stsb`]). Published results are on the test set, so compare them with a run on that part only.
    #[must_use]
    pub fn to_text_beside(&self, published: &[PublishedRelatedness]) -> String {
        let mut table = TextTable::new([
            ("task", Align::Left),
            ("scored by", Align::Left),
            ("pairs", Align::Right),
            ("pearson r x100", Align::Right),
            ("spearman rho x100", Align::Right),
            ("mse", Align::Right),
        ]);
        let line =
            |table: &mut TextTable, name: &str, scored_by: &str, pairs: String, c: Correlations, mse: Option<f64>| {
                let [r, rho] = [c.pearson_r_x100, c.spearman_rho_x100].map(|x| number(x, 2));
                table.row([name.to_owned(), scored_by.to_owned(), pairs, r, rho, number(mse, 4)]);
            };
        let ours = self.scored_by.name();
        for task in &self.tasks {
            let result = &task.result;
            let name = task_label(result.year, &result.name);
            line(&mut table, &name, ours, result.n_pairs.to_string(), result.correlations, task.mse);
        }
        if let Some(all) = &self.together {
            line(&mut table, "all pairs together", ours, all.n_pairs.to_string(), all.correlations, all.mse);
        }
        if !published.is_empty() {
            table.rule();
        }
        let mut sources: Vec<(&str, &str)> = Vec::new();
        for system in published {
            let place = sources.iter().position(|source| source.0 == system.source).unwrap_or_else(|| {
                sources.push((system.source, system.part));
                sources.len() - 1
            });
            let name = format!("{} [{}]", system.system, place + 1);
            line(&mut table, &name, system.scored_by.name(), String::new(), system.correlations, system.mse);
        }
        let mut text = table.to_string();
        self.tasks.iter().for_each(|task| notes(&task.result, &mut text));
        for (i, (source, part)) in sources.iter().enumerate() {
            let _ = writeln!(text, "[{}] {source}, on the {part}", i + 1);
        }
        text
    }
}
