//! The word-order result as text and as a figure.

use std::path::Path;

use super::{
    entailment::OrderEntailmentResult, evaluation::OrderResult, pairs::OrderPairsResult, templates::OrderPhenomenon,
    triplets::OrderTemplatesResult,
};
use crate::{
    plot::rows::{RowSeries, RowValue, rows_to_svg},
    report::{Align, TextTable, half_width, number},
    score::with_interval::WithInterval,
};

/// Other systems to compare with, by name.
type Others<'a> = [(&'a str, &'a OrderResult)];

/// Formats a value with half the width of its interval.
fn cell(of: Option<WithInterval>) -> String {
    number(of.map(|of| of.value), 3) + &half_width(of.and_then(|of| of.interval), 3)
}

fn value(of: Option<WithInterval>) -> String {
    number(of.map(|of| of.value), 3)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn table(first: &str, columns: impl IntoIterator<Item = String>) -> TextTable {
    let columns = columns.into_iter().map(|name| (name, Align::Right));
    TextTable::new(std::iter::once((first.to_owned(), Align::Left)).chain(columns))
}

impl OrderResult {
    /// Formats one table per evaluated part: values with half of their 95 % intervals, and those of other systems on
    /// the same data, by name.
    #[must_use]
    pub fn to_text(&self, others: &[(&str, &Self)]) -> String {
        let tables = [
            (!self.templates.is_empty()).then(|| self.templates_text(others)),
            (!self.pairs.is_empty()).then(|| self.pairs_text(others)),
            (!self.nli.is_empty()).then(|| self.nli_text(others)),
        ];
        tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    fn templates_text(&self, others: &Others<'_>) -> String {
        let own = ["items", "ties", "same\nnearer", "chance"].map(str::to_owned);
        let names = others.iter().map(|(name, _)| name.replacen(' ', "\n", 1));
        let cosines = ["cosine\nto same", "cosine\nto different"].map(str::to_owned);
        let mut table = table("templates", own.into_iter().chain(names).chain(cosines));
        let chance = || "0.500".to_owned();
        let row = |table: &mut TextTable, i: usize, of: &OrderTemplatesResult| {
            let own = [of.n_items.to_string(), of.n_ties.to_string(), cell(of.share_nearer), chance()];
            let beside = others.iter().map(|(_, other)| value(other.templates.get(i).and_then(|of| of.share_nearer)));
            let cosines = [of.mean_cosine_to_same, of.mean_cosine_to_different].map(|cosine| number(cosine, 3));
            let name = std::iter::once(of.phenomenon.name().to_owned());
            table.row(name.chain(own).chain(beside).chain(cosines));
        };
        let is_order = |of: &OrderTemplatesResult| OrderPhenomenon::ALL.contains(&of.phenomenon);
        let all = || self.templates.iter().enumerate();
        all().filter(|(_, of)| is_order(of)).for_each(|(i, of)| row(&mut table, i, of));
        table.rule();
        let own = ["mean".to_owned(), String::new(), String::new(), cell(self.mean_share_nearer), chance()];
        table.row(own.into_iter().chain(others.iter().map(|(_, other)| value(other.mean_share_nearer))));
        if self.templates.iter().any(|of| !is_order(of)) {
            table.rule();
        }
        all().filter(|(_, of)| !is_order(of)).for_each(|(i, of)| row(&mut table, i, of));
        let unknown: usize = self.templates.iter().map(|of| of.n_items_without_known_token).sum();
        let mut text = table.to_string();
        if unknown > 0 {
            text += &format!("{unknown} items with a sentence without a known token (cosine 0)\n");
        }
        text
    }

    fn pairs_text(&self, others: &Others<'_>) -> String {
        let own = ["pairs", "ROC AUC", "chance"].map(str::to_owned);
        let names = || others.iter().map(|(name, _)| name.replacen(' ', "\n", 1));
        let second = ["average\nprecision", "chance"].map(str::to_owned);
        let last = ["cosine of\nparaphrases", "of others"].map(str::to_owned);
        let columns = own.into_iter().chain(names()).chain(second).chain(names()).chain(last);
        let mut table = table("pairs", columns);
        for (i, of) in self.pairs.iter().enumerate() {
            let beside = |get: fn(&OrderPairsResult) -> Option<WithInterval>| {
                others.iter().map(move |(_, other)| value(other.pairs.get(i).and_then(get)))
            };
            let own = [file_name(&of.path), of.n_pairs.to_string(), cell(of.roc_auc), "0.500".to_owned()];
            let second = [cell(of.average_precision), number(Some(of.share_of_paraphrases), 3)];
            let last = [of.mean_cosine_of_paraphrases, of.mean_cosine_of_others].map(|cosine| number(cosine, 3));
            let own = own.into_iter().chain(beside(|of| of.roc_auc));
            table.row(own.chain(second).chain(beside(|of| of.average_precision)).chain(last));
        }
        let unknown: usize = self.pairs.iter().map(|of| of.n_pairs_without_known_token).sum();
        table.to_string() + &unknown_pairs(unknown)
    }

    fn nli_text(&self, others: &Others<'_>) -> String {
        let own = ["entailment", "contra-\ndiction", "ROC AUC", "chance"].map(str::to_owned);
        let names = others.iter().map(|(name, _)| name.replacen(' ', "\n", 1));
        let cosines = ["contra-\ndiction", "neutral", "entailment"].map(|label| format!("cosine\n{label}"));
        let mut table = table("entailment against contradiction", own.into_iter().chain(names).chain(cosines));
        for (i, of) in self.nli.iter().enumerate() {
            let [contradiction, _, entailment] = of.labels.each_ref().map(|label| label.n_pairs.to_string());
            let beside = others.iter().map(|(_, other)| value(other.nli.get(i).and_then(|of| of.roc_auc)));
            let own = [file_name(&of.path), entailment, contradiction, cell(of.roc_auc), "0.500".to_owned()];
            let cosines = of.labels.each_ref().map(|label| number(label.mean_cosine, 3));
            table.row(own.into_iter().chain(beside).chain(cosines));
        }
        let unknown: usize = self.nli.iter().map(|of| of.n_pairs_without_known_token).sum();
        let unlabeled = |of: &OrderEntailmentResult| match of.n_unlabeled {
            0 => String::new(),
            n => format!("{}: skipped {n} pairs without a label\n", of.path.display()),
        };
        table.to_string() + &unknown_pairs(unknown) + &self.nli.iter().map(unlabeled).collect::<String>()
    }

    /// Draws the share of each phenomenon as a dot with its 95 % interval, with chance and other systems, as a
    /// self-contained SVG. `name` is the name of this system.
    #[must_use]
    pub fn to_svg(&self, name: &str, others: &[(&str, &Self)]) -> String {
        let values = |of: &OrderTemplatesResult| {
            of.share_nearer.map(|share| RowValue { value: share.value, interval: share.interval })
        };
        let series = |name: &str, of: &Self| RowSeries {
            name: name.to_owned(),
            values: of.templates.iter().map(values).collect(),
        };
        let all = std::iter::once((name, self)).chain(others.iter().copied());
        let all: Vec<RowSeries> = all.map(|(name, of)| series(name, of)).collect();
        let rows: Vec<String> = self.templates.iter().map(|of| of.phenomenon.name().to_owned()).collect();
        rows_to_svg("phenomenon", &rows, "same meaning closer, share of items", &all, Some(0.5), 3)
    }
}

fn unknown_pairs(n: usize) -> String {
    if n == 0 { String::new() } else { format!("{n} pairs with a sentence without a known token (cosine 0)\n") }
}
