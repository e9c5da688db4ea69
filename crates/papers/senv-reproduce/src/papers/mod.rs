//! The papers, one folder each, and what they share.

mod common;
mod cse;
mod p_thought;
mod sent2vec;
mod siamese_cbow;
mod skip_thoughts;

use crate::{paper::Paper, paper_name::PaperName};

/// Returns the description of a paper.
pub(crate) fn paper(name: PaperName) -> Paper {
    match name {
        PaperName::Sent2vec => sent2vec::paper(),
        PaperName::SiameseCbow => siamese_cbow::paper(),
        PaperName::Cse => cse::paper(),
        PaperName::SkipThoughts => skip_thoughts::paper(),
        PaperName::PThought => p_thought::paper(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::paper::Source;

    fn all() -> impl Iterator<Item = Paper> {
        PaperName::ALL.iter().map(|&name| paper(name))
    }

    #[test]
    fn every_paper_has_its_name() {
        for &name in PaperName::ALL {
            assert_eq!(paper(name).name, name);
        }
    }

    #[test]
    fn every_row_names_models_of_its_paper_and_has_a_place_for_each_column() {
        for paper in all() {
            for table in &paper.tables {
                let at = format!("{}, {}", paper.name, table.title);
                assert!(!table.rows.is_empty() && !table.columns.is_empty() && !table.about.is_empty(), "{at}");
                for row in &table.rows {
                    for file in row.models.iter().filter(|file| *file != "english") {
                        assert!(paper.models.iter().any(|model| model.file == *file), "{at}: {file}");
                    }
                    assert!(!row.models.is_empty() || !row.published.is_empty(), "{at}: {}", row.name);
                    assert!(
                        row.published.is_empty() || row.published.len() == table.columns.len(),
                        "{at}: {}",
                        row.name
                    );
                    assert_eq!(row.published.is_empty(), row.published_name.is_empty(), "{at}: {}", row.name);
                }
                for column in &table.columns {
                    match &column.source {
                        Source::Evaluation(i) => assert!(*i < table.evaluations.len(), "{at}: {}", column.title),
                        Source::Mean => assert!(column.path.is_empty()),
                        Source::MeanOf(of) => {
                            assert!(column.path.is_empty() && of.iter().all(|&i| i < table.columns.len()));
                        }
                        Source::Training => assert!(!column.path.is_empty()),
                    }
                }
            }
            for model in &paper.models {
                for word in model.command.split(' ').filter_map(|word| word.strip_prefix("$OUT/")) {
                    assert!(paper.models.iter().any(|other| other.writes(word)), "{}: {word}", paper.name);
                }
            }
        }
    }

    #[test]
    fn a_model_that_two_papers_have_is_the_same_in_both() {
        let mut known = BTreeMap::new();
        for paper in all() {
            for model in paper.models {
                let first = known.entry(model.file.clone()).or_insert_with(|| model.clone()).clone();
                assert_eq!(first, model);
            }
        }
    }

    #[test]
    fn every_model_is_named_by_a_row_or_by_a_command() {
        for paper in all() {
            let rows = paper.tables.iter().flat_map(|table| &table.rows);
            let named: Vec<&String> = rows.flat_map(|row| &row.models).collect();
            for model in &paper.models {
                let is_read = |command: &str| command.split(' ').any(|word| word == format!("$OUT/{}", model.file));
                let others = paper.models.iter().filter(|other| other.file != model.file);
                let mut commands = others.map(|other| &other.command[..]).chain(
                    paper.tables.iter().flat_map(|table| &table.evaluations).map(|evaluation| evaluation.command),
                );
                let is_named = named.contains(&&model.file) || commands.any(is_read);
                assert!(is_named, "{}: {}", paper.name, model.file);
            }
        }
    }

    #[test]
    fn every_claim_reads_rows_and_columns_of_its_paper() {
        let (mut n_claims, mut n_untested) = (0, 0);
        let mut ids = Vec::new();
        for paper in all() {
            for claim in &paper.claims {
                assert!(claim.id.starts_with(paper.name.name()) && !ids.contains(&claim.id), "{}", claim.id);
                assert!(
                    !claim.tests.is_empty() && !claim.place.is_empty() && claim.says.ends_with('.'),
                    "{}",
                    claim.id
                );
                ids.push(claim.id);
                n_claims += 1;
                for test in &claim.tests {
                    let Some(id) = test.table() else {
                        n_untested += 1;
                        continue;
                    };
                    let table = paper.tables.iter().find(|table| table.id == id);
                    let table = table.unwrap_or_else(|| panic!("{}: no table {id}", claim.id));
                    for name in test.rows() {
                        let row = table.rows.iter().find(|row| row.name == name);
                        assert!(row.is_some_and(|row| !row.models.is_empty()), "{}: no row {name}", claim.id);
                    }
                    for title in test.columns() {
                        let has_it = table.columns.iter().any(|column| column.title == title);
                        assert!(has_it, "{}: no column {title}", claim.id);
                    }
                }
            }
        }
        assert!(n_claims >= 40 && n_untested <= 8, "{n_claims} claims, {n_untested} of them untested");
    }

    #[test]
    fn every_table_has_a_name_and_rows_of_their_own() {
        for paper in all() {
            let mut known = Vec::new();
            for table in &paper.tables {
                assert!(!table.id.is_empty() && !known.contains(&table.id), "{}: {}", paper.name, table.title);
                known.push(table.id);
                let mut names = Vec::new();
                for row in &table.rows {
                    assert!(!names.contains(&&row.name), "{}: {}: {}", paper.name, table.title, row.name);
                    names.push(&row.name);
                }
            }
        }
    }

    #[test]
    fn all_of_it_is_expected_to_take_at_most_five_hours() {
        let (mut known, mut evaluations) = (BTreeMap::new(), BTreeMap::new());
        for paper in all() {
            for model in &paper.models {
                known.insert(model.file.clone(), model.seconds);
            }
            for table in &paper.tables {
                for evaluation in &table.evaluations {
                    for file in table.rows.iter().flat_map(|row| &row.models) {
                        // Tables share evaluations.
                        evaluations.insert(evaluation.command.replace("$MODEL", file), evaluation.seconds);
                    }
                }
            }
        }
        let seconds = known.values().chain(evaluations.values()).sum::<f64>();
        assert!(seconds < 5.0 * 3600.0, "{seconds}");
    }
}
