//! The papers, one file each, and what they share.

mod common;
mod cse;
mod p_thought;
mod sent2vec;
mod siamese_cbow;
mod skip_thoughts;

pub(crate) use self::{
    cse::paper as cse, p_thought::paper as p_thought, sent2vec::paper as sent2vec, siamese_cbow::paper as siamese_cbow,
    skip_thoughts::paper as skip_thoughts,
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::Parser;

    use super::{
        super::paper::{Paper, Source},
        *,
    };

    fn all() -> [Paper; 5] {
        [sent2vec(), siamese_cbow(), cse(), skip_thoughts(), p_thought()]
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
    fn every_command_is_one_of_the_program() {
        for paper in all() {
            let models = paper.models.iter().map(|model| &model.command[..]);
            let evaluations = paper.tables.iter().flat_map(|table| &table.evaluations).map(|e| e.command);
            for command in models.chain(evaluations) {
                // A set of data stands for one file here; what a command finds by itself is no argument.
                let words = command.split_whitespace().filter(|word| !word.starts_with('?'));
                let words = std::iter::once("senv").chain(words);
                if let Err(error) = crate::args::Cli::try_parse_from(words) {
                    panic!("{command}: {error}");
                }
            }
        }
    }

    #[test]
    fn all_of_it_is_expected_to_take_at_most_ninety_minutes() {
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
        assert!(seconds < 90.0 * 60.0, "{seconds}");
    }
}
