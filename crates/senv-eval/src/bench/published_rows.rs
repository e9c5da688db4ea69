//! Published results as rows of the report's tables.

use crate::{
    Column, Correlations, ScoringMethod, Section, published_classification, published_p_coherence, published_ranking,
    published_sick, published_sick_entailment, published_sts, published_stsb,
};

/// A system of a paper: its numbers where the paper has them.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRow {
    /// The system.
    pub system: String,
    /// The paper, its table and its data.
    pub source: String,
    /// One value for each column of the section, on its scale.
    pub values: Vec<Option<f64>>,
}

/// The published rows of a section with these columns; papers often report on other parts of a data set, so they show
/// the order of things and are not ranked with the rest.
#[must_use]
pub fn published_rows(section: Section, columns: &[Column]) -> Vec<PublishedRow> {
    let mut rows: Vec<PublishedRow> = Vec::new();
    let mut add = |system: &str, source: &str, column: usize, value: Option<f64>| {
        let Some(value) = value else { return };
        let place = rows.iter().position(|row| row.system == system && row.source == source).unwrap_or_else(|| {
            let (system, source) = (system.to_owned(), source.to_owned());
            rows.push(PublishedRow { system, source, values: vec![None; columns.len()] });
            rows.len() - 1
        });
        rows[place].values[column] = Some(value);
    };
    let r = |correlations: Correlations| correlations.pearson_r_x100;
    for (i, column) in columns.iter().enumerate().filter(|(_, column)| column.protocol.section == section) {
        match column.protocol.name {
            "sts" => {
                for system in published_sts() {
                    let cell = |task: &(Option<u16>, String)| system.value(task.0, &task.1).and_then(r);
                    let cells: Option<Vec<f64>> = column.task_names.iter().map(cell).collect();
                    add(system.system, system.source, i, cells.and_then(|cells| senv_metrics::mean(&cells)));
                }
            }
            "sick" | "sick-probe" => {
                let wanted =
                    if column.protocol.name == "sick" { ScoringMethod::Cosine } else { ScoringMethod::Supervised };
                for row in published_sick().into_iter().filter(|row| row.scored_by == wanted) {
                    add(row.system, row.source, i, r(row.correlations));
                }
            }
            "stsb-probe" => published_stsb().iter().for_each(|row| add(row.system, row.source, i, r(row.correlations))),
            "sick-entailment" => published_sick_entailment()
                .iter()
                .for_each(|row| add(row.system, row.source, i, Some(100.0 * row.accuracy))),
            "ranking" => published_ranking()
                .iter()
                .for_each(|row| add(row.system, row.source, i, Some(100.0 * row.accuracy_at_1_10_100[0]))),
            "p-coherence" if column.title.contains("COCO") => {
                published_p_coherence().iter().for_each(|row| add(row.system, row.source, i, Some(row.p_coherence)));
            }
            set => published_classification().iter().for_each(|row| add(row.system, row.source, i, row.accuracy(set))),
        }
    }
    rows
}
