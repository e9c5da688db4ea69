//! Published results as rows of the report's tables.

use super::{protocol_group::ProtocolGroup, summary::Column};
use crate::{
    published::{
        classification::published_classification,
        relatedness::{published_sick, published_stsb},
        similarity::{published_p_coherence, published_ranking, published_sick_entailment, published_soup},
        sts::published_sts,
    },
    score::{correlations::Correlations, scoring_method::ScoringMethod},
};

/// A system of a paper, with its published values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PublishedRow {
    /// Name of the system.
    pub(crate) system: String,
    /// The paper, its table and its data.
    pub(crate) source: String,
    /// One value per column of the table, on the scale of the column.
    pub(crate) values: Vec<Option<f64>>,
    /// Further results that the paper reports, such as `mean rank 6`.
    pub(crate) beside: Vec<String>,
}

impl PublishedRow {
    /// Returns the paper and the further results that it reports.
    pub(crate) fn source_and_beside(&self) -> String {
        std::iter::once(&self.source).chain(&self.beside).map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the published rows for these columns of a table. Papers often report on other parts of a data set. The rows
/// therefore only show how systems compare within a paper, and are not ranked with ours.
pub(crate) fn published_rows(section: ProtocolGroup, columns: &[Column]) -> Vec<PublishedRow> {
    let mut rows: Vec<PublishedRow> = Vec::new();
    let mut add = |system: &str, source: &str, column: usize, value: Option<f64>, beside: Option<String>| {
        let Some(value) = value else { return };
        let place = rows.iter().position(|row| row.system == system && row.source == source).unwrap_or_else(|| {
            let (system, source) = (system.to_owned(), source.to_owned());
            rows.push(PublishedRow { system, source, values: vec![None; columns.len()], beside: Vec::new() });
            rows.len() - 1
        });
        rows[place].values[column] = Some(value);
        rows[place].beside.extend(beside);
    };
    let r = |correlations: Correlations| correlations.pearson_r_x100;
    for (i, column) in
        columns.iter().enumerate().filter(|(_, column)| column.protocol.section == section && !column.own)
    {
        match column.protocol.name {
            "sts" => {
                for system in published_sts() {
                    let cell = |task: &(Option<u16>, String)| system.value(task.0, &task.1).and_then(r);
                    let cells: Option<Vec<f64>> = column.task_names.iter().map(cell).collect();
                    add(system.system, system.source, i, cells.and_then(|cells| senv_metrics::mean(&cells)), None);
                }
            }
            "sick" | "sick-probe" => {
                let wanted =
                    if column.protocol.name == "sick" { ScoringMethod::Cosine } else { ScoringMethod::Supervised };
                for row in published_sick().into_iter().filter(|row| row.scored_by == wanted) {
                    add(row.system, row.source, i, r(row.correlations), None);
                }
            }
            "stsb-probe" => {
                published_stsb().iter().for_each(|row| add(row.system, row.source, i, r(row.correlations), None));
            }
            "sick-entailment" => published_sick_entailment()
                .iter()
                .for_each(|row| add(row.system, row.source, i, Some(100.0 * row.accuracy), None)),
            "ranking" => published_ranking().iter().for_each(|row| {
                let mean_rank = Some(format!("mean rank {}", row.mean_rank));
                add(row.system, row.source, i, Some(100.0 * row.accuracy_at_1_10_100[0]), mean_rank);
            }),
            // The paper uses one reference sentence, which the source names; ours is the mean over all six.
            "soup" => published_soup().iter().for_each(|row| {
                let gap = row.gap().map(|gap| format!("gap {gap:.2}"));
                add(row.system, row.source, i, row.average_precision().map(|precision| 100.0 * precision), gap);
            }),
            "p-coherence" if column.title.contains("COCO") => published_p_coherence()
                .iter()
                .for_each(|row| add(row.system, row.source, i, Some(row.p_coherence), None)),
            set => published_classification().iter().for_each(|row| {
                let f1 = (set == "msrp").then(|| format!("F1 on MSRP {:.1}", row.msrp_f1));
                add(row.system, row.source, i, row.accuracy(set), f1);
            }),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::protocols;

    #[test]
    fn rows_have_their_values_and_what_stands_beside_them() {
        let column = |name: &str| {
            let protocol = protocols().iter().find(|protocol| protocol.name == name).unwrap();
            Column { title: name.to_owned(), protocol, tasks: Vec::new(), task_names: Vec::new(), own: false }
        };
        let rows = published_rows(ProtocolGroup::Neighbours, &["ranking", "soup"].map(column));
        let of = |system: &str| rows.iter().filter(|row| row.system == system).collect::<Vec<_>>();
        let found = of("SNLI BOW");
        let [ranking, soup] = &found[..] else { panic!("a row for each source") };
        assert_eq!((&ranking.values[..], &ranking.beside.concat()[..]), (&[Some(87.0), None][..], "mean rank 6"));
        assert_eq!((&soup.values[..], &soup.beside.concat()[..]), (&[None, Some(100.0)][..], "gap 0.06"));
        let rows = published_rows(ProtocolGroup::Probes, &["msrp", "mr"].map(column));
        let row = rows.iter().find(|row| row.system == "Sent2Vec uni books").unwrap();
        assert_eq!(row.values, [Some(72.2), Some(75.1)]);
        assert!(row.source_and_beside().ends_with("Table 1; F1 on MSRP 80.3"), "{}", row.source_and_beside());
    }
}
