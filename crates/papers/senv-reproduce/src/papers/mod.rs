//! The papers, one file each, and what they share.

mod common;
mod cse;
mod p_thought;
mod sent2vec;
mod siamese_cbow;
mod skip_thoughts;

use crate::{paper::Paper, paper_name::PaperName};

/// What is made for a paper.
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
                    assert!(!row.models.is_empty(), "{at}: {}", row.name);
                    assert!(
                        row.published.is_empty() || row.published.len() == table.columns.len(),
                        "{at}: {}",
                        row.name
                    );
                    assert_eq!(row.published.is_empty(), row.published_name.is_empty(), "{at}: {}", row.name);
                }
                for column in &table.columns {
                    match column.source {
                        Source::Evaluation(i) => assert!(i < table.evaluations.len(), "{at}: {}", column.title),
                        Source::Mean => assert!(column.path.is_empty()),
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
    fn all_of_it_is_expected_to_take_at_most_two_hours_and_a_half() {
        let mut seconds = 0.0;
        let mut known = BTreeMap::new();
        for paper in all() {
            for model in &paper.models {
                known.insert(model.file.clone(), model.seconds);
            }
            for table in &paper.tables {
                let models: f64 = table.rows.iter().map(|row| row.models.len() as f64).sum();
                seconds += models * table.evaluations.iter().map(|e| e.seconds).sum::<f64>();
            }
        }
        seconds += known.values().sum::<f64>();
        assert!(seconds < 105.0 * 60.0, "{seconds}");
    }
}
