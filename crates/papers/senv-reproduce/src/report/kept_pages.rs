//! Compares the pages in `docs/reproduced`, and `docs/claims.md`, with the plan.

use std::{fs, path::Path};

use super::{claim_result::Verdict, markdown::escape};
use crate::{paper::Table, paper_name::PaperName, papers::paper};

fn page(name: &str) -> String {
    let docs =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("the root of the workspace").join("docs");
    fs::read_to_string(docs.join(name)).unwrap_or_else(|error| panic!("docs/{name}: {error}"))
}

/// Splits a page at its headings: pairs of heading and text.
fn sections(page: &str) -> Vec<(&str, &str)> {
    page.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap_or((section, ""))).collect()
}

/// Returns the names of our rows in a table of a page. A wide table has its rows as columns.
fn rows_of_page(text: &str) -> Vec<String> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let head: Vec<&str> = lines.next().unwrap_or_default().split(" | ").collect();
    let names: Vec<&str> = match head.split_first() {
        Some((&"system", _)) => lines.skip(1).map(|line| line.split(" | ").next().unwrap_or_default()).collect(),
        Some((_, names)) => names.to_vec(),
        None => Vec::new(),
    };
    names.into_iter().filter(|name| !name.trim_matches('*').starts_with("paper: ")).map(str::to_owned).collect()
}

fn rows_of_plan(table: &Table, is_wide: bool) -> Vec<String> {
    let of_ours = table.rows.iter().filter(|row| !row.models.is_empty());
    let name = |name: &str, data: &str| match data {
        data if is_wide && !data.is_empty() => escape(&format!("{name} ({data})")),
        _ => escape(name),
    };
    of_ours.map(|row| name(&row.name, row.data)).collect()
}

#[test]
fn the_pages_have_the_tables_and_the_rows_of_the_plan() {
    for &name in PaperName::ALL {
        let (text, paper) = (page(&format!("reproduced/{name}.md")), paper(name));
        let sections = sections(&text);
        let headings: Vec<&str> = sections.iter().map(|(heading, _)| *heading).collect();
        let expected: Vec<&str> = paper.tables.iter().map(|table| table.title).chain(["Data"]).collect();
        assert_eq!(headings, expected, "{name}");
        for ((heading, text), table) in sections.iter().zip(&paper.tables) {
            let is_wide = !text.contains("\n| system | data |");
            assert_eq!(rows_of_page(text), rows_of_plan(table, is_wide), "{name}: {heading}");
            assert!(!text.contains(": not run\n"), "{name}: {heading}");
        }
    }
}

#[test]
fn every_claim_stands_on_the_page_with_a_verdict_and_the_reason_where_it_is_not_reproduced() {
    let text = page("claims.md");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("| **")).collect();
    let papers = PaperName::ALL.iter().map(|&name| paper(name));
    let claims: Vec<_> = papers.flat_map(|paper| paper.claims).collect();
    assert_eq!(lines.len(), claims.len());
    for (line, claim) in lines.iter().zip(claims) {
        assert!(line.starts_with(&format!("| **{}** {} (", claim.id, escape(claim.says))), "{line}");
        let verdict = line.rsplit(" | ").next().unwrap_or_default().strip_suffix(" |").unwrap_or_default();
        let is = |one: Verdict| verdict == format!("**{}**", one.words());
        let has_reason = |one: Verdict| verdict.starts_with(&format!("**{}**: ", one.words()));
        let is_reproduced = is(Verdict::Shows) || is(Verdict::ShowsInOneRun);
        let why_not = [Verdict::WithinSeeds, Verdict::DoesNotShow, Verdict::CannotBeTested];
        assert!(is_reproduced || why_not.into_iter().any(has_reason), "{}: {verdict}", claim.id);
    }
}
